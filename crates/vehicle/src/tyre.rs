//! Side force of an axle by its slip and the grip that is left.
//!
//! With z = tan α (speed across the wheel over speed along it), cornering stiffness C of the axle and the largest side
//! force F_max that the ground allows:
//!
//! * linear: F = −C·z up to F_max, then ∓F_max;
//! * brush (Fiala 1954): F = −C·z·(1 − |w| + w²/3) with w = C·z / (3·F_max) for |w| ≤ 1, then ∓F_max. It leaves the
//!   linear law early, as rubber does, and reaches F_max with no kink.
//!
//! Friction circle: an axle that pulls or brakes with F_x has F_max = √((μ·F_z)² − F_x²) left across.

use anabranch_kernel::maths::Real;
use serde::{Deserialize, Serialize};

/// How side force grows with slip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tyre {
    /// In proportion, up to the limit: what closed forms of vehicle dynamics assume.
    Linear,
    /// The brush model of Fiala, saturating smoothly.
    Brush,
}

/// Slips below this count as this where a force is divided by its slip; far below anything that matters.
const SLIP_MIN: f64 = 1e-9;

impl Tyre {
    /// Side force per slip, F/(−z) ≥ 0: the slope of the chord rather than of the tangent. Force is −chord·z, and an
    /// implicit step that takes the chord for its slope stays stable in a skid, where the tangent is zero.
    #[inline(always)]
    pub fn chord<R: Real>(self, stiffness_n: f64, slip: R, force_max_n: R) -> R {
        let stiffness = R::splat(stiffness_n);
        let slip = slip.abs();
        let slides = force_max_n / slip.max(R::splat(SLIP_MIN));
        match self {
            Self::Linear => stiffness.min(slides),
            Self::Brush => {
                let share = stiffness * slip / (R::splat(3.0) * force_max_n);
                let sticks = stiffness * (R::splat(1.0) - share * (R::splat(1.0) - share * R::splat(1.0 / 3.0)));
                R::select(share.lt(R::splat(1.0)), sticks, slides)
            }
        }
    }
}

/// What the friction circle leaves across when `along_n` is used along; `grip_n` is μ·F_z and larger than it.
#[inline(always)]
pub fn grip_across<R: Real>(grip_n: R, along_n: R) -> R {
    ((grip_n - along_n) * (grip_n + along_n)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn force(tyre: Tyre, slip: f64) -> f64 {
        -tyre.chord(60_000.0, slip, 3_000.0) * slip
    }

    #[test]
    fn small_slips_give_force_in_proportion_and_large_ones_all_the_grip() {
        for tyre in [Tyre::Linear, Tyre::Brush] {
            assert!((force(tyre, 1e-5) + 0.6).abs() < 1e-3, "{tyre:?}");
            assert!((force(tyre, 0.4) + 3000.0).abs() < 1e-9);
            assert!((force(tyre, -0.4) - 3000.0).abs() < 1e-9);
            assert_eq!(force(tyre, 0.0), 0.0);
        }
    }

    /// By hand: C·z = 3000 N, w = 3000/9000 = 1/3, F = 3000·(1 − 1/3 + 1/27) = 3000·19/27.
    #[test]
    fn the_brush_gives_nineteen_twenty_sevenths_at_a_third_of_its_range() {
        assert!((force(Tyre::Brush, 0.05) + 3000.0 * 19.0 / 27.0).abs() < 1e-9);
        assert!((force(Tyre::Linear, 0.05) + 3000.0).abs() < 1e-9);
    }

    #[test]
    fn the_brush_reaches_its_limit_without_a_kink() {
        // Full slide begins at z = 3·F_max/C = 0.15; one-sided differences around it.
        let slope = |z: f64| (force(Tyre::Brush, z + 1e-6) - force(Tyre::Brush, z)) / 1e-6;
        assert!(slope(0.15 - 2e-6).abs() < 1.0 && slope(0.15 + 2e-6).abs() < 1e-6);
    }

    #[test]
    fn braking_takes_from_cornering_along_the_friction_circle() {
        assert!((grip_across(5000.0, 3000.0) - 4000.0).abs() < 1e-9);
        assert!((grip_across(5000.0, 0.0_f64) - 5000.0).abs() < 1e-9);
    }
}
