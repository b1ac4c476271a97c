//! What a formula is worth on a finished trace, reading only its samples.
//!
//! A window holds the samples whose times lie in it, and ends with the trace: over no samples *always* is worth +∞ and
//! *eventually* −∞. Every operator takes time proportional to the samples it needs, whatever the width of its window
//! (D. Lemire, "Streaming maximum-minimum filter", 2006).

use crate::atom::{Reading, constant, margin, sign_of, truth};
use crate::error::TraceError;
use crate::formula::{Bounds, Comparison, Formula, Link, Node, Term, Window};
use crate::trace::{Trace, Windows};

impl Formula {
    /// By how much the formula holds at the start of a trace (positive) or is violated (negative).
    ///
    /// # Errors
    /// When the trace lacks signals of the formula.
    pub fn robustness(&self, trace: &Trace) -> Result<f64, TraceError> {
        Ok(self.evaluator(trace, Reading::Margin)?.node(&self.root, 0, 1)[0])
    }
    /// Whether the formula holds at the start of a trace.
    ///
    /// # Errors
    /// When the trace lacks signals of the formula.
    pub fn holds(&self, trace: &Trace) -> Result<bool, TraceError> {
        Ok(self.evaluator(trace, Reading::Truth)?.node(&self.root, 0, 1)[0] > 0.0)
    }
    /// What the formula is worth at every sample of a trace.
    ///
    /// # Errors
    /// When the trace lacks signals of the formula.
    pub fn values(&self, trace: &Trace, reading: Reading) -> Result<Vec<f64>, TraceError> {
        Ok(self.evaluator(trace, reading)?.node(&self.root, 0, trace.len()))
    }

    fn evaluator<'t>(&self, trace: &'t Trace, reading: Reading) -> Result<Evaluator<'t>, TraceError> {
        self.check_signals(trace.signals.len())?;
        Ok(Evaluator { trace, reading })
    }
    pub(crate) fn check_signals(&self, found: usize) -> Result<(), TraceError> {
        let expected = self.table.len();
        if found < expected { Err(TraceError::Signals { found, expected }) } else { Ok(()) }
    }
}

struct Evaluator<'t> {
    trace: &'t Trace,
    reading: Reading,
}

