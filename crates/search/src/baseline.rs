//! The random baseline that stands beside every result, and what may be said about the difference.

use serde::{Deserialize, Serialize};

use crate::driver::{Goal, Probes, Search, SearchError, Settings};
use crate::objective::Objective;
use crate::optimisers::UniformRandom;
use crate::report::Report;
use crate::space::Space;
use crate::statistics::{fisher, share_interval};

/// Uniform random points with the budget of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Random points simulated.
    pub simulations: u64,
    /// Violations among them.
    pub hits: u64,
    /// Lowest value among them.
    pub best: f64,
    /// Share of violations among all points, between these bounds with 95 % confidence.
    pub share: (f64, f64),
}

impl Baseline {
    /// Runs it: the whole budget, without probes and without stopping at the first violation.
    ///
    /// # Errors
    /// When the space or a setting is wrong.
    pub fn run(space: &Space, objective: &dyn Objective, settings: &Settings) -> Result<(Self, Report), SearchError> {
        let settings = Settings { goal: Goal::Worst, probes: Probes::Off, front_every: 0, ..settings.clone() };
        let random = UniformRandom::new(space.layout()?, settings.seed);
        let violated_below = settings.violated_below;
        let report = Search::new(space, objective, Box::new(random), settings)?.run_unsaved();
        let computed = report.evaluations.iter().filter(|e| e.result.is_ok());
        let (simulations, hits) =
            computed.fold((0, 0), |(n, hits), e| (n + 1, hits + u64::from(e.value() < violated_below)));
        let best = report.best().map_or(f64::INFINITY, |e| e.value());
        Ok((Self { simulations, hits, best, share: share_interval(hits, simulations, 0.05) }, report))
    }
    /// The probability that random points find a violation within so many simulations, between these bounds.
    pub fn finds_within(&self, simulations: u64) -> (f64, f64) {
        let at_least_one = |p: f64| 1.0 - (1.0 - p).powi(i32::try_from(simulations).unwrap_or(i32::MAX));
        (at_least_one(self.share.0), at_least_one(self.share.1))
    }
    /// What may be said about a search that found its first violation after so many simulations, or never.
    pub fn statement(&self, ours: Option<u64>) -> String {
        let share = format!(
            "random: {} of {} simulations violate ({:.3} % to {:.3} %, 95 % confidence)",
            self.hits,
            self.simulations,
            100.0 * self.share.0,
            100.0 * self.share.1
        );
        match ours {
            None => format!("{share}; the search found none"),
            Some(count) => {
                let (low, high) = self.finds_within(count);
                format!(
                    "{share}; the search needed {count}, in which random points would have found one with probability \
                     {low:.3} to {high:.3}"
                )
            }
        }
    }
}

/// Two methods over several seeds with the same budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// Seeds each of them had.
    pub repeats: u64,
    /// Seeds with which ours found a violation.
    pub ours: u64,
    /// Seeds with which the baseline did.
    pub baseline: u64,
}

impl Contest {
    /// The probability of such a lead if both were alike (Fisher's exact test, one-sided).
    pub fn chance_alone(&self) -> f64 {
        fisher(self.ours, self.repeats, self.baseline, self.repeats)
    }
    /// In words.
    pub fn statement(&self) -> String {
        let p = self.chance_alone();
        let verdict = if p < 0.05 { "better than random" } else { "not shown to be better than random" };
        format!(
            "{} of {} seeds, random {} of {}: {verdict} (p = {p:.2e}, Fisher's exact test)",
            self.ours, self.repeats, self.baseline, self.repeats
        )
    }
}

/// Successes and effort of a method over several seeds.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Repeats {
    /// Per seed: simulations to the first violation, or none.
    pub to_first: Vec<Option<u64>>,
}

impl Repeats {
    /// Seeds with a violation.
    pub fn successes(&self) -> u64 {
        self.to_first.iter().flatten().count() as u64
    }
    /// Mean simulations of the seeds with a violation, as published tables have it.
    pub fn mean_simulations(&self) -> Option<f64> {
        let found: Vec<u64> = self.to_first.iter().flatten().copied().collect();
        (!found.is_empty()).then(|| found.iter().sum::<u64>() as f64 / found.len() as f64)
    }
    /// Median simulations of the seeds with a violation.
    pub fn median_simulations(&self) -> Option<f64> {
        let mut found: Vec<u64> = self.to_first.iter().flatten().copied().collect();
        found.sort_unstable();
        let (lower, upper) = (found.get(found.len().checked_sub(1)? / 2)?, found.get(found.len() / 2)?);
        Some((*lower + *upper) as f64 / 2.0)
    }
}
