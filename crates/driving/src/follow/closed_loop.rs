//! Followers and car in a closed loop.

use anabranch_geometry::{Arc, Path, Pose};
use anabranch_kernel::maths::{Lanes, Real, Two};
use anabranch_kernel::{Declarations, Grid, KeyWriter, from_bytes, to_bytes};
use anabranch_vehicle::{Car, CarModel, CarSpec};

use super::{
    PathFollower, PathFollowerSpec, PathLanes, PathMemory, PathMode, Told, TrajectoryFollower, TrajectoryFollowerSpec,
    TrajectoryLanes, TrajectoryMemory,
};

const CYCLE_S: f64 = 0.01;
const FREE: f64 = f64::INFINITY;

fn path(arcs: &[(f64, f64)]) -> Path {
    let arcs = arcs.iter().map(|&(curvature_per_m, length_m)| Arc { curvature_per_m, length_m }).collect();
    Path::new(Pose::new(3.0, -1.0, 2.9), arcs)
}
/// Forwards past the gap, backwards into it, forwards to straighten.
fn parking() -> Path {
    path(&[(0.0, 3.0), (0.1, 3.0), (-0.18, -4.0), (0.18, -3.5), (0.0, -1.0), (0.05, 1.2)])
}
fn told<R: Real>(car: &Car<R>) -> Told<R> {
    Told { x: car.x, y: car.y, heading: car.heading, speed: car.speed }
}
/// A car beside the start of a path.
fn beside(path: &Path, left_m: f64, turned: f64) -> Car<f64> {
    let at = path.start().world_from_local(anabranch_geometry::Point::new(0.0, left_m));
    Car::at(Pose::new(at.x, at.y, path.start().heading + turned))
}
/// Metres ahead of and left of the end of a path.
fn off_the_end(path: &Path, car: &Car<f64>) -> (f64, f64) {
    let local = path.end().local_from_world(car.pose().point());
    (local.x, local.y)
}

/// Drives until the manoeuvre is completed and the car stands; returns the car and the ticks it took.
fn drive(spec: &PathFollowerSpec, path: &Path, mut car: Car<f64>) -> (Car<f64>, u32) {
    let model = CarModel::new(CarSpec::compact(), CYCLE_S);
    let follower = PathFollower::new(spec, &model.spec, CYCLE_S);
    let start = follower.start(path);
    let mut lanes = PathLanes::<f64>::gather(|_| path, |_| &start);
    for tick in 0..20_000 {
        let command = follower.tick(|_| path, &mut lanes, &told(&car), FREE);
        model.step(&mut car, command.steering, command.accel, command.gear_sign);
        if lanes.memory(0).is_completed() && car.speed == 0.0 {
            return (car, tick);
        }
    }
    panic!("not completed: {:?} {car:?}", lanes.memory(0));
}

#[track_caller]
fn check_arrival(path: &Path, car: &Car<f64>, along_max_m: f64, lateral_max_m: f64) {
    let (ahead_m, left_m) = off_the_end(path, car);
    let turned = car.heading - path.end().heading;
    assert!(ahead_m.abs() < along_max_m && left_m.abs() < lateral_max_m, "{ahead_m} {left_m} {turned}");
    assert!(turned.abs() < 0.02, "{turned}");
}

#[test]
fn a_straight_way_ends_at_its_end_in_either_direction() {
    for spec in [PathFollowerSpec::CALM, PathFollowerSpec::EAGER] {
        for length_m in [0.3, 2.0, 15.0, -0.3, -2.0, -15.0] {
            let path = path(&[(0.0, length_m)]);
            let (car, ticks) = drive(&spec, &path, beside(&path, 0.0, 0.0));
            check_arrival(&path, &car, 0.05, 1e-6);
            let expected_s = length_m.abs() / spec.speed.cruise_mps + 8.0;
            assert!(f64::from(ticks) * CYCLE_S < expected_s, "{length_m} took {ticks} ticks");
        }
    }
}

#[test]
fn lateral_offsets_vanish_in_either_direction() {
    for spec in [PathFollowerSpec::CALM, PathFollowerSpec::EAGER] {
        for length_m in [25.0, -25.0] {
            for (left_m, turned) in [(0.5, 0.0), (-0.8, 0.1), (0.0, -0.3), (2.0, 0.0)] {
                let path = path(&[(0.02, length_m)]);
                let (car, _) = drive(&spec, &path, beside(&path, left_m, turned));
                check_arrival(&path, &car, 0.05, 0.01);
            }
        }
    }
}

