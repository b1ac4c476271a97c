//! Errors: what may go wrong, and where.

use anabranch_kernel::units::Dimension;

use super::super::codes::Code;
use super::super::error_spec::{DriftSize, ErrorKind, ErrorSpec, LimitsSpec};
use super::super::helper_spec::HelperSpec;
use super::super::keys::ERROR_KINDS;
use super::super::problems::{Problem, Problems, excerpt, listed, nearest};
use super::super::road_spec::{RoadSpec, SensorSpec};
use super::super::span::Located;
use super::super::spec::ObstacleSpec;
use super::super::view::View;
use super::super::words::{ErrorPlace, Frame};
use super::sensor::LATENCY_READINGS_MAX;
use super::{check_ids, helper, probability};

/// Where `on` points to: a place, or a place and an obstacle.
#[derive(Clone, Copy)]
struct Target {
    place: Located<ErrorPlace>,
    obstacle: Option<usize>,
    sensor: Option<usize>,
}

/// What errors can be about.
#[derive(Clone, Copy)]
struct Known<'a> {
    obstacles: &'a [ObstacleSpec],
    sensors: &'a [SensorSpec],
    road: Option<&'a RoadSpec>,
    helpers: &'a HelperSpec,
}

pub(super) fn limits(root: View<'_>) -> LimitsSpec {
    let table = root.table("errors");
    let count = |key: &str| table.and_then(|table| table.small_count(key));
    LimitsSpec { at_once: count("at_once"), per_run: count("per_run") }
}

pub(super) fn build_all(
    problems: &mut Problems<'_>,
    root: View<'_>,
    obstacles: &[ObstacleSpec],
    road: Option<&RoadSpec>,
    helpers: &HelperSpec,
) -> Option<Vec<ErrorSpec>> {
    let sensors = road.map_or(&[][..], |road| &road.sensors);
    let known = Known { obstacles, sensors, road, helpers };
    let built: Vec<Option<ErrorSpec>> =
        root.tables("error").into_iter().map(|view| build(problems, view, known)).collect();
    check_ids(problems, "error", built.iter().flatten().map(|error| &error.id));
    built.into_iter().collect()
}

fn build(problems: &mut Problems<'_>, view: View<'_>, known: Known<'_>) -> Option<ErrorSpec> {
    let target = target(problems, view, known)?;
    let obstacles = known.obstacles;
    let name = ERROR_KINDS.iter().copied().find(|name| view.get(name).is_some())?;
    check_place(problems, name, target.place)?;
    match target.place.value {
        ErrorPlace::Radio => {
            let there = known.helpers.radio.is_some();
            helper::check_there(problems, there, target.place.span, ErrorPlace::Radio.word())?;
        }
        ErrorPlace::Tyres => {
            let there = known.helpers.tyres.is_some();
            helper::check_there(problems, there, target.place.span, ErrorPlace::Tyres.word())?;
        }
        _ => {}
    }
    let table = view.table(name)?;
    let kind = match name {
        "jump" => jump(problems, table)?,
        "drift" => drift(problems, table)?,
        "delay" => ErrorKind::Delay { by_s: sizes(problems, table, "by")? },
        "offset" => offset(problems, table, target.place.value)?,
        "gain" => gain(problems, table)?,
        "lost" if helper::names_others(problems, table, target.place.value) => return None,
        "leak" => {
            let by_pa = sizes(problems, table, "by")?;
            helper::leak(problems, table, by_pa)?
        }
        "lost" if target.place.value == ErrorPlace::Tyres => ErrorKind::MonitorLost,
        "lost" if target.place.value == ErrorPlace::Radio => {
            helper::messages_lost(problems, table, known.road, known.helpers.radio.as_ref()?)?
        }
        "lost" => super::localisation::lost(problems, table, target.place.value)?,
        _ => obstacle_error(problems, name, table, target, obstacles)?,
    };
    if let (Some(sensor), ErrorKind::Delay { by_s }) = (target.sensor, &kind) {
        check_readings(problems, &known.sensors[sensor], by_s, table)?;
    }
    if let (ErrorPlace::Radio, ErrorKind::Delay { by_s }, Some(radio)) =
        (target.place.value, &kind, &known.helpers.radio)
    {
        helper::check_delay(problems, table, by_s, radio)?;
    }
    Some(ErrorSpec {
        id: view.text("id")?,
        on: target.place,
        sensor: target.sensor.map(|sensor| sensor as u8),
        per_run: view.small_count("per_run"),
        probability: match view.table("probability") {
            Some(table) => Some(probability::build(problems, table, &kind)?),
            None => None,
        },
        kind: Located::new(kind, table.span()),
    })
}

