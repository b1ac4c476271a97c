//! The blocks of a map file, one function each.

use anabranch_geometry::Pose;
use anabranch_kernel::units::Dimension;

use super::places::Places;
use super::tree::{Node, Table};
use super::values::{count_or, id, lane_name, needed, needed_text, point, points, quantity, quantity_or, word};
use crate::barrier::{Barrier, BarrierShape};
use crate::crosswalk::CrosswalkPlan;
use crate::curve::Curve;
use crate::flaw::Element;
use crate::junction::{ApproachPlan, JunctionPlan, Sign, YieldPlan};
use crate::make::{LANE_WIDTH_M, Strip, TOWN_LIMIT_MPS, strip};
use crate::plan::{Interpolation, LaneName, LanePlan, LinkPlan, Map, Marking, RoadPlan, RoutePlan, Waypoint};
use crate::report::Notes;
use crate::signal::{Aspect, Phase, Program};
use crate::zone::{Zone, ZoneKind};

pub(super) const INTERPOLATIONS: &[(&str, Interpolation)] =
    &[("step", Interpolation::Step), ("cubic", Interpolation::Cubic)];
pub(super) const MARKINGS: &[(&str, Marking)] = &[("broken", Marking::Broken), ("solid", Marking::Solid)];
pub(super) const SIGNS: &[(&str, Sign)] =
    &[("stop", Sign::Stop), ("yield", Sign::Yield), ("none", Sign::None), ("priority", Sign::Priority)];
pub(super) const ASPECTS: &[(char, Aspect)] =
    &[('r', Aspect::Red), ('u', Aspect::RedAmber), ('g', Aspect::Green), ('a', Aspect::Amber), ('d', Aspect::Dark)];

