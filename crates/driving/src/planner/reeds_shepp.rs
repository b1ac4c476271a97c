//! Shortest paths of a car that drives forwards and backwards, without obstacles.
//!
//! Reeds and Shepp, "Optimal paths for a car that goes both forwards and backwards" (1990): the shortest path is one of
//! 48 words over left, right and straight. Section numbers below are those of the paper, with the known misprints of
//! 8.3, 8.4 and 8.8 mended. Solvers work on unit turning radius, with the start at the origin facing east.

use std::f64::consts::{FRAC_PI_2, PI};

use anabranch_geometry::{Arc, Pose};
use anabranch_kernel::maths::{acos, asin, atan2, hypot, sin_cos, wrap_angle};

/// Angles this far on the wrong side of a bound are rounding, not another path.
const ROUNDING_RAD: f64 = 1e-12;
/// Arcs shorter than this are left out of a word.
const ARC_MIN_M: f64 = 1e-9;
/// Sideways and angular offset below which a goal counts as straight ahead or behind.
const STRAIGHT_WITHIN: f64 = 1e-6;

/// A sequence of at most five arcs from one pose to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Word {
    arcs: [Arc; 5],
    count: usize,
}

impl Word {
    const EMPTY: Self = Self { arcs: [Arc { curvature_per_m: 0.0, length_m: 0.0 }; 5], count: 0 };

    fn push(&mut self, curvature_per_m: f64, length_m: f64) {
        if length_m.abs() > ARC_MIN_M {
            self.arcs[self.count] = Arc { curvature_per_m, length_m };
            self.count += 1;
        }
    }
    /// Three arcs, without those of no length.
    pub(super) fn of(arcs: [Arc; 3]) -> Self {
        let mut word = Self::EMPTY;
        for arc in arcs {
            word.push(arc.curvature_per_m, arc.length_m);
        }
        word
    }
    /// The arcs in driving order.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs[..self.count]
    }
    /// Driven metres.
    pub fn length_m(&self) -> f64 {
        self.arcs().iter().map(|arc| arc.length_m.abs()).sum()
    }
}

/// The shortest path between two poses for a turning radius.
///
/// # Panics
/// If the radius is not positive or a number is not finite.
pub fn shortest(from: Pose, to: Pose, radius_m: f64) -> Vec<Arc> {
    let mut best: Option<(f64, Word)> = None;
    for_each_word(from, to, radius_m, |word| {
        let length_m = word.length_m();
        if best.is_none_or(|(best_m, _)| length_m < best_m) {
            best = Some((length_m, word));
        }
    });
    best.expect("some word joins any two poses").1.arcs().to_vec()
}

/// Visits every word that joins two poses, always in the same order.
///
/// Besides the 48 words of the paper these are the curve-straight-curve words with turns of more than half a circle,
/// so that some word drives forwards only and some word backwards only. A goal straight ahead or behind has one word.
///
/// # Panics
/// If the radius is not positive or a number is not finite.
pub fn for_each_word(from: Pose, to: Pose, radius_m: f64, mut visit: impl FnMut(Word)) {
    let local = from.local_from_world(to.point());
    let turn = wrap_angle(to.heading - from.heading);
    assert!(radius_m > 0.0 && (local.x + local.y + turn).is_finite(), "no path to {to:?} for a radius of {radius_m} m");
    if local.y.abs() < STRAIGHT_WITHIN && turn.abs() < STRAIGHT_WITHIN {
        let mut word = Word::EMPTY;
        word.push(0.0, local.x);
        return visit(word);
    }
    let (x, y) = (local.x / radius_m, local.y / radius_m);
    let (sin, cos) = sin_cos(turn);
    let (back_x, back_y) = (x * cos + y * sin, x * sin - y * cos);
    for family in &FAMILIES {
        for (time, side) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
            let aim = |x: f64, y: f64| Aim {
                x: x * time,
                y: y * side,
                turn: turn * time * side,
                sin: sin * time * side,
                cos,
            };
            if let Some(parts) = (family.solve)(aim(x, y)) {
                visit(spell(family.shape.iter(), parts, (time, side), radius_m));
            }
            if let (true, Some(parts)) = (family.mirrored, (family.solve)(aim(back_x, back_y))) {
                visit(spell(family.shape.iter().rev(), parts, (time, side), radius_m));
            }
        }
    }
}

