//! Where on the car a contact was, in words.

use anabranch_kernel::Place;
use anabranch_scenario::Drive;
use serde_json::{Value, json};

use crate::escape::escape;
use crate::load::Loaded;
use crate::numbers::short;

/// A part of the car's outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sector {
    /// Middle of the front.
    Front,
    /// Left front corner.
    LeftFront,
    /// Left side.
    Left,
    /// Left rear corner.
    LeftRear,
    /// Middle of the rear.
    Rear,
    /// Right rear corner.
    RightRear,
    /// Right side.
    Right,
    /// Right front corner.
    RightFront,
}

impl Sector {
    /// As in names of findings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::LeftFront => "left-front",
            Self::Left => "left",
            Self::LeftRear => "left-rear",
            Self::Rear => "rear",
            Self::RightRear => "right-rear",
            Self::Right => "right",
            Self::RightFront => "right-front",
        }
    }

    /// The same part on the other side.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Front => Self::Front,
            Self::LeftFront => Self::RightFront,
            Self::Left => Self::Right,
            Self::LeftRear => Self::RightRear,
            Self::Rear => Self::Rear,
            Self::RightRear => Self::LeftRear,
            Self::Right => Self::Left,
            Self::RightFront => Self::LeftFront,
        }
    }

    /// The part of a car that reaches `front_m` ahead of and `rear_m` behind its origin: a corner is the outer quarter
    /// of a side.
    pub fn of(on_ego: [f64; 2], front_m: f64, rear_m: f64, half_width_m: f64) -> Self {
        let half_length_m = 0.5 * (front_m + rear_m);
        let along = (on_ego[0] - 0.5 * (front_m - rear_m)) / half_length_m;
        let across = on_ego[1] / half_width_m;
        let side = |value: f64| {
            if value > 0.5 {
                1
            } else if value < -0.5 {
                -1
            } else {
                0
            }
        };
        match (side(along), side(across)) {
            (1, 0) => Self::Front,
            (1, 1) => Self::LeftFront,
            (0, 1) => Self::Left,
            (-1, 1) => Self::LeftRear,
            (-1, 0) => Self::Rear,
            (-1, -1) => Self::RightRear,
            (0, -1) => Self::Right,
            (1, -1) => Self::RightFront,
            // Inside of the car, which no contact is; the nearer end.
            _ if along >= 0.0 => Self::Front,
            _ => Self::Rear,
        }
    }
}

/// The part of this car.
pub fn sector(drive: &Drive, place: &Place) -> Sector {
    let outline = &drive.car().outline;
    Sector::of(place.on_ego, outline.front_m, outline.rear_m, outline.half_width_m)
}

/// `: left-rear of the car at wall `left`, (-9.31, 1.60) m`; empty without a place.
pub fn sentence(loaded: &Loaded, drive: &Drive, place: Option<&Place>) -> String {
    let Some(place) = place else { return String::new() };
    let [x, y] = place.in_world.map(|value| short(value, 2));
    let other = escape(&loaded.other_name(place.other));
    format!(": {} of the car at {other}, ({x}, {y}) m", sector(drive, place).word())
}

/// For machines.
pub fn to_json(loaded: &Loaded, drive: &Drive, place: &Place) -> Value {
    json!({
        "on_ego_m": place.on_ego,
        "in_world_m": place.in_world,
        "sector": sector(drive, place).word(),
        "other": loaded.other_name(place.other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_and_sides_are_told_apart() {
        let check = |on_ego, word: &str| assert_eq!(Sector::of(on_ego, 3.4, 0.8, 0.9).word(), word, "{on_ego:?}");
        check([3.4, 0.0], "front");
        check([3.4, 0.8], "left-front");
        check([1.3, 0.9], "left");
        check([-0.5, 0.9], "left-rear");
        check([-0.8, 0.1], "rear");
        check([-0.8, -0.7], "right-rear");
        check([2.0, -0.9], "right");
        check([3.2, -0.9], "right-front");
        let left_rear = Sector::of([-0.5, 0.9], 3.4, 0.8, 0.9).mirrored();
        assert_eq!(left_rear, Sector::of([-0.5, -0.9], 3.4, 0.8, 0.9));
    }
}
