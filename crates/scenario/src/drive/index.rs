//! Which edges can matter near a place, prepared when a scenario is loaded.

use anabranch_geometry::{Body, EdgeSet, Point, WallEdge};

/// Size of a square of the index.
const SQUARE_M: f64 = 2.0;
/// How far around the obstacles squares are prepared; beyond, all edges are looked at.
const AROUND_M: f64 = 10.0;
/// Most squares; a larger world has larger squares.
const SQUARES_MAX: f64 = 40_000.0;

/// Most comparisons of a square with an edge.
const COMPARED_MAX: f64 = 2e8;
/// Most edges in all lists, about 200 MB; where there would be more, all edges are looked at everywhere.
const LISTED_MAX: usize = 4_000_000;

/// For each square of the world the edges that a car starting in it can come near during one segment.
#[derive(Clone, Debug)]
pub(crate) struct EdgeIndex {
    all: Vec<WallEdge>,
    lists: Vec<Vec<WallEdge>>,
    origin: Point,
    square_m: f64,
    columns: usize,
    rows: usize,
}

impl EdgeIndex {
    /// Prepares squares for cars that move at most `reach_m` in a segment.
    pub(crate) fn new(edges: &EdgeSet, body: &Body, reach_m: f64) -> Self {
        let ends = edges.edges().iter().flat_map(|edge| {
            let (x, y) = (edge.half_m * edge.along.x, edge.half_m * edge.along.y);
            [Point::new(edge.middle.x - x, edge.middle.y - y), Point::new(edge.middle.x + x, edge.middle.y + y)]
        });
        let (mut low, mut high) = (Point::new(f64::MAX, f64::MAX), Point::new(f64::MIN, f64::MIN));
        for end in ends {
            low = Point::new(low.x.min(end.x), low.y.min(end.y));
            high = Point::new(high.x.max(end.x), high.y.max(end.y));
        }
        let all = edges.edges().to_vec();
        if all.is_empty() {
            return Self { all, lists: Vec::new(), origin: Point::default(), square_m: 1.0, columns: 0, rows: 0 };
        }
        let origin = Point::new(low.x - AROUND_M, low.y - AROUND_M);
        let (width, height) = (high.x - low.x + 2.0 * AROUND_M, high.y - low.y + 2.0 * AROUND_M);
        let squares_max = SQUARES_MAX.min(COMPARED_MAX / all.len() as f64).max(1.0);
        let square_m = SQUARE_M.max((width * height / squares_max).sqrt()).max(width.max(height) / squares_max);
        let (columns, rows) = ((width / square_m).ceil() as usize, (height / square_m).ceil() as usize);
        let mut index = Self { all, lists: Vec::new(), origin, square_m, columns, rows };
        let mut listed = 0;
        let corner_m = square_m * std::f64::consts::FRAC_1_SQRT_2;
        for square in 0..columns * rows {
            let mut near = Vec::new();
            let (column, row) = ((square % columns) as f64 + 0.5, (square / columns) as f64 + 0.5);
            let center = Point::new(origin.x + column * square_m, origin.y + row * square_m);
            edges.cull(body, center, reach_m + corner_m, &mut near);
            listed += near.len();
            if listed > LISTED_MAX {
                return Self { lists: Vec::new(), columns: 0, rows: 0, ..index };
            }
            index.lists.push(near);
        }
        index
    }

    /// Number of the square of a place; `None` outside of what is prepared.
    #[inline]
    pub(crate) fn square(&self, x: f64, y: f64) -> Option<u32> {
        let (column, row) = ((x - self.origin.x) / self.square_m, (y - self.origin.y) / self.square_m);
        let inside = column >= 0.0 && row >= 0.0 && column < self.columns as f64 && row < self.rows as f64;
        inside.then(|| (row as usize * self.columns + column as usize) as u32)
    }

    /// The edges that matter for a car starting in a square.
    #[inline]
    pub(crate) fn near(&self, square: Option<u32>) -> &[WallEdge] {
        square.map_or(&self.all, |square| &self.lists[square as usize])
    }

    /// All edges.
    pub(crate) fn all(&self) -> &[WallEdge] {
        &self.all
    }
}
