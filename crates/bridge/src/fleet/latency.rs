//! How long the code from outside takes, and how long it may.

use std::time::Duration;

use crate::misbehaviour::{Kind, Misbehaviour};

/// How much time the code from outside took.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Times {
    /// Messages.
    pub exchanges: u64,
    /// Steps or segments asked for.
    pub steps: u64,
    /// Seconds in the code from outside, as well as can be told.
    pub inside_s: f64,
    /// Seconds until the answers were there.
    pub waited_s: f64,
    /// Longest wait for one message.
    pub longest_s: f64,
    /// Steps over their budget.
    pub late_steps: u64,
    /// Longest wait for one step, in the mean over its message.
    pub longest_step_s: f64,
    /// Instances that were started again.
    pub restarts: u64,
}

impl Times {
    pub(super) fn add(&mut self, steps: u64, waited_s: f64, inside_s: f64) {
        self.exchanges += 1;
        self.steps += steps;
        self.inside_s += inside_s;
        self.waited_s += waited_s;
        self.longest_s = self.longest_s.max(waited_s);
        if steps > 0 {
            self.longest_step_s = self.longest_step_s.max(waited_s / steps as f64);
        }
    }
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            exchanges: self.exchanges + other.exchanges,
            steps: self.steps + other.steps,
            inside_s: self.inside_s + other.inside_s,
            waited_s: self.waited_s + other.waited_s,
            longest_s: self.longest_s.max(other.longest_s),
            late_steps: self.late_steps + other.late_steps,
            longest_step_s: self.longest_step_s.max(other.longest_step_s),
            restarts: self.restarts + other.restarts,
        }
    }
}

/// How long one step may take (S3-5), and what comes of a longer one.
///
/// By default a late step is counted and told, and changes no verdict: how loaded this machine is must not decide
/// what is found. Whoever measures on the target hardware turns it into a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// Longer steps are counted in [`Times::late_steps`].
    Counted(Duration),
    /// Longer steps are [`Kind::Late`]. Ask one step per message then, or nobody can tell which one it was.
    Failure(Duration),
}

impl Default for Latency {
    fn default() -> Self {
        Self::Counted(Duration::from_millis(100))
    }
}

impl Latency {
    pub(super) fn is_failure(self) -> bool {
        matches!(self, Self::Failure(_))
    }
    /// The misbehaviour, should these steps have been late.
    pub(super) fn look(self, steps: u64, waited_s: f64) -> Option<Misbehaviour> {
        let (Self::Counted(budget) | Self::Failure(budget)) = self;
        let budget_s = budget.as_secs_f64();
        let late = steps > 0 && waited_s > budget_s * steps as f64;
        late.then(|| {
            let step_s = waited_s / steps as f64;
            Misbehaviour::new(Kind::Late, format!("a step took {step_s:.3} s; its budget is {budget_s} s"))
        })
    }
}
