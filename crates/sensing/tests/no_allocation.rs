//! A cycle of all sensors must not allocate: it runs inside every segment of an exploration.

use std::f64::consts::TAU;

use anabranch_counting::{Counting, taken};
use anabranch_geometry::{Edge, Point, Pose};
use anabranch_kernel::{Chance, Seed};
use anabranch_sensing::*;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn navigation() -> Navigation {
    let sensor = |ticks, output: Output| MotionSensorSpec::new(ticks, output.noise(Ready::Wandering));
    Navigation::new(NavigationSpec {
        gps: sensor(10, Output::Position),
        compass: sensor(5, Output::Heading),
        wheels: sensor(1, Output::Speed),
        gyro: sensor(1, Output::YawRate),
        filter: FilterSpec::CAR,
        zones: Zones::default(),
        tick_s: 0.1,
    })
}

#[test]
fn sensors_read_without_allocation() {
    let chance = Chance::new(Seed(1), "sensors");
    let mount = Mount { x_m: 2.0, y_m: 0.0, yaw_rad: 0.0 };
    let sensor = RaySensor::new(RaySensorSpec { mount, view_rad: TAU, horizon_m: 80.0, rays: 360 });
    let noise = Output::ObjectPosition.noise(Ready::Wandering);
    let spec = DetectorSpec { latency: 2, position: noise, late_max: 3, ..DetectorSpec::perfect() };
    let (detector, tracker, navigation) = (Detector::new(spec, 0.1), Tracker::new(TrackerSpec::TRAFFIC), navigation());
    let plain = PlainSensors::ready(Ready::Wandering, 0.1);
    let wall = Edge { a: Point::new(30.0, -9.0), b: Point::new(30.0, 9.0), obstacle: 0 };
    let walls = Walls::new(&[wall]);
    let objects: Vec<TrueObject> = (0..20)
        .map(|i| TrueObject { pose: Pose::new(10.0, 8.0 * f64::from(i) - 80.0, 0.3), length_m: 4.5, width_m: 1.8 })
        .collect();
    let truth = Moving { pose: Pose::default(), speed_mps: 5.0, yaw_rate_radps: 0.1 };
    let (mut scene, mut scan, mut told) = (Scene::default(), Scan::default(), Detections::new());
    let (mut detecting, mut tracking) = (detector.start(chance), TrackerState::default());
    let mut navigating = navigation.start(&truth, chance);
    let mut reading = plain.start(&PlainValues::default(), chance);
    let mut before = 0;
    for tick in 0..100 {
        // Memory is asked for in the first cycles, and then kept.
        if tick == 20 {
            before = taken();
        }
        navigation.step(&mut navigating, &truth, &NavigationErrors::default(), tick, chance);
        plain.read(&mut reading, &PlainValues::default(), 1.0, tick, chance);
        scene.clear();
        objects.iter().for_each(|object| {
            scene.add_box(object.pose, 0.5 * object.length_m, 0.5 * object.width_m);
        });
        sensor.scan(truth.pose, &scene, &walls, &mut scan);
        let input = DetectorInput {
            sensor: &sensor,
            scan: &scan,
            objects: &objects,
            car: truth.pose,
            believed: navigating.estimate.moving().pose,
            visibility: 1.0,
            errors: DetectionErrors::default(),
        };
        detector.read(&mut detecting, &input, tick, chance, &mut told);
        tracker.step(&mut tracking, &told);
    }
    assert_eq!(taken(), before);
    assert!(tracking.confirmed().count() >= 15, "{}", tracking.confirmed().count());
}
