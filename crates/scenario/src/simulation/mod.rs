//! Simulation models (`.sim`, S2-10) and car models (`.car`, S2-11) as scenarios.
//!
//! A simulation names a map, a step, a duration and cars with their ways; each car has a file of its own with its size, its
//! controller, its sensors and its actuators. Both become the text of a scenario, one for each member of the family that
//! lists and ranges of values describe. The first car is the one under test.

mod car;
mod ways;

use std::path::Path;

use anabranch_language::diagnostic::{Code, Lines, Problem};
use anabranch_language::syntax::assembly::{Assembly, Entry, Text, Value, parse, quantity};
use anabranch_language::units::Dimension;

use crate::file::{Diagnostic, Report};

/// Members that a family may have; more is a slip in a range.
const MEMBERS_MAX: usize = 1000;

/// One scenario of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// What it has different from the others, as in `deltaT = 10ms`; empty if it is the only one.
    pub label: String,
    /// The scenario, as TOML.
    pub text: String,
}

/// Whether a file of this name is a simulation model.
pub fn is_simulation(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("sim"))
}

/// A text with its name, for messages.
pub(crate) struct Source<'t> {
    pub(crate) file: String,
    pub(crate) text: &'t str,
}

impl Source<'_> {
    /// A mistake at its place.
    pub(crate) fn located(&self, problem: &Problem) -> Diagnostic {
        let start = problem.span.start as usize;
        let (line, column) = Lines::of(self.text).place(self.text, start);
        let marked = self.text.get(start..problem.span.end as usize).unwrap_or("").lines().next().unwrap_or("");
        Diagnostic {
            code: problem.code.text(),
            file: self.file.clone(),
            line,
            column,
            length: marked.chars().count().max(1),
            message: problem.message.clone(),
            help: problem.help.clone().unwrap_or_default(),
            source_line: self.text.lines().nth(line - 1).unwrap_or("").to_owned(),
        }
    }
    fn report(&self, problems: &[Problem]) -> Report {
        Report::new(problems.iter().map(|problem| self.located(problem)).collect())
    }
}

/// A mistake in a field.
pub(crate) fn wrong(text: &Text, message: impl Into<String>, help: impl Into<String>) -> Problem {
    Problem::error(Code::Field, text.span, message).help(help)
}

/// Reads a simulation and everything it names, and writes each member of its family as a scenario.
///
/// # Errors
/// With every mistake of the simulation, or of a car or map that it names.
pub fn expand(path: &Path, text: &str) -> Result<Vec<Member>, Report> {
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
    let simulation = Simulation { assembly: &assembly, folder };
    let axes = simulation.axes().map_err(|problem| source.report(&[problem]))?;
    let mut members = Vec::new();
    for choice in choices(&axes) {
        let text = simulation.scenario(&source, &choice, members.len())?;
        let label = choice.iter().zip(&axes).filter(|(_, axis)| axis.values.len() > 1);
        let label: Vec<String> = label.map(|(value, axis)| format!("{} = {}", axis.key, value.text)).collect();
        members.push(Member { label: label.join(", "), text });
    }
    Ok(members)
}

/// A field and all values that a family gives it.
struct Axis {
    key: &'static str,
    values: Vec<Text>,
}

/// Every combination, the last field changing fastest.
fn choices(axes: &[Axis]) -> Vec<Vec<&Text>> {
    axes.iter().fold(vec![Vec::new()], |before, axis| {
        let with = |one: &Vec<_>, value| one.iter().copied().chain([value]).collect();
        before.iter().flat_map(|one| axis.values.iter().map(move |value| with(one, value))).collect()
    })
}

struct Simulation<'a> {
    assembly: &'a Assembly,
    folder: &'a Path,
}

