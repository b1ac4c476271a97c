//! The driver on roads with a car, in a simple loop.

use std::f64::consts::{FRAC_PI_2, PI};

use anabranch_geometry::{Body, EdgeSet, Point};
use anabranch_kernel::contract::check_part;
use anabranch_kernel::{from_bytes, to_bytes};
use anabranch_roads::make::{self, Control, Crossing, Strip};
use anabranch_roads::{Aspect, LanePlace, Map, Network, SignalRef};
use anabranch_vehicle::{CarModel, Inputs, Plant, PlantMotion, SingleTrackModel};

use super::*;
use crate::track::EgoEstimate;

mod rerouting;

const CYCLE_S: f64 = 0.02;

/// A scripted world around the driver.
struct World<'w> {
    network: Arc<Network>,
    driver: RoadDriver,
    plant: Plant,
    objects: Box<dyn Fn(f64) -> Vec<SeenObject> + 'w>,
    signs_m: f64,
}

/// A moment of a run.
#[derive(Clone, Copy)]
struct Moment {
    time_s: f64,
    motion: PlantMotion,
    memory: RoadMemory,
    accel: f64,
    /// Distance of the car to the nearest object.
    clearance_m: f64,
}

fn rolling() -> Plant {
    Plant::Car(CarModel::new(CarSpec::compact(), CYCLE_S))
}
fn tyres() -> Plant {
    Plant::SingleTrack(SingleTrackModel::new(SingleTrackSpec::compact(), CYCLE_S))
}

impl<'w> World<'w> {
    fn new(map: &Map, from: (&str, &str, f64), to: (&str, &str, f64), plant: Plant) -> Self {
        let network = Arc::new(Network::new(map).unwrap());
        let place = |(road, lane, station_m): (&str, &str, f64)| LanePlace {
            lane: network.find(road, lane).unwrap(),
            station_m,
        };
        let route = network.route(place(from), place(to)).unwrap();
        let driver = match &plant {
            Plant::SingleTrack(model) => {
                RoadDriver::for_tyres(RoadDriverSpec::CALM, network.clone(), route, &model.spec, CYCLE_S)
            }
            _ => RoadDriver::for_rolling(RoadDriverSpec::CALM, network.clone(), route, plant.spec(), CYCLE_S),
        };
        Self { network, driver: driver.unwrap(), plant, objects: Box::new(|_| Vec::new()), signs_m: f64::INFINITY }
    }
    fn with(self, objects: impl Fn(f64) -> Vec<SeenObject> + 'w) -> Self {
        Self { objects: Box::new(objects), ..self }
    }
    fn lights(&self, time_s: f64) -> Vec<SeenLight> {
        let programs = self.network.programs().iter().enumerate();
        let light = |program: usize, group: usize| {
            let aspect = self.network.programs()[program].aspect(group, (time_s * 1e6) as u64);
            SeenLight { signal: SignalRef { program, group }, aspect }
        };
        programs
            .flat_map(|(number, program)| (0..program.groups.len()).map(move |group| light(number, group)))
            .collect()
    }
    fn run(&self, speed_mps: f64, seconds: f64) -> Vec<Moment> {
        self.run_keeping(speed_mps, seconds, |memory| memory)
    }
    /// The same; what is remembered from cycle to cycle goes through `keep`.
    fn run_keeping(&self, speed_mps: f64, seconds: f64, keep: impl Fn(RoadMemory) -> RoadMemory) -> Vec<Moment> {
        let body = Body::new(&self.plant.spec().outline);
        let mut state = self.plant.start(self.driver.start_pose(), speed_mps);
        let mut memory = self.driver.start();
        let mut moments = Vec::new();
        for tick in 0..(seconds / CYCLE_S) as u32 {
            let time_s = f64::from(tick) * CYCLE_S;
            let motion = self.plant.motion(&state);
            let (objects, lights) = ((self.objects)(time_s), self.lights(time_s));
            let seen = Seen {
                ego: EgoEstimate::from(motion),
                objects: &objects,
                lights: &lights,
                heard: &[],
                soft_tyre: false,
                signs_m: self.signs_m,
            };
            memory = keep(memory);
            let command = self.driver.decide(&mut memory, &seen);
            let clearance_m = clearance_m(&body, motion.pose, &objects);
            moments.push(Moment { time_s, motion, memory, accel: command.accel, clearance_m });
            let (steering, accel) = (command.steering, command.accel);
            self.plant.step(&mut state, &Inputs { steering, accel, gear_sign: 1.0, friction: 0.9 });
        }
        moments
    }
    /// Metres beside the middle of the lane it plans on.
    fn lateral_m(&self, moment: &Moment) -> f64 {
        let lane = self.network.lane(moment.memory.lane);
        lane.project(moment.motion.pose.point(), moment.memory.station_m).lateral_m
    }
}

