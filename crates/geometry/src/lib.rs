//! Poses, outlines, obstacles and distances in the plane.

mod outline;
mod path;
mod pose;

pub use outline::{Edge, Outline};
pub use path::{Arc, Path, PathSample, SAMPLE_SPACING_M, Section, along_arc};
pub use pose::{Point, Pose};
