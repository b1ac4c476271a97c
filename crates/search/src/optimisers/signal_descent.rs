//! Descent over stretches of signals: inputs over time fail a system by a few long pieces, seldom by many short ones.
//!
//! A start draws each signal from few levels. A move replaces a stretch of a signal, long ones as likely as short ones,
//! by a level or shifts it; what is as good or better is kept. A move that helped is repeated, one that harmed is mirrored.
//! Where neighbours are exactly alike nothing can be learned from them, and starts are drawn instead.
//! Starts whose signals are constant tell which way each signal lowers the value; once there are enough of them, the next
//! start goes all that way.

use anabranch_kernel::{Seed, maths};
use serde::{Deserialize, Serialize};

use super::moves::{step_one, stretch};
use crate::dice::Dice;
use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::{Group, Layout};

/// What is drawn how often.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Probability that a level is one of the two bounds.
    pub bounds: f64,
    /// Probability that all signals of a start are constant, where values differ and a descent can follow.
    pub plain: f64,
    /// Probability of one more piece in any other start, again and again.
    pub more: f64,
    /// Starts that are drawn before a descent from the best of them.
    pub starts: u64,
    /// Probability that a move sets a level; the others shift by a step.
    pub level: f64,
    /// Probability that a stretch is cut in half, again and again.
    pub halve: f64,
    /// Probability that a move changes all signals in the same stretch.
    pub all: f64,
    /// Probability that a move which helped is repeated.
    pub again: f64,
    /// Probability that a move which harmed is tried the other way round.
    pub mirror: f64,
    /// How much longer a repeated or mirrored move is.
    pub longer: f64,
    /// Probability of a fresh start where the last values were all alike.
    pub flat: f64,
    /// Usual size of a step.
    pub step: f64,
    /// Moves without improvement before a new start.
    pub idle: u64,
    /// Probability that a fresh start is tried instead of a move.
    pub fresh: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            bounds: 0.42,
            plain: 0.75,
            more: 0.95,
            starts: 12,
            level: 0.5,
            halve: 0.45,
            all: 0.2,
            again: 0.95,
            mirror: 0.8,
            longer: 1.5,
            flat: 1.0,
            step: 0.4,
            idle: 60,
            fresh: 0.03,
        }
    }
}

/// A walker over signals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SignalDescent {
    layout: Layout,
    tuning: Tuning,
    /// The signals, and every other dimension as a signal of one piece.
    groups: Vec<Group>,
    seed: Seed,
    asked: u64,
    current: Option<Told>,
    /// Where to go from the current point, and how surely, after what the last move showed.
    lead: Option<(Vec<f64>, f64)>,
    /// Moves in a row that changed nothing.
    alike: u64,
    /// Points of the current start that are still to be drawn before the best of them is taken.
    starts_left: u64,
    idle: u64,
    /// Constant starts and their values, since the last restart.
    lessons: Vec<Told>,
    /// Starts that were drawn from lessons; none is tried twice.
    concluded: Vec<Vec<f64>>,
}

/// Constant starts after which their slopes are followed.
const LESSONS: usize = 3;

