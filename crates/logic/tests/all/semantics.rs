//! Random formulas on random traces: on finished traces and while samples arrive, against the definition.

use crate::common::{Atoms, Draw, Grammar, TABLE, Until, by_definition, formula, trace};
use anabranch_kernel::{Declarations, Grid, KeyWriter, from_bytes, to_bytes};
use anabranch_logic::{Formula, Memory, Monitor, Reading, Scratch, Trace};

const FORMULAS: u64 = 20_000;
const TRACES: u64 = 5;
const GRAMMAR: Grammar =
    Grammar { step_s: 0.1, steps: 6, with_past: true, is_endless: true, until: Until::Any, atoms: Atoms::All };

fn cases(what: &str, formulas: u64) -> impl Iterator<Item = (u64, String, Formula, Draw)> {
    (0..formulas).map({
        let what = what.to_owned();
        move |number| {
            let mut draw = Draw::new(&what, number);
            let depth = 1 + draw.below(4) as u32;
            let text = formula(&mut draw, depth, GRAMMAR);
            let parsed = Formula::parse(&text, TABLE).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            (number, text, parsed, draw)
        }
    })
}

#[test]
fn finished_traces_are_judged_as_defined() {
    let mut compared = 0;
    for (number, text, formula, mut draw) in cases("finished", FORMULAS) {
        for _ in 0..TRACES {
            let trace = trace(&mut draw, 14, GRAMMAR.step_s);
            let context = || format!("formula {number}: {text}\n{trace:?}");
            let margins = formula.values(&trace, Reading::Margin).unwrap();
            assert_eq!(margins, by_definition(formula.root(), &trace, Reading::Margin), "{}", context());
            let truths = formula.values(&trace, Reading::Truth).unwrap();
            assert_eq!(truths, by_definition(formula.root(), &trace, Reading::Truth), "{}", context());
            assert_eq!(formula.robustness(&trace).unwrap(), margins[0], "{}", context());
            assert_eq!(formula.holds(&trace).unwrap(), truths[0] > 0.0, "{}", context());
            for (margin, truth) in margins.iter().zip(&truths) {
                assert!(*margin == 0.0 || (*margin > 0.0) == (*truth > 0.0), "{}", context());
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 100_000);
}

fn key_of(monitor: &Monitor, memory: &Memory) -> u128 {
    let grid = Grid::of(&Declarations::of(|v| monitor.visit(memory, 1e-6, 1e-6, v)).variables);
    let mut key = KeyWriter::new(&grid);
    monitor.visit(memory, 1e-6, 1e-6, &mut key.visitor(&[]));
    key.finish().expect("a memory is finite").0
}

#[test]
fn a_growing_trace_ends_like_the_finished_one() {
    for (number, text, formula, mut draw) in cases("growing", FORMULAS / 2) {
        let trace = trace(&mut draw, 14, GRAMMAR.step_s);
        let reading = [Reading::Margin, Reading::Truth][draw.below(2) as usize];
        let expected = formula.values(&trace, reading).unwrap()[0];
        let context = || format!("formula {number}: {text}\n{trace:?}");
        let monitor = Monitor::new(formula, reading);
        let (mut memory, mut scratch) = (monitor.start(), Scratch::default());
        let (mut lo, mut hi) = (f64::NEG_INFINITY, f64::INFINITY);
        let saved_at = draw.below(trace.len() as u64) as usize;
        for i in 0..trace.len() {
            monitor.see_with(&mut memory, trace.time_s(i), &trace.frame(i), &mut scratch).unwrap();
            if i == saved_at {
                let loaded: Memory = from_bytes(&to_bytes(&memory)).unwrap();
                assert_eq!(loaded, memory, "{}", context());
                assert_eq!(key_of(&monitor, &loaded), key_of(&monitor, &memory), "{}", context());
                memory = loaded;
            }
            let (now_lo, now_hi) = monitor.interval(&memory);
            assert!(now_lo >= lo && now_hi <= hi, "{now_lo} {now_hi} after {lo} {hi}, sample {i}, {}", context());
            assert!(now_lo <= expected && expected <= now_hi, "{expected} in {now_lo} {now_hi}, {i}, {}", context());
            (lo, hi) = (now_lo, now_hi);
        }
        assert_eq!(monitor.finish(&mut memory), Some(expected), "{}", context());
    }
}

/// A monitor that only decides gives the truth of the finished trace, and never another answer before.
#[test]
fn a_deciding_monitor_ends_like_the_finished_trace_and_never_errs_before() {
    let (mut early, mut complete) = (0, 0);
    for (number, text, formula, mut draw) in cases("deciding", FORMULAS / 2) {
        let trace = trace(&mut draw, 14, GRAMMAR.step_s);
        let expected = if formula.holds(&trace).unwrap() { 1.0 } else { -1.0 };
        let context = || format!("formula {number}: {text}\n{trace:?}");
        let monitor = Monitor::deciding(formula.clone());
        let usual = Monitor::new(formula, Reading::Truth);
        let (mut memory, mut beside, mut scratch) = (monitor.start(), usual.start(), Scratch::default());
        for i in 0..trace.len() {
            monitor.see_with(&mut memory, trace.time_s(i), &trace.frame(i), &mut scratch).unwrap();
            usual.see_with(&mut beside, trace.time_s(i), &trace.frame(i), &mut scratch).unwrap();
            if let Some(answer) = monitor.answer(&memory) {
                assert_eq!(answer, expected, "sample {i}, {}", context());
                early += u64::from(usual.answer(&beside).is_none());
            }
            complete += u64::from(usual.answer(&beside).is_some() && monitor.answer(&memory).is_none());
        }
        assert_eq!(monitor.finish(&mut memory), Some(expected), "{}", context());
    }
    assert_eq!(complete, 0, "it never answers later than when all windows are complete");
    assert!(early > 10_000, "only {early} answers came before the windows were complete");
}

#[test]
fn a_past_formula_answers_with_its_sample() {
    // *Always* of a condition that only looks back is known exactly up to now.
    let text = "always (x > 0 implies once[0, 0.3] y > 1)";
    let inner = Formula::parse("x > 0 implies once[0, 0.3] y > 1", TABLE).unwrap();
    let monitor = Monitor::new(Formula::parse(text, TABLE).unwrap(), Reading::Margin);
    for number in 0..200 {
        let mut draw = Draw::new("past", number);
        let trace = trace(&mut draw, 14, 0.1);
        let values = inner.values(&trace, Reading::Margin).unwrap();
        let mut memory = monitor.start();
        let mut worst = f64::INFINITY;
        for (i, value) in values.iter().enumerate() {
            monitor.see(&mut memory, trace.time_s(i), &trace.frame(i)).unwrap();
            worst = worst.min(*value);
            assert_eq!(monitor.interval(&memory), (f64::NEG_INFINITY, worst));
        }
    }
}

/// Runs a trace after the samples that a memory has seen.
fn continued(monitor: &Monitor, memory: &Memory, seen: usize, suffix: &Trace) -> Option<f64> {
    let mut memory = memory.clone();
    for i in 0..suffix.len() {
        let time_s = 0.1 * (seen + i) as f64;
        monitor.see(&mut memory, time_s, &suffix.frame(i)).unwrap();
    }
    monitor.finish(&mut memory)
}

#[test]
fn memories_with_equal_keys_have_equal_futures() {
    let merged = equal_keys_with_equal_futures(|formula| Monitor::new(formula, Reading::Truth));
    assert!(merged > 3_000, "only {merged} memories were alike");
    let merged_deciding = equal_keys_with_equal_futures(Monitor::deciding);
    assert!(merged_deciding > merged, "{merged_deciding} of memories that only decide, {merged} of the others");
}

fn equal_keys_with_equal_futures(monitor: impl Fn(Formula) -> Monitor) -> u64 {
    let mut merged = 0;
    for (number, text, formula, mut draw) in cases("keys", 900) {
        let monitor = monitor(formula);
        let signals = |draw: &mut Draw, n: usize| {
            let column = |draw: &mut Draw, values: u64| (0..n).map(|_| draw.below(values) as f64).collect::<Vec<_>>();
            let columns = vec![column(draw, 2), column(draw, 2), column(draw, 2), column(draw, 2)];
            Trace::even(0.1, columns).unwrap()
        };
        let suffixes: Vec<Trace> = (0..6).map(|_| signals(&mut draw, 9)).collect();
        let mut known: std::collections::BTreeMap<u128, Vec<Option<f64>>> = std::collections::BTreeMap::new();
        for _ in 0..24 {
            let n = 1 + draw.below(8) as usize;
            let prefix = signals(&mut draw, n);
            let mut memory = monitor.start();
            (0..n).for_each(|i| monitor.see(&mut memory, 0.1 * i as f64, &prefix.frame(i)).unwrap());
            let futures: Vec<_> = suffixes.iter().map(|suffix| continued(&monitor, &memory, n, suffix)).collect();
            let key = key_of(&monitor, &memory);
            match known.get(&key) {
                Some(expect) => {
                    merged += 1;
                    assert_eq!(expect, &futures, "formula {number}: {text}\n{memory:?}");
                }
                None => drop(known.insert(key, futures)),
            }
        }
    }
    merged
}

#[test]
fn wrong_samples_are_refused_and_change_nothing() {
    let monitor = Monitor::new(Formula::parse("always x < 1", TABLE).unwrap(), Reading::Margin);
    let mut memory = monitor.start();
    assert_eq!(monitor.finish(&mut monitor.start()), None);
    monitor.see(&mut memory, 1.0, &[0.0; 4]).unwrap();
    let before = memory.clone();
    assert!(monitor.see(&mut memory, 1.0, &[0.0; 4]).is_err());
    assert!(monitor.see(&mut memory, f64::NAN, &[0.0; 4]).is_err());
    assert!(monitor.see(&mut memory, 2.0, &[0.0; 3]).is_err());
    assert!(monitor.see(&mut memory, 2.0, &[f64::INFINITY, 0.0, 0.0, 0.0]).is_err());
    assert_eq!(memory, before);
}

#[test]
fn memory_of_a_bounded_root_does_not_grow() {
    let monitor = Monitor::new(Formula::parse("always[0, 1000] x < 1", TABLE).unwrap(), Reading::Margin);
    let mut memory = monitor.start();
    for i in 0..5_000 {
        monitor.see(&mut memory, 0.1 * f64::from(i), &[f64::from(-i), 0.0, 0.0, 0.0]).unwrap();
    }
    assert!(to_bytes(&memory).len() < 100, "{} bytes", to_bytes(&memory).len());
}
