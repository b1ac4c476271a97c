//! From violating segments to confirmed error sequences.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_bridge::Kind;
use anabranch_explore::{NO_PARENT, Outcome, Target, Trail, WalkError, held, walk, with_threads};
use anabranch_kernel::{Choice, Fault, Job, Seed, SegmentEnd, Verdict};

use super::subject::Subject;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::outside::Unstable;

/// Paths that are run side by side.
const SIDE_BY_SIDE: usize = 64;

/// How an error sequence was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// By exploring.
    Explored,
    /// By holding one error from start to end, which merging or a spent budget had missed.
    Constant,
    /// By a random run beside the exploration, which merging or a spent budget had missed.
    Rollout,
    /// By a search without merging beside the exploration, which merging or a spent budget had missed.
    Shadow,
    /// By looking for likely failures, which merging or a spent budget had missed.
    Likely,
    /// By `search`.
    Searched,
}

impl Source {
    /// For machines.
    pub fn word(self) -> &'static str {
        match self {
            Self::Explored => "explored",
            Self::Constant => "constant",
            Self::Rollout => "rollout",
            Self::Shadow => "shadow",
            Self::Likely => "likely",
            Self::Searched => "searched",
        }
    }
}

/// An error sequence that is said to violate a requirement.
#[derive(Clone, Debug)]
struct Claim {
    source: Source,
    start: usize,
    choices: Vec<Choice>,
    /// What the exploration saw; a random run only says that there was something.
    expected: Option<Verdict>,
}

/// An error sequence that does violate a requirement: it was run from the start, without merging.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// How it was found.
    pub source: Source,
    /// Number of its start.
    pub start: usize,
    /// The error of every segment.
    pub choices: Vec<Choice>,
    /// What was violated, where and when.
    pub verdict: Verdict,
}

/// What came of confirming.
#[derive(Debug, Default)]
pub struct Confirmed {
    /// What does violate a requirement.
    pub candidates: Vec<Candidate>,
    /// What a driver from outside did once and not again. With built-in parts that is a bug of ours.
    pub unstable: Vec<Unstable>,
    /// What could not be run again, because the driver is gone.
    pub unconfirmed: u64,
}

/// Reconstructs every violating path and runs it from the start, without saved states and without merging. Explored
/// paths share what they have in common; the others run side by side.
///
/// # Errors
/// When a path does not end as the exploration said: exit 6.
pub fn confirmed<S: Subject>(
    drive: &S,
    seed: Seed,
    outcome: &Outcome,
    trail: &(dyn Trail + Sync),
    threads: usize,
) -> Result<Confirmed, Failure> {
    if drive.is_outside() {
        return with_threads(threads, || confirmed_outside(drive, seed, outcome, trail))?;
    }
    let claims = claims(drive, seed, outcome, trail)?;
    let starts = drive.space().all();
    let (explored, others) = claims.split_at(outcome.hits.len());
    let targets: Vec<Target> =
        outcome.hits.iter().map(|hit| Target { parent: hit.parent, choice: hit.choice }).collect();
    let mut ends: Vec<Option<Result<SegmentEnd, Fault>>> = vec![None; explored.len()];
    let walked =
        with_threads(threads, || walk(drive, seed, &starts, trail, &targets, |at, job| ends[at] = Some(job.end)))?;
    walked.map_err(lost)?;
    let mut all = Vec::with_capacity(claims.len());
    for (claim, end) in explored.iter().zip(ends) {
        let end = end.expect("every target is walked to");
        all.push(judged(drive, claim, end, claim.choices.len())?);
    }
    let starts: Vec<S::State> = starts.iter().map(|params| drive.start(seed, params)).collect::<Result<_, _>>()?;
    for batch in others.chunks(SIDE_BY_SIDE) {
        for (claim, (end, segments)) in batch.iter().zip(run_together(drive, &starts, batch)) {
            all.push(judged(drive, claim, end, segments)?);
        }
    }
    Ok(Confirmed { candidates: all, ..Confirmed::default() })
}

