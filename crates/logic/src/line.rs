//! Piecewise-linear signals and what can be done with them exactly.

use crate::trace::TIME_TOLERANCE_S;

/// A stretch of a signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    /// When it begins; it ends where the next one begins.
    pub(crate) from_s: f64,
    /// Its value at its beginning.
    pub(crate) first: f64,
    /// The value that it approaches at its end.
    pub(crate) last: f64,
}

/// A signal made of straight pieces. At a jump it has the later value; its last piece is level and never ends.
///
/// Isolated moments do not count: an operator whose answer at one moment differs from that just after it has the latter.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub(crate) pieces: Vec<Piece>,
}

/// Values at both ends of a stretch.
type Ends = (f64, f64);

impl Line {
    pub(crate) fn level(from_s: f64, value: f64) -> Self {
        Self { pieces: vec![Piece { from_s, first: value, last: value }] }
    }

    /// The value at a time; before the beginning that at the beginning.
    pub fn at(&self, time_s: f64) -> f64 {
        let index = self.pieces.partition_point(|piece| piece.from_s <= time_s).saturating_sub(1);
        self.value(index, time_s.max(self.pieces[index].from_s))
    }
    /// Times at which its slope or value may change.
    pub fn corners_s(&self) -> impl Iterator<Item = f64> {
        self.pieces.iter().map(|piece| piece.from_s)
    }

    /// Where a piece ends.
    fn end_s(&self, index: usize) -> f64 {
        self.pieces.get(index + 1).map_or(f64::INFINITY, |next| next.from_s)
    }
    /// The value of a piece at a time inside it or at its end.
    #[inline]
    fn value(&self, index: usize, time_s: f64) -> f64 {
        let piece = &self.pieces[index];
        if piece.first == piece.last || time_s <= piece.from_s {
            return piece.first;
        }
        let end_s = self.end_s(index);
        if time_s >= end_s {
            return piece.last;
        }
        piece.first + (piece.last - piece.first) * ((time_s - piece.from_s) / (end_s - piece.from_s))
    }

    /// Appends a stretch; one without length is dropped.
    fn push(&mut self, from_s: f64, first: f64, last: f64) {
        if let Some(before) = self.pieces.last_mut() {
            if from_s <= before.from_s {
                *before = Piece { from_s: before.from_s, first, last };
                return;
            }
            if before.first == before.last && first == last && before.first == first {
                return;
            }
        }
        self.pieces.push(Piece { from_s, first, last });
    }

    /// The same with every value changed by a function that keeps lines straight.
    pub(crate) fn map(mut self, change: impl Fn(f64) -> f64) -> Self {
        for piece in &mut self.pieces {
            (piece.first, piece.last) = (change(piece.first), change(piece.last));
        }
        self
    }
    pub(crate) fn negated(self) -> Self {
        self.map(|value| -value)
    }

    /// Goes through two signals that begin together: beginning, end, and the ends of both.
    fn side_by_side(&self, other: &Self, mut visit: impl FnMut(f64, f64, Ends, Ends)) {
        let (mut i, mut j) = (0, 0);
        let mut from_s = self.pieces[0].from_s;
        loop {
            let (end_i, end_j) = (self.end_s(i), other.end_s(j));
            let end_s = end_i.min(end_j);
            let a = (
                self.value(i, from_s),
                if end_s == f64::INFINITY { self.pieces[i].last } else { self.value(i, end_s) },
            );
            let b = (
                other.value(j, from_s),
                if end_s == f64::INFINITY { other.pieces[j].last } else { other.value(j, end_s) },
            );
            visit(from_s, end_s, a, b);
            if end_s == f64::INFINITY {
                return;
            }
            i += usize::from(end_i == end_s);
            j += usize::from(end_j == end_s);
            from_s = end_s;
        }
    }

