//! Everybody near the car at one moment, in the plane.

use std::f64::consts::{FRAC_PI_2, PI};

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;
use anabranch_roads::Network;
use anabranch_traffic::{Branch, Direction, Outside, Side, Stage, Timeline, Walker};

use super::Street;
use super::cast::Part;
use super::clock::{Now, Placed, Plane};
use super::script::{Script, ScriptFrame};

/// Others without a name count from here.
pub(super) const UNNAMED_FROM: u32 = 1 << 16;
/// Half the side of a pedestrian.
pub(super) const WALKER_HALF_M: f64 = 0.25;

/// Which outline somebody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// That of a kind of traffic; the last one is a pedestrian.
    Kind(u8),
    /// That of an object with a name of its own.
    Own(u16),
}

/// Somebody or something that can be seen and touched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    /// Objects with a name have their number, all others theirs in the traffic after [`UNNAMED_FROM`].
    pub number: u32,
    /// Its middle.
    pub pose: Pose,
    /// Along its heading.
    pub speed_mps: f64,
    pub half_length_m: f64,
    pub half_width_m: f64,
    pub shape: Shape,
}

impl Other {
    /// Velocity eastwards and northwards.
    pub(super) fn velocity_mps(&self) -> [f64; 2] {
        let (sin, cos) = maths::sin_cos(self.pose.heading);
        [self.speed_mps * cos, self.speed_mps * sin]
    }
    /// Radius of a circle about its middle that it lies in.
    pub(super) fn radius_m(&self) -> f64 {
        (self.half_length_m * self.half_length_m + self.half_width_m * self.half_width_m).sqrt()
    }
}

impl Street {
    /// Everybody within reach of a point, sorted by number.
    pub(super) fn gather(&self, branch: &Branch, about: Point, out: &mut Vec<Other>) {
        out.clear();
        let is_near = |pose: Pose| (pose.x - about.x).abs() < self.reach_m && (pose.y - about.y).abs() < self.reach_m;
        let (now, plane) = (self.now(branch.tick), self.plane());
        self.clock.near(&now, &plane, (branch.tick, about, self.reach_m), |car| {
            if is_near(car.pose) && branch.has_as_it_was(car.id) {
                out.push(self.car(&car));
            }
        });
        for car in branch.touched() {
            let car = plane.place(car);
            if is_near(car.pose) {
                out.push(self.car(&car));
            }
        }
        for (number, part) in self.cast.parts.iter().enumerate() {
            out.extend(self.standing((branch, &now), number as u32, part).filter(|other| is_near(other.pose)));
        }
        out.sort_unstable_by_key(|other| other.number);
    }

    /// The traffic without the car at a tick and at the next one.
    pub(super) fn now(&self, tick: u32) -> Now<'_> {
        self.clock.at(&self.traffic, &self.plane(), tick)
    }

    fn plane(&self) -> Plane<'_> {
        Plane { network: &self.network, layout: &self.layout, settings: self.traffic.settings() }
    }

    fn car(&self, car: &Placed) -> Other {
        let kind = self.traffic.settings().kinds[usize::from(car.kind)];
        let named = self.cast.named.get(car.id as usize).copied();
        Other {
            number: named.unwrap_or(UNNAMED_FROM + car.id),
            pose: car.pose,
            speed_mps: car.speed_mps,
            half_length_m: 0.5 * kind.length_m,
            half_width_m: 0.5 * kind.width_m,
            shape: Shape::Kind(car.kind),
        }
    }

    /// Pedestrians and things; vehicles are among the cars.
    fn standing(&self, (branch, now): (&Branch, &Timeline), number: u32, part: &Part) -> Option<Other> {
        match *part {
            Part::Vehicle | Part::Ghost(_) => None,
            Part::Walker { walker, heading, speed_mps, strolls } => {
                let spec = self.traffic.walker(walker);
                let now = branch.walker_in(now, walker);
                let point = spec.point(&now);
                let crosses = now.stage == Stage::Crosses;
                let (heading, crosses) = if strolls {
                    let starts = self.traffic.walker_trigger(walker).is_none_or(|trigger| branch.fired().has(trigger));
                    (maths::wrap_angle(heading + turned(&now)), starts && now.stage != Stage::Waits)
                } else {
                    (heading, crosses)
                };
                Some(Other {
                    number,
                    pose: Pose::new(point.x, point.y, heading),
                    speed_mps: if crosses { speed_mps } else { 0.0 },
                    half_length_m: WALKER_HALF_M,
                    half_width_m: WALKER_HALF_M,
                    shape: Shape::Kind(self.shapes.len() as u8 - 1),
                })
            }
            Part::Scripted { script, trigger } => {
                let (script, frame) = self.on_script(branch, script, trigger);
                Some(Other {
                    number,
                    pose: frame.pose,
                    speed_mps: frame.speed_mps,
                    half_length_m: script.half_length_m,
                    half_width_m: script.half_width_m,
                    shape: Shape::Own(number as u16),
                })
            }
            Part::Thing { pose, half_length_m, half_width_m, trigger } => {
                let is_there = trigger.is_none_or(|trigger| branch.fired().has(trigger));
                let shape = Shape::Own(number as u16);
                is_there.then_some(Other { number, pose, speed_mps: 0.0, half_length_m, half_width_m, shape })
            }
        }
    }
}

