//! How likely failures are, where the scenario says how likely errors are.

use std::fmt::Write as _;

use anabranch_explore::probability::{Asked, Interval, LikelyFailure, MOST_LIKELY, Probability, SAMPLES, probability};
use anabranch_explore::{OnTime, Recording};
use anabranch_kernel::{System, maths};
use anabranch_record::RunFolder;
use anabranch_scenario::Drive;
use serde_json::{Value, json};

use super::candidates::{Candidate, Source};
use super::contact;
use super::facts::Facts;
use super::groups::{Group, finding_of};
use super::time_left::TimeLeft;
use crate::errors_table::ErrorsTable;
use crate::escape::escape;
use crate::failure::Failure;
use crate::load::Loaded;
use crate::numbers::{grouped, raised, short};
use crate::project;
use crate::screen::{Paint, Screen};

/// Segments of which the graph is recorded, about 64 bytes each; a larger one guides nothing.
const SEGMENTS_MAX: usize = 8_000_000;
/// Below this people read powers of ten more easily.
const SMALL: f64 = 0.01;

/// What was asked for by flags.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Runs for the interval.
    pub samples: u32,
    /// Failures to name.
    pub most_likely: usize,
}

/// How likely failures are, and where the most likely ones are saved.
#[derive(Clone, Debug)]
pub struct Likely {
    /// What was computed.
    pub probability: Probability,
    /// The file of each of its failures, relative.
    pub files: Vec<String>,
}

impl Wanted {
    /// Flags and defaults.
    ///
    /// # Errors
    /// When a flag is given and no error has a probability.
    pub fn of(drive: &Drive, samples: Option<u32>, most_likely: Option<u32>) -> Result<Self, Failure> {
        let flag = samples.map(|_| "--samples").or(most_likely.map(|_| "--most-likely"));
        if let (Some(flag), None) = (flag, drive.likelihood()) {
            let message = format!("{flag}: the scenario does not say how likely its errors are");
            return Err(Failure::input(message, "give each [[error]] a probability = { begin = 0.01, stay = 0.5 }"));
        }
        let most_likely = most_likely.map_or(MOST_LIKELY, |n| n as usize);
        Ok(Self { samples: samples.unwrap_or(SAMPLES), most_likely })
    }

    /// What records the graph, if it is needed.
    pub fn recording(drive: &Drive) -> Option<Recording> {
        drive.likelihood().map(|_| Recording::with_room(SEGMENTS_MAX))
    }
}

/// Computes how likely failures are; what fails is a finding as well.
pub fn compute(
    screen: &Screen,
    drive: &Drive,
    graph: &Recording,
    asked: &Asked<'_>,
    (candidates, time): (&mut Vec<Candidate>, TimeLeft),
) -> Result<Option<Probability>, Failure> {
    screen.detail(&format!(
        "running {} times from the start to see how likely a failure is",
        grouped(asked.samples.into())
    ));
    let goes_on = || time.looks_for_causes();
    let on_time = OnTime::new(drive, time.clock(), &goes_on);
    let found = match probability(&on_time, graph, asked) {
        Err(_) if !goes_on() => None,
        found => found?,
    };
    let Some(found) = found else { return Ok(None) };
    for failure in &found.most_likely {
        let is_known = |known: &Candidate| known.start == failure.start && known.choices == failure.choices;
        if !candidates.iter().any(is_known) {
            candidates.push(candidate(failure));
        }
    }
    // What failed has failed; but runs that were not made say nothing about how often that happens.
    Ok(Some(found).filter(|_| goes_on()))
}

fn candidate(failure: &LikelyFailure) -> Candidate {
    let LikelyFailure { start, choices, verdict, .. } = failure.clone();
    Candidate { source: Source::Likely, start, choices, verdict }
}

/// Writes the most likely failures to the folder of the run, so that they can be replayed.
pub fn save(
    probability: Probability,
    folder: &RunFolder,
    loaded: &Loaded,
    drive: &Drive,
    asked: &Asked<'_>,
) -> Result<Likely, Failure> {
    let mut files = Vec::new();
    for (at, failure) in probability.most_likely.iter().enumerate() {
        let first = candidate(failure);
        let group = Group { label: "most likely".to_owned(), ..Group::alone(drive, first, 1) };
        let name = format!("most-likely-{}.toml", at + 1);
        folder.publish(&name, finding_of(&group, loaded, drive, asked.seed).to_toml().as_bytes())?;
        files.push(project::relative(&folder.path().join(name)));
    }
    Ok(Likely { probability, files })
}

