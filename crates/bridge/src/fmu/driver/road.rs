//! Roads as plain numbers: what is worth a variable of its own.

use anabranch_kernel::maths;

use crate::protocol::{HeardSeen, LineSeen, ObjectSeen, RoadSeen, Seen};

/// What stands for "nothing ahead": farther than anything that is told.
pub const NOTHING_AHEAD_M: f64 = 1_000.0;

/// Somebody ahead in the lanes of the route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leader {
    /// From the rear axle of the car to its nearest end.
    pub ahead_m: f64,
    /// Along the lane.
    pub speed_mps: f64,
}

/// A number of the road; 0 where there is none.
pub fn of(seen: &Seen, value: fn(&RoadSeen) -> f64) -> f64 {
    seen.road.as_deref().map_or(0.0, value)
}

fn first_line(seen: &Seen) -> Option<&LineSeen> {
    seen.road.as_deref()?.lines.first()
}

/// Metres to the nearest line.
pub fn line_ahead(seen: &Seen) -> f64 {
    first_line(seen).map_or(NOTHING_AHEAD_M, |line| line.ahead)
}

/// Its sign by number.
pub fn line_sign(seen: &Seen) -> f64 {
    first_line(seen).map_or(0.0, |line| f64::from(line.sign_number()))
}

/// Its light by number.
pub fn line_light(seen: &Seen) -> f64 {
    first_line(seen).map_or(0.0, |line| f64::from(line.light_number()))
}

/// The nearest object whose middle is in the lanes of the route; if there is none, far away and as fast as allowed.
pub fn leader(seen: &Seen) -> Leader {
    let Some(road) = seen.road.as_deref() else { return Leader { ahead_m: NOTHING_AHEAD_M, speed_mps: 0.0 } };
    let nobody = Leader { ahead_m: NOTHING_AHEAD_M, speed_mps: road.speed_limit };
    let ahead = seen.objects.iter().filter_map(|object| in_lane(road, object));
    ahead.fold(nobody, |nearest, other| if other.ahead_m < nearest.ahead_m { other } else { nearest })
}

/// An object relative to the nearest place on the middle of the lanes ahead.
fn in_lane(road: &RoadSeen, object: &ObjectSeen) -> Option<Leader> {
    let apart = |row: &[f64; 6]| (object.x - row[0]) * (object.x - row[0]) + (object.y - row[1]) * (object.y - row[1]);
    let nearest = (0..road.ahead.len()).min_by(|a, b| apart(&road.ahead[*a]).total_cmp(&apart(&road.ahead[*b])))?;
    let [x, y, heading, _, width, _] = road.ahead[nearest];
    let (sin, cos) = maths::sin_cos(heading);
    let (dx, dy) = (object.x - x, object.y - y);
    let middle_m = nearest as f64 * road.step + cos * dx + sin * dy;
    let is_there = middle_m > 0.0 && 2.0 * (cos * dy - sin * dx).abs() < width;
    let ahead_m = middle_m - 0.5 * object.length;
    is_there.then_some(Leader { ahead_m, speed_mps: cos * object.vx + sin * object.vy })
}

/// What stands for "no news": older than anything that is believed.
pub const NO_NEWS_S: f64 = 1_000.0;

/// A car that was heard, relative to the lanes ahead: where it was when it sent.
fn heard_in_lane(road: &RoadSeen, heard: &HeardSeen) -> Option<Leader> {
    let (sin, cos) = maths::sin_cos(heard.heading);
    let HeardSeen { x, y, heading, speed, length, .. } = *heard;
    in_lane(
        road,
        &ObjectSeen { x, y, heading, speed, length, vx: speed * cos, vy: speed * sin, ..ObjectSeen::default() },
    )
}

fn heard_ahead(seen: &Seen) -> impl Iterator<Item = (Leader, &HeardSeen)> {
    let both = seen.road.as_deref().zip(seen.radio.as_ref());
    both.into_iter()
        .flat_map(|(road, all)| all.iter().filter_map(move |heard| Some((heard_in_lane(road, heard)?, heard))))
}

