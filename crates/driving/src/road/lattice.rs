//! Where to drive beside the middle of the lane: a lattice of quintics, weighed anew several times a second.
//!
//! Ends are the middles of the own lane and of those beside it, and places in between for swerving; lengths are times at
//! the current speed. Each candidate is charged for discomfort, for leaving the middle, for another lane than the wished
//! one, for lost time behind others, and above all for coming close to anything. The cheapest wins; among equals the one
//! listed first, so that a tie has one outcome.

use super::course::Course;
use super::neighbours::Neighbour;
use super::offset::Offset;

/// Ends beside the middle of the own lane.
const NUDGES_M: [f64; 11] = [0.0, 0.4, -0.4, 0.8, -0.8, 1.2, -1.2, 1.7, -1.7, 2.3, -2.3];
/// How long a change may take, with the shortest way for each.
const CHANGES: [(f64, f64); 3] = [(4.5, 20.0), (3.0, 14.0), (1.8, 9.0)];
/// Places along a candidate at which others are looked at.
const PLACES: usize = 16;
/// How far ahead, as time and at least as way.
const HORIZON_S: f64 = 4.0;
const HORIZON_MIN_M: f64 = 25.0;
/// Who moves across is foreseen for so long.
const ACROSS_MAX_S: f64 = 2.5;
/// Sideways distance that feels safe.
const ASIDE_M: f64 = 0.8;
/// Distance along that is kept from those in other lanes.
const ALONG_M: f64 = 2.0;
/// Slower than this is standing.
const STANDS_MPS: f64 = 0.5;
/// Lateral acceleration beyond which a change is for emergencies.
const SWERVE_MPS2: f64 = 3.0;

/// Sharper than this no car can follow a change.
const BEND_MAX_PER_M: f64 = 0.15;

/// The car and where its new plan begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Rear axle along the way.
    pub station_m: f64,
    /// Offset, slope and bend there.
    pub offset: [f64; 3],
    /// Speed.
    pub speed_mps: f64,
    /// Speed it would drive if it were alone.
    pub wanted_mps: f64,
    /// From the rear axle to the front bumper.
    pub front_m: f64,
    /// From the rear axle back to the rear bumper.
    pub rear_m: f64,
    /// Half its width.
    pub half_width_m: f64,
}

/// What lies on one side of the lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// Distance to the middle of the lane there, if the car may change to it.
    pub lane_m: Option<f64>,
    /// How far from the middle of the own lane the side of the car may be.
    pub room_m: f64,
}

/// Where the car should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// Middle of the lane it should be on, beside the middle of its own.
    pub lateral_m: f64,
    /// How much that matters, from 0 to 1.
    pub urgency: f64,
}

/// The planner's view.
#[derive(Clone, Copy, Debug)]
pub struct Lattice<'a> {
    /// The way ahead with the plan so far.
    pub course: &'a Course<'a>,
    /// Others.
    pub neighbours: &'a [Neighbour],
    /// The car.
    pub start: Start,
    /// To the left and to the right.
    pub sides: [Side; 2],
    /// Where it should be.
    pub wish: Wish,
}

