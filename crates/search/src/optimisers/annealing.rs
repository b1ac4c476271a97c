//! Simulated annealing (S3-15): downhill always, uphill by chance that cools; restarts; steps that adapt, and steps along the
//! differences of known points. Of several steps the one is taken of which most is expected after what was heard.

use std::collections::VecDeque;

use anabranch_kernel::{Seed, maths};
use serde::{Deserialize, Serialize};

use super::moves::{bounced, snapped, step_one, stretch, uniform_point};
use crate::dice::Dice;
use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::{Kind, Layout};

const STEP_START: f64 = 0.4;
const STEP_MAX: f64 = 0.5;
const STEP_MIN: f64 = 1e-7;
/// Temperature, in units of the usual difference between neighbours.
const HEAT_START: f64 = 0.2;
/// A success widens the step as much as four failures narrow it: one in five should succeed. Slowly, because a walk whose
/// steps become short at once stays at the first place that looks dangerous, and most such places are harmless.
const WIDER: f64 = 1.2;
const NARROWER: f64 = 0.955_442_792_2; // 1.2^(-1/4)
/// How often a step changes one coordinate alone; the others change several at once.
const ALONE: f64 = 0.2;
/// How often a step goes along the difference of two of the best known points, as in differential evolution (Storn and Price 1997).
/// Dangerous points often lie along a line, such as that of equal times of arrival; steps of one's own leave it, differences follow it.
const ALONG: f64 = 0.5;
/// Points that are known, the best ones. Fewer keep to one place; more are not yet dangerous.
const KNOWN_MAX: usize = 24;
const KNOWN_MIN: usize = 4;
/// Length of such a step in differences, and share of the coordinates that take part.
const ALONG_LENGTH: f64 = 0.8;
const ALONG_SHARE: f64 = 0.9;
/// Most steps that are thought of for the one that is simulated; how many is chance, so that some steps stay without thought and a
/// known place is left again. What is expected of a step is a mean of what was heard, near points first (D. Shepard, 1968), less what
/// nobody has looked at: without that curiosity the walk stays where it is, which is worse than expecting nothing.
const THOUGHT_OF: usize = 8;
/// How much more dangerous a point may be than expected: usual changes of value for the width of the space.
const CURIOSITY: f64 = 4.0;
/// Points that expectations are made of, the newest.
const HEARD_MAX: usize = 64;
/// Points nearer to each other than this (squared) are the same.
const SAME: f64 = 1e-6;

/// A walk begins at the best of so many uniform points: a good place to begin is worth more than steps from a bad one.
fn starts_of(layout: &Layout) -> u64 {
    layout.len().div_ceil(2).clamp(1, 8) as u64
}

/// In four sums, which a processor makes side by side.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| (x - y) * (x - y)).sum();
    let mut sums = [0.0; 4];
    for (a, b) in a.zip(b) {
        for n in 0..4 {
            sums[n] += (a[n] - b[n]) * (a[n] - b[n]);
        }
    }
    rest + (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// One walker with memory of its best place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Annealing {
    layout: Layout,
    seed: Seed,
    asked: u64,
    heard: u64,
    current: Option<Told>,
    best: Option<Told>,
    /// Usual size of a change of value between neighbours.
    usual: f64,
    step: f64,
    heat: f64,
    /// Proposals since the best of this walk was found.
    idle: u64,
    walks: u64,
    /// Uniform points that are still to be drawn before the walk begins at the best of them.
    starts_left: u64,
    /// The most dangerous points so far, the worst one first.
    known: Vec<Told>,
    /// The newest points, oldest first.
    heard_of: VecDeque<Told>,
}

