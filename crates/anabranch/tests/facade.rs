//! A driver in Rust in the loop of a scenario, through the crate that people depend on.

mod law;

use std::sync::{Arc, Mutex};

use anabranch::{
    Actuated, Actuator, Answer, Begin, Choice, Decision, Driver, DriverInstance, ErrorSpace, Fault, Instance,
    KeyVariable, KeyWriter, Op, Params, Scenario, Seed, Seen, SegmentEnd, Sensors, Settings, System, TrueCar, Variable,
    Watch, World, check_contract, explore, explore_driver, explore_scenario, key,
};
use law::Law;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/narrow-passage.toml");
/// The shortest collision of this scenario has eight segments; one member per cell is enough to find one.
const SHORT: [(&str, &str); 6] = [
    ("explore.until", "8 s"),
    ("must.arrives.by", "8 s"),
    ("explore.keep", "worst"),
    ("explore.merge.x", "1 m"),
    ("explore.rollouts", "0"),
    ("explore.refine", "0"),
];

#[test]
fn the_built_in_law_as_a_driver_in_rust_has_the_same_findings() {
    let scenario = Scenario::read(FILE).unwrap().with(&SHORT).unwrap();
    let built_in = explore_scenario(&scenario).unwrap();
    let own = explore_driver(&scenario, Law::default()).unwrap();
    let collides = |finding: &anabranch::Finding| finding.requirement == "no-contact";
    assert!(built_in.findings.iter().any(collides), "{:?}", built_in.outcome.progress);
    assert_eq!(built_in.findings, own.findings);
    assert_eq!(built_in.outcome.progress, own.outcome.progress);
    assert!(own.not_reproduced.is_empty());
}

#[test]
fn a_panic_is_a_finding_and_the_exploration_goes_on() {
    let scenario = Scenario::read(FILE).unwrap().with(&[("explore.until", "3 s"), ("must.arrives.by", "3 s")]).unwrap();
    let explored = explore_driver(&scenario, Law { panics_beyond_m: Some(0.12), ..Law::default() }).unwrap();
    assert!(explored.outcome.complete());
    assert_eq!(explored.findings[0].requirement, "driver.exception");
    assert!(
        explored.findings.iter().any(|finding| finding.requirement == "arrives"),
        "other runs went on to their end"
    );
}

#[test]
fn branches_are_clones_and_failures_are_told() {
    let mut instance = DriverInstance::new(Law::default());
    let mut answers = Vec::new();
    let seen = Box::new(Seen::default());
    let ops = [
        Op::Reset { branch: 0, begin: Box::default() },
        Op::Save { branch: 0, token: 1 },
        Op::Load { token: 1, branch: 2 },
        Op::Step { branch: 2, seen: seen.clone() },
        Op::Step { branch: 0, seen },
        Op::Load { token: 9, branch: 0 },
        Op::Drop { tokens: vec![1] },
        Op::Load { token: 1, branch: 0 },
    ];
    instance.exchange(&ops, &mut answers).unwrap();
    let failed = |text: &str| Answer::Failed { text: text.to_owned() };
    assert!(matches!(&answers[3], Answer::Decision(decision) if decision.completed));
    assert_eq!(answers[4], failed("there is no branch 0"));
    assert_eq!(answers[5], failed("there is no saved state 9"));
    assert_eq!(answers[7], failed("there is no saved state 1"));
}

#[test]
fn mistakes_in_a_scenario_are_told_with_their_place() {
    let text = "schema = \"anabranch/1\"\nname = \"x\"\n[world]\nstep = 10\n";
    let message = Scenario::from_text("mine.toml", text).unwrap_err().to_string();
    assert!(message.contains("mine.toml") && message.contains("E0104"), "{message}");
    assert!(Scenario::read("nowhere.toml").unwrap_err().to_string().starts_with("nowhere.toml: "));
}

