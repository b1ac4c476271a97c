//! The built-in law in C, compiled to WASM: the same bits.

use std::sync::OnceLock;

use anabranch_bridge::protocol::{Begin, CarFacts};
use anabranch_bridge::wasm::{WasmFactory, WasmInstance, WasmLimits};
use anabranch_bridge::{Answer, Decision, Op, Seen};
use anabranch_driving::follow::{Deviation, LateralGains, LateralLaw, SpeedGains};
use anabranch_vehicle::CarSpec;

use crate::support::{Dice, answers, compile, decide, project, reset, reset_with, save};

fn module() -> &'static [u8] {
    static MODULE: OnceLock<Vec<u8>> = OnceLock::new();
    MODULE.get_or_init(|| compile(&project().join("examples/wasm/follow_law.c"), "follow_law"))
}

pub fn factory() -> WasmFactory {
    WasmFactory::new(module(), WasmLimits::default()).unwrap()
}

fn instance() -> WasmInstance {
    factory().instance()
}

fn begin(car: &CarSpec) -> Begin {
    let car = CarFacts { wheelbase_m: car.wheelbase_m, steering_max_rad: car.steering_max_rad, ..CarFacts::default() };
    Begin { car, cycle_s: 0.02, ..Begin::default() }
}

/// The built-in laws, put together as the path follower does.
struct BuiltIn {
    lateral: LateralLaw,
    completed: bool,
}

impl BuiltIn {
    fn new(car: &CarSpec) -> Self {
        let gains = LateralGains { k_lateral_per_m2: 1.5, k_heading_per_m: 2.0 };
        Self { lateral: LateralLaw::new(gains, gains, car, SpeedGains::CALM.brake_way_m()), completed: false }
    }
    fn step(&mut self, seen: &Seen) -> Decision {
        let (path, speed) = (&seen.path, SpeedGains::CALM);
        let direction = f64::from(path.direction);
        let deviation = Deviation { lateral_m: path.lateral, heading: path.heading };
        let driven = speed.accel(seen.speed * direction, path.remaining, path.speed_max);
        let accel = if self.completed { speed.hold() } else { driven };
        let arrived = path.sections_left == 0 && speed.reached(path.to_end) && seen.speed.abs() < 0.05;
        self.completed |= arrived;
        Decision {
            steer: self.lateral.steering(path.curvature, &deviation, direction),
            accel,
            completed: self.completed,
            key: vec![f64::from(u8::from(self.completed))],
            ..Decision::default()
        }
    }
}

/// Something a driver might see, near the limits of the law too.
fn seen(dice: &mut Dice) -> Seen {
    let mut seen = Seen::default();
    let scale = [1e-3, 0.1, 1.0, 10.0][dice.below(4)];
    seen.speed = dice.about(1.5);
    let path = &mut seen.path;
    path.lateral = dice.about(scale);
    path.heading = dice.about(scale);
    path.curvature = dice.about(0.2 * scale);
    path.remaining = [dice.about(0.1), dice.about(1.0), dice.about(20.0), f64::INFINITY][dice.below(4)];
    path.to_end = path.remaining + [0.0, 0.03, 5.0][dice.below(3)];
    path.speed_max = 10.0 * scale + dice.about(10.0 * scale);
    path.direction = if dice.below(2) == 0 { 1 } else { -1 };
    path.sections_left = u32::from(dice.below(10) > 0);
    seen
}

fn same_bits(a: &Decision, b: &Decision) -> bool {
    let bits = |d: &Decision| (d.steer.to_bits(), d.accel.to_bits(), d.completed, d.key.clone());
    bits(a) == bits(b)
}

#[test]
fn the_law_in_c_has_the_bits_of_the_built_in_one() {
    let car = CarSpec::van();
    let mut instance = instance();
    let mut dice = Dice(4);
    let mut completed = 0;
    for run in 0..200 {
        let mut built_in = BuiltIn::new(&car);
        answers(&mut instance, &[reset_with(0, &begin(&car))]);
        for step in 0..100 {
            let seen = seen(&mut dice);
            let expected = built_in.step(&seen);
            let answer = answers(&mut instance, &[Op::Step { branch: 0, seen: Box::new(seen.clone()) }]).remove(0);
            let Answer::Decision(decision) = answer else { panic!("{answer:?}") };
            assert!(same_bits(&decision, &expected), "run {run} step {step}: {decision:?}\n{expected:?}\n{seen:?}");
        }
        completed += u32::from(built_in.completed);
    }
    assert!((20..180).contains(&completed), "both ways a run can end are tried: {completed}");
}

