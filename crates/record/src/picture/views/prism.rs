//! What stands on the ground: a convex outline between two heights.

use anabranch_kernel::maths;

use super::super::Point;
use super::vector::{Vector, dot};
use super::{Face, Rgb};

/// How bright the top and the sides of a prism are; sides that face east or west are a little brighter.
const SIDE: f64 = 0.68;
const SIDE_EAST_WEST: f64 = 0.14;

/// A convex body between two heights.
#[derive(Clone, Debug, PartialEq)]
pub struct Prism {
    /// Corners, counter-clockwise.
    ring: Vec<Point>,
    low_m: f64,
    high_m: f64,
    colour: Rgb,
}

/// A side of a prism: points on its outer side have a positive distance.
#[derive(Clone, Copy)]
struct Plane {
    normal: Vector,
    offset_m: f64,
}

impl Plane {
    fn distance_m(&self, point: Vector) -> f64 {
        dot(self.normal, point) - self.offset_m
    }
}

impl Prism {
    /// A box about a pose: half its length and half its width, from and to a height.
    pub fn block(pose: [f64; 3], half_m: Point, [low_m, high_m]: [f64; 2], colour: Rgb) -> Self {
        let ring = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
        let ring = ring.map(|(x, y)| in_world(pose, [x * half_m[0], y * half_m[1]])).to_vec();
        Self { ring, low_m, high_m, colour }
    }

    /// A pillar with eight sides.
    pub fn pillar(at: Point, radius_m: f64, [low_m, high_m]: [f64; 2], colour: Rgb) -> Self {
        Self { ring: circle(at, radius_m, 8), low_m, high_m, colour }
    }

    /// A wall along a line.
    pub fn wall(from: Point, to: Point, width_m: f64, heights_m: [f64; 2], colour: Rgb) -> Self {
        let (x, y) = (to[0] - from[0], to[1] - from[1]);
        let pose = [0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]), maths::atan2(y, x)];
        Self::block(pose, [0.5 * maths::hypot(x, y), 0.5 * width_m], heights_m, colour)
    }

    /// The body above a polygon, either way around; none if it is not convex.
    pub fn above(corners: &[Point], [low_m, high_m]: [f64; 2], colour: Rgb) -> Option<Self> {
        let n = corners.len();
        let turn = |i: usize| {
            let (a, b, c) = (corners[i], corners[(i + 1) % n], corners[(i + 2) % n]);
            (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
        };
        let is_left = n >= 3 && (0..n).all(|i| turn(i) >= 0.0);
        let is_right = n >= 3 && (0..n).all(|i| turn(i) <= 0.0);
        let ring = match (is_left, is_right) {
            (true, false) => corners.to_vec(),
            (false, true) => corners.iter().rev().copied().collect(),
            _ => return None,
        };
        Some(Self { ring, low_m, high_m, colour })
    }

    /// Its middle.
    pub(super) fn middle(&self) -> Vector {
        let n = self.ring.len() as f64;
        let sum = self.ring.iter().fold([0.0; 2], |sum: Point, p| [sum[0] + p[0], sum[1] + p[1]]);
        [sum[0] / n, sum[1] / n, 0.5 * (self.low_m + self.high_m)]
    }

    /// Whether some of it may be within a circle.
    pub(super) fn is_within(&self, [x, y]: Point, radius_m: f64) -> bool {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for corner in &self.ring {
            for axis in 0..2 {
                low[axis] = low[axis].min(corner[axis]);
                high[axis] = high[axis].max(corner[axis]);
            }
        }
        let off = |value: f64, axis: usize| (low[axis] - value).max(value - high[axis]).max(0.0);
        off(x, 0) < radius_m && off(y, 1) < radius_m
    }

    /// All its corners.
    pub(super) fn corners(&self) -> impl Iterator<Item = Vector> + '_ {
        self.ring.iter().flat_map(|[x, y]| [[*x, *y, self.low_m], [*x, *y, self.high_m]])
    }

    fn planes(&self) -> impl Iterator<Item = Plane> + '_ {
        let n = self.ring.len();
        let sides = (0..n).filter_map(move |i| {
            let (a, b) = (self.ring[i], self.ring[(i + 1) % n]);
            let (x, y) = (b[0] - a[0], b[1] - a[1]);
            let length_m = (x * x + y * y).sqrt();
            (length_m > 1e-9).then(|| {
                let normal = [y / length_m, -x / length_m, 0.0];
                Plane { normal, offset_m: normal[0] * a[0] + normal[1] * a[1] }
            })
        });
        let top = Plane { normal: [0.0, 0.0, 1.0], offset_m: self.high_m };
        sides.chain([top, Plane { normal: [0.0, 0.0, -1.0], offset_m: -self.low_m }])
    }

    /// The sides that are seen from somewhere; they do not hide each other.
    pub(super) fn faces(&self, eye: Vector) -> Vec<Face> {
        let n = self.ring.len();
        let at = |[x, y]: Point, z: f64| -> Vector { [x, y, z] };
        let mut faces = Vec::new();
        for i in 0..n {
            let (a, b) = (self.ring[i], self.ring[(i + 1) % n]);
            let (x, y) = (b[0] - a[0], b[1] - a[1]);
            if y * (eye[0] - a[0]) - x * (eye[1] - a[1]) <= 0.0 {
                continue;
            }
            let bright = SIDE + SIDE_EAST_WEST * y.abs() / (x * x + y * y).sqrt().max(1e-9);
            let corners = vec![at(a, self.low_m), at(b, self.low_m), at(b, self.high_m), at(a, self.high_m)];
            faces.push(Face { corners, colour: self.colour.map(|c| c * bright) });
        }
        if eye[2] > self.high_m {
            let corners = self.ring.iter().map(|p| at(*p, self.high_m)).collect();
            faces.push(Face { corners, colour: self.colour });
        }
        faces
    }

    /// Whether a place is inside, or so near.
    pub(super) fn is_near(&self, place: Vector, margin_m: f64) -> bool {
        self.planes().all(|plane| plane.distance_m(place) <= margin_m)
    }

    /// Whether it stands in the line between two places.
    pub(super) fn cuts(&self, from: Vector, to: Vector) -> bool {
        let (mut first, mut last) = (0.0_f64, 1.0_f64);
        for plane in self.planes() {
            let (a, b) = (plane.distance_m(from), plane.distance_m(to));
            if a > 0.0 && b > 0.0 {
                return false;
            }
            if (a > 0.0) != (b > 0.0) {
                let share = a / (a - b);
                if a > 0.0 { first = first.max(share) } else { last = last.min(share) }
            }
        }
        first < last
    }

    /// Whether this one has to be drawn before another one: nothing of it can hide the other. None if they overlap.
    pub(super) fn is_behind(&self, other: &Self, eye: Vector) -> Option<bool> {
        /// Who touches does not overlap.
        const TOUCH_M: f64 = 0.02;
        let lies_outside = |plane: &Plane, of: &Self| of.corners().all(|corner| plane.distance_m(corner) > -TOUCH_M);
        if let Some(plane) = self.planes().find(|plane| lies_outside(plane, other)) {
            return Some(plane.distance_m(eye) > 0.0);
        }
        let plane = other.planes().find(|plane| lies_outside(plane, self))?;
        Some(plane.distance_m(eye) <= 0.0)
    }
}

