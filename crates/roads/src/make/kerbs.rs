//! Kerbs along the outer edges of roads.

use crate::barrier::{Barrier, BarrierShape};
use crate::lane::{Lane, LaneKind};
use crate::network::Network;

/// Distance of points along a kerb.
const SPACING_M: f64 = 2.0;
/// Thickness of a kerb.
const WIDTH_M: f64 = 0.2;

/// Kerbs beside all lanes of roads that have nothing beside them, `gap_m` from the edge of the lane. Junctions stay open.
pub fn kerbs(network: &Network, gap_m: f64) -> Vec<Barrier> {
    let roads = network.lanes().iter().filter(|lane| lane.kind() == LaneKind::Road);
    roads.flat_map(|lane| sides(lane).into_iter().map(move |side| kerb(lane, side, gap_m))).collect()
}

/// The free sides of a lane: 1 for left, −1 for right.
fn sides(lane: &Lane) -> Vec<f64> {
    let left = (lane.left().is_none() && lane.oncoming().is_none()).then_some(1.0);
    let right = lane.right().is_none().then_some(-1.0);
    left.into_iter().chain(right).collect()
}

fn kerb(lane: &Lane, side: f64, gap_m: f64) -> Barrier {
    let steps = (lane.length_m() / SPACING_M).ceil().max(1.0) as usize;
    let point = |k: usize| {
        let station_m = lane.length_m() * k as f64 / steps as f64;
        lane.point_at(station_m, side * (0.5 * lane.width_m(station_m) + gap_m))
    };
    let name = format!("kerb-{}-{}-{}", lane.name().road, lane.name().lane, if side > 0.0 { "left" } else { "right" });
    Barrier { name, shape: BarrierShape::Line { points: (0..=steps).map(point).collect(), width_m: WIDTH_M } }
}
