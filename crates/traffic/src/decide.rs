//! One car, one tick: what it sees, what it does, where it is then. A function of the snapshot and nothing else.

use crate::car::{Car, Id, Kind, NOBODY, Role, Wish};
use crate::gap::Ahead;
use crate::junction::STOP_LINE_M;
use crate::objects::Bands;
use crate::quintic::{Jet, Quintic};
use crate::settings::Manners;
use crate::streets::{Colour, Lane, LaneEnd, LaneNumber, NO_LANE};
use crate::tracker::{self, Across};
use crate::traffic::Traffic;
use crate::trigger::Fired;
use crate::view::View;

/// Speed below which a car stands.
pub(crate) const STANDS_MPS: f64 = 0.1;
/// Ticks of waiting that are still told apart.
const WAITED_MAX: u16 = 600;
/// Time in which a driver reaches the speed he wants, if drive and brake allow.
const SPEED_RESPONSE_S: f64 = 1.5;
/// Smallest time gap that is accepted from who came in.
const ACCEPTED_GAP_MIN_S: f64 = 0.2;
/// Seconds of time gap that are won back per second.
const GAP_GROWTH: f64 = 0.05;
/// How hard a driver brakes to let somebody in.
const COURTESY_MPS2: f64 = 1.0;
/// How far before a line a car that brakes hard wants to stand.
const LINE_MARGIN_M: f64 = 0.2;
/// Brake for a lower limit ahead.
const LIMIT_BRAKE_MPS2: f64 = 2.0;
/// Within this offset from its reference a car counts as settled in the middle of its lane.
const SETTLED_M: f64 = 0.02;
/// How far a car may be over the marking before the neighbours see it.
const OVER_MARKING_M: f64 = 0.2;

/// Everything a decision may read.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub traffic: &'a Traffic,
    pub view: View<'a>,
    pub tick: u32,
    pub fired: &'a Fired,
    pub bands: &'a Bands,
    /// What all lights show, where so many look at them that it was worth finding out beforehand.
    pub colours: Option<&'a [Colour]>,
}

/// Somebody ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leader {
    pub id: Id,
    pub ahead: Ahead,
}

impl<'a> Scene<'a> {
    /// The car after this tick, or `None` if it has left the network. `at` is its number in its lane.
    pub(crate) fn decide(&self, car: &Car, at: usize) -> Option<Car> {
        let traffic = self.traffic;
        let lane = traffic.streets.lane(car.lane);
        let kind = &traffic.settings.kinds[usize::from(car.kind)];
        let sight_m = traffic.sight_m(car.speed_mps);
        let leader = self.leader_in(car, car.lane, &self.view.lane(car.lane)[at + 1..], sight_m);
        let mut next = *car;
        next.time_gap_s = self.accepted_gap_s(car, leader);
        next.leader = leader.map_or(NOBODY, |leader| leader.id);
        let accel = match traffic.script_of(car.id) {
            Some(script) => script.accel_mps2(self.tick, traffic.settings.step_s, car.speed_mps),
            None => {
                let mut accel = self.free_accel_mps2(car, lane, kind);
                if let Some(leader) = leader {
                    accel = accel.min(self.follow_mps2(next.time_gap_s, car.speed_mps, leader.ahead));
                    accel = accel.min(self.emergency_mps2(car.speed_mps, kind, leader.ahead));
                }
                if lane.length_m - car.station_m < sight_m {
                    accel = accel.min(self.accel_for_lane_end_mps2(car, lane, kind));
                }
                if lane.has_merging || car.wish != Wish::None {
                    accel = accel.min(self.courtesy_mps2(car, lane, leader));
                }
                if !self.bands.is_empty() {
                    accel = accel.min(self.accel_before_block_mps2(car));
                }
                accel.clamp(-kind.brake_mps2, kind.drive_mps2)
            }
        };
        let accel = self.fired.brake_mps2(traffic, self.tick, car.id).map_or(accel, |brake| accel.min(-brake));
        self.advance(&mut next, accel);
        let advance_m = next.station_m - car.station_m;
        self.steer(&mut next, advance_m);
        if self.traffic.may_change(self.tick, car) {
            self.change_lane(&mut next, car, leader);
        }
        self.cross_links(next)
    }

