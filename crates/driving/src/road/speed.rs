//! How fast: limits and curves ahead, who drives ahead, where to stop.

use serde::{Deserialize, Serialize};

use super::course::Course;
use super::neighbours::Neighbour;
use super::seen::ObjectKind;
use crate::follow::SpeedGains;

/// Places ahead at which limit and curvature are looked at.
const PLACES: usize = 14;
/// The look reaches this far beyond the braking distance.
const BEYOND_M: f64 = 10.0;
/// Objects that keep this much more aside than they must do not slow the car down.
const ASIDE_M: f64 = 0.3;
/// Objects slower than this across stay where they are.
const STANDS_ACROSS_MPS: f64 = 0.25;
/// Crossings farther ahead in time than this are not foreseen.
const FORESIGHT_S: f64 = 5.0;
/// Time between a crossing object and the car that counts as a meeting.
const CROSSING_MARGIN_S: f64 = 1.0;

/// Braking for what is ahead begins when it takes this share of ordinary braking.
const EARLY: f64 = 0.7;
/// Time until brakes work.
const REACTION_S: f64 = 0.3;

/// What limits and curves ahead leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Speed here.
    pub allowed_mps: f64,
    /// Braking that they need by now.
    pub braking_mps2: f64,
}

/// How a driver chooses its speed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedManner {
    /// Never faster, whatever the limit.
    pub cruise_mps: f64,
    /// Strongest acceleration asked for.
    pub accel_max_mps2: f64,
    /// Ordinary braking (positive).
    pub comfort_decel_mps2: f64,
    /// Strongest braking (positive).
    pub brake_max_mps2: f64,
    /// Fastest in curves: lateral acceleration.
    pub lateral_max_mps2: f64,
    /// Time gap to who drives ahead, h in S4-13.
    pub time_gap_s: f64,
    /// Gap at standstill.
    pub stand_gap_m: f64,
    /// How fast a wrong gap is mended, λ in S4-13.
    pub gap_rate_per_s: f64,
}

impl SpeedManner {
    /// Smooth, with a good distance.
    pub const CALM: Self = Self {
        cruise_mps: 40.0,
        accel_max_mps2: 1.5,
        comfort_decel_mps2: 2.0,
        brake_max_mps2: 8.0,
        lateral_max_mps2: 2.0,
        time_gap_s: 1.5,
        stand_gap_m: 3.0,
        gap_rate_per_s: 0.4,
    };
    /// Brisk and close.
    pub const EAGER: Self = Self {
        accel_max_mps2: 2.5,
        comfort_decel_mps2: 3.0,
        lateral_max_mps2: 3.0,
        time_gap_s: 1.0,
        stand_gap_m: 2.0,
        ..Self::CALM
    };

    /// The law that stops the car at a place.
    fn stopping(&self) -> SpeedGains {
        SpeedGains {
            cruise_mps: self.cruise_mps,
            accel_max_mps2: self.accel_max_mps2,
            comfort_decel_mps2: self.comfort_decel_mps2,
            brake_max_mps2: self.brake_max_mps2,
            k_speed_per_s: 1.2,
            k_stop_per_s: 0.8,
            stop_tolerance_m: 0.2,
        }
    }

    /// What limits and curves ahead leave.
    pub fn limit(&self, course: &Course<'_>, ego_m: f64, speed_mps: f64) -> Limit {
        let braking = EARLY * self.comfort_decel_mps2;
        let far_m = 0.5 * speed_mps * speed_mps / braking + BEYOND_M;
        let mut limit = Limit { allowed_mps: self.cruise_mps, braking_mps2: 0.0 };
        let mut look = |ahead_m: f64| {
            let (lane, lane_m) = course.lane_at(ego_m + ahead_m);
            let curvature = lane.curvature(lane_m).abs();
            let curve_mps = (self.lateral_max_mps2 / curvature.max(1e-6)).sqrt();
            let there_mps = curve_mps.min(lane.limit_mps(lane_m));
            limit.allowed_mps = limit.allowed_mps.min((there_mps * there_mps + 2.0 * braking * ahead_m).sqrt());
            // The car goes on for a moment before its brakes work.
            let room_m = ahead_m - REACTION_S * speed_mps;
            if ahead_m > 0.0 && speed_mps > there_mps {
                let needed = 0.5 * (speed_mps * speed_mps - there_mps * there_mps) / room_m.max(1.0);
                limit.braking_mps2 = limit.braking_mps2.max(needed);
            }
        };
        (0..=PLACES).for_each(|place| look(far_m * place as f64 / PLACES as f64));
        // Curves begin where lanes do.
        let begins = course.pieces.iter().map(|piece| piece.begin_m + 1.0 - ego_m);
        begins.filter(|ahead_m| (0.0..far_m).contains(ahead_m)).for_each(look);
        limit
    }

