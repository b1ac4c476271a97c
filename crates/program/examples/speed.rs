//! How fast programs are: `cargo run --release -p anabranch-program --example speed`.
//!
//! A lane-keeping law in machine code beside the same law written by hand in Rust, taking turns in one run; a program of
//! a thousand steps; what it would cost to share its ticks with another thread.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anabranch_kernel::maths;
use anabranch_program::blocks::Block;
use anabranch_program::{ArrayOp, Binary, Branched, Builder, Expr, Memory, Native, Now, Program, Slot, Stmt, Unary};

const H: [f64; 5] = [0.4, 0.3, 0.15, 0.1, 0.05];

/// Steering from four distances to the markers, smoothed by a filter of five coefficients and limited.
fn lane_keeping() -> Program {
    let mut b = Builder::new("lane keeping");
    let d = b.input("d", &[1.0, 1.1, 0.9, 1.2]);
    let speed = b.input("speed", &[10.0]).start;
    let steer = b.output("steer", &[0.0]).start;
    let line = b.state("line", &[0.0; 4]);
    let h = b.constant("h", &H);
    let [left, right, offset, angle, wanted, tail] = [(); 6].map(|()| b.scratch(1).start);
    b.step(
        "state",
        vec![
            Stmt::set(left, (d.at(0) + d.at(1)) * 0.5),
            Stmt::set(right, (d.at(2) + d.at(3)) * 0.5),
            Stmt::set(offset, (left - right) * 0.5),
            Stmt::set(angle, Expr::unary(Unary::Atan, (d.at(0) - d.at(1)) / 3.0)),
        ],
    );
    let gain = Expr::Const(1.5) / Expr::from(speed).max(1.0);
    let law = -(angle * 0.8) - offset * gain.clone() - (offset * gain) * Expr::unary(Unary::Abs, offset) * 0.1;
    b.step(
        "law",
        vec![Stmt::if_else(Expr::from(speed).greater(0.5), vec![Stmt::set(wanted, law)], vec![Stmt::set(wanted, 0.0)])],
    );
    b.step(
        "filter",
        vec![
            ArrayOp::Dot { to: tail, left: h.part(1, 4), right: line }.into(),
            Stmt::set(steer, wanted * h.start + tail),
            ArrayOp::Copy { to: line.part(1, 3), from: line.part(0, 3) }.into(),
            Stmt::set(line.start, wanted),
            Stmt::set(steer, Expr::from(steer).max(-0.785).min(0.785)),
        ],
    );
    b.finish().expect("the law is in order")
}

/// The same law by hand.
#[inline(never)]
fn by_hand(d: &[f64; 4], speed: f64, line: &mut [f64; 4]) -> f64 {
    let left = (d[0] + d[1]) * 0.5;
    let right = (d[2] + d[3]) * 0.5;
    let offset = (left - right) * 0.5;
    let angle = maths::atan((d[0] - d[1]) / 3.0);
    let wanted = if speed > 0.5 {
        let gain = 1.5 / speed.max(1.0);
        -(angle * 0.8) - offset * gain - (offset * gain) * offset.abs() * 0.1
    } else {
        0.0
    };
    let mut tail = 0.0;
    for k in 0..4 {
        tail += H[k + 1] * line[k];
    }
    let steer = wanted * H[0] + tail;
    line.copy_within(0..3, 1);
    line[0] = wanted;
    steer.clamp(-0.785, 0.785)
}

type Parameters<'a> = Vec<(&'a str, &'a [f64])>;