impl Simulation<'_> {
    fn entry(&self, key: &str) -> Option<&Entry> {
        self.assembly.entries.iter().find(|entry| entry.key.text == key)
    }

    fn needed(&self, key: &str) -> Result<&Entry, Problem> {
        let help = format!("add `{key} = …;`");
        self.entry(key).ok_or_else(|| wrong(&self.assembly.name, format!("the simulation has no `{key}`"), help))
    }

    /// The fields that may have several values: map, step and duration.
    fn axes(&self) -> Result<Vec<Axis>, Problem> {
        for key in ["seed", "pedestrians"] {
            if let Some(entry) = self.entry(key) {
                let help = if key == "seed" { "give --seed on the command line" } else { "write the scenario as TOML" };
                return Err(wrong(&entry.key, format!("`{key}` cannot be honoured here"), help));
            }
        }
        let mut axes = Vec::new();
        for (key, usual) in [("map", None), ("deltaT", None), ("duration", None), ("weather", Some("noRain"))] {
            let values = match (self.entry(key), usual) {
                (Some(Entry { value: Value::List(values), .. }), _) if key == "weather" => vec![joined(values)],
                (Some(Entry { value: Value::List(values), .. }), _) => spread(values)?,
                (None, Some(usual)) => vec![Text { text: usual.to_owned(), span: self.assembly.name.span }],
                _ => {
                    let entry = self.needed(key)?;
                    return Err(wrong(&entry.key, format!("`{key}` needs a value"), format!("write `{key} = …;`")));
                }
            };
            axes.push(Axis { key, values });
        }
        let count: usize = axes.iter().map(|axis| axis.values.len()).product();
        if count > MEMBERS_MAX {
            let message = format!("the family has {count} members; at most {MEMBERS_MAX} are run");
            return Err(wrong(&self.assembly.name, message, "use shorter lists or wider steps"));
        }
        Ok(axes)
    }

    /// The text of one member.
    fn scenario(&self, source: &Source<'_>, choice: &[&Text], number: usize) -> Result<String, Report> {
        let told = |problem: Problem| source.report(&[problem]);
        let [map, step, duration, weather] = choice else { unreachable!("there are four fields") };
        let (step_s, duration_s) = (seconds(step).map_err(told)?, seconds(duration).map_err(told)?);
        let friction = friction(weather).map_err(told)?;
        let road = ways::read_map(self.folder, map, &|problem| told(problem))?;
        let ways = self.ways(&road).map_err(told)?;
        let Some((plate, ego)) = ways.first() else {
            return Err(told(wrong(
                &self.assembly.name,
                "the simulation has no car",
                "add `cars { PLATE: {start -> goal} }`",
            )));
        };
        let car = car::read(self.folder, plate, source)?;
        let suffix = if number == 0 { String::new() } else { format!("-{}", number + 1) };
        let name = folded(&self.assembly.name.text);
        let mut out = format!("schema = \"anabranch/1\"\nname = \"{name}{suffix}\"\n");
        let at = match self.entry("startTime") {
            Some(Entry { value: Value::List(time), .. }) => format!(" at {}", joined(time).text),
            _ => String::new(),
        };
        out += &format!("about = \"Simulation {} of {}{at}.\"\n", name, escaped(&plate.text));
        out += &format!("\n[world]\nstep = \"{step_s} s\"\n");
        if let Some(friction) = friction {
            out += &format!("friction = {friction}\n");
        }
        out += &format!("\n[road]\nmap = \"{}\"\n", escaped(&road.name));
        for (plate, way) in &ways[1..] {
            let other = car::size(self.folder, plate, source)?;
            if other.is_some_and(|length_m| length_m > 8.0) {
                out += &format!("\n[[object]]\nid = \"{}\"\nkind = \"lorry\"\n", escaped(&plate.text));
            } else {
                out += &format!("\n[[object]]\nid = \"{}\"\n", escaped(&plate.text));
            }
            out += &format!("lane = \"{}\"\nstation = \"{} m\"\n", way.from.lane, way.from.station_m);
        }
        out += &format!(
            "\n[ego]\nstart = {{ lane = \"{}\", station = \"{} m\" }}\ngoal = {{ lane = \"{}\", station = \"{} m\" }}\n",
            ego.from.lane, ego.from.station_m, ego.to.lane, ego.to.station_m
        );
        out += &car.ego;
        out += &format!("\n[explore]\nsegment = \"1 s\"\nuntil = \"{duration_s} s\"\n");
        out += "\n[[must]]\nid = \"no-contact\"\nnever = \"ego.contact\"\n";
        out += "[[must]]\nid = \"stays-on-the-road\"\nnever = \"ego.off_lane\"\n";
        Ok(out)
    }

    /// Every car with its way, in order.
    fn ways(&self, road: &ways::Road) -> Result<Vec<(Text, ways::Way)>, Problem> {
        let entry = self.needed("cars")?;
        let Value::Block(cars) = &entry.value else {
            return Err(wrong(&entry.key, "`cars` needs a block", "write `cars { PLATE: {start -> goal} }`"));
        };
        let mut ways = Vec::new();
        let mut origin = None;
        for car in cars {
            let Value::Route(from, to) = &car.value else {
                return Err(wrong(
                    &car.key,
                    format!("`{}` has no way", car.key.text),
                    "write `PLATE: {start -> goal}`",
                ));
            };
            ways.push((car.key.clone(), road.way(from, to, &mut origin)?));
        }
        Ok(ways)
    }
}

