//! The quickest way to one goal from everywhere: searched once, shared by all cars that go there.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::network::Network;
use crate::route::{LanePlace, Then};
use crate::sections::{CHANGE_COST_S, Section};

/// What to do next, from every place of the network, to reach a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    goal: LanePlace,
    goal_section: usize,
    /// Seconds to the goal from the beginning of each section, and how to leave it.
    from_begin: Vec<(f64, Then)>,
    /// The same from its end, for those who have passed the goal.
    from_end: Vec<(f64, Then)>,
}

/// A way into a section, seen from the section that it leads to.
#[derive(Clone, Copy, Debug)]
struct Way {
    from: usize,
    by: Then,
    cost_s: f64,
}

/// Goes on along the same lane, into its next section.
const ONWARDS: Then = Then::Link(usize::MAX);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Waiting {
    cost_s: f64,
    section: usize,
}

impl Eq for Waiting {}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost_s.total_cmp(&self.cost_s).then(other.section.cmp(&self.section))
    }
}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Network {
    /// The quickest way to a goal from everywhere. A change of lanes is priced as in [`Network::route`]; sections of unlike
    /// length side by side count as if they began together.
    pub fn guide(&self, goal: LanePlace) -> Guide {
        let count = self.sections.all.len();
        let goal_section = self.sections.of(goal);
        let nowhere = (f64::INFINITY, Then::Arrive);
        let mut guide = Guide { goal, goal_section, from_begin: vec![nowhere; count], from_end: vec![nowhere; count] };
        let ways = ways_into(self, goal, goal_section);
        let section = self.sections.all[goal_section];
        let cost_s = (goal.station_m - section.begin_m) * section.pace;
        guide.from_begin[goal_section] = (cost_s, Then::Arrive);
        let mut waiting = BinaryHeap::from([Waiting { cost_s, section: goal_section }]);
        while let Some(Waiting { cost_s, section }) = waiting.pop() {
            if cost_s > guide.from_begin[section].0 {
                continue;
            }
            for way in &ways[section] {
                let is_change = matches!(way.by, Then::Left | Then::Right);
                if !is_change && cost_s < guide.from_end[way.from].0 {
                    guide.from_end[way.from] = (cost_s, way.by);
                }
                let total_s = cost_s + way.cost_s;
                if total_s < guide.from_begin[way.from].0 {
                    guide.from_begin[way.from] = (total_s, way.by);
                    waiting.push(Waiting { cost_s: total_s, section: way.from });
                }
            }
        }
        guide
    }
}

/// For each section the sections that lead into it.
fn ways_into(network: &Network, goal: LanePlace, goal_section: usize) -> Vec<Vec<Way>> {
    let sections = &network.sections;
    let mut ways: Vec<Vec<Way>> = vec![Vec::new(); sections.all.len()];
    for (from, section) in sections.all.iter().enumerate() {
        let through_s = (section.end_m - section.begin_m) * section.pace;
        if from + 1 < sections.firsts[section.lane.index() + 1] {
            ways[from + 1].push(Way { from, by: ONWARDS, cost_s: through_s });
        }
        for (i, link) in network.lane(section.lane).next().iter().enumerate() {
            if link.from_station_m == section.end_m {
                let to = sections.of(LanePlace { lane: link.to, station_m: link.to_station_m });
                ways[to].push(Way { from, by: Then::Link(i), cost_s: through_s });
            }
        }
        for change in network.changes(section, section.begin_m) {
            let misses_goal = change.to == goal_section && change.entered_m > goal.station_m;
            let cost_s = (change.station_m - section.begin_m) * section.pace + CHANGE_COST_S;
            if !misses_goal {
                ways[change.to].push(Way { from, by: change.by, cost_s });
            }
        }
    }
    ways
}

impl Guide {
    /// The goal.
    pub fn goal(&self) -> LanePlace {
        self.goal
    }
    /// How to leave the lane of a place; none where no way leads to the goal.
    pub fn then(&self, network: &Network, place: LanePlace) -> Option<Then> {
        let mut section = network.sections.of(place);
        let mut advice = self.advice(section, place.station_m);
        while advice.1 == ONWARDS {
            section += 1;
            advice = self.from_begin[section];
        }
        advice.0.is_finite().then_some(advice.1)
    }
    /// Seconds to the goal at the speed limits, changes of lanes counted as 5 s; none where no way leads there.
    pub fn seconds(&self, network: &Network, place: LanePlace) -> Option<f64> {
        let number = network.sections.of(place);
        let Section { begin_m, end_m, pace, .. } = network.sections.all[number];
        let (cost_s, then) = self.advice(number, place.station_m);
        let seconds = match then {
            Then::Arrive if self.passed(number, place.station_m) => return None,
            Then::Arrive => (self.goal.station_m - place.station_m) * pace,
            Then::Link(_) => self.from_end[number].0 + (end_m - place.station_m) * pace,
            Then::Left | Then::Right => cost_s - (place.station_m - begin_m) * pace,
        };
        cost_s.is_finite().then_some(seconds.max(0.0))
    }

    fn passed(&self, section: usize, station_m: f64) -> bool {
        section == self.goal_section && station_m > self.goal.station_m
    }

    fn advice(&self, section: usize, station_m: f64) -> (f64, Then) {
        if self.passed(section, station_m) { self.from_end[section] } else { self.from_begin[section] }
    }
}
