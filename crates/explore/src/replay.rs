//! Running one error sequence from the start, without merging.

use anabranch_kernel::{Choice, Choices, Fault, Params, Recorder, Seed, SegmentEnd, System, Verdicts, Watch};

/// What one run from the start gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed<S> {
    /// How it ended; `Open` if the choices were used up before.
    pub end: SegmentEnd,
    /// Segments that were run.
    pub segments: usize,
    /// Smallest margin.
    pub margin: f64,
    /// Violated *should* requirements.
    pub notes: Verdicts,
    /// The state at the end.
    pub state: S,
}

/// Runs the choices from the start, until they are used up or the run ends.
///
/// # Errors
/// When the system could not compute it.
pub fn replay<S: System>(
    system: &S,
    seed: Seed,
    params: &Params,
    choices: &[Choice],
    recorder: Option<&mut dyn Recorder>,
) -> Result<Replayed<S::State>, Fault> {
    run(system, seed, params, recorder, |n, _| choices.get(n).copied())
}

/// Runs one choice over and over from the start until the run ends, at most `segments_max` times. Where the choice is
/// not live (a limit per run is used up, a drift has reached its bound) the segment runs without error.
///
/// # Errors
/// When the system could not compute it.
pub fn constant<S: System>(
    system: &S,
    seed: Seed,
    params: &Params,
    choice: Choice,
    segments_max: usize,
) -> Result<Replayed<S::State>, Fault> {
    let mut live = Choices::new();
    run(system, seed, params, None, |n, state| {
        system.live(state, &mut live);
        let choice = if live.contains(&choice) { choice } else { Choice::NONE };
        (n < segments_max.min(SEGMENTS_MAX)).then_some(choice)
    })
}

/// The error sequence of [`constant`], where it violates a requirement: the choice wherever it is live, and no error elsewhere.
///
/// # Errors
/// When the system could not compute it.
pub fn held<S: System>(
    system: &S,
    seed: Seed,
    params: &Params,
    choice: Choice,
    segments_max: usize,
) -> Result<Option<Vec<Choice>>, Fault> {
    let (mut live, mut choices) = (Choices::new(), Vec::new());
    let run = run(system, seed, params, None, |n, state| {
        system.live(state, &mut live);
        let choice = if live.contains(&choice) { choice } else { Choice::NONE };
        let choice = (n < segments_max.min(SEGMENTS_MAX)).then_some(choice);
        choices.extend(choice);
        choice
    })?;
    Ok(matches!(run.end, SegmentEnd::Violated(_)).then_some(choices))
}

/// Runs from the start with the choice that is asked for before every segment, until there is none.
fn run<S: System>(
    system: &S,
    seed: Seed,
    params: &Params,
    mut recorder: Option<&mut dyn Recorder>,
    mut next: impl FnMut(usize, &S::State) -> Option<Choice>,
) -> Result<Replayed<S::State>, Fault> {
    let state = system.start(seed, params)?;
    let mut run = Replayed { end: SegmentEnd::Open, segments: 0, margin: f64::INFINITY, notes: Verdicts::new(), state };
    while let Some(choice) = next(run.segments, &run.state) {
        let mut watch = match recorder {
            Some(ref mut recorder) => Watch::recording(&mut **recorder),
            None => Watch::off(),
        };
        run.end = system.run(&mut run.state, choice, &mut watch)?;
        run.segments += 1;
        run.margin = run.margin.min(watch.margin);
        run.notes.extend(watch.notes);
        if run.end != SegmentEnd::Open {
            break;
        }
    }
    Ok(run)
}

/// No run is longer than this, even if its system never ends it.
const SEGMENTS_MAX: usize = 100_000;