fn spell<'a>(
    shape: impl Iterator<Item = &'a (f64, Part)>,
    [t, u, v]: [f64; 3],
    (time, side): (f64, f64),
    radius_m: f64,
) -> Word {
    let mut word = Word::EMPTY;
    for &(turn, part) in shape {
        let length = match part {
            Part::T => t,
            Part::U => u,
            Part::MinusU => -u,
            Part::V => v,
            Part::MinusQuarter => -FRAC_PI_2,
        };
        // Adding zero takes the sign off a curvature of −0.
        word.push(turn * side / radius_m + 0.0, length * time * radius_m);
    }
    word
}

/// The goal as the solvers see it.
#[derive(Clone, Copy)]
struct Aim {
    x: f64,
    y: f64,
    turn: f64,
    sin: f64,
    cos: f64,
}

impl Aim {
    /// Centre of the goal's left circle, seen from the start's left circle.
    fn left(self) -> (f64, f64) {
        (self.x - self.sin, self.y - 1.0 + self.cos)
    }
    /// Centre of the goal's right circle, seen from the start's left circle.
    fn right(self) -> (f64, f64) {
        (self.x + self.sin, self.y - 1.0 - self.cos)
    }
}

/// Which of the solved lengths an arc of a word has.
#[derive(Clone, Copy)]
enum Part {
    T,
    U,
    MinusU,
    V,
    MinusQuarter,
}

type Solve = fn(Aim) -> Option<[f64; 3]>;

struct Family {
    solve: Solve,
    shape: &'static [(f64, Part)],
    /// Whether the word read from its end is a word of its own.
    mirrored: bool,
}

const LEFT: f64 = 1.0;
const RIGHT: f64 = -1.0;
const STRAIGHT: f64 = 0.0;

const FAMILIES: [Family; 8] = [
    Family { solve: lsl, shape: &[(LEFT, Part::T), (STRAIGHT, Part::U), (LEFT, Part::V)], mirrored: false },
    Family { solve: lsr, shape: &[(LEFT, Part::T), (STRAIGHT, Part::U), (RIGHT, Part::V)], mirrored: false },
    Family { solve: lrl, shape: &[(LEFT, Part::T), (RIGHT, Part::U), (LEFT, Part::V)], mirrored: true },
    Family {
        solve: lrlr_cusp_in_the_middle,
        shape: &[(LEFT, Part::T), (RIGHT, Part::U), (LEFT, Part::MinusU), (RIGHT, Part::V)],
        mirrored: false,
    },
    Family {
        solve: lrlr_cusps_outside,
        shape: &[(LEFT, Part::T), (RIGHT, Part::U), (LEFT, Part::U), (RIGHT, Part::V)],
        mirrored: false,
    },
    Family {
        solve: lrsl,
        shape: &[(LEFT, Part::T), (RIGHT, Part::MinusQuarter), (STRAIGHT, Part::U), (LEFT, Part::V)],
        mirrored: true,
    },
    Family {
        solve: lrsr,
        shape: &[(LEFT, Part::T), (RIGHT, Part::MinusQuarter), (STRAIGHT, Part::U), (RIGHT, Part::V)],
        mirrored: true,
    },
    Family {
        solve: lrslr,
        shape: &[
            (LEFT, Part::T),
            (RIGHT, Part::MinusQuarter),
            (STRAIGHT, Part::U),
            (LEFT, Part::MinusQuarter),
            (RIGHT, Part::V),
        ],
        mirrored: false,
    },
];

/// In (−π, π], so that half a turn is never taken for its opposite.
fn principal(angle: f64) -> f64 {
    let angle = wrap_angle(angle);
    if angle < ROUNDING_RAD - PI { angle + 2.0 * PI } else { angle }
}

/// In [0, 2π), with rounding below zero taken as zero.
fn forwards(angle: f64) -> f64 {
    let angle = wrap_angle(angle);
    if angle < -ROUNDING_RAD { angle + 2.0 * PI } else { angle.max(0.0) }
}

fn polar((x, y): (f64, f64)) -> (f64, f64) {
    (hypot(x, y), atan2(y, x))
}

fn positive(angle: f64) -> bool {
    angle >= -ROUNDING_RAD
}

fn negative(angle: f64) -> bool {
    angle <= ROUNDING_RAD
}

/// 8.1: L+ S+ L+.
fn lsl(aim: Aim) -> Option<[f64; 3]> {
    let (u, t) = polar(aim.left());
    Some([forwards(t), u, forwards(aim.turn - t)])
}

