//! Networks to try things on: a motorway that closes on itself, a lane that is dropped, a city of blocks.

use crate::streets::{LaneEnd, LaneNumber, LaneSpec, Light, Streets};

/// Width of all lanes here, metres.
const WIDTH_M: f64 = 3.5;

/// A motorway in a ring.
#[derive(Clone, Copy, Debug)]
pub struct Motorway {
    /// Lanes side by side; 0 is the rightmost.
    pub lanes: u32,
    /// Pieces one after another.
    pub pieces: u32,
    /// Length of a piece, metres.
    pub piece_m: f64,
    /// Speed limit.
    pub limit_mps: f64,
}

impl Motorway {
    /// Number of a lane in a piece.
    pub fn lane(&self, piece: u32, lane: u32) -> LaneNumber {
        (piece % self.pieces) * self.lanes + lane
    }
    /// Its lanes.
    ///
    /// # Panics
    /// If a number is zero or not finite.
    pub fn streets(&self) -> Streets {
        let mut specs = Vec::new();
        for piece in 0..self.pieces {
            for lane in 0..self.lanes {
                specs.push(LaneSpec {
                    length_m: self.piece_m,
                    limit_mps: self.limit_mps,
                    width_m: WIDTH_M,
                    left: (lane + 1 < self.lanes).then(|| self.lane(piece, lane + 1)),
                    right: lane.checked_sub(1).map(|lane| self.lane(piece, lane)),
                    next: vec![(self.lane(piece + 1, lane), 1.0)],
                    ..LaneSpec::default()
                });
            }
        }
        Streets::new(&specs, &[]).expect("a motorway is sound")
    }
}

/// Two lanes, of which the right one (lane 0) is dropped after `drop_m`; the left one (lane 1) leads on to lane 2 of 2 km and out.
///
/// # Panics
/// If the length is not positive.
pub fn lane_drop(drop_m: f64, limit_mps: f64) -> Streets {
    let lane = LaneSpec { length_m: drop_m, limit_mps, width_m: WIDTH_M, ..LaneSpec::default() };
    let specs = [
        LaneSpec { left: Some(1), end: LaneEnd::Drop, ..lane.clone() },
        LaneSpec { right: Some(0), next: vec![(2, 1.0)], ..lane.clone() },
        LaneSpec { length_m: 2000.0, ..lane },
    ];
    Streets::new(&specs, &[]).expect("a lane drop is sound")
}

/// How the junctions of a city are ruled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// One street goes first, in turns from junction to junction.
    Priority,
    /// Lights.
    Lights {
        /// Seconds of green.
        green_s: f64,
    },
}

/// A city of square blocks that closes on itself: whoever leaves in the east comes back in the west.
#[derive(Clone, Copy, Debug)]
pub struct City {
    /// Junctions along each side.
    pub side: u32,
    /// Length of a street between two junctions, metres.
    pub street_m: f64,
    /// Lanes per direction.
    pub lanes: u32,
    /// Speed limit in the streets.
    pub limit_mps: f64,
    /// Who goes first.
    pub control: Control,
}

/// A way through a junction.
#[derive(Clone, Copy)]
struct Way {
    heading: u32,
    lane: u32,
    turn: Turn,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Straight,
    Right,
    Left,
}

impl Way {
    /// Heading after the turn: 0 east, 1 north, 2 west, 3 south.
    fn exit_heading(self) -> u32 {
        match self.turn {
            Turn::Straight => self.heading,
            Turn::Right => (self.heading + 3) % 4,
            Turn::Left => (self.heading + 1) % 4,
        }
    }
    fn is_in_conflict_with(self, other: Self) -> bool {
        if self.heading == other.heading {
            return false;
        }
        if (self.exit_heading(), self.lane) == (other.exit_heading(), other.lane) {
            return true;
        }
        let is_opposite = (self.heading + 2) % 4 == other.heading;
        match (self.turn, other.turn) {
            (Turn::Right, _) | (_, Turn::Right) => false,
            (Turn::Straight, Turn::Straight) | (Turn::Left, Turn::Left) => !is_opposite,
            (Turn::Straight, Turn::Left) | (Turn::Left, Turn::Straight) => true,
        }
    }
    /// Who has the larger rank goes first.
    fn rank(self, major: u32, control: Control) -> u32 {
        let left = u32::from(self.turn == Turn::Left);
        match control {
            Control::Priority => 2 * u32::from(self.heading % 2 == major) + 1 - left,
            Control::Lights { .. } => 1 - left,
        }
    }
}

