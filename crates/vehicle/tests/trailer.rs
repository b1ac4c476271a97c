//! Car and trailer against closed forms.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths::{self, Lanes, Real};
use anabranch_vehicle::{CarSpec, TrailerModel, TrailerSpec, WithTrailer, truck};

const DT_S: f64 = 0.01;

fn caravan() -> TrailerModel {
    TrailerModel::new(CarSpec::compact().kinematic(), TrailerSpec::caravan(), DT_S)
}
fn semi() -> TrailerModel {
    TrailerModel::new(truck().kinematic(), TrailerSpec::semi(), DT_S)
}
fn straight(speed_mps: f64) -> WithTrailer<f64> {
    WithTrailer::at(Pose::new(0.0, 0.0, 0.0), speed_mps)
}

/// The trailer's axle runs on radius √(R² + c² − d²) about the same centre.
#[test]
fn a_steady_turn_has_the_off_tracking_of_the_closed_form() {
    for model in [caravan(), semi()] {
        let steering = 0.2;
        let radius_m = model.tractor.spec.wheelbase_m / maths::tan(steering);
        let mut state = straight(2.0);
        state.car.steering = steering;
        let centre = Point::new(0.0, radius_m);
        for _ in 0..6000 {
            model.step(&mut state, steering, 0.0, 1.0);
        }
        let TrailerSpec { hitch_behind_m: c, length_m: d, .. } = model.trailer;
        let expected_m = (radius_m * radius_m + c * c - d * d).sqrt();
        let axle = model.trailer_pose(&state);
        assert!((axle.point().distance_m(centre) - expected_m).abs() < 1e-3, "{expected_m}");
        let steady = model.steady_hitch_rad(1.0 / radius_m).unwrap();
        assert!((state.hitch - steady).abs() < 1e-6, "{} {steady}", state.hitch);
    }
}

/// Straight ahead, small angles: φ̇ = −(v/d)·φ, so after the way d the angle has fallen to 1/e; backwards it grows by e.
#[test]
fn angles_die_out_forwards_and_grow_backwards_by_e_per_trailer_length() {
    for gear in [1.0, -1.0] {
        let model = caravan();
        let mut state = straight(1.0 * gear);
        state.hitch = 1e-4;
        for _ in 0..400 {
            model.step(&mut state, 0.0, 0.0, gear);
        }
        let expected = 1e-4 * maths::exp(-gear);
        assert!((state.hitch / expected - 1.0).abs() < 1e-5, "{} {expected}", state.hitch);
    }
}

#[test]
fn a_trailer_that_is_only_pushed_jackknifes_and_one_that_is_steered_back_does_not() {
    let model = caravan();
    let mut pushed = straight(-1.0);
    pushed.hitch = 0.05;
    let mut steered = pushed;
    for _ in 0..3000 {
        model.step(&mut pushed, 0.0, 0.0, -1.0);
        // Wheels into the angle: the tractor swings round behind its trailer.
        let into = 1.5 * steered.hitch;
        model.step(&mut steered, into, 0.0, -1.0);
    }
    assert!(model.is_jackknifed(&pushed) && !model.is_jackknifed(&steered));
    assert!(steered.hitch.abs() < 0.01, "{}", steered.hitch);
}

#[test]
fn the_trailer_axle_never_slips_sideways() {
    for model in [caravan(), semi()] {
        let mut state = straight(3.0);
        for tick in 0..2000_u32 {
            let before = model.trailer_pose(&state);
            model.step(&mut state, 0.4 * maths::sin(f64::from(tick) * 0.01), 0.0, 1.0);
            let after = model.trailer_pose(&state);
            let middle = Pose::new(before.x, before.y, 0.5 * (before.heading + after.heading));
            let moved = middle.local_from_world(after.point());
            assert!(moved.y.abs() < 2e-6, "{tick}: {moved:?}");
        }
    }
}

#[test]
fn steps_of_ten_milliseconds_are_within_a_millimetre_of_a_much_finer_one() {
    let end = |dt_s: f64| {
        let model = TrailerModel::new(truck(), TrailerSpec::semi(), dt_s);
        let mut state = straight(5.0);
        for tick in 0..(20.0 / dt_s).round() as u32 {
            // Commands change every 20 ms whatever the step, so that all runs have the same input.
            let t_s = (f64::from(tick) * dt_s / 0.02 + 1e-9).floor() * 0.02;
            let steering = 0.3 * maths::sin(t_s * 0.5);
            model.step(&mut state, steering, 0.0, 1.0);
        }
        // The trailer relative to its tractor: the tractor has tests of its own.
        state.hitch
    };
    let fine = end(0.000_25);
    let (coarse, usual) = ((end(0.02) - fine).abs(), (end(0.01) - fine).abs());
    println!("{coarse:.1e} rad, {usual:.1e} rad off with 20 and 10 ms");
    assert!(usual * 7.7 < 1e-3 && usual < 0.3 * coarse);
}

#[test]
fn side_by_side_equals_one_by_one() {
    let model = semi();
    let mut one: Vec<WithTrailer<f64>> = (0..4).map(|i| straight(f64::from(i) * 2.0 - 2.0)).collect();
    let mut lanes = WithTrailer::<Lanes<4>>::from_lanes(|i| &one[i]);
    for tick in 0..500_i32 {
        let steering = |i: usize| f64::from(tick % 70) * 0.01 - 0.3 + i as f64 * 0.02;
        let (accel, gear) = (|i: usize| 0.4 - 0.2 * i as f64, |i: usize| if i < 1 { -1.0 } else { 1.0 });
        model.step(&mut lanes, Real::from_lanes(steering), Real::from_lanes(accel), Real::from_lanes(gear));
        for (i, state) in one.iter_mut().enumerate() {
            model.step(state, steering(i), accel(i), gear(i));
            assert_eq!(lanes.lane(i), *state);
        }
    }
}

#[test]
fn trailers_that_come_with_the_product_are_sound() {
    for name in ["caravan", "semi"] {
        assert_eq!(TrailerSpec::named(name).unwrap().fault(), None, "{name}");
    }
    assert_eq!(truck().fault(), None);
    assert!(TrailerSpec { length_m: 0.0, ..TrailerSpec::caravan() }.fault().is_some());
}
