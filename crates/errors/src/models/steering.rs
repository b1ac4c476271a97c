//! Another steering angle than the commanded one (S1-27).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::words;

/// Offsets and gains of the steering angle, one mode each.
#[derive(Clone, Debug, PartialEq)]
pub struct Steering {
    /// Id in the scenario.
    pub id: String,
    /// Added to the command; positive is left.
    pub offsets_rad: Vec<f64>,
    /// Factors of the command; 0 is a car that goes straight on.
    pub gains: Vec<f64>,
}

impl ErrorModel for Steering {
    fn site(&self) -> Site {
        let offsets = self.offsets_rad.iter().map(|&offset_rad| (words::turned(offset_rad), offset_rad.abs()));
        let gains = self.gains.iter().map(|&gain| (format!("gain {}", words::number(gain)), (gain - 1.0).abs()));
        site(&self.id, offsets.chain(gains))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        let Some(index) = usize::from(mode).checked_sub(1) else { return };
        match self.offsets_rad.get(index) {
            Some(offset_rad) => effects.steering_offset_rad += offset_rad,
            None => effects.steering_gain *= self.gains[index - self.offsets_rad.len()],
        }
    }
}
