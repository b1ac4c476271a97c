//! Drawing obstacles into cells.

use std::collections::BTreeMap;

use super::Cells;
use super::grid::{Cell, Grid, TileId};
use super::ray::Walk;
use super::tile::{Bitmap, Tile};
use crate::pose::Point;

/// Part of a cell by which a border may be off, for rounding.
const BORDER_SHARE: f64 = 1e-6;

/// Most tiles of the rectangle that is drawn into, 8 kB each: 10 km by 10 km at cells of 0.2 m.
pub const DRAWN_MAX: f64 = 40_000.0;
/// Farthest coordinate, as in maps.
const COORDINATE_MAX_M: f64 = 1e6;

/// A drawing that would take too much time and memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TooWide {
    /// More tiles than can be held.
    Tiles {
        /// From west to east.
        width_m: f64,
        /// From south to north.
        height_m: f64,
    },
    /// Coordinates without digits.
    Far,
}

impl std::fmt::Display for TooWide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tiles { width_m, height_m } => {
                let help = "use larger cells or draw less";
                write!(f, "the drawing is {width_m:.0} m × {height_m:.0} m, more than {DRAWN_MAX} tiles; {help}")
            }
            Self::Far => write!(f, "the drawing reaches beyond {COORDINATE_MAX_M} m; is the unit right?"),
        }
    }
}

impl std::error::Error for TooWide {}

/// Tiles to draw into, all of them in memory. What was never drawn into is free.
#[derive(Clone, Debug, PartialEq)]
pub struct Canvas {
    grid: Grid,
    tiles: BTreeMap<TileId, Tile>,
}

impl Canvas {
    /// Nothing drawn yet.
    pub fn new(grid: Grid) -> Self {
        Self { grid, tiles: BTreeMap::new() }
    }
    /// The tiles that were drawn into, in order.
    pub fn tiles(&self) -> &BTreeMap<TileId, Tile> {
        &self.tiles
    }
    /// Whether a rectangle can be drawn into.
    ///
    /// # Errors
    /// When that takes too much time and memory, or when its coordinates have no digits left.
    pub fn check_extent(&self, low: Point, high: Point) -> Result<(), TooWide> {
        let ends = [low.x, low.y, high.x, high.y];
        if !ends.iter().all(|end| end.abs() <= COORDINATE_MAX_M) {
            return Err(TooWide::Far);
        }
        let (width_m, height_m) = (high.x - low.x, high.y - low.y);
        let tiles = |length_m: f64| (length_m / self.grid.tile_m()).floor() + 2.0;
        let fits = tiles(width_m) * tiles(height_m) <= DRAWN_MAX;
        if fits { Ok(()) } else { Err(TooWide::Tiles { width_m, height_m }) }
    }
    /// Marks one cell as occupied.
    pub fn set(&mut self, cell: Cell) {
        let tile = self.tiles.entry(cell.tile()).or_default();
        let (column, row) = cell.within();
        match tile {
            Tile::Full => {}
            Tile::Mixed(bitmap) => bitmap.set(column, row),
            Tile::Free => {
                let mut bitmap = Bitmap::default();
                bitmap.set(column, row);
                *tile = Tile::Mixed(bitmap);
            }
        }
    }
    /// Marks every cell that a line of some width touches.
    pub fn draw_line(&mut self, from: Point, to: Point, width_m: f64) {
        let length_m = from.distance_m(to);
        if width_m <= 0.0 || length_m == 0.0 {
            self.trace(from, to);
            return;
        }
        let (x, y) = (0.5 * width_m * (to.x - from.x) / length_m, 0.5 * width_m * (to.y - from.y) / length_m);
        self.fill_polygon(&[
            Point::new(from.x + y, from.y - x),
            Point::new(to.x + y, to.y - x),
            Point::new(to.x - y, to.y + x),
            Point::new(from.x - y, from.y + x),
        ]);
    }
    /// Marks every cell that has some of an upright rectangle inside. Borders that fall on those of cells, within a
    /// millionth of a cell, mark nothing beyond them.
    pub fn fill_box(&mut self, low: Point, high: Point) {
        let cells = |offset_m: f64| offset_m / self.grid.cell_m;
        let first = |value: f64| (cells(value) + BORDER_SHARE).floor() as i64;
        let last = |value: f64| (cells(value) - BORDER_SHARE).ceil() as i64;
        let (left, right) = (first(low.x - self.grid.origin.x), last(high.x - self.grid.origin.x));
        let (bottom, top) = (first(low.y - self.grid.origin.y), last(high.y - self.grid.origin.y));
        for row in bottom..top {
            (left..right).for_each(|column| self.set(Cell { column, row }));
        }
    }
    /// Marks every cell that a polygon touches: those its edges go through and those whose middle lies inside.
    pub fn fill_polygon(&mut self, corners: &[Point]) {
        let n = corners.len();
        for i in 0..n {
            self.trace(corners[i], corners[(i + 1) % n]);
        }
        let rows = corners.iter().map(|corner| self.grid.cell(*corner).row);
        let (Some(first), Some(last)) = (rows.clone().min(), rows.max()) else { return };
        let mut crossings = Vec::new();
        for row in first..=last {
            let y = self.grid.origin.y + (row as f64 + 0.5) * self.grid.cell_m;
            crossings.clear();
            crossings.extend((0..n).filter_map(|i| crossing(corners[i], corners[(i + 1) % n], y)));
            crossings.sort_by(f64::total_cmp);
            for pair in crossings.chunks_exact(2) {
                let column = |x: f64| ((x - self.grid.origin.x) / self.grid.cell_m - 0.5).ceil() as i64;
                (column(pair[0])..column(pair[1])).for_each(|column| self.set(Cell { column, row }));
            }
        }
    }

