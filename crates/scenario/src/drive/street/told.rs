//! What a driver from outside is told about roads.

use anabranch_bridge::protocol::{BesideSeen, LegFacts, LineSeen, ObjectSeen, PathSeen, RoadSeen};
use anabranch_driving::follow::Told;
use anabranch_driving::road::{Course, CourseEnd};
use anabranch_geometry::Pose;
use anabranch_kernel::maths;
use anabranch_roads::{Aspect, Lane, Marking, Route, Sign, Then};
use anabranch_sensing::Track;

use super::tick::OnStreet;
use super::{Street, StreetState};

/// The way ahead is told so far, and in these steps.
const AHEAD_M: f64 = 100.0;
const STEP_M: f64 = 5.0;

/// What is told about roads in one step.
pub(in super::super) struct RoadTold {
    pub(in super::super) path: PathSeen,
    pub(in super::super) road: RoadSeen,
    pub(in super::super) objects: Vec<ObjectSeen>,
}

impl Street {
    /// Everything that a driver from outside is told about roads; the host's place on the route moves on with it.
    pub(in super::super) fn tell(&self, on: &mut OnStreet, start: u16, told: &Told<f64>) -> RoadTold {
        let driver = &self.drivers[usize::from(start)];
        let own = &mut on.own;
        let pose = Pose::new(told.x, told.y, told.heading);
        driver.follow(&mut own.memory, pose);
        let course = driver.ahead(&own.memory, AHEAD_M);
        let lane = self.network.lane(own.memory.lane);
        let place = lane.project(pose.point(), own.memory.station_m);
        let route_left = driver.route_left_m(&own.memory);
        let turned = maths::wrap_angle(told.heading - place.heading);
        let to_end = match course.end {
            CourseEnd::Goal => course.end_m - own.memory.station_m,
            CourseEnd::Change | CourseEnd::Horizon => route_left,
        };
        let path = PathSeen {
            station: driver.route_now(&own.memory).length_m - route_left,
            lateral: place.lateral_m,
            heading: turned,
            curvature: lane.curvature(place.station_m),
            remaining: to_end,
            speed_max: lane.limit_mps(place.station_m),
            direction: 1,
            section: 0,
            sections_left: 0,
            to_end,
        };
        let then = match (course.end, driver.route_now(&own.memory).legs[usize::from(own.memory.leg)].then) {
            (CourseEnd::Goal, _) => "arrive",
            (CourseEnd::Change, Then::Right) => "right",
            (CourseEnd::Change, _) => "left",
            (CourseEnd::Horizon, _) => "straight on",
        };
        let (left, right) = self.beside(lane, place.station_m);
        let road = RoadSeen {
            lane: lane.name().to_string(),
            station: place.station_m,
            lateral: place.lateral_m,
            heading: turned,
            width: lane.width_m(place.station_m),
            speed_limit: lane.limit_mps(place.station_m),
            left,
            right,
            then: then.to_owned(),
            then_in: course.end_m - own.memory.station_m,
            route_left,
            ahead: ahead(&course, own.memory.station_m),
            step: STEP_M,
            lines: self.lines(own, &course),
        };
        RoadTold { path, road, objects: self.tracked(own) }
    }

    fn beside(&self, lane: &Lane, station_m: f64) -> (Option<BesideSeen>, Option<BesideSeen>) {
        let seen = |other: Option<(anabranch_roads::LaneId, f64)>, marking: Marking| {
            let (other, other_m) = other?;
            let other = self.network.lane(other);
            let apart = 0.5 * (lane.width_m(station_m) + other.width_m(other_m));
            Some(BesideSeen { lane: other.name().to_string(), apart, may_change: marking == Marking::Broken })
        };
        let left = seen(lane.left_at(station_m), lane.left_marking());
        (left, seen(lane.right_at(station_m), lane.right_marking()))
    }

    fn lines(&self, own: &StreetState, course: &Course<'_>) -> Vec<LineSeen> {
        let mut lines = Vec::new();
        for (piece, next) in course.pieces.iter().zip(course.pieces.iter().skip(1)) {
            let Some(rule) = self.network.rule(next.lane).filter(|rule| rule.approach == piece.lane) else { continue };
            let ahead = rule.stop_station_m + piece.shift_m - own.memory.station_m;
            // The same distance as for the built-in driver: from the front.
            if ahead - self.front_m > self.signs_m {
                continue;
            }
            let light = rule.signal.map(|signal| aspect_word(self.aspect(&own.branch, signal)).to_owned());
            lines.push(LineSeen { ahead, sign: sign_word(rule.sign).to_owned(), light });
        }
        lines.retain(|line| line.ahead > 0.0);
        lines
    }

    /// What the tracker believes in, moved on since the last look.
    fn tracked(&self, own: &StreetState) -> Vec<ObjectSeen> {
        let since_look = own.branch.tick % u32::from(self.fuse_ticks);
        let seconds = f64::from(since_look) * (self.step_us as f64 * 1e-6);
        let seen = |track: &Track| {
            let at = track.after(seconds);
            let [vx, vy] = track.velocity_mps;
            let (sin, cos) = maths::sin_cos(track.heading);
            ObjectSeen {
                id: u32::from(track.id),
                x: at.x,
                y: at.y,
                heading: track.heading,
                speed: vx * cos + vy * sin,
                length: track.length_m,
                width: track.width_m,
                vx,
                vy,
            }
        };
        own.tracks.confirmed().map(seen).collect()
    }

    /// Seconds between two looks.
    pub(in super::super) fn look_s(&self) -> f64 {
        f64::from(self.fuse_ticks) * self.step_us as f64 / 1e6
    }

    /// The route of a start, for those who begin it.
    pub(in super::super) fn route_facts(&self, start: usize) -> Vec<LegFacts> {
        let route: &Route = self.drivers[start].route();
        let leg = |leg: &anabranch_roads::Leg| LegFacts {
            lane: self.network.lane(leg.lane).name().to_string(),
            from_m: leg.from_station_m,
            to_m: leg.to_station_m,
            then: match leg.then {
                Then::Link(_) => "straight on",
                Then::Left => "left",
                Then::Right => "right",
                Then::Arrive => "arrive",
            }
            .to_owned(),
        };
        route.legs.iter().map(leg).collect()
    }
}

fn ahead(course: &Course<'_>, from_m: f64) -> Vec<[f64; 6]> {
    let far_m = (course.end_m - from_m).min(AHEAD_M);
    let count = (far_m / STEP_M).floor().max(0.0) as u32;
    let sample = |number: u32| {
        let station_m = from_m + f64::from(number) * STEP_M;
        let middle = course.middle(station_m);
        let (lane, lane_m) = course.lane_at(station_m);
        let (width_m, limit_mps) = (lane.width_m(lane_m), lane.limit_mps(lane_m));
        [middle.position.x, middle.position.y, middle.heading, middle.curvature, width_m, limit_mps]
    };
    (0..=count).map(sample).collect()
}

fn sign_word(sign: Sign) -> &'static str {
    match sign {
        Sign::Stop => "stop",
        Sign::Yield => "yield",
        Sign::Priority => "priority",
        Sign::None => "none",
    }
}

fn aspect_word(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Red => "red",
        Aspect::RedAmber => "red-amber",
        Aspect::Amber => "amber",
        Aspect::Green => "green",
        Aspect::Dark => "dark",
    }
}