/// The most likely failures for people; empty without probabilities.
pub fn most_likely(facts: &Facts<'_>, paint: &Paint) -> String {
    let Some(likely) = facts.likely.as_ref().filter(|likely| !likely.files.is_empty()) else { return String::new() };
    let mut out = "\nMost likely failures\n".to_owned();
    for (at, (failure, file)) in likely.probability.most_likely.iter().zip(&likely.files).enumerate() {
        let id = escape(&facts.drive.requirements()[usize::from(failure.verdict.requirement)]);
        let time = short(failure.verdict.tick as f64 * facts.drive.step_s(), 3);
        let place = contact::sentence(facts.loaded, facts.drive, failure.verdict.place.as_ref());
        let p = share(failure.probability);
        let head = format!("{}. probability {p}: `{id}` after {time} s{place}", at + 1);
        let replay = paint.cyan(&escape(&format!("anabranch replay {file}")));
        let _ = write!(out, "{}\n{}   {replay}\n", paint.bold(&head), table(facts, failure).human("   "));
    }
    out
}

fn table(facts: &Facts<'_>, failure: &LikelyFailure) -> ErrorsTable {
    ErrorsTable::of_choices(facts.drive.errors(), &failure.choices, facts.drive.segment_seconds())
}

/// The probability of failure in a sentence.
pub fn sentence(likely: &Likely) -> String {
    let Probability { estimate, interval, refuted, .. } = &likely.probability;
    let Interval { first, samples, failures, effective, low, high, faults, .. } = *interval;
    let found = if interval.is_bound && failures == 0 {
        format!("a run fails with a probability below {} (95 %)", share(high))
    } else {
        format!("a run fails with probability {} ({} … {}, 95 %)", share(interval.probability), share(low), share(high))
    };
    let worth = short(effective, 0);
    let mut out = format!(
        "{found}; {} of {} runs from the start that look for failures found one, worth {worth} equal ones",
        grouped(failures),
        grouped(samples)
    );
    if first > 0 {
        let _ = write!(out, ", after {} to look around", grouped(first));
    }
    if faults > 0 {
        let _ = write!(out, "; {} could not be computed and count as failures at the upper end", grouped(faults));
    }
    match estimate {
        Some(estimate) => {
            let _ = write!(out, "; estimate of the merged graph {}, without interval", share(*estimate));
        }
        None => out += "; the graph was too large to record, so the runs were not guided by it",
    }
    if *refuted > 0 {
        let _ = write!(
            out,
            "; {} likely paths through merged states did not fail from the start",
            grouped(*refuted as u64)
        );
    }
    out
}

/// For machines.
pub fn to_json(facts: &Facts<'_>, likely: &Likely) -> Value {
    let Probability { estimate, interval, refuted, most_likely } = &likely.probability;
    let failure = |(failure, file): (&LikelyFailure, &String)| {
        json!({
            "probability": failure.probability,
            "requirement": facts.drive.requirements()[usize::from(failure.verdict.requirement)],
            "tick": failure.verdict.tick,
            "time_s": failure.verdict.tick as f64 * facts.drive.step_s(),
            "segments": failure.choices.len(),
            "contact": failure.verdict.place.as_ref().map(|place| contact::to_json(facts.loaded, facts.drive, place)),
            "errors": table(facts, failure).to_json(),
            "finding": file,
        })
    };
    json!({
        "failure": interval.probability,
        "low": interval.low,
        "high": interval.high,
        "confidence": 0.95,
        "is_bound": interval.is_bound,
        "samples": interval.samples,
        "samples_to_look_around": interval.first,
        "failures_sampled": interval.failures,
        "effective_samples": interval.effective,
        "faults": interval.faults,
        "graph_estimate": estimate,
        "paths_refuted": refuted,
        "most_likely": most_likely.iter().zip(&likely.files).map(failure).collect::<Value>(),
    })
}

/// `0.0123`, and `1.23 × 10⁻⁵` where that is easier to read.
pub fn share(p: f64) -> String {
    if p == 0.0 || p >= SMALL {
        let digits = if p >= 0.1 { 3 } else { 4 };
        return short(p, digits);
    }
    let mut exponent = (maths::ln(p) / std::f64::consts::LN_10).floor() as i32;
    let mut mantissa = format!("{:.2}", p / 10_f64.powi(exponent));
    if mantissa.starts_with("10") {
        (mantissa, exponent) = ("1.00".to_owned(), exponent + 1);
    }
    format!("{mantissa} × 10{}", raised(&exponent.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_probabilities_are_powers_of_ten() {
        assert_eq!(share(0.25), "0.25");
        assert_eq!(share(0.0123), "0.0123");
        assert_eq!(share(0.00123), "1.23 × 10⁻³");
        assert_eq!(share(1.234e-5), "1.23 × 10⁻⁵");
        assert_eq!(share(9.999e-5), "1.00 × 10⁻⁴");
        assert_eq!(share(0.0), "0");
        assert_eq!(share(1.0), "1");
    }
}
