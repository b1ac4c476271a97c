//! The sizes of a scenario's errors, and scenarios with another size of one of them.

use anabranch_kernel::units::Dimension;
use anabranch_scenario::file::{DriftSize, ErrorKind, ErrorSpec, ScenarioSpec};

/// Which size of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Radius,
    JumpHeading,
    Step,
    Limit,
    DriftHeading,
    By,
}

/// One size of one error.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    error: String,
    part: Part,
    /// `estimate-jump.radius`.
    pub name: String,
    /// Its path in the scenario: `error.estimate-jump.jump.radius`.
    pub path: String,
    /// Its largest value in the scenario.
    pub nominal: f64,
    /// What it measures.
    pub dimension: Dimension,
    /// Sizes are multiples of this; 0 if any size will do.
    pub quantum: f64,
    /// Largest size that makes sense.
    pub max: f64,
    /// Its values in the scenario.
    values: Vec<f64>,
    /// The value that is no error: 1 of a gain, else 0.
    pub none: f64,
}

/// How far beyond the size in the scenario it is looked.
const BEYOND: f64 = 4.0;

/// Every size of every error, in the order of the file. What is there or not has none.
pub fn channels(spec: &ScenarioSpec) -> Vec<Channel> {
    spec.errors.iter().flat_map(|error| of_error(spec, error)).collect()
}

fn of_error(spec: &ScenarioSpec, error: &ErrorSpec) -> Vec<Channel> {
    let one = |part: Part, kind: &str, key: &str, nominal: f64, dimension: Dimension| Channel {
        error: error.id.value.clone(),
        part,
        name: format!("{}.{key}", error.id.value),
        path: format!("error.{}.{kind}.{key}", error.id.value),
        nominal,
        dimension,
        quantum: if dimension == Dimension::Time { spec.world.step_s.value } else { 0.0 },
        max: BEYOND * nominal,
        values: vec![nominal],
        none: 0.0,
    };
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let several = |part: Part, kind: &str, key: &str, values: &[f64], dimension: Dimension| Channel {
        values: values.to_vec(),
        ..one(part, kind, key, largest(values), dimension)
    };
    match &error.kind.value {
        ErrorKind::Jump { radius_m, heading_rad, .. } => {
            let radius = several(Part::Radius, "jump", "radius", radius_m, Dimension::Length);
            let heading = several(Part::JumpHeading, "jump", "heading", heading_rad, Dimension::Angle);
            let there = [(radius, radius_m), (heading, heading_rad)];
            there.into_iter().filter(|(_, values)| !values.is_empty()).map(|(channel, _)| channel).collect()
        }
        ErrorKind::Drift { position_m, heading_rad, .. } => {
            let position = position_m.iter().flat_map(|size| {
                let step = one(Part::Step, "drift", "step", size.step, Dimension::Length);
                [step, one(Part::Limit, "drift", "limit", size.limit, Dimension::Length)]
            });
            let heading =
                heading_rad.map(|size| one(Part::DriftHeading, "drift", "heading", size.step, Dimension::Angle));
            position.chain(heading).collect()
        }
        ErrorKind::Delay { by_s } => vec![several(Part::By, "delay", "by", by_s, Dimension::Time)],
        ErrorKind::Late { by_s, .. } => vec![several(Part::By, "late", "by", by_s, Dimension::Time)],
        ErrorKind::Offset { by } => vec![several(Part::By, "offset", "by", by, error.dimensions()[0])],
        ErrorKind::Displaced { by_m, .. } => {
            vec![one(Part::By, "displaced", "by", *by_m, Dimension::Length)]
        }
        ErrorKind::Gain { by } => {
            let away: Vec<f64> = by.iter().map(|gain| gain - 1.0).collect();
            let gain = several(Part::By, "gain", "by", &away, Dimension::Number);
            // A gain below zero would steer or brake the other way, which is another error.
            let lowest = away.iter().fold(0.0_f64, |a, b| a.min(*b));
            let room = if lowest < 0.0 { gain.nominal / -lowest } else { gain.max };
            vec![Channel { max: gain.max.min(room), values: by.clone(), none: 1.0, ..gain }]
        }
        ErrorKind::Leak { by_pa, .. } => vec![several(Part::By, "leak", "by", by_pa, Dimension::Pressure)],
        ErrorKind::Lost { .. }
        | ErrorKind::MessagesLost { .. }
        | ErrorKind::MonitorLost
        | ErrorKind::Flipped { .. }
        | ErrorKind::Missed { .. }
        | ErrorKind::Ghost { .. }
        | ErrorKind::Appears { .. } => Vec::new(),
    }
}

