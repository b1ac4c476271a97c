//! Helper simulators in the loop: messages of other cars, and the pressure of the tyres (S2-22).

use std::path::PathBuf;

use crate::law::listening;
use anabranch_explore::{Explorer, Merge, Scope, Settings};
use anabranch_helpers::HelpersState;
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{Choice, Grid, Recorder, Seed, SegmentEnd, System, Watch};
use anabranch_scenario::file::{Document, Hooks, ScenarioSpec};
use anabranch_scenario::{Drive, DriveState};

use crate::senses::choice;

/// A car on a straight road behind another one that brakes hard after a second.
fn spec(ego: &str, rest: &str) -> ScenarioSpec {
    let text = format!(
        "schema = \"anabranch/1\"\nname = \"helpers\"\n[world]\nstep = \"50 ms\"\n[road]\nkind = \"straight\"\nlength = \"600 m\"\n\
         limit = \"100 km/h\"\n[[object]]\nid = \"lead\"\nlane = \"main.1\"\nstation = \"140 m\"\nspeed = \"20 m/s\"\n\
         [[trigger]]\nid = \"brakes\"\nobject = \"lead\"\nat = \"1 s\"\nbrake = \"6 m/s^2\"\nfor = \"9 s\"\n[ego]\ndriver = \"road\"\n\
         start = {{ lane = \"main.1\", station = \"50 m\", speed = \"20 m/s\" }}\ngoal = {{ lane = \"main.1\", station = \"560 m\" }}\n\
         {ego}\n[explore]\nsegment = \"500 ms\"\nuntil = \"10 s\"\n{rest}\n[[must]]\nid = \"no-contact\"\nnever = \"ego.contact\"\n"
    );
    let document = Document::parse("helpers.toml", text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"))
}

fn drive(ego: &str, rest: &str) -> Drive {
    Drive::assemble(&spec(ego, rest)).unwrap_or_else(|error| panic!("{error}"))
}

fn shipped(name: &str, set: &[(&str, &str)]) -> (ScenarioSpec, Drive) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let mut document = Document::parse(name, &std::fs::read(file).unwrap()).unwrap_or_else(|report| panic!("{report}"));
    for (key, value) in set {
        document.apply_override(key, value).unwrap_or_else(|report| panic!("{report}"));
    }
    let spec = document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"));
    let drive = Drive::assemble(&spec).unwrap_or_else(|error| panic!("{error}"));
    (spec, drive)
}

fn start(drive: &Drive) -> DriveState {
    drive.start(Seed(0), &drive.space().all()[0]).unwrap()
}

fn helpers(state: &DriveState) -> &HelpersState {
    state.extras.as_ref().unwrap().street.as_ref().unwrap().helpers.as_ref().unwrap()
}

/// The states after each segment under one choice, until the run ends.
fn run(drive: &Drive, choice: Choice, segments: u32) -> (Vec<DriveState>, SegmentEnd) {
    let (mut state, mut states) = (start(drive), Vec::new());
    for _ in 0..segments {
        let end = drive.run(&mut state, choice, &mut Watch::off()).unwrap();
        states.push(state.clone());
        if end != SegmentEnd::Open {
            return (states, end);
        }
    }
    (states, SegmentEnd::Open)
}

const CHANCY: &str = "[helper.radio]\nlatency = \"80 ms\"\njitter = \"200 ms\"\nloss = 0.3\n\
    [[error]]\nid = \"silent\"\non = \"helper.radio\"\nlost = { from = [\"lead\"] }\n\
    [[error]]\nid = \"slow\"\non = \"helper.radio\"\ndelay = { by = [\"150 ms\", \"700 ms\"] }\n";
const TYRES: &str = "[helper.tyres]\nperiod = \"250 ms\"\nmonitor = \"500 ms\"\n\
    [[error]]\nid = \"leak\"\non = \"helper.tyres\"\nleak = { by = [\"0.4 bar\", \"1 bar\"], wheels = [\"fl\", \"rr\"] }\n\
    [[error]]\nid = \"puncture\"\non = \"helper.tyres\"\nleak = { by = \"0.2 bar\", wheels = [\"rl\"], stays = true }\n\
    [[error]]\nid = \"monitor\"\non = \"helper.tyres\"\nlost = {}\n";
const SLIPS: &str = "vehicle = { model = \"single-track\" }";

