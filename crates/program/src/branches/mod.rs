//! Independent branches of a program, and when it pays to run them on several cores.

mod cost;
#[cfg(feature = "native")]
mod plan;
#[cfg(feature = "native")]
mod pool;

#[cfg(feature = "native")]
pub use plan::{HANDOVER_NS, Plan};
#[cfg(feature = "native")]
pub use pool::Pool;

impl crate::Program {
    /// What a tick is likely to take as machine code on one thread, in nanoseconds: an estimate from the text.
    pub fn estimated_ns(&self) -> f64 {
        self.steps().iter().map(|step| cost::body(&step.body)).sum()
    }
}
