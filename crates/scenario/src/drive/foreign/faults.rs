//! What a driver from outside did wrong, with evidence; beside the exploration, which only sees verdicts.

use std::collections::BTreeMap;
use std::sync::Arc;

use anabranch_bridge::{Kind, Op};
use anabranch_kernel::{Choice, Fault};

use super::anew::Anew;
use super::memory::PathAddress;

/// Faults of a kind that are kept with their evidence. Those with the shortest paths are, whatever the order in which
/// they were found.
const KEPT_PER_KIND: usize = 32;

/// One misbehaviour on one path.
#[derive(Clone, Debug, PartialEq)]
pub struct AvFault {
    /// What kind.
    pub kind: Kind,
    /// Number of the start.
    pub start: usize,
    /// The error of every segment, that in which it happened included.
    pub choices: Vec<Choice>,
    /// Base cycle since the start of the run.
    pub tick: u64,
    /// What happened; text from outside is not yet escaped.
    pub text: String,
    /// The last output of the process.
    pub output: Option<Arc<str>>,
    /// What was asked last.
    pub asked: Vec<Op>,
}

type Address = (usize, usize, Vec<Choice>);

/// The faults that are kept.
#[derive(Debug, Default)]
pub(super) struct FaultLog {
    by_kind: BTreeMap<Kind, BTreeMap<Address, AvFault>>,
    /// Segments that were run twice.
    pub(super) doubled: u64,
    /// Paths that were run again in a new instance.
    pub(super) anew: Anew,
    /// A branch that is still open: its instance, and the path that led there.
    pub(super) open: Option<(usize, PathAddress)>,
    /// Why no instance starts any more.
    pub(super) gone: Option<Fault>,
}

impl FaultLog {
    pub(super) fn keep(&mut self, fault: AvFault) {
        let kept = self.by_kind.entry(fault.kind).or_default();
        kept.insert((fault.choices.len(), fault.start, fault.choices.clone()), fault);
        if kept.len() > KEPT_PER_KIND {
            kept.pop_last();
        }
    }
    pub(super) fn all(&self) -> Vec<AvFault> {
        self.by_kind.values().flat_map(BTreeMap::values).cloned().collect()
    }
    pub(super) fn on(&self, start: usize, choices: &[Choice]) -> Option<AvFault> {
        let address: Address = (choices.len(), start, choices.to_vec());
        self.by_kind.values().find_map(|kept| kept.get(&address)).cloned()
    }
}
