//! Sensors and commands of cars, by the names of the paper and of the public simulators.

use std::path::Path;

use anabranch_bridge::fmu::folded;
use anabranch_language::Library;
use anabranch_language::diagnostic::{Code, Problem};
use anabranch_language::syntax::assembly::{Assembly, Text, Value, bound_ports};
use anabranch_language::syntax::ast::{Base, Component, Direction, Item, Type};

use super::page::wrong;

/// Sensors of the paper by name, and what they tell. A name may be followed by its noise: `SpeedSensor white => v`.
const SENSORS: [(&str, &[&str]); 8] = [
    ("SpeedSensor", &["speed"]),
    ("Compass", &["pose.heading"]),
    ("GPS", &["pose.x", "pose.y"]),
    ("TiHighAccGPS", &["pose.x", "pose.y"]),
    ("SteeringAngleSensor", &["steer"]),
    (
        "LaneMarkerSensor",
        &["road.marker.front_left", "road.marker.rear_left", "road.marker.front_right", "road.marker.rear_right"],
    ),
    ("DistanceSensor", &["road.leader.ahead"]),
    ("RelativeSpeedSensor", &["road.leader.speed"]),
];

/// A sensor of the public simulators.
struct PublicSensor {
    name: &'static str,
    /// What it tells: directions count from north, and wheels are turned to the right.
    tells: &'static [&'static str],
    /// Ports of controllers that listen to it: one for all that it tells, or one for each.
    ports: &'static [&'static [&'static str]],
}

/// Names of ports: the sensor's own, and those of the public controllers and of the adapters before them.
const PUBLIC: [PublicSensor; 4] = [
    PublicSensor {
        name: "sensor_velocity",
        tells: &["speed"],
        ports: &[&["sensor_velocity"], &["currentVelocity"], &["true_velocity"], &["velocity"]],
    },
    PublicSensor {
        name: "sensor_steering",
        tells: &["steer.right"],
        ports: &[&["sensor_steering"], &["currentSteering"]],
    },
    PublicSensor {
        name: "sensor_gps_coordinates",
        tells: &["pose.x", "pose.y"],
        ports: &[&["sensor_gps_coordinates"], &["true_position"], &["position"], &["x", "y"]],
    },
    PublicSensor {
        name: "sensor_compass",
        tells: &["pose.compass"],
        ports: &[&["sensor_compass"], &["compass"], &["true_compass"]],
    },
];

/// Sensors of the public simulators that nothing here simulates.
const NOT_SIMULATED: [&str; 13] = [
    "sensor_camera",
    "sensor_daynight",
    "sensor_distance_to_left",
    "sensor_distance_to_right",
    "sensor_left_back_wheel_distance_to_street_sensor",
    "sensor_left_front_distance",
    "sensor_left_front_wheel_distance_to_street_sensor",
    "sensor_obstacle",
    "sensor_right_back_wheel_distance_to_street_sensor",
    "sensor_right_front_distance",
    "sensor_right_front_wheel_distance_to_street_sensor",
    "sensor_streettype",
    "sensor_weather",
];

/// Outputs of public controllers, and the commands they are: wheels to the right, and brakes apart from the engine.
const PUBLIC_OUTPUTS: [(&str, &str); 4] =
    [("steering", "steer.right"), ("engine", "accel"), ("brakes", "brake"), ("brake", "brake")];

/// What actuators are told, and what they tell.
pub(super) const WANTED: &str = "wanted";
/// See [`WANTED`].
pub(super) const ACTUAL: &str = "actual";

/// The time between two decisions, which public controllers are told.
const STEP_PORT: &str = "timeIncrement";

/// Sensors by name, and what they tell.
pub(super) fn all() -> Vec<(&'static str, String)> {
    let paper = SENSORS.iter().map(|(name, told)| (*name, told.join(", ")));
    paper.chain(PUBLIC.iter().map(|sensor| (sensor.name, sensor.tells.join(", ")))).collect()
}

/// Inputs and outputs of a controller, by name.
#[derive(Default)]
pub(super) struct Ports {
    inputs: Vec<String>,
    outputs: Vec<String>,
}

impl Ports {
    /// Those of the component that is called like a file, with those of its interface; none if it cannot be read, which is
    /// told elsewhere.
    pub(super) fn of(path: &Path, text: &str, name: &str) -> Option<Self> {
        let parsed = anabranch_language::syntax::parse(text);
        let mut components = parsed.file.items.iter().filter_map(|item| match item {
            Item::Component(component) => Some(component),
            _ => None,
        });
        let component = components.find(|component| component.name.text == name)?;
        let inherited = component.implements.as_ref().map(|interface| of_interface(path, interface));
        let mut ports = inherited.unwrap_or_else(|| Some(Self::default()))?;
        ports.add(component);
        Some(ports)
    }

    fn add(&mut self, component: &Component) {
        for port in &component.ports {
            let known = if port.direction == Direction::In { &mut self.inputs } else { &mut self.outputs };
            if !known.contains(&port.name.text) {
                known.push(port.name.text.clone());
            }
        }
    }

