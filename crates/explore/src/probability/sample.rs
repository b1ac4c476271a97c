//! Unmerged runs from the start whose errors are drawn more often where the graph expects failure.
//!
//! Runs are drawn from several distributions at once, in fixed shares, and weighted by the probability of their errors
//! over the probability of drawing them from the mixture (the balance heuristic of Veach and Guibas, 1995). So the sum
//! is unbiased whatever the graph says, and no weight exceeds one over the share of the plain distribution.
//!
//! The first runs only look where failures are, the second half of them with what the first half taught. What they found
//! is used for the others, which are weighted and counted; where failures surprised the graph, more of these look for
//! others of that kind.

use std::ops::Range;

use anabranch_kernel::{
    CellKey, Chance, Choice, Choices, Fault, Job, KeyWriter, Likelihood, SegmentEnd, System, maths,
};
use rayon::prelude::*;

use super::World;
use super::guide::{Guide, Whereabouts};
use super::interval::{self, Known};
use super::learned::Learned;
use super::mixture::{DRAWS, Draw, FIRST, Looks, Mixture, Outlook, SECOND, Trust};
use super::recalled::Recalled;
use crate::runner::cell_key;

/// Runs that are advanced together.
const SIDE_BY_SIDE: u64 = 64;
/// One run in so many is among the first, which only look around.
const FIRST_SHARE: u64 = 5;
/// More than this share of what is known may not lie beside it, or else more runs look for it.
const BESIDE_MAX: f64 = 0.1;
/// No run is longer than this, even if its system never ends it.
const SEGMENTS_MAX: u32 = 100_000;

/// A run that violated a *must*.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) start: usize,
    pub(super) choices: Vec<Choice>,
    /// Logarithm of its probability.
    pub(super) log_p: f64,
    /// Its probability over that of drawing it.
    pub(super) weight: f64,
    /// If the graph expected nothing at some point of it: the probabilities of drawing it boldly and blindly, over its own.
    pub(super) surprise: Option<[f64; 2]>,
    /// The cell before each segment, where there are cells.
    pub(super) keys: Vec<CellKey>,
    /// Logarithm of the probability up to each segment, that segment included.
    pub(super) log_steps: Vec<f64>,
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
    /// Runs that only looked around.
    pub(super) first: u64,
    /// Their failures.
    pub(super) first_failures: Vec<Failure>,
    pub(super) drawn: Vec<Drawn>,
    pub(super) failures: Vec<Failure>,
    /// Runs that looked for what nobody knew, the first ones included.
    pub(super) looks: Looks,
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
    log_q: [f64; DRAWS],
    at: Whereabouts,
    /// Where it is among the known failures.
    recalled_at: Option<u32>,
    /// Whether the graph expected nothing of some choice.
    is_surprise: bool,
    keys: Vec<CellKey>,
    log_steps: Vec<f64>,
}

/// Draws runs from the start. Where what they say is wide, they become runs that only looked around, and as many are drawn
/// once more with all that is known by then.
pub(super) fn draw<S: System>(world: &World<'_, S>, guide: Option<&Guide<'_>>, samples: u64) -> Result<Runs, Fault> {
    let states: Vec<S::State> =
        world.starts.iter().map(|params| world.system.start(world.seed, params)).collect::<Result<_, _>>()?;
    // Without cells there is nothing to learn: the graph knows every sequence.
    let first = if world.grid.is_some() { samples / FIRST_SHARE } else { 0 };
    let mut party = Party { world, guide, states, looks: Looks::default(), failures: Vec::new() };
    for (numbers, mixture) in [(0..first / 2, FIRST), (first / 2..first, SECOND)] {
        party.look(numbers.clone(), Mixture::of(mixture, numbers));
    }
    let runs = party.count(first..samples);
    let learns = world.grid.is_some() && !(party.failures.is_empty() && runs.failures.is_empty());
    if !learns || interval::of_runs(&runs).is_narrow() {
        return Ok(runs);
    }
    party.failures.extend(runs.failures);
    Ok(party.count(samples..2 * samples - first))
}

