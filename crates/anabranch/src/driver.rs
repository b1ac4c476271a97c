//! A driver written in Rust, in this process: as an [`Instance`] it is explored like any other.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use anabranch_bridge::protocol::{Branch, KeyVariable, TokenId};
use anabranch_bridge::{
    Answer, Begin, Card, Decision, Endpoint, Factory, Instance, Misbehaviour, Op, PROTOCOL, Role, Seen, ServeError,
    Snapshot, Support, serve,
};

/// Driving software under test. Cloning it saves its state, so everything that it remembers is in it.
///
/// A panic is a finding of the kind *exception*, and the exploration goes on.
pub trait Driver: Clone + Send + Sync + 'static {
    /// Decides once, from what the sensors say.
    fn step(&mut self, seen: &Seen) -> Decision;

    /// Begins a run; called on a clone of the driver as it was handed over.
    fn begin(&mut self, begin: &Begin) {
        let _ = begin;
    }
    /// Name for people.
    fn name(&self) -> String {
        "driver in Rust".to_owned()
    }
    /// What of its memory counts for merging; [`Decision::key`] then has a value for each. Without it, and without
    /// [`bytes`](Driver::bytes), states with different pasts are never merged.
    fn key(&self) -> Vec<KeyVariable> {
        Vec::new()
    }
    /// The whole memory in canonical form, if two memories with equal bytes have equal futures:
    /// [`to_bytes`](anabranch_kernel::to_bytes) of its fields will do.
    fn bytes(&self) -> Option<Vec<u8>> {
        None
    }
    /// Whether it has no memory at all: the decision depends on what is seen, and on nothing else.
    fn is_memoryless(&self) -> bool {
        false
    }
    /// Seconds between two steps; the scenario's where it does not say.
    fn cycle_s(&self) -> Option<f64> {
        None
    }
    /// Optional parts it wants to be told: `walls`, `samples`, `occupancy`.
    fn wants(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A variable that counts for merging, by cells of this size; 0 counts exactly.
pub fn key(name: &str, unit: &str, cell: f64) -> KeyVariable {
    KeyVariable { name: name.to_owned(), unit: unit.to_owned(), cell: (cell > 0.0).then_some(cell) }
}

/// Starts drivers of one kind: each instance has its own branches.
#[derive(Clone)]
pub struct DriverFactory<D: Driver>(pub D);

impl<D: Driver> std::fmt::Debug for DriverFactory<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DriverFactory").field(&self.0.name()).finish()
    }
}

impl<D: Driver> Factory for DriverFactory<D> {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        Ok(Box::new(DriverInstance::new(self.0.clone())))
    }
}

/// A driver with its branches and saved states.
pub struct DriverInstance<D: Driver> {
    start: D,
    card: Card,
    branches: BTreeMap<Branch, D>,
    saved: BTreeMap<TokenId, D>,
    seconds: f64,
}

impl<D: Driver> DriverInstance<D> {
    /// All runs begin with a clone of this driver.
    pub fn new(start: D) -> Self {
        let card = Card {
            protocol: PROTOCOL,
            role: Role::Driver,
            name: start.name(),
            version: String::new(),
            support: Support::Save,
            snapshot: Snapshot::Copy,
            cycle_s: start.cycle_s(),
            key: start.key(),
            saves_bytes: start.bytes().is_some(),
            memoryless: start.is_memoryless(),
            wants: start.wants(),
            code: None,
            world: None,
        };
        Self { start, card, branches: BTreeMap::new(), saved: BTreeMap::new(), seconds: 0.0 }
    }

    fn answer(&mut self, op: &Op) -> Answer {
        match op {
            Op::Describe {} => Answer::Card(Box::new(self.card.clone())),
            Op::Reset { branch, begin } => {
                let mut driver = self.start.clone();
                match guarded(|| driver.begin(begin)) {
                    Ok(()) => self.open(*branch, driver),
                    Err(failed) => failed,
                }
            }
            Op::Load { token, branch } => match self.saved.get(token) {
                Some(saved) => self.open(*branch, saved.clone()),
                None => failed(format!("there is no saved state {token}")),
            },
            Op::Step { branch, seen } => self.step(*branch, seen),
            Op::Save { branch, token } => match self.branches.remove(branch) {
                Some(driver) => {
                    let bytes = driver.bytes().map(serde_bytes::ByteBuf::from);
                    self.saved.insert(*token, driver);
                    Answer::Saved { bytes, attributes: None }
                }
                None => failed(format!("there is no branch {branch}")),
            },
            Op::Drop { tokens } => {
                tokens.iter().for_each(|token| drop(self.saved.remove(token)));
                Answer::Done {}
            }
            Op::Run { .. } | Op::Move { .. } | Op::Ask(_) => {
                failed("a driver decides, and does nothing else".to_owned())
            }
            Op::Bye {} => Answer::Done {},
        }
    }

    fn open(&mut self, branch: Branch, driver: D) -> Answer {
        self.branches.insert(branch, driver);
        Answer::Done {}
    }

    fn step(&mut self, branch: Branch, seen: &Seen) -> Answer {
        let Some(driver) = self.branches.get_mut(&branch) else {
            return failed(format!("there is no branch {branch}"));
        };
        match guarded(|| driver.step(seen)) {
            Ok(decision) => Answer::Decision(decision),
            Err(failed) => {
                // Whoever panicked may be half changed.
                self.branches.remove(&branch);
                failed
            }
        }
    }
}

impl<D: Driver> Instance for DriverInstance<D> {
    fn card(&self) -> &Card {
        &self.card
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        let began = now();
        answers.extend(ops.iter().map(|op| self.answer(op)));
        self.seconds = began.elapsed().as_secs_f64();
        Ok(())
    }
    fn seconds(&self) -> f64 {
        self.seconds
    }
}

/// Makes a program of a driver: `fn main()` calls this, and a scenario names the program as
/// `driver = { command = ["./mine"] }`. Answers until the host that started it is gone.
///
/// # Errors
/// When no host started it, or the link fails.
pub fn serve_driver(driver: impl Driver) -> Result<(), ServeError> {
    serve(&mut DriverInstance::new(driver), &Endpoint::from_environment()?)
}

fn failed(text: String) -> Answer {
    Answer::Failed { text }
}

/// What the driver's own code gives, or what it panicked with.
fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, Answer> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        failed(format!("panicked: {}", text.unwrap_or("without text")))
    })
}

#[expect(clippy::disallowed_methods, reason = "how long the driver took is told to people and decides nothing")]
fn now() -> Instant {
    Instant::now()
}