    /// Acceleration that keeps to what is allowed.
    pub fn free_accel(&self, speed_mps: f64, limit: &Limit) -> f64 {
        let towards = 1.2 * (limit.allowed_mps - speed_mps);
        let towards = towards.clamp(-self.comfort_decel_mps2, self.accel_max_mps2);
        let most = 1.5 * self.comfort_decel_mps2;
        let brakes = limit.braking_mps2 > EARLY * self.comfort_decel_mps2;
        if brakes { towards.min(-limit.braking_mps2.min(most)) } else { towards }
    }

    /// Acceleration that stops the car within `remaining_m` (infinite: nowhere).
    pub fn stop_accel(&self, speed_mps: f64, remaining_m: f64) -> f64 {
        let towards = self.stopping().accel(speed_mps, remaining_m, f64::INFINITY);
        // What the place needs when it came up suddenly.
        let needed = 0.5 * speed_mps * speed_mps / remaining_m.max(0.1);
        if needed > self.comfort_decel_mps2 { towards.min(-needed.min(self.brake_max_mps2)) } else { towards }
    }

    /// Acceleration behind someone, constant time gap (S4-13, eq. 3): a = −(1/h)·(−Ṡ + λ·(l + h·v − S)). Never harder than
    /// the manoeuvre needs, and early enough that ordinary braking does it.
    pub fn follow_accel(&self, speed_mps: f64, gap_m: f64, lead_mps: f64) -> f64 {
        let wanted_m = self.stand_gap_m + self.time_gap_s * speed_mps;
        let law = ((lead_mps - speed_mps) - self.gap_rate_per_s * (wanted_m - gap_m)) / self.time_gap_s;
        let lead_mps = lead_mps.max(0.0);
        let closing = speed_mps > lead_mps;
        let room_m = (gap_m - self.stand_gap_m).max(0.3);
        let needed = if closing { 0.5 * (speed_mps * speed_mps - lead_mps * lead_mps) / room_m } else { 0.0 };
        if needed > 0.7 * self.comfort_decel_mps2 {
            -(1.05 * needed).min(self.brake_max_mps2)
        } else {
            law.clamp(-self.comfort_decel_mps2, self.accel_max_mps2)
        }
    }

    /// Acceleration that everybody on or about to enter the planned way leaves. `front_m` is the front bumper along the
    /// way, `half_width_m` half the car.
    pub fn crowd_accel(
        &self,
        course: &Course<'_>,
        neighbours: &[Neighbour],
        front_m: f64,
        half_width_m: f64,
        speed_mps: f64,
    ) -> f64 {
        neighbours.iter().fold(self.accel_max_mps2, |accel, neighbour| {
            let gap_m = neighbour.station_m - neighbour.half_along_m - front_m;
            // Beside or behind: steering deals with those.
            if gap_m < -0.5 * neighbour.half_along_m - 1.0
                || !is_in_the_way(course, neighbour, gap_m, half_width_m, speed_mps)
            {
                return accel;
            }
            // Who comes towards us takes his share of the gap.
            let oncoming_mps = (-neighbour.along_mps).max(0.0);
            let own_share = speed_mps.max(1.0) / (speed_mps.max(1.0) + oncoming_mps);
            accel.min(self.follow_accel(speed_mps, gap_m * own_share, neighbour.along_mps.max(0.0)))
        })
    }
}

/// Whether an object is on the planned way, or will be when the car is there.
fn is_in_the_way(course: &Course<'_>, neighbour: &Neighbour, gap_m: f64, half_width_m: f64, speed_mps: f64) -> bool {
    let aside_m = neighbour.lateral_m - course.offset.at(neighbour.station_m)[0];
    let room_m = neighbour.half_across_m + half_width_m + ASIDE_M;
    if aside_m.abs() < room_m {
        return true;
    }
    let towards_mps = -neighbour.across_mps * aside_m.signum();
    if towards_mps < STANDS_ACROSS_MPS {
        return false;
    }
    // People on foot get another half a metre.
    let room_m = if neighbour.kind == ObjectKind::Pedestrian { room_m + 0.5 } else { room_m };
    let enters_s = ((aside_m.abs() - room_m) / towards_mps).max(0.0);
    let leaves_s = (aside_m.abs() + room_m) / towards_mps;
    let speed_mps = speed_mps.max(1.0);
    let (there_s, past_s) = (gap_m.max(0.0) / speed_mps, (gap_m + 2.0 * neighbour.half_along_m + 5.0) / speed_mps);
    enters_s < FORESIGHT_S && enters_s < past_s + CROSSING_MARGIN_S && leaves_s > there_s - CROSSING_MARGIN_S
}
