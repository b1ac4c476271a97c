//! The built-in law as an FMU: the same bits as the law itself, in both versions, however branches are kept.

use anabranch_bridge::fmu::{ArchiveLimits, FmuInstance, FmuMapping, KeyCell, Package};
use anabranch_bridge::protocol::{CarFacts, PathSeen};
use anabranch_bridge::{Answer, Begin, Decision, Instance, Op, Seen, Snapshot, Support};
use anabranch_driving::follow::{Deviation, LateralGains, LateralLaw, STANDSTILL_MPS, SpeedGains};
use anabranch_kernel::{Chance, Seed};
use anabranch_vehicle::CarSpec;

use crate::make::Recipe;

const GAINS: LateralGains = LateralGains { k_lateral_per_m2: 1.5, k_heading_per_m: 2.0 };

fn begin() -> Box<Begin> {
    let van = CarSpec::van();
    let car = CarFacts { wheelbase_m: van.wheelbase_m, steering_max_rad: van.steering_max_rad, ..CarFacts::default() };
    Box::new(Begin { cycle_s: 0.02, car, ..Begin::default() })
}

fn instance(recipe: &Recipe) -> FmuInstance {
    let made = recipe.make();
    let package = Package::open(&made.path, &ArchiveLimits::default()).expect("an FMU");
    let key = vec![KeyCell { name: "completed".to_owned(), cell: None }];
    FmuInstance::new(package, &FmuMapping { key, ..FmuMapping::default() }).expect("a driver")
}

fn ask(instance: &mut FmuInstance, ops: &[Op]) -> Vec<Answer> {
    let mut answers = Vec::new();
    instance.exchange(ops, &mut answers).expect("no misbehaviour");
    assert_eq!(answers.len(), ops.len());
    answers
}

fn decision(answer: &Answer) -> &Decision {
    let Answer::Decision(decision) = answer else { panic!("no decision: {answer:?}") };
    decision
}

/// What is seen in step `step` of run `run`: everything within its usual range, and sometimes the arrival.
fn seen(run: u64, step: u64) -> Box<Seen> {
    let draw = |what: &str, low: f64, high: f64| low + (high - low) * Chance::new(Seed(run), what).at(step).uniform(0);
    let arrived = draw("arrived", 0.0, 1.0) < 0.02;
    let remaining = if arrived { 0.01 } else { draw("remaining", -0.1, 4.0) };
    let path = PathSeen {
        lateral: draw("lateral", -2.0, 2.0),
        heading: draw("heading", -1.0, 1.0),
        curvature: draw("curvature", -0.5, 0.5),
        remaining,
        // Sometimes an obstacle asks to stand before the end.
        to_end: if draw("obstacle", 0.0, 1.0) < 0.25 { remaining + 1.0 } else { remaining },
        speed_max: draw("speed_max", 0.1, 3.0),
        direction: if draw("direction", 0.0, 1.0) < 0.5 { 1 } else { -1 },
        sections_left: u32::from(draw("left", 0.0, 1.0) < 0.3),
        ..PathSeen::default()
    };
    let speed = if arrived { 0.01 } else { draw("speed", -1.5, 1.5) };
    Box::new(Seen { path, speed, ..Seen::default() })
}

/// The law itself.
#[derive(Clone, Copy, Default)]
struct Law {
    completed: bool,
}

impl Law {
    fn step(&mut self, seen: &Seen) -> (u64, u64, bool) {
        let gains = SpeedGains::CALM;
        let law = LateralLaw::new(GAINS, GAINS, &CarSpec::van(), gains.brake_way_m());
        let (path, direction) = (seen.path, f64::from(seen.path.direction));
        let deviation = Deviation { lateral_m: path.lateral, heading: path.heading };
        let steer = law.steering(path.curvature, &deviation, direction);
        let driven = gains.accel(seen.speed * direction, path.remaining, path.speed_max);
        let accel = if self.completed { gains.hold() } else { driven };
        let arrived = gains.reached(path.to_end) && seen.speed.abs() < STANDSTILL_MPS;
        self.completed |= path.sections_left == 0 && arrived;
        (steer.to_bits(), accel.to_bits(), self.completed)
    }
}

