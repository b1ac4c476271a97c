//! Probabilities of errors: all or none have one, and weights are about modes that exist.

use super::super::codes::Code;
use super::super::error_spec::{ErrorSpec, ModeWeights, ProbabilitySpec};
use super::super::problems::{Problems, excerpt, listed, nearest};
use super::super::spec::ScenarioSpec;
use crate::drive::{Likely, likely};

/// Most modes that a message lists.
const LISTED_MAX: usize = 20;

pub(in super::super) fn check(problems: &mut Problems<'_>, spec: &ScenarioSpec) {
    if spec.errors.iter().all(|error| error.probability.is_none()) {
        return;
    }
    for error in &spec.errors {
        match &error.probability {
            Some(probability) => check_error(problems, spec, error, probability),
            None if spec.likelihood_is_left_out() => {}
            None => {
                let message = format!("`{}` has no probability, but another error has one", error.id.value);
                let help = "add probability = { begin = 0.01, stay = 0.5 }, or remove the others";
                problems.add(Code::SomeProbabilities, error.id.span, message, help);
            }
        }
    }
}

impl ScenarioSpec {
    /// Whether errors that were added to the file have probabilities and its own have none, or the other way round. Nobody
    /// has to change either: then it is not said how likely failures are.
    pub fn likelihood_is_left_out(&self) -> bool {
        let has_one = |error: &&ErrorSpec| error.probability.is_some();
        let (with, without): (Vec<&ErrorSpec>, Vec<&ErrorSpec>) = self.errors.iter().partition(has_one);
        let is_own = |error: &&ErrorSpec| error.id.span.source == 0;
        let apart = |own: &[&ErrorSpec], added: &[&ErrorSpec]| own.iter().all(is_own) && !added.iter().any(is_own);
        !with.is_empty() && !without.is_empty() && (apart(&with, &without) || apart(&without, &with))
    }
}

fn check_error(problems: &mut Problems<'_>, spec: &ScenarioSpec, error: &ErrorSpec, probability: &ProbabilitySpec) {
    let Likely { modes, chain } = likely(spec, error, probability);
    let names = || modes.iter().map(String::as_str);
    match &probability.modes {
        ModeWeights::Listed(weights) if weights.value.len() != modes.len() => {
            let message = format!("{} weights for {} modes", weights.value.len(), modes.len());
            let help = format!("one for each of {}", listed(names().take(LISTED_MAX)));
            return problems.add(Code::WrongWeight, weights.span, message, help);
        }
        ModeWeights::Named(weights) => {
            if let Some((unknown, _)) = weights.iter().find(|(name, _)| !modes.contains(&name.value)) {
                let guess = nearest(&unknown.value, names()).map_or(String::new(), |n| format!("did you mean `{n}`? "));
                let message = format!("`{}` has no mode `{}`", error.id.value, excerpt(&unknown.value));
                let help = format!("{guess}it is {}", listed(names().take(LISTED_MAX)));
                return problems.add(Code::WrongWeight, unknown.span, message, help);
            }
        }
        ModeWeights::Equal | ModeWeights::Listed(_) => {}
    }
    if let Err(wrong) = chain {
        problems.add(Code::WrongWeight, probability.span, wrong.to_string(), "change `modes` or `change`");
    }
}
