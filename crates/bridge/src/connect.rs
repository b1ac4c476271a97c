//! A program that is already running and listens: `driver = { zmq = "tcp://127.0.0.1:5555" }`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::conversation::{Conversation, Deadlines};
use crate::instance::{Factory, Instance};
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Answer, Card, Op};
use crate::zmtp::{Address, AddressError};

/// Longest wait for a connection to a program on this machine, or on the next.
const CONNECT: Duration = Duration::from_secs(10);

/// Where code from outside may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// On this machine.
    Loopback,
    /// Anywhere. Nothing on the link is secret or signed; whoever allows it should be warned ([`ConnectFactory::warning`]).
    Remote,
}

/// Connects to one running program.
#[derive(Debug)]
pub struct ConnectFactory {
    address: Address,
    deadlines: Deadlines,
    taken: Arc<AtomicBool>,
    /// Whether somebody has answered there before.
    met: AtomicBool,
}

impl ConnectFactory {
    /// Reads the endpoint; nothing is connected yet.
    ///
    /// # Errors
    /// When it is none, or is on another machine without that being allowed.
    pub fn new(endpoint: &str, reach: Reach, deadlines: Deadlines) -> Result<Self, AddressError> {
        let address = Address::parse(endpoint)?;
        let address = if reach == Reach::Remote { address } else { address.local()? };
        Ok(Self { address, deadlines, taken: Arc::default(), met: AtomicBool::new(false) })
    }
    /// What must be told to a person before this link is used, if anything.
    pub fn warning(&self) -> Option<String> {
        let text = "is on another machine: the link is neither encrypted nor authenticated, and anyone between can alter what is driven";
        (!self.address.is_local()).then(|| format!("{} {text}", self.address))
    }
}

impl Factory for ConnectFactory {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        let no_start = |text: String| Misbehaviour::new(Kind::NoStart, text);
        let Some(place) = Place::take(&self.taken) else {
            let text = format!("{} is one program and thus one instance: set `instances = 1`", self.address);
            return Err(no_start(text));
        };
        let limit = self.deadlines.start_up.unwrap_or(CONNECT).min(CONNECT);
        let stream = self.address.connect(limit).map_err(|error| {
            no_start(format!("nobody answers at {}: {error}; is the program running?", self.address))
        })?;
        // Who answered before and now hangs up at once has gone, perhaps because somebody else told it goodbye.
        let opened = Conversation::open(stream, self.deadlines.start_up, self.deadlines);
        let conversation = opened.map_err(|wrong| match wrong.kind {
            Kind::Crash if self.met.load(Ordering::Acquire) => {
                no_start(format!("the program at {} has gone: {}", self.address, wrong.text))
            }
            _ => wrong,
        })?;
        self.met.store(true, Ordering::Release);
        Ok(Box::new(Connected { conversation, _place: place }))
    }
}

/// Two hosts in one program would reset each other's branches; the place is free again when it is dropped.
struct Place(Arc<AtomicBool>);

impl Place {
    fn take(taken: &Arc<AtomicBool>) -> Option<Self> {
        (!taken.swap(true, Ordering::AcqRel)).then(|| Self(taken.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// The link with a program that somebody else started, and that goes on when we leave.
struct Connected {
    conversation: Conversation,
    _place: Place,
}

impl Instance for Connected {
    fn card(&self) -> &Card {
        self.conversation.card()
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        self.conversation.exchange(ops, answers)
    }
    fn seconds(&self) -> f64 {
        self.conversation.seconds()
    }
    fn expect(&mut self, step_s: f64) {
        self.conversation.expect(step_s);
    }
}
