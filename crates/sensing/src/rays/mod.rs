//! Virtual sensors that see by rays: only what is hit is visible (S4-9).

mod fan;
mod scene;
mod sensor;
mod walls;

pub use scene::Scene;
pub use sensor::{Mount, RaySensor, RaySensorSpec, Scan, Sight};
pub use walls::Walls;
