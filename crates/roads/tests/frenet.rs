//! From the world to a lane and back.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;
use anabranch_roads::{Interpolation, LaneId, LanePlan, Map, Network, RoadPlan, Waypoint, make};
use proptest::prelude::*;

fn network(points: &[(f64, f64)]) -> Network {
    let waypoint = |(x, y): &(f64, f64)| Waypoint { position: Point::new(*x, *y), width_m: 3.0, limit_mps: 10.0 };
    let lane = LanePlan { name: "1".into(), points: points.iter().map(waypoint).collect(), ..LanePlan::default() };
    let map = Map { roads: vec![RoadPlan { name: "r".into(), lanes: vec![lane] }], ..Map::default() };
    Network::new(&map).unwrap()
}

/// A lane whose direction changes by the given angles, in steps of 8 m.
fn winding(turns: &[f64]) -> Network {
    let (mut heading, mut at) = (0.0, Point::new(0.0, 0.0));
    let mut points = vec![(0.0, 0.0)];
    for turn in turns {
        heading += turn;
        let (sin, cos) = maths::sin_cos(heading);
        at = Point::new(at.x + 8.0 * cos, at.y + 8.0 * sin);
        points.push((at.x, at.y));
    }
    network(&points)
}

proptest! {
    #[test]
    fn a_place_on_a_winding_lane_comes_back_from_the_world(
        turns in proptest::collection::vec(-0.3..0.3f64, 3..12),
        share in -0.02..1.02f64,
        lateral_m in -4.0..4.0f64,
    ) {
        let network = winding(&turns);
        let lane = network.lane(LaneId(0));
        let station_m = share * lane.length_m();
        let point = lane.point_at(station_m, lateral_m);
        let place = lane.project(point, station_m + 3.0);
        prop_assert!((place.station_m - station_m).abs() < 1e-7, "{} {}", place.station_m, station_m);
        prop_assert!((place.lateral_m - lateral_m).abs() < 1e-7);
        prop_assert!(lane.point(place).distance_m(point) < 1e-9);
    }

    #[test]
    fn the_nearest_place_is_not_further_than_any_other_by_brute_force(
        turns in proptest::collection::vec(-0.3..0.3f64, 3..10),
        x in -10.0..80.0f64,
        y in -40.0..40.0f64,
    ) {
        let network = winding(&turns);
        let lane = network.lane(LaneId(0));
        let point = Point::new(x, y);
        let brute = (0..=4000)
            .map(|k| lane.position(lane.length_m() * f64::from(k) / 4000.0).distance_m(point))
            .fold(f64::INFINITY, f64::min);
        let found = lane.distance_m(point);
        prop_assert!(found <= brute + 1e-6 || point_is_far_inside_of_a_curve(lane, point), "{found} {brute}");
    }
}

/// Whether a point lies near the centre of a curve, where several places of the lane are equally near and the chords
/// decide among them.
fn point_is_far_inside_of_a_curve(lane: &anabranch_roads::Lane, point: Point) -> bool {
    let place = lane.project_anywhere(point);
    place.lateral_m.abs() > 12.0
}

#[test]
fn a_point_beside_an_arc_has_the_hand_computed_place() {
    // Radius 50 m to the left, centre (0, 50): a point 48 m from the centre at 0.5 rad lies 2 m to the left.
    let network = Network::new(&make::arc(50.0, 1.0, 1)).unwrap();
    let lane = network.lane(LaneId(0));
    let (sin, cos) = maths::sin_cos(0.5);
    let place = lane.project(Point::new(48.0 * sin, 50.0 - 48.0 * cos), 0.0);
    // Chords of 0.1 rad: 10 · 100·sin(0.05) m in all, half of them here.
    assert!((place.station_m - 500.0 * maths::sin(0.05)).abs() < 1e-6, "{place:?}");
    assert!((place.lateral_m - 2.0).abs() < 1e-6 && (place.heading - 0.5).abs() < 1e-6, "{place:?}");
}

#[test]
fn a_car_keeps_its_place_where_its_lane_comes_close_to_itself() {
    // A hairpin: two straights 8 m apart.
    let points = [(0.0, 0.0), (30.0, 0.0), (60.0, 0.0), (64.0, 4.0), (60.0, 8.0), (30.0, 8.0), (0.0, 8.0)];
    let network = network(&points);
    let lane = network.lane(LaneId(0));
    let between = Point::new(20.0, 4.1);
    assert!(lane.project(between, 20.0).station_m < 30.0);
    assert!(lane.project_anywhere(between).station_m > 80.0);
}

#[test]
fn a_car_finds_the_lane_that_leads_its_way() {
    let network = network(&[(0.0, 0.0), (100.0, 0.0)]);
    assert!(network.nearest_along(Pose::new(50.0, 1.0, 0.3)).is_some());
    assert!(network.nearest_along(Pose::new(50.0, 1.0, 3.0)).is_none());
}

#[test]
fn the_index_finds_the_same_lanes_as_looking_at_all_of_them() {
    let network = Network::new(&make::arc(60.0, 2.5, 3)).unwrap();
    let mut found = Vec::new();
    for k in 0..400 {
        let point = Point::new(f64::from(k % 20) * 8.0 - 60.0, f64::from(k / 20) * 8.0 - 20.0);
        let distance = |id: &LaneId| network.lane(*id).distance_m(point);
        let all: Vec<LaneId> = network.lanes().iter().map(|lane| lane.id()).collect();
        let nearest = all.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
        let (id, _) = network.nearest(point).unwrap();
        assert!((distance(&id) - distance(&nearest)).abs() < 1e-9, "{point:?}");
        network.near(point, 15.0, &mut found);
        let expect: Vec<LaneId> = all.iter().copied().filter(|id| distance(id) <= 15.0).collect();
        assert_eq!(found, expect, "{point:?}");
    }
}

#[test]
fn width_and_limit_go_by_step_or_by_cubic() {
    let point = |x: f64, width_m: f64, limit_mps: f64| Waypoint { position: Point::new(x, 0.0), width_m, limit_mps };
    let points = vec![point(0.0, 4.0, 10.0), point(10.0, 4.0, 20.0), point(20.0, 3.0, 20.0), point(30.0, 3.0, 5.0)];
    let lane = LanePlan { name: "1".into(), points, width: Interpolation::Cubic, ..LanePlan::default() };
    let map = Map { roads: vec![RoadPlan { name: "r".into(), lanes: vec![lane] }], ..Map::default() };
    let network = Network::new(&map).unwrap();
    let lane = network.lane(LaneId(0));
    // Half way between flat ends a cubic is half way between the values; a quarter of the way 4 − 5/32.
    assert!((lane.width_m(15.0) - 3.5).abs() < 1e-12);
    assert!((lane.width_m(12.5) - (4.0 - 5.0 / 32.0)).abs() < 1e-12);
    assert_eq!(
        [lane.limit_mps(9.999), lane.limit_mps(10.0), lane.limit_mps(29.0), lane.limit_mps(40.0)],
        [10.0, 20.0, 20.0, 20.0]
    );
}
