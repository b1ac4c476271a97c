//! Clearance against brute force, lanes against scalars, culled against all.

use anabranch_geometry::{
    Body, Edge, EdgeSet, Outline, Point, Pose, WallEdge, clearance, max_displacement, nearest, nearest_with_points,
};
use anabranch_kernel::maths::{self, Lanes, Real, Two};
use proptest::prelude::*;

const CAR: Outline = Outline { front_m: 3.45, rear_m: 0.75, half_width_m: 0.9, corner_radius_m: 0.35 };

fn clearance_at(body: &Body, pose: Pose, edge: &WallEdge) -> f64 {
    let (sin, cos) = maths::sin_cos(pose.heading);
    clearance(body, pose.x, pose.y, cos, sin, edge)
}

/// Samples of the edge against the core; too large by at most half the distance of two samples.
fn brute_force(outline: &Outline, pose: Pose, edge: &Edge, samples: u32) -> f64 {
    let [front_left, _, back_right, _] = outline.core_corners();
    let distance = |i: u32| {
        let f = f64::from(i) / f64::from(samples);
        let world = Point::new(edge.a.x + f * (edge.b.x - edge.a.x), edge.a.y + f * (edge.b.y - edge.a.y));
        let p = pose.local_from_world(world);
        p.distance_m(Point::new(p.x.clamp(back_right.x, front_left.x), p.y.clamp(back_right.y, front_left.y)))
    };
    (0..=samples).map(distance).fold(f64::INFINITY, f64::min) - outline.corner_radius_m
}

