//! From the errors of a scenario file to error models.

use anabranch_errors::{
    Acceleration, ActuatorDelay, Appears, Drift, Entry, ErrorSet, ErrorSetError, Frame, Friction, Grouping, Growth,
    Jump, JumpParts, Leak, Limits, MessagesLate, MessagesLost, Model, MonitorLost, Obstacle, ObstacleDisplaced,
    ObstacleFlipped, ObstacleGhost, ObstacleLate, ObstacleMissed, OfSensor, PositionDrift, SensorDelay, SensorFault,
    SensorLost, SilentSensor, Steering, Targets,
};
use anabranch_sensing::MotionSensor;

use crate::file::{self, DriftSize, ErrorKind, ErrorPlace, ErrorSpec, ScenarioSpec};

/// Numbers of the obstacles that sensors can see, by their index in the file.
pub(super) struct Numbers(pub(super) Vec<Option<u8>>);

pub(super) fn error_set(spec: &ScenarioSpec, numbers: &Numbers) -> Result<ErrorSet, ErrorSetError> {
    let entry = |error: &ErrorSpec| Entry {
        model: model(spec, error, numbers),
        per_run: error.per_run.map(|limit| u16::try_from(limit.value).unwrap_or(u16::MAX)),
    };
    let limits = Limits {
        at_once: spec.limits.at_once.map_or(spec.errors.len(), |limit| limit.value as usize),
        per_run: spec.limits.per_run.map(|limit| u16::try_from(limit.value).unwrap_or(u16::MAX)),
    };
    ErrorSet::new(spec.errors.iter().map(entry).collect(), limits)
}

pub(super) fn model(spec: &ScenarioSpec, error: &ErrorSpec, numbers: &Numbers) -> Model {
    let Some(sensor) = error.sensor else { return plain_model(spec, error, numbers) };
    let sensors = spec.road.iter().flat_map(|road| &road.sensors);
    let name = sensors.map(|one| one.id.value.clone()).nth(usize::from(sensor)).unwrap_or_default();
    let fault = match &error.kind.value {
        ErrorKind::Lost { .. } => SensorFault::Lost(error.id.value.clone()),
        _ => SensorFault::Of(Box::new(plain_model(spec, error, numbers))),
    };
    OfSensor { sensor, name, fault }.into()
}

