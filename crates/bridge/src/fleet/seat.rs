//! One instance of a fleet, held by one thread.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use super::pace::{Due, Timetable};
use super::token::{Drops, Token};
use super::{Fleet, Pace, Times};
use crate::checks;
use crate::clock::now;
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
    /// Saved states that still live there.
    live: BTreeSet<TokenId>,
    timetable: Timetable,
    /// Those that wait for their turn, oldest first.
    waiting: VecDeque<TokenId>,
    /// Those that were continued already, in that order.
    continued: VecDeque<TokenId>,
    /// Those that somebody is about to continue.
    pinned: BTreeSet<TokenId>,
    pub(super) times: Times,
    /// The next instance is started because somebody wanted a new one.
    is_renewed: bool,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("generation", &self.generation).field("live", &self.live.len()).finish()
    }
}

impl Inner {
    pub(super) fn occupy(&mut self, instance: Box<dyn Instance>, generation: u64) {
        // Numbers of saved states go on: one may have been given out for the message that starts this instance.
        let (times, next_token) = (self.times, self.next_token);
        *self = Self { instance: Some(instance), generation, times, next_token, ..Self::default() };
    }
    /// Takes what is to be forgotten: dropped handles, and states beyond the limit. What these operations load or somebody
    /// pinned stays for now, even if nobody else wants it: whoever asked [`Seat::holds`] relies on it.
    ///
    /// A state that was continued is hardly needed again, so these go first. Among the others the newest goes: level by
    /// level it is the last to have its turn, while the oldest is about to be continued.
    fn forget(&mut self, tokens_max: usize, ops: &[Op]) -> Vec<TokenId> {
        let mut dropped = std::mem::take(&mut *self.drops.lock().unwrap_or_else(PoisonError::into_inner));
        if dropped.is_empty() && self.live.len() <= tokens_max {
            return dropped;
        }
        let pinned: BTreeSet<TokenId> = loads(ops).chain(self.pinned.iter().copied()).collect();
        let later: Vec<TokenId> = dropped.extract_if(.., |id| pinned.contains(id)).collect();
        self.drops.lock().unwrap_or_else(PoisonError::into_inner).extend(later);
        let mut gone: Vec<TokenId> = dropped.into_iter().filter(|id| self.live.remove(id)).collect();
        let mut spared = Vec::new();
        while self.live.len() > tokens_max {
            let Some(next) = self.continued.pop_front().or_else(|| self.waiting.pop_back()) else { break };
            if pinned.contains(&next) {
                spared.push(next);
            } else if self.live.remove(&next) {
                gone.push(next);
            }
        }
        // They are about to be continued.
        self.continued.extend(spared);
        for queue in [&mut self.waiting, &mut self.continued] {
            if queue.len() > 2 * self.live.len() + 64 {
                queue.retain(|id| self.live.contains(id));
            }
        }
        gone
    }
    /// Forgets who was about to be continued.
    pub(super) fn unpin(&mut self) {
        self.pinned.clear();
    }
    /// Notes which states were continued.
    fn remember_loads(&mut self, ops: &[Op]) {
        let mut last = None;
        for id in loads(ops).filter(|id| self.live.contains(id)) {
            // The branches of one state follow each other.
            if last.replace(id) != Some(id) {
                self.continued.push_back(id);
            }
        }
    }
}

