//! How much results can differ between runs that start apart: slope arithmetic with running rounding errors.
//!
//! A box of starts has N directions; a start is the box's middle plus t_i times the half-width h_i in direction i, with
//! t_i in [−1, 1]. A [`Slope`] stands for one number of a computation as it comes out for *every* start of the box, and
//! promises for any two starts p and q of the box
//!
//! number(p) − number(q) = Σ s_i·(t_i(p) − t_i(q)) + r, with some s_i in `slope[i]` and |r| ≤ `rest`,
//!
//! where number(·) is what `f64` computes, rounding included. No derivative is needed, so kinks (`min`, `max`, `abs`) are
//! no obstacle; a decision that can fall differently inside the box makes the slope infinite, which is the truth.
//! Written over [`Real`], so that a loop is bounded by running the loop itself.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::interval::Interval;
use super::real::{Mask, Real, TablePlace};
use super::{atan, sin_cos, tan, wrap_angle};

/// Two roundings of a result (one per run), relative to its magnitude.
const ROUNDINGS: f64 = 2.0 * f64::EPSILON;
/// Twice the error of a function of [`super`], with room to spare: each is within 5·10⁻¹⁶, see their tests.
const FUNCTION_ERRORS: f64 = 2e-15;
/// Makes up for the rounding of sums of non-negative numbers.
const ROUND_UP: f64 = 1.0 + 1e-13;
/// Larger angles are not bounded: the functions promise nothing about them.
const ANGLE_MAX_RAD: f64 = 1e4;
/// Tangents are bounded up to here.
const TANGENT_MAX_RAD: f64 = 1.5;
/// More entries of a table than this are not looked through.
const ENTRIES_MAX: f64 = 4096.0;

/// A number of a computation for a whole box of starts; see the module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope<const N: usize> {
    /// What comes out for the start in the middle of the box, bit for bit.
    pub mid: f64,
    /// What comes out for any start of the box.
    pub range: Interval,
    /// Change per direction of the box.
    pub slope: [Interval; N],
    /// Largest difference that the slopes do not explain.
    pub rest: f64,
}

/// The answer of a comparison for a whole box of starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Some start may say yes.
    pub may_hold: bool,
    /// Some start may say no.
    pub may_fail: bool,
    /// What the start in the middle says.
    pub at_mid: bool,
}

impl<const N: usize> Slope<N> {
    /// A number that is the same in every run.
    pub fn fixed(value: f64) -> Self {
        Self { mid: value, range: Interval::point(value), slope: [Interval::ZERO; N], rest: 0.0 }
    }
    /// A start value: `mid` ± `half_width` along direction `index`; fixed without width.
    pub fn start(mid: f64, half_width: f64, index: usize) -> Self {
        if half_width == 0.0 {
            return Self::fixed(mid);
        }
        let mut slope = [Interval::ZERO; N];
        slope[index] = Interval::point(half_width);
        Self { mid, range: Interval::point(mid).widened(half_width), slope, rest: 0.0 }
    }
    /// A number about whose differences nothing is known.
    fn unbounded(mid: f64, range: Interval) -> Self {
        Self { mid, range, slope: [Interval::ALL; N], rest: f64::INFINITY }
    }
    /// Whether every run has the same number: then it is `mid`.
    pub fn is_fixed(&self) -> bool {
        self.rest == 0.0 && self.slope == [Interval::ZERO; N]
    }
    /// Whether differences are bounded at all.
    pub fn is_bounded(&self) -> bool {
        self.rest.is_finite() && self.slope.iter().all(|s| s.magnitude().is_finite())
    }
    /// Puts a result together; its range is also limited by its slopes, which undoes most of what intervals overestimate.
    fn bounded(mid: f64, range: Interval, slope: [Interval; N], rest: f64) -> Self {
        let rest = if rest.is_nan() { f64::INFINITY } else { rest * ROUND_UP };
        let radius = (slope.iter().map(|s| s.magnitude()).sum::<f64>() + rest) * ROUND_UP;
        let range = if radius.is_finite() { range.meet(Interval::point(mid).widened(radius)) } else { range };
        Self { mid, range, slope, rest }
    }
    /// A function of one number: its value in the middle, its range, and the slopes it can have between two arguments.
    fn through(self, mid: f64, range: Interval, steepness: Interval, error: f64) -> Self {
        if self.is_fixed() {
            return Self::fixed(mid);
        }
        let slope = self.slope.map(|s| s * steepness);
        let rest = if self.rest == 0.0 { 0.0 } else { self.rest * steepness.magnitude() };
        Self::bounded(mid, range, slope, rest + error)
    }
    fn zip(self, other: Self, join: impl Fn(Interval, Interval) -> Interval) -> [Interval; N] {
        std::array::from_fn(|i| join(self.slope[i], other.slope[i]))
    }
    /// One of two numbers, whichever a continuous rule takes: slopes lie between theirs.
    fn either(self, other: Self, mid: f64, range: Interval) -> Self {
        if self.is_fixed() && other.is_fixed() {
            return Self::fixed(mid);
        }
        Self::bounded(mid, range, self.zip(other, Interval::hull), self.rest.max(other.rest))
    }
    /// A lag by its own rule, which the plain formula hides: a + f·s·(b − a) = (1 − f·s)·a + f·s·b, where f is between 0 (held
    /// back by the limit) and 1 (free). Only for a fixed share.
    fn between_here_and(self, target: Self, share: Self, plain: Self, freely: Interval) -> Self {
        if plain.is_fixed() || !share.is_fixed() || !(0.0..=1.0).contains(&share.mid) {
            return plain;
        }
        let part = freely * Interval::point(share.mid);
        let kept = (Interval::point(1.0) - part).meet(Interval::new(0.0, 1.0));
        let slope = if freely == Interval::ZERO {
            self.slope
        } else {
            self.zip(target, |a, b| (kept * a + part * b).meet(a.hull(b)))
        };
        // Slopes are between those of a and b in any case. The rests are joined by the same rule, and each run rounds four times.
        let reached = self.range.magnitude() + target.range.magnitude();
        let rest = self.rest.max(target.rest) + 4.0 * ROUNDINGS * reached;
        Self::bounded(plain.mid, plain.range, slope, rest)
    }
    /// Whether it can be larger than a limit, or no number at all.
    fn is_beyond(&self, limit: f64) -> bool {
        self.range.magnitude() > limit || self.range.magnitude().is_nan()
    }
    /// Farthest that any start of the box is from the middle.
    fn radius(&self) -> f64 {
        (self.range.hi - self.mid).max(self.mid - self.range.lo).next_up()
    }
}