#[test]
fn the_law_saved_and_loaded_goes_on_as_if_nothing_had_been() {
    let car = CarSpec::van();
    let (mut whole, mut cut) = (instance(), instance());
    let mut dice = Dice(5);
    answers(&mut whole, &[reset_with(0, &begin(&car))]);
    answers(&mut cut, &[reset_with(0, &begin(&car))]);
    for number in 0..300 {
        let op = Op::Step { branch: 0, seen: Box::new(seen(&mut dice)) };
        assert_eq!(answers(&mut whole, std::slice::from_ref(&op)), answers(&mut cut, &[op]));
        save(&mut cut, 0, number);
        answers(&mut cut, &[Op::Load { token: number, branch: 7 }, Op::Save { branch: 7, token: 1000 }]);
        answers(&mut cut, &[Op::Load { token: 1000, branch: 0 }]);
    }
}

#[test]
fn what_was_seen_and_what_lies_on_the_stack_is_no_memory() {
    let car = CarSpec::van();
    let mut instance = instance();
    answers(&mut instance, &[reset_with(0, &begin(&car)), reset_with(1, &begin(&car))]);
    let mut dice = Dice(6);
    let mut standing = |instance: &mut WasmInstance, branch| {
        let mut seen = seen(&mut dice);
        seen.path.sections_left = 1;
        answers(instance, &[Op::Step { branch, seen: Box::new(seen) }]);
    };
    for _ in 0..5 {
        standing(&mut instance, 0);
    }
    standing(&mut instance, 1);
    assert_eq!(save(&mut instance, 0, 0), save(&mut instance, 1, 1), "five steps and one leave the same behind");

    answers(&mut instance, &[Op::Load { token: 0, branch: 0 }]);
    let mut arrived = Seen::default();
    arrived.path.direction = 1;
    let answer = answers(&mut instance, &[Op::Step { branch: 0, seen: Box::new(arrived) }]).remove(0);
    assert!(matches!(answer, Answer::Decision(Decision { completed: true, .. })), "{answer:?}");
    assert_ne!(save(&mut instance, 0, 2), save_of(&mut instance, 1), "that it has arrived it does remember");
}

fn save_of(instance: &mut WasmInstance, token: u32) -> Vec<u8> {
    answers(instance, &[Op::Load { token, branch: 9 }]);
    save(instance, 9, token)
}

#[test]
fn objects_of_cpp_are_constructed_once() {
    let source = r#"#include "anabranch_wasm.h"
        ANABRANCH_DRIVER("{\"name\": \"counts\"}")
        struct Counter { int steps; Counter(int first) : steps(first) {} };
        int three() { static volatile int three = 3; return three; }
        static Counter counter(three());
        int32_t anabranch_reset(const ab_begin *) { return 0; }
        int32_t anabranch_step(const ab_seen *, ab_decision *decision) { decision->steer = counter.steps++; return 0; }
    "#;
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("counts.cpp");
    std::fs::write(&file, source).unwrap();
    let factory = WasmFactory::new(&compile(&file, "counts"), WasmLimits::default()).unwrap();
    let mut instance = factory.instance();
    answers(&mut instance, &[reset(0)]);
    let steps: Vec<f64> = (0..3).map(|_| decide(&mut instance, 0, 0.0).steer).collect();
    assert_eq!(steps, [3.0, 4.0, 5.0]);
    answers(&mut instance, &[reset(0)]);
    assert_eq!(decide(&mut instance, 0, 0.0).steer, 3.0, "a run begins on fresh memory");
}

#[test]
fn everything_a_driver_is_told_arrives() {
    let source = project().join("crates/bridge/tests/wasm/echo.c");
    let factory = WasmFactory::new(&compile(&source, "echo"), WasmLimits::default()).unwrap();
    assert_eq!(factory.card().wants, ["walls", "samples", "occupancy"]);
    let mut instance = factory.instance();
    let begin = crate::echo::begin();
    answers(&mut instance, &[reset_with(0, &begin)]);
    let seen = crate::echo::seen();
    let answer = answers(&mut instance, &[Op::Step { branch: 0, seen: Box::new(seen.clone()) }]).remove(0);
    let Answer::Decision(decision) = answer else { panic!("{answer:?}") };
    assert_eq!(decision.key, crate::echo::expected(&begin, &seen));
    assert_eq!((decision.gear, decision.completed), (Some(-1), true));
    assert_eq!(decision.trajectory, crate::echo::trajectory());
}
