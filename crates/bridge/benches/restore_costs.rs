//! What one segment costs by each way to restore: `cargo bench -p anabranch-bridge`.

use std::time::Instant;

use anabranch_bridge::toy::Toy;
use anabranch_bridge::{ChildSystem, InProcess, Limits, Program, Replay, Restore};
use anabranch_kernel::{Choice, Params, Seed, System, Watch};

const SEGMENTS: u32 = 400;

/// Microseconds per segment: branching from one held state at a depth, and going on along one path.
fn measure<R: Restore>(name: &str, restore: R) {
    let system = ChildSystem::new(restore).expect("the toy describes itself");
    for depth in [1, 10, 50] {
        let mut held = system.start(Seed(0), &Params(vec![0.0])).expect("a start");
        let alone = micros(depth, || drop(system.run(&mut held, Choice::NONE, &mut Watch::off()).expect("a segment")));
        let branched = micros(SEGMENTS, || {
            let mut branch = held.clone();
            system.run(&mut branch, Choice(1), &mut Watch::off()).expect("a segment");
        });
        println!("{name:>10}  depth {depth:>3}  branch {branched:8.1} µs  along one path {alone:8.1} µs");
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn micros(times: u32, mut call: impl FnMut()) -> f64 {
    let begin = Instant::now();
    (0..times).for_each(|_| call());
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(times)
}

fn main() {
    let program = Program::new(env!("CARGO_BIN_EXE_toy_child"));
    measure("in-process", InProcess::new(Toy::default()));
    measure("replay", Replay::new(program.clone(), Limits::default()).expect("the toy starts"));
    #[cfg(unix)]
    measure("fork", anabranch_bridge::Fork::new(program, Limits::default()).expect("the toy starts"));
}
