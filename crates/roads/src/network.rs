//! The compiled map: immutable, shared by everyone.

use std::collections::BTreeMap;

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;

use crate::barrier::Barrier;
use crate::connect::{are_joined, comfortable_mps, lay, turn_of};
use crate::crosswalk::Crosswalk;
use crate::curve::Curve;
use crate::flaw::{Element, Flaw, FlawKind};
use crate::index::Index;
use crate::junction::{Junction, TurnRule};
use crate::lane::{Frenet, JunctionId, Lane, LaneId, LaneKind, Link, Turn};
use crate::plan::{LaneName, LanePlan, LinkPlan, Map};
use crate::route::{LanePlace, Route};
use crate::sections::Sections;
use crate::signal::Program;
use crate::zone::Zone;
use crate::{check, crossings, neighbours, rules};

/// Lanes whose direction differs more than this from a car's are not the one it drives on, in radians.
const ALONG_MAX: f64 = std::f64::consts::FRAC_PI_2;

/// A road network: lanes with geometry, neighbours and links, junctions with their rules, and what lies around.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    pub(crate) name: String,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) names: BTreeMap<LaneName, LaneId>,
    pub(crate) index: Index,
    pub(crate) sections: Sections,
    pub(crate) junctions: Vec<Junction>,
    /// One per lane; none for lanes of roads and turns outside of junctions.
    pub(crate) rules: Vec<Option<TurnRule>>,
    pub(crate) programs: Vec<Program>,
    pub(crate) crosswalks: Vec<Crosswalk>,
    pub(crate) zones: Vec<Zone>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) routes: Vec<(String, Route)>,
}

impl Network {
    /// Checks and compiles a map.
    ///
    /// # Errors
    /// With everything that is wrong with it.
    pub fn new(map: &Map) -> Result<Self, Vec<Flaw>> {
        let flaws = check::check(map);
        if !flaws.is_empty() {
            return Err(flaws);
        }
        let mut lanes = Vec::new();
        for road in &map.roads {
            let first = lanes.len();
            for plan in &road.lanes {
                lanes.push(lane(lanes.len(), LaneName::new(&road.name, &plan.name), LaneKind::Road, plan));
            }
            neighbours::find(&mut lanes, first);
        }
        let names: BTreeMap<LaneName, LaneId> = lanes.iter().map(|lane| (lane.name.clone(), lane.id)).collect();
        let numbered = map.junctions.iter().enumerate();
        let junctions = numbered.map(|(i, plan)| (plan.name.as_str(), JunctionId(i as u32))).collect();
        let turns: Vec<Option<LaneId>> =
            map.links.iter().map(|link| connect(&mut lanes, &names, &junctions, link)).collect();
        let crosswalks = crossings::find(map, &lanes)?;
        let mut network = Self {
            name: map.name.clone(),
            index: Index::new(&lanes),
            sections: Sections::new(&lanes),
            rules: vec![None; lanes.len()],
            lanes,
            names,
            junctions: Vec::new(),
            programs: map.programs.clone(),
            crosswalks,
            zones: map.zones.clone(),
            barriers: map.barriers.clone(),
            routes: Vec::new(),
        };
        rules::derive(&mut network, map, &turns);
        network.find_routes(map)?;
        Ok(network)
    }

