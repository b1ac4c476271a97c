//! Problems as systems: the contract, and the same robustness as the finished trace.

use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{Choice, Params, Seed, SegmentEnd, System, Watch};
use anabranch_problems::{Crosswalk, Junction, Problem, ProblemSystem};

#[test]
fn every_problem_keeps_the_contract() {
    for name in Problem::names() {
        let system = ProblemSystem::new(Problem::named(name).unwrap());
        let report = check_contract(&system, 2, system.problem().pieces).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(report.segments >= 2, "{name}: {report:?}");
    }
}

#[test]
fn the_crosswalk_keeps_the_contract() {
    let report = check_contract(&Crosswalk::default(), 8, 50).unwrap();
    assert!(report.segments > 100, "{report:?}");
}

#[test]
fn the_junction_keeps_the_contract() {
    let report = check_contract(&Junction::default(), 6, 20).unwrap();
    assert!(report.segments > 20, "{report:?}");
}

/// A car may change its mode 5e-15 s after a whole step: that is no new sample, and no fault.
#[test]
fn changes_at_a_whole_step_are_no_fault() {
    let system = ProblemSystem::new(Problem::named("cc4").unwrap());
    let all = system.errors().len() as u16;
    let start = system.start(Seed(0), &Params::default()).unwrap();
    for first in 0..all {
        let mut first_piece = start.clone();
        system.run(&mut first_piece, Choice(first), &mut Watch::off()).unwrap();
        for second in 0..all {
            let mut state = first_piece.clone();
            let end = system.run(&mut state, Choice(second), &mut Watch::off());
            assert!(end.is_ok(), "{first} {second}: {end:?}");
            for third in 0..all {
                let end = system.run(&mut state.clone(), Choice(third), &mut Watch::off());
                assert!(end.is_ok(), "{first} {second} {third}: {end:?}");
            }
        }
    }
}

#[test]
fn a_run_by_segments_ends_with_the_robustness_of_the_whole() {
    for name in Problem::names() {
        let problem = Problem::named(name).unwrap();
        let system = ProblemSystem::new(problem.clone());
        for run in 0..6_usize {
            let choices: Vec<Choice> = (0..problem.pieces)
                .map(|i| Choice((((i + 1) * (run + 2) * 5) % system.errors().len()) as u16))
                .collect();
            let ranges = problem.plant.ranges();
            let level =
                |choice: Choice, site: usize| f64::from(system.errors().modes(choice)[site]) / 2.0 * ranges[site].1;
            let input: Vec<f64> = choices.iter().flat_map(|&c| [level(c, 0), level(c, 1)]).collect();
            let expected = problem.evaluate(&input);
            let mut state = system.start(Seed(0), &Params::default()).unwrap();
            let mut end = SegmentEnd::Open;
            for &choice in &choices {
                end = system.run(&mut state, choice, &mut Watch::off()).unwrap();
                let (lo, hi) = system.interval(&state);
                assert!(lo <= expected && expected <= hi, "{name} {run}: {expected} in {lo} {hi}");
                if end != SegmentEnd::Open {
                    break;
                }
            }
            assert_eq!(matches!(end, SegmentEnd::Violated(_)), expected < 0.0, "{name} {run}: {expected} {end:?}");
        }
    }
}
