//! Scrambled Sobol points: even in every pair of dimensions.

use anabranch_kernel::{Chance, Seed};
use serde::{Deserialize, Serialize};

use super::sobol_table::JOE_KUO;
use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::Layout;

/// Bits of a coordinate, and so the logarithm of the number of different points.
const BITS: usize = 32;

/// Sobol points with nested (Owen) scrambling.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sobol {
    /// Per dimension, the direction number of each bit of the point's number.
    directions: Vec<Vec<u32>>,
    seed: Seed,
    asked: u32,
}

impl Sobol {
    /// Sobol points for a space.
    ///
    /// # Errors
    /// When the space has more dimensions than there are direction numbers.
    pub fn new(layout: Layout, seed: Seed) -> Result<Self, String> {
        let most = JOE_KUO.len() + 1;
        if layout.len() > most {
            return Err(format!("{} dimensions are more than its {most}; use `halton` instead", layout.len()));
        }
        Ok(Self { directions: (0..layout.len()).map(directions).collect(), seed, asked: 0 })
    }
    fn plain(&self, number: u32, dimension: usize) -> u32 {
        // Gray code order, as the sequence is usually listed.
        let gray = number ^ (number >> 1);
        let picked = self.directions[dimension].iter().enumerate().filter(|(bit, _)| gray >> bit & 1 == 1);
        picked.fold(0, |sum, (_, direction)| sum ^ direction)
    }
    fn point(&self, number: u32) -> Vec<f64> {
        let chance = Chance::new(self.seed, "search/sobol");
        let coordinate = |n: usize| scrambled(self.plain(number, n), &chance.at(n as u64));
        (0..self.directions.len()).map(coordinate).collect()
    }
}

/// The direction numbers of a dimension, by the recurrence of its polynomial.
fn directions(dimension: usize) -> Vec<u32> {
    let Some((polynomial, first)) = dimension.checked_sub(1).map(|n| JOE_KUO[n]) else {
        return (0..BITS).map(|bit| 1 << (BITS - 1 - bit)).collect();
    };
    let degree = first.len();
    let mut out: Vec<u32> = first.iter().enumerate().map(|(bit, m)| m << (BITS - 1 - bit)).collect();
    for bit in degree..BITS {
        let mut direction = out[bit - degree] ^ (out[bit - degree] >> degree);
        for back in 1..degree {
            if polynomial >> (degree - back) & 1 == 1 {
                direction ^= out[bit - back];
            }
        }
        out.push(direction);
    }
    out
}

/// Flips each bit by chance that depends on the bits before it, and fills what is behind the last bit.
fn scrambled(plain: u32, chance: &Chance) -> f64 {
    let mut out = 0_u64;
    for bit in 0..BITS {
        let before = if bit == 0 { 0 } else { u64::from(plain >> (BITS - bit)) };
        let flip = chance.bits(before << 6 | bit as u64) & 1;
        out = out << 1 | (u64::from(plain >> (BITS - 1 - bit)) & 1 ^ flip);
    }
    let behind = chance.bits(u64::from(plain) << 6 | 63) >> 43;
    (out << 21 | behind) as f64 * (1.0 / (1_u64 << 53) as f64)
}

impl Optimiser for Sobol {
    fn name(&self) -> &str {
        "sobol"
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let point = |_| {
            let number = self.asked;
            // After 2^32 points the sequence begins again.
            self.asked = self.asked.wrapping_add(1);
            self.point(number)
        };
        (0..at_most.max(1)).map(point).collect()
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
    fn plain_points_are_those_of_the_published_sequence() {
        // Values of scipy.stats.qmc.Sobol(40, scramble=False), points 1 to 7, dimensions 1, 2, 3, 6, 21 and 40.
        let expected = [
            [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
            [0.75, 0.25, 0.25, 0.75, 0.25, 0.25],
            [0.25, 0.75, 0.75, 0.25, 0.75, 0.75],
            [0.375, 0.375, 0.625, 0.125, 0.125, 0.875],
            [0.875, 0.875, 0.125, 0.625, 0.625, 0.375],
            [0.625, 0.125, 0.875, 0.875, 0.375, 0.625],
            [0.125, 0.625, 0.375, 0.375, 0.875, 0.125],
        ];
        let sobol = Sobol::new(Layout::real(40), Seed(0)).expect("40 dimensions are few");
        for (number, row) in expected.iter().enumerate() {
            let found = [0, 1, 2, 5, 20, 39].map(|d| f64::from(sobol.plain(number as u32 + 1, d)) / 4_294_967_296.0);
            assert_eq!(&found, row, "point {}", number + 1);
        }
    }

    #[test]
    fn scrambled_points_fill_every_box_of_every_pair_of_the_first_dimensions_once() {
        let mut sobol = Sobol::new(Layout::real(2), Seed(9)).expect("2 dimensions are few");
        let points = sobol.ask(64);
        for bits_x in 0..=6 {
            let (nx, ny) = (1_usize << bits_x, 1_usize << (6 - bits_x));
            let mut seen = vec![0; 64];
            for p in &points {
                seen[(p[0] * nx as f64) as usize * ny + (p[1] * ny as f64) as usize] += 1;
            }
            assert!(seen.iter().all(|n| *n == 1), "{nx} × {ny}: {seen:?}");
        }
    }

    #[test]
    fn too_many_dimensions_are_refused_with_a_way_out() {
        let message = Sobol::new(Layout::real(97), Seed(0)).expect_err("97 are too many");
        assert!(message.contains("halton"), "{message}");
    }
}
