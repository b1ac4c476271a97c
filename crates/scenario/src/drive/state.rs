//! Everything of the loop that evolves, and its merge key.

use std::sync::Arc;

use anabranch_driving::follow::{PathMemory, TrajectoryMemory};
use anabranch_errors::{Channel, DelayLine};
use anabranch_geometry::Path;
use anabranch_kernel::{Declarations, KeyWriter, LeafRole, Seed, Visitor};
use anabranch_sensing::{ObstacleMemory, PoseReading};
use anabranch_vehicle::CarState;
use serde::{Deserialize, Serialize};

use super::foreign::ForeignMemory;
use super::model::ModelMemory;
use super::street::{Drives, StreetState};
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

/// Sections of the variables, in the order in which they are listed. Words of the key have another one, that of
/// [`Drive::visit`]: keys of stored runs depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Section {
    Car,
    Driver,
    Part,
    Errors,
    ToldLine,
    CommandLine,
    Sensed,
    Monitors,
    Measured,
    Start,
    Path,
    Phase,
    HeldCommand,
    HeldReading,
    Behind,
    Street,
}

/// What the key of a loop has. Parts that cannot matter have no variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Variables, and what is not in the key.
    pub(super) declared: Declarations,
    /// Base cycles after which all cycles begin together, if segments do not begin then.
    phase_ticks: Option<u32>,
    /// A command is held from one segment to the next.
    holds_command: bool,
    /// The same of a reading of the pose.
    holds_reading: bool,
}

/// Why something is not in the key.
const ABSENT: &str = "this scenario has no such part";
const RENEWED: &str = "every segment begins with a new one";

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

    /// Declares the key of this loop: what a state at a start has in it, all of them have.
    pub(crate) fn lay_out(&mut self) {
        // A held value counts only if the next segment begins before it is renewed.
        let cycles = [
            Some(self.control_ticks),
            Some(self.localisation.cycle_ticks),
            self.eyes.as_ref().map(|eyes| eyes.cycle_ticks),
            self.replanning.as_ref().map(|r| r.cycle_ticks),
        ];
        let round = cycles.into_iter().flatten().fold(1, least_common_multiple);
        let is_cut = |cycle_ticks: u32| !self.segment_ticks.is_multiple_of(cycle_ticks);
        self.layout = Layout {
            declared: Declarations::default(),
            phase_ticks: is_cut(round).then_some(round),
            holds_command: is_cut(self.control_ticks),
            holds_reading: is_cut(self.localisation.cycle_ticks),
        };
        let mut declared = Declarations::of(|v| self.visit(&self.first_state(), v));
        if self.foreign().is_some() {
            // A state of code from outside is reached along its path alone, so another value cannot be tried.
            let unread = declared.leaves.iter_mut().filter(|leaf| leaf.role == LeafRole::Unread);
            unread.for_each(|leaf| leaf.role = LeafRole::Rounded);
        }
        self.layout.declared = declared;
    }

    /// A state at the first of the starts.
    pub(super) fn first_state(&self) -> DriveState {
        self.start_state(Seed(0), &self.space.all()[0]).expect("the first start is a start")
    }

    /// Writes the key.
    #[inline]
    pub(crate) fn write_key(&self, state: &DriveState, key: &mut KeyWriter<'_>) {
        self.visit(state, &mut key.visitor(&self.layout.declared.sections));
    }

    /// Names every variable of a state once, and everything that is not in the key.
    #[inline]
    fn visit<V: Visitor>(&self, state: &DriveState, v: &mut V) {
        v.time("tick");
        v.section(Section::Car as usize);
        state.car.visit(v);
        v.section(Section::Driver as usize);
        self.visit_driver(state, v);
        if let Some(street) = &self.street {
            let drives = if matches!(self.driver, Driver::Road) { Drives::BuiltIn } else { Drives::Other };
            v.section(Section::Street as usize);
            v.field("extras.street", |v| street.visit(drives, state, v));
        }
        v.section(Section::Part as usize);
        self.visit_part(state, v);
        v.section(Section::Errors as usize);
        v.field("errors", |v| self.errors.visit(&state.errors, v));
        match &state.extras {
            Some(extras) => v.field("extras", |v| self.visit_extras(extras, v)),
            None => v.constant("extras", "nothing of this scenario needs them"),
        }
        v.section(Section::Monitors as usize);
        let histories = state.extras.as_ref().map_or(&[][..], |extras| &extras.histories);
        self.requirements.visit(("monitors", &state.monitors), ("extras.histories", histories), v);
        self.visit_rest(state, v);
    }

    #[inline]
    fn visit_driver<V: Visitor>(&self, state: &DriveState, v: &mut V) {
        match (&state.driver, &self.driver) {
            (DriverMemory::Path(memory), _) => memory.visit(v),
            (DriverMemory::Trajectory(memory), _) => memory.visit(v),
            (DriverMemory::Foreign { completed }, _) => self.visit_foreign(state, *completed, v),
            (DriverMemory::Model(memory), Driver::Model(driver)) => {
                v.field("driver.Model", |v| driver.visit(memory, v));
            }
            (DriverMemory::Model(_), _) => unreachable!("driver and memory are of one kind"),
            (DriverMemory::Road { .. }, _) => v.constant("driver", "a run ends when it is completed"),
        }
    }

    /// What is held from one segment to the next, and where the run began.
    #[inline]
    fn visit_rest<V: Visitor>(&self, state: &DriveState, v: &mut V) {
        let layout = &self.layout;
        v.section(Section::Start as usize);
        match self.plans.len() > 1 {
            true => v.exact("start", u64::from(state.start)),
            false => v.constant("start", "there is one start"),
        }
        v.section(Section::Phase as usize);
        if let Some(round) = layout.phase_ticks {
            v.exact("phase", u64::from(state.tick % round));
        }
        v.section(Section::HeldCommand as usize);
        match layout.holds_command {
            true => {
                v.real("held.steering", "rad", 0.05, state.command.steering_rad);
                v.real("held.acceleration", "m/s^2", 0.2, state.command.accel_mps2);
            }
            false => v.unread("command", RENEWED),
        }
        v.section(Section::HeldReading as usize);
        match layout.holds_reading {
            true => v.within("reading", |v| state.reading.visit(v)),
            false => v.unread("reading", RENEWED),
        }
    }

    fn visit_extras<V: Visitor>(&self, extras: &Extras, v: &mut V) {
        v.section(Section::ToldLine as usize);
        v.field("told_line", |v| v.within("told", |v| extras.told_line.visit(&TOLD, v)));
        v.section(Section::CommandLine as usize);
        v.field("command_line", |v| v.within("commanded", |v| extras.command_line.visit(&COMMANDED, v)));
        v.section(Section::Sensed as usize);
        match &self.eyes {
            Some(eyes) => {
                eyes.sensor.visit(&extras.sensed, v);
                v.real("stand_at", "m", 0.1, extras.stand_at_m);
            }
            None => {
                v.constant("sensed", ABSENT);
                v.constant("stand_at_m", ABSENT);
            }
        }
        v.section(Section::Behind as usize);
        match (&self.behind, &extras.behind) {
            (Some(behind), Some(memory)) => v.field("behind", |v| behind.visit_cells(memory, v)),
            _ => v.constant("behind", ABSENT),
        }
        v.section(Section::Measured as usize);
        match &extras.measured {
            Some(measured) => {
                v.field("measured", |v| measured.visit(self.measuring.remembered(), self.model.dt_s, v));
            }
            None => v.constant("measured", ABSENT),
        }
        v.section(Section::Path as usize);
        match &self.replanning {
            Some(_) => visit_path(extras.own_path.as_deref(), v),
            None => v.constant("own_path", ABSENT),
        }
        match self.foreign() {
            Some(foreign) => v.field("foreign", |v| foreign.visit_leaves(v)),
            None => v.constant("foreign", ABSENT),
        }
        if self.street.is_none() {
            v.constant("street", ABSENT);
        }
    }
}

