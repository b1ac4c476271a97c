//! `[make]`: a whole map by a few numbers.

use anabranch_kernel::units::Dimension;

use super::places::Places;
use super::tree::Table;
use super::values::{count_or, needed, quantity, quantity_or, word};
use crate::flaw::Element;
use crate::make::{self, City, Control, Crossing, Strip};
use crate::network::Network;
use crate::plan::Map;
use crate::report::Notes;

/// What can be made.
#[derive(Clone, Copy)]
enum Shape {
    Straight,
    Arc,
    Ring,
    OnRamp,
    LaneDrop,
    Crossing,
    TJunction,
    Roundabout,
    City,
    Highway,
    ParkingLot,
}

const SHAPES: &[(&str, Shape)] = &[
    ("straight", Shape::Straight),
    ("arc", Shape::Arc),
    ("ring", Shape::Ring),
    ("on-ramp", Shape::OnRamp),
    ("lane-drop", Shape::LaneDrop),
    ("crossing", Shape::Crossing),
    ("t-junction", Shape::TJunction),
    ("roundabout", Shape::Roundabout),
    ("city", Shape::City),
    ("highway", Shape::Highway),
    ("parking-lot", Shape::ParkingLot),
];

const CONTROLS: &[(&str, Control)] = &[
    ("nothing", Control::Nothing),
    ("all-way-stop", Control::AllWayStop),
    ("stop-at-side", Control::StopAtSide),
    ("lights", Control::Lights),
];

/// Most junctions of a city: its network then takes a few hundred megabytes.
const JUNCTIONS_MAX: usize = 20_000;
/// Longest road that is made.
const LENGTH_MAX_M: f64 = 1e6;
/// Largest angle of an arc, in radians.
const ANGLE_MAX: f64 = 6.0;
/// Most spots along an aisle.
const SPOTS_MAX: usize = 1000;
/// Most lanes of one direction.
const LANES_MAX: usize = 16;

/// The map that `[make]` describes; an empty one without it.
pub(super) fn read(root: &mut Table<'_>, places: &mut Places, notes: &mut Notes<'_>) -> Map {
    let Some(mut table) = root.table("make", notes) else { return Map::default() };
    places.put(Element::Map, table.span);
    let shape = needed(&mut table, "kind", notes).and_then(|node| word(node, SHAPES, notes));
    let kerb_gap = table.take("kerbs").map(|node| quantity(node, Dimension::Length, notes));
    let mut map = shape.and_then(|shape| make(shape, &mut table, notes));
    if let (Some(Some(gap_m)), Some(map)) = (kerb_gap, &mut map)
        && let Ok(network) = Network::new(map)
    {
        map.barriers.extend(make::kerbs(&network, gap_m));
    }
    if shape.is_some() {
        table.finish(notes);
    }
    map.unwrap_or_default()
}

fn make(shape: Shape, table: &mut Table<'_>, notes: &mut Notes<'_>) -> Option<Map> {
    let map = match shape {
        Shape::Straight => make::straight(positive(table, "length", 500.0, notes), lanes(table, notes)),
        Shape::Arc => {
            let angle = quantity_or(table, "angle", Dimension::Angle, 1.5, notes);
            if angle.abs() > ANGLE_MAX {
                notes.add(
                    "E0119",
                    table.span,
                    "`angle` is out of range",
                    "an arc is less than a circle: 6 rad at most",
                );
                return None;
            }
            make::arc(positive(table, "radius", 50.0, notes), angle, lanes(table, notes))
        }
        Shape::Ring => make::ring(positive(table, "radius", 100.0, notes), lanes(table, notes)),
        Shape::OnRamp => make::on_ramp(lanes(table, notes), positive(table, "merge", 250.0, notes)),
        Shape::LaneDrop => {
            let lanes = ranged(table, "lanes", 2, (2, LANES_MAX), notes);
            let before_m = positive(table, "before", 500.0, notes);
            make::lane_drop(lanes, before_m, positive(table, "after", 500.0, notes))
        }
        Shape::TJunction => {
            let control = control(table, Control::StopAtSide, notes);
            make::t_junction(positive(table, "arm", 100.0, notes), control)
        }
        Shape::Roundabout => roundabout(table, notes)?,
        Shape::Crossing => four_arms(table, notes),
        Shape::City => city(table, notes)?,
        Shape::Highway => make::highway(positive(table, "length", 1000.0, notes), lanes(table, notes)),
        Shape::ParkingLot => make::parking_lot(ranged(table, "spots", 10, (1, SPOTS_MAX), notes)),
    };
    notes.is_empty().then_some(map)
}

