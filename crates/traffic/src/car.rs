//! What of a car evolves, and what it takes in a lane.

use anabranch_kernel::{Continuous, Discrete, Visitor};
use serde::{Deserialize, Serialize};

use crate::streets::LaneNumber;

/// Number of a participant: the same in every branch.
pub type Id = u32;
/// Nobody.
pub const NOBODY: Id = Id::MAX;
/// Outsiders, such as the ego, count from here.
pub const OUTSIDERS_FROM: Id = 0xFFFF_0000;
/// Walkers and standing things count from here.
pub const WALKERS_FROM: Id = 0xFFF0_0000;

/// What an entry of a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Role {
    /// A car that decides.
    Car,
    /// A part of a car of the next lane that reaches over: others see it, it decides nothing.
    Reach,
    /// Somebody who is steered from outside, such as the ego.
    Outside,
    /// A pedestrian, a cyclist or a thing in the lane.
    Walker,
}

/// Where a car has to go beside where it wants to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wish {
    /// To stay.
    None,
    /// To the lane on the left, because this one ends or leads elsewhere.
    Left,
    /// To the lane on the right.
    Right,
}

/// A type of car.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// Bumper to bumper, metres.
    pub length_m: f64,
    /// Side to side, metres.
    pub width_m: f64,
    /// Strongest drive, metres per second squared.
    pub drive_mps2: f64,
    /// Strongest brake (positive).
    pub brake_mps2: f64,
    /// Part of the speed limit that its driver takes.
    pub limit_share: f64,
}

impl Kind {
    /// An ordinary car.
    pub const CAR: Self = Self { length_m: 4.6, width_m: 1.8, drive_mps2: 2.0, brake_mps2: 8.0, limit_share: 1.0 };
    /// A lorry.
    pub const LORRY: Self = Self { length_m: 12.0, width_m: 2.5, drive_mps2: 0.9, brake_mps2: 6.0, limit_share: 0.8 };
    /// A cyclist, as a narrow and slow car (S4-6, S4-24).
    pub const CYCLIST: Self = Self { length_m: 1.9, width_m: 0.7, drive_mps2: 1.0, brake_mps2: 4.0, limit_share: 0.4 };
}

/// A car in lane coordinates. Also the entry by which anything else in a lane is seen; see [`Role`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Car {
    /// Its front bumper along the lane, metres.
    pub station_m: f64,
    /// Speed along the lane, metres per second, never negative.
    pub speed_mps: f64,
    /// Offset of its middle from that of the lane, metres, positive to the left.
    pub lateral_m: f64,
    /// Heading relative to the lane, radians.
    pub heading_rad: f64,
    /// The time gap it accepts at the moment (S4-15): its own, or less after somebody came in.
    pub time_gap_s: f64,
    /// Station at which its lane change began.
    pub change_from_m: f64,
    /// Length of its lane change; 0 if there is none.
    pub change_length_m: f64,
    /// Offset at which its lane change began.
    pub change_offset_m: f64,
    /// Who it is.
    pub id: Id,
    /// Its lane.
    pub lane: LaneNumber,
    /// The lane it will take next.
    pub next: LaneNumber,
    /// Whom it followed last.
    pub leader: Id,
    /// Ticks since it came to a stand at the end of its lane, up to a bound: for stop signs and for who goes first.
    pub waited_ticks: u16,
    /// Its route; 0 is by the turn shares of the network.
    pub route: u16,
    /// Its type, as a number in the list of the settings.
    pub kind: u8,
    /// What this entry is.
    pub role: Role,
    /// Whether it must leave its lane.
    pub wish: Wish,
}