#[test]
fn helpers_keep_the_contract_and_one_digest_with_chance_and_errors() {
    for (ego, rest) in [("", CHANCY), (SLIPS, TYRES)] {
        let both = format!("{rest}[errors]\nat_once = 1\n");
        let drive = drive(ego, &both);
        let report = check_contract(&drive, 4, 20).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(report.segments >= 16, "{report:?}");
        let explored = |threads: usize| {
            let base = Settings::new(drive.variables(), drive.time_matters());
            let settings = Settings {
                scope: Scope::Level,
                merge: Merge::Grid(Grid::of(drive.variables())),
                levels_max: 4,
                ..base
            };
            Explorer::new(&drive).settings(settings).threads(threads).run().unwrap()
        };
        let one = explored(1);
        assert!(one.progress.merged > 0, "{:?}", one.progress);
        assert_eq!((one.digest, one.digest), (explored(2).digest, explored(3).digest));
    }
}

#[test]
fn a_message_is_heard_after_its_latency_and_what_error_adds() {
    let rest = "[helper.radio]\nperiod = \"2 s\"\nlatency = \"120 ms\"\nkeep = \"5 s\"\n\
        [[error]]\nid = \"slow\"\non = \"helper.radio\"\ndelay = { by = \"200 ms\" }\n\
        [[error]]\nid = \"silent\"\non = \"helper.radio\"\nlost = {}\n[errors]\nat_once = 1\n";
    let mut given = spec("", rest);
    given.explore.segment_s.value = 0.05;
    let drive = Drive::assemble(&given).unwrap();
    // The state after n segments has seen base cycle n - 1.
    let first = |words: Option<&str>| {
        let choice = words.map_or(Choice::NONE, |words| choice(&drive, words));
        let (states, _) = run(&drive, choice, 39);
        states.iter().position(|state| !helpers(state).radio.as_ref().unwrap().heard.is_empty())
    };
    assert_eq!(first(None), Some(3));
    assert_eq!(first(Some("0.2 s late")), Some(7));
    assert_eq!(first(Some("messages lost")), None);
}

/// Whether the car touches something when it never sees whom it follows.
#[test]
fn who_hears_that_a_car_ahead_brakes_needs_no_eyes_for_it() {
    let blind = "[[error]]\nid = \"blind\"\non = \"lead\"\nmissed = {}\n";
    let radio = "[helper.radio]\n[[error]]\nid = \"silent\"\non = \"helper.radio\"\nlost = {}\n";
    let touches = |rest: &str, words: &str| {
        let drive = drive("", rest);
        matches!(run(&drive, choice(&drive, words), 20).1, SegmentEnd::Violated(_))
    };
    assert!(touches(blind, "blind"));
    assert!(!touches(&format!("{radio}{blind}"), "blind"));
    assert!(touches(&format!("{radio}{blind}"), "silent: messages lost + blind"));
    assert!(!touches(&format!("{radio}{blind}"), "silent"));
}

#[derive(Default)]
struct Frames(Vec<Vec<f64>>);

impl Recorder for Frames {
    fn frame(&mut self, _tick: u64, signals: &[f64]) {
        self.0.push(signals.to_vec());
    }
}

#[test]
fn frames_and_requirements_know_the_signals_of_helpers_and_only_where_they_are() {
    let rest = format!("{TYRES}[helper.radio]\n[[must]]\nid = \"air\"\nnever = \"tyres.pressure.rr < 1.5 bar\"\n");
    let drive = drive(SLIPS, &rest);
    let at = |name: &str| drive.signals().iter().position(|signal| signal.name == name).unwrap();
    let mut frames = Frames::default();
    let mut state = start(&drive);
    let leak = choice(&drive, "leak: rr loses 0.4 bar");
    let mut ends = Vec::new();
    for _ in 0..3 {
        ends.push(drive.run(&mut state, leak, &mut Watch::recording(&mut frames)).unwrap());
        if ends.last() != Some(&SegmentEnd::Open) {
            break;
        }
    }
    // 2.3 bar less twice 0.4 bar is 1.5 bar, and a little more because it is warm.
    assert!(matches!(ends[..], [SegmentEnd::Open, SegmentEnd::Open, SegmentEnd::Violated(_)]), "{ends:?}");
    let last = frames.0.last().unwrap();
    assert_eq!(last.len(), drive.signals().len());
    assert!(last[at("tyres.pressure.rr")] < 1.5e5 && last[at("tyres.pressure.fl")] > 2.2e5, "{last:?}");
    assert_eq!(last[at("radio.received")], 1.0);
    assert!(last[at("radio.age")] < 0.16);
    let plain = self::drive("", "");
    assert!(
        plain.signals().iter().all(|signal| !signal.name.starts_with("radio") && !signal.name.starts_with("tyres"))
    );
}

