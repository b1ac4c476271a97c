//! Time per evaluation outside of the simulation, and how well two cores are used.
//!
//! `cargo run --release -p anabranch-search --example overhead`

use std::time::Instant;

use anabranch_kernel::{Fault, Seed};
use anabranch_search::{Dimension, Goal, Method, Objective, Outcome, Question, Search, Settings, Space};

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

fn main() {
    let dimensions = (0..40).map(|n| Dimension::real(&format!("x{n}"), "", 0.0, 1.0)).collect();
    let Ok(space) = Space::new(dimensions) else { return };
    for method in Method::ALL {
        let simulations = if method == Method::Bayes { 200 } else { 20_000 };
        let best = (0..3).map(|_| seconds(&space, &sphere, method, simulations, 16)).fold(f64::INFINITY, f64::min);
        println!("{:>16}: {:8.2} µs per evaluation at 40 dimensions", method.name(), 1e6 * best / simulations as f64);
    }
    for method in [Method::Annealing, Method::CmaEs] {
        let timed = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let run = || seconds(&space, &Slow, method, 1600, 32);
            pool.map_or(f64::NAN, |pool| pool.install(run))
        };
        let (one, two) = (timed(1), timed(2));
        println!("{:>16}: {one:.3} s on one core, {two:.3} s on two: {:.2} ×", method.name(), one / two);
    }
}
