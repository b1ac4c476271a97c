//! Ways through the network: which lanes to follow, where to change, which links to take.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use thiserror::Error;

use crate::lane::{Lane, LaneId};
use crate::network::Network;
use crate::plan::Marking;

/// What a change of lanes costs, as if this much more had to be driven.
const CHANGE_COST_S: f64 = 5.0;
/// Room that a change of lanes needs.
const CHANGE_ROOM_M: f64 = 15.0;
/// Where along a section a change is tried, as shares of what is left of it.
const CHANGE_PLACES: [f64; 4] = [0.0, 0.25, 0.5, 0.75];

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

/// Lanes cut where links leave or enter them: the nodes of the search.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sections {
    /// First section of each lane, and the number of all sections.
    firsts: Vec<usize>,
    /// Lane, begin and end of each section.
    all: Vec<Section>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Section {
    lane: LaneId,
    begin_m: f64,
    end_m: f64,
    /// Seconds per metre at the speed limit.
    pace: f64,
}

impl Sections {
    pub fn new(lanes: &[Lane]) -> Self {
        let mut cuts: Vec<Vec<f64>> = lanes.iter().map(|lane| vec![0.0, lane.length_m()]).collect();
        for lane in lanes {
            for link in &lane.next {
                cuts[lane.id.index()].push(link.from_station_m);
                cuts[link.to.index()].push(link.to_station_m);
            }
        }
        let mut sections = Self::default();
        for (lane, mut cuts) in lanes.iter().zip(cuts) {
            cuts.sort_by(f64::total_cmp);
            cuts.dedup();
            sections.firsts.push(sections.all.len());
            for pair in cuts.windows(2) {
                let (begin_m, end_m) = (pair[0], pair[1]);
                let pace = mean_pace(lane, begin_m, end_m);
                sections.all.push(Section { lane: lane.id, begin_m, end_m, pace });
            }
        }
        sections.firsts.push(sections.all.len());
        sections
    }

    /// The section of a place. At a cut it is the one behind it.
    fn of(&self, place: LanePlace) -> usize {
        let (first, end) = (self.firsts[place.lane.index()], self.firsts[place.lane.index() + 1]);
        let behind = self.all[first..end].partition_point(|section| section.begin_m <= place.station_m);
        first + behind.saturating_sub(1)
    }
}

fn mean_pace(lane: &Lane, begin_m: f64, end_m: f64) -> f64 {
    let places = 8;
    let pace = |k: i32| 1.0 / lane.limit_mps(begin_m + (end_m - begin_m) * (f64::from(k) + 0.5) / f64::from(places));
    (0..places).map(pace).sum::<f64>() / f64::from(places)
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

/// Records by cost, the oldest first among equals.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Waiting {
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
            let leaving_s = cost_s + (section.end_m - now.entered_m) * section.pace;
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

    /// Onto the lanes beside it, at the first place where they exist and there is room.
    fn change(&mut self, record: usize, now: &Record, section: &Section) {
        let network = self.network;
        let lane = network.lane(section.lane);
        let left_m = section.end_m - now.entered_m;
        for by in [Then::Left, Then::Right] {
            let allowed = match by {
                Then::Left => lane.left_marking() == Marking::Broken,
                _ => lane.right_marking() == Marking::Broken,
            };
            let place = |share: &f64| {
                let station_m = now.entered_m + share * left_m;
                let beside = if by == Then::Left { lane.left_at(station_m) } else { lane.right_at(station_m) };
                let (other, other_m) = beside.filter(|_| allowed && section.end_m - station_m >= CHANGE_ROOM_M)?;
                (network.lane(other).length_m() - other_m >= CHANGE_ROOM_M).then_some((station_m, other, other_m))
            };
            if let Some((station_m, other, other_m)) = CHANGE_PLACES.iter().find_map(place) {
                let to = network.sections.of(LanePlace { lane: other, station_m: other_m });
                let cost_s = now.cost_s + (station_m - now.entered_m) * section.pace + CHANGE_COST_S;
                self.reach(Record { section: to, entered_m: other_m, cost_s, parent: record, by, layer: now.layer });
            }
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
            self.waiting.push(Waiting { cost_s: record.cost_s, record: number });
        }
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
