//! Obstacles are recognised only some time after they came into range (S1-19).

use anabranch_kernel::Site;

use crate::effects::{ALL_SENSORS, Effects, Late};
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::targets::Targets;
use crate::words;

/// Every group of obstacles with every delay, one mode each.
#[derive(Clone, Debug, PartialEq)]
pub struct ObstacleLate {
    /// Id in the scenario.
    pub id: String,
    /// Which obstacles.
    pub targets: Targets,
    /// How late.
    pub delays_ticks: Vec<u16>,
    /// Length of a base cycle, for names.
    pub tick_s: f64,
}

impl ErrorModel for ObstacleLate {
    fn site(&self) -> Site {
        let modes = self.targets.groups().into_iter().flat_map(|(name, _)| {
            self.delays_ticks.iter().map(move |&ticks| {
                (format!("{name} {} late", words::seconds(ticks, self.tick_s)), f64::from(ticks) * self.tick_s)
            })
        });
        site(&self.id, modes)
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        let Some(index) = usize::from(mode).checked_sub(1) else { return };
        let (group, delay) = (index / self.delays_ticks.len(), index % self.delays_ticks.len());
        effects.add_late(Late {
            obstacles: self.targets.mask(group),
            ticks: self.delays_ticks[delay],
            sensors: ALL_SENSORS,
        });
    }
}
