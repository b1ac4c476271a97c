//! Simulation models as the public simulators spell them: `sim Name { sim_duration 4h; map_name Town.osm; car1(x,y,z)->(x,y,z); }`.
//!
//! They become the entries of [`super::assembly`]. What says how a simulator is to be run, and nothing about the world, is
//! read, measured and has no effect; what cannot be honoured is told with its place.

use super::Span;
use super::assembly::{Assembly, Entry, Goal, Reader, Route, Spelling, Text, Value};
use super::assembly_values::{exponents, listed, measured, spread};
use super::assembly_world::{CHANNEL_KEYS, WEATHER_KEYS};
use crate::diagnostic::{Code, Problem};

/// Public name, and that of the paper.
const RENAMED: [(&str, &str); 4] =
    [("sim_duration", "duration"), ("sim_loop_frequency", "deltaT"), ("map_name", "map"), ("time", "startTime")];

/// Everything that can begin an entry of a public simulation.
pub const PUBLIC_KEYS: [&str; 21] = [
    "sim_duration",
    "sim_loop_frequency",
    "sim_render_frequency",
    "sim_type",
    "map_name",
    "map_path",
    "map_height",
    "map_overlap",
    "map_sector_width",
    "map_sector_height",
    "max_sector_users",
    "timeout",
    "time",
    "weather",
    "gravity",
    "pedestrian",
    "pedestrian_density",
    "vehicle",
    "fixed",
    "bound",
    "channel",
];

/// Words that begin an entry inside of a block; with those of [`PUBLIC_KEYS`] they show where a `;` was forgotten.
const INSIDE: [&str; 4] = ["path", "goals", "network", "platoon"];

/// A setting with a number that is measured and has no effect here.
pub(super) struct Quiet {
    pub(super) key: &'static str,
    what: &'static str,
    kinds: &'static [[i8; 7]],
}

pub(super) const fn quiet(key: &'static str, what: &'static str, kinds: &'static [[i8; 7]]) -> Quiet {
    Quiet { key, what, kinds }
}

/// How the public simulators draw and share out a simulation; it means the same without.
const QUIET: [Quiet; 6] = [
    quiet("sim_render_frequency", "time or frequency", &[exponents::TIME, exponents::FREQUENCY]),
    quiet("map_overlap", "length", &[exponents::NUMBER, exponents::LENGTH]),
    quiet("map_sector_width", "length", &[exponents::NUMBER, exponents::LENGTH]),
    quiet("map_sector_height", "length", &[exponents::NUMBER, exponents::LENGTH]),
    quiet("max_sector_users", "number", &[exponents::NUMBER]),
    quiet("timeout", "time", &[exponents::TIME]),
];

/// Step of the simulation if none is given.
const STEP_USUAL: &str = "10ms";
/// What things fall with here.
const GRAVITY_MPS2: f64 = 9.81;

/// What an entry of the paper is called by the public simulators.
pub(super) fn public_name(key: &str) -> &str {
    match key {
        "cars" => "vehicle",
        _ => RENAMED.iter().find(|(_, paper)| *paper == key).map_or(key, |(public, _)| public),
    }
}

/// A place as it is written: two numbers and where they stand.
#[derive(Clone, Debug)]
pub(super) struct Raw {
    pub(super) numbers: [f64; 2],
    pub(super) span: Span,
}

