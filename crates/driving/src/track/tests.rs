//! Trackers and vehicles in a closed loop.

use anabranch_geometry::{Arc, Path, Pose};
use anabranch_kernel::maths;
use anabranch_vehicle::{
    CarModel, CarSpec, Inputs, Plant, PlantState, SingleTrackModel, SingleTrackSpec, TrailerModel, TrailerSpec, Tyre,
};

use super::*;

const CYCLE_S: f64 = 0.01;

enum Tracker {
    Pursuit(PurePursuit),
    Stanley(Stanley),
    Path(Box<LqrPath>),
    Trajectory(Box<LqrTrajectory>),
}

impl Tracker {
    fn name(&self) -> &'static str {
        match self {
            Self::Pursuit(_) => "pure pursuit",
            Self::Stanley(_) => "Stanley",
            Self::Path(_) => "LQR path",
            Self::Trajectory(_) => "LQR trajectory",
        }
    }
    fn steering(&self, line: &SampledLine, station_m: f64, ego: &EgoEstimate) -> f64 {
        match self {
            Self::Pursuit(tracker) => tracker.steering(line, station_m, ego),
            Self::Stanley(tracker) => tracker.steering(line, station_m, ego),
            Self::Path(tracker) => tracker.steering(line, station_m, ego),
            Self::Trajectory(tracker) => {
                let target = Target { station_m, speed_mps: ego.speed_mps, accel_mps2: 0.0 };
                tracker.command(line, station_m, ego, &target).steering
            }
        }
    }
}

fn known(plant: &Plant) -> LateralCar {
    match plant {
        Plant::SingleTrack(model) => LateralCar::Tyres(model.spec),
        Plant::Car(_) | Plant::Trailer(_) => LateralCar::Rolling(*plant.spec()),
    }
}
fn trackers(plant: &Plant) -> [Tracker; 4] {
    let stanley = match plant {
        Plant::SingleTrack(model) => Stanley::with_tyres(StanleySpec::CALM, &model.spec),
        Plant::Car(_) | Plant::Trailer(_) => Stanley::new(StanleySpec::CALM, plant.spec()),
    };
    let car = known(plant);
    let path = LqrPath::new(&car, &LqrWeights::CALM, CYCLE_S).unwrap();
    let trajectory = LqrTrajectory::new(&car, &LqrWeights::EAGER, &TrajectoryWeights::CALM, CYCLE_S).unwrap();
    [
        Tracker::Pursuit(PurePursuit::new(PurePursuitSpec::CALM, plant.spec())),
        Tracker::Stanley(stanley),
        Tracker::Path(Box::new(path)),
        Tracker::Trajectory(Box::new(trajectory)),
    ]
}
fn plants() -> [(&'static str, Plant); 4] {
    [
        ("kinematic", Plant::Car(CarModel::new(CarSpec::compact().kinematic(), CYCLE_S))),
        ("car with lags", Plant::Car(CarModel::new(CarSpec::compact(), CYCLE_S))),
        ("single-track", Plant::SingleTrack(SingleTrackModel::new(SingleTrackSpec::compact(), CYCLE_S))),
        ("van with caravan", Plant::Trailer(TrailerModel::new(CarSpec::van(), TrailerSpec::caravan(), CYCLE_S))),
    ]
}
/// Tyres in proportion and wheels that follow at once: what closed forms assume.
fn ideal() -> SingleTrackSpec {
    let compact = SingleTrackSpec::compact();
    SingleTrackSpec { car: compact.car.kinematic(), tyre: Tyre::Linear, ..compact }
}

/// Offsets of the rear axle from the line, tick by tick, at a speed that is held.
fn drive(plant: &Plant, tracker: &Tracker, line: &SampledLine, start: Pose, speed: f64, seconds: f64) -> Vec<f64> {
    let mut state = plant.start(start, speed);
    let mut station_m = line.foot(start.point(), 0.0);
    let mut offsets_m = Vec::new();
    for _ in 0..(seconds / CYCLE_S) as u32 {
        let ego = EgoEstimate::from(plant.motion(&state));
        let sample = line.foot_sample(ego.pose.point(), station_m);
        station_m = sample.station_m;
        offsets_m.push(sample.errors(ego.pose).0);
        let accel = 2.0 * (speed - ego.speed_mps);
        let steering = tracker.steering(line, station_m, &ego);
        plant.step(&mut state, &Inputs { steering, accel, gear_sign: 1.0, friction: 0.9 });
        hold(&mut state, speed);
    }
    offsets_m
}
/// Closed forms know no loss of speed in curves.
fn hold(state: &mut PlantState, speed: f64) {
    match state {
        PlantState::Car(car) => car.speed = speed,
        PlantState::SingleTrack(state) => state.car.speed = speed,
        PlantState::Trailer(state) => state.car.speed = speed,
    }
}
fn straight(length_m: f64) -> SampledLine {
    SampledLine::of_path(&Path::new(Pose::default(), vec![Arc { curvature_per_m: 0.0, length_m }]))
}
fn circle(curvature_per_m: f64, length_m: f64) -> SampledLine {
    SampledLine::of_path(&Path::new(Pose::default(), vec![Arc { curvature_per_m, length_m }]))
}
/// From lane to lane, 3.5 m, within a way, by the quintic of S4-14.
fn lane_change(way_m: f64) -> SampledLine {
    let sample = |i: u32| {
        let x = f64::from(i) * 0.5;
        let u = (x - 50.0).clamp(0.0, way_m) / way_m;
        let y = 3.5 * u * u * u * (10.0 - u * (15.0 - 6.0 * u));
        let slope = 3.5 / way_m * 30.0 * u * u * (1.0 - u) * (1.0 - u);
        let bend = 3.5 / (way_m * way_m) * 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u);
        let stretch = (1.0 + slope * slope).sqrt();
        (x, y, maths::atan(slope), bend / (stretch * stretch * stretch))
    };
    let mut station_m = 0.0;
    let mut samples = Vec::new();
    for i in 0..1200 {
        let (x, y, heading, curvature_per_m) = sample(i);
        if i > 0 {
            let (from_x, from_y, _, _) = sample(i - 1);
            station_m += maths::hypot(x - from_x, y - from_y);
        }
        samples.push(LineSample { station_m, pose: Pose::new(x, y, heading), curvature_per_m });
    }
    SampledLine::new(samples)
}
fn last(offsets_m: &[f64]) -> f64 {
    offsets_m[offsets_m.len() - 1]
}
fn worst(offsets_m: &[f64]) -> f64 {
    offsets_m.iter().fold(0.0, |worst, offset: &f64| worst.max(offset.abs()))
}

