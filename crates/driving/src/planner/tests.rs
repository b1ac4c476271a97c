//! Manoeuvres a driver knows, and random worlds.

use anabranch_geometry::{Edge, Outline, Path, Point, Pose, along_arc};
use anabranch_kernel::maths::{hypot, wrap_angle};
use anabranch_kernel::{Chance, Seed};

use super::*;

const COMPACT: Outline = Outline { front_m: 3.4, rear_m: 0.8, half_width_m: 0.9, corner_radius_m: 0.3 };
const QUARTER: f64 = std::f64::consts::FRAC_PI_2;

fn edge(a: (f64, f64), b: (f64, f64)) -> Edge {
    Edge { a: Point::new(a.0, a.1), b: Point::new(b.0, b.1), obstacle: 0 }
}

/// A closed or open chain of edges.
fn chain(points: &[(f64, f64)]) -> Vec<Edge> {
    points.windows(2).map(|pair| edge(pair[0], pair[1])).collect()
}

fn block(low: (f64, f64), high: (f64, f64)) -> Vec<Edge> {
    chain(&[low, (high.0, low.1), high, (low.0, high.1), low])
}

fn request(start: Pose, goal: Pose, edges: &[Edge]) -> PlanRequest<'_> {
    PlanRequest {
        start,
        goal,
        outline: COMPACT,
        edges,
        safety_distance_m: 0.2,
        turning_radius_m: turning_radius_m(2.6, 0.55),
        gears: Gears::Both,
        final_gear: None,
        costs: PlanCosts::PARKING,
        expansions_max: EXPANSIONS_MAX,
    }
}

/// Whether an outline keeps a distance to an edge, by walking along the edge: a point further away than the distance
/// excuses its neighbours.
fn keeps(distance_m: f64, pose: Pose, outline: Outline, edge: &Edge) -> bool {
    let (a, b) = (pose.local_from_world(edge.a), pose.local_from_world(edge.b));
    let (round_m, length_m) = (outline.corner_radius_m, edge.a.distance_m(edge.b));
    let mut along_m = 0.0_f64;
    loop {
        let share = if length_m > 0.0 { along_m / length_m } else { 0.0 };
        let (x, y) = (a.x + share * (b.x - a.x), a.y + share * (b.y - a.y));
        let ahead = (x - outline.front_m + round_m).max(round_m - outline.rear_m - x).max(0.0);
        let here_m = hypot(ahead, (y.abs() - outline.half_width_m + round_m).max(0.0)) - round_m;
        if here_m < distance_m || along_m >= length_m {
            return here_m >= distance_m;
        }
        along_m = (along_m + (here_m - distance_m).max(0.01)).min(length_m);
    }
}

/// Checks what every plan promises, without the planner's own distances.
fn check(request: &PlanRequest<'_>, path: &Path) {
    let end = path.end();
    assert!(end.point().distance_m(request.goal.point()) < 1e-5, "{end:?} {:?}", request.goal);
    assert!(wrap_angle(end.heading - request.goal.heading).abs() < 1e-5);
    let mut pose = request.start;
    for arc in path.arcs() {
        assert!(arc.curvature_per_m.abs() <= 1.0 / request.turning_radius_m + 1e-12);
        let steps = (arc.length_m.abs() / 0.01).ceil();
        for step in 0..=(steps as usize) {
            let here = along_arc(pose, arc.curvature_per_m, arc.length_m * step as f64 / steps);
            for edge in request.edges {
                let kept = keeps(request.safety_distance_m - 1e-5, here, request.outline, edge);
                assert!(kept, "too close at {here:?} to {edge:?}");
            }
        }
        pose = along_arc(pose, arc.curvature_per_m, arc.length_m);
    }
    assert!(allowed(request, None, path.arcs(), End::Goal));
}

fn planned(request: &PlanRequest<'_>) -> Path {
    let path = plan(request).unwrap_or_else(|error| panic!("{error}"));
    check(request, &path);
    path
}

/// Directions of the sections: `FR` is forwards, then backwards.
fn gears(path: &Path) -> String {
    path.sections().iter().map(|section| if section.direction > 0.0 { 'F' } else { 'R' }).collect()
}

