//! Ranges: which numbers a type has. `(0 : 3 : 9)` has four, `[ (0 : 1) (5 : 6) ]` has two pieces.

use std::fmt;

use super::ty::{Class, Number};

/// Most values of a piece that are looked at one by one.
const VALUES_MAX: f64 = 10_000.0;

/// How far a number may be off a step, as a share of the step: bounds and steps are rounded on their way to SI.
const STEP_SLACK: f64 = 1e-6;

/// One piece of a range, in SI.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// How far values are apart, counted from the smallest.
    pub step: Option<f64>,
}

impl Piece {
    fn bounds(&self, value: f64, slack: f64) -> bool {
        value >= self.low - slack && value <= self.high + slack
    }

    /// Steps are counted from the smallest value; without one there is nothing to count from.
    fn is_stepped_on(&self, value: f64, slack: f64) -> bool {
        let Some(step) = self.step.filter(|_| self.low.is_finite()) else { return true };
        let off = (value - self.low) / step;
        !off.is_finite() || (off - off.round()).abs() * step <= (STEP_SLACK * step).max(slack.min(step / 4.0))
    }

    /// Its values, if there are few enough to look at.
    fn values(&self) -> Option<impl Iterator<Item = f64>> {
        let (low, step) = (self.low, self.step.unwrap_or(0.0));
        let count = if low == self.high { 1.0 } else { ((self.high - low) / self.step? + STEP_SLACK).floor() + 1.0 };
        (count <= VALUES_MAX).then(|| (0..count as u32).map(move |i| low + f64::from(i) * step))
    }

    /// Whether every value of this piece is one of another.
    fn is_inside(&self, other: &Self) -> bool {
        let slack = slack_of(self.low).max(slack_of(self.high));
        if self.low < other.low - slack || self.high > other.high + slack {
            return false;
        }
        let Some(wide) = other.step.filter(|_| other.low.is_finite()) else { return true };
        let multiple =
            |narrow: f64| ((narrow / wide) - (narrow / wide).round()).abs() <= STEP_SLACK && narrow >= wide / 2.0;
        self.low.is_finite() && self.step.is_some_and(multiple) && other.is_stepped_on(self.low, slack)
    }
}

/// A tolerance for what is rounded on its way to SI.
fn slack_of(value: f64) -> f64 {
    if value.is_finite() { 1e-12 * value.abs() } else { 0.0 }
}

impl Number {
    /// Whether a value is one of this type, give or take.
    pub fn holds(&self, value: f64, slack: f64) -> bool {
        let slack = self.slack(slack);
        let held = |piece: &Piece| piece.bounds(value, slack) && piece.is_stepped_on(value, slack);
        self.bounds(value, slack) && (self.pieces.is_empty() || self.pieces.iter().any(held))
    }

    /// Whether a value is between the bounds of a piece, on a step or not.
    pub fn bounds(&self, value: f64, slack: f64) -> bool {
        let slack = self.slack(slack);
        let between = value >= self.low - slack && value <= self.high + slack;
        between && (self.pieces.is_empty() || self.pieces.iter().any(|piece| piece.bounds(value, slack)))
    }

    fn slack(&self, slack: f64) -> f64 {
        slack.max(slack_of(self.low)).max(slack_of(self.high))
    }

    /// Whether every value of this type is one of another. A type without bounds does not say which values it has, and
    /// one without pieces has its bounds only.
    pub fn is_inside(&self, other: &Self) -> bool {
        if !self.low.is_finite() && !self.high.is_finite() {
            return true;
        }
        if self.low < other.low || self.high > other.high {
            return false;
        }
        let whole = [Piece { low: self.low, high: self.high, step: None }];
        let own = if self.pieces.is_empty() { &whole[..] } else { &self.pieces[..] };
        own.iter().all(|piece| {
            let natural = (self.class == Class::Whole).then_some(1.0);
            let piece = Piece { step: piece.step.or(natural), ..*piece };
            other.pieces.is_empty()
                || other.pieces.iter().any(|wide| piece.is_inside(wide))
                || piece.values().is_some_and(|mut values| values.all(|value| other.holds(value, slack_of(value))))
        })
    }

