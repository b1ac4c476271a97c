//! The shipped error models, one per file.

mod acceleration;
mod actuator_delay;
mod appears;
mod drift;
mod friction;
mod jump;
mod obstacle_displaced;
mod obstacle_flipped;
mod obstacle_ghost;
mod obstacle_late;
mod obstacle_missed;
mod of_sensor;
mod sensor_delay;
mod sensor_lost;
mod steering;

pub use acceleration::Acceleration;
pub use actuator_delay::ActuatorDelay;
pub use appears::Appears;
pub use drift::{Drift, Growth, HEADING_CELL_RAD, POSITION_CELL_M, PositionDrift};
pub use friction::Friction;
pub use jump::{Jump, JumpParts};
pub use obstacle_displaced::ObstacleDisplaced;
pub use obstacle_flipped::ObstacleFlipped;
pub use obstacle_ghost::ObstacleGhost;
pub use obstacle_late::ObstacleLate;
pub use obstacle_missed::ObstacleMissed;
pub use of_sensor::{OfSensor, SensorFault};
pub use sensor_delay::SensorDelay;
pub use sensor_lost::{SensorLost, SilentSensor};
pub use steering::Steering;
