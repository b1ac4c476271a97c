//! M3: whether and when a car changes its lane: freely, because the next lane is quicker, or because it must (S4-14, S4-15).
//!
//! In one tick all changes go to the same side (left on even ticks, right on odd ones), so that two cars never take one gap from both
//! sides although all decide from the same snapshot.

use crate::car::{Car, Role, Wish};
use crate::decide::{Leader, Scene};
use crate::quintic::look_ahead_m;
use crate::streets::{LaneNumber, NO_LANE};
use crate::traffic::Traffic;

/// What a free change must bring, metres per second squared.
const GAIN_MIN_MPS2: f64 = 0.4;
/// What a free change may ask of the follower (positive).
const ASKED_MAX_MPS2: f64 = 2.5;
/// The part of his time gap that a follower is expected to accept for a while.
const ASKED_GAP: f64 = 0.5;
/// Seconds of way that must be free before and behind one who changes.
const GAP_MIN_S: f64 = 0.25;
/// Time in which a difference of speed to a neighbour must not use up the gap.
const CLOSING_S: f64 = 1.5;
/// Cars do not begin a change off the middle of their lane.
const MIDDLE_M: f64 = 0.1;
/// Slower than this nobody changes freely.
const FREE_SPEED_MIN_MPS: f64 = 3.0;
/// Before a junction nobody changes freely: others count on where a car is going.
const SOLID_LINE_M: f64 = 60.0;
/// How far back a driver looks for who might come from behind, metres.
pub(crate) const LOOK_BACK_M: f64 = 100.0;

impl Traffic {
    /// Whether this is a tick at which the car may think of a change: about once a second, and more often if it must.
    #[inline]
    pub(crate) fn may_change(&self, tick: u32, car: &Car) -> bool {
        if car.is_changing() || car.lateral_m.abs() > MIDDLE_M {
            return false;
        }
        let lane = self.streets.lane(car.lane);
        let (beside, wish) = if tick.is_multiple_of(2) { (lane.left, Wish::Left) } else { (lane.right, Wish::Right) };
        beside != NO_LANE && (car.wish == wish || (tick / 2).wrapping_add(car.id).is_multiple_of(self.change_period))
    }
}

impl Scene<'_> {
    /// Moves `next` over to the lane beside it if that is wanted and safe, seen from where `car` was.
    pub(crate) fn change_lane(&self, next: &mut Car, car: &Car, leader: Option<Leader>) {
        let streets = &self.traffic.streets;
        let lane = streets.lane(car.lane);
        let (beside, wish) =
            if self.tick.is_multiple_of(2) { (lane.left, Wish::Left) } else { (lane.right, Wish::Right) };
        let is_forced = car.wish == wish;
        let is_at_junction =
            car.next != NO_LANE && streets.lane(car.next).is_guarded && lane.length_m - car.station_m < SOLID_LINE_M;
        // Nobody goes freely where he would have to come back from.
        let is_way_out = || self.traffic.next_of(car, beside).1 == Wish::None;
        let is_free = car.wish == Wish::None && car.speed_mps > FREE_SPEED_MIN_MPS && !is_at_junction;
        let goes = is_forced || is_free && is_way_out();
        if !goes || next.station_m > lane.length_m || !self.is_wanted_and_safe(car, beside, leader, is_forced.into()) {
            return;
        }
        let width_m = 0.5 * (lane.width_m + streets.lane(beside).width_m);
        next.station_m = streets.beside_m(car.lane, beside, next.station_m);
        next.lateral_m += if wish == Wish::Left { -width_m } else { width_m };
        next.change_from_m = next.station_m;
        next.change_length_m = look_ahead_m(next.speed_mps);
        next.change_offset_m = next.lateral_m;
        self.traffic.enter(next, beside);
    }
    fn is_wanted_and_safe(&self, car: &Car, beside: LaneNumber, leader: Option<Leader>, need: Need) -> bool {
        let settings = &self.traffic.settings;
        let station_m = self.traffic.streets.beside_m(car.lane, beside, car.station_m);
        let entries = self.view.lane(beside);
        let at = self.view.first_from(beside, station_m);
        let sight_m = self.traffic.sight_m(car.speed_mps);
        let ahead = self.leader_in(car, beside, &entries[at..], sight_m);
        let behind = self.follower(car, beside, &entries[..at], station_m);
        let own = settings.kinds[usize::from(car.kind)];
        let is_free = |free_m: f64, speed_mps: f64, closing_mps: f64| {
            free_m > GAP_MIN_S * speed_mps + CLOSING_S * closing_mps.max(0.0)
        };
        let front = ahead.is_none_or(|Leader { ahead, .. }| {
            let free_m = ahead.spacing_m - ahead.length_m + 0.5 * settings.standstill_m;
            is_free(free_m, car.speed_mps, car.speed_mps - ahead.speed_mps)
        });
        let back = behind.is_none_or(|(follower, spacing_m)| {
            let free_m = spacing_m - own.length_m - 0.5 * settings.standstill_m;
            is_free(free_m, follower.speed_mps, follower.speed_mps - car.speed_mps)
        });
        if !(front && back) {
            return false;
        }
        match need {
            Need::Forced => true,
            Need::Free => {
                let gap_s = settings.gap.time_gap_s;
                let follow = |leader: Option<Leader>| {
                    let asked = |leader: Leader| self.follow_mps2(gap_s, car.speed_mps, leader.ahead);
                    leader.map_or(own.drive_mps2, |leader| asked(leader).min(own.drive_mps2))
                };
                let asked = |(follower, spacing_m): (Car, f64)| {
                    self.follow_mps2(ASKED_GAP * gap_s, follower.speed_mps, self.ahead_of(car, spacing_m))
                };
                follow(ahead) - follow(leader) >= GAIN_MIN_MPS2 && behind.is_none_or(|b| asked(b) > -ASKED_MAX_MPS2)
            }
        }
    }
    /// Who would follow in the lane beside, also over the links that lead into it, and how far its front is behind.
    fn follower(&self, car: &Car, beside: LaneNumber, before: &[Car], station_m: f64) -> Option<(Car, f64)> {
        let is_other = |entry: &&Car| entry.id != car.id && entry.role != Role::Walker;
        if let Some(entry) = before.iter().rev().find(is_other) {
            let spacing_m = station_m - entry.station_m;
            return (spacing_m < LOOK_BACK_M).then_some((*entry, spacing_m));
        }
        let streets = &self.traffic.streets;
        let coming = streets.prev(beside).iter().filter_map(|&lane| {
            let entry = self.view.lane(lane).iter().rev().find(is_other)?;
            let spacing_m = station_m + streets.lane(lane).length_m - entry.station_m;
            (spacing_m < LOOK_BACK_M).then_some((*entry, spacing_m))
        });
        coming.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Why a car changes.
#[derive(Clone, Copy)]
enum Need {
    Free,
    Forced,
}

impl From<bool> for Need {
    fn from(is_forced: bool) -> Self {
        if is_forced { Self::Forced } else { Self::Free }
    }
}
