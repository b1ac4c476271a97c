//! Looks through a map for everything that would make driving on it meaningless.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_geometry::Point;

use crate::barrier::BarrierShape;
use crate::crossings::programs_by_name;
use crate::curve::Curve;
use crate::flaw::{Element, Flaw, FlawKind};
use crate::junction::JunctionPlan;
use crate::plan::{LaneName, LanePlan, LinkPlan, Map, Waypoint};

/// Way-points closer together than this count as one place, in metres.
const APART_M: f64 = 0.01;
/// No map reaches further from its origin, in metres.
const COORDINATE_MAX_M: f64 = 1e6;
/// No lane is wider, in metres.
const WIDTH_MAX_M: f64 = 100.0;
/// No speed limit is higher, in m/s.
const LIMIT_MAX_MPS: f64 = 150.0;
/// Places per piece at which a curve is looked at.
const PLACES: usize = 8;
/// Names longer than this are not compared for a suggestion.
const COMPARED_MAX: usize = 60;

/// All names of a map that others refer to, with the number of way-points of lanes.
struct Names {
    lanes: BTreeMap<LaneName, usize>,
    junctions: BTreeSet<String>,
}

/// Everything that is wrong with a map, in its order.
pub(crate) fn check(map: &Map) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    if map.roads.iter().all(|road| road.lanes.is_empty()) {
        flaws.push(Flaw { at: Element::Map, kind: FlawKind::Empty });
    }
    check_roads(map, &mut flaws);
    let lanes = map
        .roads
        .iter()
        .flat_map(|road| road.lanes.iter().map(|lane| (LaneName::new(&road.name, &lane.name), lane.points.len())));
    let junctions = map.junctions.iter().map(|junction| junction.name.clone()).collect();
    let names = Names { lanes: lanes.collect(), junctions };
    for (i, link) in map.links.iter().enumerate() {
        check_link(&names, link, Element::Link(i), &mut flaws);
        if flaws.is_empty() {
            check_through(map, link, Element::Link(i), &mut flaws);
        }
    }
    check_junctions(map, &names, &mut flaws);
    check_programs(map, &mut flaws);
    check_crosswalks(map, &mut flaws);
    check_zones(map, &mut flaws);
    check_barriers(map, &mut flaws);
    duplicates("route", map.routes.iter().map(|route| &route.name), Element::Route, &mut flaws);
    for (i, route) in map.routes.iter().enumerate() {
        let unknown = [&route.from.0, &route.to.0].into_iter().filter_map(|lane| names.unknown_lane(lane));
        flaws.extend(unknown.map(|kind| Flaw { at: Element::Route(i), kind }));
    }
    flaws
}

fn check_roads(map: &Map, flaws: &mut Vec<Flaw>) {
    duplicates("road", map.roads.iter().map(|road| &road.name), Element::Road, flaws);
    for (r, road) in map.roads.iter().enumerate() {
        let before = flaws.len();
        duplicates("lane", road.lanes.iter().map(|lane| &lane.name), |l| Element::Lane(r, l), flaws);
        for (l, lane) in road.lanes.iter().enumerate() {
            check_points(lane, |p| Element::Point(r, l, p), Element::Lane(r, l), flaws);
        }
        if flaws.len() == before {
            for (l, lane) in road.lanes.iter().enumerate() {
                flaws.extend(check_curve(lane).map(|kind| Flaw { at: Element::Lane(r, l), kind }));
            }
        }
    }
}

fn duplicates<'n>(
    what: &'static str,
    names: impl Iterator<Item = &'n String>,
    at: impl Fn(usize) -> Element,
    flaws: &mut Vec<Flaw>,
) {
    let mut seen = BTreeSet::new();
    for (i, name) in names.enumerate() {
        if !seen.insert(name) {
            flaws.push(Flaw { at: at(i), kind: FlawKind::Duplicate { what, name: name.clone() } });
        }
    }
}

