//! Obstacles that are there are not seen (S1-24).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::targets::Targets;

/// Obstacles that are there are not seen, one mode per group.
#[derive(Clone, Debug, PartialEq)]
pub struct ObstacleMissed {
    /// Id in the scenario.
    pub id: String,
    /// Which obstacles.
    pub targets: Targets,
}

impl ErrorModel for ObstacleMissed {
    fn site(&self) -> Site {
        site(&self.id, self.targets.groups().into_iter().map(|(name, _)| (format!("{name} missed"), 1.0)))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        let Some(group) = usize::from(mode).checked_sub(1) else { return };
        effects.missed |= self.targets.mask(group);
    }
}
