//! Makes a path cheaper by replacing parts of it with words that join the same poses.

use anabranch_geometry::{Arc, Pose, along_arc};

use super::corner::for_each_corner;
use super::hybrid_a_star::closeness_m;
use super::reeds_shepp::{Word, for_each_word};
use super::surroundings::Surroundings;
use super::{End, PlanRequest, allowed};

/// Pieces a path is cut into, about: words are tried between all their ends.
const PIECES: f64 = 24.0;
/// Pieces are not shorter than this.
const PIECE_MIN_M: f64 = 0.5;
/// Replacements at most; each costs a look at all pairs of pieces.
const ROUNDS_MAX: u32 = 16;
/// A replacement must save this much.
const SAVING_MIN_M: f64 = 0.02;
/// Words tried between two poses, cheapest first.
const WORDS_MAX: usize = 3;

/// The arcs, or cheaper ones that keep the safety distance as well.
pub(super) fn improve(request: &PlanRequest<'_>, surroundings: &Surroundings<'_>, arcs: Vec<Arc>) -> Vec<Arc> {
    let mut best = merged(arcs);
    let Some(mut cost) = price(request, surroundings, &best) else { return best };
    for _ in 0..ROUNDS_MAX {
        let Some((cheaper_cost, cheaper)) = replaced(request, surroundings, &best, cost) else { break };
        (cost, best) = (cheaper_cost, cheaper);
    }
    best
}

/// Cost of a whole path; `None` if it comes closer than the safety distance.
fn price(request: &PlanRequest<'_>, surroundings: &Surroundings<'_>, arcs: &[Arc]) -> Option<f64> {
    let close_m = closeness_m(surroundings, request.start, arcs)?;
    Some(request.costs.arcs(None, arcs, request.turning_radius_m) + close_m * request.costs.closeness_factor)
}

/// The first replacement that pays, of the longest part that has one.
fn replaced(
    request: &PlanRequest<'_>,
    surroundings: &Surroundings<'_>,
    arcs: &[Arc],
    cost: f64,
) -> Option<(f64, Vec<Arc>)> {
    let pieces = cut(arcs);
    let mut poses = vec![request.start];
    for piece in &pieces {
        poses.push(along_arc(poses[poses.len() - 1], piece.curvature_per_m, piece.length_m));
    }
    for span in (2..=pieces.len()).rev() {
        for first in 0..=(pieces.len() - span) {
            let last = first + span;
            for word in words(request, &pieces, (first, poses[first]), (last, poses[last])) {
                if closeness_m(surroundings, poses[first], word.arcs()).is_none() {
                    continue;
                }
                let whole = merged([&pieces[..first], word.arcs(), &pieces[last..]].concat());
                if let Some(price) = price(request, surroundings, &whole).filter(|&p| p < cost - SAVING_MIN_M) {
                    return Some((price, whole));
                }
            }
        }
    }
    None
}

/// The cheapest words between the starts of two pieces that are cheaper than what they replace, closeness aside.
fn words(request: &PlanRequest<'_>, pieces: &[Arc], from: (usize, Pose), to: (usize, Pose)) -> Vec<Word> {
    let radius_m = request.turning_radius_m;
    let before = from.0.checked_sub(1).map(|index| pieces[index]);
    let after = pieces.get(to.0).copied();
    let cost = |arcs: &[Arc]| {
        let through = request.costs.arcs(before, arcs, radius_m);
        let last = arcs.last().copied().or(before);
        through + after.map_or(0.0, |after| request.costs.arc(last, after, radius_m))
    };
    // Closeness can only make the old part dearer, so it gets the benefit of its own length.
    let old = cost(&pieces[from.0..to.0]);
    let close_m: f64 = pieces[from.0..to.0].iter().map(|piece| piece.length_m.abs()).sum();
    let limit = old + close_m * request.costs.closeness_factor - SAVING_MIN_M;
    let end = if after.is_some() { End::OnTheWay } else { End::Goal };
    let mut found = Vec::new();
    let mut consider = |word: Word| {
        let price = cost(word.arcs());
        if price < limit && allowed(request, before, word.arcs(), end) {
            found.push((price, word));
        }
    };
    for_each_word(from.1, to.1, radius_m, &mut consider);
    for_each_corner(from.1, to.1, radius_m, &mut consider);
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().take(WORDS_MAX).map(|(_, word)| word).collect()
}

/// Joins neighbours of the same curvature and gear.
fn merged(arcs: Vec<Arc>) -> Vec<Arc> {
    let mut joined: Vec<Arc> = Vec::with_capacity(arcs.len());
    for arc in arcs {
        match joined.last_mut() {
            Some(last) if last.curvature_per_m == arc.curvature_per_m && last.length_m * arc.length_m > 0.0 => {
                last.length_m += arc.length_m;
            }
            _ => joined.push(arc),
        }
    }
    joined
}

/// Cuts arcs into pieces of about equal length.
fn cut(arcs: &[Arc]) -> Vec<Arc> {
    let length_m: f64 = arcs.iter().map(|arc| arc.length_m.abs()).sum();
    let piece_m = (length_m / PIECES).max(PIECE_MIN_M);
    let mut pieces = Vec::new();
    for arc in arcs {
        let count = (arc.length_m.abs() / piece_m).round().max(1.0);
        let piece = Arc { length_m: arc.length_m / count, ..*arc };
        pieces.extend(std::iter::repeat_n(piece, count as usize));
    }
    pieces
}
