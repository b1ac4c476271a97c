//! Exploring, and what was found: each finding run again from the start before anybody is told.

use std::fmt;
use std::io;

use anabranch_explore::{ExploreError, Explorer, MemoryTrail, NoObserver, Outcome, Settings, Target, Trail, WalkError};
use anabranch_kernel::{Choice, Params, Seed, SegmentEnd, System};

/// An error sequence that violates a requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The violated requirement; a number where the system names none.
    pub requirement: String,
    /// Start parameters.
    pub start: Params,
    /// One choice per segment, from the start.
    pub choices: Vec<Choice>,
    /// The same in words.
    pub errors: Vec<String>,
    /// Base cycle since the start at which it was violated.
    pub tick: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.requirement, self.errors.join(" → "))
    }
}

/// What an exploration gave.
#[derive(Clone, Debug)]
pub struct Explored {
    /// Everything that was counted.
    pub outcome: Outcome,
    /// Confirmed error sequences, the shortest first.
    pub findings: Vec<Finding>,
    /// Those that did not end the same way when they were run again: the system answers one question in two ways.
    pub not_reproduced: Vec<Finding>,
}

/// An exploration that gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// It could not be done.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// A state on the way to a finding was not reached again.
    #[error("not reproducible: {0}")]
    Walk(#[from] WalkError),
    /// A finding's path could not be read.
    #[error("the trail cannot be read: {0}")]
    Trail(#[from] io::Error),
}

/// Explores a system on all cores and confirms what was found.
///
/// # Errors
/// When options contradict each other, or a state cannot be computed.
pub fn explore<S: System>(system: &S, settings: Settings) -> Result<Explored, Trouble> {
    let seed = Seed::default();
    let mut trail = MemoryTrail::default();
    let outcome = Explorer::new(system).settings(settings).seed(seed).run_with(&mut trail, &mut NoObserver)?;
    let (findings, not_reproduced) = confirm(system, seed, &outcome, &trail)?;
    Ok(Explored { outcome, findings, not_reproduced })
}

/// Runs every violating segment again, each from the start and without merging; those that violate the same
/// requirement again come first, the others second.
///
/// # Errors
/// When the trail cannot be read, or a state on the way is not reached again.
pub fn confirm<S: System>(
    system: &S,
    seed: Seed,
    outcome: &Outcome,
    trail: &dyn Trail,
) -> Result<(Vec<Finding>, Vec<Finding>), Trouble> {
    let starts = system.space().all();
    let targets: Vec<Target> =
        outcome.hits.iter().map(|hit| Target { parent: hit.parent, choice: hit.choice }).collect();
    let mut again = vec![false; targets.len()];
    anabranch_explore::walk(system, seed, &starts, trail, &targets, |at, job| {
        again[at] =
            matches!(job.end, Ok(SegmentEnd::Violated(verdicts)) if verdicts.contains(&outcome.hits[at].verdict));
    })?;
    let (mut confirmed, mut others) = (Vec::new(), Vec::new());
    for (hit, again) in outcome.hits.iter().zip(again) {
        let (start, mut choices) = trail.path(hit.parent)?;
        choices.push(hit.choice);
        let number = usize::from(hit.verdict.requirement);
        let finding = Finding {
            requirement: system.requirements().get(number).cloned().unwrap_or_else(|| format!("requirement {number}")),
            start: starts[start].clone(),
            errors: choices.iter().map(|choice| system.errors().describe(*choice)).collect(),
            choices,
            tick: hit.verdict.tick,
        };
        if again { confirmed.push(finding) } else { others.push(finding) }
    }
    confirmed.sort_by_key(|finding| finding.choices.len());
    Ok((confirmed, others))
}
