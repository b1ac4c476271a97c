//! How one sample passes through all operators.

use super::plan::Kind;
use super::{Cell, Memory, Monitor, Sample, Scratch};
use crate::atom::{atom_of_frame, constant, sign_of};
use crate::formula::Bounds;
use crate::trace::TIME_TOLERANCE_S;

/// What an operator knows about time.
#[derive(Clone, Copy)]
struct Now {
    /// The last sample; infinite once the trace has ended.
    time_s: f64,
    /// The earliest sample for which the conditions below have no answer yet; infinite if there is none.
    left_open_s: f64,
    right_open_s: f64,
}

impl Now {
    /// Whether everything up to this time is known, and nothing can come before it any more.
    fn has_all_until(&self, time_s: f64) -> bool {
        let open_s = self.left_open_s.min(self.right_open_s);
        self.time_s >= time_s - TIME_TOLERANCE_S && (open_s == f64::INFINITY || open_s > time_s + TIME_TOLERANCE_S)
    }
}

impl Monitor {
    /// Passes a sample, or the end of the trace, through all operators.
    pub(super) fn flow(&self, memory: &mut Memory, frame: Option<&[f64]>, scratch: &mut Scratch) {
        let count = self.plan.operators.len();
        scratch.emitted.resize(count, Vec::new());
        scratch.emitted.iter_mut().for_each(Vec::clear);
        // The earliest open sample of every operator.
        scratch.open_s.clear();
        scratch.open_s.resize(count, f64::INFINITY);
        let open_s = &mut scratch.open_s;
        let early = self.is_deciding;
        let start_s = memory.start_s.unwrap_or(memory.last_s);
        let since_start_s = memory.last_s - start_s;
        for (index, operator) in self.plan.operators.iter().enumerate() {
            let (below, rest) = scratch.emitted.split_at_mut(index);
            let out = &mut rest[0];
            let cell = &mut memory.cells[index];
            let is_needed = frame.is_some()
                && since_start_s >= operator.from_s - TIME_TOLERANCE_S
                && since_start_s <= operator.to_s + TIME_TOLERANCE_S;
            let is_last_needed = frame.is_none() || since_start_s >= operator.to_s - TIME_TOLERANCE_S;
            let end_s = if frame.is_some() { memory.last_s } else { f64::INFINITY };
            let now = |left: usize, right: usize| Now {
                time_s: end_s,
                left_open_s: open_s[left],
                right_open_s: open_s[right],
            };
            let opened = is_needed.then_some(memory.last_s);
            let first_open_s = match &operator.kind {
                Kind::Atom(node) => {
                    if let Some(frame) = frame.filter(|_| is_needed) {
                        let value = atom_of_frame(node, frame, self.reading).unwrap_or(f64::NEG_INFINITY);
                        let value = if early { sign_of(value > 0.0) } else { value };
                        out.push((memory.last_s, value));
                    }
                    f64::INFINITY
                }
                Kind::Not(inner) => {
                    out.extend(below[*inner].iter().map(|&(time_s, value)| (time_s, -value)));
                    open_s[*inner]
                }
                Kind::And(a, b) | Kind::Or(a, b) | Kind::Implies(a, b) => {
                    join_two(&operator.kind, cell, [&below[*a], &below[*b]], out, early, [open_s[*a], open_s[*b]])
                }
                Kind::Extreme { inner, from_s, to_s, is_largest } => {
                    cell.waiting.extend(opened);
                    let now = now(*inner, *inner);
                    let span = Stretch { from_s: *from_s, to_s: *to_s, is_largest: *is_largest, is_last_needed, early };
                    extreme(cell, &below[*inner], out, &span, now)
                }
                Kind::Until { left, right, bounds, is_negated } => {
                    cell.waiting.extend(opened);
                    cell.left.extend(&below[*left]);
                    cell.right.extend(&below[*right]);
                    until(cell, out, *bounds, *is_negated, now(*left, *right), early)
                }
                Kind::Since { left, right, bounds } => {
                    cell.waiting.extend(opened);
                    cell.left.extend(&below[*left]);
                    cell.right.extend(&below[*right]);
                    since(cell, out, *bounds, now(*left, *right))
                }
            };
            open_s[index] = first_open_s;
        }
        let answer = scratch.emitted.last().and_then(|out| out.first()).map(|&(_, value)| value);
        memory.answer = if early { answer.map(|value| sign_of(value > 0.0)) } else { answer };
        if memory.answer.is_some() {
            memory.cells.iter_mut().for_each(|cell| *cell = Cell::default());
        }
    }
}

fn first_waiting(cell: &Cell) -> f64 {
    cell.waiting.front().copied().unwrap_or(f64::INFINITY)
}