    /// M2 with the gap at a standstill, for a time gap of its own.
    #[inline(always)]
    pub(crate) fn follow_mps2(&self, time_gap_s: f64, speed_mps: f64, ahead: Ahead) -> f64 {
        self.traffic.settings.gap.accel_with_time_gap_mps2(time_gap_s, speed_mps, ahead)
    }
    /// What is needed so that even a leader who brakes as hard as we can is not hit: the speed from which a full brake still ends behind
    /// him, after one tick of reaction. M2 stays within it except after a sudden loss of distance.
    #[inline(always)]
    fn emergency_mps2(&self, speed_mps: f64, kind: &Kind, ahead: Ahead) -> f64 {
        let settings = &self.traffic.settings;
        let (brake, step_s) = (kind.brake_mps2, settings.step_s);
        let free_m = (ahead.spacing_m - ahead.length_m + 0.5 * settings.standstill_m).max(0.0);
        let room = 2.0 * brake * free_m + ahead.speed_mps * ahead.speed_mps;
        let lost_mps = brake * step_s;
        if speed_mps * (speed_mps + 2.0 * lost_mps) <= room {
            return f64::INFINITY;
        }
        let safe_mps = (lost_mps * lost_mps + room).sqrt() - lost_mps;
        (safe_mps - speed_mps) / step_s
    }
    /// How an entry looks from a place `spacing_m` behind its front.
    #[inline(always)]
    pub(crate) fn ahead_of(&self, entry: &Car, spacing_m: f64) -> Ahead {
        let settings = &self.traffic.settings;
        let length_m = settings.kinds[usize::from(entry.kind)].length_m + settings.standstill_m;
        Ahead { spacing_m, speed_mps: entry.speed_mps, length_m }
    }
    /// The next one ahead: in `beyond` (what is ahead in this lane), or over the links that the car will take.
    #[inline]
    pub(crate) fn leader_in(&self, car: &Car, lane: LaneNumber, beyond: &[Car], sight_m: f64) -> Option<Leader> {
        let station_m =
            if lane == car.lane { car.station_m } else { self.traffic.streets.beside_m(car.lane, lane, car.station_m) };
        if let Some(entry) = beyond.iter().find(|entry| entry.id != car.id) {
            let spacing_m = entry.station_m - station_m;
            return (spacing_m <= sight_m).then(|| Leader { id: entry.id, ahead: self.ahead_of(entry, spacing_m) });
        }
        let streets = &self.traffic.streets;
        let mut offset_m = streets.lane(lane).length_m - station_m;
        let mut ahead = if lane == car.lane { car.next } else { self.traffic.next_of(car, lane).0 };
        while offset_m <= sight_m && ahead != NO_LANE {
            if let Some(entry) = self.view.lane(ahead).iter().find(|entry| entry.id != car.id) {
                let spacing_m = offset_m + entry.station_m;
                return (spacing_m <= sight_m).then(|| Leader { id: entry.id, ahead: self.ahead_of(entry, spacing_m) });
            }
            offset_m += streets.lane(ahead).length_m;
            ahead = self.traffic.next_of(car, ahead).0;
        }
        None
    }
    /// The time gap that a driver accepts: his own, or what was left to him by who came in, growing back (S4-15).
    #[inline]
    fn accepted_gap_s(&self, car: &Car, leader: Option<Leader>) -> f64 {
        let settings = &self.traffic.settings;
        let own_s = settings.gap.time_gap_s;
        if settings.manners == Manners::Naive {
            return own_s;
        }
        let grown_s = (car.time_gap_s + GAP_GROWTH * settings.step_s).min(own_s);
        match leader {
            Some(leader) if leader.id != car.leader => {
                let left_s = (leader.ahead.spacing_m - leader.ahead.length_m) / car.speed_mps.max(1.0);
                grown_s.min(left_s.max(ACCEPTED_GAP_MIN_S))
            }
            _ => grown_s,
        }
    }
    #[inline]
    fn free_accel_mps2(&self, car: &Car, lane: &Lane, kind: &Kind) -> f64 {
        let wanted_mps = lane.limit_mps * kind.limit_share;
        ((wanted_mps - car.speed_mps) / SPEED_RESPONSE_S).max(-self.traffic.settings.comfort_mps2)
    }
    /// For what comes at the end of the lane: a lower limit, the end of all, a rule.
    #[inline]
    fn accel_for_lane_end_mps2(&self, car: &Car, lane: &Lane, kind: &Kind) -> f64 {
        let distance_m = lane.length_m - car.station_m;
        let stop = |standstill_m| {
            let ahead = Ahead { spacing_m: distance_m, speed_mps: 0.0, length_m: standstill_m };
            self.follow_mps2(self.traffic.settings.gap.time_gap_s, car.speed_mps, ahead)
        };
        if car.next == NO_LANE {
            let leaves = lane.end == LaneEnd::Exit && car.wish == Wish::None;
            return if leaves { f64::INFINITY } else { stop(self.traffic.settings.standstill_m) };
        }
        let entered = self.traffic.streets.lane(car.next);
        let mut accel = f64::INFINITY;
        let limit_mps = entered.limit_mps * kind.limit_share;
        if limit_mps < car.speed_mps {
            let slowed = (car.speed_mps * car.speed_mps - limit_mps * limit_mps) / (2.0 * distance_m.max(0.5));
            if slowed > 0.7 * LIMIT_BRAKE_MPS2 {
                accel = -slowed;
            }
        }
        if entered.is_guarded && self.must_wait(car, kind, car.next, distance_m) {
            // M2 comes to a stand a metre before the line; on short notice the line itself is what counts.
            let line_m = (distance_m - entered.stop_before_m - LINE_MARGIN_M).max(LINE_MARGIN_M);
            let needed = car.speed_mps * car.speed_mps / (2.0 * line_m);
            accel = accel.min(stop(1.0 + entered.stop_before_m));
            let comfort = self.traffic.settings.comfort_mps2;
            if needed > comfort || line_m < 1.0 {
                accel = accel.min(-needed.max(comfort));
            }
        }
        accel
    }
    /// Making room for who must come in, and finding the speed of the lane one must get into (S4-15).
    fn courtesy_mps2(&self, car: &Car, lane: &Lane, leader: Option<Leader>) -> f64 {
        if self.traffic.settings.manners == Manners::Naive {
            return f64::INFINITY;
        }
        let mut accel = f64::INFINITY;
        let mut follow = |time_gap_s: f64, ahead: Ahead| {
            accel = accel.min(self.follow_mps2(time_gap_s, car.speed_mps, ahead).max(-COURTESY_MPS2));
        };
        let sides = [(lane.left, Wish::Right, Wish::Left), (lane.right, Wish::Left, Wish::Right)];
        for (beside, theirs, mine) in sides.into_iter().filter(|side| side.0 != NO_LANE) {
            let station_m = self.traffic.streets.beside_m(car.lane, beside, car.station_m);
            let from = self.view.first_from(beside, station_m);
            let Some(entry) = self.view.lane(beside)[from..].iter().find(|entry| entry.role == Role::Car) else {
                continue;
            };
            let spacing_m = entry.station_m - station_m;
            let is_mine_to_let_in = leader.is_none_or(|leader| leader.ahead.spacing_m > spacing_m);
            if entry.wish == theirs && spacing_m < 0.5 * self.traffic.sight_m(car.speed_mps) && is_mine_to_let_in {
                follow(0.5 * self.traffic.settings.gap.time_gap_s, self.ahead_of(entry, spacing_m));
            }
            if car.wish == mine && spacing_m < self.traffic.sight_m(car.speed_mps) {
                follow(ACCEPTED_GAP_MIN_S, self.ahead_of(entry, spacing_m));
            }
        }
        accel
    }
    /// Stopping before what fills the lane (S4-17).
    fn accel_before_block_mps2(&self, car: &Car) -> f64 {
        let Some(at_m) = self.bands.of(car.lane).and_then(|band| band.blocked_after_m(car.station_m)) else {
            return f64::INFINITY;
        };
        let settings = &self.traffic.settings;
        let ahead = Ahead { spacing_m: at_m - car.station_m, speed_mps: 0.0, length_m: settings.standstill_m };
        self.follow_mps2(settings.gap.time_gap_s, car.speed_mps, ahead)
    }
    /// Speed first, then the way: nobody rolls backwards.
    #[inline]
    fn advance(&self, car: &mut Car, accel_mps2: f64) {
        let step_s = self.traffic.settings.step_s;
        car.speed_mps = (car.speed_mps + accel_mps2 * step_s).max(0.0);
        car.station_m += car.speed_mps * step_s;
        // Who has come to a stand at the line counts from then on, so that who came first stays first while he drives off.
        if (car.speed_mps < STANDS_MPS || car.waited_ticks > 0) && car.next != NO_LANE {
            let entered = self.traffic.streets.lane(car.next);
            let way_m = self.traffic.streets.lane(car.lane).length_m - car.station_m - entered.stop_before_m;
            if entered.is_guarded && way_m < STOP_LINE_M {
                car.waited_ticks = (car.waited_ticks + 1).min(WAITED_MAX);
            }
        }
    }
    /// The reference across the lane at a station: the lane change, or the band of the lane.
    fn reference_m(&self, car: &Car, station_m: f64) -> f64 {
        let band_m = self.bands.of(car.lane).map_or(0.0, |band| band.offset_m(station_m));
        if !car.is_changing() {
            return band_m;
        }
        let start = Jet { value: car.change_offset_m, ..Jet::default() };
        let path = Quintic::between(start, Jet::default(), car.change_length_m);
        band_m + path.at((station_m - car.change_from_m).clamp(0.0, car.change_length_m)).value
    }
    /// Follows the reference over the way of this tick, in pieces that are short against the look-ahead.
    #[inline]
    fn steer(&self, car: &mut Car, advance_m: f64) {
        let is_quiet = car.lateral_m == 0.0 && car.heading_rad == 0.0 && !car.is_changing();
        if advance_m == 0.0 || (is_quiet && self.bands.of(car.lane).is_none()) {
            return;
        }
        let aim_m = tracker::aim_m(car.speed_mps);
        let pieces = (3.0 * advance_m / aim_m).ceil();
        let piece_m = advance_m / pieces;
        let mut across = Across { lateral_m: car.lateral_m, heading_rad: car.heading_rad };
        let mut station_m = car.station_m - advance_m;
        for _ in 0..pieces as u32 {
            let reference_m = self.reference_m(car, station_m + aim_m);
            let curvature = tracker::curvature_per_m(across, car.speed_mps, reference_m);
            across = tracker::step(across, piece_m, curvature);
            station_m += piece_m;
        }
        (car.lateral_m, car.heading_rad) = (across.lateral_m, across.heading_rad);
        let is_over = car.station_m >= car.change_from_m + car.change_length_m;
        if is_over && self.bands.of(car.lane).is_none() && car.lateral_m.abs() < SETTLED_M {
            (car.lateral_m, car.heading_rad) = (0.0, 0.0);
            (car.change_from_m, car.change_length_m, car.change_offset_m) = (0.0, 0.0, 0.0);
        }
    }
    /// Into the lanes that follow, as far as the car has come.
    #[inline]
    fn cross_links(&self, mut car: Car) -> Option<Car> {
        loop {
            let lane = self.traffic.streets.lane(car.lane);
            if car.station_m <= lane.length_m {
                return Some(car);
            }
            if car.next == NO_LANE {
                let leaves = lane.end == LaneEnd::Exit && car.wish == Wish::None;
                return (!leaves).then_some(car);
            }
            car.station_m -= lane.length_m;
            if car.is_changing() {
                car.change_from_m -= lane.length_m;
            }
            let entered = car.next;
            self.traffic.enter(&mut car, entered);
        }
    }
    /// What the neighbours see of a car that is over a marking.
    #[inline]
    pub(crate) fn reach(&self, car: &Car) -> Option<Car> {
        if car.lateral_m == 0.0 {
            return None;
        }
        let lane = self.traffic.streets.lane(car.lane);
        let half_m = 0.5 * self.traffic.settings.kinds[usize::from(car.kind)].width_m;
        let over_m = car.lateral_m.abs() + half_m - 0.5 * lane.width_m;
        let beside = if car.lateral_m > 0.0 { lane.left } else { lane.right };
        (over_m > OVER_MARKING_M && beside != NO_LANE).then(|| Car {
            lane: beside,
            station_m: self.traffic.streets.beside_m(car.lane, beside, car.station_m),
            role: Role::Reach,
            ..*car
        })
    }
}
