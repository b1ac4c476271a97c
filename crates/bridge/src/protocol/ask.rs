//! What an optimiser from outside is asked, and what it proposes.

use serde::{Deserialize, Serialize};

/// What became of the last points, and how many are wanted next (role optimiser).
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ask {
    /// What is searched; with the first question alone. It begins a new search.
    pub search: Option<SearchFacts>,
    /// What became of all points of the last answer, in order.
    pub told: Vec<ToldPoint>,
    /// Start somewhere else: what was found here is known by now.
    pub restart: bool,
    /// Most points that are wanted; 0: none, this only tells.
    pub at_most: u32,
}

/// What is searched.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchFacts {
    /// Seed of everything that is drawn by lot.
    pub seed: u64,
    /// Simulations in all.
    pub budget: u64,
    /// One per dimension of the unit cube.
    pub dimensions: Vec<DimensionFacts>,
}

/// A dimension.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DimensionFacts {
    /// Its name: `ego.start.y`.
    pub name: String,
    /// Unit of its values.
    pub unit: String,
    /// `real`, `whole` or `one-of`.
    pub kind: String,
    /// Value at 0; of alternatives 0.
    pub from: f64,
    /// Value at 1; of alternatives the number of the last.
    pub to: f64,
}

/// What became of a point.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToldPoint {
    /// The point of the unit cube.
    pub point: Vec<f64>,
    /// How safe it was: smaller is more dangerous, below zero a requirement is violated. Infinite: not an instance.
    pub value: f64,
}
