//! The filter over a thousand runs: honest with the right noise, and told on with the wrong one (S4-8).

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::contract::check_part;
use anabranch_kernel::{Chance, Declarations, Grid, KeyWriter, Seed, Visitor, from_bytes, maths, to_bytes};
use anabranch_sensing::{
    Component, Confidence, Consistency, ConsistencyReport, FilterSpec, MotionSensor, MotionSensorSpec, Moving,
    Navigation, NavigationErrors, NavigationSpec, NavigationState, NoiseModel, Output, Ready, Reception, Zone, Zones,
};

const TICK_S: f64 = 0.05;
const TICKS: u64 = 200;
const RUNS: u64 = 1000;
const WALK: FilterSpec = FilterSpec { position_walk: 0.02, heading_walk: 0.002, speed_walk: 0.5, yaw_rate_walk: 0.05 };

fn spec() -> NavigationSpec {
    let sensor = |ticks, deviation| MotionSensorSpec::new(ticks, NoiseModel::white(deviation));
    NavigationSpec {
        gps: sensor(4, 0.8),
        compass: sensor(2, 0.03),
        wheels: sensor(1, 0.1),
        gyro: sensor(1, 0.01),
        filter: WALK,
        zones: Zones::default(),
        tick_s: TICK_S,
    }
}

/// The car of the filter's own motion model: constant speed and yaw rate, pushed by random accelerations.
fn moved(truth: &mut Moving, tick: u64, chance: Chance) {
    let now = chance.at(tick);
    let (sin, cos) = maths::sin_cos(truth.pose.heading + 0.5 * truth.yaw_rate_radps * TICK_S);
    let root = TICK_S.sqrt();
    truth.pose.x += truth.speed_mps * cos * TICK_S + WALK.position_walk * root * now.normal(0);
    truth.pose.y += truth.speed_mps * sin * TICK_S + WALK.position_walk * root * now.normal(1);
    truth.pose.heading += truth.yaw_rate_radps * TICK_S + WALK.heading_walk * root * now.normal(2);
    truth.speed_mps += WALK.speed_walk * root * now.normal(3);
    truth.yaw_rate_radps += WALK.yaw_rate_walk * root * now.normal(4);
}

fn start() -> Moving {
    Moving { pose: Pose::new(10.0, 20.0, 3.0), speed_mps: 10.0, yaw_rate_radps: 0.1 }
}

/// Drives one run and shows every state to a visitor.
fn drive(
    navigation: &Navigation,
    seed: u64,
    errors: &NavigationErrors,
    mut see: impl FnMut(u64, &NavigationState, &Moving),
) {
    let (world, sensors) = (Chance::new(Seed(seed), "world"), Chance::new(Seed(seed), "navigation"));
    let mut truth = start();
    let mut state = navigation.start(&truth, sensors);
    for tick in 0..TICKS {
        moved(&mut truth, tick, world);
        navigation.step(&mut state, &truth, errors, tick, sensors);
        see(tick, &state, &truth);
    }
}

fn judged(spec: NavigationSpec) -> ConsistencyReport {
    let navigation = Navigation::new(spec);
    let mut consistency = Consistency::new(5);
    for seed in 0..RUNS {
        drive(&navigation, seed, &NavigationErrors::default(), |tick, state, truth| {
            consistency.add(tick as usize, state.estimate.error_squared(truth).unwrap());
        });
    }
    let report = consistency.report().unwrap();
    println!("{report}");
    report
}

#[test]
fn with_the_right_noise_the_filter_is_consistent() {
    let report = judged(spec());
    assert_eq!((report.runs, report.steps), (RUNS as u32, TICKS as u32));
    assert!(report.share_inside >= 0.90, "{report}");
    assert_eq!(report.confidence, Confidence::Consistent);
}

#[test]
fn with_dropouts_that_it_notices_it_stays_consistent() {
    let mut spec = spec();
    let tunnel = [(-500.0, -500.0), (0.0, -500.0), (0.0, 500.0), (-500.0, 500.0)].map(|(x, y)| Point::new(x, y));
    spec.zones = Zones::new(vec![Zone { name: "tunnel".into(), corners: tunnel.to_vec(), reception: Reception::Lost }]);
    let report = judged(spec);
    assert!(report.share_inside >= 0.90, "{report}");
}

#[test]
fn with_larger_noise_than_it_thinks_it_is_told_to_be_over_confident() {
    let mut spec = spec();
    spec.gps.noise = NoiseModel::white(1.6);
    let report = judged(spec);
    assert!(report.share_inside < 0.90, "{report}");
    assert_eq!(report.confidence, Confidence::OverConfident);
    assert!(report.to_string().starts_with("the filter is over-confident"));
}

