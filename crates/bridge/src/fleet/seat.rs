//! One instance of a fleet, held by one thread.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, MutexGuard, PoisonError};

use super::token::{Drops, Token};
use super::{Fleet, Times};
use crate::instance::Instance;
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Answer, Card, Op, TokenId};

/// What belongs to one instance.
#[derive(Default)]
pub(super) struct Inner {
    instance: Option<Box<dyn Instance>>,
    generation: u64,
    next_token: TokenId,
    drops: Drops,
    /// Saved states that still live there, oldest first in `order`.
    live: BTreeSet<TokenId>,
    order: VecDeque<TokenId>,
    pub(super) times: Times,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("generation", &self.generation).field("live", &self.live.len()).finish()
    }
}

impl Inner {
    pub(super) fn occupy(&mut self, instance: Box<dyn Instance>, generation: u64) {
        *self = Self { instance: Some(instance), generation, times: self.times, ..Self::default() };
    }
    /// Takes what is to be forgotten: dropped handles, and the oldest states beyond the limit.
    fn forget(&mut self, tokens_max: usize) -> Vec<TokenId> {
        let dropped = std::mem::take(&mut *self.drops.lock().unwrap_or_else(PoisonError::into_inner));
        let mut gone: Vec<TokenId> = dropped.into_iter().filter(|id| self.live.remove(id)).collect();
        while self.live.len() > tokens_max {
            let Some(oldest) = self.order.pop_front() else { break };
            if self.live.remove(&oldest) {
                gone.push(oldest);
            }
        }
        if self.order.len() > 2 * self.live.len() + 64 {
            let live = &self.live;
            self.order.retain(|id| live.contains(id));
        }
        gone
    }
}

/// An instance, exclusively.
#[derive(Debug)]
pub struct Seat<'f> {
    pub(super) fleet: &'f Fleet,
    pub(super) index: usize,
    pub(super) inner: MutexGuard<'f, Inner>,
}

impl Seat<'_> {
    /// Which of the instances this is.
    pub fn index(&self) -> usize {
        self.index
    }
    /// What the instances say of themselves.
    pub fn card(&self) -> &Card {
        &self.fleet.card
    }
    /// Whether a saved state still lives here.
    pub fn holds(&self, token: &Token) -> bool {
        self.inner.instance.is_some()
            && token.generation() == self.inner.generation
            && self.inner.live.contains(&token.id())
    }
    /// A number for a state that is about to be saved.
    pub fn next_token(&mut self) -> TokenId {
        self.inner.next_token = self.inner.next_token.wrapping_add(1);
        self.inner.next_token
    }
    /// The handle of a state that was saved under this number.
    pub fn saved(&mut self, id: TokenId) -> Arc<Token> {
        self.inner.live.insert(id);
        self.inner.order.push_back(id);
        self.fleet.token(self.inner.generation, id, &self.inner.drops)
    }
    /// Does all operations; `answers` then has one for each. An instance that is not there is started first, so
    /// whoever loads a token asks [`Self::holds`] before.
    ///
    /// # Errors
    /// When the instance misbehaved. It is ended, and with it everything that lived in it is gone.
    pub fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        self.ensure()?;
        let inner = &mut *self.inner;
        let gone = inner.forget(self.fleet.tokens_max);
        let instance = inner.instance.as_mut().expect("just ensured");
        answers.clear();
        let began = now();
        let result = if gone.is_empty() {
            instance.exchange(ops, answers)
        } else {
            // Forgetting travels with the first thing that is asked anyway.
            let mut all = Vec::with_capacity(ops.len() + 1);
            all.push(Op::Drop { tokens: gone });
            all.extend_from_slice(ops);
            let result = instance.exchange(&all, answers);
            if result.is_ok() && !answers.is_empty() {
                answers.remove(0);
            }
            result
        };
        let waited_s = began.elapsed().as_secs_f64();
        let times = &mut inner.times;
        times.exchanges += 1;
        times.steps += ops.iter().filter(|op| matches!(op, Op::Step { .. } | Op::Run { .. })).count() as u64;
        times.inside_s += instance.seconds();
        times.waited_s += waited_s;
        times.longest_s = times.longest_s.max(waited_s);
        let result = result.and_then(|()| {
            if answers.len() == ops.len() {
                return Ok(());
            }
            let text = format!("{} operations were answered {} times", ops.len(), answers.len());
            Err(Misbehaviour::new(Kind::WrongSequence, text))
        });
        if result.is_err() {
            self.end();
        }
        result
    }
    /// Ends the instance; the next exchange starts a new one.
    pub fn end(&mut self) {
        self.inner.instance = None;
        self.inner.live.clear();
        self.inner.order.clear();
    }

    fn ensure(&mut self) -> Result<(), Misbehaviour> {
        if self.inner.instance.is_some() {
            return Ok(());
        }
        let again = self.inner.times.exchanges > 0;
        let (instance, generation) = self.fleet.start()?;
        self.inner.occupy(instance, generation);
        self.inner.times.restarts += u64::from(again);
        Ok(())
    }
}

/// Waiting for somebody else is the edge of the program; the time never reaches a result.
#[expect(
    clippy::disallowed_methods,
    reason = "how long the code from outside took is told to people and decides nothing"
)]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}