fn clearance_m(body: &Body, pose: Pose, objects: &[SeenObject]) -> f64 {
    let mut edges = EdgeSet::default();
    for (number, object) in objects.iter().enumerate() {
        let (l, w) = (object.half_length_m, object.half_width_m);
        let corners = [(l, w), (-l, w), (-l, -w), (l, -w)].map(|(x, y)| object.pose.world_from_local(Point::new(x, y)));
        edges.add_polygon(number as u32, &corners);
    }
    if edges.overlapped(body, pose).is_some() {
        return -1.0;
    }
    edges.nearest(body, pose).map_or(f64::INFINITY, |nearest| nearest.clearance_m)
}
fn object(pose: Pose, speed_mps: f64, kind: ObjectKind) -> SeenObject {
    let (sin, cos) = maths::sin_cos(pose.heading);
    let (half_length_m, half_width_m) = match kind {
        ObjectKind::Pedestrian => (0.25, 0.25),
        _ => (2.1, 0.9),
    };
    SeenObject { pose, velocity_mps: [speed_mps * cos, speed_mps * sin], half_length_m, half_width_m, kind }
}
fn car(x: f64, y: f64, heading: f64, speed_mps: f64) -> SeenObject {
    object(Pose::new(x, y, heading), speed_mps, ObjectKind::Car)
}
fn least_clearance_m(moments: &[Moment]) -> f64 {
    moments.iter().fold(f64::INFINITY, |least, moment| least.min(moment.clearance_m))
}
fn hardest_braking(moments: &[Moment]) -> f64 {
    moments.iter().fold(0.0, |hardest: f64, moment| hardest.max(-moment.accel))
}
fn last(moments: &[Moment]) -> Moment {
    moments[moments.len() - 1]
}
fn cross(control: Control) -> Map {
    let arms = [("east", 0.0), ("north", FRAC_PI_2), ("west", PI), ("south", -FRAC_PI_2)];
    let arms = arms.map(|(name, heading)| (name.to_owned(), heading)).to_vec();
    make::crossing(&Crossing { arms, arm_m: 120.0, lanes: Strip::TWO_WAY, control })
}

#[test]
fn it_keeps_its_lane_and_the_limits_of_speed_and_curve() {
    for plant in [rolling(), tyres()] {
        for radius_m in [15.0, 40.0, 150.0] {
            let world =
                World::new(&make::arc(radius_m, PI, 1), ("main", "1", 1.0), ("main", "1", radius_m * 3.0), plant);
            let moments = world.run(0.0, 60.0);
            for moment in &moments {
                let speed = moment.motion.speed_mps;
                assert!(world.lateral_m(moment).abs() < 0.25, "{radius_m}: {}", world.lateral_m(moment));
                assert!(speed * speed / radius_m < 2.2 && speed < 13.95, "{radius_m}: {speed}");
            }
            assert!(last(&moments).memory.arrived, "{radius_m}");
            let off_m = world.network.lane(last(&moments).memory.lane).position(radius_m * 3.0);
            assert!(off_m.distance_m(last(&moments).motion.pose.point()) < 1.0);
        }
    }
}

