//! The one table of everything a scenario file can say.
//!
//! Unknown keys, types, units, defaults, the JSON schema and the format reference all come from here, so none of them
//! can forget a key.

mod ego;
mod error;
mod explore;
mod helper;
mod motion;
mod road;
mod search;
mod test;
mod world;

use anabranch_kernel::units::Dimension;

pub use error::ERROR_KINDS;

/// How a trigger is written.
pub(super) const TRIGGER_TITLE: &str = "[[trigger]]";

/// The schema line this version reads.
pub const SCHEMA: &str = "anabranch/1";

/// A table of the file.
#[derive(Debug)]
pub struct Section {
    /// How it is written: `[world]`, `[[error]]`, `jump = { .. }`.
    pub title: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys, in the order of the reference.
    pub keys: &'static [Key],
    /// Keys of which exactly one must be there.
    pub exactly_one: &'static [&'static str],
}

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// As written.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether it may be left out.
    pub need: Need,
    /// What it means.
    pub doc: &'static str,
}

/// Whether a key may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must be there.
    Required,
    /// It may be left out, which means something of its own.
    Optional,
    /// It may be left out, which means this.
    Default(&'static str),
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// A name: letters, digits, `-`, `_`.
    Id,
    /// `true` or `false`.
    Flag,
    /// A whole number within bounds, both included.
    Count {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// One of a few words.
    Word(&'static [&'static str]),
    /// A number with its unit.
    Quantity(Quantity),
    /// A list of `[x, y]`.
    Points,
    /// A table.
    Table(&'static Section),
    /// Any number of tables.
    Tables(&'static Section),
    /// One table, or any number of them.
    TableOrTables(&'static Section),
    /// A word, or a table to say more.
    WordOrTable(&'static [&'static str], &'static Section),
    /// A word, the name of a file, or a table to say more.
    WordFileOrTable(&'static [&'static str], &'static Section),
    /// The name of a file, relative to the scenario.
    File,
    /// A list of texts.
    Texts,
    /// Cell sizes by variable name, or `"none"`.
    Cells,
    /// Weights by the name of a mode, or a list of them in the order of modes.
    Weights,
    /// A requirement in the language of the monitors.
    Expression,
    /// Sizes by the id of an error.
    ErrorSizes,
    /// What values vary over, by their path.
    Ranges,
}

/// What numbers a key takes.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Dimensions it may have; all but one exclude each other by context.
    pub dimensions: &'static [Dimension],
    /// Which signs.
    pub sign: Sign,
    /// One value or several.
    pub amount: Amount,
    /// Largest absolute value in SI units, where it is less than what the dimension allows.
    pub most: f64,
}

/// Which signs a number may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Any.
    Any,
    /// Zero or more.
    NotNegative,
    /// More than zero.
    Positive,
}

/// How many values a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// One.
    One,
    /// One, a list, or a range.
    Several,
}

/// Longest vehicle, object or part of one, and the farthest that anybody keeps away from anything: longer than any road train.
const BODY_MAX_M: f64 = 100.0;
/// How far anything sees or hears.
const RANGE_MAX_M: f64 = 10_000.0;
/// Most cars on a kilometre of lane: one every two metres.
const DENSITY_MAX: f64 = 500.0;
/// Most cars that come in on one lane in an hour: ten per second.
const FLOW_MAX: f64 = 36_000.0;

const LENGTH: &[Dimension] = &[Dimension::Length];
const TIME: &[Dimension] = &[Dimension::Time];
const SPEED: &[Dimension] = &[Dimension::Speed];
const ACCELERATION: &[Dimension] = &[Dimension::Acceleration];
const ANGLE: &[Dimension] = &[Dimension::Angle];
const ANGULAR_SPEED: &[Dimension] = &[Dimension::AngularSpeed];
const CURVATURE: &[Dimension] = &[Dimension::Curvature];
const PATH_GAIN: &[Dimension] = &[Dimension::CurvaturePerLength];
const MASS: &[Dimension] = &[Dimension::Mass];
const INERTIA: &[Dimension] = &[Dimension::Inertia];
const STIFFNESS: &[Dimension] = &[Dimension::Stiffness];
const PRESSURE: &[Dimension] = &[Dimension::Pressure];
const MEMORY: &[Dimension] = &[Dimension::Memory];
const NUMBER: &[Dimension] = &[Dimension::Number];

