//! Unmerged runs from the start whose errors are drawn more often where the graph expects failure.
//!
//! Runs are drawn from several distributions at once, in fixed shares, and weighted by the probability of their errors
//! over the probability of drawing them from the mixture (the balance heuristic of Veach and Guibas, 1995). So the sum
//! is unbiased whatever the graph says, and no weight exceeds one over the share of the plain distribution.

use anabranch_kernel::{Chance, Choice, Choices, Fault, Job, KeyWriter, Likelihood, SegmentEnd, System, maths};
use rayon::prelude::*;

use super::World;
use super::guide::{Guide, Whereabouts};
use crate::runner::cell_key;

/// Runs that are advanced together.
const SIDE_BY_SIDE: u64 = 64;
/// Runs after which the pattern of distributions repeats.
const PATTERN: u64 = 20;
/// No run is longer than this, even if its system never ends it.
const SEGMENTS_MAX: u32 = 100_000;

/// How much of the best outlook every choice has when the graph is doubted.
const DOUBT: f64 = 0.1;

/// A distribution of error sequences to draw from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Draw {
    /// As likely as they are: bounds all weights.
    Plain,
    /// Errors more often, whatever the graph says: for failures that it does not know.
    Bold,
    /// Towards failure, with doubts about the graph.
    Wary,
    /// Towards failure as the graph has it.
    Guided,
}

impl Draw {
    const ALL: [Self; 4] = [Self::Plain, Self::Bold, Self::Wary, Self::Guided];

    /// The distribution of the n-th run.
    fn of_run(n: u64) -> Self {
        match n % PATTERN {
            0 | 10 => Self::Plain,
            5 | 15 => Self::Bold,
            2 | 6 | 9 | 13 | 17 => Self::Wary,
            _ => Self::Guided,
        }
    }

    /// Share of the plain distribution that is mixed in at every segment.
    fn plain_share(self) -> f64 {
        match self {
            Self::Plain | Self::Bold => 0.0,
            Self::Wary => 0.2,
            Self::Guided => 0.05,
        }
    }

    /// Turns the plain probabilities and the values ahead into what is drawn from.
    fn tilt(self, plain: &[f64], ahead: &[f64], out: &mut Vec<f64>) {
        out.clear();
        let best = ahead.iter().copied().fold(0.0, f64::max);
        let tilted = |(&p, &value): (&f64, &f64)| match self {
            Self::Plain => p,
            Self::Wary if best > 0.0 => p.sqrt() * (value.sqrt() + DOUBT * best.sqrt()),
            Self::Bold | Self::Wary => p.sqrt(),
            Self::Guided if best > 0.0 => p * value,
            Self::Guided => p,
        };
        out.extend(plain.iter().zip(ahead).map(tilted));
        let (sum, share) = (out.iter().sum::<f64>(), self.plain_share());
        // What lies ahead of every possible choice may be nothing although something lies ahead of an impossible one.
        let scale = if sum > 0.0 { (1.0 - share) / sum } else { 0.0 };
        let share = if sum > 0.0 { share } else { 1.0 };
        for (q, p) in out.iter_mut().zip(plain) {
            *q = scale * *q + share * p;
        }
    }
}

/// A run that violated a *must*.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) start: usize,
    pub(super) choices: Vec<Choice>,
    /// Logarithm of its probability.
    pub(super) log_p: f64,
    /// Its probability over that of drawing it.
    pub(super) weight: f64,
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Became {
    /// It went well.
    Passed,
    /// A *must* was violated.
    Failed,
    /// It could not be computed.
    Fault,
}

/// One run's contribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drawn {
    /// Index of its distribution.
    pub(super) draw: usize,
    pub(super) became: Became,
    /// Its probability over that of drawing it.
    pub(super) weight: f64,
}

/// All runs, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    pub(super) drawn: Vec<Drawn>,
    pub(super) failures: Vec<Failure>,
    /// No weight is larger.
    pub(super) weight_max: f64,
}

