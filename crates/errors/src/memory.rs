//! What error models remember between segments.

use serde::{Deserialize, Serialize};

/// Most numbers one model remembers: a pose.
pub const SLOT_MAX: usize = 3;
/// Most numbers all models of a set remember together: four drifting poses.
pub const VALUES_MAX: usize = 12;
/// Most models with a limit of their own.
pub const LIMITED_MAX: usize = 8;

/// The memory of one model while it is asked: as many values as it declares variables, zero at the start of a run.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Slot {
    /// In the order of [`crate::ErrorModel::variables`].
    pub values: [f64; SLOT_MAX],
}

/// The memory of a whole [`crate::ErrorSet`]: part of the saved state, flat, so that saving it is a plain copy. Places
/// that nobody uses stay zero.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// What the models remember, one model after another.
    pub(crate) values: [f64; VALUES_MAX],
    /// Segments in error so far, for each model with a limit of its own.
    pub(crate) used: [u16; LIMITED_MAX],
    /// Segments in error so far; 0 for ever where no limit per run needs it.
    pub(crate) erroneous_segments: u16,
}

impl Memory {
    /// Segments in error so far, where a limit per run makes them count.
    pub fn erroneous_segments(&self) -> u16 {
        self.erroneous_segments
    }
}
