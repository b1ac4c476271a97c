//! A module as an instance: branches are copies of it, saved states are images.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::blueprint::Blueprint;
use super::image::{Image, PAGE_BYTES};
use super::slot::{Slot, Tools};
use crate::clock::now;
use crate::instance::Instance;
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Answer, Branch, Card, Op, TokenId};

/// Branches and saved states of one module.
pub struct WasmInstance {
    blueprint: Arc<Blueprint>,
    branches: BTreeMap<Branch, Slot>,
    /// Copies nobody runs at the moment.
    free: Vec<Slot>,
    saved: BTreeMap<TokenId, Arc<Image>>,
    tools: Tools,
    seconds: f64,
}

impl std::fmt::Debug for WasmInstance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WasmInstance")
            .field("branches", &self.branches.len())
            .field("saved", &self.saved.len())
            .finish_non_exhaustive()
    }
}

impl WasmInstance {
    pub(super) fn new(blueprint: Arc<Blueprint>) -> Self {
        Self {
            blueprint,
            branches: BTreeMap::new(),
            free: Vec::new(),
            saved: BTreeMap::new(),
            tools: Tools::default(),
            seconds: 0.0,
        }
    }
    /// Bytes of memory that saved states have to themselves or share with each other; shared ones count once.
    pub fn saved_bytes(&self) -> usize {
        let distinct: BTreeSet<usize> = self.saved.values().flat_map(|image| image.pages()).collect();
        distinct.len() * PAGE_BYTES
    }

    fn perform(&mut self, op: &Op) -> Result<Answer, Misbehaviour> {
        match op {
            Op::Describe {} => Ok(Answer::Card(Box::new(self.blueprint.card.clone()))),
            Op::Reset { branch, begin } => {
                let image = Arc::clone(&self.blueprint.start);
                let mut slot = self.place(*branch, &image)?;
                let answer = slot.reset(&self.blueprint, &mut self.tools, begin)?;
                self.branches.insert(*branch, slot);
                Ok(answer)
            }
            Op::Load { token, branch } => {
                let Some(image) = self.saved.get(token).cloned() else {
                    return Ok(Answer::Failed { text: format!("there is no saved state {token}") });
                };
                let slot = self.place(*branch, &image)?;
                self.branches.insert(*branch, slot);
                Ok(Answer::Done {})
            }
            Op::Step { branch, seen } => {
                let Some(slot) = self.branches.get_mut(branch) else { return Ok(no_branch(*branch)) };
                slot.step(&self.blueprint, &mut self.tools, seen)
            }
            Op::Run { .. } | Op::Move { .. } | Op::Ask(_) => {
                Ok(Answer::Failed { text: "a WASM module is a driver and runs no segments".to_owned() })
            }
            Op::Save { branch, token } => {
                let Some(mut slot) = self.branches.remove(branch) else { return Ok(no_branch(*branch)) };
                let image = slot.save(&self.blueprint.base, &self.blueprint.scratch, &mut self.tools);
                let bytes = image.digest().0.to_le_bytes().to_vec();
                self.saved.insert(*token, image);
                self.free.push(slot);
                Ok(Answer::Saved { bytes: Some(bytes.into()), attributes: None })
            }
            Op::Drop { tokens } => {
                for token in tokens {
                    self.saved.remove(token);
                }
                Ok(Answer::Done {})
            }
            Op::Bye {} => {
                self.branches.clear();
                self.free.clear();
                self.saved.clear();
                Ok(Answer::Done {})
            }
        }
    }

    /// A copy for a branch that holds this state: the branch's own, one that is free, or a new one.
    fn place(&mut self, branch: Branch, image: &Arc<Image>) -> Result<Slot, Misbehaviour> {
        let base = &self.blueprint.base;
        while let Some(slot) = self.branches.remove(&branch).or_else(|| self.free.pop()) {
            if let Some(slot) = slot.load(image, base, &mut self.tools) {
                return Ok(slot);
            }
        }
        let limit = self.blueprint.compiled.limits.branches_max;
        if self.branches.len() >= limit {
            return Err(Misbehaviour::new(Kind::Memory, format!("more than {limit} branches of a module at once")));
        }
        let (slot, _) = Slot::open(&self.blueprint.compiled)?;
        let no_memory = || Misbehaviour::new(Kind::Memory, "no memory for another copy of the module");
        slot.load(image, base, &mut self.tools).ok_or_else(no_memory)
    }
}

impl Instance for WasmInstance {
    fn card(&self) -> &Card {
        &self.blueprint.card
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        answers.clear();
        let began = now();
        let result = ops.iter().try_for_each(|op| {
            answers.push(self.perform(op)?);
            Ok(())
        });
        self.seconds = began.elapsed().as_secs_f64();
        result
    }
    fn seconds(&self) -> f64 {
        self.seconds
    }
}

fn no_branch(branch: Branch) -> Answer {
    Answer::Failed { text: format!("there is no branch {branch}") }
}
