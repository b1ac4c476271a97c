//! Many of these drivers in one town, each seeing the others: the rules must work from all sides at once.

use anabranch_geometry::{Body, EdgeSet, Point};
use anabranch_kernel::{Chance, Seed};
use anabranch_roads::make::{self, City, Control, Strip};
use anabranch_roads::{LaneKind, LanePlace, SignalRef};
use anabranch_vehicle::{CarModel, Inputs, Plant, PlantState, SingleTrackModel};

use super::*;
use crate::track::EgoEstimate;

const CYCLE_S: f64 = 0.05;

struct Actor {
    driver: RoadDriver,
    plant: Plant,
    state: PlantState,
    memory: RoadMemory,
}

/// Cars at random places of a town, none near another, with random goals.
fn actors(network: &Arc<Network>, number: usize, seed: u64) -> Vec<Actor> {
    let roads: Vec<LaneId> =
        network.lanes().iter().filter(|lane| lane.kind() == LaneKind::Road).map(|lane| lane.id()).collect();
    let chance = Chance::new(Seed(seed), "town");
    let mut actors: Vec<Actor> = Vec::new();
    for tick in 0..1000 {
        let draw = |n: u64| roads[chance.at(tick).below(n, roads.len() as u64) as usize];
        let (from, to) = (draw(0), draw(1));
        let station_m = 5.0 + 0.5 * chance.at(tick).uniform(2) * network.lane(from).length_m();
        let goal = LanePlace { lane: to, station_m: 0.6 * network.lane(to).length_m() };
        let Ok(route) = network.route(LanePlace { lane: from, station_m }, goal) else { continue };
        if actors.len() == number {
            break;
        }
        let car = SingleTrackSpec::compact();
        let (plant, driver) = if actors.len().is_multiple_of(2) {
            let plant = Plant::SingleTrack(SingleTrackModel::new(car, CYCLE_S));
            (plant, RoadDriver::for_tyres(RoadDriverSpec::CALM, network.clone(), route, &car, CYCLE_S))
        } else {
            let plant = Plant::Car(CarModel::new(car.car, CYCLE_S));
            (plant, RoadDriver::for_rolling(RoadDriverSpec::EAGER, network.clone(), route, &car.car, CYCLE_S))
        };
        let driver = driver.unwrap();
        let pose = driver.start_pose();
        let near = |actor: &Actor| actor.state.car().pose().point().distance_m(pose.point()) < 25.0;
        if actors.iter().any(near) {
            continue;
        }
        let (state, memory) = (plant.start(pose, 0.0), driver.start());
        actors.push(Actor { driver, plant, state, memory });
    }
    actors
}

fn seen_object(actor: &Actor) -> SeenObject {
    let car = actor.state.car();
    let outline = actor.plant.spec().outline;
    let middle = car.pose().world_from_local(Point::new(0.5 * (outline.front_m - outline.rear_m), 0.0));
    let (sin, cos) = maths::sin_cos(car.heading);
    SeenObject {
        pose: Pose::new(middle.x, middle.y, car.heading),
        velocity_mps: [car.speed * cos, car.speed * sin],
        half_length_m: 0.5 * (outline.front_m + outline.rear_m),
        half_width_m: outline.half_width_m,
        kind: ObjectKind::Car,
    }
}

fn lights(network: &Network, time_s: f64) -> Vec<SeenLight> {
    let mut lights = Vec::new();
    for (program, shown) in network.programs().iter().enumerate() {
        for group in 0..shown.groups.len() {
            let aspect = shown.aspect(group, (time_s * 1e6) as u64);
            lights.push(SeenLight { signal: SignalRef { program, group }, aspect });
        }
    }
    lights
}

/// Drives all of them; cars that have arrived are taken away. Returns how many have not.
fn drive(control: Control, lanes: Strip, number: usize, seed: u64, seconds: f64) -> usize {
    let city = City { columns: 2, rows: 2, block_m: 90.0, lanes, control };
    let network = Arc::new(Network::new(&make::city(city)).unwrap());
    let mut actors = actors(&network, number, seed);
    for tick in 0..(seconds / CYCLE_S) as u32 {
        let time_s = f64::from(tick) * CYCLE_S;
        let objects: Vec<SeenObject> = actors.iter().map(seen_object).collect();
        let lights = lights(&network, time_s);
        for (i, actor) in actors.iter_mut().enumerate() {
            let others: Vec<SeenObject> =
                objects.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, object)| *object).collect();
            check_contact(actor, &others, &format!("{control:?}, seed {seed}, car {i} at {time_s:.2} s"));
            let ego = EgoEstimate::from(actor.plant.motion(&actor.state));
            let command = actor.driver.decide(
                &mut actor.memory,
                &Seen { ego, objects: &others, lights: &lights, heard: &[], soft_tyre: false, signs_m: f64::INFINITY },
            );
            let (steering, accel) = (command.steering, command.accel);
            actor.plant.step(&mut actor.state, &Inputs { steering, accel, gear_sign: 1.0, friction: 0.9 });
        }
        actors.retain(|actor| !actor.memory.arrived);
    }
    for actor in &actors {
        println!("{control:?} seed {seed}: not there: {:?} {:?}", actor.state.car(), actor.memory);
    }
    actors.len()
}

fn check_contact(actor: &Actor, others: &[SeenObject], what: &str) {
    let pose = actor.state.car().pose();
    let mut edges = EdgeSet::default();
    for (number, other) in others.iter().enumerate() {
        if other.pose.point().distance_m(pose.point()) < 12.0 {
            let (l, w) = (other.half_length_m, other.half_width_m);
            let corners =
                [(l, w), (-l, w), (-l, -w), (l, -w)].map(|(x, y)| other.pose.world_from_local(Point::new(x, y)));
            edges.add_polygon(number as u32, &corners);
        }
    }
    let body = Body::new(&actor.plant.spec().outline);
    let hit = edges.overlapped(&body, pose);
    assert!(hit.is_none(), "{what} at {pose:?} touches {:?}; {:?}", hit.map(|i| others[i as usize]), actor.memory);
}

#[test]
fn drivers_share_a_town_with_lights_without_touching_each_other() {
    for seed in 0..2 {
        assert_eq!(drive(Control::Lights, Strip::TWO_WAY, 12, seed, 240.0), 0, "all arrive");
    }
}

#[test]
fn drivers_share_a_town_of_stop_signs_without_touching_each_other() {
    for seed in 0..2 {
        assert_eq!(drive(Control::AllWayStop, Strip::TWO_WAY, 12, seed, 240.0), 0, "all arrive");
    }
}

#[test]
fn drivers_share_a_town_of_side_streets_without_touching_each_other() {
    for seed in 0..2 {
        assert_eq!(drive(Control::StopAtSide, Strip::TWO_WAY, 12, seed, 240.0), 0, "all arrive");
    }
}

#[test]
fn drivers_share_streets_of_two_lanes_each_way_without_touching_each_other() {
    let lanes = Strip { forward: 2, backward: 2, ..Strip::TWO_WAY };
    for seed in 0..2 {
        assert_eq!(drive(Control::Lights, lanes, 14, seed, 240.0), 0, "all arrive");
    }
}
