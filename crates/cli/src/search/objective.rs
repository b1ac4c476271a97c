//! How safe one point is: its instance is run from start to end.

use anabranch_kernel::{Choice, Choices, Fault, Params, Seed, SegmentEnd, System, Verdict, Watch};
use anabranch_scenario::Drive;
use anabranch_search::{Objective, Outcome, Question};

use super::instance::{Built, Script, Unbuilt, Workshop};
use super::measure::{Frames, Measure};
use super::scorer::Scorer;
use super::space::Varied;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::load::Loaded;

/// Value of a violation whose objective does not show it, and border of what violates nothing.
pub const JUST: f64 = 1e-9;

/// A scenario and all that varies in it.
#[derive(Debug)]
pub struct ScenarioObjective<'a> {
    /// The scenario as it is.
    pub loaded: &'a Loaded,
    /// Its loop.
    pub drive: &'a Drive,
    /// What varies.
    pub varied: &'a Varied,
    /// What is made small.
    pub measures: &'a [Measure],
    /// How an instance is scored.
    pub scorer: Scorer,
    /// Seed of all chance in it.
    pub seed: Seed,
    workshop: Workshop<'a>,
}

/// What a run showed.
#[derive(Debug)]
pub struct Scored {
    /// Value of each objective; the first says by its sign whether a requirement is violated.
    pub values: Vec<f64>,
    /// What was violated.
    pub verdict: Option<Verdict>,
    /// Errors up to there.
    pub choices: Vec<Choice>,
    /// Simulated time.
    pub seconds: f64,
    /// Start values.
    pub params: Params,
}

impl<'a> ScenarioObjective<'a> {
    /// The objective of a search.
    pub fn new(
        loaded: &'a Loaded,
        drive: &'a Drive,
        varied: &'a Varied,
        measures: &'a [Measure],
        (scorer, seed): (Scorer, Seed),
    ) -> Self {
        Self { loaded, drive, varied, measures, scorer, seed, workshop: Workshop::new(loaded) }
    }

    /// The same with other chance.
    pub fn with_seed(&self, seed: Seed) -> Self {
        Self::new(self.loaded, self.drive, self.varied, self.measures, (self.scorer, seed))
    }

    /// The instance of a point.
    ///
    /// # Errors
    /// When there is none.
    pub fn build(&self, values: &[f64]) -> Result<Built<'a>, Unbuilt> {
        let instance = self.varied.instance(&self.loaded.document, values);
        self.workshop.build(self.drive, &instance)
    }

    /// What a point shows.
    ///
    /// # Errors
    /// When it could not be computed.
    pub fn score(&self, values: &[f64]) -> Result<Result<Scored, Unbuilt>, Fault> {
        match self.build(values) {
            Ok(built) => self.scorer.score(self, &built).map(Ok),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Runs an instance with its errors.
    ///
    /// # Errors
    /// When a segment could not be computed.
    pub fn run(&self, drive: &Drive, params: &Params, script: &Script) -> Result<Scored, Fault> {
        let needs_frames = self.measures.iter().any(Measure::needs_frames);
        let mut frames = Frames::default();
        let mut state = drive.start(self.seed, params)?;
        let (mut margin, mut verdict) = (f64::INFINITY, None);
        let (mut choices, mut live) = (Vec::new(), Choices::new());
        while choices.len() < drive.segments() as usize {
            let choice = script.choice(drive, &state, choices.len(), &mut live);
            let mut watch = if needs_frames { Watch::recording(&mut frames) } else { Watch::off() };
            let end = drive.run(&mut state, choice, &mut watch)?;
            margin = margin.min(watch.margin);
            choices.push(choice);
            if let SegmentEnd::Violated(verdicts) = &end {
                verdict = verdicts.first().copied();
            }
            if end != SegmentEnd::Open {
                break;
            }
        }
        let trace = frames.into_trace(drive.step_s());
        let values = self.measures.iter().map(|measure| measure.value(margin, trace.as_ref())).collect();
        let seconds = choices.len() as f64 * drive.segment_seconds();
        Ok(Scored { values: signed(values, verdict.is_some()), verdict, choices, seconds, params: params.clone() })
    }
}

/// The sign of the first value says whether a requirement is violated; the order of values stays as it is.
pub fn signed(mut values: Vec<f64>, is_violated: bool) -> Vec<f64> {
    if let Some(first) = values.first_mut().filter(|first| !first.is_nan()) {
        *first = match is_violated {
            true => first.min(0.0) - JUST,
            false if *first <= 0.0 => JUST / (1.0 - *first),
            false => *first,
        };
    }
    values
}

/// What kind of mishap it was, for telling them apart: which requirement, with whom, and where on the car.
fn signature(drive: &Drive, verdict: &Verdict) -> Vec<f64> {
    let requirement = 10.0 * f64::from(verdict.requirement);
    match &verdict.place {
        None => vec![requirement, -10.0, 0.0, 0.0],
        Some(place) => {
            let car = &drive.car().outline;
            let along = 2.0 * place.on_ego[0] / (car.front_m + car.rear_m);
            vec![requirement, 10.0 * f64::from(place.other), along, place.on_ego[1] / car.half_width_m]
        }
    }
}

impl Objective for ScenarioObjective<'_> {
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault> {
        let scored = match self.score(question.values)? {
            Ok(scored) => scored,
            // No instance of the scenario: nothing was simulated, and the optimiser hears that it is of no use there.
            Err(Unbuilt::Refused(_)) => {
                return Ok(Outcome { robustness: vec![f64::INFINITY; self.measures.len()], ..Outcome::default() });
            }
            Err(Unbuilt::Wrong(report)) => {
                let message =
                    report.diagnostics.first().map_or_else(String::new, |d| format!("{}: {}", d.code, d.message));
                return Err(Fault::Contract(message));
            }
            Err(Unbuilt::Failed(failure)) => return Err(fault(&failure)),
        };
        let signature = scored.verdict.as_ref().map_or_else(Vec::new, |verdict| signature(self.drive, verdict));
        Ok(Outcome { robustness: scored.values, simulated_seconds: scored.seconds, stopped_early: false, signature })
    }
}

fn fault(failure: &Failure) -> Fault {
    match failure.exit() {
        Exit::Incomplete => Fault::External(failure.to_string()),
        _ => Fault::Contract(failure.to_string()),
    }
}
