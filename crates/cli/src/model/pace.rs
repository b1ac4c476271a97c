//! How the ticks of a model are computed: the same numbers come out, sooner or later.

use std::sync::Arc;

use anabranch_program::{Branched, Executor, Fault, Memory, Now, Program};
use serde_json::{Value, json};

/// From this many ticks on compiling costs less than it saves.
const TICKS_COMPILED: u64 = 1_000;
/// Fewer ticks are compiled too if they are likely to take this long.
const SECONDS_COMPILED: f64 = 0.2;

/// The way that is likely to be the quickest.
pub enum Pace {
    /// As it is written, or as machine code.
    InOrder(Executor),
    /// Independent branches on several threads.
    Branched(Box<Branched>),
}

impl Pace {
    /// Chooses for so many ticks on so many threads; 0 is all cores.
    pub fn new(program: &Arc<Program>, ticks: u64, threads: usize) -> Self {
        let seconds = ticks as f64 * program.estimated_ns() * 1e-9;
        if ticks < TICKS_COMPILED && seconds < SECONDS_COMPILED {
            return Self::InOrder(Executor::Interpreter(program.clone()));
        }
        let threads = if threads == 0 { std::thread::available_parallelism().map_or(1, Into::into) } else { threads };
        match Branched::compile(program.clone(), threads) {
            Ok(Some(branched)) => Self::Branched(Box::new(branched)),
            // What cannot be compiled is interpreted.
            Ok(None) | Err(_) => Self::InOrder(Executor::new(program.clone())),
        }
    }

    /// One tick.
    pub fn tick(&mut self, memory: &mut Memory, now: Now) -> Result<(), Fault> {
        match self {
            Self::InOrder(executor) => executor.tick(memory, now),
            Self::Branched(branched) => branched.tick(memory, now),
        }
    }

    /// For people.
    pub fn told(&self) -> String {
        match self {
            Self::InOrder(Executor::Interpreter(_)) => "interpreted: too few ticks to compile for".to_owned(),
            Self::InOrder(Executor::Native(_)) => "machine code on one thread: no branches that would pay".to_owned(),
            Self::Branched(b) => {
                let (branches, threads, stages) = (b.branches(), b.threads(), b.stages());
                format!("machine code, {branches} branches on {threads} threads, {stages} hand-overs per tick")
            }
        }
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let (as_what, branches, threads) = match self {
            Self::InOrder(Executor::Interpreter(_)) => ("interpreter", 1, 1),
            Self::InOrder(Executor::Native(_)) => ("machine code", 1, 1),
            Self::Branched(branched) => ("machine code", branched.branches(), branched.threads()),
        };
        json!({ "as": as_what, "branches": branches, "threads": threads })
    }
}
