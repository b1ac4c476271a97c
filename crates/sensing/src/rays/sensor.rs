//! A sensor at any place of the car with a field of view, a horizon and a constant number of rays (S4-9).

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;
use serde::{Deserialize, Serialize};

use super::fan::{Fan, Hits, LocalBox, LocalEdge, NOTHING};
use super::scene::{Scene, SceneBox, SceneCircle, ScenePolygon};
use super::walls::Walls;

/// Where a sensor sits on the car.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mount {
    /// Metres ahead of the rear axle.
    pub x_m: f64,
    /// Metres to the left.
    pub y_m: f64,
    /// Where it looks: radians to the left of straight ahead.
    pub yaw_rad: f64,
}

/// What a sensor can see.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaySensorSpec {
    /// Where it sits.
    pub mount: Mount,
    /// Width of the field of view, at most a full turn.
    pub view_rad: f64,
    /// How far it sees.
    pub horizon_m: f64,
    /// Number of rays; what fits between two of them is not seen.
    pub rays: u16,
}

impl RaySensorSpec {
    /// What is wrong with the numbers, if anything: a scenario says so before it runs.
    pub fn fault(&self) -> Option<&'static str> {
        let numbers = [self.mount.x_m, self.mount.y_m, self.mount.yaw_rad, self.view_rad, self.horizon_m];
        if !numbers.iter().all(|number| number.is_finite()) {
            return Some("a number of the sensor is not finite");
        }
        if self.view_rad <= 0.0 || self.view_rad > std::f64::consts::TAU {
            return Some("the field of view must be more than nothing and at most a full turn");
        }
        if self.horizon_m <= 0.0 {
            return Some("the horizon must be positive");
        }
        (self.rays == 0).then_some("the sensor has no rays")
    }
}

/// A sensor that sees by rays. Behaviour only; it remembers nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct RaySensor {
    spec: RaySensorSpec,
    fan: Fan,
}

/// An object that was hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// Its number in the scene.
    pub target: u32,
    /// Share of the rays towards it that reach it: 1 is in plain sight.
    pub share: f64,
    /// Distance of the nearest point hit.
    pub nearest_m: f64,
    /// Rays that reach it.
    pub rays: u32,
}

/// The result of a scan, and the memory for the next one. Never saved.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    hits: Hits,
    /// Per object: rays it would stop alone, rays it stops, and the nearest of them.
    covered: Vec<u32>,
    stopped: Vec<u32>,
    nearest_m: Vec<f64>,
    /// Rays that a polygon has been counted for already.
    counted: Vec<u32>,
}

/// World to sensor.
struct Frame {
    origin: Point,
    cos: f64,
    sin: f64,
}

impl Frame {
    #[inline]
    fn point(&self, world: Point) -> [f64; 2] {
        let (dx, dy) = (world.x - self.origin.x, world.y - self.origin.y);
        [self.cos * dx + self.sin * dy, self.cos * dy - self.sin * dx]
    }
    #[inline]
    fn direction(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.cos * x + self.sin * y, self.cos * y - self.sin * x]
    }
}

impl RaySensor {
    /// Prepares a sensor.
    ///
    /// # Panics
    /// If [`RaySensorSpec::fault`] finds one; scenarios ask before.
    pub fn new(spec: RaySensorSpec) -> Self {
        assert_eq!(spec.fault(), None, "sensors must be checked when they are loaded");
        Self { spec, fan: Fan::new(spec.view_rad, spec.rays) }
    }
    /// What it was prepared from.
    pub fn spec(&self) -> &RaySensorSpec {
        &self.spec
    }
    /// Where it is and where it looks, for a car at a pose.
    pub fn pose(&self, car: Pose) -> Pose {
        let Mount { x_m, y_m, yaw_rad } = self.spec.mount;
        let at = car.world_from_local(Point::new(x_m, y_m));
        Pose::new(at.x, at.y, car.heading + yaw_rad)
    }

    /// Casts all rays from a car at a pose.
    pub fn scan(&self, car: Pose, scene: &Scene, walls: &Walls, scan: &mut Scan) {
        self.scan_behind(car, scene, walls, &[], scan);
    }

    /// The same with more edges that stop rays, such as those of tiles around the car.
    pub fn scan_behind(&self, car: Pose, scene: &Scene, walls: &Walls, more: &[(Point, Point)], scan: &mut Scan) {
        let (frame, horizon_m) = (self.frame(car), self.spec.horizon_m);
        scan.reset(&self.fan, horizon_m, scene.len());
        let mut stop = |a: Point, b: Point| {
            let edge = LocalEdge { a: frame.point(a), b: frame.point(b) };
            self.fan.cast_edge(&mut scan.hits, NOTHING, edge, horizon_m, |_| ());
        };
        walls.near(frame.origin, horizon_m, &mut stop);
        more.iter().for_each(|&(a, b)| stop(a, b));
        scene.boxes.iter().for_each(|shape| self.cast_box(&frame, shape, scan));
        scene.circles.iter().for_each(|shape| self.cast_circle(&frame, shape, scan));
        scene.polygons.iter().for_each(|shape| self.cast_polygon(&frame, shape, scene, scan));
        scan.count();
    }