/// The way of a car or a pedestrian as it is written.
#[derive(Clone, Debug)]
pub(super) struct RawWay {
    pub(super) name: Text,
    pub(super) from: Raw,
    pub(super) to: Raw,
    pub(super) car: Option<Text>,
    pub(super) goals: Vec<Goal>,
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Public {
    pub(super) entries: Vec<Entry>,
    pub(super) cars: Vec<RawWay>,
    pub(super) people: Vec<RawWay>,
    /// Cars without a name.
    pub(super) vehicles: Vec<Text>,
    /// Channels that vehicles use.
    pub(super) networks: Vec<Text>,
}

impl<'a> Reader<'a> {
    /// After the word `sim`.
    pub(super) fn public_simulation(&mut self) -> Option<Assembly> {
        let name = self.until(&["{", "\n"]);
        if name.text.is_empty() {
            self.tell(name.span, "this sim has no name", "add one");
        }
        if !self.eat("{") {
            self.tell(self.here(), "expected `{`", "add `{`");
        }
        let mut public = Public::default();
        self.each_entry(|reader| reader.public_entry(&mut public));
        let entries = self.public_entries(public, &name);
        self.twice(&entries);
        self.skip();
        if !self.rest().is_empty() {
            self.tell(self.here(), "text after the closing `}`", "remove it, or a `}` before it");
        }
        let (kind, spelling) = ("simulation".to_owned(), Spelling::Public);
        Some(Assembly { kind, spelling, name, entries, ..Assembly::default() })
    }

    /// Entries up to the closing brace, which is read too.
    pub(super) fn each_entry(&mut self, mut read: impl FnMut(&mut Self)) {
        loop {
            while self.eat(";") {}
            if self.eat("}") {
                return;
            }
            if self.rest().is_empty() {
                self.tell(self.here(), "a `}` is missing", "add `}` at the end");
                return;
            }
            let before = self.at;
            read(self);
            if self.at == before {
                self.at += self.rest().chars().next().map_or(1, char::len_utf8);
            }
        }
    }

    /// Everything as entries of the paper.
    fn public_entries(&mut self, public: Public, name: &Text) -> Vec<Entry> {
        let Public { mut entries, cars, people, vehicles, networks } = public;
        for network in networks {
            let key = format!("channel {}", network.text);
            if !entries.iter().any(|entry| entry.key.text == key) {
                let told = Problem::error(Code::UnknownName, network.span, format!("there is no {key}"));
                self.problems.push(told.help(format!("add `fixed {key} {{ … }};`, or leave it out")));
            }
        }
        let at = |text: &str| Text { text: text.to_owned(), span: name.span };
        if !entries.iter().any(|entry: &Entry| entry.key.text == "deltaT") {
            entries.push(Entry { key: at("deltaT"), value: Value::List(vec![at(STEP_USUAL)]) });
        }
        if let Some(first) = vehicles.first() {
            let key = Text { text: "vehicles".to_owned(), span: first.span };
            entries.push(Entry { key, value: Value::List(vehicles) });
        }
        let measure = Measure::of(cars.iter().chain(&people));
        if !people.is_empty() {
            entries.push(Entry { key: at("pedestrians"), value: measure.block(people) });
        }
        entries.push(Entry { key: at("cars"), value: measure.block(cars) });
        entries
    }

    fn public_entry(&mut self, public: &mut Public) {
        match self.peek_word() {
            "weather" => self.weather(&mut public.entries),
            "fixed" | "bound" | "channel" => self.channel(&mut public.entries),
            "vehicle" | "pedestrian" | "" => self.vehicle(public),
            word if PUBLIC_KEYS.contains(&word) => self.setting(&mut public.entries),
            _ if self.is_vehicle() => self.vehicle(public),
            _ => {
                let (key, _) = self.key_and_value();
                let told = Problem::error(Code::Field, key.span, format!("a sim has no `{}`", key.text));
                self.problems.push(told.did_you_mean(&key.text, PUBLIC_KEYS));
            }
        }
    }