/// A thousand atomic steps in chains of ten blocks of different kinds.
fn thousand() -> Program {
    let mut b = Builder::new("thousand");
    let u = b.input("u", &[1.0]).start;
    let time: (&str, &[f64]) = ("sample_time", &[0.01]);
    let kinds: [(&str, Parameters<'_>); 10] = [
        ("Gain", vec![("gain", &[0.9])]),
        ("LowPass", vec![time, ("time_constant", &[0.1])]),
        ("Saturation", vec![("low", &[-5.0]), ("high", &[5.0])]),
        ("UnitDelay", vec![]),
        ("DiscreteDerivative", vec![time]),
        ("RateLimiter", vec![time, ("rising", &[100.0]), ("falling", &[-100.0])]),
        ("DiscreteFir", vec![("coefficients", &[0.4, 0.3, 0.2, 0.1])]),
        ("DeadZone", vec![("start", &[-0.01]), ("end", &[0.01])]),
        ("Atan", vec![]),
        ("Bias", vec![("bias", &[0.1])]),
    ];
    let mut ends: Vec<Slot> = Vec::new();
    for chain in 0..100 {
        let mut signal = u;
        for (name, parameters) in &kinds {
            let block = Block::named(name, parameters).expect("known");
            signal = block.add(&mut b, &format!("chain {chain} {name}"), &[signal]).expect("one input")[0];
        }
        ends.push(signal);
    }
    let y = b.output("y", &[0.0]).start;
    let sum = ends.into_iter().map(Expr::from).reduce(|a, c| Expr::binary(Binary::Add, a, c)).expect("chains");
    b.step("sum", vec![Stmt::set(y, sum)]);
    b.finish().expect("in order")
}

#[expect(clippy::disallowed_methods, reason = "measures")]
fn nanoseconds(rounds: u64, mut work: impl FnMut(u64)) -> f64 {
    let start = std::time::Instant::now();
    (0..rounds).for_each(&mut work);
    start.elapsed().as_nanos() as f64 / rounds as f64
}

fn native_law(native: &Native, memory: &mut Memory, tick: u64) {
    memory.inputs()[0] = 1.0 + (tick % 7) as f64 * 0.01;
    native.tick(memory, Now { tick, ..Now::default() }).expect("no fault");
    black_box(memory.outputs()[0]);
}

fn main() {
    let law = Arc::new(lane_keeping());
    let native = Native::compile(law.clone()).expect("compiles");
    let (mut memory, mut reference) = (law.memory(), law.memory());
    let mut line = [0.0; 4];
    for tick in 0..1000_u64 {
        let now = Now { tick, ..Now::default() };
        reference.inputs()[0] = 1.0 + (tick % 7) as f64 * 0.01;
        law.tick(&mut reference, now).expect("no fault");
        native_law(&native, &mut memory, tick);
        let hand = by_hand(&[1.0 + (tick % 7) as f64 * 0.01, 1.1, 0.9, 1.2], 10.0, &mut line);
        assert!(memory.outputs()[0].to_bits() == hand.to_bits() && memory.saved() == reference.saved());
    }
    let rounds = 2_000_000;
    let mut best = [f64::INFINITY; 3];
    for _ in 0..7 {
        let hand = nanoseconds(rounds, |tick| {
            let d = black_box([1.0 + (tick % 7) as f64 * 0.01, 1.1, 0.9, 1.2]);
            black_box(by_hand(&d, black_box(10.0), &mut line));
        });
        let code = nanoseconds(rounds, |tick| native_law(&native, &mut memory, tick));
        let plain = nanoseconds(rounds / 20, |tick| {
            law.tick(&mut reference, Now { tick, ..Now::default() }).expect("no fault");
        });
        for (best, now) in best.iter_mut().zip([hand, code, plain]) {
            *best = best.min(now);
        }
    }
    let [hand, code, plain] = best;
    println!(
        "lane keeping: by hand {hand:.1} ns, machine code {code:.1} ns ({:.2} x), interpreter {plain:.0} ns",
        code / hand
    );

    large_programs();
    matrices();
    for (dear, ticks) in [(true, 400), (false, 4_000)] {
        branches(dear, ticks);
    }
}

/// Four chains of a thousand steps side by side, every tenth step with matrices if they are dear.
fn chains(dear: bool) -> Program {
    let mut b = Builder::new("chains");
    let u = b.input("u", &[0.5]).start;
    let mut ends = Vec::new();
    for chain in 0..4 {
        let mut signal = u;
        for step in 0..1000 {
            let name = format!("{chain} {step}");
            let (last, v) = (b.state(format!("last {name}"), &[0.0]).start, b.signal(format!("v {name}"), 1).start);
            let mut body = vec![Stmt::set(v, Expr::from(last) * 0.5 + Expr::from(signal) * 0.25), Stmt::set(last, v)];
            if dear && step % 10 == 9 {
                let [p, f] = [("p", 0.01), ("f", 0.05)].map(|(n, x)| b.state(format!("{n} {name}"), &[x; 144]));
                let [fp, ft, to] = ["fp", "ft", "to"].map(|n| b.signal(format!("{n} {name}"), 144));
                let [p, f, fp, ft, to] = [p, f, fp, ft, to].map(|span| span.matrix(12, 12));
                body.push(Stmt::set(f.start, Expr::from(v).min(1.0).max(-1.0) * 0.1));
                body.push(ArrayOp::Product { to: fp, left: f, right: p }.into());
                body.push(ArrayOp::Transpose { to: ft, from: f }.into());
                body.push(ArrayOp::Product { to, left: fp, right: ft }.into());
                body.push(ArrayOp::Copy { to: p.span(), from: to.span() }.into());
            }
            b.step(format!("step {name}"), body);
            signal = v;
        }
        ends.push(signal);
    }
    let y = b.output("y", &[0.0]).start;
    let sum = ends.into_iter().map(Expr::from).reduce(|a, c| Expr::binary(Binary::Add, a, c)).expect("chains");
    b.step("sum", vec![Stmt::set(y, sum)]);
    b.finish().expect("in order")
}

/// The quickest tick in order and with branches on two threads: neighbours only ever make one slower.
fn branches(dear: bool, ticks: u64) {
    let program = Arc::new(chains(dear));
    let native = Native::compile(program.clone()).expect("compiles");
    let pays = Branched::compile(program.clone(), 2).expect("compiles").is_some();
    let mut branched = Branched::compile_if(program.clone(), 2, 0.0).expect("compiles").expect("four chains");
    let (mut one, mut two) = (program.memory(), program.memory());
    let mut best = [f64::INFINITY; 2];
    for tick in 0..ticks {
        let now = Now { tick, ..Now::default() };
        best[0] = best[0].min(nanoseconds(1, |_| native.tick(&mut one, now).expect("no fault")));
        best[1] = best[1].min(nanoseconds(1, |_| branched.tick(&mut two, now).expect("no fault")));
    }
    assert_eq!(one.saved(), two.saved(), "other bits");
    println!(
        "{} steps in {} branches, estimated {:.0} us: in order {:.1} us, on {} threads {:.1} us ({:.2} x), used: {pays}",
        program.steps().len(),
        branched.branches(),
        program.estimated_ns() / 1e3,
        best[0] / 1e3,
        branched.threads(),
        best[1] / 1e3,
        best[0] / best[1],
    );
}

fn large_programs() {
    let large = Arc::new(thousand());
    let compile = nanoseconds(1, |_| drop(black_box(Native::compile(large.clone()))));
    let native = Native::compile(large.clone()).expect("compiles");
    let mut memory = large.memory();
    let (mut code, mut plain) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..7 {
        code = code.min(nanoseconds(5_000, |tick| {
            native.tick(&mut memory, Now { tick, ..Now::default() }).expect("no fault")
        }));
        plain = plain
            .min(nanoseconds(200, |tick| large.tick(&mut memory, Now { tick, ..Now::default() }).expect("no fault")));
    }
    println!(
        "{} steps, {} slots: machine code {:.2} us per tick, interpreter {:.1} us; compiled in {:.1} ms",
        large.steps().len(),
        large.layout().total(),
        code / 1e3,
        plain / 1e3,
        compile / 1e6
    );
    let levels = large.levels();
    let handover = handover();
    println!(
        "independent steps: {} levels; handing over to another thread and back takes {:.2} us, per level twice per tick",
        levels.iter().max().map_or(0, |level| level + 1),
        handover / 1e3
    );
}

fn matrices() {
    let n = 100_u32;
    let mut b = Builder::new("matrices");
    let [left, right] = ["a", "b"].map(|name| b.constant(name, &vec![0.5; (n * n) as usize]).matrix(n, n));
    let to = b.signal("c", n * n).matrix(n, n);
    b.step("product", vec![ArrayOp::Product { to, left, right }.into()]);
    let program = b.finish().expect("in order");
    let mut memory = program.memory();
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        best = best.min(nanoseconds(50, |_| program.tick(&mut memory, Now::default()).expect("no fault")));
    }
    let operations = 2.0 * f64::from(n).powi(3);
    println!("product of {n} x {n} matrices: {:.0} us, {:.2} GFLOP/s", best / 1e3, operations / best);
}

/// How long it takes to hand over to a waiting thread and to hear from it again: what every level would cost at least.
fn handover() -> f64 {
    let turn = AtomicU64::new(0);
    let rounds = 20_000;
    let wait = |until: &dyn Fn(u64) -> bool| {
        let mut spins = 0_u32;
        while !until(turn.load(Ordering::Acquire)) {
            spins += 1;
            if spins.is_multiple_of(1000) { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..rounds {
                wait(&|turn| turn > 2 * round);
                turn.store(2 * round + 2, Ordering::Release);
            }
        });
        nanoseconds(rounds, |round| {
            turn.store(2 * round + 1, Ordering::Release);
            wait(&|turn| turn > 2 * round + 1);
        })
    })
}
