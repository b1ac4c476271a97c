//! Car models: size, controller, sensors and actuators of one car.

use std::path::{Path, PathBuf};

use anabranch_language::diagnostic::{Code, Problem};
use anabranch_language::syntax::Span;
use anabranch_language::syntax::assembly::{Assembly, Entry, Text, Value, parse};

use super::body::{self, entry, list};
use super::garage::{Garage, Read};
use super::page::{Page, Source, escaped, wrong};
use super::sensors::{self, ACTUAL, Ports, WANTED};
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
    let found = garage.car(plate).and_then(|path| Some((path.clone(), (garage.read)(&path)?)));
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
    written.write(page).map_err(|problems| own.report(&problems))
}

/// The name of a car by itself, or every mistake that it would have under test.
pub(super) fn check(path: &Path, text: &str, read: Read<'_>) -> Result<String, Report> {
    let car = assembly(path, text)?;
    let own = Source { file: path.display().to_string(), text };
    let garage = Garage::alone(path.parent().unwrap_or(Path::new("")), read);
    let written = Written { car: &car, garage: &garage, own: &own, step_s: STEP_ALONE_S };
    written.write(&mut Page::default()).map_err(|problems| own.report(&problems))?;
    Ok(car.name.text)
}

/// A car that is written as keys of a scenario.
struct Written<'a> {
    car: &'a Assembly,
    garage: &'a Garage<'a>,
    own: &'a Source<'a>,
    step_s: f64,
}

/// A line of the scenario, and the entry that says so.
type Said = (String, Span);

/// What a driver is told or tells, line by line.
#[derive(Default)]
struct Wiring {
    inputs: Vec<Said>,
    noise: Vec<Said>,
    outputs: Vec<Said>,
    actuators: Vec<Said>,
}

