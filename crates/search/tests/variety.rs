//! Several accidents, several objectives, and which parameters matter.

use anabranch_kernel::{Fault, Seed};
use anabranch_search::{
    By, Ended, Goal, Method, Objective, Outcome, Question, Search, Settings, Shape, SignalRange, Space, importance,
};

use crate::functions::{ranges, run};

/// Three wells; the first one is much wider than the others.
struct Wells;
const WELLS: [([f64; 2], f64); 3] = [([0.2, 0.2], 0.15), ([0.8, 0.3], 0.05), ([0.4, 0.85], 0.05)];

impl Objective for Wells {
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault> {
        let v = question.values;
        let depth = |(centre, radius): &([f64; 2], f64)| {
            let far = ((v[0] - centre[0]).powi(2) + (v[1] - centre[1]).powi(2)).sqrt();
            far - radius
        };
        let depths: Vec<f64> = WELLS.iter().map(depth).collect();
        let (n, value) = depths.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).expect("three");
        Ok(Outcome { signature: vec![n as f64], ..Outcome::of(*value, 1.0) })
    }
}

#[test]
fn different_accidents_are_found_and_told_apart() {
    for (by, apart) in [(By::Parameters, 0.25), (By::Signature, 0.5)] {
        for method in [Method::Annealing, Method::CmaEs, Method::Auto] {
            let space = ranges(2, 0.0, 1.0);
            let optimiser = method.build(&space.layout().expect("a space"), Seed(4), 3000).expect("it fits");
            let settings = Settings { goal: Goal::Different(3), by, apart, ..Settings::first(Seed(4), 3000) };
            let report = Search::new(&space, &Wells, optimiser, settings).expect("good settings").run_unsaved();
            assert_eq!(report.ended, Ended::Found, "{} {by:?}: {:?}", method.name(), report.accidents);
            let mut wells: Vec<u64> = report
                .accidents
                .iter()
                .map(|a| report.evaluations[a.first as usize].result.as_ref().expect("computed").signature[0] as u64)
                .collect();
            wells.sort_unstable();
            assert_eq!(wells, [0, 1, 2], "{} {by:?}", method.name());
            assert!(report.accidents.iter().all(|a| a.seen > 0 && a.worst >= a.first));
        }
    }
}

/// Two aims that exclude each other: close to (0, 0.5) and close to (1, 0.5).
struct TwoAims;
impl Objective for TwoAims {
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault> {
        let v = question.values;
        let far = |x: f64| (v[0] - x).powi(2) + (v[1] - 0.5).powi(2);
        Ok(Outcome { robustness: vec![far(0.0), 100.0 * far(1.0)], ..Outcome::of(0.0, 1.0) })
    }
}

#[test]
fn the_front_reaches_both_ends_and_the_middle() {
    let space = ranges(2, 0.0, 1.0);
    let optimiser = Method::CmaEs.build(&space.layout().expect("a space"), Seed(4), 1500).expect("it fits");
    let settings = Settings { goal: Goal::Worst, front_every: 150, ..Settings::first(Seed(4), 1500) };
    let report = Search::new(&space, &TwoAims, optimiser, settings).expect("good settings").run_unsaved();
    let places: Vec<f64> = report.front.iter().map(|n| report.evaluations[*n as usize].values[0]).collect();
    for wanted in [0.02, 0.5, 0.98] {
        assert!(places.iter().any(|x| (x - wanted).abs() < 0.12), "nothing near {wanted}: {places:?}");
    }
    let outcome = |n: &u64| report.evaluations[*n as usize].result.as_ref().expect("computed").robustness.clone();
    let front: Vec<Vec<f64>> = report.front.iter().map(outcome).collect();
    for (n, a) in front.iter().enumerate() {
        for (m, b) in front.iter().enumerate() {
            assert!(n == m || !anabranch_search::front::dominates(a, b), "{a:?} beats {b:?}");
        }
    }
}

#[test]
fn what_matters_is_told_from_what_does_not() {
    let space = ranges(4, 0.0, 1.0);
    let f = |v: &[f64]| 4.0 * v[0] + v[1] + 0.0 * v[2];
    for method in [Method::Random, Method::Annealing] {
        let report = run(method, &space, f, 3, 400);
        let shares: Vec<f64> =
            importance(&space, &report, Seed(1)).expect("400 points").iter().map(|i| i.share).collect();
        // A walker crowds where it is dangerous: shares shrink, but what does not matter stays far below.
        let (matters, not) = (shares[0].max(shares[1]), shares[2].max(shares[3]));
        assert!(method != Method::Random || (shares[0] > 0.7 && not < 0.06), "{}: {shares:?}", method.name());
        assert!(matters > 5.0 * not, "{}: {shares:?}", method.name());
    }
    let report = run(Method::Random, &space, f, 3, 5);
    assert_eq!(importance(&space, &report, Seed(1)), None);
}

/// A cart that must not pass 40 m in 20 s: only hard pushing without braking, nearly all the time, gets it there.
fn cart(v: &[f64]) -> f64 {
    let (mut place, mut speed) = (0.0, 0.0);
    for (push, brake) in v[..10].iter().zip(&v[10..]) {
        for _ in 0..20 {
            speed += 0.1 * (push - 0.3 * speed - 2.0 * brake * speed);
            place += 0.1 * speed;
        }
    }
    52.0 - place
}

#[test]
fn signals_of_few_pieces_are_found_where_random_ones_fail() {
    let signal = |name: &str| SignalRange {
        name: name.into(),
        unit: String::new(),
        lo: 0.0,
        hi: 1.0,
        points: 10,
        shape: Shape::Constant,
        horizon_seconds: 20.0,
    };
    let space =
        Space::default().with_signal(signal("push")).and_then(|s| s.with_signal(signal("brake"))).expect("a space");
    let found = |method: Method| {
        let one = |seed| {
            let optimiser = method.build(&space.layout().expect("a space"), Seed(seed), 150).expect("it fits");
            let settings = Settings::first(Seed(seed), 150);
            Search::new(&space, &cart, optimiser, settings).expect("good settings").run_unsaved().accidents.len()
        };
        (0..20).map(one).sum::<usize>()
    };
    assert_eq!(found(Method::Random), 0);
    assert!(found(Method::Auto) >= 19, "{}", found(Method::Auto));
}

#[test]
fn importance_of_a_signal_is_that_of_its_pieces() {
    let signal = |name: &str| SignalRange {
        name: name.into(),
        unit: String::new(),
        lo: 0.0,
        hi: 1.0,
        points: 3,
        shape: Shape::Constant,
        horizon_seconds: 30.0,
    };
    let space = Space::default().with_signal(signal("a")).and_then(|s| s.with_signal(signal("b"))).expect("a space");
    let f = |v: &[f64]| v[3] + v[4] + v[5];
    let report = run(Method::Sobol, &space, f, 3, 512);
    let found = importance(&space, &report, Seed(1)).expect("512 points");
    assert_eq!(found.len(), 8);
    assert_eq!((found[6].name.as_str(), found[7].name.as_str()), ("a", "b"));
    assert!(found[7].share > 0.7 && found[6].share < 0.1, "{found:?}");
}
