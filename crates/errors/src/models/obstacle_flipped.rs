//! Obstacles are seen the wrong way round: an oncoming car looks like one that drives ahead.

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::targets::Targets;

/// Obstacles are seen with their front where their rear is, one mode per group.
#[derive(Clone, Debug, PartialEq)]
pub struct ObstacleFlipped {
    /// Id in the scenario.
    pub id: String,
    /// Which obstacles.
    pub targets: Targets,
}

impl ErrorModel for ObstacleFlipped {
    fn site(&self) -> Site {
        site(&self.id, self.targets.groups().into_iter().map(|(name, _)| (format!("{name} turned round"), 1.0)))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        let Some(group) = usize::from(mode).checked_sub(1) else { return };
        effects.flipped |= self.targets.mask(group);
    }
}
