//! Nelder–Mead simplex in the unit cube, with restarts: cheap polishing where values change smoothly.

use anabranch_kernel::Seed;
use serde::{Deserialize, Serialize};

use super::moves::uniform_point;
use crate::dice::Dice;
use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::Layout;

const EDGE_START: f64 = 0.25;
/// A simplex smaller than this is an end.
const EDGE_END: f64 = 1e-8;

/// What the simplex waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Waiting {
    /// Its corners, from this one on.
    Corners(Vec<Vec<f64>>),
    /// The mirror image of the worst corner.
    Reflection,
    /// A point beyond the mirror image, which was good.
    Expansion(Told),
    /// A point between the middle and the better one of worst corner and mirror image.
    Contraction(Told),
}

/// One simplex after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NelderMead {
    layout: Layout,
    seed: Seed,
    runs: u64,
    corners: Vec<Told>,
    waiting: Waiting,
    /// Points of `waiting` that were asked and not yet told.
    asked: usize,
    idle: u64,
}

impl NelderMead {
    /// A simplex for a space.
    pub fn new(layout: Layout, seed: Seed) -> Self {
        let mut new =
            Self { layout, seed, runs: 0, corners: Vec::new(), waiting: Waiting::Reflection, asked: 0, idle: 0 };
        new.begin();
        new
    }
    /// A new simplex at a random place.
    fn begin(&mut self) {
        self.runs += 1;
        let mut dice = Dice::new(self.seed, "search/nelder-mead", self.runs);
        let origin = uniform_point(&self.layout, &mut dice);
        let mut corners = vec![origin.clone()];
        for n in 0..origin.len() {
            let mut corner = origin.clone();
            corner[n] += if corner[n] < 0.5 { EDGE_START } else { -EDGE_START };
            corners.push(corner);
        }
        (self.corners, self.waiting, self.asked, self.idle) = (Vec::new(), Waiting::Corners(corners), 0, 0);
    }
    /// The middle of all corners but the worst, moved away from the worst by a factor.
    fn mirrored(&self, factor: f64) -> Vec<f64> {
        let (Some((worst, others)), n) = (self.corners.split_last(), self.layout.len()) else { return Vec::new() };
        let point = (0..n).map(|d| {
            let middle = others.iter().map(|corner| corner.point[d]).sum::<f64>() / others.len() as f64;
            (middle + factor * (middle - worst.point[d])).clamp(0.0, 1.0)
        });
        point.collect()
    }
    /// Factors for expansion and contraction (F. Gao and L. Han 2012: they depend on the dimension).
    fn expansion(&self) -> f64 {
        1.0 + 2.0 / (self.layout.len() as f64).max(2.0)
    }
    fn contraction(&self) -> f64 {
        0.75 - 1.0 / (2.0 * (self.layout.len() as f64).max(2.0))
    }
    fn shrinking(&self) -> f64 {
        1.0 - 1.0 / (self.layout.len() as f64).max(2.0)
    }
    fn order(&mut self) {
        self.corners.sort_by(|a, b| a.value.total_cmp(&b.value));
    }
    fn replace_worst(&mut self, with: Told) {
        self.idle = if self.corners.first().is_some_and(|best| with.value < best.value) { 0 } else { self.idle + 1 };
        if let Some(worst) = self.corners.last_mut() {
            *worst = with;
        }
        self.waiting = Waiting::Reflection;
        self.order();
        let size = |d: usize| {
            let all = self.corners.iter().map(|corner| corner.point[d]);
            let (lo, hi) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
            hi - lo
        };
        let largest = (0..self.layout.len()).map(size).fold(0.0, f64::max);
        if largest < EDGE_END || self.idle > 30 + 10 * self.layout.len() as u64 {
            self.begin();
        }
    }
    fn shrink(&mut self) {
        let by = self.shrinking();
        self.corners.truncate(self.corners.len().max(1));
        let best = self.corners[0].clone();
        let towards = |corner: &Told| corner.point.iter().zip(&best.point).map(|(x, b)| b + by * (x - b)).collect();
        let corners: Vec<Vec<f64>> = self.corners[1..].iter().map(towards).collect();
        (self.corners, self.waiting, self.asked) = (vec![best], Waiting::Corners(corners), 0);
    }
    fn hear(&mut self, told: &Told) {
        match std::mem::replace(&mut self.waiting, Waiting::Reflection) {
            Waiting::Corners(mut left) => {
                self.corners.push(told.clone());
                if !left.is_empty() {
                    left.remove(0);
                }
                if left.is_empty() {
                    self.order();
                    // A simplex without a single value has no direction.
                    if self.corners.first().is_some_and(|best| !best.value.is_finite()) {
                        self.begin();
                    }
                } else {
                    self.waiting = Waiting::Corners(left);
                }
            }
            Waiting::Reflection => self.after_reflection(told),
            Waiting::Expansion(mirror) => {
                self.replace_worst(if told.value < mirror.value { told.clone() } else { mirror });
            }
            Waiting::Contraction(bound) => {
                if told.value < bound.value {
                    self.replace_worst(told.clone())
                } else {
                    self.shrink()
                }
            }
        }
    }
    fn after_reflection(&mut self, mirror: &Told) {
        let (best, worst) = (&self.corners[0], &self.corners[self.corners.len() - 1]);
        let second_worst = self.corners[self.corners.len().saturating_sub(2)].value;
        if mirror.value < best.value {
            self.waiting = Waiting::Expansion(mirror.clone());
        } else if mirror.value < second_worst {
            self.replace_worst(mirror.clone());
        } else {
            let better = if mirror.value < worst.value { mirror.clone() } else { worst.clone() };
            self.waiting = Waiting::Contraction(better);
        }
    }
}

impl Optimiser for NelderMead {
    fn name(&self) -> &str {
        "nelder-mead"
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let points = match &self.waiting {
            Waiting::Corners(corners) => corners.iter().take(at_most.max(1)).cloned().collect(),
            Waiting::Reflection => vec![self.mirrored(1.0)],
            Waiting::Expansion(_) => vec![self.mirrored(self.expansion())],
            Waiting::Contraction(better) => {
                let inside = self.corners.last().is_some_and(|worst| better.point == worst.point);
                vec![self.mirrored(if inside { -self.contraction() } else { self.contraction() })]
            }
        };
        self.asked = points.len();
        points
    }
    fn tell(&mut self, told: &[Told]) {
        for one in told {
            self.hear(one);
        }
    }
    fn restart(&mut self) {
        self.begin();
    }
    plain_data!();
}
