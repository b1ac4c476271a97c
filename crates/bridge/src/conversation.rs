//! The asking side of a link: requests out, replies in, numbers compared.

use std::time::Duration;

use serde::Serialize;

use crate::blobs;
use crate::body;
use crate::clock::{Cutoff, NEVER, now};
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Answer, BODY_BYTES_MAX, Card, Op, PROTOCOL, Reply};
use crate::rows::{self, InRows};
use crate::zmtp::{Link, LinkError, Side, Stream};

/// A request that borrows its operations.
#[derive(Serialize)]
struct Asked<Ops> {
    anabranch: u16,
    seq: u64,
    ops: Ops,
}

/// How long to wait; `None` waits for ever, for a person with a debugger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// From the start until it has said what it is.
    pub start_up: Option<Duration>,
    /// For the answer to one step. A message with many of them is waited for longer, see [`Self::of_message`].
    pub message: Option<Duration>,
    /// For all of it, whatever the other two say.
    pub cutoff: &'static Cutoff,
}

/// A message with this many steps has time for each of them: one step, and the same once more beside it.
const EXACT_STEPS: u32 = 2;
/// A message with more steps may take this many times as long as they took so far.
const SLOWER: f64 = 4.0;

impl Default for Deadlines {
    /// Importing a large library takes seconds on a cold disk; a step takes milliseconds.
    fn default() -> Self {
        let (start_up, message) = (Some(Duration::from_secs(30)), Some(Duration::from_secs(10)));
        Self { start_up, message, cutoff: &NEVER }
    }
}

impl Deadlines {
    /// Nobody is hurried: for breakpoints.
    pub const NONE: Self = Self { start_up: None, message: None, cutoff: &NEVER };

    /// How long to wait for a message of so many steps, of which each took `step_s` so far.
    ///
    /// One that hangs among hundreds is noticed soon, and steps that are merely slow are not taken for it. What is
    /// noticed in a message of many steps is no verdict yet: the fleet's user asks again one by one, and then each step has
    /// exactly its own deadline.
    fn of_message(step: Option<Duration>, ops: &[Op], step_s: f64) -> Option<Duration> {
        let steps =
            ops.iter().filter(|op| matches!(op, Op::Step { .. } | Op::Run { .. } | Op::Move { .. })).count() as u32;
        let exact = step?.saturating_mul(steps.clamp(1, EXACT_STEPS));
        if steps <= EXACT_STEPS {
            return Some(exact);
        }
        let usual = Duration::try_from_secs_f64(SLOWER * f64::from(steps) * step_s).unwrap_or(exact);
        Some(exact.max(usual))
    }
}

/// A link with somebody who has said what they are.
#[derive(Debug)]
pub(crate) struct Conversation {
    link: Link,
    seq: u64,
    message: Option<Duration>,
    step_s: f64,
    request: Vec<u8>,
    reply: Vec<u8>,
    card: Card,
    takes_blobs: bool,
    takes_rows: bool,
    seconds: f64,
}

impl Conversation {
    /// Greets and asks who is there.
    pub(crate) fn open(
        stream: Box<dyn Stream>,
        limit: Option<Duration>,
        deadlines: Deadlines,
    ) -> Result<Self, Misbehaviour> {
        let opened = Link::open_until(stream, Side::Req, BODY_BYTES_MAX, (limit, deadlines.cutoff));
        let link = opened.map_err(|error| misbehaviour_of(&error))?;
        let mut conversation = Self {
            link,
            seq: 0,
            message: deadlines.start_up,
            step_s: 0.0,
            request: Vec::new(),
            reply: Vec::new(),
            card: crate::checks::no_card(),
            takes_blobs: false,
            takes_rows: false,
            seconds: 0.0,
        };
        let mut answers = Vec::new();
        conversation.exchange(&[Op::Describe {}], &mut answers)?;
        match answers.pop() {
            Some(Answer::Card(card)) if answers.is_empty() => conversation.card = *card,
            Some(Answer::Failed { text }) => return Err(Misbehaviour::new(Kind::Exception, text)),
            _ => return Err(Misbehaviour::new(Kind::WrongSequence, "`describe` was not answered with one `card`")),
        }
        crate::checks::check_card(&conversation.card)?;
        conversation.takes_blobs = blobs::wanted(&conversation.card);
        conversation.takes_rows = rows::wanted(&conversation.card);
        conversation.message = deadlines.message;
        Ok(conversation)
    }