    /// A key with one value, or with several that make a family.
    fn setting(&mut self, entries: &mut Vec<Entry>) {
        let (key, value) = self.key_and_value();
        let word = key.text.as_str();
        let refused = match word {
            "gravity" => self.numbers(&value, "acceleration", &[exponents::ACCELERATION]).iter().any(|g| {
                // Everybody writes it with two or three digits.
                (g - GRAVITY_MPS2).abs() > 0.01
            }),
            "pedestrian_density" => {
                self.numbers(&value, "number", &[exponents::NUMBER]).iter().any(|density| *density != 0.0)
            }
            "map_height" => value.text != "flat",
            _ => false,
        };
        if refused {
            self.refuse_entry(&key, &value);
        } else if let Some((_, known)) = RENAMED.iter().find(|(public, _)| *public == word) {
            let key = Text { text: (*known).to_owned(), span: key.span };
            entries.push(Entry { key, value: Value::List(listed(&value)) });
        } else if let Some(quiet) = QUIET.iter().find(|quiet| quiet.key == word) {
            self.measure(quiet, &value);
        } else if word == "sim_type" && !["fixed", "realtime", "maxfps"].contains(&value.text.as_str()) {
            self.tell(value.span, format!("`{}` is no type of simulation", value.text), "fixed, realtime or maxfps");
        } else if word == "map_path" {
            entries.push(Entry { key: key.clone(), value: Value::List(vec![value]) });
        }
    }

    /// A number that has no effect is one all the same.
    pub(super) fn measure(&mut self, quiet: &Quiet, value: &Text) {
        if self.numbers(value, quiet.what, quiet.kinds).iter().any(|number| *number < 0.0) {
            let told = Problem::error(Code::Field, value.span, format!("`{}` is negative", value.text));
            self.problems.push(told.help(format!("write a {} of at least 0", quiet.what)));
        }
    }

    /// All numbers of a value; what is none is told.
    pub(super) fn numbers(&mut self, value: &Text, what: &str, kinds: &[[i8; 7]]) -> Vec<f64> {
        let of = |one: &Text| measured(one, kinds, what).map(|(number, _)| number);
        match spread(&listed(value)).and_then(|all| all.iter().map(of).collect()) {
            Ok(numbers) => numbers,
            Err(problem) => {
                self.problems.push(problem);
                Vec::new()
            }
        }
    }

    pub(super) fn refuse_entry(&mut self, key: &Text, value: &Text) {
        let what = [key.text.as_str(), value.text.as_str()].join(" ");
        let told = Problem::error(Code::Field, key.span, format!("`{}` cannot be honoured here", what.trim()));
        self.problems.push(told.help("leave it out, or write the scenario as TOML"));
    }

    /// The next word, without reading it.
    pub(super) fn peek_word(&mut self) -> &'a str {
        self.skip();
        let end = self.rest().find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest().len());
        &self.rest()[..end]
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Text {
        let length = self.peek_word().len();
        let (text, span) = (self.rest()[..length].to_owned(), Span::new(self.at, self.at + length));
        self.at += length;
        Text { text, span }
    }

    /// `key value;`, over several lines if need be.
    pub(super) fn key_and_value(&mut self) -> (Text, Text) {
        let whole = self.statement();
        let end = whole.text.find(|c: char| c.is_whitespace() || "([<".contains(c)).unwrap_or(whole.text.len());
        // A `<` may be the first character.
        let end = if end == 0 { whole.text.find(char::is_whitespace).unwrap_or(whole.text.len()) } else { end };
        let key = Text { text: whole.text[..end].to_owned(), span: part(&whole, 0, end) };
        let value = whole.text[end..].trim();
        let from = whole.text.len() - whole.text[end..].trim_start().len();
        let mut value = Text { text: value.to_owned(), span: part(&whole, from, from + value.len()) };
        if value.text.is_empty() {
            value = self.braces().unwrap_or(value);
        }
        self.end_of(&key);
        (key, value)
    }

    /// `{1s, 2s}`, as sets are written elsewhere: told, and read as what is meant. A block has entries with `;`.
    pub(super) fn braces(&mut self) -> Option<Text> {
        self.skip();
        let inside = self.rest().strip_prefix('{')?;
        let end = inside.find(['{', '}', ';', ':']).filter(|end| inside[*end..].starts_with('}'))?;
        let (start, text) = (self.at, format!("[{}]", inside[..end].trim()));
        self.at += end + 2;
        let span = Span::new(start, self.at);
        self.tell(span, "a set of values stands in square brackets", &format!("write `{text}`"));
        Some(Text { text, span })
    }

