//! When may an exploration say *safe*? Only with a proof; an estimate is shown beside *not found*.
//!
//! `docs/soundness.md` has the inequality and its proof. The system proves how far runs stray from explored ones
//! ([`System::contraction`]); here it is checked that the proof speaks about what was explored, and that the margins found
//! are larger than those needed, level by level.

use anabranch_kernel::{
    CELL_SLACK, CellSize, Chance, Choices, Contraction, Grid, LeafRole, NoProof, Seed, SegmentEnd, System, Tube,
    TubeLevel, Watch,
};

use crate::coverage::Coverage;
use crate::edge::LevelReport;
use crate::pilot::Pilot;
use crate::settings::{Merge, Order, Scope, Settings};

/// Pairs of merged states that are followed for an estimate: per level, and in all.
const PAIRS_PER_LEVEL: usize = 4;
const PAIRS_MAX: usize = 64;
/// Segments that a pair is followed.
const FOLLOWED: usize = 8;

/// What is known about the runs that were merged away.
#[derive(Clone, Debug, PartialEq)]
pub enum Soundness {
    /// Nothing was merged: every error sequence was run.
    Exhaustive {
        /// Smallest margin.
        found: f64,
    },
    /// Proven: no error sequence violates anything.
    Proven {
        /// Margin needed where it is scarcest.
        needed: f64,
        /// Margin found there.
        found: f64,
        /// Factor by which differences shrink per segment, at least.
        lambda: f64,
    },
    /// Not proven. Pairs of merged states were followed and came together again.
    Estimated {
        /// Margin that their differences ask for.
        needed: f64,
        /// Smallest margin.
        found: f64,
        /// Factor by which their differences shrank per segment.
        lambda: f64,
        /// Why it is not proven.
        why: String,
    },
    /// Nothing is known.
    Unknown {
        /// Why not.
        why: String,
    },
}

impl Soundness {
    /// Whether *safe inside the error model* may be said.
    pub fn is_safe(&self) -> bool {
        matches!(self, Self::Exhaustive { .. } | Self::Proven { .. })
    }
    /// Why it is not proven; nothing where it is.
    pub fn why_not(&self) -> Option<&str> {
        match self {
            Self::Estimated { why, .. } | Self::Unknown { why } => Some(why),
            Self::Exhaustive { .. } | Self::Proven { .. } => None,
        }
    }
    /// Nobody asked.
    pub(crate) fn not_asked() -> Self {
        Self::Unknown { why: "no proof was asked for".to_owned() }
    }
    /// What was reached before the exploration was resumed is not known.
    pub(crate) fn resumed() -> Self {
        Self::Unknown { why: "the exploration was resumed, and what it reached before is not known".to_owned() }
    }
}

/// Collects what a proof needs while the exploration runs.
pub(crate) struct Evidence<S> {
    levels: Vec<TubeLevel>,
    reals: Vec<f64>,
    pairs: Vec<Pair<S>>,
    /// Pairs looked for at this level.
    looked: (u32, usize),
}

/// Two states of one cell: one that was merged away and one that stands for it.
struct Pair<S> {
    level: u32,
    states: [S; 2],
}

impl<S: Clone> Evidence<S> {
    pub(crate) fn new() -> Self {
        Self { levels: Vec::new(), reals: Vec::new(), pairs: Vec::new(), looked: (0, 0) }
    }
    /// A state was reached at a level.
    pub(crate) fn see<Y: System<State = S>>(&mut self, system: &Y, level: u32, state: &S) {
        self.reals.clear();
        system.reals(state, &mut self.reals);
        if self.levels.len() <= level as usize {
            self.levels.resize(level as usize + 1, TubeLevel::default());
        }
        self.levels[level as usize].hold(&self.reals);
    }
    /// Whether another pair of a level shall be looked for.
    pub(crate) fn wants_pair(&mut self, level: u32) -> bool {
        let before = if self.looked.0 == level { self.looked.1 } else { 0 };
        self.looked = (level, before + 1);
        self.pairs.len() < PAIRS_MAX && before < PAIRS_PER_LEVEL
    }
    /// The first state was merged into the cell of the second one.
    pub(crate) fn pair(&mut self, level: u32, merged: &S, kept: S) {
        self.pairs.push(Pair { level, states: [merged.clone(), kept] });
    }
}

/// Whether more margin was found than is needed; not where one of them is no number.
fn exceeds((needed, found): (f64, f64)) -> bool {
    found > needed
}