impl City {
    /// Number of the lane that leaves junction (x, y) with a heading (0 east, 1 north, 2 west, 3 south); lane 0 is the rightmost.
    pub fn street(&self, x: u32, y: u32, heading: u32, lane: u32) -> LaneNumber {
        let junction = (y % self.side) * self.side + x % self.side;
        self.first_of(junction) + self.way_count() + heading * self.lanes + lane
    }
    /// Lanes are numbered junction by junction, ways through it first, so that what is looked at together lies together.
    fn first_of(&self, junction: u32) -> LaneNumber {
        junction * (self.way_count() + 4 * self.lanes)
    }
    fn way_count(&self) -> u32 {
        4 * (self.lanes + 2)
    }
    fn ways(&self) -> Vec<Way> {
        let mut ways = Vec::new();
        for heading in 0..4 {
            for lane in 0..self.lanes {
                ways.push(Way { heading, lane, turn: Turn::Straight });
                if lane == 0 {
                    ways.push(Way { heading, lane, turn: Turn::Right });
                }
                if lane + 1 == self.lanes {
                    ways.push(Way { heading, lane, turn: Turn::Left });
                }
            }
        }
        ways
    }
    fn neighbour(&self, x: u32, y: u32, heading: u32) -> (u32, u32) {
        let n = self.side;
        match heading {
            0 => ((x + 1) % n, y),
            1 => (x, (y + 1) % n),
            2 => ((x + n - 1) % n, y),
            _ => (x, (y + n - 1) % n),
        }
    }
    fn lights(&self) -> Vec<Light> {
        let Control::Lights { green_s } = self.control else { return Vec::new() };
        let yellow_s = green_s / 6.0;
        let red_s = green_s + 2.0 * yellow_s;
        let half_s = 0.5 * (green_s + yellow_s + red_s);
        // East–west and north–south in turns, with as much red in between as there is yellow.
        let light = |shift_s| Light::cycle(green_s, yellow_s, red_s, shift_s);
        (0..self.side * self.side).flat_map(|j| [light(f64::from(j)), light(f64::from(j) + half_s)]).collect()
    }
    /// Its lanes.
    ///
    /// # Panics
    /// If a number is zero or not finite.
    pub fn streets(&self) -> Streets {
        let ways = self.ways();
        let mut specs = Vec::new();
        for junction in 0..self.side * self.side {
            self.add_ways(junction, &ways, &mut specs);
            self.add_streets(junction, &ways, &mut specs);
        }
        Streets::new(&specs, &self.lights()).expect("a city is sound")
    }
    fn add_streets(&self, junction: u32, ways: &[Way], specs: &mut Vec<LaneSpec>) {
        let (x, y) = (junction % self.side, junction / self.side);
        for heading in 0..4 {
            let (to_x, to_y) = self.neighbour(x, y, heading);
            let first = self.first_of(to_y * self.side + to_x);
            for lane in 0..self.lanes {
                let here = |(_, way): &(usize, &Way)| way.heading == heading && way.lane == lane;
                let next = ways.iter().enumerate().filter(here).map(|(number, way)| {
                    (first + number as LaneNumber, if way.turn == Turn::Straight { 0.7 } else { 0.3 })
                });
                specs.push(LaneSpec {
                    length_m: self.street_m,
                    limit_mps: self.limit_mps,
                    width_m: WIDTH_M,
                    left: (lane + 1 < self.lanes).then(|| self.street(x, y, heading, lane + 1)),
                    right: lane.checked_sub(1).map(|lane| self.street(x, y, heading, lane)),
                    next: next.collect(),
                    ..LaneSpec::default()
                });
            }
        }
    }
    fn add_ways(&self, junction: u32, ways: &[Way], specs: &mut Vec<LaneSpec>) {
        let (x, y) = (junction % self.side, junction / self.side);
        let rank = |way: &Way| way.rank((x + y) % 2, self.control);
        for way in ways {
            let foes = |wanted: &dyn Fn(u32) -> bool| {
                let matches = |(_, other): &(usize, &Way)| way.is_in_conflict_with(**other) && wanted(rank(other));
                ways.iter()
                    .enumerate()
                    .filter(matches)
                    .map(|(other, _)| self.first_of(junction) + other as LaneNumber)
                    .collect::<Vec<_>>()
            };
            let (length_m, limit_mps) = match way.turn {
                Turn::Straight => (20.0, self.limit_mps),
                Turn::Right => (12.0, 6.0),
                Turn::Left => (20.0, 8.0),
            };
            let light = matches!(self.control, Control::Lights { .. }).then(|| 2 * junction + way.heading % 2);
            specs.push(LaneSpec {
                length_m,
                limit_mps: limit_mps.min(self.limit_mps),
                width_m: WIDTH_M,
                next: vec![(self.street(x, y, way.exit_heading(), way.lane), 1.0)],
                light,
                gives_way_to: foes(&|other| other > rank(way)),
                shares_with: foes(&|other| other == rank(way)),
                ..LaneSpec::default()
            });
        }
    }
}