    /// Every port that a car binds and its controller does not have (E14), each at its place.
    pub(super) fn unbound(&self, car: &Assembly) -> Vec<Problem> {
        let bound = car.entries.iter().filter_map(|entry| match &entry.value {
            Value::Block(inside) => Some(inside),
            _ => None,
        });
        let bound: Vec<(&Text, &Text)> = bound
            .flatten()
            .filter_map(|entry| match &entry.value {
                Value::Bound(target) => Some((&entry.key, target)),
                _ => None,
            })
            .collect();
        // Whether there are such components is told by who looks for their files.
        let actuators: Vec<&str> = bound.iter().map(|(_, target)| target.text.as_str()).collect();
        let inputs: Vec<&str> = self.inputs.iter().map(String::as_str).collect();
        let outputs: Vec<&str> = self.outputs.iter().map(String::as_str).collect();
        let mut told = bound_ports(car, &inputs, &outputs, &actuators);
        // A binding may name one number of a port, and capitals count alike as everywhere in mappings.
        let base = |name: &str| folded(name.split(['[', '.']).next().unwrap_or(name));
        let among = |ports: &[&str], text: &Text| ports.iter().any(|port| folded(port) == base(&text.text));
        told.retain(|problem| {
            let here = |text: &Text| text.span == problem.span;
            !bound.iter().any(|(key, to)| here(key) && among(&outputs, key) || here(to) && among(&inputs, to))
        });
        told
    }

    /// Why a component cannot stand between controller and car; `None` if it can.
    pub(super) fn no_actuator(&self, name: &Text) -> Option<Problem> {
        let missing = |ports: &[String], wanted: &str| !ports.iter().any(|port| folded(port) == wanted);
        let (what, port) = match (missing(&self.inputs, WANTED), missing(&self.outputs, ACTUAL)) {
            (true, _) => ("input", WANTED),
            (_, true) => ("output", ACTUAL),
            _ => return None,
        };
        let message = format!("`{}` has no {what} `{port}`, so it is no actuator", name.text);
        let help = format!("an actuator has an in-port `{WANTED}` and an out-port `{ACTUAL}`");
        Some(Problem::error(Code::UnknownName, name.span, message).help(help))
    }

    /// Commands that are called as the public simulators do, and the step of time.
    pub(super) fn public(&self, step_s: f64) -> (Vec<String>, Vec<String>) {
        let has = |name: &str| self.outputs.iter().any(|output| output == name);
        // Who has `steer` and `accel` too means these.
        let own = |command: &str| has(if command == "steer.right" { "steer" } else { "accel" });
        let known = PUBLIC_OUTPUTS.iter().filter(|(name, command)| has(name) && !own(command));
        let outputs = known.map(|(name, command)| format!("{name} = {command}")).collect();
        let told = self.inputs.iter().filter(|input| *input == STEP_PORT);
        (told.map(|input| format!("{input} = {step_s}")).collect(), outputs)
    }
}

/// The ports of the interface that the component of a file implements; none if it is not found.
fn of_interface(path: &Path, interface: &Type) -> Option<Ports> {
    let Base::Named(name) = &interface.base else { return None };
    let (library, components) = Library::around(path).ok()?;
    let file = library.find(components.first()?, None)?.file;
    match library.resolve(&name.text(), file)?.item {
        Item::Component(component) => {
            let mut ports = Ports::default();
            ports.add(component);
            Some(ports)
        }
        _ => None,
    }
}

/// What a sensor tells, for a port that is named.
pub(super) fn bound(sensor: &Text, name: &str, port: &str) -> Result<Vec<String>, Problem> {
    let paper = SENSORS.iter().find(|(known, _)| *known == name).map(|(_, told)| *told);
    let told = match paper {
        Some(told) => told,
        None => find(sensor, name)?.tells,
    };
    Ok(to_port(told, port))
}

/// What a public sensor tells, for the port of a controller that listens to it; nothing if none does.
pub(super) fn heard(sensor: &Text, ports: &Ports) -> Result<Vec<String>, Problem> {
    let found = find(sensor, &sensor.text)?;
    let has = |name: &&str| ports.inputs.iter().any(|input| input == name);
    Ok(match found.ports.iter().find(|names| names.iter().all(has)) {
        Some([one]) => to_port(found.tells, one),
        Some(each) => each.iter().zip(found.tells).map(|(port, told)| format!("{port} = {told}")).collect(),
        None => Vec::new(),
    })
}

fn to_port(told: &[&str], port: &str) -> Vec<String> {
    match told {
        [one] => vec![format!("{port} = {one}")],
        _ => (1..).zip(told).map(|(number, told)| format!("{port}[{number}] = {told}")).collect(),
    }
}

fn find(sensor: &Text, name: &str) -> Result<&'static PublicSensor, Problem> {
    if let Some(found) = PUBLIC.iter().find(|sensor| sensor.name == name) {
        return Ok(found);
    }
    let names: Vec<&str> = all().iter().map(|(name, _)| *name).collect();
    let message = match NOT_SIMULATED.contains(&name) {
        true => format!("the sensor `{name}` is not simulated here"),
        false => format!("there is no sensor `{name}`"),
    };
    Err(wrong(sensor, message, format!("there is {}", names.join(", "))))
}
