//! Who may look at a place: the exact reach of decisions, the other way round.
//!
//! A car's decision reads what is ahead of it in its lane and over its links, what is beside it, and at a junction the ways that go first
//! and what comes to them. Turned round, this says whose decision a change at one place could alter. It may name too many, never too few.

use std::collections::BTreeMap;

use crate::car::Car;
use crate::change::LOOK_BACK_M;
use crate::junction::JUNCTION_SIGHT_M;
use crate::streets::{LaneNumber, NO_LANE, Streets};

/// More than any rounding of stations between lanes of different length.
const SLACK_M: f64 = 1.0;

/// One way in which cars of a lane can see another lane.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// Side by side, or in the lane itself.
    Beside,
    /// Ahead: the lane `via` (the reader's own or the one beside it) leads there; between its end and the lane read lie `offset_m`.
    Ahead { via: LaneNumber, offset_m: f64 },
    /// Behind, over a link into the lane beside the reader.
    Behind,
    /// Because of who goes first at the end of the reader's lane.
    /// The lane read lies `offset_m` before the way that goes first; `None` if it is read whatever is where.
    Rule { offset_m: Option<f64> },
}

/// Cars of `lane` between two stations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    pub lane: LaneNumber,
    pub from_m: f64,
    pub to_m: f64,
}

/// For each lane, who can see it.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    readings: Vec<(LaneNumber, Reading)>,
    starts: Vec<u32>,
    sight_m: f64,
}

impl Readers {
    /// `sight_m` is the farthest that any car looks ahead.
    pub(crate) fn new(streets: &Streets, sight_m: f64) -> Self {
        let mut rules: Vec<Vec<(LaneNumber, Reading)>> = vec![Vec::new(); streets.count()];
        for entry in (0..streets.count() as LaneNumber).filter(|&lane| streets.lane(lane).is_guarded) {
            add_rules(streets, entry, &mut rules);
        }
        let (mut readings, mut starts) = (Vec::new(), vec![0]);
        for lane in 0..streets.count() as LaneNumber {
            let first = readings.len();
            readings.extend(with_sides(streets, lane).map(|reader| (reader, Reading::Beside)));
            for (via, offset_m) in upstream(streets, lane, sight_m) {
                let ahead = Reading::Ahead { via, offset_m };
                readings.extend(with_sides(streets, via).map(|reader| (reader, ahead)));
            }
            for &next in streets.next(lane) {
                let sides = with_sides(streets, next).skip(1);
                readings.extend(sides.map(|reader| (reader, Reading::Behind)));
            }
            readings.append(&mut rules[lane as usize]);
            debug_assert!(first < readings.len(), "a lane is seen from itself");
            starts.push(readings.len() as u32);
        }
        Self { readings, starts, sight_m }
    }
    /// Adds where cars are that could see an entry.
    pub(crate) fn of(&self, streets: &Streets, entry: &Car, windows: &mut Vec<Window>) {
        let (from, to) = (self.starts[entry.lane as usize], self.starts[entry.lane as usize + 1]);
        let length_m = streets.lane(entry.lane).length_m;
        for &(lane, reading) in &self.readings[from as usize..to as usize] {
            let end_m = streets.lane(lane).length_m;
            let (from_m, to_m) = match reading {
                Reading::Beside => {
                    let station_m = streets.beside_m(entry.lane, lane, entry.station_m);
                    (station_m - self.sight_m - SLACK_M, station_m + LOOK_BACK_M + SLACK_M)
                }
                Reading::Ahead { via, offset_m } => {
                    let from_m = streets.lane(via).length_m - (self.sight_m - offset_m - entry.station_m);
                    (streets.beside_m(via, lane, from_m) - SLACK_M, f64::INFINITY)
                }
                Reading::Behind => (f64::NEG_INFINITY, LOOK_BACK_M - (length_m - entry.station_m) + SLACK_M),
                Reading::Rule { offset_m } => {
                    let way_m = offset_m.map_or(0.0, |offset_m| offset_m + length_m - entry.station_m);
                    if way_m > JUNCTION_SIGHT_M + SLACK_M {
                        continue;
                    }
                    (end_m - self.sight_m - SLACK_M, f64::INFINITY)
                }
            };
            if from_m < end_m + SLACK_M && to_m > -SLACK_M {
                windows.push(Window { lane, from_m, to_m });
            }
        }
    }
    /// Adds all cars that could see a light, because it guards them or those that go first.
    pub(crate) fn of_light(&self, streets: &Streets, light: u32, windows: &mut Vec<Window>) {
        for guarded in (0..streets.count() as LaneNumber).filter(|&lane| streets.lane(lane).light == light) {
            let approaches = streets.prev(guarded).iter().copied();
            let (from, to) = (self.starts[guarded as usize], self.starts[guarded as usize + 1]);
            let rules = self.readings[from as usize..to as usize].iter();
            let others = rules.filter(|(_, reading)| matches!(reading, Reading::Rule { .. })).map(|(lane, _)| *lane);
            for lane in approaches.chain(others) {
                let from_m = streets.lane(lane).length_m - self.sight_m - SLACK_M;
                windows.push(Window { lane, from_m, to_m: f64::INFINITY });
            }
        }
    }
}

/// A lane and its neighbours.
fn with_sides(streets: &Streets, lane: LaneNumber) -> impl Iterator<Item = LaneNumber> {
    let data = streets.lane(lane);
    [lane, data.left, data.right].into_iter().filter(|&lane| lane != NO_LANE)
}

/// Lanes from which a lane can be reached within a distance, each with the smallest way between its end and the lane's beginning.
fn upstream(streets: &Streets, lane: LaneNumber, within_m: f64) -> BTreeMap<LaneNumber, f64> {
    let mut found: BTreeMap<LaneNumber, f64> = BTreeMap::new();
    let mut open: Vec<(LaneNumber, f64)> = streets.prev(lane).iter().map(|&lane| (lane, 0.0)).collect();
    while let Some((lane, offset_m)) = open.pop() {
        if offset_m > within_m || found.get(&lane).is_some_and(|&known_m| known_m <= offset_m) {
            continue;
        }
        found.insert(lane, offset_m);
        let before_m = offset_m + streets.lane(lane).length_m;
        open.extend(streets.prev(lane).iter().map(|&prev| (prev, before_m)));
    }
    found
}

/// Notes that cars before `entry` look at the ways that cross it, at what comes to them, and at the room behind.
fn add_rules(streets: &Streets, entry: LaneNumber, rules: &mut [Vec<(LaneNumber, Reading)>]) {
    let foes = streets.goes_first(entry).iter().chain(streets.goes_equally(entry));
    let whole = foes.clone().chain([&entry]).chain(streets.next(entry));
    for &reader in streets.prev(entry) {
        for &lane in whole.clone() {
            rules[lane as usize].push((reader, Reading::Rule { offset_m: None }));
        }
        for (lane, offset_m) in foes.clone().flat_map(|&foe| upstream(streets, foe, JUNCTION_SIGHT_M)) {
            rules[lane as usize].push((reader, Reading::Rule { offset_m: Some(offset_m) }));
        }
    }
}
