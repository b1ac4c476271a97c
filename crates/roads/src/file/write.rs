//! A map as text that reads back as the same map.

use std::fmt::Write;

use anabranch_geometry::Point;

use super::SCHEMA;
use super::sections::{ASPECTS, INTERPOLATIONS, MARKINGS, SIGNS};
use crate::barrier::BarrierShape;
use crate::junction::JunctionPlan;
use crate::plan::{Interpolation, LaneName, LanePlan, LinkPlan, Map, Marking};
use crate::signal::{Phase, Program};
use crate::zone::ZoneKind;

/// The map file of a map. Numbers are written so that they read back with the same bits.
pub fn write(map: &Map) -> String {
    let mut out = format!("schema = \"{SCHEMA}\"\nname = {}\n", quoted(&map.name));
    for road in &map.roads {
        line(&mut out, format_args!("\n[[road]]\nid = {}", quoted(&road.name)));
        road.lanes.iter().for_each(|lane| write_lane(&mut out, lane));
    }
    map.links.iter().for_each(|link| write_link(&mut out, link));
    map.junctions.iter().for_each(|junction| write_junction(&mut out, junction));
    map.programs.iter().for_each(|program| write_program(&mut out, program));
    for crosswalk in &map.crosswalks {
        line(&mut out, format_args!("\n[[crosswalk]]\nid = {}", quoted(&crosswalk.name)));
        line(&mut out, format_args!("from = {}\nto = {}", point(crosswalk.from), point(crosswalk.to)));
        line(&mut out, format_args!("width = \"{} m\"", crosswalk.width_m));
        if let Some((program, group)) = &crosswalk.signal {
            line(&mut out, format_args!("program = {}\ngroup = {}", quoted(program), quoted(group)));
        }
    }
    for zone in &map.zones {
        let (kind, value) = match zone.kind {
            ZoneKind::Friction(value) => ("friction", Some(value)),
            ZoneKind::UrbanCanyon(value) => ("urban-canyon", Some(value)),
            ZoneKind::BlindCorner(value) => ("blind-corner", Some(value)),
            ZoneKind::GpsLoss => ("gps-loss", None),
            ZoneKind::Open => ("open", None),
            ZoneKind::Spot => ("spot", None),
        };
        line(&mut out, format_args!("\n[[zone]]\nid = {}\nkind = \"{kind}\"", quoted(&zone.name)));
        if let Some(value) = value {
            line(&mut out, format_args!("value = {value:?}"));
        }
        line(&mut out, format_args!("corners = [{}]", points(&zone.corners)));
    }
    for barrier in &map.barriers {
        line(&mut out, format_args!("\n[[barrier]]\nid = {}", quoted(&barrier.name)));
        match &barrier.shape {
            BarrierShape::Line { points: all, width_m } => {
                line(&mut out, format_args!("width = \"{width_m} m\"\nline = [{}]", points(all)));
            }
            BarrierShape::Area { corners } => line(&mut out, format_args!("area = [{}]", points(corners))),
        }
    }
    for route in &map.routes {
        line(&mut out, format_args!("\n[[route]]\nid = {}", quoted(&route.name)));
        line(&mut out, format_args!("from = {}\nfrom_station = \"{} m\"", named(&route.from.0), route.from.1));
        line(&mut out, format_args!("to = {}\nto_station = \"{} m\"", named(&route.to.0), route.to.1));
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

fn named(lane: &LaneName) -> String {
    quoted(&lane.to_string())
}

fn point(point: Point) -> String {
    format!("[\"{} m\", \"{} m\"]", point.x, point.y)
}

fn points(all: &[Point]) -> String {
    all.iter().map(|corner| point(*corner)).collect::<Vec<_>>().join(", ")
}

/// The word of a value.
fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words.iter().find(|(_, known)| known == value).map_or("", |(word, _)| word)
}

fn write_lane(out: &mut String, lane: &LanePlan) {
    line(out, format_args!("[[road.lane]]\nid = {}", quoted(&lane.name)));
    if lane.width != Interpolation::default() {
        line(out, format_args!("width_goes = \"{}\"", word(INTERPOLATIONS, &lane.width)));
    }
    if lane.limit != Interpolation::default() {
        line(out, format_args!("limit_goes = \"{}\"", word(INTERPOLATIONS, &lane.limit)));
    }
    for (key, heading) in [("first_heading", lane.first_heading), ("last_heading", lane.last_heading)] {
        if let Some(heading) = heading {
            line(out, format_args!("{key} = \"{heading} rad\""));
        }
    }
    for (key, marking) in [("left_line", lane.left), ("right_line", lane.right)] {
        if marking != Marking::default() {
            line(out, format_args!("{key} = \"{}\"", word(MARKINGS, &marking)));
        }
    }
    line(out, format_args!("points = ["));
    for (i, waypoint) in lane.points.iter().enumerate() {
        let (x, y) = (waypoint.position.x, waypoint.position.y);
        let same = i > 0 && {
            let before = lane.points[i - 1];
            (before.width_m, before.limit_mps) == (waypoint.width_m, waypoint.limit_mps)
        };
        if same {
            line(out, format_args!("  [\"{x} m\", \"{y} m\"],"));
        } else {
            let (width_m, limit_mps) = (waypoint.width_m, waypoint.limit_mps);
            line(out, format_args!("  [\"{x} m\", \"{y} m\", \"{width_m} m\", \"{limit_mps} m/s\"],"));
        }
    }
    line(out, format_args!("]"));
}

fn write_link(out: &mut String, link: &LinkPlan) {
    line(out, format_args!("\n[[link]]\nfrom = {}\nto = {}", named(&link.from), named(&link.to)));
    if let Some(exit) = link.exit_point {
        line(out, format_args!("exit = {exit}"));
    }
    if let Some(entry) = link.entry_point {
        line(out, format_args!("entry = {entry}"));
    }
    if let Some(limit_mps) = link.limit_mps {
        line(out, format_args!("limit = \"{limit_mps} m/s\""));
    }
    if !link.through.is_empty() {
        line(out, format_args!("through = [{}]", points(&link.through)));
    }
    if let Some(junction) = &link.junction {
        line(out, format_args!("junction = {}", quoted(junction)));
    }
}

fn write_junction(out: &mut String, junction: &JunctionPlan) {
    line(out, format_args!("\n[[junction]]\nid = {}", quoted(&junction.name)));
    if let Some(program) = &junction.program {
        line(out, format_args!("program = {}", quoted(program)));
    }
    for approach in &junction.approaches {
        line(out, format_args!("[[junction.approach]]\nlane = {}", named(&approach.lane)));
        line(out, format_args!("sign = \"{}\"", word(SIGNS, &approach.sign)));
        line(out, format_args!("stop_before = \"{} m\"", approach.stop_before_m));
        if let Some(group) = &approach.group {
            line(out, format_args!("group = {}", quoted(group)));
        }
        for (to, group) in &approach.turn_groups {
            let (to, group) = (named(to), quoted(group));
            line(out, format_args!("[[junction.approach.turn]]\nto = {to}\ngroup = {group}"));
        }
    }
    for exception in &junction.yields {
        let turn = |turn: &(LaneName, LaneName)| format!("[{}, {}]", named(&turn.0), named(&turn.1));
        let (first, second) = (turn(&exception.turn), turn(&exception.to));
        line(out, format_args!("[[junction.yields]]\nturn = {first}\nto = {second}"));
    }
}

fn write_program(out: &mut String, program: &Program) {
    let groups = program.groups.iter().map(|group| quoted(group)).collect::<Vec<_>>().join(", ");
    line(out, format_args!("\n[[program]]\nid = {}\ngroups = [{groups}]", quoted(&program.name)));
    line(out, format_args!("offset = \"{} s\"\nphases = [", program.offset_us as f64 / 1e6));
    for Phase { duration_us, aspects } in &program.phases {
        let letter = |aspect| ASPECTS.iter().find(|(_, known)| known == aspect).map_or('d', |(letter, _)| *letter);
        let letters: String = aspects.iter().map(letter).collect();
        line(out, format_args!("  [\"{} s\", \"{letters}\"],", *duration_us as f64 / 1e6));
    }
    line(out, format_args!("]"));
}
