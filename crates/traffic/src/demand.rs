//! Traffic demand: how many cars come in where, and which way they go.

use anabranch_kernel::{Chance, Seed};
use serde::{Deserialize, Serialize};

use crate::car::{Car, Id};
use crate::decide::Scene;
use crate::streets::{LaneNumber, Streets};
use crate::traffic::Traffic;

/// Cars that come in at the beginning of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// The lane.
    pub lane: LaneNumber,
    /// Cars per hour on average; they come by chance, independent of each other.
    pub per_hour: f64,
    /// Their speed, if there is room for it.
    pub speed_mps: f64,
    /// Their type.
    pub kind: u8,
    /// Their route; 0 is by the turn shares of the network.
    pub route: u16,
}

/// What of a flow evolves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlowState {
    /// Cars that would like to come in.
    pub waiting: u32,
    /// Cars that have come in.
    pub sent: u32,
}

/// Cars that a flow can name; the names of two flows never meet.
pub(crate) const CARS_PER_FLOW: Id = 1 << 20;

/// What a car on a route does in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hop {
    /// Goes on to this lane.
    Next(LaneNumber),
    /// Must go to the left.
    Left,
    /// Must go to the right.
    Right,
    /// Leaves the network at the end of the lane, or stops there if that is no exit.
    End,
}

/// A route: what to do in each lane of it, sorted by lane.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Route {
    hops: Vec<(LaneNumber, Hop)>,
}

impl Route {
    /// A route by what to do in each lane; of several hops for one lane the first counts.
    pub fn new(mut hops: Vec<(LaneNumber, Hop)>) -> Self {
        hops.sort_by_key(|hop| hop.0);
        hops.dedup_by_key(|hop| hop.0);
        Self { hops }
    }
    /// The route along a sequence of lanes; each leads to the next one or is beside it.
    pub fn along(streets: &Streets, lanes: &[LaneNumber]) -> Self {
        let mut hops: Vec<(LaneNumber, Hop)> = Vec::new();
        for (at, &lane) in lanes.iter().enumerate() {
            let data = streets.lane(lane);
            let hop = match lanes.get(at + 1) {
                None => Hop::End,
                Some(&next) if next == data.left => Hop::Left,
                Some(&next) if next == data.right => Hop::Right,
                Some(&next) => Hop::Next(next),
            };
            hops.push((lane, hop));
        }
        Self::new(hops).with_neighbours(streets)
    }
    /// The same for who comes into a neighbour of the route by a free change: he has to find back.
    #[must_use]
    pub fn with_neighbours(mut self, streets: &Streets) -> Self {
        let mut beside_it: Vec<(LaneNumber, Hop)> = Vec::new();
        for &(lane, _) in &self.hops {
            let data = streets.lane(lane);
            for (beside, hop) in [(data.left, Hop::Right), (data.right, Hop::Left)] {
                if beside != crate::streets::NO_LANE && self.hop(beside).is_none() {
                    beside_it.push((beside, hop));
                }
            }
        }
        self.hops.append(&mut beside_it);
        Self::new(self.hops)
    }
    /// The same for who goes on as he likes when he has arrived, unless it is out of the network.
    #[must_use]
    pub fn and_on(mut self, streets: &Streets) -> Self {
        self.hops.retain(|&(lane, hop)| hop != Hop::End || streets.next(lane).is_empty());
        self
    }
    /// What to do in a lane; `None` if the route does not know it.
    pub fn hop(&self, lane: LaneNumber) -> Option<Hop> {
        self.hops.binary_search_by_key(&lane, |hop| hop.0).ok().map(|at| self.hops[at].1)
    }
}

/// The streams of chance that the traffic draws from.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    pub turns: Chance,
    pub flows: Chance,
}

impl Draws {
    pub(crate) fn new(seed: Seed) -> Self {
        Self { turns: Chance::new(seed, "traffic turns"), flows: Chance::new(seed, "traffic flows") }
    }
}

