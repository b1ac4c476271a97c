//! Which error when: the same error in a row is one line.

use anabranch_kernel::{Choice, ErrorSpace};
use anabranch_record::ErrorRun;
use serde_json::{Value, json};

use crate::escape::escape;
use crate::numbers::short;

/// Rows of the table.
#[derive(Clone, Debug)]
pub struct ErrorsTable {
    /// From, to in seconds, and the error in words.
    rows: Vec<(f64, f64, String)>,
}

impl ErrorsTable {
    /// The table of choices of one segment each.
    pub fn of_choices(space: &ErrorSpace, choices: &[Choice], segment_s: f64) -> Self {
        Self::of_runs(&ErrorRun::group(space, choices, &[]), segment_s)
    }

    /// The table of a finding file.
    pub fn of_runs(runs: &[ErrorRun], segment_s: f64) -> Self {
        let mut at = 0_u64;
        let row = |run: &ErrorRun| {
            let from = at;
            at += u64::from(run.segments);
            let parts: Vec<String> = run.modes.iter().map(|(site, mode)| format!("{site}: {mode}")).collect();
            let error = if parts.is_empty() { "none".to_owned() } else { parts.join(" + ") };
            (from as f64 * segment_s, at as f64 * segment_s, error)
        };
        Self { rows: runs.iter().map(row).collect() }
    }

    /// For people, each line after `indent`.
    pub fn human(&self, indent: &str) -> String {
        let time = |t: f64| short(t, 3);
        let width = self.rows.iter().map(|(_, to, _)| time(*to).len()).max().unwrap_or(1);
        let line = |(from, to, error): &(f64, f64, String)| {
            format!("{indent}{:>width$} – {:>width$} s  {}\n", time(*from), time(*to), escape(error))
        };
        self.rows.iter().map(line).collect()
    }

    /// The last few in one line, for a sentence.
    pub fn last_in_a_row(&self, few: usize) -> String {
        let time = |t: f64| short(t, 3);
        let one = |(from, to, error): &(f64, f64, String)| format!("{error} ({} – {} s)", time(*from), time(*to));
        let left_out = self.rows.len().saturating_sub(few);
        let before = if left_out > 0 { "…, then " } else { "" };
        format!("{before}{}", self.rows[left_out..].iter().map(one).collect::<Vec<_>>().join(", then "))
    }

    /// For machines.
    pub fn to_json(&self) -> Value {
        self.rows.iter().map(|(from, to, error)| json!({ "from_s": from, "to_s": to, "error": error })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_errors_in_a_row_are_one_line() {
        let space = ErrorSpace::of_one_site("jump", &["none", "left", "right"]);
        let table = ErrorsTable::of_choices(&space, &[0, 0, 1, 2, 2].map(Choice), 0.5);
        assert_eq!(table.human("  "), "    0 –   1 s  none\n    1 – 1.5 s  jump: left\n  1.5 – 2.5 s  jump: right\n");
        assert_eq!(table.to_json()[2]["from_s"], 1.5);
        assert_eq!(table.last_in_a_row(1), "…, then jump: right (1.5 – 2.5 s)");
        assert_eq!(
            table.last_in_a_row(3),
            "none (0 – 1 s), then jump: left (1 – 1.5 s), then jump: right (1.5 – 2.5 s)"
        );
    }
}
