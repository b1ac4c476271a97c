//! FMUs behind a process of their own: whatever they do there, it is told by kind here, and the next one works.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anabranch_bridge::checks::check_answer;
use anabranch_bridge::fmu::{ArchiveLimits, FmuFactory, FmuInstance, FmuMapping, FmuSpec, KeyCell, Package};
use anabranch_bridge::protocol::PathSeen;
use anabranch_bridge::{Answer, Begin, Factory, Fleet, FleetLimits, Instance, Kind, Misbehaviour, Op, Seen};

use super::make::{Made, Recipe};
use super::table::{MARK, check, mark};

const STATE: &str = "canGetAndSetFMUstate=\"true\" canGetAndSetFMUState=\"true\"";

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_anabranch"))
}

fn factory(made: &Made, mapping: FmuMapping) -> FmuFactory {
    let (path, program) = (made.path.clone(), program().to_owned());
    let spec = FmuSpec { path, mapping, limits: ArchiveLimits::default(), program };
    FmuFactory::new(&spec).expect("an FMU that fits")
}

fn reset(branch: u32) -> Op {
    Op::Reset { branch, begin: Box::new(Begin { cycle_s: 0.1, ..Begin::default() }) }
}

fn step(branch: u32, lateral: f64) -> Op {
    let path = PathSeen { lateral, direction: 1, remaining: 3.0, speed_max: 2.0, ..PathSeen::default() };
    Op::Step { branch, seen: Box::new(Seen { path, speed: 1.0, ..Seen::default() }) }
}

/// Asks one thing after another; the first misbehaviour counts.
fn run(instance: &mut dyn Instance, ops: &[Op]) -> Result<Vec<Answer>, Misbehaviour> {
    let (mut all, mut answers) = (Vec::new(), Vec::new());
    for op in ops {
        answers.clear();
        instance.exchange(std::slice::from_ref(op), &mut answers)?;
        let card = instance.card().clone();
        answers.iter().try_for_each(|answer| check_answer(&card, op, answer))?;
        all.append(&mut answers);
    }
    Ok(all)
}

/// What an FMU can do in a step, by the number that its source gives it, and what it is told as.
const DEEDS: [(&str, Kind); 31] = [
    ("1 writes where nothing is", Kind::Crash),
    ("2 aborts", Kind::Crash),
    ("3 exits, content", Kind::Crash),
    ("4 spins", Kind::Hang),
    ("5 steers by no number", Kind::NotANumber),
    ("6 discards the step", Kind::Exception),
    ("7 fails and says why", Kind::Exception),
    ("8 is fatally wrong", Kind::Crash),
    ("9 returns a status that there is not", Kind::Crash),
    ("10 logs without end", Kind::Flood),
    ("11 shifts into the seventh gear", Kind::Exception),
    ("12 accelerates infinitely", Kind::NotANumber),
    ("13 takes all memory", Kind::Memory),
    ("14 prints without end", Kind::Flood),
    ("15 steers too far", Kind::OutOfRange),
    ("17 calls itself without end", Kind::Crash),
    ("18 completes by no number", Kind::Exception),
    ("19 stops its process", Kind::Hang),
    ("20 leaves a child behind", Kind::Crash),
    ("21 kills its process", Kind::Crash),
    ("22 sleeps and does not end when told", Kind::Hang),
    ("23 waits for itself", Kind::Hang),
    ("24 complains without end", Kind::Flood),
    ("25 brakes too hard", Kind::OutOfRange),
    ("26 frees twice", Kind::Crash),
    ("27 divides by zero", Kind::Crash),
    ("28 becomes another program", Kind::Crash),
    ("29 writes to the link", Kind::Malformed),
    ("30 closes the link", Kind::Crash),
    ("35 logs more than fits", Kind::Exception),
    ("36 counts by no number", Kind::NotANumber),
];

