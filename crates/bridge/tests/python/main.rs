//! Drivers in Python that misbehave in every way they can: each is told by its kind, the next instance works, and nothing
//! is left behind. Once by deep copy, in one process, and once with a process for every branch.
#![cfg(target_os = "linux")]

#[path = "../table/rows.rs"]
mod rows;
#[path = "../table/mod.rs"]
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anabranch_bridge::{Fleet, FleetLimits, Kind, Latency, Misbehaviour, ProcessFactory};

use rows::{Row, alike, on_the_line};
use table::{MARK, begin, check, left_behind, mark, step};

const ROWS: [Row; 38] = [
    alike("exit_now", Kind::Crash),
    alike("exit_politely", Kind::Exception),
    alike("segfault", Kind::Crash),
    alike("abort", Kind::Crash),
    alike("kill", Kind::Crash),
    alike("become_another", Kind::Crash),
    alike("grandchild", Kind::Crash),
    alike("close_all", Kind::Crash),
    alike("stop", Kind::Hang),
    alike("hang", Kind::Hang),
    alike("spin", Kind::Hang),
    alike("ignore_term", Kind::Hang),
    alike("deadlock", Kind::Hang),
    alike("slow", Kind::Late),
    alike("flood_stdout", Kind::Flood),
    alike("flood_stderr", Kind::Flood),
    alike("memory", Kind::Memory),
    alike("no_files_left", Kind::Exception),
    alike("exception", Kind::Exception),
    alike("hostile_text", Kind::Exception),
    alike("exception_without_text", Kind::Exception),
    alike("base_exception", Kind::Crash),
    alike("interrupt", Kind::Crash),
    alike("endless_recursion", Kind::Exception),
    alike("no_answer", Kind::Exception),
    alike("text_for_number", Kind::Exception),
    alike("nan", Kind::NotANumber),
    alike("nan_key", Kind::NotANumber),
    alike("infinite", Kind::NotANumber),
    alike("steer_range", Kind::OutOfRange),
    alike("accel_range", Kind::OutOfRange),
    alike("gear", Kind::Exception),
    alike("lost_trajectory", Kind::OutOfRange),
    alike("endless_trajectory", Kind::Oversized),
    alike("text_as_key", Kind::Exception),
    alike("forgotten_key", Kind::Exception),
    on_the_line("garbage_on_the_line", Kind::Malformed, Kind::Hang),
    // One that behaves, to see that the table can tell.
    alike("none", Kind::NoStart),
];

/// Those that wait for something that never comes; they are waited for briefly.
const WAITING: [&str; 5] = ["stop", "hang", "spin", "ignore_term", "deadlock"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn factory(way: &str, snapshot: &str) -> ProcessFactory {
    let python = root().join("target/python-venv/bin/python");
    assert!(python.exists(), "{} is missing: `cargo xtask python` prepares it", python.display());
    let file = root().join("crates/bridge/tests/python/rogue.py");
    let mut factory = ProcessFactory::new(python, ["-m".into(), "anabranch".into(), file.into_os_string()]);
    for (name, value) in [("ROGUE", way), ("ANABRANCH_SNAPSHOT", snapshot), (MARK, &mark())] {
        factory.spec.env.push((name.into(), value.into()));
    }
    if way == "memory" {
        factory.limits.memory_bytes = 128 << 20;
    }
    if WAITING.contains(&way) {
        factory.deadlines.message = Some(Duration::from_millis(800));
    }
    factory
}

fn fleet(way: &str, snapshot: &str) -> Result<Fleet, Misbehaviour> {
    let budget = Duration::from_millis(250);
    let latency = if way == "slow" { Latency::Failure(budget) } else { Latency::Counted(budget) };
    Ok(Fleet::new(Box::new(factory(way, snapshot)), FleetLimits::default())?.with_latency(latency))
}

fn started(way: &str, snapshot: &str) -> Fleet {
    fleet(way, snapshot).unwrap_or_else(|wrong| panic!("{way} by {snapshot}: {wrong:?}"))
}

#[test]
fn each_misbehaviour_of_code_in_one_process_has_its_kind() {
    check("copy", ROWS.iter().map(Row::in_one_process), |way| started(way, "copy"));
}

#[test]
fn each_misbehaviour_of_a_branch_that_is_a_process_has_its_kind() {
    check("fork", ROWS.iter().map(Row::by_fork), |way| started(way, "fork"));
}

#[test]
fn who_does_not_start_is_told_so() {
    for way in ["crash_at_start", "exit_at_start", "import_error", "hang_at_start", "two_classes"] {
        let mut factory = factory(way, "copy");
        if way == "hang_at_start" {
            factory.deadlines.start_up = Some(Duration::from_millis(300));
        }
        let wrong = Fleet::new(Box::new(factory), FleetLimits::default()).unwrap_err();
        assert_eq!(wrong.kind, Kind::NoStart, "{way}: {wrong}");
        assert_eq!(left_behind(), 0, "{way} left processes behind");
    }
}

#[test]
fn who_cannot_keep_what_it_promised_is_told_so() {
    for (way, snapshot, kind) in [
        ("fail_reset", "copy", Kind::Exception),
        ("own_save_fails", "own", Kind::BrokenPromise),
        ("own_load_fails", "own", Kind::BrokenPromise),
    ] {
        let fleet = fleet(way, snapshot).unwrap();
        let mut seat = fleet.seat(0);
        let wrong =
            begin(&mut seat).and_then(|()| step(&mut seat, 1, 5)).and_then(|_| step(&mut seat, 2, 6)).unwrap_err();
        assert_eq!(wrong.kind, kind, "{way}: {wrong}");
        seat.end();
        assert_eq!(left_behind(), 0, "{way} left processes behind");
    }
}
