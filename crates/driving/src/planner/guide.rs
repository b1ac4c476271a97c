//! How far it is to the goal around the obstacles, for a disc that fits into the car.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use anabranch_geometry::Point;
use anabranch_kernel::maths::hypot;

use super::PlanRequest;
use super::surroundings::{Bounds, EFFORT_MAX, KEPT_WITHIN_M, Surroundings};
use super::tiles::Tiles;

/// Side of the tiles.
const TILE_M: f64 = 0.2;
/// How often a tile on the border of the free space is quartered in search of a free point.
const QUARTERINGS: u32 = 4;

/// Distances to the goal over tiles, for the largest disc around the middle of the outline.
///
/// A tile is free if any point of it is: where the guide finds no way, there is none.
pub(super) struct Guide {
    tiles: Tiles<f64>,
    /// The middle moves this much per metre of the rear axle, at most.
    middle_speed: f64,
}

impl Guide {
    /// `None` if laying the obstacles into tiles takes too much time.
    pub(super) fn new(request: &PlanRequest<'_>, surroundings: &Surroundings<'_>, bounds: Bounds) -> Option<Self> {
        let outline = request.outline;
        let half_length_m = 0.5 * (outline.front_m + outline.rear_m);
        let disc_m = outline.half_width_m.min(half_length_m) + request.safety_distance_m - KEPT_WITHIN_M;
        let mut tiles = Tiles::new(bounds, TILE_M, f64::INFINITY);
        if tiles.effort(request.edges, disc_m) > EFFORT_MAX {
            return None;
        }
        for edge in request.edges {
            tiles.for_each_within(edge, disc_m, |value, distance_m| *value = value.min(distance_m));
        }
        let half_m = 0.5 * tiles.side_m();
        let free = (0..tiles.len())
            .map(|index| {
                let distance_m = *tiles.get(index);
                distance_m >= disc_m || has_room(surroundings, tiles.middle(index), half_m, disc_m, QUARTERINGS)
            })
            .collect::<Vec<_>>();
        let goal = tiles.index(surroundings.middle(request.goal)).expect("the bounds hold the goal");
        flood(&mut tiles, &free, goal);
        let middle_m = 0.5 * (outline.front_m - outline.rear_m);
        Some(Self { tiles, middle_speed: hypot(1.0, middle_m / request.turning_radius_m) })
    }

    /// Least metres the rear axle drives from where the middle of the outline is at a point; infinite if there is no way.
    pub(super) fn distance_m(&self, middle: Point) -> f64 {
        self.tiles.at(middle).map_or(f64::INFINITY, |&distance_m| distance_m / self.middle_speed)
    }
}

/// Whether a square has a point at least a distance away from all edges.
fn has_room(surroundings: &Surroundings<'_>, middle: Point, half_m: f64, distance_m: f64, depth: u32) -> bool {
    let here_m = surroundings.point_distance_m(middle);
    let possible = here_m + half_m * std::f64::consts::SQRT_2 >= distance_m;
    if here_m >= distance_m || !possible || depth == 0 {
        return possible;
    }
    let quarter_m = 0.5 * half_m;
    [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].into_iter().any(|(x, y)| {
        let quarter = Point::new(middle.x + x * quarter_m, middle.y + y * quarter_m);
        has_room(surroundings, quarter, quarter_m, distance_m, depth - 1)
    })
}

/// A tile reached, nearest first; of equals the one with the lower number.
#[derive(PartialEq)]
struct Reached {
    distance_m: f64,
    tile: usize,
}
impl Eq for Reached {}
impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance_m.total_cmp(&self.distance_m).then(other.tile.cmp(&self.tile))
    }
}
impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Replaces the tiles' values by their distance to a tile over free tiles and their eight neighbours.
fn flood(tiles: &mut Tiles<f64>, free: &[bool], goal: usize) {
    for index in 0..tiles.len() {
        *tiles.get_mut(index) = f64::INFINITY;
    }
    *tiles.get_mut(goal) = 0.0;
    let (columns, rows, side_m) = (tiles.columns(), tiles.rows(), tiles.side_m());
    let mut open = BinaryHeap::from([Reached { distance_m: 0.0, tile: goal }]);
    while let Some(Reached { distance_m, tile }) = open.pop() {
        if distance_m > *tiles.get(tile) {
            continue;
        }
        let (column, row) = (tile % columns, tile / columns);
        for next_row in row.saturating_sub(1)..(row + 2).min(rows) {
            for next_column in column.saturating_sub(1)..(column + 2).min(columns) {
                let next = next_row * columns + next_column;
                let diagonal = next_row != row && next_column != column;
                let next_m = distance_m + if diagonal { std::f64::consts::SQRT_2 * side_m } else { side_m };
                if free[next] && next_m < *tiles.get(next) {
                    *tiles.get_mut(next) = next_m;
                    open.push(Reached { distance_m: next_m, tile: next });
                }
            }
        }
    }
}