impl Evaluator<'_> {
    /// The values of a condition at the samples `lo..hi`.
    fn node(&self, node: &Node, lo: usize, hi: usize) -> Vec<f64> {
        match node {
            Node::Constant(value) => vec![constant(*value); hi - lo],
            Node::Truth(index) => self.trace.signals[*index][lo..hi].iter().map(|&x| sign_of(x > 0.5)).collect(),
            Node::Compare(comparison, a, b) => self.compare(*comparison, a, b, lo, hi),
            Node::Not(a) => negated(self.node(a, lo, hi)),
            Node::And(a, b) => joined(self.node(a, lo, hi), &self.node(b, lo, hi), f64::min),
            Node::Or(a, b) => joined(self.node(a, lo, hi), &self.node(b, lo, hi), f64::max),
            Node::Implies(a, b) => joined(self.node(a, lo, hi), &self.node(b, lo, hi), |a, b| (-a).max(b)),
            Node::Window(window, bounds, inner) => self.window(*window, *bounds, inner, lo, hi),
            Node::Link(Link::Until, bounds, a, b) => {
                self.until(*bounds, |lo, hi| self.node(a, lo, hi), |lo, hi| self.node(b, lo, hi), lo, hi)
            }
            Node::Link(Link::Release, bounds, a, b) => negated(self.until(
                *bounds,
                |lo, hi| negated(self.node(a, lo, hi)),
                |lo, hi| negated(self.node(b, lo, hi)),
                lo,
                hi,
            )),
            Node::Link(Link::Since, bounds, a, b) => self.since(*bounds, a, b, lo, hi),
        }
    }

    fn window(&self, window: Window, bounds: Bounds, inner: &Node, lo: usize, hi: usize) -> Vec<f64> {
        let (from_s, to_s) =
            if window.is_past() { (-bounds.to_s, -bounds.from_s) } else { (bounds.from_s, bounds.to_s) };
        let (first, stop) = self.needed(from_s, to_s, lo, hi);
        let values = self.node(inner, first, stop);
        let windows = self.trace.clock.windows(from_s, to_s, lo);
        if window.is_some() {
            slide::<true>(&values, first, windows, lo, hi)
        } else {
            slide::<false>(&values, first, windows, lo, hi)
        }
    }

    /// All samples in the windows of `lo..hi`.
    fn needed(&self, from_s: f64, to_s: f64, lo: usize, hi: usize) -> (usize, usize) {
        let first = self.trace.clock.windows(from_s, to_s, lo).of(lo).0;
        let stop = self.trace.clock.windows(from_s, to_s, hi - 1).of(hi - 1).1;
        (first, stop.max(first))
    }

    /// Until over [a, b] is: the second eventually in [a, b], the first up to a, and until without bounds from a on.
    fn until(
        &self,
        bounds: Bounds,
        left: impl Fn(usize, usize) -> Vec<f64>,
        right: impl Fn(usize, usize) -> Vec<f64>,
        lo: usize,
        hi: usize,
    ) -> Vec<f64> {
        let clock = &self.trace.clock;
        let (first, stop) = self.needed(bounds.from_s, bounds.to_s, lo, hi);
        if first == stop {
            return vec![f64::NEG_INFINITY; hi - lo];
        }
        let (left, right) = (left(lo, stop), right(first, stop));
        let mut unbounded = vec![f64::NEG_INFINITY; stop - first + 1];
        for j in (first..stop).rev() {
            unbounded[j - first] = right[j - first].max(left[j - lo].min(unbounded[j - first + 1]));
        }
        let mut values = slide::<true>(&right, first, clock.windows(bounds.from_s, bounds.to_s, lo), lo, hi);
        let mut windows = clock.windows(bounds.from_s, bounds.to_s, lo);
        let mut before = Extreme::<false>::default();
        let mut pushed = lo;
        for (value, i) in values.iter_mut().zip(lo..hi) {
            let (start, end) = windows.of(i);
            while pushed < start.min(stop) {
                before.push(pushed, left[pushed - lo]);
                pushed += 1;
            }
            before.drop_before(i);
            if start < end {
                *value = value.min(before.best()).min(unbounded[start - first]);
            }
        }
        values
    }

    /// The mirror image of until.
    fn since(&self, bounds: Bounds, a: &Node, b: &Node, lo: usize, hi: usize) -> Vec<f64> {
        let clock = &self.trace.clock;
        let (from_s, to_s) = (-bounds.to_s, -bounds.from_s);
        let (first, stop) = self.needed(from_s, to_s, lo, hi);
        if first == stop {
            return vec![f64::NEG_INFINITY; hi - lo];
        }
        let (left, right) = (self.node(a, first, hi), self.node(b, first, stop));
        let mut unbounded = Vec::with_capacity(stop - first);
        let mut last = f64::NEG_INFINITY;
        for j in first..stop {
            last = right[j - first].max(left[j - first].min(last));
            unbounded.push(last);
        }
        let mut values = slide::<true>(&right, first, clock.windows(from_s, to_s, lo), lo, hi);
        let mut windows = clock.windows(from_s, to_s, lo);
        let mut after = Extreme::<false>::default();
        let mut pushed = first;
        for (value, i) in values.iter_mut().zip(lo..hi) {
            let (start, end) = windows.of(i);
            while pushed <= i {
                after.push(pushed, left[pushed - first]);
                pushed += 1;
            }
            after.drop_before(end);
            if start < end {
                *value = value.min(after.best()).min(unbounded[end - 1 - first]);
            }
        }
        values
    }

    fn compare(&self, comparison: Comparison, a: &Term, b: &Term, lo: usize, hi: usize) -> Vec<f64> {
        let worth = match self.reading {
            Reading::Margin => margin,
            Reading::Truth => truth,
        };
        // A signal against a constant is by far the most frequent comparison.
        if let (Term::Signal(index), Term::Constant(b, _), Reading::Margin) = (a, b, self.reading) {
            let signal = &self.trace.signals[*index][lo..hi];
            match comparison {
                Comparison::Less | Comparison::LessOrEqual => return signal.iter().map(|a| b - a).collect(),
                Comparison::Greater | Comparison::GreaterOrEqual => return signal.iter().map(|a| a - b).collect(),
                Comparison::Equal | Comparison::Unequal => {}
            }
        }
        let (a, b) = (self.term(a, lo, hi), self.term(b, lo, hi));
        a.iter().zip(&b).map(|(&a, &b)| worth(comparison, a, b)).collect()
    }

    fn term(&self, term: &Term, lo: usize, hi: usize) -> Vec<f64> {
        let both = |a: &Term, b: &Term, f: fn(f64, f64) -> f64| joined(self.term(a, lo, hi), &self.term(b, lo, hi), f);
        match term {
            Term::Signal(index) => self.trace.signals[*index][lo..hi].to_vec(),
            Term::Constant(value, _) => vec![*value; hi - lo],
            Term::Negated(a) => negated(self.term(a, lo, hi)),
            Term::Magnitude(a) => self.term(a, lo, hi).into_iter().map(f64::abs).collect(),
            Term::Sum(a, b) => both(a, b, |a, b| a + b),
            Term::Difference(a, b) => both(a, b, |a, b| a - b),
            Term::Product(a, b) => both(a, b, |a, b| a * b),
            Term::Quotient(a, b) => both(a, b, |a, b| a / b),
            Term::Smaller(a, b) => both(a, b, f64::min),
            Term::Larger(a, b) => both(a, b, f64::max),
        }
    }
}

