//! What to explore and how.

use anabranch_kernel::{CellSize, Digest, DigestWriter, Grid, Seed, System, Variable};

use crate::coverage::TARGET_SHARE;
use crate::explorer::Outcome;
use crate::pilot::Pilot;
use crate::soundness;

/// Which earlier states a new one may merge with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// States of the same level: the level is part of the key. Always sound in time.
    Level,
    /// Any earlier state. Only where the future does not depend on time.
    Visited,
    /// States that are still in the queue, as in the paper (S1-8).
    Frontier,
}

/// Which member of a cell is continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The first to arrive, as in the paper (S1-11).
    First,
    /// The most dangerous one.
    Worst,
    /// The most dangerous one and the largest along each of the system's axes.
    Extremes,
}

/// In which order states are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Level by level.
    Breadth,
    /// The most dangerous first, in fixed batches.
    Danger,
}

/// When two states count as alike.
#[derive(Clone, Debug, PartialEq)]
pub enum Merge {
    /// Never: every error sequence is run. The exhaustive truth, for short horizons.
    None,
    /// In the same cell of this grid.
    Grid(Grid),
    /// In the same cell of a grid whose sizes follow from the resolution and from how strongly each variable moves the
    /// margin, all of them times `scale`. [`crate::Outcome::grid`] tells what came of it.
    Measured {
        /// One for cells as they were measured.
        scale: f64,
    },
}

impl Merge {
    /// Cells as they were measured.
    pub const MEASURED: Self = Self::Measured { scale: 1.0 };

    /// Whether cells are yet to be measured.
    pub fn is_measured(&self) -> bool {
        matches!(self, Self::Measured { .. })
    }
}

/// Limits that end an exploration as *incomplete*.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Budget {
    /// Wall-clock time.
    pub time_ns: Option<u64>,
    /// Kept states.
    pub states: Option<u64>,
    /// Bytes for the frontier and the visited set. A frontier that does not fit spills to disk; a visited set that
    /// does not fit ends the exploration.
    pub memory_bytes: Option<u64>,
}

/// How closely cells that could hide a contact are looked at again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refine {
    /// Most passes; each halves the cells. 0 = not at all.
    pub passes: u32,
    /// Segments it may take, as a share of those of the exploration.
    pub effort: f64,
}

impl Refine {
    /// Not at all.
    pub const OFF: Self = Self { passes: 0, effort: 0.0 };
    /// What a scenario gets unless it says otherwise: cells down to an eighth, for at most half of the cost of the
    /// exploration.
    pub const USUAL: Self = Self { passes: 3, effort: 0.5 };

    /// This many passes. More than usual are honoured whatever they cost; budgets still end them.
    pub fn of_passes(passes: u32) -> Self {
        let effort = if passes > Self::USUAL.passes { f64::INFINITY } else { Self::USUAL.effort };
        Self { passes, effort }
    }
}

/// Exploring until random runs stay inside what was explored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cover {
    /// The share of random runs that must stay inside.
    pub target: f64,
    /// Segments it may take, as a share of those of the exploration.
    pub effort: f64,
}

impl Cover {
    /// What an exploration gets unless somebody says otherwise.
    pub const USUAL: Self = Self { target: TARGET_SHARE, effort: 12.0 };
}

/// Searching until no violation deeper than a resolution is taken to be left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolve {
    /// The depth in the unit of the margin; `None` for a 128th of what random runs range over.
    pub asked: Option<f64>,
    /// Segments it may take, as a share of those of the exploration.
    pub effort: f64,
}

impl Resolve {
    /// What an exploration gets unless somebody says otherwise.
    pub const USUAL: Self = Self { asked: None, effort: 4.0 };
    /// Of the range of the margin, where nobody asks for a depth.
    pub(crate) const DEFAULT_SHARE: f64 = 1.0 / 128.0;
}

/// Everything that decides the result of an exploration; the number of threads does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// See [`Scope`].
    pub scope: Scope,
    /// See [`Keep`].
    pub keep: Keep,
    /// See [`Order`].
    pub order: Order,
    /// See [`Merge`].
    pub merge: Merge,
    /// Merge only at every n-th level; 1 = after every segment.
    pub merge_every: u32,
    /// Levels after which open states are no longer expanded; systems usually end by themselves before.
    pub levels_max: u32,
    /// Limits.
    pub budget: Budget,
    /// End at the first finding.
    pub stop_on_first: bool,
    /// Random runs without merging, to measure what merging missed.
    pub rollouts: u32,
    /// See [`Refine`].
    pub refine: Refine,
    /// See [`Cover`]; `None` measures coverage once with [`rollouts`](Self::rollouts) and changes nothing.
    pub cover: Option<Cover>,
    /// See [`Resolve`].
    pub resolve: Option<Resolve>,
}

/// An option that cannot be honoured is an error, never ignored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Paper scope with another rule than the paper's.
    #[error(
        "scope \"frontier\" is the paper's rule and needs keep = \"first\", order = \"breadth\" and merge_every = 1"
    )]
    FrontierNeedsPaper,
    /// Merging across time although time matters.
    #[error(
        "scope \"visited\" merges states of different times, but time matters in this system (deadline, chance or something that moves by itself); use scope = \"level\""
    )]
    TimeMatters,
    /// Cells of no size.
    #[error("merge_every must be at least 1")]
    MergeNever,
    /// Several members per cell asked for, but the system has no axes.
    #[error("keep = \"extremes\" needs a system that names axes; use keep = \"worst\"")]
    NoAxes,
}

