//! The objects that rays can meet at one moment, side by side in memory. Filled anew for every scan; never saved.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;

/// A box in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SceneBox {
    pub(crate) target: u32,
    pub(crate) centre: Point,
    pub(crate) along: [f64; 2],
    pub(crate) half_m: [f64; 2],
}

/// A circle in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SceneCircle {
    pub(crate) target: u32,
    pub(crate) centre: Point,
    pub(crate) radius_m: f64,
}

/// A polygon: a run of corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScenePolygon {
    pub(crate) target: u32,
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// The objects of one moment. Each gets a number, in the order in which they are added.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    pub(crate) boxes: Vec<SceneBox>,
    pub(crate) circles: Vec<SceneCircle>,
    pub(crate) polygons: Vec<ScenePolygon>,
    pub(crate) corners: Vec<Point>,
    targets: u32,
}

impl Scene {
    /// Forgets all objects and keeps the memory.
    pub fn clear(&mut self) {
        self.boxes.clear();
        self.circles.clear();
        self.polygons.clear();
        self.corners.clear();
        self.targets = 0;
    }
    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.targets as usize
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.targets == 0
    }
    fn next(&mut self) -> u32 {
        self.targets += 1;
        self.targets - 1
    }
    /// Adds a box about a pose, such as a car.
    pub fn add_box(&mut self, centre: Pose, half_length_m: f64, half_width_m: f64) -> u32 {
        let (sin, cos) = maths::sin_cos(centre.heading);
        let target = self.next();
        let half_m = [half_length_m, half_width_m];
        self.boxes.push(SceneBox { target, centre: centre.point(), along: [cos, sin], half_m });
        target
    }
    /// Adds a circle, such as a pedestrian.
    pub fn add_circle(&mut self, centre: Point, radius_m: f64) -> u32 {
        let target = self.next();
        self.circles.push(SceneCircle { target, centre, radius_m });
        target
    }
    /// Adds a polygon by its corners in order.
    pub fn add_polygon(&mut self, corners: &[Point]) -> u32 {
        let target = self.next();
        let first = self.corners.len() as u32;
        self.corners.extend_from_slice(corners);
        self.polygons.push(ScenePolygon { target, first, end: self.corners.len() as u32 });
        target
    }
}
