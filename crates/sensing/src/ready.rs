//! Three ready noise models for every output of every sensor (S2-12).
//!
//! The numbers are those of ordinary parts: a single-frequency satellite receiver (metres, minutes of correlation), a
//! fluxgate compass, wheel encoders, a MEMS gyroscope, a lane camera. A scenario may replace each of them.

use serde::{Deserialize, Serialize};

use crate::noise::NoiseModel;

/// A number that some sensor tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Output {
    /// East or north of a position, metres.
    Position,
    /// A heading, radians.
    Heading,
    /// A speed, m/s.
    Speed,
    /// A yaw rate, rad/s.
    YawRate,
    /// A steering angle, radians.
    Steering,
    /// A friction coefficient, as a weather sensor tells it.
    Friction,
    /// Distance to the right edge of the road or to a lane marker, metres.
    RoadDistance,
    /// East or north of a detected object, metres.
    ObjectPosition,
    /// Heading of a detected object, radians.
    ObjectHeading,
}

/// Which of the three ready noise models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Ready {
    /// White noise only.
    White,
    /// A smaller white part and one that wanders: what consecutive readings share.
    Wandering,
    /// The wandering noise with a bias, scaled by the zone the car is in.
    Situational,
}

impl Output {
    /// Every output.
    pub const ALL: [Self; 9] = [
        Self::Position,
        Self::Heading,
        Self::Speed,
        Self::YawRate,
        Self::Steering,
        Self::Friction,
        Self::RoadDistance,
        Self::ObjectPosition,
        Self::ObjectHeading,
    ];

    /// Its unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Position | Self::RoadDistance | Self::ObjectPosition => "m",
            Self::Heading | Self::Steering | Self::ObjectHeading => "rad",
            Self::Speed => "m/s",
            Self::YawRate => "rad/s",
            Self::Friction => "",
        }
    }
    /// Standard deviation and correlation time of an ordinary part.
    fn ordinary(self) -> (f64, f64) {
        match self {
            Self::Position => (1.0, 60.0),
            Self::Heading => (0.02, 20.0),
            Self::Speed => (0.1, 5.0),
            Self::YawRate => (0.005, 30.0),
            Self::Steering => (0.005, 5.0),
            Self::Friction => (0.05, 10.0),
            Self::RoadDistance => (0.05, 2.0),
            Self::ObjectPosition => (0.2, 1.0),
            Self::ObjectHeading => (0.05, 1.0),
        }
    }
    /// One of the three ready noise models of this output.
    pub fn noise(self, ready: Ready) -> NoiseModel {
        let (deviation, time_s) = self.ordinary();
        let wandering = NoiseModel { white: 0.5 * deviation, ..NoiseModel::correlated(deviation, time_s) };
        match ready {
            Ready::White => NoiseModel::white(deviation),
            Ready::Wandering => wandering,
            Ready::Situational => wandering.biased(0.5 * deviation).situational(),
        }
    }
}

impl Ready {
    /// All three.
    pub const ALL: [Self; 3] = [Self::White, Self::Wandering, Self::Situational];

    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::White => "white",
            Self::Wandering => "wandering",
            Self::Situational => "situational",
        }
    }
    /// The model of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ready| ready.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_output_has_three_sound_models_that_differ() {
        for output in Output::ALL {
            let models = Ready::ALL.map(|ready| output.noise(ready));
            assert!(models.iter().all(|model| model.fault().is_none() && model.variance() > 0.0), "{output:?}");
            assert!(models[0] != models[1] && models[1] != models[2], "{output:?}");
        }
    }

    #[test]
    fn ready_models_are_found_by_name() {
        assert!(Ready::ALL.into_iter().all(|ready| Ready::named(ready.name()) == Some(ready)));
        assert_eq!(Ready::named("pink"), None);
    }
}
