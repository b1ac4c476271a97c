//! A place from which a lane cannot be seen early enough, for a map (S3-19).

use anabranch_problems::BlindCornerNote;
use anabranch_scenario::Drive;
use anabranch_scenario::drive::RoadUser;

use super::scene::{Moment, Scene};
use crate::failure::Failure;

/// From seeing to brakes that work (s), and how hard they brake (m/s²).
const REACTION_S: f64 = 0.5;
const HARD: f64 = 7.0;
/// The car stands this far before the place of the contact: out of the lane (m).
const BEFORE_M: f64 = 3.5;

/// The note: where the car was when the other was still hidden and it could still stand before the lane, how far one sees the way
/// of the other from there, and how far it would have had to see. Nothing where nobody was met.
pub(super) fn note(drive: &Drive, scene: &Scene) -> Result<Option<BlindCornerNote>, Failure> {
    let left_m = ways_left_m(scene.moments.iter().map(|moment| moment.car.point()));
    let can_stand = |number: &usize| {
        let speed_mps = scene.moments[*number].speed_mps.max(0.0);
        left_m[*number] - BEFORE_M >= speed_mps * REACTION_S + speed_mps * speed_mps / (2.0 * HARD)
    };
    // A slow car can stand for long; what counts then is when the other came into sight.
    let hidden_until_s = scene.moments.last().map_or(0.0, |end| end.time_s - scene.visible_s.unwrap_or(0.0));
    let is_hidden = |number: &usize| scene.moments[*number].time_s < hidden_until_s;
    let last = (0..scene.moments.len()).rev().find(|number| is_hidden(number) && can_stand(number)).unwrap_or(0);
    let Some(moment) = scene.moments.get(last) else { return Ok(None) };
    let Some(other) = scene.other_at(moment).or_else(|| scene.other_at(scene.moments.last()?)) else { return Ok(None) };
    let his: Vec<&RoadUser> = scene.moments.iter().filter_map(|moment| scene.other_at(moment)).collect();
    let his_left_m = ways_left_m(his.iter().map(|user| user.pose.point()));
    let mut sees_m = 0.0;
    for (user, way_m) in his.iter().zip(&his_left_m).rev() {
        if !sees(drive, moment, user)? {
            break;
        }
        sees_m = *way_m;
    }
    let before = scene.moments[..last].iter().filter(|moment| scene.other_at(moment).is_some()).count();
    let needs_m = his_left_m.get(before).copied().unwrap_or(0.0);
    Ok(Some(BlindCornerNote { x: moment.car.x, y: moment.car.y, sees_m, needs_m, traffic_mps: other.speed_mps }))
}

/// Whether the car sees the other at a place, with everybody else where they are in this base cycle.
fn sees(drive: &Drive, moment: &Moment, other: &RoadUser) -> Result<bool, Failure> {
    let others = moment.others.iter().map(|one| one.user).filter(|user| user.number != other.number);
    let users: Vec<RoadUser> = others.chain([*other]).collect();
    Ok(drive.in_sight(moment.car, &users, other.number)?)
}

/// Metres from each point to the last one along the way.
fn ways_left_m(points: impl DoubleEndedIterator<Item = anabranch_geometry::Point>) -> Vec<f64> {
    let (mut left_m, mut next) = (0.0, None::<anabranch_geometry::Point>);
    let mut ways: Vec<f64> = points
        .rev()
        .map(|point| {
            left_m += next.map_or(0.0, |next| next.distance_m(point));
            next = Some(point);
            left_m
        })
        .collect();
    ways.reverse();
    ways
}
