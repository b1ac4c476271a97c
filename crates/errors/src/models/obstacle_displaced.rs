//! Obstacles are seen at a wrong place (S1-23).

use anabranch_kernel::Site;

use crate::directions::{Direction, directions};
use crate::effects::{ALL_SENSORS, Displaced, Effects, Frame};
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::targets::Targets;
use crate::words;

/// Every group of obstacles moved into every direction, one mode each.
#[derive(Clone, Debug, PartialEq)]
pub struct ObstacleDisplaced {
    id: String,
    targets: Targets,
    radius_m: f64,
    around: Vec<Direction>,
}

impl ObstacleDisplaced {
    /// Obstacles moved by `radius_m` into so many directions of the world, the first being east.
    pub fn new(id: &str, targets: Targets, radius_m: f64, directions_count: u8) -> Self {
        Self { id: id.to_owned(), targets, radius_m, around: directions(directions_count, Frame::World) }
    }
}

impl ErrorModel for ObstacleDisplaced {
    fn site(&self) -> Site {
        let by = words::metres(self.radius_m);
        let modes = self.targets.groups().into_iter().flat_map(|(name, _)| {
            let by = by.clone();
            self.around.iter().map(move |d| (format!("{name} {} {by}", d.name), self.radius_m))
        });
        site(&self.id, modes)
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        let Some(index) = usize::from(mode).checked_sub(1) else { return };
        let (group, direction) = (index / self.around.len(), &self.around[index % self.around.len()]);
        let by_m = direction.unit.map(|unit| unit * self.radius_m);
        effects.add_displaced(Displaced { obstacles: self.targets.mask(group), by_m, sensors: ALL_SENSORS });
    }
}
