//! The car with tyres against closed forms of vehicle dynamics.

use anabranch_geometry::Pose;
use anabranch_kernel::maths::{self, Lanes, Real, Two};
use anabranch_vehicle::{
    Axle, Car, CarModel, CarSpec, GRAVITY_MPS2, Inputs, SingleTrack, SingleTrackModel, SingleTrackSpec, Tyre,
};

const DT_S: f64 = 0.01;

/// Wheels that follow at once, tyres in proportion: what closed forms assume.
fn ideal() -> SingleTrackSpec {
    let compact = SingleTrackSpec::compact();
    SingleTrackSpec { car: compact.car.kinematic(), tyre: Tyre::Linear, ..compact }
}
fn inputs(steering: f64, accel: f64, friction: f64) -> Inputs<f64> {
    Inputs { steering, accel, gear_sign: 1.0, friction }
}
fn rolling(speed_mps: f64) -> SingleTrack<f64> {
    SingleTrack::at(Pose::new(0.0, 0.0, 0.0), speed_mps)
}
/// Holds the speed, as closed forms assume, for some time.
fn hold(model: &SingleTrackModel, state: &mut SingleTrack<f64>, steering: f64, seconds: f64) {
    hold_on(model, state, steering, 0.9, seconds);
}
/// The same on some ground.
fn hold_on(model: &SingleTrackModel, state: &mut SingleTrack<f64>, steering: f64, friction: f64, seconds: f64) {
    let speed = state.car.speed;
    for _ in 0..(seconds / model.dt_s()).round() as u32 {
        model.step(state, &inputs(steering, 0.0, friction));
        state.car.speed = speed;
    }
}

/// r/δ = v / (L + K·v²) with K = (m/L)·(b/C_f − a/C_r); for the compact car K = 500·(1.5/120000 − 1.1/125000) by hand.
#[test]
fn steady_yaw_gain_is_that_of_the_understeer_gradient() {
    let spec = ideal();
    assert!((spec.understeer_rad_per_mps2() - 500.0 * (1.5 / 120_000.0 - 1.1 / 125_000.0)).abs() < 1e-15);
    let model = SingleTrackModel::new(spec, DT_S);
    for speed in [2.0, 5.0, 10.0, 20.0, 30.0, 45.0] {
        let mut state = rolling(speed);
        hold(&model, &mut state, 1e-3, 8.0);
        let gain = speed / (spec.car.wheelbase_m + spec.understeer_rad_per_mps2() * speed * speed);
        assert!((state.yaw_rate / (1e-3 * gain) - 1.0).abs() < 1e-5, "{speed} m/s: {} {gain}", state.yaw_rate / 1e-3);
    }
}

/// The answer of a linear system to a step is x∞ − exp(A·t)·x∞, and for a pair σ ± iω of eigenvalues
/// exp(A·t) = e^{σt}·(cos ωt + sin ωt/ω·(A − σ)).
fn step_response(spec: &SingleTrackSpec, speed: f64, steering: f64, t_s: f64) -> [f64; 2] {
    let (a, b) = spec.linear(speed);
    let det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    let end =
        [-(a[1][1] * b[0] - a[0][1] * b[1]) / det * steering, -(a[0][0] * b[1] - a[1][0] * b[0]) / det * steering];
    let sigma = 0.5 * (a[0][0] + a[1][1]);
    let omega = (det - sigma * sigma).sqrt();
    assert!(omega.is_finite() && sigma < 0.0, "this car oscillates at this speed and is stable");
    let (sin, cos) = maths::sin_cos(omega * t_s);
    let fade = maths::exp(sigma * t_s);
    std::array::from_fn(|i| {
        let turned = (a[i][0] * end[0] + a[i][1] * end[1] - sigma * end[i]) * sin / omega;
        end[i] - fade * (cos * end[i] + turned)
    })
}

#[test]
fn the_answer_to_a_steering_step_has_the_eigenvalues_of_the_linear_car() {
    let spec = ideal();
    for (speed, dt_s, off_max) in [(20.0, 0.01, 6e-3), (30.0, 0.01, 5e-3), (30.0, 0.005, 1.3e-3), (40.0, 0.01, 5e-3)] {
        let model = SingleTrackModel::new(spec, dt_s);
        let mut state = rolling(speed);
        state.car.steering = 1e-3;
        let mut worst: f64 = 0.0;
        let end = step_response(&spec, speed, 1e-3, 60.0)[1];
        for tick in 1..=(2.0 / dt_s) as u32 {
            hold(&model, &mut state, 1e-3, dt_s);
            let exact = step_response(&spec, speed, 1e-3, f64::from(tick) * dt_s);
            let across = state.slide + spec.centre_ahead_m() * state.yaw_rate;
            worst = worst.max(((state.yaw_rate - exact[1]) / end).abs());
            assert!((across - exact[0]).abs() < 0.01 * end.abs() * spec.centre_ahead_m() + 1e-4, "{tick}");
        }
        println!("{speed} m/s, {dt_s} s: at most {worst:.2e} of the end value off");
        assert!(worst < off_max, "{worst}");
    }
}

