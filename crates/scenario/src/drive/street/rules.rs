//! The lane that the car is truly on, and the lines that it passes.

use anabranch_geometry::{Outline, Pose};
use anabranch_kernel::maths;
use anabranch_roads::{Aspect, Frenet, LaneId, Sign, SignalRef};
use anabranch_traffic::{Branch, Colour, Outside};
use arrayvec::ArrayVec;

use super::cast::light_number;
use super::{Street, StreetState};

/// Headings that differ more are against the lane.
const ALONG_MAX_RAD: f64 = std::f64::consts::FRAC_PI_2;
/// Nearer than this to a stop line, and slower than that, a car has stood before it.
const STOOD_M: f64 = 3.0;
const STOOD_MPS: f64 = 0.15;

/// Where the car truly is on the roads.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnLane {
    pub lane: LaneId,
    /// Of the rear axle.
    pub place: Frenet,
    /// Heading of the car less that of the lane.
    pub turned_rad: f64,
    pub width_m: f64,
}

/// What happened at a stop line in this base cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    pub red: bool,
    pub stop: bool,
}

impl Street {
    /// The lane of a car: the one that its driver means if the car is on it, else the nearest.
    pub(super) fn on_lane(&self, own: &StreetState, car: Pose) -> OnLane {
        let meant = self.network.lane(own.memory.lane);
        let place = meant.project(car.point(), own.memory.station_m);
        let on = |lane: LaneId, place: Frenet| OnLane {
            lane,
            place,
            turned_rad: maths::wrap_angle(car.heading - place.heading),
            width_m: self.network.lane(lane).width_m(place.station_m),
        };
        let here = on(own.memory.lane, place);
        let is_there =
            2.0 * place.lateral_m.abs() <= here.width_m && (0.0..=meant.length_m()).contains(&place.station_m);
        if is_there {
            return here;
        }
        self.network.nearest(car.point()).map_or(here, |(lane, place)| on(lane, place))
    }

    /// The car as the traffic sees it: in its lane, and in the one that it reaches into.
    pub(super) fn outsiders(&self, on: &OnLane, outline: &Outline, speed_mps: f64) -> ArrayVec<Outside, 2> {
        let (sin, cos) = maths::sin_cos(on.turned_rad);
        let front_m = on.place.station_m + outline.front_m * cos;
        // Its middle, not its axle, is what others keep clear of.
        let middle_m = 0.5 * (outline.front_m - outline.rear_m);
        let lateral_m = on.place.lateral_m + middle_m * sin;
        let kind = self.ego_kind;
        let mut outside = ArrayVec::new();
        let length_m = self.network.lane(on.lane).length_m();
        let (lane, station_m) = self.layout.place(on.lane, front_m.clamp(0.0, length_m));
        outside.push(Outside { lane, station_m, lateral_m, speed_mps: speed_mps * cos, kind });
        let half_m = outline.half_width_m * cos.abs() + 0.5 * (outline.front_m + outline.rear_m) * sin.abs();
        let towards = lateral_m.signum();
        if lateral_m.abs() + half_m > 0.5 * on.width_m {
            let own = self.network.lane(on.lane);
            let beside = if towards > 0.0 { own.left_at(on.place.station_m) } else { own.right_at(on.place.station_m) };
            if let Some((other, other_m)) = beside {
                let apart_m = 0.5 * (on.width_m + self.network.lane(other).width_m(other_m));
                let beside_m = front_m - on.place.station_m + other_m;
                let (lane, station_m) =
                    self.layout.place(other, beside_m.clamp(0.0, self.network.lane(other).length_m()));
                outside.push(Outside {
                    lane,
                    station_m,
                    lateral_m: lateral_m - towards * apart_m,
                    speed_mps: speed_mps * cos,
                    kind,
                });
            }
        }
        outside
    }

    /// Whether the car's front passes a stop line between two places on one lane, and whether it may.
    pub(super) fn pass_lines(&self, own: &mut StreetState, now: &OnLane, moved: Moved) -> Passed {
        let mut passed = Passed::default();
        let lane = self.network.lane(now.lane);
        let front_m = now.place.station_m + moved.front_m;
        let turns = lane.next().iter().filter_map(|link| self.network.rule(link.to));
        for rule in turns.filter(|rule| rule.approach == now.lane) {
            let left_m = rule.stop_station_m - front_m;
            if rule.sign == Sign::Stop && (0.0..STOOD_M).contains(&left_m) && moved.speed_mps.abs() < STOOD_MPS {
                own.stood = true;
            }
            let passes = left_m < 0.0 && left_m + moved.way_m >= 0.0;
            if !passes {
                continue;
            }
            let aspect = rule.signal.map(|signal| self.aspect(&own.branch, signal));
            passed.red |= own.memory.gate.turn.is_none_or(|turn| turn == rule.turn)
                && matches!(aspect, Some(Aspect::Red | Aspect::RedAmber));
            passed.stop |= rule.sign == Sign::Stop && rule.signal.is_none() && !own.stood;
        }
        if passed.stop || lane.next().iter().all(|link| self.network.rule(link.to).is_none()) {
            own.stood = false;
        }
        passed
    }

    /// What a light shows: what a trigger makes it show, else what its programme says.
    pub(super) fn aspect(&self, branch: &Branch, signal: SignalRef) -> Aspect {
        match self.traffic.forced(branch, light_number(&self.network, signal)) {
            Some(Colour::Red) => Aspect::Red,
            Some(Colour::Yellow) => Aspect::Amber,
            Some(Colour::Green) => Aspect::Green,
            None => {
                let now_us = u64::from(branch.tick) * self.step_us;
                self.network.programs()[signal.program].aspect(signal.group, now_us)
            }
        }
    }

    /// Whether a car points against its lane.
    pub(super) fn is_against(on: &OnLane) -> bool {
        on.turned_rad.abs() > ALONG_MAX_RAD
    }
}

/// How the car moved in a base cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    /// From the rear axle to the front bumper.
    pub front_m: f64,
    /// Way of the axle, forwards.
    pub way_m: f64,
    pub speed_mps: f64,
}