/// The same for a driver from outside, each path from the start: one that comes out otherwise costs no other.
fn confirmed_outside<S: Subject>(
    drive: &S,
    seed: Seed,
    outcome: &Outcome,
    trail: &(dyn Trail + Sync),
) -> Result<Confirmed, Failure> {
    let claims = claims(drive, seed, outcome, trail)?;
    let starts: Vec<S::State> =
        drive.space().all().iter().map(|params| drive.start(seed, params)).collect::<Result<_, _>>()?;
    let mut confirmed = Confirmed::default();
    let differs = |claim: &Claim| {
        claim.expected.and_then(|verdict| drive.kind_of(verdict.requirement)) == Some(Kind::Nondeterministic)
    };
    // Two answers to one question are no finding about errors, however often they come.
    for claim in claims.iter().filter(|claim| differs(claim)) {
        let text = drive.fault_text(claim.start, &claim.choices);
        let text = text.unwrap_or_else(|| "the driver answered the same steps differently".to_owned());
        confirmed.unstable.push(Unstable { start: claim.start, choices: claim.choices.clone(), text });
    }
    let is_explored = |at: usize| at < outcome.hits.len();
    let explored: Vec<usize> = (0..claims.len()).filter(|&at| is_explored(at) && !differs(&claims[at])).collect();
    let targets: Vec<Target> = explored
        .iter()
        .map(|&at| Target { parent: outcome.hits[at].parent, choice: outcome.hits[at].choice })
        .collect();
    let mut ends: BTreeMap<usize, (Result<SegmentEnd, Fault>, usize)> = BTreeMap::new();
    let walked = walk(drive, seed, &drive.space().all(), trail, &targets, |target, job| {
        let at = explored[target];
        ends.insert(at, (job.end, claims[at].choices.len()));
    });
    match walked {
        Ok(_) => {}
        // Somebody leads elsewhere in the middle of a path that others share.
        Err(WalkError::Differs { .. }) => ends.clear(),
        Err(error) => return Err(lost(error)),
    }
    let rest: Vec<usize> = (0..claims.len()).filter(|at| !differs(&claims[*at]) && !ends.contains_key(at)).collect();
    for batch in rest.chunks(SIDE_BY_SIDE) {
        let together: Vec<Claim> = batch.iter().map(|&at| claims[at].clone()).collect();
        ends.extend(batch.iter().copied().zip(run_together(drive, &starts, &together)));
    }
    for (at, (end, segments)) in ends {
        let claim = &claims[at];
        if matches!(end, Err(Fault::External(_))) {
            confirmed.unconfirmed += 1;
            continue;
        }
        match judged(drive, claim, end, segments) {
            Ok(candidate) => confirmed.candidates.push(candidate),
            Err(failure) => {
                let (start, choices) = (claim.start, claim.choices.clone());
                confirmed.unstable.push(Unstable { start, choices, text: failure.to_string() });
            }
        }
    }
    Ok(confirmed)
}

/// A path that could not be walked again.
fn lost(error: WalkError) -> Failure {
    match error {
        WalkError::Start(fault) => fault.into(),
        WalkError::Trail(_) => Failure::input(error.to_string(), ""),
        WalkError::Differs { .. } => {
            let help = "a part keeps something that is not in its state".to_owned();
            Failure::Plain { exit: Exit::NotReproducible, message: format!("not reproducible: {error}"), help }
        }
    }
}

/// Once more alone, as `replay` does: for findings that people are told about.
///
/// # Errors
/// When it ends otherwise: exit 6.
pub fn confirm_alone<S: Subject>(drive: &S, seed: Seed, candidate: &Candidate) -> Result<(), Failure> {
    let Candidate { source, start, choices, verdict } = candidate.clone();
    let run = drive.run_from_start(seed, &drive.space().all()[start], &choices, None);
    let (end, segments) = run.map_or_else(|fault| (Err(fault), 0), |(end, segments)| (Ok(end), segments));
    judged(drive, &Claim { source, start, choices, expected: Some(verdict) }, end, segments).map(|_| ())
}

/// How each claim ends and after how many segments.
fn run_together<S: Subject>(
    drive: &S,
    starts: &[S::State],
    claims: &[Claim],
) -> Vec<(Result<SegmentEnd, Fault>, usize)> {
    let mut ends = vec![(Ok(SegmentEnd::Open), 0); claims.len()];
    let mut active: Vec<usize> = (0..claims.len()).collect();
    let mut jobs: Vec<Job<S::State>> =
        claims.iter().map(|claim| Job::new(starts[claim.start].clone(), Choice::NONE)).collect();
    for level in 0.. {
        for (job, at) in jobs.iter_mut().zip(&active) {
            job.choice = claims[*at].choices[level];
        }
        drive.run_many(&mut jobs);
        let mut next = (Vec::new(), Vec::new());
        for (job, at) in jobs.into_iter().zip(active) {
            if job.end == Ok(SegmentEnd::Open) && level + 1 < claims[at].choices.len() {
                next.0.push(Job::new(job.state, Choice::NONE));
                next.1.push(at);
            } else {
                ends[at] = (job.end, level + 1);
            }
        }
        (jobs, active) = next;
        if jobs.is_empty() {
            break;
        }
    }
    ends
}