    /// The name of the map.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// All lanes, in the order of their ids: those of roads first, then those that were laid for links.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }
    /// One lane.
    #[inline]
    pub fn lane(&self, id: LaneId) -> &Lane {
        &self.lanes[id.index()]
    }
    /// A lane of a road by its name.
    pub fn find(&self, road: &str, lane: &str) -> Option<LaneId> {
        self.names.get(&LaneName::new(road, lane)).copied()
    }
    /// The lane whose middle is nearest to a point, with the place on it. None only for a network without lanes.
    pub fn nearest(&self, point: Point) -> Option<(LaneId, Frenet)> {
        self.index.nearest(&self.lanes, point, |_, _| true)
    }
    /// The same among lanes that lead the way a car points.
    pub fn nearest_along(&self, pose: Pose) -> Option<(LaneId, Frenet)> {
        let along = |_: &Lane, place: &Frenet| maths::wrap_angle(place.heading - pose.heading).abs() < ALONG_MAX;
        self.index.nearest(&self.lanes, pose.point(), along)
    }
    /// All lanes whose middle comes within a radius of a point, in the order of ids.
    pub fn near(&self, point: Point, radius_m: f64, out: &mut Vec<LaneId>) {
        self.index.near(&self.lanes, point, radius_m, out);
    }
    /// All junctions.
    pub fn junctions(&self) -> &[Junction] {
        &self.junctions
    }
    /// One junction.
    pub fn junction(&self, id: JunctionId) -> &Junction {
        &self.junctions[id.0 as usize]
    }
    /// What holds for a turning lane of a junction: stop line, sign, light, conflicts.
    pub fn rule(&self, turn: LaneId) -> Option<&TurnRule> {
        self.rules[turn.index()].as_ref()
    }
    /// Programs of traffic lights.
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }
    /// Where people cross.
    pub fn crosswalks(&self) -> &[Crosswalk] {
        &self.crosswalks
    }
    /// Areas with a property of their own, in the order of the map.
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }
    /// Kerbs, fences and walls, in the order of the map.
    pub fn barriers(&self) -> &[Barrier] {
        &self.barriers
    }
    /// A route that the map names.
    pub fn named_route(&self, name: &str) -> Option<&Route> {
        self.routes.iter().find(|(known, _)| known == name).map(|(_, route)| route)
    }
    /// The zones that contain a point.
    pub fn zones_at(&self, point: Point) -> impl Iterator<Item = &Zone> {
        self.zones.iter().filter(move |zone| zone.contains(point))
    }

    fn find_routes(&mut self, map: &Map) -> Result<(), Vec<Flaw>> {
        let mut flaws = Vec::new();
        for (i, plan) in map.routes.iter().enumerate() {
            let place = |end: &(LaneName, f64)| LanePlace { lane: self.names[&end.0], station_m: end.1 };
            match self.route(place(&plan.from), place(&plan.to)) {
                Ok(route) => self.routes.push((plan.name.clone(), route)),
                Err(reason) => flaws.push(Flaw { at: Element::Route(i), kind: FlawKind::Unreachable(reason) }),
            }
        }
        if flaws.is_empty() { Ok(()) } else { Err(flaws) }
    }
}

fn lane(index: usize, name: LaneName, kind: LaneKind, plan: &LanePlan) -> Lane {
    Lane {
        id: LaneId(index as u32),
        name,
        kind,
        curve: Curve::new(plan),
        left: None,
        right: None,
        oncoming: None,
        markings: [plan.left, plan.right],
        next: Vec::new(),
        previous: Vec::new(),
        junction: None,
    }
}

/// Makes a link, by a lane of its own where exit and entry are apart, which is then returned.
fn connect(
    lanes: &mut Vec<Lane>,
    names: &BTreeMap<LaneName, LaneId>,
    junctions: &BTreeMap<&str, JunctionId>,
    link: &LinkPlan,
) -> Option<LaneId> {
    let (from, to) = (names[&link.from], names[&link.to]);
    let station = |id: LaneId, point: usize| lanes[id.index()].curve.knots[point];
    let from_station_m = link.exit_point.map_or(lanes[from.index()].length_m(), |point| station(from, point));
    let to_station_m = link.entry_point.map_or(0.0, |point| station(to, point));
    let (exit, entry) = (lanes[from.index()].at(from_station_m), lanes[to.index()].at(to_station_m));
    let turn = turn_of(exit.heading, entry.heading);
    if link.through.is_empty() && are_joined(link, &exit, &entry) {
        lanes[from.index()].next.push(Link { to, from_station_m, to_station_m, turn });
        lanes[to.index()].previous.push(from);
        return None;
    }
    let mut plan = lay(link, &exit, &entry);
    if link.limit_mps.is_none() {
        let curve = Curve::new(&plan);
        let places = (0..=20).map(|k| curve.jet(curve.length_m() * f64::from(k) / 20.0).curvature().abs());
        let comfortable_mps = comfortable_mps(places.fold(0.0, f64::max));
        plan.points.iter_mut().for_each(|point| point.limit_mps = point.limit_mps.min(comfortable_mps));
    }
    let id = LaneId(lanes.len() as u32);
    let name = LaneName::new(link.junction.clone().unwrap_or_default(), plan.name.clone());
    let mut laid = lane(id.index(), name, LaneKind::Turn(turn), &plan);
    laid.junction = link.junction.as_ref().map(|name| junctions[name.as_str()]);
    laid.next.push(Link { to, from_station_m: laid.length_m(), to_station_m, turn: Turn::Straight });
    laid.previous.push(from);
    lanes[from.index()].next.push(Link { to: id, from_station_m, to_station_m: 0.0, turn });
    lanes[to.index()].previous.push(id);
    lanes.push(laid);
    Some(id)
}
