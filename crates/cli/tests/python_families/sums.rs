//! What many judged worlds add up to.

use anabranch_explore::clopper_pearson;
use serde_json::Value;

/// From this depth on a violation must be found. Limits are placed at 1.5 resolutions, which rounding makes a little less.
const MUST_BE_FOUND: f64 = 1.5 - 1e-9;

/// What was said about a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Violated,
    Safe,
    /// No violation deeper than the resolution.
    NotFound,
    NotCovered,
    Incomplete,
}

impl Said {
    /// Nothing for words that a world which keeps its promises never gets.
    pub fn of(conclusion: &Value) -> Option<Self> {
        match conclusion["kind"].as_str()? {
            "violated" if conclusion["because"]["faults"] == 0 => Some(Self::Violated),
            "safe" => Some(Self::Safe),
            "not found" => Some(Self::NotFound),
            "not covered" => Some(Self::NotCovered),
            "incomplete" => Some(Self::Incomplete),
            _ => None,
        }
    }
}

/// One judged world.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// How far the true worst is beyond the limit, in resolutions; below zero where nothing fails.
    pub depth: f64,
    pub said: Said,
    /// Segments as a share of those of all sequences.
    pub cost: f64,
    /// The resolution as a share of the true worst.
    pub resolution: f64,
    /// Whether a hundredth of the worst was asked for: costs are compared there.
    pub is_hundredth: bool,
}

impl Case {
    /// A violation at least one and a half resolutions deep that was not found.
    fn is_missed(&self) -> bool {
        self.depth >= MUST_BE_FOUND && self.said != Said::Violated
    }
    /// A verdict that states a resolution which the truth exceeds.
    fn is_deeper(&self) -> bool {
        self.said == Said::NotFound && self.depth > 1.0
    }
    fn is_open(&self) -> bool {
        matches!(self.said, Said::NotCovered | Said::Incomplete)
    }
    fn is_wrong_safe(&self) -> bool {
        self.depth > 0.0 && self.said == Said::Safe
    }
    fn is_alarm(&self) -> bool {
        self.depth <= 0.0 && self.said == Said::Violated
    }
    /// Whether somebody should look at it.
    pub fn is_notable(&self) -> bool {
        self.is_missed() || self.is_deeper() || self.is_open() || self.is_wrong_safe() || self.is_alarm()
    }
}

/// What the cases of a family, or of all, add up to.
pub struct Sum {
    pub cases: usize,
    /// Violations at least one and a half resolutions deep, and those of them that were not found.
    pub failing: u64,
    pub missed: u64,
    /// Verdicts that state a resolution, and those of them that the truth exceeds.
    pub stated: u64,
    pub deeper: u64,
    /// *Not covered* or *incomplete*.
    pub open: u64,
    pub safe: u64,
    pub wrong_safe: u64,
    pub alarms: u64,
    /// Of the cases at one hundredth of the worst.
    pub median_cost: f64,
    pub coarsest: f64,
}

impl Sum {
    pub fn of(cases: &[Case]) -> Self {
        let count = |is: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count() as u64;
        let mut costs: Vec<f64> = cases.iter().filter(|case| case.is_hundredth).map(|case| case.cost).collect();
        costs.sort_by(f64::total_cmp);
        Self {
            cases: cases.len(),
            failing: count(&|case| case.depth >= MUST_BE_FOUND),
            missed: count(&Case::is_missed),
            stated: count(&|case| case.said == Said::NotFound),
            deeper: count(&Case::is_deeper),
            open: count(&Case::is_open),
            safe: count(&|case| case.said == Said::Safe),
            wrong_safe: count(&Case::is_wrong_safe),
            alarms: count(&Case::is_alarm),
            median_cost: costs.get(costs.len() / 2).copied().unwrap_or(0.0),
            coarsest: cases.iter().map(|case| case.resolution).fold(0.0, f64::max),
        }
    }

    /// One row of the table in `docs/trust.md`.
    pub fn row(&self, name: &str) -> String {
        let Self { cases, failing, missed, stated, deeper, open, safe, wrong_safe, alarms, median_cost, coarsest } =
            self;
        let cost = 100.0 * median_cost;
        format!(
            "| {name} | {cases} | {missed} of {failing} | {deeper} of {stated} | {open} | {safe} | {wrong_safe} | {alarms} | {cost:.0} % | {coarsest:.4} |"
        )
    }
}

/// Whether a share is at most this large by the upper end of its one-sided 95 % interval. A dose that is too small to show that
/// has no hit at all.
pub fn is_rare(hits: u64, of: u64, share: f64) -> bool {
    hits == 0 || clopper_pearson(hits, of, 0.1).1 <= share
}

#[test]
fn one_miss_is_rare_only_among_many() {
    for (hits, of, expect) in
        [(0, 1, true), (0, 0, true), (1, 100, false), (1, 473, true), (1, 472, false), (9, 900, false)]
    {
        assert_eq!(is_rare(hits, of, 0.01), expect, "{hits} of {of}");
    }
}
