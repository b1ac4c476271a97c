//! May the car enter the junction ahead? Lights, signs, and gaps in the traffic that goes first.

use anabranch_geometry::Point;
use anabranch_kernel::maths;
use anabranch_roads::{Aspect, Conflict, LaneId, Network, Precedence, Sign, TurnRule};
use arrayvec::ArrayVec;

use super::course::{Course, CourseEnd};
use super::memory::GateMemory;
use super::seen::Seen;

/// Slower than this the car has stopped.
const STOPPED_MPS: f64 = 0.15;
/// Nearer than this to the line it has stopped at the line.
const AT_LINE_M: f64 = 3.0;
/// The front may be this far over the line and still stop.
const OVER_LINE_M: f64 = 0.7;
/// At amber, whoever would have to brake harder than this goes on.
const AMBER_DECEL_MPS2: f64 = 3.0;
/// At red, only who cannot stop any more goes on.
const RED_DECEL_MPS2: f64 = 7.5;
/// Whoever would have to brake harder than this when others come up goes on.
const LATE_DECEL_MPS2: f64 = 5.0;
/// How the car accelerates into a gap, and how fast it gets there.
const GO_ACCEL_MPS2: f64 = 1.5;
/// Time between us and others in a junction: before them, and after them.
const MARGINS_S: [f64; 2] = [1.5, 0.5];
/// Others farther than this from the junction do not matter.
const OTHERS_MAX_M: f64 = 150.0;
/// Others that count; more are left out.
const OTHERS_MAX: usize = 32;
/// Gaps are looked at from this much farther than the car needs to stop.
const LOOK_M: f64 = 20.0;
/// Others slower than this wait.
const WAITS_MPS: f64 = 0.5;
/// After so many seconds a car that waits for equals goes when the junction is clear; the number of its turn sets the
/// order, so that two cars that wait for each other do not start together.
const PATIENCE_S: [f64; 2] = [3.0, 1.5];

/// A junction on the way ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate<'n> {
    /// Where the front bumper stops.
    pub stop_m: f64,
    /// Where the turning lane begins.
    pub enter_m: f64,
    /// The rules of the turn.
    pub rule: &'n TurnRule,
}

impl Gate<'_> {
    /// Whether its light or sign alone says stop to a car with its front there.
    pub fn is_closed(&self, seen: &Seen<'_>, front_m: f64) -> bool {
        let (sign, aspect) = self.shows(seen, front_m);
        match aspect {
            Some(Aspect::Green) => false,
            Some(Aspect::Red | Aspect::RedAmber | Aspect::Amber) => true,
            Some(Aspect::Dark) | None => matches!(sign, Sign::Stop | Sign::Yield),
        }
    }
    /// Its sign, and what its light shows, as far as a car with its front there can know of them: farther away they are as if
    /// nobody had put them up.
    fn shows(&self, seen: &Seen<'_>, front_m: f64) -> (Sign, Option<Aspect>) {
        if self.stop_m - front_m > seen.signs_m {
            return (Sign::None, None);
        }
        (self.rule.sign, self.rule.signal.map(|signal| seen.aspect(signal)))
    }
}

/// The car at a gate.
#[derive(Clone, Copy, Debug)]
pub struct Comer {
    /// Front bumper along the way.
    pub front_m: f64,
    /// Length of the car.
    pub length_m: f64,
    /// Speed.
    pub speed_mps: f64,
    /// Length of a cycle.
    pub cycle_s: f64,
}

/// The junctions on the way ahead whose line the front has not passed, nearest first.
pub fn gates<'n>(network: &'n Network, course: &Course<'_>, front_m: f64) -> impl Iterator<Item = Gate<'n>> {
    let ends_at_goal = course.end == CourseEnd::Goal;
    let end_m = course.end_m;
    let pairs: ArrayVec<Gate<'n>, 8> = course
        .pieces
        .windows(2)
        .filter_map(|pair| {
            let rule = network.rule(pair[1].lane)?;
            Some(Gate { stop_m: rule.stop_station_m + pair[0].shift_m, enter_m: pair[0].end_m, rule })
        })
        .filter(|gate| gate.stop_m + OVER_LINE_M > front_m && !(ends_at_goal && gate.stop_m > end_m))
        .collect();
    pairs.into_iter()
}