#[test]
fn backwards_into_a_narrow_passage_is_one_straight_section() {
    let walls = [edge((-30.0, 1.6), (-1.0, 1.6)), edge((-30.0, -1.6), (-1.0, -1.6))];
    for final_gear in [None, Some(Gear::Reverse)] {
        let goal = Pose::new(-17.0, 0.0, 0.0);
        let path = planned(&PlanRequest { final_gear, ..request(Pose::default(), goal, &walls) });
        assert_eq!(path.arcs(), [Arc { curvature_per_m: 0.0, length_m: -17.0 }]);
        assert_eq!(gears(&path), "R");
    }
}

#[test]
fn a_start_beside_the_axis_still_finds_into_the_passage() {
    let walls = [edge((-30.0, 1.6), (-1.0, 1.6)), edge((-30.0, -1.6), (-1.0, -1.6))];
    let goal = Pose::new(-17.0, 0.0, 0.0);
    let path = planned(&request(Pose::new(6.0, 1.5, 0.2), goal, &walls));
    assert_eq!(gears(&path), "R");
}

/// A row of parked cars with one free slot of 2.6 m between x = −1.3 and 1.3, seen from a lane of 6 m.
fn perpendicular_slot() -> Vec<Edge> {
    let mut edges = chain(&[(-20.0, 6.0), (20.0, 6.0)]);
    edges.extend(chain(&[(-20.0, 0.0), (-1.3, 0.0), (-1.3, -5.0), (1.3, -5.0), (1.3, 0.0), (20.0, 0.0)]));
    edges
}

#[test]
fn curved_parking_backwards_around_a_corner() {
    let edges = perpendicular_slot();
    let goal = Pose::new(0.0, -3.9, QUARTER);
    let wish = request(Pose::new(-8.0, 2.5, 0.0), goal, &edges);
    let path = planned(&PlanRequest { final_gear: Some(Gear::Reverse), ..wish });
    assert!(path.sections().len() <= 3, "{}", gears(&path));
    assert!(path.length_m() < 35.0, "{}", path.length_m());
}

#[test]
fn curved_parking_forwards_when_asked() {
    let edges = perpendicular_slot();
    let wish = request(Pose::new(-9.0, 3.5, 0.0), Pose::new(0.0, -1.3, -QUARTER), &edges);
    let path = planned(&PlanRequest { final_gear: Some(Gear::Forward), ..wish });
    assert!(gears(&path).ends_with('F'));
}

#[test]
fn parallel_parking() {
    let mut edges = chain(&[(-20.0, 5.0), (20.0, 5.0)]);
    edges.extend(chain(&[(-20.0, 0.0), (-3.1, 0.0), (-3.1, -2.4), (3.1, -2.4), (3.1, 0.0), (20.0, 0.0)]));
    let goal = Pose::new(-1.3, -1.2, 0.0);
    let path = planned(&request(Pose::new(-6.0, 1.8, 0.0), goal, &edges));
    assert!(path.sections().len() <= 5, "{}", gears(&path));
}

/// A walled yard in two halves, joined by a gate of 2.6 m.
fn gated_yard() -> Vec<Edge> {
    let mut edges = block((-15.0, -8.0), (15.0, 8.0));
    edges.extend([edge((0.0, -8.0), (0.0, -1.3)), edge((0.0, 1.3), (0.0, 8.0))]);
    edges
}

#[test]
fn a_larger_safety_distance_makes_the_gate_impassable() {
    let edges = gated_yard();
    let wish = request(Pose::new(-10.0, 1.0, 0.3), Pose::new(8.0, -2.0, 0.0), &edges);
    planned(&wish);
    let refused = plan(&PlanRequest { safety_distance_m: 0.5, ..wish });
    assert_eq!(refused, Err(PlanError::NoPath { expanded: 0 }));
}

#[test]
fn blocked_ends_are_told_apart() {
    let edges = gated_yard();
    let (free, wall) = (Pose::new(-10.0, 0.0, 0.0), Pose::new(-1.0, 4.0, 0.0));
    assert!(
        matches!(plan(&request(free, wall, &edges)), Err(PlanError::GoalBlocked { clearance_m, .. }) if clearance_m < 0.0)
    );
    assert!(matches!(plan(&request(wall, free, &edges)), Err(PlanError::StartBlocked { .. })));
    // 0.1 m beside the wall nothing is touched, but the distance is not kept.
    let close = Pose::new(-10.0, 7.0, 0.0);
    let Err(PlanError::GoalBlocked { clearance_m, .. }) = plan(&request(free, close, &edges)) else { panic!() };
    assert!((clearance_m - 0.1).abs() < 1e-9);
}