    /// Text up to `;` or a brace. The end of a line ends it too where the next one begins another entry.
    pub(super) fn statement(&mut self) -> Text {
        self.skip();
        let rest = self.rest();
        let mut depth = 0_usize;
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                '\n' if depth == 0 && begins_entry(&rest[at..]) => end = at,
                ';' | '{' | '}' => end = at,
                _ => continue,
            }
            if end == at {
                break;
            }
        }
        let text = rest[..end].trim_end();
        let span = Span::new(self.at, self.at + text.len());
        self.at += end;
        Text { text: text.to_owned(), span }
    }
}

/// Whether what follows is the beginning of an entry, or the end of a block.
fn begins_entry(rest: &str) -> bool {
    let rest = rest.trim_start();
    let word = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
    let car = !word.is_empty() && rest[word.len()..].starts_with('(');
    let keys = || PUBLIC_KEYS.iter().chain(&INSIDE).chain(&WEATHER_KEYS).chain(&CHANNEL_KEYS);
    rest.starts_with('}') || keys().any(|key| *key == word) || car
}

/// The place of a part of a text.
pub(super) fn part(whole: &Text, from: usize, to: usize) -> Span {
    let start = whole.span.start as usize;
    Span::new(start + from, start + to)
}

/// Degrees, or metres of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Degrees,
    Metres,
}

impl Measure {
    /// The public simulators write both alike. No map is a degree wide, and no way is shorter than a metre: where all
    /// places lie within less than one of each other, and on the globe, they are degrees.
    fn of<'w>(ways: impl Iterator<Item = &'w RawWay>) -> Self {
        let places: Vec<[f64; 2]> = ways.flat_map(|way| [way.from.numbers, way.to.numbers]).collect();
        let narrow = |axis: usize, most: f64| {
            let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
            for place in &places {
                (least, largest) = (least.min(place[axis]), largest.max(place[axis]));
            }
            largest - least < 1.0 && least >= -most && largest <= most
        };
        if narrow(0, 180.0) && narrow(1, 90.0) { Self::Degrees } else { Self::Metres }
    }

    fn block(self, ways: Vec<RawWay>) -> Value {
        let entry = |way: RawWay| {
            let RawWay { name, from, to, car, goals } = way;
            let route = Route { from: self.place(&from), to: self.place(&to), car, goals };
            Entry { key: name, value: Value::Route(route) }
        };
        Value::Block(ways.into_iter().map(entry).collect())
    }

    /// As coordinates of the paper, or `(100 m, 0 m)` on the map.
    fn place(self, raw: &Raw) -> Text {
        let [east, north] = raw.numbers;
        let side =
            |value: f64, plus: &str, minus: &str| format!("{}°{}", value.abs(), if value < 0.0 { minus } else { plus });
        let text = match self {
            Self::Degrees => format!("{} {}", side(north, "N", "S"), side(east, "E", "W")),
            Self::Metres => format!("({east} m, {north} m)"),
        };
        Text { text, span: raw.span }
    }
}

#[cfg(test)]
mod tests {
    use super::super::assembly::{coordinate, parse};
    use super::*;

    #[test]
    fn a_public_simulation_is_read_as_one_of_the_paper() {
        let text = "/* c */\nsim S {\n  sim_duration [4s,5s];\n  time 12:00;\n  map_name Aachen.osm;\n  map_overlap 20;\n  \
            weather fixed { precipitation_type rain; };\n  car1(6.0479487,50.7748415,0.0)->(6.05,50.5,0.0);\n}\n";
        let (sim, problems) = parse(text);
        assert_eq!(problems, []);
        let sim = sim.unwrap();
        let keys: Vec<&str> = sim.entries.iter().map(|entry| entry.key.text.as_str()).collect();
        assert_eq!(keys, ["duration", "startTime", "map", "weather", "deltaT", "cars"]);
        assert_eq!((sim.shown("duration"), sim.shown("map")), ("sim_duration", "map_name"));
        let Value::Block(cars) = &sim.entries[5].value else { panic!("{sim:?}") };
        let Value::Route(Route { from, to, .. }) = &cars[0].value else { panic!("{cars:?}") };
        assert_eq!((from.text.as_str(), to.text.as_str()), ("50.7748415°N 6.0479487°E", "50.5°N 6.05°E"));
        let south = Text { text: "50.5°S".to_owned(), span: to.span };
        assert_eq!(coordinate(&south), Ok(-50.5));
        let Value::List(durations) = &sim.entries[0].value else { panic!("{sim:?}") };
        let marked: Vec<&str> = durations.iter().map(|one| &text[one.span.range()]).collect();
        assert_eq!(marked, ["4s", "5s"]);
    }

