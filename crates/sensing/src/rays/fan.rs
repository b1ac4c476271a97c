//! A fan of rays from one point: how far each one gets (S4-9).
//!
//! Everything is in the frame of the sensor, where the rays never change. Each shape is tried only against the rays inside
//! the angle it covers, so the cost of a scan is that of the hits, not of rays times shapes.

use anabranch_kernel::maths;

/// Angles are widened by this before rays are picked, so that rounding never loses one.
const ANGLE_MARGIN_RAD: f64 = 1e-9;
/// No shape.
pub(crate) const NOTHING: u32 = u32::MAX;

/// Directions of the rays, evenly spread over the field of view, first the rightmost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fan {
    cos: Vec<f64>,
    sin: Vec<f64>,
    width_rad: f64,
    rays_per_rad: f64,
}

/// What the rays have met so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hits {
    /// How far each ray gets.
    pub(crate) range_m: Vec<f64>,
    /// The shape that stops it.
    pub(crate) shape: Vec<u32>,
}

impl Hits {
    /// Nothing met yet.
    pub(crate) fn reset(&mut self, fan: &Fan, horizon_m: f64) {
        self.range_m.clear();
        self.range_m.resize(fan.cos.len(), horizon_m);
        self.shape.clear();
        self.shape.resize(fan.cos.len(), NOTHING);
    }
}

/// A straight edge in the frame of the sensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalEdge {
    pub(crate) a: [f64; 2],
    pub(crate) b: [f64; 2],
}

/// A box in the frame of the sensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalBox {
    pub(crate) centre: [f64; 2],
    /// Unit vector along its length.
    pub(crate) along: [f64; 2],
    /// Half its length and half its width.
    pub(crate) half_m: [f64; 2],
}

impl Fan {
    pub(crate) fn new(width_rad: f64, rays: u16) -> Self {
        let step_rad = width_rad / f64::from(rays);
        let angles = || (0..rays).map(|i| (f64::from(i) + 0.5) * step_rad - 0.5 * width_rad);
        Self {
            cos: angles().map(maths::cos).collect(),
            sin: angles().map(maths::sin).collect(),
            width_rad,
            rays_per_rad: 1.0 / step_rad,
        }
    }
    pub(crate) fn len(&self) -> usize {
        self.cos.len()
    }

    /// Calls with every run of rays inside an angle; `from_rad` within one turn of zero, `width_rad` at most a turn.
    #[inline]
    fn inside(&self, from_rad: f64, width_rad: f64, mut visit: impl FnMut(usize, usize)) {
        use std::f64::consts::TAU;
        let rays = self.len() as f64;
        for turn in [-TAU, 0.0, TAU] {
            let from = (from_rad + turn - ANGLE_MARGIN_RAD + 0.5 * self.width_rad) * self.rays_per_rad - 0.5;
            let to = from + (width_rad + 2.0 * ANGLE_MARGIN_RAD) * self.rays_per_rad;
            if to < 0.0 || from > rays - 1.0 {
                continue;
            }
            // Not below zero after the maximum: casting towards zero and stepping up if it cut something off is a ceiling.
            let from = from.max(0.0);
            let first = from as usize + usize::from(from > (from as usize) as f64);
            let last = to.min(rays - 1.0) as usize;
            if first <= last {
                visit(first, last + 1);
            }
        }
    }
    /// The same for everything within a circle.
    #[inline]
    fn around(&self, centre: [f64; 2], radius_m: f64, horizon_m: f64, mut visit: impl FnMut(usize, usize)) {
        let squared = centre[0] * centre[0] + centre[1] * centre[1];
        let reach_m = horizon_m + radius_m;
        if squared > reach_m * reach_m {
            return;
        }
        if squared <= radius_m * radius_m {
            return visit(0, self.len());
        }
        let bearing = maths::atan2(centre[1], centre[0]);
        let half = maths::atan(radius_m / (squared - radius_m * radius_m).sqrt());
        self.inside(bearing - half, 2.0 * half, visit);
    }

