//! Where to begin and where to go next, for methods that walk.

use crate::dice::Dice;
use crate::space::{Group, Kind, Layout};

/// A place in the middle of the share that a coordinate lies in, for whole numbers and alternatives.
pub fn snapped(kind: Kind, unit: f64) -> f64 {
    match kind {
        Kind::Real => unit,
        Kind::Whole(count) | Kind::OneOf(count) => {
            let count = count.max(1) as f64;
            ((unit * count).floor().min(count - 1.0) + 0.5) / count
        }
    }
}

/// A uniform point.
pub fn uniform_point(layout: &Layout, dice: &mut Dice) -> Vec<f64> {
    layout.kinds.iter().map(|_| dice.uniform()).collect()
}

/// Changes one coordinate: a step of about `step` for what has an order, another alternative for what has none.
pub fn step_one(kind: Kind, unit: f64, step: f64, dice: &mut Dice) -> f64 {
    match kind {
        Kind::Real => bounced(unit + step * dice.normal()),
        Kind::Whole(count) => {
            let least = 1.0 / count.max(1) as f64;
            let by = step * dice.normal();
            let by = if by.abs() < least { least.copysign(by) } else { by };
            let moved = unit + by;
            snapped(kind, if (0.0..=1.0).contains(&moved) { moved } else { (unit - by).clamp(0.0, 1.0) })
        }
        Kind::OneOf(count) => {
            let others = count.saturating_sub(1) as usize;
            let now = (snapped(kind, unit) * count as f64) as usize;
            let other = (now + 1 + dice.below(others.max(1))) % count.max(1) as usize;
            (other as f64 + 0.5) / count.max(1) as f64
        }
    }
}

/// Back inside: what flies over a bound a little stops at it, so that bounds themselves are reached.
pub fn bounced(unit: f64) -> f64 {
    unit.clamp(0.0, 1.0)
}

/// A stretch of a signal: some neighbouring pieces. It is cut in half with a probability, again and again.
pub fn stretch(group: Group, halve: f64, dice: &mut Dice) -> std::ops::Range<usize> {
    let mut len = group.len;
    while len > 1 && dice.flips(halve) {
        len = len.div_ceil(2);
    }
    let start = group.start + dice.below(group.len - len + 1);
    start..start + len
}
