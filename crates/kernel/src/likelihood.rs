//! How likely an error choice is, given the choice of the segment before.
//!
//! Every site is a Markov chain over its modes, and sites are independent of each other. Which mode was active before is
//! not part of any state: it is the choice of the segment that led to it, so probability belongs to paths.
//!
//! **Limits condition.** Not every combination of modes can follow in a state: `at_once` and `per_run` forbid some, others
//! would repeat a lower one. What cannot follow is removed and the rest is divided by its sum. Where nothing that is
//! left has a chance, there is no error.

use crate::errors::{Choice, ErrorSpace};
use crate::maths;

/// Probabilities may miss their sum by this; decimal fractions do.
const ROUNDING: f64 = 1e-9;

/// The process of one error in words of an engineer: probabilities per segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// That an error begins when there is none.
    pub begin: f64,
    /// That the present error stays as it is.
    pub stay: f64,
    /// That another mode follows at once; of a drift, that it grows further.
    pub change: f64,
    /// How a beginning or changing error chooses its mode: a weight for each mode besides "none".
    pub weights: Vec<f64>,
    /// The mode by which an error stays as it is, where that is a mode of its own; a drift has one. It is never begun.
    pub stay_mode: Option<u8>,
}

/// Numbers that are no process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessError {
    /// A probability outside of 0 … 1.
    #[error("a probability lies between 0 and 1")]
    NotAProbability,
    /// More than certain.
    #[error("together the probabilities of what follows an error are more than 1")]
    MoreThanCertain,
    /// Weights that choose nothing.
    #[error("weights are not negative, and one of them is more than zero")]
    NoWeight,
    /// Nothing to change to.
    #[error("there is no other mode to change to")]
    NoOther,
}

/// Which mode follows which at one site: a row of probabilities for each mode, with sum 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    rows: Vec<Vec<f64>>,
}

impl Chain {
    /// The chain of a process.
    ///
    /// # Errors
    /// When its numbers contradict each other.
    pub fn new(process: &Process) -> Result<Self, ProcessError> {
        let Process { begin, stay, change, .. } = *process;
        if [begin, stay, change].iter().any(|p| !(0.0..=1.0).contains(p)) {
            return Err(ProcessError::NotAProbability);
        }
        if stay + change > 1.0 + ROUNDING {
            return Err(ProcessError::MoreThanCertain);
        }
        let weights = process.mode_weights();
        let sum: f64 = weights.iter().sum();
        if weights.iter().any(|w| !w.is_finite() || *w < 0.0) || sum <= 0.0 || !sum.is_finite() {
            return Err(ProcessError::NoWeight);
        }
        let modes = weights.len();
        let other_modes = (1..modes).filter(|mode| process.stay_mode.map(usize::from) != Some(*mode)).count();
        if change > 0.0 && process.stay_mode.is_none() && other_modes < 2 {
            return Err(ProcessError::NoOther);
        }
        Ok(Self { rows: (0..modes).map(|mode| process.row(mode, &weights)).collect() })
    }

    /// Probability that a mode follows another.
    pub fn follows(&self, previous: u8, mode: u8) -> f64 {
        self.rows[usize::from(previous)][usize::from(mode)]
    }
    /// How many modes there are, "none" included.
    pub fn modes(&self) -> usize {
        self.rows.len()
    }
}

impl Process {
    /// Weights of all modes; "none" and the staying mode are not chosen by weight.
    fn mode_weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0];
        weights.extend(&self.weights);
        if let Some(weight) = self.stay_mode.and_then(|mode| weights.get_mut(usize::from(mode))) {
            *weight = 0.0;
        }
        weights
    }

    fn row(&self, previous: usize, weights: &[f64]) -> Vec<f64> {
        let mut row = vec![0.0; weights.len()];
        let (held, chosen) = match (previous, self.stay_mode) {
            (0, _) => (None, self.begin),
            (_, Some(mode)) => (Some(usize::from(mode)), self.change),
            (_, None) => (Some(previous), self.change),
        };
        // A jump changes to another mode than it has; a drift may grow to the same side again.
        let eligible = |mode: usize| if held == Some(mode) { 0.0 } else { weights[mode] };
        let sum: f64 = (0..weights.len()).map(eligible).sum();
        if sum > 0.0 {
            for (mode, p) in row.iter_mut().enumerate() {
                *p = chosen * eligible(mode) / sum;
            }
        }
        if let Some(mode) = held {
            row[mode] = self.stay;
        }
        row[0] = (1.0 - row[1..].iter().sum::<f64>()).max(0.0);
        row
    }
}

/// How likely each choice of an error space is after another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Likelihood {
    chains: Vec<Chain>,
    /// Mode per site, for each choice.
    modes: Vec<Vec<u8>>,
}

impl Likelihood {
    /// One chain for each site of the space.
    ///
    /// # Panics
    /// If chains and sites do not fit together.
    pub fn new(space: &ErrorSpace, chains: Vec<Chain>) -> Self {
        assert_eq!(space.sites().len(), chains.len(), "one chain for each site");
        for (site, chain) in space.sites().iter().zip(&chains) {
            assert_eq!(site.modes.len(), chain.modes(), "one row for each mode of `{}`", site.id);
        }
        Self { chains, modes: space.choices().map(|choice| space.modes(choice).to_vec()).collect() }
    }

    /// The choice before the first segment: no error.
    pub const BEFORE: Choice = Choice::NONE;

