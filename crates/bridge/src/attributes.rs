//! What code remembers apart from the variables it names: which of its attributes take different values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anabranch_kernel::DigestWriter;

use crate::protocol::Attributes;

/// Begins the name of an attribute that was declared constant and has changed.
const CHANGED_CONSTANT: &str = "declared constant ";

/// What is known of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
struct History {
    content: Content,
    /// The reported variables that it has been equal to in every state.
    copies: BTreeSet<usize>,
    /// States that had it.
    states: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// The same in all states so far.
    Always(u64),
    /// Different values in different states, or content that cannot be told.
    Varies,
}

/// The attributes of all states so far.
#[derive(Debug, Default)]
pub struct Remembered(Mutex<Option<Histories>>);

#[derive(Debug, Default)]
struct Histories {
    states: u64,
    by_name: BTreeMap<String, History>,
}

impl Remembered {
    /// One more state, with the values it reports for merging. An attribute that is equal to the same of them in every
    /// state is that variable under another name.
    pub fn note(&self, attributes: &Attributes, reported: &[f64]) {
        let mut known = self.lock();
        let known = known.get_or_insert_default();
        known.states += 1;
        for (name, digest) in attributes {
            let now = digest.map_or(Content::Varies, Content::Always);
            let equal = equal_to(*digest, reported);
            match known.by_name.get_mut(name) {
                Some(history) => {
                    history.states += 1;
                    if history.content != now {
                        history.content = Content::Varies;
                    }
                    if !history.copies.is_empty() {
                        history.copies.retain(|index| equal.clone().any(|other| other == *index));
                    }
                }
                None => {
                    let history = History { content: now, copies: equal.collect(), states: 1 };
                    known.by_name.insert(name.clone(), history);
                }
            }
        }
    }
    /// Names of attributes that take different values, or that only some states have; nothing where attributes were never
    /// reported.
    pub fn varying(&self) -> Option<Vec<String>> {
        let known = self.lock();
        let known = known.as_ref()?;
        let differs = |history: &History| {
            let varies = history.content == Content::Varies && history.copies.is_empty();
            varies || history.states < known.states
        };
        Some(known.by_name.iter().filter(|(_, history)| differs(history)).map(|(name, _)| name.clone()).collect())
    }
    /// Names of attributes that were declared constant and have changed.
    pub fn changed_constants(&self) -> Vec<String> {
        let known = self.lock();
        let names = known.iter().flat_map(|known| known.by_name.keys());
        names.filter_map(|name| name.strip_prefix(CHANGED_CONSTANT).map(str::to_owned)).collect()
    }
    /// Forgets everything.
    pub fn clear(&self) {
        *self.lock() = None;
    }
    fn lock(&self) -> MutexGuard<'_, Option<Histories>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reported values that an attribute is equal to: the digest of a number is its bits.
fn equal_to(digest: Option<u64>, reported: &[f64]) -> impl Iterator<Item = usize> + Clone + '_ {
    // Zero has one sign.
    let is_equal = move |value: &f64| digest == Some((value + 0.0).to_bits());
    reported.iter().enumerate().filter(move |(_, value)| is_equal(value)).map(|(index, _)| index)
}

/// One digest of all attributes. For one that is equal to reported values counts which ones these are: a copy of a
/// variable is then the same in all states of a cell.
pub fn digest(attributes: &Attributes, reported: &[f64]) -> u64 {
    let mut digest = DigestWriter::new();
    for (name, content) in attributes {
        digest.text(name);
        let mut is_copy = false;
        for index in equal_to(*content, reported) {
            is_copy = true;
            digest.number(index as u64);
        }
        if !is_copy {
            digest.number(content.unwrap_or_default());
        }
    }
    digest.finish().0 as u64
}

/// What is not compared when states are merged, in words, for code that compares by the variables it names.
pub fn words(varying: Option<Vec<String>>, what: &str) -> Option<String> {
    match varying {
        None => Some(format!("not known: the kit of the {what} does not report what else it remembers")),
        Some(names) if names.is_empty() => None,
        Some(names) => Some(format!("not compared when states were merged: {} of the {what}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes<const N: usize>(of: [(&str, Option<u64>); N]) -> Attributes {
        of.into_iter().map(|(name, digest)| (name.to_owned(), digest)).collect()
    }

    #[test]
    fn attributes_that_take_different_values_are_named() {
        let seen = Remembered::default();
        assert_eq!(seen.varying(), None);
        let state = |count, map| attributes([("count", Some(count)), ("map", map), ("table", Some(7))]);
        seen.note(&state(1, Some(3)), &[]);
        assert_eq!(seen.varying(), Some(Vec::new()));
        seen.note(&state(2, None), &[]);
        assert_eq!(seen.varying(), Some(vec!["count".to_owned(), "map".to_owned()]));
        assert_ne!(digest(&state(1, None), &[]), digest(&state(2, None), &[]));
        let text = words(seen.varying(), "world").unwrap();
        assert_eq!(text, "not compared when states were merged: count, map of the world");
    }

    #[test]
    fn a_copy_of_a_variable_is_equal_to_the_same_one_in_every_state() {
        let check = |states: &[(f64, [f64; 2])], expect: &[&str]| {
            let seen = Remembered::default();
            for (latch, reported) in states {
                seen.note(&attributes([("latch", Some(latch.to_bits()))]), reported);
            }
            assert_eq!(seen.varying().unwrap(), expect, "{states:?}");
        };
        check(&[(0.0, [0.5, 0.0]), (1.0, [0.7, 1.0])], &[]);
        check(&[(0.0, [0.0, -0.0]), (1.0, [1.0, 0.0]), (2.0, [2.0, 0.0])], &[]);
        check(&[(0.0, [0.5, 0.0]), (1.0, [0.7, 0.0])], &["latch"]);
        check(&[(0.0, [0.5, 0.0]), (1.0, [1.0, 0.0])], &["latch"]);
    }

    #[test]
    fn an_attribute_that_only_some_states_have_differs() {
        for swapped in [false, true] {
            let seen = Remembered::default();
            let mut states = [attributes([("late", Some(1))]), attributes([])];
            if swapped {
                states.reverse();
            }
            states.iter().for_each(|state| seen.note(state, &[]));
            assert_eq!(seen.varying().unwrap(), ["late"]);
        }
    }

    #[test]
    fn the_digest_of_states_that_differ_in_a_copy_alone_is_the_same() {
        let state = |x: f64, latch: f64| {
            digest(&attributes([("latch", Some(latch.to_bits())), ("place", Some(x.to_bits()))]), &[x, 0.0, 1.0])
        };
        assert_eq!(state(0.25, 0.0), state(0.5, 0.0));
        assert_ne!(state(0.25, 0.0), state(0.25, 1.0));
    }

    #[test]
    fn changed_constants_are_known_by_their_names() {
        let seen = Remembered::default();
        seen.note(&attributes([("declared constant `m`", None), ("n", Some(1))]), &[]);
        assert_eq!(seen.changed_constants(), ["`m`"]);
        assert_eq!(seen.varying().unwrap(), ["declared constant `m`"]);
    }
}
