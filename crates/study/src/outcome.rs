//! What an exploration knows, as evidence. Everything that the explorer learns to say about coverage and resolution is read here.

use anabranch_explore::{Covered, Merge, Outcome, Settings, Soundness};

use crate::conclusion::{Ground, Stop};
use crate::coverage::{Coverage, Resolution, Share};
use crate::evidence::Evidence;

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
            resolution: outcome
                .resolution
                .as_ref()
                .map(|resolution| resolution_of(resolution, outcome.about.left_out())),
            unmeasured: outcome.about.left_out().to_vec(),
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
    if settings.merge == Merge::None || coverage.is_exhaustive {
        return Coverage::NotNeeded;
    }
    if coverage.rollouts == 0 {
        return Coverage::Unknown { why: "coverage was not measured: there was no random run".to_owned() };
    }
    if coverage.covered() == Covered::Unknown {
        let why = format!("{} random runs are too few to know the coverage", coverage.rollouts);
        return Coverage::Unknown { why };
    }
    Coverage::Measured(Share {
        runs: coverage.rollouts,
        share: coverage.share,
        low: coverage.share_low,
        high: coverage.share_high,
        needed: coverage.target,
        is_covered: coverage.covered() == Covered::Yes,
    })
}

/// How deep a violation could have been missed.
fn resolution_of(resolution: &anabranch_explore::Resolution, left_out: &[String]) -> Resolution {
    Resolution {
        asked: resolution.asked,
        reached: resolution.hidden(),
        unit: resolution.unit.clone(),
        why_not: resolution.why.clone(),
        left_out: left_out.to_vec(),
    }
}
