//! A driver from outside in the loop: the same results as the built-in one, whatever it can save and however many
//! instances there are; and what it does wrong is a verdict on the error sequence that made it do so.

use crate::law::{Law, Trick, explore, scenario};
use anabranch_bridge::{Kind, Support};
use anabranch_explore::Outcome;
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{Choice, Seed, SegmentEnd, System, Watch};
use anabranch_scenario::Drive;
use anabranch_scenario::drive::foreign::{DOUBLED_MIN, Hidden, Merging, Outside};

const PASSAGE: &str = "narrow-passage";

fn drive(law: &Law, instances: usize) -> Drive {
    let outside = Outside { instances, ..Outside::new(law.boxed()) };
    Drive::assemble_with(&scenario(PASSAGE, &[]), Some(outside)).unwrap()
}

#[test]
fn the_same_law_from_outside_finds_what_the_built_in_one_finds() {
    let spec = scenario(PASSAGE, &[]);
    let built_in = explore(&Drive::assemble(&spec).unwrap(), &spec, 8, 2);
    let outside = explore(&drive(&Law::new(Support::Save), 2), &spec, 8, 2);
    assert!(!built_in.hits.is_empty(), "{:?}", built_in.progress);
    assert_eq!(built_in.hits, outside.hits);
    assert_eq!(built_in.progress, outside.progress);
    assert_eq!(built_in.levels, outside.levels);
}

#[test]
fn one_digest_for_every_support_and_any_number_of_instances_and_threads() {
    let spec = scenario(PASSAGE, &[]);
    let digest = |support: Support, instances: usize, threads: usize| {
        explore(&drive(&Law::new(support), instances), &spec, 4, threads).digest
    };
    let first = digest(Support::Save, 1, 1);
    for (instances, threads) in [(1, 2), (2, 1), (2, 7), (3, 2)] {
        assert_eq!(digest(Support::Save, instances, threads), first, "{instances} instances, {threads} threads");
    }
    for (instances, threads) in [(1, 1), (3, 2)] {
        assert_eq!(digest(Support::Replay, instances, threads), first, "replay, {instances} instances");
    }
    assert_eq!(digest(Support::None, 2, 2), first);
}

#[test]
fn saved_states_are_loaded_and_paths_are_not_run_again() {
    let spec = scenario(PASSAGE, &[]);
    let steps = |support: Support| {
        let law = Law::new(support);
        let outside = Outside { instances: 2, double: 0.0, ..Outside::new(law.boxed()) };
        let outcome = explore(&Drive::assemble_with(&spec, Some(outside)).unwrap(), &spec, 4, 1);
        law.steps.load(std::sync::atomic::Ordering::Relaxed) as f64 / outcome.progress.segments as f64
    };
    // 50 steps in a segment; the first two levels move between instances.
    let (save, replay) = (steps(Support::Save), steps(Support::Replay));
    assert!(save < 56.0, "{save}");
    assert!(replay > 100.0, "{replay}");
}

#[test]
fn a_driver_from_outside_keeps_the_contract_of_systems() {
    for support in [Support::Save, Support::Replay, Support::None] {
        let report = check_contract(&drive(&Law::new(support), 2), 2, 4).unwrap();
        assert!(report.segments >= 8, "{support:?} {report:?}");
    }
    let hidden = Law { key: false, trick: Trick::Counts, ..Law::new(Support::Save) };
    check_contract(&drive(&hidden, 1), 1, 3).unwrap();
    let raises = Law { trick: Trick::RaiseBeyond(0.12), ..Law::new(Support::Save) };
    check_contract(&drive(&raises, 1), 3, 6).unwrap();
}

/// The names of violated requirements and how often, over some levels.
fn violated(law: &Law, levels: u32) -> (std::collections::BTreeMap<String, usize>, Drive) {
    let spec = scenario(PASSAGE, &[]);
    let drive = drive(law, 2);
    let outcome = explore(&drive, &spec, levels, 2);
    assert_eq!((outcome.fault_count, outcome.complete()), (0, true));
    let mut names = std::collections::BTreeMap::new();
    for hit in &outcome.hits {
        *names.entry(drive.requirements()[usize::from(hit.verdict.requirement)].clone()).or_default() += 1;
    }
    (names, drive)
}

