//! Zones of the world, and whether anything feels them.

use anabranch_geometry::Point;
use anabranch_roads::{Lane, LanePlace};
use anabranch_vehicle::{FRICTION_MAX, FRICTION_MIN};

use super::super::check::shapes;
use super::super::codes::Code;
use super::super::error_spec::{ErrorKind, ErrorSpec};
use super::super::model_spec::ModelSpec;
use super::super::motion_spec::{VehicleModel, ZoneEffect, ZoneSpec};
use super::super::problems::Problems;
use super::super::span::{Located, Span};
use super::super::spec::{EgoSpec, WorldSpec};
use super::super::view::View;
use super::super::words::ErrorPlace;
use super::check_ids;
use super::road::{Road, place};

/// Distance of the corners of a stretch of a lane.
const CORNER_M: f64 = 4.0;

/// The properties that a zone can have.
const EFFECTS: [&str; 3] = ["friction", "gps_noise", "gps_lost"];

/// All zones of a `[world]` table.
pub(super) fn zones(problems: &mut Problems<'_>, world: View<'_>, road: Option<&Road>) -> Option<Vec<ZoneSpec>> {
    let unused = ["friction", "zone"].into_iter().find_map(|key| world.key_span(key)).filter(|_| road.is_none());
    if let Some(span) = unused {
        let help = "add [road], or leave it out";
        problems.add(Code::NotOnRoads, span, "friction and zones are for roads", help);
        return None;
    }
    if let Some(friction) = world.real("friction") {
        check_friction(problems, friction)?;
    }
    let zone = |(number, view): (usize, View<'_>)| zone(problems, number, view, road);
    let zones: Option<Vec<ZoneSpec>> = world.tables("zone").into_iter().enumerate().map(zone).collect();
    let zones = zones?;
    check_ids(problems, "zone", zones.iter().map(|zone| &zone.id));
    Some(zones)
}

fn check_friction(problems: &mut Problems<'_>, friction: Located<f64>) -> Option<f64> {
    if (FRICTION_MIN..=FRICTION_MAX).contains(&friction.value) {
        return Some(friction.value);
    }
    let message = format!("no road has a friction of {}", friction.value);
    let help = format!("it goes from {FRICTION_MIN} (wet ice) to {FRICTION_MAX}; dry asphalt has 0.9");
    problems.add(Code::OutOfRange, friction.span, message, help);
    None
}

fn zone(problems: &mut Problems<'_>, number: usize, view: View<'_>, road: Option<&Road>) -> Option<ZoneSpec> {
    let id = view.text("id").unwrap_or_else(|| Located::new(format!("zone-{}", number + 1), view.span()));
    let (effect, span) = effect(problems, view)?;
    let corners = match view.get("polygon") {
        Some(node) => {
            for key in ["station", "length"] {
                if let Some(span) = view.key_span(key) {
                    let message = format!("the polygon says where the zone is, so `{key}` would change nothing");
                    problems.add(Code::Exclusive, span, message, format!("remove `{key}`"));
                }
            }
            let points = view.points("polygon")?;
            shapes::check_polygon(problems, node.span, &points);
            points.iter().map(|point| point.value).collect()
        }
        None => {
            let LanePlace { lane, station_m } = place(problems, road, view)?;
            let lane = road?.network.lane(lane);
            let to_m = view.real("length").map_or(lane.length_m(), |length| station_m + length.value);
            if to_m > lane.length_m() + 1e-6 {
                let message = format!("the lane ends after {:.1} m", lane.length_m());
                problems.add(Code::NoLane, view.get("length")?.span, message, "write a smaller length");
                return None;
            }
            stretch(lane, station_m, to_m)
        }
    };
    Some(ZoneSpec { id, corners, effect, during_s: during(problems, view, effect)?, span })
}

fn effect(problems: &mut Problems<'_>, view: View<'_>) -> Option<(ZoneEffect, Span)> {
    let given: Vec<&str> = EFFECTS.into_iter().filter(|key| view.get(key).is_some()).collect();
    let [key] = given[..] else {
        let span = given.get(1).and_then(|key| view.key_span(key)).unwrap_or(view.span());
        let code = if given.is_empty() { Code::NoneOf } else { Code::Exclusive };
        let help = "write a zone for each";
        problems.add(code, span, "a zone has one of `friction`, `gps_noise` and `gps_lost`", help);
        return None;
    };
    let span = view.key_span(key)?;
    Some(match key {
        "friction" => (ZoneEffect::Friction(check_friction(problems, view.real(key)?)?), span),
        "gps_noise" => (ZoneEffect::GpsNoise(view.real(key)?.value), span),
        _ if view.flag(key)? => (ZoneEffect::GpsLost, span),
        _ => {
            problems.add(Code::EmptyError, span, "a zone that changes nothing", "write true, or remove the zone");
            return None;
        }
    })
}

fn during(problems: &mut Problems<'_>, view: View<'_>, effect: ZoneEffect) -> Option<Option<[f64; 2]>> {
    let Some(span) = view.key_span("from").or_else(|| view.key_span("until")) else { return Some(None) };
    if !matches!(effect, ZoneEffect::Friction(_)) {
        let help = "leave them out; an error `lost` on `ego.localisation` comes and goes";
        problems.add(Code::Exclusive, span, "`from` and `until` are for zones of friction", help);
        return None;
    }
    let from_s = view.real("from").map_or(0.0, |from| from.value);
    let until_s = view.real("until").map_or(f64::INFINITY, |until| until.value);
    if until_s <= from_s {
        problems.add(Code::OutOfRange, span, "the zone ends before it begins", "make `until` later than `from`");
        return None;
    }
    Some(Some([from_s, until_s]))
}

/// The outline of a stretch of a lane.
fn stretch(lane: &Lane, from_m: f64, to_m: f64) -> Vec<Point> {
    let steps = ((to_m - from_m) / CORNER_M).ceil().max(1.0);
    let station = |step: u32| from_m + (to_m - from_m) * f64::from(step) / steps;
    let side = |step: u32, towards: f64| {
        let station_m = station(step);
        lane.point_at(station_m, towards * 0.5 * lane.width_m(station_m))
    };
    let steps_whole = steps as u32;
    let right = (0..=steps_whole).map(|step| side(step, -1.0));
    right.chain((0..=steps_whole).rev().map(|step| side(step, 1.0))).collect()
}

/// Complains about grounds, zones and errors that nothing in the scenario can feel.
pub(super) fn check(problems: &mut Problems<'_>, ego: &EgoSpec, world: &WorldSpec, errors: &[ErrorSpec]) {
    let slips = matches!(ego.vehicle.model.value, VehicleModel::Tyres(_));
    let mut slippery: Vec<Span> = world.friction.iter().map(|friction| friction.span).collect();
    let mut hidden = Vec::new();
    for zone in &world.zones {
        match zone.effect {
            ZoneEffect::Friction(_) => slippery.push(zone.span),
            ZoneEffect::GpsNoise(_) if ego.driver.model.as_ref().is_some_and(ModelSpec::obeys_zones) => {}
            ZoneEffect::GpsNoise(_) | ZoneEffect::GpsLost => hidden.push(zone.span),
        }
    }
    slippery.extend(errors.iter().filter(|error| error.on.value == ErrorPlace::Friction).map(|error| error.on.span));
    let is_lost = |error: &&ErrorSpec| error.sensor.is_none() && matches!(error.kind.value, ErrorKind::Lost { .. });
    hidden.extend(errors.iter().filter(is_lost).map(|error| error.kind.span));
    for span in slippery.into_iter().filter(|_| !slips) {
        let help = "write vehicle = { model = \"single-track\" }, or leave it out";
        problems.add(Code::NothingActs, span, "friction acts on tyres, and this car has none", help);
    }
    for span in hidden.into_iter().filter(|_| ego.filter.is_none()) {
        let help = "write localisation = { filter = \"ekf\" }, or leave it out";
        problems.add(Code::NothingActs, span, "nothing here listens to satellites and other sensors", help);
    }
}