/// At v_crit = √(−L/K) the determinant of A vanishes: an oversteering car leaves its line without anybody steering.
#[test]
fn an_oversteering_car_is_stable_below_its_critical_speed_and_not_above() {
    let axle = |stiffness_n_per_rad| Axle { stiffness_n_per_rad, drive_share: 0.5, brake_share: 0.5, grip: 1.0 };
    let spec = SingleTrackSpec { front: axle(140_000.0), rear: axle(70_000.0), ..ideal() };
    let critical = (-spec.car.wheelbase_m / spec.understeer_rad_per_mps2()).sqrt();
    assert!((15.0..40.0).contains(&critical), "{critical}");
    let yaw_after = |speed: f64| {
        let mut state = rolling(speed);
        state.yaw_rate = 1e-4;
        hold(&SingleTrackModel::new(spec, DT_S), &mut state, 0.0, 10.0);
        state.yaw_rate.abs()
    };
    let (below, above) = (yaw_after(0.9 * critical), yaw_after(1.1 * critical));
    assert!(below < 0.5e-4 && above > 2e-4, "{below} {above}");
}

/// What S4-21 claims over kinematic simulators. Grip cannot move a car aside by more than ½·μ·g·t², and the front wheels
/// must push before the rear ones do; a kinematic bicycle at 30 m/s with these wheels turns at v·tan δ/L = 0.46 rad/s from
/// the first step and is 27 m aside after two seconds.
#[test]
fn at_speed_the_car_answers_late_and_no_harder_than_the_ground_allows() {
    let spec = SingleTrackSpec { car: CarSpec::compact().kinematic(), ..SingleTrackSpec::compact() };
    let (steering, speed, seconds) = (0.04, 30.0, 2.0);
    let kinematic = CarModel::new(spec.car, DT_S);
    let mut bicycle = Car { speed, steering, ..Car::at(Pose::new(0.0, 0.0, 0.0)) };
    let mut bicycle_early = 0.0;
    for tick in 0..200 {
        kinematic.step(&mut bicycle, steering, 0.0, 1.0);
        bicycle_early = if tick == 4 { bicycle.heading } else { bicycle_early };
    }
    for friction in [0.9, 0.3, 0.1] {
        let model = SingleTrackModel::new(spec, DT_S);
        let mut state = rolling(speed);
        state.car.steering = steering;
        hold_on(&model, &mut state, steering, friction, 0.05);
        assert!(state.car.heading < 0.4 * bicycle_early, "late: {} {bicycle_early}", state.car.heading);
        hold_on(&model, &mut state, steering, friction, seconds - 0.05);
        let aside_max_m = 0.5 * friction * GRAVITY_MPS2 * seconds * seconds;
        assert!(state.car.y < aside_max_m, "{friction}: {} m aside, {aside_max_m}", state.car.y);
        assert!(state.car.y > 0.5 * aside_max_m, "{friction}: it does turn");
        assert!(bicycle.y > 1.3 * aside_max_m, "the kinematic one ignores the ground: {}", bicycle.y);
    }
}

#[test]
fn forces_stay_inside_the_friction_circle_whatever_the_driver_does() {
    for friction in [0.1, 0.4, 1.0] {
        let spec = SingleTrackSpec { car: CarSpec::compact().kinematic(), ..SingleTrackSpec::compact() };
        let model = SingleTrackModel::new(spec, DT_S);
        let mut state = rolling(35.0);
        for tick in 0..600_u32 {
            let before = state;
            let steering = if tick % 150 < 75 { 0.3 } else { -0.3 };
            let accel = [-8.0, 0.0, 3.0][tick as usize / 50 % 3];
            model.step(&mut state, &inputs(steering, accel, friction));
            let velocity = |state: &SingleTrack<f64>| {
                let across = state.slide + spec.centre_ahead_m() * state.yaw_rate;
                let (sin, cos) = maths::sin_cos(state.car.heading);
                [cos * state.car.speed - sin * across, sin * state.car.speed + cos * across]
            };
            let (from, to) = (velocity(&before), velocity(&state));
            let pull = maths::hypot(to[0] - from[0], to[1] - from[1]) / DT_S;
            assert!(pull < 1.02 * friction * GRAVITY_MPS2 + 0.05, "{friction} {tick}: {pull} {state:?}");
        }
    }
}

