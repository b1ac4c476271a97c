//! How likely is a failure? Most likely failures, an estimate from the merged graph, and an interval from unmerged runs.
//!
//! Three answers of different strength, from a graph whose choices have a [`Likelihood`]:
//!
//! * **Most likely failures** are error sequences that were run from the start, without merging, and violate a *must*.
//!   Their probability is exact. That there is none more likely is certain only where nothing was merged.
//! * **The estimate** follows the probability through the merged graph. Merging keeps the dangerous members of a cell, so
//!   it may be too high or too low, and it has no interval.
//! * **The interval** comes from runs from the start, without merging, whose errors are drawn more often where the graph
//!   says that they lead to failure; each run is weighted by how much more often it was drawn.
//!
//! Several starts count as equally likely, and before the first segment there was no error.

mod confirm;
mod flow;
mod guide;
mod interval;
mod learned;
mod likely;
mod mixture;
mod recalled;
mod sample;
mod value;

use anabranch_kernel::{Choice, Fault, Grid, Likelihood, Params, Seed, System, Verdict};

use crate::explorer::ExploreError;
use crate::recording::Recording;
use crate::settings::{Merge, Scope, Settings};
use flow::Flow;
use guide::Guide;
pub use interval::Interval;

/// Samples unless somebody asks for another number: about 10 % on either side of a probability whose failures the graph
/// knows, for the cost of as many runs from the start.
pub const SAMPLES: u32 = 10_000;
/// Most likely failures unless somebody asks for another number.
pub const MOST_LIKELY: usize = 3;

/// What to compute.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// How the graph was explored.
    pub settings: &'a Settings,
    /// Seed of all chance.
    pub seed: Seed,
    /// Threads; 0 = all cores. Results do not depend on it.
    pub threads: usize,
    /// Unmerged runs for the interval, a fifth of them to look around; nearly twice as many where the answer is wide.
    pub samples: u32,
    /// How many diverse failures to name.
    pub most_likely: usize,
}

/// A failure with its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct LikelyFailure {
    /// Number of its start.
    pub start: usize,
    /// The error of every segment up to the violation.
    pub choices: Vec<Choice>,
    /// Probability of this very sequence, the choice of its start included.
    pub probability: f64,
    /// What was violated first.
    pub verdict: Verdict,
}

/// How likely failures are.
#[derive(Clone, Debug, PartialEq)]
pub struct Probability {
    /// Probability of failure as the merged graph has it. An estimate; `None` if the graph was too large to record.
    pub estimate: Option<f64>,
    /// What unmerged runs say.
    pub interval: Interval,
    /// Diverse failures, the most likely first.
    pub most_likely: Vec<LikelyFailure>,
    /// Error sequences of the merged graph that did not fail when they were run from the start.
    pub refuted: usize,
}

/// What every part of the computation needs.
#[derive(Clone, Copy)]
struct World<'a, S: System> {
    system: &'a S,
    likelihood: &'a Likelihood,
    seed: Seed,
    starts: &'a [Params],
    segments_max: u32,
    grid: Option<&'a Grid>,
    level_in_key: bool,
}

/// Computes how likely failures are; `None` if the system has no likelihood.
///
/// A recording that is not whole guides nothing: the interval is then wider, and nothing is estimated.
///
/// # Errors
/// When a start or a replay cannot be computed, or threads cannot be started.
pub fn probability<S: System>(
    system: &S,
    graph: &Recording,
    asked: &Asked<'_>,
) -> Result<Option<Probability>, ExploreError> {
    let Some(likelihood) = system.likelihood() else { return Ok(None) };
    let starts = system.space().all();
    let settings = asked.settings;
    let world = World {
        system,
        likelihood,
        seed: asked.seed,
        starts: &starts,
        segments_max: settings.levels_max,
        grid: match &settings.merge {
            Merge::Grid(grid) => Some(grid),
            Merge::None | Merge::Measured { .. } => None,
        },
        level_in_key: settings.scope == Scope::Level,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(asked.threads).build();
    let pool = pool.map_err(|e| ExploreError::Threads(e.to_string()))?;
    Ok(Some(pool.install(|| compute(&world, graph, asked))?))
}

fn compute<S: System>(world: &World<'_, S>, graph: &Recording, asked: &Asked<'_>) -> Result<Probability, Fault> {
    let flow = graph.is_whole().then(|| Flow::of(graph));
    let known = flow.as_ref().map(|flow| {
        let values = value::failure_values(flow, world.likelihood);
        let starts = value::start_values(flow, &values, world.likelihood);
        (flow, values, starts)
    });
    let guide = known.as_ref().map(|(flow, values, starts)| Guide { flow, values, starts });
    let estimate = known.as_ref().map(|(_, _, starts)| starts.iter().sum::<f64>() / starts.len() as f64);
    let runs = sample::draw(world, guide.as_ref(), u64::from(asked.samples))?;
    let interval = interval::of_runs(&runs);
    let drawn = runs.first_failures.iter().chain(&runs.failures);
    let found = likely::most_likely(world, flow.as_ref(), drawn, asked.most_likely)?;
    Ok(Probability { estimate, interval, most_likely: found.failures, refuted: found.refuted })
}
