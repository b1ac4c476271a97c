//! Any `System` as an objective: some values are start parameters, others are error choices over time.

use anabranch_kernel::{Choice, Fault, Params, Seed, SegmentEnd, System, Watch};

use crate::objective::{Objective, Outcome, Question};
use crate::space::{Dimension, Domain};

/// Robustness of a violation whose margin does not show it: any number below zero would do.
const JUST_VIOLATED: f64 = -1e-9;

/// A system, run from start to end once per point.
#[derive(Debug)]
pub struct SystemObjective<'a, S> {
    /// The system.
    pub system: &'a S,
    /// Seed of its chance.
    pub seed: Seed,
    /// The first so many values are its start parameters; each further one is a choice, held for its share of the segments.
    pub parameters: usize,
    /// Most segments of a run.
    pub segments_max: usize,
}

/// One dimension per stretch of a run: which error it has.
pub fn choice_dimensions<S: System>(system: &S, stretches: usize) -> Vec<Dimension> {
    let labels: Vec<String> = system.errors().choices().map(|choice| system.errors().describe(choice)).collect();
    let dimension = |n: usize| Dimension {
        name: format!("error[{n}]"),
        unit: String::new(),
        domain: Domain::OneOf(labels.clone()),
    };
    (0..stretches).map(dimension).collect()
}

impl<S: System> SystemObjective<'_, S> {
    /// The choice of a segment.
    pub fn choice(&self, values: &[f64], segment: usize) -> Choice {
        let choices = values.get(self.parameters..).unwrap_or_default();
        if choices.is_empty() || self.segments_max == 0 {
            return Choice::NONE;
        }
        let place = (segment * choices.len() / self.segments_max).min(choices.len() - 1);
        Choice(choices[place] as u16)
    }
}

impl<S: System> Objective for SystemObjective<'_, S> {
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault> {
        let params = Params(question.values.iter().take(self.parameters).copied().collect());
        let mut state = self.system.start(self.seed, &params)?;
        let (mut margin, mut danger) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut violated, mut segments) = (false, 0);
        let mut stopped_early = false;
        while segments < self.segments_max {
            let mut watch = Watch::off();
            let choice = self.choice(question.values, segments);
            if choice.index() >= self.system.errors().len() {
                return Err(Fault::Contract(format!("segment {segments}: there is no choice {}", choice.0)));
            }
            let end = self.system.run(&mut state, choice, &mut watch)?;
            segments += 1;
            margin = margin.min(watch.margin);
            danger = danger.max(self.system.danger(&state).worst);
            violated = matches!(end, SegmentEnd::Violated(_));
            if end != SegmentEnd::Open {
                break;
            }
            if margin < question.decided_below {
                stopped_early = segments < self.segments_max;
                break;
            }
        }
        let safe_by = if margin.is_finite() { margin } else { -danger };
        let value = if violated { safe_by.min(JUST_VIOLATED) } else { safe_by };
        let robustness = vec![if value.is_nan() || value == f64::INFINITY { 0.0 } else { value }];
        let simulated_seconds = segments as f64 * self.system.segment_seconds();
        Ok(Outcome { robustness, simulated_seconds, stopped_early, signature: Vec::new() })
    }
}
