//! What can be wrong with a map, and where.

use thiserror::Error;

use crate::plan::LaneName;
use crate::route::NoRoute;

/// A part of a [`Map`](crate::Map), by its numbers, so that whoever read the map from a file can point at the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// The map as a whole.
    Map,
    /// A road.
    Road(usize),
    /// A lane of a road.
    Lane(usize, usize),
    /// A way-point of a lane of a road.
    Point(usize, usize, usize),
    /// A link.
    Link(usize),
    /// A junction.
    Junction(usize),
    /// An approach of a junction.
    Approach(usize, usize),
    /// An exception to priority in a junction.
    Exception(usize, usize),
    /// A program of lights.
    Program(usize),
    /// A crosswalk.
    Crosswalk(usize),
    /// A zone.
    Zone(usize),
    /// A barrier.
    Barrier(usize),
    /// A named route.
    Route(usize),
}

/// One mistake of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Flaw {
    /// What is wrong.
    pub at: Element,
    /// How.
    pub kind: FlawKind,
}

/// Ways to be wrong. Codes are stable; their texts are not.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FlawKind {
    /// The map has no lane at all.
    #[error("the map has no lane")]
    Empty,
    /// Fewer than two way-points.
    #[error("{0} point(s) make no line; at least two are needed")]
    FewPoints(usize),
    /// Two way-points in a row at the same place.
    #[error("the way-point lies {0:.3} m from the one before it")]
    SamePlace(f64),
    /// A number that is not finite.
    #[error("the {0} is not a finite number")]
    NotFinite(&'static str),
    /// A number that must be positive.
    #[error("the {what} is {value}; it must be positive")]
    NotPositive {
        /// The quantity.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number beyond all roads.
    #[error("the {what} is {value}; more than {limit} is a mistake")]
    TooLarge {
        /// The quantity.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The largest sensible value.
        limit: f64,
    },
    /// The same id twice.
    #[error("there is another {what} `{name}`")]
    Duplicate {
        /// The kind of thing.
        what: &'static str,
        /// The id.
        name: String,
    },
    /// A name that nothing has.
    #[error("there is no {what} `{name}`")]
    Unknown {
        /// The kind of thing.
        what: &'static str,
        /// What was written.
        name: String,
        /// The most similar name.
        similar: Option<String>,
    },
    /// A way-point number that the lane does not have.
    #[error("lane `{lane}` has way-points 0 to {last}, not {point}")]
    NoPoint {
        /// The lane.
        lane: LaneName,
        /// What was written.
        point: usize,
        /// The number of its last one.
        last: usize,
    },
    /// A lane that crosses itself.
    #[error("the lane crosses itself at ({x:.1} m, {y:.1} m), {first_m:.1} m and {second_m:.1} m from its beginning")]
    CrossesItself {
        /// Where.
        x: f64,
        /// Where.
        y: f64,
        /// First station there.
        first_m: f64,
        /// Second station there.
        second_m: f64,
    },
    /// A curve tighter than the lane is wide: its inner edge would run backwards.
    #[error("the curve has a radius of {radius_m:.2} m at {station_m:.1} m, less than half the lane's width")]
    TooTight {
        /// Radius.
        radius_m: f64,
        /// Where on the lane.
        station_m: f64,
    },
    /// A link from a lane to itself, or backwards along it.
    #[error("the link leads from `{0}` to itself without leaving it")]
    LoopLink(LaneName),
    /// A polygon that has no inside.
    #[error("the polygon has fewer than three corners, no area, or crosses itself")]
    BadPolygon,
    /// A program without phases, or with phases that do not fit its groups.
    #[error("{0}")]
    BadProgram(String),
    /// A junction that no link names.
    #[error("no link belongs to junction `{0}`")]
    NoTurns(String),
    /// A crosswalk that crosses nothing.
    #[error("the crosswalk crosses no lane")]
    CrossesNothing,
    /// A goal that cannot be reached.
    #[error("{0}")]
    Unreachable(NoRoute),
}

impl FlawKind {
    /// Its stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "E0601",
            Self::FewPoints(_) => "E0602",
            Self::SamePlace(_) => "E0603",
            Self::NotFinite(_) => "E0604",
            Self::NotPositive { .. } => "E0605",
            Self::TooLarge { .. } => "E0606",
            Self::Duplicate { .. } => "E0607",
            Self::Unknown { .. } => "E0608",
            Self::NoPoint { .. } => "E0609",
            Self::CrossesItself { .. } => "E0610",
            Self::TooTight { .. } => "E0611",
            Self::LoopLink(_) => "E0612",
            Self::BadPolygon => "E0613",
            Self::BadProgram(_) => "E0614",
            Self::NoTurns(_) => "E0615",
            Self::CrossesNothing => "E0616",
            Self::Unreachable(_) => "E0617",
        }
    }

    /// How to go on.
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { similar: Some(similar), .. } => format!("did you mean `{similar}`?"),
            Self::Unknown { what, .. } => format!("add this {what}, or remove what names it"),
            _ => self.plain_help().to_owned(),
        }
    }

    fn plain_help(&self) -> &'static str {
        match self {
            Self::Empty => "a map has at least one [[road]] with a lane",
            Self::FewPoints(_) => "add a point",
            Self::SamePlace(_) => "remove one of the two; way-points are at least 0.01 m apart",
            Self::NotFinite(_) => "write an ordinary number",
            Self::NotPositive { .. } => "leave it out for its default, or write a positive value",
            Self::TooLarge { .. } => "check its unit",
            Self::Duplicate { .. } => "give one of them another id",
            Self::Unknown { .. } => "",
            Self::NoPoint { .. } => "way-points are counted from 0; leave the number out for the end of the lane",
            Self::CrossesItself { .. } => "make it two lanes with a link, or check the order of its way-points",
            Self::TooTight { .. } => "move the way-points apart, or make the lane narrower",
            Self::LoopLink(_) => "the entry must lie before the exit, or on another lane",
            Self::BadPolygon => "list the corners in order around the area, without repeating the first",
            Self::BadProgram(_) => "each phase has a duration and one letter per group: r, u, g, a or d",
            Self::NoTurns(_) => "name it in the links that cross there: `junction = \"...\"`",
            Self::CrossesNothing => "let its line go from kerb to kerb, across the lanes",
            Self::Unreachable(_) => "add the link that is missing, or choose another goal",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    #[test]
    fn the_first_and_the_last_flaw_are_explained() {
        assert_eq!(codes::find(FlawKind::Empty.code()).map(|code| code.title), Some("a map without a lane"));
        let last = FlawKind::CrossesNothing.code();
        assert_eq!(codes::find(last).map(|code| code.title), Some("a crosswalk over no lane"));
    }
}