/// Direction of a pedestrian, from that of a crossing from the right.
fn turned(walker: &Walker) -> f64 {
    match (walker.stage, walker.side, walker.direction) {
        (Stage::Walks, _, Direction::Forth) => -FRAC_PI_2,
        (Stage::Walks, _, Direction::Back) => FRAC_PI_2,
        (Stage::Waits | Stage::Crosses, Side::Near, _) => 0.0,
        (Stage::Waits | Stage::Crosses, Side::Far, _) => PI,
    }
}

impl Street {
    /// Somebody on a predetermined way: at its beginning until he sets out.
    fn on_script(&self, branch: &Branch, script: usize, trigger: Option<usize>) -> (&Script, ScriptFrame) {
        let script = &self.cast.scripts[script];
        let since = match trigger {
            None => Some(0),
            Some(trigger) => branch.fired().since(trigger),
        };
        let frame = match since {
            Some(since) => script.at(branch.tick - since),
            None => ScriptFrame { speed_mps: 0.0, ..script.at(0) },
        };
        (script, frame)
    }

    /// Those on predetermined ways as the traffic sees them, where they are on a lane.
    pub(super) fn put_bystanders(&self, branch: &Branch, out: &mut Vec<Outside>) {
        out.clear();
        for part in &self.cast.parts {
            let Part::Scripted { script, trigger } = *part else { continue };
            let (script, frame) = self.on_script(branch, script, trigger);
            let Some((lane, place)) = self.network.nearest(frame.pose.point()) else { continue };
            let own = self.network.lane(lane);
            let (sin, cos) = maths::sin_cos(frame.pose.heading - place.heading);
            let aside_m = script.half_length_m * sin.abs() + script.half_width_m * cos.abs();
            if place.lateral_m.abs() - aside_m > 0.5 * own.width_m(place.station_m) {
                continue;
            }
            let front_m = place.station_m + script.half_length_m * cos.abs() + script.half_width_m * sin.abs();
            let (lane, station_m) = self.layout.place(lane, front_m.clamp(0.0, own.length_m()));
            let speed_mps = frame.speed_mps * cos;
            out.push(Outside { lane, station_m, lateral_m: place.lateral_m, speed_mps, kind: script.kind });
        }
    }
}

/// Somebody on the road as pictures show him.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoadUser {
    /// Who it is, the same all along a run.
    pub number: u32,
    /// The object's number in the file; none for cars without a name.
    pub object: Option<usize>,
    /// Its middle and direction.
    pub pose: Pose,
    /// Along its direction.
    pub speed_mps: f64,
    /// Half its length.
    pub half_length_m: f64,
    /// Half its width.
    pub half_width_m: f64,
}

impl From<&Other> for RoadUser {
    fn from(other: &Other) -> Self {
        Self {
            number: other.number,
            object: Some(other.number as usize).filter(|_| other.number < UNNAMED_FROM),
            pose: other.pose,
            speed_mps: other.speed_mps,
            half_length_m: other.half_length_m,
            half_width_m: other.half_width_m,
        }
    }
}

impl super::OnStreet {
    /// Everybody near the car in this base cycle.
    pub(in super::super) fn users(&self) -> Vec<RoadUser> {
        self.buffers.others.iter().map(RoadUser::from).collect()
    }
}

impl super::super::Drive {
    /// Everybody within reach of the car's sensors, and a little beyond; nobody off the road.
    pub fn road_users(&self, state: &super::super::DriveState) -> Vec<RoadUser> {
        let Some(street) = &self.street else { return Vec::new() };
        let mut others = Vec::new();
        street.gather(&state.street().branch, state.car.car.pose().point(), &mut others);
        others.iter().map(RoadUser::from).collect()
    }
    /// How many cars there are at a base cycle, wherever they are; 0 off the road.
    pub fn traffic_at(&self, tick: u32) -> usize {
        let count = |street: &Street| street.now(tick).at(tick).cars().count();
        self.street.as_ref().map_or(0, |street| count(street))
    }
    /// How many cars of the traffic were moved by one base cycle so far, the car under test not among them.
    pub fn vehicle_updates(&self) -> u64 {
        self.street.as_ref().map_or(0, |street| street.clock.updates())
    }
    /// The most memory that tiles of permanent obstacles have taken so far; none without tiles.
    pub fn tile_bytes_max(&self) -> Option<usize> {
        Some(self.street.as_ref()?.fences.as_ref()?.most_bytes())
    }
    /// Cars that the car under test, or an error, has made do something else than they would have done.
    pub fn touched(&self, state: &super::super::DriveState) -> usize {
        if self.street.is_some() { state.street().branch.touched().len() } else { 0 }
    }
    /// The roads, if there are any.
    pub fn network(&self) -> Option<&Network> {
        self.street.as_ref().map(|street| &*street.network)
    }
}
