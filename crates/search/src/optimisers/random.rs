//! Independent uniform points: what every other method must beat.

use anabranch_kernel::Seed;
use serde::{Deserialize, Serialize};

use crate::dice::Dice;
use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::Layout;

/// Draws every point anew.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UniformRandom {
    dimensions: usize,
    seed: Seed,
    asked: u64,
}

impl UniformRandom {
    /// Uniform points for a space.
    pub fn new(layout: Layout, seed: Seed) -> Self {
        Self { dimensions: layout.len(), seed, asked: 0 }
    }
}

impl Optimiser for UniformRandom {
    fn name(&self) -> &str {
        "random"
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let points = (0..at_most.max(1)).map(|_| {
            self.asked += 1;
            let mut dice = Dice::new(self.seed, "search/random", self.asked);
            (0..self.dimensions).map(|_| dice.uniform()).collect()
        });
        points.collect()
    }
    fn tell(&mut self, _told: &[Told]) {}
    fn hears_late(&self) -> bool {
        true
    }
    fn restart(&mut self) {}
    plain_data!();
}
