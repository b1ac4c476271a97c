//! The one thing every bridge is: something that takes operations and gives answers.

use crate::misbehaviour::Misbehaviour;
use crate::protocol::{Answer, Card, Op};

/// One running copy of the code from outside, with the branches and saved states that live in it.
pub trait Instance: Send {
    /// What it said of itself when it started.
    fn card(&self) -> &Card;
    /// Does all operations in order; `answers` then has one for each.
    ///
    /// # Errors
    /// When the instance as a whole misbehaved; it is then thrown away with all that lived in it. What only concerns
    /// one operation (an exception in the driver) is an [`Answer::Failed`] instead.
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour>;
    /// Seconds the code from outside took in the last exchange, as well as can be told.
    fn seconds(&self) -> f64;
    /// How long one step has taken so far, in the mean over all instances of its kind: whoever waits for many steps in
    /// one message waits accordingly. Zero is not known yet.
    fn expect(&mut self, _step_s: f64) {}
}

/// Starts instances.
pub trait Factory: Send + Sync + std::fmt::Debug {
    /// Starts one more.
    ///
    /// # Errors
    /// When it does not start or does not say what it is.
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour>;
}
