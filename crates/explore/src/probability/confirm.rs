//! Running an error sequence from the start, without merging, with its probability.

use anabranch_kernel::{Choice, Choices, Fault, Likelihood, SegmentEnd, System, Verdict, Watch, maths};

use super::World;

/// An error sequence that violates a *must*.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Confirmed {
    /// Segments up to the violation; it may come earlier than expected.
    pub(super) segments: usize,
    pub(super) log_p: f64,
    pub(super) verdict: Verdict,
}

/// Runs a sequence; `None` if it violates nothing, or cannot occur.
///
/// # Errors
/// When it cannot be computed.
pub(super) fn confirm<S: System>(
    world: &World<'_, S>,
    start: usize,
    choices: &[Choice],
) -> Result<Option<Confirmed>, Fault> {
    let mut state = world.system.start(world.seed, &world.starts[start])?;
    let mut live = Choices::new();
    let (mut previous, mut log_p) = (Likelihood::BEFORE, log_start(world.starts.len()));
    for (at, &choice) in choices.iter().enumerate() {
        world.system.live(&state, &mut live);
        log_p += world.likelihood.log_p(previous, choice, &live);
        if log_p == f64::NEG_INFINITY {
            return Ok(None);
        }
        previous = choice;
        match world.system.run(&mut state, choice, &mut Watch::off())? {
            SegmentEnd::Open => {}
            SegmentEnd::Violated(verdicts) => {
                let verdict = *verdicts.first().expect("a violation says what was violated");
                return Ok(Some(Confirmed { segments: at + 1, log_p, verdict }));
            }
            SegmentEnd::Goal | SegmentEnd::TimedOut => return Ok(None),
        }
    }
    Ok(None)
}

/// Logarithm of the probability of one of several starts.
pub(super) fn log_start(starts: usize) -> f64 {
    -maths::ln(starts as f64)
}
