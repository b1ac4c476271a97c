//! What a sensor tells about what it sees: by chance and by error choice (S4-9, S1-19, S1-23 … S1-25).

use std::f64::consts::PI;

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::contract::check_part;
use anabranch_kernel::{Chance, Declarations, Grid, KeyWriter, Seed, Visitor, from_bytes, to_bytes};
use anabranch_sensing::{
    Detection, DetectionErrors, DetectionRate, Detections, Detector, DetectorInput, DetectorSpec, DetectorState,
    Displacement, Late, Mount, NoiseModel, Output, RaySensor, RaySensorSpec, Ready, Scan, Scene, TrueObject, Walls,
};

/// Cars in a row across the road, 6 m apart, this far ahead.
struct World {
    sensor: RaySensor,
    scan: Scan,
    objects: Vec<TrueObject>,
}

fn world(away_m: f64, count: u32) -> World {
    let mount = Mount { x_m: 0.0, y_m: 0.0, yaw_rad: 0.0 };
    let sensor = RaySensor::new(RaySensorSpec { mount, view_rad: PI, horizon_m: 100.0, rays: 720 });
    let place = |i: u32| Pose::new(away_m, 6.0 * f64::from(i), 0.5);
    let objects: Vec<TrueObject> =
        (0..count).map(|i| TrueObject { pose: place(i), length_m: 4.0, width_m: 1.8 }).collect();
    let (mut scene, mut scan) = (Scene::default(), Scan::default());
    objects.iter().for_each(|o| {
        scene.add_box(o.pose, 0.5 * o.length_m, 0.5 * o.width_m);
    });
    sensor.scan(Pose::default(), &scene, &Walls::default(), &mut scan);
    World { sensor, scan, objects }
}

fn input<'a>(world: &'a World, errors: DetectionErrors<'a>) -> DetectorInput<'a> {
    let here = Pose::default();
    DetectorInput {
        sensor: &world.sensor,
        scan: &world.scan,
        objects: &world.objects,
        car: here,
        believed: here,
        visibility: 1.0,
        errors,
    }
}
fn chance() -> Chance {
    Chance::new(Seed(4), "front")
}
fn once(spec: DetectorSpec, input: &DetectorInput<'_>, tick: u64) -> Detections {
    let detector = Detector::new(spec, 0.1);
    let mut out = Detections::new();
    detector.read(&mut detector.start(chance()), input, tick, chance(), &mut out);
    out
}
/// Mean number of detections over many readings.
fn mean_count(spec: &DetectorSpec, input: &DetectorInput<'_>) -> f64 {
    (0..4000).map(|tick| once(spec.clone(), input, tick).len() as f64).sum::<f64>() / 4000.0
}

#[test]
fn a_perfect_sensor_tells_what_is_there_the_nearest_first() {
    let world = world(20.0, 3);
    let told = once(DetectorSpec::perfect(), &input(&world, DetectionErrors::default()), 0);
    assert_eq!(told.iter().map(|d| d.y.round()).collect::<Vec<_>>(), [0.0, 6.0, 12.0]);
    assert!((told[0].x - 20.0).abs() < 1e-12 && (told[0].heading - 0.5).abs() < 1e-12 && told[0].length_m == 4.0);
}

#[test]
fn error_choices_hide_move_turn_and_invent_objects() {
    let world = world(20.0, 3);
    let told = |errors| once(DetectorSpec::perfect(), &input(&world, errors), 0);
    let none = DetectionErrors::default();
    let missed = told(DetectionErrors { missed: 0b010, ..none });
    assert_eq!(missed.iter().map(|d| d.y.round()).collect::<Vec<_>>(), [0.0, 12.0]);
    let by = [Displacement { objects: 0b100, by_m: [1.0, -2.0] }];
    let displaced = told(DetectionErrors { displaced: &by, ..none });
    assert!((displaced[2].x - 21.0).abs() < 1e-12 && (displaced[2].y - 10.0).abs() < 1e-12);
    let flipped = told(DetectionErrors { flipped: 0b001, ..none });
    assert!((flipped[0].heading - (0.5 - PI)).abs() < 1e-12 && (flipped[1].heading - 0.5).abs() < 1e-12);
    let ghost = [Detection { x: 5.0, y: 0.0, heading: 0.0, length_m: 1.0, width_m: 1.0 }];
    let ghosts = told(DetectionErrors { ghosts: &ghost, ..none });
    assert_eq!((ghosts.len(), ghosts[0]), (4, ghost[0]));
}