/// The nearest one ahead in the lanes of the route that was heard; if there is none, far away and as fast as allowed.
pub fn heard(seen: &Seen) -> Leader {
    let nobody = Leader { ahead_m: NOTHING_AHEAD_M, speed_mps: of(seen, |road| road.speed_limit) };
    heard_ahead(seen).fold(nobody, |nearest, (other, _)| if other.ahead_m < nearest.ahead_m { other } else { nearest })
}

/// The hardest braking that anybody ahead has told; 0 if nobody brakes.
pub fn heard_braking(seen: &Seen) -> f64 {
    heard_ahead(seen).map(|(_, heard)| -heard.accel).fold(0.0, f64::max)
}

/// Age of the newest message.
pub fn heard_age(seen: &Seen) -> f64 {
    seen.radio.iter().flatten().map(|heard| heard.age).fold(NO_NEWS_S, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A road to the north, from the origin.
    fn seen(objects: &[(f64, f64)]) -> Seen {
        let row = |number: u32| [0.0, 5.0 * f64::from(number), core::f64::consts::FRAC_PI_2, 0.0, 3.5, 20.0];
        let object = |&(x, y): &(f64, f64)| ObjectSeen { x, y, length: 4.0, vx: 1.0, vy: y, ..ObjectSeen::default() };
        let line = |ahead: f64, sign: &str, light: Option<&str>| LineSeen {
            ahead,
            sign: sign.to_owned(),
            light: light.map(str::to_owned),
        };
        Seen {
            objects: objects.iter().map(object).collect(),
            road: Some(Box::new(RoadSeen {
                ahead: (0..=20).map(row).collect(),
                step: 5.0,
                speed_limit: 20.0,
                lines: vec![line(12.0, "yield", Some("amber")), line(30.0, "stop", None)],
                ..RoadSeen::default()
            })),
            ..Seen::default()
        }
    }

    #[test]
    fn the_leader_is_the_nearest_one_in_the_lane() {
        let found = leader(&seen(&[(0.2, 41.0), (-0.5, 23.0), (3.5, 12.0), (0.0, -8.0)]));
        assert!((found.ahead_m - 21.0).abs() < 1e-9 && (found.speed_mps - 23.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn nobody_ahead_is_far_away_and_as_fast_as_allowed() {
        let nobody = Leader { ahead_m: NOTHING_AHEAD_M, speed_mps: 20.0 };
        assert_eq!(
            leader(&seen(&[(3.5, 12.0), (0.0, -8.0), (0.0, 140.0)])),
            Leader { ahead_m: 138.0, speed_mps: 140.0 }
        );
        assert_eq!(leader(&seen(&[(3.5, 12.0), (0.0, -8.0)])), nobody);
    }

    #[test]
    fn the_nearest_line_is_told_by_numbers() {
        let seen = seen(&[]);
        assert_eq!((line_ahead(&seen), line_sign(&seen), line_light(&seen)), (12.0, 2.0, 3.0));
        let none = Seen::default();
        assert_eq!((line_ahead(&none), line_sign(&none), line_light(&none)), (NOTHING_AHEAD_M, 0.0, 0.0));
        assert_eq!(of(&none, |road| road.width), 0.0);
    }

    #[test]
    fn the_nearest_one_ahead_is_heard_and_the_hardest_braking_counts() {
        let heard = |x: f64, y: f64, accel: f64| HeardSeen {
            x,
            y,
            heading: core::f64::consts::FRAC_PI_2,
            speed: 12.0,
            accel,
            length: 4.0,
            age: 0.2,
            ..HeardSeen::default()
        };
        let nobody = seen(&[]);
        assert_eq!((heard_age(&nobody), heard_braking(&nobody)), (NO_NEWS_S, 0.0));
        assert_eq!(super::heard(&nobody), Leader { ahead_m: NOTHING_AHEAD_M, speed_mps: 20.0 });
        let radio =
            Some(vec![heard(0.0, 60.0, -6.0), heard(0.2, 30.0, -1.0), heard(8.0, 20.0, -9.0), heard(0.0, -9.0, -9.0)]);
        let some = Seen { radio, ..seen(&[]) };
        let found = super::heard(&some);
        assert!((found.ahead_m - 28.0).abs() < 1e-9 && (found.speed_mps - 12.0).abs() < 1e-9, "{found:?}");
        assert_eq!((heard_age(&some), heard_braking(&some)), (0.2, 6.0));
    }
}
