//! From the roads of a scenario file to the loop on them.

use anabranch_driving::road::{RoadDriver, RoadDriverSpec};
use anabranch_driving::track::{PurePursuitSpec, StanleySpec, Steering};
use anabranch_errors::Reach;
use anabranch_geometry::{Arc, Edge, Outline, Path, Pose};
use anabranch_kernel::Seed;
use anabranch_monitors::LatelyReads;
use anabranch_roads::{LaneId, Network, Route, SignalRef, Then};
use anabranch_sensing::{
    Detector, DetectorSpec, Mount, OBSTACLES_MAX, RaySensor, RaySensorSpec, Tracker, TrackerSpec, Walls,
};
use anabranch_traffic::{
    Car, Flow, Id, Kind, LaneNumber, Layout, Settings, Streets, Traffic, World, spread, spread_cars,
};
use anabranch_vehicle::{CarModel, CarSpec};

use super::super::assemble::AssembleError;
use super::super::errors::Numbers;
use super::super::plan::{Plan, closed_edges};
use super::cast::{self, rectangle};
use super::clock::{Clock, Plane};
use super::fences::Fences;
use super::look::chance_name;
use super::others::WALKER_HALF_M;
use super::place::{navigation, zones};
use super::plain::{self, Gauges};
use super::vehicle::{Vehicle, ground};
use super::{Eye, Pool, Street};
use crate::file::sensor::common;
use crate::file::way::place;
use crate::file::{Manner, RoadSpec, ScenarioSpec, SensorSpec, Span, SteeringLaw, TilesSpec, VehicleModel};

/// Distance of the corners of the drawn way.
const WAY_STEP_M: f64 = 2.0;
/// Cars without a name are compared with the sizes of the largest vehicles.
const BEYOND_SENSOR_M: f64 = 20.0;
/// How uncertain the speed of somebody is who has just been seen for the first time.
const SPEED_BIRTH_MPS: f64 = 20.0;
/// What a tracker counts with where a sensor has no noise: corners move over a box as it turns.
const POSITION_MIN_M: f64 = 0.1;

fn unsupported(what: String, span: Span) -> AssembleError {
    AssembleError::Unsupported { what, span }
}

/// Numbers of what errors can be about: objects, then triggers; obstacles stand there and are seen as they are.
pub(in super::super) fn numbers(spec: &ScenarioSpec, road: &RoadSpec) -> Result<Numbers, AssembleError> {
    let count = road.objects.len() + road.triggers.len();
    if count > OBSTACLES_MAX {
        let what = format!("there are {count} objects and triggers; at most {OBSTACLES_MAX} can have a name");
        return Err(unsupported(what, road.span));
    }
    let none = spec.world.obstacles.iter().map(|_| None);
    Ok(Numbers(none.chain((0..count).map(|number| Some(number as u8))).collect()))
}

