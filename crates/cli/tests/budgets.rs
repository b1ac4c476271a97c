//! Budgets and Ctrl-C, whatever is slow and whatever an exploration is doing when they strike: an exploration ends within 2 s or
//! a tenth of its time, keeps to its memory within a tenth and to its states within a wave, and never reports a pass. Every test run
//! tries a few combinations; `cargo xtask soak budgets` tries all, one after the other. The table is in `docs/trust.md`.

#![cfg(unix)]

mod cases;
mod watched;

use crate::common::Project;
use cases::{CASES, Case, Limit, Quickly};
use watched::{Ran, watch};

/// How far a limit may be exceeded: time in seconds, or by a tenth of the budget if that is more.
const ALLOWANCE_S: f64 = 2.0;
/// In addition where the program is not optimised and other tests use the same cores.
const DEBUG_ALLOWANCE_S: f64 = 6.0;
/// Parts by which memory may be exceeded.
const MEMORY_ALLOWANCE: f64 = 0.1;
/// Segments of a wave: states can exceed their budget by the ends of one.
const WAVE: f64 = 1024.0;

/// Seconds by which an unoptimised program may be late.
fn lateness_s() -> f64 {
    let is_debug = cfg!(debug_assertions) && std::env::var_os(watched::PROGRAM).is_none();
    if is_debug { DEBUG_ALLOWANCE_S } else { 0.0 }
}

/// What was measured in one combination.
struct Row {
    case: &'static Case,
    /// What the program was doing when the limit struck.
    stage: String,
    measured: f64,
    /// By how much the limit was exceeded; not negative.
    excess: f64,
    allowed: f64,
    problems: Vec<String>,
}

impl Row {
    fn of(case: &'static Case, ran: &Ran) -> Self {
        let (measured, limit, allowed) = match case.limit {
            Limit::Time(limit_s) => (ran.ended_s, limit_s, ALLOWANCE_S.max(0.1 * limit_s) + lateness_s()),
            Limit::CtrlC => {
                let asked_s = ran.asked_s.unwrap_or(f64::NEG_INFINITY);
                (ran.ended_s - asked_s, 0.0, ALLOWANCE_S + lateness_s())
            }
            Limit::States(limit) => (ran.figure("states"), limit as f64, WAVE),
            Limit::MemoryMb(limit) => (ran.peak_mb, limit as f64, MEMORY_ALLOWANCE * limit as f64),
        };
        let stage = ran.stage_at(case.limit).to_owned();
        let excess = (measured - limit).max(0.0);
        let mut row = Self { case, stage, measured, excess, allowed, problems: Vec::new() };
        row.problems = row.problems(ran);
        row
    }

    fn problems(&self, ran: &Ran) -> Vec<String> {
        let mut problems = ran.problems(self.case);
        if self.excess > self.allowed {
            problems.push(format!("exceeded by {:.2}, allowed are {:.2}", self.excess, self.allowed));
        }
        problems
    }

    fn line(&self, ran: &Ran) -> String {
        let Case { subject, pace, limit, phase, .. } = self.case;
        let verdict = ran.verdict();
        let mut line = format!(
            "| {subject:?} | {pace:?} | {limit} | {phase:?} | {} | {:.2} | {:.2} | {verdict} |",
            self.stage, self.measured, self.excess
        );
        for problem in &self.problems {
            line += &format!("\n  PROBLEM: {problem}");
        }
        line
    }
}

/// The chosen combinations, one after the other: side by side they would measure each other.
fn rows(cases: impl Iterator<Item = &'static Case>) -> Vec<Row> {
    let mut rows = Vec::new();
    for case in cases {
        let project = Project::new();
        let ran = watch(&project, case);
        let row = Row::of(case, &ran);
        println!("{}", row.line(&ran));
        if !row.problems.is_empty() {
            println!("{}", ran.story());
        }
        rows.push(row);
    }
    rows
}

/// The worst of each kind of limit.
fn print_worst(rows: &[Row]) {
    for (kind, is_kind) in Limit::KINDS {
        let of_kind: Vec<&Row> = rows.iter().filter(|row| is_kind(&row.case.limit)).collect();
        let worst = of_kind.iter().map(|row| row.excess / row.allowed).fold(0.0, f64::max);
        let excess = of_kind.iter().map(|row| row.excess).fold(0.0, f64::max);
        println!("{kind}: {} combinations, worst excess {excess:.2}, {worst:.2} of what is allowed", of_kind.len());
    }
}

#[test]
fn limits_hold_whatever_is_slow_and_whatever_is_being_done() {
    let chosen = std::env::var("ANABRANCH_BUDGETS").ok();
    let is_chosen = |case: &Case| match chosen.as_deref() {
        None => case.quickly == Quickly::Too,
        Some("1") => true,
        // A part of its name repeats one of them.
        Some(part) => format!("{case:?}").contains(part),
    };
    let rows = rows(CASES.iter().filter(|case| is_chosen(case)));
    print_worst(&rows);
    assert!(!rows.is_empty(), "no combination was chosen");
    let failed: Vec<String> = rows
        .iter()
        .filter(|row| !row.problems.is_empty())
        .map(|row| format!("{:?}: {}", row.case, row.problems.join("; ")))
        .collect();
    assert!(failed.is_empty(), "{} of {} combinations:\n{}", failed.len(), rows.len(), failed.join("\n"));
}
