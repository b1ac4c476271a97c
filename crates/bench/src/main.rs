//! Speed as ratios within one run: `cargo xtask bench [name …]`.
//!
//! Rates are per CPU second where it says so; the machine may be shared. Every line names its goal and says whether it
//! was met; the exit code is 1 if one was missed.

mod cores;
mod corridor;
mod counters;
mod cycle;
mod link;
mod memory;
mod model_branches;
mod model_steps;
mod models;
mod overhead;
mod rays;
mod road;
mod roads;
mod scenario;
mod search;
mod timing;
mod traffic;
mod truth;
mod vehicle;
mod version;

use std::process::ExitCode;

/// A measured figure and what it should be.
pub(crate) struct Figure {
    name: String,
    value: f64,
    goal: Goal,
}

/// What a figure should be.
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
    /// For orientation only.
    None,
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, value: f64, goal: Goal) -> Self {
        Self { name: name.into(), value, goal }
    }
    fn met(&self) -> bool {
        match self.goal {
            Goal::AtLeast(goal) => self.value >= goal,
            Goal::AtMost(goal) => self.value <= goal,
            Goal::None => true,
        }
    }
    fn print(&self) {
        let goal = match self.goal {
            Goal::AtLeast(goal) => format!("goal ≥ {goal}"),
            Goal::AtMost(goal) => format!("goal ≤ {goal}"),
            Goal::None => String::new(),
        };
        let mark = if self.met() { "" } else { "  MISSED" };
        let value = if self.value >= 1e4 { format!("{:.3e}", self.value) } else { format!("{:.3}", self.value) };
        println!("  {:<72} {value:>11}  {goal}{mark}", self.name);
    }
}

type Bench = (&'static str, fn() -> Vec<Figure>);

const BENCHES: &[Bench] = &[
    ("cycle", cycle::run),
    ("link", link::run),
    ("overhead", overhead::run),
    ("cores", cores::run),
    ("counters", counters::run),
    ("memory", memory::run),
    ("corridor", corridor::run),
    ("traffic", traffic::run),
    ("truth", truth::run),
    ("rays", rays::run),
    ("roads", roads::run),
    ("models", models::run),
    ("model-steps", model_steps::run),
    ("model-branches", model_branches::run),
    ("version", version::run),
    ("road", road::run),
    ("vehicle", vehicle::run),
    ("search", search::run),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let [child, size] = &wanted[..]
        && child == memory::CHILD
    {
        memory::child(size);
        return ExitCode::SUCCESS;
    }
    let names: Vec<&str> = BENCHES.iter().map(|bench| bench.0).collect();
    if let Some(unknown) = wanted.iter().find(|w| !names.contains(&w.as_str())) {
        eprintln!("no bench `{unknown}`; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    let mut all_met = true;
    for (name, run) in BENCHES.iter().filter(|bench| wanted.is_empty() || wanted.iter().any(|w| w == bench.0)) {
        println!("{name}");
        for figure in run() {
            figure.print();
            all_met &= figure.met();
        }
    }
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
