//! Why an accident happened and whose fault it was (S3-19, S3-20), by running it again with one thing changed (S3-32).

use super::{Junction, JunctionState, TICK_S};

/// The answer to the questions of S3-19.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The camera never believed the other car; as by day it would have.
    Missed,
    /// The other car or the sign was believed too late; as by day it would have been in time.
    DetectedLate,
    /// Without the hedge there is no accident, with better light there is: a place for the map.
    BlindCorner,
    /// Even with perfect sight; a driver who waits longer would have had none, or there was time to stop for what was seen.
    TooAggressive,
    /// Not even he.
    Unavoidable,
}

impl Cause {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Missed => "missed",
            Self::DetectedLate => "detected late",
            Self::BlindCorner => "blind corner",
            Self::TooAggressive => "controller too aggressive",
            Self::Unavoidable => "unavoidable",
        }
    }
}

/// Who broke the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The car under test: it was in a lane in which others have the right of way.
    Car,
    /// The other car: it hit one that had stood or driven ahead of it for long enough.
    Other,
    /// Each did something wrong: the other one was much too fast.
    Both,
}

impl Fault {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Car => "the car under test",
            Self::Other => "the other car",
            Self::Both => "both",
        }
    }
}

/// What is known about an accident.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triage {
    /// Why.
    pub cause: Cause,
    /// Whose fault.
    pub fault: Fault,
    /// Had the car known of the stop sign from the start, there would have been no accident.
    pub is_sign_late: bool,
    /// Nor without the hedge.
    pub is_hidden: bool,
    /// Nor with the camera as in clear daylight.
    pub is_dim: bool,
    /// Low sun: within 80 minutes of sunrise or sunset.
    pub is_twilight: bool,
    /// The other car came as fast as this one, give or take a half. Faster it would have passed, slower been avoided.
    pub is_similar_speed: bool,
    /// Whether the other driver braked.
    pub has_other_braked: bool,
    /// Seconds from the first moment at which the other car could be seen to the accident.
    pub visible_s: f64,
    /// Seconds from the moment at which it was believed to the accident, if it was.
    pub believed_s: Option<f64>,
}

impl Triage {
    /// The mechanism of S3-17: twilight, a sign seen late, a car of similar speed that was hidden at first.
    pub fn is_published_mechanism(&self) -> bool {
        self.is_twilight && self.is_sign_late && self.is_similar_speed && self.is_hidden
    }
}

/// One thing that is other than it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Change {
    /// The car looks through the hedge.
    pub(crate) no_hedge: bool,
    /// Its camera works as in clear daylight.
    pub(crate) by_day: bool,
    /// It knows of the sign.
    pub(crate) knows_sign: bool,
    /// It waits for much longer gaps.
    pub(crate) waits: bool,
}

/// Who is hit by a car that had so long to stop is not at fault (s).
const TIME_TO_STOP_S: f64 = 4.0;
/// Limit of the main road with some tolerance (m/s).
const SPEED_LIMIT_MPS: f64 = 15.0;
/// Sunrise and sunset, in minutes since midnight, and what counts as near them.
const HORIZON_MIN: [f64; 2] = [390.0, 1110.0];
const TWILIGHT_MIN: f64 = 80.0;

impl Triage {
    pub(crate) fn of(junction: &Junction, state: &JunctionState) -> Self {
        let hit = state.hit_tick.unwrap_or(state.tick);
        let ago_s = |tick: u32| f64::from(hit.saturating_sub(tick)) * TICK_S;
        let believed = state.car_tick.filter(|_| junction.is_believed(state.car_tick, hit));
        let is_avoided = |change: Change| junction.changed(change).ends_well();
        let is_hidden = is_avoided(Change { no_hedge: true, ..Change::default() });
        let is_dim = is_avoided(Change { by_day: true, ..Change::default() });
        let is_sign_late = is_avoided(Change { knows_sign: true, ..Change::default() });
        let sees_all = Change { no_hedge: true, by_day: true, knows_sign: true, waits: false };
        let instance = junction.instance();
        let is_too_fast = instance.other_mps > SPEED_LIMIT_MPS;
        let had_time = state.entry_tick.map_or(0.0, ago_s) > TIME_TO_STOP_S;
        // Who drives into the car ahead is at fault, however long both were in the lane.
        let is_ahead = junction.car(state).x >= junction.other(state).x;
        let fault = match (had_time && is_ahead, is_too_fast) {
            (true, _) => Fault::Other,
            (false, true) => Fault::Both,
            (false, false) => Fault::Car,
        };
        let has_seen_it_long = believed.is_some_and(|tick| ago_s(tick) > TIME_TO_STOP_S);
        let cause = if is_hidden && !is_dim && !is_sign_late {
            Cause::BlindCorner
        } else if is_dim || is_sign_late || is_avoided(sees_all) {
            if believed.is_none() { Cause::Missed } else { Cause::DetectedLate }
        } else if (has_seen_it_long && fault != Fault::Other) || is_avoided(Change { waits: true, ..sees_all }) {
            Cause::TooAggressive
        } else {
            Cause::Unavoidable
        };
        let speeds = instance.other_mps / instance.approach_mps;
        Self {
            cause,
            fault,
            is_sign_late,
            is_hidden,
            is_dim,
            is_twilight: HORIZON_MIN.iter().any(|at| (instance.minute - at).abs() < TWILIGHT_MIN),
            is_similar_speed: (1.0 / 1.5..=1.5).contains(&speeds),
            has_other_braked: state.other_mps < instance.other_mps,
            visible_s: state.visible_tick.map_or(0.0, ago_s),
            believed_s: believed.map(ago_s),
        }
    }
}

/// A place from which a crossing lane cannot be seen early enough: what a map can carry (S3-19).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlindCornerNote {
    /// Where the car would have had to see (m).
    pub x: f64,
    /// See `x`.
    pub y: f64,
    /// How far it sees into the crossing lane from there (m).
    pub sees_m: f64,
    /// How far it would have to see, for traffic of this speed (m).
    pub needs_m: f64,
    /// That speed (m/s).
    pub traffic_mps: f64,
}

impl BlindCornerNote {
    /// As a zone of a map file.
    pub fn map_zone(&self, id: &str) -> String {
        let Self { x, y, sees_m, needs_m, traffic_mps } = self;
        let (x0, x1, y0, y1) = (x - 2.0, x + 2.0, y - 2.0, y + 2.0);
        format!(
            "# From here one sees {sees_m:.0} m into the lane from the left; traffic of {traffic_mps:.1} m/s needs {needs_m:.0} m.\n\
             [[zone]]\nid      = \"{id}\"\nkind    = \"blind-corner\"\nvalue   = {sees_m:.1}\ncorners = [[\"{x0:.1} m\", \
             \"{y0:.1} m\"], [\"{x1:.1} m\", \"{y0:.1} m\"], [\"{x1:.1} m\", \"{y1:.1} m\"], [\"{x0:.1} m\", \"{y1:.1} m\"]]\n"
        )
    }
}