    #[test]
    fn places_are_degrees_where_they_could_be_a_town() {
        let places = |body: &str| {
            let (sim, problems) = parse(&format!("sim S {{ {body} }}"));
            assert_eq!(problems, []);
            let cars = sim.unwrap().entries.pop().unwrap();
            let Value::Block(cars) = cars.value else { panic!("{cars:?}") };
            let Value::Route(route) = &cars[0].value else { panic!("{cars:?}") };
            (route.from.text.clone(), route.to.text.clone())
        };
        let two = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(places("a(6.5,-50.5,0)->(6.4,-50.4);"), two("50.5°S 6.5°E", "50.4°S 6.4°E"));
        assert_eq!(places("a(-100,0,0)->(100,0);"), two("(-100 m, 0 m)", "(100 m, 0 m)"));
        assert_eq!(places("a(6.5,50.5)->(6.4,50.4); b(0,0)->(1,1);").0, "(6.5 m, 50.5 m)");
        assert_eq!(places("vehicle a\n (1024, 960, 2)\n->(1024.5, 960.5, 2);").0, "(1024 m, 960 m)");
    }

    #[track_caller]
    fn check(body: &str, message: &str, marked: &str) {
        let text = format!("sim S {{\n{body}\n}}");
        let (_, problems) = parse(&text);
        let told: Vec<(&str, &str)> =
            problems.iter().map(|p| (p.message.as_str(), &text[p.span.start as usize..p.span.end as usize])).collect();
        assert_eq!(told, [(message, marked)]);
    }

    #[test]
    fn what_cannot_be_honoured_is_told_with_its_place() {
        check("pedestrian_density 1.5;", "`pedestrian_density 1.5` cannot be honoured here", "pedestrian_density");
        check("pedestrian_density 0;\ngravity 12m/s^2;", "`gravity 12m/s^2` cannot be honoured here", "gravity");
        check("gravity 9.81m/s^2; map_height random;", "`map_height random` cannot be honoured here", "map_height");
        check("map_nam A.osm;", "a sim has no `map_nam`", "map_nam");
        check("sim_duration {1s, 2s};", "a set of values stands in square brackets", "{1s, 2s}");
        check("sim_duration 60ms\nmap_name A.osm;", "expected `;` after `sim_duration`", "");
        check("time 1:00;\ntime 2:00;", "`time` is there twice", "time");
        check("sim_type quick;", "`quick` is no type of simulation", "quick");
        check("sim_render_frequency nonsense;", "`nonsense` does not begin with a number", "nonsense");
        check("sim_render_frequency 60km;", "`60km` is no time or frequency", "60km");
        check("timeout -12h;", "`-12h` is negative", "-12h");
        check("max_sector_users [1, 2s];", "`2s` is no number", "2s");
    }

    #[test]
    fn what_is_about_drawing_is_measured_and_means_nothing() {
        let (sim, problems) = parse(
            "sim S { sim_type maxfps; sim_render_frequency (10Hz:10Hz:60Hz); map_overlap 10; map_height flat; \
             map_sector_width 100m; map_sector_height 100; max_sector_users 12; timeout 12h; gravity 9.81 m/s^2; }",
        );
        assert_eq!(problems, []);
        let keys: Vec<String> = sim.unwrap().entries.into_iter().map(|entry| entry.key.text).collect();
        assert_eq!(keys, ["deltaT", "cars"]);
    }
}
