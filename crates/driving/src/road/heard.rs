//! An electronic brake light: a car ahead that nobody here sees tells that it brakes.
//!
//! Sensors see the one ahead; the radio tells of the one before that. If it brakes hard, or already stands, the car brakes so that it
//! comes to a stand behind the place where that one will, with room for whoever may be between.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;

use super::course::Course;
use super::neighbours::{Neighbour, place};
use super::seen::{HeardCar, Seen};
use super::speed::SpeedManner;

/// Braking harder than this is an emergency.
const HARD_MPS2: f64 = 3.0;
/// Slower than this somebody stands.
const STANDS_MPS: f64 = 1.0;
/// A car whose middle is farther aside than this is in another lane.
const ASIDE_M: f64 = 1.7;
/// Room for somebody between who is not seen: a lorry and a little more.
const HIDDEN_M: f64 = 14.0;
/// Those who are seen and nearer than this to where somebody says he is are himself.
const SAME_M: f64 = 4.0;
/// An emergency ahead is answered at once if it takes this share of ordinary braking.
const EARLY: f64 = 0.4;

/// Acceleration that those who were heard leave.
pub(super) fn accel(
    manner: &SpeedManner,
    (course, neighbours): (&Course<'_>, &[Neighbour]),
    seen: &Seen<'_>,
    front_m: f64,
    speed_mps: f64,
) -> f64 {
    seen.heard.iter().fold(manner.accel_max_mps2, |accel, car| {
        let Some(room_m) = room_m(manner, (course, neighbours), seen.ego.pose, car, front_m) else { return accel };
        let needed = 0.5 * speed_mps * speed_mps / room_m.max(0.3);
        let brakes = needed > EARLY * manner.comfort_decel_mps2;
        if brakes { accel.min(-(1.05 * needed).min(manner.brake_max_mps2)) } else { accel }
    })
}

/// Way that is left until the car should stand behind a car that brakes hard or stands; `None` if it does neither, or is not ahead.
fn room_m(
    manner: &SpeedManner,
    (course, neighbours): (&Course<'_>, &[Neighbour]),
    ego: Pose,
    car: &HeardCar,
    front_m: f64,
) -> Option<f64> {
    let (now, speed_mps) = moved_on(car);
    let braking_mps2 = if car.accel_mps2 <= -HARD_MPS2 { -car.accel_mps2 } else { 0.0 };
    if braking_mps2 == 0.0 && speed_mps > STANDS_MPS {
        return None;
    }
    let local = ego.local_from_world(now);
    let (station_m, lateral_m, _) = place(course, now, front_m + local.x)?;
    let gap_m = station_m - car.half_length_m - front_m;
    if lateral_m.abs() > ASIDE_M || gap_m < 0.0 {
        return None;
    }
    let until_stand_m = if braking_mps2 > 0.0 { 0.5 * speed_mps * speed_mps / braking_mps2 } else { 0.0 };
    let is_himself = |other: &&Neighbour| (other.station_m - station_m).abs() < SAME_M;
    let is_between = |other: &&Neighbour| {
        other.lateral_m.abs() < ASIDE_M && other.station_m > front_m && other.station_m < station_m - SAME_M
    };
    let between_m: f64 =
        neighbours.iter().filter(is_between).map(|other| 2.0 * other.half_along_m + manner.stand_gap_m).sum();
    let hidden_m = if neighbours.iter().any(|other| is_himself(&other)) { 0.0 } else { HIDDEN_M };
    Some(gap_m + until_stand_m - manner.stand_gap_m - between_m.max(hidden_m))
}

/// Where he is by now and how fast, if he went on as he was.
fn moved_on(car: &HeardCar) -> (Point, f64) {
    let braking_s = if car.accel_mps2 < 0.0 { car.age_s.min(car.speed_mps / -car.accel_mps2) } else { car.age_s };
    let accel_mps2 = car.accel_mps2.min(0.0);
    let way_m = car.speed_mps * braking_s + 0.5 * accel_mps2 * braking_s * braking_s;
    let (sin, cos) = maths::sin_cos(car.pose.heading);
    (Point::new(car.pose.x + way_m * cos, car.pose.y + way_m * sin), car.speed_mps + accel_mps2 * braking_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(speed_mps: f64, accel_mps2: f64, age_s: f64) -> HeardCar {
        HeardCar { pose: Pose::new(10.0, 0.0, 0.0), speed_mps, accel_mps2, half_length_m: 2.0, age_s }
    }

    #[test]
    fn old_news_are_moved_on_until_he_stands() {
        let (at, speed_mps) = moved_on(&heard(20.0, -5.0, 0.4));
        assert!((at.x - (10.0 + 8.0 - 0.4)).abs() < 1e-9 && (speed_mps - 18.0).abs() < 1e-9);
        let (at, speed_mps) = moved_on(&heard(2.0, -5.0, 3.0));
        assert!((at.x - 10.4).abs() < 1e-9 && speed_mps.abs() < 1e-9);
        let (at, speed_mps) = moved_on(&heard(10.0, 2.0, 0.5));
        assert!((at.x - 15.0).abs() < 1e-9 && (speed_mps - 10.0).abs() < 1e-9);
    }
}
