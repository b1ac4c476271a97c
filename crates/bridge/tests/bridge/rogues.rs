//! Every way to misbehave has its kind, leaves nothing behind, and the next instance works.

use std::time::Duration;

use anabranch_bridge::{Answer, Begin, Fleet, FleetLimits, Kind, Latency, Misbehaviour, Op, Seat, Seen};

use super::machine::{MARK, alone, children, mark_of_test, marked, open_files, resident_kb, threads};
use super::rogue;

/// How one is started: nearly all alike.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Usual,
    /// Waits are short, because they will be waited for.
    Hurried,
    /// A budget of 50 ms per step counts.
    Timed,
    /// Little memory.
    Small,
}

use Manner::{Hurried, Small, Timed, Usual};

/// Those that go wrong in the third step.
const IN_STEP: [(&str, Manner, Kind); 41] = [
    ("exit", Usual, Kind::Crash),
    ("exit-quietly", Usual, Kind::Crash),
    ("abort", Usual, Kind::Crash),
    ("panic", Usual, Kind::Crash),
    ("closes-link", Usual, Kind::Crash),
    ("orphans", Usual, Kind::Crash),
    ("hang", Hurried, Kind::Hang),
    ("spin", Hurried, Kind::Hang),
    ("trickle", Hurried, Kind::Hang),
    ("pings", Hurried, Kind::Hang),
    ("late", Timed, Kind::Late),
    ("exception", Usual, Kind::Exception),
    ("nan", Usual, Kind::NotANumber),
    ("nan-key", Usual, Kind::NotANumber),
    ("infinite", Usual, Kind::NotANumber),
    ("out-of-range", Usual, Kind::OutOfRange),
    ("gear", Usual, Kind::OutOfRange),
    ("trajectory", Usual, Kind::OutOfRange),
    ("wrong-sequence", Usual, Kind::WrongSequence),
    ("too-few", Usual, Kind::WrongSequence),
    ("too-many", Usual, Kind::WrongSequence),
    ("other-kind", Usual, Kind::WrongSequence),
    ("wrong-version", Usual, Kind::WrongVersion),
    ("not-messagepack", Usual, Kind::Malformed),
    ("trailing-bytes", Usual, Kind::Malformed),
    ("bad-flags", Usual, Kind::Malformed),
    ("no-delimiter", Usual, Kind::Malformed),
    ("truncated-body", Usual, Kind::Truncated),
    ("cut-frame", Usual, Kind::Truncated),
    ("huge-length", Usual, Kind::Oversized),
    ("oversized", Usual, Kind::Oversized),
    ("value-bomb", Usual, Kind::Oversized),
    ("flood-stdout", Usual, Kind::Flood),
    ("flood-stderr", Usual, Kind::Flood),
    ("memory", Small, Kind::Memory),
    ("key-length", Usual, Kind::BrokenPromise),
    ("load-fails", Usual, Kind::BrokenPromise),
    ("save-fails", Usual, Kind::BrokenPromise),
    // Those that behave, to see that the table can tell.
    ("driver", Usual, Kind::NoStart),
    ("helpers", Usual, Kind::NoStart),
    ("late", Usual, Kind::NoStart),
];

/// Those that do not even start.
const AT_START: [(&str, Manner, Kind); 10] = [
    ("exit-at-start", Usual, Kind::NoStart),
    ("never-connects", Hurried, Kind::NoStart),
    ("unknown-mode", Usual, Kind::NoStart),
    ("garbage-greeting", Usual, Kind::Malformed),
    ("garbage-and-gone", Usual, Kind::Malformed),
    ("other-socket", Usual, Kind::Malformed),
    ("half-greeting", Hurried, Kind::Hang),
    ("old-greeting", Usual, Kind::WrongVersion),
    ("other-protocol", Usual, Kind::WrongVersion),
    ("bad-card", Usual, Kind::OutOfRange),
];

fn fleet(mode: &str, manner: Manner) -> Result<Fleet, Misbehaviour> {
    let mut factory = rogue(mode);
    factory.spec.env.push((MARK.into(), mark_of_test().into()));
    if manner == Hurried {
        let hurry = Some(Duration::from_millis(if mode == "never-connects" { 100 } else { 400 }));
        factory.deadlines.message = hurry;
        // Starting a program takes its time on a busy machine; only those that never do are hurried.
        if AT_START.iter().any(|(name, ..)| *name == mode) {
            factory.deadlines.start_up = hurry;
        }
    }
    if manner == Small {
        factory.limits.memory_bytes = 64 << 20;
    }
    let budget = Duration::from_millis(50);
    let latency = if manner == Timed { Latency::Failure(budget) } else { Latency::Counted(budget) };
    Ok(Fleet::new(Box::new(factory), FleetLimits::default())?.with_latency(latency))
}

