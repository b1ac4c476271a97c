//! How likely an object in sight is detected, by its distance.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

/// Most corners of a detection rate.
pub const CORNERS_MAX: usize = 8;

/// A rate over distance: straight between its corners, constant beyond them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DetectionRate {
    corners: ArrayVec<(f64, f64), CORNERS_MAX>,
}

/// Corners that are no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// Too many corners.
    #[error("a detection rate has at most {CORNERS_MAX} corners")]
    Corners,
    /// Distances out of order.
    #[error("the distances of a detection rate must rise, from 0 m on")]
    Distances,
    /// Not a probability.
    #[error("a detection rate must lie between 0 and 1")]
    Rates,
}

impl DetectionRate {
    /// Everything in sight is detected.
    pub const ALWAYS: Self = Self { corners: ArrayVec::new_const() };

    /// A rate by its corners, (metres, probability) each.
    ///
    /// # Errors
    /// When distances do not rise or a rate is no probability.
    pub fn new(corners: &[(f64, f64)]) -> Result<Self, RateError> {
        if corners.len() > CORNERS_MAX {
            return Err(RateError::Corners);
        }
        let rises = corners.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let sound = |&(away_m, _): &(f64, f64)| away_m.is_finite() && away_m >= 0.0;
        if !rises || !corners.iter().all(sound) {
            return Err(RateError::Distances);
        }
        if !corners.iter().all(|(_, rate)| (0.0..=1.0).contains(rate)) {
            return Err(RateError::Rates);
        }
        Ok(Self { corners: corners.iter().copied().collect() })
    }
    /// The rate at a distance.
    #[inline]
    pub fn at(&self, away_m: f64) -> f64 {
        let Some(&(_, mut rate)) = self.corners.first() else { return 1.0 };
        let mut from_m = 0.0;
        for &(to_m, to_rate) in &self.corners {
            if away_m < to_m {
                return rate + (to_rate - rate) * ((away_m - from_m) / (to_m - from_m));
            }
            (from_m, rate) = (to_m, to_rate);
        }
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_straight_between_corners_and_constant_beyond() {
        let rate = DetectionRate::new(&[(20.0, 1.0), (60.0, 0.5), (80.0, 0.0)]).unwrap();
        let expect = [(0.0, 1.0), (20.0, 1.0), (40.0, 0.75), (60.0, 0.5), (70.0, 0.25), (80.0, 0.0), (200.0, 0.0)];
        for (away_m, value) in expect {
            assert!((rate.at(away_m) - value).abs() < 1e-12, "{away_m}");
        }
        assert_eq!(DetectionRate::ALWAYS.at(1e3), 1.0);
    }

    #[test]
    fn corners_that_are_no_rate_are_refused() {
        assert_eq!(DetectionRate::new(&[(20.0, 1.0), (20.0, 0.5)]), Err(RateError::Distances));
        assert_eq!(DetectionRate::new(&[(f64::NAN, 1.0)]), Err(RateError::Distances));
        assert_eq!(DetectionRate::new(&[(20.0, 1.1)]), Err(RateError::Rates));
        assert_eq!(DetectionRate::new(&[(1.0, 1.0); 9]), Err(RateError::Corners));
    }
}