#[test]
fn a_car_that_is_mistaken_about_itself_is_mistaken_about_others() {
    // By hand: believed 1 m east of the truth and turned by 90°, what is 20 m ahead seems to be 20 m north of (1, 0).
    let world = world(20.0, 1);
    let mut input = input(&world, DetectionErrors::default());
    input.believed = Pose::new(1.0, 0.0, PI / 2.0);
    let told = once(DetectorSpec::perfect(), &input, 0);
    assert!((told[0].x - 1.0).abs() < 1e-12 && (told[0].y - 20.0).abs() < 1e-12);
    assert!((told[0].heading - (0.5 + PI / 2.0)).abs() < 1e-12);
}

#[test]
fn the_detection_rate_falls_with_distance_and_fog() {
    let rate = DetectionRate::new(&[(10.0, 1.0), (60.0, 0.0)]).unwrap();
    let spec = DetectorSpec { rate, ..DetectorSpec::perfect() };
    for (away_m, visibility) in [(30.0, 1.0), (50.0, 1.0), (30.0, 0.8)] {
        let world = world(away_m, 1);
        let mut input = input(&world, DetectionErrors::default());
        input.visibility = visibility;
        let nearest_m = world.scan.sight(0).unwrap().nearest_m;
        let expect = 1.0 - (nearest_m / visibility - 10.0) / 50.0;
        assert!((mean_count(&spec, &input) - expect).abs() < 0.03, "{away_m} m, visibility {visibility}");
    }
}

#[test]
fn flips_and_ghosts_come_as_often_as_they_should() {
    let world = world(20.0, 1);
    let input = input(&world, DetectionErrors::default());
    let spec = DetectorSpec { flip: 0.1, ghost: 0.2, ..DetectorSpec::perfect() };
    assert!((mean_count(&spec, &input) - 1.2).abs() < 0.03);
    let flips = (0..4000).filter(|&tick| {
        let told = once(DetectorSpec { ghost: 0.0, ..spec.clone() }, &input, tick);
        told[0].heading < 0.0
    });
    assert!((flips.count() as f64 / 4000.0 - 0.1).abs() < 0.02);
    let ghosts = (0..4000).flat_map(|tick| once(spec.clone(), &input, tick)).filter(|d| d.length_m == 4.5);
    assert!(
        ghosts
            .into_iter()
            .all(|ghost| ghost.x > -1e-9 && Point::new(ghost.x, ghost.y).distance_m(Point::default()) <= 100.0)
    );
}

#[test]
fn every_object_has_its_own_noise_whoever_else_is_there() {
    let spec = DetectorSpec { position: NoiseModel::white(0.3), ..DetectorSpec::perfect() };
    let (one, three) = (world(20.0, 1), world(20.0, 3));
    let alone = once(spec.clone(), &input(&one, DetectionErrors::default()), 7);
    let among = once(spec.clone(), &input(&three, DetectionErrors::default()), 7);
    let hidden = once(spec, &input(&three, DetectionErrors { missed: 0b010, ..DetectionErrors::default() }), 7);
    assert_eq!(alone[0], among[0]);
    assert_eq!(among[2], hidden[1]);
    assert!((among[0].x - 20.0) != (among[1].x - 20.0));
}

#[test]
fn half_hidden_objects_are_not_recognised() {
    let mut world = world(20.0, 1);
    let mut scene = Scene::default();
    scene.add_box(world.objects[0].pose, 2.0, 0.9);
    let wall = anabranch_geometry::Edge { a: Point::new(10.0, 0.0), b: Point::new(10.0, -9.0), obstacle: 0 };
    world.sensor.scan(Pose::default(), &scene, &Walls::new(&[wall]), &mut world.scan);
    let share = world.scan.sight(0).unwrap().share;
    assert!(share > 0.3 && share < 0.7);
    let count = |share_min| {
        let spec = DetectorSpec { share_min, ..DetectorSpec::perfect() };
        once(spec, &input(&world, DetectionErrors::default()), 0).len()
    };
    assert_eq!((count(0.2), count(0.8)), (1, 0));
}

