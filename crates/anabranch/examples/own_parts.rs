//! Sensors and an actuator of one's own around a driver of one's own:
//! `cargo run --release -p anabranch --example own_parts [scenario.toml]`.
//!
//! Two rangefinders look to the sides of the car, the driver keeps to the middle between what they see, and the engine behind it
//! loses force with speed.

use std::f64::consts::FRAC_PI_2;

use anabranch::{
    Actuated, Actuator, Begin, Decision, Driver, Scenario, ScenarioTrouble, Seen, Sensor, Sensors, TrueCar, World,
    explore_drive,
};

/// Follows the path, and leans away from the nearer side.
#[derive(Clone, Default)]
struct Middle {
    wheelbase_m: f64,
}

impl Driver for Middle {
    fn begin(&mut self, begin: &Begin) {
        self.wheelbase_m = begin.car.wheelbase_m;
    }
    fn step(&mut self, seen: &Seen) -> Decision {
        let (path, along) = (&seen.path, f64::from(seen.path.direction));
        let side = |name: &str| seen.readings.get(name).copied().unwrap_or(RANGE_M);
        let lean_m = 0.3 * (side("right") - side("left")).clamp(-1.0, 1.0);
        let curvature = path.curvature - 1.5 * (path.lateral + lean_m) - 2.0 * along * path.heading;
        let wanted = (0.8 * path.remaining).min(1.0);
        Decision {
            steer: (self.wheelbase_m * curvature).clamp(-0.6, 0.6),
            accel: (2.0 * (wanted - seen.speed * along)).clamp(-2.0, 1.0),
            completed: path.sections_left == 0 && path.to_end < 0.05 && seen.speed.abs() < 0.05,
            ..Decision::default()
        }
    }
    fn is_memoryless(&self) -> bool {
        true
    }
}

/// An engine of constant power beyond a speed: the acceleration depends on what is wanted and on how fast the car is already.
#[derive(Clone)]
struct Engine {
    power_per_mass: f64,
}

impl Actuator for Engine {
    fn act(&mut self, inputs: &Seen, outputs: &mut Decision) {
        let most_mps2 = self.power_per_mass / inputs.speed.abs().max(0.1);
        outputs.accel = outputs.accel.min(most_mps2);
    }
    fn is_memoryless(&self) -> bool {
        true
    }
}

/// How far a rangefinder sees.
const RANGE_M: f64 = 5.0;

/// A rangefinder on the side of the car, with a noise of 1 cm.
fn rangefinder(name: &'static str, side: f64) -> impl Sensor {
    move |world: &World<'_>, car: &TrueCar| {
        let true_m = world.ray_m(car.pose().point(), car.heading + side * FRAC_PI_2, RANGE_M);
        true_m + 0.01 * world.chance(name).normal(0)
    }
}

fn main() -> Result<(), ScenarioTrouble> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "scenarios/narrow-passage.toml".to_owned());
    let scenario = Scenario::read(file)?.with(&[("explore.until", "6 s"), ("must.arrives.by", "6 s")])?;
    let driver = Actuated::new(Middle::default(), Engine { power_per_mass: 0.6 });
    let sensors = Sensors::default().with("left", rangefinder("left", 1.0)).with("right", rangefinder("right", -1.0));
    let drive = scenario.drive_with_sensors(driver, sensors)?;
    let explored = explore_drive(&scenario, &drive)?;
    let progress = &explored.outcome.progress;
    println!("{} segments, {} states, {} merged", progress.segments, progress.states, progress.merged);
    for finding in explored.findings.iter().take(3) {
        println!("  {finding}");
    }
    Ok(())
}
