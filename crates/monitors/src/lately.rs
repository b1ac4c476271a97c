//! How the car has behaved lately, for requirements about more than one moment: how long it has stood, how its steering swings.

use anabranch_kernel::Visitor;
use serde::{Deserialize, Serialize};

/// Slower than this a car stands.
const STANDS_MPS: f64 = 0.1;
/// Longer stands are alike.
const STANDING_MAX_S: f64 = 600.0;
/// Smaller turns of the wheels back and forth are no swing, radians: half a degree and a little.
const SWING_RAD: f64 = 0.01;
/// Swings are counted over about this time.
const OVER_S: f64 = 2.0;

/// What is remembered for requirements alone; nothing in the world depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lately {
    /// Base cycles since the car came to a stand elsewhere than at its goal.
    standing_ticks: u32,
    /// The farthest that the wheels have turned to the side they turn to.
    farthest_rad: f64,
    /// That side is the left one.
    turns_left: bool,
    /// Changes of that side per second, smoothed.
    swings_hz: f64,
}

/// Which of it requirements read; the rest decides nothing and is not in the key.
#[derive(Clone, Copy, Debug, Default)]
pub struct LatelyReads {
    /// How long the car has stood.
    pub standing: bool,
    /// How its steering swings.
    pub wobble: bool,
}

impl Lately {
    /// One base cycle.
    pub fn step(&mut self, speed_mps: f64, steering_rad: f64, at_goal: bool, step_s: f64) {
        let stands = speed_mps.abs() < STANDS_MPS && !at_goal;
        let most = (STANDING_MAX_S / step_s) as u32;
        self.standing_ticks = if stands { most.min(self.standing_ticks + 1) } else { 0 };
        let sign = if self.turns_left { 1.0 } else { -1.0 };
        let back_rad = sign * (self.farthest_rad - steering_rad);
        self.swings_hz *= 1.0 - (step_s / OVER_S).min(1.0);
        if back_rad < 0.0 {
            self.farthest_rad = steering_rad;
        } else if back_rad > SWING_RAD {
            self.turns_left = !self.turns_left;
            self.farthest_rad = steering_rad;
            self.swings_hz += 1.0 / OVER_S;
        }
    }
    /// How long the car has stood.
    pub fn standing_s(&self, step_s: f64) -> f64 {
        f64::from(self.standing_ticks) * step_s
    }
    /// How often the steering turns back, per second: the rate of steering reversals of at least 0.6 degrees of the wheels, smoothed
    /// over two seconds.
    pub fn wobble_hz(&self) -> f64 {
        self.swings_hz
    }
    /// Names what requirements read of it; the rest is not in the key.
    pub fn visit<V: Visitor>(&self, reads: LatelyReads, v: &mut V) {
        let unread = "no requirement reads it";
        if reads.standing {
            v.exact("standing", u64::from(self.standing_ticks));
        } else {
            v.unread("standing_ticks", unread);
        }
        if reads.wobble {
            v.within("wobble", |v| {
                v.exact("side", u64::from(self.turns_left));
                v.real("farthest", "rad", SWING_RAD, self.farthest_rad);
                v.real("swings", "1/s", 0.1, self.swings_hz);
            });
        } else {
            v.unread("farthest_rad", unread);
            v.unread("turns_left", unread);
            v.unread("swings_hz", unread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standing_is_counted_unless_it_is_at_the_goal() {
        let mut lately = Lately::default();
        (0..30).for_each(|_| lately.step(0.0, 0.0, false, 0.1));
        assert!((lately.standing_s(0.1) - 3.0).abs() < 1e-9);
        lately.step(0.0, 0.0, true, 0.1);
        assert_eq!(lately.standing_s(0.1), 0.0);
        lately.step(2.0, 0.0, false, 0.1);
        assert_eq!(lately.standing_s(0.1), 0.0);
    }

    /// One swing to and fro per second is two changes of side per second; a steady turn is none, nor is a tremble.
    #[test]
    fn swings_are_counted_and_turns_and_trembles_are_not() {
        let after = |steering: fn(u32) -> f64| {
            let mut lately = Lately::default();
            (0..400).for_each(|tick| lately.step(5.0, steering(tick), false, 0.05));
            lately.wobble_hz()
        };
        let to_and_fro = after(|tick| if tick % 20 < 10 { 0.05 } else { -0.05 });
        assert!((1.6..2.4).contains(&to_and_fro), "{to_and_fro}");
        assert!(after(|tick| 0.001 * f64::from(tick)) < 0.01);
        assert!(after(|tick| if tick % 20 < 10 { 0.004 } else { -0.004 }) < 0.01);
    }
}