fn check_points(lane: &LanePlan, at: impl Fn(usize) -> Element, whole: Element, flaws: &mut Vec<Flaw>) {
    if lane.points.len() < 2 {
        flaws.push(Flaw { at: whole, kind: FlawKind::FewPoints(lane.points.len()) });
    }
    for heading in [lane.first_heading, lane.last_heading].into_iter().flatten() {
        if !heading.is_finite() {
            flaws.push(Flaw { at: whole, kind: FlawKind::NotFinite("heading") });
        }
    }
    for (i, point) in lane.points.iter().enumerate() {
        let wrong = check_point(point);
        let same_place = || {
            let distance_m = lane.points[..i].last()?.position.distance_m(point.position);
            (distance_m < APART_M).then_some(FlawKind::SamePlace(distance_m))
        };
        flaws.extend(wrong.or_else(same_place).map(|kind| Flaw { at: at(i), kind }));
    }
}

fn check_point(point: &Waypoint) -> Option<FlawKind> {
    bounded("x coordinate", point.position.x, COORDINATE_MAX_M)
        .or_else(|| bounded("y coordinate", point.position.y, COORDINATE_MAX_M))
        .or_else(|| positive("lane width", point.width_m, WIDTH_MAX_M))
        .or_else(|| positive("speed limit", point.limit_mps, LIMIT_MAX_MPS))
}

fn bounded(what: &'static str, value: f64, limit: f64) -> Option<FlawKind> {
    if !value.is_finite() {
        return Some(FlawKind::NotFinite(what));
    }
    (value.abs() > limit).then_some(FlawKind::TooLarge { what, value, limit })
}

fn positive(what: &'static str, value: f64, limit: f64) -> Option<FlawKind> {
    let sized = bounded(what, value, limit);
    sized.or_else(|| (value <= 0.0).then_some(FlawKind::NotPositive { what, value }))
}

/// What is wrong with a lane whose way-points are fine one by one.
fn check_curve(lane: &LanePlan) -> Option<FlawKind> {
    let curve = Curve::new(lane);
    let count = curve.pieces.len() * PLACES;
    let mut stations = Vec::with_capacity(count + 1);
    for pair in curve.knots.windows(2) {
        stations.extend((0..PLACES).map(|k| pair[0] + (pair[1] - pair[0]) * k as f64 / PLACES as f64));
    }
    stations.push(curve.length_m());
    let places: Vec<Point> = stations.iter().map(|station| curve.jet(*station).position).collect();
    if let Some((i, j, at)) = crossing(&places) {
        return Some(FlawKind::CrossesItself { x: at.x, y: at.y, first_m: stations[i], second_m: stations[j] });
    }
    if let Some(station_m) = turning_back(&curve, &stations) {
        return Some(FlawKind::TooTight { radius_m: 0.0, station_m });
    }
    let tight = |station_m: &f64| {
        let radius_m = 1.0 / curve.jet(*station_m).curvature().abs();
        let half_width_m = 0.5 * curve.width_and_limit(*station_m).0;
        (radius_m < half_width_m).then_some(FlawKind::TooTight { radius_m, station_m: *station_m })
    };
    stations.iter().find_map(tight)
}

/// Where a lane turns round on the spot.
fn turning_back(curve: &Curve, stations: &[f64]) -> Option<f64> {
    let slope = |station: f64| curve.jet(station).slope;
    let against = |pair: &&[f64]| {
        let (a, b) = (slope(pair[0]), slope(pair[1]));
        a.x * b.x + a.y * b.y <= 0.0
    };
    stations.windows(2).find(against).map(|pair| pair[1])
}