/// On dry ground brakes give what is asked; on ice what grip there is, less the reserve of the anti-lock brakes:
/// v²/(2·b).
#[test]
fn stopping_distances_follow_from_friction() {
    for (friction, share, off_max) in [(1.0, 1.0, 0.02), (0.2, 0.95, 0.03)] {
        let spec = SingleTrackSpec { car: CarSpec::compact().kinematic(), ..SingleTrackSpec::compact() };
        let asked: f64 = 6.0;
        let model = SingleTrackModel::new(spec, DT_S);
        let mut state = rolling(20.0);
        for _ in 0..3000 {
            model.step(&mut state, &inputs(0.0, -asked, friction));
        }
        let decel = asked.min(share * friction * GRAVITY_MPS2);
        let way_m = 20.0 * 20.0 / (2.0 * decel);
        assert_eq!((state.car.speed, state.slide, state.yaw_rate), (0.0, 0.0, 0.0));
        assert!((state.car.x / way_m - 1.0).abs() < off_max, "{friction}: {} instead of {way_m}", state.car.x);
    }
}

#[test]
fn braking_in_a_curve_on_ice_leaves_less_grip_to_turn_with() {
    let model = SingleTrackModel::new(SingleTrackSpec::compact(), DT_S);
    let turned = |accel: f64| {
        let mut state = rolling(15.0);
        for _ in 0..100 {
            model.step(&mut state, &inputs(0.1, accel, 0.2));
        }
        // Per way, because the braking car covers less of it.
        state.car.heading / state.car.x
    };
    assert!(turned(-6.0) < 0.7 * turned(0.0), "{} {}", turned(-6.0), turned(0.0));
}

#[test]
fn slow_cars_roll_as_the_kinematic_bicycle_does_forwards_and_backwards() {
    for speed in [0.5, 1.0, 2.0, -0.5, -1.0] {
        // What is left is understeer, K·v²/L of the turn: 0.7 mrad per radian at 1 m/s.
        let off_max_m = 6e-3 * speed * speed;
        let spec = SingleTrackSpec::compact();
        let (model, plain) = (SingleTrackModel::new(spec, DT_S), CarModel::new(spec.car, DT_S));
        let mut state = rolling(speed);
        let mut car = state.car;
        let gear_sign = f64::signum(speed);
        for tick in 0..(8.0 / f64::abs(speed) / DT_S) as u32 {
            let steering = if tick % 400 < 200 { 0.3 } else { -0.2 };
            model.step(&mut state, &Inputs { steering, accel: 0.0, gear_sign, friction: 0.9 });
            state.car.speed = speed;
            plain.step(&mut car, steering, 0.0, gear_sign);
            car.speed = speed;
        }
        let off_m = car.pose().point().distance_m(state.car.pose().point());
        println!("{speed} m/s: {off_m:.1e} m off after 8 m");
        assert!(off_m < off_max_m, "{speed}: {off_m}");
    }
}

#[test]
fn the_car_starts_and_stops_without_a_jump_and_rests() {
    let model = SingleTrackModel::new(SingleTrackSpec::compact(), DT_S);
    let mut state = rolling(0.0);
    for tick in 0..2000_u32 {
        let before = state;
        let accel = if tick % 1000 < 200 { 1.5 } else { -3.0 };
        let gear_sign = if tick < 1000 { 1.0 } else { -1.0 };
        model.step(&mut state, &Inputs { steering: 0.4, accel, gear_sign, friction: 0.8 });
        assert!((state.car.speed - before.car.speed).abs() <= 3.2 * DT_S, "{tick}");
        assert!((state.yaw_rate - before.yaw_rate).abs() < 0.03 && (state.slide - before.slide).abs() < 0.03, "{tick}");
        if tick % 1000 == 999 {
            assert_eq!((state.car.speed, state.slide, state.yaw_rate), (0.0, 0.0, 0.0));
            assert_eq!(state.car.pose(), before.car.pose());
        }
    }
}

