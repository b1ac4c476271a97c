//! Bayesian optimisation: a Gaussian process says where improvement is to be expected.
//!
//! A small process of our own: exact, Matérn 5/2, with a length scale for each dimension that is chosen by likelihood, so that what
//! hardly matters is soon left alone. Few hundred points are its limit and its purpose; for more, other methods are better
//! and far cheaper.

use anabranch_kernel::{Seed, maths};
use serde::{Deserialize, Serialize};

use super::Halton;
use super::moves::{snapped, step_one, uniform_point};
use crate::dice::Dice;
use crate::gauss::Process;
use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::{Kind, Layout};

/// Most points the process is fitted to: time grows with the cube.
const FITTED_MAX: usize = 250;
/// Candidates of each ask, half of them anywhere, half near the best points.
const CANDIDATES: usize = 160;
/// Steps that the best candidate may still improve by.
const CLIMB: usize = 60;
/// Stretches of a dimension that are tried, and how far they may go.
const STRETCHES: [f64; 2] = [0.4, 2.5];
const STRETCH_RANGE: (f64, f64) = (0.02, 6.0);

/// Expected improvement over a Gaussian process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bayes {
    layout: Layout,
    seed: Seed,
    asked: u64,
    design: Halton,
    heard: Vec<Told>,
    length: f64,
    /// How much each dimension is stretched before distances are taken: 0 is of no importance.
    stretch: Vec<f64>,
    fitted_at: usize,
}

