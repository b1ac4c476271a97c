//! What a drive costs, in metres driven forwards in the open.

use anabranch_geometry::Arc;
use serde::{Deserialize, Serialize};

/// Prices of what a path should avoid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanCosts {
    /// Price of a metre backwards; a metre forwards costs 1.
    pub reverse_factor: f64,
    /// Price of stopping and changing gear.
    pub gear_change_m: f64,
    /// Price of turning the wheels from straight to the largest curvature.
    pub steering_m: f64,
    /// Price of a metre at the safety distance; it falls to nothing over the band.
    pub closeness_factor: f64,
    /// How far above the safety distance closeness has a price.
    pub closeness_band_m: f64,
}

impl PlanCosts {
    /// For manoeuvres at walking pace, where driving backwards is ordinary.
    pub const PARKING: Self =
        Self { reverse_factor: 1.1, gear_change_m: 2.0, steering_m: 0.3, closeness_factor: 1.0, closeness_band_m: 0.5 };

    pub(super) fn per_metre(&self, direction: f64) -> f64 {
        if direction < 0.0 { self.reverse_factor } else { 1.0 }
    }
    /// Price of an arc after another, without closeness.
    pub(super) fn arc(&self, before: Option<Arc>, arc: Arc, turning_radius_m: f64) -> f64 {
        let change = match before {
            None => 0.0,
            Some(before) => {
                let steering = (arc.curvature_per_m - before.curvature_per_m).abs() * turning_radius_m;
                let gear = if before.length_m * arc.length_m < 0.0 { self.gear_change_m } else { 0.0 };
                steering * self.steering_m + gear
            }
        };
        arc.length_m.abs() * self.per_metre(arc.length_m) + change
    }
    /// Price of arcs one after another, without closeness.
    pub(super) fn arcs(&self, before: Option<Arc>, arcs: &[Arc], turning_radius_m: f64) -> f64 {
        let mut last = before;
        arcs.iter().fold(0.0, |sum, &arc| sum + self.arc(last.replace(arc), arc, turning_radius_m))
    }
}
