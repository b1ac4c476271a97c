//! `model-steps`: a step of a lane-keeping model against the same law written in Rust, and a step of 1 000 atomic components.

use std::hint::black_box;
use std::sync::Arc;

use anabranch_kernel::maths;
use anabranch_language::{Library, Model, Options};
use anabranch_program::{Executor, Memory, Now};

use crate::timing::medians_cpu_s;
use crate::{Figure, Goal};

const STEPS: u64 = 200_000;
const CHAIN: usize = 1_000;
const CHAIN_STEPS: u64 = 2_000;
const WHEEL_BASE_M: f64 = 2.6;

/// Place and angle on a lane from four distances, and the way back to its middle.
const LANE: &str = "component Lane {
    ports in Q(-20 m : 20 m) d[4], in Q(-oo m/s : oo m/s) speed, out Q(-45° : 45°) s;
    component State {
        ports in Q(-20 m : 20 m) d[4], out Q(-90° : 90°) phi, out Q(-40 m : 40 m) y;
        implementation Math {
            phi = asin(saturate((d(2) - d(1)) / 2.6 m, -1, 1));
            y = (d(3) + d(4) - d(1) - d(2)) / 4;
        }
    }
    component Keep {
        ports in Q(-90° : 90°) phi, in Q(-40 m : 40 m) y, in Q(-oo m/s : oo m/s) speed, out Q(-45° : 45°) s;
        implementation Math {
            static Q off = 0;
            Q reach = max(3 * speed, 6);
            Q curvature = -4 / (reach * reach) * y - 4 / reach * phi;
            off = 0.99 * off + 0.01 * phi;
            s = saturate(atan(2.6 * curvature) - off, -0.7853981633974483, 0.7853981633974483);
        }
    }
    instance State state;
    instance Keep keep;
    connect d[:] -> state.d[:];
    connect state.phi -> keep.phi;
    connect state.y -> keep.y;
    connect speed -> keep.speed;
    connect keep.s -> s;
}";

/// The same law by hand; what lasts is `off`.
#[inline(never)]
fn by_hand(d: [f64; 4], speed: f64, off: &mut f64) -> f64 {
    let phi = maths::asin(((d[1] - d[0]) / WHEEL_BASE_M).clamp(-1.0, 1.0));
    let y = (d[2] + d[3] - d[0] - d[1]) / 4.0;
    let reach = if 3.0 * speed > 6.0 { 3.0 * speed } else { 6.0 };
    let curvature = -4.0 / (reach * reach) * y - 4.0 / reach * phi;
    *off = 0.99 * *off + 0.01 * phi;
    let limit = std::f64::consts::FRAC_PI_4;
    (maths::atan(WHEEL_BASE_M * curvature) - *off).clamp(-limit, limit)
}

fn model(name: &str, text: String) -> Model {
    let library = Library::of([(format!("{name}.emam").into(), text)]);
    Model::build(&library, name, &Options::default()).unwrap_or_else(|told| panic!("{}", told[0]))
}

/// A chain of components, each with a state of its own.
fn chain() -> Model {
    let mut text = "component Chain { ports in Q x, out Q y;
        component Link { ports in Q u, out Q v; implementation Math {
            static Q last = 0;
            v = 0.5 * last + 0.25 * u;
            if v > 10 v = 10; end
            last = v;
        } }\n"
        .to_owned();
    for i in 0..CHAIN {
        text += &format!("instance Link l{i};\n");
    }
    text += "connect x -> l0.u;\n";
    for i in 1..CHAIN {
        text += &format!("connect l{}.v -> l{i}.u;\n", i - 1);
    }
    text += &format!("connect l{}.v -> y;\n}}", CHAIN - 1);
    model("Chain", text)
}

fn tick(executor: &Executor, memory: &mut Memory, tick: u64) {
    let now = Now { tick, ..Now::default() };
    if let Err(fault) = executor.tick(memory, now) {
        panic!("{}", executor.program().explain(&fault));
    }
}

pub(crate) fn run() -> Vec<Figure> {
    let lane = model("Lane", LANE.to_owned());
    let slot = |name: &str| lane.port(name).map_or_else(|| panic!("no port {name}"), |port| port.slots);
    let (d, speed, s) = (slot("d"), slot("speed").start, slot("s").start);
    let native = Executor::new(lane.program().clone());
    let interpreter = Executor::Interpreter(Arc::clone(lane.program()));
    // Hidden from the compiler is the tick, not what is made of it: hidden numbers would lie in memory one by one and be copied from
    // there all at once, and that copy waits for the whole step before.
    let inputs = |tick: u64| {
        let tick = black_box(tick);
        let wave = (tick % 100) as f64 * 0.01;
        ([0.5 + wave, 0.6, 2.5 - wave, 2.4], 5.0 + wave)
    };
    let (mut sum, mut off) = ([0.0; 3], 0.0);
    let [sum_native, sum_interpreter, sum_hand] = &mut sum;
    let by_model = |executor: &Executor, memory: &mut Memory, sum: &mut f64| {
        for k in 0..STEPS {
            let (distances, v) = inputs(k);
            memory.write(d).copy_from_slice(&distances);
            memory.set(speed, v);
            tick(executor, memory, k);
            *sum += memory.get(s);
        }
    };
    let (mut one, mut two) = (lane.program().memory(), lane.program().memory());
    let [native_s, interpreter_s, hand_s] = medians_cpu_s(
        5,
        [
            &mut || by_model(&native, &mut one, sum_native),
            &mut || by_model(&interpreter, &mut two, sum_interpreter),
            &mut || {
                for k in 0..STEPS {
                    let (distances, v) = inputs(k);
                    *sum_hand += by_hand(distances, v, &mut off);
                }
            },
        ],
    );
    assert!((sum[0] - sum[2]).abs() < 1e-6 && sum[0].to_bits() == sum[1].to_bits(), "{sum:?}");
    let chain = chain();
    assert_eq!(chain.order().len(), CHAIN);
    let executor = Executor::new(chain.program().clone());
    let mut memory = chain.program().memory();
    let [chain_s] = medians_cpu_s(
        5,
        [&mut || {
            for k in 0..CHAIN_STEPS {
                memory.inputs()[0] = (k % 7) as f64;
                tick(&executor, &mut memory, k);
            }
        }],
    );
    let each = |seconds: f64| seconds / STEPS as f64 * 1e6;
    vec![
        Figure::new("µs per lane-keeping step, law written in Rust", each(hand_s), Goal::None),
        Figure::new("µs per lane-keeping step, model as machine code", each(native_s), Goal::None),
        Figure::new("µs per lane-keeping step, model interpreted", each(interpreter_s), Goal::None),
        Figure::new("lane-keeping model / law written in Rust", native_s / hand_s, Goal::AtMost(3.0)),
        Figure::new("µs per step of 1 000 atomic components", chain_s / CHAIN_STEPS as f64 * 1e6, Goal::AtMost(50.0)),
    ]
}
