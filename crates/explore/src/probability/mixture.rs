//! The distributions that error sequences are drawn from, and how they are mixed.

use std::ops::Range;

/// How many distributions there are.
pub(super) const DRAWS: usize = 6;
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
    /// Towards failures that were drawn before, whatever the graph says.
    Taught,
    /// Towards failure as the graph has it, or as was learned if that is more.
    Guided,
    /// Everything possible alike: to look around.
    Blind,
}

use Draw::{Blind, Bold, Guided, Plain, Taught, Wary};

/// Which distribution the first runs have, over and over: they only look around.
const FIRST: [Draw; 4] = [Blind, Guided, Bold, Wary];
/// Which distribution the others have, over and over.
const COUNTED: [Draw; 20] = [
    Plain, Guided, Wary, Guided, Taught, Bold, Guided, Taught, Guided, Wary, Plain, Guided, Taught, Guided, Taught,
    Bold, Guided, Wary, Guided, Taught,
];

/// What lies ahead of each choice.
#[derive(Debug, Default)]
pub(super) struct Outlook {
    /// Probability of failure as the graph has it.
    pub(super) expected: Vec<f64>,
    /// Probability of failure as drawn failures have it.
    pub(super) learned: Vec<f64>,
}

impl Outlook {
    /// Nothing is known about so many choices.
    pub(super) fn reset(&mut self, choices: usize) {
        for values in [&mut self.expected, &mut self.learned] {
            values.clear();
            values.resize(choices, 0.0);
        }
    }
}

fn best(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

impl Draw {
    /// All of them, in the order of shares.
    pub(super) const ALL: [Self; DRAWS] = [Plain, Bold, Wary, Taught, Guided, Blind];

    /// Its place among all of them.
    pub(super) fn index(self) -> usize {
        Self::ALL.iter().position(|&draw| draw == self).expect("all are listed")
    }

    /// Turns the plain probabilities and the outlook into what is drawn from.
    pub(super) fn tilt(self, plain: &[f64], outlook: &Outlook, out: &mut Vec<f64>) {
        let (expected, learned) = (&outlook.expected, &outlook.learned);
        let ahead = |at: usize| expected[at].max(learned[at]);
        let most = best(expected).max(best(learned));
        let own = |(at, &p): (usize, &f64)| match self {
            Plain => p,
            Blind => f64::from(p > 0.0),
            Taught if best(learned) > 0.0 => p * learned[at],
            Wary if most > 0.0 => p.sqrt() * (ahead(at).sqrt() + DOUBT * most.sqrt()),
            Guided | Taught if most > 0.0 => p * ahead(at),
            Guided | Taught => p,
            Bold | Wary => p.sqrt(),
        };
        out.clear();
        out.extend(plain.iter().enumerate().map(own));
        let sum: f64 = out.iter().sum();
        // What lies ahead of every possible choice may be nothing although something lies ahead of an impossible one.
        let others = if sum > 0.0 { self.others() } else { 1.0 };
        let scale = if sum > 0.0 { (1.0 - others) / sum } else { 0.0 };
        for (q, p) in out.iter_mut().zip(plain) {
            *q = scale * *q + others * p;
        }
    }

    /// Share of the plain distribution that is mixed in at every segment.
    fn others(self) -> f64 {
        match self {
            Plain | Bold | Blind => 0.0,
            Guided => 0.05,
            Wary | Taught => 0.2,
        }
    }
}

/// Distributions with their shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixture {
    pattern: &'static [Draw],
    /// Exactly how many of the runs are drawn from each distribution, as a share.
    pub(super) shares: [f64; DRAWS],
}

impl Mixture {
    fn of(pattern: &'static [Draw], runs: Range<u64>) -> Self {
        let mut shares = [0.0; DRAWS];
        let each = 1.0 / runs.end.saturating_sub(runs.start).max(1) as f64;
        for n in runs {
            shares[pattern[(n % pattern.len() as u64) as usize].index()] += each;
        }
        Self { pattern, shares }
    }
    /// For the runs that look around.
    pub(super) fn first(runs: Range<u64>) -> Self {
        Self::of(&FIRST, runs)
    }
    /// For the runs that count.
    pub(super) fn counted(runs: Range<u64>) -> Self {
        Self::of(&COUNTED, runs)
    }
    /// The distribution of a run.
    pub(super) fn draw(&self, n: u64) -> Draw {
        self.pattern[(n % self.pattern.len() as u64) as usize]
    }
    /// The share of runs that are surely drawn as likely as they are.
    pub(super) fn plain_share(&self) -> f64 {
        self.shares[Plain.index()]
    }
    /// The same where no failure is expected at all: what tends towards failure has no direction, and is plain as well.
    pub(super) fn aimless_share(&self) -> f64 {
        self.plain_share() + self.shares[Guided.index()] + self.shares[Taught.index()]
    }
}