struct Run {
    n: u64,
    draw: Draw,
    start: usize,
    choices: Vec<Choice>,
    previous: Choice,
    log_p: f64,
    /// Logarithm of the probability of drawing it from each distribution.
    log_q: [f64; 4],
    at: Whereabouts,
}

/// Draws runs from the start.
pub(super) fn draw<S: System>(world: &World<'_, S>, guide: Option<&Guide<'_>>, samples: u64) -> Result<Runs, Fault> {
    let states: Vec<S::State> =
        world.starts.iter().map(|params| world.system.start(world.seed, params)).collect::<Result<_, _>>()?;
    let shares = Draw::ALL.map(|draw| (0..samples).filter(|&n| Draw::of_run(n) == draw).count() as f64 / samples as f64);
    let firsts: Vec<u64> = (0..samples).step_by(SIDE_BY_SIDE as usize).collect();
    let batch = Batch { world, guide, states: &states, shares };
    let parts: Vec<Vec<(Run, Became)>> =
        firsts.into_par_iter().map(|first| batch.run(first..samples.min(first + SIDE_BY_SIDE))).collect();
    let knows_failures = guide.is_some_and(|guide| guide.starts.iter().any(|&value| value > 0.0));
    // Without a failure ahead the guided distribution is the plain one.
    let plain_share = if knows_failures { shares[0] } else { shares[0] + shares[3] };
    let mut runs = Runs { weight_max: 1.0 / plain_share, ..Runs::default() };
    for (run, became) in parts.into_iter().flatten() {
        let draw = Draw::ALL.iter().position(|&d| d == run.draw).expect("all are listed");
        let weight = weight(&run, &shares);
        runs.drawn.push(Drawn { draw, became, weight });
        if became == Became::Failed {
            runs.failures.push(Failure { start: run.start, choices: run.choices, log_p: run.log_p, weight });
        }
    }
    Ok(runs)
}

fn weight(run: &Run, shares: &[f64; 4]) -> f64 {
    let ratio = |(share, log_q): (&f64, &f64)| share * maths::exp(log_q - run.log_p);
    1.0 / shares.iter().zip(&run.log_q).map(ratio).sum::<f64>()
}

/// Runs that are advanced together.
struct Batch<'a, S: System> {
    world: &'a World<'a, S>,
    guide: Option<&'a Guide<'a>>,
    states: &'a [S::State],
    shares: [f64; 4],
}

/// Memory that is used again from segment to segment.
#[derive(Default)]
struct Scratch {
    live: Choices,
    plain: Vec<f64>,
    ahead: Vec<f64>,
    tilted: [Vec<f64>; 4],
}

