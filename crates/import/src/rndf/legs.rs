//! The legs of a mission: from checkpoint to checkpoint, on lanes as named routes and through zones freely.
//!
//! No lane leads through a zone. A leg that ends in a parking spot is a route up to the exit that leads into its zone, and one
//! that begins there is a route from where an exit of the zone enters a lane. Of several exits those with the shortest way count.

use std::collections::BTreeMap;

use anabranch_roads::report::{Notes, Span};
use anabranch_roads::{LaneName, LanePlace, Network, RoutePlan};

use super::parse::{Exit, Id, Rndf};
use crate::mdf::Mission;

/// The way from one checkpoint of a mission to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissionLeg {
    /// Numbers of the two checkpoints.
    pub checkpoints: [usize; 2],
    /// The part of it on lanes, as a named route of the map; none where there is no such part.
    pub route: Option<String>,
    /// The spot that it comes out of, driving freely, before the route.
    pub out_of: Option<ZoneSpot>,
    /// The spot that it goes into, driving freely, after the route.
    pub into: Option<ZoneSpot>,
}

/// A parking spot and the open area around it, by their names in the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneSpot {
    /// The open zone.
    pub zone: String,
    /// The spot.
    pub spot: String,
}

/// Where a checkpoint lies.
#[derive(Clone, Copy, Debug)]
enum Stop {
    Lane(Id),
    /// Zone and spot.
    Spot([usize; 2]),
}

impl Stop {
    fn spot(self) -> Option<ZoneSpot> {
        let Self::Spot([zone, spot]) = self else { return None };
        Some(ZoneSpot { zone: zone_name(zone), spot: spot_name([zone, spot]) })
    }
}

/// Name of a zone in the map.
pub(super) fn zone_name(number: usize) -> String {
    format!("zone-{number}")
}

/// Name of a parking spot in the map.
pub(super) fn spot_name(id: [usize; 2]) -> String {
    format!("spot-{}-{}", id[0], id[1])
}

/// The legs of a mission, with the routes that they need and the place of each in the mission.
pub(super) struct Legs {
    pub legs: Vec<MissionLeg>,
    pub routes: Vec<(RoutePlan, Span)>,
}

/// Works the legs out. A leg without a way on lanes gets a route all the same, which the check of the map then points at.
pub(super) fn legs(file: &Rndf, mission: &Mission, network: &Network, notes: &mut Notes<'_>) -> Legs {
    let guide = Guide { file, network, stops: stops(file) };
    let mut found = Legs { legs: Vec::new(), routes: Vec::new() };
    for (number, pair) in mission.checkpoints.windows(2).enumerate() {
        let (from, (to, span)) = (pair[0].0, pair[1]);
        let (Some(&start), Some(&goal)) = (guide.stops.get(&from), guide.stops.get(&to)) else { continue };
        let mut leg = MissionLeg { checkpoints: [from, to], route: None, out_of: start.spot(), into: goal.spot() };
        let stays = matches!((start, goal), (Stop::Spot(a), Stop::Spot(b)) if a[0] == b[0]);
        if !stays {
            match guide.route(start, goal) {
                Ok(ends) if ends[0] == ends[1] => {}
                Ok([from, to]) => {
                    let name = format!("leg-{}", number + 1);
                    leg.route = Some(name.clone());
                    let named = |place: LanePlace| (guide.name(place), place.station_m);
                    found.routes.push((RoutePlan { name, from: named(from), to: named(to) }, span));
                }
                Err(message) => {
                    let help = "give the zone an exit, and lanes an exit into it";
                    notes.add("E0617", span, message, help);
                }
            }
        }
        found.legs.push(leg);
    }
    found
}

/// Where each checkpoint lies.
fn stops(file: &Rndf) -> BTreeMap<usize, Stop> {
    let on_lanes = file.lanes().flat_map(|lane| &lane.checkpoints).map(|(id, number, _)| (*number, Stop::Lane(*id)));
    let spots = file.zones.iter().flat_map(|zone| &zone.spots);
    let in_spots = spots.flat_map(|spot| spot.checkpoints.iter().map(|(_, number, _)| (*number, Stop::Spot(spot.id))));
    on_lanes.chain(in_spots).collect()
}

struct Guide<'a> {
    file: &'a Rndf,
    network: &'a Network,
    stops: BTreeMap<usize, Stop>,
}

impl Guide<'_> {
    fn name(&self, place: LanePlace) -> LaneName {
        self.network.lane(place.lane).name().clone()
    }
    fn place(&self, id: Id) -> Option<LanePlace> {
        let [segment, lane, point] = id.0;
        let lane = self.network.find(&segment.to_string(), &lane.to_string())?;
        let station_m = *self.network.lane(lane).waypoint_stations_m().get(point.checked_sub(1)?)?;
        Some(LanePlace { lane, station_m })
    }
    /// The ends of the shortest way on lanes; those of the first if there is no way at all.
    fn route(&self, start: Stop, goal: Stop) -> Result<[LanePlace; 2], String> {
        let is_in = |id: Id, zone: usize| id.0[0] == zone && id.0[1] == 0;
        let starts = match start {
            Stop::Lane(id) => self.place(id).into_iter().collect(),
            Stop::Spot([zone, _]) => self.ends(|exit| is_in(exit.from, zone).then_some(exit.to)),
        };
        let goals = match goal {
            Stop::Lane(id) => self.place(id).into_iter().collect(),
            Stop::Spot([zone, _]) => self.ends(|exit| is_in(exit.to, zone).then_some(exit.from)),
        };
        let nowhere = |stop: Stop, way: &str| {
            let zone = stop.spot().map_or_else(String::new, |spot| spot.zone);
            format!("no exit leads {way} `{zone}`")
        };
        if starts.is_empty() {
            return Err(nowhere(start, "out of"));
        }
        if goals.is_empty() {
            return Err(nowhere(goal, "into"));
        }
        let pairs = starts.iter().flat_map(|&from| goals.iter().map(move |&to| [from, to]));
        let length_m = |ends: &[LanePlace; 2]| {
            if ends[0] == ends[1] {
                return 0.0;
            }
            self.network.route(ends[0], ends[1]).map_or(f64::INFINITY, |route| route.length_m)
        };
        // The first of equally long ones, so that the order of the file decides and nothing else.
        let best = pairs.map(|ends| (length_m(&ends), ends)).min_by(|a, b| a.0.total_cmp(&b.0));
        Ok(best.map_or([starts[0], goals[0]], |(_, ends)| ends))
    }
    /// Places on lanes that exits lead to or from.
    fn ends(&self, end: impl Fn(&Exit) -> Option<Id>) -> Vec<LanePlace> {
        let exits = self.file.strands().flat_map(|strand| &strand.exits);
        exits.filter_map(end).filter_map(|id| self.place(id)).collect()
    }
}