const fn quantity(dimensions: &'static [Dimension], sign: Sign, amount: Amount) -> Kind {
    Kind::Quantity(Quantity { dimensions, sign, amount, most: f64::INFINITY })
}
/// The same with a largest value of its own, in SI units.
const fn at_most(most: f64, kind: Kind) -> Kind {
    match kind {
        Kind::Quantity(quantity) => Kind::Quantity(Quantity { most, ..quantity }),
        other => other,
    }
}
const fn any(dimensions: &'static [Dimension]) -> Kind {
    quantity(dimensions, Sign::Any, Amount::One)
}
const fn positive(dimensions: &'static [Dimension]) -> Kind {
    quantity(dimensions, Sign::Positive, Amount::One)
}
const fn not_negative(dimensions: &'static [Dimension]) -> Kind {
    quantity(dimensions, Sign::NotNegative, Amount::One)
}
const fn any_several(dimensions: &'static [Dimension]) -> Kind {
    quantity(dimensions, Sign::Any, Amount::Several)
}
const fn not_negative_several(dimensions: &'static [Dimension]) -> Kind {
    quantity(dimensions, Sign::NotNegative, Amount::Several)
}
const fn key(name: &'static str, kind: Kind, need: Need, doc: &'static str) -> Key {
    Key { name, kind, need, doc }
}

/// The file itself.
pub static ROOT: Section = Section {
    title: "scenario",
    doc: "The keys at the top of the file.",
    exactly_one: &[],
    keys: &[
        key("schema", Kind::Text, Need::Required, "Version of the format; always `\"anabranch/1\"`."),
        key("name", Kind::Id, Need::Required, "Name of the scenario in run folders and reports."),
        key("about", Kind::Text, Need::Default(""), "What it is about, in a sentence or two."),
        key("world", Kind::Table(&world::WORLD), Need::Required, "Clock, walls and obstacles."),
        key("road", Kind::Table(&road::ROAD), Need::Optional, "The road network; none at low speed off the road."),
        key("object", Kind::Tables(&road::OBJECT), Need::Optional, "Others on the road."),
        key("traffic", Kind::Table(&road::TRAFFIC), Need::Optional, "Cars without names."),
        key("trigger", Kind::Tables(&road::TRIGGER), Need::Optional, "What happens once."),
        key("ego", Kind::Table(&ego::EGO), Need::Required, "The car whose software is under test."),
        key("helper", Kind::Table(&helper::HELPER), Need::Optional, "Simulators beside the main one."),
        key("error", Kind::Tables(&error::ERROR), Need::Optional, "What may go wrong."),
        key("errors", Kind::Table(&error::ERRORS), Need::Optional, "How many errors may come together."),
        key("explore", Kind::Table(&explore::EXPLORE), Need::Required, "How error combinations are explored."),
        key("search", Kind::Table(&search::SEARCH), Need::Optional, "What `anabranch search` may vary."),
        key("must", Kind::Tables(&explore::MUST), Need::Optional, "Requirements; a violation is a finding."),
        key("should", Kind::Tables(&explore::SHOULD), Need::Optional, "Wishes; reported, never a failure."),
        key("test", Kind::Table(&test::TEST), Need::Optional, "What `anabranch test` expects of this scenario."),
    ],
};

impl Section {
    /// The key with this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Kind {
    /// The table that the key holds, if it holds one.
    pub fn section(&self) -> Option<&'static Section> {
        match self {
            Self::Table(section)
            | Self::Tables(section)
            | Self::TableOrTables(section)
            | Self::WordOrTable(_, section)
            | Self::WordFileOrTable(_, section) => Some(section),
            _ => None,
        }
    }
}

/// Every table of the file, each once, parents before children.
pub fn sections() -> Vec<&'static Section> {
    let mut found: Vec<&'static Section> = vec![&ROOT];
    let mut next = 0;
    while let Some(section) = found.get(next).copied() {
        next += 1;
        for inner in section.keys.iter().filter_map(|key| key.kind.section()) {
            if !found.iter().any(|known| std::ptr::eq(*known, inner)) {
                found.push(inner);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_once_and_alternatives_exist_and_are_optional() {
        for section in sections() {
            for (i, key) in section.keys.iter().enumerate() {
                assert!(section.keys[..i].iter().all(|other| other.name != key.name), "{} {}", section.title, key.name);
                assert!(key.doc.ends_with('.'), "{} {}", section.title, key.name);
            }
            for name in section.exactly_one {
                assert_eq!(section.key(name).map(|key| key.need), Some(Need::Optional), "{} {name}", section.title);
            }
        }
    }
}
