//! CMA-ES with restarts: learns the shape of the valley it is in.
//!
//! N. Hansen, "The CMA evolution strategy: a tutorial" (2016); the covariance is kept as a triangular factor that is updated
//! in place (O. Krause, D. R. Arbonès and C. Igel, "CMA-ES with optimal covariance update and storage complexity", 2016),
//! so a generation of λ points costs O(λ n²) and no eigenvalues are needed. Restarts: IPOP and BIPOP (Hansen 2009).

use anabranch_kernel::{Seed, maths};
use serde::{Deserialize, Serialize};

use super::moves::step_one;
use crate::dice::Dice;
use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::{Kind, Layout};

const SIGMA_START: f64 = 0.3;
/// A smaller spread than this is an end: the cube is 1 wide.
const SIGMA_MIN: f64 = 1e-10;

/// How populations change from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Restarts {
    /// Each run has twice the population of the one before (IPOP).
    Growing,
    /// Growing runs and small ones take turns, by the evaluations each kind has used (BIPOP).
    LargeAndSmall,
}

/// CMA-ES in the unit cube.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CmaEs {
    layout: Layout,
    seed: Seed,
    restarts: Restarts,
    asked: u64,
    runs: u64,
    doublings: u32,
    used_large: u64,
    used_small: u64,
    small: bool,
    run: Run,
}

/// What one run knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    lambda: usize,
    weights: Vec<f64>,
    mean: Vec<f64>,
    sigma: f64,
    /// Lower triangle, column by column: column `j` holds rows `j..n`.
    factor: Vec<Vec<f64>>,
    path_sigma: Vec<f64>,
    path_c: Vec<f64>,
    generations: u64,
    /// Members of this generation that were asked: the normal draws behind them.
    drawn: Vec<Vec<f64>>,
    /// Values heard, with a penalty for what lies outside of the cube.
    heard: Vec<f64>,
    best: f64,
    idle_generations: u64,
}

/// Strategy parameters that follow from dimension and weights (Hansen 2016, table 1).
struct Rates {
    mu_eff: f64,
    c_sigma: f64,
    d_sigma: f64,
    c_c: f64,
    c_1: f64,
    c_mu: f64,
    chi_n: f64,
}

fn rates(n: f64, weights: &[f64]) -> Rates {
    let mu_eff = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0);
    let d_sigma = 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma;
    let c_c = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n);
    let c_1 = 2.0 / ((n + 1.3) * (n + 1.3) + mu_eff);
    let c_mu = (2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((n + 2.0) * (n + 2.0) + mu_eff)).min(1.0 - c_1);
    let chi_n = n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));
    Rates { mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi_n }
}

/// Turns the factor of C into that of C + β v vᵀ.
fn rank_one(factor: &mut [Vec<f64>], beta: f64, v: &mut [f64]) {
    let mut b = 1.0;
    for (j, column) in factor.iter_mut().enumerate() {
        let (diagonal, a) = (column[0], v[j]);
        let new = (diagonal * diagonal + beta / b * a * a).sqrt();
        let gamma = diagonal * diagonal * b + beta * a * a;
        let (pull, stretch, add) = (a / diagonal, new / diagonal, new * beta * a / gamma);
        for (entry, rest) in column[1..].iter_mut().zip(&mut v[j + 1..]) {
            *rest -= pull * *entry;
            *entry = stretch * *entry + add * *rest;
        }
        b += beta * a * a / (diagonal * diagonal);
        column[0] = new;
    }
}