/// The first two edges of a chain of points that cross, by the number of the point they begin at, and where.
fn crossing(points: &[Point]) -> Option<(usize, usize, Point)> {
    let mut edges: Vec<(f64, f64, usize)> = points
        .windows(2)
        .enumerate()
        .map(|(i, pair)| (pair[0].x.min(pair[1].x), pair[0].x.max(pair[1].x), i))
        .collect();
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
    let last = edges.len() - 1;
    // A lane may end where it begins.
    let is_ring = points[0].distance_m(points[last + 1]) < APART_M;
    let mut found: Option<(usize, usize, Point)> = None;
    for (k, (_, right, i)) in edges.iter().enumerate() {
        for (_, _, j) in edges[k + 1..].iter().take_while(|edge| edge.0 <= *right) {
            let (i, j) = (*i.min(j), *i.max(j));
            let earlier = found.is_none_or(|(first, ..)| i < first);
            if j > i + 1 && earlier && !(is_ring && i == 0 && j == last) {
                found = meeting([points[i], points[i + 1]], [points[j], points[j + 1]]).map(|at| (i, j, at)).or(found);
            }
        }
    }
    found
}

/// Where two edges meet, if they do.
pub(crate) fn meeting(a: [Point; 2], b: [Point; 2]) -> Option<Point> {
    let (ax, ay) = (a[1].x - a[0].x, a[1].y - a[0].y);
    let (bx, by) = (b[1].x - b[0].x, b[1].y - b[0].y);
    let cross = ax * by - ay * bx;
    let (dx, dy) = (b[0].x - a[0].x, b[0].y - a[0].y);
    let (s, t) = ((dx * by - dy * bx) / cross, (dx * ay - dy * ax) / cross);
    let meets = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    meets.then(|| Point::new(a[0].x + s * ax, a[0].y + s * ay))
}

fn unknown<'n>(what: &'static str, name: &str, known: impl Iterator<Item = &'n str>) -> FlawKind {
    let distance = |candidate: &str| strsim::damerau_levenshtein(name, candidate);
    let allowed = (name.chars().count() / 3).max(1);
    let candidates = known.filter(|_| name.len() <= COMPARED_MAX).map(|known| (distance(known), known));
    let similar = candidates.min_by_key(|(distance, _)| *distance).filter(|(distance, _)| *distance <= allowed);
    FlawKind::Unknown { what, name: name.to_owned(), similar: similar.map(|(_, name)| name.to_owned()) }
}

impl Names {
    fn unknown_lane(&self, name: &LaneName) -> Option<FlawKind> {
        if self.lanes.contains_key(name) {
            return None;
        }
        let all: Vec<String> = self.lanes.keys().map(LaneName::to_string).collect();
        Some(unknown("lane", &name.to_string(), all.iter().map(String::as_str)))
    }
}

fn check_link(names: &Names, link: &LinkPlan, at: Element, flaws: &mut Vec<Flaw>) {
    let before = flaws.len();
    let mut add = |kind: Option<FlawKind>| flaws.extend(kind.map(|kind| Flaw { at, kind }));
    for (lane, point) in [(&link.from, link.exit_point), (&link.to, link.entry_point)] {
        add(names.unknown_lane(lane));
        let points = names.lanes.get(lane).copied().unwrap_or(0);
        add(point.filter(|point| points > 0 && *point >= points).map(|point| FlawKind::NoPoint {
            lane: lane.clone(),
            point,
            last: points - 1,
        }));
    }
    if let Some(junction) = link.junction.as_ref().filter(|junction| !names.junctions.contains(*junction)) {
        add(Some(unknown("junction", junction, names.junctions.iter().map(String::as_str))));
    }
    add(link.limit_mps.and_then(|limit| positive("speed limit", limit, LIMIT_MAX_MPS)));
    for point in &link.through {
        add(bounded("x coordinate", point.x, COORDINATE_MAX_M));
        add(bounded("y coordinate", point.y, COORDINATE_MAX_M));
    }
    let last = names.lanes.get(&link.from).copied().unwrap_or(0).saturating_sub(1);
    let exit = link.exit_point.unwrap_or(last);
    let is_loop = link.from == link.to && link.entry_point.unwrap_or(0) >= exit;
    if is_loop && flaws.len() == before {
        flaws.push(Flaw { at, kind: FlawKind::LoopLink(link.from.clone()) });
    }
}