/// Constant time gap (S4-13): behind a car of constant speed v the gap settles at l + h·v.
#[test]
fn the_gap_behind_another_car_settles_at_the_time_gap() {
    for plant in [rolling(), tyres()] {
        let ahead = |t: f64| vec![car(60.0 + 8.0 * t, 0.0, 0.0, 8.0)];
        let world = World::new(&make::straight(900.0, 1), ("main", "1", 1.0), ("main", "1", 890.0), plant).with(ahead);
        let moments = world.run(13.0, 60.0);
        let moment = last(&moments);
        let gap_m = 60.0 + 8.0 * moment.time_s - 2.1 - (moment.motion.pose.x + 3.45);
        let manner = SpeedManner::CALM;
        assert!((gap_m - (manner.stand_gap_m + manner.time_gap_s * 8.0)).abs() < 0.3, "{gap_m}");
        assert!(hardest_braking(&moments) < 2.5 && (moment.motion.speed_mps - 8.0).abs() < 0.1);
    }
}

/// Where the car begins to brake for the line, and how fast its front passes it; with signs that are seen from so far away.
fn at_a_stop_sign(signs_m: f64) -> (f64, f64) {
    let map = make::t_junction(150.0, Control::StopAtSide);
    let world = World::new(&map, ("south", "-1", 60.0), ("east", "1", 100.0), rolling());
    let world = World { signs_m, ..world };
    let lane = world.network.find("south", "-1").unwrap();
    let line_m =
        world.network.lane(lane).next().iter().find_map(|link| world.network.rule(link.to)).unwrap().stop_station_m;
    let moments = world.run(12.0, 15.0);
    let front = |moment: &&Moment| moment.memory.station_m + 3.45;
    let on_it = || moments.iter().filter(|moment| moment.memory.lane == lane);
    let brakes = on_it().find(|moment| moment.accel < -1.6).map_or(0.0, |moment| line_m - front(&moment));
    let passes = on_it().find(|moment| front(moment) > line_m - 0.7).map_or(0.0, |moment| moment.motion.speed_mps);
    (brakes, passes)
}

#[test]
fn a_sign_that_is_seen_late_is_braked_for_late_or_passed() {
    let (known_m, known_mps) = at_a_stop_sign(f64::INFINITY);
    let (near_m, near_mps) = at_a_stop_sign(12.0);
    assert!(known_mps < 0.5 && near_mps < 2.0, "both stand: {known_mps} {near_mps}");
    assert!(near_m <= known_m, "{near_m} {known_m}");
    let (_, unseen_mps) = at_a_stop_sign(0.5);
    assert!(unseen_mps > 3.0, "nobody stops for a sign that he does not see: {unseen_mps}");
}

#[test]
fn it_stops_behind_a_car_that_brakes_to_a_stop() {
    let ahead = |t: f64| {
        let v = (12.0 - 4.0 * (t - 3.0).max(0.0)).max(0.0);
        let braked = (t - 3.0).clamp(0.0, 3.0);
        let x = 40.0 + 12.0 * t.min(3.0) + 12.0 * braked - 2.0 * braked * braked;
        vec![car(x, 0.0, 0.0, v)]
    };
    let world = World::new(&make::straight(400.0, 1), ("main", "1", 1.0), ("main", "1", 390.0), tyres()).with(ahead);
    let moments = world.run(12.0, 20.0);
    assert!(last(&moments).motion.speed_mps == 0.0);
    let least_m = least_clearance_m(&moments);
    assert!((1.5..4.0).contains(&least_m), "{least_m}");
    assert!(hardest_braking(&moments) < 5.0, "{}", hardest_braking(&moments));
}

#[test]
fn it_swerves_around_a_parked_car_that_leaves_room_and_comes_back() {
    for plant in [rolling(), tyres()] {
        let parked = |_| vec![car(100.0, -1.9, 0.0, 0.0)];
        let world = World::new(&make::straight(250.0, 1), ("main", "1", 1.0), ("main", "1", 200.0), plant).with(parked);
        let moments = world.run(10.0, 40.0);
        assert!(last(&moments).memory.arrived, "it got past: {:?}", last(&moments).motion);
        assert!(least_clearance_m(&moments) > 0.2, "{}", least_clearance_m(&moments));
        assert!(last(&moments).motion.pose.y.abs() < 0.1);
    }
}

