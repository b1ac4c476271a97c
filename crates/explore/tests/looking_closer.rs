//! What merging missed: refinement repairs it, and coverage measures it.

use crate::common::{Pushed, PushedState, settings};
use anabranch_explore::{Explorer, Keep, MemoryTrail, Merge, NoObserver, Refine, RefineEnd, Settings, Trail, replay};
use anabranch_kernel::{Chance, Choice, Danger, Grid, KeyWriter, Params, Seed, SegmentEnd, System, Watch};

/// The pushed point number `n`. Its danger sees the offset alone, so that coarse cells hide something.
fn spring(n: u64, wall: f64) -> Pushed {
    let chance = Chance::new(Seed(3), "spring").at(n);
    let danger = |s: &PushedState| Danger { worst: s.y.abs(), axes: [s.y, -s.y].into_iter().collect() };
    Pushed { danger, ..Pushed::new(0.5 + chance.uniform(0), 0.2 + chance.uniform(1), wall, 7) }
}

fn with_cells(system: &Pushed, scale: f64, refine: Refine) -> Settings {
    let merge = Merge::Grid(Grid::of(&system.variables).scaled(scale));
    Settings { keep: Keep::Worst, merge, refine, ..settings(system) }
}

fn exhaustive(system: &Pushed) -> Settings {
    Settings { merge: Merge::None, ..settings(system) }
}

/// The spring number `n` with walls at a share of its true worst excursion, and whether it fails.
fn world(n: u64, share: f64) -> Pushed {
    let far = spring(n, 100.0);
    let margin = Explorer::new(&far).settings(exhaustive(&far)).threads(1).run().unwrap().progress.margin;
    spring(n, (100.0 - margin) * share)
}

/// As much as it takes.
const UNBOUNDED: Refine = Refine { passes: 6, effort: 1e9 };

#[test]
fn looking_closer_finds_what_coarse_cells_hid() {
    let (mut missed, mut repaired, mut alarms) = (0, 0, 0);
    for n in 0..150 {
        let system = world(n, 0.94 + 0.1 * Chance::new(Seed(0), "share").at(n).uniform(0));
        let explore = |settings| Explorer::new(&system).settings(settings).threads(1).run().unwrap();
        let fails = explore(exhaustive(&system)).progress.findings > 0;
        let coarse = explore(with_cells(&system, 6.0, Refine::OFF)).progress.findings > 0;
        let closer = explore(with_cells(&system, 6.0, UNBOUNDED));
        let found = closer.progress.findings > 0;
        alarms += u32::from(found && !fails);
        missed += u32::from(fails && !coarse);
        repaired += u32::from(fails && !coarse && found);
        if fails && !coarse && found {
            assert_eq!(closer.refinement[0].end, RefineEnd::Found);
        }
        if !found {
            assert!(matches!(closer.refinement[0].end, RefineEnd::NothingAtRisk | RefineEnd::Finest));
        }
    }
    println!("coarse cells missed {missed} failing worlds of 150; looking closer repaired {repaired}");
    assert_eq!(alarms, 0);
    assert!(missed >= 10, "only {missed} misses: the test has nothing to show");
    assert!(repaired * 10 >= missed * 9, "{repaired} of {missed}");
}

#[test]
fn what_a_closer_look_finds_replays_from_the_start() {
    let (system, outcome, trail) = (0..200)
        .find_map(|n| {
            let system = world(n, 0.97);
            let coarse =
                Explorer::new(&system).settings(with_cells(&system, 6.0, Refine::OFF)).threads(1).run().unwrap();
            let mut trail = MemoryTrail::default();
            let settings = with_cells(&system, 6.0, UNBOUNDED);
            let closer = Explorer::new(&system).settings(settings).threads(1).run_with(&mut trail, &mut NoObserver);
            let closer = closer.unwrap();
            (coarse.progress.findings == 0 && closer.progress.findings > 0).then_some((system, closer, trail))
        })
        .expect("some world needs a closer look");
    for hit in &outcome.hits {
        let (start, mut choices) = trail.path(hit.parent).unwrap();
        choices.push(hit.choice);
        let run = replay(&system, Seed(0), &system.space().all()[start], &choices, None).unwrap();
        assert_eq!(run.end, SegmentEnd::Violated(vec![hit.verdict]));
    }
}