    /// Both at once, by a function of their values that keeps straight lines straight.
    pub(crate) fn zip(&self, other: &Self, join: impl Fn(f64, f64) -> f64) -> Self {
        let mut line = Self { pieces: Vec::with_capacity(self.pieces.len().max(other.pieces.len())) };
        self.side_by_side(other, |from_s, _, a, b| line.push(from_s, join(a.0, b.0), join(a.1, b.1)));
        line
    }
    /// The larger of both, with the moments at which they cross.
    pub(crate) fn larger(&self, other: &Self) -> Self {
        let mut line = Self { pieces: Vec::with_capacity(self.pieces.len() + other.pieces.len()) };
        self.side_by_side(other, |from_s, end_s, a, b| {
            larger_ends(from_s, end_s, a, b, |from_s, _, ends| line.push(from_s, ends.0, ends.1));
        });
        line
    }
    /// The smaller of both.
    pub(crate) fn smaller(&self, other: &Self) -> Self {
        self.clone().negated().larger(&other.clone().negated()).negated()
    }

    /// The signal as it will be: its value so many seconds later.
    pub(crate) fn earlier(self, by_s: f64) -> Self {
        if by_s == 0.0 {
            return self;
        }
        let start_s = self.pieces[0].from_s;
        let first = self.pieces.partition_point(|piece| piece.from_s <= start_s + by_s).saturating_sub(1);
        let mut line = Self { pieces: Vec::with_capacity(self.pieces.len() - first) };
        line.push(start_s, self.value(first, start_s + by_s), self.pieces[first].last);
        for piece in &self.pieces[first + 1..] {
            line.push(piece.from_s - by_s, piece.first, piece.last);
        }
        line
    }
    /// The signal as it was so many seconds before, and `missing` where there was none.
    pub(crate) fn later(self, by_s: f64, missing: f64) -> Self {
        if by_s == 0.0 {
            return self;
        }
        let start_s = self.pieces[0].from_s;
        let mut line = Self::level(start_s, missing);
        for piece in &self.pieces {
            line.push(piece.from_s + by_s, piece.first, piece.last);
        }
        line
    }

    /// The largest value from now on.
    pub(crate) fn largest_ahead(&self) -> Self {
        let mut reversed: Vec<Piece> = Vec::with_capacity(self.pieces.len());
        let mut later = f64::NEG_INFINITY;
        for (index, piece) in self.pieces.iter().enumerate().rev() {
            let (from_s, end_s) = (piece.from_s, self.end_s(index));
            let top = piece.last.max(later);
            let ends = if piece.last >= piece.first { (top, top) } else { (piece.first, piece.last) };
            let mut parts = Vec::new();
            larger_ends(from_s, end_s, ends, (top, top), |from_s, _, ends| {
                parts.push(Piece { from_s, first: ends.0, last: ends.1 });
            });
            reversed.extend(parts.into_iter().rev());
            later = later.max(piece.first).max(piece.last);
        }
        reversed.reverse();
        Self { pieces: reversed }
    }
    /// The largest value up to now.
    pub(crate) fn largest_behind(&self) -> Self {
        let mut line = Self { pieces: Vec::with_capacity(self.pieces.len()) };
        let mut before = f64::NEG_INFINITY;
        for (index, piece) in self.pieces.iter().enumerate() {
            let ends = if piece.last > piece.first { (piece.first, piece.last) } else { (piece.first, piece.first) };
            let level = (before, before);
            larger_ends(piece.from_s, self.end_s(index), ends, level, |from_s, _, ends| {
                line.push(from_s, ends.0, ends.1)
            });
            before = before.max(piece.first).max(piece.last);
        }
        line
    }

