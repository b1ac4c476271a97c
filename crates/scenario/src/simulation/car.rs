//! Car models: size, controller, sensors and actuators of one car.

use std::path::{Path, PathBuf};

use anabranch_language::diagnostic::{Code, Problem};
use anabranch_language::syntax::assembly::{Assembly, Entry, Text, Value, parse};

use super::body::{self, entry, list};
use super::garage::Garage;
use super::page::{Page, Source, escaped, wrong};
use super::sensors::{self, Ports};
use crate::file::Report;

/// Step of time of a car that is looked at alone.
const STEP_ALONE_S: f64 = 0.01;

/// Names of a controller's outputs that are commands.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("steer", &["s", "steer", "steering", "wheelAngle"]),
    ("accel", &["accel", "acceleration", "engine", "a"]),
    ("gear", &["gear"]),
    ("completed", &["completed", "done"]),
];

fn open(garage: &Garage<'_>, plate: &Text, source: &Source<'_>) -> Result<(PathBuf, String), Report> {
    let found = garage.car(plate).and_then(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?)));
    found.ok_or_else(|| {
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
pub(super) fn size(garage: &Garage<'_>, plate: &Text, source: &Source<'_>) -> Result<Option<f64>, Report> {
    let (path, text) = open(garage, plate, source)?;
    let car = assembly(&path, &text)?;
    let own = Source { file: path.display().to_string(), text: &text };
    body::keys(&car).and_then(|_| body::length_m(&car)).map_err(|problem| own.report(&[problem]))
}

/// The car under test, as keys of `[ego]`.
pub(super) fn read(
    page: &mut Page,
    garage: &Garage<'_>,
    plate: &Text,
    source: &Source<'_>,
    step_s: f64,
) -> Result<(), Report> {
    let (path, text) = open(garage, plate, source)?;
    let car = assembly(&path, &text)?;
    let own = Source { file: path.display().to_string(), text: &text };
    let written = Written { car: &car, garage, own: &own, step_s };
    written.write(page).map_err(|problem| own.report(&[problem]))
}

/// The name of a car by itself, or every mistake that it would have under test.
pub(super) fn check(path: &Path, text: &str) -> Result<String, Report> {
    let car = assembly(path, text)?;
    let own = Source { file: path.display().to_string(), text };
    let garage = Garage::alone(path.parent().unwrap_or(Path::new("")));
    let written = Written { car: &car, garage: &garage, own: &own, step_s: STEP_ALONE_S };
    written.write(&mut Page::default()).map_err(|problem| own.report(&[problem]))?;
    Ok(car.name.text)
}

/// A car that is written as keys of a scenario.
struct Written<'a> {
    car: &'a Assembly,
    garage: &'a Garage<'a>,
    own: &'a Source<'a>,
    step_s: f64,
}

impl Written<'_> {
    fn write(&self, page: &mut Page) -> Result<(), Problem> {
        if let Some(Entry { key, .. }) = entry(self.car, "maxSpeed") {
            return Err(wrong(key, "`maxSpeed` cannot be honoured here", "limit the speed in the controller"));
        }
        let keys = body::keys(self.car)?;
        if !keys.is_empty() {
            page.plain("\n[ego.vehicle]");
        }
        for (key, span) in keys {
            let place = self.own.place(span);
            key.split(", ").for_each(|key| page.line(&place, key));
        }
        self.driver(page)
    }

    /// The controller with its sensors and actuators.
    fn driver(&self, page: &mut Page) -> Result<(), Problem> {
        let Some([controller, ..]) = list(self.car, "controller") else {
            return Err(wrong(&self.car.name, "the car has no controller", "add `controller = Name;`"));
        };
        let file = self.garage.component(controller)?;
        let text = std::fs::read_to_string(self.garage.folder.join(&file)).unwrap_or_default();
        let ports = Ports::of(&text, controller.text.rsplit('.').next().unwrap_or(""));
        page.plain("\n[ego.driver]");
        let at = self.own.place(controller.span);
        page.line(&at, &format!("file = \"{}\"", escaped(&file)));
        let (mut inputs, noise) = self.sensors(&ports)?;
        let (mut outputs, actuators) = self.actuators()?;
        if body::is_public(self.car) {
            let (more_inputs, more_outputs) = ports.public(self.step_s);
            inputs.extend(more_inputs);
            let named = |output: &str| output.split(" = ").next().unwrap_or("").to_owned();
            let known: Vec<String> = outputs.iter().map(|output| named(output)).collect();
            outputs.extend(more_outputs.into_iter().filter(|output| !known.contains(&named(output))));
        }
        let sensors = entry(self.car, "sensors").map_or(at.clone(), |entry| self.own.place(entry.key.span));
        page.line(&sensors, &format!("inputs = [{}]", quoted(&inputs)));
        if !noise.is_empty() {
            page.line(&sensors, &format!("noise = [{}]", quoted(&noise)));
        }
        let after = entry(self.car, "actuators").map_or(at, |entry| self.own.place(entry.key.span));
        if !outputs.is_empty() {
            page.line(&after, &format!("outputs = [{}]", quoted(&outputs)));
        }
        if !actuators.is_empty() {
            page.line(&after, &format!("actuators = [{}]", actuators.join(", ")));
        }
        Ok(())
    }

    /// Inputs, and the noise of some.
    fn sensors(&self, ports: &Ports) -> Result<(Vec<String>, Vec<String>), Problem> {
        let (mut inputs, mut noise) = (Vec::new(), Vec::new());
        for entry in self.inside("sensors")? {
            let sensor = &entry.key;
            let port = match &entry.value {
                Value::Bound(port) => port,
                Value::Named => {
                    inputs.extend(sensors::heard(sensor, ports)?);
                    continue;
                }
                _ => return Err(unbound(sensor)),
            };
            let (name, hiss) = sensor
                .text
                .split_once(' ')
                .map_or((sensor.text.as_str(), None), |(name, hiss)| (name, Some(hiss.trim())));
            inputs.extend(sensors::bound(sensor, name, &port.text)?);
            noise.extend(hiss.map(|hiss| format!("{} = {hiss}", port.text)));
        }
        Ok((inputs, noise))
    }

    /// Outputs that are commands, and components behind them.
    fn actuators(&self) -> Result<(Vec<String>, Vec<String>), Problem> {
        let (mut outputs, mut actuators) = (Vec::new(), Vec::new());
        for entry in self.inside("actuators")? {
            let port = &entry.key;
            // Limits of the car itself are part of its body.
            let Value::Bound(actuator) = &entry.value else { continue };
            let Some((command, _)) = COMMANDS.iter().find(|(_, names)| names.contains(&port.text.as_str())) else {
                let names: Vec<&str> = COMMANDS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
                let message = format!("`{}` is not known to be a command", port.text);
                return Err(wrong(port, message, format!("outputs are called {}", names.join(", "))));
            };
            outputs.push(format!("{} = {command}", port.text));
            let file = self.garage.component(actuator)?;
            actuators.push(format!(
                "{{ file = \"{}\", inputs = [\"wanted = {}\"], outputs = [\"actual = {command}\"] }}",
                escaped(&file),
                escaped(&port.text)
            ));
        }
        Ok((outputs, actuators))
    }

    /// Entries of a block.
    fn inside(&self, key: &str) -> Result<&[Entry], Problem> {
        let Some(entry) = entry(self.car, key) else { return Ok(&[]) };
        match &entry.value {
            Value::Block(entries) => Ok(entries),
            _ => Err(wrong(&entry.key, format!("`{key}` needs a block"), format!("write `{key} {{ A => b; }}`"))),
        }
    }
}

fn unbound(name: &Text) -> Problem {
    wrong(name, format!("`{}` is bound to nothing", name.text), "write `A => b;`")
}

fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("\"{}\"", escaped(text))).collect::<Vec<_>>().join(", ")
}