    /// What becomes of its values in another type, if that is not what they were. Bounds are not looked at.
    pub fn lost_as(&self, other: &Self) -> Option<&'static str> {
        match (&self.class, &other.class) {
            (Class::Real, Class::Whole) if !self.has_whole_values() => Some("what is behind the point is cut off"),
            (Class::Real | Class::Whole, Class::Truth) => Some("every number but 0 becomes true"),
            _ => None,
        }
    }

    /// Whether its steps lead from whole number to whole number.
    fn has_whole_values(&self) -> bool {
        let is_whole = |piece: &Piece| piece.low.fract() == 0.0 && piece.step.is_some_and(|step| step.fract() == 0.0);
        !self.pieces.is_empty() && self.pieces.iter().all(is_whole)
    }

    /// Whether bounds alone say which values it has.
    pub fn is_plain(&self) -> bool {
        self.pieces.len() < 2 && self.pieces.iter().all(|piece| piece.step.is_none())
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(step) => write!(f, "({} : {step} : {})", bound(self.low), bound(self.high)),
            None => write!(f, "({} : {})", bound(self.low), bound(self.high)),
        }
    }
}

/// The range of a number type: nothing without bounds, else as it is written, in SI.
pub fn shown(number: &Number) -> String {
    let pieces: Vec<String> = number.pieces.iter().map(Piece::to_string).collect();
    match pieces.as_slice() {
        [] | [_] if number.low == f64::NEG_INFINITY && number.high == f64::INFINITY && number.is_plain() => {
            String::new()
        }
        [] => Piece { low: number.low, high: number.high, step: None }.to_string(),
        [one] => one.clone(),
        several => format!("[{}]", several.join(" ")),
    }
}

fn bound(value: f64) -> String {
    match value {
        f64::INFINITY => "oo".to_owned(),
        f64::NEG_INFINITY => "-oo".to_owned(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number type of pieces `low, step, high`; a step of 0 is none.
    fn number(class: Class, pieces: &[(f64, f64, f64)]) -> Number {
        let piece = |&(low, step, high): &(f64, f64, f64)| Piece { low, high, step: (step > 0.0).then_some(step) };
        let pieces: Vec<Piece> = pieces.iter().map(piece).collect();
        let low = pieces.iter().map(|piece| piece.low).fold(f64::INFINITY, f64::min);
        let high = pieces.iter().map(|piece| piece.high).fold(f64::NEG_INFINITY, f64::max);
        Number { low, high, pieces, ..Number::any(class) }
    }

    #[test]
    fn a_value_is_held_where_a_piece_and_its_steps_have_it() {
        let stepped = number(Class::Real, &[(0.0, 0.1, 1.0)]);
        assert!(stepped.holds(0.3, 0.0) && stepped.holds(0.1 + 0.2, 0.0) && !stepped.holds(0.35, 0.0));
        let pieces = number(Class::Real, &[(0.0, 0.0, 1.0), (5.0, 0.0, 6.0)]);
        assert!(pieces.holds(1.0, 0.0) && pieces.holds(5.5, 0.0) && !pieces.holds(3.0, 0.0) && !pieces.holds(7.0, 0.0));
        let endless = number(Class::Real, &[(f64::NEG_INFINITY, 0.5, f64::INFINITY)]);
        assert!(endless.holds(0.3, 0.0));
    }

    #[track_caller]
    fn check(from: &Number, to: &Number, inside: bool) {
        assert_eq!(from.is_inside(to), inside, "{} in {}", shown(from), shown(to));
    }

    #[test]
    fn every_value_of_the_source_must_be_one_of_the_target() {
        let whole = |pieces: &[(f64, f64, f64)]| number(Class::Whole, pieces);
        let real = |pieces: &[(f64, f64, f64)]| number(Class::Real, pieces);
        check(&whole(&[(0.0, 2.0, 10.0)]), &whole(&[(0.0, 3.0, 12.0)]), false);
        check(&whole(&[(0.0, 6.0, 12.0)]), &whole(&[(0.0, 3.0, 12.0)]), true);
        check(&whole(&[(1.0, 6.0, 13.0)]), &whole(&[(0.0, 3.0, 15.0)]), false);
        check(&whole(&[(0.0, 2.0, 10.0)]), &real(&[(0.0, 0.0, 10.0)]), true);
        check(&whole(&[(0.0, 0.0, 10.0)]), &whole(&[(0.0, 1.0, 20.0)]), true);
        check(&real(&[(0.0, 0.0, 10.0)]), &real(&[(0.0, 1.0, 10.0)]), false);
        check(&real(&[(0.0, 0.5, 1e9)]), &real(&[(0.0, 0.25, 2e9)]), true);
        check(&real(&[(0.0, 0.0, 3.0)]), &real(&[(0.0, 0.0, 1.0), (2.0, 0.0, 6.0)]), false);
        check(&real(&[(5.0, 0.0, 6.0)]), &real(&[(0.0, 0.0, 1.0), (5.0, 0.0, 6.0)]), true);
        check(&whole(&[(0.0, 0.0, 3.0)]), &real(&[(0.0, 0.0, 1.0), (2.0, 0.0, 6.0)]), true);
        check(&Number::any(Class::Real), &real(&[(0.0, 1.0, 10.0)]), true);
    }
}
