//! What the car is told about the world: its own pose and the obstacles around it, altered by the errors of the segment.
//!
//! Sensors are behaviour; what they remember is a value of its own. They never decide to err: the loop hands them the
//! effects of the segment's error choice as plain numbers and masks. Ordinary noise is no error choice; it is drawn from
//! [`Chance`](anabranch_kernel::Chance) by tick, so the tick belongs to the key where anything here is noisy.
//!
//! # Where things are
//!
//! * **The own pose.** [`read`] adds an error to the truth and is all that slow scenarios need. [`Navigation`] reads
//!   satellites, compass, wheels and gyroscope, each with its period and noise, and runs an extended Kalman filter behind
//!   them: estimate and covariance (S4-8). [`Zones`] are where satellites are seen badly. [`Consistency`] (over many runs,
//!   with the truth) and [`Navigation::confidence`] (in one run, without it) say when a filter is over-confident.
//! * **Noise.** [`NoiseModel`] is bias, white noise and noise that remembers; [`Output::noise`] has three ready ones for
//!   everything that any sensor tells (S2-12).
//! * **Objects.** A [`RaySensor`] casts rays into a [`Scene`] of boxes, circles and polygons behind [`Walls`]; what is hit
//!   is a [`Sight`] (S4-9). A [`Detector`] turns sights into [`Detection`]s, with misses, ghosts, displacement, turned
//!   headings, latency and lateness (S1-19, S1-23 … S1-25). A [`Tracker`] turns those into [`Track`]s.
//!   [`ObstacleSensor`] is the sensor of whole obstacles within a range.
//! * **Plain sensors** (S2-35). [`PlainSensors`] tell weather, location, compass, speed, steering angle, distance to the
//!   right and to the lane markers; [`road_distances`] measures the last two.
//!
//! # One reading, from the world to a track
//!
//! ```
//! use anabranch_geometry::{Point, Pose};
//! use anabranch_kernel::{Chance, Seed};
//! use anabranch_sensing::*;
//!
//! let mount = Mount { x_m: 3.5, y_m: 0.0, yaw_rad: 0.0 };
//! let sensor = RaySensor::new(RaySensorSpec { mount, view_rad: 2.0, horizon_m: 80.0, rays: 200 });
//! let noise = Output::ObjectPosition.noise(Ready::White);
//! let detector = Detector::new(DetectorSpec { position: noise, ..DetectorSpec::perfect() }, 0.1);
//! let tracker = Tracker::new(TrackerSpec::TRAFFIC);
//!
//! // What evolves, and may be saved and merged.
//! let chance = Chance::new(Seed(7), "front-sensor");
//! let (mut detecting, mut tracking) = (detector.start(chance), TrackerState::default());
//! // What is only room to work in.
//! let (mut scene, mut scan, mut told) = (Scene::default(), Scan::default(), Detections::new());
//!
//! for tick in 0..20 {
//!     let truck = Pose::new(30.0 + tick as f64, 0.0, 0.0);
//!     scene.clear();
//!     scene.add_box(truck, 4.0, 1.25);
//!     scene.add_circle(Point::new(60.0, 0.5), 0.3); // behind the truck: never seen
//!     let objects = [
//!         TrueObject { pose: truck, length_m: 8.0, width_m: 2.5 },
//!         TrueObject { pose: Pose::new(60.0, 0.5, 0.0), length_m: 0.6, width_m: 0.6 },
//!     ];
//!     let car = Pose::default();
//!     sensor.scan(car, &scene, &Walls::default(), &mut scan);
//!     let input = DetectorInput {
//!         sensor: &sensor, scan: &scan, objects: &objects, car, believed: car, visibility: 1.0,
//!         errors: DetectionErrors::default(),
//!     };
//!     detector.read(&mut detecting, &input, tick, chance, &mut told);
//!     tracker.step(&mut tracking, &told);
//! }
//! let track = tracking.tracks()[0];
//! assert_eq!(tracking.tracks().len(), 1);
//! assert!((track.speed_mps() - 10.0).abs() < 1.5, "{track:?}");
//! ```

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
    DetectorSpec, DetectorState, Displacement, Look, RateError, ReadingLine, TRACKS_MAX, Track, TrackVariables,
    Tracked, Tracker, TrackerSpec, TrackerState, TrueObject, Trust,
};
pub use obstacle_sensor::{
    Late, OBSTACLES_MAX, ObstacleErrors, ObstacleMemory, ObstacleSensor, Perceived, Presence, SensedObstacle,
};
pub use plain::{GaugeSpec, PLAIN_CHANNELS, Plain, PlainSensors, PlainState, PlainValues};
pub use rays::{Mount, RaySensor, RaySensorSpec, Scan, Scene, Sight, Walls};
pub use ready::{Output, Ready};
pub use road::{RoadDistances, road_distances};
pub use zones::{Reception, Zone, Zones};
