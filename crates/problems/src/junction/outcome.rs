//! What came of a run, and how dangerous it was.

use super::Triage;

/// A car that learns of the sign later than this has driven through (m before the lane).
const LATE_WORST_M: f64 = -10.0;
/// And one that learns of it earlier than this has all the time it needs.
const LATE_BEST_M: f64 = 40.0;
/// Beyond this distance from each other, and within this distance from where they would meet, it makes no difference (m).
const DISTANCE_FAR_M: f64 = 10.0;
const APART_NEAR_M: f64 = 5.0;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Smallest distance between the cars (m); not positive is an accident.
    pub distance_m: f64,
    /// Smallest reserve against the distance that responsibility-sensitive safety asks for (m).
    pub reserve_m: f64,
    /// How far before the lane the car could still have stood when it learned of the sign (m); negative is in the lane.
    pub late_m: f64,
    /// How far the other car was from where both would meet, when the car came to its line (m).
    pub apart_m: f64,
    /// Simulated seconds.
    pub time_s: f64,
    /// Why, if it was an accident.
    pub triage: Option<Triage>,
}

impl Outcome {
    /// What kind of accident it was, as numbers that differ by one between kinds: to find several different ones.
    pub fn signature(&self) -> Vec<f64> {
        let Some(triage) = &self.triage else { return Vec::new() };
        let flag = |is: bool| f64::from(u8::from(is));
        let Triage { cause, fault, is_sign_late, is_twilight, .. } = *triage;
        vec![f64::from(cause as u8), f64::from(fault as u8), flag(is_sign_late), flag(is_twilight)]
    }
    /// A measure that knows the situation (S3-14, S3-32). A car that stands at its line while another passes is near it and in no
    /// danger, so distance alone leads nowhere. Three things make this accident, and each counts in metres: the distance, at most
    /// 10; what was left to the point of no return when the sign was seen, counted from 10 m beyond it; and how far the other car
    /// was from where both would meet. Not positive is an accident, and only then it is the distance alone.
    pub fn danger_m(&self) -> f64 {
        if self.distance_m <= 0.0 {
            return self.distance_m;
        }
        let late_m = self.late_m.clamp(LATE_WORST_M, LATE_BEST_M) - LATE_WORST_M;
        self.distance_m.min(DISTANCE_FAR_M) + late_m + 0.15 * (self.apart_m - APART_NEAR_M).max(0.0)
    }
}
