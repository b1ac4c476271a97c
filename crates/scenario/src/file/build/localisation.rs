//! Sensors of the own motion, the filter behind them, and their errors.

use anabranch_kernel::units::Dimension;
use anabranch_sensing::{MotionSensor, NoiseModel, Output, Ready, Situations};

use super::super::codes::Code;
use super::super::error_spec::ErrorKind;
use super::super::motion_spec::{FilterSpec, MotionSensorGiven};
use super::super::problems::{Problems, excerpt, listed};
use super::super::view::View;
use super::super::words::ErrorPlace;

/// The sensors by name, with what they tell.
const SENSORS: [(&str, MotionSensor, Output, Dimension); 4] = [
    ("gps", MotionSensor::Gps, Output::Position, Dimension::Length),
    ("compass", MotionSensor::Compass, Output::Heading, Dimension::Angle),
    ("wheels", MotionSensor::Wheels, Output::Speed, Dimension::Speed),
    ("gyro", MotionSensor::Gyro, Output::YawRate, Dimension::AngularSpeed),
];

/// The filter of an `[ego]` table; `Some(None)` if it wants none.
pub(super) fn build(problems: &mut Problems<'_>, ego: View<'_>) -> Option<Option<FilterSpec>> {
    let Some(view) = ego.table("localisation") else { return Some(None) };
    let Some(filter) = view.get("filter") else {
        for key in ["noise", "gps", "compass", "wheels", "gyro"] {
            if let Some(span) = view.key_span(key) {
                let message = format!("`{key}` says nothing without a filter behind the sensors");
                problems.add(Code::MissingKey, span, message, "add filter = \"ekf\"");
                return None;
            }
        }
        return Some(None);
    };
    let ready = view.word("noise", Ready::named)?.value;
    let mut given = Vec::new();
    for (name, _, output, dimension) in SENSORS {
        let usual = output.noise(ready);
        given.push(match view.table(name) {
            Some(table) => sensor(problems, table, name, usual, dimension)?,
            None => MotionSensorGiven { cycle_s: None, present: true, noise: usual, assumed: None },
        });
    }
    let [gps, compass, wheels, gyro] = given[..] else { return None };
    Some(Some(FilterSpec { gps, compass, wheels, gyro, span: filter.span }))
}

fn sensor(
    problems: &mut Problems<'_>,
    view: View<'_>,
    name: &str,
    usual: NoiseModel,
    dimension: Dimension,
) -> Option<MotionSensorGiven> {
    for key in ["white", "wander", "bias", "assumed"] {
        let wrong = view.measured(key).and_then(|all| all.into_iter().find(|m| m.dimension != dimension));
        if let Some(wrong) = wrong {
            let message = format!("`{key}` of `{name}` is measured in {}", dimension.si());
            problems.add(Code::WrongUnit, wrong.span, message, format!("write for example \"1 {}\"", dimension.si()));
            return None;
        }
    }
    if name != "gps"
        && let Some(span) = view.key_span("situational")
    {
        problems.add(Code::Exclusive, span, "zones act on satellites only", "remove `situational`");
        return None;
    }
    let noise = noise(view, usual);
    let assumed = view.real("assumed").map(|assumed| assumed.value);
    if assumed.is_none() && noise.variance() == 0.0 {
        let message = format!("the filter has to count with some noise of `{name}`");
        problems.add(Code::MissingKey, view.span(), message, "add `assumed`, or some noise");
        return None;
    }
    Some(MotionSensorGiven { cycle_s: view.real("cycle"), present: view.flag("present")?, noise, assumed })
}

/// Sensors that fall silent.
pub(super) fn lost(problems: &mut Problems<'_>, view: View<'_>, place: ErrorPlace) -> Option<ErrorKind> {
    let mut sensors = Vec::new();
    let named = match (place, view.get("sensors")) {
        (ErrorPlace::Sensor, None) => return Some(ErrorKind::Lost { sensors }),
        (ErrorPlace::Sensor, Some(named)) => {
            let message = "`on` names the sensor already";
            problems.add(Code::Exclusive, named.span, message, "write lost = {}");
            return None;
        }
        (_, None) => {
            let help = format!("add sensors = [..] with {}", listed(SENSORS.iter().map(|(name, ..)| *name)));
            problems.add(Code::MissingKey, view.span(), "`lost` does not say which sensors", help);
            return None;
        }
        (_, Some(named)) => named,
    };
    for node in named.items() {
        let text = node.text().unwrap_or_default();
        let Some((_, sensor, ..)) = SENSORS.iter().find(|(name, ..)| *name == text) else {
            let message = format!("there is no sensor `{}` of the own motion", excerpt(text));
            let help = format!("it is {}", listed(SENSORS.iter().map(|(name, ..)| *name)));
            problems.add(Code::UnknownWord, node.span, message, help);
            return None;
        };
        if sensors.contains(sensor) {
            problems.add(Code::DuplicateId, node.span, format!("`{text}` is there already"), "name each sensor once");
            return None;
        }
        sensors.push(*sensor);
    }
    Some(ErrorKind::Lost { sensors })
}

/// Noise as a table says it; what it leaves out is as usual.
pub(super) fn noise(view: View<'_>, usual: NoiseModel) -> NoiseModel {
    let real = |key: &str, usual: f64| view.real(key).map_or(usual, |value| value.value);
    let situations = match view.get("situational").and_then(|_| view.flag("situational")) {
        Some(true) => Situations::Obeyed,
        Some(false) => Situations::Ignored,
        None => usual.situations,
    };
    NoiseModel {
        bias: real("bias", usual.bias),
        white: real("white", usual.white),
        wander: real("wander", usual.wander),
        wander_s: real("wander_time", usual.wander_s),
        situations,
    }
}