/// Way-points of a turn must not lie on each other, nor on its ends.
fn check_through(map: &Map, link: &LinkPlan, at: Element, flaws: &mut Vec<Flaw>) {
    if link.through.is_empty() {
        return;
    }
    let end = |name: &LaneName, point: usize| {
        let road = map.roads.iter().find(|road| road.name == name.road)?;
        let points = &road.lanes.iter().find(|lane| lane.name == name.lane)?.points;
        points.get(point.min(points.len().checked_sub(1)?)).map(|point| point.position)
    };
    let exit = end(&link.from, link.exit_point.unwrap_or(usize::MAX));
    let entry = end(&link.to, link.entry_point.unwrap_or(0));
    let chain: Vec<Point> = exit.into_iter().chain(link.through.iter().copied()).chain(entry).collect();
    let distances = chain.windows(2).map(|pair| pair[0].distance_m(pair[1]));
    let close = distances.filter(|distance_m| *distance_m < APART_M);
    flaws.extend(close.map(|distance_m| Flaw { at, kind: FlawKind::SamePlace(distance_m) }));
}

fn check_junctions(map: &Map, names: &Names, flaws: &mut Vec<Flaw>) {
    duplicates("junction", map.junctions.iter().map(|junction| &junction.name), Element::Junction, flaws);
    let programs = programs_by_name(&map.programs);
    let used: BTreeSet<&String> = map.links.iter().filter_map(|link| link.junction.as_ref()).collect();
    for (j, junction) in map.junctions.iter().enumerate() {
        let mut add = |at: Element, kind: FlawKind| flaws.push(Flaw { at, kind });
        if !used.contains(&junction.name) {
            add(Element::Junction(j), FlawKind::NoTurns(junction.name.clone()));
        }
        let program = junction.program.as_ref().map(|name| programs.get(name.as_str()).map(|program| program.1));
        if let (Some(None), Some(name)) = (&program, &junction.program) {
            let known = map.programs.iter().map(|program| program.name.as_str());
            add(Element::Junction(j), unknown("program", name, known));
        }
        let groups: &[String] = program.flatten().map_or(&[], |program| &program.groups);
        for (a, approach) in junction.approaches.iter().enumerate() {
            let at = Element::Approach(j, a);
            let lanes = std::iter::once(&approach.lane).chain(approach.turn_groups.iter().map(|(lane, _)| lane));
            lanes.filter_map(|lane| names.unknown_lane(lane)).for_each(|kind| add(at, kind));
            if !approach.stop_before_m.is_finite() {
                add(at, FlawKind::NotFinite("distance of the stop line"));
            }
            let named = approach.group.iter().chain(approach.turn_groups.iter().map(|(_, group)| group));
            for group in named.filter(|group| !groups.contains(group)) {
                add(at, unknown("group of lights", group, groups.iter().map(String::as_str)));
            }
        }
        check_exceptions(junction, names, |e| Element::Exception(j, e), flaws);
    }
}

fn check_exceptions(junction: &JunctionPlan, names: &Names, at: impl Fn(usize) -> Element, flaws: &mut Vec<Flaw>) {
    for (e, exception) in junction.yields.iter().enumerate() {
        let lanes = [&exception.turn.0, &exception.turn.1, &exception.to.0, &exception.to.1];
        let unknown = lanes.into_iter().filter_map(|lane| names.unknown_lane(lane));
        flaws.extend(unknown.map(|kind| Flaw { at: at(e), kind }));
    }
}

