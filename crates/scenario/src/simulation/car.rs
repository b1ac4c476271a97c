//! Car models: size, controller, sensors and actuators of one car.

use std::path::{Path, PathBuf};

use anabranch_language::diagnostic::{Code, Problem};
use anabranch_language::syntax::assembly::{Assembly, Entry, Text, Value, parse, quantity};
use anabranch_language::units::Dimension;

use super::{Source, escaped, wrong};
use crate::file::Report;

/// The part of a scenario that a car says.
pub(super) struct Car {
    /// Keys of `[ego]`, and its tables.
    pub(super) ego: String,
}

/// Sensors by name, and what they tell. A name may be followed by its noise: `SpeedSensor white => v`.
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

/// Names of a controller's outputs that are commands.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("steer", &["s", "steer", "steering", "wheelAngle"]),
    ("accel", &["accel", "acceleration", "engine", "a"]),
    ("gear", &["gear"]),
    ("completed", &["completed", "done"]),
];

fn open(folder: &Path, plate: &Text, source: &Source<'_>) -> Result<(PathBuf, String), Report> {
    let path = folder.join(format!("{}.car", plate.text));
    std::fs::read_to_string(&path).map(|text| (path.clone(), text)).map_err(|_| {
        let message = format!("there is no car model `{}.car` beside the simulation", plate.text);
        source.report(&[wrong(plate, message, "write it, or correct the plate")])
    })
}

fn assembly(path: &Path, text: &str) -> Result<Assembly, Report> {
    let source = Source { file: path.display().to_string(), text };
    let (car, mut problems) = parse(text);
    match car.filter(|car| car.kind == "car") {
        Some(car) if problems.is_empty() => Ok(car),
        _ => {
            if problems.is_empty() {
                problems.push(Problem::error(Code::Field, Default::default(), "this is no car"));
            }
            Err(source.report(&problems))
        }
    }
}

/// Length of a car that is not under test, if it says so.
pub(super) fn size(folder: &Path, plate: &Text, source: &Source<'_>) -> Result<Option<f64>, Report> {
    let (path, text) = open(folder, plate, source)?;
    let car = assembly(&path, &text)?;
    let own = Source { file: path.display().to_string(), text: &text };
    let sizes = dimension(&car).map_err(|problem| own.report(&[problem]))?;
    Ok(sizes.map(|sizes| sizes[0]))
}

/// The car under test.
pub(super) fn read(folder: &Path, plate: &Text, source: &Source<'_>) -> Result<Car, Report> {
    let (path, text) = open(folder, plate, source)?;
    let car = assembly(&path, &text)?;
    let own = Source { file: path.display().to_string(), text: &text };
    let ego = written(&car, folder).map_err(|problem| own.report(&[problem]))?;
    Ok(Car { ego })
}

fn entry<'a>(car: &'a Assembly, key: &str) -> Option<&'a Entry> {
    car.entries.iter().find(|entry| entry.key.text == key)
}

fn list<'a>(car: &'a Assembly, key: &str) -> Option<&'a [Text]> {
    match &entry(car, key)?.value {
        Value::List(values) => Some(values),
        _ => None,
    }
}

fn measured(text: &Text, exponents: [i8; 7], what: &str) -> Result<f64, Problem> {
    let (value, unit) = quantity(text)?;
    if unit.dimension != Dimension(exponents) || value <= 0.0 {
        return Err(wrong(text, format!("`{}` is no {what}", text.text), "write a positive number with its unit"));
    }
    Ok(value)
}

