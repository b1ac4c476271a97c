//! The closed loop of a low-speed scenario as a [`System`]: sense, corrupt, decide, corrupt, move, judge.

mod along;
mod assemble;
mod danger;
mod derive;
mod door;
mod errors;
pub mod foreign;
mod given;
mod index;
mod lanes;
mod likelihood;
mod margin;
mod measure;
mod model;
mod obstacles;
mod outside;
mod parts;
mod plan;
mod proof;
mod state;
mod street;
mod tick;

use std::sync::Arc;

use anabranch_driving::follow::{PathFollower, TrajectoryFollower};
use anabranch_errors::ErrorSet;
use anabranch_geometry::{Body, EdgeSet, Pose};
use anabranch_kernel::{
    Choice, Choices, Contraction, Danger, ErrorSpace, Fault, Job, KeyWriter, Leaf, Likelihood, Margin, NoProof,
    ParamSpace, Params, Parts, Seed, SegmentEnd, Signal, System, Tube, Twice, Variable, Watch,
};
use anabranch_monitors::Requirements;
use anabranch_sensing::{Localisation, ObstacleSensor};
use anabranch_vehicle::CarModel;

use foreign::{ForeignDriver, Part};

pub use assemble::{AssembleError, Cells, SettingError, check_expression};
use index::EdgeIndex;
pub(crate) use likelihood::{Likely, likely};
pub use model::ModelMemory;
use plan::{Plan, Replanning};
pub use state::{DriveState, DriverMemory};
pub use street::{Attached, RoadUser, StreetState, Witnessed};

/// The driver under test.
#[derive(Clone, Debug)]
pub(crate) enum Driver {
    /// Follows by place.
    Path(PathFollower),
    /// Follows by time.
    Trajectory(TrajectoryFollower),
    /// Comes from outside; shared, because its instances are.
    Foreign(Arc<ForeignDriver>),
    /// A component model; shared, because its code is.
    Model(Arc<model::ModelDriver>),
    /// Drives on roads: one for each start, in [`street`].
    Road,
}

/// Where the car shall stop, and how exactly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    pub(crate) pose: Pose,
    pub(crate) tolerance_m: f64,
    pub(crate) heading_tolerance_rad: f64,
}

/// What sees obstacles that are not in the map.
#[derive(Clone, Debug)]
pub(crate) struct Eyes {
    pub(crate) sensor: ObstacleSensor,
    pub(crate) cycle_ticks: u32,
    /// Which of the sensed obstacles can be hit from which moment on: their edges.
    pub(crate) solid: Vec<EdgeSet>,
    /// Those that are not among the walls because they appear later.
    pub(crate) appearing: u32,
    /// Gap the driver leaves to an obstacle on its path.
    pub(crate) stop_gap_m: f64,
}

/// A low-speed scenario, ready to run. Behaviour only; what evolves is [`DriveState`].
#[derive(Clone, Debug)]
pub struct Drive {
    name: String,
    model: CarModel,
    body: Body,
    driver: Driver,
    /// A part of the car that comes from outside.
    part: Option<Part>,
    /// Component models between a built-in driver and the car.
    behind: Option<Arc<model::ModelDriver>>,
    control_ticks: u32,
    localisation: Localisation,
    eyes: Option<Eyes>,
    replanning: Option<Replanning>,
    street: Option<Arc<street::Street>>,
    plans: Vec<Plan>,
    space: ParamSpace,
    goal: Goal,
    errors: ErrorSet,
    likelihood: Option<Likelihood>,
    requirements: Requirements,
    requirement_ids: Vec<String>,
    /// What is measured over a run.
    measuring: measure::Measuring,
    walls: EdgeSet,
    index: EdgeIndex,
    /// Faster than this the index does not hold and all edges are looked at.
    speed_bound_mps: f64,
    segment_ticks: u32,
    until_ticks: u32,
    layout: state::Layout,
    signals: Vec<Signal>,
    side_by_side: bool,
    /// This machine has wide registers.
    wide: bool,
}