impl Bayes {
    /// The method for a space; it begins with evenly spread points.
    pub fn new(layout: Layout, seed: Seed) -> Self {
        let design = Halton::new(layout.clone(), seed);
        let stretch = vec![1.0; layout.len()];
        Self { layout, seed, asked: 0, design, heard: Vec::new(), length: 0.5, stretch, fitted_at: 0 }
    }
    fn design_size(&self) -> usize {
        (self.layout.len() + 3).min(20)
    }
    /// What the process is fitted to: everything, or the best half and the newest half of the limit.
    fn known(&self) -> Vec<&Told> {
        let mut known: Vec<&Told> = self.heard.iter().collect();
        if known.len() > FITTED_MAX {
            let newest = known.split_off(known.len() - FITTED_MAX / 2);
            known.sort_by(|a, b| a.value.total_cmp(&b.value));
            known.truncate(FITTED_MAX / 2);
            known.extend(newest);
        }
        known
    }
    fn snapped_point(&self, point: &[f64]) -> Vec<f64> {
        self.layout.kinds.iter().zip(point).map(|(kind, x)| snapped(*kind, *x)).collect()
    }
    /// Where a point lies for the process. Alternatives have no distance that could be stretched.
    fn placed(&self, point: &[f64], stretch: &[f64]) -> Vec<f64> {
        let place = |((kind, x), by): ((&Kind, &f64), &f64)| match kind {
            Kind::OneOf(_) => *x,
            _ => x * by,
        };
        self.layout.kinds.iter().zip(point).zip(stretch).map(place).collect()
    }
    /// Chooses the length scale, then the stretch of one dimension after the other, by how likely the values are.
    fn learn(&mut self, points: &[Vec<f64>], values: &[f64]) {
        let placed = |stretch: &[f64]| points.iter().map(|point| self.placed(point, stretch)).collect::<Vec<_>>();
        let mut stretch = self.stretch.clone();
        let length = Process::best_length(&self.layout, &placed(&stretch), values);
        let likelihood = |stretch: &[f64]| {
            let process = Process::fit(&self.layout, placed(stretch), values, length);
            process.map_or(f64::NEG_INFINITY, |process| process.log_likelihood())
        };
        let mut best = likelihood(&stretch);
        for n in 0..stretch.len() {
            for by in STRETCHES {
                let before = stretch[n];
                stretch[n] = (before * by).clamp(STRETCH_RANGE.0, STRETCH_RANGE.1);
                let now = likelihood(&stretch);
                if now > best {
                    best = now;
                } else {
                    stretch[n] = before;
                }
            }
        }
        (self.length, self.stretch) = (length, stretch);
    }
    fn candidates(&self, best: &[&Told], dice: &mut Dice) -> Vec<Vec<f64>> {
        let near = |n: usize, dice: &mut Dice| {
            let mut point = best[n % best.len()].point.clone();
            let step = maths::exp(-1.0 - 4.0 * dice.uniform());
            let surely = dice.below(point.len());
            for (d, kind) in self.layout.kinds.iter().enumerate() {
                if d == surely || dice.flips(0.4) {
                    point[d] = step_one(*kind, point[d], step, dice);
                }
            }
            point
        };
        (0..CANDIDATES)
            .map(|n| if n % 2 == 0 { uniform_point(&self.layout, dice) } else { near(n / 2, dice) })
            .map(|point| self.snapped_point(&point))
            .collect()
    }
    /// The point of most expected improvement. `lies` are points under way, taken for as good as the best.
    fn propose(&mut self, lies: &[Vec<f64>]) -> Vec<f64> {
        self.asked += 1;
        let mut dice = Dice::new(self.seed, "search/bayes", self.asked);
        let mut known = self.known();
        known.sort_by(|a, b| a.value.total_cmp(&b.value));
        let Some(first) = known.first() else { return uniform_point(&self.layout, &mut dice) };
        let lowest = first.value;
        if !lowest.is_finite() {
            return uniform_point(&self.layout, &mut dice);
        }
        let top: Vec<&Told> = known.iter().take(4).copied().collect();
        let candidates = self.candidates(&top, &mut dice);
        let mut points: Vec<Vec<f64>> = known.iter().map(|told| self.snapped_point(&told.point)).collect();
        let mut values: Vec<f64> = known.iter().map(|told| told.value).collect();
        // One outlier must not flatten everything else: high values are of no interest beyond "high". What was refused or
        // could not be computed is high too.
        let finite = values.iter().filter(|value| value.is_finite()).count();
        let middle = values[finite / 2 - usize::from(finite / 2 == finite)];
        let roof = middle + 3.0 * (middle - lowest);
        values.iter_mut().for_each(|v| *v = v.min(roof));
        points.extend(lies.iter().map(|lie| self.snapped_point(lie)));
        values.extend(lies.iter().map(|_| lowest));
        if self.fitted_at == 0 || points.len() >= self.fitted_at + self.fitted_at / 5 {
            self.learn(&points, &values);
            self.fitted_at = points.len().max(1);
        }
        let points = points.iter().map(|point| self.placed(point, &self.stretch)).collect();
        let Some(process) = Process::fit(&self.layout, points, &values, self.length) else {
            return uniform_point(&self.layout, &mut dice);
        };
        let gain = |point: &[f64]| process.expected_improvement(&self.placed(point, &self.stretch), lowest);
        let mut best = (f64::NEG_INFINITY, 0);
        for (n, candidate) in candidates.iter().enumerate() {
            let gain = gain(candidate);
            if gain > best.0 {
                best = (gain, n);
            }
        }
        let (mut most, mut point) = (best.0, candidates[best.1].clone());
        for _ in 0..CLIMB {
            let next = self.beside(&point, &mut dice);
            let gain = gain(&next);
            if gain > most {
                (most, point) = (gain, next);
            }
        }
        point
    }
    /// A point not far away.
    fn beside(&self, point: &[f64], dice: &mut Dice) -> Vec<f64> {
        let mut point = point.to_vec();
        let step = maths::exp(-1.5 - 4.0 * dice.uniform());
        let surely = dice.below(point.len());
        for (d, kind) in self.layout.kinds.iter().enumerate() {
            if d == surely || dice.flips(0.2) {
                point[d] = step_one(*kind, point[d], step, dice);
            }
        }
        self.snapped_point(&point)
    }
}

impl Optimiser for Bayes {
    fn name(&self) -> &str {
        "bayes"
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let design_left = self.design_size().saturating_sub(self.heard.len());
        if design_left > 0 {
            return self.design.ask(at_most.clamp(1, design_left));
        }
        let mut points: Vec<Vec<f64>> = Vec::new();
        for _ in 0..at_most.max(1) {
            let next = self.propose(&points);
            points.push(next);
        }
        points
    }
    fn tell(&mut self, told: &[Told]) {
        self.heard.extend_from_slice(told);
    }
    fn restart(&mut self) {
        self.heard.clear();
        self.stretch.fill(1.0);
        self.fitted_at = 0;
    }
    plain_data!();
}