/// A point of something in the world: ahead and to the left of its pose.
pub(super) fn in_world([x, y, heading]: [f64; 3], [ahead_m, left_m]: Point) -> Point {
    let (sin, cos) = maths::sin_cos(heading);
    [x + cos * ahead_m - sin * left_m, y + sin * ahead_m + cos * left_m]
}

/// Points on a circle, counter-clockwise.
pub(super) fn circle(at: Point, radius_m: f64, points: u32) -> Vec<Point> {
    let turn = std::f64::consts::TAU / f64::from(points);
    let point = |i: u32| {
        let (sin, cos) = maths::sin_cos(turn * (f64::from(i) + 0.5));
        [at[0] + radius_m * cos, at[1] + radius_m * sin]
    };
    (0..points).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(x: f64, heights_m: [f64; 2]) -> Prism {
        Prism::block([x, 0.0, 0.0], [1.0, 1.0], heights_m, [1.0; 3])
    }

    #[test]
    fn a_box_shows_the_sides_that_face_the_eye() {
        let block = block(0.0, [0.0, 2.0]);
        assert_eq!(block.faces([10.0, 0.0, 1.0]).len(), 1, "level with it, only one side");
        assert_eq!(block.faces([10.0, 10.0, 5.0]).len(), 3, "two sides and the top");
        assert_eq!(block.faces([0.0, 0.0, 9.0]).len(), 1, "from above, only the top");
    }

    #[test]
    fn a_box_stands_in_lines_through_it_and_in_no_others() {
        let block = block(0.0, [0.0, 2.0]);
        assert!(block.cuts([-5.0, 0.0, 1.0], [5.0, 0.0, 1.0]));
        assert!(!block.cuts([-5.0, 0.0, 3.0], [5.0, 0.0, 3.0]), "above it");
        assert!(!block.cuts([-5.0, 1.5, 1.0], [5.0, 1.5, 1.0]), "beside it");
        assert!(!block.cuts([-5.0, 0.0, 1.0], [-2.0, 0.0, 1.0]), "before it");
        assert!(block.is_near([1.2, 0.0, 1.0], 0.3) && !block.is_near([1.5, 0.0, 1.0], 0.3));
    }

    #[test]
    fn what_is_behind_is_known_by_planes_and_not_by_middles() {
        let eye = [10.0, 0.0, 1.5];
        let (near, far) = (block(5.0, [0.0, 1.0]), block(0.0, [0.0, 1.0]));
        assert_eq!((far.is_behind(&near, eye), near.is_behind(&far, eye)), (Some(true), Some(false)));
        // A long wall whose middle is nearer than a post in front of it.
        let wall = Prism::wall([-4.0, 2.0], [9.0, 2.0], 0.1, [0.0, 1.0], [1.0; 3]);
        let post = Prism::pillar([-3.0, 1.0], 0.1, [0.0, 1.0], [1.0; 3]);
        assert_eq!(wall.is_behind(&post, eye), Some(true));
        // A cabin on its body, from above and from below.
        let cabin = block(5.0, [1.0, 2.0]);
        assert_eq!(near.is_behind(&cabin, [9.0, 0.0, 1.5]), Some(true));
        assert_eq!(near.is_behind(&near.clone(), eye), None);
    }

    #[test]
    fn only_convex_polygons_become_prisms() {
        let square = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]];
        let prism = Prism::above(&square, [0.0, 1.0], [1.0; 3]).unwrap();
        assert!(prism.is_near([0.5, 0.5, 0.5], 0.0), "either way around");
        let dart = [[0.0, 0.0], [2.0, 0.0], [0.5, 0.5], [0.0, 2.0]];
        assert_eq!(Prism::above(&dart, [0.0, 1.0], [1.0; 3]), None);
    }
}
