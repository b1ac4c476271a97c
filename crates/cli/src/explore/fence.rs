//! Permanent obstacles beside the road, for pictures: edges of cells become walls.

use std::collections::BTreeMap;

use anabranch_geometry::Point;
use anabranch_record::picture::Prism;
use anabranch_scenario::Drive;

use crate::failure::Failure;

/// How far they are drawn, and how many walls at most: the nearest ones.
const RANGE_M: f64 = 45.0;
const WALLS_MAX: usize = 160;
const HEIGHT_M: [f64; 2] = [0.0, 1.2];
/// Cells are usually 0.2 m: those inside of a house become one roof.
const WIDTH_M: f64 = 0.22;
const COLOUR: [f64; 3] = [0.5, 0.44, 0.36];

/// Those around a place.
///
/// # Errors
/// When a tile cannot be read.
pub(super) fn near(drive: &Drive, at: Point) -> Result<Vec<Prism>, Failure> {
    let mut walls = joined(&drive.fences_near(at, RANGE_M)?);
    let far_m = |wall: &[[f64; 2]; 2]| {
        Point::new(0.5 * (wall[0][0] + wall[1][0]), 0.5 * (wall[0][1] + wall[1][1])).distance_m(at)
    };
    walls.sort_by(|a, b| far_m(a).total_cmp(&far_m(b)));
    walls.truncate(WALLS_MAX);
    Ok(walls.into_iter().map(|[from, to]| Prism::wall(from, to, WIDTH_M, HEIGHT_M, COLOUR)).collect())
}

/// Edges of cells in a row are one wall.
fn joined(edges: &[(Point, Point)]) -> Vec<[[f64; 2]; 2]> {
    // Lines are told apart by the millimetre.
    let millimetres = |value: f64| (1000.0 * value).round() as i64;
    let mut rows: BTreeMap<(bool, i64), Vec<[f64; 2]>> = BTreeMap::new();
    for (a, b) in edges {
        let is_along_x = (a.y - b.y).abs() < (a.x - b.x).abs();
        let (line, from, to) = if is_along_x { (a.y, a.x, b.x) } else { (a.x, a.y, b.y) };
        rows.entry((is_along_x, millimetres(line))).or_default().push([from.min(to), from.max(to)]);
    }
    let mut walls = Vec::new();
    for ((is_along_x, line), mut pieces) in rows {
        pieces.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mut whole: Vec<[f64; 2]> = Vec::new();
        for [from, to] in pieces {
            match whole.last_mut() {
                Some(last) if from <= last[1] + 1e-3 => last[1] = last[1].max(to),
                _ => whole.push([from, to]),
            }
        }
        let line = line as f64 / 1000.0;
        let point = |along: f64| if is_along_x { [along, line] } else { [line, along] };
        walls.extend(whole.into_iter().map(|[from, to]| [point(from), point(to)]));
    }
    walls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_cells_in_a_row_are_one_wall() {
        let edge = |a: [f64; 2], b: [f64; 2]| (Point::new(a[0], a[1]), Point::new(b[0], b[1]));
        let edges = [
            edge([0.2, 1.0], [0.1, 1.0]),
            edge([0.0, 1.0], [0.1, 1.0]),
            edge([0.5, 1.0], [0.6, 1.0]),
            edge([0.2, 1.0], [0.2, 1.1]),
        ];
        assert_eq!(joined(&edges), [[[0.2, 1.0], [0.2, 1.1]], [[0.0, 1.0], [0.2, 1.0]], [[0.5, 1.0], [0.6, 1.0]]]);
    }
}
