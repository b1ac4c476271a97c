//! What the car is told about the world: its own pose and the obstacles around it, altered by the errors of the segment.
//!
//! Sensors are behaviour; what they remember is a value of its own. They never decide to err: the loop hands them the
//! effects of the segment's error choice as plain numbers and masks.

mod localisation;
mod obstacle_sensor;

pub use localisation::{Localisation, PoseError, PoseReading, READING_CELLS, TruePose, read};
pub use obstacle_sensor::{
    Late, OBSTACLES_MAX, ObstacleErrors, ObstacleMemory, ObstacleSensor, Perceived, Presence, SensedObstacle,
};
