//! What code remembers apart from the variables it names: which of its attributes take different values.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anabranch_kernel::DigestWriter;

use crate::protocol::Attributes;

/// What is known of one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// The same in all states so far.
    Always(u64),
    /// Different values in different states, or content that cannot be told.
    Varies,
}

/// The attributes of all states so far.
#[derive(Debug, Default)]
pub struct Remembered(Mutex<Option<BTreeMap<String, Content>>>);

impl Remembered {
    /// One more state.
    pub fn note(&self, attributes: &Attributes) {
        let mut known = self.lock();
        let known = known.get_or_insert_default();
        for (name, digest) in attributes {
            let now = digest.map_or(Content::Varies, Content::Always);
            match known.get_mut(name) {
                Some(content) if *content != now => *content = Content::Varies,
                Some(_) => {}
                None => {
                    known.insert(name.clone(), now);
                }
            }
        }
    }
    /// Names of attributes that take different values; nothing where attributes were never reported.
    pub fn varying(&self) -> Option<Vec<String>> {
        let known = self.lock();
        let varies = |(name, content): (&String, &Content)| (*content == Content::Varies).then(|| name.clone());
        known.as_ref().map(|known| known.iter().filter_map(varies).collect())
    }
    /// Forgets everything.
    pub fn clear(&self) {
        *self.lock() = None;
    }
    fn lock(&self) -> MutexGuard<'_, Option<BTreeMap<String, Content>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One digest of all attributes.
pub fn digest(attributes: &Attributes) -> u64 {
    let mut digest = DigestWriter::new();
    for (name, content) in attributes {
        digest.text(name);
        digest.number(content.unwrap_or_default());
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

    #[test]
    fn attributes_that_take_different_values_are_named() {
        let seen = Remembered::default();
        assert_eq!(seen.varying(), None);
        let state = |count, map| {
            let attributes = [("count", Some(count)), ("map", map), ("table", Some(7))];
            attributes.into_iter().map(|(name, digest)| (name.to_owned(), digest)).collect::<Attributes>()
        };
        seen.note(&state(1, Some(3)));
        assert_eq!(seen.varying(), Some(Vec::new()));
        seen.note(&state(2, None));
        assert_eq!(seen.varying(), Some(vec!["count".to_owned(), "map".to_owned()]));
        assert_ne!(digest(&state(1, None)), digest(&state(2, None)));
        let text = words(seen.varying(), "world").unwrap();
        assert_eq!(text, "not compared when states were merged: count, map of the world");
    }
}
