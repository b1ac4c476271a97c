//! From a finding to its cause: which errors were needed, when it was too late, and what would have been enough to pass.
//!
//! Everything is asked of the system itself by running changed error sequences; nothing is guessed from a trace. Two
//! rules hold for every sequence that is run here:
//!
//! * After its last listed choice a run goes on without error until it ends or the horizon
//!   ([`Question::segments_max`]) is reached. So a violation later than the one that was found still counts.
//! * A choice that is not live where it would be used (a limit per run is spent, a drift has reached its bound) is
//!   replaced by "no error". So every sequence that is reported can really happen.
//!
//! ```
//! # use anabranch_explore::explain::{Limits, Question, Same, explain};
//! # use anabranch_kernel::*;
//! # use serde::{Deserialize, Serialize};
//! # /// Counts the pushes; three of them break it.
//! # struct Counter(ErrorSpace, Vec<Variable>);
//! # #[derive(Clone, Serialize, Deserialize)]
//! # struct Count(u64);
//! # impl System for Counter {
//! #     type State = Count;
//! #     fn errors(&self) -> &ErrorSpace { &self.0 }
//! #     fn variables(&self) -> &[Variable] { &self.1 }
//! #     fn start(&self, _: Seed, _: &Params) -> Result<Count, Fault> { Ok(Count(0)) }
//! #     fn run(&self, s: &mut Count, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
//! #         s.0 += u64::from(choice != Choice::NONE);
//! #         watch.see_margin(3.0 - s.0 as f64);
//! #         Ok(if s.0 >= 3 { SegmentEnd::violated(0, s.0) } else { SegmentEnd::Open })
//! #     }
//! #     fn cell(&self, s: &Count, key: &mut KeyWriter<'_>) { key.exact(0, s.0); }
//! # }
//! let system = Counter(ErrorSpace::of_one_site("push", &["none", "left", "right"]), vec![Variable::exact("pushes")]);
//! let found = [1, 0, 2, 0, 1].map(Choice);
//! let question = Question { system: &system, seed: Seed(0), params: &Params::default(), choices: &found, requirement: 0, same: Same::Requirement, segments_max: 8 };
//! let why = explain(question, &Limits::default()).unwrap();
//! // Three pushes in a row, the same one, as late as it was found.
//! assert_eq!(why.minimal.choices, [0, 0, 1, 1, 1].map(Choice));
//! assert_eq!(why.no_return.unwrap().boundary, 4);
//! ```

mod blame;
mod cost;
mod holds;
mod improve;
mod minimise;
mod nearest;
mod no_return;
mod shapley;
mod single;
mod tries;

use std::fmt;

use anabranch_kernel::{Choice, Fault, Params, Seed, SegmentEnd, System, Verdict};

pub use blame::{Blame, Measure, SegmentBlame, SiteBlame};
pub use cost::Cost;
pub use holds::HoldSearch;
pub(crate) use minimise::shrink;
pub use minimise::{Minimal, minimise};
pub use nearest::Nearest;
pub use no_return::{NoReturn, Rescue};
pub use shapley::{Method, Share};
pub use single::{SingleError, single_errors, without_errors};
pub use tries::{Tried, Tries};

use crate::replay::replay;

/// A violation to be explained.
#[derive(Debug)]
pub struct Question<'a, S: System> {
    /// What was run.
    pub system: &'a S,
    /// Seed of all chance.
    pub seed: Seed,
    /// Start values.
    pub params: &'a Params,
    /// The error of every segment.
    pub choices: &'a [Choice],
    /// Position of the violated requirement in [`System::requirements`]. Only its violation counts.
    pub requirement: u16,
    /// Which of its violations count.
    pub same: Same<'a>,
    /// Segments after which a run is over, even if its system does not end it.
    pub segments_max: usize,
}

/// Which violations of a requirement count as the accident that is asked about.
#[derive(Clone, Copy)]
pub enum Same<'a> {
    /// Every one of them.
    Requirement,
    /// Those that this says yes to; it is given the choices up to the violation.
    Accident(&'a (dyn Fn(&[Choice], &Verdict) -> bool + Sync)),
}

