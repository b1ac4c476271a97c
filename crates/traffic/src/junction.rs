//! Who goes first: lights, stop signs, priority, and not blocking a junction.

use crate::car::{Car, Kind, Role};
use crate::decide::Scene;
use crate::streets::{Colour, LaneNumber, NO_LANE, NO_LIGHT};

/// How near the line one must have stopped for a stop sign.
pub(crate) const STOP_LINE_M: f64 = 4.0;
/// How long one must have stood at a stop sign.
const STOPPED_S: f64 = 1.0;
/// Time beyond the time to clear the junction that a crossing car must still be away.
const MARGIN_S: f64 = 1.0;
/// Slowest speed that a driver counts with while crossing.
const CROSSING_MPS: f64 = 5.0;
/// How far before a junction others are looked for, metres.
pub(crate) const JUNCTION_SIGHT_M: f64 = 90.0;
/// How many of the cars nearest to the junction are looked at per lane.
const LOOKED_AT: usize = 4;
/// Slower than this the queue behind a junction counts as standing.
const QUEUE_MPS: f64 = 3.0;

impl Scene<'_> {
    /// Whether a car must stop at the end of its lane before it enters the guarded lane `entry`.
    pub(crate) fn must_wait(&self, car: &Car, kind: &Kind, entry: LaneNumber, distance_m: f64) -> bool {
        let settings = &self.traffic.settings;
        let lane = self.traffic.streets.lane(entry);
        let end_m = distance_m;
        let distance_m = end_m - lane.stop_before_m;
        let square = car.speed_mps * car.speed_mps;
        let in_comfort_m = square / (2.0 * settings.comfort_mps2);
        if distance_m > in_comfort_m + car.speed_mps + 5.0 || square / (2.0 * kind.brake_mps2) > distance_m {
            return false; // Too early to care, or too late to stop.
        }
        match self.colour(lane.light) {
            Colour::Red => return true,
            Colour::Yellow if distance_m >= in_comfort_m => return true,
            Colour::Yellow | Colour::Green => {}
        }
        let stood_s = f64::from(car.waited_ticks) * settings.step_s;
        if lane.stop_sign && (distance_m > STOP_LINE_M || stood_s < STOPPED_S) {
            return true;
        }
        let (first, equal) = (self.traffic.streets.goes_first(entry), self.traffic.streets.goes_equally(entry));
        if first.is_empty() && equal.is_empty() {
            return false;
        }
        let clear_s = (end_m + lane.length_m + kind.length_m) / car.speed_mps.max(CROSSING_MPS) + MARGIN_S;
        !self.has_room_behind(car, kind, entry)
            || first.iter().any(|&foe| self.is_busy(foe, clear_s, |_, _| true))
            || equal.iter().any(|&foe| {
                self.is_busy(foe, clear_s, |other, other_m| {
                    // Longer waiting first, then nearer, then by name: one order for everybody.
                    let mine = (u16::MAX - car.waited_ticks, end_m, car.id);
                    (u16::MAX - other.waited_ticks, other_m, other.id) < mine
                })
            })
    }
    /// What a light shows, as forced by a trigger or by its programme; no light is green.
    pub(crate) fn colour(&self, light: u32) -> Colour {
        if light == NO_LIGHT {
            return Colour::Green;
        }
        if let Some(colours) = self.colours {
            return colours[light as usize];
        }
        self.fired.colour(self.traffic, self.tick, light).unwrap_or_else(|| {
            self.traffic.streets.lights()[light as usize].colour(u64::from(self.tick) * self.traffic.step_us)
        })
    }
    /// Whether somebody is on that way through the junction, or comes to it within the time and goes before us.
    fn is_busy(&self, foe: LaneNumber, within_s: f64, goes_before: impl Fn(&Car, f64) -> bool) -> bool {
        if !self.view.lane(foe).is_empty() {
            return true;
        }
        let streets = &self.traffic.streets;
        if self.colour(streets.lane(foe).light) == Colour::Red {
            return false;
        }
        let comes = |other: &Car, other_m: f64| {
            let takes_it = match other.role {
                Role::Car => self.leads_to(other, foe),
                Role::Outside => true, // Nobody knows where an outsider goes.
                Role::Reach | Role::Walker => false,
            };
            let is_near = other_m < JUNCTION_SIGHT_M && other_m < within_s * other.speed_mps.max(1.0);
            is_near && takes_it && goes_before(other, other_m)
        };
        streets.prev(foe).iter().any(|&lane| self.is_anybody(lane, 0.0, &comes))
    }
    /// Whether somebody in a lane, or in those that lead into it, is one of the wanted; `offset_m` lie between the lane and the junction.
    fn is_anybody(&self, lane: LaneNumber, offset_m: f64, wanted: &impl Fn(&Car, f64) -> bool) -> bool {
        let streets = &self.traffic.streets;
        let start_m = offset_m + streets.lane(lane).length_m;
        self.view.lane(lane).iter().rev().take(LOOKED_AT).any(|other| wanted(other, start_m - other.station_m))
            || start_m < JUNCTION_SIGHT_M
                && streets.prev(lane).iter().any(|&before| self.is_anybody(before, start_m, wanted))
    }
    /// Whether a car is on its way to a lane.
    fn leads_to(&self, car: &Car, lane: LaneNumber) -> bool {
        let (mut at, mut way_m) = (car.next, 0.0);
        while at != lane {
            if at == NO_LANE || way_m > JUNCTION_SIGHT_M {
                return false;
            }
            way_m += self.traffic.streets.lane(at).length_m;
            at = self.traffic.next_of(car, at).0;
        }
        true
    }
    /// Whether the car will find room behind the junction, with those that are already on their way.
    fn has_room_behind(&self, car: &Car, kind: &Kind, entry: LaneNumber) -> bool {
        let settings = &self.traffic.settings;
        let length_of = |other: &Car| settings.kinds[usize::from(other.kind)].length_m + settings.standstill_m;
        let mut needed_m = kind.length_m + settings.standstill_m;
        needed_m += self.view.lane(entry).iter().map(length_of).sum::<f64>();
        let exit = self.traffic.next_of(car, entry).0;
        if exit == NO_LANE {
            return true;
        }
        self.view.lane(exit).first().is_none_or(|last| {
            last.speed_mps > QUEUE_MPS || last.station_m - length_of(last) + settings.standstill_m >= needed_m
        })
    }
}