impl GateMemory {
    /// Whether the car must stop at the nearest gate. Remembers that it stood there and who was there before it.
    pub fn must_stop(&mut self, network: &Network, gate: &Gate<'_>, comer: &Comer, seen: &Seen<'_>) -> bool {
        if self.turn != Some(gate.rule.turn) {
            *self = Self { turn: Some(gate.rule.turn), ..Self::default() };
        }
        let room_m = gate.stop_m - comer.front_m;
        let needed = 0.5 * comer.speed_mps * comer.speed_mps / room_m.max(0.01);
        let (sign, aspect) = gate.shows(seen, comer.front_m);
        let aspect = aspect.unwrap_or(Aspect::Dark);
        match aspect {
            Aspect::Red | Aspect::RedAmber => {
                self.waited_s = 0.0;
                return needed < RED_DECEL_MPS2 || room_m > 0.0 && comer.speed_mps < 3.0;
            }
            Aspect::Amber => return needed < AMBER_DECEL_MPS2,
            Aspect::Green | Aspect::Dark => {}
        }
        let lit = aspect == Aspect::Green;
        let patience_s = PATIENCE_S[0] + PATIENCE_S[1] * turn_number(network, gate.rule.turn);
        if comer.speed_mps < STOPPED_MPS && room_m < AT_LINE_M {
            // Patience that has run out stays so: longer waits are alike, and may merge.
            self.waited_s = (self.waited_s + comer.cycle_s).min(patience_s);
        }
        if !lit && sign == Sign::Stop && !self.stand(network, gate, comer, seen, room_m) {
            return true;
        }
        let far = room_m > 0.5 * comer.speed_mps * comer.speed_mps / AMBER_DECEL_MPS2 * 2.0 + LOOK_M;
        if needed > LATE_DECEL_MPS2 || far {
            return false;
        }
        let others = others(network, gate, seen);
        let patient = self.waited_s < patience_s;
        // Who has stood long enough takes others that stand for waiting too: two who turn left face each other for ever.
        let others: ArrayVec<Other, OTHERS_MAX> = others
            .into_iter()
            .filter(|other| patient || other.speed_mps > WAITS_MPS || other.is_inside(network))
            .collect();
        let equals = sign == Sign::Stop && !lit;
        let conflicts = gate.rule.conflicts.iter().enumerate();
        conflicts.fold(false, |stop, (number, conflict)| {
            let first_come = conflict.precedence == Precedence::FirstCome;
            if equals && first_come {
                let waits = patient && self.yields_to(number, network, conflict, &others);
                return stop || waits || is_taken(network, gate, conflict, comer, &others);
            }
            let others_red = network
                .rule(conflict.with)
                .and_then(|rule| rule.signal)
                .is_some_and(|signal| lit && matches!(seen.aspect(signal), Aspect::Red | Aspect::RedAmber));
            let blocks = match conflict.precedence {
                Precedence::Yields if !others_red => is_too_tight(network, gate, conflict, comer, &others),
                // Everyone waits for who is already inside.
                _ => is_taken(network, gate, conflict, comer, &others),
            };
            stop || blocks
        })
    }

    /// Whether the car has stood at its line; when it does for the first time, notes who stands at the others.
    fn stand(&mut self, network: &Network, gate: &Gate<'_>, comer: &Comer, seen: &Seen<'_>, room_m: f64) -> bool {
        if !self.stopped && comer.speed_mps < STOPPED_MPS && room_m < AT_LINE_M {
            self.stopped = true;
            let others = others(network, gate, seen);
            self.before_us =
                gate.rule.conflicts.iter().enumerate().take(32).fold(0, |bits, (number, conflict)| {
                    bits | u32::from(is_waiting(network, conflict, &others)) << number
                });
        }
        self.stopped
    }

    /// Whether the cars of a conflict stood there before us and still do.
    fn yields_to(&mut self, number: usize, network: &Network, conflict: &Conflict, others: &[Other]) -> bool {
        let bit = 1_u32.checked_shl(number as u32).unwrap_or(0);
        if self.before_us & bit != 0 && !is_waiting(network, conflict, others) {
            self.before_us &= !bit;
        }
        self.before_us & bit != 0
    }
}

/// Place of a turn among those of its junction.
fn turn_number(network: &Network, turn: LaneId) -> f64 {
    let junction = network.lane(turn).junction();
    let number = junction.and_then(|id| network.junction(id).turns.iter().position(|other| *other == turn));
    number.unwrap_or(0) as f64
}

/// Someone near the junction, on a lane.
#[derive(Clone, Copy, Debug)]
struct Other {
    lane: LaneId,
    station_m: f64,
    point: Point,
    heading: f64,
    speed_mps: f64,
    half_length_m: f64,
}

impl Other {
    fn is_inside(&self, network: &Network) -> bool {
        network.lane(self.lane).junction().is_some()
    }
}

