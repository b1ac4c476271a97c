//! Typed access to a table that passed the first pass.
//!
//! Getters answer `None` only for optional keys that are not there; what the first pass let through can be read.

use anabranch_geometry::Point;
use anabranch_kernel::units::{Dimension, parse_quantity};

use super::keys::{Kind, Need, Section};
use super::shape::COORDINATE;
use super::span::{Located, Span};
use super::tree::{Node, Value};
use super::values::{Measured, read_values};

/// A table with the keys it can have.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'d> {
    node: &'d Node,
    section: &'static Section,
}

impl<'d> View<'d> {
    pub fn new(node: &'d Node, section: &'static Section) -> Self {
        Self { node, section }
    }
    /// Where the table begins.
    pub fn span(&self) -> Span {
        self.node.span
    }
    pub fn get(&self, key: &str) -> Option<&'d Node> {
        self.node.get(key)
    }
    /// Where the key itself is written.
    pub fn key_span(&self, key: &str) -> Option<Span> {
        self.node.entry(key).map(|entry| entry.key_span)
    }

    fn kind(&self, key: &str) -> Option<&'static Kind> {
        self.section.key(key).map(|key| &key.kind)
    }
    /// The table that a key can hold.
    pub fn section_of(&self, key: &str) -> Option<&'static Section> {
        self.kind(key)?.section()
    }
    fn default(&self, key: &str) -> Option<&'static str> {
        match self.section.key(key)?.need {
            Need::Default(text) => Some(text),
            Need::Required | Need::Optional => None,
        }
    }

    /// All values of a quantity, with their dimension.
    pub fn measured(&self, key: &str) -> Option<Vec<Measured>> {
        let Some(Kind::Quantity(quantity)) = self.kind(key) else { return None };
        if let Some(node) = self.get(key) {
            return read_values(node, quantity).ok();
        }
        let dimension = quantity.dimensions.first().copied().unwrap_or(Dimension::Number);
        let value = parse_quantity(self.default(key)?, dimension).ok()?;
        Some(vec![Measured { value, dimension, span: self.span() }])
    }
    /// All values of a quantity.
    pub fn reals(&self, key: &str) -> Option<Vec<Located<f64>>> {
        Some(self.measured(key)?.into_iter().map(|m| Located::new(m.value, m.span)).collect())
    }
    /// A quantity that has one value.
    pub fn real(&self, key: &str) -> Option<Located<f64>> {
        self.reals(key)?.first().copied()
    }
    pub fn text(&self, key: &str) -> Option<Located<String>> {
        match self.get(key) {
            Some(node) => node.text().map(|text| Located::new(text.to_owned(), node.span)),
            None => self.default(key).map(|text| Located::new(text.to_owned(), self.span())),
        }
    }
    /// A word of a closed set.
    pub fn word<T>(&self, key: &str, from_word: impl Fn(&str) -> Option<T>) -> Option<Located<T>> {
        let text = self.text(key)?;
        from_word(&text.value).map(|value| Located::new(value, text.span))
    }
    pub fn count(&self, key: &str) -> Option<Located<u64>> {
        match self.get(key) {
            Some(Node { value: Value::Integer(number), span }) => {
                Some(Located::new(u64::try_from(*number).ok()?, *span))
            }
            Some(_) => None,
            None => Some(Located::new(self.default(key)?.parse().ok()?, self.span())),
        }
    }
    /// A count that is small by its bounds.
    pub fn small_count(&self, key: &str) -> Option<Located<u32>> {
        let count = self.count(key)?;
        Some(Located::new(u32::try_from(count.value).ok()?, count.span))
    }
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key) {
            Some(Node { value: Value::Bool(flag), .. }) => Some(*flag),
            Some(_) => None,
            None => Some(self.default(key)? == "true"),
        }
    }
    /// The table under a key, if it is one.
    pub fn table(&self, key: &str) -> Option<Self> {
        let node = self.get(key).filter(|node| matches!(node.value, Value::Table(_)))?;
        Some(Self { node, section: self.kind(key)?.section()? })
    }
    pub fn tables(&self, key: &str) -> Vec<Self> {
        let section = self.kind(key).and_then(Kind::section);
        let items = match (self.kind(key), self.get(key)) {
            (Some(Kind::TableOrTables(_)), Some(node)) if matches!(node.value, Value::Table(_)) => {
                std::slice::from_ref(node)
            }
            (_, node) => node.map_or(&[][..], Node::items),
        };
        items.iter().filter_map(|node| Some(Self { node, section: section? })).collect()
    }
    pub fn points(&self, key: &str) -> Option<Vec<Located<Point>>> {
        let point = |node: &Node| {
            let [x, y] = node.items() else { return None };
            let real = |node| read_values(node, &COORDINATE).ok()?.first().map(|m| m.value);
            Some(Located::new(Point::new(real(x)?, real(y)?), node.span))
        };
        self.get(key)?.items().iter().map(point).collect()
    }
}
