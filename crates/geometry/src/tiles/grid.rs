//! Where cells and tiles lie.

use serde::{Deserialize, Serialize};

use crate::pose::Point;

/// Cells along the side of a tile: 8 kB of bits, 51.2 m at cells of 0.2 m.
pub const SIDE: i64 = 256;

/// A grid of square cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Corner of cell (0, 0) with the smallest coordinates.
    pub origin: Point,
    /// Side of a cell.
    pub cell_m: f64,
}

/// A cell by its column (eastwards) and row (northwards).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// Column, from west to east.
    pub column: i64,
    /// Row, from south to north.
    pub row: i64,
}

/// A tile by its column and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TileId {
    /// Column, from west to east.
    pub column: i32,
    /// Row, from south to north.
    pub row: i32,
}

impl Grid {
    /// The cell that contains a point; of two cells that share an edge it belongs to the eastern or northern one.
    #[inline]
    pub fn cell(&self, point: Point) -> Cell {
        Cell {
            column: ((point.x - self.origin.x) / self.cell_m).floor() as i64,
            row: ((point.y - self.origin.y) / self.cell_m).floor() as i64,
        }
    }
    /// The corner of a cell with the smallest coordinates.
    #[inline]
    pub fn corner(&self, cell: Cell) -> Point {
        Point::new(self.origin.x + cell.column as f64 * self.cell_m, self.origin.y + cell.row as f64 * self.cell_m)
    }
    /// The tile that contains a point.
    pub fn tile(&self, point: Point) -> TileId {
        self.cell(point).tile()
    }
    /// Side of a tile.
    pub fn tile_m(&self) -> f64 {
        self.cell_m * SIDE as f64
    }
}

impl Cell {
    /// The tile it lies in.
    #[inline]
    pub fn tile(self) -> TileId {
        TileId { column: self.column.div_euclid(SIDE) as i32, row: self.row.div_euclid(SIDE) as i32 }
    }
    /// Column and row inside of its tile.
    #[inline]
    pub fn within(self) -> (usize, usize) {
        (self.column.rem_euclid(SIDE) as usize, self.row.rem_euclid(SIDE) as usize)
    }
}

impl TileId {
    /// Its cell with the smallest column and row.
    pub fn first_cell(self) -> Cell {
        Cell { column: i64::from(self.column) * SIDE, row: i64::from(self.row) * SIDE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_tiles_are_counted_from_the_origin_in_both_directions() {
        let grid = Grid { origin: Point::new(10.0, -10.0), cell_m: 0.5 };
        // By hand: (9.9 − 10) / 0.5 = −0.2 → −1; (118.1 + 10) / 0.5 = 256.2 → 256, the first row of the next tile.
        let cell = grid.cell(Point::new(9.9, 118.1));
        assert_eq!((cell.column, cell.row), (-1, 256));
        assert_eq!(cell.tile(), TileId { column: -1, row: 1 });
        assert_eq!(cell.within(), (255, 0));
        assert_eq!(grid.corner(cell), Point::new(9.5, 118.0));
        assert_eq!(cell.tile().first_cell(), Cell { column: -256, row: 256 });
    }
}
