//! The monitor of the tyres tells nothing new (S2-22).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};

/// The monitor keeps its last reading during a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct MonitorLost {
    /// Id in the scenario.
    pub id: String,
}

impl ErrorModel for MonitorLost {
    fn site(&self) -> Site {
        site(&self.id, [("tyre monitor lost".to_owned(), 1.0)])
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        effects.helpers.monitor_lost |= mode != 0;
    }
}
