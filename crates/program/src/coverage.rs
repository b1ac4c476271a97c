//! Which steps and branches were executed, and how often.

use serde::{Deserialize, Serialize};

use crate::program::Program;

/// Counts of executed steps and of both outcomes of each decision.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// How often each step was executed.
    pub steps: Vec<u64>,
    /// How often each decision was false and true.
    pub decisions: Vec<[u64; 2]>,
}

impl Coverage {
    /// Nothing executed yet.
    pub fn new(program: &Program) -> Self {
        Self { steps: vec![0; program.steps().len()], decisions: vec![[0; 2]; program.decisions().len()] }
    }
    /// Adds what another run of the same program executed.
    pub fn add(&mut self, other: &Self) {
        self.steps.iter_mut().zip(&other.steps).for_each(|(mine, more)| *mine += more);
        for (mine, more) in self.decisions.iter_mut().zip(&other.decisions) {
            mine.iter_mut().zip(more).for_each(|(mine, more)| *mine += more);
        }
    }
    /// How many outcomes of decisions were seen, and how many there are.
    pub fn outcomes(&self) -> (usize, usize) {
        (self.decisions.iter().flatten().filter(|&&count| count > 0).count(), 2 * self.decisions.len())
    }
    pub(crate) fn step(&mut self, number: u32) {
        if let Some(count) = self.steps.get_mut(number as usize) {
            *count += 1;
        }
    }
    pub(crate) fn decision(&mut self, number: u32, taken: bool) {
        if let Some(counts) = self.decisions.get_mut(number as usize) {
            counts[usize::from(taken)] += 1;
        }
    }
}