/// A product in which zero wins.
fn times(magnitude: f64, rest: f64) -> f64 {
    if rest == 0.0 || magnitude == 0.0 { 0.0 } else { magnitude * rest }
}

impl<const N: usize> Add for Slope<N> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let mid = self.mid + other.mid;
        if self.is_fixed() && other.is_fixed() {
            return Self::fixed(mid);
        }
        let range = self.range + other.range;
        let rest = self.rest + other.rest + ROUNDINGS * range.magnitude();
        Self::bounded(mid, range, self.zip(other, Interval::add), rest)
    }
}
impl<const N: usize> Neg for Slope<N> {
    type Output = Self;
    fn neg(self) -> Self {
        Self { mid: -self.mid, range: -self.range, slope: self.slope.map(Interval::neg), rest: self.rest }
    }
}
impl<const N: usize> Sub for Slope<N> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}
impl<const N: usize> Mul for Slope<N> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let mid = self.mid * other.mid;
        let is_nothing = |n: &Self| n.is_fixed() && n.mid == 0.0;
        if (self.is_fixed() && other.is_fixed()) || is_nothing(&self) || is_nothing(&other) {
            return Self::fixed(mid);
        }
        let range = self.range * other.range;
        // a(p)·b(p) − a(q)·b(q) = a(p)·(b(p) − b(q)) + b(q)·(a(p) − a(q))
        let slope = self.zip(other, |a, b| self.range * b + other.range * a);
        let rest = times(self.range.magnitude(), other.rest) + times(other.range.magnitude(), self.rest);
        Self::bounded(mid, range, slope, rest + ROUNDINGS * range.magnitude())
    }
}
impl<const N: usize> Div for Slope<N> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let mid = self.mid / other.mid;
        if self.is_fixed() && other.is_fixed() {
            return Self::fixed(mid);
        }
        if other.range.contains(0.0) {
            return Self::unbounded(mid, Interval::ALL);
        }
        let range = self.range / other.range;
        // With c = a/b: c(p) − c(q) = (a(p) − a(q) − c(q)·(b(p) − b(q))) / b(p)
        let slope = self.zip(other, |a, b| (a - range * b) / other.range);
        let rest = (self.rest + times(range.magnitude(), other.rest)) / other.range.least_magnitude();
        Self::bounded(mid, range, slope, rest + ROUNDINGS * range.magnitude())
    }
}

impl Decision {
    fn new(surely: bool, never: bool, at_mid: bool) -> Self {
        Self { may_hold: !never, may_fail: !surely, at_mid }
    }
    /// Whether starts of the box can differ.
    pub fn is_open(self) -> bool {
        self.may_hold && self.may_fail
    }
}
impl BitAnd for Decision {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        let (may_hold, may_fail) = (self.may_hold && other.may_hold, self.may_fail || other.may_fail);
        Self { may_hold, may_fail, at_mid: self.at_mid && other.at_mid }
    }
}
impl BitOr for Decision {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        let (may_hold, may_fail) = (self.may_hold || other.may_hold, self.may_fail && other.may_fail);
        Self { may_hold, may_fail, at_mid: self.at_mid || other.at_mid }
    }
}
impl Not for Decision {
    type Output = Self;
    fn not(self) -> Self {
        Self { may_hold: self.may_fail, may_fail: self.may_hold, at_mid: !self.at_mid }
    }
}
impl Mask for Decision {
    const LANES: usize = 1;