#[test]
fn noise_that_wanders_bias_and_canyons_it_is_not_told_of_make_it_over_confident() {
    let everywhere = [(-1e3, -1e3), (1e3, -1e3), (1e3, 1e3), (-1e3, 1e3)].map(|(x, y)| Point::new(x, y)).to_vec();
    let canyon = Zone { name: "canyon".into(), corners: everywhere, reception: Reception::Scaled(3.0) };
    let (mut wandering, mut biased, mut unaware, mut aware) = (spec(), spec(), spec(), spec());
    wandering.gps = MotionSensorSpec::new(4, Output::Position.noise(Ready::Wandering));
    biased.compass.noise = biased.compass.noise.biased(0.05);
    for (spec, gps) in [(&mut unaware, NoiseModel::white(0.8)), (&mut aware, NoiseModel::white(0.8).situational())] {
        spec.gps = MotionSensorSpec::new(4, gps);
        spec.gps.noise = gps.situational();
        spec.zones = Zones::new(vec![canyon.clone()]);
    }
    for wrong in [wandering, biased, unaware] {
        assert_eq!(judged(wrong).confidence, Confidence::OverConfident);
    }
    assert_eq!(judged(aware).confidence, Confidence::Consistent);
}

#[test]
fn with_smaller_noise_than_it_thinks_it_is_under_confident() {
    let mut spec = spec();
    spec.gps.assumed = 3.0;
    spec.compass.assumed = 0.2;
    assert_eq!(judged(spec).confidence, Confidence::UnderConfident);
}

#[test]
fn innovations_tell_wrong_noise_without_knowing_the_truth() {
    let verdicts = |spec: NavigationSpec| -> usize {
        let navigation = Navigation::new(spec);
        let over = |seed: &u64| {
            let mut last = Confidence::Consistent;
            drive(&navigation, *seed, &NavigationErrors::default(), |_, state, _| last = navigation.confidence(state));
            last == Confidence::OverConfident
        };
        (0..100).filter(over).count()
    };
    let mut wrong = spec();
    wrong.wheels.noise = NoiseModel::white(0.4);
    assert!(verdicts(spec()) <= 1);
    assert!(verdicts(wrong) >= 95);
}

#[test]
fn a_lost_receiver_makes_the_estimate_unsure_and_an_offset_pulls_it() {
    let navigation = Navigation::new(spec());
    let (mut open, mut lost, mut pulled) = (0.0, 0.0, 0.0);
    let off = |state: &NavigationState, truth: &Moving| state.estimate.moving().pose.x - truth.pose.x;
    drive(&navigation, 1, &NavigationErrors::default(), |_, state, truth| {
        open = state.estimate.deviation(Component::East);
        pulled = -off(state, truth);
    });
    let errors = NavigationErrors { lost: MotionSensor::Gps.bit(), ..NavigationErrors::default() };
    drive(&navigation, 1, &errors, |_, state, _| lost = state.estimate.deviation(Component::East));
    assert!(lost > 2.0 * open, "{lost} {open}");
    let errors = NavigationErrors { offset: [5.0, 0.0, 0.0, 0.0, 0.0], ..NavigationErrors::default() };
    let mut last = 0.0;
    drive(&navigation, 1, &errors, |_, state, truth| last = off(state, truth));
    assert!((last + pulled - 5.0).abs() < 0.5, "{}", last + pulled);
}

#[test]
fn a_saved_state_goes_on_alike_and_every_variable_is_in_the_key_once() {
    let mut spec = spec();
    spec.gps = MotionSensorSpec::new(4, Output::Position.noise(Ready::Situational));
    let navigation = Navigation::new(spec);
    let sensors = Chance::new(Seed(1), "navigation");
    let mut state = navigation.start(&start(), sensors);
    let variables = Declarations::of(|v| v.within("localisation", |v| navigation.visit(&state, v))).variables;
    let grid = Grid::of(&variables);
    let key = |state: &NavigationState| {
        let mut key = KeyWriter::new(&grid);
        navigation.visit(state, &mut key.visitor(&[]));
        key.finish().unwrap()
    };
    assert_eq!(variables.last().unwrap().name, "localisation.gps.y.wander");
    let mut seen = Vec::new();
    for tick in 0..40 {
        let mut loaded: NavigationState = from_bytes(&to_bytes(&state)).unwrap();
        for state in [&mut state, &mut loaded] {
            navigation.step(state, &start(), &NavigationErrors::default(), tick, sensors);
        }
        assert_eq!((state, key(&state)), (loaded, key(&loaded)));
        seen.push(state);
    }
    let whole = check_part(&seen, |state, v| navigation.visit(state, v), |state, v| navigation.visit(state, v));
    whole.unwrap_or_else(|forgotten| panic!("{forgotten}"));
}
