//! A share of segments is run twice: a driver that is not deterministic is noticed, with the first signal that differs.

use anabranch_bridge::protocol::Moved;
use anabranch_bridge::{Card, Decision, Kind, Misbehaviour};
use anabranch_kernel::Choice;

use super::super::state::DriveState;
use super::check::named;
use super::memory::path_digest;
use super::{DOUBLED_MIN, ForeignDriver};

/// What was said in one step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) tick: u32,
    pub(super) what: Word,
}

/// By a driver, or by a part of the car.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Decision(Decision),
    Moved(Moved),
}

impl ForeignDriver {
    /// Which of some segments are run twice: a share by their paths, so that every number of threads and instances
    /// doubles the same ones, and others besides until enough were.
    pub(super) fn doubled_of<'t>(&self, segments: impl Iterator<Item = (&'t DriveState, Choice)>) -> Vec<usize> {
        if self.double <= 0.0 {
            return Vec::new();
        }
        let mut wanted = DOUBLED_MIN.saturating_sub(self.doubled());
        let mut is_doubled = |state: &DriveState, choice: Choice| {
            let drawn = self.is_drawn(state, choice);
            let taken = drawn || wanted > 0;
            wanted = wanted.saturating_sub(u64::from(taken));
            taken
        };
        segments.enumerate().filter(|(_, (state, choice))| is_doubled(state, *choice)).map(|(at, _)| at).collect()
    }

    fn is_drawn(&self, state: &DriveState, choice: Choice) -> bool {
        let memory = state.foreign().expect("a driver from outside has a memory");
        let mut way = memory.way.to_vec();
        way.push(choice);
        let draw = (path_digest(state.start, memory.seed, &way).0 >> 64) as u64;
        // The largest draw rounds up to 2^64, and a share of 1 is all.
        self.double >= 1.0 || (draw as f64) < self.double * 2_f64.powi(64)
    }
}

/// The first difference between what was said in two runs of one segment: its tick, and what differs.
pub(super) fn first_difference(card: &Card, first: &[Said], second: &[Said]) -> Option<(u32, Misbehaviour)> {
    let told = |tick: u32, text: String| Some((tick, Misbehaviour::new(Kind::Nondeterministic, text)));
    for (a, b) in first.iter().zip(second) {
        let differs = match (&a.what, &b.what) {
            (Word::Decision(a), Word::Decision(b)) => difference(card, a, b),
            (Word::Moved(a), Word::Moved(b)) => difference_of_moves(card, a, b),
            _ => None,
        };
        if let Some(what) = differs {
            return told(a.tick, format!("the same steps were answered differently: {what}"));
        }
    }
    let longer = if first.len() > second.len() { first } else { second };
    let more = longer.get(first.len().min(second.len()))?;
    told(more.tick, "the same steps were answered in one run and not in the other".to_owned())
}

/// The first number in which two moves differ.
fn difference_of_moves(card: &Card, a: &Moved, b: &Moved) -> Option<String> {
    let all = |moved: &Moved| {
        let plain = moved.named().map(|(name, value)| (name.to_owned(), value));
        let key = card.key.iter().zip(&moved.key).map(|(key, value)| (format!("key.{}", key.name), *value));
        plain.chain(key).collect::<Vec<_>>()
    };
    let pairs = all(a).into_iter().zip(all(b));
    let mut differing = pairs.filter(|((name_a, x), (name_b, y))| name_a != name_b || x.to_bits() != y.to_bits());
    differing.next().map(|((name, x), (_, y))| format!("`{name}` was {x} and then {y}"))
}

/// The first signal in which two decisions differ.
fn difference(card: &Card, a: &Decision, b: &Decision) -> Option<String> {
    if a.gear != b.gear {
        return Some(format!("`gear` was {:?} and then {:?}", a.gear, b.gear));
    }
    if a.completed != b.completed {
        return Some(format!("`completed` was {} and then {}", a.completed, b.completed));
    }
    let mut pairs = named(card, a).zip(named(card, b));
    let differs = pairs.find(|((name_a, x), (name_b, y))| name_a != name_b || x.to_bits() != y.to_bits());
    match differs {
        Some(((name, x), (_, y))) => Some(format!("`{name}` was {x} and then {y}")),
        None if a.trajectory.len() != b.trajectory.len() || a.key.len() != b.key.len() => {
            Some("`trajectory` had another length".to_owned())
        }
        None => None,
    }
}
