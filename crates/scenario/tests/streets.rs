//! The loop on roads: others who react, eyes that see only what is in sight, and errors that are harmless apart.

use std::path::PathBuf;

use crate::law::Law;
use anabranch_bridge::Support;
use anabranch_explore::{Explorer, Keep, Merge, Outcome, Scope, Settings, replay};
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{Choice, Choices, Grid, Seed, SegmentEnd, System, Watch, from_bytes, to_bytes};
use anabranch_scenario::drive::foreign::Outside;
use anabranch_scenario::file::{Document, Hooks, ScenarioSpec};
use anabranch_scenario::{Drive, DriveState};

/// Every shipped scenario on roads.
const ROADS: [&str; 8] = [
    "city-traffic",
    "highway-cut-in",
    "lane-drop-merge",
    "occluded-pedestrian",
    "roundabout",
    "signalised-crossing",
    "t-junction-stop",
    "urban-parked-cars",
];

/// Those that fail by errors together and by none alone.
const TOGETHER: [&str; 4] = ["highway-cut-in", "occluded-pedestrian", "roundabout", "urban-parked-cars"];
/// Those whose branches join again soon.
const MERGING: [&str; 4] = ["highway-cut-in", "occluded-pedestrian", "t-junction-stop", "urban-parked-cars"];

fn spec_of(name: &str, overrides: &[(&str, &str)]) -> ScenarioSpec {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let bytes = std::fs::read(folder.join(format!("{name}.toml"))).unwrap();
    let mut document = Document::parse(name, &bytes).unwrap();
    for (key, value) in overrides {
        document.apply_override(key, value).unwrap_or_else(|report| panic!("{report}"));
    }
    document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"))
}

