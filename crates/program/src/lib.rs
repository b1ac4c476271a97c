//! Flat programs of component models.
//!
//! A model of components and connectors becomes one flat [`Program`]: steps in order, one per atomic component, over one
//! memory of numbers. The interpreter ([`Program::tick`]) is the reference; `Native` executes the same program as
//! machine code, with the same bits.
//!
//! ```
//! use anabranch_program::{Builder, Expr, Now, Stmt};
//!
//! // A delay of one tick and a gain of 3.
//! let mut builder = Builder::new("example");
//! let input = builder.input("u", &[0.0]).start;
//! let output = builder.output("y", &[0.0]).start;
//! let last = builder.state("last", &[5.0]).start;
//! builder.step("delay", vec![Stmt::set(output, last * 3.0), Stmt::set(last, input)]);
//! let program = builder.finish()?;
//!
//! let mut memory = program.memory();
//! memory.set(input, 2.0);
//! program.tick(&mut memory, Now::default()).map_err(|fault| program.explain(&fault))?;
//! assert_eq!(memory.outputs(), [15.0]);
//! let saved = memory.save();
//! program.tick(&mut memory, Now { tick: 1, ..Now::default() }).map_err(|fault| program.explain(&fault))?;
//! assert_eq!(memory.outputs(), [6.0]);
//! assert!(memory.restore(&saved));
//! assert_eq!(memory.outputs(), [15.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod array;
pub mod blocks;
mod branches;
mod builder;
mod cells;
mod check;
mod coverage;
mod executor;
pub mod export;
mod expression;
mod fault;
mod interpret;
mod lasting;
mod linear;
mod memory;
#[cfg(feature = "native")]
mod native;
mod optimise;
mod program;
mod scalar;
mod statement;

pub use builder::Builder;
pub use check::{EXPRESSION_DEPTH_MAX, NESTING_MAX, SLOTS_MAX, VARIABLES_MAX};
pub use coverage::Coverage;
pub use executor::Executor;
pub use expression::{Binary, Draw, Expr, Place, Unary};
pub use fault::{Fault, FaultKind};
pub use memory::{Layout, Matrix, Region, Slot, Span};
#[cfg(feature = "native")]
pub use native::{Branched, Native, NativeError};
pub use program::{
    DecisionInfo, Draft, Memory, NonFinite, Now, Program, ProgramError, ROUNDS_PER_TICK, State, Variable,
};
pub use statement::{Action, ArrayOp, Decision, Fold, Problem, Step, Stmt};
