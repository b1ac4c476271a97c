//! Friction by place, time and error.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::contract::check_part;
use anabranch_vehicle::{
    Area, BadGround, CarModel, CarSpec, Course, FRICTION_MIN, Ground, Inputs, Place, Plant, SingleTrackModel,
    SingleTrackSpec, TrailerModel, TrailerSpec, Zone,
};

fn place(x: f64, y: f64) -> Place {
    Place { point: Point::new(x, y), lane: None }
}
fn square(from: f64, to: f64, friction: f64) -> Zone {
    let corners = [(from, from), (to, from), (to, to), (from, to)].map(|(x, y)| Point::new(x, y)).to_vec();
    Zone { area: Area::Polygon(corners), friction: Course::Fixed(friction), during_s: None }
}

#[test]
fn the_zone_listed_last_counts() {
    let ground = Ground::new(Course::Fixed(0.9), vec![square(0.0, 10.0, 0.5), square(4.0, 6.0, 0.1)]).unwrap();
    for (x, y, expected) in [(-1.0, 5.0, 0.9), (1.0, 5.0, 0.5), (5.0, 5.0, 0.1), (5.0, 7.0, 0.5), (11.0, 5.0, 0.9)] {
        assert_eq!(ground.friction(&place(x, y), 0.0, 1.0), expected, "{x} {y}");
    }
    assert!(!ground.changes());
}

#[test]
fn a_zone_with_a_notch_leaves_the_notch_out() {
    let corners = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (2.0, 1.0), (0.0, 4.0)].map(|(x, y)| Point::new(x, y)).to_vec();
    let zone = Zone { area: Area::Polygon(corners), friction: Course::Fixed(0.2), during_s: None };
    let ground = Ground::new(Course::Fixed(1.0), vec![zone]).unwrap();
    assert_eq!(ground.friction(&place(2.0, 3.0), 0.0, 1.0), 1.0);
    assert_eq!(ground.friction(&place(2.0, 0.5), 0.0, 1.0), 0.2);
    assert_eq!(ground.friction(&place(0.2, 3.0), 0.0, 1.0), 0.2);
}

#[test]
fn stretches_of_a_lane_hold_on_that_lane_only() {
    let zone = Zone {
        area: Area::Stretch { lane: 3, from_m: 20.0, to_m: 30.0 },
        friction: Course::Fixed(0.3),
        during_s: None,
    };
    let ground = Ground::new(Course::Fixed(0.8), vec![zone]).unwrap();
    let on = |lane| ground.friction(&Place { lane, ..place(0.0, 0.0) }, 0.0, 1.0);
    assert_eq!([on(Some((3, 25.0))), on(Some((3, 31.0))), on(Some((2, 25.0))), on(None)], [0.3, 0.8, 0.8, 0.8]);
}

/// Rain from 10 s to 20 s takes 0.9 down to 0.5; in its middle it is 0.7.
#[test]
fn friction_changes_over_time_and_an_error_scales_it() {
    let ground = Ground::new(Course::Table(vec![(10.0, 0.9), (20.0, 0.5)]), vec![]).unwrap();
    assert!(ground.changes());
    let at = |time_s, factor| ground.friction(&place(0.0, 0.0), time_s, factor);
    for (time_s, expected) in [(0.0, 0.9), (10.0, 0.9), (15.0, 0.7), (20.0, 0.5), (99.0, 0.5)] {
        assert!((at(time_s, 1.0) - expected).abs() < 1e-12, "{time_s}");
    }
    assert!((at(0.0, 0.3) - 0.27).abs() < 1e-12);
    assert_eq!(at(0.0, 0.0), FRICTION_MIN);
}

/// A puddle that freezes from 5 s to 8 s: before and after, the road below it counts.
#[test]
fn a_zone_can_be_there_for_some_time_only() {
    let ice = Zone { during_s: Some([5.0, 8.0]), ..square(0.0, 10.0, 0.1) };
    let ground = Ground::new(Course::Fixed(0.9), vec![square(-5.0, 20.0, 0.5), ice.clone()]).unwrap();
    assert!(ground.changes());
    for (time_s, expected) in [(0.0, 0.5), (4.99, 0.5), (5.0, 0.1), (7.99, 0.1), (8.0, 0.5)] {
        assert_eq!(ground.friction(&place(5.0, 5.0), time_s, 1.0), expected, "{time_s}");
    }
    let never = Zone { during_s: Some([8.0, 8.0]), ..ice };
    assert!(Ground::new(Course::Fixed(0.9), vec![never]).is_err());
}

#[test]
fn bad_grounds_are_told_with_their_zone() {
    let bad = |zones| Ground::new(Course::Fixed(0.9), zones).unwrap_err();
    let flat = Zone { area: Area::Polygon(vec![Point::default(); 2]), friction: Course::Fixed(0.5), during_s: None };
    assert_eq!(bad(vec![square(0.0, 1.0, 0.5), flat]).to_string(), "friction zone 2 has fewer than three corners");
    assert!(matches!(bad(vec![square(0.0, 1.0, 7.0)]), BadGround::Zone { zone: 1, .. }));
    assert!(matches!(Ground::new(Course::Table(vec![]), vec![]), Err(BadGround::Everywhere(_))));
    assert!(Ground::new(Course::Table(vec![(1.0, 0.5), (1.0, 0.6)]), vec![]).is_err());
    assert!(Ground::new(Course::Fixed(f64::NAN), vec![]).is_err());
}

/// The same commands over the same ground, once with the error choice "a third of the friction": the car leaves its lane.
#[test]
fn friction_as_an_error_choice_changes_where_the_car_goes() {
    let plant = Plant::SingleTrack(SingleTrackModel::new(SingleTrackSpec::compact(), 0.01));
    assert!(plant.feels_friction());
    let ground = Ground::new(Course::Fixed(0.9), vec![]).unwrap();
    let end = |factor: f64| {
        let mut state = plant.start(Pose::new(0.0, 0.0, 0.0), 25.0);
        for tick in 0..200_u32 {
            let pose = plant.motion(&state).pose;
            let friction = ground.friction(&place(pose.x, pose.y), f64::from(tick) * 0.01, factor);
            plant.step(&mut state, &Inputs { steering: 0.04, accel: 0.0, gear_sign: 1.0, friction });
        }
        plant.motion(&state).pose.y
    };
    assert!(end(1.0) - end(1.0 / 3.0) > 2.0, "{} {}", end(1.0), end(1.0 / 3.0));
}

#[test]
fn every_vehicle_writes_all_its_variables_into_the_key() {
    let plants = [
        Plant::Car(CarModel::new(CarSpec::compact(), 0.01)),
        Plant::SingleTrack(SingleTrackModel::new(SingleTrackSpec::compact(), 0.01)),
        Plant::Trailer(TrailerModel::new(CarSpec::van(), TrailerSpec::caravan(), 0.01)),
    ];
    for plant in plants {
        let state = plant.start(Pose::new(1.0, 2.0, 3.0), 4.0);
        let mut moved = state;
        for _ in 0..300 {
            plant.step(&mut moved, &Inputs { steering: 0.1, accel: 0.5, gear_sign: 1.0, friction: 0.9 });
        }
        let whole = check_part(&[state, moved], |state, v| state.visit(v), |state, v| state.visit(v));
        whole.unwrap_or_else(|forgotten| panic!("{forgotten}"));
        let bytes = anabranch_kernel::to_bytes(&moved);
        assert_eq!(anabranch_kernel::from_bytes::<anabranch_vehicle::PlantState>(&bytes).unwrap(), moved);
    }
}