    fn trace(&mut self, from: Point, to: Point) {
        let length_m = from.distance_m(to);
        let direction =
            if length_m > 0.0 { [(to.x - from.x) / length_m, (to.y - from.y) / length_m] } else { [1.0, 0.0] };
        let mut walk = Walk::new(&self.grid, from, direction);
        while walk.entered_m <= length_m {
            self.set(walk.cell);
            walk.step();
        }
    }
}

/// Where an edge crosses a horizontal line.
fn crossing(a: Point, b: Point, y: f64) -> Option<f64> {
    ((a.y > y) != (b.y > y)).then(|| a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x))
}

impl Cells for Canvas {
    fn grid(&self) -> &Grid {
        &self.grid
    }
    fn tile(&self, id: TileId) -> Option<&Tile> {
        Some(self.tiles.get(&id).unwrap_or(&Tile::Free))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occupied(canvas: &Canvas) -> Vec<(i64, i64)> {
        let mut all = Vec::new();
        for row in -3..12 {
            for column in -3..12 {
                let cell = Cell { column, row };
                let (c, r) = cell.within();
                if canvas.tile(cell.tile()).unwrap().get(c, r) {
                    all.push((column, row));
                }
            }
        }
        all
    }

    fn canvas() -> Canvas {
        Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: 1.0 })
    }

    #[test]
    fn a_line_marks_every_cell_it_goes_through() {
        let mut canvas = canvas();
        canvas.draw_line(Point::new(-0.5, 0.5), Point::new(2.5, 2.0), 0.0);
        // y = 0.75 + x / 2: it leaves row 0 at x = 0.5 and row 1 at x = 2.5, its end.
        assert_eq!(occupied(&canvas), [(-1, 0), (0, 0), (0, 1), (1, 1), (2, 1), (2, 2)]);
    }

    #[test]
    fn a_polygon_marks_its_inside_and_what_its_edges_touch() {
        let mut canvas = canvas();
        let corners = [(0.2, 0.2), (3.8, 0.2), (3.8, 2.8), (0.2, 2.8)].map(|(x, y)| Point::new(x, y));
        canvas.fill_polygon(&corners);
        assert_eq!(occupied(&canvas).len(), 12);
        // A triangle smaller than a cell still leaves its mark.
        let mut small = Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: 1.0 });
        small.fill_polygon(&[(5.1, 5.1), (5.2, 5.1), (5.1, 5.2)].map(|(x, y)| Point::new(x, y)));
        assert_eq!(occupied(&small), [(5, 5)]);
    }
}
