//! Time per evaluation outside of the simulation, and how well two cores are used.
//!
//! `cargo run --release -p anabranch-search --example overhead`

use std::hint::black_box;
use std::time::Instant;

use anabranch_kernel::{Fault, Seed};
use anabranch_search::{Dimension, Goal, Method, Objective, Outcome, Question, Search, Settings, Space};
use rayon::prelude::*;

/// Simulations of a search whose cores are counted.
const SLOW: u64 = 1600;

#[expect(clippy::disallowed_methods, reason = "an example that measures is an edge")]
fn now() -> Instant {
    Instant::now()
}

/// Costs next to nothing.
fn sphere(x: &[f64]) -> f64 {
    x.iter().map(|v| (v - 0.4) * (v - 0.4)).sum()
}

/// Costs about as much as a simulation of half a millisecond.
struct Slow;
impl Objective for Slow {
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault> {
        let mut x = question.values[0] * 0.1 + 0.4;
        for _ in 0..200_000 {
            x = 3.7 * x * (1.0 - x);
        }
        Ok(Outcome::of(sphere(question.values) + 1e-12 * x, 1.0))
    }
}

fn seconds(space: &Space, objective: &dyn Objective, method: Method, simulations: u64, batch: usize) -> f64 {
    let Ok(layout) = space.layout() else { return f64::NAN };
    let Ok(optimiser) = method.build(&layout, Seed(1), simulations) else { return f64::NAN };
    let settings = Settings { goal: Goal::Worst, batch, ..Settings::first(Seed(1), simulations) };
    let Ok(search) = Search::new(space, objective, optimiser, settings) else { return f64::NAN };
    let begin = now();
    let report = search.run_unsaved();
    let taken = begin.elapsed().as_secs_f64();
    assert_eq!(report.evaluations.len() as u64, simulations);
    taken
}

/// The simulations alone, all at once: what the machine can gain by its second core.
fn bare() -> f64 {
    let begin = now();
    let values = [0.3; 40];
    let question = Question { values: &values, decided_below: f64::NEG_INFINITY };
    let done = (0..SLOW as u32)
        .into_par_iter()
        .with_max_len(1)
        .filter(|_| black_box(Slow.evaluate(black_box(question))).is_ok())
        .count();
    assert_eq!(done as u64, SLOW);
    begin.elapsed().as_secs_f64()
}

fn main() {
    let dimensions = (0..40).map(|n| Dimension::real(&format!("x{n}"), "", 0.0, 1.0)).collect();
    let Ok(space) = Space::new(dimensions) else { return };
    for method in Method::ALL {
        let simulations = if method == Method::Bayes { 200 } else { 20_000 };
        let best = (0..3).map(|_| seconds(&space, &sphere, method, simulations, 16)).fold(f64::INFINITY, f64::min);
        println!("{:>16}: {:8.2} µs per evaluation at 40 dimensions", method.name(), 1e6 * best / simulations as f64);
    }
    // The shortest of several, one and two cores in turns: whatever else the machine does makes a run longer, never shorter.
    let pools = [1, 2].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
    let [Ok(one), Ok(two)] = pools else { return };
    let compare = |name: &str, run: &(dyn Fn() -> f64 + Sync)| {
        let (mut on_one, mut on_two) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..7 {
            on_one = on_one.min(one.install(run));
            on_two = on_two.min(two.install(run));
        }
        println!("{name:>16}: {on_one:.3} s on one core, {on_two:.3} s on two: {:.2} ×", on_one / on_two);
    };
    compare("no search", &bare);
    for method in [Method::Annealing, Method::CmaEs] {
        compare(method.name(), &|| seconds(&space, &Slow, method, SLOW, 32));
    }
}
