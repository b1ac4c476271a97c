//! An error of one object sensor among several.

use anabranch_kernel::{Site, Variable};

use crate::effects::{Effects, SENSORS_MAX, SensorEffects};
use crate::memory::Slot;
use crate::model::{ErrorModel, Model, site};

/// What goes wrong with one object sensor.
#[derive(Clone, Debug)]
pub enum SensorFault {
    /// It tells nothing, by the id of the error.
    Lost(String),
    /// What would happen to all of them happens to this one: objects are late, displaced, missed, flipped or ghosts, or
    /// everything is told late.
    Of(Box<Model>),
}

/// An error of one object sensor; the others do what they always do.
#[derive(Clone, Debug)]
pub struct OfSensor {
    /// Number of the sensor, below [`SENSORS_MAX`].
    pub sensor: u8,
    /// What the scenario calls it.
    pub name: String,
    /// What goes wrong.
    pub fault: SensorFault,
}

impl OfSensor {
    fn add(&self, own: &Effects, effects: &mut Effects) {
        let mask = 1 << self.sensor;
        let here = &mut effects.sensing[usize::from(self.sensor)];
        here.missed |= own.missed;
        here.ghosts |= own.ghosts;
        here.flipped |= own.flipped;
        here.delay_ticks = here.delay_ticks.saturating_add(own.sensor_delay_ticks);
        for group in own.late.iter().filter(|group| group.obstacles != 0) {
            effects.add_late(crate::effects::Late { sensors: mask, ..*group });
        }
        for group in own.displaced.iter().filter(|group| group.obstacles != 0) {
            effects.add_displaced(crate::effects::Displaced { sensors: mask, ..*group });
        }
    }
}

impl ErrorModel for OfSensor {
    fn site(&self) -> Site {
        match &self.fault {
            SensorFault::Lost(id) => site(id, [(format!("{} lost", self.name), 1.0)]),
            SensorFault::Of(model) => model.as_dyn().site(),
        }
    }
    fn begin(&self, mode: u8, slot: &mut Slot, effects: &mut Effects) {
        match &self.fault {
            SensorFault::Lost(_) => {
                let here: &mut SensorEffects = &mut effects.sensing[usize::from(self.sensor)];
                here.lost |= mode != 0;
            }
            SensorFault::Of(model) => {
                let mut own = Effects::NONE;
                model.as_dyn().begin(mode, slot, &mut own);
                self.add(&own, effects);
            }
        }
    }
    fn variables(&self) -> Vec<Variable> {
        match &self.fault {
            SensorFault::Lost(_) => Vec::new(),
            SensorFault::Of(model) => model.as_dyn().variables(),
        }
    }
    fn problem(&self) -> Option<String> {
        if usize::from(self.sensor) >= SENSORS_MAX {
            return Some(format!("sensors are numbered below {SENSORS_MAX}"));
        }
        match &self.fault {
            SensorFault::Lost(_) => None,
            SensorFault::Of(model) => model.as_dyn().problem(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::Late;
    use crate::models::{ObstacleLate, ObstacleMissed, SensorDelay};
    use crate::targets::{Grouping, Obstacle, Targets};

    fn begin(fault: SensorFault) -> Effects {
        let model = OfSensor { sensor: 2, name: "left".into(), fault };
        assert_eq!(model.problem(), None);
        let mut effects = Effects::NONE;
        model.begin(0, &mut Slot::default(), &mut effects);
        assert_eq!(effects, Effects::NONE);
        model.begin(1, &mut Slot::default(), &mut effects);
        effects
    }
    fn child() -> Targets {
        Targets { obstacles: vec![Obstacle { name: "child".into(), number: 3 }], grouping: Grouping::Each }
    }

    #[test]
    fn only_the_sensor_that_is_meant_errs() {
        let lost = begin(SensorFault::Lost("blind".into()));
        assert!(lost.sensing[2].lost && !lost.sensing[1].lost);
        let missed = ObstacleMissed { id: "m".into(), targets: child() };
        let missed = begin(SensorFault::Of(Box::new(missed.into())));
        assert_eq!((missed.missed, missed.sensing[2].missed, missed.sensing[0].missed), (0, 0b1000, 0));
        let delay = SensorDelay { id: "d".into(), delays_ticks: vec![30], tick_s: 0.01 };
        let delay = begin(SensorFault::Of(Box::new(delay.into())));
        assert_eq!((delay.sensor_delay_ticks, delay.sensing[2].delay_ticks), (0, 30));
        let late = ObstacleLate { id: "l".into(), targets: child(), delays_ticks: vec![50], tick_s: 0.01 };
        let late = begin(SensorFault::Of(Box::new(late.into())));
        assert_eq!(late.late[0], Late { obstacles: 0b1000, ticks: 50, sensors: 0b100 });
    }

    #[test]
    fn there_are_only_so_many_sensors() {
        let wrong = OfSensor { sensor: 8, name: "ninth".into(), fault: SensorFault::Lost("blind".into()) };
        assert!(wrong.problem().is_some());
    }
}
