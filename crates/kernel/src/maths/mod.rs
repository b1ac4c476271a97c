//! Deterministic maths: the same bits on every target, one value at a time or several side by side.
//!
//! Everything here is built from additions, multiplications, divisions, square roots and comparisons, which IEEE 754
//! defines exactly, in a fixed order and never with a fused multiply-add. `std`'s trigonometry is platform-dependent
//! and is kept out by a lint.

mod functions;
mod interval;
mod lanes;
mod real;
mod slope;

pub use functions::{atan, atan2, sin_cos, tan, wrap_angle};
pub use interval::Interval;
#[cfg(target_arch = "x86_64")]
pub use lanes::x86::Avx2;
pub use lanes::{Lanes, Two};
pub use real::{Mask, Real, TablePlace};
pub use slope::{Decision, Slope};

/// Sine of an angle in radians.
#[inline]
pub fn sin(angle: f64) -> f64 {
    sin_cos(angle).0
}
/// Cosine of an angle in radians.
#[inline]
pub fn cos(angle: f64) -> f64 {
    sin_cos(angle).1
}
/// Natural logarithm.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}
/// Exponential function.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}
/// Cube root.
#[inline]
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}
/// Logarithm of the gamma function.
#[inline]
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}
/// Arc cosine, in radians.
#[inline]
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}
/// Arc sine, in radians.
#[inline]
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}
/// Power. `libm`'s, as the other functions of this kind.
#[inline]
pub fn pow(x: f64, exponent: f64) -> f64 {
    libm::pow(x, exponent)
}
/// Logarithm to base 2.
#[inline]
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}
/// Logarithm to base 10.
#[inline]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}
/// Hyperbolic sine.
#[inline]
pub fn sinh(x: f64) -> f64 {
    libm::sinh(x)
}
/// Hyperbolic cosine.
#[inline]
pub fn cosh(x: f64) -> f64 {
    libm::cosh(x)
}
/// Hyperbolic tangent.
#[inline]
pub fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}
/// Inverse of the hyperbolic sine.
#[inline]
pub fn asinh(x: f64) -> f64 {
    libm::asinh(x)
}
/// Inverse of the hyperbolic cosine.
#[inline]
pub fn acosh(x: f64) -> f64 {
    libm::acosh(x)
}
/// Inverse of the hyperbolic tangent.
#[inline]
pub fn atanh(x: f64) -> f64 {
    libm::atanh(x)
}
/// Sine and cosine of any angle, also far beyond the range in which [`sin_cos`] is accurate; slower.
#[inline]
pub fn sin_cos_far(angle: f64) -> (f64, f64) {
    libm::sincos(angle)
}
/// Length of a vector, by the plain formula (no rescaling: our numbers are metres).
#[inline]
pub fn hypot(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}
