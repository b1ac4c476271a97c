//! Maps by a few numbers: straight road, arc, highway, city, roundabout, T-junction.
//!
//! Lanes are numbered from the right, from 1; oncoming ones from `-1` on, as seen by those who drive along the road.

mod basic;

pub use basic::{arc, straight};

/// Width of a lane unless a map says otherwise.
pub const LANE_WIDTH_M: f64 = 3.5;
/// Speed limit in towns: 50 km/h.
pub const TOWN_LIMIT_MPS: f64 = 50.0 / 3.6;
/// Speed limit on highways: 120 km/h.
pub const HIGHWAY_LIMIT_MPS: f64 = 120.0 / 3.6;