impl Run {
    fn new(n: usize, lambda: usize, sigma: f64, mean: Vec<f64>) -> Self {
        let mu = lambda / 2;
        let raw: Vec<f64> = (0..mu).map(|i| maths::ln(lambda as f64 / 2.0 + 0.5) - maths::ln(i as f64 + 1.0)).collect();
        let sum: f64 = raw.iter().sum();
        let factor = (0..n).map(|j| (j..n).map(|row| f64::from(u8::from(row == j))).collect()).collect();
        Self {
            lambda,
            weights: raw.iter().map(|w| w / sum).collect(),
            mean,
            sigma,
            factor,
            path_sigma: vec![0.0; n],
            path_c: vec![0.0; n],
            generations: 0,
            drawn: Vec::new(),
            heard: Vec::new(),
            best: f64::INFINITY,
            idle_generations: 0,
        }
    }
    /// `A z`.
    fn shaped(&self, z: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; z.len()];
        for (j, (column, zj)) in self.factor.iter().zip(z).enumerate() {
            for (row, entry) in y[j..].iter_mut().zip(column) {
                *row += entry * zj;
            }
        }
        y
    }
    /// Moves mean, paths, spread and shape after a whole generation.
    fn learn(&mut self) {
        let n = self.mean.len();
        let mut order: Vec<usize> = (0..self.lambda).collect();
        order.sort_by(|a, b| self.heard[*a].total_cmp(&self.heard[*b]));
        let top = self.heard[order[0]];
        self.idle_generations = if top < self.best { 0 } else { self.idle_generations + 1 };
        self.best = self.best.min(top);
        let r = rates(n as f64, &self.weights);
        let mut z_mean = vec![0.0; n];
        for (weight, member) in self.weights.iter().zip(&order) {
            for (sum, z) in z_mean.iter_mut().zip(&self.drawn[*member]) {
                *sum += weight * z;
            }
        }
        let y_mean = self.shaped(&z_mean);
        for (m, y) in self.mean.iter_mut().zip(&y_mean) {
            *m = (*m + self.sigma * y).clamp(0.0, 1.0);
        }
        let along = (r.c_sigma * (2.0 - r.c_sigma) * r.mu_eff).sqrt();
        for (p, z) in self.path_sigma.iter_mut().zip(&z_mean) {
            *p = (1.0 - r.c_sigma) * *p + along * z;
        }
        let length = self.path_sigma.iter().map(|p| p * p).sum::<f64>().sqrt();
        self.generations += 1;
        let settled = 1.0 - maths::exp(2.0 * self.generations as f64 * maths::ln(1.0 - r.c_sigma));
        let goes_on = length / settled.sqrt() / r.chi_n < 1.4 + 2.0 / (n as f64 + 1.0);
        let along_c = if goes_on { (r.c_c * (2.0 - r.c_c) * r.mu_eff).sqrt() } else { 0.0 };
        for (p, y) in self.path_c.iter_mut().zip(&y_mean) {
            *p = (1.0 - r.c_c) * *p + along_c * y;
        }
        let missing = if goes_on { 0.0 } else { r.c_1 * r.c_c * (2.0 - r.c_c) };
        let steps: Vec<Vec<f64>> =
            order.iter().take(self.weights.len()).map(|member| self.shaped(&self.drawn[*member])).collect();
        let keep = (1.0 - r.c_1 - r.c_mu + missing).sqrt();
        self.factor.iter_mut().flatten().for_each(|entry| *entry *= keep);
        rank_one(&mut self.factor, r.c_1, &mut self.path_c.clone());
        for (weight, mut step) in self.weights.iter().zip(steps) {
            rank_one(&mut self.factor, r.c_mu * weight, &mut step);
        }
        self.sigma *= maths::exp((r.c_sigma / r.d_sigma * (length / r.chi_n - 1.0)).min(1.0));
        self.drawn.clear();
        self.heard.clear();
    }
    /// Whether nothing more is to be expected here.
    fn is_over(&self, flat: bool) -> bool {
        let n = self.mean.len() as f64;
        let (least, most) =
            self.factor.iter().map(|c| c[0]).fold((f64::INFINITY, 0.0_f64), |(lo, hi), d| (lo.min(d), hi.max(d)));
        let spread = self.sigma * most;
        flat || !spread.is_finite()
            || spread < SIGMA_MIN
            || most > 1e7 * least
            || self.idle_generations as f64 > 10.0 + 30.0 * n / self.lambda as f64
    }
}