/// A corridor, 1.6 m to each side.
const CORRIDOR: &str = r#"schema = "anabranch/1"
name   = "corridor"
[world]
step = "10 ms"
[[world.wall]]
line = [["-10 m", "1.6 m"], ["40 m", "1.6 m"]]
[[world.wall]]
line = [["-10 m", "-1.6 m"], ["40 m", "-1.6 m"]]
[ego]
start = { x = "0 m", y = "0.2 m" }
goal  = { x = "20 m", y = "0.2 m" }
path  = [{ length = "20 m" }]
[[error]]
id   = "jump"
on   = "ego.localisation"
jump = { radius = "0.1 m", directions = 2 }
[explore]
until = "3 s"
[[must]]
id    = "no-contact"
never = "ego.contact"
"#;

/// Tick, both readings, speed.
type Note = (u64, f64, f64, f64);

/// Drives on, and notes what it is told.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<Note>>>);

impl Driver for Notes {
    fn step(&mut self, seen: &Seen) -> Decision {
        let reading = |name: &str| seen.readings[name];
        self.0.lock().unwrap().push((seen.tick, reading("left"), reading("noisy"), seen.speed));
        Decision { accel: 2.0, ..Decision::default() }
    }
    fn is_memoryless(&self) -> bool {
        true
    }
}

fn sensors() -> Sensors {
    let left = |world: &World<'_>, car: &TrueCar| {
        assert!((world.goal().x - 20.0).abs() < 1e-9 && world.lines().count() == 2 && world.others().is_empty());
        world.ray_m(car.pose().point(), car.heading + std::f64::consts::FRAC_PI_2, 9.0)
    };
    let noisy = |world: &World<'_>, _: &TrueCar| world.time_s() + 0.001 * world.chance("noisy").normal(0);
    Sensors::default().with("left", left).with("noisy", noisy)
}

fn run_once(driver: impl Driver, sensors: Sensors) -> (f64, f64) {
    let scenario = Scenario::from_text("corridor.toml", CORRIDOR).unwrap();
    let drive = scenario.drive_with_sensors(driver, sensors).unwrap();
    let mut state = drive.start(Seed(7), &drive.space().all()[0]).unwrap();
    while drive.run(&mut state, Choice(0), &mut Watch::off()).unwrap() == SegmentEnd::Open {}
    (state.car.car.x, state.car.car.speed)
}

#[test]
fn a_sensor_in_rust_reads_the_true_world_and_its_noise_repeats() {
    let told = || {
        let notes = Notes::default();
        run_once(notes.clone(), sensors());
        let told = notes.0.lock().unwrap().clone();
        told.into_iter().filter(|(tick, ..)| *tick <= 250).collect::<Vec<_>>()
    };
    let first = told();
    assert!(first.iter().all(|(_, left, ..)| (left - 1.4).abs() < 1e-6), "from the rear axle to the left wall");
    assert!(first.iter().all(|(tick, _, noisy, _)| (noisy - *tick as f64 * 0.01).abs() < 0.01));
    assert!(first.iter().any(|(tick, _, noisy, _)| (noisy - *tick as f64 * 0.01).abs() > 1e-5));
    assert_eq!(first, told());
}

/// Constant power beyond 1 m/s, and a push that comes slowly.
#[derive(Clone, Default)]
struct Engine {
    accel: f64,
    hides_memory: bool,
}

impl Actuator for Engine {
    fn act(&mut self, inputs: &Seen, outputs: &mut Decision) {
        let most = 1.0 / inputs.speed.abs().max(1.0);
        self.accel += 0.1 * (outputs.accel.min(most) - self.accel);
        outputs.accel = self.accel;
    }
    fn begin(&mut self, _: &Begin) {
        self.accel = 0.0;
    }
    fn key(&self) -> Vec<(KeyVariable, f64)> {
        if self.hides_memory { Vec::new() } else { vec![(key("engine", "m/s^2", 0.05), self.accel)] }
    }
}