/// *And*, *or* and *implies*.
fn join_two(
    kind: &Kind,
    cell: &mut Cell,
    sides: [&[Sample]; 2],
    out: &mut Vec<Sample>,
    early: bool,
    open_s: [f64; 2],
) -> f64 {
    match kind {
        Kind::And(..) => join(cell, sides, out, f64::min, early.then_some([-1.0, -1.0]), open_s),
        Kind::Or(..) => join(cell, sides, out, f64::max, early.then_some([1.0, 1.0]), open_s),
        _ => join(cell, sides, out, |a, b| (-a).max(b), early.then_some([-1.0, 1.0]), open_s),
    }
}

/// Joins answers for equal samples; the one that is ahead waits for the other, unless it is the one value per side that decides
/// alone. Returns the earliest sample without answer.
fn join(
    cell: &mut Cell,
    sides: [&[Sample]; 2],
    out: &mut Vec<Sample>,
    value: impl Fn(f64, f64) -> f64,
    deciding: Option<[f64; 2]>,
    open_s: [f64; 2],
) -> f64 {
    let answered_s = cell.answered_s.unwrap_or(f64::NEG_INFINITY);
    cell.left.extend(sides[0].iter().filter(|sample| sample.0 > answered_s));
    cell.right.extend(sides[1].iter().filter(|sample| sample.0 > answered_s));
    while let (Some(&(time_s, a)), Some(&(_, b))) = (cell.left.front(), cell.right.front()) {
        cell.left.pop_front();
        cell.right.pop_front();
        out.push((time_s, value(a, b)));
    }
    let Some(deciding) = deciding else { return open_s[0].min(open_s[1]) };
    // What is left of one side is ahead of the other.
    let decided = value(deciding[0], deciding[1]);
    for (queue, alone) in [(&mut cell.left, deciding[0]), (&mut cell.right, deciding[1])] {
        while let Some(&(time_s, _)) = queue.front().filter(|sample| sample.1 == alone) {
            queue.pop_front();
            out.push((time_s, decided));
            cell.answered_s = Some(time_s);
        }
    }
    let answered_s = cell.answered_s.unwrap_or(f64::NEG_INFINITY);
    if open_s[0].min(open_s[1]) > answered_s {
        cell.answered_s = None;
    }
    let fronts = [cell.left.front(), cell.right.front()].map(|front| front.map_or(f64::INFINITY, |sample| sample.0));
    let later = open_s.map(|open_s| if open_s > answered_s { open_s } else { f64::INFINITY });
    fronts.into_iter().chain(later).fold(f64::INFINITY, f64::min)
}

fn push_best(best: &mut std::collections::VecDeque<Sample>, sample: Sample, is_largest: bool) {
    while best.back().is_some_and(|&(_, last)| if is_largest { last <= sample.1 } else { last >= sample.1 }) {
        best.pop_back();
    }
    best.push_back(sample);
}

/// The window of an operator over one condition.
struct Stretch {
    from_s: f64,
    to_s: f64,
    is_largest: bool,
    /// No window is opened after this sample.
    is_last_needed: bool,
    /// Answer as soon as nothing can change it.
    early: bool,
}

/// The best of a window that moves on.
fn extreme(cell: &mut Cell, inner: &[Sample], out: &mut Vec<Sample>, window: &Stretch, now: Now) -> f64 {
    let &Stretch { from_s, to_s, is_largest, is_last_needed, early } = window;
    let decides = |value: f64| early && (value > 0.0) == is_largest;
    cell.left.extend(inner);
    loop {
        // No window that is open or will be opened begins before this one, and none before it ends here.
        let first_s = first_waiting(cell).min(now.time_s);
        while cell.left.front().is_some_and(|&(time_s, _)| time_s <= first_s + to_s + TIME_TOLERANCE_S) {
            if let Some(sample) = cell.left.pop_front() {
                push_best(&mut cell.best, sample, is_largest);
            }
        }
        while cell.best.front().is_some_and(|&(time_s, _)| time_s < first_s + from_s - TIME_TOLERANCE_S) {
            cell.best.pop_front();
        }
        match cell.waiting.front() {
            Some(&time_s)
                if now.has_all_until(time_s + to_s) || cell.best.front().is_some_and(|best| decides(best.1)) =>
            {
                cell.waiting.pop_front();
                out.push((time_s, cell.best.front().map_or(constant(!is_largest), |&(_, value)| value)));
            }
            _ => break,
        }
    }
    // Where the last window that matters already begins before the best answer, that answer is never dropped again.
    let last_begin_s = match cell.waiting.back() {
        Some(&time_s) if is_last_needed => time_s + from_s,
        None if is_last_needed => {
            cell.best.clear();
            cell.left.clear();
            return f64::INFINITY;
        }
        _ if from_s == f64::NEG_INFINITY => f64::NEG_INFINITY,
        _ => f64::INFINITY,
    };
    if cell.best.front().is_some_and(|&(time_s, _)| time_s >= last_begin_s - TIME_TOLERANCE_S) {
        cell.best.truncate(1);
    }
    first_waiting(cell)
}

