//! Obstacles appear at a bad moment and stay (S1-28).

use anabranch_kernel::{Site, Variable};

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::targets::Targets;

/// Obstacles appear, one mode per group. What has appeared stays for the rest of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Appears {
    /// Id in the scenario.
    pub id: String,
    /// Which obstacles.
    pub targets: Targets,
}

/// The mask of a slot; 32 bits fit into a number exactly.
fn appeared(slot: &Slot) -> u32 {
    slot.values[0] as u32
}

impl ErrorModel for Appears {
    fn site(&self) -> Site {
        site(&self.id, self.targets.groups().into_iter().map(|(name, _)| (format!("{name} appears"), 1.0)))
    }
    fn begin(&self, mode: u8, slot: &mut Slot, effects: &mut Effects) {
        let new = usize::from(mode).checked_sub(1).map_or(0, |group| self.targets.mask(group));
        slot.values[0] = f64::from(appeared(slot) | new);
        effects.appeared |= appeared(slot);
    }
    fn variables(&self) -> Vec<Variable> {
        vec![Variable::exact("appeared")]
    }
    fn live(&self, slot: &Slot, mode: u8) -> bool {
        let new = |group| self.targets.mask(group) & !appeared(slot);
        usize::from(mode).checked_sub(1).is_none_or(|group| new(group) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::{Grouping, Obstacle};

    #[test]
    fn an_obstacle_appears_once_and_stays() {
        let obstacles =
            vec![Obstacle { name: "child".into(), number: 31 }, Obstacle { name: "ball".into(), number: 0 }];
        let model = Appears { id: "surprise".into(), targets: Targets { obstacles, grouping: Grouping::Each } };
        let (mut slot, mut effects) = (Slot::default(), Effects::NONE);
        model.begin(1, &mut slot, &mut effects);
        assert_eq!(effects.appeared, 1 << 31);
        assert!(!model.live(&slot, 1) && model.live(&slot, 2));
        model.begin(2, &mut slot, &mut effects);
        effects = Effects::NONE;
        model.begin(0, &mut slot, &mut effects);
        assert_eq!(effects.appeared, 1 << 31 | 1);
    }
}
