//! The road is more slippery, or less, than it usually is (S2-34).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::words;

/// Factors of the friction below the car, one mode each.
#[derive(Clone, Debug, PartialEq)]
pub struct Friction {
    /// Id in the scenario.
    pub id: String,
    /// Factors; 0.5 is half the grip.
    pub gains: Vec<f64>,
}

impl ErrorModel for Friction {
    fn site(&self) -> Site {
        let mode = |&gain: &f64| (format!("friction {} of it", words::number(gain)), (gain - 1.0).abs());
        site(&self.id, self.gains.iter().map(mode))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        if let Some(index) = usize::from(mode).checked_sub(1) {
            effects.friction_gain *= self.gains[index];
        }
    }
    fn problem(&self) -> Option<String> {
        self.gains.iter().any(|gain| *gain < 0.0).then(|| "friction is never negative".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_factor_is_a_mode_and_two_errors_multiply() {
        let model = Friction { id: "ice".into(), gains: vec![0.5, 0.2] };
        assert_eq!(model.site().modes[2].name, "friction 0.2 of it");
        let mut effects = Effects::NONE;
        model.begin(1, &mut Slot::default(), &mut effects);
        model.begin(2, &mut Slot::default(), &mut effects);
        assert!((effects.friction_gain - 0.1).abs() < 1e-12);
        assert!(Friction { gains: vec![-1.0], ..model }.problem().is_some());
    }
}
