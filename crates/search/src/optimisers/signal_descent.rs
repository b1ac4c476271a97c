//! Descent over stretches of signals: inputs over time fail a system by a few long pieces, seldom by many short ones.
//!
//! A start draws each signal from few levels. A move replaces a stretch of a signal, long ones as likely as short ones,
//! by a level or shifts it; what is as good or better is kept, and a move that helped is repeated.

use anabranch_kernel::{Seed, maths};
use serde::{Deserialize, Serialize};

use super::moves::{step_one, stretch};
use crate::dice::Dice;
use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::{Group, Layout};

/// A walker over signals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SignalDescent {
    layout: Layout,
    /// The signals, and every other dimension as a signal of one piece.
    groups: Vec<Group>,
    seed: Seed,
    asked: u64,
    current: Option<Told>,
    /// Points of the current start that are still to be drawn before the best of them is taken.
    starts_left: u64,
    idle: u64,
    restarts: u64,
}

/// Starts that are drawn before the first descent.
const STARTS: u64 = 4;

impl SignalDescent {
    /// A walker for a space.
    pub fn new(layout: Layout, seed: Seed) -> Self {
        let mut groups = layout.groups.clone();
        let inside = |n: usize| layout.groups.iter().any(|g| (g.start..g.start + g.len).contains(&n));
        groups.extend((0..layout.len()).filter(|n| !inside(*n)).map(|start| Group { start, len: 1 }));
        Self { layout, groups, seed, asked: 0, current: None, starts_left: STARTS, idle: 0, restarts: 0 }
    }
    /// A point whose signals have few levels.
    fn start(&self, dice: &mut Dice) -> Vec<f64> {
        let mut point = vec![0.0; self.layout.len()];
        for group in &self.groups {
            let mut pieces = 1;
            while pieces < group.len && dice.flips(0.5) {
                pieces += 1;
            }
            let mut level = a_level(dice);
            let mut left = group.len;
            for piece in &mut point[group.start..group.start + group.len] {
                if pieces > 1 && dice.below(left) < pieces - 1 {
                    level = a_level(dice);
                    pieces -= 1;
                }
                left -= 1;
                *piece = level;
            }
        }
        point
    }
    fn neighbour(&self, from: &[f64], dice: &mut Dice) -> Vec<f64> {
        let mut point = from.to_vec();
        let group = self.groups[dice.below(self.groups.len())];
        if group.len == 1 {
            let step = maths::exp(-3.0 * dice.uniform());
            point[group.start] = step_one(self.layout.kinds[group.start], point[group.start], step, dice);
            return point;
        }
        let range = stretch(group, dice);
        let how = dice.uniform();
        if how < 0.6 {
            let level = a_level(dice);
            point[range].fill(level);
        } else {
            let by = 0.3 * dice.normal();
            point[range].iter_mut().for_each(|x| *x = (*x + by).clamp(0.0, 1.0));
        }
        point
    }
    fn hear(&mut self, told: &Told) {
        self.idle += 1;
        let kept = self.current.as_ref().is_none_or(|current| told.value <= current.value);
        if self.current.as_ref().is_none_or(|current| told.value < current.value) {
            self.idle = 0;
        }
        if kept {
            self.current = Some(told.clone());
        }
        self.starts_left = self.starts_left.saturating_sub(1);
        if self.idle > 60 {
            self.restart();
        }
    }
}

/// A level of a signal: a bound as often as not, for systems fail at their limits.
fn a_level(dice: &mut Dice) -> f64 {
    let place = dice.uniform();
    (2.0 * place - 0.5).clamp(0.0, 1.0)
}

impl Optimiser for SignalDescent {
    fn name(&self) -> &str {
        "signal-descent"
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let mut points = Vec::with_capacity(at_most.max(1));
        for _ in 0..at_most.max(1) {
            self.asked += 1;
            let mut dice = Dice::new(self.seed, "search/signal-descent", self.asked);
            points.push(match &self.current {
                Some(current) if self.starts_left == 0 => self.neighbour(&current.point, &mut dice),
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
        (self.current, self.starts_left, self.idle) = (None, STARTS, 0);
        self.restarts += 1;
    }
    plain_data!();
}
