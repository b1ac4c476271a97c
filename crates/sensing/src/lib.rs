//! What the car is told about the world: its own pose and the obstacles around it, altered by the errors of the segment.
//!
//! Sensors are behaviour; what they remember is a value of its own. They never decide to err: the loop hands them the
//! effects of the segment's error choice as plain numbers and masks.

mod consistency;
mod filter;
mod gaussian;
mod localisation;
mod navigation;
mod noise;
mod objects;
mod obstacle_sensor;
mod plain;
mod rays;
mod ready;
mod road;
mod zones;

pub use consistency::{Confidence, Consistency, ConsistencyReport, InnovationWatch, Innovations, SHARE_INSIDE_MIN};
pub use filter::{Component, ESTIMATED, Estimate, Filter, FilterSpec, Moving};
pub use localisation::{Localisation, PoseError, PoseReading, READING_CELLS, TruePose, read};
pub use navigation::{MotionSensor, MotionSensorSpec, Navigation, NavigationErrors, NavigationSpec, NavigationState};
pub use noise::{Noise, NoiseModel, Situations, Wander};
pub use objects::{
    CORNERS_MAX, DETECTIONS_MAX, Detection, DetectionErrors, DetectionRate, Detections, Detector, DetectorInput,
    DetectorSpec, DetectorState, Displacement, RateError, ReadingLine, TRACKS_MAX, Track, Tracker, TrackerSpec,
    TrackerState, TrueObject, Trust,
};
pub use obstacle_sensor::{
    Late, OBSTACLES_MAX, ObstacleErrors, ObstacleMemory, ObstacleSensor, Perceived, Presence, SensedObstacle,
};
pub use plain::{GaugeSpec, PLAIN_CHANNELS, Plain, PlainSensors, PlainState, PlainValues};
pub use rays::{Mount, RaySensor, RaySensorSpec, Scan, Scene, Sight, Walls};
pub use ready::{Output, Ready};
pub use road::{RoadDistances, road_distances};
pub use zones::{Reception, Zone, Zones};