impl fmt::Debug for Same<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Requirement => "Requirement",
            Self::Accident(_) => "Accident",
        })
    }
}

impl<S: System> Question<'_, S> {
    /// The verdict about the accident that is asked about, if a run ended with it.
    pub fn accident(&self, end: &SegmentEnd, choices: &[Choice]) -> Option<Verdict> {
        let SegmentEnd::Violated(verdicts) = end else { return None };
        let is_same = |verdict: &&Verdict| match self.same {
            Same::Requirement => true,
            Same::Accident(is_same) => is_same(choices, verdict),
        };
        verdicts.iter().filter(|verdict| verdict.requirement == self.requirement).find(is_same).copied()
    }
}

impl<S: System> Clone for Question<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: System> Copy for Question<'_, S> {}

/// How much may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most held errors that are tried one by one; see [`HoldSearch`]. It also bounds the search for the nearest passing
    /// sequence and for rescues.
    pub holds_max: usize,
    /// Permutations for blame where exact values would take too many runs.
    pub samples: u32,
    /// What blame is measured in.
    pub measure: Measure,
    /// Threads; 0 is all cores. Results do not depend on it.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { holds_max: 50_000, samples: 128, measure: Measure::Margin, threads: 0 }
    }
}

/// Why a finding could not be explained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExplainError {
    /// A segment could not be computed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The errors do not lead to the accident: the finding does not belong to this system.
    #[error("the errors do not lead to the accident; the run ended with {0:?}")]
    NotViolated(SegmentEnd),
    /// Threads could not be started.
    #[error("threads cannot be started: {0}")]
    Threads(String),
    /// A sequence ended differently when it was run from the start.
    #[error(
        "the same errors ended with {with_saved_states:?} from saved states and with {from_start:?} from the start"
    )]
    NotReproducible {
        /// How it ended from saved states.
        with_saved_states: SegmentEnd,
        /// How it ended from the start.
        from_start: SegmentEnd,
    },
}

/// Why a requirement was violated.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The sequence that was found, up to its violation.
    pub found: Tried,
    /// The smallest sequence, and how it was searched.
    pub minimal: Tried,
    /// Its verdict, as certified from the start without saved states.
    pub verdict: Verdict,
    /// Errors of the smallest sequence without which the accident still happens, each left out alone; none, unless a
    /// run from the start says otherwise than the search did.
    pub superfluous: Vec<SingleError>,
    /// See [`Minimal::matters`].
    pub matters: Vec<bool>,
    /// How small it is.
    pub cost: Cost,
    /// Which held errors were tried.
    pub holds: HoldSearch,
    /// The run without any error.
    pub without_errors: Tried,
    /// When it was too late; `None` if it fails without any error.
    pub no_return: Option<NoReturn>,
    /// What each error contributed.
    pub blame: Blame,
    /// The passing sequence closest to the minimal one, if one was found.
    pub nearest: Option<Nearest>,
    /// Segments that were simulated.
    pub segments_run: u64,
    /// Segments that would have been simulated without saved states.
    pub segments_asked: u64,
}

/// Minimises a finding and says what mattered in it.
///
/// # Errors
/// When a segment cannot be computed, the finding does not violate the requirement, or a result is not the same from
/// the start.
pub fn explain<S: System>(question: Question<'_, S>, limits: &Limits) -> Result<Explanation, ExplainError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(limits.threads).build();
    let pool = pool.map_err(|e| ExplainError::Threads(e.to_string()))?;
    pool.install(|| explain_inside(question, limits))
}