    fn all_lanes(value: bool) -> Self {
        Self::new(value, !value, value)
    }
    /// Whether any start may say yes.
    fn any(self) -> bool {
        self.may_hold
    }
    /// Whether any start may say yes: who acts on it must look whether others say no.
    fn lane(self, _lane: usize) -> bool {
        self.may_hold
    }
}

impl<const N: usize> Real for Slope<N> {
    type Mask = Decision;
    const LANES: usize = 1;

    fn splat(value: f64) -> Self {
        Self::fixed(value)
    }
    fn from_lanes(lane: impl Fn(usize) -> f64) -> Self {
        Self::fixed(lane(0))
    }
    fn lane(self, _lane: usize) -> f64 {
        self.mid
    }
    fn lt(self, other: Self) -> Decision {
        let (a, b) = (self.range, other.range);
        Decision::new(a.hi < b.lo, a.lo >= b.hi, self.mid < other.mid)
    }
    fn le(self, other: Self) -> Decision {
        let (a, b) = (self.range, other.range);
        Decision::new(a.hi <= b.lo, a.lo > b.hi, self.mid <= other.mid)
    }
    fn select(mask: Decision, yes: Self, no: Self) -> Self {
        let mid = if mask.at_mid { yes.mid } else { no.mid };
        match (mask.may_hold, mask.may_fail) {
            (_, false) => yes,
            (false, _) => no,
            _ if yes.is_fixed() && no.is_fixed() && yes.mid == no.mid => Self::fixed(mid),
            _ => Self::unbounded(mid, yes.range.hull(no.range)),
        }
    }
    fn sqrt(self) -> Self {
        let mid = self.mid.sqrt();
        if self.range.lo <= 0.0 && !self.is_fixed() {
            return Self::unbounded(mid, Interval::new(0.0, self.range.hi.max(0.0).sqrt().next_up()));
        }
        let range = Interval::new(self.range.lo.sqrt().next_down(), self.range.hi.sqrt().next_up());
        let steepness = Interval::point(0.5) / range;
        self.through(mid, range, steepness, ROUNDINGS * range.magnitude())
    }
    fn abs(self) -> Self {
        if self.range.lo >= 0.0 {
            self
        } else if self.range.hi <= 0.0 {
            -self
        } else {
            self.either(-self, self.mid.abs(), Interval::new(0.0, self.range.magnitude()))
        }
    }
    fn floor(self) -> Self {
        let (mid, range) = (self.mid.floor(), Interval::new(self.range.lo.floor(), self.range.hi.floor()));
        if range.lo == range.hi { Self::fixed(mid) } else { Self::unbounded(mid, range) }
    }
    fn min(self, other: Self) -> Self {
        let (a, b) = (self.range, other.range);
        if a.hi < b.lo {
            self
        } else if b.hi <= a.lo {
            other
        } else {
            let mid = if self.mid < other.mid { self.mid } else { other.mid };
            self.either(other, mid, Interval::new(a.lo.min(b.lo), a.hi.min(b.hi)))
        }
    }
    fn max(self, other: Self) -> Self {
        let (a, b) = (self.range, other.range);
        if b.hi < a.lo {
            self
        } else if a.hi <= b.lo {
            other
        } else {
            let mid = if other.mid < self.mid { self.mid } else { other.mid };
            self.either(other, mid, Interval::new(a.lo.max(b.lo), a.hi.max(b.hi)))
        }
    }