pub(super) fn roads(root: &mut Table<'_>, map: &mut Map, places: &mut Places, notes: &mut Notes<'_>) {
    for mut table in root.tables("road", notes) {
        let number = map.roads.len();
        places.put(Element::Road(number), table.span);
        let name = id(&mut table, notes);
        let lanes = table.tables("lane", notes);
        let width_m = quantity_or(&mut table, "width", Dimension::Length, LANE_WIDTH_M, notes);
        let limit_mps = quantity_or(&mut table, "limit", Dimension::Speed, TOWN_LIMIT_MPS, notes);
        let line = table.take("line");
        let road = if let Some(line) = line {
            if !lanes.is_empty() {
                let help = "keep the line with `forward` and `backward`, or the lanes one by one";
                notes.add("E0120", line.span, "`line` and [[road.lane]] exclude each other", help);
            }
            let forward = lanes_along(&mut table, "forward", 1, notes);
            let backward = lanes_along(&mut table, "backward", 0, notes);
            let lanes = Strip { forward, backward, width_m, limit_mps };
            along_line(&name, number, line, lanes, places, notes)
        } else {
            let default = Waypoint { position: Default::default(), width_m, limit_mps };
            let read = |(l, table): (usize, Table<'_>)| lane(table, (number, l), default, places, notes);
            RoadPlan { name, lanes: lanes.into_iter().enumerate().map(read).collect() }
        };
        if road.lanes.is_empty() && notes.is_empty() {
            let help = "add `line = [...]` with lanes along it, or [[road.lane]] blocks";
            notes.add("E0106", table.span, "the road has no lane", help);
        }
        map.roads.push(road);
        table.finish(notes);
    }
}

/// Most lanes along a line in one direction.
const LANES_MAX: usize = 16;

fn lanes_along(table: &mut Table<'_>, key: &'static str, default: usize, notes: &mut Notes<'_>) -> usize {
    let count = count_or(table, key, default, notes);
    if count > LANES_MAX {
        notes.add("E0119", table.span, format!("`{key}` is out of range"), format!("write 0 to {LANES_MAX}"));
    }
    count.min(LANES_MAX)
}

/// Lanes along a line through points.
fn along_line(
    name: &str,
    road: usize,
    line: Node<'_>,
    lanes: Strip,
    places: &mut Places,
    notes: &mut Notes<'_>,
) -> RoadPlan {
    let items = line.items(notes);
    let points: Vec<_> = items.iter().filter_map(|item| point(*item, notes)).collect();
    let waypoint = |position: &_| Waypoint { position: *position, width_m: lanes.width_m, limit_mps: lanes.limit_mps };
    let plan = LanePlan { points: points.iter().map(waypoint).collect(), ..LanePlan::default() };
    let apart = points.windows(2).all(|pair| pair[0].distance_m(pair[1]) > 0.0);
    if points.len() < 2 || points.len() < items.len() || !apart {
        // Too little for a curve; as a lane of its own it gets the message it deserves.
        items.iter().enumerate().for_each(|(p, item)| places.put(Element::Point(road, 0, p), item.span));
        return RoadPlan { name: name.to_owned(), lanes: vec![LanePlan { name: "1".into(), ..plan }] };
    }
    let curve = Curve::new(&plan);
    let pose = |station: &f64| {
        let jet = curve.jet(*station);
        Pose::new(jet.position.x, jet.position.y, anabranch_kernel::maths::atan2(jet.slope.y, jet.slope.x))
    };
    let poses: Vec<Pose> = curve.knots.iter().map(pose).collect();
    let plan = strip(name, &poses, lanes);
    for (l, lane) in plan.lanes.iter().enumerate() {
        let against = lane.name.starts_with('-');
        for p in 0..items.len() {
            let item = if against { items.len() - 1 - p } else { p };
            places.put(Element::Point(road, l, p), items[item].span);
        }
    }
    plan
}

fn lane(
    mut table: Table<'_>,
    (road, number): (usize, usize),
    default: Waypoint,
    places: &mut Places,
    notes: &mut Notes<'_>,
) -> LanePlan {
    places.put(Element::Lane(road, number), table.span);
    let name = id(&mut table, notes);
    let width_m = quantity_or(&mut table, "width", Dimension::Length, default.width_m, notes);
    let limit_mps = quantity_or(&mut table, "limit", Dimension::Speed, default.limit_mps, notes);
    let mut last = Waypoint { width_m, limit_mps, ..default };
    let mut waypoints = Vec::new();
    let items = needed(&mut table, "points", notes).map(|node| node.items(notes)).unwrap_or_default();
    for (p, item) in items.into_iter().enumerate() {
        places.put(Element::Point(road, number, p), item.span);
        if let Some(read) = waypoint(item, last, notes) {
            last = read;
            waypoints.push(read);
        }
    }
    let plan = LanePlan {
        name,
        points: waypoints,
        width: table.take("width_goes").and_then(|node| word(node, INTERPOLATIONS, notes)).unwrap_or_default(),
        limit: table.take("limit_goes").and_then(|node| word(node, INTERPOLATIONS, notes)).unwrap_or_default(),
        first_heading: table.take("first_heading").and_then(|node| quantity(node, Dimension::Angle, notes)),
        last_heading: table.take("last_heading").and_then(|node| quantity(node, Dimension::Angle, notes)),
        left: table.take("left_line").and_then(|node| word(node, MARKINGS, notes)).unwrap_or_default(),
        right: table.take("right_line").and_then(|node| word(node, MARKINGS, notes)).unwrap_or_default(),
    };
    table.finish(notes);
    plan
}

/// `[x, y]`, `[x, y, width]` or `[x, y, width, limit]`; what is left out is as at the point before.
fn waypoint(node: Node<'_>, before: Waypoint, notes: &mut Notes<'_>) -> Option<Waypoint> {
    let items = node.items(notes);
    if !(2..=4).contains(&items.len()) {
        if node.value.is_array() {
            let help = "write [\"1 m\", \"2 m\"], and width and limit behind them where they change";
            notes.add("E0107", node.span, "a way-point is x, y, width and limit", help);
        }
        return None;
    }
    let mut read = |i: usize, dimension| items.get(i).map(|item| quantity(*item, dimension, notes));
    let (x, y) = (read(0, Dimension::Length)?, read(1, Dimension::Length)?);
    let width_m = read(2, Dimension::Length).unwrap_or(Some(before.width_m));
    let limit_mps = read(3, Dimension::Speed).unwrap_or(Some(before.limit_mps));
    let position = anabranch_geometry::Point::new(x?, y?);
    Some(Waypoint { position, width_m: width_m?, limit_mps: limit_mps? })
}

fn needed_lane(table: &mut Table<'_>, key: &'static str, notes: &mut Notes<'_>) -> Option<LaneName> {
    needed(table, key, notes).and_then(|node| lane_name(node, notes))
}

pub(super) fn links(root: &mut Table<'_>, map: &mut Map, places: &mut Places, notes: &mut Notes<'_>) {
    for mut table in root.tables("link", notes) {
        places.put(Element::Link(map.links.len()), table.span);
        let (from, to) = (needed_lane(&mut table, "from", notes), needed_lane(&mut table, "to", notes));
        let number = |table: &mut Table<'_>, key: &'static str, notes: &mut Notes<'_>| {
            let number = count_or(table, key, usize::MAX, notes);
            (number != usize::MAX).then_some(number)
        };
        let exit_point = number(&mut table, "exit", notes);
        let entry_point = number(&mut table, "entry", notes);
        let limit_mps = table.take("limit").and_then(|node| quantity(node, Dimension::Speed, notes));
        let through = table.take("through").map(|node| points(node, notes)).unwrap_or_default();
        let junction = table.take("junction").and_then(|node| node.text(notes)).map(str::to_owned);
        if let (Some(from), Some(to)) = (from, to) {
            map.links.push(LinkPlan { from, exit_point, to, entry_point, limit_mps, through, junction });
        }
        table.finish(notes);
    }
}