fn drive_of(name: &str, overrides: &[(&str, &str)]) -> Drive {
    Drive::assemble(&spec_of(name, overrides)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn start(drive: &Drive) -> DriveState {
    drive.start(Seed(0), &drive.space().all()[0]).unwrap()
}

fn explored(drive: &Drive, merge: Merge, levels_max: u32, threads: usize) -> Outcome {
    let base = Settings::new(drive.variables(), drive.time_matters());
    let settings = Settings { scope: Scope::Level, keep: Keep::Extremes, merge, levels_max, ..base };
    Explorer::new(drive).settings(settings).threads(threads).run().unwrap()
}

fn merged(drive: &Drive) -> Merge {
    Merge::Grid(Grid::of(drive.variables()))
}

/// With the cells of the file.
fn merged_as_written(name: &str, drive: &Drive) -> Merge {
    Merge::Grid(drive.grid(&spec_of(name, &[]).explore.merge).unwrap().expect("roads are explored with merging"))
}

#[test]
fn without_errors_nobody_is_hurt() {
    for name in ROADS {
        let drive = drive_of(name, &[]);
        let mut state = start(&drive);
        let end = loop {
            let end = drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap();
            if end != SegmentEnd::Open {
                break end;
            }
        };
        assert!(matches!(end, SegmentEnd::Goal | SegmentEnd::TimedOut), "{name}: {end:?}");
    }
}

#[test]
fn a_highway_has_fifty_cars_and_most_of_them_are_never_touched() {
    let drive = drive_of("highway-cut-in", &[]);
    assert!(drive.traffic_at(0) >= 50, "{}", drive.traffic_at(0));
    let mut state = start(&drive);
    let mut most = 0;
    while drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap() == SegmentEnd::Open {
        most = most.max(drive.touched(&state));
    }
    assert!(most > 0 && most < 25, "{most} cars were touched");
}

/// The number of threads decides nothing: one digest.
#[test]
fn roads_have_one_digest_whatever_the_number_of_threads() {
    for name in ROADS {
        let drive = drive_of(name, &[]);
        let digest = |threads| explored(&drive, merged(&drive), 4, threads).digest;
        let one = digest(1);
        assert_eq!((one, one), (digest(2), digest(3)), "{name}");
    }
}

#[test]
fn a_saved_state_goes_on_as_if_it_had_never_been_saved() {
    let drive = drive_of("highway-cut-in", &[("explore.segment", "50 ms")]);
    let (mut straight, mut choices) = (start(&drive), Choices::new());
    for tick in 0..120_u32 {
        drive.live(&straight, &mut choices);
        let choice = choices[tick as usize * 7 % choices.len()];
        let mut loaded: DriveState = from_bytes(&to_bytes(&straight)).unwrap();
        let end = drive.run(&mut straight, choice, &mut Watch::off()).unwrap();
        assert_eq!(drive.run(&mut loaded, choice, &mut Watch::off()).unwrap(), end);
        assert_eq!(to_bytes(&straight), to_bytes(&loaded), "tick {tick}");
        if end != SegmentEnd::Open {
            break;
        }
    }
    assert!(straight.tick > 60);
}

/// Over a short horizon every sequence can be run: merging must find what they find.
#[test]
fn merging_finds_on_short_horizons_what_all_sequences_find() {
    for (name, levels) in [
        ("occluded-pedestrian", 4),
        ("highway-cut-in", 4),
        ("urban-parked-cars", 4),
        ("roundabout", 3),
        ("t-junction-stop", 3),
        ("signalised-crossing", 3),
    ] {
        let drive = drive_of(name, &[]);
        let truth = explored(&drive, Merge::None, levels, 2);
        let found = explored(&drive, merged_as_written(name, &drive), levels, 2);
        assert!(truth.complete() && found.complete());
        assert_eq!(found.hits.is_empty(), truth.hits.is_empty(), "{name}");
        let missed_m = found.progress.margin - truth.progress.margin;
        println!(
            "{name}: {} of {} segments, closest {:.3} m of {:.3} m",
            found.progress.segments, truth.progress.segments, found.progress.margin, truth.progress.margin
        );
        assert!((0.0..0.5).contains(&missed_m), "{name}: {missed_m}");
    }
}

/// Runs with one error alone: held from start to end, and in each segment once.
fn alone(name: &str) -> Vec<String> {
    let drive = drive_of(name, &[("errors.at_once", "1")]);
    let (params, levels) = (drive.space().all().remove(0), drive.segments() as usize);
    let mut found = Vec::new();
    for choice in 1..drive.errors().len() as u16 {
        let held = vec![Choice(choice); levels];
        let once = (0..levels).map(|at| (0..levels).map(|n| Choice(if n == at { choice } else { 0 })).collect());
        for (number, choices) in std::iter::once(held).chain(once).enumerate() {
            let run = replay(&drive, Seed(0), &params, &choices, None).unwrap();
            if matches!(run.end, SegmentEnd::Violated(_)) {
                found.push(format!("{} ({number})", drive.errors().describe(Choice(choice))));
            }
        }
    }
    found
}

/// The combination is what hurts: no error alone does, held or for a segment.
#[test]
fn four_roads_fail_only_by_errors_together() {
    for name in TOGETHER {
        assert_eq!(alone(name), Vec::<String>::new(), "{name}");
        let drive = drive_of(name, &[]);
        let outcome = explored(&drive, merged_as_written(name, &drive), drive.segments(), 2);
        assert!(outcome.complete() && !outcome.hits.is_empty(), "{name}: {:?}", outcome.progress);
    }
}

/// Branches join again: at least three of ten segments end where another has been.
#[test]
fn on_four_roads_a_third_of_all_segments_is_merged() {
    for name in MERGING {
        let drive = drive_of(name, &[]);
        let progress = explored(&drive, merged_as_written(name, &drive), drive.segments(), 2).progress;
        let share = progress.merged as f64 / progress.segments as f64;
        println!("{name}: {} of {} segments merged", progress.merged, progress.segments);
        assert!(share >= 0.3, "{name}: {share:.3}, {progress:?}");
    }
}

/// A driver that follows its path and looks at nobody, from outside.
fn driven_from_outside(name: &str, support: Support, instances: usize) -> Drive {
    let outside = Outside { instances, ..Outside::new(Law::new(support).boxed()) };
    Drive::assemble_with(&spec_of(name, &[]), Some(outside)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_driver_from_outside_has_one_digest_on_roads_whatever_it_can_save() {
    let digest = |support, instances, threads| {
        let drive = driven_from_outside("highway-cut-in", support, instances);
        let outcome = explored(&drive, merged(&drive), 3, threads);
        assert_eq!(outcome.fault_count, 0);
        outcome.digest
    };
    let one = digest(Support::Save, 1, 1);
    assert_eq!((one, one), (digest(Support::Save, 2, 2), digest(Support::Replay, 2, 1)));
}

#[test]
fn a_driver_from_outside_keeps_the_contract_on_roads() {
    for name in ["highway-cut-in", "signalised-crossing"] {
        check_contract(&driven_from_outside(name, Support::Save, 1), 2, 4).unwrap();
    }
}