/// Everything that is known while runs are drawn.
struct Party<'a, S: System> {
    world: &'a World<'a, S>,
    guide: Option<&'a Guide<'a>>,
    states: Vec<S::State>,
    looks: Looks,
    /// Failures that were drawn so far.
    failures: Vec<Failure>,
}

impl<S: System> Party<'_, S> {
    fn run(&mut self, numbers: Range<u64>, mixture: Mixture) -> Runs {
        let learned = Learned::from(&self.failures);
        let recalled = Recalled::from(&self.failures, self.states.len());
        let Self { world, guide, ref states, .. } = *self;
        let batch = Batch { world, guide, states, mixture, learned: &learned, recalled: &recalled };
        mixture.add_to(numbers.clone(), &mut self.looks);
        batch.runs(numbers)
    }

    /// Runs that only look around.
    fn look(&mut self, numbers: Range<u64>, mixture: Mixture) {
        let found = self.run(numbers, mixture).failures;
        self.failures.extend(found);
    }

    /// Runs that count, after all those with smaller numbers.
    fn count(&mut self, numbers: Range<u64>) -> Runs {
        let first = numbers.start;
        let mixture = counted(numbers.clone(), self.looks, &self.failures);
        let mut runs = self.run(numbers, mixture);
        let expects_failure = self.guide.is_some_and(|guide| guide.starts.iter().any(|&value| value > 0.0));
        let has_aim = expects_failure || !self.failures.is_empty();
        let plain_share = if has_aim { mixture.plain_share() } else { mixture.aimless_share() };
        (runs.first, runs.weight_max) = (first, 1.0 / plain_share);
        (runs.looks, runs.first_failures) = (self.looks, self.failures.clone());
        runs
    }
}

/// How the runs that count are drawn: more boldly where the first runs say that the graph may have missed much.
fn counted(numbers: Range<u64>, mut looks: Looks, first_failures: &[Failure]) -> Mixture {
    let usual = Mixture::counted(numbers.clone(), Trust::Trusted);
    usual.add_to(numbers.clone(), &mut looks);
    let known = Known::of(first_failures, looks);
    if known.beside <= BESIDE_MAX * known.certain { usual } else { Mixture::counted(numbers, Trust::Doubted) }
}

fn weight(run: &Run, mixture: &Mixture) -> f64 {
    let ratio = |(share, log_q): (&f64, &f64)| share * maths::exp(log_q - run.log_p);
    1.0 / mixture.shares.iter().zip(&run.log_q).map(ratio).sum::<f64>()
}

/// Runs that are advanced together.
struct Batch<'a, S: System> {
    world: &'a World<'a, S>,
    guide: Option<&'a Guide<'a>>,
    states: &'a [S::State],
    mixture: Mixture,
    learned: &'a Learned,
    recalled: &'a Recalled,
}

/// Memory that is used again from segment to segment.
#[derive(Default)]
struct Scratch {
    live: Choices,
    plain: Vec<f64>,
    outlook: Outlook,
    tilted: [Vec<f64>; DRAWS],
}

