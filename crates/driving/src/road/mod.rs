//! A driver that can drive on roads: along a route, with others, by what it sees.
//!
//! It keeps its lane and slows down for limits and curves ([`speed`](SpeedManner)), keeps a time gap to who drives ahead
//! (S4-13), stops at lines, lights and crosswalks, waits for gaps where others go first, turns along its route, swerves around what
//! stands in its way, brakes for whom it only hears, and changes lanes, planning anew several times a second (S4-14). If it misses an exit because no gap
//! opened in time, it takes another way to its goal. What it is told is one plain value,
//! [`Seen`]; what it remembers is another, [`RoadMemory`], small enough to be saved and merged.
//!
//! ```
//! use std::sync::Arc;
//! use anabranch_driving::road::{RoadDriver, RoadDriverSpec, Seen};
//! use anabranch_driving::track::EgoEstimate;
//! use anabranch_roads::{LanePlace, Network, make};
//! use anabranch_vehicle::{CarModel, CarSpec, Inputs, Plant};
//!
//! let network = Arc::new(Network::new(&make::straight(300.0, 1)).unwrap());
//! let lane = network.find("main", "1").unwrap();
//! let route = network.route(LanePlace { lane, station_m: 5.0 }, LanePlace { lane, station_m: 100.0 }).unwrap();
//! let plant = Plant::Car(CarModel::new(CarSpec::compact(), 0.02));
//! let driver = RoadDriver::for_rolling(RoadDriverSpec::CALM, network, route, plant.spec(), 0.02).unwrap();
//!
//! let mut car = plant.start(driver.start_pose(), 0.0);
//! let mut memory = driver.start();
//! for _ in 0..2000 {
//!     let ego = EgoEstimate::from(plant.motion(&car));
//!     let command = driver.decide(&mut memory, &Seen { ego, objects: &[], lights: &[], heard: &[], soft_tyre: false, signs_m: f64::INFINITY });
//!     plant.step(&mut car, &Inputs { steering: command.steering, accel: command.accel, gear_sign: 1.0, friction: 1.0 });
//! }
//! assert!(memory.arrived && (car.car().x - 100.0).abs() < 1.0);
//! ```

mod course;
mod crosswalk;
mod gate;
mod heard;
mod lattice;
mod memory;
mod neighbours;
mod offset;
mod seen;
mod speed;
mod ways;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod together;

use std::sync::Arc;

use anabranch_geometry::{Outline, Pose};
use anabranch_kernel::maths;
use anabranch_roads::{LaneId, LaneKind, Marking, Network, Route, Then};
use anabranch_vehicle::{CarSpec, SingleTrackSpec};
use serde::{Deserialize, Serialize};

use course::change_by_m;
use gate::Comer;
use lattice::{Lattice, Side, Start, Wish};
use neighbours::Neighbour;
use ways::Ways;

pub use course::{Course, CourseEnd, Piece};
pub use memory::{GateMemory, RoadMemory};
pub use offset::Offset;
pub use seen::{HeardCar, ObjectKind, Seen, SeenLight, SeenObject};
pub use speed::SpeedManner;

use crate::follow::Command;
use crate::track::{LqrWeights, NotSolvable, Steering, Tracker};

/// The way ahead is looked at for this long, and at least so far.
const FAR_S: f64 = 8.0;
const FAR_MIN_M: f64 = 60.0;
/// Farther off the plan than this a new plan begins at the car instead.
const OFF_PLAN_M: f64 = 0.6;
/// Lanes are not left for others when the route needs them within this way.
const KEEP_LANE_M: f64 = 40.0;
/// Urgency of a change grows from nothing to all over this way.
const URGENT_M: f64 = 150.0;
/// Beside a road without a lane there is this much to spare.
const VERGE_M: f64 = 0.2;
/// Distance of the front from the end of a lane that must be changed: while it changes, and while it waits for a gap, so
/// that there is way left to change on.
const LANE_END_M: f64 = 3.0;
const CHANGE_ROOM_M: f64 = 16.0;
/// Nearer than this to the goal or past it, and standing, the car has arrived.
const GOAL_M: f64 = 0.7;
const GOAL_MPS: f64 = 0.1;
/// With too little pressure in a tyre it goes no faster.
const SOFT_TYRE_MPS: f64 = 14.0;

