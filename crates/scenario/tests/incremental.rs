//! After a change of a gain an exploration takes over what the change cannot reach, and every bit of it is that of an
//! exploration from scratch.

use std::path::PathBuf;
use std::sync::Mutex;

use anabranch_explore::{
    Explorer, Memory, MemoryTrail, Merge, Outcome, Recording, Remembering, SegmentSink, Settings, Since,
};
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{Reads, System};
use anabranch_scenario::file::{Document, Hooks};
use anabranch_scenario::{Drive, DriveState};

#[derive(Default)]
struct Kept(Mutex<Vec<u8>>);

impl SegmentSink for Kept {
    fn keep(&self, segments: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(segments);
    }
}

const FORWARD: (&str, &str) = ("ego.driver.lateral_gain", "0.55 1/m^2");
const REVERSE: (&str, &str) = ("ego.driver.reverse_lateral_gain", "0.9 1/m^2");
fn drive(name: &str, sets: &[(&str, &str)]) -> (Drive, Settings) {
    let file = format!("{name}.toml");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let bytes = std::fs::read(folder.join(&file)).unwrap();
    let mut document = Document::parse(&file, &bytes).unwrap_or_else(|e| panic!("{e}"));
    for (key, value) in sets {
        document.apply_override(key, value).unwrap_or_else(|e| panic!("{e}"));
    }
    let spec = document.read(&Hooks::default()).unwrap_or_else(|e| panic!("{e}"));
    let drive = Drive::assemble(&spec).unwrap();
    let merge = drive.grid(&spec.explore.merge).unwrap().map_or(Merge::None, Merge::Grid);
    let defaults = Settings::new(drive.variables(), drive.time_matters());
    // Few states of each cell, so that an exploration is a matter of a second.
    let settings = Settings {
        merge,
        keep: anabranch_explore::Keep::First,
        levels_max: drive.segments(),
        rollouts: 50,
        ..defaults
    };
    (drive, settings)
}

fn explored(system: &impl System<State = DriveState>, settings: &Settings, threads: usize) -> (Outcome, Recording) {
    let mut recording = Recording::default();
    let explorer = Explorer::new(system).settings(settings.clone()).threads(threads);
    let outcome = explorer.run_with(&mut MemoryTrail::default(), &mut recording).unwrap();
    assert!(outcome.complete());
    (outcome, recording)
}

fn remembered(drive: &Drive, settings: &Settings) -> (Memory, Outcome) {
    let kept = Kept::default();
    let (outcome, _) = explored(&Remembering::new(drive).keeping(&kept), settings, 2);
    let mut memory = Memory::new();
    memory.add(kept.0.into_inner().unwrap()).unwrap();
    (memory, outcome)
}

fn assert_equal(again: &(Outcome, Recording), scratch: &(Outcome, Recording)) {
    let (a, b) = (&again.0, &scratch.0);
    assert_eq!(a.digest, b.digest);
    assert_eq!((&a.hits, &a.notes, &a.levels, a.first_hit), (&b.hits, &b.notes, &b.levels, b.first_hit));
    assert_eq!((a.goals, a.timed_out, a.note_count), (b.goals, b.timed_out, b.note_count));
    assert_eq!((&a.coverage, &a.constant_errors_violate), (&b.coverage, &b.constant_errors_violate));
    let counts = |p: anabranch_explore::Progress| (p.segments, p.states, p.merged, p.findings, p.margin.to_bits());
    assert_eq!(counts(a.progress), counts(b.progress));
    assert_eq!(again.1, scratch.1, "every segment and every kept state");
}