const LENGTH: [i8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Length, width and height.
fn dimension(car: &Assembly) -> Result<Option<[f64; 3]>, Problem> {
    let Some(sizes) = list(car, "dimension") else { return Ok(None) };
    let [length, width, height] = sizes else {
        let help = "write `dimension = 4.43m, 1.93m, 1.25m;`";
        return Err(wrong(&sizes[0], "a car has a length, a width and a height", help));
    };
    let size = |text: &Text| measured(text, LENGTH, "length");
    Ok(Some([size(length)?, size(width)?, size(height)?]))
}

/// The car as keys of a scenario.
fn written(car: &Assembly, folder: &Path) -> Result<String, Problem> {
    if let Some(Entry { key, .. }) = entry(car, "maxSpeed") {
        return Err(wrong(key, "`maxSpeed` cannot be honoured here", "limit the speed in the controller"));
    }
    let mut vehicle = Vec::new();
    if let Some([length_m, width_m, _]) = dimension(car)? {
        // Axles at the usual share of the length.
        vehicle.push(format!("length = \"{length_m} m\", width = \"{width_m} m\""));
        if list(car, "wheelbase").is_none() {
            let wheelbase_m = (length_m * 0.6 * 1e3).round() / 1e3;
            let front_m = (length_m * 0.2 * 1e3).round() / 1e3;
            let rear_m = ((length_m - wheelbase_m - front_m) * 1e6).round() / 1e6;
            vehicle.push(format!(
                "wheelbase = \"{wheelbase_m} m\", front_overhang = \"{front_m} m\", rear_overhang = \"{rear_m} m\""
            ));
        }
    }
    if let Some([wheelbase, ..]) = list(car, "wheelbase") {
        vehicle.push(format!("wheelbase = \"{} m\"", measured(wheelbase, LENGTH, "length")?));
    }
    if let Some([weight, ..]) = list(car, "weight") {
        let mass_kg = measured(weight, [0, 1, 0, 0, 0, 0, 0], "mass")?;
        vehicle.push(format!("model = \"single-track\", mass = \"{mass_kg} kg\""));
    }
    let mut out = if vehicle.is_empty() { String::new() } else { format!("vehicle = {{ {} }}\n", vehicle.join(", ")) };
    out += &driver(car, folder)?;
    Ok(out)
}

/// The controller with its sensors and actuators.
fn driver(car: &Assembly, folder: &Path) -> Result<String, Problem> {
    let Some([controller, ..]) = list(car, "controller") else {
        return Err(wrong(&car.name, "the car has no controller", "add `controller = Name;`"));
    };
    let mut out = format!("\n[ego.driver]\nfile = \"{}\"\n", escaped(&model_file(folder, controller)?));
    let (mut inputs, mut noise) = (Vec::new(), Vec::new());
    for (sensor, port) in bound(car, "sensors")? {
        let (name, hiss) =
            sensor.text.split_once(' ').map_or((sensor.text.as_str(), None), |(name, hiss)| (name, Some(hiss.trim())));
        let Some((_, told)) = SENSORS.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = SENSORS.iter().map(|(name, _)| *name).collect();
            return Err(wrong(
                sensor,
                format!("there is no sensor `{name}`"),
                format!("there is {}", names.join(", ")),
            ));
        };
        match told[..] {
            [one] => inputs.push(format!("{} = {one}", port.text)),
            _ => inputs.extend(told.iter().enumerate().map(|(n, told)| format!("{}[{}] = {told}", port.text, n + 1))),
        }
        noise.extend(hiss.map(|hiss| format!("{} = {hiss}", port.text)));
    }
    let quoted =
        |texts: &[String]| texts.iter().map(|text| format!("\"{}\"", escaped(text))).collect::<Vec<_>>().join(", ");
    out += &format!("inputs = [{}]\n", quoted(&inputs));
    if !noise.is_empty() {
        out += &format!("noise = [{}]\n", quoted(&noise));
    }
    let (mut outputs, mut actuators) = (Vec::new(), Vec::new());
    for (port, actuator) in bound(car, "actuators")? {
        let Some((command, _)) = COMMANDS.iter().find(|(_, names)| names.contains(&port.text.as_str())) else {
            let names: Vec<&str> = COMMANDS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
            let message = format!("`{}` is not known to be a command", port.text);
            return Err(wrong(port, message, format!("outputs are called {}", names.join(", "))));
        };
        outputs.push(format!("{} = {command}", port.text));
        let file = model_file(folder, actuator)?;
        actuators.push(format!(
            "{{ file = \"{}\", inputs = [\"wanted = {}\"], outputs = [\"actual = {command}\"] }}",
            escaped(&file),
            escaped(&port.text)
        ));
    }
    if !outputs.is_empty() {
        out += &format!("outputs = [{}]\n", quoted(&outputs));
    }
    if !actuators.is_empty() {
        out += &format!("actuators = [{}]\n", actuators.join(", "));
    }
    Ok(out)
}

/// Pairs of a block `{ a => b; }`.
fn bound<'a>(car: &'a Assembly, key: &str) -> Result<Vec<(&'a Text, &'a Text)>, Problem> {
    let Some(entry) = entry(car, key) else { return Ok(Vec::new()) };
    let Value::Block(entries) = &entry.value else {
        return Err(wrong(&entry.key, format!("`{key}` needs a block"), format!("write `{key} {{ A => b; }}`")));
    };
    let pair = |entry: &'a Entry| match &entry.value {
        Value::Bound(to) => Ok((&entry.key, to)),
        _ => Err(wrong(&entry.key, format!("`{}` is bound to nothing", entry.key.text), "write `A => b;`")),
    };
    entries.iter().map(pair).collect()
}

/// The file of a component, by its name, anywhere below the folder; the first in the order of paths.
fn model_file(folder: &Path, name: &Text) -> Result<String, Problem> {
    let short = name.text.rsplit('.').next().unwrap_or("");
    let mut waiting = vec![(folder.to_owned(), 0)];
    let mut found: Vec<PathBuf> = Vec::new();
    while let Some((at, depth)) = waiting.pop() {
        let entries = std::fs::read_dir(if at.as_os_str().is_empty() { Path::new(".") } else { &at });
        for path in entries.into_iter().flatten().flatten().map(|entry| entry.path()) {
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if path.is_dir() && !hidden && depth < 20 {
                waiting.push((path, depth + 1));
            } else if path.file_name().is_some_and(|file| file == format!("{short}.emam").as_str()) {
                found.push(path);
            }
        }
    }
    found.sort();
    let Some(first) = found.first() else {
        let message = format!("there is no component `{}` below the folder of the simulation", name.text);
        return Err(wrong(name, message, format!("add {short}.emam, or correct the name")));
    };
    let root = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    Ok(first.strip_prefix(root).unwrap_or(first).display().to_string())
}