/// How a driver on roads drives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoadDriverSpec {
    /// Speed and distance.
    pub speed: SpeedManner,
    /// Law of steering.
    pub steering: Steering,
    /// Time between plans.
    pub plan_every_s: f64,
}

impl RoadDriverSpec {
    /// Smooth, with a good distance.
    pub const CALM: Self =
        Self { speed: SpeedManner::CALM, steering: Steering::Lqr(LqrWeights::CALM), plan_every_s: 0.2 };
    /// Brisk and close.
    pub const EAGER: Self =
        Self { speed: SpeedManner::EAGER, steering: Steering::Lqr(LqrWeights::EAGER), plan_every_s: 0.2 };
    /// A manner by name: `calm` or `eager`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "calm" => Some(Self::CALM),
            "eager" => Some(Self::EAGER),
            _ => None,
        }
    }
}

/// What makes the lane beside the lane of a car.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changes {
    /// That the car is there and its plan leads there.
    Planned,
    /// That the car is there.
    Driven,
}

/// A driver on one route with one car. Immutable; what evolves is [`RoadMemory`].
#[derive(Clone, Debug)]
pub struct RoadDriver {
    spec: RoadDriverSpec,
    network: Arc<Network>,
    ways: Ways,
    outline: Outline,
    tracker: Tracker,
    cycle_s: f64,
    plan_every_cycles: u8,
}

impl RoadDriver {
    /// For a car that rolls without slip, or whose tyres nobody knows, deciding every `cycle_s`.
    ///
    /// # Errors
    /// [`NotSolvable`] if the weights of the steering are not positive.
    pub fn for_rolling(
        spec: RoadDriverSpec,
        network: Arc<Network>,
        route: Route,
        car: &CarSpec,
        cycle_s: f64,
    ) -> Result<Self, NotSolvable> {
        let tracker = Tracker::for_rolling(&spec.steering, car, cycle_s)?;
        Ok(Self::with_tracker(spec, network, route, (car.outline, tracker), cycle_s))
    }
    /// For a car whose tyres are known.
    ///
    /// # Errors
    /// [`NotSolvable`] if the weights of the steering are not positive.
    pub fn for_tyres(
        spec: RoadDriverSpec,
        network: Arc<Network>,
        route: Route,
        car: &SingleTrackSpec,
        cycle_s: f64,
    ) -> Result<Self, NotSolvable> {
        let tracker = Tracker::for_tyres(&spec.steering, car, cycle_s)?;
        Ok(Self::with_tracker(spec, network, route, (car.car.outline, tracker), cycle_s))
    }
    /// With a tracker of one's own, for a car of this outline.
    pub fn with_tracker(
        spec: RoadDriverSpec,
        network: Arc<Network>,
        route: Route,
        (outline, tracker): (Outline, Tracker),
        cycle_s: f64,
    ) -> Self {
        let plan_every_cycles = (spec.plan_every_s / cycle_s).round().clamp(1.0, 250.0) as u8;
        let ways = Ways::new(&network, route);
        Self { spec, network, ways, outline, tracker, cycle_s, plan_every_cycles }
    }
    /// Pose of a car at the beginning of the route.
    pub fn start_pose(&self) -> Pose {
        let leg = self.ways.legs(0)[0];
        self.network.lane(leg.lane).pose(leg.from_station_m)
    }
    /// Memory at the beginning of the route.
    pub fn start(&self) -> RoadMemory {
        let leg = self.ways.legs(0)[0];
        RoadMemory {
            way: 0,
            leg: 0,
            lane: leg.lane,
            station_m: leg.from_station_m,
            offset: Offset::level(leg.from_station_m, 0.0),
            plan_in_cycles: 0,
            gate: GateMemory::default(),
            arrived: false,
        }
    }
    /// The route it follows.
    pub fn route(&self) -> &Route {
        self.ways.way(0)
    }
    /// The route it follows since it has missed exits; the same if it has missed none.
    pub fn route_now(&self, memory: &RoadMemory) -> &Route {
        self.ways.way(memory.way)
    }

