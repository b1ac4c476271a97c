//! Where the car believes to be: noisy sensors of its own motion and a filter behind them (S4-8).

use anabranch_driving::follow::Told;
use anabranch_driving::track::EgoEstimate;
use anabranch_geometry::Pose;
use anabranch_kernel::{Chance, Seed, maths};
use anabranch_sensing::{
    FilterSpec, MotionSensorSpec, Moving, Navigation, NavigationErrors, NavigationSpec, NavigationState, Reception,
    TruePose, Zone, Zones, read,
};
use anabranch_vehicle::Car;

use super::super::Drive;
use super::super::state::DriveState;
use super::super::tick::Scratch;
use super::StreetState;
use crate::file::{self, MotionSensorGiven, RoadSpec, WorldSpec, ZoneEffect};

/// Name of the chance of these sensors.
const CHANCE: &str = "ego.localisation";
/// Cycle of satellites where a scenario says nothing.
const GPS_S: f64 = 0.2;
/// So long a car has driven straight on when a run begins: the filter has settled.
const SETTLED_S: f64 = 20.0;

/// Prepares sensors and filter.
pub(super) fn navigation(given: &file::FilterSpec, road: &RoadSpec, world: &WorldSpec) -> Navigation {
    let sensor = |sensor: &MotionSensorGiven, usual_s: f64| {
        let cycle_s = sensor.cycle_s.map_or(usual_s, |cycle| cycle.value);
        let period_ticks = if sensor.present { world.ticks(cycle_s).max(1) } else { 0 };
        let spec = MotionSensorSpec::new(period_ticks, sensor.noise);
        MotionSensorSpec { assumed: sensor.assumed.unwrap_or(spec.assumed), ..spec }
    };
    Navigation::new(NavigationSpec {
        gps: sensor(&given.gps, GPS_S),
        compass: sensor(&given.compass, 0.0),
        wheels: sensor(&given.wheels, 0.0),
        gyro: sensor(&given.gyro, 0.0),
        filter: FilterSpec::CAR,
        zones: zones(Some(road), world),
        tick_s: world.step_s.value,
    })
}

/// Where satellites are received badly: zones of the map, and of the scenario.
pub(in super::super) fn zones(road: Option<&RoadSpec>, world: &WorldSpec) -> Zones {
    let zones = world.zones.iter().filter_map(|zone| {
        let reception = match zone.effect {
            ZoneEffect::Friction(_) => return None,
            ZoneEffect::GpsNoise(scale) => Reception::Scaled(scale),
            ZoneEffect::GpsLost => Reception::Lost,
        };
        Some(Zone { name: zone.id.value.clone(), corners: zone.corners.clone(), reception })
    });
    road.map_or_else(Zones::default, |road| Zones::of_network(&road.network)).and(zones.collect())
}

/// The state of a filter that has settled while the car came to its start, straight on and at the speed of the start.
pub(super) fn settled(
    navigation: &Navigation,
    seed: Seed,
    start: Pose,
    speed_mps: f64,
    tick_s: f64,
) -> NavigationState {
    let chance = Chance::new(seed, CHANCE);
    let (sin, cos) = maths::sin_cos(start.heading);
    let before = |ticks: u64| {
        let back_m = ticks as f64 * tick_s * speed_mps;
        let pose = Pose::new(start.x - back_m * cos, start.y - back_m * sin, start.heading);
        Moving { pose, speed_mps, yaw_rate_radps: 0.0 }
    };
    let ticks = (SETTLED_S / tick_s).round() as u64;
    let mut state = navigation.start(&before(ticks), chance);
    for left in (1..ticks).rev() {
        // Ticks before the first one count down from the largest, which no run reaches.
        navigation.step(&mut state, &before(left), &NavigationErrors::default(), u64::MAX - left, chance);
    }
    state
}

impl Drive {
    /// What the driver is told about its car by the filter, after the errors of the segment.
    pub(super) fn sense_by_filter(
        &self,
        navigation: &Navigation,
        own: &mut StreetState,
        state: &mut DriveState,
        cycle: u32,
        scratch: &Scratch<'_>,
    ) -> Told<f64> {
        let car = state.car.car;
        let truth =
            Moving { pose: car.pose(), speed_mps: car.speed, yaw_rate_radps: self.yaw_rate(&car, &own.attached) };
        let Some(known) = own.navigation.as_deref_mut() else { return self.sense(state, cycle, scratch) };
        let errors = NavigationErrors { lost: scratch.effects.sensors_lost, ..NavigationErrors::default() };
        let chance = Chance::new(Seed(own.seed), CHANCE);
        navigation.step(known, &truth, &errors, u64::from(state.tick), chance);
        let believed = known.estimate.moving();
        if self.localisation.is_due(u64::from(state.tick)) {
            let Pose { x, y, heading } = believed.pose;
            let (sin, cos) = maths::sin_cos(heading);
            state.reading = read(TruePose { x, y, heading, cos, sin }, self.pose_error(cycle, scratch));
        }
        self.tell_late(state, believed.speed_mps, scratch)
    }

    /// What the driver knows of its own car: pose and speed as told, the rest from the filter, or from the car itself.
    pub(super) fn estimate(&self, own: &StreetState, car: &Car<f64>, pose: Pose, speed_mps: f64) -> EgoEstimate {
        let spec = &self.model.spec;
        let (slide_mps, yaw_rate_radps) = match (&own.navigation, &own.attached) {
            // Nothing measures how the car slides.
            (Some(known), _) => (0.0, known.estimate.moving().yaw_rate_radps),
            (None, super::Attached::Tyres { slide_mps, yaw_rate_radps }) => (*slide_mps, *yaw_rate_radps),
            (None, _) => (0.0, speed_mps * spec.slip_gain * maths::tan(car.steering) / spec.wheelbase_m),
        };
        EgoEstimate { pose, speed_mps, slide_mps, yaw_rate_radps, steering_rad: car.steering, accel_mps2: car.accel }
    }
}

/// Covariance of the told pose, by rows, where a filter knows it.
pub(in super::super) fn covariance(own: &StreetState) -> Option<[f64; 9]> {
    let all = own.navigation.as_ref()?.estimate.covariance();
    Some(std::array::from_fn(|at| all[at / 3][at % 3]))
}