    /// The largest value of the next `width_s` seconds, in time proportional to the number of pieces.
    pub(crate) fn largest_within(&self, width_s: f64) -> Self {
        if width_s == f64::INFINITY {
            return self.largest_ahead();
        }
        let mut line = Self { pieces: Vec::with_capacity(2 * self.pieces.len()) };
        // The pieces in which the window begins and ends, and the tops of those between that can still be the highest.
        let mut begin = 0;
        let mut from_s = self.pieces[0].from_s;
        let mut end = self.pieces.partition_point(|piece| piece.from_s <= from_s + width_s + TIME_TOLERANCE_S) - 1;
        let mut tops: std::collections::VecDeque<(usize, f64)> = std::collections::VecDeque::new();
        let raise = |tops: &mut std::collections::VecDeque<(usize, f64)>, index: usize| {
            let top = self.pieces[index].first.max(self.pieces[index].last);
            while tops.back().is_some_and(|&(_, last)| last <= top) {
                tops.pop_back();
            }
            tops.push_back((index, top));
        };
        (0..end).for_each(|index| raise(&mut tops, index));
        loop {
            let (begin_moves_s, end_moves_s) = (self.end_s(begin), self.end_s(end) - width_s);
            let to_s = begin_moves_s.min(end_moves_s);
            while tops.front().is_some_and(|&(index, _)| index <= begin) {
                tops.pop_front();
            }
            let between = tops.front().map_or(f64::NEG_INFINITY, |&(_, top)| top);
            self.window_piece(&mut line, (from_s, to_s), (begin, end), between, width_s);
            if to_s == f64::INFINITY {
                return line;
            }
            if end_moves_s <= to_s + TIME_TOLERANCE_S {
                raise(&mut tops, end);
                end += 1;
            }
            begin += usize::from(begin_moves_s <= to_s + TIME_TOLERANCE_S);
            from_s = to_s;
        }
    }

    /// The largest value of a window while it begins in one piece and ends in another.
    fn window_piece(
        &self,
        line: &mut Self,
        (from_s, to_s): (f64, f64),
        (begin, end): (usize, usize),
        between: f64,
        width_s: f64,
    ) {
        let at_begin = (self.value(begin, from_s), self.value(begin, to_s));
        let at_end = (self.value(end, from_s + width_s), self.value(end, to_s + width_s));
        let is_rising = |index: usize| self.pieces[index].last > self.pieces[index].first;
        if begin == end {
            let ends = if is_rising(begin) { at_end } else { at_begin };
            line.push(from_s, ends.0, ends.1);
            return;
        }
        let begin_top = self.pieces[begin].last;
        let rest = if is_rising(begin) { (begin_top, begin_top) } else { at_begin };
        let end_top = self.pieces[end].first;
        let part = if is_rising(end) { at_end } else { (end_top, end_top) };
        larger_ends(from_s, to_s, rest, (between, between), |from_s, to_s, ends| {
            // The ends of `part` over this stretch alone.
            let cut = if is_rising(end) {
                (self.value(end, from_s + width_s), self.value(end, to_s + width_s))
            } else {
                part
            };
            larger_ends(from_s, to_s, ends, cut, |from_s, _, ends| line.push(from_s, ends.0, ends.1));
        });
    }

    /// The second at some time from now on, the first until just before it.
    pub(crate) fn until(first: &Self, second: &Self) -> Self {
        let mut stretches = Vec::new();
        ordered(first, second, |stretch| stretches.push(stretch));
        let mut reversed: Vec<Piece> = Vec::with_capacity(stretches.len());
        let mut later = f64::NEG_INFINITY;
        for &(from_s, end_s, a, b) in stretches.iter().rev() {
            let target = b.1.max(later);
            // While the first condition improves, now is its worst moment; while it gets worse, the end is.
            let path = if a.1 >= a.0 { a } else { (a.1, a.1) };
            let mut parts = Vec::new();
            smaller_ends(from_s, end_s, path, (target, target), |from, to, ends| {
                let cut = cut((from_s, end_s), b, (from, to));
                larger_ends(from, to, ends, cut, |from_s, _, ends| {
                    parts.push(Piece { from_s, first: ends.0, last: ends.1 });
                });
            });
            later = parts.first().map_or(later, |piece| piece.first);
            reversed.extend(parts.into_iter().rev());
        }
        let mut line = Self { pieces: Vec::with_capacity(reversed.len()) };
        reversed.iter().rev().for_each(|piece| line.push(piece.from_s, piece.first, piece.last));
        line
    }