#[test]
fn a_parking_manoeuvre_with_two_gear_changes_completes_on_its_goal() {
    for (spec, lateral_max_m) in [(PathFollowerSpec::CALM, 0.06), (PathFollowerSpec::EAGER, 0.06)] {
        let path = parking();
        assert_eq!(path.sections().len(), 3);
        let (car, _) = drive(&spec, &path, beside(&path, 0.0, 0.0));
        check_arrival(&path, &car, 0.06, lateral_max_m);
    }
}

#[test]
fn an_obstacle_ahead_stops_the_car_until_it_goes_away() {
    let path = path(&[(0.0, -10.0)]);
    let model = CarModel::new(CarSpec::compact(), CYCLE_S);
    let follower = PathFollower::new(&PathFollowerSpec::EAGER, &model.spec, CYCLE_S);
    let mut car = beside(&path, 0.0, 0.0);
    let start = follower.start(&path);
    let mut lanes = PathLanes::<f64>::gather(|_| &path, |_| &start);
    for tick in 0..3000 {
        let stand_at_m = if tick < 1500 { 6.0 } else { FREE };
        let command = follower.tick(|_| &path, &mut lanes, &told(&car), stand_at_m);
        model.step(&mut car, command.steering, command.accel, command.gear_sign);
        if tick == 1499 {
            assert!(car.speed == 0.0 && lanes.station_m < 6.01 && lanes.station_m > 5.9, "{car:?}");
            assert_eq!(lanes.memory(0).mode, PathMode::Driving { section: 0 });
        }
    }
    assert!(lanes.memory(0).is_completed());
}

#[test]
fn a_trajectory_is_driven_in_time() {
    for spec in [TrajectoryFollowerSpec::CALM, TrajectoryFollowerSpec::EAGER] {
        for path in [path(&[(0.0, 10.0)]), path(&[(0.05, -10.0)]), parking()] {
            let model = CarModel::new(CarSpec::compact(), CYCLE_S);
            let follower = TrajectoryFollower::new(&spec, &model.spec, CYCLE_S);
            let trajectory = follower.trajectory(&path);
            let last = *trajectory.profiles().last().unwrap();
            let mut car = beside(&path, 0.0, 0.0);
            let start = TrajectoryMemory::start(&path);
            let mut lanes = TrajectoryLanes::<f64>::gather(|_| (&path, &trajectory), |_| &start);
            for _ in 0..last.end_tick {
                let command = follower.tick(|_| (&path, &trajectory), &mut lanes, &told(&car));
                model.step(&mut car, command.steering, command.accel, command.gear_sign);
            }
            assert!(lanes.memory(0).completed && car.speed == 0.0, "{:?} {car:?}", lanes.memory(0));
            check_arrival(&path, &car, 0.06, 0.06);
        }
    }
}

#[test]
fn the_timetable_covers_each_section_exactly() {
    let path = parking();
    let spec = TrajectoryFollowerSpec::EAGER;
    let follower = TrajectoryFollower::new(&spec, &CarSpec::compact(), CYCLE_S);
    let trajectory = follower.trajectory(&path);
    for (index, (section, profile)) in path.sections().iter().zip(trajectory.profiles()).enumerate() {
        assert_eq!(trajectory.section_at(profile.begin_tick), index);
        let lanes = super::ProfileLanes::<f64>::gather(|_| &trajectory, |_| index);
        let mut way_m = 0.0;
        for tick in profile.move_tick..profile.end_tick {
            let now = lanes.at(f64::from(tick), CYCLE_S, spec.accel_mps2, spec.decel_mps2);
            assert!((now.way_m - way_m).abs() < 2e-4, "the speed is the slope of the way");
            way_m = now.way_m + CYCLE_S * (now.speed_mps + 0.5 * CYCLE_S * now.accel_mps2);
        }
        assert!((way_m - (section.end_m - section.start_m)).abs() < 1e-9);
    }
}

