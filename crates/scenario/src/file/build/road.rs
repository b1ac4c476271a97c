//! The road network: laid by a few numbers, or read from a map file.

use std::sync::Arc;

use anabranch_geometry::Pose;
use anabranch_roads::make::{self, City, Control, Crossing, Strip};
use anabranch_roads::{LaneId, LaneKind, LanePlace, Map, Network};

use super::super::codes::Code;
use super::super::problems::{Problems, excerpt, listed, nearest};
use super::super::span::Located;
use super::super::view::View;
use super::super::words::{JunctionControl, RoadShape};
use super::super::{Hooks, keys};

/// The compiled network, and the name of its file if it has one.
pub(super) struct Road {
    pub network: Arc<Network>,
    pub map: Option<Located<String>>,
}

/// Longest part of a road: a thousand kilometres.
const LENGTH_MAX_M: f64 = 1e6;
/// Longest side of a block of a city.
const BLOCK_MAX_M: f64 = 2000.0;
/// Largest angle of an arc, many times around.
const ANGLE_MAX_RAD: f64 = 100.0;
/// Most metres of lanes that are laid for traffic.
const LANES_MAX_M: f64 = 1e8;
/// A road that is laid for few cars has still room for the car.
const LENGTH_MIN_M: f64 = 500.0;
/// The same for a city, and the largest one.
const BLOCKS_MIN: usize = 3;
const BLOCKS_MAX: usize = 200;

/// `None` if there is no road, or one that cannot be, with a problem that says why.
pub(super) fn build(problems: &mut Problems<'_>, root: View<'_>, hooks: &Hooks<'_>) -> Option<Road> {
    let Some(view) = root.table("road") else {
        for key in ["object", "traffic", "trigger"] {
            if let Some(span) = root.key_span(key) {
                let message = format!("`{key}` needs a road");
                problems.add(Code::MissingKey, span, message, "add [road] with kind = \"straight\" or map = \"..\"");
            }
        }
        return None;
    };
    if let Some(name) = view.text("map") {
        return read_map(problems, view, name, hooks);
    }
    let shape = view.word("kind", RoadShape::from_word)?;
    if !is_of_this_world(problems, view) {
        return None;
    }
    if shape.value == RoadShape::Roundabout && !has_room_for_arms(problems, view)? {
        return None;
    }
    let lanes_m = lanes_for_traffic(problems, root, view, shape)?;
    let mut map = lay(view, shape.value, lanes_m)?;
    if let Some(limit) = view.real("limit") {
        let lanes = map.roads.iter_mut().flat_map(|road| &mut road.lanes);
        lanes.flat_map(|lane| &mut lane.points).for_each(|point| point.limit_mps = limit.value);
    }
    match Network::new(&map) {
        Ok(network) => Some(Road { network: Arc::new(network), map: None }),
        Err(flaws) => {
            for flaw in flaws.iter().take(3) {
                problems.add(Code::BadRoad, view.span(), flaw.kind.to_string(), flaw.kind.help());
            }
            None
        }
    }
}

fn read_map(problems: &mut Problems<'_>, view: View<'_>, name: Located<String>, hooks: &Hooks<'_>) -> Option<Road> {
    let others = keys::ROOT.key("road").and_then(|key| key.kind.section());
    for key in others.map_or(&[][..], |section| section.keys).iter().filter(|key| key.name != "map") {
        if let Some(span) = view.key_span(key.name) {
            let message = format!("the map says everything, so `{}` would change nothing", key.name);
            problems.add(Code::Exclusive, span, message, format!("remove `{}` or `map`", key.name));
        }
    }
    let Some(text) = (hooks.read_file)(&name.value) else {
        let message = format!("there is no file `{}`", excerpt(&name.value));
        problems.add(Code::NoSuchFile, name.span, message, "names of files are relative to the folder of the scenario");
        return None;
    };
    let file = problems.document.beside(&name.value);
    match anabranch_roads::file::read(&file, &text) {
        Ok(read) => Some(Road { network: Arc::new(read.network), map: Some(name) }),
        Err(report) => {
            problems.add_elsewhere(report);
            None
        }
    }
}

