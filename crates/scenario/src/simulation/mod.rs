//! Simulation models (`.sim`, S2-10) and car models (`.car`, S2-11) as scenarios.
//!
//! A simulation names a map, a step, a duration and cars with their ways; each car has a file of its own with its size, its
//! controller, its sensors and its actuators. Both become the text of a scenario, one for each member of the family that
//! lists and ranges of values describe. The first car is the one under test.

mod body;
mod car;
mod fields;
mod garage;
mod goals;
mod page;
mod radio;
mod sensors;
mod ways;

use std::path::Path;

use anabranch_language::diagnostic::{Code, Problem};
use anabranch_language::syntax::assembly::{
    Assembly, Entry, MEMBERS_MAX, Route, Text, Value, moment, parse, quantity, spread,
};

use crate::file::{Diagnostic, Report};
use fields::{Axis, Chosen, Weather, choices, fault, seconds, step_s};
use garage::Garage;
pub use garage::Read;
use page::Page;
pub use page::Place;
pub(crate) use page::{Source, escaped, wrong};
use radio::Channel;

/// One scenario of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// What it has different from the others, as in `deltaT = 10ms`; empty if it is the only one.
    pub label: String,
    /// The scenario, as TOML.
    pub text: String,
    /// For each line of it, the place in a simulation or a car that says so.
    pub places: Vec<Option<Place>>,
}

impl Member {
    /// What is wrong with the scenario is wrong with what says so: moves mistakes in `file`, the name under which the
    /// scenario was read, to their places.
    pub fn relocate(&self, file: &str, report: &mut Report) {
        self.blame_step(file, report);
        for told in report.diagnostics.iter_mut().filter(|told| told.file == file) {
            let written = self.places.iter().take(told.line).rev().flatten().next();
            let Some(place) = written.or_else(|| self.places.iter().flatten().next()) else { continue };
            let Place { file, line, column, length, source_line } = place.clone();
            (told.file, told.line, told.column) = (file, line, column);
            (told.length, told.source_line) = (length, source_line);
        }
    }

    /// A step into which times do not fit that nobody wrote is told once, where it stands.
    fn blame_step(&self, file: &str, report: &mut Report) {
        let is_uneven = |told: &Diagnostic| {
            told.file == file && told.code == crate::file::Code::NotAMultiple.text() && told.message.contains(STEP)
        };
        let unwritten = |told: &Diagnostic| self.places.get(told.line - 1).is_some_and(Option::is_none);
        let step = self.text.lines().position(|line| line.starts_with("step = "));
        let Some(place) = step.and_then(|line| self.places[line].clone()) else { return };
        let Some(first) = report.diagnostics.iter().position(|told| is_uneven(told) && unwritten(told)) else { return };
        let mut blamed = report.diagnostics[first].clone();
        let uneven = report.diagnostics.iter().filter(|told| is_uneven(told));
        let names: Vec<&str> = uneven.filter_map(|told| told.message.split('`').nth(1)).map(called).collect();
        blamed.message = format!("no whole multiples of this step: {}", names.join(", "));
        blamed.help = "choose a step that divides them, as 10ms does".to_owned();
        let Place { file, line, column, length, source_line } = place;
        (blamed.file, blamed.line, blamed.column) = (file, line, column);
        (blamed.length, blamed.source_line) = (length, source_line);
        report.diagnostics.retain(|told| !is_uneven(told));
        report.diagnostics.insert(0, blamed);
    }
}

/// How a time that is no multiple of the step is complained about.
const STEP: &str = "whole multiple of `world.step`";

/// What simulations call a time of a scenario.
fn called(key: &str) -> &str {
    match key {
        "until" => "the duration",
        "segment" => "the segment of 1 s",
        "sensor.cycle" => "the cycle of the sensor",
        other => other,
    }
}

/// Whether a file of this name is a simulation model.
pub fn is_simulation(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("sim"))
}

/// Whether a file of this name is a car model.
pub fn is_car(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("car"))
}

/// Checks a car model with the components beside it, as if it were under test. Returns its name.
///
/// # Errors
/// With its mistakes.
pub fn check_car(path: &Path, text: &str) -> Result<String, Report> {
    car::check(path, text, &from_disk)
}

