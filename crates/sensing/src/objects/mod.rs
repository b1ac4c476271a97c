//! Objects around the car: from sights to detections, and from detections to tracks (S4-9).

mod assignment;
mod detection;
mod detector;
mod rate;
mod tracker;

pub use detection::{DETECTIONS_MAX, Detection, Detections, ReadingLine};
pub use detector::{DetectionErrors, Detector, DetectorInput, DetectorSpec, DetectorState, Displacement, TrueObject};
pub use rate::{CORNERS_MAX, DetectionRate, RateError};
pub use tracker::{Look, TRACKS_MAX, Track, TrackVariables, Tracked, Tracker, TrackerSpec, TrackerState, Trust};
