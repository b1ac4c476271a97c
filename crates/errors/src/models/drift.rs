//! The estimated pose drifts: per segment the error may stay, decrease to normal, or increase further (S1-22).

use anabranch_kernel::{Site, Variable, maths};

use crate::directions::{Direction, directions};
use crate::effects::{Effects, Frame, PoseRamp};
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::words;

/// Cell size of a remembered drift of the position.
pub const POSITION_CELL_M: f64 = 0.02;
/// Cell size of a remembered drift of the heading.
pub const HEADING_CELL_RAD: f64 = 0.005;
/// Drifts closer than this (m or rad) count as one; it absorbs the rounding at the limit.
const SAME: f64 = 1e-9;
/// Modes before the growing ones: "none" and "stay".
const FIRST_GROWING: usize = 2;

/// How a drift changes, in metres or radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Increase in a segment of growth.
    pub rate: f64,
    /// Decrease towards zero in a segment without error.
    pub decay: f64,
    /// Largest drift.
    pub limit: f64,
}

impl Growth {
    fn is_sound(&self) -> bool {
        self.rate > 0.0 && self.rate.is_finite() && self.decay >= 0.0 && self.limit > 0.0 && self.limit.is_finite()
    }
}

/// Drift of the position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositionDrift {
    /// How it changes, in metres.
    pub growth: Growth,
    /// Into how many directions it can grow; 2 are left and right.
    pub directions: u8,
}

/// A drift of position, heading or both. The ramp runs linearly during the segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    id: String,
    frame: Frame,
    position: Option<Growth>,
    around: Vec<Direction>,
    heading: Option<Growth>,
    segment_s: f64,
}

impl Drift {
    /// A drift in a frame; `segment_s` is the length of a segment.
    pub fn new(
        id: &str,
        frame: Frame,
        position: Option<PositionDrift>,
        heading: Option<Growth>,
        segment_s: f64,
    ) -> Self {
        let around = position.map_or(Vec::new(), |p| directions(p.directions, frame));
        Self { id: id.to_owned(), frame, position: position.map(|p| p.growth), around, heading, segment_s }
    }

    /// The drift at the end of a segment that starts with `start`.
    fn end(&self, mode: u8, start: [f64; 3]) -> [f64; 3] {
        let [x, y, heading] = start;
        let mode = usize::from(mode);
        if mode == 0 {
            let [x, y] = self.position.map_or([0.0; 2], |growth| shortened(x, y, growth.decay));
            let [heading, _] = self.heading.map_or([0.0; 2], |growth| shortened(heading, 0.0, growth.decay));
            return [x, y, heading];
        }
        if mode < FIRST_GROWING {
            return start;
        }
        match (self.around.get(mode - FIRST_GROWING), self.position, self.heading) {
            (Some(direction), Some(growth), _) => {
                let [x, y] = [x + growth.rate * direction.unit[0], y + growth.rate * direction.unit[1]];
                let beyond = (maths::hypot(x, y) - growth.limit).max(0.0);
                let [x, y] = shortened(x, y, beyond);
                [x, y, heading]
            }
            (_, _, Some(growth)) => {
                let left = mode - FIRST_GROWING == self.around.len();
                let heading = if left { heading + growth.rate } else { heading - growth.rate };
                [x, y, heading.clamp(-growth.limit, growth.limit)]
            }
            _ => start,
        }
    }

    fn load(&self, slot: &Slot) -> [f64; 3] {
        let [a, b, c] = slot.values;
        if self.position.is_some() { [a, b, c] } else { [0.0, 0.0, a] }
    }
    fn store(&self, drift: [f64; 3], slot: &mut Slot) {
        let [x, y, heading] = drift;
        slot.values = if self.position.is_some() { [x, y, heading] } else { [heading, 0.0, 0.0] };
    }
}

/// The vector made shorter by a length, at most to zero.
fn shortened(x: f64, y: f64, by: f64) -> [f64; 2] {
    let length = maths::hypot(x, y);
    if length <= by {
        return [0.0; 2];
    }
    let keep = (length - by) / length;
    [x * keep, y * keep]
}

