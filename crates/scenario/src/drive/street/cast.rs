//! Who has a name: how the objects and triggers of the file become cars, pedestrians and things of the traffic.

use anabranch_geometry::{EdgeSet, Point, Pose};
use anabranch_kernel::maths;
use anabranch_roads::{LanePlace, Network, SignalRef};
use anabranch_sensing::Detection;
use anabranch_traffic::band::Standing;
use anabranch_traffic::{
    Care as TrafficCare, Colour, Crossed, Direction, Effect, Id, LaneNumber, Layout, Route, Side, Stage, Streets,
    Thing, Trigger, Walker, WalkerSpec, When, World,
};

use super::others::WALKER_HALF_M;
use super::script::{Script, ScriptFrame, along_poses, as_bicycle};
use crate::file::script::BESIDE_M;
use crate::file::{
    Care, LightColour, ObjectKind, ObjectSpec, RoadSide, RoadSpec, ScriptSpec, TriggerSpec, TriggerWhat, TriggerWhen,
    Walking, WorldSpec,
};

/// What an object of the file is in the loop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// One of the cars.
    Vehicle,
    /// A pedestrian.
    Walker {
        walker: usize,
        /// Direction in which it crosses.
        heading: f64,
        speed_mps: f64,
        /// Its way beside the road is a walk of its own.
        strolls: bool,
    },
    /// A thing that stands there.
    Thing {
        pose: Pose,
        half_length_m: f64,
        half_width_m: f64,
        /// What makes it appear.
        trigger: Option<usize>,
    },
    /// Somebody on a predetermined way.
    Scripted {
        script: usize,
        /// What makes it set out; at the beginning if `None`.
        trigger: Option<usize>,
    },
    /// A false detection.
    Ghost(Detection),
}

/// Objects with a name, in the order of the file, and what belongs to them.
#[derive(Debug, Default)]
pub(super) struct Cast {
    pub parts: Vec<Part>,
    /// The object of each car with a name; those have the first numbers of the traffic.
    pub named: Vec<u32>,
    /// For each number that an error can have, the trigger that it fires.
    pub fires: Vec<Option<usize>>,
    /// Outlines of things about their own middle, by number; empty for others.
    pub shapes: Vec<EdgeSet>,
    /// Predetermined ways.
    pub scripts: Vec<Script>,
}

/// A rectangle about the origin.
pub(super) fn rectangle(half_length_m: f64, half_width_m: f64, number: u32) -> EdgeSet {
    let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    let corners = corners.map(|(x, y)| Point::new(x * half_length_m, y * half_width_m));
    let mut set = EdgeSet::default();
    set.add_polygon(number, &corners);
    set
}

/// Type of a vehicle in the settings of the traffic.
pub(super) fn kind_of(kind: ObjectKind) -> u8 {
    match kind {
        ObjectKind::Car | ObjectKind::Pedestrian | ObjectKind::Thing => 0,
        ObjectKind::Lorry => 1,
        ObjectKind::Cyclist => 2,
    }
}

/// Adds the objects and triggers of a file to a world without any.
pub(super) fn cast(
    road: &RoadSpec,
    layout: &Layout,
    (clock, until_ticks): (&WorldSpec, u32),
    world: &mut World,
) -> Cast {
    let network = &*road.network;
    let mut cast = Cast::default();
    // For each trigger what it does; objects that wait for none have one of their own behind those of the file.
    let waiting = road.objects.iter().enumerate().filter(|(_, object)| object.waits && !object.ghost);
    let unasked: Vec<usize> =
        waiting.map(|(n, _)| n).filter(|n| road.triggers.iter().all(|trigger| trigger.object() != Some(*n))).collect();
    let trigger_of = |object: usize| {
        let given = road.triggers.iter().position(|trigger| trigger.object() == Some(object));
        given.or_else(|| unasked.iter().position(|n| *n == object).map(|n| road.triggers.len() + n))
    };
    for (number, object) in road.objects.iter().enumerate() {
        let map = Map { network, layout, clock, until_ticks };
        let (part, shape) = match &object.script {
            Some(script) => {
                let script = scripted(&map, world, object, script);
                let shape = rectangle(script.half_length_m, script.half_width_m, 0);
                cast.scripts.push(script);
                let trigger = trigger_of(number).filter(|_| object.waits);
                (Part::Scripted { script: cast.scripts.len() - 1, trigger }, shape)
            }
            None => part(&map, world, object, trigger_of(number)),
        };
        if matches!(part, Part::Vehicle) {
            cast.named.push(number as u32);
        }
        cast.parts.push(part);
        cast.shapes.push(shape);
    }
    let effect = |object: usize, given: Option<&TriggerSpec>| match cast.parts[object] {
        Part::Walker { walker, .. } => Effect::Start(walker),
        Part::Scripted { script, .. } => Effect::Script { ticks: cast.scripts[script].frames.len() as u32 },
        Part::Thing { .. } | Part::Ghost(_) => {
            Effect::Appear(cast.parts[..object].iter().filter(|part| matches!(part, Part::Thing { .. })).count())
        }
        Part::Vehicle => Effect::Brake {
            car: cast.named.iter().position(|n| *n == object as u32).unwrap_or_default() as Id,
            brake_mps2: given.map_or(0.0, |given| given.brake_mps2),
            ticks: given.map_or(0, |given| clock.ticks(given.for_s.value)),
        },
    };
    for given in &road.triggers {
        let (effect, place) = match given.what {
            TriggerWhat::Object(object) => (effect(object, Some(given)), road.objects[object].place),
            TriggerWhat::Light { signal, line, colour } => {
                let colour = match colour {
                    LightColour::Red => Colour::Red,
                    LightColour::Amber => Colour::Yellow,
                    LightColour::Green => Colour::Green,
                };
                let ticks = clock.ticks(given.for_s.value);
                (Effect::Light { light: light_number(network, signal), colour, ticks }, line)
            }
        };
        let when = when(layout, clock, &given.when, place);
        world.triggers.push(Trigger { name: given.id.value.clone(), when, effect });
    }
    for &object in &unasked {
        let name = road.objects[object].id.value.clone();
        world.triggers.push(Trigger { name, when: When::Asked, effect: effect(object, None) });
    }
    let objects = (0..road.objects.len()).map(|n| trigger_of(n).filter(|_| road.objects[n].waits));
    cast.fires = objects.chain((0..road.triggers.len()).map(Some)).collect();
    cast
}

