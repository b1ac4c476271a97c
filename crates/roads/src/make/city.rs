//! A city of square blocks.

use anabranch_geometry::Pose;

use super::crossing::setback_m;
use super::strip::{Strip, straight_line, strip};
use super::turns::{Arm, Control, join};
use crate::plan::Map;

/// Streets between rectangular blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct City {
    /// Blocks from west to east.
    pub columns: usize,
    /// Blocks from south to north.
    pub rows: usize,
    /// From the middle of one street to the next.
    pub block_m: f64,
    /// Lanes of every street; as many each way.
    pub lanes: Strip,
    /// How junctions are controlled.
    pub control: Control,
}

/// The least distance between streets that leaves room for a street of 10 m between two junctions.
pub fn block_min_m(lanes: Strip) -> f64 {
    2.0 * setback_m(lanes) + 10.0
}

/// Length of a street between two junctions.
pub fn street_m(block_m: f64, lanes: Strip) -> f64 {
    block_m - 2.0 * setback_m(lanes)
}

/// Street `e-C-R` leads eastwards from junction `j-C-R`, street `n-C-R` northwards; columns and rows are counted from the
/// south-west corner at the origin. Lights of neighbouring junctions are half a period apart.
pub fn city(shape: City) -> Map {
    let mut map = Map { name: "city".into(), ..Map::default() };
    let setback_m = setback_m(shape.lanes);
    let length_m = street_m(shape.block_m, shape.lanes);
    let corner = |column: usize, row: usize| (column as f64 * shape.block_m, row as f64 * shape.block_m);
    for row in 0..=shape.rows {
        for column in 0..=shape.columns {
            let (x, y) = corner(column, row);
            if column < shape.columns {
                let line = straight_line(Pose::new(x + setback_m, y, 0.0), length_m);
                map.roads.push(strip(&format!("e-{column}-{row}"), &line, shape.lanes));
            }
            if row < shape.rows {
                let line = straight_line(Pose::new(x, y + setback_m, std::f64::consts::FRAC_PI_2), length_m);
                map.roads.push(strip(&format!("n-{column}-{row}"), &line, shape.lanes));
            }
        }
    }
    for row in 0..=shape.rows {
        for column in 0..=shape.columns {
            let name = format!("j-{column}-{row}");
            join(&mut map, &name, &arms(&shape, column, row), shape.control);
            if let Some(program) = map.programs.last_mut().filter(|program| program.name == name) {
                program.offset_us = (column + row) as u64 % 2 * (program.period_us() / 2);
            }
        }
    }
    map
}

fn arms(shape: &City, column: usize, row: usize) -> Vec<Arm> {
    let forward: Vec<String> = (1..=shape.lanes.forward).map(|lane| lane.to_string()).collect();
    let backward: Vec<String> = (1..=shape.lanes.backward).map(|lane| format!("-{lane}")).collect();
    // Streets that begin here lead away along their line, those that end here against it.
    let away = |road: String, heading: f64, group| Arm {
        road,
        heading,
        incoming: backward.clone(),
        outgoing: forward.clone(),
        group,
    };
    let back = |road: String, heading: f64, group| Arm {
        road,
        heading,
        incoming: forward.clone(),
        outgoing: backward.clone(),
        group,
    };
    let pi = std::f64::consts::PI;
    let mut arms = Vec::new();
    if column < shape.columns {
        arms.push(away(format!("e-{column}-{row}"), 0.0, "first"));
    }
    if column > 0 {
        arms.push(back(format!("e-{}-{row}", column - 1), pi, "first"));
    }
    if row < shape.rows {
        arms.push(away(format!("n-{column}-{row}"), 0.5 * pi, "second"));
    }
    if row > 0 {
        arms.push(back(format!("n-{column}-{}", row - 1), -0.5 * pi, "second"));
    }
    arms
}
