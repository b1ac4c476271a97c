//! What a system is made of, for whoever wants to know what a change of it can change.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// A part of a system's configuration that some segments read and others do not: the gains for reversing, say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// As people call it: `driver.reverse`.
    pub name: String,
    /// Digest of its values.
    pub digest: Digest,
}

/// The whole configuration of a system, cut into parts.
///
/// A segment's outcome depends on its start state, its choice, [`rest`](Parts::rest) and those separate parts that it
/// says it has read. So it need not be run again if nothing of that changed.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Parts {
    /// Digest of everything that every segment may read; `None` if nobody knows, and then nothing can be told apart.
    pub rest: Option<Digest>,
    /// The parts that can be told apart, at most [`Parts::SEPARATE_MAX`]; bit n of [`Reads`] is part n.
    pub separate: Vec<Part>,
}

impl Parts {
    /// As many as [`Reads`] has bits.
    pub const SEPARATE_MAX: usize = 64;

    /// Which separate parts are unlike those of another configuration; `None` if the rest is unlike or unknown, or if
    /// the separate parts are not the same ones.
    pub fn unlike(&self, other: &Self) -> Option<Reads> {
        let names = |parts: &Self| parts.separate.iter().map(|part| part.name.clone()).collect::<Vec<_>>();
        let comparable = self.rest.is_some()
            && self.rest == other.rest
            && names(self) == names(other)
            && self.separate.len() <= Self::SEPARATE_MAX;
        let pairs = self.separate.iter().zip(&other.separate).enumerate();
        comparable.then(|| {
            pairs.filter(|(_, (a, b))| a.digest != b.digest).fold(Reads::NONE, |all, (at, _)| all.and(Reads::of(at)))
        })
    }
}

/// A set of the separate parts of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reads(pub u64);

impl Reads {
    /// Every part: what is said where nobody looked.
    pub const ALL: Self = Self(u64::MAX);
    /// No separate part.
    pub const NONE: Self = Self(0);

    /// One part by its position.
    ///
    /// # Panics
    /// If there can be no such part.
    pub fn of(part: usize) -> Self {
        assert!(part < Parts::SEPARATE_MAX, "a system has at most {} separate parts", Parts::SEPARATE_MAX);
        Self(1 << part)
    }
    /// These and those.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Whether some part is in both.
    pub fn touches(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Whether the outcome of a segment was computed or taken from an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recall {
    /// It was computed; nothing is known about it from before.
    #[default]
    Ran,
    /// It was taken from an earlier run: nothing that it read has changed since.
    Reused,
    /// It was taken from an earlier run and computed all the same, to check.
    Checked,
    /// It was computed, and is what it was in the earlier run.
    Alike,
    /// It was computed, and is not what it was in the earlier run.
    Differs,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(rest: Option<u128>, separate: &[(&str, u128)]) -> Parts {
        let part = |&(name, digest): &(&str, u128)| Part { name: name.to_owned(), digest: Digest(digest) };
        Parts { rest: rest.map(Digest), separate: separate.iter().map(part).collect() }
    }

    #[test]
    fn configurations_are_compared_part_by_part() {
        let before = parts(Some(1), &[("forward", 2), ("reverse", 3)]);
        let check =
            |after: &Parts, expect: Option<u64>| assert_eq!(after.unlike(&before), expect.map(Reads), "{after:?}");
        check(&before, Some(0));
        check(&parts(Some(1), &[("forward", 2), ("reverse", 9)]), Some(0b10));
        check(&parts(Some(1), &[("forward", 9), ("reverse", 9)]), Some(0b11));
        check(&parts(Some(9), &[("forward", 2), ("reverse", 3)]), None);
        check(&parts(Some(1), &[("reverse", 3), ("forward", 2)]), None);
        check(&parts(Some(1), &[("forward", 2)]), None);
        assert_eq!(Parts::default().unlike(&Parts::default()), None, "what nobody knows is not alike");
        assert!(Reads::ALL.touches(Reads::of(63)) && !Reads::of(1).touches(Reads::of(0)));
    }
}