/// Says what mattered in a sequence that is already minimal; nothing smaller is looked for.
///
/// # Errors
/// As [`explain`].
pub fn explain_minimal<S: System>(question: Question<'_, S>, limits: &Limits) -> Result<Explanation, ExplainError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(limits.threads).build();
    let pool = pool.map_err(|e| ExplainError::Threads(e.to_string()))?;
    pool.install(|| {
        let mut tries = Tries::new(question)?;
        let found = tries.one(question.choices)?;
        if tries.accident(&found).is_none() {
            return Err(ExplainError::NotViolated(found.end));
        }
        tries.set_found(found.choices.len());
        let (cost, holds) = (tries.cost(&found), HoldSearch::Nothing);
        let matters = found.choices.iter().map(|choice| *choice != Choice::NONE).collect();
        tell(tries, Minimal { minimal: found.clone(), found, matters, cost, holds }, limits)
    })
}

fn explain_inside<S: System>(question: Question<'_, S>, limits: &Limits) -> Result<Explanation, ExplainError> {
    let mut tries = Tries::new(question)?;
    let minimal = minimise(&mut tries, limits)?;
    tell(tries, minimal, limits)
}

/// What mattered in a minimal sequence.
fn tell<S: System>(mut tries: Tries<'_, S>, minimal: Minimal, limits: &Limits) -> Result<Explanation, ExplainError> {
    let question = *tries.question();
    let Minimal { found, minimal, matters, cost, holds } = minimal;
    let verdict = certify(&question, &minimal)?;
    let superfluous = superfluous(&question, &minimal)?;
    let without_errors = tries.one(&[])?;
    let no_return = no_return::find(&mut tries, &minimal, limits)?;
    let blame = blame::measure(&mut tries, &minimal, &without_errors, limits)?;
    let nearest = nearest::find(&mut tries, &minimal, limits)?;
    let (segments_run, segments_asked) = (tries.segments_run(), tries.segments_asked());
    let explanation = Explanation {
        found,
        minimal,
        verdict,
        superfluous,
        matters,
        cost,
        holds,
        without_errors,
        no_return,
        blame,
        nearest,
        segments_run,
        segments_asked,
    };
    Ok(explanation)
}

/// Runs the sequence from the start, without saved states, and compares.
///
/// # Errors
/// When it ends otherwise.
pub(crate) fn certify<S: System>(question: &Question<'_, S>, tried: &Tried) -> Result<Verdict, ExplainError> {
    let run = replay(question.system, question.seed, question.params, &tried.choices, None)?;
    let verdict = question.accident(&run.end, &tried.choices);
    match verdict {
        Some(verdict) if run.end == tried.end && run.segments == tried.choices.len() => Ok(verdict),
        _ => Err(ExplainError::NotReproducible { with_saved_states: tried.end.clone(), from_start: run.end }),
    }
}

/// The errors without which the accident still happens, each left out alone and run from the start.
///
/// # Errors
/// When a segment cannot be computed.
pub fn superfluous<S: System>(question: &Question<'_, S>, tried: &Tried) -> Result<Vec<SingleError>, Fault> {
    let space = question.system.errors();
    let errors = single_errors(space, &tried.choices);
    let fewer: Vec<Vec<Choice>> = errors.iter().map(|error| without_errors(space, &tried.choices, &[*error])).collect();
    // Nothing is taken over from the search: its saved states are not asked.
    let runs = Tries::new(*question)?.many(&fewer)?;
    let happens = |run: &Tried| question.accident(&run.end, &run.choices).is_some();
    Ok(errors.into_iter().zip(runs).filter(|(_, run)| happens(run)).map(|(error, _)| error).collect())
}

/// The verdict about one requirement, if it was violated.
fn violation(end: &SegmentEnd, requirement: u16) -> Option<Verdict> {
    match end {
        SegmentEnd::Violated(verdicts) => verdicts.iter().find(|v| v.requirement == requirement).copied(),
        _ => None,
    }
}

/// Positions of the segments with an error.
fn erroneous(choices: &[Choice]) -> Vec<usize> {
    (0..choices.len()).filter(|&at| choices[at] != Choice::NONE).collect()
}

/// The sequence without the errors at some positions.
fn without(choices: &[Choice], positions: &[usize]) -> Vec<Choice> {
    let mut choices = choices.to_vec();
    positions.iter().for_each(|&at| choices[at] = Choice::NONE);
    choices
}
