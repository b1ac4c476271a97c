//! Walking through cells along a straight line.

use super::grid::{Cell, Grid, SIDE};
use super::tile::Tile;
use super::{Cells, NotLoaded};
use crate::pose::Point;

/// A walk from cell to cell along a ray (Amanatides and Woo), with the distance at which each is entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    pub cell: Cell,
    pub entered_m: f64,
    /// Distance to the next border of columns and of rows.
    next_m: [f64; 2],
    /// Distance between borders of columns and of rows.
    step_m: [f64; 2],
    /// Whether columns and rows grow or shrink along the ray.
    sign: [i64; 2],
}

impl Walk {
    /// Begins in the cell of a point. The direction has length 1.
    pub fn new(grid: &Grid, from: Point, direction: [f64; 2]) -> Self {
        let cell = grid.cell(from);
        let corner = grid.corner(cell);
        let offset = [from.x - corner.x, from.y - corner.y];
        let axis = |i: usize| {
            let speed = direction[i];
            let way_m = if speed > 0.0 { grid.cell_m - offset[i] } else { offset[i] };
            // Along an axis without speed no border is ever met.
            let next_m = if speed == 0.0 { f64::INFINITY } else { way_m.max(0.0) / speed.abs() };
            (next_m, grid.cell_m / speed.abs(), if speed > 0.0 { 1 } else { -1 })
        };
        let (x, y) = (axis(0), axis(1));
        Self { cell, entered_m: 0.0, next_m: [x.0, y.0], step_m: [x.1, y.1], sign: [x.2, y.2] }
    }
    /// Goes on to the next cell.
    #[inline]
    pub fn step(&mut self) {
        let axis = usize::from(self.next_m[1] < self.next_m[0]);
        self.entered_m = self.next_m[axis];
        self.next_m[axis] += self.step_m[axis];
        if axis == 0 { self.cell.column += self.sign[0] } else { self.cell.row += self.sign[1] }
    }
    /// Goes on to the first cell of the next tile without looking at those between.
    fn leave_tile(&mut self) {
        let (column, row) = self.cell.within();
        let left = |within: usize, sign: i64| if sign > 0 { SIDE - 1 - within as i64 } else { within as i64 };
        let (columns, rows) = (left(column, self.sign[0]), left(row, self.sign[1]));
        let border = |axis: usize, cells: i64| {
            // Infinite steps times no cells would not be a number.
            if cells == 0 { self.next_m[axis] } else { self.next_m[axis] + cells as f64 * self.step_m[axis] }
        };
        let (x_m, y_m) = (border(0, columns), border(1, rows));
        let (axis, border_m) = if y_m < x_m { (1, y_m) } else { (0, x_m) };
        let other = 1 - axis;
        let passed = if self.next_m[other] < border_m {
            (((border_m - self.next_m[other]) / self.step_m[other]).floor() as i64 + 1).min([columns, rows][other])
        } else {
            0
        };
        let moved = |i: usize| if i == axis { [columns, rows][axis] + 1 } else { passed };
        self.cell.column += self.sign[0] * moved(0);
        self.cell.row += self.sign[1] * moved(1);
        self.next_m[axis] = border_m + self.step_m[axis];
        if passed > 0 {
            self.next_m[other] += passed as f64 * self.step_m[other];
        }
        self.entered_m = border_m;
    }
}

/// Distance along a ray to the first occupied cell; none within the range. The direction has length 1.
///
/// # Errors
/// When the ray comes to a tile that is not loaded before it hits something.
pub fn cast_ray(cells: &impl Cells, from: Point, direction: [f64; 2], range_m: f64) -> Result<Option<f64>, NotLoaded> {
    let mut walk = Walk::new(cells.grid(), from, direction);
    while walk.entered_m <= range_m {
        let id = walk.cell.tile();
        match cells.tile(id).ok_or(NotLoaded(id))? {
            Tile::Full => return Ok(Some(walk.entered_m)),
            Tile::Free => walk.leave_tile(),
            Tile::Mixed(bitmap) => {
                while walk.entered_m <= range_m && walk.cell.tile() == id {
                    let (column, row) = walk.cell.within();
                    if bitmap.get(column, row) {
                        return Ok(Some(walk.entered_m));
                    }
                    walk.step();
                }
            }
        }
    }
    Ok(None)
}