/// The second condition at some time of the window, the first from `time_s` until just before it.
fn until_value(cell: &Cell, time_s: f64, bounds: Bounds, sign: f64) -> f64 {
    let (begin_s, end_s) = (time_s + bounds.from_s - TIME_TOLERANCE_S, time_s + bounds.to_s + TIME_TOLERANCE_S);
    let mut right = cell.right.iter().skip_while(|&&(at_s, _)| at_s < begin_s);
    let (mut value, mut so_far) = (f64::NEG_INFINITY, f64::INFINITY);
    for &(at_s, left) in cell.left.iter().skip_while(|&&(at_s, _)| at_s < time_s) {
        if at_s > end_s {
            break;
        }
        if at_s >= begin_s {
            let second = right.next().map_or(f64::NEG_INFINITY, |&(_, right)| sign * right);
            value = value.max(second.min(so_far));
        }
        so_far = so_far.min(sign * left);
    }
    sign * value
}

/// The value of until at `time_s`, if what is known of both conditions decides it.
fn until_decided(cell: &Cell, time_s: f64, bounds: Bounds, sign: f64) -> Option<f64> {
    let (begin_s, end_s) = (time_s + bounds.from_s - TIME_TOLERANCE_S, time_s + bounds.to_s + TIME_TOLERANCE_S);
    let mut right = cell.right.iter().skip_while(|&&(at_s, _)| at_s < begin_s);
    for &(at_s, left) in cell.left.iter().skip_while(|&&(at_s, _)| at_s < time_s) {
        if at_s > end_s {
            return None;
        }
        if at_s >= begin_s && sign * right.next()?.1 > 0.0 {
            return Some(sign);
        }
        if sign * left < 0.0 {
            return Some(-sign);
        }
    }
    None
}

fn until(cell: &mut Cell, out: &mut Vec<Sample>, bounds: Bounds, is_negated: bool, now: Now, early: bool) -> f64 {
    let sign = if is_negated { -1.0 } else { 1.0 };
    while let Some(&time_s) = cell.waiting.front() {
        let value = if now.has_all_until(time_s + bounds.to_s) {
            until_value(cell, time_s, bounds, sign)
        } else if let Some(value) = early.then(|| until_decided(cell, time_s, bounds, sign)).flatten() {
            value
        } else {
            break;
        };
        out.push((time_s, value));
        cell.waiting.pop_front();
    }
    let first_s =
        first_waiting(cell).min(if now.time_s.is_finite() { now.time_s + TIME_TOLERANCE_S } else { now.time_s });
    while cell.left.front().is_some_and(|&(time_s, _)| time_s < first_s) {
        cell.left.pop_front();
    }
    while cell.right.front().is_some_and(|&(time_s, _)| time_s < first_s + bounds.from_s - TIME_TOLERANCE_S) {
        cell.right.pop_front();
    }
    first_waiting(cell)
}

/// The second condition at some time of the window behind, the first ever since.
fn since_value(cell: &Cell, time_s: f64, bounds: Bounds) -> f64 {
    let (begin_s, end_s) = (time_s - bounds.to_s - TIME_TOLERANCE_S, time_s - bounds.from_s + TIME_TOLERANCE_S);
    let mut right = cell.right.iter().skip_while(|&&(at_s, _)| at_s < begin_s);
    let mut value = cell.folded.unwrap_or(f64::NEG_INFINITY);
    for &(at_s, left) in cell.left.iter().skip_while(|&&(at_s, _)| at_s < begin_s) {
        if at_s > time_s {
            break;
        }
        value = value.min(left);
        if at_s <= end_s {
            value = value.max(right.next().map_or(f64::NEG_INFINITY, |&(_, right)| right));
        }
    }
    value
}

fn since(cell: &mut Cell, out: &mut Vec<Sample>, bounds: Bounds, now: Now) -> f64 {
    while let Some(&time_s) = cell.waiting.front() {
        let has_left = now.left_open_s > time_s;
        let has_right = now.right_open_s > time_s - bounds.from_s + TIME_TOLERANCE_S;
        if !(has_left && has_right) {
            break;
        }
        out.push((time_s, since_value(cell, time_s, bounds)));
        cell.waiting.pop_front();
    }
    let first_s = first_waiting(cell).min(now.time_s);
    if bounds.to_s == f64::INFINITY {
        // Whatever lies before every open window is one number.
        let end_s = first_s - bounds.from_s + TIME_TOLERANCE_S;
        while let (Some(&(time_s, left)), Some(&(_, right))) = (cell.left.front(), cell.right.front()) {
            if time_s > end_s {
                break;
            }
            let before = cell.folded.unwrap_or(f64::NEG_INFINITY);
            cell.folded = Some(right.max(left.min(before)));
            cell.left.pop_front();
            cell.right.pop_front();
        }
        return first_waiting(cell);
    }
    let begin_s = first_s - bounds.to_s - TIME_TOLERANCE_S;
    for queue in [&mut cell.left, &mut cell.right] {
        while queue.front().is_some_and(|&(time_s, _)| time_s < begin_s) {
            queue.pop_front();
        }
    }
    first_waiting(cell)
}