impl Annealing {
    /// A walker for a space.
    pub fn new(layout: Layout, seed: Seed) -> Self {
        let (current, best) = (None, None);
        let starts = starts_of(&layout);
        Self {
            layout,
            seed,
            asked: 0,
            heard: 0,
            current,
            best,
            usual: 0.0,
            step: STEP_START,
            heat: HEAT_START,
            idle: 0,
            walks: 0,
            starts_left: starts,
            known: Vec::new(),
            heard_of: VecDeque::new(),
        }
    }
    fn neighbour(&self, from: &[f64], dice: &mut Dice) -> Vec<f64> {
        let mut point = from.to_vec();
        // Steps of very different sizes are tried, so that a wrong size costs little.
        let step = (self.step * maths::exp(0.7 * dice.normal())).min(STEP_MAX);
        if !self.layout.groups.is_empty() && dice.flips(0.5) {
            let group = self.layout.groups[dice.below(self.layout.groups.len())];
            let by = step * dice.normal() * 2.0;
            let level = dice.flips(0.5).then(|| dice.uniform());
            for n in stretch(group, 0.5, dice) {
                point[n] = (level.unwrap_or(point[n]) + by).clamp(0.0, 1.0);
            }
            return point;
        }
        if self.known.len() >= KNOWN_MIN && dice.flips(ALONG) {
            self.step_along(&mut point, dice);
            return point;
        }
        let share = if dice.flips(ALONE) { 1.0 / self.layout.len() as f64 } else { dice.uniform() };
        let surely = dice.below(self.layout.len());
        for (n, kind) in self.layout.kinds.iter().enumerate() {
            if n == surely || dice.flips(share) {
                point[n] = step_one(*kind, point[n], step, dice);
            }
        }
        point
    }
    /// A step along the difference of two known points; an alternative is that of the one or stays.
    fn step_along(&self, point: &mut [f64], dice: &mut Dice) {
        let count = self.known.len();
        let to = dice.below(count);
        let from = (to + 1 + dice.below(count - 1)) % count;
        let length = ALONG_LENGTH * maths::exp(0.5 * dice.normal());
        let (to, from) = (&self.known[to].point, &self.known[from].point);
        for (n, kind) in self.layout.kinds.iter().enumerate() {
            if !dice.flips(ALONG_SHARE) {
                continue;
            }
            point[n] = match kind {
                Kind::OneOf(_) if dice.flips(0.5) => to[n],
                Kind::OneOf(_) => point[n],
                _ => snapped(*kind, bounced(point[n] + length * (to[n] - from[n]))),
            };
        }
    }
    fn remember(&mut self, told: &Told) {
        if !told.value.is_finite() {
            return;
        }
        // Alternatives and whole numbers lie where all of their kind lie.
        let point = self.layout.kinds.iter().zip(&told.point).map(|(kind, x)| snapped(*kind, *x)).collect();
        let told = Told { point, value: told.value };
        if self.heard_of.len() == HEARD_MAX {
            self.heard_of.pop_front();
        }
        self.heard_of.push_back(told.clone());
        let at = self.known.partition_point(|known| known.value <= told.value);
        self.known.insert(at, told);
        self.known.truncate(KNOWN_MAX);
    }
    /// The step of which most is expected.
    fn next(&self, from: &[f64], dice: &mut Dice) -> Vec<f64> {
        let mut best = (f64::INFINITY, Vec::new());
        for _ in 0..=dice.below(THOUGHT_OF) {
            let point = self.neighbour(from, dice);
            let expected = self.expected(&point);
            if expected < best.0 || best.1.is_empty() {
                best = (expected, point);
            }
        }
        best.1
    }
    /// How safe a point may be, at its most dangerous.
    fn expected(&self, point: &[f64]) -> f64 {
        let (mut sum, mut weights, mut nearest) = (0.0, 0.0, f64::INFINITY);
        for told in &self.heard_of {
            let squared = squared_distance(point, &told.point) + SAME;
            let weight = 1.0 / (squared * squared * squared);
            sum += weight * told.value;
            weights += weight;
            nearest = squared.min(nearest);
        }
        sum / weights - CURIOSITY * self.usual * nearest.sqrt()
    }
    fn hear(&mut self, told: &Told, dice: &mut Dice) {
        self.remember(told);
        self.starts_left = self.starts_left.saturating_sub(1);
        let Some(current) = &self.current else {
            self.best = Some(told.clone());
            self.current = Some(told.clone());
            return;
        };
        if self.starts_left > 0 {
            if told.value < current.value {
                self.best = Some(told.clone());
                self.current = Some(told.clone());
            }
            return;
        }
        let rise = told.value - current.value;
        if rise.is_finite() && rise != 0.0 {
            self.usual = if self.usual == 0.0 { rise.abs() } else { 0.9 * self.usual + 0.1 * rise.abs() };
        }
        let better = rise < 0.0;
        let luck = -maths::ln(1.0 - dice.uniform()) * self.heat * self.usual;
        self.step = (self.step * if better { WIDER } else { NARROWER }).clamp(STEP_MIN, STEP_MAX);
        self.heat *= 1.0 - 0.5 / (self.layout.len() as f64 + 10.0);
        if rise <= 0.0 || rise < luck {
            self.current = Some(told.clone());
        }
        self.idle += 1;
        if self.best.as_ref().is_none_or(|best| told.value < best.value) {
            self.best = Some(told.clone());
            self.idle = 0;
        }
        if self.idle > 40 + 8 * self.layout.len() as u64 {
            self.walk_again();
        }
    }
    /// Every other walk goes on from the best place, cold; the others begin anywhere.
    fn walk_again(&mut self) {
        self.walks += 1;
        (self.idle, self.step, self.heat) = (0, STEP_START, HEAT_START);
        if self.walks % 2 == 1 && self.best.is_some() {
            self.current.clone_from(&self.best);
            (self.step, self.heat) = (STEP_START / 10.0, HEAT_START / 50.0);
        } else {
            (self.current, self.best) = (None, None);
            // What is known would lead back to where the last walk ended.
            self.known.clear();
            self.heard_of.clear();
            self.starts_left = starts_of(&self.layout);
        }
    }
}

impl Optimiser for Annealing {
    fn name(&self) -> &str {
        "annealing"
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let mut points = Vec::with_capacity(at_most.max(1));
        for _ in 0..at_most.max(1) {
            self.asked += 1;
            let mut dice = Dice::new(self.seed, "search/annealing", self.asked);
            points.push(match &self.current {
                Some(current) if self.starts_left == 0 => self.next(&current.point, &mut dice),
                _ => uniform_point(&self.layout, &mut dice),
            });
        }
        points
    }
    fn tell(&mut self, told: &[Told]) {
        for one in told {
            self.heard += 1;
            let mut dice = Dice::new(self.seed, "search/annealing/accept", self.heard << 8);
            self.hear(one, &mut dice);
        }
    }
    fn hears_late(&self) -> bool {
        true
    }
    fn restart(&mut self) {
        self.walks |= 1;
        self.walk_again();
    }
    plain_data!();
}