#[test]
fn each_misbehaviour_is_a_verdict_on_the_segments_that_cause_it_and_the_run_goes_on() {
    let cases = [
        (Trick::CrashBeyond(0.12), "driver.crash"),
        (Trick::HangBeyond(0.12), "driver.hang"),
        (Trick::RaiseBeyond(0.12), "driver.exception"),
        (Trick::NanBeyond(0.12), "driver.not-a-number"),
    ];
    let mut counts = Vec::new();
    for (trick, name) in cases {
        let (found, drive) = violated(&Law { trick, ..Law::new(Support::Save) }, 3);
        assert_eq!(found.keys().collect::<Vec<_>>(), [name], "{trick:?}");
        counts.push(found[name]);
        let faults = drive.foreign().unwrap().faults();
        let first = &faults[0];
        assert_eq!(format!("driver.{}", first.kind.name()), name);
        assert!(!first.text.is_empty() && !first.asked.is_empty() && !first.choices.is_empty());
        // The input that did it replays, from the start and alone.
        let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
        let mut end = SegmentEnd::Open;
        for choice in &first.choices {
            end = drive.run(&mut state, *choice, &mut Watch::off()).unwrap();
        }
        let SegmentEnd::Violated(verdicts) = end else { panic!("{end:?}") };
        assert_eq!(verdicts[0].tick, first.tick);
        assert_eq!(drive.foreign().unwrap().kind_of(verdicts[0].requirement), Some(first.kind));
    }
    // Whether one branch fails or the whole instance with it: the same segments are to blame.
    assert!(counts.iter().all(|count| *count == counts[0] && *count > 2), "{counts:?}");
}

#[test]
fn a_driver_that_cannot_load_what_it_saved_breaks_its_promise() {
    let (found, _) = violated(&Law { trick: Trick::CannotLoad, ..Law::new(Support::Save) }, 3);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["driver.broken-promise"]);
}

#[test]
fn hidden_memory_is_not_merged_over_unless_somebody_asks() {
    let spec = scenario(PASSAGE, &[]);
    let merged = |law: &Law, hidden: Hidden| {
        let outside = Outside { hidden, ..Outside::new(law.boxed()) };
        let drive = Drive::assemble_with(&spec, Some(outside)).unwrap();
        let outcome = explore(&drive, &spec, 3, 2);
        let ignored = drive.variables().iter().any(|v| v.size == anabranch_kernel::CellSize::Ignore);
        (drive.foreign().unwrap().merging(), outcome.progress.merged, ignored)
    };
    let law = Law::new(Support::Save);
    let (rule, by_key, _) = merged(&law, Hidden::Refuse);
    assert_eq!((rule, by_key > 100), (Merging::Key, true));
    let hides = Law { key: false, ..law.clone() };
    assert_eq!(merged(&hides, Hidden::Refuse), (Merging::Off, 0, false));
    assert_eq!(merged(&hides, Hidden::Ignore), (Merging::Ignored, by_key, true));
    let bytes = Law { key: false, bytes: true, ..law.clone() };
    assert_eq!(merged(&bytes, Hidden::Refuse), (Merging::Bytes, by_key, false));
    let memoryless = Law { key: false, memoryless: true, ..law.clone() };
    assert_eq!(merged(&memoryless, Hidden::Refuse), (Merging::Memoryless, by_key, false));
    // Whoever cannot be saved has no saved bytes, and is not believed to.
    let replays = Law { support: Support::Replay, ..bytes };
    let refused = Drive::assemble_with(&spec, Some(Outside::new(replays.boxed()))).unwrap_err();
    assert!(refused.to_string().contains("saves_bytes"), "{refused}");
}

#[test]
fn one_run_of_a_driver_that_cannot_be_saved_is_driven_once() {
    for support in [Support::Replay, Support::None] {
        let law = Law::new(support);
        let outside = Outside { double: 0.0, ..Outside::new(law.boxed()) };
        let drive = Drive::assemble_with(&scenario(PASSAGE, &[]), Some(outside)).unwrap();
        let run = |choices: &[Choice]| {
            let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
            for choice in choices {
                assert_eq!(drive.run(&mut state, *choice, &mut Watch::off()), Ok(SegmentEnd::Open));
            }
            state
        };
        let once = run(&[Choice(1), Choice(0), Choice(2), Choice(0)]);
        assert_eq!(law.steps.load(std::sync::atomic::Ordering::Relaxed), 4 * 50);
        // Another run in between, and the branch that was open is not taken for this one's.
        let mut early = run(&[Choice(1), Choice(0)]);
        run(&[Choice(3)]);
        for choice in [Choice(2), Choice(0)] {
            drive.run(&mut early, choice, &mut Watch::off()).unwrap();
        }
        assert_eq!(early, once, "{support:?}");
    }
}

