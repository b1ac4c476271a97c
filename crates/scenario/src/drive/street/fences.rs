//! Permanent obstacles beside the road, held in memory only where they are near (S4-5).

use anabranch_geometry::tiles::{
    AnyBytes, NearTiles, NotLoaded, SharedTiles, TileFile, faces_towards, nearest_in_tiles,
};
use anabranch_geometry::{Body, Contact, Motion, Point, Pose, max_displacement};
use anabranch_kernel::Fault;

use super::super::door::Doors;
use super::Buffers;
use crate::file::TilesSpec;

/// Fences nearer than this get their exact distance; for those beyond it this bound is told.
const NEAR_M: f64 = 20.0;
/// So near is contact: a hundredth of a cell or less.
const TOUCH_M: f64 = 1e-3;
/// Tiles that nobody looks at are dropped beyond this.
const BYTES_MAX: usize = 24 << 20;

/// What a drive needs of tiles.
#[derive(Debug)]
pub(super) struct Fences {
    tiles: SharedTiles<TileFile<AnyBytes>>,
    /// Whether sensors do not see through them.
    hide: bool,
    /// How far around the car they are looked at.
    reach_m: f64,
    /// Number in verdicts.
    number: u32,
}

impl Fences {
    /// `sight_m` is how far sensors see, `number` what verdicts call them.
    pub(super) fn new(spec: &TilesSpec, sight_m: f64, number: u32) -> Self {
        let (file, grid) = (spec.file.clone(), *spec.file.grid());
        let reach_m = if spec.hide { sight_m.max(2.0 * NEAR_M) } else { 2.0 * NEAR_M };
        Self { tiles: SharedTiles::new(file, grid, BYTES_MAX), hide: spec.hide, reach_m, number }
    }

    /// The most memory that tiles have taken so far.
    pub(super) fn most_bytes(&self) -> usize {
        self.tiles.most_bytes()
    }

    /// The tiles around a place.
    pub(super) fn around<'b>(
        &self,
        at: Point,
        near: &'b mut Option<NearTiles>,
        reach_m: f64,
    ) -> Result<&'b NearTiles, Fault> {
        let near = near.get_or_insert_with(|| self.tiles.near());
        self.tiles.follow(at, reach_m, near).map_err(|error| Fault::External(error.to_string()))?;
        Ok(near)
    }

    /// Edges that stop rays from a place.
    pub(super) fn stop_rays(&self, from: Point, range_m: f64, buffers: &mut Buffers) -> Result<(), Fault> {
        buffers.faces.clear();
        if self.hide {
            // The place of a sensor differs from that of its car.
            let near = self.around(from, &mut buffers.tiles, self.reach_m.max(range_m))?;
            let faces = &mut buffers.faces;
            faces_towards(near, from, range_m, |a, b| faces.push((a, b))).map_err(not_loaded)?;
        }
        Ok(())
    }

    /// Shows the doors of a car those in the reach of each.
    pub(super) fn meet(&self, doors: &mut Doors, near: &mut Option<NearTiles>) -> Result<(), Fault> {
        let length_m = doors.length_m();
        for hinge in doors.hinges() {
            let near = self.around(hinge, near, self.reach_m + length_m)?;
            let mut lines = Vec::new();
            faces_towards(near, hinge, length_m, |a, b| lines.push((a, b))).map_err(not_loaded)?;
            lines.into_iter().for_each(|(a, b)| doors.meet_line(a, b));
        }
        Ok(())
    }

    /// Distance of an outline from the nearest of them.
    pub(super) fn clearance_m(
        &self,
        body: &Body,
        pose: Pose,
        near: &mut Option<NearTiles>,
    ) -> Result<(f64, Option<Point>), Fault> {
        let near = self.around(pose.point(), near, self.reach_m + body.bounding_radius_m)?;
        let found = nearest_in_tiles(near, body, pose, NEAR_M).map_err(not_loaded)?;
        Ok(found.map_or((NEAR_M, None), |(clearance_m, at)| (clearance_m, Some(at))))
    }

    /// The distance at the end of a motion, and contact along it. No point of the outline moves farther than the distance that is
    /// left, so none is missed.
    pub(super) fn along(
        &self,
        body: &Body,
        motion: &Motion,
        near: &mut Option<NearTiles>,
    ) -> Result<(f64, Option<Contact>), Fault> {
        let (dx, dy) = (motion.to.x - motion.from.x, motion.to.y - motion.from.y);
        let moved_m = max_displacement(body, dx, dy, motion.to.heading - motion.from.heading);
        let (end_m, _) = self.clearance_m(body, motion.to, near)?;
        if end_m > moved_m + TOUCH_M {
            return Ok((end_m, None));
        }
        let mut fraction = 0.0;
        loop {
            let pose = motion.at(fraction);
            let (clearance_m, nearest) = self.clearance_m(body, pose, near)?;
            if let Some(in_world) = nearest.filter(|_| clearance_m <= TOUCH_M) {
                let on_ego = pose.local_from_world(in_world);
                let contact = Contact { fraction, on_ego, in_world, obstacle: self.number };
                return Ok((end_m.min(0.0), Some(contact)));
            }
            if fraction >= 1.0 {
                return Ok((end_m, None));
            }
            fraction = (fraction + clearance_m.max(TOUCH_M) / moved_m.max(TOUCH_M)).min(1.0);
        }
    }
}

pub(super) fn not_loaded(tile: NotLoaded) -> Fault {
    Fault::Contract(tile.to_string())
}
