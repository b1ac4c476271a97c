//! Which lanes are near a point: a grid of squares over the plane.

use anabranch_geometry::Point;
use anabranch_kernel::maths;

use crate::lane::{Frenet, Lane, LaneId};

/// Squares are at least this large: a lane piece then rarely lies in more than a few.
const SQUARE_MIN_M: f64 = 10.0;
/// Squares per piece of a lane, at most: memory follows the map, not its extent.
const SQUARES_PER_PIECE: f64 = 8.0;

/// A piece of a lane that reaches into a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    lane: u32,
    piece: u32,
}

/// All pieces of all lanes by the squares they reach into.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Index {
    origin: Point,
    square_m: f64,
    columns: usize,
    rows: usize,
    /// Where the entries of each square begin; one more than squares.
    begins: Vec<u32>,
    entries: Vec<Entry>,
}

/// A rectangle along the axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub low: Point,
    pub high: Point,
}

impl Bounds {
    const NOTHING: Self =
        Self { low: Point::new(f64::INFINITY, f64::INFINITY), high: Point::new(f64::NEG_INFINITY, f64::NEG_INFINITY) };
    fn join(self, other: Self) -> Self {
        Self {
            low: Point::new(self.low.x.min(other.low.x), self.low.y.min(other.low.y)),
            high: Point::new(self.high.x.max(other.high.x), self.high.y.max(other.high.y)),
        }
    }
    pub(crate) fn distance_m(&self, point: Point) -> f64 {
        let dx = (self.low.x - point.x).max(point.x - self.high.x).max(0.0);
        let dy = (self.low.y - point.y).max(point.y - self.high.y).max(0.0);
        maths::hypot(dx, dy)
    }
}

/// The rectangle around one piece of a lane.
pub(crate) fn piece_bounds(lane: &Lane, piece: usize) -> Bounds {
    let h = lane.curve.knots[piece + 1] - lane.curve.knots[piece];
    let (x, y) = (lane.curve.pieces[piece].x.bounds(h), lane.curve.pieces[piece].y.bounds(h));
    Bounds { low: Point::new(x.0, y.0), high: Point::new(x.1, y.1) }
}

impl Index {
    pub fn new(lanes: &[Lane]) -> Self {
        let pieces = || {
            lanes.iter().flat_map(|lane| {
                let entry = |piece| Entry { lane: lane.id.0, piece: piece as u32 };
                (0..lane.curve.pieces.len()).map(move |piece| (entry(piece), piece_bounds(lane, piece)))
            })
        };
        let count = pieces().count();
        let whole = pieces().fold(Bounds::NOTHING, |whole, (_, bounds)| whole.join(bounds));
        let (width_m, height_m) = (whole.high.x - whole.low.x, whole.high.y - whole.low.y);
        let area_share = (width_m * height_m / (SQUARES_PER_PIECE * count as f64)).sqrt();
        let longest_share = width_m.max(height_m) / (SQUARES_PER_PIECE * count as f64);
        let square_m = SQUARE_MIN_M.max(area_share).max(longest_share);
        let columns = (width_m / square_m) as usize + 1;
        let rows = (height_m / square_m) as usize + 1;
        let mut index =
            Self { origin: whole.low, square_m, columns, rows, begins: vec![0; columns * rows + 1], entries: vec![] };
        for (_, bounds) in pieces() {
            index.for_squares(bounds, |index, square| index.begins[square + 1] += 1);
        }
        for square in 0..columns * rows {
            index.begins[square + 1] += index.begins[square];
        }
        index.entries = vec![Entry { lane: 0, piece: 0 }; index.begins[columns * rows] as usize];
        let mut filled = vec![0_u32; columns * rows];
        for (entry, bounds) in pieces() {
            index.for_squares(bounds, |index, square| {
                index.entries[(index.begins[square] + filled[square]) as usize] = entry;
                filled[square] += 1;
            });
        }
        index
    }

    fn for_squares(&mut self, bounds: Bounds, mut each: impl FnMut(&mut Self, usize)) {
        let ((first_column, first_row), (last_column, last_row)) = (self.square(bounds.low), self.square(bounds.high));
        for row in first_row..=last_row {
            for column in first_column..=last_column {
                each(self, row * self.columns + column);
            }
        }
    }

