//! Simulations (`.sim`) and cars (`.car`): what their entries mean, and what can stand where.

use std::path::Path;

use anabranch_language::library::{FileId, Library};
use anabranch_language::syntax::Span;
use anabranch_language::syntax::assembly::{
    Assembly, CAR_KEYS, CHANNEL_KEYS, CLOUDS, Entry, PRECIPITATION, PUBLIC_KEYS, SIMULATION_KEYS, Text, VEHICLE_KEYS,
    Value, WEATHER_KEYS, parse, quantity,
};
use anabranch_language::syntax::ast::{Component, Direction};

use crate::words::about;

/// A mistake that a room above has found: places count characters from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The file it is in; not always the one that was asked about.
    pub file: String,
    /// Line, from one.
    pub line: usize,
    /// Character, from one.
    pub column: usize,
    /// Characters.
    pub length: usize,
    /// Its code.
    pub code: String,
    /// What is wrong, and what to do.
    pub message: String,
}

/// Reads a file beside the one that is asked about, as the editor has it.
pub type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// What rooms above know of simulations and cars: roads, files beside them, what can be sensed.
pub struct Above<'a> {
    /// Every mistake of a simulation or car with this path and text.
    pub mistakes: &'a dyn Fn(&Path, &str, Read<'_>) -> Vec<Told>,
    /// Sensors by name, and what they tell.
    pub sensors: &'a [(&'a str, String)],
}

/// Whether a file is a simulation or a car.
pub fn is_assembly(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("sim") || ending.eq_ignore_ascii_case("car"))
}

/// Where a byte lies: the blocks around it, and what stands before it in its entry.
#[derive(Debug, Default, PartialEq, Eq)]
struct Spot {
    blocks: Vec<String>,
    before: String,
}

fn spot(text: &str, at: usize) -> Spot {
    let mut spot = Spot::default();
    let mut rest = &text[..text.floor_char_boundary(at.min(text.len()))];
    while let Some(c) = rest.chars().next() {
        let comment = match rest {
            _ if rest.starts_with("//") => rest.find('\n'),
            _ if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
            _ => Some(0),
        };
        let Some(skip) = comment else { break };
        if skip > 0 {
            rest = &rest[skip..];
            continue;
        }
        match c {
            '{' => {
                let key = spot.before.trim().split([' ', ':', '\t', '\n']).next().unwrap_or("").to_owned();
                spot.blocks.push(key);
                spot.before.clear();
            }
            '}' => {
                spot.blocks.pop();
                spot.before.clear();
            }
            ';' => spot.before.clear(),
            c => spot.before.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    spot
}

/// The word at a byte: plates and file names have signs inside.
fn word(text: &str, at: usize) -> Option<Span> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '\'' | '°');
    let at = text.floor_char_boundary(at.min(text.len()));
    let start = text[..at].char_indices().rev().take_while(|(_, c)| part(*c)).last().map_or(at, |(at, _)| at);
    let end = text[at..].find(|c| !part(c)).map_or(text.len(), |length| at + length);
    (start < end).then(|| Span::new(start, end))
}

fn list<'a>(assembly: &'a Assembly, key: &str) -> Option<&'a [Text]> {
    assembly.entries.iter().find(|entry| entry.key.text == key).and_then(|entry| match &entry.value {
        Value::List(values) => Some(values.as_slice()),
        _ => None,
    })
}

/// A component by its name, with or without package, as the command line finds it: in a file of its name below the folder
/// of the car, the first in the order of paths.
fn component<'l>(library: &'l Library, car: &Path, name: &str) -> Option<(FileId, &'l Component)> {
    let folder = car.parent().unwrap_or(Path::new(""));
    let short = name.rsplit('.').next().unwrap_or(name);
    let fits = |full: &str, path: &Path| {
        let of_file = path.file_stem().is_some_and(|stem| stem == short);
        full.rsplit('.').next() == Some(short) && of_file && path.starts_with(folder)
    };
    let all =
        library.components().map(|(full, file, component)| (full, library.file(file).path.as_path(), file, component));
    let found = all.filter(|(full, path, ..)| fits(full, path)).min_by_key(|(_, path, ..)| path.to_owned());
    found.map(|(_, _, file, component)| (file, component))
}

fn controller<'l>(library: &'l Library, path: &Path, car: &Assembly) -> Option<(FileId, &'l Component)> {
    component(library, path, &list(car, "controller")?.first()?.text)
}