#[test]
fn it_passes_a_blocked_lane_over_the_free_one_beside_it() {
    for plant in [rolling(), tyres()] {
        let parked = |_| vec![car(120.0, 0.0, 0.0, 0.0)];
        let world = World::new(&make::straight(300.0, 2), ("main", "1", 1.0), ("main", "1", 280.0), plant).with(parked);
        let moments = world.run(12.0, 60.0);
        assert!(last(&moments).memory.arrived, "{:?}", last(&moments).motion);
        assert!(least_clearance_m(&moments) > 0.3, "{}", least_clearance_m(&moments));
        assert!(moments.iter().any(|moment| moment.motion.pose.y > 3.0), "by the left lane");
        assert!(last(&moments).motion.pose.y.abs() < 0.3, "and back");
    }
}

#[test]
fn it_waits_behind_a_blocked_lane_until_the_one_beside_it_is_free() {
    // A column of cars passes on the left.
    let world = World::new(&make::straight(300.0, 2), ("main", "1", 1.0), ("main", "1", 280.0), tyres()).with(|t| {
        let column = (0..14).map(|i| car(12.0 * t - 10.0 * f64::from(i), 3.5, 0.0, 12.0));
        column.chain([car(100.0, 0.0, 0.0, 0.0)]).filter(|car| (0.0..300.0).contains(&car.pose.x)).collect()
    });
    let moments = world.run(12.0, 60.0);
    assert!(least_clearance_m(&moments) > 0.3, "{}", least_clearance_m(&moments));
    assert!(last(&moments).memory.arrived);
}

#[test]
fn it_changes_lanes_when_its_route_asks_for_it() {
    for plant in [rolling(), tyres()] {
        let map = make::lane_drop(3, 400.0, 300.0);
        let world = World::new(&map, ("before", "1", 5.0), ("after", "1", 200.0), plant);
        let moments = world.run(25.0, 45.0);
        assert!(last(&moments).memory.arrived, "{:?}", last(&moments).motion);
        let lateral = moments
            .iter()
            .fold(0.0, |worst: f64, moment| worst.max((moment.motion.speed_mps * moment.motion.yaw_rate_radps).abs()));
        assert!(lateral < 2.5, "a change pulls {lateral} m/s²");
    }
}

#[test]
fn it_stops_at_a_red_light_and_goes_at_green() {
    // Green for north and south comes after 26 s.
    let world = World::new(&cross(Control::Lights), ("south", "-1", 20.0), ("north", "1", 60.0), tyres());
    let moments = world.run(10.0, 60.0);
    let stop = moments.iter().find(|moment| moment.motion.speed_mps < 0.05).unwrap();
    let line_y = -(make::LANE_WIDTH_M + 6.0) - 1.0;
    let front_y = stop.motion.pose.y + 3.45;
    assert!((line_y - 1.5..=line_y + 0.1).contains(&front_y), "{front_y} {line_y}");
    for moment in &moments {
        let south = world.lights(moment.time_s).iter().find(|light| light.signal.group == 1).unwrap().aspect;
        let crossing = moment.motion.pose.y + 3.45 > line_y + 0.2 && moment.motion.pose.y < line_y;
        assert!(!crossing || south == Aspect::Green, "over the line at {} while {south:?}", moment.time_s);
    }
    assert!(last(&moments).memory.arrived && hardest_braking(&moments) < 3.5);
}

#[test]
fn every_turn_of_a_crossing_is_driven_inside_its_lane() {
    for plant in [rolling(), tyres()] {
        for to in ["east", "north", "west"] {
            let world = World::new(&cross(Control::Nothing), ("south", "-1", 60.0), (to, "1", 60.0), plant);
            let moments = world.run(8.0, 40.0);
            assert!(last(&moments).memory.arrived, "{to}: {:?}", last(&moments).motion);
            for moment in &moments {
                assert!(world.lateral_m(moment).abs() < 0.4, "{to}: {}", world.lateral_m(moment));
            }
        }
    }
}

