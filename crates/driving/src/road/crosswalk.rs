//! People on a crosswalk go first.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;
use anabranch_roads::{Crosswalk, LaneCrossing, LaneId, Leg, Network};

use super::course::Course;
use super::seen::{ObjectKind, Seen, SeenObject};

/// Distance of the front from the strip.
const BEFORE_M: f64 = 1.0;
/// Whoever would have to brake harder than this goes on.
const LATE_DECEL_MPS2: f64 = 5.0;
/// Slower than this, people stand.
const STANDS_MPS: f64 = 0.2;
/// People this far from the kerb who walk towards it are about to cross.
const KERB_M: f64 = 1.5;
/// People farther than this from the side of the lane are let be.
const ASIDE_M: f64 = 2.5;

/// A crosswalk over a lane that a route may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouteCrossing {
    crosswalk: usize,
    crossing: LaneCrossing,
}

/// The crosswalks that a route can meet: on its lanes and those beside them.
pub fn along(network: &Network, legs: &[Leg]) -> Vec<RouteCrossing> {
    let meets = |lane: LaneId| {
        let near = |leg: &Leg| {
            let own = network.lane(leg.lane);
            leg.lane == lane || own.left() == Some(lane) || own.right() == Some(lane)
        };
        legs.iter().any(near)
    };
    let all = network.crosswalks().iter().enumerate();
    all.flat_map(|(crosswalk, strip)| strip.crossings.iter().map(move |crossing| (crosswalk, *crossing)))
        .filter(|(_, crossing)| meets(crossing.lane))
        .map(|(crosswalk, crossing)| RouteCrossing { crosswalk, crossing })
        .collect()
}

/// Way until the front must stand before a crosswalk where somebody crosses; infinite if there is none.
pub fn remaining_m(
    network: &Network,
    crossings: &[RouteCrossing],
    course: &Course<'_>,
    seen: &Seen<'_>,
    front_m: f64,
) -> f64 {
    let speed_mps = seen.ego.speed_mps.max(0.0);
    let mut nearest_m = f64::INFINITY;
    for RouteCrossing { crosswalk, crossing } in crossings {
        let Some(piece) = course.pieces.iter().find(|piece| piece.lane == crossing.lane) else { continue };
        let room_m = crossing.from_station_m + piece.shift_m - BEFORE_M - front_m;
        let too_late = 0.5 * speed_mps * speed_mps > LATE_DECEL_MPS2 * room_m.max(0.0);
        if room_m < -BEFORE_M || room_m > nearest_m || too_late && speed_mps > STANDS_MPS {
            continue;
        }
        let lane = network.lane(crossing.lane);
        let middle_m = 0.5 * (crossing.from_station_m + crossing.to_station_m);
        let (here, half_m) = (lane.position(middle_m), 0.5 * lane.width_m(middle_m));
        let strip = &network.crosswalks()[*crosswalk];
        if seen.objects.iter().any(|object| crosses(strip, object, here, half_m)) {
            nearest_m = room_m;
        }
    }
    nearest_m
}

/// Whether someone uses a crosswalk and has not passed the lane.
fn crosses(crosswalk: &Crosswalk, object: &SeenObject, lane: Point, lane_half_m: f64) -> bool {
    if !matches!(object.kind, ObjectKind::Pedestrian | ObjectKind::Cyclist) {
        return false;
    }
    let (dx, dy) = (crosswalk.to.x - crosswalk.from.x, crosswalk.to.y - crosswalk.from.y);
    let strip = Pose::new(crosswalk.from.x, crosswalk.from.y, maths::atan2(dy, dx));
    let length_m = maths::hypot(dx, dy);
    let place = strip.local_from_world(object.pose.point());
    if place.y.abs() > 0.5 * crosswalk.width_m + object.half_width_m {
        return false;
    }
    let [east, north] = object.velocity_mps;
    let along_mps = (dx * east + dy * north) / length_m;
    let lane_m = strip.local_from_world(lane).x;
    let towards = (lane_m - place.x) * along_mps > 0.0;
    let stands = along_mps.abs() < STANDS_MPS;
    let aside_m = (place.x - lane_m).abs() - lane_half_m;
    let on_road = (0.0..=length_m).contains(&place.x);
    let at_kerb = (-KERB_M..=length_m + KERB_M).contains(&place.x);
    aside_m < 0.0 || (on_road && stands && aside_m < ASIDE_M) || (at_kerb && towards && !stands)
}
