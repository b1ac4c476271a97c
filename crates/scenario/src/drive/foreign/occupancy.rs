//! What is free near the car, for drivers that want a grid.

use anabranch_bridge::protocol::Occupancy;
use anabranch_geometry::{Point, WallEdge};
use anabranch_kernel::maths;
use anabranch_vehicle::Car;

use super::super::Drive;

/// Edge of a cell.
const CELL_M: f64 = 0.25;
/// Cells along and across the car: 8 m to each side.
const CELLS: u32 = 64;
/// Points that are marked on every cell length of an edge.
const MARKS_PER_CELL: f64 = 2.0;

impl Drive {
    /// Walls and what is present, about the true car: a ranging sensor sees what is there from where it is.
    pub(super) fn occupancy(&self, car: &Car<f64>, present: u32) -> Occupancy {
        let mut cells = vec![0_u8; (CELLS * CELLS) as usize];
        let frame = Frame::of(car);
        let solid = self.eyes.as_ref().map_or(&[][..], |eyes| &eyes.solid);
        let there = solid.iter().enumerate().filter(|(n, _)| present >> n & 1 == 1).flat_map(|(_, set)| set.edges());
        for edge in self.walls.edges().iter().chain(there) {
            frame.mark(edge, &mut cells);
        }
        Occupancy { cell_m: CELL_M, columns: CELLS, rows: CELLS, cells: cells.into(), blob: None }
    }
}

/// The car's own axes.
struct Frame {
    x: f64,
    y: f64,
    cos: f64,
    sin: f64,
}

impl Frame {
    fn of(car: &Car<f64>) -> Self {
        let (sin, cos) = maths::sin_cos(car.heading);
        Self { x: car.x, y: car.y, cos, sin }
    }
    /// Metres ahead and to the left.
    fn inside(&self, point: Point) -> [f64; 2] {
        let (dx, dy) = (point.x - self.x, point.y - self.y);
        [self.cos * dx + self.sin * dy, self.cos * dy - self.sin * dx]
    }
    /// Marks the cells that an edge goes through. Only the part near the car is walked along.
    fn mark(&self, edge: &WallEdge, cells: &mut [u8]) {
        let [a, b] = ends(edge).map(|end| self.inside(end));
        let half_m = 0.5 * f64::from(CELLS) * CELL_M;
        let Some((from, to)) = clip(a, b, half_m) else { return };
        let length_m = maths::hypot(b[0] - a[0], b[1] - a[1]) * (to - from);
        let marks = (MARKS_PER_CELL * length_m / CELL_M).ceil().max(1.0) as u32;
        for mark in 0..=marks {
            let share = from + (to - from) * f64::from(mark) / f64::from(marks);
            let at = [0, 1].map(|axis| a[axis] + (b[axis] - a[axis]) * share);
            // Rows go from ahead to behind, columns from left to right.
            let index = |m: f64| (((half_m - m) / CELL_M) as u32).min(CELLS - 1);
            cells[(index(at[0]) * CELLS + index(at[1])) as usize] = 255;
        }
    }
}

/// Where an edge begins and ends.
pub(super) fn ends(edge: &WallEdge) -> [Point; 2] {
    [-1.0, 1.0].map(|side| {
        let m = side * edge.half_m;
        Point::new(edge.middle.x + m * edge.along.x, edge.middle.y + m * edge.along.y)
    })
}

/// The part of a line, as shares of its length, within a square about the origin.
fn clip(a: [f64; 2], b: [f64; 2], half_m: f64) -> Option<(f64, f64)> {
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let way = b[axis] - a[axis];
        if way.abs() < 1e-12 {
            if a[axis].abs() > half_m {
                return None;
            }
            continue;
        }
        let (enter, leave) = ((-half_m - a[axis]) / way, (half_m - a[axis]) / way);
        from = from.max(enter.min(leave));
        to = to.min(enter.max(leave));
    }
    (from <= to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use anabranch_geometry::{Edge, Pose};

    use super::*;

    #[test]
    fn a_wall_across_the_way_is_a_row_of_the_grid() {
        let wall = Edge { a: Point::new(-100.0, 4.1), b: Point::new(100.0, 4.1), obstacle: 0 };
        let car = Car::at(Pose::new(0.0, 0.0, std::f64::consts::FRAC_PI_2));
        let mut cells = vec![0; (CELLS * CELLS) as usize];
        Frame::of(&car).mark(&wall.into(), &mut cells);
        let rows: Vec<usize> =
            cells.chunks(CELLS as usize).map(|row| row.iter().filter(|c| **c == 255).count()).collect();
        let row = ((8.0 - 4.1) / CELL_M) as usize;
        assert_eq!(rows[row], CELLS as usize);
        assert_eq!(rows.iter().sum::<usize>(), CELLS as usize);
    }

    #[test]
    fn what_is_far_away_is_not_in_the_grid() {
        assert_eq!(clip([9.0, -1.0], [9.0, 1.0], 8.0), None);
        assert_eq!(clip([-16.0, 0.0], [16.0, 0.0], 8.0), Some((0.25, 0.75)));
    }
}