/// A path counts by where its sections begin and end, in cells of a tenth of a metre and a twentieth of a radian.
fn visit_path<V: Visitor>(path: Option<&Path>, v: &mut V) {
    v.rounded("own_path.arcs#", "a path is in the key by where it leads");
    let variable = v.continuous("path", "m", 0.1);
    let Some(path) = path else { return v.put(variable, -1.0) };
    v.put(variable, path.sections().len() as f64);
    for section in path.sections() {
        for at in [section.first, (section.first + section.last) / 2, section.last] {
            let sample = path.samples()[at];
            v.put(variable, sample.x);
            v.put(variable, sample.y);
            v.put(variable, 2.0 * sample.heading);
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

#[cfg(test)]
mod tests {
    use anabranch_kernel::{Choice, System, Watch};

    use super::*;
    use crate::file::{Hooks, read_scenario};

    /// Positions of variables are counted while a key is written: they are right if no state declares others than the first one.
    #[test]
    fn every_state_of_a_scenario_declares_the_same_variables() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|ext| ext == "toml")).collect();
        files.sort();
        let mut checked = 0;
        for path in files {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let bytes = std::fs::read(&path).unwrap();
            let Ok((_, spec)) = read_scenario(&name, &bytes, &Hooks::default()) else { continue };
            let Ok(drive) = Drive::assemble(&spec) else { continue };
            let mut state = drive.start(Seed(3), &drive.space.all()[0]).unwrap();
            for segment in 0..4 {
                let declared = Declarations::of(|v| drive.visit(&state, v));
                assert_eq!(declared.variables, drive.layout.declared.variables, "{name} after {segment} segments");
                assert_eq!(declared.sections, drive.layout.declared.sections, "{name} after {segment} segments");
                let last = Choice(drive.errors.space().len() as u16 - 1);
                if drive.run(&mut state, if segment % 2 == 0 { last } else { Choice::NONE }, &mut Watch::off()).is_err()
                {
                    break;
                }
            }
            checked += 1;
        }
        assert!(checked >= 30, "{checked} scenarios");
    }
}
