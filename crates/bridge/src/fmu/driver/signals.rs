//! The numbers a driver sees, and those a run begins with, by name.

use super::mapping::FmuRole;
use super::road;
use crate::fmu::description::Dimensions;
use crate::protocol::{Begin, ObjectSeen, PlainSeen, Push, Seen, TyresSeen};

const NUMBER: Dimensions = Dimensions::new(0, 0);
const LENGTH: Dimensions = Dimensions::new(1, 0);
const TIME: Dimensions = Dimensions::new(0, 1);
const SPEED: Dimensions = Dimensions::new(1, -1);
const CURVATURE: Dimensions = Dimensions::new(-1, 0);
const ACCELERATION: Dimensions = Dimensions::new(1, -2);

/// A name, what it measures, and how its value is taken from something.
type Entry<T> = (&'static str, Dimensions, fn(&T) -> f64);

/// What is seen, by name as in the protocol.
const SEEN: &[Entry<Seen>] = &[
    ("time", TIME, |seen| seen.time),
    ("tick", NUMBER, |seen| seen.tick as f64),
    ("pose.x", LENGTH, |seen| seen.pose.x),
    ("pose.y", LENGTH, |seen| seen.pose.y),
    ("pose.heading", NUMBER, |seen| seen.pose.heading),
    ("speed", SPEED, |seen| seen.speed),
    ("steer", NUMBER, |seen| seen.steer),
    ("gear", NUMBER, |seen| f64::from(seen.gear)),
    ("path.station", LENGTH, |seen| seen.path.station),
    ("path.lateral", LENGTH, |seen| seen.path.lateral),
    ("path.heading", NUMBER, |seen| seen.path.heading),
    ("path.curvature", CURVATURE, |seen| seen.path.curvature),
    ("path.remaining", LENGTH, |seen| seen.path.remaining),
    ("path.speed_max", SPEED, |seen| seen.path.speed_max),
    ("path.direction", NUMBER, |seen| f64::from(seen.path.direction)),
    ("path.section", NUMBER, |seen| f64::from(seen.path.section)),
    ("path.sections_left", NUMBER, |seen| f64::from(seen.path.sections_left)),
    ("path.to_end", LENGTH, |seen| seen.path.to_end),
    ("goal.ahead", LENGTH, |seen| seen.goal.ahead),
    ("goal.left", LENGTH, |seen| seen.goal.left),
    ("goal.heading", NUMBER, |seen| seen.goal.heading),
    ("objects.count", NUMBER, |seen| seen.objects.len() as f64),
    ("road.station", LENGTH, |seen| road::of(seen, |road| road.station)),
    ("road.lateral", LENGTH, |seen| road::of(seen, |road| road.lateral)),
    ("road.heading", NUMBER, |seen| road::of(seen, |road| road.heading)),
    ("road.curvature", CURVATURE, |seen| road::of(seen, |road| road.ahead.first().map_or(0.0, |row| row[3]))),
    ("road.width", LENGTH, |seen| road::of(seen, |road| road.width)),
    ("road.speed_limit", SPEED, |seen| road::of(seen, |road| road.speed_limit)),
    ("road.then_in", LENGTH, |seen| road::of(seen, |road| road.then_in)),
    ("road.route_left", LENGTH, |seen| road::of(seen, |road| road.route_left)),
    ("road.line.ahead", LENGTH, road::line_ahead),
    ("road.line.sign", NUMBER, road::line_sign),
    ("road.line.light", NUMBER, road::line_light),
    ("road.leader.ahead", LENGTH, |seen| road::leader(seen).ahead_m),
    ("road.leader.speed", SPEED, |seen| road::leader(seen).speed_mps),
    ("plain.weather", NUMBER, |seen| plain(seen, |plain| plain.weather)),
    ("plain.x", LENGTH, |seen| plain(seen, |plain| plain.x)),
    ("plain.y", LENGTH, |seen| plain(seen, |plain| plain.y)),
    ("plain.compass", NUMBER, |seen| plain(seen, |plain| plain.compass)),
    ("plain.speed", SPEED, |seen| plain(seen, |plain| plain.speed)),
    ("plain.steer", NUMBER, |seen| plain(seen, |plain| plain.steer)),
    ("plain.to_right", LENGTH, |seen| plain(seen, |plain| plain.to_right)),
    ("plain.front_left", LENGTH, |seen| plain(seen, |plain| plain.front_left)),
    ("plain.front_right", LENGTH, |seen| plain(seen, |plain| plain.front_right)),
    ("plain.rear_left", LENGTH, |seen| plain(seen, |plain| plain.rear_left)),
    ("plain.rear_right", LENGTH, |seen| plain(seen, |plain| plain.rear_right)),
    ("radio.count", NUMBER, |seen| seen.radio.as_ref().map_or(0.0, |heard| heard.len() as f64)),
    ("radio.age", TIME, road::heard_age),
    ("radio.ahead", LENGTH, |seen| road::heard(seen).ahead_m),
    ("radio.speed", SPEED, |seen| road::heard(seen).speed_mps),
    ("radio.braking", ACCELERATION, road::heard_braking),
    ("tyres.fl", NUMBER, |seen| tyres(seen, |tyres| tyres.fl)),
    ("tyres.fr", NUMBER, |seen| tyres(seen, |tyres| tyres.fr)),
    ("tyres.rl", NUMBER, |seen| tyres(seen, |tyres| tyres.rl)),
    ("tyres.rr", NUMBER, |seen| tyres(seen, |tyres| tyres.rr)),
    ("tyres.warning", NUMBER, |seen| f64::from(u8::from(seen.tyres.as_deref().is_some_and(|tyres| tyres.warning)))),
];

/// A share of the nominal pressure; 1 where nothing tells it.
fn tyres(seen: &Seen, value: fn(&TyresSeen) -> f64) -> f64 {
    seen.tyres.as_deref().map_or(1.0, value)
}

/// A reading of a plain sensor; 0 where the car has none.
fn plain(seen: &Seen, value: fn(&PlainSeen) -> f64) -> f64 {
    seen.plain.as_deref().map_or(0.0, value)
}

/// What is seen of one object: `objects.0.x`.
const OBJECT: &[Entry<ObjectSeen>] = &[
    ("id", NUMBER, |object| f64::from(object.id)),
    ("x", LENGTH, |object| object.x),
    ("y", LENGTH, |object| object.y),
    ("heading", NUMBER, |object| object.heading),
    ("speed", SPEED, |object| object.speed),
    ("length", LENGTH, |object| object.length),
    ("width", LENGTH, |object| object.width),
    ("vx", SPEED, |object| object.vx),
    ("vy", SPEED, |object| object.vy),
];

/// What reaches a part of the car.
const PUSHED: &[Entry<Push>] = &[
    ("time", TIME, |push| push.time),
    ("tick", NUMBER, |push| push.tick as f64),
    ("command.steer", NUMBER, |push| push.steer),
    ("command.accel", ACCELERATION, |push| push.accel),
    ("gear", NUMBER, |push| f64::from(push.gear)),
    ("car.x", LENGTH, |push| push.car.x),
    ("car.y", LENGTH, |push| push.car.y),
    ("car.heading", NUMBER, |push| push.car.heading),
    ("car.speed", SPEED, |push| push.car.speed),
    ("car.steer", NUMBER, |push| push.car.steer),
    ("car.accel", ACCELERATION, |push| push.car.accel),
];

/// What a run begins with, for parameters.
const FACTS: &[Entry<Begin>] = &[
    ("seed", NUMBER, |begin| begin.seed as f64),
    ("cycle_s", TIME, |begin| begin.cycle_s),
    ("until_s", TIME, |begin| begin.until_s),
    ("start.x", LENGTH, |begin| begin.start.x),
    ("start.y", LENGTH, |begin| begin.start.y),
    ("start.heading", NUMBER, |begin| begin.start.heading),
    ("start.speed", SPEED, |begin| begin.start.speed),
    ("goal.x", LENGTH, |begin| begin.goal.x),
    ("goal.y", LENGTH, |begin| begin.goal.y),
    ("goal.tolerance_m", LENGTH, |begin| begin.goal.tolerance_m),
    ("car.wheelbase_m", LENGTH, |begin| begin.car.wheelbase_m),
    ("car.length_m", LENGTH, |begin| begin.car.length_m),
    ("car.width_m", LENGTH, |begin| begin.car.width_m),
    ("car.rear_overhang_m", LENGTH, |begin| begin.car.rear_overhang_m),
    ("car.steering_max_rad", NUMBER, |begin| begin.car.steering_max_rad),
    ("car.steering_rate_max_radps", Dimensions::new(0, -1), |begin| begin.car.steering_rate_max_radps),
    ("path.length_m", LENGTH, |begin| begin.path.length_m),
];

/// What an FMU is told in one step.
#[derive(Clone, Copy, Debug)]
pub enum Told<'t> {
    /// A driver.
    Seen(&'t Seen),
    /// A part of the car.
    Pushed(&'t Push),
}

/// How a value is taken from what is told.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    /// Directly.
    Seen(fn(&Seen) -> f64),
    /// From one of the objects; 0 while there are fewer.
    Object(usize, fn(&ObjectSeen) -> f64),
    /// From what reaches a part of the car.
    Pushed(fn(&Push) -> f64),
    /// Always the same.
    Constant(f64),
}

impl Signal {
    /// Its value.
    pub fn value(&self, told: Told<'_>) -> f64 {
        match (self, told) {
            (Self::Constant(value), _) => *value,
            (Self::Seen(value), Told::Seen(seen)) => value(seen),
            (Self::Object(index, value), Told::Seen(seen)) => seen.objects.get(*index).map_or(0.0, value),
            (Self::Pushed(value), Told::Pushed(push)) => value(push),
            _ => unreachable!("signals are named for one role, and only that one is told anything"),
        }
    }
    /// The one of this name; `.`, `_`, `-` and brackets count alike, and so do capitals.
    pub fn named(role: FmuRole, name: &str) -> Option<(Self, Dimensions)> {
        let name = folded(name);
        if role != FmuRole::Driver {
            let pushed = PUSHED.iter().find(|(known, ..)| folded(known) == name);
            return pushed.map(|&(_, dimensions, value)| (Self::Pushed(value), dimensions));
        }
        let seen = SEEN.iter().find(|(known, ..)| folded(known) == name);
        let seen = seen.map(|&(_, dimensions, value)| (Self::Seen(value), dimensions));
        seen.or_else(|| {
            let (index, field) = name.strip_prefix("objects_")?.split_once('_')?;
            let index = index.parse().ok()?;
            let (_, dimensions, value) = OBJECT.iter().find(|(known, ..)| *known == field)?;
            Some((Self::Object(index, *value), *dimensions))
        })
    }
    /// All names, for people.
    pub fn names(role: FmuRole) -> Vec<String> {
        if role != FmuRole::Driver {
            return PUSHED.iter().map(|(name, ..)| (*name).to_owned()).collect();
        }
        SEEN.iter().map(|(name, ..)| (*name).to_owned()).chain(["objects.0.x".to_owned()]).collect()
    }
}

/// A number a run begins with.
pub type Fact = fn(&Begin) -> f64;

/// The fact of this name.
pub fn fact(name: &str) -> Option<(Fact, Dimensions)> {
    let name = folded(name);
    let found = FACTS.iter().find(|(known, ..)| folded(known) == name);
    found.map(|&(_, dimensions, value)| (value, dimensions))
}

/// Names of all facts, for people.
pub fn fact_names() -> Vec<String> {
    FACTS.iter().map(|(name, ..)| (*name).to_owned()).collect()
}

/// Tools cannot write every name: `path.lateral` may be `path_lateral` or `Path.Lateral`, `objects.0.x` `objects[0].x`.
pub fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '.' | '_' | '-' | '[' | ']' | '/' if folded.ends_with('_') => {}
            '.' | '_' | '-' | '[' | ']' | '/' => folded.push('_'),
            other => folded.extend(other.to_lowercase()),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_every_spelling() {
        let seen =
            Seen { speed: 3.0, objects: vec![ObjectSeen { x: 7.0, ..ObjectSeen::default() }], ..Seen::default() };
        let value =
            |name: &str| Signal::named(FmuRole::Driver, name).map(|(signal, _)| signal.value(Told::Seen(&seen)));
        assert_eq!(value("Speed"), Some(3.0));
        assert_eq!(value("objects[0].x"), Some(7.0));
        assert_eq!(value("objects_1_x"), Some(0.0));
        assert_eq!(value("path_speed-max"), Some(0.0));
        assert_eq!(value("objects.count"), Some(1.0));
        assert_eq!(value("objects.0.colour"), None);
        assert_eq!(value("velocity"), None);
        let push = Push { accel: -2.0, ..Push::default() };
        let pushed =
            |name: &str| Signal::named(FmuRole::Plant, name).map(|(signal, _)| signal.value(Told::Pushed(&push)));
        assert_eq!((pushed("Command_Accel"), pushed("path.lateral")), (Some(-2.0), None));
        assert!(fact("car_wheelbase_m").is_some() && fact("car").is_none());
    }
}
