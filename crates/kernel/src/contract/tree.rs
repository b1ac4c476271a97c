//! A state as a tree of values: what the contract changes, leaf by leaf.
//!
//! It follows the data model of serde, as the canonical bytes do, but keeps names, so that a leaf can be named; real numbers
//! keep their bits.

use serde::{Serialize, de::DeserializeOwned};

mod read;
mod write;

/// A value of a state, with everything below it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Truth(bool),
    Unsigned(u128),
    Signed(i128),
    Real(f64),
    Single(f32),
    Letter(char),
    Text(String),
    Bytes(Vec<u8>),
    /// A value without content.
    Nothing,
    Absent,
    Present(Box<Tree>),
    /// A struct of one unnamed field.
    Wrapped(Box<Tree>),
    /// As many values as its type says.
    Row(Vec<Tree>),
    /// The fields of a struct.
    Record(Vec<(&'static str, Tree)>),
    /// As many values as there happen to be.
    List(Vec<Tree>),
    Map(Vec<(Tree, Tree)>),
    Variant {
        index: u32,
        name: &'static str,
        inner: Box<Tree>,
    },
    /// Whatever the reader asks for, made up: zeros, nothing, first variants. For values of which no example is there.
    MadeUp,
}

impl Tree {
    /// The tree of a value; `None` for types that have no canonical bytes either.
    pub(super) fn of<T: Serialize>(value: &T) -> Option<Self> {
        value.serialize(write::Writer).ok()
    }
    /// The value behind a tree.
    pub(super) fn value<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(read::Reader(self)).ok()
    }
    /// The values directly below, in order.
    fn below(&self) -> Vec<(Step, &Tree)> {
        match self {
            Self::Present(inner) | Self::Wrapped(inner) => vec![(Step::Inside, inner)],
            Self::Variant { name, inner, .. } => vec![(Step::Field(name), inner)],
            Self::Row(items) => items.iter().enumerate().map(|(at, item)| (Step::Place(at), item)).collect(),
            Self::Record(fields) => fields.iter().map(|(name, field)| (Step::Field(name), field)).collect(),
            Self::List(items) => items.iter().map(|item| (Step::Item, item)).collect(),
            Self::Map(entries) => {
                entries.iter().flat_map(|(key, value)| [key, value]).map(|v| (Step::Item, v)).collect()
            }
            _ => Vec::new(),
        }
    }
    /// The value at a place, which is a list of positions among the values below.
    pub(super) fn at_mut(&mut self, place: &[usize]) -> &mut Tree {
        let Some((&first, rest)) = place.split_first() else { return self };
        let below = match self {
            Self::Present(inner) | Self::Wrapped(inner) | Self::Variant { inner, .. } => inner,
            Self::Row(items) | Self::List(items) => &mut items[first],
            Self::Record(fields) => &mut fields[first].1,
            Self::Map(entries) => {
                let entry = &mut entries[first / 2];
                if first % 2 == 0 { &mut entry.0 } else { &mut entry.1 }
            }
            _ => unreachable!("places come from the same tree"),
        };
        below.at_mut(rest)
    }
    /// Everything that can be changed on its own: values, and the tags, presences and lengths of what holds values.
    pub(super) fn leaves(&self) -> Vec<Place> {
        let mut all = Vec::new();
        self.gather(String::new(), &mut Vec::new(), &mut all);
        all
    }
    fn gather(&self, path: String, place: &mut Vec<usize>, all: &mut Vec<Place>) {
        let stands_alone =
            !matches!(self, Self::Nothing | Self::Wrapped(_) | Self::Row(_) | Self::Record(_) | Self::MadeUp);
        if stands_alone {
            all.push(Place { path: path.clone(), at: place.clone() });
        }
        for (number, (step, below)) in self.below().into_iter().enumerate() {
            place.push(number);
            below.gather(step.after(&path), place, all);
            place.pop();
        }
    }
}

/// One step down.
enum Step {
    /// The path stays.
    Inside,
    Field(&'static str),
    Place(usize),
    /// Items of a list have one path.
    Item,
}

impl Step {
    fn after(&self, path: &str) -> String {
        let dot = if path.is_empty() { "" } else { "." };
        match self {
            Self::Inside => path.to_owned(),
            Self::Field(name) => format!("{path}{dot}{name}"),
            Self::Place(at) => format!("{path}{dot}{at}"),
            Self::Item => format!("{path}[]"),
        }
    }
}

/// Where a leaf is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    /// Its name: fields and variants, `[]` for the items of a list.
    pub(super) path: String,
    /// The way to it.
    pub(super) at: Vec<usize>,
}
