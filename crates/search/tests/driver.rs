//! Budgets, constraints, trouble, probes and the baseline.

use anabranch_kernel::{Fault, Seed};
use anabranch_search::{
    Baseline, Contest, Dimension, Ended, Goal, Method, NoEdge, Objective, Origin, Outcome, Probes, Question, Report,
    Search, SearchError, Settings, Space,
};

use crate::functions::{ranges, sphere};

fn search(method: Method, space: &Space, objective: &dyn Objective, settings: Settings) -> Report {
    let layout = space.layout().expect("something varies");
    let optimiser = method.build(&layout, settings.seed, settings.simulations).expect("the method fits");
    Search::new(space, objective, optimiser, settings).expect("good settings").run(&mut NoEdge)
}

/// Ten seconds each, two if it is decided early.
struct Timed;
impl Objective for Timed {
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault> {
        let value = question.values[0] - 0.02;
        let decided = value < question.decided_below;
        Ok(Outcome { stopped_early: decided, ..Outcome::of(value, if decided { 2.0 } else { 10.0 }) })
    }
}

#[test]
fn a_search_ends_at_its_first_violation_and_counts_to_it() {
    let report = search(Method::Random, &ranges(1, 0.0, 1.0), &Timed, Settings::first(Seed(1), 5000));
    assert_eq!(report.ended, Ended::Found);
    let last = report.evaluations.last().expect("something was simulated");
    assert!(last.value() < 0.0 && report.evaluations.iter().rev().skip(1).all(|e| e.value() >= 0.0));
    assert_eq!(report.simulations_to_first(), Some(report.evaluations.len() as u64));
    assert!(last.result.as_ref().is_ok_and(|o| o.stopped_early && o.simulated_seconds == 2.0));
    let steps = report.convergence();
    assert_eq!(steps.len(), report.evaluations.len());
    assert!(steps.windows(2).all(|w| w[1].best <= w[0].best && w[1].simulated_seconds > w[0].simulated_seconds));
}

#[test]
fn budgets_hold_in_simulations_and_in_simulated_seconds() {
    let all = Settings { goal: Goal::Worst, batch: 4, ..Settings::first(Seed(1), 10) };
    let report = search(Method::Sobol, &ranges(1, 0.0, 1.0), &Timed, all.clone());
    assert_eq!((report.ended.clone(), report.evaluations.len()), (Ended::Simulations, 10));
    // Without a wish to stop nothing is decided early.
    assert_eq!(report.simulated_seconds(), 100.0);
    // 10 s each: who hears late stops at once, who wants whole batches after the batch.
    for (method, simulations) in [(Method::Sobol, 6), (Method::CrossEntropy, 8)] {
        let budget = Settings { simulated_seconds: 55.0, ..all.clone() };
        let report = search(method, &ranges(1, 0.0, 1.0), &Timed, budget);
        assert_eq!((report.ended, report.evaluations.len()), (Ended::SimulatedSeconds, simulations));
    }
}

#[test]
fn refused_points_are_counted_and_not_simulated() {
    let space = ranges(2, 0.0, 1.0).with_constraint("x0 + x1 < 1", |v| v[0] + v[1] - 1.0);
    for method in Method::ALL {
        let settings = Settings { goal: Goal::Worst, batch: 3, ..Settings::first(Seed(5), 60) };
        let report = search(method, &space, &sphere, settings);
        assert_eq!(report.evaluations.len(), 60, "{}", method.name());
        assert!(report.evaluations.iter().all(|e| e.values[0] + e.values[1] <= 1.0));
        let (name, refused) = &report.rejected[0];
        assert!(name == "x0 + x1 < 1" && *refused > 0, "{}: {refused}", method.name());
    }
    let impossible = ranges(2, 0.0, 1.0).with_constraint("never", |_| 1.0);
    let report = search(Method::Random, &impossible, &sphere, Settings::first(Seed(5), 60));
    assert_eq!(report.ended, Ended::Rejected { constraint: "never".into(), in_a_row: 100_000 });
}

#[test]
fn what_is_not_a_number_is_located_and_nothing_is_lost() {
    let space = ranges(2, 0.0, 1.0);
    let holes = |v: &[f64]| if v[0] > 0.8 { f64::NAN } else { 1.0 + v[1] };
    let settings = Settings { goal: Goal::Worst, ..Settings::first(Seed(3), 100) };
    let report = search(Method::Random, &space, &holes, settings.clone());
    let Ended::Trouble(message) = &report.ended else { panic!("{:?}", report.ended) };
    let last = report.evaluations.last().expect("something was simulated");
    assert!(last.result.is_err() && last.values[0] > 0.8);
    assert!(message.contains(&format!("evaluation {} (x0 = ", last.number)), "{message}");
    assert!(message.contains("objective 0 is not a number"), "{message}");

    for method in Method::ALL {
        let report = search(method, &space, &holes, Settings { troubles_max: 1000, ..settings.clone() });
        assert_eq!((report.ended.clone(), report.evaluations.len()), (Ended::Simulations, 100), "{}", method.name());
        assert!(report.best().is_some_and(|best| best.value() < 1.5), "{}", method.name());
        assert!(report.troubles().all(|e| e.values[0] > 0.8));
    }
}