/// Cells that a proof could need are not smaller than this.
const SCALE_MIN: f64 = 1.0 / 64.0;
/// The share of the margin of random runs that a proof may need, for the exploration will reach farther than they did.
const MARGIN_SHARE: f64 = 0.5;

/// By which factor the cells of a grid must be smaller for a proof to be likely; one where none is.
pub(crate) fn provable_scale<S: System>(system: &S, settings: &Settings, grid: &Grid, pilot: &Pilot) -> f64 {
    let enough = |needed: &f64| *needed < MARGIN_SHARE * pilot.margin.low();
    let proves = |scale: &f64| {
        let tube = tube(system, settings, &grid.scaled(*scale), pilot.levels.clone());
        let proof = tube.and_then(|mut tube| {
            tube.levels.iter_mut().skip(1).for_each(|level| level.merged = true);
            system.contraction(&tube)
        });
        proof.is_ok_and(|proof| proof.lambda < 1.0 && proof.needed.iter().all(enough))
    };
    let scales = std::iter::successors(Some(1.0), |scale| Some(scale / 2.0));
    scales.take_while(|scale| *scale >= SCALE_MIN).find(proves).unwrap_or(1.0)
}

/// The boxes of what was reached, if merging is of a kind that can be proven about.
fn tube<S: System>(system: &S, settings: &Settings, grid: &Grid, levels: Vec<TubeLevel>) -> Result<Tube, NoProof> {
    if settings.scope != Scope::Level {
        return Err(NoProof::because("states of different times were merged; a proof needs scope = \"level\""));
    }
    if settings.order != Order::Breadth {
        return Err(NoProof::because("a proof needs order = \"breadth\""));
    }
    let ignored = grid.sizes().iter().position(|size| *size == CellSize::Ignore);
    if let Some(index) = ignored {
        let name = &system.variables()[index].name;
        return Err(NoProof::because(format!("`{name}` was ignored when states were compared")));
    }
    if let Some(leaf) = system.leaves().into_iter().find(|leaf| leaf.role == LeafRole::Ignored) {
        return Err(NoProof::because(format!("`{}` is not in the merge key: {}", leaf.path, leaf.why)));
    }
    let size = |position: usize| match grid.sizes()[position] {
        CellSize::Exact => 0.0,
        CellSize::Size(size) => size * CELL_SLACK,
        CellSize::Ignore => f64::INFINITY,
    };
    Ok(Tube { cells: system.real_variables().into_iter().map(size).collect(), levels })
}

/// What is judged.
pub(crate) struct Explored<'a, S: System> {
    pub(crate) system: &'a S,
    pub(crate) settings: &'a Settings,
    pub(crate) seed: Seed,
    pub(crate) levels: &'a [LevelReport],
    /// Everything was explored, without a fault.
    pub(crate) complete: bool,
    /// Violations found, by exploring or by random runs.
    pub(crate) findings: u64,
    pub(crate) margin: f64,
    /// Whether every error sequence was run after all.
    pub(crate) is_exhausted: bool,
    pub(crate) coverage: &'a Coverage,
}