impl Scene<'_> {
    /// One tick of a flow: who arrives waits, and the first in the queue comes in when there is room.
    pub(crate) fn flow(&self, number: usize, state: FlowState) -> (FlowState, Option<Car>) {
        let traffic = self.traffic;
        let flow = &traffic.flows[number];
        let mut next = state;
        let expected = flow.per_hour * traffic.settings.step_s / 3600.0;
        if traffic.draws.flows.at(u64::from(self.tick)).uniform(number as u64) < expected {
            next.waiting += 1;
        }
        if next.waiting == 0 || next.sent >= CARS_PER_FLOW {
            return (next, None);
        }
        let length_m = traffic.settings.kinds[usize::from(flow.kind)].length_m;
        let own_s = traffic.settings.gap.time_gap_s;
        let mut speed_mps = flow.speed_mps;
        if let Some(last) = self.view.lane(flow.lane).first() {
            let ahead = self.ahead_of(last, last.station_m - length_m);
            let free_m = ahead.spacing_m - ahead.length_m;
            speed_mps = speed_mps.min((free_m / own_s).min(last.speed_mps + 0.2 * free_m));
            if free_m <= 0.0 || speed_mps <= 0.0 {
                return (next, None);
            }
        }
        let id = traffic.flow_ids_from + number as Id * CARS_PER_FLOW + next.sent;
        let mut car = Car::new(id, flow.lane);
        (car.kind, car.route, car.station_m, car.speed_mps) = (flow.kind, flow.route, length_m, speed_mps);
        car.time_gap_s = own_s;
        traffic.enter(&mut car, flow.lane);
        next.waiting -= 1;
        next.sent += 1;
        (next, Some(car))
    }
}

/// Cars spread evenly over all lanes that are long enough, at rest, `per_km` in each kilometre of lane: a density to begin with.
pub fn spread(traffic: &Traffic, per_km: f64, speed_mps: f64) -> Vec<Car> {
    let mut cars: Vec<Car> = Vec::new();
    let kind_m = traffic.settings.kinds[0].length_m + traffic.settings.standstill_m;
    let spacing_m = (1000.0 / per_km).max(kind_m + 1.0);
    for lane in 0..traffic.streets.count() as LaneNumber {
        let data = traffic.streets.lane(lane);
        let is_way_through = !data.is_guarded && data.length_m > 2.0 * spacing_m.min(kind_m);
        let mut station_m = 0.5 * spacing_m + kind_m;
        while is_way_through && station_m < data.length_m {
            let mut car = Car::new(cars.len() as Id, lane);
            (car.station_m, car.speed_mps) = (station_m, speed_mps.min(data.limit_mps));
            car.time_gap_s = traffic.settings.gap.time_gap_s;
            traffic.enter(&mut car, lane);
            cars.push(car);
            station_m += spacing_m;
        }
    }
    cars
}

/// So many cars, spread evenly over all lanes that are long enough: as many per metre everywhere, as far as whole cars allow, and none where
/// `may_stand` says no. `None` if there is not enough room.
pub fn spread_cars(
    traffic: &Traffic,
    count: usize,
    speed_mps: f64,
    may_stand: impl Fn(LaneNumber, f64) -> bool,
) -> Option<Vec<Car>> {
    /// Where some may not stand, others are put elsewhere; each time there are fewer of them.
    const TRIES_MAX: usize = 50;
    let car_m = traffic.settings.kinds[0].length_m + traffic.settings.standstill_m;
    let room_m = |lane: LaneNumber| {
        let data = traffic.streets.lane(lane);
        if data.is_guarded { 0.0 } else { (data.length_m - car_m).max(0.0) }
    };
    let lanes = 0..traffic.streets.count() as LaneNumber;
    let all_m: f64 = lanes.clone().map(room_m).sum();
    let mut wanted = count;
    for _ in 0..TRIES_MAX {
        let mut cars: Vec<Car> = Vec::with_capacity(wanted);
        let (mut before_m, per_m) = (0.0, wanted as f64 / all_m);
        for lane in lanes.clone() {
            let own_m = room_m(lane);
            let here = ((before_m + own_m) * per_m + 0.5).floor() - (before_m * per_m + 0.5).floor();
            before_m += own_m;
            let spacing_m = own_m / here;
            if here > 0.0 && spacing_m < car_m + 1.0 {
                return None;
            }
            let stations = (0..here as u32).map(|k| car_m + (f64::from(k) + 0.5) * spacing_m);
            cars.extend(stations.filter(|&station_m| may_stand(lane, station_m)).map(|station_m| {
                let speed_mps = speed_mps.min(traffic.streets.lane(lane).limit_mps);
                traffic.car(0, lane, station_m, speed_mps)
            }));
        }
        if cars.len() >= count {
            cars.truncate(count);
            return Some(cars);
        }
        wanted += count - cars.len();
    }
    None
}
