//! Intervals of real numbers, rounded outwards.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// All numbers from `lo` to `hi`. Results of operations contain every result of the operation on members, as a real
/// number and as rounded by `f64`. Ends may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl Interval {
    /// Just zero.
    pub const ZERO: Self = Self::point(0.0);
    /// Everything.
    pub const ALL: Self = Self { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    /// Just one number.
    pub const fn point(value: f64) -> Self {
        Self { lo: value, hi: value }
    }
    /// From one number to another; everything if one of them is none.
    pub fn new(lo: f64, hi: f64) -> Self {
        if lo <= hi { Self { lo, hi } } else { Self::ALL }
    }
    /// All numbers at most so far from zero.
    pub fn within(radius: f64) -> Self {
        Self::new(-radius, radius)
    }
    /// Rounds both ends outwards by one step; what is not a number becomes everything.
    fn outwards(lo: f64, hi: f64) -> Self {
        Self::new(lo.next_down(), hi.next_up())
    }
    /// Largest magnitude of a member.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }
    /// Smallest magnitude of a member.
    pub fn least_magnitude(self) -> f64 {
        if self.contains(0.0) { 0.0 } else { self.lo.abs().min(self.hi.abs()) }
    }
    /// Whether it has this member.
    pub fn contains(self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }
    /// The smallest interval around both.
    pub fn hull(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }
    /// What both have in common; `self` if that were nothing (two enclosures of one number always meet).
    pub fn meet(self, other: Self) -> Self {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo <= hi { Self { lo, hi } } else { self }
    }
    /// The interval with both ends moved outwards.
    pub fn widened(self, by: f64) -> Self {
        Self::outwards(self.lo - by, self.hi + by)
    }
    /// Squares of all members.
    pub fn squared(self) -> Self {
        let (least, most) = (self.least_magnitude(), self.magnitude());
        Self::new((least * least).next_down().max(0.0), (most * most).next_up())
    }
    /// The middle, for estimates.
    pub fn middle(self) -> f64 {
        0.5 * (self.lo + self.hi)
    }
    fn is_zero(self) -> bool {
        self.lo == 0.0 && self.hi == 0.0
    }
}

/// A product in which zero wins: slopes are finite numbers, however large.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        match (self.is_zero(), other.is_zero()) {
            (true, _) => other,
            (_, true) => self,
            _ => Self::outwards(self.lo + other.lo, self.hi + other.hi),
        }
    }
}
impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}
impl Sub for Interval {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}
impl Mul for Interval {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        let ends = [
            product(self.lo, other.lo),
            product(self.lo, other.hi),
            product(self.hi, other.lo),
            product(self.hi, other.hi),
        ];
        Self::outwards(
            ends.into_iter().fold(f64::INFINITY, f64::min),
            ends.into_iter().fold(f64::NEG_INFINITY, f64::max),
        )
    }
}
impl Div for Interval {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        if self.is_zero() && !other.contains(0.0) {
            return Self::ZERO;
        }
        if other.contains(0.0) {
            return Self::ALL;
        }
        self * Self::outwards(1.0 / other.hi, 1.0 / other.lo)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn interval() -> impl Strategy<Value = (Interval, f64)> {
        (-9.0..9.0_f64, 0.0..3.0_f64, 0.0..=1.0_f64)
            .prop_map(|(lo, width, share)| (Interval::new(lo, lo + width), (lo + width * share).min(lo + width)))
    }

    proptest! {
        #[test]
        fn results_contain_the_results_of_members((a, x) in interval(), (b, y) in interval()) {
            prop_assert!((a + b).contains(x + y));
            prop_assert!((a - b).contains(x - y));
            prop_assert!((a * b).contains(x * y));
            prop_assert!((a / b).contains(x / y));
            prop_assert!((-a).contains(-x) && a.squared().contains(x * x));
            prop_assert!(a.hull(b).contains(x) && a.hull(b).contains(y));
            prop_assert!(a.widened(0.5).contains(x + 0.5) && a.magnitude() >= x.abs() && a.least_magnitude() <= x.abs());
        }
    }

    #[test]
    fn nothing_is_lost_at_infinity() {
        let half = Interval::new(1.0, f64::INFINITY);
        assert_eq!(Interval::ZERO * Interval::ALL, Interval::ZERO);
        assert_eq!(half - half, Interval::ALL);
        assert_eq!(Interval::new(f64::NAN, 1.0), Interval::ALL);
        assert_eq!(Interval::point(1.0) / Interval::new(-1.0, 1.0), Interval::ALL);
        assert!((half * half).contains(f64::MAX));
    }
}