impl Written<'_> {
    /// Writes the car, or tells everything that is wrong with it.
    fn write(&self, page: &mut Page) -> Result<(), Vec<Problem>> {
        let mut told = Vec::new();
        if let Some(Entry { key, .. }) = entry(self.car, "maxSpeed") {
            told.push(wrong(key, "`maxSpeed` cannot be honoured here", "limit the speed in the controller"));
        }
        let keys = body::keys(self.car).unwrap_or_else(|problem| {
            told.push(problem);
            Vec::new()
        });
        if !keys.is_empty() {
            page.plain("\n[ego.vehicle]");
        }
        for (key, span) in keys {
            let place = self.own.place(span);
            key.split(", ").for_each(|key| page.line(&place, key));
        }
        match self.wiring(&mut told) {
            Ok((controller, wiring)) => self.driver(page, &controller, &wiring),
            Err(problem) => told.push(problem),
        }
        // Of one place the first is told: what names no port is no command either.
        told.sort_by_key(|problem| problem.span.start);
        told.dedup_by_key(|problem| problem.span);
        if told.is_empty() { Ok(()) } else { Err(told) }
    }

    /// The file of the controller, and what its ports are bound to.
    fn wiring(&self, told: &mut Vec<Problem>) -> Result<(Said, Wiring), Problem> {
        let Some([controller, ..]) = list(self.car, "controller") else {
            return Err(wrong(&self.car.name, "the car has no controller", "add `controller = Name;`"));
        };
        let file = self.garage.component(controller)?;
        let ports = self.ports(&file, controller);
        if let Some(ports) = &ports {
            told.extend(ports.unbound(self.car));
        }
        let ports = ports.unwrap_or_default();
        let mut wiring = Wiring::default();
        self.sensors(&ports, &mut wiring, told);
        self.actuators(&mut wiring, told);
        if body::is_public(self.car) {
            let (more_inputs, more_outputs) = ports.public(self.step_s);
            let of_controller = |text: String| (quoted(&text), controller.span);
            wiring.inputs.extend(more_inputs.into_iter().map(of_controller));
            let named = |output: &str| output.split(" = ").next().unwrap_or("").to_owned();
            let known: Vec<String> = wiring.outputs.iter().map(|(output, _)| named(output)).collect();
            let more = more_outputs.into_iter().map(of_controller);
            wiring.outputs.extend(more.filter(|(output, _)| !known.contains(&named(output))));
        }
        Ok(((file, controller.span), wiring))
    }

    /// The ports of a component in a file below the folder; none if it cannot be read, which is told elsewhere.
    fn ports(&self, file: &str, name: &Text) -> Option<Ports> {
        let path = self.garage.folder.join(file);
        let text = (self.garage.read)(&path)?;
        Ports::of(&path, &text, name.text.rsplit('.').next().unwrap_or(""))
    }

    /// The controller with its sensors and actuators, each on a line of its own.
    fn driver(&self, page: &mut Page, (file, span): &Said, wiring: &Wiring) {
        page.plain("\n[ego.driver]");
        let at = self.own.place(*span);
        page.line(&at, &format!("file = \"{}\"", escaped(file)));
        let block = |key: &str| entry(self.car, key).map_or(at.clone(), |entry| self.own.place(entry.key.span));
        let lists = [
            ("inputs", "sensors", &wiring.inputs),
            ("noise", "sensors", &wiring.noise),
            ("outputs", "actuators", &wiring.outputs),
            ("actuators", "actuators", &wiring.actuators),
        ];
        for (key, of, lines) in lists.into_iter().filter(|(.., lines)| !lines.is_empty()) {
            page.line(&block(of), &format!("{key} = ["));
            lines.iter().for_each(|(line, span)| page.line(&self.own.place(*span), &format!("    {line},")));
            page.plain("]");
        }
    }

    /// Inputs, and the noise of some.
    fn sensors(&self, ports: &Ports, wiring: &mut Wiring, told: &mut Vec<Problem>) {
        for entry in self.inside("sensors", told) {
            let sensor = &entry.key;
            let (name, hiss) = sensor
                .text
                .split_once(' ')
                .map_or((sensor.text.as_str(), None), |(name, hiss)| (name, Some(hiss.trim())));
            let (inputs, span) = match &entry.value {
                Value::Bound(port) => {
                    let hiss = hiss.map(|hiss| (quoted(&format!("{} = {hiss}", port.text)), sensor.span));
                    wiring.noise.extend(hiss);
                    (sensors::bound(sensor, name, &port.text), port.span)
                }
                Value::Named => (sensors::heard(sensor, ports), sensor.span),
                _ => (Err(unbound(sensor)), sensor.span),
            };
            match inputs {
                Ok(inputs) => wiring.inputs.extend(inputs.iter().map(|input| (quoted(input), span))),
                Err(problem) => told.push(problem),
            }
        }
    }

    /// Outputs that are commands, and components behind them.
    fn actuators(&self, wiring: &mut Wiring, told: &mut Vec<Problem>) {
        for entry in self.inside("actuators", told) {
            let port = &entry.key;
            // Limits of the car itself are part of its body.
            let Value::Bound(actuator) = &entry.value else { continue };
            let Some((command, _)) = COMMANDS.iter().find(|(_, names)| names.contains(&port.text.as_str())) else {
                let names: Vec<&str> = COMMANDS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
                let message = format!("`{}` is not known to be a command", port.text);
                told.push(wrong(port, message, format!("outputs are called {}", names.join(", "))));
                continue;
            };
            wiring.outputs.push((quoted(&format!("{} = {command}", port.text)), port.span));
            match self.garage.component(actuator) {
                Ok(file) => {
                    let ports = self.ports(&file, actuator);
                    told.extend(ports.and_then(|ports| ports.no_actuator(actuator)));
                    let line = format!(
                        "{{ file = \"{}\", inputs = [{}], outputs = [{}] }}",
                        escaped(&file),
                        quoted(&format!("{WANTED} = {}", port.text)),
                        quoted(&format!("{ACTUAL} = {command}"))
                    );
                    wiring.actuators.push((line, actuator.span));
                }
                Err(problem) => told.push(problem),
            }
        }
    }

    /// Entries of a block.
    fn inside(&self, key: &str, told: &mut Vec<Problem>) -> &[Entry] {
        match entry(self.car, key) {
            None => &[],
            Some(Entry { value: Value::Block(entries), .. }) => entries,
            Some(entry) => {
                let help = format!("write `{key} {{ A => b; }}`");
                told.push(wrong(&entry.key, format!("`{key}` needs a block"), help));
                &[]
            }
        }
    }
}

fn unbound(name: &Text) -> Problem {
    wrong(name, format!("`{}` is bound to nothing", name.text), "write `A => b;`")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}
