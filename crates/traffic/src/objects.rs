//! Things that stand, and cars that follow a script instead of their own intelligence (S4-6, S4-7).

use serde::{Deserialize, Serialize};

use crate::band::{Band, Room, Standing};
use crate::car::Id;
use crate::streets::{LaneNumber, Streets};
use crate::trigger::Fired;

/// Something that stands in a lane: a bin, a parked car. Cars swerve or stop (S4-12, S4-17).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thing {
    /// The lane.
    pub lane: LaneNumber,
    /// Where in it.
    pub standing: Standing,
}

/// A predetermined course: the speed of one car over time, whatever happens around it (S4-7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The car.
    pub car: Id,
    /// Seconds since tick 0 and the speed then; straight in between, constant after the last.
    pub profile: Vec<(f64, f64)>,
}

impl Script {
    /// The speed at a time.
    pub fn speed_mps(&self, time_s: f64) -> f64 {
        let after = self.profile.partition_point(|point| point.0 <= time_s);
        match (after.checked_sub(1).map(|at| self.profile[at]), self.profile.get(after)) {
            (Some((t0, v0)), Some(&(t1, v1))) => v0 + (v1 - v0) * ((time_s - t0) / (t1 - t0)),
            (Some((_, speed_mps)), None) => speed_mps,
            (None, first) => first.map_or(0.0, |point| point.1),
        }
    }
    /// What brings a car from its speed to that of the script within one tick.
    pub(crate) fn accel_mps2(&self, tick: u32, step_s: f64, speed_mps: f64) -> f64 {
        (self.speed_mps(f64::from(tick + 1) * step_s) - speed_mps) / step_s
    }
}

/// The references of all lanes with things in them, one per lane and cycle, shared by all cars of the lane (S4-12). Scratch: computed
/// again when other things stand there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bands {
    present: Vec<bool>,
    of_lane: Vec<(LaneNumber, Band)>,
}

impl Bands {
    /// Brings the bands up to date with what stands there now.
    pub(crate) fn refresh(&mut self, streets: &Streets, things: &[(Thing, Option<usize>)], fired: &Fired) {
        let is_present = |trigger: &Option<usize>| trigger.is_none_or(|trigger| fired.has(trigger));
        let is_same = self.present.len() == things.len()
            && things.iter().zip(&self.present).all(|((_, trigger), present)| is_present(trigger) == *present);
        if is_same {
            return;
        }
        self.present.clear();
        self.present.extend(things.iter().map(|(_, trigger)| is_present(trigger)));
        let mut standing: Vec<(LaneNumber, Standing)> = Vec::new();
        for ((thing, _), _) in things.iter().zip(&self.present).filter(|(_, present)| **present) {
            standing.push((thing.lane, thing.standing));
        }
        standing.sort_by_key(|entry| entry.0);
        self.of_lane.clear();
        for lane in standing.chunk_by(|a, b| a.0 == b.0) {
            let number = lane[0].0;
            let things: Vec<Standing> = lane.iter().map(|entry| entry.1).collect();
            let band = Band::around(&things, Room::inside(streets.lane(number).width_m));
            if !band.is_straight() {
                self.of_lane.push((number, band));
            }
        }
    }
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.of_lane.is_empty()
    }
    /// The band of a lane, if it is not simply its middle.
    #[inline(always)]
    pub(crate) fn of(&self, lane: LaneNumber) -> Option<&Band> {
        if self.of_lane.is_empty() {
            return None;
        }
        self.of_lane.binary_search_by_key(&lane, |entry| entry.0).ok().map(|at| &self.of_lane[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_straight_between_its_points() {
        let script = Script { car: 0, profile: vec![(1.0, 10.0), (3.0, 0.0)] };
        let seen: Vec<f64> = [0.0, 1.0, 2.0, 2.5, 3.0, 9.0].map(|t| script.speed_mps(t)).to_vec();
        assert_eq!(seen, [10.0, 10.0, 5.0, 2.5, 0.0, 0.0]);
        // From 10 m/s at 1.9 s to what it should be at 2.0 s: −5 m/s² for a tenth of a second from 5.5.
        assert!((script.accel_mps2(19, 0.1, 5.5) + 5.0).abs() < 1e-9);
    }
}
