//! What a formula is worth on a finished trace, between its samples too.
//!
//! Numbers are linear between samples, whole numbers and truths keep their value, and the last sample lasts for ever.
//! Sums, differences, multiples, magnitudes, `min` and `max` of such signals are straight lines again, and so is every
//! operator over them: the answer is exact. Products and quotients of two changing signals are taken as straight between
//! samples. (A. Donzé, T. Ferrère, O. Maler, "Efficient robust monitoring for STL", 2013.)

use crate::atom::{constant, margin, sign_of};
use crate::error::TraceError;
use crate::formula::{Bounds, Comparison, Formula, Link, Node, SignalKind, Term, Window};
use crate::line::{Line, Piece};
use crate::trace::Trace;

impl Formula {
    /// By how much the formula holds at the start of a trace whose signals are linear between samples.
    ///
    /// # Errors
    /// When the trace lacks signals of the formula.
    pub fn dense_robustness(&self, trace: &Trace) -> Result<f64, TraceError> {
        Ok(self.dense(trace)?.at(trace.time_s(0)))
    }
    /// What the formula is worth at every time of a trace whose signals are linear between samples.
    ///
    /// # Errors
    /// When the trace lacks signals of the formula.
    pub fn dense(&self, trace: &Trace) -> Result<Line, TraceError> {
        self.check_signals(trace.signals.len())?;
        Ok(Dense { trace, formula: self }.node(&self.root))
    }
}

struct Dense<'t> {
    trace: &'t Trace,
    formula: &'t Formula,
}

impl Dense<'_> {
    fn start_s(&self) -> f64 {
        self.trace.time_s(0)
    }

    fn node(&self, node: &Node) -> Line {
        match node {
            Node::Constant(value) => Line::level(self.start_s(), constant(*value)),
            Node::Truth(index) => self.signal(*index).map(|value| sign_of(value > 0.5)),
            Node::Compare(comparison, a, b) => self.compare(*comparison, a, b),
            Node::Not(a) => self.node(a).negated(),
            Node::And(a, b) => self.node(a).smaller(&self.node(b)),
            Node::Or(a, b) => self.node(a).larger(&self.node(b)),
            Node::Implies(a, b) => self.node(a).negated().larger(&self.node(b)),
            Node::Window(Window::Eventually, bounds, a) => ahead(self.node(a), *bounds),
            Node::Window(Window::Always, bounds, a) => ahead(self.node(a).negated(), *bounds).negated(),
            Node::Window(Window::Once, bounds, a) => behind(&self.node(a), *bounds),
            Node::Window(Window::Historically, bounds, a) => behind(&self.node(a).negated(), *bounds).negated(),
            Node::Link(Link::Until, bounds, a, b) => until(&self.node(a), self.node(b), *bounds),
            Node::Link(Link::Release, bounds, a, b) => {
                until(&self.node(a).negated(), self.node(b).negated(), *bounds).negated()
            }
            Node::Link(Link::Since, bounds, a, b) => since(&self.node(a), &self.node(b), *bounds),
        }
    }

    fn compare(&self, comparison: Comparison, a: &Term, b: &Term) -> Line {
        let (a, b) = (self.term(a), self.term(b));
        let mut line = a.zip(&b, |a, b| margin(comparison, a, b));
        for piece in &mut line.pieces {
            // A quotient that leaves all bounds is no line; it counts with its value at the beginning.
            if !(piece.first.is_finite() && piece.last.is_finite()) {
                piece.last = piece.first;
            }
        }
        line
    }

    fn signal(&self, index: usize) -> Line {
        let values = &self.trace.signals[index];
        let holds = self.formula.table[index].1 != SignalKind::Real(self.dimension(index));
        let piece = |i: usize| {
            let last = if holds { values[i] } else { *values.get(i + 1).unwrap_or(&values[i]) };
            Piece { from_s: self.trace.time_s(i), first: values[i], last }
        };
        Line { pieces: (0..values.len()).map(piece).collect() }
    }
    fn dimension(&self, index: usize) -> anabranch_kernel::units::Dimension {
        match self.formula.table[index].1 {
            SignalKind::Real(dimension) => dimension,
            SignalKind::Truth | SignalKind::Whole => anabranch_kernel::units::Dimension::Number,
        }
    }

    fn term(&self, term: &Term) -> Line {
        match term {
            Term::Signal(index) => self.signal(*index),
            Term::Constant(value, _) => Line::level(self.start_s(), *value),
            Term::Negated(a) => self.term(a).negated(),
            Term::Magnitude(a) => {
                let a = self.term(a);
                a.larger(&a.clone().negated())
            }
            Term::Sum(a, b) => self.term(a).zip(&self.term(b), |a, b| a + b),
            Term::Difference(a, b) => self.term(a).zip(&self.term(b), |a, b| a - b),
            Term::Product(a, b) => self.term(a).zip(&self.term(b), |a, b| a * b),
            Term::Quotient(a, b) => self.term(a).zip(&self.term(b), |a, b| a / b),
            Term::Smaller(a, b) => self.term(a).smaller(&self.term(b)),
            Term::Larger(a, b) => self.term(a).larger(&self.term(b)),
        }
    }
}

/// The largest value of a window ahead.
fn ahead(line: Line, bounds: Bounds) -> Line {
    line.earlier(bounds.from_s).largest_within(bounds.to_s - bounds.from_s)
}

/// The largest value of a window behind; −∞ where nothing lies in it.
fn behind(line: &Line, bounds: Bounds) -> Line {
    if bounds.to_s == f64::INFINITY {
        return line.largest_behind().later(bounds.from_s, f64::NEG_INFINITY);
    }
    let start_s = line.pieces[0].from_s;
    let mut pieces = Vec::with_capacity(line.pieces.len() + 1);
    if bounds.to_s > 0.0 {
        let nothing = f64::NEG_INFINITY;
        pieces.push(Piece { from_s: start_s - bounds.to_s, first: nothing, last: nothing });
    }
    pieces.extend(&line.pieces);
    let mut line = Line { pieces }.largest_within(bounds.to_s - bounds.from_s);
    line.pieces.iter_mut().for_each(|piece| piece.from_s += bounds.to_s);
    line.pieces[0].from_s = start_s;
    line
}

fn until(first: &Line, second: Line, bounds: Bounds) -> Line {
    let unbounded = Line::until(first, &second).earlier(bounds.from_s);
    let mut line = if bounds.to_s == f64::INFINITY { unbounded } else { unbounded.smaller(&ahead(second, bounds)) };
    if bounds.from_s > 0.0 {
        let before = first.clone().negated().largest_within(bounds.from_s).negated();
        line = line.smaller(&before);
    }
    line
}

fn since(first: &Line, second: &Line, bounds: Bounds) -> Line {
    let unbounded = Line::since(first, second).later(bounds.from_s, f64::NEG_INFINITY);
    let mut line = if bounds.to_s == f64::INFINITY { unbounded } else { unbounded.smaller(&behind(second, bounds)) };
    if bounds.from_s > 0.0 {
        let after = behind(&first.clone().negated(), Bounds { from_s: 0.0, to_s: bounds.from_s }).negated();
        line = line.smaller(&after);
    }
    line
}