/// A double lane change at 30 m/s to the limit of grip, against steps of 0.25 ms.
fn dodge(dt_s: f64, speed: f64) -> SingleTrack<f64> {
    let model = SingleTrackModel::new(SingleTrackSpec::compact(), dt_s);
    let mut state = rolling(speed);
    for tick in 0..(4.0 / dt_s).round() as u32 {
        // Commands change every 20 ms whatever the step, so that all runs have the same input.
        let t_s = (f64::from(tick) * dt_s / 0.02 + 1e-9).floor() * 0.02;
        let steering = 0.05 * 30.0 / speed * maths::sin(std::f64::consts::PI * t_s);
        model.step(&mut state, &inputs(steering, -0.5, 0.9));
    }
    state
}

#[test]
fn steps_of_ten_milliseconds_are_within_millimetres_of_a_much_finer_one() {
    for speed in [5.0, 30.0] {
        let fine = dodge(0.000_25, speed);
        let off = |dt_s| dodge(dt_s, speed).car.pose().point().distance_m(fine.car.pose().point());
        let (coarse, usual, half) = (off(0.02), off(0.01), off(0.005));
        println!("{speed} m/s: {coarse:.4} m, {usual:.4} m, {half:.4} m off with 20, 10 and 5 ms");
        assert!(usual < 0.01, "{usual}");
        assert!(half < 0.35 * usual && usual < 0.35 * coarse, "errors shrink with the step");
    }
}

#[test]
fn a_spinning_car_loses_energy_and_comes_to_rest() {
    let spec = SingleTrackSpec::compact();
    let model = SingleTrackModel::new(spec, DT_S);
    let mut state = rolling(20.0);
    state.yaw_rate = 4.0;
    let energy = |state: &SingleTrack<f64>| {
        let across = state.slide + spec.centre_ahead_m() * state.yaw_rate;
        let speeds = state.car.speed * state.car.speed + across * across;
        0.5 * spec.mass_kg * speeds + 0.5 * spec.yaw_inertia_kgm2 * state.yaw_rate * state.yaw_rate
    };
    for tick in 0..1500 {
        let before = energy(&state);
        model.step(&mut state, &inputs(0.0, -4.0, 0.6));
        assert!(energy(&state) <= before * 1.002 + 1e-9, "{tick}: {before} {}", energy(&state));
    }
    assert_eq!((state.car.speed, state.slide, state.yaw_rate), (0.0, 0.0, 0.0));
}

#[test]
fn side_by_side_equals_one_by_one() {
    let model = SingleTrackModel::new(SingleTrackSpec::compact(), DT_S);
    let mut one: Vec<SingleTrack<f64>> = (0..8).map(|i| rolling(f64::from(i) * 4.0 - 2.0)).collect();
    let mut lanes = SingleTrack::<Two<Lanes<4>>>::from_lanes(|i| &one[i]);
    for tick in 0..600_i32 {
        let steering = |i: usize| f64::from(tick % 70) * 0.004 - 0.1 + i as f64 * 0.02;
        let accel = |i: usize| f64::from(tick % 90) * 0.08 - 4.0 + i as f64 * 0.3;
        let (gear, friction) = (|i: usize| if i < 1 { -1.0 } else { 1.0 }, |i: usize| 0.1 + 0.1 * i as f64);
        let all = Inputs {
            steering: Real::from_lanes(steering),
            accel: Real::from_lanes(accel),
            gear_sign: Real::from_lanes(gear),
            friction: Real::from_lanes(friction),
        };
        let (cos, sin) = model.step(&mut lanes, &all);
        for (i, car) in one.iter_mut().enumerate() {
            let (steering, accel, gear_sign, friction) = (steering(i), accel(i), gear(i), friction(i));
            let direction = model.step(car, &Inputs { steering, accel, gear_sign, friction });
            assert_eq!((cos.lane(i), sin.lane(i)), direction);
            assert_eq!(lanes.lane(i), *car);
        }
    }
}

#[test]
fn presets_are_sound_and_understeer_a_little() {
    for name in anabranch_vehicle::PRESETS {
        let spec = SingleTrackSpec::named(name).unwrap();
        assert_eq!(spec.fault(), None, "{name}");
        assert!((0.5e-3..5e-3).contains(&spec.understeer_rad_per_mps2()), "{name} {}", spec.understeer_rad_per_mps2());
    }
    let slipping = CarSpec { slip_gain: 0.8, ..CarSpec::compact() };
    assert!(SingleTrackSpec { car: slipping, ..SingleTrackSpec::compact() }.fault().is_some());
    assert!(SingleTrackSpec { front_axle_ahead_m: 2.6, ..SingleTrackSpec::compact() }.fault().is_some());
}
