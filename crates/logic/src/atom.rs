//! What a comparison is worth: its margin, or just whether it holds.

use crate::formula::Comparison;

/// What is asked of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// By how much it holds (positive) or is violated (negative).
    Margin,
    /// Whether it holds: 1 or −1.
    Truth,
}

/// One or minus one. Conditions without a measure, such as a gear or a truth, are worth this much.
#[inline(always)]
pub(crate) fn sign_of(holds: bool) -> f64 {
    if holds { 1.0 } else { -1.0 }
}

/// What a comparison of two numbers is worth. A margin that is no number (zero over zero) counts as violated.
#[inline(always)]
pub(crate) fn margin(comparison: Comparison, a: f64, b: f64) -> f64 {
    let margin = match comparison {
        Comparison::Less | Comparison::LessOrEqual => b - a,
        Comparison::Greater | Comparison::GreaterOrEqual => a - b,
        Comparison::Equal => sign_of((a - b).abs() < 0.5),
        Comparison::Unequal => sign_of((a - b).abs() >= 0.5),
    };
    if margin.is_nan() { f64::NEG_INFINITY } else { margin }
}

/// Whether a comparison holds, as one or minus one.
#[inline(always)]
pub(crate) fn truth(comparison: Comparison, a: f64, b: f64) -> f64 {
    sign_of(match comparison {
        Comparison::Less => a < b,
        Comparison::LessOrEqual => a <= b,
        Comparison::Greater => a > b,
        Comparison::GreaterOrEqual => a >= b,
        Comparison::Equal => (a - b).abs() < 0.5,
        Comparison::Unequal => (a - b).abs() >= 0.5,
    })
}

/// What `true` and `false` are worth.
pub(crate) fn constant(value: bool) -> f64 {
    if value { f64::INFINITY } else { f64::NEG_INFINITY }
}
