//! Several instances of one kind: started, supervised, started again; and who remembers which state.

mod latency;
mod pace;
mod seat;
#[cfg(test)]
mod tests;
mod token;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use latency::{Latency, Times};
pub use pace::Pace;
pub use seat::Seat;
pub use token::Token;

use crate::instance::{Factory, Instance};
use crate::misbehaviour::Misbehaviour;
use crate::protocol::{Card, Snapshot};

/// Saved states that are processes take memory, a file and a place in the system's table each; more are rebuilt by replay.
const FORK_TOKENS_MAX: usize = 512;

/// How much a fleet may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FleetLimits {
    /// Instances side by side.
    pub instances: usize,
    /// Saved states kept alive in each; more are dropped, those that were continued first, and
    /// rebuilt by replay when needed.
    pub tokens_max: usize,
}

impl Default for FleetLimits {
    fn default() -> Self {
        Self { instances: 1, tokens_max: 100_000 }
    }
}

/// Instances of one kind.
#[derive(Debug)]
pub struct Fleet {
    factory: Box<dyn Factory>,
    card: Card,
    seats: Vec<Mutex<seat::Inner>>,
    tokens_max: usize,
    latency: Latency,
    pace: Pace,
    generations: AtomicU64,
    /// Steps and the nanoseconds they took, in all instances: a new one is as slow as the others.
    steps: AtomicU64,
    waited_ns: AtomicU64,
}

impl Fleet {
    /// Starts the first instance and asks what it is; the others start when they are needed.
    ///
    /// # Errors
    /// When the first one does not start.
    pub fn new(factory: Box<dyn Factory>, limits: FleetLimits) -> Result<Self, Misbehaviour> {
        let first = factory.start()?;
        let card = first.card().clone();
        crate::checks::check_card(&card)?;
        let forks = card.snapshot == Snapshot::Fork;
        let fleet = Self {
            factory,
            card,
            seats: (0..limits.instances.max(1)).map(|_| Mutex::default()).collect(),
            tokens_max: if forks { limits.tokens_max.min(FORK_TOKENS_MAX) } else { limits.tokens_max },
            latency: Latency::default(),
            pace: Pace::default(),
            generations: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            waited_ns: AtomicU64::new(0),
        };
        fleet.lock(0).occupy(first, fleet.next_generation());
        Ok(fleet)
    }
    /// With another budget of time per step.
    #[must_use]
    pub fn with_latency(mut self, latency: Latency) -> Self {
        self.latency = latency;
        self
    }
    /// At another pace.
    #[must_use]
    pub fn with_pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }
    /// What the instances say of themselves.
    pub fn card(&self) -> &Card {
        &self.card
    }
    /// How many instances there can be.
    pub fn instances(&self) -> usize {
        self.seats.len()
    }
    /// Waits for the instance that states of this home live in. Homes are spread by the caller: any function of the
    /// path will do, for results do not depend on it.
    pub fn seat(&self, home: u64) -> Seat<'_> {
        let index = (home % self.seats.len() as u64) as usize;
        let mut inner = self.lock(index);
        inner.unpin();
        Seat { fleet: self, index, inner }
    }
    /// Time taken so far, all instances together.
    pub fn times(&self) -> Times {
        (0..self.seats.len()).map(|index| self.lock(index).times).fold(Times::default(), Times::plus)
    }

    fn lock(&self, index: usize) -> MutexGuard<'_, seat::Inner> {
        self.seats[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// How long a step took so far, in the mean; zero if there was none.
    fn step_s(&self) -> f64 {
        let steps = self.steps.load(Ordering::Relaxed).max(1);
        self.waited_ns.load(Ordering::Relaxed) as f64 * 1e-9 / steps as f64
    }
    fn took(&self, steps: u64, waited_s: f64) {
        if steps > 0 {
            self.steps.fetch_add(steps, Ordering::Relaxed);
            self.waited_ns.fetch_add((waited_s * 1e9) as u64, Ordering::Relaxed);
        }
    }
    fn next_generation(&self) -> u64 {
        self.generations.fetch_add(1, Ordering::Relaxed)
    }
    fn start(&self) -> Result<(Box<dyn Instance>, u64), Misbehaviour> {
        Ok((self.factory.start()?, self.next_generation()))
    }
    fn token(&self, generation: u64, id: u32, drops: &token::Drops) -> Arc<Token> {
        Arc::new(Token::new(generation, id, drops.clone()))
    }
}
