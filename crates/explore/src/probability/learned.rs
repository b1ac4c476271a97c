//! What the first runs teach: failures that the merged graph did not expect.
//!
//! A failure that was drawn passed through some cells. From each of them its remaining errors lead to failure, with a
//! probability that is known exactly. Different remainders from the same cell add up, and their sum is what later runs
//! expect there.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_kernel::{CellKey, Choice, maths};

use super::sample::Failure;

/// Probability of failure after a choice in a cell at a level, as far as failures were drawn.
#[derive(Debug, Default)]
pub(super) struct Learned {
    values: BTreeMap<(u32, CellKey), Vec<(Choice, f64)>>,
}

impl Learned {
    /// What some failures teach.
    pub(super) fn from(failures: &[Failure]) -> Self {
        let mut learned = Self::default();
        let mut known = BTreeSet::new();
        for failure in failures {
            for (level, key) in failure.keys.iter().enumerate() {
                let rest = &failure.choices[level..];
                if known.insert((level, *key, rest)) {
                    let p = maths::exp(failure.log_p - failure.log_steps[level]);
                    learned.add((level as u32, *key), rest[0], p);
                }
            }
        }
        learned
    }

    fn add(&mut self, at: (u32, CellKey), choice: Choice, p: f64) {
        let values = self.values.entry(at).or_default();
        match values.iter_mut().find(|(known, _)| *known == choice) {
            Some((_, sum)) => *sum += p,
            None => values.push((choice, p)),
        }
    }

    /// What was learned about live choices.
    pub(super) fn look_up(&self, level: u32, key: CellKey, live: &[Choice], values: &mut [f64]) {
        for (choice, learned) in self.values.get(&(level, key)).into_iter().flatten() {
            if let Some(at) = live.iter().position(|live| live == choice) {
                values[at] = *learned;
            }
        }
    }
}
