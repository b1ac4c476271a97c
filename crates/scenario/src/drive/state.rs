//! Everything of the loop that evolves, and its merge key.

use std::sync::Arc;

use anabranch_driving::follow::{PathMemory, TrajectoryMemory};
use anabranch_errors::{Channel, DelayLine};
use anabranch_geometry::Path;
use anabranch_kernel::{KeyWriter, Variable};
use anabranch_sensing::{ObstacleMemory, PoseReading};
use anabranch_vehicle::CarState;
use serde::{Deserialize, Serialize};

use super::foreign::ForeignMemory;
use super::model::ModelMemory;
use super::street::{StreetLayout, StreetState};
use super::{Drive, Driver};

/// What the driver remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DriverMemory {
    /// Of a path follower.
    Path(PathMemory),
    /// Of a trajectory follower.
    Trajectory(TrajectoryMemory),
    /// Of a driver from outside: what it said last. The rest is in [`Extras::foreign`] and outside.
    Foreign {
        /// "Manoeuvre completed."
        completed: bool,
    },
    /// Of a driver on roads; the rest is in [`Extras::street`].
    Road {
        /// It stands at its goal.
        completed: bool,
    },
    /// Of a component model, whole.
    Model(Box<ModelMemory>),
}

impl DriverMemory {
    /// As much of it as tells which gains a segment read: nothing of a model.
    pub(super) fn outline(&self) -> Self {
        match self {
            Self::Model(memory) => Self::Road { completed: memory.completed },
            other => other.clone(),
        }
    }
    /// "Manoeuvre completed" (S1-12).
    pub fn is_completed(&self) -> bool {
        match self {
            Self::Path(memory) => memory.is_completed(),
            Self::Trajectory(memory) => memory.completed,
            Self::Model(memory) => memory.completed,
            Self::Foreign { completed } | Self::Road { completed } => *completed,
        }
    }
}

/// What the driver asked for last: held until it decides again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldCommand {
    /// Angle of the front wheels.
    pub steering_rad: f64,
    /// Along the gear.
    pub accel_mps2: f64,
}

/// A run at one moment, whole: equal states have equal futures under equal choices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveState {
    /// Base cycles since the start.
    pub tick: u32,
    /// Which start it began from, and so which plan it follows.
    pub start: u16,
    /// The car.
    pub car: CarState,
    /// The driver.
    pub driver: DriverMemory,
    /// Its last command.
    pub command: HeldCommand,
    /// The last reading of the pose.
    pub reading: PoseReading<f64>,
    /// What error models remember.
    pub errors: anabranch_errors::Memory,
    /// What monitors remember.
    pub monitors: anabranch_monitors::Memory,
    /// What only scenarios with delays or sensed obstacles need; apart, so that the others save small states.
    pub extras: Option<Box<Extras>>,
}

/// The part of the state that delays, sensed obstacles and replanning need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extras {
    /// Readings on their way to the driver: x, y, heading, speed.
    pub told_line: DelayLine<4>,
    /// Commands on their way to the car: steering, acceleration.
    pub command_line: DelayLine<2>,
    /// What the obstacle sensor remembers.
    pub sensed: ObstacleMemory,
    /// Station at which the driver wants to stand because of an obstacle; beyond every path if nowhere.
    pub stand_at_m: f64,
    /// A path planned on the way, instead of the first one.
    pub own_path: Option<Arc<Path>>,
    /// What is known of the memory of a driver from outside.
    pub foreign: Option<ForeignMemory>,
    /// What requirements about more than one moment remember.
    pub histories: Vec<anabranch_monitors::History>,
    /// What measures of the run remember.
    pub measured: Option<Box<anabranch_monitors::Measured>>,
    /// Others on the road, and what the driver believes about them.
    pub street: Option<Box<StreetState>>,
    /// What component models behind a built-in driver remember.
    pub behind: Option<Box<ModelMemory>>,
}

impl DriveState {
    /// What requirements remember: of single moments, and of more than one.
    pub(super) fn remembered(&mut self) -> (&mut anabranch_monitors::Memory, &mut [anabranch_monitors::History]) {
        (&mut self.monitors, self.extras.as_mut().map_or(&mut [][..], |extras| &mut extras.histories))
    }
    /// The path planned on the way, if there is one.
    pub(crate) fn own_path(&self) -> Option<&Arc<Path>> {
        self.extras.as_ref().and_then(|extras| extras.own_path.as_ref())
    }
    /// What is known of a driver from outside.
    pub(crate) fn foreign(&self) -> Option<&ForeignMemory> {
        self.extras.as_ref().and_then(|extras| extras.foreign.as_ref())
    }
}

