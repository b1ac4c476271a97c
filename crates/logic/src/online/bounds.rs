//! What an answer that is still open can become.

use super::plan::Kind;
use super::{Cell, Memory, Monitor, Sample};
use crate::formula::Bounds;
use crate::trace::TIME_TOLERANCE_S;

/// A time, and the smallest and largest answer for it.
type Span = (f64, f64, f64);

impl Monitor {
    /// The smallest and the largest value that the formula can still get, whatever comes.
    pub fn interval(&self, memory: &Memory) -> (f64, f64) {
        if let Some(answer) = memory.answer {
            return (answer, answer);
        }
        if self.is_deciding {
            return (-1.0, 1.0);
        }
        // The open answers of every operator.
        let mut open: Vec<Vec<Span>> = Vec::with_capacity(self.plan.operators.len());
        for (operator, cell) in self.plan.operators.iter().zip(&memory.cells) {
            let spans = match &operator.kind {
                Kind::Atom(_) => Vec::new(),
                Kind::Not(inner) => open[*inner].iter().map(|&(t, lo, hi)| (t, -hi, -lo)).collect(),
                Kind::And(a, b) => joined(cell, &open[*a], &open[*b], |a, b| (a.0.min(b.0), a.1.min(b.1))),
                Kind::Or(a, b) => joined(cell, &open[*a], &open[*b], |a, b| (a.0.max(b.0), a.1.max(b.1))),
                Kind::Implies(a, b) => joined(cell, &open[*a], &open[*b], |a, b| ((-a.1).max(b.0), (-a.0).max(b.1))),
                Kind::Extreme { inner, from_s, to_s, is_largest } => {
                    extremes(cell, &open[*inner], (*from_s, *to_s), *is_largest, memory.last_s)
                }
                Kind::Until { left, right, bounds, is_negated } => {
                    let sides = (known(&cell.left, &open[*left]), known(&cell.right, &open[*right]));
                    untils(cell, sides, *bounds, *is_negated, memory.last_s)
                }
                Kind::Since { left, right, bounds } => {
                    let sides = (known(&cell.left, &open[*left]), known(&cell.right, &open[*right]));
                    sinces(cell, sides, *bounds)
                }
            };
            open.push(spans);
        }
        match open.last().and_then(|spans| spans.first()) {
            Some(&(_, lo, hi)) => (lo, hi),
            None => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }
}

/// Answers that are known, followed by those that are open. The open ones are later: answers come in order.
fn known(exact: &std::collections::VecDeque<Sample>, open: &[Span]) -> Vec<Span> {
    exact.iter().map(|&(t, value)| (t, value, value)).chain(open.iter().copied()).collect()
}

fn joined(
    cell: &Cell,
    left: &[Span],
    right: &[Span],
    join: impl Fn((f64, f64), (f64, f64)) -> (f64, f64),
) -> Vec<Span> {
    let (left, right) = (known(&cell.left, left), known(&cell.right, right));
    let pairs = left.iter().zip(&right);
    pairs
        .map(|(&(t, lo, hi), &(_, other_lo, other_hi))| {
            let (lo, hi) = join((lo, hi), (other_lo, other_hi));
            (t, lo, hi)
        })
        .collect()
}

fn extremes(cell: &Cell, open: &[Span], (from_s, to_s): (f64, f64), is_largest: bool, now_s: f64) -> Vec<Span> {
    let sign = if is_largest { 1.0 } else { -1.0 };
    let answer = |&time_s: &f64| {
        let (begin_s, end_s) = (time_s + from_s - TIME_TOLERANCE_S, time_s + to_s + TIME_TOLERANCE_S);
        let inside = |t: f64| t >= begin_s && t <= end_s;
        let exact = cell.best.iter().chain(&cell.left).filter(|sample| inside(sample.0)).map(|sample| sign * sample.1);
        let exact = exact.fold(f64::NEG_INFINITY, f64::max);
        let (mut lo, mut hi) = (exact, exact);
        for &(_, open_lo, open_hi) in open.iter().filter(|span| inside(span.0)) {
            let (open_lo, open_hi) = if is_largest { (open_lo, open_hi) } else { (-open_hi, -open_lo) };
            (lo, hi) = (lo.max(open_lo), hi.max(open_hi));
        }
        if now_s < time_s + to_s - TIME_TOLERANCE_S {
            hi = f64::INFINITY;
        }
        if is_largest { (time_s, lo, hi) } else { (time_s, -hi, -lo) }
    };
    cell.waiting.iter().map(answer).collect()
}

fn untils(
    cell: &Cell,
    (left, right): (Vec<Span>, Vec<Span>),
    bounds: Bounds,
    is_negated: bool,
    now_s: f64,
) -> Vec<Span> {
    let turned = |&(t, lo, hi): &Span| if is_negated { (t, -hi, -lo) } else { (t, lo, hi) };
    let answer = |&time_s: &f64| {
        let (begin_s, end_s) = (time_s + bounds.from_s - TIME_TOLERANCE_S, time_s + bounds.to_s + TIME_TOLERANCE_S);
        let mut second = right.iter().filter(|span| span.0 >= begin_s).map(turned);
        let (mut lo, mut hi) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let (mut first_lo, mut first_hi) = (f64::INFINITY, f64::INFINITY);
        for (t, left_lo, left_hi) in left.iter().filter(|span| span.0 >= time_s && span.0 <= end_s).map(turned) {
            if t >= begin_s
                && let Some((_, right_lo, right_hi)) = second.next()
            {
                (lo, hi) = (lo.max(right_lo.min(first_lo)), hi.max(right_hi.min(first_hi)));
            }
            (first_lo, first_hi) = (first_lo.min(left_lo), first_hi.min(left_hi));
        }
        if now_s < time_s + bounds.to_s - TIME_TOLERANCE_S {
            hi = hi.max(first_hi);
        }
        turned(&(time_s, lo, hi))
    };
    cell.waiting.iter().map(answer).collect()
}

fn sinces(cell: &Cell, (left, right): (Vec<Span>, Vec<Span>), bounds: Bounds) -> Vec<Span> {
    let answer = |&time_s: &f64| {
        let (begin_s, end_s) = (time_s - bounds.to_s - TIME_TOLERANCE_S, time_s - bounds.from_s + TIME_TOLERANCE_S);
        let mut second = right.iter().filter(|span| span.0 >= begin_s);
        let folded = cell.folded.unwrap_or(f64::NEG_INFINITY);
        let (mut lo, mut hi) = (folded, folded);
        for &(t, left_lo, left_hi) in left.iter().filter(|span| span.0 >= begin_s && span.0 <= time_s) {
            (lo, hi) = (lo.min(left_lo), hi.min(left_hi));
            if t <= end_s
                && let Some(&(_, right_lo, right_hi)) = second.next()
            {
                (lo, hi) = (lo.max(right_lo), hi.max(right_hi));
            }
        }
        (time_s, lo, hi)
    };
    cell.waiting.iter().map(answer).collect()
}
