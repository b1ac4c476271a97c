//! One junction with its arms.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;

use super::strip::{Strip, straight_line, strip};
use super::turns::{Arm, Control, join};
use crate::plan::Map;

/// A junction of straight roads around the origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// Names of the arms with the directions in which they leave the junction, in radians, counter-clockwise from east.
    pub arms: Vec<(String, f64)>,
    /// Length of each arm.
    pub arm_m: f64,
    /// Lanes of each arm, as seen by those who drive away from the junction.
    pub lanes: Strip,
    /// How it is controlled.
    pub control: Control,
}

/// Distance from the outermost lane of a crossing road to the end of an arm: room for the curve of a right turn.
pub(super) const CORNER_M: f64 = 6.0;

/// How far from the middle of a junction its arms begin.
pub(super) fn setback_m(lanes: Strip) -> f64 {
    lanes.forward.max(lanes.backward) as f64 * lanes.width_m + CORNER_M
}

/// A junction `middle` with arms in any direction.
pub fn crossing(shape: &Crossing) -> Map {
    let mut map = Map { name: "crossing".into(), ..Map::default() };
    let mut arms = Vec::new();
    for (name, heading) in &shape.arms {
        let (sin, cos) = maths::sin_cos(*heading);
        let setback_m = setback_m(shape.lanes);
        let from = Point::new(setback_m * cos, setback_m * sin);
        let line = straight_line(Pose::new(from.x, from.y, *heading), shape.arm_m);
        map.roads.push(strip(name, &line, shape.lanes));
        arms.push(Arm {
            road: name.clone(),
            heading: *heading,
            incoming: (1..=shape.lanes.backward).map(|lane| format!("-{lane}")).collect(),
            outgoing: (1..=shape.lanes.forward).map(|lane| lane.to_string()).collect(),
            group: if sin.abs() > 0.7 { "second" } else { "first" },
        });
    }
    join(&mut map, "middle", &arms, shape.control);
    map
}

/// A main road from west to east and a side road `south`, which has a stop sign unless `control` says otherwise.
pub fn t_junction(arm_m: f64, control: Control) -> Map {
    let pi = std::f64::consts::PI;
    let arms = vec![("east".to_owned(), 0.0), ("west".to_owned(), pi), ("south".to_owned(), -0.5 * pi)];
    let shape = Crossing { arms, arm_m, lanes: Strip::TWO_WAY, control };
    Map { name: "t-junction".into(), ..crossing(&shape) }
}
