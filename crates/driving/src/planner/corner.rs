//! The path of a driver who goes straight, takes one corner and goes straight again.
//!
//! Such a path is never the shortest, but it needs the wheels turned only once, and it ends without a correction.

use anabranch_geometry::{Arc, Pose};
use anabranch_kernel::maths::{sin_cos, wrap_angle};

use super::reeds_shepp::Word;

/// Radii of the corner, in turning radii.
const RADII: [f64; 3] = [1.0, 1.5, 2.5];
/// Between directions that differ less than this (as a sine) the corner is too far away.
const SINE_MIN: f64 = 0.01;

/// Visits the words straight-curve-straight that join two poses; none if their directions are alike or opposite.
pub(super) fn for_each_corner(from: Pose, to: Pose, turning_radius_m: f64, mut visit: impl FnMut(Word)) {
    let local = from.local_from_world(to.point());
    let turn = wrap_angle(to.heading - from.heading);
    let (sin, cos) = sin_cos(turn);
    if sin.abs() < SINE_MIN {
        return;
    }
    // Where the axes of both poses meet: so far ahead of the first, so far behind the second.
    let after_m = local.y / sin;
    let before_m = local.x - after_m * cos;
    for share in RADII {
        let radius_m = share * turning_radius_m;
        let tangent_m = radius_m * sin.abs() / (1.0 + cos);
        for direction in [1.0, -1.0] {
            let curve = Arc {
                curvature_per_m: direction * turn.signum() / radius_m,
                length_m: direction * radius_m * turn.abs(),
            };
            let straight = |length_m: f64| Arc { curvature_per_m: 0.0, length_m: length_m - direction * tangent_m };
            visit(Word::of([straight(before_m), curve, straight(after_m)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use anabranch_geometry::along_arc;

    use super::*;

    #[test]
    fn every_corner_ends_at_the_goal() {
        let mut count = 0;
        for n in 0..500 {
            let part = |m: i32| f64::from((n * 37 + m * 101) % 97) / 9.7 - 5.0;
            let (from, to) = (Pose::new(part(1), part(2), part(3)), Pose::new(part(4), 2.0 * part(5), part(6)));
            for_each_corner(from, to, 4.0, |word| {
                let end = word.arcs().iter().fold(from, |pose, a| along_arc(pose, a.curvature_per_m, a.length_m));
                assert!(end.point().distance_m(to.point()) < 1e-6, "{from:?} {to:?} {end:?}");
                assert!(wrap_angle(end.heading - to.heading).abs() < 1e-6);
                count += 1;
            });
        }
        assert!(count > 2000);
    }
}