/// The states that operations load.
fn loads(ops: &[Op]) -> impl Iterator<Item = TokenId> {
    ops.iter().filter_map(|op| if let Op::Load { token, .. } = op { Some(*token) } else { None })
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
    /// Whether no instance sits here: the next exchange starts one, and what goes wrong in it is not the fault of
    /// anything before.
    pub fn is_empty(&self) -> bool {
        self.inner.instance.is_none()
    }
    /// Whether the instance here, or the one that the next exchange starts, has done nothing yet.
    pub fn is_new(&self) -> bool {
        self.is_empty() || self.inner.times.exchanges == 0
    }
    /// Whether a saved state still lives here.
    pub fn holds(&self, token: &Token) -> bool {
        self.inner.instance.is_some()
            && token.generation() == self.inner.generation
            && self.inner.live.contains(&token.id())
    }
    /// Keeps a state that lives here until this seat is given up, whatever is asked in between.
    pub fn pin(&mut self, token: &Token) {
        if self.holds(token) {
            self.inner.pinned.insert(token.id());
        }
    }
    /// A number for a state that is about to be saved.
    pub fn next_token(&mut self) -> TokenId {
        self.inner.next_token = self.inner.next_token.wrapping_add(1);
        self.inner.next_token
    }
    /// The handle of a state that was saved under this number.
    pub fn saved(&mut self, id: TokenId) -> Arc<Token> {
        self.inner.live.insert(id);
        self.inner.waiting.push_back(id);
        self.fleet.token(self.inner.generation, id, &self.inner.drops)
    }
    /// Does all operations; `answers` then has one for each, of the kind it asks for. An instance that is not there is
    /// started first, so whoever loads a token asks [`Self::holds`] before. The numbers in the answers are not looked
    /// at: see [`Self::ask`].
    ///
    /// # Errors
    /// When the instance misbehaved. It is ended, and with it everything that lived in it is gone.
    pub fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        self.ensure()?;
        let latency = self.fleet.latency;
        let inner = &mut *self.inner;
        let gone = inner.forget(self.fleet.tokens_max, ops);
        // Taken out while it works: should this thread panic, a half-done conversation is not continued by the next.
        let mut instance = inner.instance.take().expect("just ensured");
        answers.clear();
        instance.expect(self.fleet.step_s());
        let due = match self.fleet.pace {
            Pace::Lockstep => Due::In(Duration::ZERO),
            Pace::RealTime => inner.timetable.due(ops, now()),
        };
        if let Due::In(wait) = due {
            std::thread::sleep(wait);
        }
        let began = now();
        let result = if gone.is_empty() {
            instance.exchange(ops, answers).and_then(|()| checks::check_kinds(ops, answers))
        } else {
            // Forgetting travels with the first thing that is asked anyway.
            let mut all = Vec::with_capacity(ops.len() + 1);
            all.push(Op::Drop { tokens: gone });
            all.extend_from_slice(ops);
            let result = instance.exchange(&all, answers).and_then(|()| checks::check_kinds(&all, answers));
            if result.is_ok() {
                answers.remove(0);
            }
            result
        };
        let waited_s = began.elapsed().as_secs_f64();
        let steps =
            ops.iter().filter(|op| matches!(op, Op::Step { .. } | Op::Run { .. } | Op::Move { .. })).count() as u64;
        inner.times.add(steps, waited_s, instance.seconds());
        let late = latency.look(steps, waited_s);
        inner.times.late_steps += if late.is_some() || due == Due::Passed { steps } else { 0 };
        let result = result.and_then(|()| late.filter(|_| latency.is_failure()).map_or(Ok(()), Err));
        match result {
            Ok(()) => {
                inner.remember_loads(ops);
                inner.instance = Some(instance);
                self.fleet.took(steps, waited_s);
            }
            Err(_) => {
                drop(instance);
                self.end();
            }
        }
        result
    }
    /// Like [`Self::exchange`], and every answer is looked at ([`checks::check_answer`]): what is wrong with one concerns
    /// its branch alone. This is what to call unless there is a reason.
    ///
    /// # Errors
    /// When the instance as a whole misbehaved.
    pub fn ask(&mut self, ops: &[Op]) -> Result<Vec<Result<Answer, Misbehaviour>>, Misbehaviour> {
        let mut answers = Vec::new();
        self.exchange(ops, &mut answers)?;
        let card = self.card();
        let judged =
            ops.iter().zip(answers).map(|(op, answer)| checks::check_answer(card, op, &answer).map(|()| answer));
        Ok(judged.collect())
    }
    /// Ends the instance; the next exchange starts a new one.
    pub fn end(&mut self) {
        self.inner.instance = None;
        self.inner.live.clear();
        self.inner.waiting.clear();
        self.inner.continued.clear();
        self.inner.pinned.clear();
    }

    /// Ends the instance because a new one is wanted, not because something went wrong: this is not counted as a restart.
    pub fn renew(&mut self) {
        self.end();
        self.inner.is_renewed = true;
    }

    fn ensure(&mut self) -> Result<(), Misbehaviour> {
        if self.inner.instance.is_some() {
            return Ok(());
        }
        let again = self.inner.times.exchanges > 0 && !self.inner.is_renewed;
        let (instance, generation) = self.fleet.start()?;
        if instance.card().code != self.fleet.card.code {
            let text = "its code has changed since the first instance was started; begin anew";
            return Err(Misbehaviour::new(Kind::NoStart, text));
        }
        if *instance.card() != self.fleet.card {
            let text = "a new instance describes itself differently than the first one did";
            return Err(Misbehaviour::new(Kind::BrokenPromise, text));
        }
        self.inner.occupy(instance, generation);
        self.inner.times.restarts += u64::from(again);
        Ok(())
    }
}
