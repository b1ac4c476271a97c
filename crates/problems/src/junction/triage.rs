//! Why an accident happened and whose fault it was (S3-19, S3-20).

use super::{HARD, Junction, JunctionState, TICK_S};

/// The first of these that is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The camera never believed the other car.
    Missed,
    /// The other car could not be seen until it was too late: a place for the map.
    BlindCorner,
    /// It was believed too late to stop; seen at once it would have been in time.
    DetectedLate,
    /// It was believed in time, and the car went all the same.
    TooAggressive,
    /// Nothing that the car could have done.
    Unavoidable,
}

/// Who broke the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The car under test: it was in a lane in which others have the right of way.
    Car,
    /// The other car: it hit one that had stood or driven ahead of it for long enough, or it was much too fast.
    Other,
    /// Each did something wrong.
    Both,
}

/// What is known about an accident.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triage {
    /// Why.
    pub cause: Cause,
    /// Whose fault.
    pub fault: Fault,
    /// The stop sign was seen too late for the car to stand before the lane: it edged forward.
    pub is_sign_late: bool,
    /// Seconds from the first moment at which the other car could be seen to the accident.
    pub visible_s: f64,
    /// Seconds from the moment at which it was believed to the accident, if it was.
    pub believed_s: Option<f64>,
}

/// Who is hit by a car that had so long to stop is not at fault (s).
const TIME_TO_STOP_S: f64 = 4.0;
/// Limit of the main road with some tolerance (m/s).
const SPEED_LIMIT_MPS: f64 = 15.0;

impl Triage {
    pub(crate) fn of(junction: &Junction, state: &JunctionState) -> Self {
        let hit = state.hit_tick.unwrap_or(state.tick);
        let ago_s = |tick: u32| f64::from(hit.saturating_sub(tick)) * TICK_S;
        let believed = state.car_tick.filter(|_| junction.is_believed(state.car_tick, hit));
        let visible_s = state.visible_tick.map_or(0.0, ago_s);
        let entry_s = state.entry_tick.map_or(0.0, ago_s);
        // To stand before the lane the car needs its delay, the time to brake from its speed, and a moment.
        let needed_s = entry_s + 0.3 + junction.instance().approach_mps.min(5.0) / HARD;
        let cause = match believed {
            // It came into view when the car was already in the lane, or as good as there.
            _ if visible_s > 0.0 && visible_s < entry_s + 0.3 => Cause::BlindCorner,
            None if visible_s > 0.0 => Cause::Missed,
            None => Cause::Unavoidable,
            Some(tick) if ago_s(tick) >= needed_s => Cause::TooAggressive,
            Some(_) if visible_s >= needed_s => Cause::DetectedLate,
            Some(_) => Cause::BlindCorner,
        };
        let is_too_fast = junction.instance().other_mps > SPEED_LIMIT_MPS;
        let had_time = entry_s > TIME_TO_STOP_S;
        let fault = match (had_time, is_too_fast) {
            (true, _) => Fault::Other,
            (false, true) => Fault::Both,
            (false, false) => Fault::Car,
        };
        let is_sign_late = match (state.sign_tick, state.entry_tick) {
            (None, _) => true,
            (Some(sign), Some(entry)) => entry.saturating_sub(sign) < 40 && state.phase == super::Phase::Stopping,
            _ => false,
        };
        Self { cause, fault, is_sign_late, visible_s, believed_s: believed.map(ago_s) }
    }
}
