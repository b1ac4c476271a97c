//! What a lane camera can measure: distances to the right edge of the road and to the markers of the lane (S2-14, S2-35).

use anabranch_geometry::{Outline, Point, Pose};
use anabranch_roads::{LaneId, Network};

/// Lanes side by side that are looked through for the edge of the road; more than any road has.
const LANES_MAX: usize = 16;

/// Distances to what is painted on the road, in metres; negative is beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct RoadDistances {
    /// From the right side of the car, at the rear axle, to the right edge of the road.
    pub to_right_m: f64,
    /// From each corner of the car to the marker of its side: front left, front right, rear left, rear right. The input
    /// `d[4]` of a lane keeping controller; the paper leaves their order to its figure, this one is ours.
    pub markers_m: [f64; 4],
}

/// Measures from a car at a pose in a lane; `near_station_m` is about where it is along the lane.
pub fn road_distances(
    network: &Network,
    lane: LaneId,
    near_station_m: f64,
    car: Pose,
    outline: &Outline,
) -> RoadDistances {
    let here = network.lane(lane);
    let from = |x: f64, y: f64| here.project(car.world_from_local(Point::new(x, y)), near_station_m);
    let Outline { front_m, rear_m, half_width_m, .. } = *outline;
    let corners =
        [(front_m, half_width_m), (front_m, -half_width_m), (-rear_m, half_width_m), (-rear_m, -half_width_m)];
    let markers_m = corners.map(|(x, y)| {
        let place = from(x, y);
        let half_m = 0.5 * here.width_m(place.station_m);
        if y > 0.0 { half_m - place.lateral_m } else { half_m + place.lateral_m }
    });
    let side = from(0.0, -half_width_m);
    let (mut to_right_m, mut at) = (0.5 * here.width_m(side.station_m) + side.lateral_m, (lane, side.station_m));
    for _ in 0..LANES_MAX {
        let Some(right) = network.lane(at.0).right_at(at.1) else { break };
        to_right_m += network.lane(right.0).width_m(right.1);
        at = right;
    }
    RoadDistances { to_right_m, markers_m }
}

#[cfg(test)]
mod tests {
    use anabranch_roads::make;

    use super::*;

    const OUTLINE: Outline = Outline { front_m: 3.5, rear_m: 1.0, half_width_m: 0.9, corner_radius_m: 0.0 };

    #[test]
    fn corners_are_measured_to_the_marker_of_their_side() {
        let network = Network::new(&make::straight(200.0, 2)).unwrap();
        let right = network.find("main", "1").unwrap();
        let (middle, width_m) = (network.lane(right).position(50.0), network.lane(right).width_m(50.0));
        // By hand: 0.3 m left of the middle and straight ahead, 0.3 m less to the left and more to the right.
        let car = Pose::new(middle.x, middle.y + 0.3, 0.0);
        let found = road_distances(&network, right, 50.0, car, &OUTLINE);
        let (left_m, right_m) = (0.5 * width_m - 0.9 - 0.3, 0.5 * width_m - 0.9 + 0.3);
        for (found, expect) in found.markers_m.into_iter().zip([left_m, right_m, left_m, right_m]) {
            assert!((found - expect).abs() < 1e-9, "{found} {expect}");
        }
        assert!((found.to_right_m - right_m).abs() < 1e-9);
        // Turned by 0.1 rad to the left: the front left corner is 3.5 sin 0.1 + 0.9 cos 0.1 left of the axle.
        let turned = road_distances(&network, right, 50.0, Pose::new(middle.x, middle.y, 0.1), &OUTLINE);
        let expect = 0.5 * width_m - (3.5 * 0.099_833_416_6 + 0.9 * 0.995_004_165_3);
        assert!((turned.markers_m[0] - expect).abs() < 1e-8, "{}", turned.markers_m[0]);
    }

    #[test]
    fn the_right_edge_lies_beyond_all_lanes_to_the_right() {
        let network = Network::new(&make::straight(200.0, 3)).unwrap();
        let rightmost = network.find("main", "1").unwrap();
        let middle = network.lane(rightmost).left().unwrap();
        let at = network.lane(middle).position(80.0);
        let found = road_distances(&network, middle, 80.0, Pose::new(at.x, at.y, 0.0), &OUTLINE);
        let expect = 0.5 * network.lane(middle).width_m(80.0) - 0.9 + network.lane(rightmost).width_m(80.0);
        assert!((found.to_right_m - expect).abs() < 1e-9, "{} {expect}", found.to_right_m);
    }
}
