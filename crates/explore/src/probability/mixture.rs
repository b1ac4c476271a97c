//! The distributions that error sequences are drawn from, and how they are mixed.

use std::ops::Range;

/// How many distributions there are.
pub(super) const DRAWS: usize = 7;
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
    /// Along failures that were drawn before, word for word.
    Again,
    /// Towards failure as the graph has it, or as was learned if that is more.
    Guided,
    /// Everything possible alike: to look around.
    Blind,
}

use Draw::{Again, Blind, Bold, Guided, Plain, Taught, Wary};

/// Which distribution the first runs have, over and over: they only look around.
pub(super) const FIRST: &[Draw] = &[Blind, Guided, Bold, Wary];
/// Which distribution the runs after them have: they look where the first ones found something, and beside it.
pub(super) const SECOND: &[Draw] = &[Taught, Bold, Blind, Wary];
/// Which distribution the others have, over and over.
const COUNTED: [Draw; 20] = [
    Plain, Guided, Wary, Guided, Taught, Bold, Guided, Again, Guided, Wary, Plain, Guided, Taught, Guided, Again, Bold,
    Guided, Wary, Guided, Taught,
];

/// The same where failures surprised the graph: half of the runs look for more of that kind.
const DOUBTED: [Draw; 20] = [
    Plain, Bold, Guided, Bold, Taught, Bold, Wary, Bold, Again, Bold, Plain, Bold, Guided, Bold, Taught, Bold, Wary,
    Bold, Again, Bold,
];

/// Whether the graph knew of the failures that the first runs drew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// It did, as far as it matters.
    Trusted,
    /// Others that it does not know could matter.
    Doubted,
}

/// What lies ahead of each choice.
#[derive(Debug, Default)]
pub(super) struct Outlook {
    /// Probability of failure as the graph has it.
    pub(super) expected: Vec<f64>,
    /// Probability of failure as drawn failures have it.
    pub(super) learned: Vec<f64>,
    /// Probability of the failures that were drawn with these very errors.
    pub(super) recalled: Vec<f64>,
}

impl Outlook {
    /// Nothing is known about so many choices.
    pub(super) fn reset(&mut self, choices: usize) {
        for values in [&mut self.expected, &mut self.learned, &mut self.recalled] {
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
    pub(super) const ALL: [Self; DRAWS] = [Plain, Bold, Wary, Taught, Again, Guided, Blind];

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
            Again if best(&outlook.recalled) > 0.0 => outlook.recalled[at],
            Taught | Again if best(learned) > 0.0 => p * learned[at],
            Wary if most > 0.0 => p.sqrt() * (ahead(at).sqrt() + DOUBT * most.sqrt()),
            Guided | Taught | Again if most > 0.0 => p * ahead(at),
            Guided | Taught | Again => p,
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

    /// Whether it finds what nobody knows, so that everybody asks how likely it was to draw a failure.
    pub(super) fn looks_around(self) -> bool {
        matches!(self, Bold | Blind)
    }

    /// Share of the plain distribution that is mixed in at every segment.
    fn others(self) -> f64 {
        match self {
            Plain | Bold | Blind => 0.0,
            Guided | Again => 0.05,
            Wary | Taught => 0.2,
        }
    }
}

/// How many runs looked for failures that nobody knew of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Looks {
    pub(super) bold: u64,
    pub(super) blind: u64,
}

/// Distributions with their shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixture {
    pattern: &'static [Draw],
    /// Exactly how many of the runs are drawn from each distribution, as a share.
    pub(super) shares: [f64; DRAWS],
}

impl Mixture {
    /// A pattern for some runs.
    pub(super) fn of(pattern: &'static [Draw], runs: Range<u64>) -> Self {
        let mut shares = [0.0; DRAWS];
        let each = 1.0 / runs.end.saturating_sub(runs.start).max(1) as f64;
        for n in runs {
            shares[pattern[(n % pattern.len() as u64) as usize].index()] += each;
        }
        Self { pattern, shares }
    }
    /// For the runs that count.
    pub(super) fn counted(runs: Range<u64>, trust: Trust) -> Self {
        match trust {
            Trust::Trusted => Self::of(&COUNTED, runs),
            Trust::Doubted => Self::of(&DOUBTED, runs),
        }
    }
    /// Adds how many of some runs look for what nobody knows.
    pub(super) fn add_to(&self, runs: Range<u64>, looks: &mut Looks) {
        for n in runs {
            match self.draw(n) {
                Bold => looks.bold += 1,
                Blind => looks.blind += 1,
                Plain | Wary | Taught | Again | Guided => {}
            }
        }
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
        self.plain_share() + [Guided, Taught, Again].map(|draw| self.shares[draw.index()]).iter().sum::<f64>()
    }
}
