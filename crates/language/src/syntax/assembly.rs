//! Simulation models (`.sim`, S2-10) and car models (`.car`, S2-11): entries with values, and blocks of entries.
//!
//! ```text
//! simulation Example { map = Town.osm; deltaT = 1ms; duration = 30s; cars { AC-SE001: {50°46'43.7"N 6°03'38.6"E -> …} } }
//! car AC-SE001 { dimension = 4.43m, 1.93m, 1.25m; controller = Lane; sensors { Compass => direction; } }
//! ```
//!
//! Both are read line by word rather than by the tokens of components: plates, dates, coordinates and file names have
//! signs of their own.

use super::Span;
pub use super::assembly_public::PUBLIC_KEYS;
pub use super::assembly_values::{MEMBERS_MAX, coordinate, exponents, measured, moment, quantity, spread};
pub use super::assembly_vehicles::VEHICLE_KEYS;
pub use super::assembly_world::{CHANNEL_KEYS, CLOUDS, PRECIPITATION, WEATHER_KEYS};
use crate::diagnostic::{Code, Problem};

/// A simulation or a car.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// `simulation` or `car`.
    pub kind: String,
    /// How its entries are spelled.
    pub spelling: Spelling,
    /// Its name or plate.
    pub name: Text,
    /// `package a.b;`
    pub package: Option<Text>,
    /// `import a.B;`
    pub imports: Vec<Text>,
    /// Entries, in order.
    pub entries: Vec<Entry>,
}

/// How a simulation is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// `simulation Name { duration = 30s; }`, as in the paper. Cars of both spellings are read alike.
    #[default]
    Paper,
    /// `sim Name { sim_duration 30s; }`, as the public simulators read it.
    Public,
}

impl Assembly {
    /// What an entry is called in the spelling of this file.
    pub fn shown<'k>(&self, key: &'k str) -> &'k str {
        match self.spelling {
            Spelling::Paper => key,
            Spelling::Public => super::assembly_public::public_name(key),
        }
    }
}

/// A piece of text and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Without blanks around it.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// One entry of an assembly.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What is set.
    pub key: Text,
    /// What it is set to.
    pub value: Value,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `= a, b, c`: several are a list or, in a simulation, a family.
    List(Vec<Text>),
    /// Several of which each may be a list in itself: a family.
    Family(Vec<Text>),
    /// `{ … }`: entries of its own.
    Block(Vec<Entry>),
    /// `=> target`.
    Bound(Text),
    /// `: { start -> goal }`.
    Route(Route),
    /// A name alone: a sensor of the public simulators.
    Named,
}

/// The way of somebody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    /// Where it begins.
    pub from: Text,
    /// Where it leads.
    pub to: Text,
    /// The car model, if it is not called like the car.
    pub car: Option<Text>,
    /// What must be true on the way.
    pub goals: Vec<Goal>,
}

/// `always speed lt 10m/s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// `always`, `never`, `eventually`.
    pub operator: Text,
    /// What is measured.
    pub metric: Text,
    /// `lt`, `le`, `gt`, `ge`, `eq`.
    pub comparator: Text,
    /// With what it is compared.
    pub target: Text,
}

/// Entries that a simulation can have.
pub const SIMULATION_KEYS: [&str; 8] =
    ["map", "startTime", "deltaT", "weather", "duration", "cars", "seed", "pedestrians"];

/// Entries that a car can have: those of the paper, and those that only the public simulators have.
pub const CAR_KEYS: [&str; 16] = [
    "dimension",
    "visualModel",
    "weight",
    "controller",
    "sensors",
    "actuators",
    "wheelbase",
    "maxSpeed",
    "mass",
    "width",
    "length",
    "height",
    "wheel_radius",
    "wheel_dist",
    "cpu",
    "physics_model",
];