fn negated(mut values: Vec<f64>) -> Vec<f64> {
    values.iter_mut().for_each(|value| *value = -*value);
    values
}

#[inline(always)]
fn joined(mut left: Vec<f64>, right: &[f64], join: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    left.iter_mut().zip(right).for_each(|(a, b)| *a = join(*a, *b));
    left
}

/// The smallest or largest value of every window of `lo..hi`; `values` begin with sample `first`.
fn slide<const LARGEST: bool>(
    values: &[f64],
    first: usize,
    mut windows: Windows<'_>,
    lo: usize,
    hi: usize,
) -> Vec<f64> {
    if hi - lo == 1 {
        let (start, stop) = windows.of(lo);
        let inside = values.get(start - first..stop.max(start) - first).unwrap_or(&[]);
        let empty = constant(!LARGEST);
        return vec![inside.iter().fold(empty, |best, &x| if LARGEST { best.max(x) } else { best.min(x) })];
    }
    let mut extreme = Extreme::<LARGEST>::default();
    let mut pushed = first;
    let mut out = Vec::with_capacity(hi - lo);
    for i in lo..hi {
        let (start, stop) = windows.of(i);
        while pushed < stop {
            extreme.push(pushed, values[pushed - first]);
            pushed += 1;
        }
        extreme.drop_before(start);
        out.push(extreme.best());
    }
    out
}

/// The extreme value of a window that moves on: those values that can still become the best, in falling order.
struct Extreme<const LARGEST: bool> {
    candidates: std::collections::VecDeque<(u32, f64)>,
}

impl<const LARGEST: bool> Default for Extreme<LARGEST> {
    fn default() -> Self {
        Self { candidates: std::collections::VecDeque::new() }
    }
}

impl<const LARGEST: bool> Extreme<LARGEST> {
    #[inline(always)]
    fn push(&mut self, index: usize, value: f64) {
        while let Some(&(_, last)) = self.candidates.back() {
            let is_beaten = if LARGEST { last <= value } else { last >= value };
            if !is_beaten {
                break;
            }
            self.candidates.pop_back();
        }
        self.candidates.push_back((index as u32, value));
    }
    #[inline(always)]
    fn drop_before(&mut self, index: usize) {
        while self.candidates.front().is_some_and(|&(at, _)| (at as usize) < index) {
            self.candidates.pop_front();
        }
    }
    #[inline(always)]
    fn best(&self) -> f64 {
        self.candidates.front().map_or(constant(!LARGEST), |&(_, value)| value)
    }
}