    /// Probability of each live choice after `previous`, in their order; the sum is 1.
    ///
    /// # Panics
    /// If choice 0 is not the first of the live ones.
    pub fn probabilities(&self, previous: Choice, live: &[Choice], out: &mut Vec<f64>) {
        assert_eq!(live.first(), Some(&Choice::NONE), "no error is always possible");
        out.clear();
        out.extend(live.iter().map(|&choice| self.product(previous, choice)));
        let sum: f64 = out.iter().sum();
        if sum > 0.0 {
            out.iter_mut().for_each(|p| *p /= sum);
        } else {
            out[0] = 1.0;
        }
    }

    /// Logarithm of the probability of a choice after another among the live ones; −∞ if it cannot follow.
    pub fn log_p(&self, previous: Choice, choice: Choice, live: &[Choice]) -> f64 {
        let mut all = Vec::with_capacity(live.len());
        self.probabilities(previous, live, &mut all);
        match live.iter().position(|&other| other == choice) {
            Some(at) if all[at] > 0.0 => maths::ln(all[at]),
            _ => f64::NEG_INFINITY,
        }
    }

    /// Product over the sites, limits left aside.
    fn product(&self, previous: Choice, choice: Choice) -> f64 {
        let before = &self.modes[previous.index()];
        let after = &self.modes[choice.index()];
        self.chains.iter().zip(before.iter().zip(after)).map(|(chain, (&from, &to))| chain.follows(from, to)).product()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::errors::{Mode, Site};

    fn process(begin: f64, stay: f64, change: f64, weights: &[f64]) -> Process {
        Process { begin, stay, change, weights: weights.to_vec(), stay_mode: None }
    }

    #[test]
    fn a_jump_begins_stays_changes_or_ends() {
        let chain = Chain::new(&process(0.1, 0.5, 0.2, &[3.0, 1.0])).unwrap();
        let row = |from| [0, 1, 2].map(|to| (chain.follows(from, to) * 1e6).round() / 1e6);
        assert_eq!(row(0), [0.9, 0.075, 0.025]);
        assert_eq!(row(1), [0.3, 0.5, 0.2]);
        assert_eq!(row(2), [0.3, 0.2, 0.5]);
    }

    #[test]
    fn a_drift_stays_decreases_or_increases_further() {
        let drift = Process { stay_mode: Some(1), ..process(0.2, 0.5, 0.3, &[1.0, 1.0, 2.0]) };
        let chain = Chain::new(&drift).unwrap();
        let row = |from| [0, 1, 2, 3].map(|to| (chain.follows(from, to) * 1e6).round() / 1e6);
        assert_eq!(row(0), [0.8, 0.0, 0.066_667, 0.133_333]);
        for grown in [1, 2, 3] {
            assert_eq!(row(grown), [0.2, 0.5, 0.1, 0.2], "after mode {grown}");
        }
    }

    #[test]
    fn numbers_that_contradict_each_other_are_refused() {
        let check = |process: Process, expect| assert_eq!(Chain::new(&process), Err(expect));
        check(process(1.1, 0.0, 0.0, &[1.0]), ProcessError::NotAProbability);
        check(process(0.1, f64::NAN, 0.0, &[1.0]), ProcessError::NotAProbability);
        check(process(0.1, 0.7, 0.4, &[1.0, 1.0]), ProcessError::MoreThanCertain);
        check(process(0.1, 0.7, 0.0, &[0.0, 0.0]), ProcessError::NoWeight);
        check(process(0.1, 0.7, 0.0, &[1.0, -1.0]), ProcessError::NoWeight);
        check(process(0.1, 0.7, 0.1, &[1.0]), ProcessError::NoOther);
    }

    #[test]
    fn where_no_live_choice_has_a_chance_there_is_no_error() {
        let space = ErrorSpace::of_one_site("push", &["none", "left"]);
        let likelihood = Likelihood::new(&space, vec![Chain::new(&process(1.0, 1.0, 0.0, &[1.0])).unwrap()]);
        assert_eq!(likelihood.log_p(Choice::NONE, Choice::NONE, &[Choice::NONE]), 0.0);
        assert_eq!(likelihood.log_p(Choice::NONE, Choice::NONE, &[Choice::NONE, Choice(1)]), f64::NEG_INFINITY);
    }

    fn any_process(modes: usize) -> impl Strategy<Value = Process> {
        let weights = prop::collection::vec(0.0..3.0_f64, modes - 1);
        (0.0..=1.0_f64, 0.0..=1.0_f64, 0.0..=1.0_f64, weights, prop::bool::ANY).prop_map(
            |(begin, stay, change, mut weights, is_drift)| {
                *weights.last_mut().unwrap() += 0.1;
                let change = change * (1.0 - stay);
                Process { begin, stay, change, weights, stay_mode: is_drift.then_some(1) }
            },
        )
    }

    proptest! {
        #[test]
        fn probabilities_of_live_choices_sum_to_one_after_every_choice(
            processes in (any_process(3), any_process(4)), at_once in 1..3_usize, kept in any::<u64>()
        ) {
            let (a, b) = processes;
            let site = |id: &str, process: &Process| Site {
                id: id.to_owned(),
                modes: (0..=process.weights.len()).map(|m| Mode { name: m.to_string(), size: m as f64 }).collect(),
            };
            let space = ErrorSpace::new(vec![site("a", &a), site("b", &b)], at_once).unwrap();
            let likelihood = Likelihood::new(&space, vec![Chain::new(&a).unwrap(), Chain::new(&b).unwrap()]);
            let live: Vec<Choice> = space.choices().filter(|c| c.0 == 0 || kept >> c.0 & 1 == 1).collect();
            let mut out = Vec::new();
            for previous in space.choices() {
                likelihood.probabilities(previous, &live, &mut out);
                prop_assert!((out.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{out:?}");
                prop_assert!(out.iter().all(|p| (0.0..=1.0).contains(p)), "{out:?}");
            }
        }
    }
}