pub(super) fn junctions(root: &mut Table<'_>, map: &mut Map, places: &mut Places, notes: &mut Notes<'_>) {
    for mut table in root.tables("junction", notes) {
        let number = map.junctions.len();
        places.put(Element::Junction(number), table.span);
        let mut junction = JunctionPlan { name: id(&mut table, notes), ..JunctionPlan::default() };
        junction.program = table.take("program").and_then(|node| node.text(notes)).map(str::to_owned);
        for approach in table.tables("approach", notes) {
            places.put(Element::Approach(number, junction.approaches.len()), approach.span);
            junction.approaches.extend(read_approach(approach, notes));
        }
        for mut exception in table.tables("yields", notes) {
            places.put(Element::Exception(number, junction.yields.len()), exception.span);
            let (turn, to) = (turn(&mut exception, "turn", notes), turn(&mut exception, "to", notes));
            junction.yields.extend(turn.zip(to).map(|(turn, to)| YieldPlan { turn, to }));
            exception.finish(notes);
        }
        map.junctions.push(junction);
        table.finish(notes);
    }
}

fn read_approach(mut table: Table<'_>, notes: &mut Notes<'_>) -> Option<ApproachPlan> {
    let lane = needed_lane(&mut table, "lane", notes);
    let sign = table.take("sign").and_then(|node| word(node, SIGNS, notes)).unwrap_or_default();
    let stop_before_m = quantity_or(&mut table, "stop_before", Dimension::Length, 0.0, notes);
    let group = table.take("group").and_then(|node| node.text(notes)).map(str::to_owned);
    let mut turn_groups = Vec::new();
    for mut turn in table.tables("turn", notes) {
        let to = needed_lane(&mut turn, "to", notes);
        let group = needed_text(&mut turn, "group", notes);
        turn_groups.extend(to.zip(group).map(|(to, group)| (to, group.to_owned())));
        turn.finish(notes);
    }
    table.finish(notes);
    Some(ApproachPlan { lane: lane?, sign, stop_before_m, group, turn_groups })
}

/// `["from.1", "to.1"]`.
fn turn(table: &mut Table<'_>, key: &'static str, notes: &mut Notes<'_>) -> Option<(LaneName, LaneName)> {
    let node = needed(table, key, notes)?;
    let items = node.items(notes);
    let [from, to] = items[..] else {
        notes.add("E0107", node.span, "a turn is named by two lanes", "write [\"from.1\", \"to.1\"]");
        return None;
    };
    Some((lane_name(from, notes)?, lane_name(to, notes)?))
}

pub(super) fn programs(root: &mut Table<'_>, map: &mut Map, places: &mut Places, notes: &mut Notes<'_>) {
    for mut table in root.tables("program", notes) {
        places.put(Element::Program(map.programs.len()), table.span);
        let name = id(&mut table, notes);
        let groups = needed(&mut table, "groups", notes).map(|node| node.items(notes)).unwrap_or_default();
        let groups = groups.into_iter().filter_map(|node| node.text(notes)).map(str::to_owned).collect();
        let phases = needed(&mut table, "phases", notes).map(|node| node.items(notes)).unwrap_or_default();
        let phases = phases.into_iter().filter_map(|node| phase(node, notes)).collect();
        let offset_us = table.take("offset").and_then(|node| microseconds(node, notes)).unwrap_or(0);
        map.programs.push(Program { name, groups, phases, offset_us });
        table.finish(notes);
    }
}

/// `["20 s", "grr"]`: how long, and one letter per group.
fn phase(node: Node<'_>, notes: &mut Notes<'_>) -> Option<Phase> {
    let items = node.items(notes);
    let [duration, letters] = items[..] else {
        notes.add("E0107", node.span, "a phase is a duration and letters", "write [\"20 s\", \"gr\"]");
        return None;
    };
    let duration_us = microseconds(duration, notes);
    let mut aspects = Vec::new();
    for letter in letters.text(notes)?.chars() {
        match ASPECTS.iter().find(|(known, _)| *known == letter) {
            Some((_, aspect)) => aspects.push(*aspect),
            None => {
                let help = "r red, u red and amber, g green, a amber, d dark";
                notes.add("E0114", letters.span, format!("`{letter}` is no light"), help);
            }
        }
    }
    Some(Phase { duration_us: duration_us?, aspects })
}

/// Longest time in programs of lights: a day.
const PROGRAM_S_MAX: f64 = 86_400.0;

fn microseconds(node: Node<'_>, notes: &mut Notes<'_>) -> Option<u64> {
    let seconds = quantity(node, Dimension::Time, notes)?;
    if !(0.0..=PROGRAM_S_MAX).contains(&seconds) {
        notes.add("E0119", node.span, "the time is out of range", "write 0 s to 24 h");
        return None;
    }
    Some((seconds * 1e6).round() as u64)
}