    fn bounds(&self) -> Bounds {
        let (width_m, height_m) = (self.columns as f64 * self.square_m, self.rows as f64 * self.square_m);
        Bounds { low: self.origin, high: Point::new(self.origin.x + width_m, self.origin.y + height_m) }
    }

    /// Column and row of the square of a point; of the nearest square for points outside.
    fn square(&self, point: Point) -> (usize, usize) {
        let along = |offset: f64, count: usize| ((offset / self.square_m) as usize).min(count - 1);
        (along(point.x - self.origin.x, self.columns), along(point.y - self.origin.y, self.rows))
    }

    /// All lanes that come within a radius of a point, in their order, each once.
    pub fn near(&self, lanes: &[Lane], point: Point, radius_m: f64, out: &mut Vec<LaneId>) {
        out.clear();
        let (first_column, first_row) = self.square(Point::new(point.x - radius_m, point.y - radius_m));
        let (last_column, last_row) = self.square(Point::new(point.x + radius_m, point.y + radius_m));
        for row in first_row..=last_row {
            let begin = self.begins[row * self.columns + first_column] as usize;
            let end = self.begins[row * self.columns + last_column + 1] as usize;
            for entry in &self.entries[begin..end] {
                let lane = &lanes[entry.lane as usize];
                if piece_bounds(lane, entry.piece as usize).distance_m(point) <= radius_m {
                    out.push(lane.id);
                }
            }
        }
        out.sort_unstable();
        out.dedup();
        out.retain(|id| lanes[id.index()].distance_m(point) <= radius_m);
    }

    /// The lane among those that `wanted` accepts whose middle is nearest, with the place on it; the first of equals.
    pub fn nearest(
        &self,
        lanes: &[Lane],
        point: Point,
        wanted: impl Fn(&Lane, &Frenet) -> bool,
    ) -> Option<(LaneId, Frenet)> {
        let (column, row) = self.square(point);
        let outside_m = self.bounds().distance_m(point);
        let mut best: Option<(f64, LaneId, Frenet)> = None;
        for ring in 0..self.columns.max(self.rows) {
            // Everything up to the last ring was looked at; what is nearer than its border cannot be beaten.
            let seen_m = maths::hypot((ring as f64 - 1.0).max(0.0) * self.square_m, outside_m);
            if best.as_ref().is_some_and(|(distance_m, ..)| *distance_m <= seen_m) {
                break;
            }
            self.for_ring((column, row), ring, |entry| {
                let lane = &lanes[entry.lane as usize];
                let piece = entry.piece as usize;
                let limit_m = best.as_ref().map_or(f64::INFINITY, |(distance_m, ..)| *distance_m);
                if piece_bounds(lane, piece).distance_m(point) > limit_m {
                    return;
                }
                let (distance_m, place) = place_on_piece(lane, piece, point);
                let better = match &best {
                    None => true,
                    Some((old_m, id, _)) => (distance_m, lane.id) < (*old_m, *id),
                };
                if better && wanted(lane, &place) {
                    best = Some((distance_m, lane.id, place));
                }
            });
        }
        best.map(|(_, id, place)| (id, place))
    }

    fn for_ring(&self, (column, row): (usize, usize), ring: usize, mut each: impl FnMut(Entry)) {
        let (column, row, ring) = (column as i64, row as i64, ring as i64);
        for r in (row - ring).max(0)..=(row + ring).min(self.rows as i64 - 1) {
            let edge = r == row - ring || r == row + ring;
            let step = if edge || ring == 0 { 1 } else { 2 * ring };
            let mut c = column - ring;
            while c <= column + ring {
                if (0..self.columns as i64).contains(&c) {
                    let square = (r * self.columns as i64 + c) as usize;
                    let (begin, end) = (self.begins[square] as usize, self.begins[square + 1] as usize);
                    self.entries[begin..end].iter().for_each(|entry| each(*entry));
                }
                c += step;
            }
        }
    }
}

/// Distance of a point to a lane near one of its pieces, and the place there.
fn place_on_piece(lane: &Lane, piece: usize, point: Point) -> (f64, Frenet) {
    let middle_m = 0.5 * (lane.curve.knots[piece] + lane.curve.knots[piece + 1]);
    let place = lane.project(point, middle_m);
    let inside = place.station_m.max(0.0).min(lane.length_m());
    if inside == place.station_m {
        return (place.lateral_m.abs(), place);
    }
    (lane.position(inside).distance_m(point), place)
}
