//! Walls, buildings, parked rows: what hides objects and never moves. Found by place, whatever the size of the map.

use anabranch_geometry::{Edge, Point};

/// Longest piece a wall is cut into, so that a piece belongs to one square; also the side of a square.
const SQUARE_M: f64 = 20.0;
/// Most squares: larger worlds get larger squares.
const SQUARES_MAX: f64 = 1e6;

/// Edges that stop rays, sorted into squares by their middles. Immutable.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Walls {
    /// Pieces of edges, square after square.
    pieces: Vec<(Point, Point)>,
    /// Where each square begins in `pieces`, and one more for the end.
    begins: Vec<u32>,
    low: Point,
    side_m: f64,
    columns: usize,
    rows: usize,
}

impl Walls {
    /// Prepares edges. Edges that are not finite are left out by their makers; here they are a bug.
    ///
    /// # Panics
    /// If a coordinate is not finite.
    pub fn new(edges: &[Edge]) -> Self {
        let mut pieces: Vec<(Point, Point)> = edges.iter().flat_map(cut).collect();
        let Some(&(first, _)) = pieces.first() else { return Self::default() };
        let fold = |pick: fn(f64, f64) -> f64| {
            let both = |all: Point, (a, b): &(Point, Point)| {
                Point::new(pick(all.x, pick(a.x, b.x)), pick(all.y, pick(a.y, b.y)))
            };
            pieces.iter().fold(first, both)
        };
        let (low, high) = (fold(f64::min), fold(f64::max));
        let (width_m, height_m) = (high.x - low.x, high.y - low.y);
        assert!(width_m.is_finite() && height_m.is_finite(), "walls must be checked when they are loaded");
        let side_m = SQUARE_M.max((width_m * height_m / SQUARES_MAX).sqrt());
        let (columns, rows) = ((width_m / side_m) as usize + 1, (height_m / side_m) as usize + 1);
        let mut walls = Self { pieces: Vec::new(), begins: Vec::new(), low, side_m, columns, rows };
        let square = |(a, b): &(Point, Point)| {
            let (x, y) = (0.5 * (a.x + b.x), 0.5 * (a.y + b.y));
            walls.row(y) * columns + walls.column(x)
        };
        // Stable: pieces of a square keep the order of the map.
        pieces.sort_by_key(square);
        let mut begins = vec![0_u32; columns * rows + 1];
        pieces.iter().for_each(|piece| begins[square(piece) + 1] += 1);
        (0..columns * rows).for_each(|i| begins[i + 1] += begins[i]);
        (walls.pieces, walls.begins) = (pieces, begins);
        walls
    }
    fn column(&self, x: f64) -> usize {
        // Casting saturates: what lies outside counts to the outermost squares.
        (((x - self.low.x) / self.side_m) as usize).min(self.columns - 1)
    }
    fn row(&self, y: f64) -> usize {
        (((y - self.low.y) / self.side_m) as usize).min(self.rows - 1)
    }
    /// Calls with every piece of wall that may come within a distance of a point, in an order that never changes.
    #[inline]
    pub(crate) fn near(&self, point: Point, distance_m: f64, mut visit: impl FnMut(Point, Point)) {
        if self.pieces.is_empty() {
            return;
        }
        let reach_m = distance_m + 0.5 * SQUARE_M;
        let (left, right) = (self.column(point.x - reach_m), self.column(point.x + reach_m));
        for row in self.row(point.y - reach_m)..=self.row(point.y + reach_m) {
            let squares = &self.begins[row * self.columns + left..=row * self.columns + right + 1];
            let (from, to) = (squares[0] as usize, squares[squares.len() - 1] as usize);
            self.pieces[from..to].iter().for_each(|&(a, b)| visit(a, b));
        }
    }
}

/// An edge in pieces of at most [`SQUARE_M`].
fn cut(edge: &Edge) -> impl Iterator<Item = (Point, Point)> {
    let (a, b) = (edge.a, edge.b);
    let count = (a.distance_m(b) / SQUARE_M) as u32 + 1;
    let at = move |i: u32| {
        let part = f64::from(i) / f64::from(count);
        if i == count { b } else { Point::new(a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)) }
    };
    (0..count).map(move |i| (at(i), at(i + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(ax: f64, ay: f64, bx: f64, by: f64) -> Edge {
        Edge { a: Point::new(ax, ay), b: Point::new(bx, by), obstacle: 0 }
    }

    #[test]
    fn no_wall_that_is_near_is_forgotten() {
        let mut edges = Vec::new();
        for i in 0..300_u32 {
            let (x, y) = (f64::from(i * 37 % 1000), f64::from(i * 91 % 700));
            edges.push(wall(x, y, x + f64::from(i % 50), y - f64::from(i % 7) * 9.0));
        }
        let walls = Walls::new(&edges);
        for (x, y, radius_m) in
            [(500.0, 300.0, 60.0), (-50.0, -80.0, 120.0), (990.0, 650.0, 5.0), (400.0, 20.0, 2000.0)]
        {
            let here = Point::new(x, y);
            let mut found = 0_usize;
            let mut length_m = 0.0;
            walls.near(here, radius_m, |a, b| {
                found += usize::from(distance_m(here, a, b) <= radius_m);
                length_m += a.distance_m(b);
            });
            let expect = edges.iter().flat_map(cut).filter(|&(a, b)| distance_m(here, a, b) <= radius_m).count();
            assert_eq!(found, expect);
            assert!(radius_m > 100.0 || length_m < 2500.0, "and most of the others are left alone: {length_m}");
        }
    }

    /// Independent of the code above: the nearest of many points of the piece.
    fn distance_m(from: Point, a: Point, b: Point) -> f64 {
        let at = |i: u32| {
            let part = f64::from(i) / 1000.0;
            Point::new(a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)).distance_m(from)
        };
        (0..=1000).map(at).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn a_world_without_walls_hides_nothing() {
        Walls::new(&[]).near(Point::new(0.0, 0.0), 100.0, |_, _| panic!("there is no wall"));
    }
}
