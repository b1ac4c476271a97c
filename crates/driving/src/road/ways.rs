//! The route, and the ways to its goal for who has missed an exit of it.
//!
//! Whoever is in a lane from which the route cannot be followed any more, because no gap opened in time, drives on and takes
//! another way. These ways are worked out beforehand, so that a driver is a function of what it sees and remembers: from every lane
//! beside an exit, at the place where it is too late. Where no other way leads to the goal, a lane that ends for instance, a
//! driver waits for a gap.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_roads::{LaneId, LanePlace, Leg, Network, Route, Then};

use super::course::change_by_m;
use super::crosswalk::{self, RouteCrossing};

/// Ways that are worked out, the route among them. Exits of the route come first; who misses more exits than that waits.
const WAYS_MAX: usize = 24;

/// All ways to the goal; the first is the route.
#[derive(Clone, Debug)]
pub struct Ways {
    ways: Vec<Route>,
    /// The way on for who is in this lane when this leg of this way must have been left.
    missed: BTreeMap<(u8, u16, LaneId), u8>,
    /// Crosswalks on any of them.
    pub crossings: Vec<RouteCrossing>,
}

impl Ways {
    /// A route and the ways for who misses its exits.
    pub fn new(network: &Network, route: Route) -> Self {
        let goal = route.legs[route.legs.len() - 1];
        let goal = LanePlace { lane: goal.lane, station_m: goal.to_station_m };
        let (mut ways, mut missed) = (vec![route], BTreeMap::new());
        let mut known: BTreeMap<(LaneId, u64), u8> = BTreeMap::new();
        let mut number = 0;
        while number < ways.len() {
            let legs = ways[number].legs.clone();
            for leg in 0..legs.len() {
                for place in too_late(network, &legs, leg) {
                    let key = (place.lane, place.station_m.to_bits());
                    let by = known.get(&key).copied().or_else(|| {
                        let route = (ways.len() < WAYS_MAX).then(|| network.route(place, goal).ok()).flatten()?;
                        ways.push(route);
                        known.insert(key, ways.len() as u8 - 1);
                        known.get(&key).copied()
                    });
                    // A way that begins where it is too late for its own first leg leads nowhere.
                    if let Some(by) = by.filter(|&by| usize::from(by) != number) {
                        missed.insert((number as u8, leg as u16, place.lane), by);
                    }
                }
            }
            number += 1;
        }
        let legs: Vec<Leg> = ways.iter().flat_map(|way| way.legs.iter().copied()).collect();
        Self { ways, missed, crossings: crosswalk::along(network, &legs) }
    }
    /// A way by its number.
    pub fn way(&self, number: u8) -> &Route {
        &self.ways[usize::from(number)]
    }
    /// Its legs.
    pub fn legs(&self, number: u8) -> &[Leg] {
        &self.way(number).legs
    }
    /// The way on for who is in a lane when a leg must have been left, if there is one.
    pub fn missed(&self, way: u8, leg: u16, lane: LaneId) -> Option<u8> {
        self.missed.get(&(way, leg, lane)).copied()
    }
}

/// Where it is too late for a leg: the places beside its end from which the next one cannot be reached any more. Who is beside
/// the goal has not missed it: it stops there.
fn too_late(network: &Network, legs: &[Leg], leg: usize) -> Vec<LanePlace> {
    let own = legs[leg];
    if own.then == Then::Arrive || legs.get(leg + 1).is_some_and(|next| next.then == Then::Arrive) {
        return Vec::new();
    }
    let by_m = change_by_m(legs, leg);
    let (mut seen, mut open, mut places) = (BTreeSet::from([own.lane]), vec![own.lane], Vec::new());
    while let Some(lane) = open.pop() {
        let data = network.lane(lane);
        let station_m = by_m.min(data.length_m());
        if lane != own.lane || matches!(own.then, Then::Left | Then::Right) {
            places.push(LanePlace { lane, station_m });
        }
        let sides = data.left_at(station_m).into_iter().chain(data.right_at(station_m));
        open.extend(sides.map(|(beside, _)| beside).filter(|&beside| seen.insert(beside)));
    }
    // In the order of lanes, so that numbers of ways do not depend on how lanes were found.
    places.sort_by_key(|place| place.lane);
    places
}
