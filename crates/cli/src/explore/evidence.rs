//! What an exploration knows, as the evidence of its verdict: the same for one exploration, a league and a tolerance.

use anabranch_explore::{Outcome, Settings, Stop};
use anabranch_kernel::Fault;
use anabranch_study::{Evidence, Findings, Remark};

use super::settings::Horizon;
use super::subject::Subject;
use crate::interrupt;
use crate::numbers::short;
use crate::outside::Unstable;

/// What running the findings again gave.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// What violates a requirement.
    pub findings: Findings,
    /// What did not come out the same way again.
    pub unstable: &'a [Unstable],
    /// What could not be run again, because the code under test is gone or the time is over.
    pub unconfirmed: u64,
    /// What ended that.
    pub cut_short: Option<Stop>,
}

/// Hits beyond the limit of the explorer are counted and have no path, so they cannot be run again: those that count next
/// to confirmed ones, and those that are not confirmed because nothing is.
pub fn beyond(outcome: &Outcome, confirmed: Anything) -> (u64, u64) {
    let beyond = outcome.progress.findings.saturating_sub(outcome.hits.len() as u64);
    match confirmed {
        Anything::Confirmed => (beyond, 0),
        Anything::Unconfirmed => (0, beyond),
    }
}

/// Whether anything was confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anything {
    /// At least one finding was.
    Confirmed,
    /// Nothing was.
    Unconfirmed,
}

impl Anything {
    /// Of so many confirmed findings.
    pub fn of(confirmed: usize) -> Self {
        if confirmed > 0 { Self::Confirmed } else { Self::Unconfirmed }
    }
}

/// The evidence of an exploration.
pub fn evidence<S: Subject>(
    subject: &S,
    (settings, horizon): (&Settings, Horizon),
    outcome: &Outcome,
    counted: Counted<'_>,
) -> Evidence {
    Evidence {
        findings: counted.findings,
        unstable: counted.unstable.iter().map(|one| one.text.clone()).collect(),
        unconfirmed: counted.unconfirmed,
        cut_short: counted.cut_short.map(Into::into),
        // Whom we have ended ourselves is not gone.
        gone: subject.gone().filter(|_| !interrupt::cutoff().has_come()).map(|fault| told(&fault)),
        musts: subject.musts(horizon, outcome),
        limits: subject.error_limits(),
        parted: subject.parted(),
        ..Evidence::of_outcome(outcome, settings)
    }
}

/// What failed outside, without the name of our kind of fault.
fn told(fault: &Fault) -> String {
    match fault {
        Fault::External(what) => what.replace('\n', " "),
        other => other.to_string(),
    }
}

/// Whether exploring ended because runs were cut off, not because all of them had come to their end.
pub fn is_cut_off(horizon: Horizon, outcome: &Outcome) -> bool {
    horizon.is_shortened && outcome.levels.len() >= horizon.levels as usize
}

/// A remark for people.
pub fn remark_words<S: Subject>(remark: &Remark) -> String {
    match remark {
        Remark::NegativeMargin(margin) => {
            let (name, unit) = (S::MARGIN.name, S::MARGIN.unit);
            format!("the worst {name} is {}{unit}, below zero, and no requirement is violated by it", short(*margin, 3))
        }
        Remark::NotJudged(musts) => {
            let names: Vec<String> = musts.iter().map(|id| format!("`{id}`")).collect();
            format!("not judged, because the run is shorter than the {}: {}", S::NOUN, names.join(", "))
        }
        Remark::Unmeasured(musts) => {
            let names: Vec<String> = musts.iter().map(|id| format!("`{id}`")).collect();
            format!(
                "nothing measures how narrowly it was kept, so no resolution is stated for it: {}",
                names.join(", ")
            )
        }
    }
}