/// What a word means: its text for people, and where it is defined.
pub struct Meaning {
    /// The word.
    pub span: Span,
    /// For people.
    pub text: String,
    /// A name in a file of the library.
    pub place: Option<(FileId, Span)>,
    /// A file beside this one.
    pub file: Option<String>,
}

/// What the word at a byte means.
pub fn meaning(library: &Library, path: &Path, text: &str, at: usize, above: &Above<'_>) -> Option<Meaning> {
    let span = word(text, at)?;
    let name = &text[span.range()];
    let spot = spot(text, span.start as usize);
    let (assembly, _) = parse(text);
    let say = |text: String| Some(Meaning { span, text, place: None, file: None });
    let block = spot.blocks.last().map_or("", String::as_str);
    let starts = spot.before.trim().is_empty();
    if starts && !["sensors", "actuators", "cars"].contains(&block) {
        return say(format!("`{name}`: {}", about(name, block)?));
    }
    let of_component = |name: &str| {
        let (file, component) = component(library, path, name)?;
        let told = crate::find::of_component(file, component, library);
        Some(Meaning { span, text: code(&told.text), place: Some((file, told.span)), file: None })
    };
    let of_port = || {
        let (file, component) = controller(library, path, assembly.as_ref()?)?;
        let port = component.ports.iter().find(|port| port.name.text == name)?;
        let told = crate::find::of_port(library, file, port);
        Some(Meaning { span, text: code(&told.text), place: Some((file, told.span)), file: None })
    };
    match block {
        "sensors" if spot.before.contains("=>") => of_port(),
        "sensors" => {
            let (_, tells) = above.sensors.iter().find(|(sensor, _)| *sensor == name)?;
            say(format!("sensor `{name}`: tells {tells}"))
        }
        "actuators" if spot.before.contains("=>") => of_component(name),
        "actuators" if starts && about(name, block).is_some() => say(format!("`{name}`: {}", about(name, block)?)),
        "actuators" => of_port(),
        "cars" if starts || spot.before.trim_end().ends_with(',') => {
            let file = format!("{name}.car");
            Some(Meaning { span, text: format!("the car of `{file}`"), place: None, file: Some(file) })
        }
        _ if spot.before.trim_start().starts_with("controller") => of_component(name),
        _ => say(in_si(assembly.as_ref()?, at)?),
    }
}

fn code(text: &str) -> String {
    format!("```emam\n{text}\n```")
}

/// A quantity in SI.
fn in_si(assembly: &Assembly, at: usize) -> Option<String> {
    let values = assembly.entries.iter().filter_map(|entry| match entry {
        Entry { value: Value::List(values), .. } => Some(values),
        _ => None,
    });
    let value = values.flatten().find(|value| value.span.range().contains(&at))?;
    let (si, unit) = quantity(value).ok()?;
    Some(format!("`{}` is {si} {} in SI", value.text, unit.dimension))
}

/// What can stand at a byte: name, the protocol's number of its kind, and a word about it.
pub fn completion(
    library: &Library,
    path: &Path,
    text: &str,
    at: usize,
    above: &Above<'_>,
) -> Vec<(String, u8, String)> {
    const FIELD: u8 = 5;
    const CLASS: u8 = 7;
    const FILE: u8 = 17;
    let spot = spot(text, at);
    let (assembly, _) = parse(text);
    let is_car = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("car"));
    let bound = spot.before.contains("=>");
    let block = spot.blocks.last().map_or("", String::as_str);
    let components = || {
        let short = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
        let folder = path.parent().unwrap_or(Path::new(""));
        let below = library.components().filter(|(_, file, _)| library.file(*file).path.starts_with(folder));
        below.map(|(name, ..)| (short(name), CLASS, format!("component {name}"))).collect()
    };
    let ports = |direction: Direction| -> Vec<(String, u8, String)> {
        let Some((file, component)) = assembly.as_ref().and_then(|car| controller(library, path, car)) else {
            return vec![];
        };
        let of_direction = component.ports.iter().filter(|port| port.direction == direction);
        let told = |port| crate::find::of_port(library, file, port).text;
        of_direction.map(|port| (port.name.text.clone(), FIELD, told(port))).collect()
    };
    let fields = |keys: &[&str]| -> Vec<(String, u8, String)> {
        let told = |key: &str| about(key, block).unwrap_or_default().to_owned();
        keys.iter().map(|key| ((*key).to_owned(), FIELD, told(key))).collect()
    };
    let words = |names: Vec<&str>| names.into_iter().map(|name| (name.to_owned(), 12, "word".to_owned())).collect();
    match (block, spot.blocks.len()) {
        (_, 0) if is_car => words(vec!["car"]),
        (_, 0) => words(vec!["simulation", "sim"]),
        ("sensors", _) if bound => ports(Direction::In),
        ("sensors", _) => {
            above.sensors.iter().map(|(name, told)| ((*name).to_owned(), CLASS, format!("tells {told}"))).collect()
        }
        ("actuators", _) if bound => components(),
        ("actuators", _) => ports(Direction::Out).into_iter().chain(fields(&["motor", "brakes", "steering"])).collect(),
        ("cars", _) => plates(path).into_iter().map(|plate| (plate, FILE, "car".to_owned())).collect(),
        (_, 1) if spot.before.trim_start().starts_with("controller") => components(),
        ("weather", _) => match spot.before.split_whitespace().next() {
            Some("precipitation_type") => words(PRECIPITATION.iter().map(|(name, _)| *name).collect()),
            Some("clouding") => words(CLOUDS.iter().map(|(name, _)| *name).collect()),
            _ => fields(&WEATHER_KEYS),
        },
        ("fixed" | "bound", _) => fields(&CHANNEL_KEYS),
        ("wheel_dist", _) => fields(&["front", "back", "to_front", "to_back"]),
        ("brakes", _) => fields(&["front", "back"]),
        ("front" | "back", _) => fields(&["left", "right"]),
        ("cpu", _) => fields(&["frequency", "memory_frequency"]),
        (_, 1) if spot.before.contains('=') => vec![],
        (_, 1) if is_car => fields(&CAR_KEYS),
        ("sim", 1) => fields(&PUBLIC_KEYS),
        (_, 1) => fields(&SIMULATION_KEYS),
        (_, 2) if spot.blocks[0] == "sim" => fields(&VEHICLE_KEYS),
        _ => vec![],
    }
}