/// Reads a `.sim` or `.car` file. Mistakes are told with the fix; a missing `;` or `}` does not hide what follows.
///
/// ```
/// let (sim, problems) = anabranch_language::syntax::assembly::parse("simulation A {\n  deltaT = 1ms\n  duration = 30s;\n}");
/// assert_eq!(problems[0].message, "expected `;` after `deltaT`");
/// assert_eq!(sim.unwrap().entries.len(), 2);
/// ```
pub fn parse(text: &str) -> (Option<Assembly>, Vec<Problem>) {
    let text = without_comments(text);
    let mut reader = Reader { text: &text, at: 0, problems: Vec::new() };
    let (mut package, mut imports) = (None, Vec::new());
    loop {
        reader.skip();
        let word = reader.rest().split(char::is_whitespace).next().unwrap_or("").to_owned();
        match word.as_str() {
            "package" | "import" => {
                reader.at += word.len();
                let name = reader.until(&[";", "\n"]);
                reader.end_of(&Text { text: word.clone(), span: name.span });
                if word == "import" { imports.push(name) } else { package = Some(name) }
            }
            _ => break,
        }
    }
    let assembly = reader.assembly().map(|assembly| Assembly { package, imports, ..assembly });
    (assembly, reader.problems)
}

/// The same with blanks in the place of comments, so that everything keeps its place.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        out.push_str(&rest[..at]);
        let comment = &rest[at..];
        let length = match comment.starts_with("//") {
            true => comment.find('\n').unwrap_or(comment.len()),
            false => comment[2..].find("*/").map_or(comment.len(), |end| end + 4),
        };
        comment[..length].bytes().for_each(|byte| out.push(if byte == b'\n' { '\n' } else { ' ' }));
        rest = &comment[length..];
    }
    out + rest
}

pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips blanks; comments are blanks already.
    pub(super) fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    /// Text up to one of the signs, without blanks around it.
    pub(super) fn until(&mut self, stops: &[&str]) -> Text {
        self.skip();
        let end = stops.iter().filter_map(|stop| self.rest().find(stop)).min().unwrap_or(self.rest().len());
        let text = self.rest()[..end].trim_end();
        let span = Span::new(self.at, self.at + text.len());
        self.at += end;
        Text { text: text.to_owned(), span }
    }

    pub(super) fn tell(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.problems.push(Problem::error(Code::Expected, span, message).help(help));
    }

    pub(super) fn here(&self) -> Span {
        Span::new(self.at, self.at)
    }

    fn assembly(&mut self) -> Option<Assembly> {
        let kind = self.until(&[" ", "\t", "\n", "{"]);
        let keys: &[&str] = match kind.text.as_str() {
            "simulation" => &SIMULATION_KEYS,
            "car" => &CAR_KEYS,
            // How the public simulators spell it.
            "sim" => return self.public_simulation(),
            _ => {
                self.tell(
                    kind.span,
                    format!("expected `simulation` or `car`, found `{}`", kind.text),
                    "begin with one of the two",
                );
                return None;
            }
        };
        let name = self.until(&["{", "\n"]);
        if name.text.is_empty() {
            self.tell(name.span, format!("this {} has no name", kind.text), "add one");
        }
        if !self.eat("{") {
            self.tell(self.here(), "expected `{`", "add `{`");
        }
        let entries = self.entries("", 0);
        self.twice(&entries);
        for entry in &entries {
            if !keys.contains(&entry.key.text.as_str()) {
                let told =
                    Problem::error(Code::Field, entry.key.span, format!("a {} has no `{}`", kind.text, entry.key.text));
                self.problems.push(told.did_you_mean(&entry.key.text, keys.iter().copied()));
            }
        }
        self.skip();
        if !self.rest().is_empty() {
            self.tell(self.here(), "text after the closing `}`", "remove it, or a `}` before it");
        }
        Some(Assembly { kind: kind.text, name, entries, ..Assembly::default() })
    }

    /// The same entry twice: one of them would be ignored.
    pub(super) fn twice(&mut self, entries: &[Entry]) {
        for (at, entry) in entries.iter().enumerate() {
            if entries[..at].iter().any(|before| before.key.text == entry.key.text) {
                let written = self.text.get(entry.key.span.range()).unwrap_or(&entry.key.text);
                let told = Problem::error(Code::Duplicate, entry.key.span, format!("`{written}` is there twice"));
                self.problems.push(told.help("keep one of them"));
            }
            // Two sensors of one kind may be bound to two ports.
            let once = ["cars", "wheel_dist", "cpu", "brakes", "front", "back"];
            if let Value::Block(inside) = &entry.value
                && (once.contains(&entry.key.text.as_str()) || entry.key.text.starts_with("channel "))
            {
                self.twice(inside);
            }
        }
    }

    /// Entries up to the closing brace.
    fn entries(&mut self, block: &str, depth: usize) -> Vec<Entry> {
        let mut entries = Vec::new();
        loop {
            self.skip();
            while self.eat(";") || self.eat(",") {}
            if self.eat("}") {
                return entries;
            }
            if self.rest().is_empty() || depth > 8 {
                self.tell(self.here(), "a `}` is missing", "add `}` at the end");
                self.at = self.text.len();
                return entries;
            }
            let before = self.at;
            if let Some(entry) = self.entry(block, depth) {
                entries.push(entry);
            }
            if self.at == before {
                self.at += self.rest().chars().next().map_or(1, char::len_utf8);
            }
        }
    }

    fn entry(&mut self, block: &str, depth: usize) -> Option<Entry> {
        let key = self.until(&["=", "{", ":", ";", "}", "\n"]);
        if self.eat("=>") {
            let target = self.until(&[";", "}", "\n"]);
            self.end_of(&key);
            return Some(Entry { key, value: Value::Bound(target) });
        }
        if self.eat("=") {
            let values = self.list();
            self.end_of(&key);
            return Some(Entry { key, value: Value::List(values) });
        }
        if self.eat(":") {
            return self.route(key);
        }
        if self.eat("{") {
            let entries = self.entries(&key.text, depth + 1);
            return Some(Entry { key, value: Value::Block(entries) });
        }
        if block == "sensors" && !key.text.is_empty() {
            self.end_of(&key);
            return Some(Entry { key, value: Value::Named });
        }
        self.tell(key.span, format!("`{}` has no value", key.text), "write `name = value;`");
        self.until(&[";", "}", "\n"]);
        None
    }

    /// Values up to `;`, the end of the line, or a brace.
    fn list(&mut self) -> Vec<Text> {
        if let Some(set) = self.braces() {
            return super::assembly_values::listed(&set);
        }
        let mut values = Vec::new();
        loop {
            // A value may stand on the next line.
            self.skip();
            values.push(self.until(&[",", ";", "}", "\n"]));
            if !self.rest().starts_with(',') {
                return values;
            }
            self.at += 1;
        }
    }

    /// `;` after an entry; `}` may take its place.
    pub(super) fn end_of(&mut self, key: &Text) {
        let end = self.text[..self.at].trim_end().len();
        if !self.eat(";") && !self.rest().starts_with('}') {
            self.tell(Span::new(end, end), format!("expected `;` after `{}`", key.text), "add `;`");
        }
    }

    /// `plate: { start -> goal }`
    fn route(&mut self, key: Text) -> Option<Entry> {
        let braces = self.eat("{");
        let from = self.until(&["->", "}", ";"]);
        if !self.eat("->") {
            self.tell(self.here(), format!("the way of `{}` has no goal", key.text), "write `start -> goal`");
            return None;
        }
        let to = self.until(&["}", ",", ";"]);
        if braces && !self.eat("}") {
            let span = Span::new(to.span.end as usize, to.span.end as usize);
            self.tell(span, format!("the way of `{}` is not closed", key.text), "add `}`");
        }
        Some(Entry { key, value: Value::Route(Route { from, to, ..Route::default() }) })
    }
}

/// Ports that a car binds, checked against those of its controller (E14: the paper's own car binds three ports that its
/// controller does not have, and an actuator that is called differently).
pub fn bound_ports(car: &Assembly, inputs: &[&str], outputs: &[&str], actuators: &[&str]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in &car.entries {
        let Value::Block(entries) = &entry.value else { continue };
        for bound in entries {
            let Value::Bound(target) = &bound.value else { continue };
            if entry.key.text == "sensors" && !inputs.contains(&target.text.as_str()) {
                problems.push(no_port(target, inputs, "input"));
            } else if entry.key.text == "actuators" {
                if !outputs.contains(&bound.key.text.as_str()) {
                    problems.push(no_port(&bound.key, outputs, "output"));
                }
                if !actuators.contains(&target.text.as_str()) {
                    let told = Problem::error(
                        Code::UnknownType,
                        target.span,
                        format!("there is no actuator `{}`", target.text),
                    );
                    problems.push(told.did_you_mean(&target.text, actuators.iter().copied()));
                }
            }
        }
    }
    problems
}

