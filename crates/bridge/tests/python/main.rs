//! Drivers in Python that misbehave in every way they can: each is told by its kind, the next instance works, and nothing
//! is left behind. Once by deep copy, in one process, and once with a process for every branch.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use anabranch_bridge::{
    Answer, Begin, Decision, Fleet, FleetLimits, Kind, Latency, Misbehaviour, Op, ProcessFactory, Seat, Seen,
};

/// What is expected of one: in one process, and by fork.
struct Row {
    way: &'static str,
    copied: Kind,
    forked: Kind,
}

const fn alike(way: &'static str, kind: Kind) -> Row {
    Row { way, copied: kind, forked: kind }
}

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
    Row { way: "garbage_on_the_line", copied: Kind::Malformed, forked: Kind::Hang },
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
    for (name, value) in [("ROGUE", way), ("ANABRANCH_SNAPSHOT", snapshot), ("ANABRANCH_TEST_MARK", &mark())] {
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

/// Tests run side by side in one process or in several: each has its own.
fn mark() -> String {
    format!("py-rogue-{}-{:?}", std::process::id(), std::thread::current().id())
}

/// Processes of this test that still run.
fn left_behind() -> usize {
    let wanted = format!("ANABRANCH_TEST_MARK={}", mark());
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let environments = entries.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environments
        .filter(|environment| environment.split(|&byte| byte == 0).any(|entry| entry == wanted.as_bytes()))
        .count()
}

fn begin(seat: &mut Seat<'_>) -> Result<(), Misbehaviour> {
    let ops = [Op::Reset { branch: 1, begin: Box::new(Begin::default()) }, Op::Save { branch: 1, token: 1 }];
    seat.ask(&ops)?.into_iter().collect::<Result<Vec<_>, _>>().map(|_| ())
}

/// One step from a saved state at this tick, saved again.
fn step(seat: &mut Seat<'_>, token: u32, tick: u64) -> Result<Decision, Misbehaviour> {
    let seen = Box::new(Seen { tick, ..Seen::default() });
    let ops = [Op::Load { token, branch: 1 }, Op::Step { branch: 1, seen }, Op::Save { branch: 1, token: token + 1 }];
    let answers = seat.ask(&ops)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    match &answers[1] {
        Answer::Decision(decision) => Ok(decision.clone()),
        other => panic!("{other:?}"),
    }
}

/// Runs into the misbehaviour twice, the second time with a new instance, which works up to the same point.
fn provoke(way: &str, snapshot: &str) -> Option<Misbehaviour> {
    let fleet = fleet(way, snapshot).unwrap_or_else(|wrong| panic!("{way} by {snapshot}: {wrong:?}"));
    let mut seat = fleet.seat(0);
    let mut wrong = None;
    for _ in 0..2 {
        begin(&mut seat).unwrap();
        assert_eq!(step(&mut seat, 1, 5).unwrap().key, [1.0]);
        wrong = step(&mut seat, 2, 10).err();
        seat.end();
    }
    wrong
}

fn check(snapshot: &str, expected: impl Fn(&Row) -> Kind) {
    let mut different = Vec::new();
    for row in &ROWS {
        let wrong = provoke(row.way, snapshot);
        let found = wrong.as_ref().map_or(Kind::NoStart, |wrong| wrong.kind);
        if found != expected(row) {
            different.push(format!("{} by {snapshot} is {found:?}: {wrong:?}", row.way));
        }
        assert_eq!(left_behind(), 0, "{} by {snapshot} left processes behind", row.way);
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn each_misbehaviour_of_code_in_one_process_has_its_kind() {
    check("copy", |row| row.copied);
}

#[test]
fn each_misbehaviour_of_a_branch_that_is_a_process_has_its_kind() {
    check("fork", |row| row.forked);
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
