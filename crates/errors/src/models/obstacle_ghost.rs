//! Obstacles are seen that are not there (S1-25).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::targets::Targets;

/// Obstacles are seen that are not there, one mode per group.
#[derive(Clone, Debug, PartialEq)]
pub struct ObstacleGhost {
    /// Id in the scenario.
    pub id: String,
    /// Which obstacles.
    pub targets: Targets,
}

impl ErrorModel for ObstacleGhost {
    fn site(&self) -> Site {
        site(&self.id, self.targets.groups().into_iter().map(|(name, _)| (format!("{name} seen"), 1.0)))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        let Some(group) = usize::from(mode).checked_sub(1) else { return };
        effects.ghosts |= self.targets.mask(group);
    }
}
