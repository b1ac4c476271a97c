//! Others on the road, and what happens to them.

use anabranch_roads::{LaneId, LanePlace};

use super::super::codes::Code;
use super::super::keys::{self, Section};
use super::super::problems::{Problems, listed, nearest};
use super::super::road_spec::{
    FlowSpec, ObjectSpec, RoadSpec, ScriptSpec, TrafficSpec, TriggerSpec, TriggerWhat, TriggerWhen,
};
use super::super::span::{Located, Span};
use super::super::tree::{Node, Value};
use super::super::view::View;
use super::super::words::{Care, LightColour, ObjectKind};
use super::check_ids;
use super::road::{Road, lane, place};

/// Everything on a road.
pub(super) fn build(problems: &mut Problems<'_>, root: View<'_>, road: &Road) -> Option<RoadSpec> {
    let objects: Option<Vec<_>> = root.tables("object").into_iter().map(|view| object(problems, view, road)).collect();
    let objects = objects?;
    let triggers: Option<Vec<_>> =
        root.tables("trigger").into_iter().map(|view| trigger(problems, view, road, &objects)).collect();
    let triggers = triggers?;
    let ids = triggers.iter().map(|trigger| &trigger.id).chain(objects.iter().map(|object| &object.id));
    check_ids(problems, "object or trigger", ids);
    let sensors = match root.table("ego")? {
        ego if ego.get("sensor").is_some() => super::sensor::build(problems, ego)?,
        ego => vec![or_empty(ego, "sensor", |view| super::sensor::sensor(problems, view, true))?],
    };
    Some(RoadSpec {
        network: road.network.clone(),
        span: root.get("road")?.span,
        map: road.map.clone(),
        traffic: or_empty(root, "traffic", |view| traffic(problems, view, road))?,
        light: super::light::sight(problems, root)?,
        is_twilight: super::light::is_twilight(root),
        sees_through: false,
        sensors,
        objects,
        triggers,
    })
}

/// Builds from a table, or from its defaults where it is not there.
fn or_empty<T>(parent: View<'_>, key: &str, build: impl FnOnce(View<'_>) -> Option<T>) -> Option<T> {
    match parent.table(key) {
        Some(view) => build(view),
        None => {
            let section: &'static Section = parent.section_of(key)?;
            let empty = Node { span: parent.span(), value: Value::Table(Vec::new()) };
            build(View::new(&empty, section))
        }
    }
}

/// Keys that belong to some kinds only.
fn kinds_of(key: &str) -> &'static [ObjectKind] {
    const VEHICLES: &[ObjectKind] = &[ObjectKind::Car, ObjectKind::Lorry, ObjectKind::Cyclist];
    match key {
        "to" => VEHICLES,
        "lateral" | "length" | "width" | "ghost" => &[ObjectKind::Thing],
        "care" | "kerb" | "side" | "direction" | "crosses" | "walk" | "along" => &[ObjectKind::Pedestrian],
        "waits" => &[ObjectKind::Pedestrian, ObjectKind::Thing],
        _ => &[ObjectKind::Car, ObjectKind::Lorry, ObjectKind::Cyclist, ObjectKind::Pedestrian],
    }
}

