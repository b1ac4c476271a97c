//! Messages of other cars do not arrive (S2-22).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};

/// What is sent during a segment is lost: everything, or what one sender sends.
#[derive(Clone, Debug, PartialEq)]
pub struct MessagesLost {
    /// Id in the scenario.
    pub id: String,
    /// Senders with their names and their bits in [`crate::HelperEffects::silent`], one mode each; all of them at once if empty.
    pub senders: Vec<(String, u8)>,
}

impl ErrorModel for MessagesLost {
    fn site(&self) -> Site {
        if self.senders.is_empty() {
            return site(&self.id, [("messages lost".to_owned(), 1.0)]);
        }
        site(&self.id, self.senders.iter().map(|(name, _)| (format!("messages of {name} lost"), 1.0)))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        let Some(index) = usize::from(mode).checked_sub(1) else { return };
        match self.senders.get(index) {
            Some((_, number)) => effects.helpers.silent |= 1 << number,
            None => effects.helpers.all_silent = true,
        }
    }
    fn problem(&self) -> Option<String> {
        self.senders.iter().any(|(_, number)| *number >= 32).then(|| "senders are numbered below 32".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sender_falls_silent_or_all_of_them() {
        let one = MessagesLost { id: "r".into(), senders: vec![("lead".into(), 2), ("lorry".into(), 5)] };
        assert_eq!(one.site().modes[2].name, "messages of lorry lost");
        let mut effects = Effects::NONE;
        one.begin(2, &mut Slot::default(), &mut effects);
        assert_eq!((effects.helpers.silent, effects.helpers.all_silent), (1 << 5, false));
        let all = MessagesLost { senders: Vec::new(), ..one.clone() };
        all.begin(1, &mut Slot::default(), &mut effects);
        assert!(effects.helpers.all_silent && all.site().modes.len() == 2);
        assert!(MessagesLost { senders: vec![("far".into(), 32)], ..one }.problem().is_some());
    }
}
