//! Distances from the corners of the car to the markings of its lane (S2-14).
//!
//! Corners are those of a rectangle between the axles, as wide as the car. Distances are taken across the lane, so that
//! the difference between front and rear is the wheel base times the sine of the heading.

use anabranch_bridge::fmu::folded;
use anabranch_bridge::protocol::RoadSeen;
use anabranch_kernel::maths;

/// Names of the four.
pub(crate) const NAMES: [&str; 4] =
    ["road.marker.front_left", "road.marker.rear_left", "road.marker.front_right", "road.marker.rear_right"];

/// A corner of the car.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker(usize);

/// The one of this name.
pub(crate) fn named(name: &str) -> Option<Marker> {
    let name = folded(name);
    NAMES.iter().position(|known| folded(known) == name).map(Marker)
}

impl Marker {
    /// Distance to the marking on its side, for a car of this wheel base and width.
    pub(crate) fn distance_m(self, road: &RoadSeen, wheelbase_m: f64, width_m: f64) -> f64 {
        let (sin, cos) = maths::sin_cos(road.heading);
        let ahead_m = if self.0.is_multiple_of(2) { wheelbase_m } else { 0.0 };
        let side = if self.0 < 2 { 1.0 } else { -1.0 };
        let left_m = road.lateral + ahead_m * sin + 0.5 * side * width_m * cos;
        0.5 * road.width - side * left_m
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_car_is_nearer_with_its_front() {
        let road = RoadSeen { width: 5.0, heading: maths::asin(0.8 / 3.0), ..RoadSeen::default() };
        let [front_left, rear_left, front_right, rear_right] =
            NAMES.map(|name| named(name).unwrap().distance_m(&road, 3.0, 2.0));
        assert!((rear_left - front_left - 0.8).abs() < 1e-12, "{front_left} {rear_left}");
        assert!((front_right - rear_right - 0.8).abs() < 1e-12);
        let straight = RoadSeen { width: 5.0, lateral: 1.0, ..RoadSeen::default() };
        let all = NAMES.map(|name| named(name).unwrap().distance_m(&straight, 3.0, 2.0));
        assert_eq!(all, [0.5, 0.5, 2.5, 2.5], "the first tick of the test in the paper");
    }
}