/// The loop on roads, and the way of each start.
pub(in super::super) fn assemble(
    spec: &ScenarioSpec,
    road: &RoadSpec,
    model: &CarModel,
    control_ticks: u32,
    reach: Reach,
) -> Result<(Street, Vec<Plan>), AssembleError> {
    let network = road.network.clone();
    let step_us = (spec.world.step_s.value * 1e6).round() as u64;
    let cycle_s = f64::from(control_ticks) * model.dt_s;
    let is_calm = spec.ego.driver.manner == Manner::Calm;
    let usual = if is_calm { RoadDriverSpec::CALM } else { RoadDriverSpec::EAGER };
    let steering = match spec.ego.driver.steering {
        SteeringLaw::Lqr => usual.steering,
        SteeringLaw::PurePursuit if is_calm => Steering::PurePursuit(PurePursuitSpec::CALM),
        SteeringLaw::PurePursuit => Steering::PurePursuit(PurePursuitSpec::EAGER),
        SteeringLaw::Stanley if is_calm => Steering::Stanley(StanleySpec::CALM),
        SteeringLaw::Stanley => Steering::Stanley(StanleySpec::EAGER),
    };
    let manner = RoadDriverSpec { steering, ..usual };
    let vehicle = Vehicle::new(&spec.ego.vehicle.model.value, model, &network, &spec.world)
        .map_err(|error| unsupported(error.to_string(), road.span))?;
    let rear_m = vehicle.rear_m(model);
    let (mut drivers, mut signals, mut plans) = (Vec::new(), Vec::new(), Vec::new());
    for start in spec.ego.start.all() {
        let route = route(&network, start.pose, spec)?;
        signals.push(lights(&network, &route));
        plans.push(Plan { path: way(&network, &route, start.pose), trajectory: None });
        // A driver keeps room for everything that its car draws.
        let outline = Outline { rear_m, ..model.spec.outline };
        let driver = match &spec.ego.vehicle.model.value {
            VehicleModel::Tyres(tyres) => RoadDriver::for_tyres(manner, network.clone(), route, tyres, cycle_s),
            VehicleModel::Rolling | VehicleModel::Trailer(_) => {
                let car = CarSpec { outline, ..model.spec };
                RoadDriver::for_rolling(manner, network.clone(), route, &car, cycle_s)
            }
        };
        drivers.push(driver.map_err(|error| unsupported(error.to_string(), spec.ego.driver.kind.span))?);
    }
    let (streets, layout) = Layout::new(&network).map_err(|error| unsupported(error.to_string(), road.span))?;
    let length_m = model.spec.outline.front_m + rear_m;
    let (traffic, cars, cast) =
        traffic(spec, road, (length_m, 2.0 * model.spec.outline.half_width_m), streets, &layout)?;
    let until_ticks = spec.world.ticks(spec.explore.until_s.value).max(1);
    let plane = Plane { network: &network, layout: &layout, settings: traffic.settings() };
    let keep_ticks = 2 * spec.world.ticks(spec.explore.segment_s.value) as usize + 2;
    let clock = Clock::new(&traffic, &plane, traffic.start(&cars), until_ticks + 1, keep_ticks);
    let mut shapes: Vec<_> =
        traffic.settings().kinds.iter().map(|kind| rectangle(0.5 * kind.length_m, 0.5 * kind.width_m, 0)).collect();
    if let Some(walker) = shapes.last_mut() {
        *walker = rectangle(WALKER_HALF_M, WALKER_HALF_M, 0);
    }
    let (eyes, tracker, fuse_ticks) = eyes(spec, road, reach)?;
    let gauges = match &spec.ego.plain {
        Some(plain) => Some(Gauges {
            sensors: plain::sensors(plain, &spec.world),
            ground: ground(&network, &spec.world).map_err(|error| unsupported(error.to_string(), plain.span))?,
            zones: zones(Some(road), &spec.world),
            outline: model.spec.outline,
        }),
        None => None,
    };
    let range_m = road.sees_m();
    // Who is heard from farther away than anybody sees is looked at as well.
    let radio_m = spec.helpers.radio.as_ref().map_or(0.0, |radio| radio.range_m);
    let by_hand = by_hand(spec, road, &cast);
    let street = Street {
        clock,
        network,
        layout,
        drivers,
        cast,
        shapes,
        eyes,
        tracker,
        fuse_ticks,
        latency_s: quickest_s(road),
        gauges,
        by_hand,
        walls: Walls::new(&edges(spec)),
        sees_through: road.sees_through,
        signs_m: spec.ego.sign_range_m.map_or(f64::INFINITY, |range| range.value * road.light),
        front_m: model.spec.outline.front_m,
        fences: spec.world.tiles.as_ref().map(|tiles| fences(spec, road, tiles)),
        signals,
        step_us,
        reads: LatelyReads::default(),
        reach_m: range_m.max(radio_m) + BEYOND_SENSOR_M,
        verdicts_from: (spec.world.walls.len() + spec.world.obstacles.len()) as u32,
        ego_kind: traffic.settings().kinds.len() as u8 - 2,
        traffic,
        vehicle,
        with_radio: road.objects.iter().map(|object| super::helpers::has_radio(object.kind.value)).collect(),
        helpers: spec.helpers.simulators(&spec.world),
        navigation: spec.ego.filter.as_ref().map(|filter| navigation(filter, road, &spec.world)),
        buffers: Pool::default(),
    };
    Ok((street, plans))
}

/// Tiles come last in verdicts: after walls, obstacles, objects and cars without a name.
fn fences(spec: &ScenarioSpec, road: &RoadSpec, tiles: &TilesSpec) -> Fences {
    let number = spec.world.walls.len() + spec.world.obstacles.len() + road.objects.len() + 1;
    Fences::new(tiles, road.sees_m() + BEYOND_SENSOR_M, number as u32)
}

fn route(network: &Network, start: Pose, spec: &ScenarioSpec) -> Result<Route, AssembleError> {
    let span = spec.ego.goal.span;
    let ends = place(network, start).zip(place(network, spec.ego.goal.pose));
    let Some((from, to)) = ends else { return Err(unsupported("no lane leads this way".to_owned(), span)) };
    network.route(from, to).map_err(|none| unsupported(none.to_string(), span))
}

/// Lights that the driver has to obey on its way.
fn lights(network: &Network, route: &Route) -> Vec<SignalRef> {
    let mut signals: Vec<SignalRef> = route.legs.iter().filter_map(|leg| network.rule(leg.lane)?.signal).collect();
    signals.sort_unstable();
    signals.dedup();
    signals
}