fn object(problems: &mut Problems<'_>, view: View<'_>, road: &Road) -> Option<ObjectSpec> {
    let kind = view.word("kind", ObjectKind::from_word)?;
    let is_scripted = view.get("poses").is_some() || view.get("acts").is_some();
    let scripted = |key: &str| match key {
        "waits" => is_scripted,
        "lateral" => view.get("acts").is_some(),
        _ => false,
    };
    let keys = ["to", "lateral", "length", "width", "ghost", "care", "kerb", "waits", "speed"];
    for key in keys.into_iter().chain(super::script::STROLL).filter(|key| !scripted(key)) {
        if let Some(span) = view.key_span(key).filter(|_| !kinds_of(key).contains(&kind.value)) {
            let message = format!("`{key}` says nothing about a {}", kind.value.word());
            let help = format!("it is for {}", listed(kinds_of(key).iter().map(|kind| kind.word())));
            problems.add(Code::Exclusive, span, message, help);
        }
    }
    let script = super::script::script(problems, view, kind.value, road)?;
    let place = object_place(problems, view, road, script.as_ref())?;
    let real = |key: &str| view.real(key).map(|value| value.value);
    let to = match view.text("to") {
        Some(name) => Some(beside(problems, road, place.lane, &name)?),
        None => None,
    };
    if let Some(span) = view.key_span("speed").filter(|_| matches!(script, Some(ScriptSpec::Poses(_)))) {
        let help = "leave it out: the times of `poses` say how fast it is";
        problems.add(Code::Exclusive, span, "`speed` says nothing beside `poses`", help);
        return None;
    }
    if let Some(span) = view.key_span("fired").filter(|_| view.flag("waits") != Some(true)) {
        let message = "nobody can start what does not wait";
        problems.add(Code::WrongObstacle, span, message, "add `waits = true` to the object");
        return None;
    }
    if kind.value == ObjectKind::Pedestrian && script.is_none() && real("speed")? == 0.0 {
        let help = "add speed = \"1.4 m/s\"";
        problems.add(Code::NotPositive, view.span(), "a pedestrian needs a speed to walk with", help);
        return None;
    }
    Some(ObjectSpec {
        id: view.text("id")?,
        kind,
        place,
        lateral_m: real("lateral")?,
        speed_mps: real("speed")?,
        to,
        length_m: real("length")?,
        width_m: real("width")?,
        care: view.word("care", Care::from_word)?.value,
        kerb_m: real("kerb")?,
        waits: view.flag("waits")?,
        ghost: view.flag("ghost")?,
        stroll: super::script::stroll(problems, view)?,
        script,
        fired_s: view.real("fired"),
    })
}

/// Where an object is: as given, or nearest to where its predetermined way begins.
fn object_place(
    problems: &mut Problems<'_>,
    view: View<'_>,
    road: &Road,
    script: Option<&ScriptSpec>,
) -> Option<LanePlace> {
    if let Some(ScriptSpec::Poses(poses)) = script {
        if let Some(span) = view.key_span("lane").or_else(|| view.key_span("station")) {
            let help = "leave it out: the first of `poses` says where it begins";
            problems.add(Code::Exclusive, span, "the place is said twice", help);
            return None;
        }
        let first = poses.first()?.pose;
        let (lane, at) = road.network.nearest(first.point())?;
        let station_m = at.station_m.clamp(0.0, road.network.lane(lane).length_m());
        return Some(LanePlace { lane, station_m });
    }
    for key in ["lane", "station"] {
        if view.get(key).is_none() {
            let (message, help) = (format!("[[object]] needs the key `{key}`"), format!("add `{key}`: where it is"));
            problems.add(Code::MissingKey, view.span(), message, help);
            return None;
        }
    }
    place(problems, Some(road), view)
}

fn beside(problems: &mut Problems<'_>, road: &Road, from: LaneId, name: &Located<String>) -> Option<LaneId> {
    let to = lane(problems, Some(road), name)?;
    let from = road.network.lane(from);
    if from.left() != Some(to) && from.right() != Some(to) {
        let sides =
            [from.left(), from.right()].into_iter().flatten().map(|id| road.network.lane(id).name().to_string());
        let sides: Vec<String> = sides.collect();
        let message = format!("`{}` is not beside `{}`", name.value, from.name());
        let help = format!("beside it is {}", listed(sides.iter().map(String::as_str)));
        problems.add(Code::NoLane, name.span, message, help);
        return None;
    }
    Some(to)
}

fn trigger(problems: &mut Problems<'_>, view: View<'_>, road: &Road, objects: &[ObjectSpec]) -> Option<TriggerSpec> {
    let what = match view.text("light") {
        Some(name) => light(problems, view, road, &name)?,
        None => TriggerWhat::Object(object_of(problems, view, objects)?),
    };
    let given: Vec<(&str, Span)> = ["at", "reaches", "arrives", "faster", "slower"]
        .into_iter()
        .filter_map(|key| Some((key, view.key_span(key)?)))
        .collect();
    if let [(first, _), (second, span), ..] = given[..] {
        let message = format!("`{first}` and `{second}` exclude each other in {}", keys::TRIGGER_TITLE);
        problems.add(Code::Exclusive, span, message, "keep one of them");
    }
    let real = |key: &str| view.real(key).map(|value| value.value);
    let when = view.real("at").map(TriggerWhen::At);
    let when = when.or_else(|| real("reaches").map(TriggerWhen::Reaches));
    let when = when.or_else(|| real("arrives").map(TriggerWhen::Arrives));
    let when = when.or_else(|| real("faster").map(TriggerWhen::Faster));
    let when = when.or_else(|| real("slower").map(TriggerWhen::Slower)).unwrap_or(TriggerWhen::Asked);
    Some(TriggerSpec {
        id: view.text("id")?,
        what,
        when,
        brake_mps2: view.real("brake")?.value,
        for_s: view.real("for")?,
        fired_s: view.real("fired"),
    })
}

