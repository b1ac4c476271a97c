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
