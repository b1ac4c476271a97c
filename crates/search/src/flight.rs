//! Points that were asked and are not told yet: simulated on all cores, taken out in the order they were asked.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use anabranch_kernel::Fault;
use rayon::{ScopeFifo, Yield};

use crate::objective::{Objective, Outcome, Question};
use crate::report::Origin;

/// How long somebody with nothing to do sleeps before it looks whether there is something to help with.
const NAP: Duration = Duration::from_micros(200);

/// A point under way.
#[derive(Debug)]
pub struct Asked {
    /// The point of the unit cube.
    pub unit: Vec<f64>,
    /// Its values in the space.
    pub values: Vec<f64>,
    /// Who asked.
    pub origin: Origin,
    /// The constraint it breaks; such a point is not simulated.
    pub broken: Option<usize>,
}

type Answer = Result<Outcome, Fault>;

/// What a simulation ended with: an answer, or the panic of whoever was asked.
type Ending = thread::Result<Answer>;

/// The points under way, oldest first.
pub struct Flight<'s, 'scope> {
    scope: &'s ScopeFifo<'scope>,
    objective: &'scope dyn Objective,
    decided_below: f64,
    waiting: VecDeque<(Asked, Option<Answer>)>,
    /// Points that have left.
    gone: usize,
    tell: Sender<(usize, Ending)>,
    hear: Receiver<(usize, Ending)>,
    is_over: Arc<AtomicBool>,
}

impl Drop for Flight<'_, '_> {
    /// What has not begun is not simulated any more.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl<'s, 'scope> Flight<'s, 'scope> {
    /// Nothing under way yet.
    pub fn new(scope: &'s ScopeFifo<'scope>, objective: &'scope dyn Objective, decided_below: f64) -> Self {
        let (tell, hear) = channel();
        Self { scope, objective, decided_below, waiting: VecDeque::new(), gone: 0, tell, hear, is_over: Arc::default() }
    }
    /// Points under way.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }
    /// The points under way, oldest first.
    pub fn points(&self) -> impl Iterator<Item = &Asked> {
        self.waiting.iter().map(|(asked, _)| asked)
    }
    /// Sends a point off. `alone`: nothing else will be under way, so it is simulated here and now.
    pub fn send(&mut self, asked: Asked, alone: bool) {
        if asked.broken.is_some() {
            self.waiting.push_back((asked, None));
            return;
        }
        let (objective, decided_below) = (self.objective, self.decided_below);
        if alone {
            let answer = objective.evaluate(Question { values: &asked.values, decided_below });
            self.waiting.push_back((asked, Some(answer)));
            return;
        }
        let (number, tell, values) = (self.gone + self.waiting.len(), self.tell.clone(), asked.values.clone());
        let is_over = Arc::clone(&self.is_over);
        self.scope.spawn_fifo(move |_| {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let simulated = || objective.evaluate(Question { values: &values, decided_below });
            // Whoever waits is told in any case; that nobody listens any more means that the search is over.
            let _ = tell.send((number, catch_unwind(AssertUnwindSafe(simulated))));
        });
        self.waiting.push_back((asked, None));
    }
    /// The oldest point and what became of it; nothing where it broke a constraint. Helps to simulate until that is known.
    pub fn next(&mut self) -> Option<(Asked, Option<Answer>)> {
        while self.waiting.front().is_some_and(|(asked, answer)| asked.broken.is_none() && answer.is_none()) {
            while let Ok(heard) = self.hear.try_recv() {
                self.take(heard);
            }
            let known = self.waiting.front().is_some_and(|(_, answer)| answer.is_some());
            if !known
                && rayon::yield_now() != Some(Yield::Executed)
                && let Ok(heard) = self.hear.recv_timeout(NAP)
            {
                self.take(heard);
            }
        }
        let next = self.waiting.pop_front();
        self.gone += usize::from(next.is_some());
        next
    }
    fn take(&mut self, (number, ending): (usize, Ending)) {
        match ending {
            Ok(answer) => self.waiting[number - self.gone].1 = Some(answer),
            Err(panic) => resume_unwind(panic),
        }
    }
}
