//! Poses, outlines, obstacles and distances in the plane.
//!
//! ```
//! use anabranch_geometry::{Body, EdgeSet, Motion, Outline, Point, Pose, first_contact};
//!
//! let outline = Outline { front_m: 3.45, rear_m: 0.75, half_width_m: 0.9, corner_radius_m: 0.35 };
//! let body = Body::new(&outline);
//! let mut obstacles = EdgeSet::default();
//! obstacles.add_wall(0, &[Point::new(4.0, -5.0), Point::new(4.0, 5.0)]);
//!
//! let nearest = obstacles.nearest(&body, Pose::new(0.0, 0.0, 0.0)).unwrap();
//! assert!((nearest.clearance_m - 0.55).abs() < 1e-12);
//!
//! let motion = Motion { from: Pose::new(0.0, 0.0, 0.0), to: Pose::new(1.1, 0.0, 0.0) };
//! let contact = first_contact(&body, &motion, obstacles.edges()).unwrap();
//! assert!((contact.fraction - 0.5).abs() < 1e-5);
//! ```

mod clearance;
mod obstacles;
mod outline;
mod path;
mod pose;
mod sweep;
pub mod tiles;

pub use clearance::{Nearest, WallEdge, clearance, nearest, nearest_with_points};
pub use obstacles::EdgeSet;
pub use outline::{Body, Edge, Outline};
pub use path::{Arc, Path, PathSample, SAMPLE_SPACING_M, Section, along_arc};
pub use pose::{Point, Pose};
pub use sweep::{CONTACT_TOLERANCE_M, Contact, Motion, first_contact, max_displacement, may_touch};