fn check_programs(map: &Map, flaws: &mut Vec<Flaw>) {
    duplicates("program", map.programs.iter().map(|program| &program.name), Element::Program, flaws);
    for (i, program) in map.programs.iter().enumerate() {
        let wrong = program.phases.iter().find(|phase| phase.aspects.len() != program.groups.len());
        let problem = match wrong {
            _ if program.phases.is_empty() => Some("the program has no phase".to_owned()),
            _ if program.phases.iter().any(|phase| phase.duration_us == 0) => {
                Some("a phase of the program has no duration".to_owned())
            }
            Some(phase) => Some(format!(
                "a phase has {} lights, but the program has {} groups",
                phase.aspects.len(),
                program.groups.len()
            )),
            None => None,
        };
        flaws.extend(problem.map(|text| Flaw { at: Element::Program(i), kind: FlawKind::BadProgram(text) }));
    }
}

fn check_crosswalks(map: &Map, flaws: &mut Vec<Flaw>) {
    duplicates("crosswalk", map.crosswalks.iter().map(|crosswalk| &crosswalk.name), Element::Crosswalk, flaws);
    for (i, crosswalk) in map.crosswalks.iter().enumerate() {
        let mut add = |kind: Option<FlawKind>| flaws.extend(kind.map(|kind| Flaw { at: Element::Crosswalk(i), kind }));
        for value in [crosswalk.from.x, crosswalk.from.y, crosswalk.to.x, crosswalk.to.y] {
            add(bounded("coordinate", value, COORDINATE_MAX_M));
        }
        add(positive("width", crosswalk.width_m, WIDTH_MAX_M));
        if let Some((program, group)) = &crosswalk.signal {
            let found = map.programs.iter().find(|known| known.name == *program);
            let known = map.programs.iter().map(|program| program.name.as_str());
            add(found.is_none().then(|| unknown("program", program, known)));
            let missing = found.filter(|program| program.group(group).is_none());
            add(missing.map(|program| unknown("group of lights", group, program.groups.iter().map(String::as_str))));
        }
    }
}

fn check_zones(map: &Map, flaws: &mut Vec<Flaw>) {
    duplicates("zone", map.zones.iter().map(|zone| &zone.name), Element::Zone, flaws);
    for (i, zone) in map.zones.iter().enumerate() {
        let finite = zone.corners.iter().all(|corner| corner.x.is_finite() && corner.y.is_finite());
        let kind = if finite {
            (!is_simple(&zone.corners)).then_some(FlawKind::BadPolygon)
        } else {
            Some(FlawKind::NotFinite("corner"))
        };
        flaws.extend(kind.map(|kind| Flaw { at: Element::Zone(i), kind }));
    }
}

fn check_barriers(map: &Map, flaws: &mut Vec<Flaw>) {
    duplicates("barrier", map.barriers.iter().map(|barrier| &barrier.name), Element::Barrier, flaws);
    for (i, barrier) in map.barriers.iter().enumerate() {
        let coordinates = barrier.chain();
        let far = coordinates.iter().flat_map(|point| [point.x, point.y]);
        let placed = far.filter_map(|value| bounded("coordinate", value, COORDINATE_MAX_M)).next();
        let shaped = match &barrier.shape {
            BarrierShape::Line { points, .. } if points.len() < 2 => Some(FlawKind::FewPoints(points.len())),
            BarrierShape::Line { width_m, .. } => positive("width", *width_m, WIDTH_MAX_M),
            BarrierShape::Area { corners } => (!is_simple(corners)).then_some(FlawKind::BadPolygon),
        };
        flaws.extend(placed.or(shaped).map(|kind| Flaw { at: Element::Barrier(i), kind }));
    }
}

/// Whether corners make a polygon with an inside.
fn is_simple(corners: &[Point]) -> bool {
    let n = corners.len();
    if n < 3 {
        return false;
    }
    let edge = |i: usize| [corners[i], corners[(i + 1) % n]];
    let area: f64 = (0..n).map(edge).map(|[a, b]| a.x * b.y - b.x * a.y).sum();
    let apart = |i: usize, j: usize| j > i + 1 && !(i == 0 && j == n - 1);
    let crosses = (0..n).any(|i| (0..n).any(|j| apart(i, j) && meeting(edge(i), edge(j)).is_some()));
    area.abs() > 1e-9 && !crosses
}
