//! The state of a closed loop that lives elsewhere.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::protocol::{Observation, Path};

/// A state is its path; the observation is what keys and people see, the handle a cache.
///
/// Bytes written under one way to restore can be read and continued under any other.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ChildState<H> {
    pub(crate) path: Arc<Path>,
    pub(crate) observation: Observation,
    #[serde(skip)]
    pub(crate) handle: Option<H>,
}

impl<H> ChildState<H> {
    /// Its address.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// What the driver reported.
    pub fn observation(&self) -> &Observation {
        &self.observation
    }
    /// Whether a cache was kept with it (it may have died since).
    pub fn has_handle(&self) -> bool {
        self.handle.is_some()
    }
}
