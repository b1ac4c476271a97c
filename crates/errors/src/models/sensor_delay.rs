//! Sensors tell what was some time ago (S1-19).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::words;

/// Sensors tell what was some time ago.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorDelay {
    /// Id in the scenario.
    pub id: String,
    /// Ages of what the sensors tell, one mode each.
    pub delays_ticks: Vec<u16>,
    /// Length of a base cycle, for names.
    pub tick_s: f64,
}

impl ErrorModel for SensorDelay {
    fn site(&self) -> Site {
        let mode =
            |&ticks: &u16| (format!("{} late", words::seconds(ticks, self.tick_s)), f64::from(ticks) * self.tick_s);
        site(&self.id, self.delays_ticks.iter().map(mode))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        if mode != 0 {
            let delay_ticks = self.delays_ticks[usize::from(mode) - 1];
            effects.sensor_delay_ticks = effects.sensor_delay_ticks.saturating_add(delay_ticks);
        }
    }
}
