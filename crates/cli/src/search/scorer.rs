//! Who says how dangerous an instance is: one run, the explorer with its whole graph, or a tree over saved states.

use anabranch_explore::{Budget, ExploreError, Explorer, MemoryTrail, Merge, NoObserver, Refine, Settings, Trail};
use anabranch_kernel::{Fault, SegmentEnd, System};
use anabranch_search::{Reuse, TreeSettings, search_tree};

use super::instance::Built;
use super::objective::{ScenarioObjective, Scored, signed};

/// States of one instance that the explorer looks at, at most.
pub const HYBRID_STATES: u64 = 20_000;
/// Whole runs of one instance that a tree may cost, in segments.
pub const TREE_RUNS: u64 = 20;
/// States that a tree keeps.
const TREE_SAVED: usize = 20_000;

/// How an instance is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scorer {
    /// One run with the errors of the point.
    Run,
    /// Every error sequence, merged, up to so many states; the worst of them counts.
    Graph {
        /// Most states.
        states: u64,
    },
    /// Error sequences in a tree over saved states; the worst of them counts.
    Tree {
        /// Most segments, in whole runs.
        runs: u64,
    },
}

impl Scorer {
    /// Scores an instance.
    ///
    /// # Errors
    /// When it could not be computed.
    pub fn score(self, objective: &ScenarioObjective<'_>, built: &Built<'_>) -> Result<Scored, Fault> {
        match self {
            Self::Run => objective.run(built.drive(), &built.params, &built.script),
            Self::Graph { states } => graph(objective, built, states),
            Self::Tree { runs } => tree(objective, built, runs),
        }
    }
}

fn graph(objective: &ScenarioObjective<'_>, built: &Built<'_>, states: u64) -> Result<Scored, Fault> {
    let drive = built.drive();
    let grid = drive.grid(&objective.loaded.spec.explore.merge);
    let settings = Settings {
        merge: grid.map_err(|error| Fault::Contract(error.message))?.map_or(Merge::None, Merge::Grid),
        stop_on_first: true,
        rollouts: 0,
        refine: Refine { passes: 0, ..Refine::USUAL },
        budget: Budget { states: Some(states), ..Budget::default() },
        ..Settings::new(drive.variables(), drive.time_matters())
    };
    let mut trail = MemoryTrail::default();
    let explorer = Explorer::new(drive).settings(settings).seed(objective.seed).threads(1);
    let outcome = explorer.run_with(&mut trail, &mut NoObserver).map_err(|error| match error {
        ExploreError::Start(fault) => fault,
        other => Fault::Contract(other.to_string()),
    })?;
    if let Some(fault) = outcome.faults.first() {
        return Err(fault.fault.clone());
    }
    let starts = drive.space().all();
    let lost = |error: std::io::Error| Fault::Contract(format!("the trail cannot be read: {error}"));
    let (mut params, mut choices, mut verdict) = (built.params.clone(), Vec::new(), None);
    if let Some(hit) = outcome.hits.first() {
        let (start, path) = trail.path(hit.parent).map_err(lost)?;
        params = starts.get(start).cloned().unwrap_or(params);
        choices = path;
        choices.push(hit.choice);
        verdict = Some(hit.verdict);
    }
    let seconds = outcome.progress.segments as f64 * drive.segment_seconds();
    Ok(Scored { values: signed(vec![outcome.progress.margin], verdict.is_some()), verdict, choices, seconds, params })
}

fn tree(objective: &ScenarioObjective<'_>, built: &Built<'_>, runs: u64) -> Result<Scored, Fault> {
    let drive = built.drive();
    let segments = drive.segments() as usize;
    let settings = TreeSettings {
        seed: objective.seed,
        segments_max: segments,
        visits_max: runs * segments as u64,
        curiosity: 0.5,
        reuse: Reuse::Saved(TREE_SAVED),
    };
    let report = search_tree(drive, &built.params, &settings)?;
    let verdict = if report.violated {
        let run = anabranch_explore::replay(drive, objective.seed, &built.params, &report.best, None)?;
        match run.end {
            SegmentEnd::Violated(verdicts) => verdicts.first().copied(),
            other => return Err(Fault::Contract(format!("the tree's violation ends with {other:?} from the start"))),
        }
    } else {
        None
    };
    let (params, seconds) = (built.params.clone(), report.simulated_seconds);
    let values = signed(vec![report.margin], verdict.is_some());
    Ok(Scored { values, verdict, choices: report.best, seconds, params })
}
