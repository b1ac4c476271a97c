//! Evenly spread directions with names in words.

use std::f64::consts::TAU;

use anabranch_kernel::maths;

use crate::effects::Frame;
use crate::words;

const IN_CAR: [&str; 8] = ["front", "front-left", "left", "rear-left", "rear", "rear-right", "right", "front-right"];
const IN_WORLD: [&str; 8] = ["east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east"];
/// Cosines of the eighths of a turn, exactly symmetric so that left and right errors are mirror images.
const EIGHTHS: [f64; 8] = {
    const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [1.0, HALF, 0.0, -HALF, -1.0, -HALF, 0.0, HALF]
};

/// A direction and its unit vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Direction {
    pub(crate) name: String,
    pub(crate) unit: [f64; 2],
}

/// `count` directions, evenly spread from the front (the east) to the left (the north);
/// two directions are the sides, left and right, where a car is vulnerable.
pub(crate) fn directions(count: u8, frame: Frame) -> Vec<Direction> {
    let names = match frame {
        Frame::Car => IN_CAR,
        Frame::World => IN_WORLD,
    };
    let eighth = |i: usize| Direction { name: names[i].to_owned(), unit: [EIGHTHS[i], EIGHTHS[(i + 6) % 8]] };
    if count == 2 {
        return vec![eighth(2), eighth(6)];
    }
    let count = usize::from(count);
    let direction = |i: usize| {
        if (i * 8).is_multiple_of(count) {
            return eighth(i * 8 / count);
        }
        let angle = TAU * i as f64 / count as f64;
        let (sin, cos) = maths::sin_cos(angle);
        Direction { name: words::degrees(angle), unit: [cos, sin] }
    };
    (0..count).map(direction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: u8, frame: Frame, expect: &[&str]) {
        let found = directions(count, frame);
        assert_eq!(found.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), expect);
        for d in &found {
            assert!((maths::hypot(d.unit[0], d.unit[1]) - 1.0).abs() < 1e-15, "{d:?}");
        }
    }

    #[test]
    fn directions_have_names_in_words_where_there_are_words() {
        check(0, Frame::Car, &[]);
        check(2, Frame::Car, &["left", "right"]);
        check(3, Frame::Car, &["front", "120°", "240°"]);
        check(4, Frame::World, &["east", "north", "west", "south"]);
        check(8, Frame::Car, &IN_CAR);
        assert_eq!(directions(16, Frame::Car)[1].name, "22.5°");
    }

    #[test]
    fn left_and_right_mirror_each_other_exactly() {
        let eight = directions(8, Frame::Car);
        for (left, right) in [(1, 7), (2, 6), (3, 5)] {
            assert_eq!(eight[left].unit, [eight[right].unit[0], -eight[right].unit[1]]);
        }
        assert_eq!(eight[2].unit, [0.0, 1.0]);
    }
}