/// 8.2: L+ S+ R+.
fn lsr(aim: Aim) -> Option<[f64; 3]> {
    let (distance, direction) = polar(aim.right());
    if distance < 2.0 {
        return None;
    }
    let u = (distance * distance - 4.0).sqrt();
    let t = direction + atan2(2.0, u);
    Some([forwards(t), u, forwards(t - aim.turn)])
}

/// 8.3 and 8.4: L+ R− L±.
fn lrl(aim: Aim) -> Option<[f64; 3]> {
    let (distance, direction) = polar(aim.left());
    if distance > 4.0 {
        return None;
    }
    let u = -2.0 * asin(0.25 * distance);
    let t = principal(direction + 0.5 * u + PI);
    positive(t).then(|| [t, u, principal(aim.turn - t + u)])
}

/// First and last turn of the four-turn words (τ and ω of the paper).
fn outer_turns(u: f64, v: f64, (xi, eta): (f64, f64), turn: f64) -> (f64, f64) {
    let delta = u - v;
    let ((sin_u, cos_u), (sin_delta, cos_delta)) = (sin_cos(u), sin_cos(delta));
    let (a, b) = (sin_u - sin_delta, cos_u - cos_delta - 1.0);
    let direction = atan2(eta * a - xi * b, xi * a + eta * b);
    let flipped = 2.0 * (cos_delta - sin_cos(v).1 - cos_u) + 3.0 < 0.0;
    let t = principal(if flipped { direction + PI } else { direction });
    (t, principal(t - u + v - turn))
}

/// 8.7: L+ R+ L− R−.
fn lrlr_cusp_in_the_middle(aim: Aim) -> Option<[f64; 3]> {
    let (xi, eta) = aim.right();
    let rho = 0.25 * (2.0 + hypot(xi, eta));
    if rho > 1.0 {
        return None;
    }
    let u = acos(rho);
    let (t, v) = outer_turns(u, -u, (xi, eta), aim.turn);
    (positive(t) && negative(v)).then_some([t, u, v])
}

/// 8.8: L+ R− L− R+.
fn lrlr_cusps_outside(aim: Aim) -> Option<[f64; 3]> {
    let (xi, eta) = aim.right();
    let rho = (20.0 - xi * xi - eta * eta) / 16.0;
    if !(0.0..=1.0).contains(&rho) {
        return None;
    }
    let u = -acos(rho);
    let (t, v) = outer_turns(u, u, (xi, eta), aim.turn);
    (positive(t) && positive(v)).then_some([t, u, v])
}

/// 8.9: L+ R−(quarter) S− L−.
fn lrsl(aim: Aim) -> Option<[f64; 3]> {
    let (distance, direction) = polar(aim.left());
    if distance < 2.0 {
        return None;
    }
    let r = (distance * distance - 4.0).sqrt();
    let t = principal(direction + atan2(r, -2.0));
    let (u, v) = (2.0 - r, principal(aim.turn - FRAC_PI_2 - t));
    (positive(t) && negative(u) && negative(v)).then_some([t, u, v])
}

/// 8.10: L+ R−(quarter) S− R−.
fn lrsr(aim: Aim) -> Option<[f64; 3]> {
    let (xi, eta) = aim.right();
    let (distance, t) = polar((-eta, xi));
    if distance < 2.0 {
        return None;
    }
    let (u, v) = (2.0 - distance, principal(t + FRAC_PI_2 - aim.turn));
    (positive(t) && negative(u) && negative(v)).then_some([t, u, v])
}

/// 8.11: L+ R−(quarter) S− L−(quarter) R+.
fn lrslr(aim: Aim) -> Option<[f64; 3]> {
    let (xi, eta) = aim.right();
    let distance = hypot(xi, eta);
    if distance < 2.0 {
        return None;
    }
    let u = 4.0 - (distance * distance - 4.0).sqrt();
    let t = principal(atan2((4.0 - u) * xi - 2.0 * eta, -2.0 * xi + (u - 4.0) * eta));
    let v = principal(t - aim.turn);
    (negative(u) && positive(t) && positive(v)).then_some([t, u, v])
}

#[cfg(test)]
mod tests {
    use anabranch_geometry::along_arc;
    use anabranch_kernel::{Chance, Seed};

    use super::*;

    fn random_pose(tick: u64, which: u64, spread_m: f64) -> Pose {
        let chance = Chance::new(Seed(11), "reeds-shepp").at(tick);
        let part = |n| chance.uniform(which * 3 + n) - 0.5;
        Pose::new(part(0) * spread_m, part(1) * spread_m, part(2) * 12.0)
    }