pub(super) fn crosswalks(root: &mut Table<'_>, map: &mut Map, places: &mut Places, notes: &mut Notes<'_>) {
    for mut table in root.tables("crosswalk", notes) {
        places.put(Element::Crosswalk(map.crosswalks.len()), table.span);
        let name = id(&mut table, notes);
        let from = needed(&mut table, "from", notes).and_then(|node| point(node, notes));
        let to = needed(&mut table, "to", notes).and_then(|node| point(node, notes));
        let width_m = quantity_or(&mut table, "width", Dimension::Length, 4.0, notes);
        let program = table.take("program").and_then(|node| node.text(notes)).map(str::to_owned);
        let group = table.take("group").and_then(|node| node.text(notes)).map(str::to_owned);
        if program.is_some() != group.is_some() {
            let help = "give both, or none for a crosswalk without light";
            notes.add("E0106", table.span, "the light of a crosswalk has a program and a group", help);
        }
        if let (Some(from), Some(to)) = (from, to) {
            map.crosswalks.push(CrosswalkPlan { name, from, to, width_m, signal: program.zip(group) });
        }
        table.finish(notes);
    }
}

/// Kinds of zones that need no value.
const PLAIN_ZONES: &[(&str, Option<ZoneKind>)] = &[
    ("gps-loss", Some(ZoneKind::GpsLoss)),
    ("open", Some(ZoneKind::Open)),
    ("spot", Some(ZoneKind::Spot)),
    ("friction", None),
    ("urban-canyon", None),
    ("blind-corner", None),
];

pub(super) fn zones(root: &mut Table<'_>, map: &mut Map, places: &mut Places, notes: &mut Notes<'_>) {
    for mut table in root.tables("zone", notes) {
        places.put(Element::Zone(map.zones.len()), table.span);
        let name = id(&mut table, notes);
        let node = needed(&mut table, "kind", notes);
        let plain = node.and_then(|node| word(node, PLAIN_ZONES, notes));
        let kind = match plain {
            Some(None) => {
                let value =
                    needed(&mut table, "value", notes).and_then(|node| quantity(node, Dimension::Number, notes));
                let kind: fn(f64) -> ZoneKind = match node.and_then(|node| node.value.as_str()) {
                    Some("friction") => ZoneKind::Friction,
                    Some("blind-corner") => ZoneKind::BlindCorner,
                    _ => ZoneKind::UrbanCanyon,
                };
                value.map(kind)
            }
            plain => plain.flatten(),
        };
        let corners = needed(&mut table, "corners", notes).map(|node| points(node, notes)).unwrap_or_default();
        map.zones.extend(kind.map(|kind| Zone { name, kind, corners }));
        table.finish(notes);
    }
}

/// Thickness of a fence unless the map says otherwise.
const BARRIER_WIDTH_M: f64 = 0.2;

pub(super) fn barriers(root: &mut Table<'_>, map: &mut Map, places: &mut Places, notes: &mut Notes<'_>) {
    for mut table in root.tables("barrier", notes) {
        places.put(Element::Barrier(map.barriers.len()), table.span);
        let name = id(&mut table, notes);
        let line = table.take("line").map(|node| points(node, notes));
        let area = table.take("area").map(|node| points(node, notes));
        let shape = match (line, area) {
            (Some(points), None) => {
                let width_m = quantity_or(&mut table, "width", Dimension::Length, BARRIER_WIDTH_M, notes);
                Some(BarrierShape::Line { points, width_m })
            }
            (None, Some(corners)) => Some(BarrierShape::Area { corners }),
            _ => {
                let help = "give it `line = [...]` or `area = [...]`";
                notes.add("E0121", table.span, "a barrier is a line or an area", help);
                None
            }
        };
        map.barriers.extend(shape.map(|shape| Barrier { name, shape }));
        table.finish(notes);
    }
}

pub(super) fn routes(root: &mut Table<'_>, map: &mut Map, places: &mut Places, notes: &mut Notes<'_>) {
    for mut table in root.tables("route", notes) {
        places.put(Element::Route(map.routes.len()), table.span);
        let name = id(&mut table, notes);
        let (from, to) = (needed_lane(&mut table, "from", notes), needed_lane(&mut table, "to", notes));
        let from_m = quantity_or(&mut table, "from_station", Dimension::Length, 0.0, notes);
        let to_m = quantity_or(&mut table, "to_station", Dimension::Length, 0.0, notes);
        let ends = from.zip(to);
        map.routes.extend(ends.map(|(from, to)| RoutePlan { name, from: (from, from_m), to: (to, to_m) }));
        table.finish(notes);
    }
}