    /// Casts against a box; returns how many rays it would stop if it were alone.
    pub(crate) fn cast_box(&self, hits: &mut Hits, shape: u32, target: &LocalBox, horizon_m: f64) -> u32 {
        let LocalBox { centre, along: [ux, uy], half_m: [half_length, half_width] } = *target;
        // The sensor in the frame of the box.
        let (x, y) = (-(centre[0] * ux + centre[1] * uy), centre[0] * uy - centre[1] * ux);
        let mut covered = 0;
        self.around(centre, maths::hypot(half_length, half_width), horizon_m, |first, end| {
            let rays = self.cos[first..end].iter().zip(&self.sin[first..end]);
            let met = hits.range_m[first..end].iter_mut().zip(&mut hits.shape[first..end]);
            for ((&cos, &sin), (range_m, stopped_by)) in rays.zip(met) {
                let per_x = 1.0 / (cos * ux + sin * uy);
                let per_y = 1.0 / (sin * ux - cos * uy);
                let (x_a, x_b) = ((-half_length - x) * per_x, (half_length - x) * per_x);
                let (y_a, y_b) = ((-half_width - y) * per_y, (half_width - y) * per_y);
                let enters_m = x_a.min(x_b).max(y_a.min(y_b));
                let leaves_m = x_a.max(x_b).min(y_a.max(y_b));
                let meets = enters_m <= leaves_m && leaves_m >= 0.0 && enters_m < horizon_m;
                covered += u32::from(meets);
                if meets && enters_m < *range_m {
                    *range_m = enters_m.max(0.0);
                    *stopped_by = shape;
                }
            }
        });
        covered
    }

    /// Casts against a circle; returns how many rays it would stop if it were alone.
    pub(crate) fn cast_circle(
        &self,
        hits: &mut Hits,
        shape: u32,
        centre: [f64; 2],
        radius_m: f64,
        horizon_m: f64,
    ) -> u32 {
        let beyond = centre[0] * centre[0] + centre[1] * centre[1] - radius_m * radius_m;
        let mut covered = 0;
        self.around(centre, radius_m, horizon_m, |first, end| {
            for ray in first..end {
                let along_m = centre[0] * self.cos[ray] + centre[1] * self.sin[ray];
                let squared = along_m * along_m - beyond;
                let enters_m = along_m - squared.max(0.0).sqrt();
                let meets = squared >= 0.0 && (enters_m >= 0.0 || beyond <= 0.0) && enters_m < horizon_m;
                covered += u32::from(meets);
                if meets && enters_m < hits.range_m[ray] {
                    hits.range_m[ray] = enters_m.max(0.0);
                    hits.shape[ray] = shape;
                }
            }
        });
        covered
    }

    /// Casts against a straight edge and tells every ray it would stop if it were alone.
    pub(crate) fn cast_edge(
        &self,
        hits: &mut Hits,
        shape: u32,
        edge: LocalEdge,
        horizon_m: f64,
        mut covers: impl FnMut(usize),
    ) {
        let LocalEdge { a, b } = edge;
        let (ex, ey) = (b[0] - a[0], b[1] - a[1]);
        if beyond(a, [ex, ey], horizon_m) {
            return;
        }
        let from_rad = maths::atan2(a[1], a[0]);
        let turn_rad = maths::wrap_angle(maths::atan2(b[1], b[0]) - from_rad);
        let right_rad = if turn_rad < 0.0 { from_rad + turn_rad } else { from_rad };
        let across = a[0] * ey - a[1] * ex;
        self.inside(right_rad, turn_rad.abs(), |first, end| {
            for ray in first..end {
                let (cos, sin) = (self.cos[ray], self.sin[ray]);
                let per_length = 1.0 / (cos * ey - sin * ex);
                let enters_m = across * per_length;
                let part = (a[0] * sin - a[1] * cos) * per_length;
                // A ray through the very end of an edge must not slip between it and the next one.
                let meets = enters_m >= 0.0 && enters_m < horizon_m && (-1e-9..=1.0 + 1e-9).contains(&part);
                if meets {
                    covers(ray);
                    if enters_m < hits.range_m[ray] {
                        hits.range_m[ray] = enters_m;
                        hits.shape[ray] = shape;
                    }
                }
            }
        });
    }
}