#[test]
fn an_impossible_turn_ends_without_a_path() {
    // The lane is too narrow to turn round in.
    let edges = block((-15.0, -1.5), (15.0, 1.5));
    let wish = request(Pose::new(-8.0, 0.0, 0.0), Pose::new(8.0, 0.0, 2.0 * QUARTER), &edges);
    assert!(matches!(plan(&wish), Err(PlanError::NoPath { expanded }) if expanded > 0));
    let hurried = plan(&PlanRequest { expansions_max: 10, ..wish });
    assert_eq!(hurried, Err(PlanError::LimitReached { expanded: 10 }));
}

#[test]
fn gears_that_are_not_allowed_are_not_used() {
    let (start, goal) = (Pose::default(), Pose::new(-6.0, 0.0, 0.0));
    for (allowed, expect) in [(Gears::Both, "R"), (Gears::Reverse, "R"), (Gears::Forward, "F")] {
        let path = planned(&PlanRequest { gears: allowed, ..request(start, goal, &[]) });
        assert_eq!(gears(&path), expect);
    }
    let path = planned(&PlanRequest { final_gear: Some(Gear::Forward), ..request(start, goal, &[]) });
    assert_eq!(gears(&path), "RF");
    let nonsense = PlanRequest { gears: Gears::Reverse, final_gear: Some(Gear::Forward), ..request(start, goal, &[]) };
    assert!(matches!(plan(&nonsense), Err(PlanError::BadRequest(_))));
}

#[test]
fn standing_at_the_goal_is_a_path_of_no_length() {
    let here = Pose::new(3.0, 2.0, 1.0);
    assert_eq!(planned(&request(here, here, &[])).length_m(), 0.0);
}

#[test]
fn every_path_among_random_obstacles_keeps_its_distance() {
    let mut reached = 0;
    for tick in 0..60 {
        let chance = Chance::new(Seed(5), "obstacles").at(tick);
        let at = |n: u64| (chance.uniform(4 * n) - 0.5) * 24.0;
        let mut edges = block((-14.0, -14.0), (14.0, 14.0));
        for n in 0..6 {
            let (x, y) = (at(2 * n), at(2 * n + 1));
            let (w, h) = (0.3 + 2.5 * chance.uniform(4 * n + 2), 0.3 + 2.5 * chance.uniform(4 * n + 3));
            edges.extend(block((x, y), (x + w, y + h)));
        }
        let pose = |n: u64| Pose::new(at(n) * 0.8, at(n + 1) * 0.8, at(n + 2));
        let wish =
            PlanRequest { safety_distance_m: 0.1 + 0.2 * chance.uniform(999), ..request(pose(100), pose(200), &edges) };
        if let Ok(path) = plan(&wish) {
            check(&wish, &path);
            assert_eq!(plan(&wish), Ok(path));
            reached += 1;
        }
    }
    assert!(reached > 20, "only {reached} plans");
}

#[test]
fn requests_that_would_take_for_ever_are_refused() {
    let refused = |request: &PlanRequest<'_>| match plan(request) {
        Err(PlanError::BadRequest(what)) => what,
        other => panic!("{other:?}"),
    };
    // Not straight ahead: every half metre of every word would be looked at, from every pose.
    let far = request(Pose::default(), Pose::new(1e6, 3.0, 0.0), &[]);
    assert!(refused(&far).contains("2 km"));
    // Walls across the whole plane fill every tile of it.
    let walls: Vec<Edge> = (0..200).map(|i| edge((-1e6, -1e6), (1e6, 1e6 - f64::from(i)))).collect();
    let crossed = request(Pose::default(), Pose::new(20.0, 3.0, 0.0), &walls);
    assert!(refused(&crossed).contains("fewer or shorter walls"));
}

#[test]
fn wheels_that_hardly_turn_end_the_search() {
    // The shortest words to the goal are thousands of kilometres long.
    let stiff = PlanRequest { turning_radius_m: 1e9, ..request(Pose::default(), Pose::new(20.0, 3.0, 0.0), &[]) };
    assert!(plan(&stiff).is_err());
}