fn from_disk(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Reads a simulation and everything it names, and writes each member of its family as a scenario.
///
/// # Errors
/// With every mistake of the simulation, or of a car or map that it names.
pub fn expand(path: &Path, text: &str) -> Result<Vec<Member>, Report> {
    expand_with(path, text, &from_disk)
}

fn expand_with(path: &Path, text: &str, read: Read<'_>) -> Result<Vec<Member>, Report> {
    let source = Source { file: path.display().to_string(), text };
    let (assembly, mut problems) = parse(text);
    let Some(assembly) = assembly.filter(|assembly| assembly.kind == "simulation") else {
        if problems.is_empty() {
            problems.push(Problem::error(Code::Field, Default::default(), "this is a car, not a simulation"));
        }
        return Err(source.report(&problems));
    };
    if !problems.is_empty() {
        return Err(source.report(&problems));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let simulation = Simulation { assembly: &assembly, folder, source: &source, read };
    let axes = simulation.axes().map_err(|problems| source.report(&problems))?;
    let mut members = Vec::new();
    for chosen in choices(&axes) {
        let (text, places) = simulation.scenario(&chosen, members.len())?;
        let label = chosen.0.iter().zip(&axes).filter(|(_, axis)| axis.values.len() > 1);
        let label: Vec<String> = label.map(|((key, value), _)| format!("{key} = {}", value.text)).collect();
        members.push(Member { label: label.join(", "), text, places });
    }
    Ok(members)
}

/// Every mistake of a simulation or a car, and of the cars and components it names, which are read so.
pub fn mistakes(path: &Path, text: &str, read: Read<'_>) -> Vec<Diagnostic> {
    let told = match is_simulation(path) {
        true => expand_with(path, text, read).map(drop),
        false => car::check(path, text, read).map(drop),
    };
    told.err().map_or_else(Vec::new, |report| report.diagnostics)
}

/// Sensors that a car can have by name, and what they tell.
pub fn sensors() -> Vec<(&'static str, String)> {
    sensors::all()
}

struct Simulation<'a> {
    assembly: &'a Assembly,
    folder: &'a Path,
    source: &'a Source<'a>,
    read: Read<'a>,
}

impl Simulation<'_> {
    fn entry(&self, key: &str) -> Option<&Entry> {
        self.assembly.entries.iter().find(|entry| entry.key.text == key)
    }

    fn needed(&self, key: &str) -> Result<&Entry, Problem> {
        let shown = self.assembly.shown(key);
        let help = if shown == key { format!("add `{key} = …;`") } else { format!("add `{shown} …;`") };
        self.entry(key).ok_or_else(|| wrong(&self.assembly.name, format!("the simulation has no `{shown}`"), help))
    }

    /// The fields that may have several values.
    fn axes(&self) -> Result<Vec<Axis>, Vec<Problem>> {
        let mut told = Vec::new();
        for key in ["seed", "pedestrians"] {
            // The public spelling says where pedestrians are.
            if let Some(entry) = self.entry(key).filter(|entry| matches!(entry.value, Value::List(_))) {
                let help = if key == "seed" { "give --seed on the command line" } else { "write the scenario as TOML" };
                told.push(wrong(&entry.key, format!("`{key}` cannot be honoured here"), help));
            }
        }
        let mut axes = Vec::new();
        let fields =
            [("map", None), ("deltaT", None), ("duration", None), ("weather", Some("dry")), ("startTime", Some(""))];
        for (key, usual) in fields {
            match self.values(key, usual) {
                Ok(values) => axes.push(Axis { key, values }),
                Err(problem) => told.push(problem),
            }
        }
        told.extend(axes.iter().flat_map(|axis| axis.values.iter().filter_map(|value| fault(axis.key, value))));
        match Channel::of(self.assembly).and_then(|channel| channel.map_or(Ok(Vec::new()), |channel| channel.axes())) {
            Ok(more) => axes.extend(more),
            Err(problem) => told.push(problem),
        }
        told.extend(self.needed("cars").err());
        if !told.is_empty() {
            told.dedup();
            return Err(told);
        }
        let count = axes.iter().fold(1_usize, |count, axis| count.saturating_mul(axis.values.len()));
        if count > MEMBERS_MAX {
            let message = format!("the family has {count} members; at most {MEMBERS_MAX} are run");
            return Err(vec![wrong(&self.assembly.name, message, "use shorter lists or wider steps")]);
        }
        Ok(axes)
    }

    /// All values of a field.
    fn values(&self, key: &str, usual: Option<&str>) -> Result<Vec<Text>, Problem> {
        match (self.entry(key), usual) {
            (Some(Entry { value: Value::List(values), .. }), _) if key == "weather" => Ok(vec![joined(values)]),
            (Some(Entry { value: Value::Family(values), .. }), _) => Ok(values.clone()),
            (Some(Entry { value: Value::List(values), .. }), _) => spread(values),
            (None, Some(usual)) => Ok(vec![Text { text: usual.to_owned(), span: self.assembly.name.span }]),
            _ => {
                let entry = self.needed(key)?;
                let shown = self.assembly.shown(key);
                Err(wrong(&entry.key, format!("`{shown}` needs a value"), format!("write `{shown} = …;`")))
            }
        }
    }

    /// The text of one member, and where its lines come from.
    fn scenario(&self, chosen: &Chosen<'_>, number: usize) -> Result<(String, Vec<Option<Place>>), Report> {
        let told = |problem: Problem| self.source.report(&[problem]);
        let map_path = self.list("map_path").and_then(|path| path.first());
        let road = ways::read_map(self.folder, map_path, chosen.needed("map"), &|problem| told(problem))?;
        let mut origin = None;
        let ways = self.ways("cars", &road, &mut origin).map_err(told)?;
        let Some(ego) = ways.first() else {
            let help = match self.assembly.shown("cars") {
                "cars" => "add `cars { PLATE: {start -> goal} }`",
                _ => "add `vehicle car1(0, 0, 0)->(100, 0, 0) : Model;`",
            };
            return Err(told(wrong(&self.assembly.name, "the simulation has no car", help)));
        };
        let garage = Garage::of(self.folder, self.assembly, self.read).map_err(told)?;
        let mut page = Page::default();
        self.head(&mut page, chosen, number, &ego.plate).map_err(told)?;
        page.plain("\n[road]");
        let at = self.source.place(chosen.needed("map").span);
        page.line(&at, &format!("map = \"{}\"", escaped(&road.name)));
        for other in &ways[1..] {
            self.other(&mut page, &garage, other)?;
        }
        self.people(&mut page, &road, &mut origin).map_err(told)?;
        self.traffic(&mut page).map_err(told)?;
        page.plain("\n[ego]");
        for (key, text, place) in [("start", &ego.route.from, &ego.way.from), ("goal", &ego.route.to, &ego.way.to)] {
            let line = format!("{key} = {{ lane = \"{}\", station = \"{} m\" }}", place.lane, place.station_m);
            page.line(&self.source.place(text.span), &line);
        }
        let step = step_s(chosen.needed("deltaT")).map_err(told)?;
        car::read(&mut page, &garage, ego.model(), self.source, step)?;
        self.tail(&mut page, chosen, &ego.route).map_err(told)?;
        Ok(page.finish())
    }

    /// Name and world.
    fn head(&self, page: &mut Page, chosen: &Chosen<'_>, number: usize, plate: &Text) -> Result<(), Problem> {
        let suffix = if number == 0 { String::new() } else { format!("-{}", number + 1) };
        let name = folded(&self.assembly.name.text);
        let own = self.source.place(self.assembly.name.span);
        page.plain("schema = \"anabranch/1\"");
        page.line(&own, &format!("name = \"{name}{suffix}\""));
        let time = chosen.get("startTime");
        let at = time.map_or(String::new(), |time| format!(" at {}", escaped(&time.text)));
        page.line(&own, &format!("about = \"Simulation {} of {}{at}.\"", name, escaped(&plate.text)));
        page.plain("\n[world]");
        let step = chosen.needed("deltaT");
        page.line(&self.source.place(step.span), &format!("step = \"{} s\"", step_s(step)?));
        if let Some(time) = time {
            page.line(&self.source.place(time.span), &format!("time_of_day = \"{} s\"", moment(time)?));
        }
        let weather = chosen.needed("weather");
        let of_weather = self.source.place(weather.span);
        let Weather { friction, clouds, .. } = Weather::of(weather)?;
        for (key, value) in [("friction", friction), ("clouds", clouds)] {
            value.iter().for_each(|value| page.line(&of_weather, &format!("{key} = {value}")));
        }
        Ok(())
    }

    /// Somebody else on the road.
    fn other(&self, page: &mut Page, garage: &Garage<'_>, other: &Driven) -> Result<(), Report> {
        let at = self.source.place(other.plate.span);
        let size = car::size(garage, other.model(), self.source)?;
        if let Some(goal) = other.route.goals.first() {
            let message = "goals are for the first vehicle, which is under test";
            return Err(self.source.report(&[wrong(&goal.operator, message, "leave them out, or put it first")]));
        }
        page.plain("\n[[object]]");
        page.line(&at, &format!("id = \"{}\"", escaped(&other.plate.text)));
        if size.is_some_and(|length_m| length_m > 8.0) {
            page.plain("kind = \"lorry\"");
        }
        let from = self.source.place(other.route.from.span);
        page.line(&from, &format!("lane = \"{}\"", other.way.from.lane));
        page.line(&from, &format!("station = \"{} m\"", other.way.from.station_m));
        Ok(())
    }

    /// Pedestrians.
    fn people(&self, page: &mut Page, road: &ways::Road, origin: &mut Option<[f64; 2]>) -> Result<(), Problem> {
        let Some(Entry { value: Value::Block(people), .. }) = self.entry("pedestrians") else { return Ok(()) };
        for person in people {
            let Value::Route(route) = &person.value else { continue };
            page.plain("\n[[object]]");
            let at = self.source.place(person.key.span);
            page.line(&at, &format!("id = \"{}\"", escaped(&person.key.text)));
            road.pedestrian(route, origin)?.iter().for_each(|line| page.line(&at, line));
        }
        Ok(())
    }

    /// Cars without names.
    fn traffic(&self, page: &mut Page) -> Result<(), Problem> {
        let Some(counts) = self.list("vehicles") else { return Ok(()) };
        let mut count = 0.0;
        for one in counts {
            count += quantity(one)?.0;
        }
        page.plain("\n[traffic]");
        page.line(&self.source.place(counts[0].span), &format!("cars = {count}"));
        Ok(())
    }

    /// What is seen and heard, how long it lasts, and what must be true.
    fn tail(&self, page: &mut Page, chosen: &Chosen<'_>, route: &Route) -> Result<(), Problem> {
        let weather = chosen.needed("weather");
        if let Some(sight_m) = Weather::of(weather)?.sight_m {
            page.plain("\n[ego.sensor]");
            let range_m = sight_m.min(SENSOR_RANGE_M);
            page.line(&self.source.place(weather.span), &format!("range = \"{range_m} m\""));
        }
        if let Some(channel) = Channel::of(self.assembly)? {
            channel.write(page, self.source, chosen)?;
        }
        page.plain("\n[explore]\nsegment = \"1 s\"");
        let duration = chosen.needed("duration");
        page.line(&self.source.place(duration.span), &format!("until = \"{} s\"", seconds(duration)?));
        page.plain("\n[[must]]\nid = \"no-contact\"\nnever = \"ego.contact\"");
        page.plain("[[must]]\nid = \"stays-on-the-road\"\nnever = \"ego.off_lane\"");
        goals::write(page, self.source, &route.goals)
    }

    fn list(&self, key: &str) -> Option<&[Text]> {
        match self.entry(key) {
            Some(Entry { value: Value::List(values), .. }) => Some(values),
            _ => None,
        }
    }

    /// Every car with its way, in order.
    fn ways(&self, key: &str, road: &ways::Road, origin: &mut Option<[f64; 2]>) -> Result<Vec<Driven>, Problem> {
        let entry = self.needed(key)?;
        let Value::Block(cars) = &entry.value else {
            return Err(wrong(&entry.key, "`cars` needs a block", "write `cars { PLATE: {start -> goal} }`"));
        };
        let mut ways = Vec::new();
        for car in cars {
            let Value::Route(route) = &car.value else {
                let message = format!("`{}` has no way", car.key.text);
                return Err(wrong(&car.key, message, "write `PLATE: {start -> goal}`"));
            };
            let way = road.way(&route.from, &route.to, origin)?;
            ways.push(Driven { plate: car.key.clone(), route: route.clone(), way });
        }
        Ok(ways)
    }
}

/// How far an object sensor sees if nothing shortens it, as in scenario files.
const SENSOR_RANGE_M: f64 = 120.0;

/// A car and its way.
struct Driven {
    plate: Text,
    route: Route,
    way: ways::Way,
}

impl Driven {
    /// The name of its car model.
    fn model(&self) -> &Text {
        self.route.car.as_ref().unwrap_or(&self.plate)
    }
}

fn joined(values: &[Text]) -> Text {
    let texts: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
    Text { text: texts.join(", "), span: values.first().map_or_else(Default::default, |value| value.span) }
}

/// A name as scenarios have them.
fn folded(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    name.chars().map(kept).collect()
}
