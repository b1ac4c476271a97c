//! Plain sensors: weather, location, compass, speed, steering angle, distance to the right, distances to the lane markers,
//! each with its period, resolution and noise (S2-14, S2-35).

use anabranch_kernel::{Chance, Visitor, maths};
use serde::{Deserialize, Serialize};

use crate::noise::{Noise, NoiseModel, Wander};
use crate::ready::{Output, Ready};

/// Numbers that plain sensors tell.
pub const PLAIN_CHANNELS: usize = 11;

/// A plain sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Plain {
    /// The friction coefficient of the road: all that weather does to a car (S2-34).
    Weather,
    /// East and north.
    Location,
    /// Heading.
    Compass,
    /// Speed.
    Speed,
    /// Steering angle of the wheels.
    SteeringAngle,
    /// Distance to the right edge of the road.
    DistanceToRight,
    /// Distances of the four corners to the markers of the lane.
    LaneMarkers,
}

impl Plain {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Weather,
        Self::Location,
        Self::Compass,
        Self::Speed,
        Self::SteeringAngle,
        Self::DistanceToRight,
        Self::LaneMarkers,
    ];

    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Weather => "weather",
            Self::Location => "location",
            Self::Compass => "compass",
            Self::Speed => "speed",
            Self::SteeringAngle => "steering",
            Self::DistanceToRight => "distance_to_right",
            Self::LaneMarkers => "lane_markers",
        }
    }
    /// What its numbers are, for the three ready noise models.
    pub fn output(self) -> Output {
        match self {
            Self::Weather => Output::Friction,
            Self::Location => Output::Position,
            Self::Compass => Output::Heading,
            Self::Speed => Output::Speed,
            Self::SteeringAngle => Output::Steering,
            Self::DistanceToRight | Self::LaneMarkers => Output::RoadDistance,
        }
    }
    /// Its numbers in [`PlainValues::numbers`].
    fn channels(self) -> std::ops::Range<usize> {
        match self {
            Self::Weather => 0..1,
            Self::Location => 1..3,
            Self::Compass => 3..4,
            Self::Speed => 4..5,
            Self::SteeringAngle => 5..6,
            Self::DistanceToRight => 6..7,
            Self::LaneMarkers => 7..11,
        }
    }
    /// Cell size of a kept reading.
    fn cell(self) -> f64 {
        match self {
            Self::Weather => 0.1,
            Self::Location | Self::DistanceToRight | Self::LaneMarkers => 0.1,
            Self::Compass => 0.02,
            Self::Speed => 0.2,
            Self::SteeringAngle => 0.05,
        }
    }
}

/// What plain sensors measure, true or told.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct PlainValues {
    /// Friction coefficient of the road.
    pub friction: f64,
    /// Metres east and north.
    pub location_m: [f64; 2],
    /// Radians.
    pub compass_rad: f64,
    /// m/s, negative in reverse.
    pub speed_mps: f64,
    /// Radians, positive to the left.
    pub steering_rad: f64,
    /// Metres to the right edge of the road.
    pub to_right_m: f64,
    /// Metres to the lane markers: front left, front right, rear left, rear right.
    pub markers_m: [f64; 4],
}

impl PlainValues {
    /// All numbers, sensor after sensor.
    pub fn numbers(&self) -> [f64; PLAIN_CHANNELS] {
        let [east, north] = self.location_m;
        let [a, b, c, d] = self.markers_m;
        let Self { friction, compass_rad, speed_mps, steering_rad, to_right_m, .. } = *self;
        [friction, east, north, compass_rad, speed_mps, steering_rad, to_right_m, a, b, c, d]
    }
    /// From all numbers.
    fn of_numbers(numbers: [f64; PLAIN_CHANNELS]) -> Self {
        let [friction, east, north, compass_rad, speed_mps, steering_rad, to_right_m, a, b, c, d] = numbers;
        let (location_m, markers_m) = ([east, north], [a, b, c, d]);
        Self { friction, location_m, compass_rad, speed_mps, steering_rad, to_right_m, markers_m }
    }
}

/// How one sensor measures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaugeSpec {
    /// Base cycles between two readings, at least 1.
    pub period_ticks: u32,
    /// Readings are whole multiples of this; 0 is any number.
    pub quantum: f64,
    /// Its noise.
    pub noise: NoiseModel,
}

impl GaugeSpec {
    /// A sensor that tells the truth in every base cycle.
    pub const EXACT: Self = Self { period_ticks: 1, quantum: 0.0, noise: NoiseModel::NONE };

