//! What a WASM driver costs, as ratios within one run: `cargo bench -p anabranch-bridge --features wasm --bench wasm`.
//!
//! Needs clang and lld for the law in C. Medians of many rounds that take turns; the exit code is 1 if a goal is missed.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anabranch_bridge::protocol::{Begin, CarFacts};
use anabranch_bridge::wasm::{WasmFactory, WasmInstance, WasmLimits};
use anabranch_bridge::{Instance, Op, Seen};
use anabranch_driving::follow::{Deviation, LateralGains, LateralLaw, SpeedGains};
use anabranch_vehicle::CarSpec;

const ROUNDS: usize = 400;
const MIB: usize = 1 << 20;

fn main() -> ExitCode {
    let step_met = step();
    let snapshot_met = snapshot();
    if step_met && snapshot_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Seconds a piece of work takes.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn time_s(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn exchange(instance: &mut WasmInstance, ops: &[Op]) {
    let mut answers = Vec::with_capacity(ops.len());
    instance.exchange(black_box(ops), &mut answers).expect("the module works");
    black_box(answers);
}

fn law_module() -> Vec<u8> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = std::env::temp_dir().join(format!("anabranch-bench-{}.wasm", std::process::id()));
    let status = Command::new("clang")
        .args(["--target=wasm32", "-O2", "-ffp-contract=off", "-nostdlib", "-mbulk-memory", "-Wl,--no-entry", "-I"])
        .arg(project.join("c"))
        .arg("-o")
        .args([&out, &project.join("examples/wasm/follow_law.c")])
        .status()
        .expect("clang is installed");
    assert!(status.success(), "clang ended with {status}");
    let bytes = std::fs::read(&out).expect("clang wrote it");
    drop(std::fs::remove_file(&out));
    bytes
}

/// A step of the law as a module, against the same law as a function.
fn step() -> bool {
    const STEPS: usize = 1000;
    let car = CarSpec::van();
    let gains = LateralGains { k_lateral_per_m2: 1.5, k_heading_per_m: 2.0 };
    let law = LateralLaw::new(gains, gains, &car, SpeedGains::CALM.brake_way_m());
    let facts =
        CarFacts { wheelbase_m: car.wheelbase_m, steering_max_rad: car.steering_max_rad, ..CarFacts::default() };
    let mut instance = WasmFactory::new(&law_module(), WasmLimits::default()).expect("a driver").instance();
    exchange(&mut instance, &[Op::Reset { branch: 0, begin: Box::new(Begin { car: facts, ..Begin::default() }) }]);
    let mut seen = Seen::default();
    (seen.path.lateral, seen.path.heading, seen.path.remaining, seen.path.speed_max) = (0.1, 0.05, 10.0, 1.0);
    (seen.path.direction, seen.path.sections_left, seen.speed) = (-1, 1, -0.7);
    let alone = [Op::Step { branch: 0, seen: Box::new(seen.clone()) }];
    let batch: Vec<Op> = (0..STEPS).map(|_| alone[0].clone()).collect();

    let (mut native, mut one, mut many) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        native.push(time_s(|| {
            for _ in 0..STEPS {
                let seen = black_box(&seen);
                let (path, direction) = (&seen.path, f64::from(seen.path.direction));
                let deviation = Deviation { lateral_m: path.lateral, heading: path.heading };
                black_box(law.steering(path.curvature, &deviation, direction));
                black_box(SpeedGains::CALM.accel(seen.speed * direction, path.remaining, path.speed_max));
            }
        }));
        one.push(time_s(|| (0..STEPS).for_each(|_| exchange(&mut instance, &alone))));
        many.push(time_s(|| exchange(&mut instance, &batch)));
    }
    let [native, one, many] = [native, one, many].map(|times| median(times) / STEPS as f64 * 1e6);
    println!("step of the law, one at a time {one:.3} µs, batched {many:.3} µs, as a native function {native:.3} µs");
    let above = one - native;
    println!("  above the native function {above:.3} µs, goal ≤ 1 µs{}", mark(above <= 1.0));
    above <= 1.0
}

/// A module of 1 MiB, all of it in use, that writes 16 KiB in a step.
fn large_module() -> Vec<u8> {
    let text = r#"(module
        (memory (export "memory") 16 16)
        (global $turn (mut i32) (i32.const 0))
        (data (i32.const 16) "{\22name\22: \22large\22}\00")
        (func (export "anabranch_version") (result i32) (i32.const 1))
        (func (export "anabranch_card") (result i32) (i32.const 16))
        (func (export "anabranch_room") (result i64) (i64.const 0x0000080000000400))
        (func (export "anabranch_reset") (param i32) (result i32)
          (memory.fill (i32.const 4096) (i32.const 85) (i32.const 1044480)) (i32.const 0))
        (func (export "anabranch_step") (param $seen i32) (param $out i32) (result i32)
          (global.set $turn (i32.add (global.get $turn) (i32.const 1)))
          (memory.fill (i32.const 200704)
            (i32.trunc_f64_s (f64.load (local.get $seen))) (i32.const 16384)) (i32.const 0)))"#;
    wat::parse_str(text).expect("it is written here")
}

/// Saving a branch and loading its parent, against copying the whole memory out and in.
fn snapshot() -> bool {
    let module = large_module();
    let factory = WasmFactory::new(&module, WasmLimits::default()).expect("a driver");
    let mut instance = factory.instance();
    exchange(&mut instance, &[Op::Reset { branch: 0, begin: Box::default() }, Op::Save { branch: 0, token: 0 }]);
    exchange(&mut instance, &[Op::Load { token: 0, branch: 0 }]);
    let (mut memory, mut copy) = (vec![85_u8; MIB], vec![0_u8; MIB]);
    let (mut pages, mut full) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS as u32 {
        let seen = Seen { time: f64::from(round % 100), ..Seen::default() };
        exchange(&mut instance, &[Op::Step { branch: 0, seen: Box::new(seen) }]);
        let there_and_back = [Op::Save { branch: 0, token: 1 }, Op::Load { token: 0, branch: 0 }];
        pages.push(time_s(|| exchange(&mut instance, &there_and_back)));
        exchange(&mut instance, &[Op::Drop { tokens: vec![1] }]);
        full.push(time_s(|| {
            copy.copy_from_slice(black_box(&memory));
            memory.copy_from_slice(black_box(&copy));
        }));
    }
    let [pages, full] = [pages, full].map(|times| median(times) * 1e6);
    println!("1 MiB of which 16 KiB changed, save and load: {pages:.1} µs; full copy out and in {full:.1} µs");
    let ratio = pages / full;
    println!("  share of a full copy {ratio:.3}, goal ≤ 0.2{}", mark(ratio <= 0.2));
    ratio <= 0.2
}

fn mark(met: bool) -> &'static str {
    if met { "" } else { "  MISSED" }
}