/// One more step of a driver that is loaded before and saved after.
fn step(seat: &mut Seat<'_>, token: u32) -> Result<Answer, Misbehaviour> {
    let seen = Box::new(Seen::default());
    let ops = [Op::Load { token, branch: 1 }, Op::Step { branch: 1, seen }, Op::Save { branch: 1, token: token + 1 }];
    seat.ask(&ops)?.into_iter().collect::<Result<Vec<_>, _>>().map(|mut answers| answers.swap_remove(1))
}

fn begin(seat: &mut Seat<'_>) -> Result<(), Misbehaviour> {
    let ops = [Op::Reset { branch: 1, begin: Box::new(Begin::default()) }, Op::Save { branch: 1, token: 1 }];
    seat.ask(&ops)?.into_iter().collect::<Result<Vec<_>, _>>().map(|_| ())
}

/// Runs into the misbehaviour, and shows that a new instance works up to the same point.
fn provoke(mode: &str, manner: Manner) -> Option<Misbehaviour> {
    let fleet = fleet(mode, manner).unwrap();
    let mut seat = fleet.seat(0);
    let mut wrong = None;
    for _ in 0..2 {
        begin(&mut seat).unwrap();
        step(&mut seat, 1).unwrap();
        step(&mut seat, 2).unwrap();
        wrong = step(&mut seat, 3).err();
        seat.end();
    }
    wrong
}

#[test]
fn every_misbehaviour_has_its_kind_and_the_next_instance_works() {
    let _alone = alone();
    for (mode, manner, kind) in IN_STEP {
        let wrong = provoke(mode, manner);
        let found = wrong.as_ref().map_or(Kind::NoStart, |wrong| wrong.kind);
        assert_eq!(found, kind, "{mode}: {wrong:?}");
        assert_eq!(marked(&mark_of_test()).len(), 0, "{mode} left a process behind");
        assert_eq!(children(), 0, "{mode} left a sentinel behind");
    }
}

#[test]
fn who_does_not_start_is_told_apart_from_who_talks_nonsense() {
    let _alone = alone();
    for (mode, manner, kind) in AT_START {
        let wrong = fleet(mode, manner).map(|_| ()).unwrap_err();
        assert_eq!(wrong.kind, kind, "{mode}: {wrong}");
        assert_eq!((marked(&mark_of_test()).len(), children()), (0, 0), "{mode} left something behind");
    }
    let mut missing = rogue("driver");
    missing.spec.command = "/nowhere/av".into();
    let wrong = Fleet::new(Box::new(missing), FleetLimits::default()).unwrap_err();
    assert_eq!(wrong.kind, Kind::NoStart);
    assert!(wrong.text.contains("`/nowhere/av` cannot be started: No such file"), "{wrong}");
}

#[test]
fn the_evidence_says_how_it_ended_and_what_was_printed() {
    let _alone = alone();
    let crash = provoke("exit", Usual).unwrap();
    assert_eq!(crash.text, "the process ended with exit status 3");
    let abort = provoke("abort", Usual).unwrap();
    assert_eq!(abort.text, "the process was ended by SIGABRT");
    let panic = provoke("panic", Usual).unwrap();
    assert!(panic.output.unwrap().contains("a bug of the driver"));
    let flood = provoke("flood-stderr", Usual).unwrap();
    let output = flood.output.unwrap();
    assert!(output.len() < 70_000 && output.ends_with("xxxx"), "{} bytes are kept", output.len());
    let start = fleet("exit-at-start", Usual).unwrap_err();
    assert_eq!(start.text, "the process ended with exit status 7");
    assert!(start.output.unwrap().contains("no module named numpy"));
    let huge = provoke("huge-length", Usual).unwrap();
    assert!(huge.text.contains("9223372036854775807 bytes"), "{huge}");
}

#[test]
fn files_threads_and_memory_stay_flat_over_repetitions() {
    let _alone = alone();
    let modes = ["exit", "nan", "huge-length", "value-bomb", "flood-stdout", "orphans", "truncated-body", "driver"];
    let round = || modes.iter().for_each(|mode| drop(provoke(mode, Usual)));
    round();
    let (files, threads_before, memory_kb) = (open_files(), threads(), resident_kb("self"));
    (0..3).for_each(|_| round());
    assert_eq!((open_files(), threads()), (files, threads_before));
    let growth_kb = resident_kb("self").saturating_sub(memory_kb);
    assert!(growth_kb < 16 << 10, "{growth_kb} kB more after 48 instances");
}