fn plain_model(spec: &ScenarioSpec, error: &ErrorSpec, numbers: &Numbers) -> Model {
    let id = error.id.value.clone();
    let tick_s = spec.world.step_s.value;
    let ticks = |by_s: &[f64]| by_s.iter().map(|&s| u16::try_from(spec.world.ticks(s)).unwrap_or(u16::MAX)).collect();
    let targets = |obstacle: usize| targets(spec, obstacle, numbers);
    match &error.kind.value {
        ErrorKind::Jump { radius_m, directions, heading_rad, frame } => {
            let both: Vec<f64> = heading_rad.iter().flat_map(|&a| [a, -a]).collect();
            let parts = JumpParts {
                id: &id,
                frame: frame_of(*frame),
                radii_m: radius_m,
                directions: *directions as u8,
                headings_rad: &both,
            };
            Jump::new(&parts).into()
        }
        ErrorKind::Drift { position_m, directions, heading_rad, frame } => {
            let position = position_m.map(|size| PositionDrift { growth: growth(size), directions: *directions as u8 });
            let segment_s = spec.explore.segment_s.value;
            Drift::new(&id, frame_of(*frame), position, heading_rad.map(growth), segment_s).into()
        }
        ErrorKind::Delay { by_s } if error.on.value == ErrorPlace::Radio => {
            MessagesLate { id, delays_ticks: ticks(by_s), tick_s }.into()
        }
        ErrorKind::MessagesLost { objects } => {
            let objects = objects.iter().map(|number| (spec.object_id(*number).to_owned(), *number as u8));
            MessagesLost { id, senders: objects.collect() }.into()
        }
        ErrorKind::MonitorLost => MonitorLost { id }.into(),
        ErrorKind::Leak { by_pa, wheels, stays } => {
            let wheels = wheels.iter().map(|wheel| (wheel.word().to_owned(), *wheel as u8)).collect();
            let segment_s = spec.explore.segment_s.value;
            Leak { id, wheels, losses_pa: by_pa.clone(), segment_s, stays: *stays }.into()
        }
        ErrorKind::Delay { by_s } if error.on.value != ErrorPlace::Actuators => {
            SensorDelay { id, delays_ticks: ticks(by_s), tick_s }.into()
        }
        ErrorKind::Delay { by_s } => ActuatorDelay { id, delays_ticks: ticks(by_s), tick_s }.into(),
        ErrorKind::Offset { by } => {
            let both = by.iter().flat_map(|&a| [a, -a]).collect();
            if error.on.value == ErrorPlace::Steering {
                Steering { id, offsets_rad: both, gains: Vec::new() }.into()
            } else {
                Acceleration { id, offsets_mps2: both, gains: Vec::new() }.into()
            }
        }
        ErrorKind::Gain { by } if error.on.value == ErrorPlace::Steering => {
            Steering { id, offsets_rad: Vec::new(), gains: by.clone() }.into()
        }
        ErrorKind::Gain { by } if error.on.value == ErrorPlace::Friction => Friction { id, gains: by.clone() }.into(),
        ErrorKind::Lost { sensors } => {
            let silent = |sensor: &MotionSensor| SilentSensor { name: sensor.name().to_owned(), number: *sensor as u8 };
            SensorLost { id, sensors: sensors.iter().map(silent).collect() }.into()
        }
        ErrorKind::Gain { by } => Acceleration { id, offsets_mps2: Vec::new(), gains: by.clone() }.into(),
        ErrorKind::Late { by_s, obstacle } => {
            ObstacleLate { id, targets: targets(*obstacle), delays_ticks: ticks(by_s), tick_s }.into()
        }
        ErrorKind::Displaced { by_m, directions, obstacle } => {
            ObstacleDisplaced::new(&id, targets(*obstacle), *by_m, *directions as u8).into()
        }
        ErrorKind::Flipped { obstacle } => ObstacleFlipped { id, targets: targets(*obstacle) }.into(),
        ErrorKind::Missed { obstacle } => ObstacleMissed { id, targets: targets(*obstacle) }.into(),
        ErrorKind::Ghost { obstacle } => ObstacleGhost { id, targets: targets(*obstacle) }.into(),
        ErrorKind::Appears { obstacle } => Appears { id, targets: targets(*obstacle) }.into(),
    }
}

/// The obstacle an error is about.
pub(super) fn obstacle_of(kind: &ErrorKind) -> Option<usize> {
    match kind {
        ErrorKind::Late { obstacle, .. }
        | ErrorKind::Displaced { obstacle, .. }
        | ErrorKind::Flipped { obstacle }
        | ErrorKind::Missed { obstacle }
        | ErrorKind::Ghost { obstacle }
        | ErrorKind::Appears { obstacle } => Some(*obstacle),
        _ => None,
    }
}

fn targets(spec: &ScenarioSpec, obstacle: usize, numbers: &Numbers) -> Targets {
    let name = spec.target_id(obstacle).to_owned();
    let number = numbers.0[obstacle].expect("obstacles named by an error are sensed");
    Targets { obstacles: vec![Obstacle { name, number }], grouping: Grouping::Each }
}

fn frame_of(frame: file::Frame) -> Frame {
    match frame {
        file::Frame::Car => Frame::Car,
        file::Frame::World => Frame::World,
    }
}

fn growth(size: DriftSize) -> Growth {
    Growth { rate: size.step, decay: size.decay.unwrap_or(size.limit), limit: size.limit }
}
