//! Why a tick could not be computed.

use serde::{Deserialize, Serialize};

use crate::expression::Place;
use crate::memory::Slot;
use crate::statement::Decision;

/// A tick that could not be computed: what happened, in which step, at which place.
///
/// The memory then holds what was written before the fault. Restore a saved state before going on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The number of the step, if one was at work.
    pub step: Option<u32>,
    /// The place in the source.
    pub place: Place,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum FaultKind {
    /// An index, counted from zero, is not a whole number inside its span.
    Index {
        /// The index.
        index: f64,
        /// The number of elements.
        length: u32,
    },
    /// A loop has bounds or a step that are not finite numbers.
    LoopBounds,
    /// The loops of one tick made more rounds than the program allows.
    TooManyRounds,
    /// A `Require` did not hold; [`crate::Program::explain`] has its message.
    Required {
        /// Its number among the decisions.
        decision: Decision,
    },
    /// A matrix has no inverse, or a system of equations no single solution.
    Singular,
    /// A matrix with negative eigenvalues has no real square root.
    NoRealRoot,
    /// An iteration did not come to its end, or met numbers that are not finite.
    NoConvergence,
    /// The constraints of an optimisation contradict each other, or its bounds do.
    Infeasible,
    /// A number of the state or of the outputs is infinite or not a number after the tick.
    NotFinite {
        /// The first such slot.
        slot: Slot,
    },
    /// The memory was not made by this program.
    WrongMemory,
}
