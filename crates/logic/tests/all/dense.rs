//! Between samples: against fine sampling that hits every corner, where it can.
//!
//! Signals have even whole values at whole seconds, so that their slopes are −2, 0 and 2 and lines cross at dyadic
//! times. On a grid that is fine enough every corner is a sample, and both answers are the same but for rounding.

use anabranch_kernel::units::Dimension;
use anabranch_logic::{Formula, Reading, SignalKind, Trace};

use crate::common::{Atoms, Draw, Grammar, TABLE, Until, formula};

/// Samples per second of the fine grid.
const FINE: usize = 256;
/// Seconds after the trace for which its last sample is repeated: longer than any formula here looks ahead.
const TAIL_S: usize = 30;

fn coarse(draw: &mut Draw, seconds: usize) -> Vec<Vec<f64>> {
    let walk = |draw: &mut Draw| {
        let mut x = 2.0 * draw.below(3) as f64 - 2.0;
        (0..=seconds)
            .map(|_| {
                x = (x + 2.0 * draw.below(3) as f64 - 2.0).clamp(-4.0, 4.0);
                x
            })
            .collect::<Vec<_>>()
    };
    let (x, y) = (walk(draw), walk(draw));
    let gear = (0..=seconds).map(|_| draw.below(3) as f64).collect();
    let on = (0..=seconds).map(|_| draw.below(2) as f64).collect();
    vec![x, y, gear, on]
}

/// The same signals on the fine grid.
fn refined(signals: &[Vec<f64>], fine: usize) -> Vec<Vec<f64>> {
    let at = |signal: usize, i: usize| {
        let values = &signals[signal];
        let (second, part) = (i / fine, (i % fine) as f64 / fine as f64);
        let now = *values.get(second).unwrap_or(&values[values.len() - 1]);
        let next = *values.get(second + 1).unwrap_or(&values[values.len() - 1]);
        if signal < 2 { now + (next - now) * part } else { now }
    };
    let n = (signals[0].len() - 1 + TAIL_S) * fine + 1;
    (0..signals.len()).map(|signal| (0..n).map(|i| at(signal, i)).collect()).collect()
}

fn check(what: &str, formulas: u64, fine: usize, depth_max: u64, grammar: Grammar) {
    for number in 0..formulas {
        let mut draw = Draw::new(what, number);
        let depth = 1 + draw.below(depth_max) as u32;
        let text = formula(&mut draw, depth, grammar);
        let formula = Formula::parse(&text, TABLE).unwrap();
        let seconds = 1 + draw.below(6) as usize;
        let signals = coarse(&mut draw, seconds);
        let fine_trace = Trace::even(1.0 / fine as f64, refined(&signals, fine)).unwrap();
        let trace = Trace::even(1.0, signals).unwrap();
        let expected = formula.values(&fine_trace, Reading::Margin).unwrap();
        let line = formula.dense(&trace).unwrap();
        // Just before the end of *until* a line is one step short of its limit; everything else is the same but for rounding.
        let is_linked = ["until", "release", " S"].iter().any(|word| text.contains(word));
        let tolerance = if is_linked && grammar.atoms == Atoms::Plain { 6.0 / fine as f64 } else { 1e-12 };
        for (i, expected) in expected.iter().enumerate().take(seconds * fine + 1) {
            let found = line.at(i as f64 / fine as f64);
            let is_same = found == *expected || (found - expected).abs() <= tolerance;
            assert!(is_same, "formula {number} at {i}/{fine} s: {found} {expected} {text}\n{trace:?}\n{line:?}");
        }
        assert_eq!(formula.dense_robustness(&trace).unwrap(), line.at(0.0));
    }
}

const STRAIGHT: Grammar =
    Grammar { step_s: 1.0, steps: 4, with_past: false, is_endless: false, until: Until::Any, atoms: Atoms::Plain };

#[test]
fn straight_signals_are_judged_exactly() {
    check("straight", 600, FINE, 3, STRAIGHT);
}

#[test]
fn straight_signals_are_judged_exactly_looking_back() {
    check("back", 600, FINE, 3, Grammar { with_past: true, until: Until::Now, ..STRAIGHT });
}

#[test]
fn windows_without_end_are_judged_exactly() {
    check("endless", 300, FINE, 1, Grammar { with_past: true, is_endless: true, until: Until::Now, ..STRAIGHT });
}

#[test]
fn signals_that_jump_are_judged_exactly() {
    check("jumps", 3_000, 2, 3, Grammar { with_past: true, until: Until::Now, atoms: Atoms::Jumps, ..STRAIGHT });
}

#[test]
fn an_extreme_between_samples_is_seen() {
    let table = [("x", SignalKind::Real(Dimension::Number)), ("y", SignalKind::Real(Dimension::Number))];
    let trace = Trace::new(vec![0.0, 1.0, 2.5], vec![vec![0.0, 3.0, 0.0], vec![3.0, 0.0, 3.0]]).unwrap();
    let robustness = |text: &str| Formula::parse(text, &table).unwrap().dense_robustness(&trace).unwrap();
    // The lines cross at half a second, where both are 1.5; sampling sees 0 and 3.
    assert_eq!(robustness("always (x > 1 or y > 1)"), 0.5);
    assert_eq!(robustness("eventually (x < 2 and y < 2)"), 0.5);
    assert_eq!(robustness("always abs(x - y) < 3.5"), 0.5);
    assert_eq!(robustness("eventually abs(x - y) < 0.5"), 0.5);
    // A window that ends between samples.
    assert_eq!(robustness("always[0, 0.5] x < 2"), 0.5);
    assert_eq!(robustness("eventually[0.25, 0.5] y < 2"), 0.5);
    assert_eq!(robustness("y > 1 until[0, 2] x > 1.25"), 0.375);
}

#[test]
fn dense_answers_agree_with_fine_sampling_on_any_signal() {
    let grammar = Grammar { step_s: 0.5, ..STRAIGHT };
    for number in 0..300 {
        let mut draw = Draw::new("any", number);
        let text = formula(&mut draw, 2, grammar);
        let formula = Formula::parse(&text, TABLE).unwrap();
        let seconds = 3;
        let signals: Vec<Vec<f64>> =
            (0..4).map(|_| (0..=seconds).map(|_| draw.uniform() * 4.0 - 2.0).collect()).collect();
        let fine_trace = Trace::even(1.0 / 512.0, refined(&signals, 512)).unwrap();
        let trace = Trace::even(1.0, signals).unwrap();
        let (dense, sampled) = (formula.dense_robustness(&trace).unwrap(), formula.robustness(&fine_trace).unwrap());
        // Slopes are at most 4 per second, and each of three operators can miss half a step.
        assert!(dense == sampled || (dense - sampled).abs() <= 3.0 * 4.0 / 512.0, "{text}: {dense} {sampled}");
    }
}