impl DriveState {
    /// The part that roads need.
    pub(super) fn street(&self) -> &StreetState {
        let street = self.extras.as_ref().and_then(|extras| extras.street.as_deref());
        street.expect("a state on roads has their part")
    }
    /// Takes it out for a segment, so that both halves can be worked on.
    pub(super) fn take_street(&mut self) -> Box<StreetState> {
        let street = self.extras.as_mut().and_then(|extras| extras.street.take());
        street.expect("a state on roads has their part")
    }
    /// Puts it back.
    pub(super) fn put_street(&mut self, street: Box<StreetState>) {
        if let Some(extras) = &mut self.extras {
            extras.street = Some(street);
        }
    }
}

/// A station beyond every path.
pub(crate) const FREE_M: f64 = 1e6;

const TOLD: [Channel; 4] = [
    Channel { name: "x", unit: "m", cell: 0.1 },
    Channel { name: "y", unit: "m", cell: 0.1 },
    Channel { name: "heading", unit: "rad", cell: 0.02 },
    Channel { name: "speed", unit: "m/s", cell: 0.05 },
];
const COMMANDED: [Channel; 2] =
    [Channel { name: "steering", unit: "rad", cell: 0.05 }, Channel { name: "acceleration", unit: "m/s^2", cell: 0.2 }];

/// Where the variables of each part stand in the key. Parts that cannot matter have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) variables: Vec<Variable>,
    pub(crate) driver: usize,
    pub(crate) part: usize,
    errors: usize,
    told_line: usize,
    command_line: usize,
    sensed: usize,
    stand_at: Option<usize>,
    monitors: usize,
    measured: usize,
    pub(super) start: Option<usize>,
    path: Option<usize>,
    phase: Option<(usize, u32)>,
    pub(super) held_command: Option<usize>,
    pub(super) held_reading: Option<usize>,
    street: StreetLayout,
    behind: usize,
}

impl Drive {
    /// Whether anything in this scenario needs more than the plain state.
    pub(super) fn needs_extras(&self) -> bool {
        let reach = self.errors.reach();
        self.eyes.is_some()
            || self.requirements.is_temporal()
            || self.measuring.remembered() != 0
            || self.foreign().is_some()
            || self.street.is_some()
            || self.replanning.is_some()
            || self.behind.is_some()
            || reach.sensor_delay_ticks > 0
            || reach.actuator_delay_ticks > 0
    }

    /// Declares the key of this loop.
    pub(crate) fn lay_out(&mut self) {
        let mut layout = Layout::default();
        let all = &mut layout.variables;
        let mut add = |variables: Vec<Variable>| {
            let first = all.len();
            all.extend(variables);
            first
        };
        add(CarState::variables());
        layout.driver = add(match &self.driver {
            Driver::Path(_) => PathMemory::variables(),
            Driver::Trajectory(_) => TrajectoryMemory::variables(),
            Driver::Foreign(foreign) => foreign.variables(),
            Driver::Model(model) => model.variables(),
            Driver::Road => Vec::new(),
        });
        layout.part = add(self.part.as_ref().map_or_else(Vec::new, |part| part.code.variables()));
        layout.errors = add(self.errors.variables().to_vec());
        let reach = self.errors.reach();
        layout.told_line = add(DelayLine::variables(reach.sensor_delay_ticks, "told", &TOLD));
        layout.command_line = add(DelayLine::variables(reach.actuator_delay_ticks, "commanded", &COMMANDED));
        if let Some(eyes) = &self.eyes {
            layout.sensed = add(eyes.sensor.variables());
            layout.stand_at = Some(add(vec![Variable::real("stand_at", "m", 0.1)]));
        }
        layout.monitors = add(self.requirements.variables());
        layout.measured = add(anabranch_monitors::Measured::variables(self.measuring.remembered()));
        if self.plans.len() > 1 {
            layout.start = Some(add(vec![Variable::exact("start")]));
        }
        if self.replanning.is_some() {
            layout.path = Some(add(vec![Variable::real("path", "m", 0.1)]));
        }
        // A held value counts only if the next segment begins before it is renewed.
        let cycles = [
            Some(self.control_ticks),
            Some(self.localisation.cycle_ticks),
            self.eyes.as_ref().map(|eyes| eyes.cycle_ticks),
            self.replanning.as_ref().map(|r| r.cycle_ticks),
        ];
        let round = cycles.into_iter().flatten().fold(1, least_common_multiple);
        if !self.segment_ticks.is_multiple_of(round) {
            layout.phase = Some((add(vec![Variable::exact("phase")]), round));
        }
        if !self.segment_ticks.is_multiple_of(self.control_ticks) {
            let held = ["held.steering", "held.acceleration"];
            layout.held_command =
                Some(add(vec![Variable::real(held[0], "rad", 0.05), Variable::real(held[1], "m/s^2", 0.2)]));
        }
        if !self.segment_ticks.is_multiple_of(self.localisation.cycle_ticks) {
            layout.held_reading = Some(add(PoseReading::variables("reading").to_vec()));
        }
        layout.behind = add(self.behind.as_ref().map_or_else(Vec::new, |behind| behind.cell_variables()));
        if let Some(street) = &self.street {
            layout.street = street.lay_out(matches!(self.driver, Driver::Road), &mut layout.variables);
        }
        self.layout = layout;
    }

