//! Ways through the network: which lanes to follow, where to change, which links to take.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use anabranch_geometry::Point;
use thiserror::Error;

use crate::lane::LaneId;
use crate::network::Network;
use crate::sections::{CHANGE_COST_S, Change, Section};

/// Stations are counted along chords, so a way can be shorter in stations than its straight line, by much less than this.
const STRAIGHT_SHARE: f64 = 0.9;

/// A place on a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LanePlace {
    /// The lane.
    pub lane: LaneId,
    /// Station on it.
    pub station_m: f64,
}

/// A way from one place to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Its parts in order; at least one.
    pub legs: Vec<Leg>,
    /// Metres of stations along it; the stretch before a change counts once.
    pub length_m: f64,
    /// Seconds at the speed limit, without waiting and changing.
    pub seconds: f64,
}

/// A stretch on one lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// The lane.
    pub lane: LaneId,
    /// Where it is entered.
    pub from_station_m: f64,
    /// Where it is left at the latest.
    pub to_station_m: f64,
    /// How it is left.
    pub then: Then,
}

/// How a leg ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// By this entry of [`Lane::next`].
    Link(usize),
    /// By changing to the lane on the left, somewhere on the leg.
    Left,
    /// By changing to the lane on the right, somewhere on the leg.
    Right,
    /// The goal.
    Arrive,
}

/// Why there is no way.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NoRoute {
    /// The goal cannot be entered.
    #[error("nothing leads to `{goal}`: no link enters it and no lane lies beside it")]
    NothingLeadsThere {
        /// The lane of the goal.
        goal: String,
    },
    /// The way ends early.
    #[error(
        "no way leads from `{start}` to `{goal}`: only {reached} lane(s) can be reached, up to the end of `{last}`"
    )]
    Cut {
        /// The lane of the start.
        start: String,
        /// The lane of the goal.
        goal: String,
        /// Lanes that can be reached.
        reached: usize,
        /// The last lane that was reached.
        last: String,
    },
    /// A station that is not on the lane.
    #[error("`{lane}` goes from 0 m to {length_m:.1} m; {station_m:.1} m is not on it")]
    Outside {
        /// The lane.
        lane: String,
        /// Its length.
        length_m: f64,
        /// The station asked for.
        station_m: f64,
    },
}

/// A step of the search; they form a tree by their parents.
#[derive(Clone, Copy, Debug)]
struct Record {
    section: usize,
    entered_m: f64,
    /// Cost when it was entered.
    cost_s: f64,
    parent: usize,
    /// How the parent was left.
    by: Then,
    /// 0 until the end of a section has been passed, then 1: a goal behind the start is reached by coming round again.
    layer: usize,
}

/// Records by the cost that a way through them has at the least, the oldest first among equals.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Waiting {
    /// Cost so far and, at the least, from there on.
    cost_s: f64,
    record: usize,
}

impl Eq for Waiting {}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost_s.total_cmp(&self.cost_s).then(other.record.cmp(&self.record))
    }
}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Search<'n> {
    network: &'n Network,
    goal: LanePlace,
    goal_section: usize,
    goal_point: Point,
    records: Vec<Record>,
    waiting: BinaryHeap<Waiting>,
    /// Least cost at the end of each section, per layer.
    leaving: [Vec<f64>; 2],
    /// Cheapest record from which the goal is reached, and its cost there.
    best: Option<(f64, usize)>,
}

impl Network {
    /// The quickest way at the speed limits, with changes of lanes where they are allowed and take no detour.
    ///
    /// # Errors
    /// When there is none, with the reason.
    pub fn route(&self, from: LanePlace, to: LanePlace) -> Result<Route, NoRoute> {
        for place in [from, to] {
            let lane = self.lane(place.lane);
            if !(0.0..=lane.length_m()).contains(&place.station_m) {
                let (lane, length_m) = (lane.name.to_string(), lane.length_m());
                return Err(NoRoute::Outside { lane, length_m, station_m: place.station_m });
            }
        }
        let sections = self.sections.all.len();
        let mut search = Search {
            network: self,
            goal: to,
            goal_section: self.sections.of(to),
            goal_point: self.lane(to.lane).position(to.station_m),
            records: Vec::new(),
            waiting: BinaryHeap::new(),
            leaving: [vec![f64::INFINITY; sections], vec![f64::INFINITY; sections]],
            best: None,
        };
        let section = self.sections.of(from);
        search.reach(Record {
            section,
            entered_m: from.station_m,
            cost_s: 0.0,
            parent: usize::MAX,
            by: Then::Arrive,
            layer: 0,
        });
        search.run();
        search.best.map_or_else(|| Err(search.reason(from)), |(_, record)| Ok(search.route(record)))
    }
}