    fn sine_cosine(self) -> (Self, Self) {
        let (sin, cos) = sin_cos(self.mid);
        if self.is_fixed() {
            return (Self::fixed(sin), Self::fixed(cos));
        }
        let (unit, radius) = (Interval::within(1.0), self.radius());
        if self.is_beyond(ANGLE_MAX_RAD) {
            return (Self::unbounded(sin, unit), Self::unbounded(cos, unit));
        }
        // |sin(m + t) − sin m| ≤ |cos m|·|t| + |sin m|·t²/2, and the like for the cosine.
        let off = |a: f64, b: f64| (a.abs() * radius + 0.5 * b.abs() * radius * radius) * ROUND_UP + FUNCTION_ERRORS;
        let sines = Interval::point(sin).widened(off(cos, sin)).meet(unit);
        let cosines = Interval::point(cos).widened(off(sin, cos)).meet(unit);
        let bounded = |range: Interval| range.widened(FUNCTION_ERRORS);
        (
            self.through(sin, bounded(sines), cosines, FUNCTION_ERRORS),
            self.through(cos, bounded(cosines), -sines, FUNCTION_ERRORS),
        )
    }
    fn tangent(self) -> Self {
        let mid = tan(self.mid);
        if self.is_beyond(TANGENT_MAX_RAD) {
            return if self.is_fixed() { Self::fixed(mid) } else { Self::unbounded(mid, Interval::ALL) };
        }
        let ends = Interval::new(tan(self.range.lo), tan(self.range.hi));
        let error = FUNCTION_ERRORS * (1.0 + ends.magnitude() * ends.magnitude());
        let range = ends.widened(error);
        self.through(mid, range, Interval::point(1.0) + range.squared(), error)
    }
    fn arc_tangent(self) -> Self {
        let mid = atan(self.mid);
        let range = Interval::new(atan(self.range.lo), atan(self.range.hi)).widened(FUNCTION_ERRORS);
        let steepness = Interval::point(1.0) / (Interval::point(1.0) + self.range.squared());
        self.through(mid, range, steepness, FUNCTION_ERRORS)
    }
    fn wrapped(self) -> Self {
        let turns = |angle: f64| angle - wrap_angle(angle);
        let (mid, low, high) = (turns(self.mid), turns(self.range.lo), turns(self.range.hi));
        // Turns are whole multiples of 2π but for rounding: less than one apart they are the same.
        let same = (low - high).abs() < 1.0 && (low - mid).abs() < 1.0 && self.range.magnitude() <= ANGLE_MAX_RAD;
        if mid == 0.0 && same {
            self
        } else if same {
            let off = Interval::point(mid).widened(1e-9);
            let rest = self.rest + ROUNDINGS * 4.0 * self.range.magnitude();
            if self.is_fixed() {
                return Self::fixed(wrap_angle(self.mid));
            }
            Self::bounded(wrap_angle(self.mid), self.range - off, self.slope, rest)
        } else {
            Self::unbounded(wrap_angle(self.mid), Interval::within(4.0))
        }
    }
    fn approach(self, target: Self, share: Self) -> Self {
        let plain = self + (target - self) * share;
        self.between_here_and(target, share, plain, Interval::point(1.0))
    }
    fn approach_within(self, target: Self, share: Self, step_max: Self) -> Self {
        let way = (target - self) * share;
        let plain = self + way.clamp(-step_max, step_max);
        let free = way.abs().le(step_max);
        let freely = match (free.may_hold, free.may_fail) {
            (true, false) => Interval::point(1.0),
            (false, _) => Interval::ZERO,
            _ => Interval::new(0.0, 1.0),
        };
        self.between_here_and(target, share, plain, freely)
    }
    fn entry(at: &TablePlace<Self>, table: impl Fn(usize, usize) -> f64) -> Self {
        let mid = table(0, at.index.mid as usize);
        match entries(&at.index.range) {
            Some((first, last)) => {
                let same = (first..=last).all(|index| table(0, index) == mid);
                if same { Self::fixed(mid) } else { Self::unbounded(mid, hull(first..=last, &table)) }
            }
            None => Self::unbounded(mid, Interval::ALL),
        }
    }
    fn between(at: &TablePlace<Self>, table: impl Fn(usize, usize) -> f64) -> Self {
        let here = table(0, at.index.mid as usize);
        let mid = here + (table(0, at.index.mid as usize + 1) - here) * at.share.mid;
        let Some((first, last)) = entries(&at.index.range) else { return Self::unbounded(mid, Interval::ALL) };
        let range = hull(first..=last + 1, &table);
        if range.lo == range.hi {
            return Self::fixed(mid);
        }
        let rise = |index: usize| Interval::point(table(0, index + 1)) - Interval::point(table(0, index));
        let mut steepness = (first..=last).map(rise).reduce(Interval::hull).unwrap_or(Interval::ALL);
        // Beyond the last entry, where the share is cut off at one, the table is level.
        if at.place.range.hi >= at.last.range.lo + 1.0 {
            steepness = steepness.hull(Interval::ZERO);
        }
        let error = 4.0 * ROUNDINGS * range.magnitude();
        at.place.through(mid, range.widened(error), steepness, error)
    }
}

/// First and last entry that a place can lie behind.
fn entries(index: &Interval) -> Option<(usize, usize)> {
    let sound = index.lo >= 0.0 && index.hi - index.lo <= ENTRIES_MAX && index.hi < u32::MAX.into();
    sound.then_some((index.lo as usize, index.hi as usize))
}

fn hull(indices: std::ops::RangeInclusive<usize>, table: &impl Fn(usize, usize) -> f64) -> Interval {
    indices.map(|index| Interval::point(table(0, index))).reduce(Interval::hull).unwrap_or(Interval::ALL)
}