    /// One cycle: looks, moves its memory on, and returns commands.
    pub fn decide(&self, memory: &mut RoadMemory, seen: &Seen<'_>) -> Command<f64> {
        let ego = &seen.ego;
        self.locate(memory, ego.pose, Changes::Planned);
        let speed_mps = ego.speed_mps.max(0.0);
        let far_m = (FAR_S * speed_mps).max(FAR_MIN_M);
        let mut course = self.ahead(memory, far_m);
        let neighbours = neighbours::gather(&course, seen, memory.station_m, far_m);
        let mut limit = self.spec.speed.limit(&course, memory.station_m, speed_mps);
        if seen.soft_tyre {
            limit.allowed_mps = limit.allowed_mps.min(SOFT_TYRE_MPS);
        }
        if memory.plan_in_cycles == 0 {
            memory.offset = self.plan(memory, &course, &neighbours, ego.pose, (speed_mps, limit.allowed_mps));
            course.offset = memory.offset;
            memory.plan_in_cycles = self.plan_every_cycles;
        }
        memory.plan_in_cycles -= 1;

        let front_m = memory.station_m + self.outline.front_m;
        let remaining_m = self.remaining(memory, &course, seen, speed_mps);
        let manner = &self.spec.speed;
        let accel = manner
            .free_accel(speed_mps, &limit)
            .min(manner.stop_accel(speed_mps, remaining_m))
            .min(manner.crowd_accel(&course, &neighbours, front_m, self.outline.half_width_m, speed_mps))
            .min(heard::accel(manner, (&course, &neighbours), seen, front_m, speed_mps));
        memory.arrived |=
            course.end == CourseEnd::Goal && (course.end_m - memory.station_m).abs() < GOAL_M && speed_mps < GOAL_MPS;
        let accel = if memory.arrived { -manner.comfort_decel_mps2 } else { accel };
        let steering = self.tracker.steering(&course, memory.station_m, ego);
        Command { steering, accel, gear_sign: 1.0 }
    }