    /// The same if nothing hid anything: every object is met as if it were alone.
    pub fn scan_through(&self, car: Pose, scene: &Scene, scan: &mut Scan) {
        let (frame, horizon_m) = (self.frame(car), self.spec.horizon_m);
        scan.reset(&self.fan, horizon_m, scene.len());
        let alone = |scan: &mut Scan, cast: &dyn Fn(&mut Scan)| {
            scan.hits.reset(&self.fan, horizon_m);
            cast(scan);
            scan.count();
        };
        scene.boxes.iter().for_each(|shape| alone(scan, &|scan| self.cast_box(&frame, shape, scan)));
        scene.circles.iter().for_each(|shape| alone(scan, &|scan| self.cast_circle(&frame, shape, scan)));
        scene.polygons.iter().for_each(|shape| alone(scan, &|scan| self.cast_polygon(&frame, shape, scene, scan)));
    }

    fn frame(&self, car: Pose) -> Frame {
        let pose = self.pose(car);
        let (sin, cos) = maths::sin_cos(pose.heading);
        Frame { origin: pose.point(), cos, sin }
    }

    fn cast_box(&self, frame: &Frame, shape: &SceneBox, scan: &mut Scan) {
        let (centre, along) = (frame.point(shape.centre), frame.direction(shape.along));
        let local = LocalBox { centre, along, half_m: shape.half_m };
        let covered = self.fan.cast_box(&mut scan.hits, shape.target, &local, self.spec.horizon_m);
        scan.covered[shape.target as usize] = covered;
    }

    fn cast_circle(&self, frame: &Frame, shape: &SceneCircle, scan: &mut Scan) {
        let (centre, horizon_m) = (frame.point(shape.centre), self.spec.horizon_m);
        let covered = self.fan.cast_circle(&mut scan.hits, shape.target, centre, shape.radius_m, horizon_m);
        scan.covered[shape.target as usize] = covered;
    }

    fn cast_polygon(&self, frame: &Frame, shape: &ScenePolygon, scene: &Scene, scan: &mut Scan) {
        let corners = &scene.corners[shape.first as usize..shape.end as usize];
        let Scan { hits, covered, counted, .. } = scan;
        let mut cover = |ray: usize| {
            // A ray that enters and leaves a polygon counts once.
            covered[shape.target as usize] += u32::from(counted[ray] != shape.target);
            counted[ray] = shape.target;
        };
        let Some(&last) = corners.last() else { return };
        let mut a = frame.point(last);
        for &corner in corners {
            let b = frame.point(corner);
            self.fan.cast_edge(hits, shape.target, LocalEdge { a, b }, self.spec.horizon_m, &mut cover);
            a = b;
        }
    }
}

impl Scan {
    fn reset(&mut self, fan: &Fan, horizon_m: f64, targets: usize) {
        self.hits.reset(fan, horizon_m);
        for counter in [&mut self.covered, &mut self.stopped] {
            counter.clear();
            counter.resize(targets, 0);
        }
        self.nearest_m.clear();
        self.nearest_m.resize(targets, f64::INFINITY);
        self.counted.clear();
        self.counted.resize(fan.len(), NOTHING);
    }
    fn count(&mut self) {
        for (&shape, &range_m) in self.hits.shape.iter().zip(&self.hits.range_m) {
            if shape != NOTHING {
                self.stopped[shape as usize] += 1;
                self.nearest_m[shape as usize] = self.nearest_m[shape as usize].min(range_m);
            }
        }
    }
    /// The objects that were hit, by their numbers.
    pub fn sights(&self) -> impl Iterator<Item = Sight> + '_ {
        (0..self.stopped.len()).filter_map(|target| self.sight(target as u32))
    }
    /// How an object was seen; `None` if no ray reached it.
    pub fn sight(&self, target: u32) -> Option<Sight> {
        let index = target as usize;
        let rays = self.stopped[index];
        let share = f64::from(rays) / f64::from(self.covered[index].max(1));
        (rays > 0).then(|| Sight { target, share, nearest_m: self.nearest_m[index], rays })
    }
    /// How far each ray got, first the rightmost.
    pub fn ranges_m(&self) -> &[f64] {
        &self.hits.range_m
    }
}
