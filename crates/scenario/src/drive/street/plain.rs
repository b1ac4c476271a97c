//! Plain sensors: what they measure, and what a driver is told of it (S2-35, S2-14).

use anabranch_geometry::Outline;
use anabranch_kernel::{Chance, Seed};
use anabranch_sensing::{GaugeSpec, PlainSensors, PlainState, PlainValues, Reception, Zones, road_distances};
use anabranch_vehicle::{Car, Ground};

use super::super::{Drive, DriveState};
use super::rules::OnLane;
use super::vehicle::place_on;
use super::{Street, StreetState};
use crate::file::{PlainSpec, WorldSpec};

/// Name of the chance of these sensors.
const CHANCE: &str = "ego.plain";

/// The sensors and what they need of the world.
#[derive(Debug)]
pub(super) struct Gauges {
    pub sensors: PlainSensors,
    pub ground: Ground,
    pub zones: Zones,
    pub outline: Outline,
}

/// The sensors of a file, in base cycles.
pub(super) fn sensors(given: &PlainSpec, world: &WorldSpec) -> PlainSensors {
    let gauge = |gauge: &crate::file::GaugeGiven| GaugeSpec {
        period_ticks: gauge.cycle_s.map_or(1, |cycle| world.ticks(cycle.value)).max(1),
        quantum: gauge.quantum,
        noise: gauge.noise,
    };
    PlainSensors::new(given.gauges.each_ref().map(gauge), world.step_s.value)
}

impl Street {
    fn measured(&self, gauges: &Gauges, car: &Car<f64>, on: &OnLane, time_s: f64, friction_gain: f64) -> PlainValues {
        let road = road_distances(&self.network, on.lane, on.place.station_m, car.pose(), &gauges.outline);
        PlainValues {
            friction: gauges.ground.friction(&place_on(car, on), time_s, friction_gain),
            location_m: [car.x, car.y],
            compass_rad: car.heading,
            speed_mps: car.speed,
            steering_rad: car.steering,
            to_right_m: road.to_right_m,
            markers_m: road.markers_m,
        }
    }

    /// The readings before the first base cycle.
    pub(super) fn start_gauges(&self, own: &StreetState, car: &Car<f64>) -> Option<Box<PlainState>> {
        let gauges = self.gauges.as_ref()?;
        let truth = self.measured(gauges, car, &self.on_lane(own, car.pose()), 0.0, 1.0);
        Some(Box::new(gauges.sensors.start(&truth, Chance::new(Seed(own.seed), CHANCE))))
    }

    /// Reads what is due. Where nothing is received the location stays what it was.
    pub(super) fn read_gauges(&self, own: &mut StreetState, car: &Car<f64>, friction_gain: f64) {
        let Some(gauges) = self.gauges.as_ref() else { return };
        let (tick, on) = (own.branch.tick, self.on_lane(own, car.pose()));
        let time_s = f64::from(tick) * self.step_us as f64 * 1e-6;
        let mut truth = self.measured(gauges, car, &on, time_s, friction_gain);
        let chance = Chance::new(Seed(own.seed), CHANCE);
        let Some(state) = own.plain.as_deref_mut() else { return };
        let (scale, is_lost) = match gauges.zones.at(car.pose().point()) {
            Reception::Scaled(scale) => (scale, false),
            Reception::Lost => (1.0, true),
        };
        if is_lost {
            truth.location_m = state.values().location_m;
        }
        gauges.sensors.read(state, &truth, scale, u64::from(tick), chance);
    }
}

impl Drive {
    /// What the plain sensors of the car tell, where it has some: weather, location, compass, speed, steering angle, distance to
    /// the right edge of the road and to the markers of the lane.
    pub fn plain_readings(&self, state: &DriveState) -> Option<PlainValues> {
        self.street.as_ref()?;
        Some(state.street().plain.as_ref()?.values())
    }
}