/// Eight cars with different starts: side by side and one by one, with a jump of the told pose in between.
#[test]
fn side_by_side_equals_one_by_one() {
    type Wide = Two<Lanes<4>>;
    let paths = [parking(), path(&[(0.1, -5.0), (0.0, 2.0)])];
    let path = |lane: usize| &paths[lane % 2];
    let model = CarModel::new(CarSpec::compact(), CYCLE_S);
    let follower = PathFollower::new(&PathFollowerSpec::EAGER, &model.spec, CYCLE_S);
    let timed = TrajectoryFollower::new(&TrajectoryFollowerSpec::EAGER, &model.spec, CYCLE_S);
    let trajectories = [timed.trajectory(&paths[0]), timed.trajectory(&paths[1])];
    let plan = |lane: usize| (&paths[lane % 2], &trajectories[lane % 2]);
    let cars: Vec<Car<f64>> = (0..8).map(|i| beside(path(i), i as f64 * 0.1 - 0.3, i as f64 * 0.02)).collect();
    let (mut by_place, mut by_time) = (cars.clone(), cars.clone());
    let mut wide_place = Car::<Wide>::from_lanes(|i| &cars[i]);
    let mut wide_time = wide_place;
    let starts: Vec<_> = (0..8).map(|i| follower.start(path(i))).collect();
    let mut lanes = PathLanes::<Wide>::gather(path, |i| &starts[i]);
    let mut lane: Vec<_> = (0..8).map(|i| PathLanes::<f64>::gather(|_| path(i), |_| &starts[i])).collect();
    let start = TrajectoryMemory::default();
    let mut timed_lanes = TrajectoryLanes::<Wide>::gather(plan, |_| &start);
    let mut timed_lane: Vec<_> = (0..8).map(|i| TrajectoryLanes::<f64>::gather(|_| plan(i), |_| &start)).collect();
    for tick in 0..4000_usize {
        let jump = |i: usize| if tick / 100 % 8 == i { 0.1 } else { 0.0 };
        let mut now = told(&wide_place);
        now.y = now.y + Wide::from_lanes(jump);
        let command = follower.tick(path, &mut lanes, &now, Wide::splat(FREE));
        model.step(&mut wide_place, command.steering, command.accel, command.gear_sign);
        let command = timed.tick(plan, &mut timed_lanes, &told(&wide_time));
        model.step(&mut wide_time, command.steering, command.accel, command.gear_sign);
        for i in 0..8 {
            let mut now = told(&by_place[i]);
            now.y += jump(i);
            let command = follower.tick(|_| path(i), &mut lane[i], &now, FREE);
            model.step(&mut by_place[i], command.steering, command.accel, command.gear_sign);
            let command = timed.tick(|_| plan(i), &mut timed_lane[i], &told(&by_time[i]));
            model.step(&mut by_time[i], command.steering, command.accel, command.gear_sign);
            assert_eq!(to_bytes(&wide_place.lane(i)), to_bytes(&by_place[i]), "tick {tick}");
            assert_eq!(to_bytes(&wide_time.lane(i)), to_bytes(&by_time[i]), "tick {tick}");
            assert_eq!(lanes.memory(i), lane[i].memory(0));
            assert_eq!(timed_lanes.memory(i), timed_lane[i].memory(0));
        }
    }
    assert!((0..8).all(|i| lanes.memory(i).is_completed() && timed_lanes.memory(i).completed));
}

#[test]
fn a_saved_driver_goes_on_as_if_nothing_had_happened() {
    let path = parking();
    let model = CarModel::new(CarSpec::compact(), CYCLE_S);
    let follower = PathFollower::new(&PathFollowerSpec::CALM, &model.spec, CYCLE_S);
    let start = follower.start(&path);
    let mut lanes = PathLanes::<f64>::gather(|_| &path, |_| &start);
    let mut restored = lanes;
    let (mut car, mut other) = (beside(&path, 0.1, 0.0), beside(&path, 0.1, 0.0));
    for _ in 0..4500 {
        let command = follower.tick(|_| &path, &mut lanes, &told(&car), FREE);
        model.step(&mut car, command.steering, command.accel, command.gear_sign);
        let memory: PathMemory = from_bytes(&to_bytes(&restored.memory(0))).unwrap();
        restored = PathLanes::gather(|_| &path, |_| &memory);
        let command = follower.tick(|_| &path, &mut restored, &told(&other), FREE);
        model.step(&mut other, command.steering, command.accel, command.gear_sign);
        assert_eq!(to_bytes(&car), to_bytes(&other));
    }
    assert!(lanes.memory(0).is_completed());
}

#[test]
fn the_key_tells_modes_sections_and_waits_apart() {
    let grid =
        Grid::of(&Declarations::of(|v| PathMemory { station_m: 0.0, mode: PathMode::Completed }.visit(v)).variables);
    let mut writer = KeyWriter::new(&grid);
    let mut key = |station_m: f64, mode: PathMode| {
        PathMemory { station_m, mode }.visit(&mut writer.visitor(&[]));
        writer.finish()
    };
    let driving = key(1.0, PathMode::Driving { section: 1 });
    assert_eq!(driving, key(1.04, PathMode::Driving { section: 1 }));
    assert_ne!(driving, key(1.6, PathMode::Driving { section: 1 }));
    assert_ne!(driving, key(1.0, PathMode::Driving { section: 2 }));
    assert_ne!(driving, key(1.0, PathMode::ChangingGear { section: 1, ticks_left: 3 }));
    assert_ne!(driving, key(1.0, PathMode::Completed));
}