/// What is on its way is part of the state, and there must not be too much of it.
fn check_readings(problems: &mut Problems<'_>, sensor: &SensorSpec, by_s: &[f64], table: View<'_>) -> Option<()> {
    let longest_s = by_s.iter().copied().fold(0.0, f64::max) + sensor.latency_s.value;
    if longest_s / sensor.cycle_s.value > LATENCY_READINGS_MAX {
        let message =
            format!("with its latency `{}` would be more than {LATENCY_READINGS_MAX} looks late", sensor.id.value);
        problems.add(Code::OutOfRange, table.span(), message, "make `by` smaller");
        return None;
    }
    Some(())
}

fn target(problems: &mut Problems<'_>, view: View<'_>, known: Known<'_>) -> Option<Target> {
    let on = view.text("on")?;
    let names: Vec<String> = known.sensors.iter().map(|sensor| format!("sensor.{}", sensor.id.value)).collect();
    let only = (known.sensors.len() == 1 && on.value == ErrorPlace::Sensor.word()).then_some(0);
    if let Some(sensor) = names.iter().position(|name| *name == on.value).or(only) {
        let place = Located::new(ErrorPlace::Sensor, on.span);
        return Some(Target { place, obstacle: None, sensor: Some(sensor) });
    }
    if let Some(place) = ErrorPlace::from_word(&on.value).filter(|place| *place != ErrorPlace::Sensor) {
        return Some(Target { place: Located::new(place, on.span), obstacle: None, sensor: None });
    }
    let obstacles = known.obstacles;
    let obstacle = obstacles.iter().position(|obstacle| obstacle.id.value == on.value);
    if obstacle.is_none() {
        let places = ErrorPlace::WORDS.iter().copied().filter(|word| *word != ErrorPlace::Sensor.word());
        let places: Vec<&str> = places.chain(names.iter().map(String::as_str)).collect();
        let words = || places.iter().copied().chain(obstacles.iter().map(|o| o.id.value.as_str()));
        let guess = nearest(&on.value, words()).map_or(String::new(), |word| format!("did you mean `{word}`? "));
        let message = format!("there is no `{}` where an error could happen", excerpt(&on.value));
        problems.add(Code::UnknownPlace, on.span, message, format!("{guess}it is {}", listed(words().take(20))));
    }
    Some(Target { place: Located::new(ErrorPlace::Obstacles, on.span), obstacle: Some(obstacle?), sensor: None })
}

fn places_of(kind: &str) -> &'static [ErrorPlace] {
    match kind {
        "jump" | "drift" => &[ErrorPlace::Localisation],
        "lost" => &[ErrorPlace::Localisation, ErrorPlace::Sensor, ErrorPlace::Radio, ErrorPlace::Tyres],
        "delay" => &[ErrorPlace::Localisation, ErrorPlace::Actuators, ErrorPlace::Sensor, ErrorPlace::Radio],
        "leak" => &[ErrorPlace::Tyres],
        "offset" => &[ErrorPlace::Steering, ErrorPlace::Acceleration],
        "gain" => &[ErrorPlace::Steering, ErrorPlace::Acceleration, ErrorPlace::Friction],
        "appears" => &[ErrorPlace::Obstacles],
        _ => &[ErrorPlace::Obstacles, ErrorPlace::Sensor],
    }
}