    /// Keeps the place of a car that somebody else drives: the lane it is on, its leg of the route, and the turn that comes next.
    /// Its plans are not known, so the middle of the lane stands for them.
    pub fn follow(&self, memory: &mut RoadMemory, pose: Pose) {
        self.locate(memory, pose, Changes::Driven);
        memory.offset = Offset::level(memory.station_m, 0.0);
        let course = self.ahead(memory, FAR_MIN_M);
        let mut lanes = course.pieces.iter().map(|piece| piece.lane);
        memory.gate.turn = lanes.find(|lane| self.network.rule(*lane).is_some());
    }
    /// The way ahead of a place along the route.
    pub fn ahead(&self, memory: &RoadMemory, far_m: f64) -> Course<'_> {
        Course::ahead(&self.network, &self.ways, memory, memory.station_m + far_m)
    }
    /// Metres of the route that are left. Lanes that lie side by side are taken to have equal stations.
    pub fn route_left_m(&self, memory: &RoadMemory) -> f64 {
        let mut at_m = memory.station_m;
        let mut left_m = 0.0;
        let legs = self.ways.legs(memory.way);
        for (number, leg) in legs.iter().enumerate().skip(usize::from(memory.leg)) {
            match leg.then {
                Then::Left | Then::Right => {}
                Then::Arrive => left_m += leg.to_station_m - at_m,
                Then::Link(_) => {
                    left_m += leg.to_station_m - at_m;
                    at_m = legs.get(number + 1).map_or(0.0, |next| next.from_station_m);
                }
            }
        }
        left_m
    }

    /// Moves station, lane and leg on to where the car believes to be.
    fn locate(&self, memory: &mut RoadMemory, pose: Pose, changes: Changes) {
        let mut place = self.network.lane(memory.lane).project(pose.point(), memory.station_m);
        self.miss(memory, place.station_m);
        let legs = self.ways.legs(memory.way);
        while let Then::Link(number) = legs[usize::from(memory.leg)].then {
            let leg = legs[usize::from(memory.leg)];
            if memory.lane != leg.lane || place.station_m < leg.to_station_m {
                break;
            }
            let link = self.network.lane(memory.lane).next()[number];
            let shift_m = link.to_station_m - leg.to_station_m;
            memory.offset = memory.offset.rebased(shift_m, 0.0);
            (memory.lane, memory.leg) = (link.to, memory.leg + 1);
            place = self.network.lane(memory.lane).project(pose.point(), place.station_m + shift_m);
        }
        memory.station_m = place.station_m;
        for (side, towards) in [(Then::Left, 1.0), (Then::Right, -1.0)] {
            let Some((other, other_m, gap_m)) = self.beside(memory.lane, memory.station_m, towards) else { continue };
            let half_m = 0.5 * gap_m;
            let is_meant = changes == Changes::Driven || memory.offset.end_m * towards > half_m;
            if place.lateral_m * towards > half_m && is_meant {
                let there = self.network.lane(other).project(pose.point(), other_m);
                memory.offset =
                    memory.offset.rebased(there.station_m - memory.station_m, there.lateral_m - place.lateral_m);
                (memory.lane, memory.station_m) = (other, there.station_m);
                let leg = usize::from(memory.leg);
                if legs[leg].then == side && legs.get(leg + 1).is_some_and(|next| next.lane == other) {
                    memory.leg += 1;
                }
                break;
            }
        }
    }

    /// Takes another way if it is too late for the exit of this one.
    fn miss(&self, memory: &mut RoadMemory, station_m: f64) {
        let legs = self.ways.legs(memory.way);
        let leg = legs[usize::from(memory.leg)];
        let must_change = memory.lane != leg.lane || matches!(leg.then, Then::Left | Then::Right);
        let by_m = change_by_m(legs, usize::from(memory.leg)).min(self.network.lane(memory.lane).length_m());
        if !must_change || station_m < by_m {
            return;
        }
        if let Some(way) = self.ways.missed(memory.way, memory.leg, memory.lane) {
            (memory.way, memory.leg) = (way, 0);
        }
    }

    /// The lane on the left (+1) or right (−1), the station beside, and the distance of the middles.
    fn beside(&self, lane: LaneId, station_m: f64, towards: f64) -> Option<(LaneId, f64, f64)> {
        let own = self.network.lane(lane);
        let (other, other_m) = if towards > 0.0 { own.left_at(station_m) } else { own.right_at(station_m) }?;
        let gap_m = 0.5 * (own.width_m(station_m) + self.network.lane(other).width_m(other_m));
        Some((other, other_m, gap_m))
    }

    /// A new plan beside the middle of the lane.
    fn plan(
        &self,
        memory: &RoadMemory,
        course: &Course<'_>,
        neighbours: &[Neighbour],
        pose: Pose,
        (speed_mps, wanted_mps): (f64, f64),
    ) -> Offset {
        let lane = self.network.lane(memory.lane);
        let place = lane.project(pose.point(), memory.station_m);
        let planned = memory.offset.at(memory.station_m);
        let offset = if (place.lateral_m - planned[0]).abs() < OFF_PLAN_M {
            planned
        } else {
            let turned = maths::wrap_angle(pose.heading - place.heading).clamp(-0.5, 0.5);
            [place.lateral_m, maths::tan(turned), 0.0]
        };
        let start = Start {
            station_m: memory.station_m,
            offset,
            speed_mps,
            wanted_mps,
            front_m: self.outline.front_m,
            rear_m: self.outline.rear_m,
            half_width_m: self.outline.half_width_m,
        };
        let wish = self.wish(memory);
        let sides = [self.side(memory, &wish, 1.0), self.side(memory, &wish, -1.0)];
        Lattice { course, neighbours, start, sides, wish }.choose()
    }

    /// The lane that the route asks for, and how urgently.
    fn wish(&self, memory: &RoadMemory) -> Wish {
        let leg = self.ways.legs(memory.way)[usize::from(memory.leg)];
        let lane = self.network.lane(memory.lane);
        let towards = match leg.then {
            _ if memory.lane != leg.lane && lane.left() == Some(leg.lane) => 1.0,
            _ if memory.lane != leg.lane => -1.0,
            Then::Left => 1.0,
            Then::Right => -1.0,
            Then::Link(_) | Then::Arrive => 0.0,
        };
        let gap_m = if towards == 0.0 { None } else { self.beside(memory.lane, memory.station_m, towards) };
        let left_m = self.left_m(memory);
        let urgency = (1.0 - (left_m - KEEP_LANE_M) / URGENT_M).clamp(0.0, 1.0);
        Wish { lateral_m: gap_m.map_or(0.0, |(_, _, gap_m)| towards * gap_m), urgency }
    }

    /// Way until the route leaves the lane or must have.
    fn left_m(&self, memory: &RoadMemory) -> f64 {
        let by_m = change_by_m(self.ways.legs(memory.way), usize::from(memory.leg));
        by_m.min(self.network.lane(memory.lane).length_m()) - memory.station_m
    }

    /// What lies on the left (+1) or right (−1).
    fn side(&self, memory: &RoadMemory, wish: &Wish, towards: f64) -> Side {
        let lane = self.network.lane(memory.lane);
        let half_m = 0.5 * lane.width_m(memory.station_m);
        let marking = if towards > 0.0 { lane.left_marking() } else { lane.right_marking() };
        let crossable = marking == Marking::Broken && lane.kind() == LaneKind::Road;
        let left_m = self.left_m(memory);
        let wished = wish.lateral_m * towards > 0.0;
        match self.beside(memory.lane, memory.station_m, towards).filter(|_| crossable) {
            Some((_, _, gap_m)) => {
                let may_leave = wished || wish.lateral_m == 0.0 && left_m > 2.0 * KEEP_LANE_M;
                Side { lane_m: may_leave.then_some(gap_m), room_m: half_m + gap_m }
            }
            // Around something that stands there, over the line into the lane of those who come towards us.
            None if towards > 0.0 && crossable && lane.oncoming().is_some() && left_m > KEEP_LANE_M => {
                Side { lane_m: None, room_m: 2.5 * half_m }
            }
            None => Side { lane_m: None, room_m: half_m + VERGE_M },
        }
    }

    /// Way until the car must stand: at a junction, at the end of its lane, or at its goal.
    fn remaining(&self, memory: &mut RoadMemory, course: &Course<'_>, seen: &Seen<'_>, speed_mps: f64) -> f64 {
        let front_m = memory.station_m + self.outline.front_m;
        let end_m = match course.end {
            CourseEnd::Goal => course.end_m - memory.station_m,
            CourseEnd::Change => {
                let wish = self.wish(memory);
                let changes = wish.lateral_m != 0.0 && (memory.offset.end_m - wish.lateral_m).abs() < 0.5;
                course.end_m - front_m - if changes { LANE_END_M } else { CHANGE_ROOM_M }
            }
            CourseEnd::Horizon => f64::INFINITY,
        };
        let length_m = self.outline.front_m + self.outline.rear_m;
        let comer = Comer { front_m, length_m, speed_mps, cycle_s: self.cycle_s };
        let end_m = end_m.min(crosswalk::remaining_m(&self.network, &self.ways.crossings, course, seen, front_m));
        let mut gates = gate::gates(&self.network, course, front_m);
        let Some(first) = gates.next() else { return end_m };
        let first_m = if memory.gate.must_stop(&self.network, &first, &comer, seen) {
            first.stop_m - front_m
        } else {
            f64::INFINITY
        };
        // Further junctions are approached as if nothing were known of them but their lights and signs.
        let next = gates.find(|gate| gate.is_closed(seen, front_m));
        let next_m = next.map_or(f64::INFINITY, |gate| gate.stop_m - front_m);
        end_m.min(first_m).min(next_m)
    }
}
