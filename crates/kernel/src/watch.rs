//! Looking at a running segment without disturbing it.

use serde::{Deserialize, Serialize};

use crate::parts::Reads;
use crate::system::{Verdict, Verdicts};

/// A number that a system shows every base cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Name as in requirements: `ego.clearance`.
    pub name: String,
    /// Unit of its values; empty for plain numbers.
    pub unit: String,
}

impl Signal {
    /// A signal with its unit.
    pub fn new(name: &str, unit: &str) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned() }
    }
}

/// Receives one frame per base cycle while a run is recorded.
pub trait Recorder {
    /// `values` are in the order of [`crate::System::signals`].
    fn frame(&mut self, tick: u64, values: &[f64]);
    /// Whether it listens to [`Self::around`] as well.
    fn wants_around(&self) -> bool {
        false
    }
    /// Who is around in the base cycle of the frame that follows, in a layout of the system's own.
    fn around(&mut self, _tick: u64, _numbers: &[f64]) {}
}

/// What a segment reports besides its end.
pub struct Watch<'a> {
    recorder: Option<&'a mut dyn Recorder>,
    /// Requirements of the kind *should* that were violated on the way; the run went on.
    pub notes: Verdicts,
    /// Smallest margin seen in this segment (for a car: clearance in metres); infinite if there is none.
    pub margin: f64,
    /// Which separate parts of the system's configuration decided the outcome; all, unless the system says otherwise.
    pub reads: Reads,
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("recording", &self.recorder.is_some()).field("margin", &self.margin).finish()
    }
}

impl<'a> Watch<'a> {
    /// Nobody records.
    pub fn off() -> Self {
        Self { recorder: None, notes: Verdicts::new(), margin: f64::INFINITY, reads: Reads::ALL }
    }
    /// Every frame goes to the recorder.
    pub fn recording(recorder: &'a mut dyn Recorder) -> Self {
        Self { recorder: Some(recorder), ..Self::off() }
    }
    /// Whether frames are wanted.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }
    /// Whether somebody wants to know who is around.
    #[inline]
    pub fn wants_around(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.wants_around())
    }
    /// Hands on who is around.
    pub fn around(&mut self, tick: u64, numbers: &[f64]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.around(tick, numbers);
        }
    }
    /// Hands on one frame.
    pub fn frame(&mut self, tick: u64, values: &[f64]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.frame(tick, values);
        }
    }
    /// Notes a *should* that was violated.
    pub fn note(&mut self, verdict: Verdict) {
        self.notes.push(verdict);
    }
    /// Lowers the margin.
    #[inline]
    pub fn see_margin(&mut self, margin: f64) {
        if margin < self.margin {
            self.margin = margin;
        }
    }
}
