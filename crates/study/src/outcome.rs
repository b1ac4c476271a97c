//! What an exploration knows, as evidence. Everything that the explorer learns to say about coverage and resolution is read here.

use anabranch_explore::{COVERED_SHARE, Merge, Outcome, Settings, Soundness};

use crate::conclusion::{Ground, Stop};
use crate::coverage::{Coverage, Share};
use crate::evidence::Evidence;

/// Chance of a coverage that looks enough although it is not.
const DOUBT: f64 = 0.05;

impl Evidence {
    /// What an exploration says of itself. Findings, requirements and the state of code from outside are added by the caller.
    pub fn of_outcome(outcome: &Outcome, settings: &Settings) -> Self {
        let ground = match outcome.soundness {
            Soundness::Exhaustive { .. } => Some(Ground::Exhaustive),
            Soundness::Proven { needed, found, .. } => {
                Some(Ground::Proven { needed, found: Some(found).filter(|found| found.is_finite()) })
            }
            Soundness::Estimated { .. } | Soundness::Unknown { .. } => None,
        };
        Self {
            stop: outcome.stop.map(Stop::from),
            faults: outcome.fault_count,
            ground,
            coverage: coverage_of(outcome, settings),
            margin: Some(outcome.progress.margin).filter(|margin| margin.is_finite()),
            ..Self::default()
        }
    }
}

impl From<anabranch_explore::Stop> for Stop {
    fn from(stop: anabranch_explore::Stop) -> Self {
        match stop {
            anabranch_explore::Stop::Time => Self::Time,
            anabranch_explore::Stop::States => Self::States,
            anabranch_explore::Stop::Memory => Self::Memory,
            anabranch_explore::Stop::Interrupted => Self::Interrupted,
            anabranch_explore::Stop::FirstFinding => Self::FirstFinding,
        }
    }
}

/// How much of all runs an exploration covered.
pub fn coverage_of(outcome: &Outcome, settings: &Settings) -> Coverage {
    let coverage = &outcome.coverage;
    if settings.merge == Merge::None {
        return Coverage::NotNeeded;
    }
    if coverage.rollouts == 0 {
        return Coverage::Unknown { why: "coverage was not measured: there was no random run".to_owned() };
    }
    let is_covered = coverage.is_covered().unwrap_or(false);
    let needed = runs_needed();
    if is_covered && coverage.rollouts < needed {
        let why = format!("{} random runs are too few to know the coverage; it takes {needed}", coverage.rollouts);
        return Coverage::Unknown { why };
    }
    Coverage::Measured(Share {
        runs: coverage.rollouts,
        share: coverage.share,
        low: coverage.share_low,
        high: coverage.share_high,
        needed: COVERED_SHARE,
        is_covered,
    })
}

/// Fewer random runs cannot show that enough of them stay inside, even if all of them do: a share of 1 − ε passes n runs with
/// probability (1 − ε)ⁿ.
pub fn runs_needed() -> u64 {
    let mut chance = 1.0;
    let mut runs = 0;
    while chance > DOUBT {
        chance *= COVERED_SHARE;
        runs += 1;
    }
    runs
}
