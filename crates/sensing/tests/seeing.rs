//! What rays see and what they do not: the limits of sensing (S4-9, S4-21).

use std::f64::consts::{PI, TAU};

use anabranch_geometry::{Edge, Point, Pose};
use anabranch_sensing::{Mount, RaySensor, RaySensorSpec, Scan, Scene, Sight, Walls};

const AHEAD: Mount = Mount { x_m: 0.0, y_m: 0.0, yaw_rad: 0.0 };

fn sensor(mount: Mount, view_rad: f64, rays: u16) -> RaySensor {
    RaySensor::new(RaySensorSpec { mount, view_rad, horizon_m: 60.0, rays })
}
fn sights(sensor: &RaySensor, car: Pose, scene: &Scene, walls: &Walls) -> Vec<Sight> {
    let mut scan = Scan::default();
    sensor.scan(car, scene, walls, &mut scan);
    scan.sights().collect()
}
fn targets(sights: &[Sight]) -> Vec<u32> {
    sights.iter().map(|sight| sight.target).collect()
}
fn wall(ax: f64, ay: f64, bx: f64, by: f64) -> Walls {
    Walls::new(&[Edge { a: Point::new(ax, ay), b: Point::new(bx, by), obstacle: 0 }])
}

/// An all-seeing simulator would tell of all four: one in plain sight, one behind it, one behind the car, one too far.
#[test]
fn only_objects_that_are_hit_are_visible() {
    let mut scene = Scene::default();
    let truck = scene.add_box(Pose::new(20.0, 0.0, 0.0), 5.0, 1.25);
    let hidden_child = scene.add_circle(Point::new(30.0, 0.0), 0.3);
    let behind = scene.add_box(Pose::new(-10.0, 0.0, 0.0), 2.0, 0.9);
    let far = scene.add_box(Pose::new(0.0, 80.0, 0.0), 2.0, 0.9);
    assert_eq!([truck, hidden_child, behind, far], [0, 1, 2, 3]);
    let here = Pose::default();
    let found = sights(&sensor(AHEAD, PI / 2.0, 180), here, &scene, &Walls::default());
    assert_eq!(targets(&found), [truck]);
    assert!((found[0].nearest_m - 15.0).abs() < 1e-2 && found[0].share == 1.0);
    let all_round = sensor(AHEAD, TAU, 720);
    assert_eq!(targets(&sights(&all_round, here, &scene, &Walls::default())), [truck, behind]);
    // From beside the road the child is in plain sight.
    let aside = Pose::new(0.0, 10.0, 0.0);
    assert_eq!(targets(&sights(&all_round, aside, &scene, &Walls::default())), [truck, hidden_child, behind]);
}

#[test]
fn an_object_behind_a_corner_is_seen_by_the_share_that_sticks_out() {
    // By hand: a wall 10 m ahead hides everything to the right of straight ahead; the face of the car 20 m ahead reaches
    // 1 m to both sides, so half of it is seen.
    let mut scene = Scene::default();
    scene.add_box(Pose::new(21.0, 0.0, 0.0), 1.0, 1.0);
    let found = sights(&sensor(AHEAD, PI / 3.0, 2000), Pose::default(), &scene, &wall(10.0, 0.0, 10.0, -30.0));
    assert!((found[0].share - 0.5).abs() < 0.01, "{found:?}");
    let closed = wall(10.0, 5.0, 10.0, -30.0);
    assert!(sights(&sensor(AHEAD, PI / 3.0, 2000), Pose::default(), &scene, &closed).is_empty());
}

#[test]
fn a_sensor_looks_from_where_it_is_mounted() {
    let mut scene = Scene::default();
    scene.add_circle(Point::new(0.0, 10.0), 0.5);
    // The car faces north-east; a sensor on its left side looks to its left, north-west, and one to the right south-east.
    let car = Pose::new(0.0, 0.0, PI / 4.0);
    let side = |y_m: f64, yaw_rad: f64| sensor(Mount { x_m: 2.0, y_m, yaw_rad }, PI * 0.6, 90);
    assert_eq!(targets(&sights(&side(0.9, PI / 2.0), car, &scene, &Walls::default())), [0]);
    assert!(sights(&side(-0.9, -PI / 2.0), car, &scene, &Walls::default()).is_empty());
    let at = side(0.9, 0.0).pose(car);
    // By hand: (2 − 0.9)/√2 east, (2 + 0.9)/√2 north.
    assert!((at.x - 1.1 / 2.0_f64.sqrt()).abs() < 1e-12 && (at.y - 2.9 / 2.0_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn what_fits_between_two_rays_is_not_seen() {
    let mut scene = Scene::default();
    scene.add_circle(Point::new(50.0, 0.0), 0.2);
    // Rays 10° apart straddle a post that covers half a degree; rays half a degree apart do not.
    assert!(sights(&sensor(AHEAD, PI / 3.0, 6), Pose::default(), &scene, &Walls::default()).is_empty());
    assert_eq!(sights(&sensor(AHEAD, PI / 3.0, 360), Pose::default(), &scene, &Walls::default()).len(), 1);
}

#[test]
fn a_polygon_is_seen_as_the_box_it_draws() {
    let (mut boxes, mut polygons) = (Scene::default(), Scene::default());
    let pose = Pose::new(15.0, 4.0, 0.7);
    boxes.add_box(pose, 2.2, 0.9);
    let corners = [(2.2, 0.9), (-2.2, 0.9), (-2.2, -0.9), (2.2, -0.9)];
    polygons.add_polygon(&corners.map(|(x, y)| pose.world_from_local(Point::new(x, y))));
    let walls = wall(8.0, -5.0, 8.0, 2.0);
    let [a, b] = [boxes, polygons].map(|scene| sights(&sensor(AHEAD, PI, 1800), Pose::default(), &scene, &walls));
    assert_eq!(a.len(), 1);
    assert_eq!((a[0].rays, a[0].share), (b[0].rays, b[0].share));
    assert!((a[0].nearest_m - b[0].nearest_m).abs() < 1e-9);
}

#[test]
fn a_scan_is_the_same_again_and_forgets_the_one_before() {
    let mut crowd = Scene::default();
    for i in 0..100_u32 {
        let (x, y) = (f64::from(i % 10) * 9.0 - 45.0, f64::from(i / 10) * 9.0 - 45.0);
        crowd.add_box(Pose::new(x + 3.0, y + 2.0, f64::from(i)), 2.2, 0.9);
    }
    let sensor = sensor(AHEAD, TAU, 720);
    let mut scan = Scan::default();
    sensor.scan(Pose::default(), &crowd, &Walls::default(), &mut scan);
    let first: Vec<Sight> = scan.sights().collect();
    sensor.scan(Pose::default(), &Scene::default(), &Walls::default(), &mut scan);
    assert_eq!(scan.sights().count(), 0);
    sensor.scan(Pose::default(), &crowd, &Walls::default(), &mut scan);
    assert_eq!(scan.sights().collect::<Vec<_>>(), first);
    assert!(first.len() > 20 && first.len() < 90, "the nearer ones hide the others: {}", first.len());
}
