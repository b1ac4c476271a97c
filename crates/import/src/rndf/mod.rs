//! RNDF 1.0 as DARPA published it, with the MDF that belongs to it.
//!
//! Taken over: segments as roads, lanes with way-points, width and boundaries, exits as links with turning lanes between
//! them, stop lines, checkpoints, zones as open areas, parking spots; from the MDF the speed limits, and the way from
//! checkpoint to checkpoint as named routes, with the spots that a leg begins or ends in ([`Imported::legs`]).
//! [`Imported::remarks`] says what could not be taken over, or only about.

mod cluster;
mod convert;
mod legs;
mod parse;

pub use legs::{MissionLeg, ZoneSpot};
pub(crate) use parse::Rndf;

use std::collections::BTreeMap;

use anabranch_roads::report::{Notes, Report, Span};
use anabranch_roads::{Element, Flaw, Map, Network};

use crate::earth::Origin;
use crate::mdf;

/// A map that came in, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The map.
    pub map: Map,
    /// The network.
    pub network: Network,
    /// Where its origin lies on earth: at the first way-point.
    pub origin: Origin,
    /// The mission, leg by leg; empty without an MDF.
    pub legs: Vec<MissionLeg>,
    /// What was not taken over as it was.
    pub remarks: Vec<Remark>,
}

/// Something that was not taken over as it was, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// It was worked out or assumed.
    Approximated(String),
    /// It is missing in the map.
    LeftOut(String),
}

/// Reads an RNDF, with the MDF that goes with it as name and text. Names are only used in messages.
///
/// # Errors
/// With every mistake of the first file that has one.
pub fn read(file: &str, text: &str, mission: Option<(&str, &str)>) -> Result<Imported, Report> {
    let mut notes = Notes::new(file, text);
    let network_file = parse::parse(text, &mut notes);
    if !notes.is_empty() {
        return Err(notes.into_report());
    }
    let mission = mission.map(|(file, text)| (Notes::new(file, text), text));
    let mission = mission.map(|(mut notes, text)| {
        let read = mdf::parse(text, &network_file, &mut notes);
        (read, notes)
    });
    let (mission, mission_notes) = mission.unzip();
    if let Some(notes) = mission_notes.as_ref().filter(|notes| !notes.is_empty()) {
        return Err(notes.clone().into_report());
    }
    let mut converted = convert::convert(&network_file, mission.as_ref(), &mut notes);
    if !notes.is_empty() {
        return Err(notes.into_report());
    }
    let without_mission = match Network::new(&converted.map) {
        Ok(network) => network,
        Err(flaws) => return Err(pointed_at(flaws, &converted.spans, notes)),
    };
    let (Some(mission), Some(mut notes)) = (mission, mission_notes) else {
        return Ok(converted.imported(without_mission, Vec::new()));
    };
    let found = legs::legs(&network_file, &mission, &without_mission, &mut notes);
    if !notes.is_empty() {
        return Err(notes.into_report());
    }
    for (number, (route, span)) in found.routes.into_iter().enumerate() {
        converted.spans.insert(Element::Route(number), span);
        converted.map.routes.push(route);
    }
    match Network::new(&converted.map) {
        Ok(network) => Ok(converted.imported(network, found.legs)),
        Err(flaws) => Err(pointed_at(flaws, &converted.spans, notes)),
    }
}

/// Flaws of a map as mistakes of the file that they come from.
fn pointed_at(flaws: Vec<Flaw>, spans: &BTreeMap<Element, Span>, mut notes: Notes<'_>) -> Report {
    for flaw in flaws {
        let span = spans.get(&flaw.at).copied().unwrap_or_default();
        notes.add(flaw.kind.code(), span, flaw.kind.to_string(), flaw.kind.help());
    }
    notes.into_report()
}