#[test]
fn every_tracker_brings_every_vehicle_back_to_the_line_at_every_speed() {
    for (name, plant) in plants() {
        for tracker in trackers(&plant) {
            for speed in [2.0, 5.0, 10.0, 20.0, 30.0, 40.0] {
                let seconds = 8.0 + 60.0 / speed;
                let line = straight(speed * (seconds + 4.0));
                let offsets_m = drive(&plant, &tracker, &line, Pose::new(0.0, 1.0, 0.0), speed, seconds);
                let what = format!("{name}, {}, {speed} m/s", tracker.name());
                assert!(last(&offsets_m).abs() < 0.02, "{what}: {} m off at last", last(&offsets_m));
                assert!(worst(&offsets_m) < 1.05, "{what}: {} m off at worst", worst(&offsets_m));
                let beyond = offsets_m.iter().fold(0.0, |least: f64, offset| least.min(*offset));
                assert!(beyond > -0.35, "{what}: overshoots by {beyond}");
            }
        }
    }
}

/// The table of all trackers, vehicles and speeds on a lane change that pulls about 2 m/s².
#[test]
fn a_lane_change_at_thirty_metres_per_second_is_followed_by_all() {
    println!("largest offset in a lane change, metres          5 m/s   15 m/s   30 m/s");
    for (name, plant) in plants() {
        for tracker in trackers(&plant) {
            let mut row = format!("{name:<18} {:<16}", tracker.name());
            for speed in [5.0_f64, 15.0, 30.0] {
                // A quintic over the way w at speed v pulls at most 5.77·3.5·(v/w)².
                let way_m = (10.1 * speed * speed).sqrt().max(15.0);
                let line = lane_change(way_m);
                let offsets_m = drive(&plant, &tracker, &line, Pose::default(), speed, (way_m + 300.0) / speed);
                row += &format!("{:>9.3}", worst(&offsets_m));
                let allowed_m = match tracker {
                    Tracker::Pursuit(_) => 0.8,
                    Tracker::Stanley(_) => 0.6,
                    Tracker::Path(_) | Tracker::Trajectory(_) => 0.08,
                };
                assert!(worst(&offsets_m) < allowed_m, "{row}");
                assert!(last(&offsets_m).abs() < 0.06, "{row}: {} at last", last(&offsets_m));
            }
            println!("{row}");
        }
    }
}

/// Without slip the arc of a pursuit on a circle is the circle, and the feed-forward of the LQR is exact. Stanley keeps the
/// front axle on the circle; the rear one then runs on √(R² − L²).
#[test]
fn rolling_cars_have_no_steady_error_on_a_circle() {
    let plant = plants()[0].1;
    for tracker in trackers(&plant) {
        let line = circle(0.02, 300.0);
        let offsets_m = drive(&plant, &tracker, &line, Pose::default(), 8.0, 25.0);
        let inside_m = match tracker {
            Tracker::Stanley(_) => 50.0 - (50.0 * 50.0 - 2.6 * 2.6_f64).sqrt(),
            Tracker::Pursuit(_) | Tracker::Path(_) | Tracker::Trajectory(_) => 0.0,
        };
        assert!((last(&offsets_m) - inside_m).abs() < 2e-3, "{}: {}", tracker.name(), last(&offsets_m));
    }
}