#[test]
fn a_driver_that_is_warned_of_a_soft_tyre_slows_down() {
    let speed = |pressure: &str, warn: &str| {
        let rest =
            format!("[helper.tyres]\nwarn = {warn}\npressure = [\"2.3 bar\", \"2.3 bar\", {pressure}, \"2.3 bar\"]\n");
        // Before the other one brakes.
        run(&drive(SLIPS, &rest), Choice::NONE, 2).0.last().unwrap().car.car.speed
    };
    let (warned, not_warned, firm) =
        (speed("\"1 bar\"", "0.75"), speed("\"1 bar\"", "0.1"), speed("\"2.3 bar\"", "0.75"));
    assert!(warned < firm - 0.5, "{warned} {firm}");
    assert!(not_warned > firm - 0.3 && not_warned < firm, "{not_warned} {firm}");
}

#[test]
fn a_driver_from_outside_is_told_what_was_heard_and_what_the_monitor_tells() {
    let rest = "[helper.radio]\nlatency = \"100 ms\"\n[helper.tyres]\npressure = [\"2.3 bar\", \"2.3 bar\", \"2.3 bar\", \"1.15 bar\"]\n";
    let (drive, heard) = listening(&spec(SLIPS, rest));
    let mut state = start(&drive);
    for _ in 0..4 {
        drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap();
    }
    let all = heard.lock().unwrap();
    assert_eq!(all[0].radio, Some(Vec::new()));
    let told = all.last().unwrap();
    let message = told.radio.as_ref().unwrap()[0];
    // Told in the base cycle at 1.95 s; sent at 1.8 s or 1.9 s, when it had braked for almost a second.
    assert!(message.id == 0 && message.age > 0.09 && message.age < 0.2 && message.accel < -4.0, "{message:?}");
    assert!(message.x > 140.0 && message.speed < 18.0 && message.length > 4.0, "{message:?}");
    let tyres = told.tyres.as_deref().unwrap();
    assert!(tyres.warning && (tyres.rr - 0.5).abs() < 0.01 && tyres.fl >= 1.0, "{tyres:?}");
    let (drive, heard) = listening(&spec("", ""));
    drive.run(&mut start(&drive), Choice::NONE, &mut Watch::off()).unwrap();
    assert!(heard.lock().unwrap()[0].radio.is_none() && heard.lock().unwrap()[0].tyres.is_none());
}

/// Errors of a shipped scenario that end it when they last, and none that is found with one error at a time.
fn takes_two(name: &str, pairs: &[&str], alone: &[&str]) {
    let (spec, drive) = shipped(name, &[("errors.at_once", "1")]);
    let grid = drive.grid(&spec.explore.merge).unwrap().unwrap();
    let base = Settings::new(drive.variables(), drive.time_matters());
    let settings = Settings { scope: Scope::Level, merge: Merge::Grid(grid), ..base };
    let outcome = Explorer::new(&drive).settings(settings).run().unwrap();
    assert!(outcome.complete() && outcome.progress.merged > 100, "{name} {:?}", outcome.progress);
    assert_eq!(outcome.progress.findings, 0, "{name}");
    let (_, drive) = shipped(name, &[]);
    let ends = |words: &str| run(&drive, choice(&drive, words), drive.segments()).1;
    for words in pairs {
        assert!(matches!(ends(words), SegmentEnd::Violated(_)), "{words}");
    }
    for words in alone {
        assert_eq!(ends(words), SegmentEnd::TimedOut, "{words}");
    }
}

#[test]
fn a_lost_or_late_message_takes_another_error_to_end_in_contact() {
    let (missed, lost, late) = ("lorry-missed: lorry missed", "radio: messages lost", "radio-late: messages 2 s late");
    let pairs = [format!("{lost} + {missed}"), format!("{late} + {missed}")];
    takes_two("brake-light-chain.toml", &pairs.each_ref().map(String::as_str), &[missed, lost, late]);
}

#[test]
fn a_leak_that_nobody_tells_takes_the_car_over_the_line() {
    let (monitor, wet) = ("monitor: tyre monitor lost", "wet: friction 0.8 of it");
    let leaks = ["leak: fr loses 0.8 bar", "leak: rl loses 0.8 bar"];
    let pairs = leaks.map(|leak| format!("{leak} + {monitor}"));
    takes_two("soft-tyre.toml", &pairs.each_ref().map(String::as_str), &[leaks[0], leaks[1], monitor, wet]);
}