/// What is told of object 0 per reading: its distance, `None` if nothing is told.
fn run(spec: &DetectorSpec, readings: &[(f64, DetectionErrors<'_>)]) -> Vec<Option<f64>> {
    let detector = Detector::new(spec.clone(), 0.1);
    let mut state = detector.start(chance());
    let grid = Grid::of(&Declarations::of(|v| detector.visit(&state, v)).variables);
    let mut told = Vec::new();
    for (tick, (away_m, errors)) in (0..).zip(readings) {
        let mut out = Detections::new();
        let bytes = to_bytes(&state);
        state = from_bytes::<DetectorState>(&bytes).unwrap();
        let world = world(*away_m, 1);
        detector.read(&mut state, &input(&world, *errors), tick, chance(), &mut out);
        let mut key = KeyWriter::new(&grid);
        detector.visit(&state, &mut key.visitor(&[]));
        key.finish().unwrap();
        told.push(out.first().map(|d| d.x));
    }
    told
}

#[test]
fn readings_are_old_by_the_latency_and_by_what_an_error_adds() {
    let spec = DetectorSpec { latency: 1, latency_more_max: 2, ..DetectorSpec::perfect() };
    let none = DetectionErrors::default();
    let more = DetectionErrors { latency_more: 2, ..none };
    let told = run(&spec, &[(20.0, none), (21.0, none), (22.0, none), (23.0, more), (24.0, none)]);
    assert_eq!(told, [None, Some(20.0), Some(21.0), Some(20.0), Some(23.0)]);
}

#[test]
fn a_late_object_is_recognised_some_readings_after_it_came_into_sight() {
    let spec = DetectorSpec { late_max: 3, ..DetectorSpec::perfect() };
    let late = [Late { obstacles: 1, ticks: 2 }];
    let errors = DetectionErrors { late: &late, ..DetectionErrors::default() };
    let told = run(&spec, &[(20.0, errors), (20.0, errors), (20.0, errors), (500.0, errors), (20.0, errors)]);
    assert_eq!(told, [None, None, Some(20.0), None, None]);
}

#[test]
fn a_shared_wandering_moves_all_objects_alike_and_is_in_the_key() {
    let noise = NoiseModel { white: 0.0, ..Output::ObjectPosition.noise(Ready::Wandering) };
    let spec = DetectorSpec { position: noise, ..DetectorSpec::perfect() };
    let world = world(20.0, 2);
    let told = once(spec.clone(), &input(&world, DetectionErrors::default()), 3);
    assert!((told[0].x - 20.0).abs() > 1e-3 && (told[0].x - told[1].x).abs() < 1e-12);
    let detector = Detector::new(spec, 0.1);
    let state = detector.start(chance());
    let declared = Declarations::of(|v| v.within("front", |v| detector.visit(&state, v)));
    let names: Vec<String> = declared.variables.into_iter().map(|v| v.name).collect();
    assert_eq!(names, ["front.x.wander", "front.y.wander"]);
    let whole = check_part(&[state], |state, v| detector.visit(state, v), |state, v| detector.visit(state, v));
    whole.unwrap_or_else(|forgotten| panic!("{forgotten}"));
}

#[test]
fn when_too_many_are_seen_the_nearest_are_told() {
    let spec = DetectorSpec { detections_max: 2, ..DetectorSpec::perfect() };
    let world = world(20.0, 4);
    let told = once(spec, &input(&world, DetectionErrors::default()), 0);
    assert_eq!(told.iter().map(|d| d.y.round()).collect::<Vec<_>>(), [0.0, 6.0]);
}

#[test]
fn a_lost_sensor_tells_nothing_and_nobody_has_been_in_sight_when_it_sees_again() {
    let none = DetectionErrors::default();
    let lost = DetectionErrors { lost: true, ..none };
    let told = run(&DetectorSpec::perfect(), &[(20.0, none), (21.0, lost), (22.0, none)]);
    assert_eq!(told, [Some(20.0), None, Some(22.0)]);
    // With a latency of one reading, what was on its way when it fell silent is not told.
    let spec = DetectorSpec { latency: 1, ..DetectorSpec::perfect() };
    let told = run(&spec, &[(20.0, none), (21.0, lost), (22.0, none), (23.0, none)]);
    assert_eq!(told, [None, None, None, Some(22.0)]);
    let spec = DetectorSpec { late_max: 3, ..DetectorSpec::perfect() };
    let late = [Late { obstacles: 1, ticks: 2 }];
    let late = DetectionErrors { late: &late, ..none };
    let told = run(&spec, &[(20.0, late), (20.0, late), (20.0, late), (20.0, lost), (20.0, late)]);
    assert_eq!(told, [None, None, Some(20.0), None, None]);
}
