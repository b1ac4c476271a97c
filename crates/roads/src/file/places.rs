//! Where each element of a map stands in its file.

use std::collections::BTreeMap;

use crate::flaw::Element;
use crate::report::Span;

/// Spans of elements. What a generator made stands where the generator does.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    spans: BTreeMap<Element, Span>,
}

impl Places {
    pub fn put(&mut self, element: Element, span: Span) {
        self.spans.insert(element, span);
    }
    pub fn get(&self, element: Element) -> Option<Span> {
        self.spans.get(&element).copied()
    }
}
