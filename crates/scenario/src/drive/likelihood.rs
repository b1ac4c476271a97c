//! From the probabilities of a scenario file to the likelihood of error choices.

use anabranch_kernel::{Chain, ErrorSpace, Likelihood, Process, ProcessError};

use super::errors::{Numbers, model};
use crate::file::{ErrorSpec, ModeWeights, ProbabilitySpec, ScenarioSpec};

/// An error with its probabilities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Likely {
    /// Modes that can be chosen by weight.
    pub(crate) modes: Vec<String>,
    /// How its modes follow each other.
    pub(crate) chain: Result<Chain, ProcessError>,
}

/// How the modes of an error follow each other.
pub(crate) fn likely(spec: &ScenarioSpec, error: &ErrorSpec, probability: &ProbabilitySpec) -> Likely {
    // Names of modes do not depend on the numbers of obstacles.
    let numbers = Numbers(vec![Some(0); spec.world.obstacles.len()]);
    let model = model(spec, error, &numbers);
    let (site, stay_mode) = (model.as_dyn().site(), model.as_dyn().stay_mode());
    let is_chosen = |mode: usize| stay_mode.map(usize::from) != Some(mode);
    let chosen: Vec<usize> = (1..site.modes.len()).filter(|&mode| is_chosen(mode)).collect();
    let modes: Vec<String> = chosen.iter().map(|&mode| site.modes[mode].name.clone()).collect();
    let mut weights = vec![0.0; site.modes.len() - 1];
    for (at, (&mode, name)) in chosen.iter().zip(&modes).enumerate() {
        weights[mode - 1] = match &probability.modes {
            ModeWeights::Equal => 1.0,
            ModeWeights::Listed(listed) => listed.value.get(at).copied().unwrap_or(0.0),
            ModeWeights::Named(named) => {
                named.iter().find(|(n, _)| n.value == *name).map_or(1.0, |(_, weight)| *weight)
            }
        };
    }
    let (begin, stay, change) = (probability.begin.value, probability.stay.value, probability.change.value);
    Likely { modes, chain: Chain::new(&Process { begin, stay, change, weights, stay_mode }) }
}

/// The likelihood of all error choices; `None` where the file gives no probabilities.
pub(super) fn likelihood(spec: &ScenarioSpec, space: &ErrorSpace) -> Option<Likelihood> {
    let chain = |error: &ErrorSpec| {
        let probability = error.probability.as_ref()?;
        Some(likely(spec, error, probability).chain.expect("probabilities were checked with the file"))
    };
    let chains: Option<Vec<Chain>> = spec.errors.iter().map(chain).collect();
    chains.filter(|chains| !chains.is_empty()).map(|chains| Likelihood::new(space, chains))
}
