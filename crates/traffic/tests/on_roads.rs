//! Traffic on maps of the room `roads`.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::Seed;
use anabranch_roads::make::{self, City, Control, Strip};
use anabranch_roads::{LanePlace, Map, Network};
use anabranch_traffic::{
    Car, Flow, Input, LaneNumber, Layout, Population, Role, Scratch, Seen, Settings, Streets, Traffic, World, spread,
};

struct Town {
    network: Network,
    layout: Layout,
    traffic: Traffic,
}

fn town(map: &Map, adapt: impl FnOnce(&mut World, &Network, &Layout)) -> Town {
    let network = Network::new(map).unwrap();
    let (streets, layout) = Layout::new(&network).unwrap();
    let mut world = World::new(streets, Settings::new(0.1));
    adapt(&mut world, &network, &layout);
    Town { traffic: Traffic::new(world, Seed(1)).unwrap(), network, layout }
}

/// Flows into every lane that nothing leads into.
fn fill(world: &mut World, per_hour: f64) {
    let streets = &world.streets;
    let first = |lane: &LaneNumber| streets.prev(*lane).is_empty();
    let lanes: Vec<LaneNumber> = (0..streets.count() as LaneNumber).filter(first).collect();
    world.flows = lanes.into_iter().map(|lane| Flow { lane, per_hour, speed_mps: 8.0, kind: 0, route: 0 }).collect();
}

fn apart(population: &Population, streets: &Streets) {
    for lane in 0..streets.count() as LaneNumber {
        let mains: Vec<&Car> = population.in_lane(lane).iter().filter(|car| car.role == Role::Car).collect();
        for pair in mains.windows(2) {
            assert!(pair[1].station_m - 4.6 > pair[0].station_m - 0.3, "tick {}: {pair:?}", population.tick);
        }
    }
}

/// Runs a town for a time; nobody drives into anybody, nobody jumps. Returns the mean speed and how many have come in.
fn flows(town: &Town, seconds: u32, per_km: f64) -> (f64, u32) {
    let mut population = town.traffic.start(&spread(&town.traffic, per_km, 8.0));
    let mut scratch = Scratch::default();
    let (mut way_m, mut cars) = (0.0, 0.0);
    for _ in 0..seconds * 10 {
        let before: Vec<(u32, Pose)> =
            population.cars().map(|car| (car.id, town.layout.front(&town.network, car))).collect();
        town.traffic.step(&mut population, Input::default(), &mut scratch);
        apart(&population, town.traffic.streets());
        for (id, from) in before {
            let Some(car) = population.find(id) else { continue };
            let to = town.layout.front(&town.network, car);
            let moved_m = from.point().distance_m(to.point());
            assert!(moved_m < 0.1 * car.speed_mps * 1.1 + 0.3, "car {id} jumps {moved_m} m: {car:?}");
            way_m += car.speed_mps * 0.1;
            cars += 0.1;
        }
    }
    (way_m / cars, population.flows().iter().map(|flow| flow.sent).sum())
}

#[test]
fn a_city_of_the_map_maker_flows_with_lights_and_with_signs() {
    for control in [Control::Lights, Control::StopAtSide, Control::AllWayStop, Control::Nothing] {
        let shape = City { columns: 2, rows: 2, block_m: 150.0, lanes: Strip::TWO_WAY, control };
        let town = town(&make::city(shape), |_, _, _| {});
        let (mean_mps, _) = flows(&town, 90, 15.0);
        assert!(mean_mps > 2.0, "{control:?}: {mean_mps} m/s");
    }
}

#[test]
fn a_roundabout_a_ramp_and_a_lane_drop_let_everybody_through() {
    let maps = [make::roundabout(20.0, 4, 150.0), make::on_ramp(2, 250.0), make::lane_drop(2, 400.0, 300.0)];
    for (map, least_mps) in maps.iter().zip([3.0, 8.0, 8.0]) {
        let town = town(map, |world, _, _| fill(world, 500.0));
        let (mean_mps, sent) = flows(&town, 120, 1.0);
        assert!(mean_mps > least_mps && sent > 20, "{}: {mean_mps} m/s, {sent} cars", map.name);
    }
}

#[test]
fn a_car_follows_its_route_to_the_goal() {
    let shape = City { columns: 2, rows: 2, block_m: 150.0, lanes: Strip::TWO_WAY, control: Control::StopAtSide };
    let mut goal = 0;
    let mut start = (0, 0.0);
    let town = town(&make::city(shape), |world, network, layout| {
        let from = LanePlace { lane: network.find("e-0-0", "1").unwrap(), station_m: 10.0 };
        let to = LanePlace { lane: network.find("n-2-1", "1").unwrap(), station_m: 60.0 };
        world.routes.push(layout.route(network, &network.route(from, to).unwrap()));
        start = layout.place(from.lane, from.station_m);
        goal = layout.place(to.lane, to.station_m).0;
    });
    let car = town.traffic.with(town.traffic.car(5, start.0, start.1, 5.0), 0, 1);
    let mut population = town.traffic.start(&[car]);
    let mut scratch = Scratch::default();
    let mut arrived = false;
    for _ in 0..1200 {
        town.traffic.step(&mut population, Input::default(), &mut scratch);
        arrived |= population.find(5).is_some_and(|car| car.lane == goal);
    }
    assert!(arrived);
}

#[test]
fn somebody_from_outside_is_seen_in_every_lane_that_he_reaches() {
    let town = town(&make::straight(300.0, 2), |_, _, _| {});
    let right = town.network.find("main", "1").unwrap();
    let left = town.network.lane(right).left().unwrap();
    let middle = town.network.lane(right).position(100.0);
    let other = town.network.lane(left).position(100.0);
    let seen = Seen { speed_mps: 10.0, half_width_m: 0.9, kind: 0 };
    let (mut lanes, mut out) = (Vec::new(), Vec::new());
    town.layout.outside(&town.network, Pose::new(middle.x, middle.y, 0.0), seen, &mut lanes, &mut out);
    assert_eq!(out.len(), 1);
    assert!((out[0].station_m - 100.0).abs() < 1e-6 && out[0].speed_mps == 10.0, "{out:?}");
    let between = Point::new(0.5 * (middle.x + other.x), 0.5 * (middle.y + other.y));
    out.clear();
    town.layout.outside(&town.network, Pose::new(between.x, between.y, 0.0), seen, &mut lanes, &mut out);
    assert_eq!(out.len(), 2, "{out:?}");
}
