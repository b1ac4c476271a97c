//! The public face: explore a system.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use anabranch_kernel::{
    About, Choice, Choices, Digest, Fault, Grid, KeyWriter, OffsetGrid, Params, Seed, System, Twice,
};

use crate::apart::Firsts;
use crate::checkpoint::{self, Log, Notes, Resumed, Walker};
use crate::closer::{Closer, Looked};
use crate::coverage::Coverage;
use crate::crowd::Separator;
use crate::edge::{
    Clock, Disk, LevelReport, MemoryTrail, NO_PARENT, NoClock, NoObserver, Node, Observer, Progress, Stage, Trail,
};
use crate::graph::{FaultAt, Graph, Hit};
use crate::limits::{Limits, Stop};
use crate::on_time::OnTime;
use crate::pilot::{self, Pilot};
use crate::pool::Pool;
use crate::refine::Refinement;
use crate::resolution::Resolution;
use crate::runner::{Profile, Runner, Waiting, cell_key, state_bytes};
use crate::settings::{Keep, Merge, Order, Scope, Settings, SettingsError};
use crate::soundness::{self, Evidence, Soundness};
use crate::unmerged::{Begun, run_in_time};
use crate::{breadth, danger};

/// An exploration that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// Options that contradict each other.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The start could not be computed.
    #[error("the start state cannot be computed: {0}")]
    Start(#[from] Fault),
    /// The disk failed.
    #[error("saved states cannot be stored: {0}")]
    Storage(#[from] io::Error),
    /// Threads could not be started.
    #[error("threads cannot be started: {0}")]
    Threads(String),
}

/// Everything an exploration found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Digest of the whole graph: every segment with its cell, margin and fate, in order.
    pub digest: Digest,
    /// Why it ended early; `None` if everything was explored.
    pub stop: Option<Stop>,
    /// Counts.
    pub progress: Progress,
    /// One report per level.
    pub levels: Vec<LevelReport>,
    /// Runs that completed the manoeuvre.
    pub goals: u64,
    /// Runs that were open when the time was over.
    pub timed_out: u64,
    /// Violated *must* requirements, at most [`crate::HITS_MAX`].
    pub hits: Vec<Hit>,
    /// Violated *should* requirements, at most [`crate::HITS_MAX`].
    pub notes: Vec<Hit>,
    /// All violated *should* requirements.
    pub note_count: u64,
    /// Segments that could not be computed.
    pub faults: Vec<FaultAt>,
    /// All of them.
    pub fault_count: u64,
    /// Ordinal of the first violating segment, from 1.
    pub first_hit: Option<u64>,
    /// What random runs say, drawn after the last look.
    pub coverage: Coverage,
    /// Where the exploration looked closer: by itself, and because random runs disagreed with it.
    pub refinement: Vec<Refinement>,
    /// Choices that violate when they are held from start to end.
    pub constant_errors_violate: Vec<Choice>,
    /// Where the time went.
    pub profile: Profile,
    /// Largest size of the visited set in bytes.
    pub visited_bytes: u64,
    /// States that waited on disk.
    pub spilled: u64,
    /// What is known about the runs that were merged away; see [`Explorer::prove`].
    pub soundness: Soundness,
    /// How deep a violation could have been missed, where that was asked for and nothing was found.
    pub resolution: Option<Resolution>,
    /// The cells by which states were merged.
    pub grid: Option<Grid>,
    /// The variable that keeps most states apart, where one does.
    pub separator: Option<Separator>,
    /// Which requirements the margin is about, and with it the resolution.
    pub about: About,
}

/// What is known once a graph is finished.
struct After {
    stop: Option<Stop>,
    coverage: Coverage,
    refinement: Vec<Refinement>,
    constant_errors_violate: Vec<Choice>,
    soundness: Soundness,
    resolution: Option<Resolution>,
    grid: Option<Grid>,
    spilled: u64,
}