fn positive(table: &mut Table<'_>, key: &'static str, default: f64, notes: &mut Notes<'_>) -> f64 {
    let value = quantity_or(table, key, Dimension::Length, default, notes);
    if value > 0.0 && value <= LENGTH_MAX_M {
        return value;
    }
    let help = format!("write more than 0 m and at most 1000 km; its default is \"{default} m\"");
    notes.add("E0118", table.span, format!("`{key}` is out of range"), help);
    default
}

fn ranged(
    table: &mut Table<'_>,
    key: &'static str,
    default: usize,
    (low, high): (usize, usize),
    notes: &mut Notes<'_>,
) -> usize {
    let value = count_or(table, key, default, notes);
    if (low..=high).contains(&value) {
        return value;
    }
    notes.add("E0119", table.span, format!("`{key}` is out of range"), format!("write {low} to {high}"));
    default
}

fn control(table: &mut Table<'_>, default: Control, notes: &mut Notes<'_>) -> Control {
    table.take("control").and_then(|node| word(node, CONTROLS, notes)).unwrap_or(default)
}

fn lanes(table: &mut Table<'_>, notes: &mut Notes<'_>) -> usize {
    ranged(table, "lanes", 1, (1, LANES_MAX), notes)
}

fn roundabout(table: &mut Table<'_>, notes: &mut Notes<'_>) -> Option<Map> {
    let arms = ranged(table, "arms", 4, (2, 8), notes);
    let radius_m = positive(table, "radius", 20.0, notes);
    let arm_m = positive(table, "arm", 100.0, notes);
    let least_m = make::ring_min_m(arms);
    if radius_m < least_m {
        let help = format!("{arms} arms need a radius of at least {least_m:.0} m");
        notes.add("E0118", table.span, format!("the arms have no room on a ring of {radius_m} m"), help);
        return None;
    }
    Some(make::roundabout(radius_m, arms, arm_m))
}

fn both_ways(lanes: usize) -> Strip {
    Strip { forward: lanes, backward: lanes, ..Strip::TWO_WAY }
}

fn four_arms(table: &mut Table<'_>, notes: &mut Notes<'_>) -> Map {
    let pi = std::f64::consts::PI;
    let arms = [("east", 0.0), ("north", 0.5 * pi), ("west", pi), ("south", -0.5 * pi)];
    let arms = arms.map(|(name, heading)| (name.to_owned(), heading)).to_vec();
    let control = control(table, Control::Lights, notes);
    let lanes = both_ways(lanes(table, notes));
    make::crossing(&Crossing { arms, arm_m: positive(table, "arm", 100.0, notes), lanes, control })
}

fn city(table: &mut Table<'_>, notes: &mut Notes<'_>) -> Option<Map> {
    let columns = ranged(table, "columns", 3, (1, JUNCTIONS_MAX), notes);
    let rows = ranged(table, "rows", 3, (1, JUNCTIONS_MAX), notes);
    let block_m = positive(table, "block", 120.0, notes);
    let control = control(table, Control::Lights, notes);
    let lanes = both_ways(lanes(table, notes));
    let least_m = make::block_min_m(lanes);
    if block_m < least_m {
        let help = format!("blocks of these streets are at least {least_m:.0} m long");
        notes.add("E0118", table.span, format!("no street fits between junctions {block_m} m apart"), help);
        return None;
    }
    if (columns + 1) * (rows + 1) > JUNCTIONS_MAX {
        let message = format!("the city has {} junctions", (columns + 1) * (rows + 1));
        notes.add("E0123", table.span, message, format!("at most {JUNCTIONS_MAX} can be made"));
        return None;
    }
    Some(make::city(City { columns, rows, block_m, lanes, control }))
}