    /// What is wrong with the numbers, if anything: a scenario says so before it runs.
    pub fn fault(&self) -> Option<&'static str> {
        if self.period_ticks == 0 {
            return Some("a sensor needs a period of at least one base cycle");
        }
        if !(self.quantum.is_finite() && self.quantum >= 0.0) {
            return Some("the resolution of a sensor must be a number of 0 or more");
        }
        self.noise.fault()
    }
}

/// All plain sensors of a car. Behaviour only: what evolves is its [`PlainState`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlainSensors {
    gauges: [(GaugeSpec, Noise); 7],
}

/// The last readings, and what noise remembers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlainState {
    told: [f64; PLAIN_CHANNELS],
    wander: [Wander; PLAIN_CHANNELS],
}

impl PlainState {
    /// What the driver is told.
    pub fn values(&self) -> PlainValues {
        PlainValues::of_numbers(self.told)
    }
}

impl PlainSensors {
    /// Sensors in the order of [`Plain::ALL`], for base cycles of a length.
    ///
    /// # Panics
    /// If [`GaugeSpec::fault`] finds one; scenarios ask before.
    pub fn new(specs: [GaugeSpec; 7], tick_s: f64) -> Self {
        let prepared = |spec: GaugeSpec| {
            assert_eq!(spec.fault(), None, "sensors must be checked when they are loaded");
            (spec, Noise::new(spec.noise, f64::from(spec.period_ticks) * tick_s))
        };
        Self { gauges: specs.map(prepared) }
    }
    /// All sensors with one of the three ready noise models, read in every base cycle (S2-12).
    pub fn ready(ready: Ready, tick_s: f64) -> Self {
        let spec = |sensor: Plain| GaugeSpec { noise: sensor.output().noise(ready), ..GaugeSpec::EXACT };
        Self::new(Plain::ALL.map(spec), tick_s)
    }
    fn gauges(&self) -> impl Iterator<Item = (Plain, &GaugeSpec, &Noise)> {
        Plain::ALL.into_iter().zip(&self.gauges).map(|(sensor, (spec, noise))| (sensor, spec, noise))
    }
    /// The state before the first base cycle.
    pub fn start(&self, truth: &PlainValues, chance: Chance) -> PlainState {
        let before = chance.at(u64::MAX);
        let mut wander = [Wander::default(); PLAIN_CHANNELS];
        for (sensor, _, noise) in self.gauges() {
            sensor.channels().for_each(|channel| wander[channel] = noise.start(&before, channel as u64));
        }
        PlainState { told: truth.numbers(), wander }
    }

    /// Reads the sensors that are due; the others keep their last reading. `scale` is that of the zone (1 in the open).
    pub fn read(&self, state: &mut PlainState, truth: &PlainValues, scale: f64, tick: u64, chance: Chance) {
        let (chance, truth) = (chance.at(tick), truth.numbers());
        for (sensor, spec, noise) in self.gauges() {
            if !tick.is_multiple_of(u64::from(spec.period_ticks)) {
                continue;
            }
            for channel in sensor.channels() {
                let noise = noise.draw(&mut state.wander[channel], &chance, channel as u64, scale);
                let value = truth[channel] + noise;
                let value = if sensor == Plain::Compass { maths::wrap_angle(value) } else { value };
                state.told[channel] = quantised(value, spec.quantum);
            }
        }
    }

    /// Names readings that are kept for longer than a base cycle, and what noise remembers.
    pub fn visit<V: Visitor>(&self, state: &PlainState, v: &mut V) {
        for (sensor, spec, noise) in self.gauges() {
            let unit = sensor.output().unit();
            for (i, channel) in sensor.channels().enumerate() {
                let (name, told) = (format_args!("{}.{i}", sensor.name()), state.told[channel]);
                if spec.period_ticks <= 1 {
                    v.unread(format_args!("told.{channel}"), "it is read anew in every base cycle");
                } else if sensor == Plain::Compass {
                    v.angle(name, sensor.cell(), told);
                } else {
                    v.real(name, unit, sensor.cell(), told);
                }
                v.within(name, |v| noise.visit(unit, state.wander[channel], format_args!("wander.{channel}"), v));
            }
        }
    }
}

/// The nearest whole multiple.
fn quantised(value: f64, quantum: f64) -> f64 {
    if quantum > 0.0 { (value / quantum).round() * quantum } else { value }
}

#[cfg(test)]
mod tests {
    use anabranch_kernel::{Declarations, Grid, KeyWriter, Seed, Variable, from_bytes, to_bytes};

