//! Draws in a row, each still a function of (seed, component, tick, n).

use anabranch_kernel::{Chance, Seed, maths};

/// The draws of one component at one tick, taken one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Dice {
    chance: Chance,
    n: u64,
    spare: Option<f64>,
}

impl Dice {
    /// The draws of a component at a tick, from the first.
    pub fn new(seed: Seed, component: &str, tick: u64) -> Self {
        Self { chance: Chance::new(seed, component).at(tick), n: 0, spare: None }
    }
    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.n += 1;
        self.chance.uniform(self.n)
    }
    /// A whole number in `0..below`; 0 if there is none.
    pub fn below(&mut self, below: usize) -> usize {
        self.n += 1;
        if below == 0 { 0 } else { self.chance.below(self.n, below as u64) as usize }
    }
    /// Standard normal. Two come from each pair of uniform draws.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * maths::ln(1.0 - self.uniform())).sqrt();
        let (sin, cos) = maths::sin_cos(2.0 * std::f64::consts::PI * self.uniform());
        self.spare = Some(radius * sin);
        radius * cos
    }
    /// True with this probability.
    pub fn flips(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }
}
