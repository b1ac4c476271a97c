//! From the parts of an RNDF to a map.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_geometry::Point;
use anabranch_roads::report::{Notes, Span};
use anabranch_roads::{
    ApproachPlan, Element, JunctionPlan, LaneName, LanePlan, LinkPlan, Map, Marking, Network, RoadPlan, Sign, Waypoint,
    Zone, ZoneKind, make,
};

use super::cluster::junctions;
use super::legs::{MissionLeg, spot_name, zone_name};
use super::parse::{Exit, Id, Place, Rndf, Strand};
use super::{Imported, Remark};
use crate::earth::Origin;
use crate::mdf::Mission;

const FOOT_M: f64 = 0.3048;
const MPH_MPS: f64 = 0.447_04;
/// Lanes without `lane_width` are as wide as DARPA's own.
const LANE_WIDTH_FT: f64 = 12.0;
/// Spots without `spot_width`.
const SPOT_WIDTH_FT: f64 = 10.0;
/// A mission may ask for standing still; lanes need some speed to be lanes: 1 m/s.
const LIMIT_MIN_MPS: f64 = 1.0;
/// DARPA's spots are as long as a car from their second way-point on backwards; they are drawn with this length.
const SPOT_LENGTH_M: f64 = 6.0;

/// A map with the places of its elements.
pub(super) struct Converted {
    pub map: Map,
    pub origin: Origin,
    pub spans: BTreeMap<Element, Span>,
    pub remarks: Vec<Remark>,
}

/// Carries everything over; dangling ids are in the notes.
pub(super) fn convert(file: &Rndf, mission: Option<&Mission>, notes: &mut Notes<'_>) -> Converted {
    let first = file.strands().find_map(|strand| strand.points.first());
    let origin = first.map_or(Origin::new(0.0, 0.0), |place| Origin::new(place.latitude, place.longitude));
    let map = Map { name: file.name.clone(), ..Map::default() };
    let mut converted = Converted { map, origin, spans: BTreeMap::new(), remarks: Vec::new() };
    converted.roads(file, mission);
    let exits = check_exits(file, notes);
    converted.links(file, &exits);
    converted.zones(file);
    check_checkpoints(file, notes);
    check_spots(file, notes);
    if let Some(mission) = mission {
        converted.zone_limits(file, mission);
    }
    converted
}

fn lane_name(id: [usize; 2]) -> LaneName {
    LaneName::new(id[0].to_string(), id[1].to_string())
}

/// All exits between lanes that exist. Ids that lead nowhere are noted.
fn check_exits(file: &Rndf, notes: &mut Notes<'_>) -> Vec<Exit> {
    let points: BTreeMap<[usize; 2], usize> = file.strands().map(|strand| (strand.id, strand.points.len())).collect();
    let lanes: BTreeSet<[usize; 2]> = file.lanes().map(|lane| lane.id).collect();
    let mut between_lanes = Vec::new();
    for exit in file.strands().flat_map(|strand| &strand.exits) {
        let missing = [exit.from, exit.to].into_iter().find(|id| {
            let count = points.get(&[id.0[0], id.0[1]]).copied().unwrap_or(0);
            id.0[2] == 0 || id.0[2] > count
        });
        if let Some(id) = missing {
            let help = "exits lead from a way-point of this lane to one of any lane or zone";
            notes.add("E0707", exit.span, format!("there is no way-point `{id}`"), help);
        } else if [exit.from, exit.to].iter().all(|id| lanes.contains(&[id.0[0], id.0[1]])) {
            between_lanes.push(*exit);
        }
    }
    let stops = file.strands().flat_map(|strand| strand.stops.iter().map(|(id, span)| (*id, *span)));
    let checkpoints = file.strands().flat_map(|strand| strand.checkpoints.iter().map(|(id, _, span)| (*id, *span)));
    for (id, span) in stops.chain(checkpoints) {
        let count = points.get(&[id.0[0], id.0[1]]).copied().unwrap_or(0);
        if id.0[2] == 0 || id.0[2] > count {
            notes.add("E0707", span, format!("there is no way-point `{id}`"), "way-points are counted from 1");
        }
    }
    between_lanes
}

