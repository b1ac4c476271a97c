//! Where two runs part: the first segment that ends otherwise, and in it the first moment.

use anabranch_explore::{SegmentAt, Trail, replay};
use anabranch_kernel::{Choice, Parts, Recorder, Seed, SegmentEnd, System};
use anabranch_record::RunFolder;
use anabranch_scenario::Drive;
use serde_json::{Value, json};

use crate::errors_table::ErrorsTable;
use crate::failure::Failure;
use crate::load::Assembled;
use crate::numbers::short;
use crate::project;

/// Errors in a sentence; all of them are in the machine output.
const ERRORS_SHOWN: usize = 3;

/// The first segment that ends otherwise than in the earlier run, replayed from the start with both drivers.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Segments before it.
    pub level: u32,
    /// Number of the start.
    pub start: usize,
    /// The errors up to and with that segment.
    pub choices: Vec<Choice>,
    /// The first moment that differs; `None` if no signal does, and only the verdict.
    moment: Option<Moment>,
    /// How the segment ended before and now, where that differs.
    ends: Option<(String, String)>,
}

/// The first base cycle in which some signal differs.
#[derive(Clone, Debug, PartialEq)]
struct Moment {
    time_s: f64,
    /// The first of the signals that differ about the most, relative to their size.
    signal: String,
    unit: String,
    before: f64,
    after: f64,
}

/// Every frame of a run.
#[derive(Default)]
struct Frames(Vec<(u64, Vec<f64>)>);

impl Recorder for Frames {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        self.0.push((tick, values.to_vec()));
    }
}

/// Runs the path of a differing segment with the scenario as it was and as it is.
pub(super) fn find(
    folder: &RunFolder,
    parts_then: &Parts,
    now: &Drive,
    seed: Seed,
    at: SegmentAt,
    trail: &dyn Trail,
) -> Result<Difference, Failure> {
    let unread = |e: std::io::Error| Failure::input(format!("the trail cannot be read: {e}"), "");
    let (start, mut choices) = trail.path(at.parent).map_err(unread)?;
    choices.push(Choice(at.choice));
    let mut difference = Difference { level: at.level, start, choices, moment: None, ends: None };
    let (loaded, _) = project::of_run(folder.path(), &[], &[])?;
    let Assembled::Drive(then) = loaded.assemble()? else { return Ok(difference) };
    if then.parts() != *parts_then {
        // The scenario in its folder is not the one whose segments it kept: what is known stays, without a moment.
        return Ok(difference);
    }
    let run = |drive: &Drive| -> Result<(Frames, SegmentEnd), Failure> {
        let mut frames = Frames::default();
        let run = replay(drive, seed, &drive.space().all()[start], &difference.choices, Some(&mut frames))?;
        Ok((frames, run.end))
    };
    let ((before, end_before), (after, end_after)) = (run(&then)?, run(now)?);
    difference.moment = first_moment(now, &before, &after);
    difference.ends = (end_before != end_after)
        .then(|| (describe(&end_before, now).to_owned(), describe(&end_after, now).to_owned()));
    Ok(difference)
}

fn first_moment(drive: &Drive, before: &Frames, after: &Frames) -> Option<Moment> {
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
    let ((tick, before), (_, after)) = before.0.iter().zip(&after.0).find(|((_, a), (_, b))| !same(a, b))?;
    let relative = |at: usize| {
        let size = before[at].abs().max(after[at].abs());
        if size > 0.0 { (before[at] - after[at]).abs() / size } else { 0.0 }
    };
    let signals = drive.signals();
    let most = (0..signals.len()).map(relative).fold(0.0, f64::max);
    let at = (0..signals.len()).find(|at| relative(*at) >= 0.5 * most)?;
    let (signal, unit) = (signals[at].name.clone(), signals[at].unit.clone());
    Some(Moment { time_s: *tick as f64 * drive.step_s(), signal, unit, before: before[at], after: after[at] })
}

fn describe<'d>(end: &SegmentEnd, drive: &'d Drive) -> &'d str {
    match end {
        SegmentEnd::Open => "open",
        SegmentEnd::Goal => "at the goal",
        SegmentEnd::TimedOut => "out of time",
        SegmentEnd::Violated(verdicts) => {
            verdicts.first().map_or("violated", |verdict| &drive.requirements()[usize::from(verdict.requirement)])
        }
    }
}

/// As many digits as it takes to tell two numbers apart, and two more.
fn both(before: f64, after: f64) -> (String, String) {
    let apart = (before - after).abs();
    let decimals = (3..15).find(|decimals| apart * 10_f64.powi(*decimals) >= 10.0).unwrap_or(15) as usize;
    (short(before, decimals), short(after, decimals))
}

impl Difference {
    /// For people.
    pub fn sentence(&self, drive: &Drive) -> String {
        let segment_s = drive.segment_seconds();
        let begins = short(f64::from(self.level) * segment_s, 3);
        let errors = ErrorsTable::of_choices(drive.errors(), &self.choices, segment_s).last_in_a_row(ERRORS_SHOWN);
        let start = if drive.space().len() > 1 { format!(" from start {}", self.start + 1) } else { String::new() };
        let what = match &self.moment {
            Some(Moment { time_s, signal, unit, before, after }) => {
                let (before, after) = both(*before, *after);
                let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
                format!(": `{signal}` is {after}{unit} at {} s, and was {before}{unit}", short(*time_s, 4))
            }
            None => String::new(),
        };
        let ends = match &self.ends {
            Some((before, after)) => format!("; the segment ends {after}, and ended {before}"),
            None => String::new(),
        };
        format!("first in the segment that begins after {begins} s{start} under {errors}{what}{ends}")
    }

    /// For machines.
    pub fn to_json(&self, drive: &Drive) -> Value {
        let segment_s = drive.segment_seconds();
        let errors = ErrorsTable::of_choices(drive.errors(), &self.choices, segment_s).to_json();
        let moment = self.moment.as_ref();
        json!({
            "level": self.level,
            "segment_begins_s": f64::from(self.level) * segment_s,
            "time_s": moment.map(|m| m.time_s),
            "start": self.start,
            "choices": self.choices.iter().map(|choice| choice.0).collect::<Vec<_>>(),
            "errors": errors,
            "signal": moment.map(|m| m.signal.clone()),
            "unit": moment.map(|m| m.unit.clone()),
            "before": moment.map(|m| m.before),
            "after": moment.map(|m| m.after),
            "ended_before": self.ends.as_ref().map(|ends| ends.0.clone()),
            "ends_now": self.ends.as_ref().map(|ends| ends.1.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_are_written_so_that_they_differ() {
        for (a, b) in [(0.1, 0.2), (0.123_456_7, 0.123_456_9), (1.0, 1.000_000_001), (-3.0, 4.0)] {
            let (before, after) = both(a, b);
            assert_ne!(before, after);
        }
    }
}