impl CmaEs {
    /// CMA-ES for a space; the first run begins near the middle.
    pub fn new(layout: Layout, seed: Seed, restarts: Restarts) -> Self {
        let n = layout.len();
        let run = Run::new(n, usual_lambda(n), SIGMA_START, vec![0.5; n]);
        let (used_large, used_small) = (0, 0);
        Self { layout, seed, restarts, asked: 0, runs: 0, doublings: 0, used_large, used_small, small: false, run }
    }
    /// The next run, elsewhere and with another population.
    fn run_again(&mut self) {
        self.runs += 1;
        let n = self.layout.len();
        let mut dice = Dice::new(self.seed, "search/cma-es/run", self.runs);
        let mean = (0..n).map(|_| 0.1 + 0.8 * dice.uniform()).collect();
        self.small = self.restarts == Restarts::LargeAndSmall && self.used_small < self.used_large;
        let (lambda, sigma) = if self.small {
            let large = usual_lambda(n) as f64 * f64::from(1_u32 << self.doublings);
            let part = dice.uniform();
            let ratio = maths::exp(part * part * maths::ln((large / 2.0 / usual_lambda(n) as f64).max(1.0)));
            (
                ((usual_lambda(n) as f64 * ratio) as usize).next_multiple_of(2),
                SIGMA_START * maths::exp(-2.0 * maths::ln(10.0) * dice.uniform()),
            )
        } else {
            // Nine doublings are 512 times the population: no budget reaches the end of such a run.
            self.doublings = (self.doublings + 1).min(9);
            (usual_lambda(n) << self.doublings, SIGMA_START)
        };
        self.run = Run::new(n, lambda, sigma, mean);
    }
    /// One member: inside the cube, whole numbers kept moving.
    fn member(&mut self) -> Vec<f64> {
        self.asked += 1;
        let mut dice = Dice::new(self.seed, "search/cma-es", self.asked);
        let z: Vec<f64> = (0..self.layout.len()).map(|_| dice.normal()).collect();
        let step = self.run.shaped(&z);
        self.run.drawn.push(z);
        let mut point: Vec<f64> = self.run.mean.iter().zip(&step).map(|(m, y)| m + self.run.sigma * y).collect();
        for (n, kind) in self.layout.kinds.iter().enumerate() {
            point[n] = match kind {
                Kind::Real => point[n].clamp(0.0, 1.0),
                Kind::Whole(count) if self.run.sigma * (*count as f64) > 0.5 => point[n].clamp(0.0, 1.0),
                // The spread has become smaller than one step, and for alternatives it means little: jump now and then.
                _ if dice.flips(0.2) => step_one(*kind, point[n].clamp(0.0, 1.0), self.run.sigma, &mut dice),
                _ => point[n].clamp(0.0, 1.0),
            };
        }
        point
    }
    /// How far a member lay outside, in units of the spread.
    fn outside(&self, member: usize) -> f64 {
        let step = self.run.shaped(&self.run.drawn[member]);
        let out = self.run.mean.iter().zip(&step).map(|(m, y)| {
            let x = m + self.run.sigma * y;
            (x - x.clamp(0.0, 1.0)) / self.run.sigma
        });
        out.map(|d| d * d).sum::<f64>() / step.len() as f64
    }
    fn finish_generation(&mut self) {
        let used = if self.small { &mut self.used_small } else { &mut self.used_large };
        *used += self.run.lambda as u64;
        let (lo, hi) = self.run.heard.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| {
            (lo.min(*v), if v.is_finite() { hi.max(*v) } else { hi })
        });
        let flat = hi <= lo;
        let spread = if hi > lo { hi - lo } else { 1.0 };
        let penalties: Vec<f64> = (0..self.run.lambda).map(|member| self.outside(member) * spread).collect();
        let best_before = self.run.best.min(lo);
        for (value, penalty) in self.run.heard.iter_mut().zip(penalties) {
            *value += 0.1 * penalty;
        }
        self.run.learn();
        self.run.best = self.run.best.min(best_before);
        if self.run.is_over(flat) {
            self.run_again();
        }
    }
}

/// The usual size of a population, made even: an odd one leaves a core idle at the end of each generation.
fn usual_lambda(n: usize) -> usize {
    (4 + (3.0 * maths::ln(n as f64)) as usize).next_multiple_of(2)
}

impl Optimiser for CmaEs {
    fn name(&self) -> &str {
        match self.restarts {
            Restarts::Growing => "cma-es",
            Restarts::LargeAndSmall => "cma-es-bipop",
        }
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let left = self.run.lambda - self.run.drawn.len();
        (0..at_most.min(left)).map(|_| self.member()).collect()
    }
    fn tell(&mut self, told: &[Told]) {
        self.run.heard.extend(told.iter().map(|one| one.value));
        if self.run.heard.len() >= self.run.lambda && self.run.drawn.len() >= self.run.lambda {
            self.run.heard.truncate(self.run.lambda);
            self.finish_generation();
        }
    }
    fn hears_late(&self) -> bool {
        true
    }
    fn restart(&mut self) {
        self.run_again();
    }
    plain_data!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_follows_the_covariance() {
        // C = I + 0.5 v vᵀ + 2 w wᵀ, checked entry by entry.
        let (v, w) = ([1.0, -2.0, 0.5], [0.25, 1.0, 3.0]);
        let mut run = Run::new(3, 6, 0.3, vec![0.5; 3]);
        rank_one(&mut run.factor, 0.5, &mut v.clone());
        rank_one(&mut run.factor, 2.0, &mut w.clone());
        let entry = |row: usize, col: usize| if row >= col { run.factor[col][row - col] } else { 0.0 };
        for row in 0..3 {
            for col in 0..3 {
                let found: f64 = (0..3).map(|k| entry(row, k) * entry(col, k)).sum();
                let identity = f64::from(u8::from(row == col));
                let expected = identity + 0.5 * v[row] * v[col] + 2.0 * w[row] * w[col];
                assert!((found - expected).abs() < 1e-12, "{row}, {col}: {found} instead of {expected}");
            }
        }
    }
}