impl Car {
    /// A car at rest at the beginning of a lane.
    pub fn new(id: Id, lane: LaneNumber) -> Self {
        Self {
            station_m: 0.0,
            speed_mps: 0.0,
            lateral_m: 0.0,
            heading_rad: 0.0,
            time_gap_s: 0.0,
            change_from_m: 0.0,
            change_length_m: 0.0,
            change_offset_m: 0.0,
            id,
            lane,
            next: crate::streets::NO_LANE,
            leader: NOBODY,
            waited_ticks: 0,
            route: 0,
            kind: 0,
            role: Role::Car,
            wish: Wish::None,
        }
    }
    /// Whether it is on its way between two lanes.
    pub fn is_changing(&self) -> bool {
        self.change_length_m > 0.0
    }
    /// Its place in the order of a population: by lane, then along it, then by who it is.
    #[inline(always)]
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        self.place() < other.place()
    }
    /// The same as something to sort by; stations are never negative zero or not a number.
    #[inline(always)]
    pub(crate) fn place(&self) -> (LaneNumber, i64, Id, Role) {
        let bits = self.station_m.to_bits() as i64;
        // The order of signed bits is that of `f64::total_cmp`.
        (self.lane, bits ^ (((bits >> 63) as u64) >> 1) as i64, self.id, self.role)
    }
    /// Whether another state of the same car is so near that both count as the same for merging: equal in everything discrete, and within
    /// half a cell in everything else.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let discrete = |car: &Self| {
            let names = (car.id, car.lane, car.next, car.leader, car.route);
            (names, car.waited_ticks, car.kind, car.role, car.wish)
        };
        let reals = |car: &Self| {
            [
                (car.station_m, STATION_CELL_M),
                (car.speed_mps, SPEED_CELL_MPS),
                (car.lateral_m, LATERAL_CELL_M),
                (car.heading_rad, HEADING_CELL_RAD),
                (car.time_gap_s, TIME_GAP_CELL_S),
                (car.change_from_m, CHANGE_CELL_M),
                (car.change_length_m, CHANGE_CELL_M),
                (car.change_offset_m, CHANGE_CELL_M),
            ]
        };
        let is_near = |(a, b): ((f64, f64), (f64, f64))| (a.0 - b.0).abs() <= ALIKE_SHARE * a.1;
        discrete(self) == discrete(other) && reals(self).into_iter().zip(reals(other)).all(is_near)
    }
    /// Values of every variable of the car.
    pub fn put<V: Visitor>(&self, variables: &CarVariables, v: &mut V) {
        self.put_about(&Self::new(self.id, self.lane), variables, v);
    }
    /// The same, with cells that lie centred about another state of the car.
    pub(crate) fn put_about<V: Visitor>(&self, about: &Self, variables: &CarVariables, v: &mut V) {
        let whole = [
            u64::from(self.id) | (u64::from(self.lane) << 32),
            u64::from(self.next) | (u64::from(self.leader) << 32),
            u64::from(self.waited_ticks)
                | (u64::from(self.route) << 16)
                | (u64::from(self.kind) << 32)
                | ((self.role as u64) << 40)
                | ((self.wish as u64) << 48),
        ];
        whole.iter().for_each(|&word| v.put_exact(variables.who, word));
        v.put(variables.station, self.station_m - about.station_m);
        v.put(variables.speed, self.speed_mps - about.speed_mps);
        v.put(variables.lateral, self.lateral_m - about.lateral_m);
        v.put(variables.heading, self.heading_rad - about.heading_rad);
        v.put(variables.time_gap, self.time_gap_s - about.time_gap_s);
        v.put(variables.change, self.change_from_m - about.change_from_m);
        v.put(variables.change, self.change_length_m - about.change_length_m);
        v.put(variables.change, self.change_offset_m - about.change_offset_m);
    }
}

const STATION_CELL_M: f64 = 0.5;
const SPEED_CELL_MPS: f64 = 0.25;
const LATERAL_CELL_M: f64 = 0.2;
const HEADING_CELL_RAD: f64 = 0.05;
const TIME_GAP_CELL_S: f64 = 0.1;
const CHANGE_CELL_M: f64 = 2.0;
/// The part of a cell by which a car may be off the timeline and still be keyed like it: cells are centred about the timeline.
const ALIKE_SHARE: f64 = 0.5;

