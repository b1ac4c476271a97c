//! How much more distance there is than responsibility-sensitive safety asks for (S3-14, S3-32).
//!
//! S. Shalev-Shwartz, S. Shammah, A. Shashua, *On a formal model of safe and scalable self-driving cars*, 2017: two road users are
//! in danger only if they are too near both along the road and across it. Too near is what leaves no room if one of them does
//! the worst that is reasonable until the other has responded, and both brake then.

use anabranch_kernel::maths;

/// Until somebody responds. The paper leaves this and the following ones open; they are values that open implementations use.
pub const RESPONSE_S: f64 = 1.0;
/// The most that somebody accelerates along the road until then.
pub const ACCEL_MAX_MPS2: f64 = 3.5;
/// The least that somebody brakes with who has to.
pub const BRAKE_MIN_MPS2: f64 = 4.0;
/// The same of one who is in his own lane and meets somebody head on.
pub const BRAKE_MIN_CORRECT_MPS2: f64 = 3.0;
/// The most that anybody brakes with.
pub const BRAKE_MAX_MPS2: f64 = 8.0;
/// The most that somebody accelerates across the road until he responds.
pub const LATERAL_ACCEL_MAX_MPS2: f64 = 0.2;
/// The least that he brakes with across the road then.
pub const LATERAL_BRAKE_MIN_MPS2: f64 = 0.8;
/// How far somebody sways in his lane.
pub const LATERAL_SWAY_M: f64 = 0.1;

/// A road user in the frame of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InLane {
    /// Its middle along the lane and to the left of some line along it.
    pub at_m: [f64; 2],
    /// Half of what it takes up along the lane and across it.
    pub half_m: [f64; 2],
    /// Along the lane and to the left.
    pub velocity_mps: [f64; 2],
    /// How much of its direction is across the lane, from 0 to 1. Who drives across brakes across as others do along.
    pub crosses: f64,
}

/// The reserve between the car and somebody. Where one of the two distances, along and across, is large enough it is the larger
/// reserve. Where both are too small, that is danger: what is missing along the lane, and of that the part to which they are too near
/// across it; all of it where they are in each other's way. It has no jumps.
#[inline]
pub fn rss_reserve_m(car: &InLane, other: &InLane) -> f64 {
    let along_m = longitudinal_reserve_m(car, other);
    let (gap_m, safe_m) = lateral_m(car, other);
    let across_m = gap_m - safe_m;
    if along_m < 0.0 && across_m < 0.0 { along_m * (-across_m / safe_m).min(1.0) } else { along_m.max(across_m) }
}

/// Distance along the lane less what the rule asks for.
#[inline]
fn longitudinal_reserve_m(car: &InLane, other: &InLane) -> f64 {
    let apart_m = other.at_m[0] - car.at_m[0];
    let gap_m = apart_m.abs() - car.half_m[0] - other.half_m[0];
    let (own_mps, other_mps) = (car.velocity_mps[0], other.velocity_mps[0]);
    let (behind_mps, ahead_mps) = if apart_m >= 0.0 { (own_mps, other_mps) } else { (other_mps, own_mps) };
    let safe_m = if behind_mps >= 0.0 && ahead_mps >= 0.0 {
        following_m(behind_mps, ahead_mps)
    } else if behind_mps >= 0.0 {
        // The car counts as the one in its own lane.
        oncoming_m(own_mps.abs(), other_mps.abs())
    } else if ahead_mps >= 0.0 {
        // They move apart.
        0.0
    } else {
        // Both go backwards: who is ahead follows.
        following_m(-ahead_mps, -behind_mps)
    };
    gap_m - safe_m
}

/// Safe distance between two who go the same way: lemma 2 of the paper.
#[inline]
pub fn following_m(behind_mps: f64, ahead_mps: f64) -> f64 {
    let stops_m = ahead_mps * ahead_mps / (2.0 * BRAKE_MAX_MPS2);
    (stopping_m(behind_mps, ACCEL_MAX_MPS2, BRAKE_MIN_MPS2) - stops_m).max(0.0)
}

/// Safe distance between two who come towards each other: definition 6 of the paper.
#[inline]
pub fn oncoming_m(own_mps: f64, other_mps: f64) -> f64 {
    stopping_m(own_mps, ACCEL_MAX_MPS2, BRAKE_MIN_CORRECT_MPS2) + stopping_m(other_mps, ACCEL_MAX_MPS2, BRAKE_MIN_MPS2)
}

/// Way of one who accelerates until he responds, and brakes then.
#[inline]
fn stopping_m(speed_mps: f64, accel_mps2: f64, brake_mps2: f64) -> f64 {
    let then_mps = speed_mps + RESPONSE_S * accel_mps2;
    0.5 * (speed_mps + then_mps) * RESPONSE_S + then_mps * then_mps / (2.0 * brake_mps2)
}

