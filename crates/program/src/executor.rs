//! One way to run a program, whichever the machine allows.

use std::sync::Arc;

use crate::fault::Fault;
use crate::program::{Memory, Now, Program};

/// A program with the fastest way to execute it here. Both ways compute the same bits.
#[derive(Debug)]
pub enum Executor {
    /// As machine code.
    #[cfg(feature = "native")]
    Native(Box<crate::Native>),
    /// As it is written.
    Interpreter(Arc<Program>),
}

impl Executor {
    /// Machine code if this machine can have it, else the interpreter.
    pub fn new(program: Arc<Program>) -> Self {
        #[cfg(feature = "native")]
        if let Ok(native) = crate::Native::compile(program.clone()) {
            return Self::Native(Box::new(native));
        }
        Self::Interpreter(program)
    }
    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        match self {
            #[cfg(feature = "native")]
            Self::Native(native) => native.program(),
            Self::Interpreter(program) => program,
        }
    }
    /// Executes all steps once.
    ///
    /// # Errors
    /// If the tick cannot be computed; [`Program::explain`] says it in words.
    #[inline]
    pub fn tick(&self, memory: &mut Memory, now: Now) -> Result<(), Fault> {
        match self {
            #[cfg(feature = "native")]
            Self::Native(native) => native.tick(memory, now),
            Self::Interpreter(program) => program.tick(memory, now),
        }
    }
}
