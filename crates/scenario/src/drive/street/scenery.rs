//! What pictures show besides everybody: lights, what hangs on the car, and fences beside the road.

use anabranch_geometry::tiles::faces_towards;
use anabranch_geometry::{Outline, Point, Pose};
use anabranch_kernel::Fault;
use anabranch_roads::{Aspect, SignalRef};

use super::super::{Drive, DriveState};
use super::fences::not_loaded;
use super::vehicle::Vehicle;

impl Drive {
    /// What a light shows in a state; none off the road.
    pub fn light(&self, state: &DriveState, signal: SignalRef) -> Option<Aspect> {
        self.street.as_ref().map(|street| street.aspect(&state.street().branch, signal))
    }

    /// The trailer behind the car, if there is one: where its axle is, and its outline about that.
    pub fn trailer(&self, state: &DriveState) -> Option<(Pose, Outline)> {
        let street = self.street.as_ref()?;
        let Vehicle::Trailer(model, _) = &street.vehicle else { return None };
        let (_, pose) = street.vehicle.trailer(&state.car.car, &state.street().attached)?;
        Some((pose, model.trailer.outline))
    }

    /// Edges of permanent obstacles in tiles that face a place and are not farther from it than this; none without tiles.
    ///
    /// # Errors
    /// When a tile cannot be read.
    pub fn fences_near(&self, at: Point, range_m: f64) -> Result<Vec<(Point, Point)>, Fault> {
        let Some(fences) = self.street.as_ref().and_then(|street| street.fences.as_ref()) else {
            return Ok(Vec::new());
        };
        let (mut near, mut edges) = (None, Vec::new());
        let near = fences.around(at, &mut near, range_m)?;
        faces_towards(near, at, range_m, |from, to| edges.push((from, to))).map_err(not_loaded)?;
        Ok(edges)
    }
}