/// The way as a path, for pictures and for the distance from it.
fn way(network: &Network, route: &Route, start: Pose) -> Path {
    let mut arcs = Vec::new();
    for leg in route.legs.iter().filter(|leg| !matches!(leg.then, Then::Left | Then::Right)) {
        let lane = network.lane(leg.lane);
        let steps = ((leg.to_station_m - leg.from_station_m) / WAY_STEP_M).ceil().max(1.0);
        let step_m = (leg.to_station_m - leg.from_station_m) / steps;
        arcs.extend((0..steps as usize).map(|step| {
            let at = lane.at(leg.from_station_m + (step as f64 + 0.5) * step_m);
            Arc { curvature_per_m: at.curvature, length_m: step_m * at.stretch }
        }));
    }
    Path::new(start, arcs)
}

fn traffic(
    spec: &ScenarioSpec,
    road: &RoadSpec,
    (length_m, width_m): (f64, f64),
    streets: Streets,
    layout: &Layout,
) -> Result<(Traffic, Vec<Car>, cast::Cast), AssembleError> {
    let refused = |what: String| unsupported(what, road.span);
    let mut settings = Settings::new(spec.world.step_s.value);
    settings.kinds.push(Kind { length_m, width_m, ..Kind::CAR });
    let mut world = World::new(streets, settings);
    let until_ticks = spec.world.ticks(spec.explore.until_s.value).max(1);
    let cast = cast::cast(road, layout, (&spec.world, until_ticks), &mut world);
    let vehicles: Vec<_> = road.objects.iter().filter(|object| object.drives()).collect();
    world.routes = vehicles
        .iter()
        .filter_map(|object| {
            let at = |lane| layout.place(lane, object.place.station_m).0;
            Some(cast::change(&world.streets, at(object.place.lane), at(object.to?)))
        })
        .collect();
    for flow in &road.traffic.flows {
        let route = flow.route.as_ref().map(|route| layout.route(&road.network, route));
        let route = route.map(|route| route.and_on(&world.streets).with_neighbours(&world.streets));
        world.routes.extend(route);
        world.flows.push(Flow {
            lane: layout.place(flow.lane, 0.0).0,
            per_hour: flow.per_hour,
            speed_mps: flow.speed_mps,
            kind: cast::kind_of(flow.kind),
            route: if flow.route.is_some() { world.routes.len() as u16 } else { 0 },
        });
    }
    let traffic = Traffic::new(world, Seed(road.traffic.seed)).map_err(|error| refused(error.to_string()))?;
    let mut cars = Vec::new();
    let mut routes = 0;
    for object in vehicles {
        routes += u16::from(object.to.is_some());
        let (lane, station_m) = layout.place(object.place.lane, object.place.station_m);
        let car = traffic.car(cars.len() as Id, lane, station_m, object.speed_mps);
        let route = if object.to.is_some() { routes } else { 0 };
        cars.push(traffic.with(car, cast::kind_of(object.kind.value), route));
    }
    add_unnamed(spec, road, layout, &traffic, &mut cars)?;
    Ok((traffic, cars, cast))
}

/// Cars without a name, spread evenly and away from everybody who has one.
fn add_unnamed(
    spec: &ScenarioSpec,
    road: &RoadSpec,
    layout: &Layout,
    traffic: &Traffic,
    cars: &mut Vec<Car>,
) -> Result<(), AssembleError> {
    let point = |lane: LaneId, station_m: f64| road.network.lane(lane).position(station_m);
    let objects = road.objects.iter().map(|object| point(object.place.lane, object.place.station_m));
    let kept: Vec<_> = objects.chain(spec.ego.start.all().map(|start| start.pose.point())).collect();
    let may_stand = |lane: LaneNumber, station_m: f64| {
        let (lane, station_m) = layout.station(lane, station_m);
        let here = point(lane, station_m);
        kept.iter().all(|other| other.distance_m(here) >= road.traffic.clear_m)
    };
    let unnamed = match road.traffic.cars {
        Some(count) => {
            spread_cars(traffic, count.value as usize, road.traffic.speed_mps, may_stand).ok_or_else(|| {
                unsupported(format!("there is not enough room for {} cars on these roads", count.value), count.span)
            })?
        }
        None if road.traffic.per_km > 0.0 => {
            let mut cars = spread(traffic, road.traffic.per_km, road.traffic.speed_mps);
            cars.retain(|car| may_stand(car.lane, car.station_m));
            cars
        }
        None => Vec::new(),
    };
    for car in unnamed {
        let renamed = Car { id: cars.len() as Id, ..car };
        cars.push(traffic.with(renamed, car.kind, 0));
    }
    Ok(())
}

