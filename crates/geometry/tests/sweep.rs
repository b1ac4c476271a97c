//! Swept contact against dense brute force.

use anabranch_geometry::{
    Body, CONTACT_TOLERANCE_M, Edge, Motion, Outline, Point, Pose, WallEdge, first_contact, max_displacement,
    may_touch, nearest,
};
use anabranch_kernel::maths;
use proptest::prelude::*;

const CAR: Outline = Outline { front_m: 3.45, rear_m: 0.75, half_width_m: 0.9, corner_radius_m: 0.35 };
const SUBSTEPS: u32 = 10_000;

fn clearance_m(body: &Body, pose: Pose, edges: &[WallEdge]) -> f64 {
    let (sin, cos) = maths::sin_cos(pose.heading);
    nearest(body, pose.x, pose.y, cos, sin, edges)
}

fn edge(a: (f64, f64), b: (f64, f64)) -> WallEdge {
    WallEdge::from(Edge { a: Point::new(a.0, a.1), b: Point::new(b.0, b.1), obstacle: 5 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_sweep_agrees_with_many_small_steps(
        heading in -7.0..7.0, forward in -0.6..0.6, sideways in -0.1..0.1, turn in -0.3..0.3,
        ax in -2.0..5.0, ay in -2.0..2.0, bx in -0.5..0.5, by in -0.5..0.5,
    ) {
        let body = Body::new(&CAR);
        let from = Pose::new(30.0, -20.0, heading);
        let to = from.world_from_local(Point::new(forward, sideways));
        let motion = Motion { from, to: Pose::new(to.x, to.y, heading + turn) };
        let (a, b) = (from.world_from_local(Point::new(ax, ay)), from.world_from_local(Point::new(ax + bx, ay + by)));
        let edges = [edge((a.x, a.y), (b.x, b.y))];
        let found = first_contact(&body, &motion, &edges);

        let fractions = (0..=SUBSTEPS).map(|i| f64::from(i) / f64::from(SUBSTEPS));
        let least_m = fractions.clone().map(|f| clearance_m(&body, motion.at(f), &edges)).fold(f64::INFINITY, f64::min);
        let step_m = max_displacement(&body, forward, sideways, turn) / f64::from(SUBSTEPS);
        match found {
            None => prop_assert!(least_m > 0.0),
            Some(contact) => {
                prop_assert!(least_m <= CONTACT_TOLERANCE_M + step_m, "{contact:?} but {least_m}");
                prop_assert!(clearance_m(&body, motion.at(contact.fraction), &edges) <= 2.0 * CONTACT_TOLERANCE_M);
                prop_assert_eq!(contact.obstacle, 5);
                for f in fractions.filter(|&f| f < contact.fraction) {
                    prop_assert!(clearance_m(&body, motion.at(f), &edges) > 0.0, "free before {contact:?}");
                }
                let (start, end) = (clearance_m(&body, from, &edges), clearance_m(&body, motion.to, &edges));
                prop_assert!(may_touch(start, end, max_displacement(&body, forward, sideways, turn)));
            }
        }
    }
}

#[test]
fn a_thin_post_is_not_jumped_over_at_50_mps() {
    let body = Body::new(&Outline { front_m: 0.1, rear_m: 0.0, half_width_m: 0.9, corner_radius_m: 0.0 });
    let motion = Motion { from: Pose::default(), to: Pose::new(0.5, 0.0, 0.0) };
    let contact = first_contact(&body, &motion, &[edge((0.3, 0.2), (0.3, 0.2))]).unwrap();
    assert!((contact.fraction - 0.4).abs() < 1e-5);
    assert!(contact.on_ego.distance_m(Point::new(0.1, 0.2)) < 1e-5);
    assert!(contact.in_world.distance_m(Point::new(0.3, 0.2)) < 1e-9);
    assert_eq!(first_contact(&body, &motion, &[edge((0.3, 0.91), (0.3, 0.91))]), None);
}

#[test]
fn a_wall_crossed_completely_in_one_tick_is_hit() {
    let body = Body::new(&CAR);
    let motion = Motion { from: Pose::default(), to: Pose::new(50.0, 0.0, 0.0) };
    let contact = first_contact(&body, &motion, &[edge((30.0, -5.0), (30.0, 5.0)), edge((20.0, -5.0), (20.0, 5.0))]);
    assert!((contact.unwrap().fraction - (20.0 - 3.45) / 50.0).abs() < 1e-6);
}

#[test]
fn driving_along_a_wall_at_a_hair_is_free_and_cheap() {
    let body = Body::new(&CAR);
    let wall = [edge((-100.0, 0.900_01), (100.0, 0.900_01))];
    let along = Motion { from: Pose::default(), to: Pose::new(0.5, 0.0, 0.0) };
    assert_eq!(first_contact(&body, &along, &wall), None);
    let turning = Motion { from: Pose::default(), to: Pose::new(0.5, 0.0, 0.001) };
    assert!(first_contact(&body, &turning, &wall).is_some());
}

#[test]
fn a_car_that_already_touches_is_in_contact_at_once() {
    let body = Body::new(&CAR);
    let still = Motion { from: Pose::default(), to: Pose::default() };
    assert_eq!(first_contact(&body, &still, &[edge((1.0, -3.0), (1.0, 3.0))]).unwrap().fraction, 0.0);
    assert_eq!(first_contact(&body, &still, &[edge((9.0, -3.0), (9.0, 3.0))]), None);
}
