//! Plain sensors that a driver may listen to (S2-35, S2-14).

use anabranch_kernel::units::Dimension;
use anabranch_sensing::{NoiseModel, Output, Plain, Ready};

use super::super::codes::Code;
use super::super::motion_spec::{GaugeGiven, PlainSpec};
use super::super::problems::Problems;
use super::super::view::View;

/// The sensors of an `[ego]` table; `Some(None)` if it has none.
pub(super) fn build(problems: &mut Problems<'_>, ego: View<'_>) -> Option<Option<PlainSpec>> {
    let Some(view) = ego.table("plain") else { return Some(None) };
    let ready = view.word("noise", Ready::named).map(|ready| ready.value);
    let mut gauges = [GaugeGiven { cycle_s: None, quantum: 0.0, noise: NoiseModel::NONE }; 7];
    for (gauge, sensor) in gauges.iter_mut().zip(Plain::ALL) {
        gauge.noise = ready.map_or(NoiseModel::NONE, |ready| sensor.output().noise(ready));
        if let Some(table) = view.table(sensor.name()) {
            *gauge = given(problems, table, sensor, gauge.noise)?;
        }
    }
    Some(Some(PlainSpec { gauges, span: ego.key_span("plain")? }))
}

fn dimension(output: Output) -> Dimension {
    match output {
        Output::Friction => Dimension::Number,
        Output::Heading | Output::Steering | Output::ObjectHeading => Dimension::Angle,
        Output::Speed => Dimension::Speed,
        Output::YawRate => Dimension::AngularSpeed,
        Output::Position | Output::RoadDistance | Output::ObjectPosition => Dimension::Length,
    }
}

fn given(problems: &mut Problems<'_>, view: View<'_>, sensor: Plain, usual: NoiseModel) -> Option<GaugeGiven> {
    let wanted = dimension(sensor.output());
    for key in ["resolution", "white", "wander", "bias"] {
        let wrong = view.measured(key).and_then(|all| all.into_iter().find(|m| m.dimension != wanted));
        if let Some(wrong) = wrong {
            let (message, help) = match wanted {
                Dimension::Number => ("is a number without unit".to_owned(), "write for example 0.1".to_owned()),
                _ => (format!("is measured in {}", wanted.si()), format!("write for example \"1 {}\"", wanted.si())),
            };
            problems.add(Code::WrongUnit, wrong.span, format!("`{key}` of `{}` {message}", sensor.name()), help);
            return None;
        }
    }
    let noise = super::localisation::noise(view, usual);
    let quantum = view.real("resolution").map_or(0.0, |value| value.value);
    Some(GaugeGiven { cycle_s: view.real("cycle"), quantum, noise })
}
