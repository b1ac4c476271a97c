//! The failures that the first runs drew, word for word.
//!
//! Where cells are coarse, what failures teach about a cell holds for some of its states and misleads others. A sequence
//! that failed once fails always, so some runs go along known sequences, each as often as it is likely among them.

use anabranch_kernel::{Choice, maths};

use super::sample::Failure;

/// A tree of error sequences; every choice has the probability of all known failures behind it.
#[derive(Debug, Default)]
pub(super) struct Recalled {
    /// Choices from each node, with the node that they lead to.
    nodes: Vec<Vec<(Choice, f64, u32)>>,
    /// Probability of the failures from each start; its node has the same number.
    pub(super) starts: Vec<f64>,
}

impl Recalled {
    /// Each distinct failure once.
    pub(super) fn from<'f>(failures: impl IntoIterator<Item = &'f Failure>, starts: usize) -> Self {
        let mut all: Vec<(usize, &[Choice], f64)> =
            failures.into_iter().map(|failure| (failure.start, &failure.choices[..], failure.log_p)).collect();
        all.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        all.dedup_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let mut tree = Self { nodes: vec![Vec::new(); starts], starts: vec![0.0; starts] };
        for (start, choices, log_p) in all {
            let p = maths::exp(log_p);
            tree.starts[start] += p;
            let mut node = start as u32;
            for &choice in choices {
                node = tree.add(node, choice, p);
            }
        }
        tree
    }

    fn add(&mut self, node: u32, choice: Choice, p: f64) -> u32 {
        let next = self.nodes.len() as u32;
        let choices = &mut self.nodes[node as usize];
        if let Some((_, sum, known)) = choices.iter_mut().find(|(known, ..)| *known == choice) {
            *sum += p;
            return *known;
        }
        choices.push((choice, p, next));
        self.nodes.push(Vec::new());
        next
    }

    /// What lies behind live choices.
    pub(super) fn look_up(&self, node: Option<u32>, live: &[Choice], values: &mut [f64]) {
        let known = node.and_then(|node| self.nodes.get(node as usize)).map_or(&[][..], Vec::as_slice);
        for (choice, p, _) in known {
            if let Some(at) = live.iter().position(|live| live == choice) {
                values[at] = *p;
            }
        }
    }

    /// Where a choice leads; nowhere if no known failure has it.
    pub(super) fn go(&self, node: Option<u32>, choice: Choice) -> Option<u32> {
        let known = self.nodes.get(node? as usize)?;
        known.iter().find(|(known, ..)| *known == choice).map(|(.., next)| *next)
    }
}