/// Metres of lanes that the traffic needs; 0 if it says nothing about that.
fn lanes_for_traffic(
    problems: &mut Problems<'_>,
    root: View<'_>,
    road: View<'_>,
    shape: Located<RoadShape>,
) -> Option<f64> {
    let traffic = root.table("traffic");
    let cars = traffic.and_then(|traffic| traffic.small_count("cars"));
    let per_km = traffic.and_then(|traffic| traffic.real("per_km")).filter(|per_km| per_km.value > 0.0);
    let (Some(cars), Some(per_km)) = (cars, per_km) else { return Some(0.0) };
    let sizes: &[&str] = match shape.value {
        RoadShape::Straight => &["length"],
        RoadShape::Ring => &["radius"],
        RoadShape::City => &["columns", "rows"],
        _ => {
            let message = format!("`cars` and `per_km` together cannot lay a `{}`", shape.value.word());
            problems.add(Code::Exclusive, cars.span, message, "leave out one of them");
            return None;
        }
    };
    if let Some(span) = sizes.iter().find_map(|key| road.key_span(key)) {
        let message = "`cars` and `per_km` of the traffic say together how large the road is";
        problems.add(Code::Exclusive, span, message, "leave this out, or one of them");
        return None;
    }
    let lanes_m = f64::from(cars.value) / per_km.value * 1000.0;
    if lanes_m > LANES_MAX_M {
        let message = format!("so many cars take more than {:.0} km of lanes, the most there is", LANES_MAX_M / 1000.0);
        problems.add(Code::OutOfRange, cars.span, message, "give a larger `per_km`");
        return None;
    }
    // What is asked for beside the car is laid, and room for the car.
    if shape.value == RoadShape::City {
        let strip = town_strip(road.small_count("lanes")?.value as usize);
        let blocks = blocks_for(lanes_m, road.real("block")?.value, strip);
        if blocks > BLOCKS_MAX {
            let message = format!(
                "so many cars take a city of more than {BLOCKS_MAX} × {BLOCKS_MAX} blocks, the largest there is"
            );
            problems.add(Code::OutOfRange, cars.span, message, "give a larger `per_km`, or more lanes");
            return None;
        }
    }
    Some(lanes_m)
}

/// Whether no part of the road is so large that laying it would fill the memory.
fn is_of_this_world(problems: &mut Problems<'_>, view: View<'_>) -> bool {
    let lengths = ["length", "radius", "before", "after", "merge", "arm"].map(|key| (key, LENGTH_MAX_M));
    let others = [("block", BLOCK_MAX_M), ("angle", ANGLE_MAX_RAD)];
    let mut fits = true;
    for (key, most) in lengths.into_iter().chain(others) {
        if let Some(given) = view.real(key).filter(|given| given.value.abs() > most) {
            let unit = if key == "angle" { "rad" } else { "m" };
            let message = format!("`{key}` is more than {most} {unit}, the most there is");
            problems.add(Code::OutOfRange, given.span, message, "is the unit right?");
            fits = false;
        }
    }
    fits
}

/// Whether the arms of a roundabout have room on its ring.
fn has_room_for_arms(problems: &mut Problems<'_>, view: View<'_>) -> Option<bool> {
    let (radius, arms) = (view.real("radius")?, view.small_count("arms")?.value);
    let least_m = make::ring_min_m(arms as usize);
    let fits = radius.value >= least_m;
    if !fits {
        let message = format!("{arms} arms have no room on a ring of {} m", radius.value);
        problems.add(Code::OutOfRange, radius.span, message, format!("write a radius of at least {least_m:.0} m"));
    }
    Some(fits)
}

fn town_strip(lanes: usize) -> Strip {
    Strip { forward: lanes, backward: lanes, ..Strip::TWO_WAY }
}

/// Blocks along a side of a square city with so many metres of lanes.
fn blocks_for(lanes_m: f64, block_m: f64, lanes: Strip) -> usize {
    let street_m = make::street_m(block_m.max(make::block_min_m(lanes)), lanes);
    let laid_m = |n: usize| (2 * n * (n + 1) * (lanes.forward + lanes.backward)) as f64 * street_m;
    (BLOCKS_MIN..=BLOCKS_MAX).find(|&n| laid_m(n) >= lanes_m).unwrap_or(BLOCKS_MAX + 1)
}

