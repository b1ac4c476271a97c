//! How long the work after an exploration may go on: confirming, causes, traces, pictures.

use std::time::Duration;

use anabranch_explore::{Clock as _, Stop};

use crate::interrupt;
use crate::usage::WallClock;

/// By how much a budget of time may be exceeded: by a tenth of it, and by this at least.
const ALLOWANCE_MIN_S: f64 = 2.0;
/// Part of the budget for trying what a world claims.
const CLAIMS: f64 = 0.2;
/// Parts of that allowance after which the work in question is left undone. The rest is for writing the result.
const CONFIRMING: f64 = 0.3;
const CAUSES: f64 = 0.4;
const PICTURES: f64 = 0.5;
const ANSWERS: f64 = 0.6;
/// So long after Ctrl-C findings are still confirmed, in seconds; nothing else is begun.
const CONFIRMING_AFTER_STOP_S: f64 = 0.5;

/// The time budget of an exploration, and what is left of it.
#[derive(Clone, Copy, Debug)]
pub struct TimeLeft {
    clock: WallClock,
    budget_s: Option<f64>,
    minds_ctrl_c: bool,
}

impl TimeLeft {
    /// A budget that counts from the beginning of the clock.
    pub fn new(clock: WallClock, budget_ns: Option<u64>) -> Self {
        Self { clock, budget_s: budget_ns.map(|ns| ns as f64 * 1e-9), minds_ctrl_c: true }
    }
    /// For work that nobody ends.
    pub fn endless() -> Self {
        Self { clock: WallClock::start(), budget_s: None, minds_ctrl_c: false }
    }

    /// The clock it is about.
    pub fn clock(&self) -> &WallClock {
        &self.clock
    }
    /// What exploring may still take, in nanoseconds.
    pub fn for_exploring_ns(&self) -> Option<u64> {
        let left = |budget_s: f64| (budget_s * 1e9) as u64;
        self.budget_s.map(|budget_s| left(budget_s).saturating_sub(self.clock.now_ns()))
    }
    /// Nobody waits for code from outside beyond this time from now.
    pub fn for_answers(&self) -> Option<Duration> {
        let until_s = self.until_s(ANSWERS)?;
        Some(Duration::from_secs_f64((until_s - self.clock.seconds()).max(0.0)))
    }

    /// Whether there is time to try what a world claims: for a fifth of the budget.
    pub fn tries_claims(&self) -> bool {
        !self.is_stopped() && self.budget_s.is_none_or(|budget_s| self.clock.seconds() < CLAIMS * budget_s)
    }
    /// Whether findings are still confirmed.
    pub fn confirms(&self) -> bool {
        let asked_s = interrupt::asked_for_s().filter(|_| self.minds_ctrl_c);
        asked_s.is_none_or(|asked_s| asked_s < CONFIRMING_AFTER_STOP_S) && self.is_within(CONFIRMING)
    }
    /// Seconds that are left for confirming; nothing where nobody counts them.
    pub fn confirming_s(&self) -> Option<f64> {
        let asked_s = interrupt::asked_for_s().filter(|_| self.minds_ctrl_c);
        let after_stop = asked_s.map(|asked_s| CONFIRMING_AFTER_STOP_S - asked_s);
        let of_budget = self.until_s(CONFIRMING).map(|until_s| until_s - self.clock.seconds());
        after_stop.into_iter().chain(of_budget).reduce(f64::min)
    }
    /// Whether causes are still looked for.
    pub fn looks_for_causes(&self) -> bool {
        !self.is_stopped() && self.is_within(CAUSES)
    }
    /// Whether traces are still written and pictures drawn.
    pub fn draws(&self) -> bool {
        !self.is_stopped() && self.is_within(PICTURES)
    }
    /// What ends the work now, if anything does.
    pub fn stop(&self) -> Option<Stop> {
        if self.is_stopped() {
            return Some(Stop::Interrupted);
        }
        (!self.is_within(0.0)).then_some(Stop::Time)
    }

    fn is_stopped(&self) -> bool {
        self.minds_ctrl_c && interrupt::is_asked()
    }
    fn is_within(&self, share: f64) -> bool {
        self.until_s(share).is_none_or(|until_s| self.clock.seconds() < until_s)
    }
    fn until_s(&self, share: f64) -> Option<f64> {
        self.budget_s.map(|budget_s| budget_s + share * (0.1 * budget_s).max(ALLOWANCE_MIN_S))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worth_most_has_the_most_time() {
        let left = |budget_s: u64| TimeLeft::new(WallClock::start(), Some(budget_s * 1_000_000_000));
        let check =
            |time: TimeLeft, expect| assert_eq!((time.confirms(), time.looks_for_causes(), time.draws()), expect);
        check(left(1_000), (true, true, true));
        // Nothing is left, but a part of the allowance.
        check(left(0), (true, true, true));
        assert_eq!(left(0).stop(), Some(Stop::Time));
        let order = [CONFIRMING, CAUSES, PICTURES, ANSWERS];
        assert!(order.is_sorted() && ANSWERS < 0.7, "writing the result takes the rest");
        assert_eq!(left(100).until_s(1.0), Some(110.0));
        assert_eq!(left(3).until_s(1.0), Some(5.0));
        check(TimeLeft::endless(), (true, true, true));
        assert_eq!((TimeLeft::endless().stop(), TimeLeft::endless().confirming_s()), (None, None));
    }
}