    /// The second at some time up to now, the first ever since.
    pub(crate) fn since(first: &Self, second: &Self) -> Self {
        let mut line = Self { pieces: Vec::new() };
        let mut before = f64::NEG_INFINITY;
        ordered(first, second, |(from_s, end_s, a, b)| {
            let source = b.0.max(before);
            let path = if a.1 <= a.0 { a } else { (a.0, a.0) };
            smaller_ends(from_s, end_s, path, (source, source), |from, to, ends| {
                let cut = cut((from_s, end_s), b, (from, to));
                larger_ends(from, to, ends, cut, |from_s, _, ends| {
                    line.push(from_s, ends.0, ends.1);
                    before = ends.1;
                });
            });
        });
        line
    }
}

/// Two signals side by side, cut where they cross.
fn ordered(first: &Line, second: &Line, mut visit: impl FnMut((f64, f64, Ends, Ends))) {
    first.side_by_side(second, |from_s, end_s, a, b| match crossing(from_s, end_s, a, b) {
        Some((at_s, value)) => {
            visit((from_s, at_s, (a.0, value), (b.0, value)));
            visit((at_s, end_s, (value, a.1), (value, b.1)));
        }
        None => visit((from_s, end_s, a, b)),
    });
}

/// The ends of a part of a stretch.
fn cut((from_s, end_s): (f64, f64), ends: Ends, (part_from_s, part_end_s): (f64, f64)) -> Ends {
    let at = |time_s: f64| {
        if time_s <= from_s || ends.0 == ends.1 {
            ends.0
        } else if time_s >= end_s {
            ends.1
        } else {
            ends.0 + (ends.1 - ends.0) * ((time_s - from_s) / (end_s - from_s))
        }
    };
    (at(part_from_s), at(part_end_s))
}

/// When and at which value two lines cross inside a stretch.
fn crossing(from_s: f64, end_s: f64, a: Ends, b: Ends) -> Option<(f64, f64)> {
    let (before, after) = (a.0 - b.0, a.1 - b.1);
    // Infinite lines are level and cross nothing; their difference is infinite or no number.
    if !(before * after < 0.0 && before.is_finite() && after.is_finite() && end_s.is_finite()) {
        return None;
    }
    let share = before / (before - after);
    let at_s = from_s + (end_s - from_s) * share;
    // A crossing at an end is none.
    if !(at_s > from_s && at_s < end_s) {
        return None;
    }
    // The flatter line has the better digits.
    let value =
        if (a.1 - a.0).abs() <= (b.1 - b.0).abs() { a.0 + (a.1 - a.0) * share } else { b.0 + (b.1 - b.0) * share };
    Some((at_s, value))
}

/// The larger of two lines over a stretch, as one or two stretches.
#[inline]
fn larger_ends(from_s: f64, end_s: f64, a: Ends, b: Ends, mut show: impl FnMut(f64, f64, Ends)) {
    match crossing(from_s, end_s, a, b) {
        Some((at_s, value)) => {
            show(from_s, at_s, (a.0.max(b.0), value));
            show(at_s, end_s, (value, a.1.max(b.1)));
        }
        None => show(from_s, end_s, (a.0.max(b.0), a.1.max(b.1))),
    }
}

/// The smaller of two lines over a stretch.
#[inline]
fn smaller_ends(from_s: f64, end_s: f64, a: Ends, b: Ends, mut show: impl FnMut(f64, f64, Ends)) {
    match crossing(from_s, end_s, a, b) {
        Some((at_s, value)) => {
            show(from_s, at_s, (a.0.min(b.0), value));
            show(at_s, end_s, (value, a.1.min(b.1)));
        }
        None => show(from_s, end_s, (a.0.min(b.0), a.1.min(b.1))),
    }
}
