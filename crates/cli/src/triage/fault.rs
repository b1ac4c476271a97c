//! Who broke the rules (S3-20). A rule decides or nobody does.

use anabranch_geometry::Pose;
use anabranch_kernel::{Place, maths};
use anabranch_roads::{LaneId, Network, Precedence, Sign};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Care, ObjectKind, ScenarioSpec};

use super::scene::{Moment, Scene};

/// Who is hit by a car that had so long to stop is not at fault (s).
const TIME_TO_STOP_S: f64 = 4.0;
/// Share of the limit beyond which somebody is much too fast.
const MUCH_TOO_FAST: f64 = 1.15;
/// Slower than this a car stands.
const STANDS_MPS: f64 = 0.3;
/// Headings that differ less go the same way.
const SAME_WAY_RAD: f64 = 0.8;
/// A contact this far behind or before the middle of the car, as a share of half its length, is at its rear or front.
const END: f64 = 0.5;

/// Whose fault it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The car under test.
    Car,
    /// The other one.
    Other,
    /// Each did something wrong.
    Both,
    /// No rule decides.
    Unknown,
}

impl Fault {
    /// For machines.
    pub fn word(self) -> &'static str {
        match self {
            Self::Car => "car",
            Self::Other => "other",
            Self::Both => "both",
            Self::Unknown => "unknown",
        }
    }
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Car => "the fault of the car under test",
            Self::Other => "the fault of the other",
            Self::Both => "the fault of both",
            Self::Unknown => "nobody's fault by the rules we know",
        }
    }
}

/// Whose fault an accident was.
pub(super) fn of(spec: &ScenarioSpec, drive: &Drive, scene: &Scene, place: &Place) -> Fault {
    let (Some(network), Some(end)) = (drive.network(), scene.moments.last()) else { return Fault::Unknown };
    let Some(other) = scene.other_at(end) else {
        // Walls, fences and things that stand about do nothing wrong.
        return Fault::Car;
    };
    let object = other.object.and_then(|number| spec.road.as_ref()?.objects.get(number));
    match object.map(|object| (object.kind.value, object.care)) {
        Some((ObjectKind::Pedestrian, Care::Reckless)) => return Fault::Other,
        Some((ObjectKind::Thing, _)) => return Fault::Car,
        _ => {}
    }
    let stands_s = lasted_s(scene, |moment| moment.speed_mps.abs() < STANDS_MPS);
    let entered_s = entered(network, scene, other.pose).map(|moment| end.time_s - moment.time_s);
    let had_time = entered_s.is_none_or(|seconds| seconds > TIME_TO_STOP_S);
    let is_same_way = maths::wrap_angle(other.pose.heading - end.car.heading).abs() < SAME_WAY_RAD;
    let car = &drive.car().outline;
    let along = (place.on_ego[0] - 0.5 * (car.front_m - car.rear_m)) / (0.5 * (car.front_m + car.rear_m));
    let is_too_fast = scene.moments.iter().any(|moment| is_too_fast(network, scene, moment));
    if other.speed_mps > STANDS_MPS && had_time && (stands_s > TIME_TO_STOP_S || is_same_way && along < -END) {
        return Fault::Other;
    }
    if entered_s.is_some() {
        return if is_too_fast { Fault::Both } else { Fault::Car };
    }
    // Who drives into the one ahead should have kept his distance.
    if along > END && (is_same_way || other.speed_mps < STANDS_MPS) && end.speed_mps > STANDS_MPS {
        return Fault::Car;
    }
    Fault::Unknown
}

/// How long something has held without a break before the contact.
fn lasted_s(scene: &Scene, holds: impl Fn(&Moment) -> bool) -> f64 {
    let end_s = scene.moments.last().map_or(0.0, |moment| moment.time_s);
    scene.moments.iter().rev().take_while(|moment| holds(moment)).last().map_or(0.0, |moment| end_s - moment.time_s)
}

/// When the car has entered a turn over a line at which it had to give way to the lane of the other one, if it has: the last time.
fn entered<'s>(network: &Network, scene: &'s Scene, other: Pose) -> Option<&'s Moment> {
    let lane_of = |moment: &Moment| network.nearest_along(moment.car).map(|(lane, _)| lane);
    let his = network.nearest_along(other).map(|(lane, _)| lane)?;
    let mut entered = None;
    let mut before = None;
    for moment in &scene.moments {
        let lane = lane_of(moment);
        if lane != before
            && let Some(turn) = lane.filter(|lane| gives_way(network, *lane, his))
        {
            let came_over_the_line =
                network.rule(turn).is_some_and(|rule| before.is_none_or(|lane| lane == rule.approach));
            entered = if came_over_the_line { Some(moment) } else { entered };
        }
        before = lane;
    }
    entered
}

/// Whether a turn has a sign or a rule by which it gives way to cars in another lane: on their way through the junction, before
/// it, or behind it.
fn gives_way(network: &Network, turn: LaneId, his: LaneId) -> bool {
    let Some(rule) = network.rule(turn) else { return false };
    let is_signed = matches!(rule.sign, Sign::Stop | Sign::Yield);
    rule.conflicts.iter().any(|conflict| {
        let yields =
            conflict.precedence == Precedence::Yields || is_signed && conflict.precedence == Precedence::FirstCome;
        let theirs = network.rule(conflict.with).map(|rule| rule.approach);
        let leads_there = network.lane(conflict.with).next().iter().any(|link| link.to == his);
        yields && (conflict.with == his || theirs == Some(his) || leads_there)
    })
}

/// Whether the other one was much faster than the limit where he was.
fn is_too_fast(network: &Network, scene: &Scene, moment: &Moment) -> bool {
    let other = scene.other_at(moment);
    let place = other.and_then(|other| Some((other, network.nearest_along(other.pose)?)));
    place.is_some_and(|(other, (lane, place))| {
        other.speed_mps > MUCH_TOO_FAST * network.lane(lane).limit_mps(place.station_m)
    })
}