fn check_checkpoints(file: &Rndf, notes: &mut Notes<'_>) {
    let mut seen = BTreeSet::new();
    for (_, number, span) in file.strands().flat_map(|strand| &strand.checkpoints) {
        if !seen.insert(*number) {
            notes.add("E0708", *span, format!("there is another checkpoint {number}"), "give it another number");
        }
    }
}

/// A spot is where a car begins to turn in and where it stands.
fn check_spots(file: &Rndf, notes: &mut Notes<'_>) {
    for spot in file.zones.iter().flat_map(|zone| &zone.spots).filter(|spot| spot.points.len() != 2) {
        let message = format!("spot {}.{} has {} way-point(s)", spot.id[0], spot.id[1], spot.points.len());
        notes.add("E0705", spot.span, message, "a spot has two: where a car turns in, and where it stands");
    }
}

impl Converted {
    /// The map with its network.
    pub(super) fn imported(self, network: Network, legs: Vec<MissionLeg>) -> Imported {
        Imported { map: self.map, network, origin: self.origin, legs, remarks: self.remarks }
    }
    fn approximated(&mut self, what: impl Into<String>) {
        self.remarks.push(Remark::Approximated(what.into()));
    }
    fn left_out(&mut self, what: impl Into<String>) {
        self.remarks.push(Remark::LeftOut(what.into()));
    }
    fn point(&self, place: &Place) -> Point {
        self.origin.point(place.latitude, place.longitude)
    }

    fn roads(&mut self, file: &Rndf, mission: Option<&Mission>) {
        for (r, segment) in file.segments.iter().enumerate() {
            self.spans.insert(Element::Road(r), segment.span);
            let limits = mission.map_or(&[][..], |mission| &mission.limits);
            let limit = limits.iter().find(|(number, _)| *number == segment.number).map(|(_, mph)| mph * MPH_MPS);
            let limit_mps = limit.unwrap_or(make::TOWN_LIMIT_MPS).max(LIMIT_MIN_MPS);
            let mut road = RoadPlan { name: segment.number.to_string(), lanes: Vec::new() };
            for (l, lane) in segment.lanes.iter().enumerate() {
                self.spans.insert(Element::Lane(r, l), lane.span);
                for (p, place) in lane.points.iter().enumerate() {
                    self.spans.insert(Element::Point(r, l, p), place.span);
                }
                road.lanes.push(self.lane(lane, limit_mps));
            }
            self.map.roads.push(road);
        }
        let unsized_lanes = file.lanes().filter(|lane| lane.width_ft.is_none()).count();
        if unsized_lanes > 0 {
            self.approximated(format!("{unsized_lanes} lane(s) have no lane_width; {LANE_WIDTH_FT} ft was taken"));
        }
        if mission.is_none() {
            self.approximated("without an MDF every speed limit is 50 km/h");
        }
    }

    fn lane(&self, lane: &Strand, limit_mps: f64) -> LanePlan {
        let width_m = lane.width_ft.unwrap_or(LANE_WIDTH_FT) * FOOT_M;
        let waypoint = |place: &Place| Waypoint { position: self.point(place), width_m, limit_mps };
        let marking = |solid: bool| if solid { Marking::Solid } else { Marking::Broken };
        LanePlan {
            name: lane.id[1].to_string(),
            points: lane.points.iter().map(waypoint).collect(),
            left: marking(lane.left_solid),
            right: marking(lane.right_solid),
            ..LanePlan::default()
        }
    }