impl Drive {
    /// Name of the scenario.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Base cycle in seconds.
    pub fn step_s(&self) -> f64 {
        self.model.dt_s
    }
    /// Segments until the scenario's time is over.
    pub fn segments(&self) -> u32 {
        self.until_ticks / self.segment_ticks
    }
    /// The car.
    pub fn car(&self) -> &anabranch_vehicle::CarSpec {
        &self.model.spec
    }
    /// The path planned for a start.
    pub fn path(&self, start: usize) -> &anabranch_geometry::Path {
        &self.plans[start].path
    }
    /// Walls and obstacles that are there from the beginning.
    pub fn walls(&self) -> &EdgeSet {
        &self.walls
    }
    /// Where the car shall stop.
    pub fn goal(&self) -> Pose {
        self.goal.pose
    }
    /// What comes from outside, if anything does: the driver, or a part of the car.
    pub fn foreign(&self) -> Option<&ForeignDriver> {
        match (&self.driver, &self.part) {
            (Driver::Foreign(foreign), _) => Some(foreign),
            (_, Some(part)) => Some(&part.code),
            (_, None) => None,
        }
    }
    /// Full name of the component model that drives, if one does.
    pub fn model_name(&self) -> Option<&str> {
        match &self.driver {
            Driver::Model(driver) => Some(driver.name()),
            _ => None,
        }
    }
    /// All requirements.
    pub fn requirement_list(&self) -> &Requirements {
        &self.requirements
    }
    /// Whether a verdict is about a fault of the driver or of a part of the car, not about a requirement of the scenario.
    pub fn is_fault(&self, requirement: u16) -> bool {
        usize::from(requirement) >= self.requirements.list().len()
    }
    /// How many error sequences of so many segments the error model has, from one start.
    pub fn sequences(&self, segments: u32) -> anabranch_errors::Sequences {
        self.errors.sequences(segments)
    }
    /// How many there would be with errors in at most so many segments of a run; nothing if the scenario has such a limit already.
    pub fn sequences_with(&self, segments: u32, per_run: u16) -> Option<anabranch_errors::Sequences> {
        self.errors.sequences_with(segments, per_run)
    }
    /// Limits of the error model in words: `errors in at most 2 segments of a run`.
    pub fn error_limits(&self) -> Vec<String> {
        self.errors.limits_in_words()
    }
    /// The *must* requirements that runs of so many segments cannot judge to their end.
    pub fn not_judged_within(&self, segments: u32) -> Vec<&str> {
        self.requirements.not_judged_within(u64::from(segments) * u64::from(self.segment_ticks))
    }
    /// Whether branches can run side by side; for measurements it can be switched off.
    pub fn set_side_by_side(&mut self, on: bool) {
        self.side_by_side = on && self.can_run_side_by_side();
    }
}

impl System for Drive {
    type State = DriveState;

    fn space(&self) -> &ParamSpace {
        &self.space
    }
    fn start(&self, seed: Seed, params: &Params) -> Result<DriveState, Fault> {
        self.start_state(seed, params)
    }
    fn errors(&self) -> &ErrorSpace {
        self.errors.space()
    }
    fn variables(&self) -> &[Variable] {
        &self.layout.declared.variables
    }
    fn live(&self, state: &DriveState, out: &mut Choices) {
        self.errors.live(&state.errors, out);
    }
    fn likelihood(&self) -> Option<&Likelihood> {
        self.likelihood.as_ref()
    }
    fn run(&self, state: &mut DriveState, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        match self.foreign() {
            Some(foreign) => self.run_alone(foreign, state, choice, watch),
            None => self.run_watched(state, choice, watch),
        }
    }
    fn run_many(&self, jobs: &mut [Job<DriveState>]) {
        self.run_jobs(jobs);
    }
    fn parts(&self) -> Parts {
        self.cut_into_parts()
    }
    fn cell(&self, state: &DriveState, key: &mut KeyWriter<'_>) {
        self.write_key(state, key);
    }
    fn danger(&self, state: &DriveState) -> Danger {
        self.danger_of(state)
    }
    fn margin(&self) -> Margin {
        self.measured_margin()
    }
    fn time_matters(&self) -> bool {
        // A run must end by its deadline, a timetable is a clock, and whoever comes from outside is told the time.
        self.requirements.time_matters()
            || self.measuring.time_matters()
            || match &self.driver {
                Driver::Path(_) => false,
                Driver::Model(driver) => driver.knows_time() || self.street.is_some(),
                Driver::Trajectory(_) | Driver::Foreign(_) | Driver::Road => true,
            }
            || self.part.is_some()
            || self.behind.as_ref().is_some_and(|behind| behind.knows_time())
    }
    fn leaves(&self) -> Vec<Leaf> {
        self.layout.declared.leaves.clone()
    }
    fn derive(&self, state: &mut DriveState) {
        self.derive_rest(state);
    }
    fn requirements(&self) -> &[String] {
        &self.requirement_ids
    }
    fn signals(&self) -> &[Signal] {
        &self.signals
    }
    fn segment_seconds(&self) -> f64 {
        f64::from(self.segment_ticks) * self.model.dt_s
    }
    fn reals(&self, state: &DriveState, out: &mut Vec<f64>) {
        self.push_reals(state, out);
    }
    fn real_variables(&self) -> Vec<usize> {
        self.real_positions().to_vec()
    }
    fn contraction(&self, tube: &Tube) -> Result<Contraction, NoProof> {
        self.prove(tube)
    }
    fn run_twice(&self, how_much: Twice, goes_on: &(dyn Fn() -> bool + Sync)) {
        if let Some(foreign) = self.foreign() {
            self.run_paths_anew(foreign, how_much, goes_on);
        }
    }
    fn objections(&self) -> Vec<String> {
        self.foreign().and_then(ForeignDriver::doubts).into_iter().collect()
    }
    fn glance(&self, state: &DriveState) -> [f64; 3] {
        [state.car.car.x, state.car.car.y, state.car.car.heading]
    }
}