/// A driver whose second step is the deed.
fn rogue(made: &Made, deed: &str, kind: Option<Kind>) -> Fleet {
    let mode: f64 = deed.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    let key = vec![KeyCell { name: "steps".to_owned(), cell: None }];
    let parameters = [("mode".to_owned(), mode), ("at".to_owned(), 2.0)].into();
    let mut factory = factory(made, FmuMapping { parameters, key, ..FmuMapping::default() });
    let process = factory.process_mut();
    process.spec.env.push((MARK.into(), mark().into()));
    process.limits.memory_bytes = 256 << 20;
    if kind == Some(Kind::Hang) {
        process.deadlines.message = Some(Duration::from_millis(800));
    }
    Fleet::new(Box::new(factory), FleetLimits::default()).unwrap_or_else(|wrong| panic!("{deed}: {wrong}"))
}

#[test]
fn whatever_an_fmu_does_in_a_step_is_told_by_kind_and_the_next_one_works() {
    let kind = |deed: &str| DEEDS.iter().find(|(name, _)| *name == deed).map(|(_, kind)| *kind);
    for version in [2, 3] {
        let made = Recipe::rogue(version, STATE).make();
        let behaves = [("0 behaves", Kind::NoStart)];
        let rows = DEEDS.into_iter().chain(behaves);
        check(&format!("FMI {version}"), rows, |deed| rogue(&made, deed, kind(deed)));
    }
    assert_eq!(unpacked_here(), 0, "an unpacked FMU is left behind");
}

/// Unpacked FMUs in the folder for temporary files that belong to this process.
fn unpacked_here() -> usize {
    let mine = format!("anabranch-fmu-{}-", std::process::id());
    let entries = std::fs::read_dir(std::env::temp_dir()).expect("there is one").flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&mine)).count()
}

#[test]
fn broken_promises_of_states_are_told_as_such() {
    for (version, mode) in [(2, 31), (2, 32), (3, 31), (3, 32)] {
        let made = Recipe::rogue(version, STATE).make();
        let mapping = FmuMapping { parameters: [("mode".to_owned(), f64::from(mode))].into(), ..FmuMapping::default() };
        let mut instance = factory(&made, mapping).start().expect("it starts");
        let ops = [reset(0), step(0, 0.5), Op::Save { branch: 0, token: 1 }];
        let wrong = run(&mut *instance, &ops).expect_err("cannot save");
        assert_eq!(wrong.kind, Kind::BrokenPromise, "mode {mode}: {wrong}");
    }
}

#[test]
fn the_law_behind_a_process_decides_as_it_does_in_this_one() {
    for version in [2, 3] {
        let made = Recipe::law(version).make();
        let factory = factory(&made, FmuMapping::default());
        let folder = factory.package().folder().to_owned();
        let mut there = factory.start().expect("it starts");
        let package = Package::open(&made.path, &ArchiveLimits::default()).expect("an FMU");
        let mut here = FmuInstance::new(package, &FmuMapping::default()).expect("a driver");
        assert_eq!(there.card(), here.card());
        let mut ops = vec![reset(0), reset(1)];
        ops.extend((0..40).map(|tick| step(tick % 2, 0.01 * f64::from(tick))));
        ops.extend([Op::Save { branch: 1, token: 7 }, Op::Load { token: 7, branch: 3 }, step(3, -0.2), step(0, 0.3)]);
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        there.exchange(&ops, &mut theirs).expect("answered");
        here.exchange(&ops, &mut ours).expect("answered");
        assert_eq!(theirs, ours);
        drop((there, factory));
        assert!(!folder.exists(), "the unpacked FMU goes with its factory");
    }
}

#[test]
fn an_fmu_that_does_not_load_does_not_start_and_says_why() {
    let recipe = Recipe::rogue(2, "");
    let mut other = Recipe::rogue(2, "");
    other.description = recipe.description.replace("{anabranch-example}", "{other}");
    let made = other.make();
    let wrong = factory(&made, FmuMapping::default()).start().map(|_| ()).expect_err("refuses");
    assert_eq!(wrong.kind, Kind::NoStart, "{wrong}");
    let output = wrong.output.expect("its last words");
    assert!(output.contains("the token is {other} instead of {anabranch-example}"), "{output}");
    let output = Command::new(program()).args(["serve-fmu"]).arg(&made.path).output().expect("started");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("refuses to be instantiated"));
}
