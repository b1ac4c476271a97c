//! A foreign simulator as a [`System`]: everything inside it, errors handed in, verdicts out.
//!
//! The explorer sees paths, values and verdicts. Where a state lives, whether it must be rebuilt, and which of many
//! branches in one message was the one that crashed, is settled here ([`runner`](self)).

mod alike;
mod apply;
mod claims;
mod runner;
mod said;
mod state;
mod straight;
mod twice;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use anabranch_kernel::{
    AXES_MAX, CellSize, Choice, Danger, ErrorSpace, ErrorSpaceError, Fault, Job, KeyWriter, Leaf, Mode, Params, Seed,
    SegmentEnd, Signal, Site, System, Twice, Variable, Watch,
};

pub use state::WorldState;
pub use straight::Straight;
pub use twice::Difference;

use crate::attributes::Remembered;
use crate::claims::Claim;
use crate::doubling::Sample;
use crate::fleet::Fleet;
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Role, WorldCard};
use alike::{Pairs, Parted};
use runner::{Outcome, Pace, Task};
use said::Report;
use twice::{Doubled, Record};

/// Most misbehaviours of which the evidence is kept; more are counted by the explorer all the same.
const FAULTS_KEPT: usize = 1_000;

/// In the key of a state that could not be saved: paths and memories are told apart.
const NO_MEMORY: u64 = u64::MAX;

/// Why a foreign simulator cannot be explored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorldError {
    /// It is something else.
    #[error("`{0}` describes itself as a driver, not as a world: put it into a scenario with `driver = …`")]
    Driver(String),
    /// Its errors do not make a space.
    #[error(transparent)]
    Errors(#[from] ErrorSpaceError),
}

/// By what states of a foreign simulator count as alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRule {
    /// By the values that it names in `merge`.
    Values,
    /// By the canonical bytes of its whole memory, exactly.
    Memory,
    /// Not at all: it names nothing and shows nothing.
    Never,
}

impl MergeRule {
    /// In words, for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Values => "by the values it names in `merge`",
            Self::Memory => "by equal bytes of its saved memory",
            Self::Never => "never: it names no values in `merge` and has no canonical bytes",
        }
    }
}

/// A foreign simulator that can be explored.
#[derive(Debug)]
pub struct WorldSystem {
    fleet: Fleet,
    world: WorldCard,
    rule: MergeRule,
    errors: ErrorSpace,
    variables: Vec<Variable>,
    /// Variables along which extreme members of a cell are kept, with their cell sizes: the first continuous ones.
    axes: Vec<(usize, f64)>,
    requirements: Vec<String>,
    signals: Vec<Signal>,
    pace: Pace,
    faults: Mutex<BTreeMap<Vec<Choice>, Misbehaviour>>,
    incidents: Mutex<Vec<Misbehaviour>>,
    /// Why no instance starts any more.
    gone: Mutex<Option<Misbehaviour>>,
    /// Segments that may be run twice, and what came of it.
    sample: Sample<Record>,
    twice: Mutex<Doubled>,
    /// What it claims, once that was tried.
    claims: Mutex<Option<Vec<Claim>>>,
    /// What it remembers apart from the values it names, and states that differ only there.
    hidden: Remembered,
    pairs: Pairs<WorldState>,
    parted: Mutex<Parted>,
}