fn check_place(problems: &mut Problems<'_>, kind: &str, place: Located<ErrorPlace>) -> Option<()> {
    let places = places_of(kind);
    if places.contains(&place.value) {
        return Some(());
    }
    let message = format!("`{kind}` cannot happen on `{}`", place.value.word());
    let help = format!("`{kind}` happens on {}", listed(places.iter().map(|place| place.word())));
    problems.add(Code::WrongPlace, place.span, message, help);
    None
}

fn empty(problems: &mut Problems<'_>, span: super::super::span::Span, message: &str) {
    let help = "write the size of the error; \"no error\" is always tried as well";
    problems.report(span, Problem::new(Code::EmptyError, message, help));
}

/// Sizes of an error, none of them zero.
fn sizes(problems: &mut Problems<'_>, view: View<'_>, key: &str) -> Option<Vec<f64>> {
    let values = view.reals(key)?;
    match values.iter().find(|value| value.value == 0.0) {
        Some(zero) => {
            empty(problems, zero.span, "an error of size zero changes nothing");
            None
        }
        None => Some(values.iter().map(|value| value.value).collect()),
    }
}

fn jump(problems: &mut Problems<'_>, view: View<'_>) -> Option<ErrorKind> {
    let heading_rad = if view.get("heading").is_some() { sizes(problems, view, "heading")? } else { Vec::new() };
    // A radius of zero is how to say that only the heading jumps.
    let only_heading = !heading_rad.is_empty() && view.real("radius")?.value == 0.0 && view.reals("radius")?.len() == 1;
    let radius_m = if only_heading { Vec::new() } else { sizes(problems, view, "radius")? };
    let directions = view.small_count("directions")?.value;
    Some(ErrorKind::Jump { radius_m, directions, heading_rad, frame: view.word("frame", Frame::from_word)?.value })
}

fn drift(problems: &mut Problems<'_>, view: View<'_>) -> Option<ErrorKind> {
    let heading_rad = drift_size(problems, view, ["heading", "heading_limit", "heading_decay"]);
    if let (None, Some(span)) =
        (view.get("heading"), view.key_span("heading_limit").or_else(|| view.key_span("heading_decay")))
    {
        let help = "add heading = \"0.5 deg\", or remove this key";
        problems.add(Code::MissingKey, span, "this key says nothing without `heading`", help);
    }
    let only_heading = heading_rad.is_some() && view.real("step")?.value == 0.0;
    let position_m = if only_heading { None } else { Some(drift_size(problems, view, ["step", "limit", "decay"])?) };
    let directions = view.small_count("directions")?.value;
    Some(ErrorKind::Drift { position_m, directions, heading_rad, frame: view.word("frame", Frame::from_word)?.value })
}

fn drift_size(problems: &mut Problems<'_>, view: View<'_>, [step, limit, decay]: [&str; 3]) -> Option<DriftSize> {
    let step = view.real(step)?;
    if step.value == 0.0 {
        empty(problems, step.span, "a drift that never moves changes nothing");
        return None;
    }
    let Some(limit) = view.real(limit) else {
        let help = format!("add {limit}: how far it can become");
        problems.add(Code::MissingKey, step.span, "the drift has no limit", help);
        return None;
    };
    if limit.value < step.value {
        empty(problems, limit.span, "the limit is smaller than one step, so the drift never moves");
        return None;
    }
    Some(DriftSize { step: step.value, limit: limit.value, decay: view.real(decay).map(|decay| decay.value) })
}

fn offset(problems: &mut Problems<'_>, view: View<'_>, place: ErrorPlace) -> Option<ErrorKind> {
    let (wanted, name) = match place {
        ErrorPlace::Steering => (Dimension::Angle, "an angle such as \"2 deg\""),
        _ => (Dimension::Acceleration, "an acceleration such as \"0.5 m/s^2\""),
    };
    if let Some(wrong) = view.measured("by")?.iter().find(|measured| measured.dimension != wanted) {
        let message = format!("an offset of `{}` is {name}", place.word());
        problems.add(Code::WrongOffset, wrong.span, message, "change the unit, or the place in `on`");
        return None;
    }
    Some(ErrorKind::Offset { by: sizes(problems, view, "by")? })
}

