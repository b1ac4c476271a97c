//! Objects as they lie along the way ahead.

use anabranch_geometry::Point;
use anabranch_kernel::maths;
use arrayvec::ArrayVec;

use super::course::Course;
use super::seen::{ObjectKind, Seen};

/// Objects that count; farther ones are left out when there are more.
const NEIGHBOURS_MAX: usize = 24;
/// Objects farther aside than this do not matter.
const ASIDE_MAX_M: f64 = 12.0;
/// Objects farther behind than this do not matter.
const BEHIND_MAX_M: f64 = 60.0;
/// An object this far before the beginning of a piece or behind its end still belongs to it.
const SLACK_M: f64 = 2.0;

/// This close to the middle of a lane an object is on it, and other lanes are not asked.
const ON_LANE_M: f64 = 1.0;

/// An object relative to the way ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Its middle along the way.
    pub station_m: f64,
    /// Its middle beside the lane's, positive left.
    pub lateral_m: f64,
    /// Speed along the way.
    pub along_mps: f64,
    /// Speed to the left.
    pub across_mps: f64,
    /// Half of its extent along the way.
    pub half_along_m: f64,
    /// Half of its extent across.
    pub half_across_m: f64,
    /// What it was taken for.
    pub kind: ObjectKind,
}

/// The objects that can matter on the way ahead, nearest lanes first where an object lies beside several.
pub fn gather(course: &Course<'_>, seen: &Seen<'_>, ego_m: f64, reach_m: f64) -> ArrayVec<Neighbour, NEIGHBOURS_MAX> {
    let mut found: ArrayVec<Neighbour, NEIGHBOURS_MAX> = ArrayVec::new();
    for object in seen.objects {
        let local = seen.ego.pose.local_from_world(object.pose.point());
        let distance_m = maths::hypot(local.x, local.y);
        if distance_m > reach_m || (local.x < 0.0 && distance_m > BEHIND_MAX_M) {
            continue;
        }
        let Some((station_m, lateral_m, heading)) = place(course, object.pose.point(), ego_m + local.x) else {
            continue;
        };
        let (sin, cos) = maths::sin_cos(heading);
        let [east, north] = object.velocity_mps;
        let (turned_sin, turned_cos) = maths::sin_cos(object.pose.heading - heading);
        let (long, wide) = (object.half_length_m, object.half_width_m);
        let neighbour = Neighbour {
            station_m,
            lateral_m,
            along_mps: cos * east + sin * north,
            across_mps: cos * north - sin * east,
            half_along_m: turned_cos.abs() * long + turned_sin.abs() * wide,
            half_across_m: turned_sin.abs() * long + turned_cos.abs() * wide,
            kind: object.kind,
        };
        insert(&mut found, neighbour, ego_m);
    }
    found
}

/// Station and offset of a point on the piece of the way it lies nearest to, and the direction of the lane there.
pub(super) fn place(course: &Course<'_>, point: Point, near_m: f64) -> Option<(f64, f64, f64)> {
    let mut best: Option<(f64, f64, f64)> = None;
    for piece in &course.pieces {
        let (lane, _) = course.lane_at(piece.end_m);
        let near_m = near_m.max(piece.begin_m).min(piece.end_m) - piece.shift_m;
        let frenet = lane.project(point, near_m);
        let station_m = frenet.station_m + piece.shift_m;
        let inside = station_m >= piece.begin_m - SLACK_M && station_m <= piece.end_m + SLACK_M;
        let last = piece.end_m >= course.end_m;
        let nearer = best.is_none_or(|best| frenet.lateral_m.abs() < best.1.abs());
        if (inside || last && station_m > piece.begin_m) && frenet.lateral_m.abs() < ASIDE_MAX_M && nearer {
            best = Some((station_m, frenet.lateral_m, frenet.heading));
            if frenet.lateral_m.abs() < ON_LANE_M {
                break;
            }
        }
    }
    best
}

/// Keeps the nearest ones.
fn insert(found: &mut ArrayVec<Neighbour, NEIGHBOURS_MAX>, neighbour: Neighbour, ego_m: f64) {
    if found.try_push(neighbour).is_ok() {
        return;
    }
    let distance = |neighbour: &Neighbour| (neighbour.station_m - ego_m).abs();
    let farthest = (1..found.len()).fold(0, |far, i| if distance(&found[i]) > distance(&found[far]) { i } else { far });
    if distance(&neighbour) < distance(&found[farthest]) {
        found[farthest] = neighbour;
    }
}