    fn links(&mut self, file: &Rndf, exits: &[Exit]) {
        let lanes: BTreeMap<[usize; 2], &Strand> = file.lanes().map(|lane| (lane.id, lane)).collect();
        let place = |id: Id| self.point(&lanes[&[id.0[0], id.0[1]]].points[id.0[2] - 1]);
        let turns: Vec<[Point; 2]> = exits.iter().map(|exit| [place(exit.from), place(exit.to)]).collect();
        let clusters = junctions(&turns);
        let name = |cluster: usize| format!("j{}", cluster + 1);
        for (exit, cluster) in exits.iter().zip(&clusters) {
            self.spans.insert(Element::Link(self.map.links.len()), exit.span);
            let lane = |id: Id| lane_name([id.0[0], id.0[1]]);
            self.map.links.push(LinkPlan {
                exit_point: Some(exit.from.0[2] - 1),
                entry_point: Some(exit.to.0[2] - 1),
                junction: cluster.map(name),
                ..LinkPlan::new(lane(exit.from), lane(exit.to))
            });
        }
        for cluster in 0..clusters.iter().flatten().max().map_or(0, |last| last + 1) {
            let members = exits.iter().zip(&clusters).filter(|(_, of)| **of == Some(cluster)).map(|(exit, _)| exit);
            let froms: BTreeSet<Id> = members.map(|exit| exit.from).collect();
            let approaches = froms.iter().map(|from| approach(*from, &lanes)).collect();
            self.map.junctions.push(JunctionPlan { name: name(cluster), approaches, ..JunctionPlan::default() });
        }
        let all = file.strands().map(|strand| strand.exits.len()).sum::<usize>();
        if all > exits.len() {
            let count = all - exits.len();
            self.left_out(format!("{count} exit(s) into or out of zones as links: no lane leads through a zone"));
        }
        if !exits.is_empty() {
            self.approximated("turns between exits and entries, and which of them cross, were worked out");
        }
    }

    fn zones(&mut self, file: &Rndf) {
        for zone in &file.zones {
            if let Some(perimeter) = &zone.perimeter {
                let corners = perimeter.points.iter().map(|place| self.point(place)).collect();
                self.add_zone(zone_name(zone.number), ZoneKind::Open, corners, perimeter.span);
            }
            for spot in &zone.spots {
                let points: Vec<Point> = spot.points.iter().map(|place| self.point(place)).collect();
                let [from, to] = points[..] else { continue };
                let half_m = 0.5 * spot.width_ft.unwrap_or(SPOT_WIDTH_FT) * FOOT_M;
                self.add_zone(spot_name(spot.id), ZoneKind::Spot, box_around(from, to, half_m), spot.span);
            }
        }
        if !file.zones.is_empty() {
            self.approximated("zones became open areas, spots rectangles; no lane leads through them");
        }
    }

    fn zone_limits(&mut self, file: &Rndf, mission: &Mission) {
        let is_zone = |number: usize| file.zones.iter().any(|zone| zone.number == number);
        let count = mission.limits.iter().filter(|(number, _)| is_zone(*number)).count();
        if count > 0 {
            self.left_out(format!("the speed limit(s) of {count} zone(s)"));
        }
    }

    fn add_zone(&mut self, name: String, kind: ZoneKind, corners: Vec<Point>, span: Span) {
        self.spans.insert(Element::Zone(self.map.zones.len()), span);
        self.map.zones.push(Zone { name, kind, corners });
    }
}

fn approach(from: Id, lanes: &BTreeMap<[usize; 2], &Strand>) -> ApproachPlan {
    let id = [from.0[0], from.0[1]];
    let stops = lanes[&id].stops.iter().any(|(stop, _)| *stop == from);
    ApproachPlan {
        lane: lane_name(id),
        sign: if stops { Sign::Stop } else { Sign::None },
        stop_before_m: 0.0,
        group: None,
        turn_groups: Vec::new(),
    }
}

/// A rectangle along a line, that long backwards from its end.
fn box_around(from: Point, to: Point, half_m: f64) -> Vec<Point> {
    let length_m = from.distance_m(to).max(1e-9);
    let along = Point::new((to.x - from.x) / length_m, (to.y - from.y) / length_m);
    let corner = |ahead_m: f64, left_m: f64| {
        Point::new(to.x + along.x * ahead_m - along.y * left_m, to.y + along.y * ahead_m + along.x * left_m)
    };
    let back_m = -SPOT_LENGTH_M.max(length_m);
    vec![corner(0.0, half_m), corner(back_m, half_m), corner(back_m, -half_m), corner(0.0, -half_m)]
}
