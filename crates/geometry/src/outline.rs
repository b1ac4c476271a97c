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

impl Outline {
    /// What is wrong with the sizes, if anything: a scenario says so before it runs.
    pub fn fault(&self) -> Option<&'static str> {
        let sizes = [self.front_m, self.rear_m, self.half_width_m, self.corner_radius_m];
        if !sizes.iter().all(|size| size.is_finite()) {
            return Some("a size of the outline is not finite");
        }
        if self.front_m + self.rear_m <= 0.0 || self.half_width_m <= 0.0 {
            return Some("the outline has no area");
        }
        let radius_m_max = self.half_width_m.min(0.5 * (self.front_m + self.rear_m));
        (self.corner_radius_m < 0.0 || self.corner_radius_m > radius_m_max)
            .then_some("the corner radius is negative or larger than half the width or length")
    }
    /// Corners of the surrounding box in the car's frame, counter-clockwise from front left.
    pub fn corners(&self) -> [Point; 4] {
        box_corners(self.front_m, -self.rear_m, self.half_width_m)
    }
    /// Corners of the core, the box shrunk by the corner radius, in the same order.
    pub fn core_corners(&self) -> [Point; 4] {
        let r = self.corner_radius_m;
        box_corners(self.front_m - r, r - self.rear_m, self.half_width_m - r)
    }
    /// Radius of the smallest circle about the rear axle that holds the outline.
    pub fn bounding_radius_m(&self) -> f64 {
        self.core_radius_m() + self.corner_radius_m
    }
    /// Radius of the smallest circle about the rear axle that holds the core.
    pub fn core_radius_m(&self) -> f64 {
        self.core_corners().iter().map(|corner| corner.distance_m(Point::default())).fold(0.0, f64::max)
    }
}

fn box_corners(front_m: f64, back_m: f64, half_width_m: f64) -> [Point; 4] {
    [(front_m, half_width_m), (back_m, half_width_m), (back_m, -half_width_m), (front_m, -half_width_m)]
        .map(|(x, y)| Point::new(x, y))
}

/// An outline prepared for distance queries: its core about the core's own centre, and its radii.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Centre of the core, metres ahead of the rear axle.
    pub core_ahead_m: f64,
    /// Half the length of the core.
    pub core_half_length_m: f64,
    /// Half the width of the core.
    pub core_half_width_m: f64,
    /// Corner radius: the outline is everything within it of the core.
    pub radius_m: f64,
    /// Largest distance of a point of the core from the rear axle.
    pub core_radius_m: f64,
    /// Largest distance of a point of the outline from the rear axle.
    pub bounding_radius_m: f64,
}

impl Body {
    /// Prepares an outline.
    ///
    /// # Panics
    /// If [`Outline::fault`] finds one; scenarios ask before.
    pub fn new(outline: &Outline) -> Self {
        assert_eq!(outline.fault(), None, "the outline must be checked when it is loaded");
        let r = outline.corner_radius_m;
        Self {
            core_ahead_m: 0.5 * (outline.front_m - outline.rear_m),
            core_half_length_m: 0.5 * (outline.front_m + outline.rear_m) - r,
            core_half_width_m: outline.half_width_m - r,
            radius_m: r,
            core_radius_m: outline.core_radius_m(),
            bounding_radius_m: outline.bounding_radius_m(),
        }
    }
    /// Distance of the rear axle from the core; 0 for every ordinary car.
    pub fn axle_to_core_m(&self) -> f64 {
        (self.core_ahead_m.abs() - self.core_half_length_m).max(0.0)
    }
}
