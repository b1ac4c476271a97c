//! Functions with known minima, over the unit cube or close to it.

use anabranch_kernel::{Seed, maths};
use anabranch_search::{Dimension, Goal, Method, Report, Search, Settings, Space};

/// A space of so many ranges from `lo` to `hi`.
pub fn ranges(dimensions: usize, lo: f64, hi: f64) -> Space {
    let dimension = |n: usize| Dimension::real(&format!("x{n}"), "m", lo, hi);
    Space::new((0..dimensions).map(dimension).collect()).expect("a plain space")
}

/// Smallest at 0.3, 0.34, 0.38, …: not in the middle, where some methods begin.
pub fn sphere(x: &[f64]) -> f64 {
    x.iter().enumerate().map(|(n, v)| (v - 0.3 - 0.04 * n as f64).powi(2)).sum()
}

/// A long bent valley; smallest at (1, 1, …).
pub fn rosenbrock(x: &[f64]) -> f64 {
    x.windows(2).map(|p| 100.0 * (p[1] - p[0] * p[0]).powi(2) + (1.0 - p[0]).powi(2)).sum()
}

/// Many small valleys in a large one; smallest at 1 everywhere.
pub fn rastrigin(x: &[f64]) -> f64 {
    let part = |v: &f64| (v - 1.0).powi(2) - 10.0 * maths::cos(2.0 * std::f64::consts::PI * (v - 1.0)) + 10.0;
    x.iter().map(part).sum()
}

/// Two ranges, a whole number and two choices that only help together.
pub fn mixed(x: &[f64]) -> f64 {
    let choice = match (x[3] as usize, x[4] as usize) {
        (3, 1) => 0.0,
        (3, _) => 1.0,
        (_, 1) => 1.5,
        _ => 2.0,
    };
    (x[0] - 0.7).powi(2) + (x[1] - 0.2).powi(2) + 0.01 * (x[2] - 37.0).powi(2) + choice
}

/// The space of [`mixed`].
pub fn mixed_space() -> Space {
    Space::new(vec![
        Dimension::real("a", "m", 0.0, 1.0),
        Dimension::real("b", "m", 0.0, 1.0),
        Dimension::whole("count", "", 0, 100),
        Dimension::one_of("weather", &["clear", "cloudy", "rain", "fog", "snow", "storm"]),
        Dimension::one_of("light", &["day", "twilight", "night"]),
    ])
    .expect("a plain space")
}

/// Runs a method for its whole budget.
pub fn run(method: Method, space: &Space, f: fn(&[f64]) -> f64, seed: u64, simulations: u64) -> Report {
    let layout = space.layout().expect("something varies");
    let optimiser = method.build(&layout, Seed(seed), simulations).expect("the method fits");
    let settings = Settings { goal: Goal::Worst, ..Settings::first(Seed(seed), simulations) };
    Search::new(space, &f, optimiser, settings).expect("good settings").run_unsaved()
}

/// Lowest values over five seeds, in order.
pub fn best_of_seeds(method: Method, space: &Space, f: fn(&[f64]) -> f64, simulations: u64) -> Vec<f64> {
    let one = |seed| run(method, space, f, seed, simulations).best().expect("something was simulated").value();
    let mut all: Vec<f64> = (0..5).map(one).collect();
    all.sort_by(f64::total_cmp);
    all
}
