//! Numbers that loops are written over: one `f64`, or several side by side.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::functions;

/// The result of a comparison, one answer per lane.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    /// How many answers.
    const LANES: usize;
    /// The same answer in every lane.
    fn all_lanes(value: bool) -> Self;
    /// Whether any lane says yes.
    fn any(self) -> bool;
    /// The answer of one lane.
    fn lane(self, lane: usize) -> bool;
}

impl Mask for bool {
    const LANES: usize = 1;

    #[inline(always)]
    fn all_lanes(value: bool) -> Self {
        value
    }
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
    #[inline(always)]
    fn lane(self, _lane: usize) -> bool {
        self
    }
}

/// Arithmetic that gives the same bits per lane whatever the number of lanes.
///
/// A loop written over `Real` without branches on lane values runs one by one (`f64`) or side by side
/// ([`super::Lanes`], [`super::Two`], AVX2) with equal results.
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Answer of a comparison.
    type Mask: Mask;
    /// How many numbers run side by side.
    const LANES: usize;

    /// The same number in every lane.
    fn splat(value: f64) -> Self;
    /// One number per lane.
    fn from_lanes(lane: impl Fn(usize) -> f64) -> Self;
    /// The number in one lane.
    fn lane(self, lane: usize) -> f64;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self <= other`.
    fn le(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Square root (exact rounding).
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Largest whole number not above.
    fn floor(self) -> Self;
    /// `self` if smaller, else `other`.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }
    /// `self` if larger, else `other`.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }
    /// Limited to `[low, high]`.
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }
    /// Plus or minus one by the sign of `self`; plus one for zero.
    #[inline(always)]
    fn sign(self) -> Self {
        Self::select(self.lt(Self::splat(0.0)), Self::splat(-1.0), Self::splat(1.0))
    }
    /// Sine and cosine of an angle in radians; callers write [`super::sin_cos`]. This and the functions below are part of
    /// the trait so that numbers that know better than their formulas (intervals) can answer for themselves.
    #[inline(always)]
    fn sine_cosine(self) -> (Self, Self) {
        functions::sin_cos_by_series(self)
    }
    /// Tangent of an angle in radians; callers write [`super::tan`].
    #[inline(always)]
    fn tangent(self) -> Self {
        let (s, c) = self.sine_cosine();
        s / c
    }
    /// Arc tangent in radians; callers write [`super::atan`].
    #[inline(always)]
    fn arc_tangent(self) -> Self {
        functions::atan_by_fraction(self)
    }
    /// The same direction in [−π, π]; callers write [`super::wrap_angle`].
    #[inline(always)]
    fn wrapped(self) -> Self {
        functions::wrap_by_turns(self)
    }
    /// Goes a share of the way to a target: a first-order lag.
    #[inline(always)]
    fn approach(self, target: Self, share: Self) -> Self {
        self + (target - self) * share
    }
    /// The same, by no more than `step_max` at once.
    #[inline(always)]
    fn approach_within(self, target: Self, share: Self, step_max: Self) -> Self {
        self + ((target - self) * share).clamp(-step_max, step_max)
    }
    /// An entry of a table of each lane, at a whole number.
    #[inline(always)]
    fn entry(at: &TablePlace<Self>, table: impl Fn(usize, usize) -> f64) -> Self {
        Self::from_lanes(|lane| table(lane, at.index.lane(lane) as usize))
    }
    /// A table of each lane, linear between its entries.
    #[inline(always)]
    fn between(at: &TablePlace<Self>, table: impl Fn(usize, usize) -> f64) -> Self {
        let here = Self::from_lanes(|lane| table(lane, at.index.lane(lane) as usize));
        let next = Self::from_lanes(|lane| table(lane, at.index.lane(lane) as usize + 1));
        here + (next - here) * at.share
    }
}

/// A place in a table: between entry `index` and the next one, `share` of the way.
#[derive(Clone, Copy, Debug)]
pub struct TablePlace<R> {
    /// The place as one number: entries from the first one of the part in use, not limited above.
    pub place: R,
    /// The entry before it.
    pub index: R,
    /// How far it is to the next entry, in [0, 1].
    pub share: R,
    /// The last entry that has a next one, counted as `place`; beyond the next one the table is level.
    pub last: R,
}

impl Real for f64 {
    type Mask = bool;
    const LANES: usize = 1;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn from_lanes(lane: impl Fn(usize) -> f64) -> Self {
        lane(0)
    }
    #[inline(always)]
    fn lane(self, _lane: usize) -> f64 {
        self
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        f64::floor(self)
    }
}