impl<S: System> Batch<'_, S> {
    fn run(&self, numbers: std::ops::Range<u64>) -> Vec<(Run, Became)> {
        let World { system, grid, level_in_key, .. } = *self.world;
        let chance = Chance::new(self.world.seed, "likelihood");
        let mut scratch = Scratch::default();
        let mut active: Vec<Run> = numbers.map(|n| self.begin(n, &chance, &mut scratch)).collect();
        let mut jobs: Vec<Job<S::State>> =
            active.iter().map(|run| Job::new(self.states[run.start].clone(), Choice::NONE)).collect();
        let mut writer = grid.map(KeyWriter::new);
        let (mut finished, mut level) = (Vec::new(), 0);
        while !jobs.is_empty() && level < self.world.segments_max.min(SEGMENTS_MAX) {
            for (job, run) in jobs.iter_mut().zip(&mut active) {
                job.choice = self.choose(run, &job.state, &chance, &mut scratch);
            }
            system.run_many(&mut jobs);
            level += 1;
            let mut still = (Vec::new(), Vec::new());
            for (job, mut run) in jobs.into_iter().zip(active) {
                let became = match job.end {
                    Ok(SegmentEnd::Open) => {
                        if let (Whereabouts::LookUp(near), Some(guide)) = (&run.at, self.guide) {
                            let key = writer.as_mut().and_then(|writer| {
                                cell_key(system, &job.state, level_in_key.then_some(level), writer)
                            });
                            run.at = guide.look_up(key, level, near.clone());
                        }
                        still.0.push(Job::new(job.state, Choice::NONE));
                        still.1.push(run);
                        continue;
                    }
                    Ok(SegmentEnd::Violated(_)) => Became::Failed,
                    Ok(SegmentEnd::Goal | SegmentEnd::TimedOut) => Became::Passed,
                    Err(_) => Became::Fault,
                };
                finished.push((run, became));
            }
            (jobs, active) = still;
        }
        finished.extend(active.into_iter().map(|run| (run, Became::Passed)));
        finished.sort_by_key(|(run, _)| run.n);
        finished
    }

    /// A run at its start, which is drawn like an error.
    fn begin(&self, n: u64, chance: &Chance, scratch: &mut Scratch) -> Run {
        let starts = self.states.len();
        let draw = Draw::of_run(n);
        let at = Whereabouts::Lost;
        let (choices, previous) = (Vec::new(), Likelihood::BEFORE);
        let mut run = Run { n, draw, start: 0, choices, previous, log_p: 0.0, log_q: [0.0; 4], at };
        scratch.plain.clear();
        scratch.plain.resize(starts, 1.0 / starts as f64);
        scratch.ahead.clear();
        match self.guide {
            Some(guide) => scratch.ahead.extend(guide.starts),
            None => scratch.ahead.resize(starts, 0.0),
        }
        run.start = self.pick(&mut run, chance.at(n).uniform(0), scratch);
        run.at = self.guide.map_or(Whereabouts::Lost, |guide| guide.start(run.start));
        run
    }

    /// The error of the next segment.
    fn choose(&self, run: &mut Run, state: &S::State, chance: &Chance, scratch: &mut Scratch) -> Choice {
        self.world.system.live(state, &mut scratch.live);
        self.world.likelihood.probabilities(run.previous, &scratch.live, &mut scratch.plain);
        match self.guide {
            Some(guide) => guide.values(&run.at, &scratch.live, &mut scratch.ahead),
            None => {
                scratch.ahead.clear();
                scratch.ahead.resize(scratch.live.len(), 0.0);
            }
        }
        let n = 1 + run.choices.len() as u64;
        let at = self.pick(run, chance.at(run.n).uniform(n), scratch);
        let choice = scratch.live[at];
        run.choices.push(choice);
        run.previous = choice;
        if let Some(guide) = self.guide {
            run.at = guide.go(&run.at, choice);
        }
        choice
    }

    /// Draws one of several and notes how likely it was to be drawn in each way.
    fn pick(&self, run: &mut Run, uniform: f64, scratch: &mut Scratch) -> usize {
        let Scratch { plain, ahead, tilted, .. } = scratch;
        for (draw, out) in Draw::ALL.iter().zip(tilted.iter_mut()) {
            draw.tilt(plain, ahead, out);
        }
        let own = Draw::ALL.iter().position(|&d| d == run.draw).expect("all are listed");
        let at = drawn_at(&tilted[own], uniform);
        run.log_p += maths::ln(plain[at]);
        for (log_q, (tilted, share)) in run.log_q.iter_mut().zip(tilted.iter().zip(&self.shares)) {
            // A distribution that nothing is drawn from has no say.
            *log_q += if *share > 0.0 { maths::ln(tilted[at]) } else { 0.0 };
        }
        at
    }
}

/// The index that a uniform number in [0, 1) stands for.
fn drawn_at(probabilities: &[f64], uniform: f64) -> usize {
    let total: f64 = probabilities.iter().sum();
    let mut left = uniform * total;
    for (at, p) in probabilities.iter().enumerate() {
        if left < *p {
            return at;
        }
        left -= p;
    }
    // Rounding can leave a little: the last that is possible.
    probabilities.iter().rposition(|&p| p > 0.0).expect("something is possible")
}
