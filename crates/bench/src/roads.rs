//! Places on a map: nearest lanes, lane coordinates both ways, and routes, in a city of 20 × 20 blocks.

use std::hint::black_box;

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::{Chance, Seed};
use anabranch_roads::make::{self, City, Control, Strip};
use anabranch_roads::{Frenet, LaneId, LaneKind, LanePlace, Network};

use crate::timing::medians_cpu_s;
use crate::{Figure, Goal};

const BLOCKS: usize = 20;
const BLOCK_M: f64 = 120.0;
const PLACES: u64 = 20_000;
const ROUTES: u64 = 100;
const REPEATS: usize = 7;

pub(crate) fn run() -> Vec<Figure> {
    let lanes = Strip { forward: 2, backward: 2, ..Strip::TWO_WAY };
    let city = City { columns: BLOCKS, rows: BLOCKS, block_m: BLOCK_M, lanes, control: Control::Lights };
    let network = Network::new(&make::city(city)).expect("cities are sound");
    let places = places(&network);
    let points: Vec<Point> = places.iter().map(|(lane, place)| network.lane(*lane).point(*place)).collect();
    let mut nearest = || {
        for point in &points {
            black_box(network.nearest(*point));
        }
    };
    let mut along = || {
        for point in &points {
            black_box(network.nearest_along(Pose::new(point.x, point.y, 0.3)));
        }
    };
    let mut to_lane = || {
        for ((lane, place), point) in places.iter().zip(&points) {
            black_box(network.lane(*lane).project(*point, place.station_m + 0.5));
        }
    };
    let mut to_world = || {
        for (lane, place) in &places {
            black_box(network.lane(*lane).point(*place));
        }
    };
    let [nearest_s, along_s, to_lane_s, to_world_s] =
        medians_cpu_s(REPEATS, [&mut nearest, &mut along, &mut to_lane, &mut to_world]);
    let ends: Vec<[LanePlace; 2]> = (0..ROUTES).map(|n| route_ends(&network, n)).collect();
    let found = ends.iter().filter(|[from, to]| network.route(*from, *to).is_ok()).count();
    let mut all_routes = || {
        for [from, to] in &ends {
            let _ = black_box(network.route(*from, *to));
        }
    };
    let [routes_s] = medians_cpu_s(REPEATS, [&mut all_routes]);
    let per_s = |seconds: f64| PLACES as f64 / seconds;
    vec![
        Figure::new(format!("lanes of the city, {BLOCKS} × {BLOCKS} blocks"), network.lanes().len() as f64, Goal::None),
        Figure::new("nearest lane with its lane coordinates: per CPU second", per_s(nearest_s), Goal::AtLeast(1e5)),
        Figure::new("nearest lane of a heading: per CPU second", per_s(along_s), Goal::None),
        Figure::new("from the world to a known lane: per CPU second", per_s(to_lane_s), Goal::AtLeast(1e6)),
        Figure::new("from a lane to the world: per CPU second", per_s(to_world_s), Goal::AtLeast(2e6)),
        Figure::new("routes across the city: per CPU second", ROUTES as f64 / routes_s, Goal::AtLeast(100.0)),
        Figure::new("share of these routes that exist", found as f64 / ROUTES as f64, Goal::AtLeast(0.9)),
    ]
}

/// Places beside the middle of lanes, all over the city.
fn places(network: &Network) -> Vec<(LaneId, Frenet)> {
    let chance = Chance::new(Seed(1), "places");
    let place = |n: u64| {
        let lane = &network.lanes()[(chance.at(n).uniform(0) * network.lanes().len() as f64) as usize];
        let station_m = lane.length_m() * chance.at(n).uniform(1);
        (lane.id(), Frenet { station_m, lateral_m: 2.0 * chance.at(n).uniform(2) - 1.0, heading: 0.0 })
    };
    (0..PLACES).map(place).collect()
}

/// Start and goal of a route, on two streets.
fn route_ends(network: &Network, number: u64) -> [LanePlace; 2] {
    let chance = Chance::new(Seed(2), "routes").at(number);
    let streets: Vec<LaneId> =
        network.lanes().iter().filter(|lane| lane.kind() == LaneKind::Road).map(|lane| lane.id()).collect();
    [0, 1].map(|end| {
        let lane = streets[(chance.uniform(end) * streets.len() as f64) as usize];
        LanePlace { lane, station_m: 0.5 * network.lane(lane).length_m() }
    })
}
