//! Scrambled Halton points: they fill the cube evenly, in any number.

use anabranch_kernel::{Chance, Seed};
use serde::{Deserialize, Serialize};

use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::Layout;

/// One prime base per dimension; each digit is scrambled by its own random line modulo the base.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Halton {
    bases: Vec<u64>,
    seed: Seed,
    asked: u64,
}

impl Halton {
    /// Halton points for a space.
    pub fn new(layout: Layout, seed: Seed) -> Self {
        Self { bases: primes(layout.len()), seed, asked: 0 }
    }
    /// The point of a number.
    fn point(&self, number: u64) -> Vec<f64> {
        let chance = Chance::new(self.seed, "search/halton");
        let coordinate = |(n, base): (usize, &u64)| scrambled_inverse(number, *base, &chance.at(n as u64));
        self.bases.iter().enumerate().map(coordinate).collect()
    }
}

/// Digits of the number behind the point, in reverse, each mapped by `(a·digit + b) mod base`. Random digits go on behind
/// the last one, so that no point lies on a bound by construction.
fn scrambled_inverse(mut number: u64, base: u64, chance: &Chance) -> f64 {
    let (mut scale, mut sum, mut position) = (1.0 / base as f64, 0.0, 0);
    while scale > 1e-12 {
        let factor = 1 + chance.below(2 * position, base - 1);
        let shift = chance.below(2 * position + 1, base);
        sum += ((number % base * factor + shift) % base) as f64 * scale;
        number /= base;
        scale /= base as f64;
        position += 1;
    }
    sum.min(1.0 - f64::EPSILON)
}

/// The first primes.
fn primes(count: usize) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::with_capacity(count);
    let mut candidate = 2;
    while found.len() < count {
        if found.iter().take_while(|p| *p * *p <= candidate).all(|p| candidate % p != 0) {
            found.push(candidate);
        }
        candidate += 1;
    }
    found
}

impl Optimiser for Halton {
    fn name(&self) -> &str {
        "halton"
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let from = self.asked;
        self.asked += at_most.max(1) as u64;
        (from..self.asked).map(|number| self.point(number)).collect()
    }
    fn tell(&mut self, _told: &[Told]) {}
    fn hears_late(&self) -> bool {
        true
    }
    fn restart(&mut self) {}
    plain_data!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_share_of_every_axis_gets_its_points() {
        let mut halton = Halton::new(Layout::real(4), Seed(3));
        let points = halton.ask(2 * 3 * 5 * 7);
        for (axis, base) in [2_u64, 3, 5, 7].into_iter().enumerate() {
            for share in 0..base {
                let inside = points.iter().filter(|p| (p[axis] * base as f64) as u64 == share).count();
                assert_eq!(inside as u64, 210 / base, "axis {axis}, share {share}");
            }
        }
    }
}
