//! What can be chosen about a run at the junction (S3-10, S3-11, S3-12).

use anabranch_kernel::maths;

/// One instance of the scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// The car starts so far ahead of its nominal place (m).
    pub along_m: f64,
    /// And so far to the right of it (m).
    pub aside_m: f64,
    /// Its speed when it comes (m/s).
    pub approach_mps: f64,
    /// The speed that it wants after the turn (m/s).
    pub cruise_mps: f64,
    /// Longitudinal jitter (m/s³).
    pub jitter: f64,
    /// Minutes since midnight.
    pub minute: f64,
    /// 0 is a clear sky, 1 is fog.
    pub fog: f64,
    /// Distance of the other car to the junction (m).
    pub other_m: f64,
    /// Its speed (m/s).
    pub other_mps: f64,
    /// Its place across its lane (m).
    pub other_aside_m: f64,
    /// Between the lane and whatever hides it (m).
    pub hedge_m: f64,
}

/// Names and units of the numbers of an instance, in the order of its fields.
pub const JUNCTION_AXES: [(&str, &str); 11] = [
    ("along", "m"),
    ("aside", "m"),
    ("approach", "m/s"),
    ("cruise", "m/s"),
    ("jitter", "m/s^3"),
    ("time-of-day", "min"),
    ("fog", ""),
    ("other.distance", "m"),
    ("other.speed", "m/s"),
    ("other.aside", "m"),
    ("hedge", "m"),
];

/// Ranges of the numbers of an instance, in the order of its fields.
pub const JUNCTION_RANGES: [(f64, f64); 11] = [
    (-1.0, 1.0),
    (-1.0, 1.0),
    (5.0, 15.0),
    (5.0, 15.0),
    (-5.0, 5.0),
    (0.0, 1440.0),
    (0.0, 1.0),
    (20.0, 320.0),
    (5.0, 18.0),
    (-0.5, 0.5),
    (7.5, 12.0),
];

impl Default for Instance {
    /// A bright noon with a far and slow other car.
    fn default() -> Self {
        Self {
            along_m: 0.0,
            aside_m: 0.0,
            approach_mps: 10.0,
            cruise_mps: 10.0,
            jitter: 0.0,
            minute: 720.0,
            fog: 0.0,
            other_m: 120.0,
            other_mps: 10.0,
            other_aside_m: 0.0,
            hedge_m: 10.0,
        }
    }
}

impl Instance {
    /// From as many numbers as there are ranges; `None` if there are more or fewer, or one is not finite.
    pub fn from_numbers(numbers: &[f64]) -> Option<Self> {
        let &[
            along_m,
            aside_m,
            approach_mps,
            cruise_mps,
            jitter,
            minute,
            fog,
            other_m,
            other_mps,
            other_aside_m,
            hedge_m,
        ] = numbers
        else {
            return None;
        };
        let instance = Self {
            along_m,
            aside_m,
            approach_mps,
            cruise_mps,
            jitter,
            minute,
            fog,
            other_m,
            other_mps,
            other_aside_m,
            hedge_m,
        };
        numbers.iter().all(|x| x.is_finite()).then_some(instance)
    }

    /// Its numbers, in the order of [`JUNCTION_AXES`].
    pub fn numbers(&self) -> [f64; 11] {
        [
            self.along_m,
            self.aside_m,
            self.approach_mps,
            self.cruise_mps,
            self.jitter,
            self.minute,
            self.fog,
            self.other_m,
            self.other_mps,
            self.other_aside_m,
            self.hedge_m,
        ]
    }

    /// How much of a camera's range is left: all by day, a little less at night under lamps, least in the low sun of twilight.
    pub fn light(&self) -> f64 {
        let minute = self.minute.rem_euclid(1440.0);
        let (sunrise, sunset) = (390.0, 1110.0);
        let night = 0.8;
        let day = 1.0;
        // From night to day within two hours around sunrise, and back around sunset.
        let share = ((minute - sunrise).min(sunset - minute) / 60.0).clamp(-1.0, 1.0) * 0.5 + 0.5;
        // The glare of a sun at the horizon.
        let since = (minute - sunrise).abs().min((minute - sunset).abs()) / 75.0;
        let glare = 0.75 * maths::exp(-since * since);
        ((night + (day - night) * share) * (1.0 - glare)) * (1.0 - 0.25 * self.fog)
    }
}