impl Settings {
    /// The defaults for a system: level or visited scope by whether time matters, all declared cell sizes.
    pub fn new(variables: &[Variable], time_matters: bool) -> Self {
        Self {
            scope: if time_matters { Scope::Level } else { Scope::Visited },
            keep: Keep::Worst,
            order: Order::Breadth,
            merge: Merge::Grid(Grid::of(variables)),
            merge_every: 1,
            levels_max: u32::MAX,
            budget: Budget::default(),
            stop_on_first: false,
            rollouts: 0,
            refine: Refine::OFF,
            cover: None,
            resolve: None,
        }
    }

    /// Figure 6 of the paper exactly: FIFO, merging with queued states only, first arrival kept, key of
    /// x, y and heading with 0.1 m, 0.1 m and 0.02 rad (S1-6 … S1-11).
    ///
    /// The paper's loop never ends where a car can stand still, because a cell that left the queue is enqueued again.
    /// Our rule: a state whose path is as long as the scenario's `until` is not expanded.
    #[must_use]
    pub fn paper(self, variables: &[Variable]) -> Self {
        let size = |v: &Variable| match v.name.as_str() {
            "x" | "y" => CellSize::Size(0.1),
            "heading" => CellSize::Size(0.02),
            _ => CellSize::Ignore,
        };
        Self {
            scope: Scope::Frontier,
            keep: Keep::First,
            order: Order::Breadth,
            merge: Merge::Grid(Grid::from_sizes(variables.iter().map(size).collect())),
            merge_every: 1,
            refine: Refine::OFF,
            cover: None,
            resolve: None,
            ..self
        }
    }

    /// Digest of what decides which states are kept: limits may change when an exploration is resumed.
    pub(crate) fn identity(&self, seed: Seed, system: Digest) -> Digest {
        let (budget, refine) = (Budget::default(), if self.refines() { Refine::USUAL } else { Refine::OFF });
        let kept = Self { budget, refine, rollouts: 0, stop_on_first: false, cover: None, ..self.clone() };
        let mut digest = DigestWriter::new();
        digest.text(env!("CARGO_PKG_VERSION"));
        digest.text(&format!("{kept:?}"));
        digest.number(seed.0);
        digest.wide(system.0);
        digest.finish()
    }

    /// Whether cells may be looked at again: there are cells, and they stay (the paper's leave with the queue).
    pub(crate) fn refines(&self) -> bool {
        self.refine.passes > 0 && self.merge != Merge::None && self.scope != Scope::Frontier
    }

    /// Whether what was merged into which cell is remembered.
    pub(crate) fn needs_links(&self) -> bool {
        let merges = self.merge != Merge::None && self.scope != Scope::Frontier;
        merges && (self.refine.passes > 0 || self.resolve.is_some())
    }

    /// Whether what merging could have hidden is searched for.
    pub(crate) fn searches(&self) -> bool {
        self.needs_links() && self.resolve.is_some()
    }

    /// Whether a few random runs are needed before the exploration.
    pub(crate) fn needs_pilot(&self) -> bool {
        self.merge.is_measured()
            || self.merge != Merge::None && (self.resolve.is_some() || self.scope == Scope::Visited)
    }

    /// Turns cells that are to be measured into a grid.
    pub(crate) fn settle_cells<S: System>(&mut self, system: &S, pilot: &Pilot) {
        let Merge::Measured { scale } = self.merge else { return };
        let asked = self.resolve.and_then(|resolve| resolve.asked);
        let grid = pilot.grid(system.variables(), asked, &system.margin()).scaled(scale);
        let needed = soundness::provable_scale(system, self, &grid, pilot);
        self.merge = Merge::Grid(grid.scaled(needed));
    }

    /// These settings with the cells that an exploration ended up with.
    pub fn settled(&self, outcome: &Outcome) -> Self {
        let merge = match &outcome.grid {
            Some(grid) if self.merge.is_measured() => Merge::Grid(grid.clone()),
            _ => self.merge.clone(),
        };
        Self { merge, ..self.clone() }
    }

    /// Refuses what cannot be honoured.
    pub(crate) fn validate(&self, time_matters: bool, axes: usize) -> Result<(), SettingsError> {
        let paper_rule = self.keep == Keep::First && self.order == Order::Breadth && self.merge_every == 1;
        if self.scope == Scope::Frontier && self.merge != Merge::None && !paper_rule {
            return Err(SettingsError::FrontierNeedsPaper);
        }
        if self.scope == Scope::Visited && self.merge != Merge::None && time_matters {
            return Err(SettingsError::TimeMatters);
        }
        if self.merge_every == 0 {
            return Err(SettingsError::MergeNever);
        }
        if self.keep == Keep::Extremes && axes == 0 && self.merge != Merge::None {
            return Err(SettingsError::NoAxes);
        }
        Ok(())
    }
}
