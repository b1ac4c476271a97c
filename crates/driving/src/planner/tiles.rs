//! A plane cut into square tiles, each with a value.

use std::ops::Range;

use anabranch_geometry::{Edge, Point};

use super::surroundings::{Bounds, point_to_edge_m};

/// Most tiles of one plane: a larger world gets larger tiles instead of more memory.
const TILES_MAX: f64 = 1_000_000.0;

/// Square tiles over bounds, row by row.
#[derive(Clone, Debug)]
pub(super) struct Tiles<T> {
    low: Point,
    side_m: f64,
    columns: usize,
    rows: usize,
    values: Vec<T>,
}

impl<T: Clone> Tiles<T> {
    /// Tiles of the given side, or larger if there were too many.
    pub(super) fn new(bounds: Bounds, side_m: f64, value: T) -> Self {
        let (width_m, height_m) = (bounds.high.x - bounds.low.x, bounds.high.y - bounds.low.y);
        let side_m = side_m.max((width_m * height_m / TILES_MAX).sqrt()).max(width_m.max(height_m) / TILES_MAX);
        let count = |length_m: f64| (length_m / side_m).floor() as usize + 1;
        let (columns, rows) = (count(width_m), count(height_m));
        Self { low: bounds.low, side_m, columns, rows, values: vec![value; columns * rows] }
    }

    pub(super) fn side_m(&self) -> f64 {
        self.side_m
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Number of the tile under a point, if the point is within the bounds.
    pub(super) fn index(&self, p: Point) -> Option<usize> {
        let (column, row) = ((p.x - self.low.x) / self.side_m, (p.y - self.low.y) / self.side_m);
        let inside = column >= 0.0 && row >= 0.0 && column < self.columns as f64 && row < self.rows as f64;
        inside.then(|| row as usize * self.columns + column as usize)
    }

    /// Middle of a tile.
    pub(super) fn middle(&self, index: usize) -> Point {
        let (column, row) = (index % self.columns, index / self.columns);
        let at = |low: f64, n: usize| low + (n as f64 + 0.5) * self.side_m;
        Point::new(at(self.low.x, column), at(self.low.y, row))
    }

    pub(super) fn at(&self, p: Point) -> Option<&T> {
        self.index(p).map(|index| &self.values[index])
    }

    pub(super) fn get(&self, index: usize) -> &T {
        &self.values[index]
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut T {
        &mut self.values[index]
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// How many tiles [`Self::for_each_within`] looks at, over all edges.
    pub(super) fn effort(&self, edges: &[Edge], reach_m: f64) -> f64 {
        let tiles = |edge: &Edge| {
            let (columns, rows) = self.spans(edge, reach_m);
            columns.len() as f64 * rows.len() as f64
        };
        edges.iter().map(tiles).sum()
    }

    /// Columns and rows around an edge.
    fn spans(&self, edge: &Edge, reach_m: f64) -> (Range<usize>, Range<usize>) {
        let span = |a: f64, b: f64, low: f64, count: usize| {
            let first = ((a.min(b) - reach_m - low) / self.side_m).floor().max(0.0) as usize;
            let last = ((a.max(b) + reach_m - low) / self.side_m).floor();
            first..if last < 0.0 { 0 } else { count.min(last as usize + 1) }
        };
        (span(edge.a.x, edge.b.x, self.low.x, self.columns), span(edge.a.y, edge.b.y, self.low.y, self.rows))
    }

    /// Visits the tiles that have a point within a distance of an edge, and the distance from their middle.
    pub(super) fn for_each_within(&mut self, edge: &Edge, reach_m: f64, mut visit: impl FnMut(&mut T, f64)) {
        let half_diagonal_m = self.side_m * std::f64::consts::FRAC_1_SQRT_2;
        let (columns, rows) = self.spans(edge, reach_m);
        for row in rows {
            for column in columns.clone() {
                let index = row * self.columns + column;
                let distance_m = point_to_edge_m(self.middle(index), edge);
                if distance_m <= reach_m + half_diagonal_m {
                    visit(&mut self.values[index], distance_m);
                }
            }
        }
    }
}