fn lay(view: View<'_>, shape: RoadShape, lanes_m: f64) -> Option<Map> {
    let count = |key: &str| view.small_count(key).map(|count| count.value as usize);
    // Along the road, whose size is left to the traffic if it says how much it needs.
    let along_m = |lanes: usize| lanes_m / lanes as f64;
    let real = |key: &str| view.real(key).map(|value| value.value);
    let lanes = count("lanes")?;
    let control = |usual: Control| match view.word("control", JunctionControl::from_word).map(|word| word.value) {
        None => usual,
        Some(JunctionControl::Nothing) => Control::Nothing,
        Some(JunctionControl::AllWayStop) => Control::AllWayStop,
        Some(JunctionControl::StopAtSide) => Control::StopAtSide,
        Some(JunctionControl::Lights) => Control::Lights,
    };
    let both = town_strip(lanes);
    let length_m = |lanes: usize| Some(if lanes_m > 0.0 { along_m(lanes).max(LENGTH_MIN_M) } else { real("length")? });
    Some(match shape {
        RoadShape::Straight => match count("oncoming")? {
            0 => make::straight(length_m(lanes)?, lanes),
            oncoming => {
                two_way(length_m(lanes + oncoming)?, Strip { forward: lanes, backward: oncoming, ..Strip::TWO_WAY })
            }
        },
        RoadShape::Arc => make::arc(real("radius")?, real("angle")?, lanes),
        RoadShape::Ring => {
            let laid_m = along_m(lanes).max(LENGTH_MIN_M) / std::f64::consts::TAU;
            make::ring(if lanes_m > 0.0 { laid_m } else { real("radius")? }, lanes)
        }
        RoadShape::OnRamp => make::on_ramp(lanes, real("merge")?),
        RoadShape::LaneDrop => make::lane_drop(lanes, real("before")?, real("after")?),
        RoadShape::TJunction => make::t_junction(real("arm")?, control(Control::StopAtSide)),
        RoadShape::Roundabout => make::roundabout(real("radius")?, count("arms")?, real("arm")?),
        RoadShape::Crossing => {
            let pi = std::f64::consts::PI;
            let arms = [("east", 0.0), ("north", 0.5 * pi), ("west", pi), ("south", -0.5 * pi)];
            let arms = arms.map(|(name, heading)| (name.to_owned(), heading)).to_vec();
            make::crossing(&Crossing { arms, arm_m: real("arm")?, lanes: both, control: control(Control::Lights) })
        }
        RoadShape::City => {
            let block_m = real("block")?.max(make::block_min_m(both));
            let (columns, rows) = match lanes_m > 0.0 {
                true => (blocks_for(lanes_m, block_m, both), blocks_for(lanes_m, block_m, both)),
                false => (count("columns")?, count("rows")?),
            };
            make::city(City { columns, rows, block_m, lanes: both, control: control(Control::Lights) })
        }
    })
}

/// A straight road `main` with both directions; the middle of lane 1 is the x axis.
fn two_way(length_m: f64, lanes: Strip) -> Map {
    let line_y = (lanes.forward as f64 - 0.5) * lanes.width_m;
    let line = [Pose::new(0.0, line_y, 0.0), Pose::new(length_m, line_y, 0.0)];
    Map { name: "straight".into(), roads: vec![make::strip("main", &line, lanes)], ..Map::default() }
}

/// The lane that a text names.
pub(super) fn lane(problems: &mut Problems<'_>, road: Option<&Road>, name: &Located<String>) -> Option<LaneId> {
    let Some(road) = road else {
        let help = "add [road], or use x and y";
        problems.add(Code::NoLane, name.span, "there is no road network in this scenario", help);
        return None;
    };
    let found = name.value.split_once('.').and_then(|(road_id, lane_id)| road.network.find(road_id, lane_id));
    if found.is_none() {
        let lanes = road.network.lanes().iter().filter(|lane| lane.kind() == LaneKind::Road);
        let names: Vec<String> = lanes.map(|lane| lane.name().to_string()).collect();
        let words = || names.iter().map(String::as_str);
        let guess = nearest(&name.value, words()).map_or(String::new(), |word| format!("did you mean `{word}`? "));
        let message = format!("there is no lane `{}`", excerpt(&name.value));
        problems.add(Code::NoLane, name.span, message, format!("{guess}there is {}", listed(words().take(20))));
    }
    found
}

/// The place that a table names by `lane` and `station`.
pub(super) fn place(problems: &mut Problems<'_>, road: Option<&Road>, view: View<'_>) -> Option<LanePlace> {
    let name = view.text("lane")?;
    let id = lane(problems, road, &name)?;
    let Some(station) = view.real("station") else {
        let message = "`lane` says nothing without `station`";
        problems.add(Code::MissingKey, name.span, message, "add station = \"20 m\"");
        return None;
    };
    let length_m = road?.network.lane(id).length_m();
    if station.value > length_m {
        let message = format!("`{}` is {length_m:.1} m long; this is not on it", name.value);
        problems.add(Code::NoLane, station.span, message, "write a smaller station");
        return None;
    }
    Some(LanePlace { lane: id, station_m: station.value })
}