#[test]
fn a_closer_look_has_one_digest_for_any_number_of_threads() {
    let system = world(5, 1.02);
    let settings = Settings { rollouts: 100, ..with_cells(&system, 3.0, UNBOUNDED) };
    let run = |threads| Explorer::new(&system).settings(settings.clone()).threads(threads).run().unwrap();
    let one = run(1);
    assert!(one.refinement[0].passes > 0 && one.refinement[0].reopened > 0, "{:?}", one.refinement);
    for threads in [2, 3, 7] {
        let many = run(threads);
        assert_eq!((many.digest, &many.refinement, &many.coverage), (one.digest, &one.refinement, &one.coverage));
    }
}

#[test]
fn nothing_is_run_again_where_no_contact_is_near() {
    let system = world(5, 3.0);
    let explore = |refine| {
        let settings = Settings { keep: Keep::Extremes, ..with_cells(&system, 1.0, refine) };
        Explorer::new(&system).settings(settings).threads(1).run().unwrap()
    };
    let (plain, closer) = (explore(Refine::OFF), explore(Refine::USUAL));
    assert_eq!(closer.refinement[0].cells_at_risk, 0);
    assert_eq!(plain.digest, closer.digest);
    assert_eq!(plain.progress.segments, closer.progress.segments);
}

#[test]
fn a_disagreeing_random_run_makes_the_exploration_look_closer() {
    let disagreeing = (0..200).find_map(|n| {
        let system = world(n, 0.9);
        // Effort for one level only: looking closer by itself gives up at once.
        let settings = Settings { rollouts: 2_000, ..with_cells(&system, 8.0, Refine { passes: 1, effort: 0.0 }) };
        let outcome = Explorer::new(&system).settings(settings).threads(1).run().unwrap();
        (outcome.progress.findings == 0 && outcome.coverage.draws == 2).then_some(outcome)
    });
    let outcome = disagreeing.expect("some coarse exploration is contradicted by random runs");
    assert_eq!(outcome.refinement.len(), 2);
    assert!(!outcome.coverage.violations.is_empty(), "they are findings as well");
}

/// The true share of random runs that stay inside what was explored: by running every sequence.
fn true_share(system: &Pushed, settings: &Settings) -> f64 {
    // A random run is one of 3⁷ equally likely sequences, so a census of all of them is a measurement without chance.
    let Merge::Grid(grid) = &settings.merge else { unreachable!("there is a grid") };
    let mut recording = anabranch_explore::Recording::default();
    Explorer::new(system)
        .settings(Settings { rollouts: 0, ..settings.clone() })
        .threads(1)
        .run_with(&mut MemoryTrail::default(), &mut recording)
        .unwrap();
    let open = |e: &&anabranch_explore::Edge| {
        matches!(e.fate, anabranch_explore::Fate::Kept | anabranch_explore::Fate::Merged)
    };
    let explored: std::collections::BTreeSet<_> = recording.edges.iter().filter(open).filter_map(|e| e.key).collect();
    let inside = (0..3_u32.pow(system.levels)).filter(|number| {
        let mut state = system.start(Seed(0), &Params::default()).unwrap();
        let (mut writer, mut number) = (KeyWriter::new(grid), *number);
        for level in 1..=system.levels {
            let end = system.run(&mut state, Choice((number % 3) as u16), &mut Watch::off()).unwrap();
            number /= 3;
            if end != SegmentEnd::Open {
                break;
            }
            system.cell(&state, &mut writer);
            writer.extra(u64::from(level));
            if !explored.contains(&writer.finish().unwrap()) {
                return false;
            }
        }
        true
    });
    inside.count() as f64 / f64::from(3_u32.pow(system.levels))
}

#[test]
fn the_coverage_interval_covers_the_truth() {
    let (mut covered, mut trials) = (0, 0);
    for n in 0..20 {
        let system = spring(n, 100.0);
        let settings = Settings { rollouts: 100, ..with_cells(&system, 1.5, Refine::OFF) };
        let truth = true_share(&system, &settings);
        for seed in 0..50 {
            let outcome = Explorer::new(&system).settings(settings.clone()).seed(Seed(seed)).threads(1).run().unwrap();
            let coverage = &outcome.coverage;
            covered += u32::from((coverage.share_low..=coverage.share_high).contains(&truth));
            trials += 1;
            let expected = anabranch_explore::clopper_pearson(coverage.runs_inside, coverage.rollouts, 0.05);
            assert_eq!((coverage.share_low, coverage.share_high), expected);
        }
    }
    println!("the interval covered the true share in {covered} of {trials} trials");
    assert_eq!(trials, 1_000);
    assert!(covered >= 930, "{covered}");
}
