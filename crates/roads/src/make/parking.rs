//! A parking lot: an aisle with spots on both sides (S4-22).

use anabranch_geometry::{Point, Pose};

use super::strip::{Strip, straight_line, strip};
use crate::barrier::{Barrier, BarrierShape};
use crate::plan::Map;
use crate::zone::{Zone, ZoneKind};

/// Size of a spot.
const SPOT_M: [f64; 2] = [2.5, 5.0];
/// Width of each lane of the aisle.
const LANE_M: f64 = 3.0;
/// Free ground before the first spot and behind the last.
const END_M: f64 = 8.0;
/// Speed limit: 10 km/h.
const LIMIT_MPS: f64 = 10.0 / 3.6;

/// An aisle `aisle` eastwards from the origin, with spots `north-0`, `south-0`, … at right angles to it and a wall around all
/// but its western end. The ground is an open zone `lot`.
pub fn parking_lot(spots_per_side: usize) -> Map {
    let [spot_width_m, spot_depth_m] = SPOT_M;
    let length_m = 2.0 * END_M + spots_per_side as f64 * spot_width_m;
    let lanes = Strip { width_m: LANE_M, limit_mps: LIMIT_MPS, ..Strip::TWO_WAY };
    let aisle = strip("aisle", &straight_line(Pose::new(0.0, 0.0, 0.0), length_m), lanes);
    let corners = |[left, right]: [f64; 2], [low, high]: [f64; 2]| {
        [(left, low), (right, low), (right, high), (left, high)].map(|(x, y)| Point::new(x, y)).to_vec()
    };
    let depth_m = LANE_M + spot_depth_m;
    let lot = Zone { name: "lot".into(), kind: ZoneKind::Open, corners: corners([0.0, length_m], [-depth_m, depth_m]) };
    let spot = |side: &str, i: usize| {
        let left = END_M + i as f64 * spot_width_m;
        let rows = if side == "north" { [LANE_M, depth_m] } else { [-depth_m, -LANE_M] };
        Zone { name: format!("{side}-{i}"), kind: ZoneKind::Spot, corners: corners([left, left + spot_width_m], rows) }
    };
    let spots = ["north", "south"].into_iter().flat_map(|side| (0..spots_per_side).map(move |i| spot(side, i)));
    let wall = [(0.0, depth_m), (length_m, depth_m), (length_m, -depth_m), (0.0, -depth_m)];
    let points = wall.map(|(x, y)| Point::new(x, y)).to_vec();
    Map {
        name: "parking-lot".into(),
        roads: vec![aisle],
        zones: std::iter::once(lot).chain(spots).collect(),
        barriers: vec![Barrier { name: "wall".into(), shape: BarrierShape::Line { points, width_m: 0.2 } }],
        ..Map::default()
    }
}
