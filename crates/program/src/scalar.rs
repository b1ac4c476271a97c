//! The functions of numbers, defined once: the interpreter, native code and array operations all use these.

use anabranch_kernel::maths;

use crate::expression::{Binary, Unary};

/// Beyond this angle sines need a longer π.
const NEAR_ANGLE: f64 = 1e5;

/// Whether a number counts as true.
#[inline]
pub fn truth(x: f64) -> bool {
    x != 0.0
}

#[inline]
fn number(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

fn sin_cos(x: f64) -> (f64, f64) {
    if x.abs() <= NEAR_ANGLE { maths::sin_cos(x) } else { maths::sin_cos_far(x) }
}

/// A function of one number.
#[inline]
pub fn unary(function: Unary, x: f64) -> f64 {
    match function {
        Unary::Negate => -x,
        Unary::Not => number(!truth(x)),
        Unary::Truth => number(truth(x)),
        Unary::Abs => x.abs(),
        Unary::Sign => number(x > 0.0) - number(x < 0.0),
        Unary::Sqrt => x.sqrt(),
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::Truncate => x.trunc(),
        Unary::Round => x.round(),
        Unary::Exp => maths::exp(x),
        Unary::Log => maths::ln(x),
        Unary::Log2 => maths::log2(x),
        Unary::Log10 => maths::log10(x),
        Unary::Sin => sin_cos(x).0,
        Unary::Cos => sin_cos(x).1,
        Unary::Tan => tan(x),
        Unary::Asin => maths::asin(x),
        Unary::Acos => maths::acos(x),
        Unary::Atan => maths::atan(x),
        Unary::Sinh => maths::sinh(x),
        Unary::Cosh => maths::cosh(x),
        Unary::Tanh => maths::tanh(x),
        Unary::Asinh => maths::asinh(x),
        Unary::Acosh => maths::acosh(x),
        Unary::Atanh => maths::atanh(x),
        Unary::Cbrt => maths::cbrt(x),
        Unary::IsFinite => number(x.is_finite()),
    }
}

fn tan(x: f64) -> f64 {
    if x.abs() <= NEAR_ANGLE {
        return maths::tan(x);
    }
    let (sine, cosine) = maths::sin_cos_far(x);
    sine / cosine
}

/// A function of two numbers.
#[inline]
pub fn binary(function: Binary, x: f64, y: f64) -> f64 {
    match function {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x / y,
        Binary::Remainder => x % y,
        Binary::Modulo => modulo(x, y),
        Binary::Pow => pow(x, y),
        Binary::Min => min(x, y),
        Binary::Max => max(x, y),
        Binary::Atan2 => maths::atan2(x, y),
        Binary::Hypot => maths::hypot(x, y),
        Binary::Gcd => gcd(x, y),
        Binary::Less => number(x < y),
        Binary::LessEqual => number(x <= y),
        Binary::Greater => number(x > y),
        Binary::GreaterEqual => number(x >= y),
        Binary::Equal => number(x == y),
        Binary::NotEqual => number(x != y),
        Binary::Xor => number(truth(x) != truth(y)),
        Binary::Both => number(truth(x) && truth(y)),
        Binary::Either => number(truth(x) || truth(y)),
    }
}

/// Squares are so frequent that they are one multiplication, which is also exact where the general way need not be.
fn pow(x: f64, y: f64) -> f64 {
    if y == 2.0 { x * x } else { maths::pow(x, y) }
}

/// The smaller; of −0 and 0, and of equal numbers, the first; the other one if one is not a number.
#[inline]
pub fn min(x: f64, y: f64) -> f64 {
    if y < x || x.is_nan() { y } else { x }
}

/// The larger; of −0 and 0, and of equal numbers, the first; the other one if one is not a number.
#[inline]
pub fn max(x: f64, y: f64) -> f64 {
    if y > x || x.is_nan() { y } else { x }
}

fn modulo(x: f64, y: f64) -> f64 {
    if y == 0.0 {
        return x;
    }
    let rest = x % y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
}

/// Euclid's algorithm on the whole parts; exact, since remainders of numbers are. Not a number for infinite ones.
fn gcd(x: f64, y: f64) -> f64 {
    let (mut a, mut b) = (x.trunc().abs(), y.trunc().abs());
    if !a.is_finite() || !b.is_finite() {
        return f64::NAN;
    }
    while b != 0.0 {
        (a, b) = (b, a % b);
    }
    a
}

/// How many rounds a counted loop makes, or nothing if its bounds are not finite numbers.
pub fn rounds(from: f64, step: f64, to: f64) -> Option<f64> {
    /// What a last round may miss by, in rounds: sums of decimal fractions are not exact.
    const TOLERANCE: f64 = 1e-10;
    if !(from.is_finite() && step.is_finite() && to.is_finite()) {
        return None;
    }
    if step == 0.0 {
        return Some(0.0);
    }
    let count = ((to - from) / step + TOLERANCE).floor() + 1.0;
    Some(max(count, 0.0))
}

/// The place of an element, if the index is a whole number inside a span of this length.
#[inline]
pub fn place(index: f64, length: u32) -> Option<u32> {
    let whole = index as u32;
    (f64::from(whole) == index && whole < length).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_have_the_sign_their_name_says() {
        assert_eq!(binary(Binary::Remainder, -7.0, 3.0), -1.0);
        assert_eq!(binary(Binary::Modulo, -7.0, 3.0), 2.0);
        assert_eq!(binary(Binary::Modulo, 7.0, -3.0), -2.0);
        assert_eq!(binary(Binary::Modulo, 5.0, 0.0), 5.0);
        assert_eq!(binary(Binary::Modulo, -6.0, 3.0), 0.0);
    }

    #[test]
    fn the_greatest_common_divisor_ignores_signs_and_fractions() {
        assert_eq!(binary(Binary::Gcd, 48.0, -36.9), 12.0);
        assert_eq!(binary(Binary::Gcd, 0.0, 5.0), 5.0);
        assert!(binary(Binary::Gcd, f64::INFINITY, 5.0).is_nan());
    }

    #[test]
    fn a_loop_over_decimal_fractions_reaches_its_end() {
        assert_eq!(rounds(0.0, 0.1, 1.0), Some(11.0));
        assert_eq!(rounds(5.0, -1.0, 1.0), Some(5.0));
        assert_eq!(rounds(1.0, 1.0, 0.0), Some(0.0));
        assert_eq!(rounds(1.0, 0.0, 9.0), Some(0.0));
        assert_eq!(rounds(1.0, f64::NAN, 9.0), None);
    }

    #[test]
    fn only_whole_numbers_inside_are_places() {
        assert_eq!(place(2.0, 3), Some(2));
        for index in [-1.0, 0.5, 3.0, -0.5, f64::NAN, f64::INFINITY, 4_294_967_296.0] {
            assert_eq!(place(index, 3), None, "{index}");
        }
    }

    #[test]
    fn extremes_prefer_numbers() {
        assert_eq!(min(f64::NAN, 1.0), 1.0);
        assert_eq!(max(1.0, f64::NAN), 1.0);
        assert!(min(0.0, -0.0).is_sign_positive());
    }

    #[test]
    fn sines_of_far_angles_are_right() {
        // sin(10⁹) to 16 digits, by a table of arbitrary precision.
        assert!((unary(Unary::Sin, 1e9) - 0.545_843_449_448_699_6).abs() < 1e-12);
    }
}
