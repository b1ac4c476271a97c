//! A tyre loses air: while a segment lasts, or from then on (S2-22).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::words;

/// A tyre loses air, one mode per wheel and loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Leak {
    /// Id in the scenario.
    pub id: String,
    /// Wheels with their names and numbers below 4.
    pub wheels: Vec<(String, u8)>,
    /// Pressure that is lost in a segment.
    pub losses_pa: Vec<f64>,
    /// Length of a segment.
    pub segment_s: f64,
    /// The hole stays: the same is lost in every later segment.
    pub stays: bool,
}

impl Leak {
    fn modes(&self) -> impl Iterator<Item = (&(String, u8), f64)> {
        self.wheels.iter().flat_map(|wheel| self.losses_pa.iter().map(move |loss_pa| (wheel, *loss_pa)))
    }
}

impl ErrorModel for Leak {
    fn site(&self) -> Site {
        let how = if self.stays { "leaks from now on," } else { "loses" };
        let mode = |((name, _), loss_pa): (&(String, u8), f64)| {
            let each = if self.stays { " a segment" } else { "" };
            (format!("{name} {how} {} bar{each}", words::number(loss_pa * 1e-5)), loss_pa)
        };
        site(&self.id, self.modes().map(mode))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        let Some(index) = usize::from(mode).checked_sub(1) else { return };
        if let Some(((_, wheel), loss_pa)) = self.modes().nth(index) {
            let helpers = &mut effects.helpers;
            let rates = if self.stays { &mut helpers.hole_pa_per_s } else { &mut helpers.leak_pa_per_s };
            rates[usize::from(*wheel)] += loss_pa / self.segment_s;
        }
    }
    fn problem(&self) -> Option<String> {
        if self.wheels.iter().any(|(_, wheel)| *wheel >= 4) {
            return Some("a car has four wheels".to_owned());
        }
        let bad = |loss: &f64| !(*loss > 0.0 && loss.is_finite());
        (self.losses_pa.iter().any(bad) || self.segment_s <= 0.0).then(|| "a leak loses some air".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wheel_and_each_loss_is_a_mode() {
        let wheels = vec![("fl".into(), 0), ("rr".into(), 3)];
        let leak = Leak { id: "leak".into(), wheels, losses_pa: vec![5e4, 1e5], segment_s: 2.0, stays: false };
        let names: Vec<_> = leak.site().modes.into_iter().map(|mode| mode.name).collect();
        assert_eq!(names, ["none", "fl loses 0.5 bar", "fl loses 1 bar", "rr loses 0.5 bar", "rr loses 1 bar"]);
        let mut effects = Effects::NONE;
        leak.begin(3, &mut Slot::default(), &mut effects);
        assert_eq!(effects.helpers.leak_pa_per_s, [0.0, 0.0, 0.0, 25_000.0]);
        let hole = Leak { stays: true, ..leak.clone() };
        hole.begin(2, &mut Slot::default(), &mut effects);
        assert_eq!(effects.helpers.hole_pa_per_s, [50_000.0, 0.0, 0.0, 0.0]);
        assert_eq!(hole.site().modes[2].name, "fl leaks from now on, 1 bar a segment");
        assert!(Leak { losses_pa: vec![-1.0], ..leak }.problem().is_some());
    }
}