/// Distance across the lane, and what the rule asks for, which is never nothing: lemma 4 of the paper.
#[inline]
fn lateral_m(car: &InLane, other: &InLane) -> (f64, f64) {
    let apart_m = other.at_m[1] - car.at_m[1];
    let gap_m = apart_m.abs() - car.half_m[1] - other.half_m[1];
    let side = if apart_m >= 0.0 { 1.0 } else { -1.0 };
    let towards_m = |who: &InLane, side: f64| {
        let now_mps = side * who.velocity_mps[1];
        let brake_mps2 = LATERAL_BRAKE_MIN_MPS2.max(BRAKE_MIN_MPS2 * who.crosses);
        let then_mps = now_mps + RESPONSE_S * LATERAL_ACCEL_MAX_MPS2;
        // The way of one who moves away is negative: he makes room.
        0.5 * (now_mps + then_mps) * RESPONSE_S + then_mps * then_mps.abs() / (2.0 * brake_mps2)
    };
    (gap_m, LATERAL_SWAY_M + (towards_m(car, side) + towards_m(other, -side)).max(0.0))
}

/// The frame of a lane that goes on with its curvature: where a point ahead and to the left of its origin is along it and beside it, and
/// how far it has turned there.
#[inline]
pub fn along_curve([ahead_m, left_m]: [f64; 2], curvature_per_m: f64) -> ([f64; 2], f64) {
    /// Straighter lanes count as straight: 1 cm aside after 140 m.
    const STRAIGHT_PER_M: f64 = 1e-6;
    if curvature_per_m.abs() < STRAIGHT_PER_M {
        return ([ahead_m, left_m], 0.0);
    }
    let (x, y) = (curvature_per_m * ahead_m, 1.0 - curvature_per_m * left_m);
    let turned_rad = maths::atan2(x, y);
    ([turned_rad / curvature_per_m, (1.0 - maths::hypot(x, y)) / curvature_per_m], turned_rad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 4.4 m long and 1.8 m wide, along the lane.
    fn car(at_m: [f64; 2], velocity_mps: [f64; 2]) -> InLane {
        InLane { at_m, half_m: [2.2, 0.9], velocity_mps, crosses: 0.0 }
    }

    fn check(other: InLane, speed_mps: f64, expect_m: f64) {
        let got_m = rss_reserve_m(&car([0.0, 0.0], [speed_mps, 0.0]), &other);
        assert!((got_m - expect_m).abs() < 1e-9, "{got_m} instead of {expect_m}");
    }

    #[test]
    fn following_by_hand() {
        // Both 20 m/s: 20 + 3.5 / 2 + 23.5² / 8 − 20² / 16 = 65.78125 m; there are 80 − 4.4 m.
        check(car([80.0, 0.0], [20.0, 0.0]), 20.0, 75.6 - 65.78125);
        // The one ahead is slower, 10 m/s: he stops within 6.25 m instead of 25 m.
        check(car([80.0, 0.0], [10.0, 0.0]), 20.0, 75.6 - 84.53125);
        // He stands.
        check(car([80.0, 0.0], [0.0, 0.0]), 20.0, 75.6 - 90.78125);
        // He is so much faster that no distance is needed.
        check(car([6.4, 0.0], [60.0, 0.0]), 20.0, 2.0);
        // The same with the other one behind: it is as dangerous.
        check(car([-80.0, 0.0], [20.0, 0.0]), 10.0, 75.6 - 84.53125);
    }

    #[test]
    fn a_standing_car_is_asked_for_the_way_of_a_wrong_start() {
        // 3.5 / 2 + 3.5² / 8 = 3.28125 m.
        check(car([8.4, 0.0], [0.0, 0.0]), 0.0, 4.0 - 3.28125);
        check(car([6.4, 0.0], [0.0, 0.0]), 0.0, 2.0 - 3.28125);
    }

    #[test]
    fn oncoming_by_hand() {
        // 11.75 + 13.5² / 6 of the car at 10 m/s, and 16.75 + 18.5² / 8 of the other at 15 m/s.
        let safe_m = 11.75 + 30.375 + 16.75 + 42.78125;
        check(car([200.0, 0.0], [-15.0, 0.0]), 10.0, 195.6 - safe_m);
        // Once past each other they move apart.
        check(car([-30.0, 0.0], [-15.0, 0.0]), 10.0, 25.6);
        // In its own lane 3.5 m beside it is no danger, however near: 1.7 m aside less sway and twice 0.1 + 0.025 m.
        check(car([10.0, 3.5], [-15.0, 0.0]), 10.0, 1.7 - 0.1 - 0.25);
    }

    #[test]
    fn beside_in_the_next_lane_is_no_danger_until_one_drifts_over() {
        check(car([1.0, -3.5], [20.0, 0.0]), 20.0, 1.7 - 0.1 - 0.25);
        // It drifts over at 1 m/s: 1.1 + 1.2² / 1.6 = 2 m instead of 0.125 m, so that 0.525 of 2.225 m are missing across; along they
        // are 3.4 m too far into each other, and 65.78125 m would be safe.
        check(car([1.0, -3.5], [20.0, 1.0]), 20.0, -(3.4 + 65.78125) * 0.525 / 2.225);
        // It drifts away at 1 m/s: nothing is asked for but the sway.
        check(car([1.0, -3.5], [20.0, -1.0]), 20.0, 1.7 - 0.1);
    }

    #[test]
    fn who_crosses_is_a_danger_only_to_one_who_cannot_stand_before_him() {
        // From the right at 8 m/s, 20 m before his front is in the way: he brakes as drivers do.
        let crossing = InLane { at_m: [60.0, -23.1], half_m: [0.9, 2.2], velocity_mps: [0.0, 8.0], crosses: 1.0 };
        // Along: 60 − 3.1 m less 10 + 1.75 + 13.5² / 8 m of a car at 10 m/s.
        check(crossing, 10.0, 56.9 - 34.53125);
        // At 18 m/s it cannot stand in time; across: 20 m less 8.1 + 8.2² / 8, 0.125 and 0.1 m leave a reserve.
        check(crossing, 18.0, 20.0 - 8.1 - 8.405 - 0.125 - 0.1);
    }

    #[test]
    fn a_bend_is_followed() {
        // A quarter of a circle of 50 m to the left, and the lane 3 m left of it.
        let (place, turned) = along_curve([50.0, 50.0], 0.02);
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!((place[0] - 50.0 * quarter).abs() < 1e-9 && place[1].abs() < 1e-9 && (turned - quarter).abs() < 1e-9);
        let (place, _) = along_curve([47.0, 50.0], 0.02);
        assert!((place[1] - 3.0).abs() < 1e-9, "{place:?}");
        // To the right the signs are the other way round.
        let (place, turned) = along_curve([47.0, -50.0], -0.02);
        assert!(
            (place[0] - 50.0 * quarter).abs() < 1e-9
                && (place[1] + 3.0).abs() < 1e-9
                && (turned + quarter).abs() < 1e-9
        );
        assert_eq!(along_curve([5.0, -1.0], 0.0), ([5.0, -1.0], 0.0));
    }

    proptest! {
        #[test]
        fn more_gap_is_never_less_reserve(
            gap_m in 0.0..200.0f64, more_m in 0.0..50.0f64, side_m in -8.0..8.0f64,
            own_mps in 0.0..40.0f64, other_mps in -40.0..40.0f64, drift_mps in -2.0..2.0f64,
        ) {
            let own = car([0.0, 0.0], [own_mps, 0.0]);
            let reserve_m = |gap_m: f64| rss_reserve_m(&own, &car([gap_m + 4.4, side_m], [other_mps, drift_mps]));
            prop_assert!(reserve_m(gap_m + more_m) >= reserve_m(gap_m));
            prop_assert!(reserve_m(gap_m).is_finite());
        }

        #[test]
        fn more_room_aside_is_never_less_reserve_and_there_are_no_jumps(
            gap_m in -4.0..100.0f64, side_m in 0.0..8.0f64, more_m in 0.0..3.0f64,
            own_mps in 0.0..40.0f64, other_mps in -40.0..40.0f64, drift_mps in -2.0..2.0f64,
        ) {
            let own = car([0.0, 0.0], [own_mps, 0.0]);
            let reserve_m = |side_m: f64| rss_reserve_m(&own, &car([gap_m + 4.4, side_m], [other_mps, drift_mps]));
            prop_assert!(reserve_m(side_m + more_m) >= reserve_m(side_m));
            prop_assert!((reserve_m(side_m + 1e-6) - reserve_m(side_m)).abs() < 1e-2);
        }

        #[test]
        fn a_faster_car_never_has_more_reserve(
            gap_m in 0.0..200.0f64, own_mps in 0.0..40.0f64, more_mps in 0.0..10.0f64, other_mps in -40.0..40.0f64,
        ) {
            let other = car([gap_m + 4.4, 0.0], [other_mps, 0.0]);
            let reserve_m = |speed_mps: f64| rss_reserve_m(&car([0.0, 0.0], [speed_mps, 0.0]), &other);
            prop_assert!(reserve_m(own_mps + more_mps) <= reserve_m(own_mps) + 1e-9);
        }
    }
}