impl<S: System> Explored<'_, S> {
    /// The strongest thing that may be said.
    pub(crate) fn soundness(&self, evidence: Evidence<S::State>) -> Soundness {
        if let Err(NoProof(why)) = self.is_whole() {
            return Soundness::Unknown { why };
        }
        if self.settings.merge == Merge::None || self.is_exhausted {
            return Soundness::Exhaustive { found: self.margin };
        }
        let Evidence { levels, pairs, .. } = evidence;
        match self.tube(levels).and_then(|tube| self.system.contraction(&tube)).and_then(|c| self.compare(&c)) {
            Ok(proven) => proven,
            Err(NoProof(why)) => self.estimate(&pairs, why),
        }
    }

    fn is_whole(&self) -> Result<(), NoProof> {
        if !self.complete {
            return Err(NoProof::because("the exploration is incomplete"));
        }
        if self.findings > 0 {
            return Err(NoProof::because("a requirement is violated"));
        }
        match self.system.objections().into_iter().next() {
            Some(why) => Err(NoProof::because(why)),
            None => Ok(()),
        }
    }

    /// The boxes of everything explored.
    fn tube(&self, levels: Vec<TubeLevel>) -> Result<Tube, NoProof> {
        let Merge::Grid(grid) = &self.settings.merge else { return Ok(Tube::default()) };
        let mut tube = tube(self.system, self.settings, grid, levels)?;
        tube.levels.truncate(self.levels.len());
        for (level, report) in tube.levels.iter_mut().skip(1).zip(self.levels) {
            level.merged = report.merged > 0;
        }
        if tube.levels.len() < self.levels.len() {
            return Err(NoProof::because("not every level was seen"));
        }
        Ok(tube)
    }

    /// The inequality: every level must have more margin than it needs.
    fn compare(&self, contraction: &Contraction) -> Result<Soundness, NoProof> {
        let shrinks = contraction.lambda < 1.0;
        if contraction.needed.len() != self.levels.len() || self.levels.is_empty() || !shrinks {
            return Err(NoProof::because("the proof does not cover every level"));
        }
        let pairs = || contraction.needed.iter().zip(self.levels).map(|(&needed, level)| (needed, level.margin));
        if let Some((needed, found)) = pairs().find(|pair| !exceeds(*pair)) {
            let why = format!("the clearance found is {found:.3} m, and {needed:.3} m would be needed");
            return Err(NoProof::because(why));
        }
        let proven = pairs().map(|(needed, found)| found - needed).fold(f64::INFINITY, f64::min);
        if self.margin - self.coverage.worst_missed < proven {
            return Err(NoProof::because("a random run came closer than the proof allows, so the proof is wrong"));
        }
        let scarcest = pairs().min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
        let (needed, found) = scarcest.unwrap_or((0.0, self.margin));
        Ok(Soundness::Proven { needed, found, lambda: contraction.lambda })
    }

    /// How much margin merged pairs ask for: the gaps between their margins add up over all merges before.
    fn estimate(&self, pairs: &[Pair<S::State>], why: String) -> Soundness {
        if self.margin == f64::INFINITY {
            let why = format!("{why}; no segment reports a margin, so no resolution can be stated");
            return Soundness::Unknown { why };
        }
        let mut gaps = [0.0_f64; FOLLOWED];
        let mut followed = 0;
        for (number, pair) in pairs.iter().enumerate() {
            let Some(own) = self.follow(number as u64, pair) else { return Soundness::Unknown { why } };
            followed = followed.max(own.len());
            gaps.iter_mut().zip(own).for_each(|(gap, own)| *gap = gap.max(own));
        }
        let gaps = &gaps[..followed];
        let (Some(&first), Some(&last)) = (gaps.first(), gaps.last()) else { return Soundness::Unknown { why } };
        let lambda = if first > 0.0 && followed > 1 {
            anabranch_kernel::maths::exp(anabranch_kernel::maths::ln(last / first) / (followed - 1) as f64)
        } else {
            f64::from(u8::from(last > 0.0))
        };
        let needed = gaps.iter().sum::<f64>() + if last > 0.0 { last * lambda / (1.0 - lambda) } else { 0.0 };
        if !(lambda < 1.0 && needed.is_finite()) {
            return Soundness::Unknown { why };
        }
        Soundness::Estimated { needed, found: self.margin, lambda, why }
    }

    /// Follows a pair under equal random errors: by how much do the margins differ, segment by segment? Nothing if the two
    /// end differently.
    fn follow(&self, number: u64, pair: &Pair<S::State>) -> Option<Vec<f64>> {
        let chance = Chance::new(self.seed, "soundness").at(number);
        let [mut merged, mut kept] = pair.states.clone();
        let (mut live, mut live_kept) = (Choices::new(), Choices::new());
        let left = (self.levels.len() - 1).saturating_sub(pair.level as usize).min(FOLLOWED);
        let mut gaps = Vec::new();
        for segment in 0..left {
            self.system.live(&merged, &mut live);
            self.system.live(&kept, &mut live_kept);
            let choice = live[chance.below(segment as u64, live.len() as u64) as usize];
            if !live_kept.contains(&choice) {
                return None;
            }
            let mut watches = [Watch::off(), Watch::off()];
            let [first, second] = &mut watches;
            let ends = (self.system.run(&mut merged, choice, first), self.system.run(&mut kept, choice, second));
            let (Ok(end), Ok(end_kept)) = ends else { return None };
            if end != end_kept {
                return None;
            }
            let (a, b) = (watches[0].margin, watches[1].margin);
            gaps.push(if a == b { 0.0 } else { (a - b).abs() });
            if end != SegmentEnd::Open {
                break;
            }
        }
        Some(gaps)
    }
}
