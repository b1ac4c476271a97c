//! Map files: TOML in, a [`Map`](crate::Map) and its [`Network`] out, or a [`Report`] that points at every mistake; and
//! back.
//!
//! Like in scenario files every value with a dimension is a text with its unit. A road is a line with lanes along it, or a
//! list of lanes; `[make]` lays a whole map by a few numbers, to which the rest of the file adds.
//!
//! ```
//! let text = r#"
//! schema = "anabranch-road/1"
//! name = "ramp"
//! [[road]]
//! id = "main"
//! line = [["0 m", "0 m"], ["300 m", "0 m"]]
//! forward = 2
//! limit = "100 km/h"
//! [[road]]
//! id = "side"
//! [[road.lane]]
//! id = "1"
//! points = [["100 m", "-60 m"], ["150 m", "-20 m"], ["200 m", "-8 m"]]
//! [[link]]
//! from = "side.1"
//! to = "main.3"
//! "#;
//! let report = anabranch_roads::file::read("ramp.road.toml", text).unwrap_err();
//! assert!(report.to_string().contains("there is no lane `main.3`"));
//! assert!(report.to_string().contains("--> ramp.road.toml:14:1"));
//!
//! let read = anabranch_roads::file::read("ramp.road.toml", &text.replace("main.3", "main.1")).unwrap();
//! assert_eq!(read.network.find("side", "1").map(|lane| read.network.lane(lane).next().len()), Some(1));
//! let again = anabranch_roads::file::read("again.road.toml", &anabranch_roads::file::write(&read.map)).unwrap();
//! assert_eq!(again.map, read.map);
//! ```

mod generated;
mod places;
mod sections;
mod tree;
mod values;
mod write;

use crate::flaw::Element;
use crate::network::Network;
use crate::plan::Map;
use crate::report::{Notes, Report, Span};

use places::Places;
use tree::Table;

pub use write::write;

/// What the first line of a map file says.
pub const SCHEMA: &str = "anabranch-road/1";

/// Largest map file that is read, in bytes. Larger worlds are made by a generator or stored as tiles.
pub const FILE_BYTES_MAX: usize = 64 << 20;

/// A map as written, and compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct MapFile {
    /// What the file says, generators carried out.
    pub map: Map,
    /// The network.
    pub network: Network,
}

/// Reads and compiles a map. The name is only used in messages.
///
/// # Errors
/// With every mistake of the text, or if there is none, of the map that it describes.
pub fn read(file: &str, text: &str) -> Result<MapFile, Report> {
    let mut notes = Notes::new(file, text);
    let Some((map, places)) = read_map(text, &mut notes) else { return Err(notes.into_report()) };
    let flaws = match Network::new(&map) {
        Ok(network) => return Ok(MapFile { map, network }),
        Err(flaws) => flaws,
    };
    for flaw in flaws {
        notes.add(flaw.kind.code(), places.span(flaw.at), flaw.kind.to_string(), flaw.kind.help());
    }
    Err(notes.into_report())
}

fn read_map(text: &str, notes: &mut Notes<'_>) -> Option<(Map, Places)> {
    if text.len() > FILE_BYTES_MAX {
        let message = format!("the file has {} bytes; at most {FILE_BYTES_MAX} are read", text.len());
        notes.add("E0102", Span::default(), message, "is this a map?");
        return None;
    }
    let document = match toml_edit::Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let span = error.span().map_or(Span::default(), |range| Span { start: range.start, end: range.end });
            let help = "keys are written `key = value`, lists `[a, b]`, repeated blocks [[road]]";
            notes.add("E0103", span, format!("this is not valid TOML: {}", error.message()), help);
            return None;
        }
    };
    let mut root = Table::new(document.as_table(), Span::default());
    read_schema(&mut root, notes);
    let name = root.take("name").and_then(|node| node.text(notes));
    let mut places = Places::default();
    let mut map = generated::read(&mut root, &mut places, notes);
    if let Some(name) = name {
        map.name = name.to_owned();
    }
    sections::roads(&mut root, &mut map, &mut places, notes);
    sections::links(&mut root, &mut map, &mut places, notes);
    sections::junctions(&mut root, &mut map, &mut places, notes);
    sections::programs(&mut root, &mut map, &mut places, notes);
    sections::crosswalks(&mut root, &mut map, &mut places, notes);
    sections::zones(&mut root, &mut map, &mut places, notes);
    sections::barriers(&mut root, &mut map, &mut places, notes);
    sections::routes(&mut root, &mut map, &mut places, notes);
    root.finish(notes);
    notes.is_empty().then_some((map, places))
}

fn read_schema(root: &mut Table<'_>, notes: &mut Notes<'_>) {
    let Some(node) = root.take("schema") else {
        notes.add(
            "E0116",
            Span::default(),
            "the schema line is missing",
            format!("begin with `schema = \"{SCHEMA}\"`"),
        );
        return;
    };
    if node.text(notes).is_some_and(|text| text != SCHEMA) {
        notes.add("E0117", node.span, "this version cannot read this schema", format!("it reads \"{SCHEMA}\""));
    }
}

impl Places {
    /// Where an element stands, or else what contains it.
    fn span(&self, element: Element) -> Span {
        let outer = |element: Element| match element {
            Element::Point(road, lane, _) => Element::Lane(road, lane),
            Element::Lane(road, _) => Element::Road(road),
            Element::Approach(junction, _) | Element::Exception(junction, _) => Element::Junction(junction),
            _ => Element::Map,
        };
        let mut at = element;
        loop {
            if let Some(span) = self.get(at) {
                return span;
            }
            if at == Element::Map {
                return Span::default();
            }
            at = outer(at);
        }
    }
}