    pub(crate) fn card(&self) -> &Card {
        &self.card
    }
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }
    pub(crate) fn expect(&mut self, step_s: f64) {
        self.step_s = step_s;
    }

    pub(crate) fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        self.seq += 1;
        let began = now();
        let apart = if self.takes_blobs { blobs::apart(ops) } else { None };
        let (rest, large) = apart.as_ref().map_or((ops, &[][..]), |(rest, large)| (rest, large));
        let (anabranch, seq) = (PROTOCOL, self.seq);
        match self.takes_rows {
            true => body::encode(&Asked { anabranch, seq, ops: InRows(rest) }, &mut self.request),
            false => body::encode(&Asked { anabranch, seq, ops: rest }, &mut self.request),
        }
        let large: Vec<&[u8]> = large.iter().map(|blob| blob.as_slice()).collect();
        let limit = Deadlines::of_message(self.message, ops, self.step_s);
        self.link.send(&self.request, &large, limit).map_err(|error| misbehaviour_of(&error))?;
        // Blobs beside a reply belong to nothing this version asks for; later kits may send some.
        let _blobs = self.link.receive(&mut self.reply, limit).map_err(|error| misbehaviour_of(&error))?;
        let waited_s = began.elapsed().as_secs_f64();
        let reply: Reply = body::decode(&self.reply)?;
        if self.reply.capacity() > 1 << 20 {
            self.reply = Vec::new();
        }
        check_numbers(&reply, self.seq, ops.len())?;
        self.seconds = reply.seconds.filter(|seconds| (0.0..=waited_s).contains(seconds)).unwrap_or(waited_s);
        *answers = reply.answers;
        Ok(())
    }

    /// Says goodbye without waiting for what the other side has to say to it.
    pub(crate) fn bye(&mut self) {
        self.seq += 1;
        body::encode(&Asked { anabranch: PROTOCOL, seq: self.seq, ops: &[Op::Bye {}] }, &mut self.request);
        // Whoever does not take it is ended another way.
        let _ = self.link.send(&self.request, &[], Some(Duration::from_millis(50)));
    }
}

fn check_numbers(reply: &Reply, seq: u64, ops: usize) -> Result<(), Misbehaviour> {
    if reply.anabranch != PROTOCOL {
        let text = format!("speaks version {} of the bridge protocol; this program speaks {PROTOCOL}", reply.anabranch);
        return Err(Misbehaviour::new(Kind::WrongVersion, text));
    }
    if reply.seq != seq {
        let text = format!("request {seq} was answered with number {}", reply.seq);
        return Err(Misbehaviour::new(Kind::WrongSequence, text));
    }
    if reply.answers.len() != ops {
        let text = format!("{ops} operations were answered {} times", reply.answers.len());
        return Err(Misbehaviour::new(Kind::WrongSequence, text));
    }
    Ok(())
}

/// What a failing link says about the other side.
pub(crate) fn misbehaviour_of(error: &LinkError) -> Misbehaviour {
    let kind = match error {
        LinkError::CutOff => return Misbehaviour::cut_off(),
        LinkError::Closed | LinkError::Io(_) => Kind::Crash,
        LinkError::Cut(_) => Kind::Truncated,
        LinkError::Deadline(_) => Kind::Hang,
        LinkError::Oversized { .. } => Kind::Oversized,
        LinkError::Version(_) => Kind::WrongVersion,
        LinkError::Malformed(_) => Kind::Malformed,
    };
    Misbehaviour::new(kind, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit_s(steps: u32, step_s: f64) -> f64 {
        let step = |branch: u32| Op::Step { branch, seen: Box::default() };
        let ops: Vec<Op> = [Op::Drop { tokens: Vec::new() }].into_iter().chain((0..steps).map(step)).collect();
        Deadlines::of_message(Some(Duration::from_secs(10)), &ops, step_s).unwrap().as_secs_f64()
    }

    #[test]
    fn a_batch_of_slow_steps_has_time_and_a_single_step_has_its_own_deadline() {
        assert_eq!(limit_s(0, 0.15), 10.0);
        assert_eq!(limit_s(1, 0.15), 10.0);
        assert_eq!(limit_s(1, 100.0), 10.0);
        assert_eq!(limit_s(2, 0.15), 20.0);
        // 96 branches of 150 ms take 14 s.
        assert!(limit_s(96, 0.15) > 50.0);
        // A hang among many quick ones is noticed as soon as one among two.
        assert_eq!(limit_s(256, 1e-4), 20.0);
        assert_eq!(limit_s(256, f64::NAN), 20.0);
        assert_eq!(Deadlines::of_message(None, &[], 1.0), None);
    }
}
