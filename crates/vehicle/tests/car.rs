//! The car against closed forms.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::contract::check_part;
use anabranch_kernel::maths::{self, Lanes, Real, Two};
use anabranch_kernel::{Declarations, Grid, KeyWriter};
use anabranch_vehicle::{Car, CarModel, CarSpec, CarState, Gear, PRESETS};

const DT_S: f64 = 0.01;

fn model(change: impl Fn(&mut CarSpec)) -> CarModel {
    let mut spec = CarSpec::compact();
    change(&mut spec);
    CarModel::new(spec, DT_S)
}
fn moving(speed: f64, steering: f64) -> Car<f64> {
    Car { speed, steering, ..Car::at(Pose::new(0.0, 0.0, 0.0)) }
}

#[test]
fn constant_steering_drives_a_circle_either_way() {
    for (gear, slip_gain) in [(1.0, 1.0), (-1.0, 1.0), (1.0, 0.7)] {
        let model = model(|spec| spec.slip_gain = slip_gain);
        let steering = 0.4;
        let mut car = moving(2.0 * gear, steering);
        let radius_m = model.spec.wheelbase_m / (slip_gain * maths::tan(steering));
        let centre = Point::new(0.0, radius_m);
        for _ in 0..2000 {
            model.step(&mut car, steering, 0.0, gear);
            assert!((car.pose().point().distance_m(centre) - radius_m).abs() < 1e-3, "{car:?}");
        }
        assert!((car.heading - gear * 40.0 / radius_m).abs() < 1e-9);
    }
}

#[test]
fn braking_stops_after_the_stopping_distance_and_never_reverses() {
    for gear in [1.0, -1.0] {
        let model = model(|spec| spec.accel_lag_s = 0.0);
        let mut car = moving(10.0 * gear, 0.0);
        for _ in 0..1000 {
            model.step(&mut car, 0.0, -4.0, gear);
            assert!(car.speed * gear >= 0.0);
        }
        assert_eq!((car.speed, car.accel), (0.0, 0.0));
        assert!((car.x * gear - 10.0 * 10.0 / 8.0).abs() < 1e-6, "{}", car.x);
    }
}

#[test]
fn a_car_rolling_against_its_gear_is_braked_to_zero_and_stays() {
    let model = model(|_| ());
    let mut car = moving(0.5, 0.0);
    for _ in 0..200 {
        model.step(&mut car, 0.0, -2.0, -1.0);
        assert!((0.0..=0.5).contains(&car.speed), "{car:?}");
    }
    assert_eq!(car.speed, 0.0);
    for _ in 0..100 {
        model.step(&mut car, 0.0, 1.0, -1.0);
    }
    assert!(car.speed < -0.5);
}

#[test]
fn lags_follow_their_closed_form() {
    let model = model(|spec| spec.steering_rate_max_radps = 100.0);
    let mut car = moving(1.0, 0.0);
    for tick in 1..=100 {
        model.step(&mut car, 0.3, 1.0, 1.0);
        let t_s = f64::from(tick) * DT_S;
        let step = |lag_s: f64| 1.0 - maths::exp(-t_s / lag_s);
        assert!((car.steering - 0.3 * step(model.spec.steering_lag_s)).abs() < 1e-12);
        assert!((car.accel - step(model.spec.accel_lag_s)).abs() < 1e-12);
    }
}

#[test]
fn steering_and_drive_keep_their_limits() {
    let model = model(|_| ());
    let mut car = moving(1.0, 0.0);
    for tick in 1..=300 {
        let before = car;
        model.step(&mut car, 9.0, 99.0, 1.0);
        assert!(car.steering - before.steering <= model.spec.steering_rate_max_radps * DT_S + 1e-15);
        assert!(car.steering <= model.spec.steering_max_rad && car.accel <= model.spec.accel_max_mps2, "{tick}");
    }
    assert!(model.spec.steering_max_rad - car.steering < 1e-6);
    for _ in 0..300 {
        model.step(&mut car, -9.0, -99.0, 1.0);
        assert!(car.accel >= -model.spec.brake_max_mps2 && car.steering >= -model.spec.steering_max_rad);
    }
}

#[test]
fn side_by_side_equals_one_by_one_and_the_heading_comes_with_its_sine() {
    let model = model(|_| ());
    let mut one: Vec<(Car<f64>, f64)> = (0..8)
        .map(|i| (moving(f64::from(i) * 0.8 - 2.0, f64::from(i) * 0.1 - 0.3), if i < 3 { -1.0 } else { 1.0 }))
        .collect();
    let mut lanes = Car::<Two<Lanes<4>>>::from_lanes(|i| &one[i].0);
    let gears = Real::from_lanes(|i| one[i].1);
    for tick in 0..500_i32 {
        let steering = |i: usize| f64::from(tick % 70) * 0.02 - 0.5 + i as f64 * 0.05;
        let accel = |i: usize| f64::from(tick % 90) * 0.08 - 4.0 + i as f64 * 0.3;
        let (cos, sin) = model.step(&mut lanes, Real::from_lanes(steering), Real::from_lanes(accel), gears);
        for (i, (car, gear)) in one.iter_mut().enumerate() {
            let (c, s) = model.step(car, steering(i), accel(i), *gear);
            assert_eq!((s, c), maths::sin_cos(car.heading));
            assert_eq!((cos.lane(i), sin.lane(i)), (c, s));
            assert_eq!(lanes.lane(i), *car);
        }
    }
}

#[test]
fn presets_are_sound_and_the_front_axle_is_a_wheelbase_ahead() {
    for name in PRESETS {
        let spec = CarSpec::named(name).unwrap();
        assert_eq!(spec.fault(), None, "{name}");
        assert!((1.0 / spec.curvature_max_per_m()) < 5.5);
    }
    assert_eq!(CarSpec::named("tank"), None);
    assert!(CarSpec { slip_gain: 1.5, ..CarSpec::van() }.fault().is_some());
    let front = CarSpec::compact().front_axle(Pose::new(1.0, 2.0, std::f64::consts::FRAC_PI_2));
    assert!(front.distance_m(Point::new(1.0, 4.6)) < 1e-12);
}

#[test]
fn the_key_covers_every_variable_and_whole_turns_are_alike() {
    let grid = Grid::of(&Declarations::of(|v| CarState::at(Pose::new(0.0, 0.0, 0.0)).visit(v)).variables);
    let mut writer = KeyWriter::new(&grid);
    let mut key = |state: &CarState| {
        state.visit(&mut writer.visitor(&[]));
        writer.finish().unwrap()
    };
    let start = CarState::at(Pose::new(1.0, 2.0, 0.1));
    let changes: [fn(&mut CarState); 7] = [
        |s| s.car.x += 0.1,
        |s| s.car.y += 0.1,
        |s| s.car.heading += 0.02,
        |s| s.car.speed += 0.2,
        |s| s.car.accel += 1.0,
        |s| s.car.steering += 0.1,
        |s| s.gear = Gear::Reverse,
    ];
    for (index, change) in changes.iter().enumerate() {
        let mut other = start;
        change(&mut other);
        assert_ne!(key(&start), key(&other), "{index}");
    }
    check_part(&[start], |state, v| state.visit(v), |state, v| state.visit(v)).unwrap();
    let mut turned = start;
    turned.car.heading += std::f64::consts::TAU;
    assert_eq!(key(&start), key(&turned));
}