#[test]
fn an_actuator_in_rust_sees_inputs_and_outputs_and_its_memory_counts() {
    let (_, free_mps) = run_once(Notes::default(), sensors());
    let (_, weak_mps) = run_once(Actuated::new(Notes::default(), Engine::default()), sensors());
    // v dv = P dt beyond 1 m/s: about the root of 1 + 2 (3 s − 1 s).
    assert!(free_mps > 5.0 && (weak_mps - 5.0_f64.sqrt()).abs() < 0.2, "{free_mps} {weak_mps}");
    let scenario = Scenario::from_text("corridor.toml", CORRIDOR).unwrap();
    let drive = scenario.drive_with_sensors(Actuated::new(Notes::default(), Engine::default()), sensors()).unwrap();
    assert!(drive.variables().iter().any(|variable| variable.name == "driver.engine"));
    check_contract(&drive, 2, 3).unwrap();
    // An actuator that hides its memory makes nothing merge, however little its driver remembers.
    let hidden = Actuated::new(Notes::default(), Engine { hides_memory: true, ..Engine::default() });
    assert!(!hidden.is_memoryless() && hidden.key().is_empty() && hidden.bytes().is_none());
    let drive = scenario.drive_with_sensors(hidden, sensors()).unwrap();
    assert!(drive.variables().iter().any(|variable| variable.name == "driver_memory"));
}

/// Counts pushes; five of them are too many. All states count as alike, so merging loses sight of every second push.
struct Blind {
    errors: ErrorSpace,
    variables: Vec<Variable>,
}

impl System for Blind {
    /// Pushes and segments.
    type State = [u8; 2];

    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _: Seed, _: &Params) -> Result<[u8; 2], Fault> {
        Ok([0, 0])
    }
    fn run(&self, state: &mut [u8; 2], choice: Choice, _: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        state[0] += u8::from(choice != Choice::NONE);
        state[1] += 1;
        Ok(match (state[0], state[1]) {
            (5.., segments) => SegmentEnd::violated(0, u64::from(segments)),
            (_, 8..) => SegmentEnd::Goal,
            _ => SegmentEnd::Open,
        })
    }
    fn cell(&self, state: &[u8; 2], key: &mut KeyWriter<'_>) {
        key.real(0, f64::from(state[0]));
        key.real(1, f64::from(state[1]));
    }
}

#[test]
fn what_a_held_error_or_a_random_run_violates_is_a_finding_and_the_verdict() {
    let errors = ErrorSpace::of_one_site("push", &["none", "push"]);
    let blind = Blind { errors, variables: vec![Variable::real("n", "", 1e3), Variable::real("t", "", 1e3)] };
    let explored = |rollouts| {
        let settings = Settings { rollouts, ..Settings::new(&blind.variables, false) };
        explore(&blind, settings).unwrap()
    };
    let held = explored(0);
    assert!(held.outcome.hits.is_empty() && held.outcome.constant_errors_violate.len() == 1);
    assert_eq!(held.findings.len(), 1, "{:?}", held.findings);
    assert_eq!((held.findings[0].choices.len(), held.conclusion.word()), (5, "violated"));
    let random = explored(200);
    assert!(random.findings.len() > 1 && random.findings[0].choices.len() == 5, "{:?}", random.findings);
    assert!(random.findings.iter().any(|finding| finding.choices.contains(&Choice::NONE)), "found by random runs");
}

#[test]
fn the_verdict_is_that_of_the_command_line() {
    let verdict = |text: &str| {
        let scenario = Scenario::from_text("corridor.toml", text).unwrap();
        explore_scenario(&scenario).unwrap().conclusion
    };
    assert_eq!(verdict(&CORRIDOR.replace("3 s", "9 s")).word(), "not found");
    // Three seconds have fewer sequences than random runs would be drawn, so every one of them is run.
    assert_eq!(verdict(CORRIDOR).word(), "safe");
    assert_eq!(verdict(&CORRIDOR.replace("3 s", "3 s\"\nmerge = \"none")).word(), "safe");
    // Too few random runs say nothing about coverage, so every sequence of these three seconds is run.
    assert_eq!(verdict(&CORRIDOR.replace("[explore]", "[explore]\nrollouts = 1")).word(), "safe");
    assert_eq!(verdict(&CORRIDOR.replace("[[must]]", "[[should]]")).word(), "nothing to judge");
}

#[test]
fn a_budget_of_time_is_kept() {
    let scenario =
        Scenario::read(FILE).unwrap().with(&[("explore.budget.time", "1 ms"), ("explore.rollouts", "0")]).unwrap();
    let explored = explore_scenario(&scenario).unwrap();
    assert_eq!(explored.outcome.stop, Some(anabranch::Stop::Time));
    assert_eq!(explored.conclusion.word(), "incomplete");
}
