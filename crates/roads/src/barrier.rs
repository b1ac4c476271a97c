//! Permanent obstacles of a map: kerbs, fences, walls, houses (S4-5).

use anabranch_geometry::Point;
use anabranch_geometry::tiles::Canvas;

/// Something that stands where it stands for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// Its id.
    pub name: String,
    /// Where it is.
    pub shape: BarrierShape,
}

/// The ground that a barrier covers.
#[derive(Clone, Debug, PartialEq)]
pub enum BarrierShape {
    /// A line from point to point.
    Line {
        /// At least two.
        points: Vec<Point>,
        /// How thick it is.
        width_m: f64,
    },
    /// A simple polygon with its inside.
    Area {
        /// At least three corners, in either direction.
        corners: Vec<Point>,
    },
}

impl Barrier {
    /// The corners of the smallest upright rectangle that holds it.
    pub fn ends(&self) -> [Point; 2] {
        let (points, beside_m) = match &self.shape {
            BarrierShape::Line { points, width_m } => (points, 0.5 * width_m),
            BarrierShape::Area { corners } => (corners, 0.0),
        };
        let fold = |pick: fn(f64, f64) -> f64, begin: f64| {
            points.iter().fold(Point::new(begin, begin), |all, p| Point::new(pick(all.x, p.x), pick(all.y, p.y)))
        };
        let (low, high) = (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY));
        [Point::new(low.x - beside_m, low.y - beside_m), Point::new(high.x + beside_m, high.y + beside_m)]
    }
    /// Marks the cells that it covers, for maps too large to hold as edges.
    pub fn draw(&self, canvas: &mut Canvas) {
        match &self.shape {
            BarrierShape::Line { points, width_m } => {
                points.windows(2).for_each(|pair| canvas.draw_line(pair[0], pair[1], *width_m));
            }
            BarrierShape::Area { corners } => canvas.fill_polygon(corners),
        }
    }
    /// Its edges as chains of points that are walls to whoever measures distances exactly. A line counts as its middle.
    pub fn chain(&self) -> Vec<Point> {
        match &self.shape {
            BarrierShape::Line { points, .. } => points.clone(),
            BarrierShape::Area { corners } => corners.iter().chain(corners.first()).copied().collect(),
        }
    }
}
