//! How the drivers of the traffic behave.

use serde::{Deserialize, Serialize};

use crate::car::Kind;
use crate::gap::GapControl;

/// How a driver takes somebody who comes into his lane (S4-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Manners {
    /// M2 as it is: the full time gap is wanted at once, and a wave of braking runs backwards.
    Naive,
    /// After Hidas: makes room in comfort for who must come in, accepts the gap that is left, and lets it grow.
    Cooperative,
}

/// Behaviour of all cars.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Length of a tick of the traffic, seconds.
    pub step_s: f64,
    /// M2.
    pub gap: GapControl,
    /// What stays free at a standstill, metres: added to the length of the leader in M2.
    pub standstill_m: f64,
    /// Brake that is still comfortable (positive), metres per second squared.
    pub comfort_mps2: f64,
    /// How drivers take others in.
    pub manners: Manners,
    /// Types of cars; a car names one by its number.
    pub kinds: Vec<Kind>,
}

impl Settings {
    /// Attentive, cooperative drivers of ordinary cars.
    pub fn new(step_s: f64) -> Self {
        Self {
            step_s,
            gap: GapControl::ATTENTIVE,
            standstill_m: 2.0,
            comfort_mps2: 3.0,
            manners: Manners::Cooperative,
            kinds: vec![Kind::CAR, Kind::LORRY, Kind::CYCLIST],
        }
    }
    /// How far ahead somebody can matter to a car at a speed: beyond it M2 asks for more than the strongest drive, even behind a wall.
    pub(crate) fn sight_m(&self, speed_mps: f64) -> f64 {
        let longest_m = self.kinds.iter().map(|kind| kind.length_m).fold(0.0, f64::max) + self.standstill_m;
        let strongest = self.kinds.iter().map(|kind| kind.drive_mps2).fold(0.0, f64::max);
        let per_s = self.gap.closing_per_s;
        let own_mps = speed_mps * (self.gap.time_gap_s + 1.0 / per_s);
        longest_m + own_mps + strongest * self.gap.response_s / per_s
    }
    /// What is wrong with the values, if anything.
    pub fn fault(&self) -> Option<&'static str> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if !(positive(self.step_s) && self.step_s <= 1.0) {
            return Some("a tick of the traffic must be above 0 and at most 1 s");
        }
        if !(positive(self.comfort_mps2) && self.standstill_m.is_finite() && self.standstill_m >= 0.0) {
            return Some("the comfortable brake must be positive and the standstill gap not negative");
        }
        if self.kinds.is_empty() || self.kinds.len() > usize::from(u8::MAX) {
            return Some("there must be between 1 and 255 types of cars");
        }
        let sound = |kind: &Kind| {
            [kind.length_m, kind.width_m, kind.drive_mps2, kind.brake_mps2, kind.limit_share].into_iter().all(positive)
        };
        if !self.kinds.iter().all(sound) {
            return Some("length, width, drive, brake and share of the limit of every type of car must be positive");
        }
        self.gap.fault()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gap::Ahead;

    #[test]
    fn nobody_beyond_sight_could_matter() {
        let settings = Settings::new(0.1);
        for speed_mps in [0.0, 10.0, 40.0] {
            let ahead = Ahead { spacing_m: settings.sight_m(speed_mps), speed_mps: 0.0, length_m: 14.0 };
            let asked = settings.gap.accel_mps2(speed_mps, ahead);
            assert!((asked - 2.0).abs() < 1e-9, "{speed_mps} m/s: {asked}");
        }
    }

    #[test]
    fn settings_that_cannot_be_are_told() {
        assert_eq!(Settings::new(0.1).fault(), None);
        assert!(Settings::new(0.0).fault().unwrap().contains("tick"));
        assert!(Settings { kinds: vec![], ..Settings::new(0.1) }.fault().unwrap().contains("types"));
    }
}
