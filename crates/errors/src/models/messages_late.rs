//! Messages of other cars take longer than they should (S2-22).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::words;

/// What is sent during a segment arrives late.
#[derive(Clone, Debug, PartialEq)]
pub struct MessagesLate {
    /// Id in the scenario.
    pub id: String,
    /// How much longer messages are under way, one mode each.
    pub delays_ticks: Vec<u16>,
    /// Length of a base cycle, for names.
    pub tick_s: f64,
}

impl ErrorModel for MessagesLate {
    fn site(&self) -> Site {
        let mode = |&ticks: &u16| {
            (format!("messages {} late", words::seconds(ticks, self.tick_s)), f64::from(ticks) * self.tick_s)
        };
        site(&self.id, self.delays_ticks.iter().map(mode))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        if mode != 0 {
            let late_ticks = self.delays_ticks[usize::from(mode) - 1];
            effects.helpers.late_ticks = effects.helpers.late_ticks.saturating_add(late_ticks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_of_two_errors_add_up() {
        let model = MessagesLate { id: "late".into(), delays_ticks: vec![2, 6], tick_s: 0.05 };
        assert_eq!(model.site().modes[2].name, "messages 0.3 s late");
        let mut effects = Effects::NONE;
        model.begin(1, &mut Slot::default(), &mut effects);
        model.begin(2, &mut Slot::default(), &mut effects);
        assert_eq!(effects.helpers.late_ticks, 8);
    }
}
