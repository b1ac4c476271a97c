//! Sensors that somebody writes in Rust: one method from the true world and the true car to one value (S2-36).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::{Chance, Seed, maths};

use super::super::Drive;
use super::super::state::DriveState;
use super::super::street::RoadUser;
use super::occupancy::ends;
use super::seen::Sight;

/// The car as it truly is.
pub type TrueCar = anabranch_vehicle::Car<f64>;

/// A sensor: what it reads is a function of the world and the car, and of nothing else. It remembers nothing; noise comes from
/// [`World::chance`], so that the same run reads the same values.
pub trait Sensor: Send + Sync + 'static {
    /// The value that the driver is told, in [`Seen::readings`](anabranch_bridge::Seen::readings).
    fn read(&self, world: &World<'_>, car: &TrueCar) -> f64;
}

impl<F: Fn(&World<'_>, &TrueCar) -> f64 + Send + Sync + 'static> Sensor for F {
    fn read(&self, world: &World<'_>, car: &TrueCar) -> f64 {
        self(world, car)
    }
}

/// Sensors by their names.
#[derive(Clone, Default)]
pub struct Sensors(BTreeMap<String, Arc<dyn Sensor>>);

impl Sensors {
    /// With one more; a sensor of that name is replaced.
    #[must_use]
    pub fn with(mut self, name: &str, sensor: impl Sensor) -> Self {
        self.0.insert(name.to_owned(), Arc::new(sensor));
        self
    }
}

impl fmt::Debug for Sensors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The true world at one moment, as sensors in Rust see it.
#[derive(Debug)]
pub struct World<'a> {
    drive: &'a Drive,
    present: u32,
    tick: u32,
    seed: Seed,
    users: Vec<RoadUser>,
}

impl World<'_> {
    /// Seconds since the start of the run.
    pub fn time_s(&self) -> f64 {
        f64::from(self.tick) * self.drive.model.dt_s
    }
    /// Where the car shall stop.
    pub fn goal(&self) -> Pose {
        self.drive.goal.pose
    }
    /// Walls and the sides of obstacles that are there now, each from one end to the other.
    pub fn lines(&self) -> impl Iterator<Item = [Point; 2]> {
        let appeared = self.drive.present_edges(self.present).flatten();
        self.drive.walls.edges().iter().chain(appeared).map(ends)
    }
    /// Others near the car, on roads.
    pub fn others(&self) -> &[RoadUser] {
        &self.users
    }
    /// How far a ray goes from a point until it meets a line or somebody; `range_m` if nothing is within it.
    pub fn ray_m(&self, from: Point, heading_rad: f64, range_m: f64) -> f64 {
        let (sin, cos) = maths::sin_cos(heading_rad);
        let local = |point: Point| {
            let (dx, dy) = (point.x - from.x, point.y - from.y);
            [cos * dx + sin * dy, cos * dy - sin * dx]
        };
        let meet = |[a, b]: [Point; 2]| {
            let ([ax, ay], [bx, by]) = (local(a), local(b));
            // Where the line crosses the ray, if its ends are on both sides of it.
            let crosses = (ay <= 0.0) != (by <= 0.0);
            let at_m = if crosses { ax + (bx - ax) * ay / (ay - by) } else { f64::INFINITY };
            if at_m >= 0.0 { at_m } else { f64::INFINITY }
        };
        let others = self.users.iter().flat_map(|user| {
            let (l, w) = (user.half_length_m, user.half_width_m);
            let corners =
                [(l, w), (-l, w), (-l, -w), (l, -w)].map(|(x, y)| user.pose.world_from_local(Point::new(x, y)));
            [[corners[0], corners[1]], [corners[1], corners[2]], [corners[2], corners[3]], [corners[3], corners[0]]]
        });
        self.lines().chain(others).map(meet).fold(range_m, f64::min)
    }
    /// Seeded chance of this moment, for noise: the same in every run that comes here, and another one for every name.
    pub fn chance(&self, name: &str) -> Chance {
        Chance::new(self.seed, name).at(u64::from(self.tick))
    }
}

impl Drive {
    /// What all sensors in Rust read now.
    pub(super) fn read_sensors(
        &self,
        sensors: &Sensors,
        state: &DriveState,
        sight: &Sight<'_, '_>,
    ) -> BTreeMap<String, f64> {
        if sensors.0.is_empty() {
            return BTreeMap::new();
        }
        let world = World {
            drive: self,
            present: sight.scratch.present,
            tick: state.tick,
            seed: Seed(state.foreign().map_or(0, |foreign| foreign.seed)),
            users: sight.street.as_deref().map_or_else(Vec::new, |on| on.users()),
        };
        sensors.0.iter().map(|(name, sensor)| (name.clone(), sensor.read(&world, &state.car.car))).collect()
    }
}
