//! From violating segments to confirmed error sequences.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_bridge::Kind;
use anabranch_explore::{NO_PARENT, OnTime, Outcome, Target, Trail, WalkError, held, walk, with_threads};
use anabranch_kernel::{Choice, Fault, Job, Seed, SegmentEnd, System, Verdict};

use super::subject::Subject;
use super::time_left::TimeLeft;
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
    /// What could not be run again, because the driver is gone or the time is over.
    pub unconfirmed: u64,
}

/// Reconstructs every violating path and runs it from the start, without saved states and without merging. Explored
/// paths share what they have in common; the others run side by side. What there is no time for is not confirmed.
///
/// # Errors
/// When a path of built-in parts does not end as the exploration said: exit 6.
pub fn confirmed<S: Subject>(
    drive: &S,
    seed: Seed,
    outcome: &Outcome,
    trail: &(dyn Trail + Sync),
    (threads, time): (usize, TimeLeft),
) -> Result<Confirmed, Failure> {
    let goes_on = || time.confirms();
    let on_time = OnTime::new(drive, time.clock(), &goes_on);
    let starts: Vec<S::State> =
        drive.space().all().iter().map(|params| drive.start(seed, params)).collect::<Result<_, _>>()?;
    with_threads(threads, || {
        let claims = claims(drive, &on_time, seed, outcome, trail)?;
        let again = Again { drive, on_time: &on_time, seed, starts, time };
        again.all(claims, outcome, trail)
    })?
}

/// Runs claims again.
struct Again<'a, S: Subject> {
    drive: &'a S,
    on_time: &'a OnTime<'a, S>,
    seed: Seed,
    starts: Vec<S::State>,
    time: TimeLeft,
}

/// How claims ended and after how many segments, by their number.
type Ends = BTreeMap<usize, (Result<SegmentEnd, Fault>, usize)>;