    /// Writes every variable once.
    #[inline]
    pub(crate) fn write_key(&self, state: &DriveState, key: &mut KeyWriter<'_>) {
        let layout = &self.layout;
        state.car.write_key(0, key);
        match &state.driver {
            DriverMemory::Path(memory) => memory.write_key(layout.driver, key),
            DriverMemory::Trajectory(memory) => memory.write_key(layout.driver, key),
            DriverMemory::Foreign { completed } => self.write_foreign(state, *completed, key),
            DriverMemory::Model(memory) => self.write_model(memory, key),
            DriverMemory::Road { .. } => {}
        }
        if let Some(street) = &self.street {
            street.write_key(&layout.street, state, key);
        }
        if self.part.is_some() {
            self.write_part(state, key);
        }
        self.errors.write_key(&state.errors, layout.errors, key);
        if let Some(extras) = &state.extras {
            self.write_extras(extras, key);
        }
        let histories = state.extras.as_ref().map_or(&[][..], |extras| &extras.histories);
        self.requirements.write_key(&state.monitors, histories, layout.monitors, key);
        if let Some(start) = layout.start {
            key.exact(start, u64::from(state.start));
        }
        if let Some((index, round)) = layout.phase {
            key.exact(index, u64::from(state.tick % round));
        }
        if let Some(index) = layout.held_command {
            key.real(index, state.command.steering_rad);
            key.real(index + 1, state.command.accel_mps2);
        }
        if let Some(index) = layout.held_reading {
            state.reading.write_key(index, key);
        }
    }
}

impl Drive {
    fn write_model(&self, memory: &ModelMemory, key: &mut KeyWriter<'_>) {
        if let Driver::Model(driver) = &self.driver {
            driver.write_key(memory, self.layout.driver, key);
        }
    }

    fn write_extras(&self, extras: &Extras, key: &mut KeyWriter<'_>) {
        let layout = &self.layout;
        extras.told_line.write_key(&TOLD, layout.told_line, key);
        extras.command_line.write_key(&COMMANDED, layout.command_line, key);
        if let (Some(eyes), Some(stand_at)) = (&self.eyes, layout.stand_at) {
            eyes.sensor.write_key(&extras.sensed, layout.sensed, key);
            key.real(stand_at, extras.stand_at_m);
        }
        if let (Some(behind), Some(memory)) = (&self.behind, &extras.behind) {
            behind.write_cells(memory, layout.behind, key);
        }
        if let Some(measured) = &extras.measured {
            measured.write_key(self.measuring.remembered(), self.model.dt_s, layout.measured, key);
        }
        if let Some(index) = layout.path {
            write_path(extras.own_path.as_deref(), index, key);
        }
    }
}

/// A path counts by where its sections begin and end, in cells of a tenth of a metre and a twentieth of a radian.
fn write_path(path: Option<&Path>, index: usize, key: &mut KeyWriter<'_>) {
    let Some(path) = path else { return key.real(index, -1.0) };
    key.real(index, path.sections().len() as f64);
    for section in path.sections() {
        for at in [section.first, (section.first + section.last) / 2, section.last] {
            let sample = path.samples()[at];
            key.real(index, sample.x);
            key.real(index, sample.y);
            key.real(index, 2.0 * sample.heading);
        }
    }
}

fn least_common_multiple(a: u32, b: u32) -> u32 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
