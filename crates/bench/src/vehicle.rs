//! What a step of each vehicle costs against the plain car, and a cycle of the driver on roads.

use std::hint::black_box;
use std::sync::Arc;

use anabranch_driving::road::{ObjectKind, RoadDriver, RoadDriverSpec, Seen, SeenObject};
use anabranch_driving::track::EgoEstimate;
use anabranch_geometry::Pose;
use anabranch_roads::{LanePlace, Network, make};
use anabranch_vehicle::{
    Car, CarModel, CarSpec, Inputs, Plant, SingleTrack, SingleTrackModel, SingleTrackSpec, TrailerModel, TrailerSpec,
    WithTrailer,
};

use crate::timing::medians_cpu_s;
use crate::{Figure, Goal};

const STEPS: u32 = 400_000;
const CYCLES: u32 = 4_000;
const CYCLE_S: f64 = 0.05;

pub(crate) fn run() -> Vec<Figure> {
    let [plain_s, tyres_s, trailer_s] = steps_cpu_s();
    let [alone_s, crowd_s] = [0, 20].map(cycles_cpu_s);
    let per = |seconds: f64, number: u32| 1e9 * seconds / f64::from(number);
    vec![
        Figure::new("plain car (S4-11): nanoseconds of CPU per step", per(plain_s, STEPS), Goal::None),
        Figure::new("car with tyres: cost of a step, times the plain car's", tyres_s / plain_s, Goal::AtMost(4.0)),
        Figure::new("car with trailer: cost of a step, times the plain car's", trailer_s / plain_s, Goal::AtMost(2.5)),
        Figure::new("driver on roads, alone: cycles per CPU second", f64::from(CYCLES) / alone_s, Goal::None),
        Figure::new(
            "driver on roads, among 20 cars: cycles per CPU second",
            f64::from(CYCLES) / crowd_s,
            Goal::AtLeast(6e4),
        ),
    ]
}

/// CPU seconds of many steps of the plain car, the car with tyres and the car with a trailer.
fn steps_cpu_s() -> [f64; 3] {
    let steering = |tick: u32| 0.02 * f64::from(tick % 64) / 64.0 - 0.01;
    let plain = CarModel::new(CarSpec::compact(), 0.01);
    let tyres = SingleTrackModel::new(SingleTrackSpec::compact(), 0.01);
    let trailer = TrailerModel::new(CarSpec::compact(), TrailerSpec::caravan(), 0.01);
    medians_cpu_s(
        7,
        [
            &mut || {
                let mut car = Car { speed: 20.0, ..Car::at(Pose::default()) };
                (0..STEPS).for_each(|tick| {
                    plain.step(&mut car, steering(tick), 0.0, 1.0);
                });
                black_box(car);
            },
            &mut || {
                let mut car = SingleTrack::at(Pose::default(), 20.0);
                (0..STEPS).for_each(|tick| {
                    let inputs = Inputs { steering: steering(tick), accel: 0.1, gear_sign: 1.0, friction: 0.9 };
                    tyres.step(&mut car, &inputs);
                });
                black_box(car);
            },
            &mut || {
                let mut car = WithTrailer::at(Pose::default(), 20.0);
                (0..STEPS).for_each(|tick| {
                    trailer.step(&mut car, steering(tick), 0.0, 1.0);
                });
                black_box(car);
            },
        ],
    )
}

/// CPU seconds of many cycles of the driver with its car, among others that drive alongside on three lanes.
fn cycles_cpu_s(others: u32) -> f64 {
    let network = Arc::new(Network::new(&make::straight(4000.0, 3)).expect("the map is sound"));
    let lane = network.find("main", "2").expect("there are three lanes");
    let place = |station_m| LanePlace { lane, station_m };
    let route = network.route(place(200.0), place(3900.0)).expect("the lane leads there");
    let plant = Plant::Car(CarModel::new(CarSpec::compact(), CYCLE_S));
    let driver = RoadDriver::for_rolling(RoadDriverSpec::CALM, network, route, plant.spec(), CYCLE_S);
    let driver = driver.expect("the weights are positive");
    let object = |number: u32, time_s: f64| SeenObject {
        pose: Pose::new(110.0 + 12.0 * f64::from(number) + 12.0 * time_s, 3.5 * f64::from(number % 3), 0.0),
        velocity_mps: [12.0, 0.0],
        half_length_m: 2.1,
        half_width_m: 0.9,
        kind: ObjectKind::Car,
    };
    let mut objects: Vec<SeenObject> = Vec::new();
    let [seconds] = medians_cpu_s(
        7,
        [&mut || {
            let mut state = plant.start(driver.start_pose(), 12.0);
            let mut memory = driver.start();
            for cycle in 0..CYCLES {
                objects.clear();
                // The one that would drive in its place is left out.
                objects.extend(
                    (0..others + u32::from(others > 0))
                        .filter(|number| *number != 7)
                        .map(|number| object(number, f64::from(cycle) * CYCLE_S)),
                );
                let ego = EgoEstimate::from(plant.motion(&state));
                let seen =
                    Seen { ego, objects: &objects, lights: &[], heard: &[], soft_tyre: false, signs_m: f64::INFINITY };
                let command = driver.decide(&mut memory, &seen);
                let (steering, accel) = (command.steering, command.accel);
                plant.step(&mut state, &Inputs { steering, accel, gear_sign: 1.0, friction: 0.9 });
            }
            black_box(state);
        }],
    );
    seconds
}
