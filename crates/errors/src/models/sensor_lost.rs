//! Sensors of the own motion tell nothing: satellites are lost, a wheel sensor fails (S4-8).

use anabranch_kernel::Site;

use crate::effects::Effects;
use crate::memory::Slot;
use crate::model::{ErrorModel, site};

/// A sensor that can fall silent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SilentSensor {
    /// What the scenario calls it.
    pub name: String,
    /// Its bit in [`Effects::sensors_lost`], below 8.
    pub number: u8,
}

/// Sensors tell nothing during a segment, one mode per sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorLost {
    /// Id in the scenario.
    pub id: String,
    /// Which sensors.
    pub sensors: Vec<SilentSensor>,
}

impl ErrorModel for SensorLost {
    fn site(&self) -> Site {
        site(&self.id, self.sensors.iter().map(|sensor| (format!("{} lost", sensor.name), 1.0)))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        let Some(index) = usize::from(mode).checked_sub(1) else { return };
        effects.sensors_lost |= 1 << self.sensors[index].number;
    }
    fn problem(&self) -> Option<String> {
        self.sensors.iter().any(|sensor| sensor.number >= 8).then(|| "sensors are numbered below 8".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sensor_falls_silent_on_its_own() {
        let sensors = [("gps", 0), ("wheels", 2)].map(|(name, number)| SilentSensor { name: name.into(), number });
        let model = SensorLost { id: "lost".into(), sensors: sensors.to_vec() };
        assert_eq!(model.site().modes[2].name, "wheels lost");
        let mut effects = Effects::NONE;
        model.begin(2, &mut Slot::default(), &mut effects);
        assert_eq!(effects.sensors_lost, 0b100);
        let wrong = SensorLost { sensors: vec![SilentSensor { name: "gps".into(), number: 8 }], ..model };
        assert!(wrong.problem().is_some());
    }
}
