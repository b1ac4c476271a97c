//! RNDF 1.0 as DARPA published it, with the MDF that belongs to it.
//!
//! Taken over: segments as roads, lanes with way-points, width and boundaries, exits as links with turning lanes between
//! them, stop lines, checkpoints, zones as open areas, parking spots; from the MDF the speed limits, and the way from
//! checkpoint to checkpoint as named routes. [`Imported::remarks`] says what could not be taken over, or only about.

mod cluster;
mod convert;
mod parse;

pub(crate) use parse::Rndf;

use anabranch_roads::report::{Notes, Report};
use anabranch_roads::{Element, Map, Network};

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
    let converted = convert::convert(&network_file, mission.as_ref(), &mut notes);
    if !notes.is_empty() {
        return Err(notes.into_report());
    }
    let flaws = match Network::new(&converted.map) {
        Ok(network) => {
            let convert::Converted { map, origin, remarks, .. } = converted;
            return Ok(Imported { map, network, origin, remarks });
        }
        Err(flaws) => flaws,
    };
    let mut mission_notes = mission_notes;
    for flaw in flaws {
        let span = converted.spans.get(&flaw.at).copied().unwrap_or_default();
        let about_route = matches!(flaw.at, Element::Route(_));
        let notes = mission_notes.as_mut().filter(|_| about_route).unwrap_or(&mut notes);
        notes.add(flaw.kind.code(), span, flaw.kind.to_string(), flaw.kind.help());
    }
    let broken = if notes.is_empty() { mission_notes.unwrap_or(notes) } else { notes };
    Err(broken.into_report())
}
