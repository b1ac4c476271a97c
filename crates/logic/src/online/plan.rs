//! The operators of a formula in the order in which they are computed, and when each of them matters.

use crate::formula::{Bounds, Link, Node, Window};

/// What an operator does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A condition without conditions inside.
    Atom(Node),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Implies(usize, usize),
    /// The largest or smallest of a window relative to now.
    Extreme {
        inner: usize,
        from_s: f64,
        to_s: f64,
        is_largest: bool,
    },
    /// Until, or with both sides and the answer negated: release.
    Until {
        left: usize,
        right: usize,
        bounds: Bounds,
        is_negated: bool,
    },
    Since {
        left: usize,
        right: usize,
        bounds: Bounds,
    },
}

/// An operator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operator {
    pub(crate) kind: Kind,
    /// From when to when its answers matter, in seconds since the first sample.
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
}

/// All operators; those that others need come first, the last one is the formula.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Plan {
    pub(crate) operators: Vec<Operator>,
}

impl Plan {
    pub(crate) fn new(root: &Node) -> Self {
        let mut plan = Self::default();
        plan.add(root, 0.0, 0.0);
        plan
    }

    fn add(&mut self, node: &Node, from_s: f64, to_s: f64) -> usize {
        let both = |plan: &mut Self, a: &Node, b: &Node| (plan.add(a, from_s, to_s), plan.add(b, from_s, to_s));
        let kind = match node {
            Node::Constant(_) | Node::Truth(_) | Node::Compare(..) => Kind::Atom(node.clone()),
            Node::Not(a) => Kind::Not(self.add(a, from_s, to_s)),
            Node::And(a, b) => {
                let (a, b) = both(self, a, b);
                Kind::And(a, b)
            }
            Node::Or(a, b) => {
                let (a, b) = both(self, a, b);
                Kind::Or(a, b)
            }
            Node::Implies(a, b) => {
                let (a, b) = both(self, a, b);
                Kind::Implies(a, b)
            }
            Node::Window(window, bounds, inner) => {
                let (lead_from, lead_to) = relative(*window, *bounds);
                let inner = self.add(inner, (from_s + lead_from).max(0.0), to_s + lead_to);
                Kind::Extreme { inner, from_s: lead_from, to_s: lead_to, is_largest: window.is_some() }
            }
            Node::Link(Link::Since, bounds, a, b) => {
                let first_s = (from_s - bounds.to_s).max(0.0);
                let (left, right) = (self.add(a, first_s, to_s), self.add(b, first_s, to_s - bounds.from_s));
                Kind::Since { left, right, bounds: *bounds }
            }
            Node::Link(link, bounds, a, b) => {
                let last_s = to_s + bounds.to_s;
                let (left, right) = (self.add(a, from_s, last_s), self.add(b, from_s + bounds.from_s, last_s));
                Kind::Until { left, right, bounds: *bounds, is_negated: *link == Link::Release }
            }
        };
        self.operators.push(Operator { kind, from_s, to_s });
        self.operators.len() - 1
    }
}

/// A window as seconds relative to now.
fn relative(window: Window, bounds: Bounds) -> (f64, f64) {
    if window.is_past() { (-bounds.to_s, -bounds.from_s) } else { (bounds.from_s, bounds.to_s) }
}
