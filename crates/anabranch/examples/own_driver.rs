//! A driver of one's own in a shipped scenario: `cargo run --release -p anabranch --example own_driver [scenario.toml]`.

use anabranch::{Begin, Decision, Driver, KeyVariable, Scenario, ScenarioTrouble, Seen, explore_driver, key};

/// Follows the path with a smoothed distance from it. The smoothing is memory, so it counts for merging.
#[derive(Clone, Default)]
struct Follow {
    wheelbase_m: f64,
    lateral_m: f64,
}

impl Driver for Follow {
    fn name(&self) -> String {
        "smooth follower".to_owned()
    }
    fn key(&self) -> Vec<KeyVariable> {
        vec![key("lateral", "m", 0.02)]
    }
    fn cycle_s(&self) -> Option<f64> {
        Some(0.02)
    }
    fn begin(&mut self, begin: &Begin) {
        self.wheelbase_m = begin.car.wheelbase_m;
    }
    fn step(&mut self, seen: &Seen) -> Decision {
        let (path, along) = (&seen.path, f64::from(seen.path.direction));
        self.lateral_m += 0.2 * (path.lateral - self.lateral_m);
        let curvature = path.curvature - 1.5 * self.lateral_m - 2.0 * along * path.heading;
        let wanted = (0.8 * path.remaining).min(1.0);
        Decision {
            steer: (self.wheelbase_m * curvature).clamp(-0.6, 0.6),
            accel: (2.0 * (wanted - seen.speed * along)).clamp(-2.0, 1.0),
            completed: path.sections_left == 0 && path.to_end < 0.05 && seen.speed.abs() < 0.05,
            key: vec![self.lateral_m],
            ..Decision::default()
        }
    }
}

fn main() -> Result<(), ScenarioTrouble> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "scenarios/narrow-passage.toml".to_owned());
    let explored = explore_driver(&Scenario::read(file)?, Follow::default())?;
    let progress = &explored.outcome.progress;
    println!("{} segments, {} states, {} merged", progress.segments, progress.states, progress.merged);
    println!(
        "complete: {}; {} findings, each run again from the start",
        explored.outcome.complete(),
        explored.findings.len()
    );
    for finding in explored.findings.iter().take(3) {
        println!("  {finding}");
    }
    Ok(())
}