impl Channel {
    /// The nearest size that can be had.
    pub fn rounded(&self, size: f64) -> f64 {
        if self.quantum == 0.0 { size } else { (size / self.quantum).round() * self.quantum }
    }

    /// The values of the scenario when its largest has this size.
    pub fn values_at(&self, size: f64) -> Vec<f64> {
        let factor = size / self.nominal;
        self.values.iter().map(|value| self.none + self.rounded((value - self.none) * factor)).collect()
    }

    /// The scenario with this size instead of its own; with 0 this error does not happen.
    pub fn apply(&self, spec: &ScenarioSpec, size: f64) -> ScenarioSpec {
        let mut spec = spec.clone();
        let Some(at) = spec.errors.iter().position(|error| error.id.value == self.error) else { return spec };
        let kind = &mut spec.errors[at].kind.value;
        let is_left = if size > 0.0 { self.scale(kind, size) } else { self.remove(kind) };
        if !is_left {
            spec.errors.remove(at);
        }
        spec
    }

    fn scale(&self, kind: &mut ErrorKind, size: f64) -> bool {
        let factor = size / self.nominal;
        let scaled = |values: &mut Vec<f64>| values.iter_mut().for_each(|v| *v = self.rounded(*v * factor));
        match (kind, self.part) {
            (ErrorKind::Jump { radius_m, .. }, Part::Radius) => scaled(radius_m),
            (ErrorKind::Jump { heading_rad, .. }, _) => scaled(heading_rad),
            (ErrorKind::Drift { position_m: Some(drift), .. }, Part::Step) => {
                *drift = DriftSize { step: size, limit: drift.limit.max(size), ..*drift };
            }
            (ErrorKind::Drift { position_m: Some(drift), .. }, Part::Limit) => {
                *drift = DriftSize { step: drift.step.min(size), limit: size, ..*drift };
            }
            (ErrorKind::Drift { heading_rad: Some(drift), .. }, _) => {
                *drift = DriftSize { step: size, limit: drift.limit.max(size), ..*drift };
            }
            (ErrorKind::Delay { by_s } | ErrorKind::Late { by_s, .. }, _) => {
                scaled(by_s);
                by_s.retain(|by| *by > 0.0);
                return !by_s.is_empty();
            }
            (ErrorKind::Offset { by } | ErrorKind::Leak { by_pa: by, .. }, _) => scaled(by),
            (ErrorKind::Gain { by }, _) => by.iter_mut().for_each(|gain| *gain = 1.0 + (*gain - 1.0) * factor),
            (ErrorKind::Displaced { by_m, .. }, _) => *by_m = size,
            _ => {}
        }
        true
    }

    /// Whether anything is left of the error.
    fn remove(&self, kind: &mut ErrorKind) -> bool {
        match (kind, self.part) {
            (ErrorKind::Jump { radius_m, heading_rad, .. }, part) => {
                if part == Part::Radius {
                    radius_m.clear()
                } else {
                    heading_rad.clear()
                }
                !radius_m.is_empty() || !heading_rad.is_empty()
            }
            (ErrorKind::Drift { position_m, heading_rad, .. }, part) => {
                if part == Part::DriftHeading {
                    *heading_rad = None
                } else {
                    *position_m = None
                }
                position_m.is_some() || heading_rad.is_some()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
impl Channel {
    /// A channel of no scenario.
    pub fn for_tests(nominal: f64, dimension: Dimension, quantum: f64) -> Self {
        let (error, name, path) = ("jump".to_owned(), "jump.radius".to_owned(), "error.jump.jump.radius".to_owned());
        let (max, values, none) = (BEYOND * nominal, vec![nominal], 0.0);
        Self { error, part: Part::Radius, name, path, nominal, dimension, quantum, max, values, none }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_scaled_around_one() {
        let half = Channel { values: vec![0.5, 1.5], none: 1.0, ..Channel::for_tests(0.5, Dimension::Number, 0.0) };
        assert_eq!(half.values_at(0.25), [0.75, 1.25]);
        let jump = Channel { values: vec![0.1, 0.2], ..Channel::for_tests(0.2, Dimension::Length, 0.0) };
        assert_eq!(jump.values_at(0.1), [0.05, 0.1]);
    }
}