impl<S: Subject> Again<'_, S> {
    fn all(&self, claims: Claims, outcome: &Outcome, trail: &dyn Trail) -> Result<Confirmed, Failure> {
        let Claims { all: claims, not_followed } = claims;
        let mut confirmed = Confirmed { unconfirmed: not_followed, ..Confirmed::default() };
        // Two answers to one question are no finding about errors, however often they come.
        for claim in claims.iter().filter(|claim| self.differs(claim)) {
            let text = self.drive.fault_text(claim.start, &claim.choices);
            let text = text.unwrap_or_else(|| "the driver answered the same steps differently".to_owned());
            confirmed.unstable.push(Unstable { start: claim.start, choices: claim.choices.clone(), text });
        }
        let steady: Vec<usize> = (0..claims.len()).filter(|at| !self.differs(&claims[*at])).collect();
        let mut ends = self.walk_again(&claims, &steady, outcome, trail)?;
        self.run_again(&claims, &steady, &mut ends);
        for at in steady {
            let claim = &claims[at];
            let (end, segments) = match ends.remove(&at) {
                None | Some((Err(Fault::External(_)), _)) => {
                    confirmed.unconfirmed += 1;
                    continue;
                }
                Some(ended) => ended,
            };
            match judged(self.drive, claim, end, segments) {
                Ok(candidate) => confirmed.candidates.push(candidate),
                Err(failure) if self.drive.is_outside() => {
                    let (start, choices) = (claim.start, claim.choices.clone());
                    confirmed.unstable.push(Unstable { start, choices, text: failure.to_string() });
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(confirmed)
    }

    fn differs(&self, claim: &Claim) -> bool {
        let kind = claim.expected.and_then(|verdict| self.drive.kind_of(verdict.requirement));
        self.drive.is_outside() && kind == Some(Kind::Nondeterministic)
    }

    /// Walks to the ends of explored paths, the shortest first, so that something is confirmed however little time there is.
    fn walk_again(
        &self,
        claims: &[Claim],
        steady: &[usize],
        outcome: &Outcome,
        trail: &dyn Trail,
    ) -> Result<Ends, Failure> {
        let mut waiting: Vec<usize> = steady.iter().copied().filter(|at| *at < outcome.hits.len()).collect();
        waiting.sort_by_key(|at| claims[*at].choices.len());
        let (mut rest, mut portion, mut ends) = (&waiting[..], 1, Ends::new());
        while !rest.is_empty() && self.time.confirms() {
            let (now, later) = rest.split_at(self.portion(claims, rest, portion));
            let target = |at: &usize| Target { parent: outcome.hits[*at].parent, choice: outcome.hits[*at].choice };
            let targets: Vec<Target> = now.iter().map(target).collect();
            let walked = walk(self.on_time, self.seed, &self.drive.space().all(), trail, &targets, |target, job| {
                let at = now[target];
                ends.insert(at, (job.end, claims[at].choices.len()));
            });
            match walked {
                Ok(_) => {}
                Err(WalkError::Differs { end: Err(Fault::External(_)), .. }) => {}
                // Somebody leads elsewhere in the middle of a path that others share: each is run alone.
                Err(WalkError::Differs { .. }) if self.drive.is_outside() => {
                    now.iter().for_each(|at| drop(ends.remove(at)));
                }
                Err(error) => return Err(lost(error)),
            }
            // Built-in parts are quick, and paths that are walked together share the most.
            portion = if self.drive.is_outside() { 2 * portion } else { rest.len() };
            rest = later;
        }
        Ok(ends)
    }

    /// Runs what was not walked to, side by side.
    fn run_again(&self, claims: &[Claim], steady: &[usize], ends: &mut Ends) {
        let waiting: Vec<usize> = steady.iter().copied().filter(|at| !ends.contains_key(at)).collect();
        let (mut rest, mut portion) = (&waiting[..], 1);
        while !rest.is_empty() && self.time.confirms() {
            let (now, later) = rest.split_at(self.portion(claims, rest, portion));
            let together: Vec<&Claim> = now.iter().map(|at| &claims[*at]).collect();
            ends.extend(now.iter().copied().zip(run_together(self.on_time, &self.starts, &together)));
            portion = (2 * portion).min(SIDE_BY_SIDE);
            rest = later;
        }
    }

    /// So many of the rest, and no more than there is time for; but always one.
    fn portion(&self, claims: &[Claim], rest: &[usize], most: usize) -> usize {
        let most = most.min(rest.len());
        let Some(left_s) = self.time.confirming_s() else { return most };
        let (mut left_s, segment_s) = (left_s, self.on_time.segment_ns() as f64 * 1e-9);
        let fits = |at: &&usize| {
            left_s -= claims[**at].choices.len() as f64 * segment_s;
            left_s > 0.0
        };
        rest[..most].iter().take_while(fits).count().max(1)
    }
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
fn run_together<S: System>(
    drive: &S,
    starts: &[S::State],
    claims: &[&Claim],
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

/// Everything that is said to violate a requirement.
struct Claims {
    all: Vec<Claim>,
    /// Errors that violate when they are held, and that could not be followed.
    not_followed: u64,
}

fn claims<S: Subject>(
    drive: &S,
    on_time: &OnTime<'_, S>,
    seed: Seed,
    outcome: &Outcome,
    trail: &dyn Trail,
) -> Result<Claims, Failure> {
    let mut paths = Paths { trail, known: BTreeMap::new() };
    let (mut claims, mut known) = (Vec::new(), BTreeSet::new());
    for hit in &outcome.hits {
        let (start, mut choices) = paths.to(hit.parent)?;
        choices.push(hit.choice);
        known.insert((start, choices.clone()));
        claims.push(Claim { source: Source::Explored, start, choices, expected: Some(hit.verdict) });
    }
    let (constant, not_followed) = constant_paths(on_time, seed, outcome, drive.segments() as usize)?;
    let constant = constant.into_iter().map(|path| (Source::Constant, path));
    let random = outcome.coverage.violations.iter().map(|path| (Source::Rollout, path.clone()));
    let searched = outcome.resolution.iter().flat_map(|resolution| &resolution.violations);
    let searched = searched.map(|path| (Source::Shadow, path.clone()));
    for (source, (start, choices)) in constant.chain(random).chain(searched) {
        if known.insert((start, choices.clone())) {
            claims.push(Claim { source, start, choices, expected: None });
        }
    }
    Ok(Claims { all: claims, not_followed })
}

/// A start and the error of every segment.
type ErrorPath = (usize, Vec<Choice>);

/// The error sequences of constant errors that violate; where limits of the scenario end an error, it runs on without it.
/// With them, how many such errors could not be followed because nobody is there to be asked, or for want of time.
fn constant_paths<S: System>(
    system: &S,
    seed: Seed,
    outcome: &Outcome,
    segments_max: usize,
) -> Result<(Vec<ErrorPath>, u64), Failure> {
    let (mut paths, mut not_followed) = (Vec::new(), 0);
    for &choice in &outcome.constant_errors_violate {
        let (before, mut is_followed) = (paths.len(), true);
        for (start, params) in system.space().all().iter().enumerate() {
            match held(system, seed, params, choice, segments_max) {
                Err(Fault::External(_)) => is_followed = false,
                path => paths.extend(path?.map(|choices| (start, choices))),
            }
        }
        // From one start is enough.
        not_followed += u64::from(!is_followed && paths.len() == before);
    }
    Ok((paths, not_followed))
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