impl<S: System> Batch<'_, S> {
    /// Draws the runs with these numbers, in order.
    fn runs(&self, numbers: Range<u64>) -> Runs {
        let firsts: Vec<u64> = numbers.clone().step_by(SIDE_BY_SIDE as usize).collect();
        let part = |first: u64| self.run(first..numbers.end.min(first + SIDE_BY_SIDE));
        let parts: Vec<Vec<(Run, Became)>> = firsts.into_par_iter().map(part).collect();
        let mut runs = Runs::default();
        for (run, became) in parts.into_iter().flatten() {
            let weight = weight(&run, &self.mixture);
            runs.drawn.push(Drawn { draw: run.draw.index(), became, weight });
            if became == Became::Failed {
                let odds = |draw: Draw| maths::exp(run.log_q[draw.index()] - run.log_p);
                let surprise = run.is_surprise.then(|| [odds(Draw::Bold), odds(Draw::Blind)]);
                let Run { start, choices, log_p, keys, log_steps, .. } = run;
                runs.failures.push(Failure { start, choices, log_p, weight, surprise, keys, log_steps });
            }
        }
        runs
    }

    fn run(&self, numbers: Range<u64>) -> Vec<(Run, Became)> {
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
                let level = level_in_key.then_some(level);
                run.keys.extend(writer.as_mut().and_then(|writer| cell_key(system, &job.state, level, writer)));
                self.locate(run);
                job.choice = self.choose(run, &job.state, &chance, &mut scratch);
            }
            system.run_many(&mut jobs);
            level += 1;
            let mut still = (Vec::new(), Vec::new());
            for (job, run) in jobs.into_iter().zip(active) {
                let became = match job.end {
                    Ok(SegmentEnd::Open) => {
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
        let draw = self.mixture.draw(n);
        let at = Whereabouts::Lost;
        let (choices, previous) = (Vec::new(), Likelihood::BEFORE);
        let (keys, log_steps) = (Vec::new(), Vec::new());
        let (start, log_p, log_q, is_surprise) = (0, 0.0, [0.0; DRAWS], false);
        let mut run = Run {
            n,
            draw,
            start,
            choices,
            previous,
            log_p,
            log_q,
            at,
            recalled_at: None,
            is_surprise,
            keys,
            log_steps,
        };
        scratch.plain.clear();
        scratch.plain.resize(starts, 1.0 / starts as f64);
        scratch.outlook.reset(starts);
        if let Some(guide) = self.guide {
            scratch.outlook.expected.copy_from_slice(guide.starts);
        }
        for (value, known) in scratch.outlook.recalled.iter_mut().zip(&self.recalled.starts) {
            *value = *known;
        }
        run.start = self.pick(&mut run, chance.at(n).uniform(0), scratch);
        run.at = self.guide.map_or(Whereabouts::Lost, |guide| guide.start(run.start));
        run.recalled_at = Some(run.start as u32);
        run
    }

    /// Finds a run in the graph by its cell, where the graph does not know better.
    fn locate(&self, run: &mut Run) {
        if let (Whereabouts::LookUp(near), Some(guide)) = (&run.at, self.guide) {
            run.at = guide.look_up(run.keys.last().copied(), run.choices.len() as u32, near.clone());
        }
    }

    /// The error of the next segment.
    fn choose(&self, run: &mut Run, state: &S::State, chance: &Chance, scratch: &mut Scratch) -> Choice {
        self.world.system.live(state, &mut scratch.live);
        self.world.likelihood.probabilities(run.previous, &scratch.live, &mut scratch.plain);
        let Scratch { live, outlook, .. } = scratch;
        outlook.reset(live.len());
        if let Some(guide) = self.guide {
            guide.values(&run.at, live, &mut outlook.expected);
        }
        let level = run.choices.len();
        if let Some(&key) = run.keys.get(level) {
            self.learned.look_up(level as u32, key, live, &mut outlook.learned);
        }
        self.recalled.look_up(run.recalled_at, live, &mut outlook.recalled);
        let n = 1 + level as u64;
        let at = self.pick(run, chance.at(run.n).uniform(n), scratch);
        let choice = scratch.live[at];
        run.is_surprise |= scratch.outlook.expected[at] == 0.0;
        run.choices.push(choice);
        run.log_steps.push(run.log_p);
        run.previous = choice;
        run.recalled_at = self.recalled.go(run.recalled_at, choice);
        if let Some(guide) = self.guide {
            run.at = guide.go(&run.at, choice);
        }
        choice
    }

    /// Draws one of several and notes how likely it was to be drawn in each way.
    fn pick(&self, run: &mut Run, uniform: f64, scratch: &mut Scratch) -> usize {
        let Scratch { plain, outlook, tilted, .. } = scratch;
        for ((draw, out), share) in Draw::ALL.iter().zip(tilted.iter_mut()).zip(&self.mixture.shares) {
            if *share > 0.0 || draw.looks_around() {
                draw.tilt(plain, outlook, out);
            }
        }
        let at = drawn_at(&tilted[run.draw.index()], uniform);
        run.log_p += maths::ln(plain[at]);
        for ((draw, log_q), (tilted, share)) in
            Draw::ALL.iter().zip(&mut run.log_q).zip(tilted.iter().zip(&self.mixture.shares))
        {
            // A distribution that nothing is drawn from has no say.
            *log_q += if *share > 0.0 || draw.looks_around() { maths::ln(tilted[at]) } else { 0.0 };
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