/// Snider's plain LQR (no feed-forward) on a circle: 0 = δ − k_e·e − k_ψ·ψ − k_δ·δ with the wheel angle
/// δ = L·κ + K·v²·κ and heading ψ = −b·κ + m·a·v²·κ/(L·C_r) that the linear car needs; e at the centre of mass.
#[test]
fn plain_lqr_has_the_steady_error_that_snider_gives() {
    let (speed, curvature) = (20.0, 0.004);
    let spec = ideal();
    let plant = Plant::SingleTrack(SingleTrackModel::new(spec, CYCLE_S));
    let full = LqrPath::new(&LateralCar::Tyres(spec), &LqrWeights::CALM, CYCLE_S).unwrap();
    let k = full.gains_at(speed);
    let lateral = speed * speed * curvature;
    let (a, b, length) = (spec.front_axle_ahead_m, spec.centre_ahead_m(), spec.car.wheelbase_m);
    let steering = length * curvature + spec.understeer_rad_per_mps2() * lateral;
    let heading = spec.mass_kg * a * lateral / (length * spec.rear.stiffness_n_per_rad) - b * curvature;
    let expected_m = -(steering * (1.0 + k[4]) + k[2] * heading) / k[0];

    let line = circle(curvature, 1200.0);
    let plain = Tracker::Path(Box::new(full.clone().with_feed_forward(FeedForward::None)));
    let offsets_m = drive(&plant, &plain, &line, Pose::default(), speed, 30.0);
    // The rear axle is b behind the centre of mass at heading ψ, and its foot lies b²·κ/2 inside the tangent.
    let rear_m = last(&offsets_m);
    let centre_m = rear_m + b * (heading + b * curvature) - 0.5 * b * b * curvature;
    println!("steady error {centre_m:.4} m, by formula {expected_m:.4} m");
    assert!((centre_m / expected_m - 1.0).abs() < 0.02, "{centre_m} {expected_m}");

    let anticipating = drive(&plant, &Tracker::Path(Box::new(full)), &line, Pose::default(), speed, 30.0);
    assert!(last(&anticipating).abs() < 0.005, "{}", last(&anticipating));
}

/// A straight, a corner by a quarter of a turn, and a straight.
fn corner(radius_m: f64) -> SampledLine {
    let arc = |curvature_per_m: f64, length_m: f64| Arc { curvature_per_m, length_m };
    let turn = arc(1.0 / radius_m, radius_m * std::f64::consts::FRAC_PI_2);
    SampledLine::of_path(&Path::new(Pose::default(), vec![arc(0.0, 40.0), turn, arc(0.0, 60.0)]))
}

/// The rear axle keeps to the line also where the centre of mass would have to leave it. With the centre of mass on the line a
/// car cuts in by b²/(2·R): the van, with b = 1.8 m, by 0.2 m on a circle of 8 m.
#[test]
fn lqr_with_tyres_does_not_cut_corners() {
    for (name, spec) in [("compact", SingleTrackSpec::compact()), ("van", SingleTrackSpec::van())] {
        let plant = Plant::SingleTrack(SingleTrackModel::new(spec, CYCLE_S));
        for radius_m in [8.0_f64, 12.0, 20.0, 50.0] {
            let speed = (1.5 * radius_m).sqrt();
            let line = circle(1.0 / radius_m, 6.0 * radius_m);
            for tracker in trackers(&plant).into_iter().skip(2) {
                let what = format!("{name}, {}, {radius_m} m", tracker.name());
                let on_circle = drive(&plant, &tracker, &line, Pose::default(), speed, 5.0 * radius_m / speed);
                let through = drive(&plant, &tracker, &corner(radius_m), Pose::default(), speed, 110.0 / speed);
                let inside_m = through.iter().fold(0.0, |most: f64, offset| most.max(*offset));
                println!("{what}: {:.3} m on a circle, {inside_m:.3} m inside of a corner", last(&on_circle));
                assert!(last(&on_circle).abs() < 0.03, "{what}: {}", last(&on_circle));
                assert!(inside_m < 0.2, "{what}: {inside_m}");
            }
        }
    }
}