impl Outcome {
    fn of<S: System>(graph: Graph<'_, S>, after: After) -> Self {
        let After { stop, coverage, refinement, constant_errors_violate, soundness, resolution, grid, spilled } = after;
        Self {
            digest: graph.digest(),
            stop,
            progress: graph.progress,
            goals: graph.goals,
            timed_out: graph.timed_out,
            note_count: graph.note_count,
            fault_count: graph.fault_count,
            first_hit: graph.first_hit,
            profile: graph.profile,
            visited_bytes: graph.peak_bytes,
            coverage,
            refinement,
            constant_errors_violate,
            spilled,
            soundness,
            resolution,
            about: graph.system.margin().about,
            separator: grid.as_ref().and_then(|grid| graph.crowd.separator(grid)),
            grid,
            levels: graph.levels,
            hits: graph.hits,
            notes: graph.notes,
            faults: graph.faults,
        }
    }

    /// Whether every error sequence was followed to its end, up to merging.
    pub fn complete(&self) -> bool {
        self.stop.is_none() && self.fault_count == 0
    }
}

/// Does something on this many threads; 0 = all cores.
///
/// # Errors
/// When threads cannot be started.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, ExploreError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|e| ExploreError::Threads(e.to_string()))?.install(work))
}

static NEVER: AtomicBool = AtomicBool::new(false);

/// An exploration to be run.
///
/// ```
/// # use anabranch_kernel::*;
/// # use anabranch_explore::*;
/// # struct Walker { errors: ErrorSpace, variables: Vec<Variable> }
/// # impl System for Walker {
/// #     type State = i64;
/// #     fn errors(&self) -> &ErrorSpace { &self.errors }
/// #     fn variables(&self) -> &[Variable] { &self.variables }
/// #     fn start(&self, _seed: Seed, _params: &Params) -> Result<i64, Fault> { Ok(0) }
/// #     fn run(&self, x: &mut i64, choice: Choice, _watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
/// #         *x += [0, -1, 1][choice.index()];
/// #         Ok(if x.abs() > 2 { SegmentEnd::violated(0, 0) } else { SegmentEnd::Open })
/// #     }
/// #     fn cell(&self, x: &i64, key: &mut KeyWriter<'_>) { key.exact(0, *x as u64); }
/// # }
/// # let walker = Walker {
/// #     errors: ErrorSpace::of_one_site("push", &["none", "left", "right"]),
/// #     variables: vec![Variable::exact("x")],
/// # };
/// let outcome = Explorer::new(&walker).run().unwrap();
/// assert!(outcome.complete());
/// assert_eq!(outcome.progress.states, 5); // −2 … 2
/// assert_eq!(outcome.hits.len(), 2); // beyond, on either side
/// ```
pub struct Explorer<'a, S: System> {
    system: &'a S,
    settings: Settings,
    seed: Seed,
    threads: usize,
    clock: &'a dyn Clock,
    disks: Option<[&'a mut dyn Disk; 2]>,
    interrupt: &'a AtomicBool,
    identity: Digest,
    proves: bool,
}

impl<S: System> std::fmt::Debug for Explorer<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explorer").field("settings", &self.settings).field("threads", &self.threads).finish()
    }
}