#[test]
fn at_a_stop_sign_it_stops_and_waits_for_a_gap() {
    let map = make::t_junction(150.0, Control::StopAtSide);
    let traffic = |t: f64| {
        // From the left along the main road, one car every 3 s and then none; nobody from the right.
        let cars = (0..6).map(|i| car(-100.0 - 36.0 * f64::from(i) + 12.0 * t, -1.75, 0.0, 12.0));
        cars.filter(|car| car.pose.x.abs() < 150.0).collect()
    };
    for to in ["east", "west"] {
        let world = World::new(&map, ("south", "-1", 60.0), (to, "1", 80.0), tyres()).with(traffic);
        let moments = world.run(10.0, 70.0);
        assert!(moments.iter().any(|moment| moment.motion.speed_mps < 0.1 && moment.time_s < 15.0), "it stops");
        assert!(last(&moments).memory.arrived, "{to}: {:?}", last(&moments).motion);
        let least_m = least_clearance_m(&moments);
        assert!(least_m > 1.0, "{to}: {least_m}");
    }
}

#[test]
fn turning_left_it_yields_to_those_who_come_towards_it() {
    let world = World::new(&cross(Control::Nothing), ("south", "-1", 60.0), ("west", "1", 60.0), tyres()).with(|t| {
        let cars = (0..4).map(|i| car(-1.75, 60.0 + 40.0 * f64::from(i) - 11.0 * t, -FRAC_PI_2, 11.0));
        cars.filter(|car| car.pose.y.abs() < 120.0).collect()
    });
    let moments = world.run(8.0, 60.0);
    assert!(last(&moments).memory.arrived, "{:?}", last(&moments).motion);
    assert!(least_clearance_m(&moments) > 0.8, "{}", least_clearance_m(&moments));
}

#[test]
fn at_an_all_way_stop_who_came_first_goes_first() {
    // A car stands at the western line until 18 s, then crosses.
    let world =
        World::new(&cross(Control::AllWayStop), ("south", "-1", 60.0), ("north", "1", 60.0), tyres()).with(|t| {
            let way_m = 0.75 * (t - 12.0).max(0.0) * (t - 12.0).max(0.0);
            vec![car(-11.5 + way_m, -1.75, 0.0, 1.5 * (t - 12.0).max(0.0))]
                .into_iter()
                .filter(|car| car.pose.x < 110.0)
                .collect()
        });
    let moments = world.run(8.0, 50.0);
    assert!(last(&moments).memory.arrived, "{:?}", last(&moments).motion);
    assert!(least_clearance_m(&moments) > 1.0, "{}", least_clearance_m(&moments));
    let enters = moments.iter().find(|moment| moment.motion.pose.y > -6.0).unwrap().time_s;
    assert!(enters > 12.0, "{enters}");
}

#[test]
fn people_who_walk_across_are_let_pass() {
    for plant in [rolling(), tyres()] {
        for start_s in [1.0, 2.0, 3.0, 4.0, 5.0] {
            let walker = move |t: f64| {
                let y = -6.0 + 1.4 * (t - start_s).max(0.0);
                let speed = if t > start_s { 1.4 } else { 0.0 };
                vec![object(Pose::new(90.0, y, FRAC_PI_2), speed, ObjectKind::Pedestrian)]
            };
            let world =
                World::new(&make::straight(250.0, 1), ("main", "1", 1.0), ("main", "1", 200.0), plant).with(walker);
            let moments = world.run(12.0, 45.0);
            assert!(last(&moments).memory.arrived, "{start_s}");
            assert!(least_clearance_m(&moments) > 0.5, "{start_s}: {}", least_clearance_m(&moments));
        }
    }
}