/// Values of a field one by one: lists, sets in brackets, and ranges `(from : step : to)`.
fn spread(values: &[Text]) -> Result<Vec<Text>, Problem> {
    let mut all = Vec::new();
    for value in values {
        let text = value.text.trim_start_matches('[').trim_end_matches(']').trim();
        let Some(range) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
            all.push(Text { text: text.to_owned(), span: value.span });
            continue;
        };
        let parts: Vec<Text> =
            range.split(':').map(|part| Text { text: part.trim().to_owned(), span: value.span }).collect();
        let [from, step, to] = &parts[..] else {
            return Err(wrong(value, "a range has a first value, a step and a last value", "write `(10s : 5s : 30s)`"));
        };
        let ((first, unit), (step, _), (last, _)) = (quantity(from)?, quantity(step)?, quantity(to)?);
        let count = (last - first) / step;
        if !(count.is_finite() && (0.0..MEMBERS_MAX as f64).contains(&count)) {
            return Err(wrong(value, "the range leads nowhere", "its step leads from the first value to the last"));
        }
        // A hair more, so that 0.1 and 0.2 and 0.3 end with 0.3.
        for k in 0..=(count + 1e-9).floor() as usize {
            let si = first + k as f64 * step;
            let shown = (unit.from_si(si) * 1e9).round() / 1e9;
            let letters =
                from.text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '\''));
            all.push(Text { text: format!("{shown}{letters}"), span: value.span });
        }
    }
    Ok(all)
}

fn joined(values: &[Text]) -> Text {
    let texts: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
    Text { text: texts.join(", "), span: values.first().map_or_else(Default::default, |value| value.span) }
}

fn seconds(text: &Text) -> Result<f64, Problem> {
    let (value, unit) = quantity(text)?;
    let time = Dimension([0, 0, 1, 0, 0, 0, 0]);
    if unit.dimension != time || value <= 0.0 {
        return Err(wrong(text, format!("`{}` is no time", text.text), "write `10ms` or `30s`"));
    }
    Ok(value)
}

/// What the weather makes of the road (S2-34); `None` where it is dry.
fn friction(weather: &Text) -> Result<Option<f64>, Problem> {
    let mut friction = None;
    for word in weather.text.split(',').map(str::trim) {
        match word {
            "noRain" | "noSnow" | "dry" => {}
            "rain" => friction = Some(0.5),
            "snow" => friction = Some(0.25),
            _ => {
                let help = "write `noRain`, `noSnow`, `rain` or `snow`";
                return Err(wrong(weather, format!("`{word}` is no weather"), help));
            }
        }
    }
    Ok(friction)
}

/// A name as scenarios have them.
fn folded(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    name.chars().map(kept).collect()
}

/// A text between quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let values: Vec<Text> =
            text.split(',').map(|part| Text { text: part.trim().to_owned(), ..Text::default() }).collect();
        spread(&values).unwrap().into_iter().map(|value| value.text).collect()
    }

    #[test]
    fn families_are_lists_sets_and_ranges() {
        assert_eq!(values("10ms"), ["10ms"]);
        assert_eq!(values("10ms, 20ms"), ["10ms", "20ms"]);
        assert_eq!(values("[10s, 20s]"), ["10s", "20s"]);
        assert_eq!(values("(10s : 5s : 20s)"), ["10s", "15s", "20s"]);
        assert_eq!(values("(0.1s : 0.1s : 0.3s), 1s"), ["0.1s", "0.2s", "0.3s", "1s"]);
        let endless = [Text { text: "(1s : 0s : 2s)".to_owned(), ..Text::default() }];
        assert!(spread(&endless).unwrap_err().message.contains("leads nowhere"));
    }

    #[test]
    fn weather_is_friction() {
        let of = |text: &str| friction(&Text { text: text.to_owned(), ..Text::default() });
        assert_eq!(of("noRain, noSnow").unwrap(), None);
        assert_eq!(of("rain, noSnow").unwrap(), Some(0.5));
        assert_eq!(of("hail").unwrap_err().message, "`hail` is no weather");
    }
}