    use super::*;

    const TRUTH: PlainValues = PlainValues {
        friction: 0.9,
        location_m: [10.0, 20.0],
        compass_rad: 3.1,
        speed_mps: 7.26,
        steering_rad: 0.04,
        to_right_m: 1.2,
        markers_m: [0.8, 0.9, 0.7, 1.0],
    };
    fn chance() -> Chance {
        Chance::new(Seed(5), "plain")
    }
    fn variables(sensors: &PlainSensors) -> Vec<Variable> {
        Declarations::of(|v| sensors.visit(&sensors.start(&TRUTH, chance()), v)).variables
    }

    #[test]
    fn exact_sensors_tell_the_truth_in_its_place() {
        let sensors = PlainSensors::new([GaugeSpec::EXACT; 7], 0.01);
        let mut state = sensors.start(&PlainValues::default(), chance());
        sensors.read(&mut state, &TRUTH, 1.0, 3, chance());
        assert_eq!(state.values(), TRUTH);
        assert!(variables(&sensors).is_empty());
    }

    #[test]
    fn readings_are_kept_between_periods_and_rounded_to_the_resolution() {
        let mut specs = [GaugeSpec::EXACT; 7];
        specs[Plain::Speed as usize] = GaugeSpec { period_ticks: 10, quantum: 0.5, ..GaugeSpec::EXACT };
        let sensors = PlainSensors::new(specs, 0.01);
        let mut state = sensors.start(&TRUTH, chance());
        let mut told = Vec::new();
        for tick in 0..21 {
            let truth = PlainValues { speed_mps: 7.26 + 0.1 * tick as f64, ..TRUTH };
            sensors.read(&mut state, &truth, 1.0, tick, chance());
            told.push(state.values().speed_mps);
        }
        assert_eq!((told[0], told[9], told[10], told[19], told[20]), (7.5, 7.5, 8.5, 8.5, 9.5));
        assert_eq!(variables(&sensors)[0].name, "speed.0");
    }

    #[test]
    fn a_compass_stays_on_its_rose() {
        let mut specs = [GaugeSpec::EXACT; 7];
        specs[Plain::Compass as usize].noise = NoiseModel::NONE.biased(0.2);
        let sensors = PlainSensors::new(specs, 0.01);
        let mut state = sensors.start(&TRUTH, chance());
        sensors.read(&mut state, &TRUTH, 1.0, 0, chance());
        assert!((state.values().compass_rad - (3.3 - std::f64::consts::TAU)).abs() < 1e-12);
    }

    #[test]
    fn every_sensor_has_three_ready_noise_models_and_its_channels_err_on_their_own() {
        for ready in Ready::ALL {
            let sensors = PlainSensors::ready(ready, 0.1);
            let mut state = sensors.start(&TRUTH, chance());
            let truth = TRUTH.numbers();
            sensors.read(&mut state, &TRUTH, 1.0, 1, chance());
            let errors: Vec<f64> = (0..PLAIN_CHANNELS).map(|i| state.told[i] - truth[i]).collect();
            assert!(errors.iter().all(|error| *error != 0.0), "{ready:?} {errors:?}");
            assert!(errors[7] != errors[8] && errors[8] != errors[9], "{errors:?}");
        }
    }

    #[test]
    fn a_saved_state_goes_on_alike_and_is_in_the_key() {
        let mut sensors = PlainSensors::ready(Ready::Wandering, 0.1);
        sensors.gauges[3].0.period_ticks = 4;
        let grid = Grid::of(&variables(&sensors));
        assert_eq!(variables(&sensors).len(), PLAIN_CHANNELS + 1);
        let key = |state: &PlainState| {
            let mut key = KeyWriter::new(&grid);
            sensors.visit(state, &mut key.visitor(&[]));
            key.finish().unwrap()
        };
        let mut state = sensors.start(&TRUTH, chance());
        let first = key(&state);
        for tick in 0..50 {
            let mut loaded: PlainState = from_bytes(&to_bytes(&state)).unwrap();
            sensors.read(&mut state, &TRUTH, 1.0, tick, chance());
            sensors.read(&mut loaded, &TRUTH, 1.0, tick, chance());
            assert_eq!((state, key(&state)), (loaded, key(&loaded)));
        }
        assert_ne!(first, key(&state));
        let whole = anabranch_kernel::contract::check_part(
            &[state],
            |state, v| sensors.visit(state, v),
            |state, v| sensors.visit(state, v),
        );
        whole.unwrap_or_else(|forgotten| panic!("{forgotten}"));
    }
}
