//! The rounded outline of a vehicle and the edges it must not touch.

use serde::{Deserialize, Serialize};

use crate::pose::Point;

/// Outline of a vehicle seen from above: a box with rounded corners, placed relative to the middle of the rear axle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// From the rear axle to the front bumper.
    pub front_m: f64,
    /// From the rear axle back to the rear bumper (positive).
    pub rear_m: f64,
    /// Half the width.
    pub half_width_m: f64,
    /// Radius of the corners; the box shrunk by it is the core, the outline is everything within the radius of the core.
    pub corner_radius_m: f64,
}

/// One straight edge of an obstacle or wall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// First end.
    pub a: Point,
    /// Second end.
    pub b: Point,
    /// Number of the obstacle it belongs to.
    pub obstacle: u32,
}
