//! The way ahead: lanes of the route one after another as one line, with the planned offset beside their middle.

use anabranch_geometry::Pose;
use anabranch_kernel::maths;
use anabranch_roads::{Lane, LaneId, LanePoint, Leg, Network, Then};
use arrayvec::ArrayVec;

use super::memory::RoadMemory;
use super::offset::Offset;
use super::ways::Ways;
use crate::track::{Line, LineSample};

/// Lanes that the way ahead can have; more are not looked at.
const PIECES_MAX: usize = 8;
/// Near the inside of a curve an offset line has no direction; the distance to its centre is held above this share.
const STRETCH_MIN: f64 = 0.2;

/// A stretch of one lane. Stations of the way are those of the lane the car is on, continued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The lane.
    pub lane: LaneId,
    /// Station of the way at which it is entered.
    pub begin_m: f64,
    /// Station of the way at which it is left.
    pub end_m: f64,
    /// Station of the way less station of the lane.
    pub shift_m: f64,
}

/// Why the way ahead ends where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CourseEnd {
    /// It is far away.
    Horizon,
    /// The goal.
    Goal,
    /// The lane must be changed before.
    Change,
}

/// The way ahead, built anew in each cycle.
#[derive(Clone, Debug)]
pub struct Course<'n> {
    network: &'n Network,
    /// Lanes one after another.
    pub pieces: ArrayVec<Piece, PIECES_MAX>,
    /// Where it ends.
    pub end_m: f64,
    /// Why.
    pub end: CourseEnd,
    /// The way beside the middle.
    pub offset: Offset,
}

impl<'n> Course<'n> {
    /// From the lane of the memory along its way, at least to a station if the way goes so far. Where the lane must be changed
    /// and another way leads on, that one is followed from there: nobody stops for an exit that can be missed.
    pub fn ahead(network: &'n Network, ways: &Ways, memory: &RoadMemory, far_m: f64) -> Self {
        let mut pieces: ArrayVec<Piece, PIECES_MAX> = ArrayVec::new();
        let (mut way, mut leg) = (memory.way, usize::from(memory.leg));
        let (mut lane, mut begin_m, mut shift_m) = (memory.lane, f64::NEG_INFINITY, 0.0);
        let (end_m, end) = loop {
            let legs = ways.legs(way);
            let on_route = lane == legs[leg].lane;
            let then = if on_route { legs[leg].then } else { Then::Left };
            let exit_m = match then {
                Then::Link(_) | Then::Arrive => legs[leg].to_station_m,
                // Who must change and did not, drives on to where it is too late and no further.
                Then::Left | Then::Right => change_by_m(legs, leg).min(network.lane(lane).length_m()),
            };
            if matches!(then, Then::Left | Then::Right)
                && let Some(other) = ways.missed(way, leg as u16, lane)
            {
                (way, leg) = (other, 0);
                continue;
            }
            let piece_end_m = exit_m + shift_m;
            pieces.push(Piece { lane, begin_m, end_m: piece_end_m, shift_m });
            match then {
                Then::Arrive => break (piece_end_m, CourseEnd::Goal),
                Then::Left | Then::Right => break (piece_end_m, CourseEnd::Change),
                Then::Link(_) if piece_end_m > far_m || pieces.is_full() => break (piece_end_m, CourseEnd::Horizon),
                Then::Link(number) => {
                    let link = network.lane(lane).next()[number];
                    (lane, begin_m) = (link.to, piece_end_m);
                    shift_m = piece_end_m - link.to_station_m;
                    leg += 1;
                }
            }
        };
        Self { network, pieces, end_m, end, offset: memory.offset }
    }
    /// The piece at a station.
    pub fn piece(&self, station_m: f64) -> &Piece {
        let last = self.pieces.len() - 1;
        self.pieces[..last].iter().find(|piece| station_m <= piece.end_m).unwrap_or(&self.pieces[last])
    }
    /// The lane at a station, and the station on it.
    pub fn lane_at(&self, station_m: f64) -> (&'n Lane, f64) {
        let piece = self.piece(station_m);
        (self.network.lane(piece.lane), station_m - piece.shift_m)
    }
    /// The middle of the lane at a station.
    pub fn middle(&self, station_m: f64) -> LanePoint {
        let (lane, lane_m) = self.lane_at(station_m);
        lane.at(lane_m)
    }
}

/// Station by which the lane of a leg must be reached or left: where the route leaves it, or its goal. Lanes that lie side
/// by side are taken to have equal stations there.
pub fn change_by_m(legs: &[Leg], leg: usize) -> f64 {
    let next = legs.get(leg + 1).filter(|next| next.then == Then::Arrive);
    match (legs[leg].then, next) {
        (Then::Left | Then::Right, Some(goal)) => legs[leg].to_station_m.min(goal.to_station_m),
        _ => legs[leg].to_station_m,
    }
}

impl Line for Course<'_> {
    /// The lane's middle moved aside by d: heading θ + atan(d' / (1 − κd)), and with Δ for that angle the curvature
    /// (d''·cos²Δ/(1 − κd) + κ)·cos Δ/(1 − κd); the change of the lane's own curvature is left out.
    fn at(&self, station_m: f64) -> LineSample {
        let middle = self.middle(station_m);
        let [offset_m, slope, bend] = self.offset.at(station_m);
        let near = (1.0 - middle.curvature * offset_m).max(STRETCH_MIN);
        let (sin, cos) = maths::sin_cos(middle.heading);
        let turned = maths::atan(slope / near);
        let share = 1.0 / (1.0 + (slope / near) * (slope / near));
        let cos_turned = share.sqrt();
        let x = middle.position.x - sin * offset_m;
        let y = middle.position.y + cos * offset_m;
        let curvature_per_m = (bend * share / near + middle.curvature) * cos_turned / near;
        LineSample { station_m, pose: Pose::new(x, y, middle.heading + turned), curvature_per_m }
    }
}