/// Number of a light in the traffic: groups are counted through all programs.
pub(super) fn light_number(network: &Network, signal: SignalRef) -> u32 {
    let before: usize = network.programs()[..signal.program].iter().map(|program| program.groups.len()).sum();
    (before + signal.group) as u32
}

fn when(layout: &Layout, clock: &WorldSpec, given: &TriggerWhen, place: LanePlace) -> When {
    let (lane, station_m) = layout.place(place.lane, place.station_m);
    match *given {
        TriggerWhen::Asked => When::Asked,
        TriggerWhen::At(at) => When::At(clock.ticks(at.value)),
        TriggerWhen::Reaches(from_m) => {
            let (lane, from_m) = layout.place(place.lane, from_m);
            When::Reaches { lane, from_m, to_m: f64::INFINITY }
        }
        TriggerWhen::Arrives(within_s) => When::Arrives { lane, station_m, within_s },
        TriggerWhen::Faster(mps) => When::Faster(mps),
        TriggerWhen::Slower(mps) => When::Slower(mps),
    }
}

/// Where things are, and how time goes.
struct Map<'a> {
    network: &'a Network,
    layout: &'a Layout,
    clock: &'a WorldSpec,
    until_ticks: u32,
}

/// A predetermined way, base cycle by base cycle.
fn scripted(map: &Map<'_>, world: &World, object: &ObjectSpec, given: &ScriptSpec) -> Script {
    let kind = kind_of(object.kind.value);
    // Pedestrians follow all kinds of vehicles.
    let last = world.settings.kinds.len();
    let (half_length_m, half_width_m, kind) = match object.kind.value {
        ObjectKind::Pedestrian => (WALKER_HALF_M, WALKER_HALF_M, last as u8),
        ObjectKind::Thing => (0.5 * object.length_m, 0.5 * object.width_m, last as u8),
        ObjectKind::Car | ObjectKind::Lorry | ObjectKind::Cyclist => {
            let sizes = &world.settings.kinds[usize::from(kind)];
            (0.5 * sizes.length_m, 0.5 * sizes.width_m, kind)
        }
    };
    let step_s = map.clock.step_s.value;
    let frames = match given {
        ScriptSpec::Poses(poses) => along_poses(poses, step_s),
        ScriptSpec::Acts(acts) => {
            // The station is that of its front.
            let station_m = object.place.station_m - half_length_m;
            let pose = map.network.lane(object.place.lane).pose_at(station_m, object.lateral_m, 0.0);
            let start = ScriptFrame { pose, speed_mps: object.speed_mps };
            as_bicycle(start, 2.0 * half_length_m, acts, (map.until_ticks + 1, step_s))
        }
    };
    Script { frames, half_length_m, half_width_m, kind }
}

