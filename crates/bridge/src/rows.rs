//! The numbers of a step as one row of doubles, for those who want it: forty names in every step cost more than most drivers.

use std::collections::BTreeMap;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_bytes::Bytes;

use crate::protocol::{Branch, Card, HeardSeen, ObjectSeen, Occupancy, Op, PlainSeen, RoadSeen, Seen, TyresSeen};

/// Word in a card's `wants`.
const WORD: &str = "rows";
/// Numbers in a row.
const COUNT: usize = 30;

/// Whether somebody takes rows.
pub(crate) fn wanted(card: &Card) -> bool {
    card.wants.iter().any(|word| word == WORD)
}

/// Operations whose steps are written as rows.
#[derive(Debug)]
pub(crate) struct InRows<'a>(pub(crate) &'a [Op]);

impl Serialize for InRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for op in self.0 {
            match op {
                Op::Step { branch, seen } => {
                    let row = row(seen);
                    list.serialize_element(&RowOp::Step { branch: *branch, seen: RowSeen::new(&row, seen) })?;
                }
                other => list.serialize_element(other)?,
            }
        }
        list.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum RowOp<'a> {
    Step { branch: Branch, seen: RowSeen<'a> },
}

/// What is seen: the row, and what is no number or has no fixed length.
#[derive(Serialize)]
struct RowSeen<'a> {
    row: &'a Bytes,
    #[serde(skip_serializing_if = "<[ObjectSeen]>::is_empty")]
    objects: &'a [ObjectSeen],
    #[serde(skip_serializing_if = "Option::is_none")]
    road: Option<&'a RoadSeen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plain: Option<&'a PlainSeen>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    readings: &'a BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    radio: Option<&'a [HeardSeen]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tyres: Option<&'a TyresSeen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    occupancy: Option<&'a Occupancy>,
}

impl<'a> RowSeen<'a> {
    fn new(row: &'a [u8], seen: &'a Seen) -> Self {
        let (road, occupancy) = (seen.road.as_deref(), seen.occupancy.as_deref());
        let (plain, readings) = (seen.plain.as_deref(), &seen.readings);
        let (radio, tyres) = (seen.radio.as_deref(), seen.tyres.as_deref());
        Self { row: Bytes::new(row), objects: &seen.objects, road, plain, readings, radio, tyres, occupancy }
    }
}

/// In the order that the protocol names.
fn row(seen: &Seen) -> [u8; 8 * COUNT] {
    let (pose, path, goal) = (&seen.pose, &seen.path, &seen.goal);
    let mut numbers = [0.0; COUNT];
    let mut at = 0;
    let mut add = |values: &[f64]| {
        numbers[at..at + values.len()].copy_from_slice(values);
        at += values.len();
    };
    add(&[seen.time, seen.tick as f64, pose.x, pose.y, pose.heading]);
    add(&pose.covariance);
    add(&[seen.speed, seen.steer, f64::from(seen.gear)]);
    add(&[path.station, path.lateral, path.heading, path.curvature, path.remaining, path.speed_max]);
    add(&[f64::from(path.direction), f64::from(path.section), f64::from(path.sections_left), path.to_end]);
    add(&[goal.ahead, goal.left, goal.heading]);
    let mut bytes = [0; 8 * COUNT];
    for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{GoalSeen, PathSeen, PoseSeen};

    #[test]
    fn a_row_has_every_number_of_a_step_in_its_place() {
        let seen = Seen {
            time: 1.0,
            tick: 2,
            pose: PoseSeen { x: 3.0, y: 4.0, heading: 5.0, covariance: std::array::from_fn(|n| 6.0 + n as f64) },
            speed: 15.0,
            steer: 16.0,
            gear: 17,
            path: PathSeen {
                station: 18.0,
                lateral: 19.0,
                heading: 20.0,
                curvature: 21.0,
                remaining: 22.0,
                speed_max: 23.0,
                direction: 24,
                section: 25,
                sections_left: 26,
                to_end: 27.0,
            },
            goal: GoalSeen { ahead: 28.0, left: 29.0, heading: 30.0 },
            ..Seen::default()
        };
        let numbers: Vec<f64> =
            row(&seen).chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect();
        assert_eq!(numbers, (1..=30).map(f64::from).collect::<Vec<_>>());
        let mut body = Vec::new();
        crate::body::encode(&InRows(&[Op::Step { branch: 3, seen: Box::new(seen) }, Op::Bye {}]), &mut body);
        // Two operations; the first is {"step": {"branch": 3, "seen": {"row": 240 bytes}}}.
        assert!(body.starts_with(b"\x92\x81\xa4step\x82\xa6branch\x03\xa4seen\x81\xa3row\xc4\xf0"), "{body:x?}");
        assert!(body.ends_with(b"\x81\xa3bye\x80"), "{body:x?}");
    }
}
