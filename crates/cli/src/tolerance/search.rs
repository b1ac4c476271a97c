//! The largest size that passes: a coarse grid first, then bisection of the lowest bracket.
//!
//! Larger errors need not be worse, so monotony is looked at and never assumed.

use anabranch_study::Conclusion;

use super::channel::Channel;
use crate::failure::Failure;

/// Sizes of the grid between nothing and the size in the scenario.
const GRID: u32 = 8;
/// Sizes beyond it, if all of the grid pass: parts of the size in the scenario.
const BEYOND: [f64; 4] = [1.5, 2.0, 3.0, 4.0];
/// The bracket ends as narrow as this part of the size in the scenario.
const RESOLUTION: f64 = 1.0 / 100.0;

/// How one size went.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The size; 0 is without this error.
    pub size: f64,
    /// The verdict.
    pub conclusion: Conclusion,
    /// The smallest clearance.
    pub worst_clearance_m: f64,
    /// Segments it took.
    pub segments: u64,
}

impl Sample {
    /// Nothing was found and nothing was left out.
    pub fn passes(&self) -> bool {
        self.conclusion.is_pass()
    }
    /// A requirement was violated.
    pub fn fails(&self) -> bool {
        matches!(self.conclusion, Conclusion::Violated(_))
    }
}

/// What is known about one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerance {
    /// The channel.
    pub channel: Channel,
    /// All sizes that were tried, increasing.
    pub samples: Vec<Sample>,
    /// The largest size below which everything tried passes; `None` if it fails without this error too.
    pub passes_to: Option<f64>,
    /// The smallest size that fails; `None` if none does.
    pub fails_from: Option<f64>,
    /// A larger error passed where a smaller one failed.
    pub is_monotone: bool,
    /// A size could not be decided: the budget was spent, or the exploration was not covered.
    pub has_gap: bool,
    /// Width of the bracket that was asked for.
    pub resolution: f64,
}

/// Looks for the tolerance of a channel; `try_size` explores the scenario with one size.
pub fn search(
    channel: &Channel,
    mut try_size: impl FnMut(f64) -> Result<Sample, Failure>,
) -> Result<Tolerance, Failure> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut at = |size: f64, samples: &mut Vec<Sample>| -> Result<(), Failure> {
        let size = channel.rounded(size);
        if samples.iter().all(|sample| sample.size != size) {
            samples.push(try_size(size)?);
            samples.sort_by(|a, b| a.size.total_cmp(&b.size));
        }
        Ok(())
    };
    at(0.0, &mut samples)?;
    if samples[0].passes() {
        for step in 1..=GRID {
            at(channel.nominal * f64::from(step) / f64::from(GRID), &mut samples)?;
        }
        for factor in BEYOND {
            let size = channel.nominal * factor;
            if samples.iter().any(|sample| !sample.passes()) || size > channel.max {
                break;
            }
            at(size, &mut samples)?;
        }
    }
    let resolution = (channel.nominal * RESOLUTION).max(channel.quantum);
    while let Some((low, high)) = bracket(&samples) {
        let middle = channel.rounded(0.5 * (low + high));
        if high - low <= resolution * (1.0 + 1e-9) || middle <= low || middle >= high {
            break;
        }
        at(middle, &mut samples)?;
    }
    Ok(told(channel, samples, resolution))
}

/// The lowest pass that is followed by something else.
fn bracket(samples: &[Sample]) -> Option<(f64, f64)> {
    let high = samples.iter().position(|sample| !sample.passes())?;
    Some((samples.get(high.checked_sub(1)?)?.size, samples[high].size))
}

fn told(channel: &Channel, samples: Vec<Sample>, resolution: f64) -> Tolerance {
    let passing = samples.iter().take_while(|sample| sample.passes()).last();
    let failing = samples.iter().find(|sample| sample.fails());
    let after_a_failure = samples.iter().skip_while(|sample| !sample.fails());
    Tolerance {
        channel: channel.clone(),
        passes_to: passing.map(|sample| sample.size),
        fails_from: failing.map(|sample| sample.size),
        is_monotone: !after_a_failure.into_iter().any(Sample::passes),
        has_gap: samples.iter().any(|sample| !sample.passes() && !sample.fails()),
        resolution,
        samples,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::units::Dimension;
    use anabranch_study::{Coverage, Evidence, Findings, Stop, conclude};

    fn channel(quantum: f64) -> Channel {
        Channel::for_tests(0.8, Dimension::Length, quantum)
    }
    fn violated() -> Evidence {
        Evidence { findings: Findings { sequences: 1, faults: 0 }, ..Evidence::default() }
    }
    fn not_found() -> Evidence {
        Evidence { coverage: Coverage::NotNeeded, ..Evidence::default() }
    }
    fn incomplete() -> Evidence {
        Evidence { stop: Some(Stop::Time), ..not_found() }
    }
    fn run(quantum: f64, evidence: impl Fn(f64) -> Evidence) -> Tolerance {
        let sample = |size: f64| {
            Ok(Sample { size, conclusion: conclude(&evidence(size)), worst_clearance_m: 1.0 - size, segments: 1 })
        };
        search(&channel(quantum), sample).unwrap()
    }

    #[test]
    fn the_threshold_is_found_to_the_resolution() {
        let found = run(0.0, |size| if size > 0.33 { violated() } else { not_found() });
        let (low, high) = (found.passes_to.unwrap(), found.fails_from.unwrap());
        assert!(low <= 0.33 && 0.33 < high && high - low <= 0.008 + 1e-12, "{low} {high}");
        assert!(found.is_monotone && !found.has_gap);
    }

    #[test]
    fn beyond_the_scenario_it_is_looked_up_to_four_times_its_size() {
        let found = run(0.0, |size| if size > 2.0 { violated() } else { not_found() });
        assert!((1.99..=2.0).contains(&found.passes_to.unwrap()), "{found:?}");
        let found = run(0.0, |_| not_found());
        assert_eq!((found.passes_to, found.fails_from), (Some(3.2), None));
    }

    #[test]
    fn larger_errors_that_pass_again_are_told_and_the_lowest_failure_counts() {
        let found = run(0.0, |size| if (0.25..0.35).contains(&size) { violated() } else { not_found() });
        assert!(!found.is_monotone && found.passes_to.unwrap() < 0.25 && found.fails_from.unwrap() < 0.26, "{found:?}");
    }

    #[test]
    fn a_scenario_that_fails_without_the_error_has_no_tolerance() {
        let found = run(0.0, |_| violated());
        assert_eq!((found.passes_to, found.fails_from, found.samples.len()), (None, Some(0.0), 1));
    }

    #[test]
    fn what_could_not_be_decided_is_no_pass() {
        let found = run(0.0, |size| if size > 0.33 { incomplete() } else { not_found() });
        assert!(found.has_gap && found.fails_from.is_none() && found.passes_to.unwrap() <= 0.33, "{found:?}");
        let not_covered = |size| if size > 0.33 { Evidence::default() } else { not_found() };
        let found = run(0.0, not_covered);
        assert!(found.has_gap && found.fails_from.is_none() && found.passes_to.unwrap() <= 0.33, "{found:?}");
    }

    #[test]
    fn times_are_whole_base_cycles() {
        let found = run(0.1, |size| if size > 0.33 { violated() } else { not_found() });
        let near = |value: Option<f64>, expect: f64| (value.unwrap() - expect).abs() < 1e-9;
        assert!(near(found.passes_to, 0.3) && near(found.fails_from, 0.4), "{found:?}");
    }
}