fn points() -> impl Strategy<Value = Point> {
    (-8.0..8.0, -8.0..8.0).prop_map(|(x, y)| Point::new(x, y))
}
fn poses() -> impl Strategy<Value = Pose> {
    (points(), -7.0..7.0).prop_map(|(p, heading)| Pose::new(p.x, p.y, heading))
}
fn edges() -> impl Strategy<Value = Edge> {
    let any = (points(), points());
    let short = (points(), -0.2..0.2, -0.2..0.2).prop_map(|(p, dx, dy)| (p, Point::new(p.x + dx, p.y + dy)));
    let post = points().prop_map(|p| (p, p));
    let upright = (points(), -5.0..5.0).prop_map(|(p, dy)| (p, Point::new(p.x, p.y + dy)));
    prop_oneof![any, short, post, upright].prop_map(|(a, b)| Edge { a, b, obstacle: 7 })
}
fn outlines() -> impl Strategy<Value = Outline> {
    let odd = Outline { front_m: 2.0, rear_m: -0.5, half_width_m: 0.6, corner_radius_m: 0.0 };
    let disc = Outline { front_m: 0.5, rear_m: 0.5, half_width_m: 0.5, corner_radius_m: 0.5 };
    prop_oneof![Just(CAR), Just(odd), Just(disc)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn clearance_is_the_distance_of_outline_and_edge(outline in outlines(), pose in poses(), edge in edges(), upright in any::<bool>()) {
        let pose = if upright { Pose { heading: 0.0, ..pose } } else { pose };
        let expect = brute_force(&outline, pose, &edge, 1000);
        let found = clearance_at(&Body::new(&outline), pose, &edge.into());
        let slack = edge.a.distance_m(edge.b) / 2000.0 + 1e-9;
        prop_assert!(found <= expect + 1e-9 && found >= expect - slack, "{found} instead of {expect}");
    }

    #[test]
    fn the_points_are_where_the_clearance_is(outline in outlines(), pose in poses(), edge in edges()) {
        let body = Body::new(&outline);
        let wall = WallEdge::from(edge);
        let found = nearest_with_points(&body, pose, &[wall]).unwrap();
        prop_assert_eq!(found.clearance_m.to_bits(), clearance_at(&body, pose, &wall).to_bits());
        prop_assert!(wall.distance_m(found.in_world) < 1e-9);
        let between = pose.world_from_local(found.on_ego).distance_m(found.in_world);
        if found.clearance_m > -outline.corner_radius_m + 1e-9 {
            prop_assert!((between - found.clearance_m.abs()).abs() < 1e-9, "{between} {found:?}");
        } else {
            prop_assert!(between < 1e-6, "{between} {found:?}");
        }
    }

    #[test]
    fn side_by_side_equals_one_by_one(poses in prop::collection::vec(poses(), 8), edges in prop::collection::vec(edges(), 1..6)) {
        let body = Body::new(&CAR);
        let edges: Vec<WallEdge> = edges.into_iter().map(WallEdge::from).collect();
        let turn = |lane: usize| maths::sin_cos(poses[lane].heading);
        let lanes = |f: &dyn Fn(usize) -> f64| Two::<Lanes<4>>::from_lanes(f);
        let (x, y) = (lanes(&|i| poses[i].x), lanes(&|i| poses[i].y));
        let (cos, sin) = (lanes(&|i| turn(i).1), lanes(&|i| turn(i).0));
        let found = nearest(&body, x, y, cos, sin, &edges);
        let moved = max_displacement(&body, x, y, sin);
        for (lane, pose) in poses.iter().enumerate() {
            let (s, c) = turn(lane);
            prop_assert_eq!(found.lane(lane).to_bits(), nearest(&body, pose.x, pose.y, c, s, &edges).to_bits());
            prop_assert_eq!(moved.lane(lane).to_bits(), max_displacement(&body, pose.x, pose.y, s).to_bits());
        }
    }

    #[test]
    fn culled_edges_give_the_same_bits_as_all(
        start in poses(), edges in prop::collection::vec(edges(), 1..30),
        reach_m in 0.0..3.0, away in 0.0..1.0, bearing in -7.0..7.0, turn in -1.0..1.0,
    ) {
        let body = Body::new(&CAR);
        let mut set = EdgeSet::default();
        edges.iter().for_each(|e| set.add_wall(e.obstacle, &[e.a, e.b]));
        let least = |pose: Pose, edges: &[WallEdge]| {
            let (s, c) = maths::sin_cos(pose.heading);
            nearest(&body, pose.x, pose.y, c, s, edges).to_bits()
        };
        let to = start.world_from_local(Point::new(reach_m * away * maths::cos(bearing), reach_m * away * maths::sin(bearing)));
        let pose = Pose::new(to.x, to.y, start.heading + turn);
        let mut few = Vec::new();
        set.cull(&body, start.point(), reach_m, &mut few);
        prop_assert_eq!(least(pose, &few), least(pose, set.edges()));
        let moved_m = max_displacement(&body, pose.x - start.x, pose.y - start.y, turn);
        set.cull_near(&body, start, moved_m, &mut few);
        prop_assert_eq!(least(pose, &few), least(pose, set.edges()));
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_equals_one_by_one() {
    use anabranch_kernel::maths::Avx2;
    /// # Safety
    /// AVX2 must be there.
    #[target_feature(enable = "avx2")]
    unsafe fn wide(body: &Body, poses: &[Pose; 4], edges: &[WallEdge]) -> [f64; 4] {
        let lanes = |f: &dyn Fn(usize) -> f64| Avx2::from_lanes(f);
        let (sin, cos) = maths::sin_cos(lanes(&|i| poses[i].heading));
        let found = nearest(body, lanes(&|i| poses[i].x), lanes(&|i| poses[i].y), cos, sin, edges);
        std::array::from_fn(|lane| found.lane(lane))
    }
    if !is_x86_feature_detected!("avx2") {
        return;
    }
    let body = Body::new(&CAR);
    let edges = [(1.0, 2.0, 5.0, -1.0), (0.0, 0.0, 0.0, 0.0), (-3.0, 3.0, 9.0, 3.0)]
        .map(|(ax, ay, bx, by)| WallEdge::from(Edge { a: Point::new(ax, ay), b: Point::new(bx, by), obstacle: 0 }));
    for i in 0..2000_i32 {
        let at = |lane: i32| f64::from(i * 7 % 113 - 50 + lane * 3) * 0.11;
        let poses = [0, 1, 2, 3].map(|lane| Pose::new(at(lane), at(lane + 2) * 0.7, f64::from(i + lane) * 0.01));
        // SAFETY: the feature was detected above.
        let found = unsafe { wide(&body, &poses, &edges) };
        for (lane, pose) in poses.iter().enumerate() {
            let (s, c) = maths::sin_cos(pose.heading);
            assert_eq!(found[lane].to_bits(), nearest(&body, pose.x, pose.y, c, s, &edges).to_bits());
        }
    }
}

#[test]
fn a_car_inside_a_polygon_overlaps_it_though_no_edge_is_near() {
    let body = Body::new(&CAR);
    let mut set = EdgeSet::default();
    set.add_polygon(3, &[(-20.0, -20.0), (20.0, -20.0), (20.0, 20.0), (-20.0, 20.0)].map(|(x, y)| Point::new(x, y)));
    assert_eq!(set.edges().len(), 4);
    assert!(set.nearest(&body, Pose::default()).unwrap().clearance_m > 10.0);
    assert_eq!(set.overlapped(&body, Pose::default()), Some(3));
    assert_eq!(set.overlapped(&body, Pose::new(40.0, 0.0, 0.0)), None);
    assert_eq!(set.polygon_at(Point::new(19.9, -19.9)), Some(3));
    assert_eq!(set.polygon_at(Point::new(19.9, -20.1)), None);
}

#[test]
fn an_outline_says_what_is_wrong_with_it() {
    assert_eq!(CAR.fault(), None);
    assert!(Outline { corner_radius_m: 1.0, ..CAR }.fault().unwrap().contains("radius"));
    assert!(Outline { half_width_m: f64::NAN, ..CAR }.fault().unwrap().contains("finite"));
    assert!((CAR.bounding_radius_m() - (3.1_f64.powi(2) + 0.55_f64.powi(2)).sqrt() - 0.35).abs() < 1e-12);
}