/// Cars beside a simulation.
fn plates(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path.parent().unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let cars = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == "car"));
    let mut plates: Vec<String> =
        cars.filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned())).collect();
    plates.sort();
    plates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_knows_the_blocks_around_it() {
        let text = "// { not this\ncar A-1 {\n  weight = 1 kg;\n  sensors {\n    Compass => dir";
        let all = spot(text, text.len());
        assert_eq!(all.blocks, ["car", "sensors"]);
        assert_eq!(all.before.trim(), "Compass => dir");
        let inside = spot(text, text.find("1 kg").unwrap());
        assert_eq!((inside.blocks.len(), inside.before.trim()), (1, "weight ="));
        assert_eq!(word(text, text.find("-1").unwrap()).map(|span| &text[span.range()]), Some("A-1"));
    }

    #[test]
    fn the_public_spelling_is_completed_and_explained() {
        let library = Library::of([]);
        let above = Above { mistakes: &|_, _, _| vec![], sensors: &[("sensor_velocity", "speed".to_owned())] };
        let names = |path: &str, text: &str| -> Vec<String> {
            let all = completion(&library, Path::new(path), text, text.len(), &above);
            all.into_iter().map(|(name, ..)| name).collect()
        };
        let has = |path: &str, text: &str, name: &str| {
            assert!(names(path, text).iter().any(|known| known == name), "{text}: {:?}", names(path, text));
        };
        has("a.sim", "", "sim");
        has("a.sim", "sim A {\n  ", "map_name");
        has("a.sim", "sim A {\n  weather fixed {\n", "sight");
        has("a.sim", "sim A {\n  weather fixed { clouding ", "stratus");
        has("a.sim", "sim A {\n  bound channel B {\n", "outage");
        has("a.sim", "sim A {\n  Taxi vehicle {\n", "goals");
        has("a.car", "car A {\n  ", "physics_model");
        has("a.car", "car A {\n  sensors {\n", "sensor_velocity");
        has("a.car", "car A {\n  actuators {\n brakes {\n front {\n", "left");
        let told = |text: &str, word: &str| {
            meaning(&library, Path::new("A.car"), text, text.find(word).unwrap() + 1, &above)
                .map(|meaning| meaning.text)
                .unwrap_or_default()
        };
        assert!(told("sim A { sim_duration 4s; }", "sim_duration").contains("how long it lasts"));
        assert!(told("sim A { weather fixed { sight 4m; }; }", "sight").contains("how far sensors see"));
        assert!(told("car A { wheel_dist { to_front = 1m; } }", "to_front").contains("centre of mass"));
        assert!(told("car A { actuators { motor = (0:1:2); } }", "motor").contains("acceleration"));
        assert!(told("car A { sensors { sensor_velocity; } }", "sensor_velocity").contains("tells speed"));
    }
}