fn part(map: &Map<'_>, world: &mut World, object: &ObjectSpec, trigger: Option<usize>) -> (Part, EdgeSet) {
    let lane = map.network.lane(object.place.lane);
    match object.kind.value {
        ObjectKind::Pedestrian => {
            let (spec, heading) = walker(map, object);
            world.walkers.push(spec);
            let walker = world.walkers.len() - 1;
            let strolls = object.stroll.is_some();
            (Part::Walker { walker, heading, speed_mps: object.speed_mps, strolls }, EdgeSet::default())
        }
        ObjectKind::Thing => {
            let pose = lane.pose_at(object.place.station_m, object.lateral_m, 0.0);
            let (half_length_m, half_width_m) = (0.5 * object.length_m, 0.5 * object.width_m);
            if object.ghost {
                let (length_m, width_m) = (object.length_m, object.width_m);
                let seen = Detection { x: pose.x, y: pose.y, heading: pose.heading, length_m, width_m };
                return (Part::Ghost(seen), EdgeSet::default());
            }
            let (lane, station_m) = map.layout.place(object.place.lane, object.place.station_m);
            let standing = Standing {
                from_m: station_m - half_length_m,
                to_m: station_m + half_length_m,
                right_m: object.lateral_m - half_width_m,
                left_m: object.lateral_m + half_width_m,
            };
            world.things.push(Thing { lane, standing });
            let trigger = trigger.filter(|_| object.waits);
            (Part::Thing { pose, half_length_m, half_width_m, trigger }, rectangle(half_length_m, half_width_m, 0))
        }
        ObjectKind::Car | ObjectKind::Lorry | ObjectKind::Cyclist => (Part::Vehicle, EdgeSet::default()),
    }
}

/// The route of a vehicle that changes to the lane beside it.
pub(super) fn change(streets: &Streets, from: LaneNumber, to: LaneNumber) -> Route {
    let mut lanes: Vec<LaneNumber> = vec![from, to];
    while let [next] = streets.next(lanes[lanes.len() - 1])
        && !lanes.contains(next)
    {
        lanes.push(*next);
    }
    Route::along(streets, &lanes)
}

/// A pedestrian who crosses the whole road at a place, from right to left, and the direction in which it does.
fn walker(map: &Map<'_>, object: &ObjectSpec) -> (WalkerSpec, f64) {
    let network = map.network;
    let (own, at_m) = (network.lane(object.place.lane), object.place.station_m);
    // Lanes at this place with their lateral ranges, seen from the own lane; those of the other direction are on the left.
    let half_m = 0.5 * own.width_m(at_m);
    let mut spans = vec![(object.place.lane, at_m, -half_m, half_m)];
    let (mut id, mut station_m, mut edge_m) = (object.place.lane, at_m, -half_m);
    while let Some((right, right_m)) = network.lane(id).right_at(station_m) {
        let width_m = network.lane(right).width_m(right_m);
        spans.push((right, right_m, edge_m - width_m, edge_m));
        (id, station_m, edge_m) = (right, right_m, edge_m - width_m);
    }
    let kerb_m = edge_m;
    (id, station_m, edge_m) = (object.place.lane, at_m, half_m);
    while let Some((left, left_m)) = network.lane(id).left_at(station_m) {
        let width_m = network.lane(left).width_m(left_m);
        spans.push((left, left_m, edge_m, edge_m + width_m));
        (id, station_m, edge_m) = (left, left_m, edge_m + width_m);
    }
    let mut oncoming = network.lane(id).oncoming();
    while let Some(other) = oncoming {
        let lane = network.lane(other);
        let place = lane.project_anywhere(own.point_at(at_m, edge_m));
        let width_m = lane.width_m(place.station_m);
        spans.push((other, place.station_m, edge_m, edge_m + width_m));
        edge_m += width_m;
        oncoming = lane.right();
    }
    let crossed = spans.iter().map(|&(lane, station_m, from_m, to_m)| {
        let (lane, station_m) = map.layout.place(lane, station_m);
        Crossed { lane, station_m, from_m: from_m - kerb_m, to_m: to_m - kerb_m }
    });
    let heading = own.at(at_m).heading;
    // It walks along the road for a moment, then crosses.
    let stroll = object.stroll;
    let walk_m = stroll.map_or(object.kerb_m + BESIDE_M, |stroll| stroll.walk_m);
    let from = own.point_at(at_m - object.kerb_m, kerb_m);
    let to = own.point_at(at_m - object.kerb_m + walk_m, kerb_m);
    let crosses = stroll.is_none_or(|stroll| stroll.crosses);
    let start = stroll.map_or(
        Walker { along_m: 0.0, across_m: 0.0, side: Side::Near, direction: Direction::Forth, stage: Stage::Walks },
        |stroll| {
            let (side, across_m) = match stroll.side {
                RoadSide::Right => (Side::Near, 0.0),
                RoadSide::Left => (Side::Far, edge_m - kerb_m),
            };
            let direction = match stroll.direction {
                Walking::Forth => Direction::Forth,
                Walking::Back => Direction::Back,
            };
            Walker { along_m: stroll.along_m, across_m, side, direction, stage: Stage::Walks }
        },
    );
    let spec = WalkerSpec {
        from,
        to,
        step_m: object.speed_mps * map.clock.step_s.value,
        crosses_at_m: crosses.then_some(object.kerb_m.max(f64::MIN_POSITIVE)),
        road_m: edge_m - kerb_m,
        crossed: crossed.collect(),
        care: match object.care {
            Care::Looks => TrafficCare::Looks,
            Care::Zebra => TrafficCare::Zebra,
            Care::Reckless => TrafficCare::Reckless,
        },
        start,
    };
    (spec, maths::wrap_angle(heading + std::f64::consts::FRAC_PI_2))
}