impl WorldSystem {
    /// A fleet of instances that describe themselves as worlds.
    ///
    /// # Errors
    /// When they do not, or their errors do not make a space.
    pub fn new(fleet: Fleet) -> Result<Self, WorldError> {
        let card = fleet.card();
        let (Role::World, Some(world)) = (card.role, card.world.as_deref().cloned()) else {
            return Err(WorldError::Driver(card.name.clone()));
        };
        let rule = match (world.merge.is_empty(), card.saves_bytes) {
            (false, _) => MergeRule::Values,
            (true, true) => MergeRule::Memory,
            (true, false) => MergeRule::Never,
        };
        let requirements = world.requirements.iter().cloned();
        let requirements = requirements.chain(Kind::ALL.iter().map(|kind| format!("driver.{}", kind.name()))).collect();
        let variables = variables_of(&world, rule);
        let axes = variables.iter().enumerate().filter_map(|(n, variable)| match variable.size {
            CellSize::Size(size) => Some((n, size)),
            CellSize::Exact | CellSize::Ignore => None,
        });
        Ok(Self {
            errors: errors_of(&world)?,
            axes: axes.take(AXES_MAX / 2).collect(),
            variables,
            requirements,
            signals: world.signals.iter().map(|signal| Signal::new(&signal.name, &signal.unit)).collect(),
            pace: Pace::default(),
            faults: Mutex::default(),
            incidents: Mutex::default(),
            gone: Mutex::default(),
            sample: Sample::default(),
            twice: Mutex::default(),
            claims: Mutex::default(),
            hidden: Remembered::default(),
            pairs: Pairs::default(),
            parted: Mutex::default(),
            fleet,
            world,
            rule,
        })
    }
    /// The instances.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }
    /// By what states count as alike.
    pub fn merge_rule(&self) -> MergeRule {
        self.rule
    }
    /// Seconds of one tick.
    pub fn tick_s(&self) -> f64 {
        self.world.tick_s
    }
    /// What it did wrong, by the path it ended, in order; a limited number of them.
    pub fn faults(&self) -> Vec<(Vec<Choice>, Misbehaviour)> {
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.iter().map(|(path, wrong)| (path.clone(), wrong.clone())).collect()
    }
    /// The kind of misbehaviour behind a requirement, if it stands for one.
    pub fn kind_of(&self, requirement: u16) -> Option<Kind> {
        usize::from(requirement).checked_sub(self.world.requirements.len()).and_then(|at| Kind::ALL.get(at).copied())
    }
    /// Segments until a run is over.
    pub fn segments_max(&self) -> u32 {
        self.world.segments_max
    }
    /// The evidence of a misbehaviour at the end of this path, if there was one.
    pub fn fault_at(&self, path: &[Choice]) -> Option<Misbehaviour> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }
    /// What went wrong and did not again when the same path was run from its start in a new instance. It has changed no
    /// result, and people should know.
    pub fn incidents(&self) -> Vec<Misbehaviour> {
        self.incidents.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why no instance starts any more, if none does. It is not tried again for every segment that is left.
    pub fn gone(&self) -> Option<Misbehaviour> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Moves the state to the end of the segment, and remembers what it reported.
    fn settle(
        &self,
        state: &mut WorldState,
        choice: Choice,
        outcome: Outcome,
        watch: &mut Watch<'_>,
    ) -> Result<SegmentEnd, Fault> {
        let (before, report) = (state.said.take(), Report::of(&outcome));
        let end = self.apply(state, choice, outcome, watch)?;
        self.remember(state, before, report);
        if end == SegmentEnd::Open {
            self.pair(state);
        }
        Ok(end)
    }
    fn ticks_per_segment(&self) -> u64 {
        (self.world.segment_s / self.world.tick_s).round().max(1.0) as u64
    }
    fn note_incident(&self, wrong: Misbehaviour) {
        let mut incidents = self.incidents.lock().unwrap_or_else(PoisonError::into_inner);
        if incidents.len() < FAULTS_KEPT {
            incidents.push(wrong);
        }
    }
    fn note_fault(&self, path: &[Choice], wrong: &Misbehaviour) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.len() < FAULTS_KEPT || faults.contains_key(path) {
            faults.insert(path.to_vec(), wrong.clone());
        }
    }
}

fn errors_of(world: &WorldCard) -> Result<ErrorSpace, ErrorSpaceError> {
    if world.sites.is_empty() {
        return Ok(ErrorSpace::none());
    }
    let mode = |(n, name): (usize, &String)| Mode { name: name.clone(), size: f64::from(n != 0) };
    let site = |site: &crate::protocol::SiteCard| Site {
        id: site.name.clone(),
        modes: site.modes.iter().enumerate().map(mode).collect(),
    };
    ErrorSpace::new(world.sites.iter().map(site).collect(), world.at_once.map_or(usize::MAX, usize::from))
}

fn variables_of(world: &WorldCard, rule: MergeRule) -> Vec<Variable> {
    match rule {
        MergeRule::Values => world
            .merge
            .iter()
            .map(|variable| match variable.cell {
                Some(cell) if cell > 0.0 => Variable::real(&variable.name, &variable.unit, cell),
                _ => Variable { unit: variable.unit.clone(), ..Variable::exact(&variable.name) },
            })
            .collect(),
        MergeRule::Memory => vec![Variable::exact("memory")],
        MergeRule::Never => vec![Variable::exact("path")],
    }
}

