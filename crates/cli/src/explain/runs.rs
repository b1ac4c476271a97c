//! Recording whole runs.

use anabranch_explore::replay;
use anabranch_kernel::{Choice, Params, Recorder, Seed, SegmentEnd, System, Verdict};
use anabranch_scenario::Drive;

use crate::failure::Failure;
use crate::simulate::{first_verdict, whole_run};

/// Every signal of every base cycle.
#[derive(Debug, Default)]
struct Frames(Vec<(u64, Vec<f64>)>);

impl Recorder for Frames {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        self.0.push((tick, values.to_vec()));
    }
}

/// A run from the start to its end.
#[derive(Debug)]
pub struct Recorded {
    /// Tick and all signals.
    pub frames: Vec<(u64, Vec<f64>)>,
    /// The first violated requirement.
    pub verdict: Option<Verdict>,
    /// Whether the manoeuvre was completed.
    pub is_completed: bool,
    /// Smallest clearance.
    pub clearance_m: f64,
}

/// Runs the errors, and none from then on until the scenario's time is over.
pub fn record(drive: &Drive, seed: Seed, params: &Params, choices: &[Choice]) -> Result<Recorded, Failure> {
    let mut frames = Frames::default();
    let run = replay(drive, seed, params, &whole_run(drive, choices), Some(&mut frames as &mut dyn Recorder))?;
    let verdict = first_verdict(&run.end);
    let is_completed = run.end == SegmentEnd::Goal;
    Ok(Recorded { frames: frames.0, verdict, is_completed, clearance_m: run.margin })
}

/// Position of a signal.
pub fn signal(drive: &Drive, name: &str) -> Option<usize> {
    drive.signals().iter().position(|signal| signal.name == name)
}