/// The object of a trigger, which must wait for it if it is somebody who can.
fn object_of(problems: &mut Problems<'_>, view: View<'_>, objects: &[ObjectSpec]) -> Option<usize> {
    let named = view.text("object")?;
    let ids = || objects.iter().map(|object| object.id.value.as_str());
    let Some(object) = ids().position(|id| id == named.value) else {
        let guess = nearest(&named.value, ids()).map_or(String::new(), |id| format!("did you mean `{id}`? "));
        let help = format!("{guess}there is {}", listed(ids().take(20)));
        problems.add(Code::UnknownObstacle, named.span, format!("there is no object `{}`", named.value), help);
        return None;
    };
    if !objects[object].drives() && !objects[object].waits {
        let message = format!("`{}` does not wait for anything", named.value);
        problems.add(Code::WrongObstacle, named.span, message, "add `waits = true` to the object");
    }
    if let Some(span) = view.key_span("colour") {
        problems.add(Code::Exclusive, span, "`colour` says nothing about an object", "it is for lights");
    }
    Some(object)
}

/// The light at the end of a lane.
fn light(problems: &mut Problems<'_>, view: View<'_>, road: &Road, name: &Located<String>) -> Option<TriggerWhat> {
    let id = lane(problems, Some(road), name)?;
    let rules = road.network.lane(id).next().iter().filter_map(|link| road.network.rule(link.to));
    let mut lit = rules.filter(|rule| rule.approach == id).filter_map(|rule| Some((rule.signal?, rule.stop_station_m)));
    let Some((signal, station_m)) = lit.next() else {
        let message = format!("there is no light at the end of `{}`", name.value);
        problems.add(Code::NoLane, name.span, message, "name a lane that leads to a junction with lights");
        return None;
    };
    if lit.any(|(other, _)| other != signal) {
        let message = format!("the turns of `{}` have different lights", name.value);
        problems.add(Code::NoLane, name.span, message, "name a lane whose turns share one");
        return None;
    }
    let colour = view.word("colour", LightColour::from_word)?.value;
    Some(TriggerWhat::Light { signal, line: LanePlace { lane: id, station_m }, colour })
}

fn traffic(problems: &mut Problems<'_>, view: View<'_>, road: &Road) -> Option<TrafficSpec> {
    let real = |key: &str| view.real(key).map(|value| value.value);
    let flows: Option<Vec<FlowSpec>> = view.tables("flow").into_iter().map(|view| flow(problems, view, road)).collect();
    Some(TrafficSpec {
        per_km: real("per_km")?,
        cars: view.small_count("cars"),
        speed_mps: real("speed")?,
        clear_m: real("clear")?,
        seed: view.count("seed")?.value,
        flows: flows?,
    })
}

fn flow(problems: &mut Problems<'_>, view: View<'_>, road: &Road) -> Option<FlowSpec> {
    let kind = view.word("kind", ObjectKind::from_word)?;
    if matches!(kind.value, ObjectKind::Pedestrian | ObjectKind::Thing) {
        let message = format!("a {} does not come in at the beginning of a lane", kind.value.word());
        problems.add(Code::Exclusive, kind.span, message, "write `car`, `lorry` or `cyclist`");
        return None;
    }
    let from = lane(problems, Some(road), &view.text("lane")?)?;
    let route = match view.text("to") {
        None => None,
        Some(name) => {
            let to = lane(problems, Some(road), &name)?;
            let ends = [(from, 0.0), (to, road.network.lane(to).length_m())];
            let [from, to] = ends.map(|(lane, station_m)| LanePlace { lane, station_m });
            match road.network.route(from, to) {
                Ok(route) => Some(route),
                Err(none) => {
                    let help = "name a lane that can be reached from `lane`";
                    problems.add(Code::NoRoute, name.span, none.to_string(), help);
                    return None;
                }
            }
        }
    };
    let (per_hour, speed_mps) = (view.real("per_hour")?.value, view.real("speed")?.value);
    Some(FlowSpec { lane: from, per_hour, speed_mps, route, kind: kind.value })
}
