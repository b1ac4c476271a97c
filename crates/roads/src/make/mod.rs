//! Maps by a few numbers: straight road, arc, ring, highway with ramp or lane drop, crossing,
//! T-junction, roundabout, parking lot, city; and kerbs along them.
//!
//! Traffic keeps to the right. Lanes are numbered from the right, from 1; those of the other direction have a minus, and
//! are numbered from their own right. So lane 1 and lane -1 are at the two kerbs.

mod basic;
mod city;
mod crossing;
mod highway;
mod kerbs;
mod parking;
mod roundabout;
mod strip;
mod turns;

pub use basic::{arc, ring, straight};
pub use city::{City, block_min_m, city, street_m};
pub use crossing::{Crossing, crossing, t_junction};
pub use highway::{highway, lane_drop, on_ramp};
pub use kerbs::kerbs;
pub use parking::parking_lot;
pub use roundabout::{ring_min_m, roundabout};
pub use strip::{Strip, strip};
pub use turns::{Control, fixed_lights};

/// Width of a lane unless a map says otherwise.
pub const LANE_WIDTH_M: f64 = 3.5;
/// Speed limit in towns: 50 km/h.
pub const TOWN_LIMIT_MPS: f64 = 50.0 / 3.6;
/// Speed limit on highways: 120 km/h.
pub const HIGHWAY_LIMIT_MPS: f64 = 120.0 / 3.6;
