//! The state of a foreign simulator: its path, what it reported, and perhaps a handle on the living thing.

use std::sync::Arc;

use anabranch_kernel::{Choice, Digest, Params, Seed};
use serde::{Deserialize, Serialize};

use super::said::Said;
use crate::fleet::Token;
use crate::misbehaviour::Kind;

/// A state is its path; the token is a cache that may be gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorldState {
    pub(super) origin: Origin,
    pub(super) path: Vec<Choice>,
    /// What the last segment reported for merging; nothing at time zero.
    pub(super) values: Vec<f64>,
    pub(super) danger: f64,
    /// Of the canonical bytes, where those count for merging.
    pub(super) memory: Option<u128>,
    /// Of the attributes that do not count for merging, where it reports them.
    pub(super) hidden: Option<u64>,
    #[serde(skip)]
    pub(super) live: Option<Arc<Token>>,
    /// What was reported on the way here; like the token a cache.
    #[serde(skip)]
    pub(super) said: Option<Arc<Said>>,
}

/// What a run begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Origin {
    pub(super) seed: u64,
    pub(super) params: Vec<f64>,
}

impl WorldState {
    pub(super) fn new(seed: Seed, params: &Params) -> Self {
        let origin = Origin { seed: seed.0, params: params.0.clone() };
        Self {
            origin,
            path: Vec::new(),
            values: Vec::new(),
            danger: 0.0,
            memory: None,
            hidden: None,
            live: None,
            said: None,
        }
    }
    /// The choices that led here.
    pub fn path(&self) -> &[Choice] {
        &self.path
    }
    /// What the last segment reported, in the order of `merge`.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
    /// Whether the last segment ended with a failure of this kind.
    pub(super) fn has_failed_as(&self, kind: Kind) -> bool {
        self.said.as_ref().is_some_and(|said| said.report.is_failed_as(kind))
    }
    /// Of the choices that led here.
    pub(super) fn path_digest(&self) -> Digest {
        let bytes: Vec<u8> = self.path.iter().flat_map(|choice| choice.0.to_le_bytes()).collect();
        Digest::of(&bytes)
    }
    /// Which instance states like this live in: those with a common beginning together. Results do not depend on it.
    pub(super) fn home(&self, choice: Choice) -> u64 {
        /// Choices that decide; with three error choices, nine parts.
        const PREFIX: usize = 2;
        let beginning = self.path.iter().copied().chain([choice]).take(PREFIX);
        let mixed = beginning.fold(self.origin.seed, |mixed, choice| {
            (mixed ^ u64::from(choice.0)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        mixed >> 32
    }
}
