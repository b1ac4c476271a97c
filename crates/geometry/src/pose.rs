//! Points and poses.

use anabranch_kernel::maths;
use serde::{Deserialize, Serialize};

/// A point in the plane, in metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Default)]
pub struct Point {
    /// East.
    pub x: f64,
    /// North.
    pub y: f64,
}

impl Point {
    /// A point by its coordinates in metres.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
    /// Distance to another point.
    pub fn distance_m(self, other: Self) -> f64 {
        maths::hypot(self.x - other.x, self.y - other.y)
    }
}

/// Where something is and which way it points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Default)]
pub struct Pose {
    /// Metres east.
    pub x: f64,
    /// Metres north.
    pub y: f64,
    /// Radians, counter-clockwise from east.
    pub heading: f64,
}

impl Pose {
    /// A pose by its coordinates in metres and radians.
    pub const fn new(x: f64, y: f64, heading: f64) -> Self {
        Self { x, y, heading }
    }
    /// The point in the world of a point given in this pose's frame (x forwards, y to the left).
    pub fn world_from_local(self, local: Point) -> Point {
        let (s, c) = maths::sin_cos(self.heading);
        Point::new(self.x + c * local.x - s * local.y, self.y + s * local.x + c * local.y)
    }
    /// The point in this pose's frame of a point given in the world.
    pub fn local_from_world(self, world: Point) -> Point {
        let (s, c) = maths::sin_cos(self.heading);
        let (dx, dy) = (world.x - self.x, world.y - self.y);
        Point::new(c * dx + s * dy, c * dy - s * dx)
    }
    /// The position without the heading.
    pub fn point(self) -> Point {
        Point::new(self.x, self.y)
    }
}
