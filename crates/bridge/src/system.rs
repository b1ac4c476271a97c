//! A driver elsewhere, as a system of the kernel.

use std::sync::Arc;

use anabranch_kernel::{
    Choice, ErrorSpace, Fault, KeyWriter, ParamSpace, Params, Seed, SegmentEnd, System, Variable, Verdict, Watch,
};

use crate::protocol::{Description, Observation, PROTOCOL, Path, Segment};
use crate::restore::{Restore, Saved};
use crate::state::ChildState;

/// A closed loop whose driver lives elsewhere.
#[derive(Debug)]
pub struct ChildSystem<R> {
    restore: R,
    errors: ErrorSpace,
}

impl<R: Restore> ChildSystem<R> {
    /// A system from a way to restore its driver.
    ///
    /// # Errors
    /// When the driver describes itself in a way that makes no sense.
    pub fn new(restore: R) -> Result<Self, Fault> {
        let description = restore.description();
        let wrong = |text: String| Fault::Contract(format!("description of the driver: {text}"));
        if description.protocol != PROTOCOL {
            return Err(wrong(format!("it speaks protocol {}, we speak {PROTOCOL}", description.protocol)));
        }
        if !(description.segment_seconds.is_finite() && description.segment_seconds > 0.0) {
            return Err(wrong(format!("a segment of {} seconds", description.segment_seconds)));
        }
        let errors = if description.sites.is_empty() {
            ErrorSpace::none()
        } else {
            ErrorSpace::new(description.sites.clone(), usize::from(description.at_once))
                .map_err(|error| wrong(error.to_string()))?
        };
        Ok(Self { restore, errors })
    }
    /// The way its driver is restored.
    pub fn restore(&self) -> &R {
        &self.restore
    }
    fn description(&self) -> &Description {
        self.restore.description()
    }
    fn check_observation(&self, observation: &Observation) -> Result<(), Fault> {
        let variables = &self.description().variables;
        if observation.values.len() != variables.len() {
            let (told, promised) = (observation.values.len(), variables.len());
            return Err(Fault::Contract(format!("the driver reported {told} variables, it promised {promised}")));
        }
        match observation.values.iter().zip(variables).find(|(value, _)| !value.is_finite()) {
            Some((value, variable)) => Err(Fault::Numeric(format!("{} is {value}", variable.name))),
            None => Ok(()),
        }
    }
    fn check_segment(&self, segment: &Segment) -> Result<(), Fault> {
        let known = |verdict: &Verdict| usize::from(verdict.requirement) < self.description().requirements.len();
        let verdicts: &[Verdict] = match &segment.end {
            SegmentEnd::Violated(verdicts) => verdicts,
            SegmentEnd::Open | SegmentEnd::Goal | SegmentEnd::TimedOut => &[],
        };
        if !verdicts.iter().chain(&segment.notes).all(known) {
            return Err(Fault::Contract("the driver violated a requirement it had not declared".to_owned()));
        }
        self.check_observation(&segment.observation)
    }
}

impl<R: Restore> System for ChildSystem<R> {
    type State = ChildState<R::Handle>;

    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.description().variables
    }
    fn start(&self, seed: Seed, params: &Params) -> Result<Self::State, Fault> {
        let path = Path { seed, params: params.clone(), choices: Vec::new() };
        let (observation, handle) = self.restore.start(&path)?;
        self.check_observation(&observation)?;
        Ok(ChildState { path: Arc::new(path), observation, handle })
    }
    /// A fault leaves the state where it was, without its cache: the next use replays.
    fn run(&self, state: &mut Self::State, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        if choice.index() >= self.errors.len() {
            return Err(Fault::Contract(format!("there is no choice {}", choice.0)));
        }
        let handle = state.handle.take();
        let saved = Saved { path: &state.path, observation: &state.observation, handle };
        let (segment, handle) = self.restore.run(saved, choice)?;
        self.check_segment(&segment)?;
        Arc::make_mut(&mut state.path).choices.push(choice);
        state.observation = segment.observation;
        state.handle = handle;
        segment.notes.into_iter().for_each(|note| watch.note(note));
        watch.see_margin(segment.margin);
        Ok(segment.end)
    }
    fn cell(&self, state: &Self::State, key: &mut KeyWriter<'_>) {
        for (index, value) in state.observation.values.iter().enumerate() {
            key.real(index, *value);
        }
    }
    fn space(&self) -> &ParamSpace {
        &self.description().space
    }
    fn time_matters(&self) -> bool {
        self.description().time_matters
    }
    fn requirements(&self) -> &[String] {
        &self.description().requirements
    }
    fn segment_seconds(&self) -> f64 {
        self.description().segment_seconds
    }
}