fn claims<S: Subject>(drive: &S, seed: Seed, outcome: &Outcome, trail: &dyn Trail) -> Result<Vec<Claim>, Failure> {
    let mut paths = Paths { trail, known: BTreeMap::new() };
    let (mut claims, mut known) = (Vec::new(), BTreeSet::new());
    for hit in &outcome.hits {
        let (start, mut choices) = paths.to(hit.parent)?;
        choices.push(hit.choice);
        known.insert((start, choices.clone()));
        claims.push(Claim { source: Source::Explored, start, choices, expected: Some(hit.verdict) });
    }
    let constant = constant_paths(drive, seed, outcome)?.into_iter().map(|path| (Source::Constant, path));
    let random = outcome.coverage.violations.iter().map(|path| (Source::Rollout, path.clone()));
    let searched = outcome.resolution.iter().flat_map(|resolution| &resolution.violations);
    let searched = searched.map(|path| (Source::Shadow, path.clone()));
    for (source, (start, choices)) in constant.chain(random).chain(searched) {
        if known.insert((start, choices.clone())) {
            claims.push(Claim { source, start, choices, expected: None });
        }
    }
    Ok(claims)
}

/// A start and the error of every segment.
type ErrorPath = (usize, Vec<Choice>);

/// The error sequences of constant errors that violate; where limits of the scenario end an error, it runs on without it.
fn constant_paths<S: Subject>(drive: &S, seed: Seed, outcome: &Outcome) -> Result<Vec<ErrorPath>, Failure> {
    let mut paths = Vec::new();
    for &choice in &outcome.constant_errors_violate {
        for (start, params) in drive.space().all().iter().enumerate() {
            match held(drive, seed, params, choice, drive.segments() as usize) {
                // Nobody is there to be asked; that is told elsewhere.
                Err(Fault::External(_)) => {}
                path => paths.extend(path?.map(|choices| (start, choices))),
            }
        }
    }
    Ok(paths)
}

/// Paths share most of their way; what was read once is not read again.
struct Paths<'t> {
    trail: &'t dyn Trail,
    known: BTreeMap<u64, (u64, Choice)>,
}

impl Paths<'_> {
    fn to(&mut self, node: u64) -> Result<(usize, Vec<Choice>), Failure> {
        let (mut at, mut choices) = (node, Vec::new());
        loop {
            let (parent, choice) = match self.known.get(&at) {
                Some(known) => *known,
                None => {
                    let step = self
                        .trail
                        .look(at)
                        .map_err(|e| Failure::input(format!("the trail cannot be read: {e}"), ""))?;
                    self.known.insert(at, step);
                    step
                }
            };
            if parent == NO_PARENT {
                choices.reverse();
                return Ok((choice.index(), choices));
            }
            choices.push(choice);
            at = parent;
        }
    }
}

fn judged<S: Subject>(
    drive: &S,
    claim: &Claim,
    end: Result<SegmentEnd, Fault>,
    segments: usize,
) -> Result<Candidate, Failure> {
    let verdict = match (&end, &claim.expected) {
        (Ok(SegmentEnd::Violated(verdicts)), Some(expected)) => verdicts.iter().find(|v| *v == expected).copied(),
        (Ok(SegmentEnd::Violated(verdicts)), None) => verdicts.first().copied(),
        _ => None,
    };
    match verdict {
        Some(verdict) if segments == claim.choices.len() => {
            Ok(Candidate { source: claim.source, start: claim.start, choices: claim.choices.clone(), verdict })
        }
        _ => Err(different(drive, claim, &end)),
    }
}

fn different<S: Subject>(drive: &S, claim: &Claim, end: &Result<SegmentEnd, Fault>) -> Failure {
    let name = |v: &Verdict| drive.requirements()[usize::from(v.requirement)].clone();
    let expected =
        claim.expected.map_or_else(|| "a violation".to_owned(), |v| format!("`{}` on tick {}", name(&v), v.tick));
    let errors: Vec<String> = claim.choices.iter().map(|choice| drive.errors().describe(*choice)).collect();
    let message =
        format!("not reproducible: {expected} was found, but from the start the same errors end with {end:?}");
    let help = format!("a part keeps something that is not in its state; the errors were: {}", errors.join(", "));
    Failure::Plain { exit: Exit::NotReproducible, message, help }
}