/// The variables of cars, with the sizes within which the next seconds look alike: half a car's length of a gap changes M2's command
/// by about 0.2 m/s², which is also what 0.25 m/s do. All cars share them.
#[derive(Clone, Copy, Debug)]
pub struct CarVariables {
    pub(crate) who: Discrete,
    station: Continuous,
    speed: Continuous,
    lateral: Continuous,
    heading: Continuous,
    time_gap: Continuous,
    change: Continuous,
}

impl CarVariables {
    /// Declares them.
    pub fn declare<V: Visitor>(v: &mut V) -> Self {
        Self {
            who: v.discrete("traffic.who"),
            station: v.continuous("traffic.station", "m", STATION_CELL_M),
            speed: v.continuous("traffic.speed", "m/s", SPEED_CELL_MPS),
            lateral: v.continuous("traffic.lateral", "m", LATERAL_CELL_M),
            heading: v.continuous("traffic.heading", "rad", HEADING_CELL_RAD),
            time_gap: v.continuous("traffic.time_gap", "s", TIME_GAP_CELL_S),
            change: v.continuous("traffic.change", "m", CHANGE_CELL_M),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::{Declarations, Grid, KeyWriter};

    #[test]
    fn cars_are_ordered_by_lane_then_station_then_name() {
        let at = |lane, station_m, id| Car { station_m, ..Car::new(id, lane) };
        let mut cars = [at(1, -2.0, 0), at(0, 7.0, 3), at(0, 7.0, 2), at(1, -3.0, 9), at(0, 1.0, 8)];
        cars.sort_by_key(Car::place);
        let names: Vec<Id> = cars.iter().map(|car| car.id).collect();
        assert_eq!(names, [8, 2, 3, 9, 0]);
    }

    #[test]
    fn the_key_sees_every_variable() {
        fn visit<V: Visitor>(car: &Car, v: &mut V) {
            let variables = CarVariables::declare(v);
            car.put(&variables, v);
        }
        let grid = Grid::of(&Declarations::of(|v| visit(&Car::new(0, 0), v)).variables);
        let key = |car: &Car| {
            let mut writer = KeyWriter::new(&grid);
            visit(car, &mut writer.visitor(&[]));
            writer.finish().unwrap()
        };
        let car = Car { station_m: 100.0, speed_mps: 20.0, ..Car::new(7, 3) };
        let changed = [
            Car { station_m: 100.6, ..car },
            Car { speed_mps: 20.3, ..car },
            Car { lateral_m: 0.3, ..car },
            Car { heading_rad: 0.06, ..car },
            Car { time_gap_s: 0.2, ..car },
            Car { change_from_m: 3.0, ..car },
            Car { change_length_m: 3.0, ..car },
            Car { change_offset_m: 3.0, ..car },
            Car { id: 8, ..car },
            Car { lane: 4, ..car },
            Car { next: 4, ..car },
            Car { leader: 4, ..car },
            Car { waited_ticks: 4, ..car },
            Car { route: 4, ..car },
            Car { kind: 4, ..car },
            Car { role: Role::Reach, ..car },
            Car { wish: Wish::Left, ..car },
        ];
        for other in changed {
            assert_ne!(key(&car), key(&other), "{other:?}");
        }
        let whole = anabranch_kernel::contract::check_part(&[car], visit, |car, v| visit(car, v));
        whole.unwrap_or_else(|forgotten| panic!("{forgotten}"));
        // A car that only plays another role than in the shared traffic is not like it.
        assert!(car.is_alike(&car) && !car.is_alike(&Car { role: Role::Reach, ..car }));
        assert_eq!(key(&car), key(&Car { station_m: 100.1, ..car }));
    }
}