impl<'a, S: System> Explorer<'a, S> {
    /// An exploration with the defaults of [`Settings::new`], all cores, in memory.
    pub fn new(system: &'a S) -> Self {
        let settings = Settings::new(system.variables(), system.time_matters());
        let (seed, threads, interrupt, proves, identity) = (Seed(0), 0, &NEVER, false, Digest::default());
        Self { system, settings, seed, threads, clock: &NoClock, disks: None, interrupt, proves, identity }
    }
    /// What the system is, for checkpoints: one of another system is not taken for one of this.
    #[must_use]
    pub fn identity(self, identity: Digest) -> Self {
        Self { identity, ..self }
    }
    /// Uses these settings.
    #[must_use]
    pub fn settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }
    /// Uses this seed.
    #[must_use]
    pub fn seed(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }
    /// Uses this many threads; 0 = all cores. Results do not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
    /// Measures time with this clock.
    #[must_use]
    pub fn clock(self, clock: &'a dyn Clock) -> Self {
        Self { clock, ..self }
    }
    /// Lets states that do not fit into the memory budget wait on two disks that take turns.
    #[must_use]
    pub fn disks(self, disks: [&'a mut dyn Disk; 2]) -> Self {
        Self { disks: Some(disks), ..self }
    }
    /// Stops between two waves once this is set.
    #[must_use]
    pub fn interrupt(self, interrupt: &'a AtomicBool) -> Self {
        Self { interrupt, ..self }
    }

    /// Looks for a proof that nothing was missed; the graph stays the same.
    #[must_use]
    pub fn prove(self) -> Self {
        Self { proves: true, ..self }
    }

    /// Explores with the trail in memory and nobody watching.
    ///
    /// # Errors
    /// As [`run_with`](Explorer::run_with).
    pub fn run(self) -> Result<Outcome, ExploreError> {
        self.run_with(&mut MemoryTrail::default(), &mut NoObserver)
    }

    /// Explores.
    ///
    /// # Errors
    /// When options contradict each other, the start cannot be computed, or storage fails.
    pub fn run_with(
        self,
        trail: &mut (dyn Trail + Send),
        observer: &mut (dyn Observer + Send),
    ) -> Result<Outcome, ExploreError> {
        with_threads(self.threads, move || self.run_inside(trail, observer))?
    }

    fn run_inside(
        mut self,
        trail: &mut dyn Trail,
        observer: &mut (dyn Observer + Send),
    ) -> Result<Outcome, ExploreError> {
        let starts = self.system.space().all();
        let states: Vec<S::State> =
            starts.iter().map(|params| self.system.start(self.seed, params)).collect::<Result<_, _>>()?;
        let axes = self.system.danger(&states[0]).axes.len();
        self.settings.validate(self.system.time_matters(), axes)?;
        let mut limits = Limits::new(self.settings.budget, self.clock, self.interrupt);
        let pilot = self.fly(&starts, &limits, observer);
        let mut pools = self.pools(&states[0]);
        let (system, settings, clock) = (self.system, &self.settings, self.clock);
        limits.identity = settings.identity(self.seed, self.identity);
        let limits = limits;
        // Cells that follow from a pilot that was cut off are not those of an earlier run; it is taken in all the same.
        let identity = limits.urgent().is_none().then_some(limits.identity);
        let grid = match &settings.merge {
            Merge::Grid(grid) => Some(grid),
            Merge::None => None,
            Merge::Measured { .. } => unreachable!("cells are settled after the pilot"),
        };
        let offsets = grid.filter(|_| observer.records()).map(OffsetGrid::new);
        let level_in_key = settings.scope == Scope::Level;
        let with_danger =
            settings.order == Order::Danger || (settings.keep != Keep::First && settings.merge != Merge::None);
        let goes_on = || limits.urgent().is_none();
        let on_time = OnTime::new(system, clock, &goes_on);
        let offsets = offsets.as_ref();
        let runner = Runner { system, grid, offsets, level_in_key, with_danger, clock, on_time };
        let reopen = pilot.as_ref().map(|pilot| pilot.reopen.clone()).unwrap_or_default();
        let mut graph = Graph::new(system, settings, (axes, reopen), observer);
        graph.firsts = offsets.map(Firsts::new);
        let notes = Notes { all: trail.resume()?, identity };
        // What earlier processes reached is not known here, so a resumed exploration proves nothing.
        graph.evidence = (self.proves && notes.all.is_empty()).then(Evidence::new);
        let waiting = enqueue_starts(&mut graph, trail, &states, &mut pools[0], level_in_key)?;
        let stop = match settings.order {
            Order::Danger => danger::explore(&mut graph, &runner, trail, &limits, waiting, &mut pools[0])?,
            Order::Breadth => {
                let walker = Walker { starts: &states, limits: &limits };
                let resumed = checkpoint::resume(&mut graph, &runner, &*trail, &walker, &mut pools[0], notes)?;
                let begin = || Resumed { first_member: waiting.len() as u64, waiting, level: 0, stop: None };
                graph.log = trail.keeps_notes().then(Log::default);
                breadth::explore(&mut graph, &runner, trail, &limits, resumed.unwrap_or_else(begin), &mut pools)?
            }
        };
        graph.log = None;
        let closer = Closer {
            seed: self.seed,
            starts: &starts,
            states: &states,
            grid,
            level_in_key,
            limits: &limits,
            pilot: pilot.as_ref(),
        };
        let (looked, constant_errors_violate) = self.look_back(&mut graph, trail, &closer, stop)?;
        let soundness = self.soundness(&mut graph, &looked, constant_errors_violate.len());
        let Looked { refinement, coverage, resolution, stop, .. } = looked;
        let spilled = pools.iter().map(Pool::spilled).sum();
        let grid = grid.cloned();
        let after = After { stop, coverage, refinement, constant_errors_violate, soundness, resolution, grid, spilled };
        Ok(Outcome::of(graph, after))
    }

    /// Pilot runs, where something depends on them, and the cells that follow from them.
    fn fly(&mut self, starts: &[Params], limits: &Limits<'_>, observer: &mut dyn Observer) -> Option<Pilot> {
        if !self.settings.needs_pilot() {
            return None;
        }
        observer.stage(Stage::Pilot);
        let pilot = pilot::fly((self.system, self.seed, starts), self.settings.levels_max, limits);
        self.settings.settle_cells(self.system, &pilot);
        Some(pilot)
    }

    /// What follows the exploration: looking closer, held errors, and running a share of it twice.
    fn look_back(
        &self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        closer: &Closer<'_, S>,
        stop: Option<Stop>,
    ) -> Result<(Looked, Vec<Choice>), ExploreError> {
        let (system, settings, limits) = (self.system, &self.settings, closer.limits);
        let mut looked = closer.look(graph, trail, stop)?;
        graph.observer.stage(Stage::Holding);
        let violating = match constant_violations(system, closer.states, settings.levels_max, limits) {
            Ok(found) => found,
            Err(Held::Stopped(stop, found)) => {
                looked.stop = looked.stop.or(Some(stop));
                found
            }
            // Somebody outside went away, and that this is incomplete is known already.
            Err(Held::Failed(Fault::External(_))) if graph.fault_count > 0 => Vec::new(),
            Err(Held::Failed(fault)) => return Err(fault.into()),
        };
        if !matches!(looked.stop, Some(Stop::Interrupted | Stop::FirstFinding)) {
            let is_whole = settings.merge == Merge::None || looked.is_exhausted;
            let is_exhaustive = looked.stop.is_none() && is_whole && graph.progress.findings == 0;
            let how_much = if is_exhaustive { Twice::Whole } else { Twice::Share };
            let is_cut_short = AtomicBool::new(false);
            let goes_on = || {
                let stop = limits.urgent();
                is_cut_short.fetch_or(stop.is_some(), Ordering::Relaxed);
                stop.is_none()
            };
            graph.observer.stage(Stage::Repeating);
            system.run_twice(how_much, &goes_on);
            if is_cut_short.into_inner() {
                looked.stop = looked.stop.or_else(|| limits.urgent());
            }
        }
        Ok((looked, violating))
    }

    /// What is known about the runs that were merged away.
    fn soundness(&self, graph: &mut Graph<'_, S>, looked: &Looked, held: usize) -> Soundness {
        let Some(evidence) = graph.evidence.take() else {
            return if self.proves { Soundness::resumed() } else { Soundness::not_asked() };
        };
        let searched = looked.resolution.as_ref().map_or(0, |resolution| resolution.violations.len());
        let beside = looked.coverage.violations.len() + held + searched;
        let explored = soundness::Explored {
            system: self.system,
            settings: &self.settings,
            seed: self.seed,
            levels: &graph.levels[..],
            complete: looked.stop.is_none() && graph.fault_count == 0,
            findings: graph.progress.findings + beside as u64,
            margin: graph.progress.margin,
            is_exhausted: looked.is_exhausted,
            coverage: &looked.coverage,
        };
        explored.soundness(evidence)
    }

    fn pools(&mut self, sample: &S::State) -> [Pool<'a, S::State>; 2] {
        // Two levels are in memory at a time; a quarter of the budget is for each, the rest for the visited set.
        let budget = self.settings.budget.memory_bytes;
        let memory_max = budget.map_or(usize::MAX, |max| (max as usize / 4 / state_bytes(sample)).max(64));
        match self.disks.take() {
            Some([first, second]) => [Pool::new(memory_max, Some(first)), Pool::new(memory_max, Some(second))],
            None => [Pool::new(memory_max, None), Pool::new(memory_max, None)],
        }
    }
}