impl SignalDescent {
    /// A walker for a space.
    pub fn new(layout: Layout, seed: Seed) -> Self {
        Self::tuned(layout, seed, Tuning::default())
    }
    /// A walker with other habits.
    pub fn tuned(layout: Layout, seed: Seed, tuning: Tuning) -> Self {
        let mut groups = layout.groups.clone();
        let inside = |n: usize| layout.groups.iter().any(|g| (g.start..g.start + g.len).contains(&n));
        groups.extend((0..layout.len()).filter(|n| !inside(*n)).map(|start| Group { start, len: 1 }));
        let starts_left = tuning.starts;
        Self {
            layout,
            tuning,
            groups,
            seed,
            asked: 0,
            current: None,
            lead: None,
            alike: 0,
            starts_left,
            idle: 0,
            lessons: Vec::new(),
            concluded: Vec::new(),
        }
    }
    /// A level of a signal: often a bound, for systems fail at their limits.
    fn level(&self, dice: &mut Dice) -> f64 {
        let place = dice.uniform();
        ((place - 0.5 * self.tuning.bounds) / (1.0 - self.tuning.bounds).max(1e-9)).clamp(0.0, 1.0)
    }
    /// A point whose signals have few levels.
    fn start(&self, dice: &mut Dice) -> Vec<f64> {
        let mut point = vec![0.0; self.layout.len()];
        let more = match (self.alike > 1, dice.flips(self.tuning.plain)) {
            // Nothing is known that could be followed: every piece is drawn anew.
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => self.tuning.more,
        };
        for group in &self.groups {
            let mut changes = 0;
            while changes + 1 < group.len && dice.flips(more) {
                changes += 1;
            }
            let mut level = self.level(dice);
            for (n, piece) in point[group.start..group.start + group.len].iter_mut().enumerate() {
                let left = group.len - n;
                if n > 0 && dice.below(left) < changes {
                    level = self.level(dice);
                    changes -= 1;
                }
                *piece = level;
            }
        }
        point
    }
    fn is_constant(&self, point: &[f64]) -> bool {
        self.groups
            .iter()
            .all(|group| point[group.start..group.start + group.len].windows(2).all(|two| two[0] == two[1]))
    }
    /// Each signal at the bound at which the lessons had the lower values; `None` where they do not tell.
    fn conclusion(&self) -> Option<Vec<f64>> {
        let count = self.lessons.len() as f64;
        let mean = |of: &dyn Fn(&Told) -> f64| self.lessons.iter().map(of).sum::<f64>() / count;
        let usual = mean(&|told| told.value);
        let mut point = vec![0.0; self.layout.len()];
        for group in &self.groups {
            let middle = mean(&|told| told.point[group.start]);
            let slope: f64 =
                self.lessons.iter().map(|told| (told.point[group.start] - middle) * (told.value - usual)).sum();
            if !slope.is_finite() || slope == 0.0 {
                return None;
            }
            point[group.start..group.start + group.len].fill(if slope < 0.0 { 1.0 } else { 0.0 });
        }
        Some(point)
    }
    /// The start that the lessons lead to, once there are enough of them.
    fn concluded(&mut self) -> Option<Vec<f64>> {
        let point = if self.lessons.len() >= LESSONS { self.conclusion()? } else { return None };
        let is_new = !self.concluded.contains(&point);
        is_new.then(|| {
            self.concluded.push(point.clone());
            point
        })
    }
    fn neighbour(&self, from: &[f64], dice: &mut Dice) -> Vec<f64> {
        if let Some((change, probability)) = &self.lead
            && dice.flips(*probability)
        {
            let further: Vec<f64> = from.iter().zip(change).map(|(x, d)| (x + d).clamp(0.0, 1.0)).collect();
            if further != from {
                return further;
            }
        }
        let mut point = from.to_vec();
        let group = self.groups[dice.below(self.groups.len())];
        if group.len == 1 {
            let step = self.tuning.step * maths::exp(-4.0 * dice.uniform());
            point[group.start] = step_one(self.layout.kinds[group.start], point[group.start], step, dice);
            return point;
        }
        let range = stretch(group, self.tuning.halve, dice);
        let (from_piece, len) = (range.start - group.start, range.len());
        let all = dice.flips(self.tuning.all);
        for other in &self.groups {
            if other != &group && !(all && other.len == group.len) {
                continue;
            }
            let pieces = &mut point[other.start + from_piece..other.start + from_piece + len];
            if dice.flips(self.tuning.level) {
                pieces.fill(self.level(dice));
            } else {
                let by = self.tuning.step * maths::exp(-4.0 * dice.uniform()) * 2.0 * dice.normal();
                pieces.iter_mut().for_each(|x| *x = (*x + by).clamp(0.0, 1.0));
            }
        }
        point
    }
    fn hear(&mut self, told: &Told) {
        if self.starts_left > 0 && self.is_constant(&told.point) {
            self.lessons.push(told.clone());
        }
        self.starts_left = self.starts_left.saturating_sub(1);
        let Some(current) = &self.current else {
            self.current = Some(told.clone());
            return;
        };
        let mirrored = self.lead.take().is_some();
        // Infinite twice is alike too.
        let rise = if told.value == current.value { 0.0 } else { told.value - current.value };
        let change =
            |factor: f64| told.point.iter().zip(&current.point).map(|(new, old)| factor * (new - old)).collect();
        self.alike = if rise == 0.0 { self.alike + 1 } else { 0 };
        if rise < 0.0 {
            self.lead = Some((change(self.tuning.longer), self.tuning.again));
        } else if rise > 0.0 && !mirrored {
            self.lead = Some((change(-self.tuning.longer), self.tuning.mirror));
        }
        if self.starts_left > 0 {
            self.lead = None;
        }
        self.idle = if rise < 0.0 { 0 } else { self.idle + 1 };
        if rise <= 0.0 {
            self.current = Some(told.clone());
        }
        if self.idle > self.tuning.idle {
            self.restart();
        }
    }
}

impl Optimiser for SignalDescent {
    fn name(&self) -> &str {
        "signal-descent"
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let mut points = Vec::with_capacity(at_most.max(1));
        for _ in 0..at_most.max(1) {
            self.asked += 1;
            if self.starts_left > 0
                && let Some(point) = self.concluded()
            {
                points.push(point);
                continue;
            }
            let mut dice = Dice::new(self.seed, "search/signal-descent", self.asked);
            let anew = dice.flips(if self.alike > 1 { self.tuning.flat } else { self.tuning.fresh });
            points.push(match &self.current {
                Some(current) if self.starts_left == 0 && !anew => self.neighbour(&current.point, &mut dice),
                _ => self.start(&mut dice),
            });
        }
        points
    }
    fn tell(&mut self, told: &[Told]) {
        for one in told {
            self.hear(one);
        }
    }
    fn restart(&mut self) {
        (self.current, self.lead, self.alike) = (None, None, 0);
        self.lessons.clear();
        (self.starts_left, self.idle) = (self.tuning.starts, 0);
    }
    plain_data!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Kind;

    /// Two signals of three pieces.
    fn walker() -> SignalDescent {
        let groups = vec![Group { start: 0, len: 3 }, Group { start: 3, len: 3 }];
        SignalDescent::new(Layout { kinds: vec![Kind::Real; 6], groups }, Seed(1))
    }
    fn told(first: f64, second: f64, value: f64) -> Told {
        let point = [[first; 3], [second; 3]].concat();
        Told { point, value }
    }

    #[test]
    fn constant_starts_lead_to_the_bounds_where_values_are_lower() {
        let mut walker = walker();
        for (first, second) in [(0.2, 0.3), (0.9, 0.4), (0.4, 0.8)] {
            assert_eq!(walker.concluded(), None, "too early");
            walker.tell(&[told(first, second, 2.0 * second - first)]);
        }
        let corner = [[1.0; 3], [0.0; 3]].concat();
        assert_eq!(walker.ask(1), vec![corner.clone()]);
        walker.tell(&[Told { point: corner.clone(), value: -1.0 }]);
        assert!(!walker.ask(4).contains(&corner), "tried twice");
    }

    #[test]
    fn values_that_are_all_alike_lead_nowhere() {
        let mut walker = walker();
        (0..4).for_each(|n| walker.tell(&[told(0.2 * f64::from(n), 0.5, 1.0)]));
        assert_eq!(walker.concluded(), None);
    }
}
