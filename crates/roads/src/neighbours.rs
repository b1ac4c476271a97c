//! Which lanes of a road lie beside each other.

use anabranch_kernel::maths;

use crate::lane::{Beside, Lane, LaneId};

/// Lanes are neighbours up to this many times half the sum of their widths, so that a broad line or a small gap between
/// them does not part them.
const GAP_FACTOR: f64 = 1.4;
/// Largest angle between neighbours, in radians.
const ANGLE_MAX: f64 = 0.5;
/// Places along a lane at which neighbours are looked for, as shares of its length.
const PROBES: [f64; 5] = [0.5, 0.25, 0.75, 0.05, 0.95];

/// What lies beside a lane at one probe.
struct Found {
    lane: LaneId,
    lateral_m: f64,
    same_direction: Direction,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Same,
    Opposite,
}

/// Fills in the neighbours of the lanes `first..` of one road.
pub(crate) fn find(lanes: &mut [Lane], first: usize) {
    for i in first..lanes.len() {
        let mut sides: [Option<Found>; 2] = [None, None];
        for share in PROBES {
            let found = at(lanes, first, i, lanes[i].length_m() * share);
            for (side, found) in sides.iter_mut().zip(found) {
                if side.is_none() {
                    *side = found;
                }
            }
        }
        let [left, right] = sides;
        let beside = |found: &Option<Found>| {
            let found = found.as_ref().filter(|found| found.same_direction == Direction::Same)?;
            Some(side_by_side(&lanes[i], &lanes[found.lane.index()]))
        };
        let (left_beside, right_beside) = (beside(&left), beside(&right));
        let oncoming = left.filter(|found| found.same_direction == Direction::Opposite).map(|found| found.lane);
        lanes[i].left = left_beside;
        lanes[i].right = right_beside;
        lanes[i].oncoming = oncoming;
    }
}

/// The nearest lane on the left and on the right of a station.
fn at(lanes: &[Lane], first: usize, i: usize, station_m: f64) -> [Option<Found>; 2] {
    let own = lanes[i].at(station_m);
    let mut sides: [Option<Found>; 2] = [None, None];
    for other in lanes[first..].iter().filter(|other| other.id != lanes[i].id) {
        let place = other.project_anywhere(own.position);
        if place.station_m < 0.0 || place.station_m > other.length_m() {
            continue;
        }
        let reach_m = 0.5 * (own.width_m + other.width_m(place.station_m)) * GAP_FACTOR;
        let turn = maths::wrap_angle(place.heading - own.heading).abs();
        let same_direction = match turn {
            _ if turn < ANGLE_MAX => Direction::Same,
            _ if turn > std::f64::consts::PI - ANGLE_MAX => Direction::Opposite,
            _ => continue,
        };
        // Seen from the other lane we are on its left when it is on our right, and the other way round when it is oncoming.
        let lateral_m = if same_direction == Direction::Same { -place.lateral_m } else { place.lateral_m };
        let side = &mut sides[usize::from(lateral_m < 0.0)];
        let nearer = side.as_ref().is_none_or(|found| lateral_m.abs() < found.lateral_m.abs());
        if lateral_m.abs() < reach_m && nearer {
            *side = Some(Found { lane: other.id, lateral_m, same_direction });
        }
    }
    sides
}

fn side_by_side(own: &Lane, other: &Lane) -> Beside {
    let mut near_m = other.project_anywhere(own.position(0.0)).station_m;
    let station = |knot: &f64| {
        near_m = other.project(own.position(*knot), near_m).station_m;
        near_m
    };
    let stations_m = own.curve.knots.iter().map(station).collect();
    Beside { lane: other.id, stations_m, other_length_m: other.length_m() }
}
