//! Another acceleration than the commanded one (S1-26).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::words;

/// Offsets and gains of the acceleration, one mode each.
#[derive(Clone, Debug, PartialEq)]
pub struct Acceleration {
    /// Id in the scenario.
    pub id: String,
    /// Added to the command.
    pub offsets_mps2: Vec<f64>,
    /// Factors of the command; 0 is a car that rolls on.
    pub gains: Vec<f64>,
}

impl ErrorModel for Acceleration {
    fn site(&self) -> Site {
        let offset = |&by: &f64| {
            let sign = if by < 0.0 { "−" } else { "+" };
            (format!("{sign}{} m/s²", words::number(by.abs())), by.abs())
        };
        let gain = |&gain: &f64| (format!("gain {}", words::number(gain)), (gain - 1.0).abs());
        site(&self.id, self.offsets_mps2.iter().map(offset).chain(self.gains.iter().map(gain)))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        let Some(index) = usize::from(mode).checked_sub(1) else { return };
        match self.offsets_mps2.get(index) {
            Some(offset_mps2) => effects.acceleration_offset_mps2 += offset_mps2,
            None => effects.acceleration_gain *= self.gains[index - self.offsets_mps2.len()],
        }
    }
}
