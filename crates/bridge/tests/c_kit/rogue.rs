//! A driver in C that misbehaves in every way it can: each is reported by its kind, the next instance works, and nothing
//! is left behind. Once in one process, once with a process for every branch.

use std::time::Duration;

use anabranch_bridge::{Fleet, FleetLimits, Kind, Latency, ProcessFactory};

use super::kit::build;
use super::rows::{Row, alike, on_the_line};
use super::table::{MARK, begin, check, left_behind, mark, step};

const ROWS: [Row; 37] = [
    alike("segfault", Kind::Crash),
    alike("abort", Kind::Crash),
    alike("exit", Kind::Crash),
    alike("exit-well", Kind::Crash),
    alike("divide", Kind::Crash),
    alike("stack", Kind::Crash),
    alike("double-free", Kind::Crash),
    alike("kill", Kind::Crash),
    alike("grandchild", Kind::Crash),
    alike("close", Kind::Crash),
    alike("stop", Kind::Hang),
    alike("hang", Kind::Hang),
    alike("spin", Kind::Hang),
    alike("ignore-term", Kind::Hang),
    alike("slow", Kind::Late),
    alike("flood-stdout", Kind::Flood),
    alike("flood-stderr", Kind::Flood),
    alike("memory", Kind::Memory),
    on_the_line("not-msgpack", Kind::Malformed, Kind::Crash),
    on_the_line("bad-frame", Kind::Malformed, Kind::Crash),
    on_the_line("truncated", Kind::Truncated, Kind::Hang),
    on_the_line("oversized", Kind::Oversized, Kind::Hang),
    on_the_line("huge-length", Kind::Oversized, Kind::Crash),
    on_the_line("wrong-version", Kind::WrongVersion, Kind::Crash),
    on_the_line("wrong-seq", Kind::WrongSequence, Kind::Crash),
    alike("nan", Kind::NotANumber),
    alike("nan-accel", Kind::NotANumber),
    alike("nan-key", Kind::NotANumber),
    alike("infinite", Kind::NotANumber),
    alike("steer-range", Kind::OutOfRange),
    alike("accel-range", Kind::OutOfRange),
    alike("gear-range", Kind::OutOfRange),
    alike("lost-trajectory", Kind::OutOfRange),
    alike("fail", Kind::Exception),
    alike("fail-without-text", Kind::Exception),
    alike("hostile-text", Kind::Exception),
    // One that behaves, to see that the table can tell.
    alike("none", Kind::NoStart),
];

fn factory(way: &str, snapshot: &str) -> ProcessFactory {
    let mut factory = ProcessFactory::new(build("crates/bridge/tests/c/rogue.c", &[]), [way]);
    factory.spec.env.push(("ANABRANCH_SNAPSHOT".into(), snapshot.into()));
    factory.spec.env.push((MARK.into(), mark().into()));
    if way == "memory" {
        factory.limits.memory_bytes = 128 << 20;
    }
    let waits = ["stop", "hang", "spin", "ignore-term"].contains(&way);
    if waits || (snapshot == "fork" && ["truncated", "oversized"].contains(&way)) {
        factory.deadlines.message = Some(Duration::from_millis(400));
    }
    factory
}

fn fleet(way: &str, snapshot: &str) -> Fleet {
    let budget = Duration::from_millis(200);
    let latency = if way == "slow" { Latency::Failure(budget) } else { Latency::Counted(budget) };
    Fleet::new(Box::new(factory(way, snapshot)), FleetLimits::default()).unwrap().with_latency(latency)
}

#[test]
fn each_misbehaviour_of_code_in_one_process_has_its_kind() {
    check("memory", ROWS.iter().map(Row::in_one_process), |way| fleet(way, "memory"));
}

#[test]
fn each_misbehaviour_of_a_branch_that_is_a_process_has_its_kind() {
    check("fork", ROWS.iter().map(Row::by_fork), |way| fleet(way, "fork"));
}

#[test]
fn who_does_not_start_is_told_so() {
    for way in ["crash-at-start", "exit-at-start", "never-connect"] {
        let mut factory = factory(way, "memory");
        if way == "never-connect" {
            factory.deadlines.start_up = Some(Duration::from_millis(100));
        }
        let wrong = Fleet::new(Box::new(factory), FleetLimits::default()).unwrap_err();
        assert_eq!(wrong.kind, Kind::NoStart, "{way}: {wrong}");
    }
    assert_eq!(left_behind(), 0);
}

#[test]
fn who_cannot_keep_what_it_promised_is_told_so() {
    for (way, kind) in [("fail-reset", Kind::Exception), ("fail-save", Kind::BrokenPromise)] {
        let fleet = fleet(way, "auto");
        assert_eq!(begin(&mut fleet.seat(0)).unwrap_err().kind, kind, "{way}");
    }
    let fleet = fleet("fail-load", "auto");
    let mut seat = fleet.seat(0);
    begin(&mut seat).unwrap();
    let wrong = step(&mut seat, 1, 5).unwrap_err();
    assert_eq!(wrong.kind, Kind::BrokenPromise);
    assert!(wrong.text.contains("I forgot"), "{wrong}");
}

#[test]
fn who_answers_the_same_question_differently_can_be_seen() {
    let moody = fleet("moody", "auto");
    let mut seat = moody.seat(0);
    begin(&mut seat).unwrap();
    assert_ne!(step(&mut seat, 1, 10).unwrap(), step(&mut seat, 1, 10).unwrap());
    // A fresh branch in a fresh process has no mood to remember.
    let forked = fleet("moody", "fork");
    let mut seat = forked.seat(0);
    begin(&mut seat).unwrap();
    assert_eq!(step(&mut seat, 1, 10).unwrap(), step(&mut seat, 1, 10).unwrap());
    let forgets = fleet("forget", "auto");
    let mut seat = forgets.seat(0);
    begin(&mut seat).unwrap();
    step(&mut seat, 1, 5).unwrap();
    assert_eq!(step(&mut seat, 2, 6).unwrap().key, [1.0], "two steps were made, and one is remembered");
}
