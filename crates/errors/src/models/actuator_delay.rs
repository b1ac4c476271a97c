//! Actuators follow the command of some time ago: braking starts only 0.5 s after the request (S1-20).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::words;

/// Actuators follow the command of some time ago: braking starts only 0.5 s after the request.
#[derive(Clone, Debug, PartialEq)]
pub struct ActuatorDelay {
    /// Id in the scenario.
    pub id: String,
    /// Ages of the command that is followed, one mode each.
    pub delays_ticks: Vec<u16>,
    /// Length of a base cycle, for names.
    pub tick_s: f64,
}

impl ErrorModel for ActuatorDelay {
    fn site(&self) -> Site {
        let mode =
            |&ticks: &u16| (format!("{} late", words::seconds(ticks, self.tick_s)), f64::from(ticks) * self.tick_s);
        site(&self.id, self.delays_ticks.iter().map(mode))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        if mode != 0 {
            let delay_ticks = self.delays_ticks[usize::from(mode) - 1];
            effects.actuator_delay_ticks = effects.actuator_delay_ticks.saturating_add(delay_ticks);
        }
    }
}