#[test]
fn who_steps_onto_a_crosswalk_is_let_pass_and_who_stands_beside_it_is_not_waited_for() {
    let mut map = make::straight(250.0, 1);
    map.crosswalks.push(anabranch_roads::CrosswalkPlan {
        name: "zebra".into(),
        from: Point::new(100.0, -3.0),
        to: Point::new(100.0, 3.0),
        width_m: 4.0,
        signal: None,
    });
    let stops = |walker: fn(f64) -> SeenObject| {
        let world = World::new(&map, ("main", "1", 1.0), ("main", "1", 200.0), tyres()).with(move |t| vec![walker(t)]);
        let moments = world.run(10.0, 60.0);
        assert!(last(&moments).memory.arrived && least_clearance_m(&moments) > 0.5);
        let before = |moment: &&Moment| moment.motion.pose.x < 110.0;
        moments.iter().filter(before).any(|moment| moment.motion.speed_mps < 0.5 && moment.motion.pose.x > 50.0)
    };
    // Far slower than the foresight of the driver reaches: without the crosswalk it would drive past.
    let slow = |t: f64| object(Pose::new(100.0, -4.0 + 0.3 * t, FRAC_PI_2), 0.3, ObjectKind::Pedestrian);
    let standing = |_: f64| object(Pose::new(100.0, -4.0, FRAC_PI_2), 0.0, ObjectKind::Pedestrian);
    assert!(stops(slow) && !stops(standing));
}

#[test]
fn a_light_that_cannot_be_seen_is_not_passed() {
    let world = World::new(&cross(Control::Lights), ("south", "-1", 60.0), ("north", "1", 60.0), rolling());
    let mut memory = world.driver.start();
    let mut state = world.plant.start(world.driver.start_pose(), 8.0);
    for _ in 0..2500 {
        let ego = EgoEstimate::from(world.plant.motion(&state));
        let command = world.driver.decide(
            &mut memory,
            &Seen { ego, objects: &[], lights: &[], heard: &[], soft_tyre: false, signs_m: f64::INFINITY },
        );
        let (steering, accel) = (command.steering, command.accel);
        world.plant.step(&mut state, &Inputs { steering, accel, gear_sign: 1.0, friction: 0.9 });
    }
    assert!(state.car().speed == 0.0 && state.car().y < -10.0, "{:?}", state.car());
}

#[test]
fn the_memory_is_its_bytes_and_all_of_it_is_in_the_key() {
    let world = World::new(&cross(Control::AllWayStop), ("south", "-1", 60.0), ("west", "1", 60.0), tyres());
    let memories: Vec<RoadMemory> = world.run(8.0, 30.0).iter().map(|moment| moment.memory).collect();
    for memory in &memories {
        assert_eq!(from_bytes::<RoadMemory>(&to_bytes(memory)).unwrap(), *memory);
    }
    let some: Vec<RoadMemory> = memories.into_iter().step_by(7).collect();
    let report = check_part(&some, |memory, v| memory.visit(v), |memory, v| memory.visit(v));
    let report = report.unwrap_or_else(|forgotten| panic!("{forgotten}"));
    assert!(report.leaves > 1000, "{report:?}");
}

/// Continuing from saved bytes equals continuing, tick by tick.
#[test]
fn a_driver_that_is_saved_and_loaded_in_every_cycle_gives_the_same_commands() {
    // Who has stood before the line remembers it, and goes.
    let world = World::new(&cross(Control::AllWayStop), ("south", "-1", 60.0), ("west", "1", 60.0), tyres());
    let saved = |memory: RoadMemory| from_bytes(&to_bytes(&memory)).unwrap();
    let (once, again) = (world.run(8.0, 30.0), world.run_keeping(8.0, 30.0, saved));
    for (a, b) in once.iter().zip(&again) {
        assert_eq!((a.accel.to_bits(), a.memory), (b.accel.to_bits(), b.memory));
    }
    // The comparison sees what a memory that is lost changes.
    let lost = world.run_keeping(8.0, 30.0, |_| world.driver.start());
    assert!(once.iter().zip(&lost).any(|(a, b)| a.accel.to_bits() != b.accel.to_bits()));
}