struct Broken;
impl Objective for Broken {
    fn evaluate(&self, _: Question<'_>) -> Result<Outcome, Fault> {
        Err(Fault::External("the driver did not answer".into()))
    }
}

#[test]
fn faults_are_trouble_and_never_violations() {
    let report = search(Method::Auto, &ranges(1, 0.0, 1.0), &Broken, Settings::first(Seed(3), 100));
    assert!(
        matches!(&report.ended, Ended::Trouble(m) if m.contains("the driver did not answer")),
        "{:?}",
        report.ended
    );
    assert!(report.accidents.is_empty() && report.best().is_none());
}

#[test]
fn settings_that_cannot_be_honoured_are_errors() {
    let space = ranges(1, 0.0, 1.0);
    let check = |settings: Settings| {
        let optimiser = Method::Random.build(&space.layout().expect("a space"), Seed(0), 1).expect("it fits");
        let Err(error) = Search::new(&space, &sphere, optimiser, settings) else { panic!("accepted") };
        assert!(matches!(error, SearchError::Setting(_)), "{error}");
    };
    check(Settings { batch: 0, ..Settings::first(Seed(0), 1) });
    check(Settings::first(Seed(0), 0));
    check(Settings { simulated_seconds: f64::NAN, ..Settings::first(Seed(0), 1) });
}

#[test]
fn any_number_of_threads_gives_the_same_evaluations() {
    let space = ranges(3, 0.0, 1.0);
    for method in Method::ALL {
        let settings = Settings { goal: Goal::Worst, batch: 7, ..Settings::first(Seed(11), 80) };
        let digests: Vec<_> = [1, 2, 3, 7]
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                pool.install(|| search(method, &space, &sphere, settings.clone()).digest())
            })
            .to_vec();
        assert!(digests.windows(2).all(|w| w[0] == w[1]), "{}: {digests:?}", method.name());
        let other = search(method, &space, &sphere, Settings { seed: Seed(12), ..settings }).digest();
        assert_ne!(other, digests[0], "{}: the seed changes nothing", method.name());
    }
}

#[test]
fn corners_are_probed_only_when_asked_and_marked() {
    let at_corner = |v: &[f64]| if v.iter().all(|x| *x == 1.0) { -1.0 } else { 1.0 };
    let off = Settings::first(Seed(1), 100);
    let report = search(Method::Random, &ranges(3, 0.0, 1.0), &at_corner, off.clone());
    assert!(report.accidents.is_empty() && report.evaluations.iter().all(|e| e.origin == Origin::Optimiser));
    let report = search(Method::Random, &ranges(3, 0.0, 1.0), &at_corner, Settings { probes: Probes::Corners, ..off });
    assert_eq!(report.simulations_to_first(), Some(8));
    assert!(report.evaluations.iter().all(|e| e.origin == Origin::Probe));
}

#[test]
fn the_baseline_has_the_same_budget_and_says_what_it_means() {
    let space = ranges(2, 0.0, 1.0);
    let objective = |v: &[f64]| if v[0] < 0.1 { -1.0 } else { v[0] };
    let (baseline, _) = Baseline::run(&space, &objective, &Settings::first(Seed(2), 400)).expect("a baseline");
    assert_eq!(baseline.simulations, 400);
    assert!(baseline.share.0 < 0.1 && 0.1 < baseline.share.1, "{:?}", baseline.share);
    let (low, high) = baseline.finds_within(10);
    assert!(low < 0.651 && 0.651 < high, "{low} {high}");
    assert!(baseline.statement(Some(5)).contains("the search needed 5"));
    let contest = Contest { repeats: 50, ours: 49, baseline: 20 };
    assert!(contest.chance_alone() < 1e-6 && contest.statement().contains("better than random"));
    let even = Contest { repeats: 50, ours: 20, baseline: 20 };
    assert!(even.chance_alone() > 0.4 && even.statement().contains("not shown"));
}

#[test]
fn methods_refuse_what_they_cannot_do() {
    let many =
        Space::new((0..120).map(|n| Dimension::real(&format!("x{n}"), "", 0.0, 1.0)).collect()).expect("a space");
    let Err(error) = Method::Sobol.build(&many.layout().expect("a space"), Seed(0), 10) else { panic!("accepted") };
    assert_eq!(error.to_string(), "method `sobol`: 120 dimensions are more than its 96; use `halton` instead");
    assert!(Method::ALL.iter().all(|m| Method::of_name(m.name()) == Some(*m)));
}