fn bits(decision: &Decision) -> (u64, u64, bool) {
    (decision.steer.to_bits(), decision.accel.to_bits(), decision.completed)
}

#[test]
fn an_fmu_of_the_law_decides_the_same_bits_in_both_versions() {
    for version in [2, 3] {
        let mut instance = instance(&Recipe::law(version));
        for run in 0..40 {
            let mut law = Law::default();
            ask(&mut instance, &[Op::Reset { branch: 0, begin: begin() }]);
            for step in 0..500 {
                let seen = seen(run, step);
                let answers = ask(&mut instance, &[Op::Step { branch: 0, seen: seen.clone() }]);
                let decided = decision(&answers[0]);
                assert_eq!(bits(decided), law.step(&seen), "FMI {version}, run {run}, step {step}");
                assert_eq!(decided.key, [f64::from(u8::from(decided.completed))]);
            }
        }
    }
}

/// Seven branches side by side, in changing order, each against a law of its own.
fn check_side_by_side(recipe: &Recipe) {
    let mut instance = instance(recipe);
    let mut laws = [Law::default(); 7];
    let resets: Vec<Op> = (0..7).map(|branch| Op::Reset { branch, begin: begin() }).collect();
    ask(&mut instance, &resets);
    for step in 0..60 {
        let order: Vec<u32> = (0..7).map(|place| (place * 3 + step as u32) % 7).collect();
        let op = |&branch: &u32| Op::Step { branch, seen: seen(u64::from(branch), step) };
        let answers = ask(&mut instance, &order.iter().map(op).collect::<Vec<_>>());
        for (&branch, answer) in order.iter().zip(&answers) {
            let expected = laws[branch as usize].step(&seen(u64::from(branch), step));
            assert_eq!(bits(decision(answer)), expected, "branch {branch}, step {step}");
        }
    }
}

#[test]
fn branches_side_by_side_do_not_disturb_each_other_however_they_are_kept() {
    for version in [2, 3] {
        check_side_by_side(&Recipe::law(version));
        let mut without = Recipe::law(version);
        without.description = without
            .description
            .replace("canGetAndSetFMUstate=\"true\"", "")
            .replace("canGetAndSetFMUState=\"true\"", "");
        without.flags.push("-DNO_STATE");
        check_side_by_side(&without);
        let once = "canHandleVariableCommunicationStepSize=\"true\" canBeInstantiatedOnlyOncePerProcess=\"true\"";
        without.description = without.description.replace("canHandleVariableCommunicationStepSize=\"true\"", once);
        check_side_by_side(&without);
    }
}

#[test]
fn a_loaded_state_goes_on_as_the_saved_one_and_stays() {
    for version in [2, 3] {
        let mut instance = instance(&Recipe::law(version));
        assert_eq!((instance.card().support, instance.card().snapshot), (Support::Save, Snapshot::FmuState));
        let mut law = Law::default();
        ask(&mut instance, &[Op::Reset { branch: 4, begin: begin() }]);
        for step in 0..100 {
            ask(&mut instance, &[Op::Step { branch: 4, seen: seen(9, step) }]);
            law.step(&seen(9, step));
        }
        ask(&mut instance, &[Op::Save { branch: 4, token: 11 }]);
        for branch in [0, 4, 5] {
            let mut law = law;
            ask(&mut instance, &[Op::Load { token: 11, branch }]);
            for step in 0..50 {
                let seen = seen(u64::from(branch), step);
                let answers = ask(&mut instance, &[Op::Step { branch, seen: seen.clone() }]);
                assert_eq!(bits(decision(&answers[0])), law.step(&seen), "branch {branch}, step {step}");
            }
        }
        let answers = ask(&mut instance, &[Op::Drop { tokens: vec![11, 12] }, Op::Load { token: 11, branch: 0 }]);
        assert!(matches!(answers[0], Answer::Done {}));
        assert!(matches!(&answers[1], Answer::Failed { text } if text.contains("no saved state 11")));
    }
}