    fn length_m(arcs: &[Arc]) -> f64 {
        arcs.iter().map(|arc| arc.length_m.abs()).sum()
    }

    fn check_end(from: Pose, to: Pose, arcs: &[Arc]) {
        let end = arcs.iter().fold(from, |pose, arc| along_arc(pose, arc.curvature_per_m, arc.length_m));
        assert!(end.point().distance_m(to.point()) < 1e-6, "{from:?} {to:?} {end:?} {arcs:?}");
        assert!(wrap_angle(end.heading - to.heading).abs() < 1e-6, "{from:?} {to:?} {end:?} {arcs:?}");
    }

    #[test]
    fn every_word_ends_at_the_goal_and_the_shortest_is_the_same_both_ways() {
        for tick in 0..4000 {
            let spread_m = [4.0, 15.0, 60.0][tick as usize % 3];
            let (from, to) = (random_pose(tick, 0, spread_m), random_pose(tick, 1, spread_m));
            let radius_m = 3.0 + (tick % 7) as f64;
            for_each_word(from, to, radius_m, |word| check_end(from, to, word.arcs()));
            let there = length_m(&shortest(from, to, radius_m));
            let back = length_m(&shortest(to, from, radius_m));
            assert!((there - back).abs() < 1e-6, "{from:?} {to:?}: {there} {back}");
            assert!(there >= from.point().distance_m(to.point()) - 1e-9);
            let turn = wrap_angle(to.heading - from.heading).abs();
            assert!(there >= turn * radius_m - 1e-6);
        }
    }

    #[test]
    fn every_family_is_the_shortest_somewhere() {
        let mut seen = std::collections::BTreeMap::<(usize, usize), u32>::new();
        for tick in 0..4000 {
            let (from, to) = (random_pose(tick, 0, 20.0), random_pose(tick, 1, 20.0));
            let arcs = shortest(from, to, 5.0);
            let straights = arcs.iter().filter(|arc| arc.curvature_per_m == 0.0).count();
            *seen.entry((arcs.len(), straights)).or_default() += 1;
        }
        for shape in [(3, 0), (3, 1), (4, 0), (4, 1), (5, 1)] {
            assert!(seen.get(&shape).is_some_and(|&count| count > 0), "{shape:?} {seen:?}");
        }
    }

    #[test]
    fn known_lengths() {
        let check = |to: (f64, f64, f64), expect_m: f64| {
            let found_m = length_m(&shortest(Pose::default(), Pose::new(to.0, to.1, to.2), 1.0));
            assert!((found_m - expect_m).abs() < 1e-9, "{to:?}: {found_m}");
        };
        check((0.0, 0.0, 0.0), 0.0);
        check((7.0, 0.0, 0.0), 7.0);
        check((-7.0, 0.0, 0.0), 7.0);
        check((1.0, 1.0, FRAC_PI_2), FRAC_PI_2);
        check((0.0, 2.0, PI), PI);
        // Turning on the spot is three arcs of a third of a half turn.
        check((0.0, 0.0, PI), PI);
    }

    #[test]
    fn no_drive_of_random_arcs_is_shorter_than_the_shortest() {
        for tick in 0..20_000 {
            let chance = Chance::new(Seed(12), "arcs").at(tick);
            let arcs: Vec<Arc> = (0..2 + tick % 4)
                .map(|n| Arc {
                    curvature_per_m: [-0.2, 0.0, 0.2, 0.1][chance.below(3 * n, 4) as usize],
                    length_m: (chance.uniform(3 * n + 1) - 0.5) * 12.0,
                })
                .collect();
            let end = arcs.iter().fold(Pose::default(), |pose, a| along_arc(pose, a.curvature_per_m, a.length_m));
            let best_m = length_m(&shortest(Pose::default(), end, 5.0));
            assert!(best_m <= length_m(&arcs) + 1e-6, "{arcs:?}: {best_m}");
        }
    }

    #[test]
    fn some_word_keeps_the_gear_whichever_is_asked() {
        for tick in 0..1000 {
            let (from, to) = (random_pose(tick, 0, 20.0), random_pose(tick, 1, 20.0));
            for direction in [1.0, -1.0] {
                let mut found = false;
                for_each_word(from, to, 5.0, |word| found |= word.arcs().iter().all(|a| a.length_m * direction > 0.0));
                assert!(found, "{from:?} {to:?}");
            }
        }
    }
}
