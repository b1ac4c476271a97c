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
use crate::diagnostic::{Code, Problem};
use crate::units::Unit;

/// A simulation or a car.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// `simulation` or `car`.
    pub kind: String,
    /// Its name or plate.
    pub name: Text,
    /// Entries, in order.
    pub entries: Vec<Entry>,
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
    /// `{ … }`: entries of its own.
    Block(Vec<Entry>),
    /// `=> target`.
    Bound(Text),
    /// `: { start -> goal }`.
    Route(Text, Text),
}

/// Entries that a simulation can have.
pub const SIMULATION_KEYS: [&str; 8] =
    ["map", "startTime", "deltaT", "weather", "duration", "cars", "seed", "pedestrians"];

/// Entries that a car can have.
pub const CAR_KEYS: [&str; 8] =
    ["dimension", "visualModel", "weight", "controller", "sensors", "actuators", "wheelbase", "maxSpeed"];

/// Reads a `.sim` or `.car` file. Mistakes are told with the fix; a missing `;` or `}` does not hide what follows.
///
/// ```
/// let (sim, problems) = anabranch_language::syntax::assembly::parse("simulation A {\n  deltaT = 1ms\n  duration = 30s;\n}");
/// assert_eq!(problems[0].message, "expected `;` after `deltaT`");
/// assert_eq!(sim.unwrap().entries.len(), 2);
/// ```
pub fn parse(text: &str) -> (Option<Assembly>, Vec<Problem>) {
    let mut reader = Reader { text, at: 0, problems: Vec::new() };
    let assembly = reader.assembly();
    (assembly, reader.problems)
}

/// A quantity such as `1ms`, `4.43 m` or `1'655 kg`, in SI.
///
/// # Errors
///
/// What is wrong with it, at its place.
pub fn quantity(text: &Text) -> Result<(f64, Unit), Problem> {
    let end = text
        .text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '\'' | '-' | '+')))
        .unwrap_or(text.text.len());
    let (number, unit) = text.text.split_at(end);
    let wrong = |message: String| Problem::error(Code::Field, text.span, message);
    let value: f64 =
        number.replace('\'', "").parse().map_err(|_| wrong(format!("`{}` does not begin with a number", text.text)))?;
    let unit: Unit = if unit.trim().is_empty() {
        Unit::ONE
    } else {
        unit.trim()
            .parse()
            .map_err(|_| Problem::error(Code::UnknownUnit, text.span, format!("`{}` is no unit", unit.trim())))?
    };
    Ok((unit.to_si(value), unit))
}

/// A coordinate such as `50°46'43.7"N`, in degrees; south and west are negative.
///
/// # Errors
///
/// What is wrong with it, at its place.
pub fn coordinate(text: &Text) -> Result<f64, Problem> {
    let wrong = |why: &str| {
        Problem::error(Code::Field, text.span, format!("`{}`: {why}", text.text)).help("write `50°46'43.7\"N`")
    };
    let (degrees, rest) = text.text.split_once('°').ok_or_else(|| wrong("no degrees"))?;
    let (minutes, rest) = rest.split_once('\'').ok_or_else(|| wrong("no minutes"))?;
    let (seconds, side) = rest.split_once('"').ok_or_else(|| wrong("no seconds"))?;
    let number = |part: &str, below: f64| {
        part.trim()
            .parse()
            .ok()
            .filter(|x: &f64| (0.0..below).contains(x))
            .ok_or_else(|| wrong("a part is no number or too large"))
    };
    let (degrees, minutes, seconds) = (number(degrees, 180.1)?, number(minutes, 60.0)?, number(seconds, 60.0)?);
    let value = degrees + minutes / 60.0 + seconds / 3600.0;
    match side.trim() {
        "N" | "E" => Ok(value),
        "S" | "W" => Ok(-value),
        _ => Err(wrong("N, S, E or W is missing")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips blanks and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            if self.rest().starts_with("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.rest().starts_with("/*") {
                self.at += self.rest().find("*/").map_or(self.rest().len(), |end| end + 2);
            } else if blanks == 0 {
                return;
            }
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    /// Text up to one of the signs, without blanks around it.
    fn until(&mut self, stops: &[&str]) -> Text {
        self.skip();
        let end = stops.iter().filter_map(|stop| self.rest().find(stop)).min().unwrap_or(self.rest().len());
        let text = self.rest()[..end].trim_end();
        let span = Span::new(self.at, self.at + text.len());
        self.at += end;
        Text { text: text.to_owned(), span }
    }

    fn tell(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.problems.push(Problem::error(Code::Expected, span, message).help(help));
    }

    fn here(&self) -> Span {
        Span::new(self.at, self.at)
    }

    fn assembly(&mut self) -> Option<Assembly> {
        let kind = self.until(&[" ", "\t", "\n", "{"]);
        let keys: &[&str] = match kind.text.as_str() {
            "simulation" => &SIMULATION_KEYS,
            "car" => &CAR_KEYS,
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
        let entries = self.entries(0);
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
        Some(Assembly { kind: kind.text, name, entries })
    }

    /// Entries up to the closing brace.
    fn entries(&mut self, depth: usize) -> Vec<Entry> {
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
            if let Some(entry) = self.entry(depth) {
                entries.push(entry);
            }
            if self.at == before {
                self.at += self.rest().chars().next().map_or(1, char::len_utf8);
            }
        }
    }

    fn entry(&mut self, depth: usize) -> Option<Entry> {
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
            let entries = self.entries(depth + 1);
            return Some(Entry { key, value: Value::Block(entries) });
        }
        self.tell(key.span, format!("`{}` has no value", key.text), "write `name = value;`");
        self.until(&[";", "}", "\n"]);
        None
    }

    /// Values up to `;`, the end of the line, or a brace.
    fn list(&mut self) -> Vec<Text> {
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
    fn end_of(&mut self, key: &Text) {
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
        Some(Entry { key, value: Value::Route(from, to) })
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
        let Value::Route(from, _) = &cars[0].value else { panic!("{cars:?}") };
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