impl Lattice<'_> {
    /// The best plan.
    pub fn choose(&self) -> Offset {
        let mut best = (f64::INFINITY, self.course.offset);
        let mut weigh = |end_m: f64, middle_m: f64| {
            for (seconds, least_m) in CHANGES {
                let length_m = (seconds * self.start.speed_mps).max(least_m);
                let offset = Offset { from_m: self.start.station_m, length_m, start: self.start.offset, end_m };
                let cost = self.cost(&offset, middle_m);
                if cost < best.0 {
                    best = (cost, offset);
                }
            }
        };
        let [left, right] = self.sides;
        let reach = [-(right.room_m - self.start.half_width_m), left.room_m - self.start.half_width_m];
        for nudge_m in NUDGES_M.into_iter().filter(|nudge| *nudge == 0.0 || (reach[0]..=reach[1]).contains(nudge)) {
            weigh(nudge_m, 0.0);
        }
        for middle_m in [left.lane_m, right.lane_m.map(|lane_m| -lane_m)].into_iter().flatten() {
            weigh(middle_m, middle_m);
        }
        best.1
    }

    fn cost(&self, offset: &Offset, middle_m: f64) -> f64 {
        let aside_m = offset.end_m - middle_m;
        let lane = if (middle_m - self.wish.lateral_m).abs() < 0.5 { 0.0 } else { 2.0 + 10.0 * self.wish.urgency };
        let changed_m = (offset.end_m - self.course.offset.end_m).abs().min(3.0);
        lane + 2.0 * aside_m * aside_m
            + 0.4 * changed_m
            + self.discomfort(offset)
            + self.delay(offset)
            + self.risk(offset)
    }

    /// Sideways acceleration that the change adds.
    fn discomfort(&self, offset: &Offset) -> f64 {
        let speed2 = self.start.speed_mps * self.start.speed_mps;
        let bend = (0..8).fold(0.0, |worst: f64, place| {
            let station_m = offset.from_m + offset.length_m * f64::from(place) / 8.0;
            worst.max(offset.at(station_m)[2].abs())
        });
        let worst = speed2 * bend;
        let too_tight = 300.0 * (bend - BEND_MAX_PER_M).max(0.0);
        let beyond = (worst - SWERVE_MPS2).max(0.0);
        0.2 * worst * worst + 10.0 * beyond + too_tight + 0.002 * offset.length_m
    }

    /// Time lost behind whoever is ahead at the end of the change.
    fn delay(&self, offset: &Offset) -> f64 {
        let start = &self.start;
        let range_m = (5.0 * start.speed_mps).max(35.0);
        self.neighbours.iter().fold(0.0, |worst: f64, other| {
            let gap_m = other.station_m - other.half_along_m - (start.station_m + start.front_m);
            let beside = (other.lateral_m - offset.end_m).abs() > other.half_across_m + start.half_width_m;
            // Who crosses will be gone; waiting is better than swerving.
            let crosses = other.across_mps.abs() > STANDS_MPS;
            if beside || crosses || gap_m < -1.0 || gap_m > range_m {
                return worst;
            }
            let lost = ((start.wanted_mps - other.along_mps) / start.wanted_mps.max(1.0)).clamp(0.0, 1.2);
            worst.max(14.0 * lost * (1.0 - 0.6 * gap_m.max(0.0) / range_m))
        })
    }

    /// Closeness to others, where both will be.
    fn risk(&self, offset: &Offset) -> f64 {
        let start = &self.start;
        let horizon_m = (HORIZON_S * start.speed_mps).max(HORIZON_MIN_M);
        let pace = 1.0 / start.speed_mps.max(2.0);
        self.neighbours.iter().filter(|other| self.matters(other)).fold(0.0, |total, other| {
            let mut worst: f64 = 0.0;
            for place in 1..=PLACES {
                let ahead_m = horizon_m * place as f64 / PLACES as f64;
                let time_s = ahead_m * pace;
                let station_m = start.station_m + ahead_m;
                let other_m = other.station_m + other.along_mps * time_s;
                let ahead_by = other_m - other.half_along_m - (station_m + start.front_m);
                let behind_by = station_m - start.rear_m - (other_m + other.half_along_m);
                if ahead_by.max(behind_by) > ALONG_M {
                    continue;
                }
                let other_lateral_m = other.lateral_m + other.across_mps * time_s.min(ACROSS_MAX_S);
                let aside_m =
                    (other_lateral_m - offset.at(station_m)[0]).abs() - other.half_across_m - start.half_width_m;
                let close = (ASIDE_M - aside_m).max(0.0) / ASIDE_M;
                let hit = if aside_m < 0.1 { 30.0 - 10.0 * ahead_m / horizon_m } else { 0.0 };
                worst = worst.max(1.5 * close.min(1.0) * close.min(1.0) + hit);
            }
            total + worst
        })
    }

    /// Whether steering has to do with an object: not with those that follow, and not with a moving one ahead on the own
    /// way, which braking deals with.
    fn matters(&self, other: &Neighbour) -> bool {
        let start = &self.start;
        let in_band = (other.lateral_m - start.offset[0]).abs() < other.half_across_m + start.half_width_m;
        let behind = other.station_m + other.half_along_m < start.station_m - start.rear_m;
        let leads = other.along_mps > STANDS_MPS && other.station_m > start.station_m + start.front_m;
        let crosses = other.across_mps.abs() > STANDS_MPS;
        !(in_band && (behind || leads)) && !crosses
    }
}