/// Whether all of an edge from `a` is farther from the origin than a distance.
#[inline]
fn beyond(a: [f64; 2], edge: [f64; 2], distance_m: f64) -> bool {
    let squared_length = edge[0] * edge[0] + edge[1] * edge[1];
    let towards = -(a[0] * edge[0] + a[1] * edge[1]);
    let part = if squared_length > 0.0 { (towards / squared_length).clamp(0.0, 1.0) } else { 0.0 };
    let (x, y) = (a[0] + part * edge[0], a[1] + part * edge[1]);
    x * x + y * y > distance_m * distance_m
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{PI, TAU};

    use proptest::prelude::*;

    use super::*;

    fn hits(fan: &Fan) -> Hits {
        let mut hits = Hits::default();
        hits.reset(fan, 100.0);
        hits
    }

    #[test]
    fn rays_are_spread_evenly_and_a_full_turn_repeats_none() {
        let fan = Fan::new(TAU, 4);
        let degrees = |ray: usize| maths::atan2(fan.sin[ray], fan.cos[ray]) * 180.0 / PI;
        let angles: Vec<i64> = (0..4).map(|ray| degrees(ray).round() as i64).collect();
        assert_eq!(angles, [-135, -45, 45, 135]);
        assert_eq!((Fan::new(PI, 181).cos[90], Fan::new(PI, 181).sin[90]), (1.0, 0.0));
    }

    #[test]
    fn a_box_ahead_is_met_at_its_face() {
        // By hand: the face of a box 2 m long about x = 10 is at 9 m; the ray at 45° misses it.
        let fan = Fan::new(PI, 3);
        let mut hits = hits(&fan);
        let car = LocalBox { centre: [10.0, 0.0], along: [1.0, 0.0], half_m: [1.0, 0.5] };
        assert_eq!(fan.cast_box(&mut hits, 7, &car, 100.0), 1);
        assert_eq!(hits.range_m, [100.0, 9.0, 100.0]);
        assert_eq!(hits.shape, [NOTHING, 7, NOTHING]);
        let turned = LocalBox { along: [0.0, 1.0], ..car };
        fan.cast_box(&mut hits, 8, &turned, 100.0);
        assert_eq!((hits.range_m[1], hits.shape[1]), (9.0, 7), "its face at 9.5 m is behind the other");
    }

    #[test]
    fn a_circle_and_an_edge_are_met_where_they_should_be() {
        let fan = Fan::new(PI / 2.0, 3);
        let mut circle = hits(&fan);
        assert_eq!(fan.cast_circle(&mut circle, 1, [5.0, 0.0], 1.5, 100.0), 1);
        assert_eq!(circle.range_m[1], 3.5);
        let mut edge = hits(&fan);
        let mut covered = Vec::new();
        let wall = LocalEdge { a: [4.0, 4.0], b: [4.0, -0.5] };
        fan.cast_edge(&mut edge, 2, wall, 100.0, |ray| covered.push(ray));
        // By hand: straight ahead 4 m, at 30° to the left 4/cos 30° = 4.6188 m, to the right past its end.
        assert_eq!(covered, [1, 2]);
        assert!((edge.range_m[1] - 4.0).abs() < 1e-12 && (edge.range_m[2] - 4.618_802_153_5).abs() < 1e-9);
    }

    #[test]
    fn a_shape_behind_a_full_turn_is_met_on_both_sides_of_the_seam() {
        let fan = Fan::new(TAU, 360);
        let mut hits = hits(&fan);
        let behind = LocalBox { centre: [-10.0, 0.0], along: [1.0, 0.0], half_m: [1.0, 1.0] };
        let covered = fan.cast_box(&mut hits, 3, &behind, 100.0);
        // By hand: the corners of the near face are at atan(1/9) = 6.34° to both sides: rays at 0.5°, 1.5° … 5.5°.
        assert_eq!(covered, 12);
        assert!(hits.shape[..6].iter().chain(&hits.shape[354..]).all(|&shape| shape == 3));
    }

    proptest! {
        #[test]
        fn picking_rays_by_angle_loses_none(
            x in -30.0..30.0_f64, y in -30.0..30.0_f64, turned in -4.0..4.0_f64,
            half_m in prop::array::uniform2(0.1..6.0_f64), width in 0.3..6.3_f64, horizon_m in 5.0..60.0_f64,
        ) {
            let fan = Fan::new(width, 64);
            let along = { let (sin, cos) = maths::sin_cos(turned); [cos, sin] };
            let target = LocalBox { centre: [x, y], along, half_m };
            let corner = |s: f64, t: f64| {
                let (l, w) = (s * half_m[0], t * half_m[1]);
                [x + l * along[0] - w * along[1], y + l * along[1] + w * along[0]]
            };
            let corners = [corner(1.0, 1.0), corner(-1.0, 1.0), corner(-1.0, -1.0), corner(1.0, -1.0)];
            let (mut as_box, mut as_edges) = (Hits::default(), Hits::default());
            as_box.reset(&fan, horizon_m);
            as_edges.reset(&fan, horizon_m);
            fan.cast_box(&mut as_box, 1, &target, horizon_m);
            for i in 0..4 {
                let edge = LocalEdge { a: corners[i], b: corners[(i + 1) % 4] };
                fan.cast_edge(&mut as_edges, 1, edge, horizon_m, |_| ());
            }
            // The sensor inside the box is at distance zero from it; edges are met from inside.
            let inside = as_box.range_m.contains(&0.0);
            for ray in 0..fan.len() {
                // Plain slabs against the four edges of the same box, each tried with its own choice of rays; a ray
                // that grazes a corner may go either way.
                let near = (as_box.range_m[ray] - as_edges.range_m[ray]).abs() < 1e-6;
                let grazes = corners.iter().any(|c| {
                    let [cos, sin] = [fan.cos[ray], fan.sin[ray]];
                    (c[0] * sin - c[1] * cos).abs() < 1e-6
                });
                prop_assert!(inside || near || grazes, "{} {}", as_box.range_m[ray], as_edges.range_m[ray]);
            }
        }
    }
}
