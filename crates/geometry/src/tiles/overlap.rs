//! Whether a car touches occupied cells, and how far away they are.

use std::ops::ControlFlow;

use anabranch_kernel::maths;

use super::grid::{Cell, Grid, SIDE, TileId};
use super::tile::Tile;
use super::{Cells, NotLoaded};
use crate::outline::Body;
use crate::pose::{Point, Pose};

/// Whether an outline at a pose touches an occupied cell.
///
/// # Errors
/// When the outline reaches into a tile that is not loaded.
pub fn overlaps_tiles(cells: &impl Cells, body: &Body, pose: Pose) -> Result<bool, NotLoaded> {
    Ok(clearance_to_tiles(cells, body, pose, 0.0)?.is_some_and(|clearance_m| clearance_m <= 0.0))
}

/// Distance between an outline and the nearest occupied cell; negative or zero where they touch, none if it is more than
/// `reach_m`.
///
/// # Errors
/// When a tile within reach is not loaded.
pub fn clearance_to_tiles(cells: &impl Cells, body: &Body, pose: Pose, reach_m: f64) -> Result<Option<f64>, NotLoaded> {
    Ok(nearest_in_tiles(cells, body, pose, reach_m)?.map(|(clearance_m, _)| clearance_m))
}

/// The same with the middle of the nearest cell.
///
/// # Errors
/// When a tile within reach is not loaded.
pub fn nearest_in_tiles(
    cells: &impl Cells,
    body: &Body,
    pose: Pose,
    reach_m: f64,
) -> Result<Option<(f64, Point)>, NotLoaded> {
    let core = Core::new(body, pose);
    let around_m = body.radius_m + reach_m;
    let mut least_m = around_m;
    let mut found = None;
    for_occupied(cells, core.bounds(around_m), |grid, cell| {
        let distance_m = core.distance_m(grid.corner(cell), grid.cell_m);
        if distance_m <= least_m {
            (least_m, found) = (distance_m, Some(cell));
        }
        // Nothing is nearer than inside.
        if distance_m == 0.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let grid = cells.grid();
    let middle = |cell: Cell| {
        let corner = grid.corner(cell);
        Point::new(corner.x + 0.5 * grid.cell_m, corner.y + 0.5 * grid.cell_m)
    };
    Ok(found.map(|cell| (least_m - body.radius_m, middle(cell))))
}

/// The core of an outline in the world.
struct Core {
    middle: Point,
    along: Point,
    half_length_m: f64,
    half_width_m: f64,
}

impl Core {
    fn new(body: &Body, pose: Pose) -> Self {
        let (sin, cos) = maths::sin_cos(pose.heading);
        Self {
            middle: Point::new(pose.x + body.core_ahead_m * cos, pose.y + body.core_ahead_m * sin),
            along: Point::new(cos, sin),
            half_length_m: body.core_half_length_m,
            half_width_m: body.core_half_width_m,
        }
    }

    /// Low and high corner of the upright rectangle around everything within a distance.
    fn bounds(&self, around_m: f64) -> [Point; 2] {
        let x = self.half_length_m * self.along.x.abs() + self.half_width_m * self.along.y.abs() + around_m;
        let y = self.half_length_m * self.along.y.abs() + self.half_width_m * self.along.x.abs() + around_m;
        [Point::new(self.middle.x - x, self.middle.y - y), Point::new(self.middle.x + x, self.middle.y + y)]
    }

    /// Distance from a square given by its low corner and side; 0 if they overlap. Two boxes that are apart are nearest at
    /// a corner of one of them.
    fn distance_m(&self, corner: Point, side_m: f64) -> f64 {
        let half_m = 0.5 * side_m;
        let (dx, dy) = (corner.x + half_m - self.middle.x, corner.y + half_m - self.middle.y);
        let [ux, uy] = [self.along.x, self.along.y];
        let (ahead_m, left_m) = (ux * dx + uy * dy, ux * dy - uy * dx);
        let spread_m = half_m * (ux.abs() + uy.abs());
        let core_x = self.half_length_m * ux.abs() + self.half_width_m * uy.abs();
        let core_y = self.half_length_m * uy.abs() + self.half_width_m * ux.abs();
        let apart = ahead_m.abs() > self.half_length_m + spread_m
            || left_m.abs() > self.half_width_m + spread_m
            || dx.abs() > core_x + half_m
            || dy.abs() > core_y + half_m;
        if !apart {
            return 0.0;
        }
        let mut least = f64::INFINITY;
        for (a, b) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
            let (x, y) = (dx + a * half_m, dy + b * half_m);
            least = least.min(outside2(ux * x + uy * y, ux * y - uy * x, self.half_length_m, self.half_width_m));
            let (forward_m, side_m) = (a * self.half_length_m, b * self.half_width_m);
            let (x, y) = (ux * forward_m - uy * side_m - dx, uy * forward_m + ux * side_m - dy);
            least = least.min(outside2(x, y, half_m, half_m));
        }
        least.sqrt()
    }
}

/// Square of the distance of a point from a box about the origin.
fn outside2(x: f64, y: f64, half_x: f64, half_y: f64) -> f64 {
    let (dx, dy) = ((x.abs() - half_x).max(0.0), (y.abs() - half_y).max(0.0));
    dx * dx + dy * dy
}

/// Visits the occupied cells of a rectangle, tile by tile, until the visitor breaks off.
fn for_occupied<C: Cells>(
    cells: &C,
    [low, high]: [Point; 2],
    mut visit: impl FnMut(&Grid, Cell) -> ControlFlow<()>,
) -> Result<(), NotLoaded> {
    let grid = cells.grid();
    let (first, last) = (grid.cell(low), grid.cell(high));
    for row in first.tile().row..=last.tile().row {
        for column in first.tile().column..=last.tile().column {
            let id = TileId { column, row };
            let tile = cells.tile(id).ok_or(NotLoaded(id))?;
            if matches!(tile, Tile::Free) {
                continue;
            }
            let begin = id.first_cell();
            let columns = ((first.column - begin.column).max(0), (last.column - begin.column).min(SIDE - 1));
            let rows = ((first.row - begin.row).max(0), (last.row - begin.row).min(SIDE - 1));
            for r in rows.0..=rows.1 {
                let mut at = |c: i64| visit(grid, Cell { column: begin.column + c, row: begin.row + r });
                if in_row(tile, r as usize, columns, &mut at).is_break() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Visits the occupied cells of a stretch of a row, skipping empty words.
fn in_row(
    tile: &Tile,
    row: usize,
    (first, last): (i64, i64),
    visit: &mut impl FnMut(i64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for word in first / 64..=last / 64 {
        let mut bits = match tile {
            Tile::Free => 0,
            Tile::Full => u64::MAX,
            Tile::Mixed(bitmap) => bitmap.row(row)[word as usize],
        };
        while bits != 0 {
            let column = word * 64 + i64::from(bits.trailing_zeros());
            bits &= bits - 1;
            if (first..=last).contains(&column) {
                visit(column)?;
            }
        }
    }
    ControlFlow::Continue(())
}