fn ray_sensor(given: &SensorSpec, road: &RoadSpec) -> Result<RaySensor, AssembleError> {
    let spec = RaySensorSpec {
        mount: Mount { x_m: given.ahead_m, y_m: given.aside_m, yaw_rad: given.yaw_rad },
        view_rad: given.view_rad.value,
        horizon_m: given.range_m * road.light,
        rays: given.rays,
    };
    match spec.fault() {
        None => Ok(RaySensor::new(spec)),
        Some(fault) => Err(unsupported(fault.to_owned(), given.view_rad.span)),
    }
}

/// Shortest latency of all sensors: the tracker can make up for more than this, and not for less.
fn quickest_s(road: &RoadSpec) -> f64 {
    road.sensors.iter().map(|sensor| sensor.latency_s.value).fold(f64::INFINITY, f64::min)
}

fn eyes(spec: &ScenarioSpec, road: &RoadSpec, reach: Reach) -> Result<(Vec<Eye>, Tracker, u16), AssembleError> {
    let ticks = |seconds: f64| spec.world.ticks(seconds).clamp(1, u32::from(u16::MAX)) as u16;
    let quickest_s = quickest_s(road);
    let mut eyes = Vec::new();
    for (given, delay_ticks) in road.sensors.iter().zip(reach.sensing_delay_ticks) {
        let look_ticks = ticks(given.cycle_s.value);
        let detector = DetectorSpec {
            period_ticks: u32::from(look_ticks),
            latency: (given.latency_s.value / given.cycle_s.value).round() as u16,
            latency_more_max: delay_ticks.div_ceil(look_ticks),
            late_max: reach.late_ticks.div_ceil(look_ticks),
            share_min: given.share,
            rate: given.rate.clone(),
            position: given.position,
            heading: given.heading,
            flip: given.flip,
            ghost: given.ghost,
            ..DetectorSpec::perfect()
        };
        eyes.push(Eye {
            name: given.id.value.clone(),
            chance: chance_name(eyes.len(), &given.id.value),
            sensor: ray_sensor(given, road)?,
            by_day: super::witness::by_day(given),
            share: given.share,
            detector: Detector::new(detector, spec.world.step_s.value),
            look_ticks,
            position_m: given.position.variance().sqrt().max(POSITION_MIN_M),
            behind_s: given.latency_s.value - quickest_s,
        });
    }
    let looks = || eyes.iter().map(|eye| u64::from(eye.look_ticks));
    let fuse_ticks = looks().fold(0, common).max(1);
    let slowest = (looks().max().unwrap_or(1) / fuse_ticks).max(1);
    // A track waits for the slowest sensor as long as it would wait for the only one.
    let misses = |looks: u8| ((u64::from(looks) + 1) * slowest - 1).min(u64::from(u8::MAX)) as u8;
    let tracker = TrackerSpec {
        period_s: match road.sensors.as_slice() {
            [only] => only.cycle_s.value,
            _ => fuse_ticks as f64 * spec.world.step_s.value,
        },
        position_m: eyes.first().map_or(POSITION_MIN_M, |eye| eye.position_m),
        speed_birth_mps: SPEED_BIRTH_MPS,
        confirm_hits: road.sensors.iter().map(|sensor| sensor.hits).max().unwrap_or(1),
        tentative_misses: misses(TrackerSpec::TRAFFIC.tentative_misses),
        coast_misses: misses(TrackerSpec::TRAFFIC.coast_misses),
        ..TrackerSpec::TRAFFIC
    };
    Ok((eyes, Tracker::new(tracker), fuse_ticks as u16))
}

/// What the file has fired by hand: triggers, and objects that wait for none.
fn by_hand(spec: &ScenarioSpec, road: &RoadSpec, cast: &cast::Cast) -> Vec<(u32, usize)> {
    let objects = road.objects.iter().map(|object| object.fired_s);
    let all = objects.chain(road.triggers.iter().map(|trigger| trigger.fired_s)).zip(&cast.fires);
    all.filter_map(|(at, trigger)| Some((spec.world.ticks(at?.value), (*trigger)?))).collect()
}

/// What hides others and never moves.
fn edges(spec: &ScenarioSpec) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for wall in &spec.world.walls {
        edges.extend(wall.points.windows(2).map(|ends| Edge { a: ends[0].value, b: ends[1].value, obstacle: 0 }));
    }
    for obstacle in &spec.world.obstacles {
        edges.extend(closed_edges(&obstacle.corners, 0));
    }
    edges
}
