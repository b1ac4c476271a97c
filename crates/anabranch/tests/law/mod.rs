//! The built-in law through the crate that people depend on; the tests of the command line use it too.

use anabranch::kernel::maths;
use anabranch::{Begin, Decision, Driver, KeyVariable, Seen, key};

/// The built-in law as `narrow-passage` has it, written as a user would write it.
#[derive(Clone, Debug, Default)]
pub struct Law {
    pub wheelbase_m: f64,
    pub steering_max_rad: f64,
    pub completed: bool,
    /// Panics when it is farther off its path than this.
    pub panics_beyond_m: Option<f64>,
}

fn accel(speed: f64, remaining: f64, speed_max: f64) -> f64 {
    let (decel, k_stop) = (0.6, 1.2);
    if remaining < 0.05 {
        return -decel;
    }
    let offset = decel * decel / (k_stop * k_stop);
    let stopping = if remaining < decel / (k_stop * k_stop) {
        k_stop * remaining.max(0.0)
    } else {
        (2.0 * decel * remaining - offset).max(0.0).sqrt()
    };
    let (forward, wanted) = if stopping < 1.0 { (-(k_stop * speed).clamp(0.0, decel), stopping) } else { (0.0, 1.0) };
    let slowed = (2.5 * (speed_max - speed)).max(-decel);
    (forward + 2.5 * (wanted - speed)).min(slowed).clamp(-3.0, 1.0)
}

impl Driver for Law {
    fn key(&self) -> Vec<KeyVariable> {
        vec![key("completed", "", 0.0)]
    }
    fn cycle_s(&self) -> Option<f64> {
        Some(0.02)
    }
    fn begin(&mut self, begin: &Begin) {
        (self.wheelbase_m, self.steering_max_rad) = (begin.car.wheelbase_m, begin.car.steering_max_rad);
    }
    fn step(&mut self, seen: &Seen) -> Decision {
        let (path, along) = (&seen.path, f64::from(seen.path.direction));
        assert!(self.panics_beyond_m.is_none_or(|limit_m| path.lateral < limit_m), "too far off the path");
        let lateral_max = 0.5 * 2.0 / 1.5;
        let correction = 1.5 * path.lateral.clamp(-lateral_max, lateral_max) + 2.0 * along * path.heading;
        let steer = maths::atan(self.wheelbase_m * (path.curvature - correction));
        let driven = accel(seen.speed * along, path.remaining, path.speed_max);
        let accel = if self.completed { -0.6 } else { driven };
        self.completed |= path.sections_left == 0 && path.to_end < 0.05 && seen.speed.abs() < 0.05;
        Decision {
            steer: steer.clamp(-self.steering_max_rad, self.steering_max_rad),
            accel,
            completed: self.completed,
            key: vec![f64::from(u8::from(self.completed))],
            ..Decision::default()
        }
    }
}
