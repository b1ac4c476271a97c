//! Which parameters matter: shares of variance by an ensemble of random trees, from points that were evaluated anyway.
//!
//! Points of an optimiser crowd where it is dangerous, so plain averages over them mislead. A tree is a function on the
//! whole cube; the variance of its main effects over the cube can be computed exactly from its leaves
//! (F. Hutter, H. Hoos and K. Leyton-Brown 2014, functional ANOVA).

use anabranch_kernel::Seed;
use serde::{Deserialize, Serialize};

use crate::dice::Dice;
use crate::report::Report;
use crate::space::Space;

const TREES: u64 = 64;
const LEAF_POINTS: usize = 3;
const DEPTH_MAX: usize = 12;
/// Split places tried per node.
const TRIES: usize = 8;
/// Fewer points say nothing.
pub const POINTS_MIN: usize = 10;

/// How much of the variance one dimension explains alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// The dimension, or the signal all of whose control points are meant.
    pub name: String,
    /// Share of the variance over the cube, from 0 to 1.
    pub share: f64,
}

/// A box of the cube and the mean value in it.
struct Leaf {
    lo: Vec<f64>,
    hi: Vec<f64>,
    value: f64,
}

/// Main effects of all dimensions, in their order, then of signals as a whole. What is missing to 1 is interaction.
/// `None` with fewer than [`POINTS_MIN`] computed points.
pub fn importance(space: &Space, report: &Report, seed: Seed) -> Option<Vec<Importance>> {
    let computed = report.evaluations.iter().filter(|e| e.value().is_finite());
    let points: Vec<(&[f64], f64)> = computed.map(|e| (e.unit.as_slice(), e.value())).collect();
    let shares = shares(&points, seed)?;
    let mut out: Vec<Importance> = space
        .dimensions()
        .iter()
        .zip(&shares)
        .map(|(d, share)| Importance { name: d.name.clone(), share: *share })
        .collect();
    for (signal, group) in space.signals() {
        let share = shares[group.start..group.start + group.len].iter().sum();
        out.push(Importance { name: signal.name.clone(), share });
    }
    Some(out)
}

/// Share of variance of each dimension, averaged over trees.
pub fn shares(points: &[(&[f64], f64)], seed: Seed) -> Option<Vec<f64>> {
    let dimensions = points.first()?.0.len();
    if points.len() < POINTS_MIN {
        return None;
    }
    let mut sorted: Vec<f64> = points.iter().map(|p| p.1).collect();
    sorted.sort_by(f64::total_cmp);
    // A walker that has arrived tells the same over and over; it counts once.
    sorted.dedup();
    // Very safe points are all alike: they must not outweigh the differences that matter.
    let (low, middle) = (sorted[0], sorted[sorted.len() / 2]);
    let roof = middle + 3.0 * (middle - low);
    let values: Vec<f64> = points.iter().map(|p| p.1.min(roof)).collect();
    let mut sums = vec![0.0; dimensions];
    let mut trees = 0.0;
    for tree in 0..TREES {
        let mut dice = Dice::new(seed, "search/importance", tree);
        let mut leaves = Vec::new();
        let members: Vec<usize> = (0..points.len()).collect();
        grow(points, &values, members, (vec![0.0; dimensions], vec![1.0; dimensions]), 0, &mut dice, &mut leaves);
        if let Some(effects) = main_effects(&leaves, dimensions) {
            trees += 1.0;
            sums.iter_mut().zip(effects).for_each(|(sum, effect)| *sum += effect);
        }
    }
    Some(if trees > 0.0 { sums.iter().map(|sum| sum / trees).collect() } else { sums })
}

fn spread(values: &[f64], members: &[usize]) -> f64 {
    let mean = members.iter().map(|m| values[*m]).sum::<f64>() / members.len().max(1) as f64;
    members.iter().map(|m| (values[*m] - mean) * (values[*m] - mean)).sum()
}

fn grow(
    points: &[(&[f64], f64)],
    values: &[f64],
    members: Vec<usize>,
    (lo, hi): (Vec<f64>, Vec<f64>),
    depth: usize,
    dice: &mut Dice,
    leaves: &mut Vec<Leaf>,
) {
    let whole = spread(values, &members);
    let mut best: Option<(f64, usize, f64)> = None;
    if depth < DEPTH_MAX && members.len() >= 2 * LEAF_POINTS && whole > 0.0 {
        let tries = TRIES.max(lo.len() / 2);
        for _ in 0..tries {
            let axis = dice.below(lo.len());
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for member in &members {
                least = least.min(points[*member].0[axis]);
                most = most.max(points[*member].0[axis]);
            }
            let place = least + (most - least) * dice.uniform();
            let (left, right): (Vec<usize>, Vec<usize>) = members.iter().partition(|m| points[**m].0[axis] < place);
            if left.len() < LEAF_POINTS || right.len() < LEAF_POINTS {
                continue;
            }
            let rest = spread(values, &left) + spread(values, &right);
            if best.is_none_or(|(known, _, _)| rest < known) {
                best = Some((rest, axis, place));
            }
        }
    }
    let Some((_, axis, place)) = best else {
        let value = members.iter().map(|m| values[*m]).sum::<f64>() / members.len().max(1) as f64;
        leaves.push(Leaf { lo, hi, value });
        return;
    };
    let (left, right) = members.iter().partition(|m| points[**m].0[axis] < place);
    let (mut left_hi, mut right_lo) = (hi.clone(), lo.clone());
    (left_hi[axis], right_lo[axis]) = (place, place);
    grow(points, values, left, (lo, left_hi), depth + 1, dice, leaves);
    grow(points, values, right, (right_lo, hi), depth + 1, dice, leaves);
}

/// Variance of the mean over all other dimensions, per dimension, as a share of the tree's variance.
fn main_effects(leaves: &[Leaf], dimensions: usize) -> Option<Vec<f64>> {
    let volume = |leaf: &Leaf| leaf.lo.iter().zip(&leaf.hi).map(|(lo, hi)| hi - lo).product::<f64>();
    let volumes: Vec<f64> = leaves.iter().map(volume).collect();
    let mean: f64 = leaves.iter().zip(&volumes).map(|(leaf, v)| leaf.value * v).sum();
    let variance: f64 =
        leaves.iter().zip(&volumes).map(|(leaf, v)| (leaf.value - mean) * (leaf.value - mean) * v).sum();
    if variance <= 0.0 {
        return None;
    }
    let effect = |axis: usize| {
        let mut cuts: Vec<f64> = leaves.iter().flat_map(|leaf| [leaf.lo[axis], leaf.hi[axis]]).collect();
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        let between = cuts.windows(2).map(|cut| {
            let middle = 0.5 * (cut[0] + cut[1]);
            let inside =
                leaves.iter().zip(&volumes).filter(|(leaf, _)| leaf.lo[axis] <= middle && middle < leaf.hi[axis]);
            let here: f64 = inside.map(|(leaf, v)| leaf.value * v / (leaf.hi[axis] - leaf.lo[axis])).sum();
            (here - mean) * (here - mean) * (cut[1] - cut[0])
        });
        between.sum::<f64>() / variance
    };
    Some((0..dimensions).map(effect).collect())
}