/// Explores some levels in one thread and one instance, with a share of segments run twice.
fn doubled(law: &Law, double: f64, levels: u32) -> (Drive, Outcome) {
    let spec = scenario(PASSAGE, &[]);
    let outside = Outside { double, ..Outside::new(law.boxed()) };
    let drive = Drive::assemble_with(&spec, Some(outside)).unwrap();
    let outcome = explore(&drive, &spec, levels, 1);
    (drive, outcome)
}

#[test]
fn a_flip_in_one_of_a_thousand_segments_is_caught_by_running_segments_twice() {
    // 1 - 0.999^4600 is 0.99; which segments flip is drawn once and for all.
    let law = Law { trick: Trick::FlipOneIn(1000), ..Law::new(Support::Save) };
    let (drive, outcome) = doubled(&law, 1.0, 6);
    let foreign = drive.foreign().unwrap();
    assert!(foreign.doubled() >= 4600, "{} of {}", foreign.doubled(), outcome.progress.segments);
    let faults = foreign.faults();
    let first = faults.iter().find(|fault| fault.kind == Kind::Nondeterministic).expect("a flip was caught");
    assert!(first.text.contains("answered differently: `steer` was"), "{}", first.text);
    println!("{} doubled segments, {} flips caught: {}", foreign.doubled(), faults.len(), first.text);
}

#[test]
fn how_many_segments_are_run_twice_is_as_asked() {
    let count = |double: f64, levels: u32| {
        let (drive, outcome) = doubled(&Law::new(Support::Save), double, levels);
        (drive.foreign().unwrap().doubled(), outcome.progress.segments)
    };
    let (all, segments) = count(1.0, 3);
    assert!(all >= segments && segments > DOUBLED_MIN, "{all} of {segments}");
    assert_eq!(count(0.0, 3).0, 0);
    // A small share of few segments is rounded up to a number that says something, and of very few all are taken.
    let (some, _) = count(0.02, 3);
    assert!((DOUBLED_MIN..DOUBLED_MIN + segments / 10).contains(&some), "{some} of {segments}");
    let (few, segments) = count(0.02, 1);
    assert!(few >= segments && segments < DOUBLED_MIN, "{few} of {segments}");
}

#[test]
fn steps_that_are_slow_together_and_quick_alone_are_no_hang() {
    let spec = scenario(PASSAGE, &[]);
    let digest = |trick: Trick| {
        let law = Law { trick, ..Law::new(Support::Save) };
        let outcome = explore(&drive(&law, 2), &spec, 2, 2);
        (outcome.digest, law.started.load(std::sync::atomic::Ordering::Relaxed))
    };
    let (usual, started) = digest(Trick::None);
    let (slow, started_again) = digest(Trick::SlowBeyond(2));
    assert_eq!(usual, slow);
    assert!(started_again > started, "large messages were given up");
}

#[test]
fn a_driver_that_cannot_be_started_again_leaves_an_incomplete_exploration() {
    let spec = scenario(PASSAGE, &[]);
    let law = Law { trick: Trick::DiesBeyond(0.12), ..Law::new(Support::Save) };
    let drive = drive(&law, 1);
    let outcome = explore(&drive, &spec, 4, 2);
    assert!(outcome.fault_count > 10 && !outcome.complete(), "{}", outcome.fault_count);
    assert!(drive.foreign().unwrap().gone().unwrap().to_string().contains("cannot be started again: it is gone"));
    // Nobody tries for every segment.
    assert_eq!(law.started.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn standing_before_an_obstacle_is_not_arriving() {
    let spec = scenario("late-obstacle", &[("explore.until", "40 s")]);
    let outside = Outside { double: 0.0, ..Outside::new(Law::new(Support::Save).boxed()) };
    let drive = Drive::assemble_with(&spec, Some(outside)).unwrap();
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    let mut ends = Vec::new();
    for _ in 0..40 {
        ends.push(drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap());
        if ends.last() != Some(&SegmentEnd::Open) {
            break;
        }
    }
    let car = &state.car.car;
    assert!(car.speed.abs() < 0.05 && car.x < 21.0, "it stands before the box: {car:?}");
    assert!(!ends.contains(&SegmentEnd::Goal), "{ends:?}");
}

#[test]
fn a_trajectory_is_tracked() {
    let law = Law { trick: Trick::Trajectory, ..Law::new(Support::Save) };
    let drive = drive(&law, 1);
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    for _ in 0..8 {
        assert_eq!(drive.run(&mut state, Choice::NONE, &mut Watch::off()), Ok(SegmentEnd::Open));
    }
    let car = &state.car.car;
    assert!((car.x + 4.0).abs() < 0.1 && car.y.abs() < 0.01 && (car.speed + 0.5).abs() < 0.05, "{car:?}");
}
