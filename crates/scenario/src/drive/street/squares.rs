//! Which lanes of the traffic come near a place: a grid of squares over the plane.

use anabranch_geometry::Point;
use anabranch_traffic::{LaneNumber, Traffic};

use super::clock::Plane;

/// A lane is enclosed by looking at places this far apart, and cars are at most so far from their places.
const BOX_STEP_M: f64 = 10.0;
const BESIDE_M: f64 = 20.0;
/// Side of a square: about what a sensor sees.
const SQUARE_MIN_M: f64 = 250.0;
/// Most squares; a larger world has larger squares.
const SQUARES_MAX: f64 = 40_000.0;

/// A rectangle: west, east, south and north end.
type Ends = [f64; 4];

/// Lanes by the squares that they reach into.
#[derive(Debug)]
pub(super) struct Squares {
    /// Of each lane, with room for cars beside it.
    boxes: Vec<Ends>,
    lists: Vec<Vec<LaneNumber>>,
    origin: Point,
    square_m: f64,
    columns: usize,
    rows: usize,
}

impl Squares {
    /// All lanes of a traffic.
    pub(super) fn of_lanes(traffic: &Traffic, plane: &Plane<'_>) -> Self {
        let boxes: Vec<Ends> =
            (0..traffic.streets().count() as LaneNumber).map(|lane| lane_box(traffic, plane, lane)).collect();
        let around = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY];
        let all = boxes.iter().fold(around, |a, b| [a[0].min(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].max(b[3])]);
        let (width_m, height_m) = ((all[1] - all[0]).max(0.0), (all[3] - all[2]).max(0.0));
        let longest_m = width_m.max(height_m);
        let square_m = SQUARE_MIN_M.max((width_m * height_m / SQUARES_MAX).sqrt()).max(longest_m / SQUARES_MAX);
        let (columns, rows) = ((width_m / square_m) as usize + 1, (height_m / square_m) as usize + 1);
        let origin = Point::new(all[0], all[2]);
        let lists = vec![Vec::new(); columns * rows];
        let mut squares = Self { boxes, lists, origin, square_m, columns, rows };
        for lane in 0..squares.boxes.len() {
            let (west, east, south, north) = squares.range(&squares.boxes[lane]);
            for row in south..=north {
                (west..=east).for_each(|column| squares.lists[row * columns + column].push(lane as LaneNumber));
            }
        }
        squares
    }

    /// Calls for every lane that comes within a distance along the axes, once.
    pub(super) fn near(&self, about: Point, reach_m: f64, mut found: impl FnMut(LaneNumber)) {
        let asked = [about.x - reach_m, about.x + reach_m, about.y - reach_m, about.y + reach_m];
        let (west, east, south, north) = self.range(&asked);
        for row in south..=north {
            for column in west..=east {
                for &lane in &self.lists[row * self.columns + column] {
                    let ends = &self.boxes[lane as usize];
                    let meets = ends[0] < asked[1] && ends[1] > asked[0] && ends[2] < asked[3] && ends[3] > asked[2];
                    // Of the squares that it shares with what is asked for, only the first one counts.
                    let (lane_west, _, lane_south, _) = self.range(ends);
                    if meets && column == west.max(lane_west) && row == south.max(lane_south) {
                        found(lane);
                    }
                }
            }
        }
    }

    /// First and last column, first and last row of a rectangle.
    fn range(&self, ends: &Ends) -> (usize, usize, usize, usize) {
        // What is outside counts to the squares at the edge.
        let column = |x: f64| (((x - self.origin.x) / self.square_m).max(0.0) as usize).min(self.columns - 1);
        let row = |y: f64| (((y - self.origin.y) / self.square_m).max(0.0) as usize).min(self.rows - 1);
        (column(ends[0]), column(ends[1]), row(ends[2]), row(ends[3]))
    }
}

fn lane_box(traffic: &Traffic, plane: &Plane<'_>, lane: LaneNumber) -> Ends {
    let length_m = traffic.streets().length_m(lane);
    let steps = (length_m / BOX_STEP_M).ceil().max(1.0);
    let mut ends = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY];
    for step in 0..=steps as u32 {
        let (id, station_m) = plane.layout.station(lane, length_m * f64::from(step) / steps);
        let at = plane.network.lane(id).position(station_m);
        ends = [ends[0].min(at.x), ends[1].max(at.x), ends[2].min(at.y), ends[3].max(at.y)];
    }
    [ends[0] - BESIDE_M, ends[1] + BESIDE_M, ends[2] - BESIDE_M, ends[3] + BESIDE_M]
}