fn enqueue_starts<S: System>(
    graph: &mut Graph<'_, S>,
    trail: &mut dyn Trail,
    states: &[S::State],
    pool: &mut Pool<'_, S::State>,
    level_in_key: bool,
) -> io::Result<Vec<Waiting>> {
    let mut writer = match &graph.settings.merge {
        Merge::Grid(grid) => Some(KeyWriter::new(grid)),
        Merge::None | Merge::Measured { .. } => None,
    };
    let mut waiting = Vec::new();
    for (start, state) in states.iter().enumerate() {
        let is_known = trail.len() > start as u64;
        let node = if is_known { start as u64 } else { trail.push(NO_PARENT, Choice(start as u16))? };
        let key = writer.as_mut().and_then(|w| cell_key(graph.system, state, level_in_key.then_some(0), w));
        let cell = graph.enter_start(key, state, node as u32);
        graph.see_reached(0, state);
        let (parent, choice) = (NO_PARENT, Choice(start as u16));
        graph.show_node(&Node { node, level: 0, parent, choice, cell }, || Ok(state.clone()))?;
        waiting.push(Waiting { node, level: 0, place: pool.put(state)? });
    }
    Ok(waiting)
}

/// Which choices violate when held from start to end, from any start. Where a choice is not live (a limit per run is used
/// up, a drift has reached its bound) the segment runs without error.
fn constant_violations<S: System>(
    system: &S,
    starts: &[S::State],
    levels_max: u32,
    limits: &Limits<'_>,
) -> Result<Vec<Choice>, Held> {
    let begun = system
        .errors()
        .choices()
        .flat_map(|choice| starts.iter().map(move |state| Begun { state: state.clone(), level: 0, notes: choice }));
    let held = |choice: &Choice, _: u32, _: &S::State, live: &Choices| {
        if live.contains(choice) { *choice } else { Choice::NONE }
    };
    let levels_max = levels_max.min(HELD_LEVELS_MAX);
    let (runs, stop) = run_in_time(system, limits, levels_max, begun.collect(), held, |_, _, _| ());
    let mut violating = Vec::new();
    for run in runs {
        if run.is_violated() && violating.last() != Some(&run.notes) {
            violating.push(run.notes);
        }
        run.end.map_err(Held::Failed)?;
    }
    match stop {
        Some(stop) => Err(Held::Stopped(stop, violating)),
        None => Ok(violating),
    }
}

/// No held error is followed for longer than this, even if the system never ends a run.
const HELD_LEVELS_MAX: u32 = 100_000;

/// Why it is not known which held errors violate something.
enum Held {
    /// With those that are known to.
    Stopped(Stop, Vec<Choice>),
    Failed(Fault),
}
