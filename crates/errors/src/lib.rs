//! Error models: functions that alter the data passing by.
//!
//! No component decides to fail. It is told its [`Effects`] at the beginning of every segment by the [`ErrorSet`] of the
//! scenario, and the choice behind them comes from the explorer, a replay file or a person.
//!
//! ```
//! use anabranch_errors::*;
//! use anabranch_kernel::Choice;
//!
//! let jump = JumpParts { id: "estimate-jump", frame: Frame::Car, radii_m: &[0.1], directions: 8, headings_rad: &[] };
//! let entry = Entry { model: Jump::new(&jump).into(), per_run: None };
//! let set = ErrorSet::new(vec![entry], Limits { at_once: 1, per_run: None }).unwrap();
//! assert_eq!(set.space().len(), 9);
//! assert_eq!(set.space().describe(Choice(3)), "estimate-jump: left 0.1 m");
//! let mut memory = set.start();
//! assert_eq!(set.begin(Choice(3), &mut memory).pose_in_car.at(0.0), [0.0, 0.1, 0.0]);
//! assert_eq!(set.begin(Choice::NONE, &mut memory), Effects::NONE);
//! ```
//!
#![doc = include_str!("../RECIPE.md")]

mod delay_line;
mod directions;
mod effects;
pub mod fit;
mod memory;
mod model;
mod models;
mod sequences;
mod set;
mod targets;
mod words;

pub use delay_line::{Channel, DelayLine};
pub use effects::{
    ALL_SENSORS, Displaced, Effects, Frame, GROUPS_MAX, HelperEffects, Late, PoseRamp, SENSORS_MAX, SensorEffects,
};
pub use memory::{LIMITED_MAX, Memory, SLOT_MAX, Slot, VALUES_MAX};
pub use model::{ErrorModel, Model};
pub use models::{
    Acceleration, ActuatorDelay, Appears, Drift, Friction, Growth, HEADING_CELL_RAD, Jump, JumpParts, Leak,
    MessagesLate, MessagesLost, MonitorLost, ObstacleDisplaced, ObstacleFlipped, ObstacleGhost, ObstacleLate,
    ObstacleMissed, OfSensor, POSITION_CELL_M, PositionDrift, SensorDelay, SensorFault, SensorLost, SilentSensor,
    Steering,
};
pub use sequences::Sequences;
pub use set::{Entry, ErrorSet, ErrorSetError, Limits, Reach};
pub use targets::{Grouping, Obstacle, Targets};
