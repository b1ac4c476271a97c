//! Randomness without state: a draw is a function of (seed, component, tick, n).

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::maths;

/// The seed of a run. Part of the path of a state, never of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub struct Seed(pub u64);

/// Draws for one component at one tick.
///
/// Two states reached by different histories draw the same numbers at the same tick, so they may merge,
/// and adding a component shifts nobody else's noise.
///
/// ```
/// use anabranch_kernel::{Chance, Seed};
/// let now = Chance::new(Seed(7), "front-radar").at(12);
/// assert_eq!(now.uniform(0), Chance::new(Seed(7), "front-radar").at(12).uniform(0));
/// assert_ne!(now.uniform(0), now.uniform(1));
/// assert_ne!(now.uniform(0), Chance::new(Seed(7), "rear-radar").at(12).uniform(0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    stream: u64,
    tick: u64,
}

impl Chance {
    /// The stream of one component, named by its path.
    pub fn new(seed: Seed, component: &str) -> Self {
        Self { stream: xxh3_64_with_seed(component.as_bytes(), seed.0), tick: 0 }
    }
    /// The same stream at a tick.
    #[must_use]
    pub fn at(self, tick: u64) -> Self {
        Self { tick, ..self }
    }
    /// The `n`-th 64 random bits.
    pub fn bits(&self, n: u64) -> u64 {
        let mut words = [0_u8; 24];
        words[..8].copy_from_slice(&self.stream.to_le_bytes());
        words[8..16].copy_from_slice(&self.tick.to_le_bytes());
        words[16..].copy_from_slice(&n.to_le_bytes());
        xxh3_64(&words)
    }
    /// The `n`-th number, uniform in [0, 1).
    pub fn uniform(&self, n: u64) -> f64 {
        (self.bits(n) >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
    /// The `n`-th whole number, uniform in `0..below` (bias below 2⁻³² for `below` < 2³²).
    ///
    /// # Panics
    /// If `below` is zero.
    pub fn below(&self, n: u64, below: u64) -> u64 {
        assert!(below > 0, "no number is below zero");
        ((u128::from(self.bits(n)) * u128::from(below)) >> 64) as u64
    }
    /// The `n`-th standard normal number (Box–Muller with deterministic maths).
    pub fn normal(&self, n: u64) -> f64 {
        let u = 1.0 - self.uniform(2 * n);
        let angle = 2.0 * std::f64::consts::PI * self.uniform(2 * n + 1);
        (-2.0 * maths::ln(u)).sqrt() * maths::cos(angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_and_normal_have_the_right_moments() {
        let n = 20_000;
        let chance = Chance::new(Seed(1), "test");
        let (mut mean_u, mut mean_z, mut square_z) = (0.0, 0.0, 0.0);
        for tick in 0..n {
            let now = chance.at(tick);
            mean_u += now.uniform(0) / n as f64;
            mean_z += now.normal(1) / n as f64;
            square_z += now.normal(1).powi(2) / n as f64;
        }
        assert!((mean_u - 0.5).abs() < 0.01, "{mean_u}");
        assert!(mean_z.abs() < 0.03, "{mean_z}");
        assert!((square_z - 1.0).abs() < 0.05, "{square_z}");
    }

    #[test]
    fn below_reaches_every_value_and_no_other() {
        let mut seen = [0_u32; 5];
        for tick in 0..1000 {
            seen[Chance::new(Seed(3), "die").at(tick).below(0, 5) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 150), "{seen:?}");
    }
}
