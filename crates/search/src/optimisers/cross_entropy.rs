//! Cross-entropy method: draw, keep the most dangerous quarter, draw more like those.

use anabranch_kernel::Seed;
use serde::{Deserialize, Serialize};

use crate::dice::Dice;
use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::{Kind, Layout};

/// Share of a population that is learned from.
const ELITE_SHARE: f64 = 0.25;
/// How much of the old distribution goes: all of it would settle too early.
const LEARNING: f64 = 0.6;
const SPREAD_START: f64 = 0.35;
/// When every spread is below this, the method has settled and begins anew.
const SPREAD_END: f64 = 1e-6;
/// No alternative becomes rarer than this share, divided by their number.
const RAREST: f64 = 0.05;
/// Most alternatives that are learned one by one; more of them are treated as an order.
const ALTERNATIVES_MAX: u64 = 1024;

/// How one dimension is drawn.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Draw {
    Normal { mean: f64, spread: f64 },
    Table(Vec<f64>),
}

/// Independent distributions, one per dimension.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CrossEntropy {
    layout: Layout,
    seed: Seed,
    asked: u64,
    population: usize,
    draws: Vec<Draw>,
    heard: Vec<Told>,
    settled: u64,
    idle: u64,
    best: f64,
}

impl CrossEntropy {
    /// The method for a space.
    pub fn new(layout: Layout, seed: Seed) -> Self {
        let population = (16 + 2 * layout.len()).min(200);
        let (draws, heard) = (fresh(&layout), Vec::new());
        Self { layout, seed, asked: 0, population, draws, heard, settled: 0, idle: 0, best: f64::INFINITY }
    }
    fn member(&mut self) -> Vec<f64> {
        self.asked += 1;
        let mut dice = Dice::new(self.seed, "search/cross-entropy", self.asked);
        let draw = |one: &Draw| match one {
            // Until something was learned, uniform.
            Draw::Normal { mean, spread } if *spread >= SPREAD_START => {
                let _ = mean;
                dice.uniform()
            }
            Draw::Normal { mean, spread } => (mean + spread * dice.normal()).clamp(0.0, 1.0),
            Draw::Table(shares) => {
                let mut left = dice.uniform();
                let found = shares.iter().position(|share| {
                    left -= share;
                    left < 0.0
                });
                (found.unwrap_or(shares.len() - 1) as f64 + 0.5) / shares.len() as f64
            }
        };
        self.draws.iter().map(draw).collect()
    }
    fn learn(&mut self) {
        self.heard.sort_by(|a, b| a.value.total_cmp(&b.value));
        let elite = ((self.heard.len() as f64 * ELITE_SHARE) as usize).max(3).min(self.heard.len());
        let best = self.heard[0].value;
        self.idle = if best < self.best { 0 } else { self.idle + 1 };
        self.best = self.best.min(best);
        for (n, draw) in self.draws.iter_mut().enumerate() {
            let values = self.heard[..elite].iter().map(|told| told.point[n]);
            match draw {
                Draw::Normal { mean, spread } => {
                    let new_mean = values.clone().sum::<f64>() / elite as f64;
                    let around = values.map(|v| (v - new_mean) * (v - new_mean)).sum::<f64>() / elite as f64;
                    *mean = (1.0 - LEARNING) * *mean + LEARNING * new_mean;
                    *spread = ((1.0 - LEARNING) * *spread + LEARNING * around.sqrt()).min(0.999 * SPREAD_START);
                }
                Draw::Table(shares) => {
                    let count = shares.len() as f64;
                    let mut counts = vec![0.0; shares.len()];
                    for value in values {
                        counts[((value * count) as usize).min(shares.len() - 1)] += 1.0;
                    }
                    for (share, hits) in shares.iter_mut().zip(counts) {
                        let learned = (1.0 - LEARNING) * *share + LEARNING * hits / elite as f64;
                        *share = (1.0 - RAREST) * learned + RAREST / count;
                    }
                }
            }
        }
        self.heard.clear();
        let narrow = |draw: &Draw| matches!(draw, Draw::Table(_) | Draw::Normal { spread: 0.0..SPREAD_END, .. });
        if self.draws.iter().all(narrow) || self.idle > 15 {
            self.restart();
        }
    }
}

fn fresh(layout: &Layout) -> Vec<Draw> {
    let draw = |kind: &Kind| match kind {
        Kind::OneOf(count) if *count <= ALTERNATIVES_MAX => {
            Draw::Table(vec![1.0 / (*count).max(1) as f64; (*count).max(1) as usize])
        }
        _ => Draw::Normal { mean: 0.5, spread: SPREAD_START },
    };
    layout.kinds.iter().map(draw).collect()
}

impl Optimiser for CrossEntropy {
    fn name(&self) -> &str {
        "cross-entropy"
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let left = self.population.saturating_sub(self.heard.len()).max(1);
        (0..at_most.clamp(1, left)).map(|_| self.member()).collect()
    }
    fn tell(&mut self, told: &[Told]) {
        self.heard.extend_from_slice(told);
        if self.heard.len() >= self.population {
            self.learn();
        }
    }
    fn restart(&mut self) {
        self.draws = fresh(&self.layout);
        (self.idle, self.best) = (0, f64::INFINITY);
        self.settled += 1;
    }
    plain_data!();
}
