//! From points in space to pixels.

use super::super::Point;
use super::vector::{Vector, cross, dot, minus, unit};

/// Size of a picture in pixels.
pub(super) const SIZE: Point = [640.0, 400.0];
/// Pixels of one metre that is one metre away.
const FOCAL_PX: f64 = 512.0;
/// Nothing nearer than this is drawn (m).
const NEAR_M: f64 = 0.2;
/// What is farther outside of the picture than this is cut off, so that no line of the border is seen.
const BORDER_PX: f64 = 2.0;

/// A place in space that looks somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Camera {
    pub(super) eye: Vector,
    /// Unit vectors to the right, down and ahead.
    axes: [Vector; 3],
}

impl Camera {
    /// Looks from one place to another; `up` is what shall be up in the picture.
    pub(super) fn new(eye: Vector, target: Vector, up: Vector) -> Self {
        let ahead = unit(minus(target, eye));
        let right = unit(cross(ahead, up));
        Self { eye, axes: [right, cross(ahead, right), ahead] }
    }

    fn seen(&self, point: Vector) -> Vector {
        let relative = minus(point, self.eye);
        self.axes.map(|axis| dot(axis, relative))
    }

    /// Where a point is in the picture; none if it is behind.
    pub(super) fn pixel(&self, point: Vector) -> Option<Point> {
        let seen = self.seen(point);
        (seen[2] >= NEAR_M).then(|| pixel(seen))
    }

    /// The outline on the picture of a flat polygon: what lies behind or outside is cut off.
    pub(super) fn outline(&self, corners: &[Vector]) -> Vec<Point> {
        let seen: Vec<Vector> = corners.iter().map(|corner| self.seen(*corner)).collect();
        let mut outline: Vec<Point> = cut(&seen, |p| p[2] - NEAR_M).into_iter().map(pixel).collect();
        for axis in 0..2 {
            outline = cut(&outline, |p| p[axis] + BORDER_PX);
            outline = cut(&outline, |p| SIZE[axis] + BORDER_PX - p[axis]);
        }
        outline
    }
}

fn pixel([right, down, ahead]: Vector) -> Point {
    [0.5 * SIZE[0] + FOCAL_PX * right / ahead, 0.5 * SIZE[1] + FOCAL_PX * down / ahead]
}

/// The part of a polygon where `inside` is not negative (Sutherland and Hodgman).
fn cut<const N: usize>(corners: &[[f64; N]], inside: impl Fn(&[f64; N]) -> f64) -> Vec<[f64; N]> {
    let mut kept = Vec::with_capacity(corners.len() + 2);
    for (i, a) in corners.iter().enumerate() {
        let b = &corners[(i + 1) % corners.len()];
        let (at_a, at_b) = (inside(a), inside(b));
        if at_a >= 0.0 {
            kept.push(*a);
        }
        if (at_a >= 0.0) != (at_b >= 0.0) {
            let share = at_a / (at_a - at_b);
            kept.push(std::array::from_fn(|n| a[n] + share * (b[n] - a[n])));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera() -> Camera {
        Camera::new([0.0, 0.0, 2.0], [10.0, 0.0, 2.0], [0.0, 0.0, 1.0])
    }

    #[test]
    fn what_is_straight_ahead_is_in_the_middle() {
        assert_eq!(camera().pixel([10.0, 0.0, 2.0]), Some([320.0, 200.0]));
        // One metre to the left and one metre up, ten metres away.
        let [x, y] = camera().pixel([10.0, 1.0, 3.0]).unwrap();
        assert!((x - (320.0 - 51.2)).abs() < 1e-9 && (y - (200.0 - 51.2)).abs() < 1e-9, "{x} {y}");
        // From above, with north up.
        let above = Camera::new([5.0, 5.0, 40.0], [5.0, 5.0, 0.0], [0.0, 1.0, 0.0]);
        let [x, y] = above.pixel([6.0, 6.0, 0.0]).unwrap();
        assert!((x - 332.8).abs() < 1e-9 && (y - 187.2).abs() < 1e-9, "{x} {y}");
    }

    #[test]
    fn what_is_behind_is_cut_off() {
        let square = |x: f64| [[x, -1.0, 0.0], [x + 8.0, -1.0, 0.0], [x + 8.0, 1.0, 0.0], [x, 1.0, 0.0]];
        assert_eq!(camera().pixel([-1.0, 0.0, 2.0]), None);
        assert!(camera().outline(&square(-9.0)).is_empty());
        assert_eq!(camera().outline(&square(8.0)).len(), 4);
        // Half of it is ahead: what is left reaches to the border of the picture and not beyond.
        let cut = camera().outline(&square(-2.0));
        assert!(cut.len() >= 3);
        for [x, y] in cut {
            assert!((-3.0..=643.0).contains(&x) && (-3.0..=403.0).contains(&y), "{x} {y}");
        }
    }
}