impl ErrorModel for Drift {
    fn site(&self) -> Site {
        let stay = ("stay".to_owned(), 0.0);
        let growing = |growth: Growth| {
            self.around.iter().map(move |d| (format!("grow {} {}", d.name, words::metres(growth.rate)), growth.rate))
        };
        let turning = |growth: Growth| {
            [growth.rate, -growth.rate].map(|rate| (format!("grow heading {}", words::turned(rate)), growth.rate))
        };
        let position = self.position.into_iter().flat_map(growing);
        let heading = self.heading.into_iter().flat_map(turning);
        site(&self.id, std::iter::once(stay).chain(position).chain(heading))
    }
    fn begin(&self, mode: u8, slot: &mut Slot, effects: &mut Effects) {
        let start = self.load(slot);
        let end = self.end(mode, start);
        let rate_per_s = std::array::from_fn(|i| (end[i] - start[i]) / self.segment_s);
        effects.pose_in(self.frame).add(&PoseRamp { offset: start, rate_per_s });
        self.store(end, slot);
    }
    fn variables(&self) -> Vec<Variable> {
        let position = ["x", "y"].map(|name| Variable::real(name, "m", POSITION_CELL_M));
        let heading = Variable::real("heading", "rad", HEADING_CELL_RAD);
        let position = self.position.iter().flat_map(|_| position.clone());
        position.chain(self.heading.iter().map(|_| heading.clone())).collect()
    }
    fn live(&self, slot: &Slot, mode: u8) -> bool {
        let start = self.load(slot);
        let own = self.end(mode, start);
        (0..mode).all(|lower| self.end(lower, start).iter().zip(own).any(|(a, b)| (a - b).abs() > SAME))
    }
    fn stay_mode(&self) -> Option<u8> {
        Some(FIRST_GROWING as u8 - 1)
    }
    fn problem(&self) -> Option<String> {
        let sound = self.position.iter().chain(&self.heading).all(Growth::is_sound);
        if !sound {
            return Some("a drift needs a positive `rate`, a positive `limit` and a `decay` of 0 or more".to_owned());
        }
        (self.position.is_none() && self.heading.is_none()).then(|| "give the drift a position or a heading".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drift() -> Drift {
        let growth = Growth { rate: 0.1, decay: 0.05, limit: 0.15 };
        let heading = Growth { rate: 0.02, decay: 0.02, limit: 0.02 };
        Drift::new("d", Frame::Car, Some(PositionDrift { growth, directions: 2 }), Some(heading), 2.0)
    }
    fn live(drift: &Drift, slot: &Slot) -> Vec<String> {
        let site = drift.site();
        (0..site.modes.len()).filter(|&m| drift.live(slot, m as u8)).map(|m| site.modes[m].name.clone()).collect()
    }

    #[test]
    fn a_drift_ramps_stays_and_decays() {
        let (drift, mut slot) = (drift(), Slot::default());
        let run = |mode, slot: &mut Slot| {
            let mut effects = Effects::NONE;
            drift.begin(mode, slot, &mut effects);
            (effects.pose_in_car.at(0.0)[1], effects.pose_in_car.at(2.0)[1])
        };
        assert_eq!(run(2, &mut slot), (0.0, 0.1));
        assert_eq!(run(1, &mut slot), (0.1, 0.1));
        let (from, to) = run(2, &mut slot);
        assert!(from == 0.1 && (to - 0.15).abs() < 1e-12);
        assert!((run(0, &mut slot).1 - 0.1).abs() < 1e-12);
        run(0, &mut slot);
        run(0, &mut slot);
        assert_eq!(slot, Slot::default());
    }

    #[test]
    fn only_modes_that_differ_are_live() {
        let (drift, mut slot) = (drift(), Slot::default());
        let grow = ["grow left 0.1 m", "grow right 0.1 m", "grow heading left 1.1459°", "grow heading right 1.1459°"];
        assert_eq!(live(&drift, &slot), [&["none"], &grow[..]].concat());
        slot.values = [0.0, 0.15, 0.02];
        assert_eq!(live(&drift, &slot), ["none", "stay", grow[1], grow[3]]);
    }
}
