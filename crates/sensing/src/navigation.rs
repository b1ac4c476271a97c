//! Imperfect localisation: four sensors of the truth, each with its own noise and period, and a filter behind them (S4-8).

use anabranch_kernel::{Chance, Visitor};
use serde::{Deserialize, Serialize};

use crate::consistency::{Confidence, InnovationWatch, Innovations};
use crate::filter::{Component, ESTIMATED, Estimate, Filter, FilterSpec, Moving};
use crate::noise::{Noise, NoiseModel, Situations, Wander};
use crate::zones::{Reception, Zones};

/// Measurements over which the filter's own watch looks back: some seconds of driving.
const WATCHED_MEASUREMENTS: u32 = 200;
/// Deviations of the first estimate: that of a car that has stood for a while.
const START_DEVIATIONS: [f64; ESTIMATED] = [1.0, 1.0, 0.05, 0.1, 0.01];

/// A sensor of the own motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MotionSensor {
    /// Position by satellites; the only one that zones act on.
    Gps,
    /// Heading.
    Compass,
    /// Speed by the wheels.
    Wheels,
    /// Yaw rate.
    Gyro,
}

impl MotionSensor {
    const ALL: [Self; 4] = [Self::Gps, Self::Compass, Self::Wheels, Self::Gyro];

    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gps => "gps",
            Self::Compass => "compass",
            Self::Wheels => "wheels",
            Self::Gyro => "gyro",
        }
    }
    /// Its bit in [`NavigationErrors::lost`].
    pub const fn bit(self) -> u8 {
        1 << self as u8
    }
    /// What it measures: so many components from the first one.
    fn measures(self) -> &'static [Component] {
        match self {
            Self::Gps => &[Component::East, Component::North],
            Self::Compass => &[Component::Heading],
            Self::Wheels => &[Component::Speed],
            Self::Gyro => &[Component::YawRate],
        }
    }
}

/// What a sensor does, and what the filter thinks it does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MotionSensorSpec {
    /// Base cycles between two readings; 0 is a sensor that is not there.
    pub period_ticks: u32,
    /// Its noise.
    pub noise: NoiseModel,
    /// Standard deviation that the filter assumes.
    pub assumed: f64,
    /// Whether the filter is told about the zone, as by a receiver that reports its accuracy.
    pub assumed_situations: Situations,
}

impl MotionSensorSpec {
    /// A sensor whose filter knows the size of its noise, though not that it may wander.
    pub fn new(period_ticks: u32, noise: NoiseModel) -> Self {
        Self { period_ticks, noise, assumed: noise.variance().sqrt(), assumed_situations: noise.situations }
    }
}

/// Everything that localisation is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct NavigationSpec {
    /// Satellites.
    pub gps: MotionSensorSpec,
    /// Compass.
    pub compass: MotionSensorSpec,
    /// Wheels.
    pub wheels: MotionSensorSpec,
    /// Gyroscope.
    pub gyro: MotionSensorSpec,
    /// The filter.
    pub filter: FilterSpec,
    /// Where satellites are seen badly.
    pub zones: Zones,
    /// Length of a base cycle.
    pub tick_s: f64,
}

/// Errors of the segment, as plain numbers (S1-21, S1-22).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct NavigationErrors {
    /// Sensors that tell nothing: bits of [`MotionSensor`].
    pub lost: u8,
    /// Added to what the sensors tell, in the order of [`Component`].
    pub offset: [f64; ESTIMATED],
}

/// Localisation as a part of the loop. Behaviour only: what evolves is its [`NavigationState`].
#[derive(Clone, Debug)]
pub struct Navigation {
    sensors: [(MotionSensorSpec, Noise); 4],
    filter: Filter,
    zones: Zones,
    watch: InnovationWatch,
}

/// What localisation believes and remembers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NavigationState {
    /// Estimate and covariance.
    pub estimate: Estimate,
    innovations: Innovations,
    wander: [Wander; ESTIMATED],
}

/// Names of the wandering parts, by component.
const WANDERS: [(&str, &str); ESTIMATED] =
    [("gps.x", "m"), ("gps.y", "m"), ("compass", "rad"), ("wheels", "m/s"), ("gyro", "rad/s")];