/// Everyone who drives near a junction.
fn others(network: &Network, gate: &Gate<'_>, seen: &Seen<'_>) -> ArrayVec<Other, OTHERS_MAX> {
    let here = network.lane(gate.rule.turn).position(0.0);
    let near = seen.objects.iter().filter(|object| here.distance_m(object.pose.point()) < OTHERS_MAX_M);
    let on_lane = near.filter_map(|object| {
        let [east, north] = object.velocity_mps;
        let speed_mps = maths::hypot(east, north);
        let mut pose = object.pose;
        if speed_mps > WAITS_MPS {
            pose.heading = maths::atan2(north, east);
        }
        let (lane, place) = network.nearest_along(pose)?;
        let on_it = place.lateral_m.abs() < 0.6 * network.lane(lane).width_m(place.station_m);
        let (heading, half_length_m) = (pose.heading, object.half_length_m);
        let other = Other { lane, station_m: place.station_m, point: pose.point(), heading, speed_mps, half_length_m };
        on_it.then_some(other)
    });
    on_lane.take(OTHERS_MAX).collect()
}

/// Way of another's front to the place of conflict, and of its rear out of it; none if it does not go there.
fn way_to(network: &Network, conflict: &Conflict, other: &Other) -> Option<(f64, f64)> {
    let rule = network.rule(conflict.with)?;
    let (turn, lane, approach) = (network.lane(conflict.with), network.lane(other.lane), network.lane(rule.approach));
    let exit_m = approach.next().iter().find(|link| link.to == conflict.with).map(|link| link.from_station_m)?;
    let station_m = if other.lane == conflict.with {
        other.station_m
    } else if other.lane == rule.approach {
        other.station_m - exit_m
    } else if approach.previous().contains(&other.lane) {
        other.station_m - lane.length_m() - exit_m
    } else if lane.junction().is_some() && lane.junction() == turn.junction() {
        // Inside the junction lanes lie over each other: it may be on this one as well.
        let there = turn.project(other.point, 0.5 * turn.length_m());
        let along = maths::wrap_angle(there.heading - other.heading).abs() < 0.5;
        let inside = (0.0..=turn.length_m()).contains(&there.station_m);
        (inside && along && there.lateral_m.abs() < 1.0).then_some(there.station_m)?
    } else {
        return None;
    };
    let long = other.half_length_m;
    let (enter_m, leave_m) =
        (conflict.with_from_station_m - station_m - long, conflict.with_to_station_m - station_m + long);
    (leave_m > 0.0).then_some((enter_m, leave_m))
}

/// Whether someone stands before the line of a conflict.
fn is_waiting(network: &Network, conflict: &Conflict, others: &[Other]) -> bool {
    let before_m = conflict.with_from_station_m + AT_LINE_M + 4.0;
    others.iter().any(|other| {
        let slow = other.speed_mps < WAITS_MPS;
        slow && way_to(network, conflict, other).is_some_and(|(enter_m, _)| (0.0..before_m).contains(&enter_m))
    })
}

/// When the car is in the place of conflict if it goes now.
fn own_times_s(gate: &Gate<'_>, conflict: &Conflict, comer: &Comer) -> (f64, f64) {
    let after_s = |way_m: f64| {
        let (v, a) = (comer.speed_mps, GO_ACCEL_MPS2);
        ((v * v + 2.0 * a * way_m.max(0.0)).sqrt() - v) / a
    };
    let from_m = gate.enter_m - comer.front_m;
    (after_s(from_m + conflict.from_station_m), after_s(from_m + conflict.to_station_m + comer.length_m))
}

/// Whether someone is in the place of conflict, or moves into it before us.
fn is_taken(network: &Network, gate: &Gate<'_>, conflict: &Conflict, comer: &Comer, others: &[Other]) -> bool {
    let (own_in_s, _) = own_times_s(gate, conflict, comer);
    others.iter().any(|other| {
        let speed_mps = other.speed_mps;
        way_to(network, conflict, other).is_some_and(|(enter_m, leave_m)| {
            let inside = enter_m < conflict.with_from_station_m;
            let leaves_s = leave_m / speed_mps.max(1.0);
            inside && (speed_mps > WAITS_MPS || enter_m < 0.0) && leaves_s + MARGINS_S[1] > own_in_s
        })
    })
}

/// Whether the gap before someone who goes first is too small.
fn is_too_tight(network: &Network, gate: &Gate<'_>, conflict: &Conflict, comer: &Comer, others: &[Other]) -> bool {
    let (own_in_s, own_out_s) = own_times_s(gate, conflict, comer);
    others.iter().any(|other| {
        let speed_mps = other.speed_mps;
        way_to(network, conflict, other).is_some_and(|(enter_m, leave_m)| {
            // Who stands may start; who drives keeps its speed.
            let enters_s = if speed_mps > WAITS_MPS {
                enter_m.max(0.0) / speed_mps
            } else {
                (2.0 * enter_m.max(0.0) / GO_ACCEL_MPS2).sqrt()
            };
            let leaves_s = leave_m / speed_mps.max(2.0);
            own_in_s < leaves_s + MARGINS_S[1] && own_out_s > enters_s - MARGINS_S[0]
        })
    })
}