/// Stanley without knowledge of slip: the front tyres need the slip m·b/(L·C_f)·v²·κ, which comes from the offset of the
/// front axle: (k_soft + v)·tan(α)/k to the outside.
#[test]
fn stanley_without_knowledge_of_slip_runs_wide_by_the_closed_form() {
    let (speed, curvature) = (20.0, 0.004);
    let spec = ideal();
    let plant = Plant::SingleTrack(SingleTrackModel::new(spec, CYCLE_S));
    let line = circle(curvature, 1200.0);
    let front_m = |tracker: &Stanley| {
        let mut state = plant.start(Pose::default(), speed);
        let (mut station_m, mut offset_m) = (0.0, 0.0);
        for _ in 0..3000 {
            let ego = EgoEstimate::from(plant.motion(&state));
            station_m = line.foot(ego.pose.point(), station_m);
            let front = spec.car.front_axle(ego.pose);
            offset_m = line.foot_sample(front, station_m).errors(Pose::new(front.x, front.y, ego.pose.heading)).0;
            let steering = tracker.steering(&line, station_m, &ego);
            plant.step(&mut state, &Inputs { steering, accel: 0.0, gear_sign: 1.0, friction: 0.9 });
            hold(&mut state, speed);
        }
        offset_m
    };
    let slip = spec.mass_kg * spec.centre_ahead_m() / (spec.car.wheelbase_m * spec.front.stiffness_n_per_rad);
    let alpha = slip * speed * speed * curvature;
    let gains = StanleySpec::CALM;
    let expected_m = -(gains.k_soft_mps + speed) * maths::tan(alpha) / gains.k_offset_per_s;
    let wide_m = front_m(&Stanley::new(gains, &spec.car));
    println!("runs wide by {wide_m:.4} m, by formula {expected_m:.4} m");
    assert!((wide_m / expected_m - 1.0).abs() < 0.03, "{wide_m} {expected_m}");
    assert!(front_m(&Stanley::with_tyres(gains, &spec)).abs() < 0.03 * expected_m.abs());
}

#[test]
fn a_moving_target_is_caught_and_kept() {
    for (name, plant) in plants() {
        let tracker = LqrTrajectory::new(&known(&plant), &LqrWeights::CALM, &TrajectoryWeights::CALM, CYCLE_S).unwrap();
        let line = straight(600.0);
        let mut state = plant.start(Pose::default(), 10.0);
        let mut station_m = 0.0;
        let mut target = Target { station_m: 5.0, speed_mps: 12.0, accel_mps2: 0.0 };
        for tick in 0..3000_u32 {
            target.accel_mps2 = if (1500..2000).contains(&tick) { 0.6 } else { 0.0 };
            target.station_m += CYCLE_S * (target.speed_mps + 0.5 * CYCLE_S * target.accel_mps2);
            target.speed_mps += CYCLE_S * target.accel_mps2;
            let ego = EgoEstimate::from(plant.motion(&state));
            station_m = line.foot(ego.pose.point(), station_m);
            let command = tracker.command(&line, station_m, &ego, &target);
            let (steering, accel) = (command.steering, command.accel);
            plant.step(&mut state, &Inputs { steering, accel, gear_sign: 1.0, friction: 0.9 });
            if tick > 1400 {
                let behind_m = target.station_m - station_m;
                assert!(behind_m.abs() < 0.4, "{name} at {tick}: {behind_m} m behind");
            }
        }
        let behind_m = target.station_m - station_m;
        assert!(behind_m.abs() < 0.01, "{name}: {behind_m}");
    }
}

#[test]
fn wheels_are_never_asked_beyond_their_limit() {
    for (name, plant) in plants() {
        for tracker in trackers(&plant) {
            for (y, heading) in [(30.0, 1.5), (-30.0, -1.5), (0.5, 3.0)] {
                let ego = EgoEstimate::rolling(Pose::new(10.0, y, heading), 3.0);
                let steering = tracker.steering(&straight(100.0), 10.0, &ego);
                assert!(steering.abs() <= plant.spec().steering_max_rad, "{name} {}", tracker.name());
            }
        }
    }
}

#[test]
fn sampled_lines_are_exact_on_circles_and_straight_on_beyond() {
    let line = circle(0.05, 40.0);
    for i in 0..400 {
        let s = f64::from(i) * 0.1;
        let sample = line.at(s);
        let (sin, cos) = maths::sin_cos(0.05 * s);
        assert!((sample.pose.x - 20.0 * sin).abs() < 1e-6 && (sample.pose.y - 20.0 * (1.0 - cos)).abs() < 1e-6, "{s}");
        assert!(
            (line.foot(sample.pose.world_from_local(anabranch_geometry::Point::new(0.0, 2.0)), s - 0.3) - s).abs()
                < 1e-6
        );
    }
    let beyond = line.at(50.0);
    assert!((beyond.pose.heading - 2.0).abs() < 1e-9 && beyond.curvature_per_m == 0.0);
}
