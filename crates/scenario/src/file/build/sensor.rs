//! What sees others on roads: one sensor or several.

use anabranch_sensing::{DetectionRate, NoiseModel, Output, Ready};

use super::super::codes::Code;
use super::super::problems::Problems;
use super::super::road_spec::SensorSpec;
use super::super::span::Located;
use super::super::view::View;
use super::check_ids;

/// Longest latency of a sensor, in looks: what is on its way is part of the state.
pub(super) const LATENCY_READINGS_MAX: f64 = 20.0;
/// Most sensors; errors tell them apart by one bit each.
const SENSORS_MAX: usize = anabranch_errors::SENSORS_MAX;
/// Steps of the fusion in the cycle of the slowest sensor: so many looks a track waits for it.
const STEPS_MAX: u64 = 20;
/// What a sensor is called that has no name of its own.
const ONLY: &str = "sensor";

/// All of them.
pub(super) fn build(problems: &mut Problems<'_>, ego: View<'_>) -> Option<Vec<SensorSpec>> {
    let views = ego.tables("sensor");
    let sensors: Option<Vec<_>> = views.iter().map(|view| sensor(problems, *view, views.len() == 1)).collect();
    let sensors = sensors?;
    if sensors.len() > SENSORS_MAX {
        let message = format!("there are {} sensors; at most {SENSORS_MAX} can be told apart", sensors.len());
        problems.add(Code::TooMany, sensors[SENSORS_MAX].id.span, message, "remove some");
        return None;
    }
    check_ids(problems, "sensor", sensors.iter().map(|sensor| &sensor.id));
    check_cycles(problems, &sensors)?;
    Some(sensors)
}

/// Looks of all sensors must fall together often enough.
fn check_cycles(problems: &mut Problems<'_>, sensors: &[SensorSpec]) -> Option<()> {
    let cycle_us = |sensor: &SensorSpec| (sensor.cycle_s.value * 1e6).round() as u64;
    let step_us = sensors.iter().map(cycle_us).fold(0, common);
    let slowest = sensors.iter().max_by_key(|sensor| cycle_us(sensor))?;
    if step_us > 0 && cycle_us(slowest) / step_us > STEPS_MAX {
        let message = format!("the cycles of the sensors have only {} s in common", step_us as f64 * 1e-6);
        let help = format!("make them multiples of each other, the slowest at most {STEPS_MAX} times the common one");
        problems.add(Code::NotAMultiple, slowest.cycle_s.span, message, help);
        return None;
    }
    Some(())
}

/// Greatest common divisor.
pub(crate) fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

pub(super) fn sensor(problems: &mut Problems<'_>, view: View<'_>, is_only: bool) -> Option<SensorSpec> {
    let id = match view.text("id") {
        Some(id) => id,
        None if is_only => Located::new(ONLY.to_owned(), view.span()),
        None => {
            let help = "add id = \"front\" or the like: errors name it `sensor.front`";
            problems.add(Code::MissingKey, view.span(), "one of several sensors needs a name", help);
            return None;
        }
    };
    let real = |key: &str| view.real(key).map(|value| value.value);
    let view_rad = view.real("view")?;
    // Degrees do not divide a turn exactly.
    if view_rad.value > std::f64::consts::TAU * (1.0 + 1e-9) {
        let message = "no sensor sees more than a full turn";
        problems.add(Code::OutOfRange, view_rad.span, message, "write at most \"360 deg\"");
        return None;
    }
    let (cycle, latency) = (view.real("cycle")?, view.real("latency")?);
    let readings = latency.value / cycle.value;
    if (readings - readings.round()).abs() > 1e-6 || readings > LATENCY_READINGS_MAX {
        let message = format!("`latency` is a whole number of looks of the sensor, at most {LATENCY_READINGS_MAX}");
        problems.add(Code::NotAMultiple, latency.span, message, "make it a multiple of `cycle`");
        return None;
    }
    let (position, heading) = noise(problems, view)?;
    Some(SensorSpec {
        id,
        range_m: real("range")?,
        view_rad: Located::new(view_rad.value.min(std::f64::consts::TAU), view_rad.span),
        rays: view.small_count("rays")?.value as u16,
        cycle_s: cycle,
        ahead_m: real("ahead")?,
        aside_m: real("aside")?,
        yaw_rad: real("yaw")?,
        share: real("share")?,
        hits: view.small_count("hits")?.value as u8,
        position,
        heading,
        latency_s: latency,
        rate: rate(problems, view)?,
        flip: probability(problems, view, "flips")?,
        ghost: probability(problems, view, "ghosts")?,
    })
}

/// Noise of positions and of headings.
fn noise(problems: &mut Problems<'_>, view: View<'_>) -> Option<(NoiseModel, NoiseModel)> {
    if let Some(ready) = view.word("model", Ready::named) {
        if let Some(span) = view.key_span("noise").or_else(|| view.key_span("heading_noise")) {
            problems.add(Code::Exclusive, span, "`model` says how large the noise is already", "keep one of them");
            return None;
        }
        return Some((Output::ObjectPosition.noise(ready.value), Output::ObjectHeading.noise(ready.value)));
    }
    let white = |deviation: f64| if deviation > 0.0 { NoiseModel::white(deviation) } else { NoiseModel::NONE };
    Some((white(view.real("noise")?.value), white(view.real("heading_noise")?.value)))
}

fn at_most_one(problems: &mut Problems<'_>, key: &str, value: Located<f64>) -> Option<f64> {
    if value.value > 1.0 {
        let message = format!("`{key}` is a probability, from 0 to 1");
        problems.add(Code::NotAProbability, value.span, message, "write for example 0.1");
        return None;
    }
    Some(value.value)
}

fn probability(problems: &mut Problems<'_>, view: View<'_>, key: &str) -> Option<f64> {
    at_most_one(problems, key, view.real(key)?)
}

fn rate(problems: &mut Problems<'_>, view: View<'_>) -> Option<DetectionRate> {
    let far = probability(problems, view, "far_rate")?;
    let Some(sure) = view.real("sure") else {
        if let Some(span) = view.key_span("far_rate") {
            let help = "add `sure`: up to where everything is detected";
            problems.add(Code::MissingKey, span, "`far_rate` says nothing without `sure`", help);
            return None;
        }
        return Some(DetectionRate::ALWAYS);
    };
    let range_m = view.real("range")?.value;
    let corners = [(sure.value, 1.0), (range_m, far)];
    match DetectionRate::new(&corners) {
        Ok(rate) => Some(rate),
        Err(_) => {
            problems.add(Code::OutOfRange, sure.span, "`sure` must be nearer than `range`", "make it smaller");
            None
        }
    }
}