impl Search<'_> {
    fn run(&mut self) {
        while let Some(Waiting { cost_s, record }) = self.waiting.pop() {
            if self.best.is_some_and(|(best_s, _)| best_s <= cost_s) {
                return;
            }
            let now = self.records[record];
            let section = self.network.sections.all[now.section];
            let leaving_s = now.cost_s + (section.end_m - now.entered_m) * section.pace;
            if leaving_s > self.leaving[now.layer][now.section] {
                continue;
            }
            self.go_on(record, &now, &section, leaving_s);
            self.change(record, &now, &section);
        }
    }

    /// Into the next section of the lane, and along the links at the end of this one.
    fn go_on(&mut self, record: usize, now: &Record, section: &Section, leaving_s: f64) {
        let network = self.network;
        let lane = network.lane(section.lane);
        let after =
            |section, entered_m, by| Record { section, entered_m, cost_s: leaving_s, parent: record, by, layer: 1 };
        if now.section + 1 < network.sections.firsts[section.lane.index() + 1] {
            self.reach(after(now.section + 1, section.end_m, Then::Link(usize::MAX)));
        }
        for (i, link) in lane.next.iter().enumerate().filter(|(_, link)| link.from_station_m == section.end_m) {
            let place = LanePlace { lane: link.to, station_m: link.to_station_m };
            self.reach(after(network.sections.of(place), link.to_station_m, Then::Link(i)));
        }
    }

    /// Onto the lanes beside it.
    fn change(&mut self, record: usize, now: &Record, section: &Section) {
        let network = self.network;
        for Change { by, station_m, to, entered_m } in network.changes(section, now.entered_m) {
            let cost_s = now.cost_s + (station_m - now.entered_m) * section.pace + CHANGE_COST_S;
            self.reach(Record { section: to, entered_m, cost_s, parent: record, by, layer: now.layer });
        }
    }

    /// Takes note of a section that was entered, if that is cheaper than before.
    fn reach(&mut self, record: Record) {
        let section = self.network.sections.all[record.section];
        let arrives = record.section == self.goal_section && record.entered_m <= self.goal.station_m;
        let goal_s = record.cost_s + (self.goal.station_m - record.entered_m) * section.pace;
        let is_best = arrives && self.best.is_none_or(|(best_s, _)| goal_s < best_s);
        let leaving_s = record.cost_s + (section.end_m - record.entered_m) * section.pace;
        let is_cheaper = leaving_s < self.leaving[record.layer][record.section];
        if !is_best && !is_cheaper {
            return;
        }
        let number = self.records.len();
        self.records.push(record);
        if is_best {
            self.best = Some((goal_s, number));
        }
        if is_cheaper {
            self.leaving[record.layer][record.section] = leaving_s;
            let cost_s = record.cost_s + self.least_rest_s(&section, record.entered_m);
            self.waiting.push(Waiting { cost_s, record: number });
        }
    }

    /// What the rest of the way costs at the least: the straight line at the highest speed limit.
    fn least_rest_s(&self, section: &Section, entered_m: f64) -> f64 {
        let from = self.network.lane(section.lane).position(entered_m);
        STRAIGHT_SHARE * from.distance_m(self.goal_point) * self.network.sections.best_pace
    }

    fn route(&self, last: usize) -> Route {
        let mut chain = vec![last];
        while self.records[chain[chain.len() - 1]].parent != usize::MAX {
            chain.push(self.records[chain[chain.len() - 1]].parent);
        }
        chain.reverse();
        let mut route = Route { legs: Vec::new(), length_m: 0.0, seconds: 0.0 };
        for (i, number) in chain.iter().enumerate() {
            let record = self.records[*number];
            let section = self.network.sections.all[record.section];
            let then = chain.get(i + 1).map_or(Then::Arrive, |next| self.records[*next].by);
            let to_station_m = if then == Then::Arrive { self.goal.station_m } else { section.end_m };
            if !matches!(then, Then::Left | Then::Right) {
                route.length_m += to_station_m - record.entered_m;
                route.seconds += (to_station_m - record.entered_m) * section.pace;
            }
            match route.legs.last_mut() {
                // The next section of the same lane prolongs the leg.
                Some(leg) if leg.then == Then::Link(usize::MAX) => (leg.to_station_m, leg.then) = (to_station_m, then),
                _ => route.legs.push(Leg { lane: section.lane, from_station_m: record.entered_m, to_station_m, then }),
            }
        }
        route
    }

    fn reason(&self, from: LanePlace) -> NoRoute {
        let goal = self.network.lane(self.goal.lane);
        if goal.previous.is_empty() && goal.left.is_none() && goal.right.is_none() {
            return NoRoute::NothingLeadsThere { goal: goal.name.to_string() };
        }
        let lane_of = |record: &Record| self.network.sections.all[record.section].lane;
        let mut reached: Vec<LaneId> = self.records.iter().map(lane_of).collect();
        let last = reached.last().map_or(from.lane, |lane| *lane);
        reached.sort_unstable();
        reached.dedup();
        NoRoute::Cut {
            start: self.network.lane(from.lane).name.to_string(),
            goal: goal.name.to_string(),
            reached: reached.len(),
            last: self.network.lane(last).name.to_string(),
        }
    }
}
