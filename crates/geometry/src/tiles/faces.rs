//! Occupied cells as edges, for whoever casts rays in a fan.

use super::grid::{SIDE, TileId};
use super::tile::Tile;
use super::{Cells, NotLoaded};
use crate::pose::Point;

/// Calls with edges that stop every ray from a point which an occupied cell within a distance along the axes stops. Cells beside each
/// other in a row are one box, of which the sides are given that face the point.
///
/// # Errors
/// When a tile within the distance is not loaded.
pub fn faces_towards(
    cells: &impl Cells,
    from: Point,
    distance_m: f64,
    mut visit: impl FnMut(Point, Point),
) -> Result<(), NotLoaded> {
    let grid = cells.grid();
    let first = grid.cell(Point::new(from.x - distance_m, from.y - distance_m));
    let last = grid.cell(Point::new(from.x + distance_m, from.y + distance_m));
    for row in first.tile().row..=last.tile().row {
        for column in first.tile().column..=last.tile().column {
            let id = TileId { column, row };
            let tile = cells.tile(id).ok_or(NotLoaded(id))?;
            let corner = grid.corner(id.first_cell());
            let mut add = |columns: [i64; 2], rows: [i64; 2]| {
                let x = columns.map(|column| corner.x + column as f64 * grid.cell_m);
                let y = rows.map(|row| corner.y + row as f64 * grid.cell_m);
                facing_sides(from, x, y, &mut visit);
            };
            match tile {
                Tile::Free => {}
                Tile::Full => add([0, SIDE], [0, SIDE]),
                Tile::Mixed(bitmap) => {
                    let begin = id.first_cell().row;
                    let rows = (first.row - begin).max(0)..=(last.row - begin).min(SIDE - 1);
                    rows.for_each(|row| {
                        runs(bitmap.row(row as usize), |begin, end| add([begin, end], [row, row + 1]));
                    });
                }
            }
        }
    }
    Ok(())
}

/// The sides of an upright box that face a point; from inside all of it is met.
fn facing_sides(from: Point, [left, right]: [f64; 2], [low, high]: [f64; 2], visit: &mut impl FnMut(Point, Point)) {
    let is_beside = from.x < left || from.x > right || from.y < low || from.y > high;
    if from.x < left || !is_beside {
        visit(Point::new(left, low), Point::new(left, high));
    }
    if from.x > right || !is_beside {
        visit(Point::new(right, low), Point::new(right, high));
    }
    if from.y < low || !is_beside {
        visit(Point::new(left, low), Point::new(right, low));
    }
    if from.y > high || !is_beside {
        visit(Point::new(left, high), Point::new(right, high));
    }
}

/// Calls with begin and end of every run of set bits.
fn runs(words: &[u64], mut found: impl FnMut(i64, i64)) {
    let mut begun: Option<i64> = None;
    for (number, &word) in words.iter().enumerate() {
        let from = number as i64 * 64;
        match (word, begun) {
            (0, None) | (u64::MAX, Some(_)) => continue,
            _ => {}
        }
        for bit in 0..64 {
            match (word >> bit & 1 == 1, begun) {
                (true, None) => begun = Some(from + bit),
                (false, Some(begin)) => {
                    found(begin, from + bit);
                    begun = None;
                }
                _ => {}
            }
        }
    }
    if let Some(begin) = begun {
        found(begin, words.len() as i64 * 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiles::{Canvas, Grid, cast_ray};
    use anabranch_kernel::maths;

    /// The nearest crossing of a ray with an edge, by solving two equations.
    fn met_m(from: Point, [dx, dy]: [f64; 2], a: Point, b: Point) -> Option<f64> {
        let (ex, ey) = (b.x - a.x, b.y - a.y);
        let cross = dx * ey - dy * ex;
        let (px, py) = (a.x - from.x, a.y - from.y);
        let (along, share) = ((px * ey - py * ex) / cross, (px * dy - py * dx) / cross);
        (cross != 0.0 && along >= 0.0 && (0.0..=1.0).contains(&share)).then_some(along)
    }

    #[test]
    fn edges_stop_rays_where_cells_do() {
        let mut canvas = Canvas::new(Grid { origin: Point::new(0.3, -0.7), cell_m: 0.25 });
        canvas.fill_polygon(&[(20.0, 3.0), (45.0, 9.0), (30.0, 30.0)].map(|(x, y)| Point::new(x, y)));
        canvas.draw_line(Point::new(-40.0, -20.0), Point::new(60.0, -25.0), 0.3);
        canvas.fill_box(Point::new(64.3, 63.3), Point::new(130.0, 130.0)); // A whole tile and more.
        let (mut hits, mut rays) = (0, 0);
        for from in [Point::new(0.0, 0.0), Point::new(35.0, -10.0), Point::new(-20.0, 55.0), Point::new(60.0, 140.0)] {
            let mut edges = Vec::new();
            faces_towards(&canvas, from, 90.0, |a, b| edges.push((a, b))).unwrap();
            for k in 0..360 {
                let (sin, cos) = maths::sin_cos(0.013 + f64::from(k) * std::f64::consts::TAU / 360.0);
                let by_cells = cast_ray(&canvas, from, [cos, sin], 80.0).unwrap();
                let by_edges = edges.iter().filter_map(|&(a, b)| met_m(from, [cos, sin], a, b)).reduce(f64::min);
                let by_edges = by_edges.filter(|met_m| *met_m <= 80.0);
                match (by_cells, by_edges) {
                    (None, None) => {}
                    (Some(a), Some(b)) => assert!((a - b).abs() < 1e-6, "{from:?} {k}: {a} {b}"),
                    // A ray through the corner of a cell, or the edge of the range.
                    (a, b) => panic!("{from:?} {k}: {a:?} {b:?}"),
                }
                hits += usize::from(by_cells.is_some());
                rays += 1;
            }
        }
        assert!(hits > 300 && hits < rays, "{hits} of {rays}");
    }
}