impl Navigation {
    /// Prepares localisation.
    pub fn new(spec: NavigationSpec) -> Self {
        let prepared = |sensor: MotionSensorSpec| {
            (sensor, Noise::new(sensor.noise, f64::from(sensor.period_ticks.max(1)) * spec.tick_s))
        };
        Self {
            sensors: [spec.gps, spec.compass, spec.wheels, spec.gyro].map(prepared),
            filter: Filter::new(spec.filter, spec.tick_s),
            zones: spec.zones,
            watch: InnovationWatch::new(WATCHED_MEASUREMENTS),
        }
    }
    /// The state at the start of a run: off by what the first covariance says.
    pub fn start(&self, truth: &Moving, chance: Chance) -> NavigationState {
        let before = chance.at(u64::MAX);
        let off: [f64; ESTIMATED] = std::array::from_fn(|i| START_DEVIATIONS[i] * before.normal(100 + i as u64));
        let mut believed = *truth;
        believed.pose.x += off[0];
        believed.pose.y += off[1];
        believed.pose.heading += off[2];
        believed.speed_mps += off[3];
        believed.yaw_rate_radps += off[4];
        let mut wander = [Wander::default(); ESTIMATED];
        for (sensor, (_, noise)) in MotionSensor::ALL.into_iter().zip(&self.sensors) {
            for &component in sensor.measures() {
                wander[component as usize] = noise.start(&before, component as u64);
            }
        }
        let estimate = Estimate::new(&believed, START_DEVIATIONS);
        NavigationState { estimate, innovations: Innovations::default(), wander }
    }

    /// One base cycle: the filter moves on, and due sensors are read. To be called in every one.
    pub fn step(
        &self,
        state: &mut NavigationState,
        truth: &Moving,
        errors: &NavigationErrors,
        tick: u64,
        chance: Chance,
    ) {
        self.filter.predict(&mut state.estimate);
        let chance = chance.at(tick);
        for (sensor, (spec, noise)) in MotionSensor::ALL.into_iter().zip(&self.sensors) {
            if spec.period_ticks == 0 || !tick.is_multiple_of(u64::from(spec.period_ticks)) {
                continue;
            }
            let reception = match sensor {
                MotionSensor::Gps => self.zones.at(truth.pose.point()),
                _ => Reception::OPEN,
            };
            // A wandering noise goes on wandering while nothing is told.
            let (scale, told) = match reception {
                Reception::Scaled(scale) => (scale, errors.lost & sensor.bit() == 0),
                Reception::Lost => (1.0, false),
            };
            let assumed = match spec.assumed_situations {
                Situations::Ignored => spec.assumed,
                Situations::Obeyed => scale * spec.assumed,
            };
            for &component in sensor.measures() {
                let index = component as usize;
                let noise = noise.draw(&mut state.wander[index], &chance, index as u64, scale);
                if !told {
                    continue;
                }
                let reading = component.of(truth) + noise + errors.offset[index];
                let innovation = state.estimate.measure(component, reading, assumed * assumed);
                self.watch.add(&mut state.innovations, innovation);
            }
        }
    }
    /// What the filter's own innovations say about it, without the truth.
    pub fn confidence(&self, state: &NavigationState) -> Confidence {
        self.watch.confidence(&state.innovations)
    }

    /// Names everything that is remembered.
    pub fn visit<V: Visitor>(&self, state: &NavigationState, v: &mut V) {
        state.estimate.visit(v);
        v.within("innovation", |v| state.innovations.visit(v));
        for (i, (part, unit)) in WANDERS.into_iter().enumerate() {
            v.within(part, |v| self.noise(i).visit(unit, state.wander[i], format_args!("wander.{i}"), v));
        }
    }
    /// The noise of a component: east and north share that of the satellites.
    fn noise(&self, component: usize) -> &Noise {
        &self.sensors[component.saturating_sub(1)].1
    }
}

impl Component {
    fn of(self, truth: &Moving) -> f64 {
        match self {
            Self::East => truth.pose.x,
            Self::North => truth.pose.y,
            Self::Heading => truth.pose.heading,
            Self::Speed => truth.speed_mps,
            Self::YawRate => truth.yaw_rate_radps,
        }
    }
}