impl System for WorldSystem {
    type State = WorldState;

    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn requirements(&self) -> &[String] {
        &self.requirements
    }
    fn signals(&self) -> &[Signal] {
        &self.signals
    }
    fn segment_seconds(&self) -> f64 {
        self.world.segment_s
    }
    fn leaves(&self) -> Vec<Leaf> {
        let counts: &[&str] = match self.rule {
            MergeRule::Values => &["path", "memory", "values#"],
            MergeRule::Memory => &["path", "values"],
            MergeRule::Never => &["memory", "values"],
        };
        let outside = "what the world says of its memory is in the key as its card wants it";
        let counts = counts.iter().map(|name| Leaf::rounded(name, outside));
        let hidden = Leaf::rounded("hidden", "attributes that are not compared; the verdict names them");
        let origin = Leaf::constant("origin", "the same in every state of an exploration");
        counts.chain([origin, Leaf::rounded("danger", "it is for the order of exploring"), hidden]).collect()
    }
    fn time_matters(&self) -> bool {
        self.world.time_matters
    }
    fn start(&self, seed: Seed, params: &Params) -> Result<WorldState, Fault> {
        Ok(WorldState::new(seed, params))
    }
    fn run(&self, state: &mut WorldState, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let task = Task { state, choice, record: watch.is_recording() };
        let outcome = self.run_tasks(&[task]).pop().expect("one outcome for one task");
        self.settle(state, choice, outcome, watch)
    }
    fn run_many(&self, jobs: &mut [Job<WorldState>]) {
        let tasks: Vec<Task<'_>> =
            jobs.iter().map(|job| Task { state: &job.state, choice: job.choice, record: false }).collect();
        let outcomes = self.run_tasks(&tasks);
        for (job, outcome) in jobs.iter_mut().zip(outcomes) {
            let mut watch = Watch::off();
            job.end = self.settle(&mut job.state, job.choice, outcome, &mut watch);
            (job.notes, job.margin) = (watch.notes, watch.margin);
        }
    }
    fn cell(&self, state: &WorldState, key: &mut KeyWriter<'_>) {
        let whole = |value: u128, key: &mut KeyWriter<'_>| {
            key.exact(0, value as u64);
            key.extra((value >> 64) as u64);
        };
        match (self.rule, state.memory) {
            (MergeRule::Values, _) => {
                for n in 0..self.variables.len() {
                    key.real(n, state.values.get(n).copied().unwrap_or(0.0));
                }
            }
            (MergeRule::Memory, Some(memory)) => whole(memory, key),
            // A state whose memory nobody has seen is like no other, whatever else it has in common with it.
            (MergeRule::Memory, None) => {
                whole(state.path_digest().0, key);
                key.extra(NO_MEMORY);
            }
            (MergeRule::Never, _) => whole(state.path_digest().0, key),
        }
        // Time zero has reported nothing and is like nothing else.
        key.extra(u64::from(state.path.is_empty()));
        if self.world.time_matters {
            key.extra(state.path.len() as u64);
        }
    }
    fn danger(&self, state: &WorldState) -> Danger {
        // In cells, so that nothing depends on the unit of a variable.
        let along = |&(n, cell): &(usize, f64)| state.values.get(n).map_or(0.0, |value| value / cell);
        let axes = self.axes.iter().map(along).flat_map(|value| [value, -value]).collect();
        Danger { worst: state.danger, axes }
    }
    fn run_twice(&self, how_much: Twice, goes_on: &(dyn Fn() -> bool + Sync)) {
        self.double(how_much, goes_on);
        self.follow_pairs(goes_on);
    }
    fn objections(&self) -> Vec<String> {
        self.doubts().into_iter().chain(self.doubts_about_claims()).chain(self.parted()).collect()
    }
    fn glance(&self, state: &WorldState) -> [f64; 3] {
        ["x", "y", "heading"].map(|name| {
            let at = self.world.merge.iter().position(|variable| variable.name == name);
            at.and_then(|at| state.values.get(at)).copied().unwrap_or(0.0)
        })
    }
}
