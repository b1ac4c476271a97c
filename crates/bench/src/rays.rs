//! `rays`: how many rays a virtual sensor casts per second among 100 objects, occlusion and visible shares included.

use std::f64::consts::TAU;
use std::hint::black_box;

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::{Chance, Seed, maths};
use anabranch_sensing::{Mount, RaySensor, RaySensorSpec, Scan, Scene, Walls};

use crate::timing::medians_cpu_s;
use crate::{Figure, Goal};

const OBJECTS: u64 = 100;
const RAYS: u16 = 720;
const SCANS: u32 = 200;
const HORIZON_M: f64 = 80.0;
/// Cars: half their length and half their width.
const HALF_M: [f64; 2] = [2.2, 0.9];

pub(crate) fn run() -> Vec<Figure> {
    let cars = cars();
    let mount = Mount { x_m: 2.0, y_m: 0.0, yaw_rad: 0.0 };
    let sensor = RaySensor::new(RaySensorSpec { mount, view_rad: TAU, horizon_m: HORIZON_M, rays: RAYS });
    let (mut scene, mut scan, walls) = (Scene::default(), Scan::default(), Walls::default());
    let place = |scan: u32| Pose::new(0.02 * f64::from(scan), 0.0, 0.003 * f64::from(scan));
    let mut seen = 0;
    let mut by_sensor = || {
        for number in 0..SCANS {
            scene.clear();
            cars.iter().for_each(|car| {
                scene.add_box(*car, HALF_M[0], HALF_M[1]);
            });
            sensor.scan(place(number), &scene, &walls, &mut scan);
            seen += black_box(scan.sights().count());
        }
    };
    let mut met_m = 0.0;
    let mut by_hand = || {
        for number in 0..SCANS / 10 {
            met_m += black_box(every_ray_against_every_car(&cars, sensor.pose(place(number))));
        }
    };
    let [fast_s, plain_s] = medians_cpu_s(5, [&mut by_sensor, &mut by_hand]);
    assert!(seen > 0 && met_m > 0.0, "rays meet something");
    let rays = f64::from(SCANS) * f64::from(RAYS);
    let (fast, plain) = (rays / fast_s, 0.1 * rays / plain_s);
    vec![
        Figure::new("rays per CPU second among 100 cars, with occlusion and shares", fast, Goal::AtLeast(2e6)),
        Figure::new("every ray against every car, for comparison", plain, Goal::None),
        Figure::new("times as fast as that", fast / plain, Goal::None),
    ]
}

/// Cars all around, at least 6 m away.
fn cars() -> Vec<Pose> {
    let chance = Chance::new(Seed(1), "cars");
    let car = |i: u64| {
        let now = chance.at(i);
        let (sin, cos) = maths::sin_cos(TAU * now.uniform(0));
        let away_m = 6.0 + 64.0 * now.uniform(1).sqrt();
        Pose::new(away_m * cos, away_m * sin, TAU * now.uniform(2))
    };
    (0..OBJECTS).map(car).collect()
}

/// The sum of all ranges, the way one would write it first.
fn every_ray_against_every_car(cars: &[Pose], from: Pose) -> f64 {
    let mut sum_m = 0.0;
    for ray in 0..RAYS {
        let angle = from.heading + (f64::from(ray) + 0.5) / f64::from(RAYS) * TAU;
        let (sin, cos) = maths::sin_cos(angle);
        let mut range_m = HORIZON_M;
        for car in cars {
            let origin = car.local_from_world(Point::new(from.x, from.y));
            let ahead = car.local_from_world(Point::new(from.x + cos, from.y + sin));
            let (dx, dy) = (1.0 / (ahead.x - origin.x), 1.0 / (ahead.y - origin.y));
            let (xa, xb) = ((-HALF_M[0] - origin.x) * dx, (HALF_M[0] - origin.x) * dx);
            let (ya, yb) = ((-HALF_M[1] - origin.y) * dy, (HALF_M[1] - origin.y) * dy);
            let (enters_m, leaves_m) = (xa.min(xb).max(ya.min(yb)), xa.max(xb).min(ya.max(yb)));
            if enters_m <= leaves_m && enters_m >= 0.0 && enters_m < range_m {
                range_m = enters_m;
            }
        }
        sum_m += range_m;
    }
    sum_m
}