fn gain(problems: &mut Problems<'_>, view: View<'_>) -> Option<ErrorKind> {
    let values = view.reals("by")?;
    if let Some(one) = values.iter().find(|value| value.value == 1.0) {
        empty(problems, one.span, "a gain of 1 changes nothing");
        return None;
    }
    Some(ErrorKind::Gain { by: values.iter().map(|value| value.value).collect() })
}

fn obstacle_error(
    problems: &mut Problems<'_>,
    name: &str,
    view: View<'_>,
    target: Target,
    obstacles: &[ObstacleSpec],
) -> Option<ErrorKind> {
    let obstacle = which_obstacle(problems, name, view, target, obstacles)?;
    check_obstacle(problems, name, obstacle, obstacles.get(obstacle.value)?)?;
    let obstacle = obstacle.value;
    Some(match name {
        "late" => ErrorKind::Late { by_s: sizes(problems, view, "by")?, obstacle },
        "displaced" => {
            let by_m = *sizes(problems, view, "by")?.first()?;
            ErrorKind::Displaced { by_m, directions: view.small_count("directions")?.value, obstacle }
        }
        "flipped" => ErrorKind::Flipped { obstacle },
        "missed" => ErrorKind::Missed { obstacle },
        "ghost" => ErrorKind::Ghost { obstacle },
        _ => ErrorKind::Appears { obstacle },
    })
}

fn which_obstacle(
    problems: &mut Problems<'_>,
    name: &str,
    view: View<'_>,
    target: Target,
    obstacles: &[ObstacleSpec],
) -> Option<Located<usize>> {
    let ids = || obstacles.iter().map(|obstacle| obstacle.id.value.as_str());
    match (target.obstacle, view.text("obstacle")) {
        (Some(obstacle), None) => Some(Located::new(obstacle, target.place.span)),
        (Some(_), Some(named)) => {
            let message = "`on` names the obstacle already";
            problems.add(Code::Exclusive, named.span, message, "remove `obstacle`, or write on = \"ego.obstacles\"");
            None
        }
        (None, None) => {
            let help = format!("add obstacle = to `{name}`: {}", listed(ids().take(20)));
            problems.add(Code::MissingKey, view.span(), format!("`{name}` does not say which obstacle"), help);
            None
        }
        (None, Some(named)) => {
            let found = ids().position(|id| id == named.value);
            if found.is_none() {
                let guess = nearest(&named.value, ids()).map_or(String::new(), |id| format!("did you mean `{id}`? "));
                let message = format!("there is no obstacle `{}`", excerpt(&named.value));
                problems.add(
                    Code::UnknownObstacle,
                    named.span,
                    message,
                    format!("{guess}there is {}", listed(ids().take(20))),
                );
            }
            Some(Located::new(found?, named.span))
        }
    }
}

fn check_obstacle(problems: &mut Problems<'_>, name: &str, at: Located<usize>, obstacle: &ObstacleSpec) -> Option<()> {
    let wanted = match name {
        "ghost" if !obstacle.ghost => "ghost = true",
        "appears" if obstacle.corners.is_empty() && (obstacle.present || obstacle.ghost) => "waits = true",
        "appears" if obstacle.present || obstacle.ghost => "present = false",
        "late" | "missed" if obstacle.known => "known = false",
        "late" | "missed" | "displaced" | "flipped" if obstacle.ghost => "ghost = false",
        "flipped" if !obstacle.corners.is_empty() => {
            let message = format!("`{}` has no front and no rear", obstacle.id.value);
            problems.add(Code::WrongObstacle, at.span, message, "name an [[object]] on a road");
            return None;
        }
        _ => return Some(()),
    };
    let message = format!("`{name}` needs an obstacle with `{wanted}`, and `{}` is none", obstacle.id.value);
    problems.add(Code::WrongObstacle, at.span, message, format!("add `{wanted}` to the obstacle, or name another"));
    None
}