fn no_port(name: &Text, ports: &[&str], what: &str) -> Problem {
    let told = Problem::error(Code::UnknownName, name.span, format!("the controller has no {what} `{}`", name.text));
    match crate::diagnostic::closest(&name.text, ports.iter().copied()) {
        Some(close) => told.help(format!("did you mean `{close}`?")),
        None => told.help(format!("its {what}s are {}", ports.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIMULATION: &str = "simulation Two {\n  map = Straight.osm;\n  startTime = 22.06.2017 13:30;\n  deltaT = 1ms;\n  \
        weather = noRain, noSnow;\n  duration = 30s;\n  cars {\n    AC-SE001: {50°46'43.7\"N 6°03'38.6\"E -> 50°46'49.7\"N 6°04'32.5\"E},\n    \
        M-SE003: {start -> goal}\n  }\n}\n";

    #[test]
    fn a_simulation_is_read_with_its_cars_and_ways() {
        let (simulation, problems) = parse(SIMULATION);
        assert_eq!(problems, []);
        let simulation = simulation.unwrap();
        assert_eq!(simulation.entries.len(), 6);
        let Value::Block(cars) = &simulation.entries[5].value else { panic!("{simulation:?}") };
        let Value::Route(Route { from, .. }) = &cars[0].value else { panic!("{cars:?}") };
        let north = Text { text: from.text.split(' ').next().unwrap().to_owned(), span: from.span };
        assert!((coordinate(&north).unwrap() - 50.778_805_555_555_56).abs() < 1e-12);
        assert_eq!((cars[1].key.text.as_str(), cars.len()), ("M-SE003", 2));
        let Value::List(step) = &simulation.entries[2].value else { panic!() };
        assert_eq!(quantity(&step[0]).unwrap().0, 0.001);
    }

    /// E13: the paper's listing lacks a `;` after deltaT and a `}`.
    #[test]
    fn the_slips_of_the_paper_are_told_with_their_fix() {
        let slip = SIMULATION.replacen("1ms;", "1ms", 1).replacen("goal}\n  }\n}", "goal }\n}", 1);
        let (simulation, problems) = parse(&slip);
        let told: Vec<(&str, Option<&str>)> =
            problems.iter().map(|p| (p.message.as_str(), p.help.as_deref())).collect();
        assert_eq!(
            told,
            [("expected `;` after `deltaT`", Some("add `;`")), ("a `}` is missing", Some("add `}` at the end"))]
        );
        assert_eq!(&slip[..problems[0].span.start as usize].lines().count(), &4);
        assert_eq!(simulation.unwrap().entries.len(), 6);
    }

    /// E14: sensors for ports that the controller does not have, and an actuator of another name.
    #[test]
    fn a_car_whose_ports_do_not_fit_is_told_port_by_port() {
        let text = "car AC-SE001 {\n  dimension = 4.43m, 1.93m, 1.25m;\n  weight = 1'655 kg;\n  controller =\n    Lane;\n  sensors {\n    \
            Compass => direction;\n    Rays => d;\n  }\n  actuators {\n    s => SteeringFIR4; } }";
        let (car, problems) = parse(text);
        assert_eq!(problems, []);
        let car = car.unwrap();
        let Value::List(weight) = &car.entries[1].value else { panic!() };
        assert_eq!(quantity(&weight[0]).unwrap().0, 1655.0);
        let told = bound_ports(&car, &["d"], &["s"], &["StrgFIR4"]);
        let messages: Vec<&str> = told.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(messages, ["the controller has no input `direction`", "there is no actuator `SteeringFIR4`"]);
        assert_eq!(told[1].help.as_deref(), Some("did you mean `StrgFIR4`?"));
    }

    #[test]
    fn unknown_fields_and_texts_are_told() {
        let messages = |text: &str| -> Vec<String> { parse(text).1.into_iter().map(|p| p.message).collect() };
        assert_eq!(messages("simulation A { delta = 1ms; }"), ["a simulation has no `delta`"]);
        assert_eq!(messages("plane A { }"), ["expected `simulation` or `car`, found `plane`"]);
        assert_eq!(messages("car A { weight }"), ["`weight` has no value"]);
        assert_eq!(messages("car A { } }"), ["text after the closing `}`"]);
    }
}
