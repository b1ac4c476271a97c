//! Exploring, and what was found: each finding run again from the start before anybody is told.

use std::fmt;
use std::io;
use std::time::Instant;

use anabranch_explore::{
    Clock, ExploreError, Explorer, MemoryTrail, NoObserver, Outcome, Settings, Target, Trail, WalkError, held, replay,
};
use anabranch_kernel::{Choice, Params, Seed, SegmentEnd, System};
use anabranch_study::{Conclusion, Evidence, Findings, Musts, conclude};

/// An error sequence that violates a requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The violated requirement; a number where the system names none.
    pub requirement: String,
    /// Its number among the requirements of the system.
    pub number: u16,
    /// Start parameters.
    pub start: Params,
    /// One choice per segment, from the start.
    pub choices: Vec<Choice>,
    /// The same in words.
    pub errors: Vec<String>,
    /// Base cycle since the start at which it was violated.
    pub tick: u64,
}

impl Finding {
    fn new<S: System>(system: &S, number: u16, tick: u64, start: Params, choices: Vec<Choice>) -> Self {
        let requirement = system.requirements().get(usize::from(number)).cloned();
        Self {
            requirement: requirement.unwrap_or_else(|| format!("requirement {number}")),
            number,
            start,
            errors: choices.iter().map(|choice| system.errors().describe(*choice)).collect(),
            choices,
            tick,
        }
    }
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
    /// The verdict, decided as for every verb of the command line.
    pub conclusion: Conclusion,
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

/// Explores a system on all cores and confirms what was found: by exploring, by holding one error, and by random runs.
///
/// Without random runs ([`Settings::rollouts`]) nobody knows what merging missed: where nothing is found, the conclusion is then
/// *not covered*.
///
/// # Errors
/// When options contradict each other, or a state cannot be computed.
pub fn explore<S: System>(system: &S, settings: Settings) -> Result<Explored, Trouble> {
    explore_known(system, settings, |_| Known::default())
}

/// What is known about a system beyond what [`System`] says.
#[derive(Default)]
pub(crate) struct Known {
    /// Whether there is anything to judge.
    pub(crate) musts: Option<Musts>,
    /// Why the code under test is gone for good.
    pub(crate) gone: Option<String>,
    /// Limits of the error model.
    pub(crate) limits: Vec<String>,
    /// Number of the first requirement that stands for a fault of the code under test.
    pub(crate) first_fault: Option<u16>,
}

pub(crate) fn explore_known<S: System>(
    system: &S,
    settings: Settings,
    known: impl FnOnce(&Outcome) -> Known,
) -> Result<Explored, Trouble> {
    let (seed, clock) = (Seed::default(), WallClock::start());
    let mut trail = MemoryTrail::default();
    let explorer = Explorer::new(system).settings(settings.clone()).seed(seed).clock(&clock).prove();
    let outcome = explorer.run_with(&mut trail, &mut NoObserver)?;
    let (mut findings, mut not_reproduced) = confirm(system, seed, &outcome, &trail)?;
    for (start, choices) in beside(system, seed, &outcome, settings.levels_max)? {
        let is_known = |finding: &Finding| finding.start == start && finding.choices == choices;
        if !findings.iter().chain(&not_reproduced).any(is_known) {
            match confirm_one(system, seed, &start, &choices)? {
                Ok(finding) => findings.push(finding),
                Err(finding) => not_reproduced.push(finding),
            }
        }
    }
    findings.sort_by_key(|finding| finding.choices.len());
    let Known { musts, gone, limits, first_fault } = known(&outcome);
    let is_fault = |finding: &&Finding| first_fault.is_some_and(|first| finding.number >= first);
    // Hits beyond the limit of the explorer are counted and have no path.
    let beyond = outcome.progress.findings.saturating_sub(outcome.hits.len() as u64);
    let evidence = Evidence {
        findings: Findings {
            sequences: findings.len() as u64 + beyond,
            faults: findings.iter().filter(is_fault).count() as u64,
        },
        unstable: not_reproduced.iter().map(ToString::to_string).collect(),
        musts: musts.unwrap_or(Musts::Judged),
        gone,
        limits,
        ..Evidence::of_outcome(&outcome, &settings)
    };
    Ok(Explored { conclusion: conclude(&evidence), outcome, findings, not_reproduced })
}

/// Violating sequences that the exploration itself may have missed: of one error that is held, and of random runs.
fn beside<S: System>(
    system: &S,
    seed: Seed,
    outcome: &Outcome,
    levels_max: u32,
) -> Result<Vec<(Params, Vec<Choice>)>, Trouble> {
    let starts = system.space().all();
    let mut paths = Vec::new();
    for &choice in &outcome.constant_errors_violate {
        for params in &starts {
            let path = held(system, seed, params, choice, levels_max as usize).map_err(ExploreError::Start)?;
            paths.extend(path.map(|choices| (params.clone(), choices)));
        }
    }
    paths.extend(outcome.coverage.violations.iter().map(|(start, choices)| (starts[*start].clone(), choices.clone())));
    Ok(paths)
}

/// Runs one sequence once more from the start; `Err` has what did not come out the same way.
fn confirm_one<S: System>(
    system: &S,
    seed: Seed,
    start: &Params,
    choices: &[Choice],
) -> Result<Result<Finding, Finding>, Trouble> {
    let run = replay(system, seed, start, choices, None).map_err(ExploreError::Start)?;
    let verdict = match &run.end {
        SegmentEnd::Violated(verdicts) => verdicts.first().copied(),
        _ => None,
    };
    let (number, tick) = verdict.map_or((0, 0), |verdict| (verdict.requirement, verdict.tick));
    let finding = Finding::new(system, number, tick, start.clone(), choices.to_vec());
    Ok(if verdict.is_some() { Ok(finding) } else { Err(finding) })
}

/// The clock on the wall, for budgets; results never depend on it otherwise.
struct WallClock(Instant);

impl WallClock {
    #[expect(clippy::disallowed_methods, reason = "the edge: a budget of time needs a clock")]
    fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for WallClock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
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
        let finding = Finding::new(system, hit.verdict.requirement, hit.verdict.tick, starts[start].clone(), choices);
        if again { confirmed.push(finding) } else { others.push(finding) }
    }
    confirmed.sort_by_key(|finding| finding.choices.len());
    Ok((confirmed, others))
}