/// Explores the changed scenario on top of the other one, in several ways, and returns what all of them gave.
fn again(name: &str, base: &[(&str, &str)], change: &[(&str, &str)]) -> Outcome {
    let (before, settings_before) = drive(name, base);
    let (after, settings) = drive(name, &[base, change].concat());
    let (memory, _) = remembered(&before, &settings_before);
    let changed = after.parts().unlike(&before.parts()).expect("only gains have changed");
    let scratch = explored(&after, &settings, 2);
    let mut one_by_one = after.clone();
    one_by_one.set_side_by_side(false);
    let mut first = None;
    for (drive, threads) in [(&after, 1), (&after, 2), (&after, 7), (&one_by_one, 2)] {
        let system = Remembering::new(drive).since(Since { memory: &memory, changed });
        let found = explored(&system, &settings, threads);
        assert_eq!(system.broken(), None);
        assert_equal(&found, &scratch);
        let progress = found.0.progress;
        assert_eq!(*first.get_or_insert(progress), progress, "{threads} threads");
    }
    Outcome { progress: first.unwrap(), ..scratch.0 }
}

#[test]
fn a_gain_for_reversing_leaves_more_than_half_of_the_segments_alone() {
    let outcome = again("pass-and-reverse", &[], &[REVERSE]);
    let progress = outcome.progress;
    let simulated = progress.segments - progress.reused + progress.checked;
    assert!(progress.segments > 2_000 && simulated * 2 <= progress.segments, "{progress:?}");
    let first = progress.first_difference.expect("it drives otherwise backwards");
    assert!(first.level >= 20, "it drives forwards first: {first:?}");
}

#[test]
fn a_gain_for_driving_forwards_changes_everything_and_is_explored_all_the_same() {
    let outcome = again("pass-and-reverse", &[], &[FORWARD]);
    let progress = outcome.progress;
    assert!(progress.reused * 10 < progress.segments, "{progress:?}");
    assert!(progress.first_difference.is_some_and(|first| first.level <= 2), "{progress:?}");
    let both = again("pass-and-reverse", &[], &[FORWARD, REVERSE]);
    assert!(both.progress.reused * 10 < both.progress.segments);
}

#[test]
fn without_a_change_everything_is_taken_over() {
    let progress = again("pass-and-reverse", &[], &[]).progress;
    assert_eq!((progress.reused, progress.first_difference), (progress.segments, None));
}

#[test]
fn a_timetable_tells_its_directions_too() {
    let progress = again("pass-and-reverse", &[("ego.driver.kind", "trajectory-follower")], &[REVERSE]).progress;
    assert!(progress.reused * 3 > progress.segments && progress.reused < progress.segments, "{progress:?}");
}

#[test]
fn what_every_segment_reads_is_no_separate_part() {
    let (before, _) = drive("pass-and-reverse", &[]);
    for (key, value) in [
        ("ego.driver.cruise", "0.9 m/s"),
        ("ego.vehicle.width", "1.79 m"),
        ("explore.segment", "0.5 s"),
        ("explore.until", "35 s"),
        ("error.estimate-jump.jump.radius", "0.11 m"),
        ("must.no-contact.never", "ego.clearance <= 0.01 m"),
        ("ego.goal.tolerance", "0.4 m"),
    ] {
        let (after, _) = drive("pass-and-reverse", &[(key, value)]);
        assert_eq!(after.parts().unlike(&before.parts()), None, "{key}");
    }
    for (sets, expect) in [
        (vec![], 0),
        (vec![FORWARD], 0b01),
        (vec![REVERSE], 0b10),
        (vec![FORWARD, REVERSE], 0b11),
        (vec![("explore.merge.x", "0.2 m"), ("name", "other"), ("about", "How it is explored is no part of it.")], 0),
    ] {
        let (after, _) = drive("pass-and-reverse", &sets);
        assert_eq!(after.parts().unlike(&before.parts()), Some(Reads(expect)), "{sets:?}");
    }
}

#[test]
fn segments_tell_the_same_reads_side_by_side_and_one_by_one() {
    let (drive, _) = drive("pass-and-reverse", &[]);
    check_contract(&drive, 6, 36).unwrap();
    let kept = Kept::default();
    check_contract(&Remembering::new(&drive).keeping(&kept), 3, 36).unwrap();
}
