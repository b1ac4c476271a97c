//! MDF: which checkpoints to visit, and how fast to drive where.

use anabranch_roads::report::{Notes, Span};

use crate::lines::{Line, lines};
use crate::rndf::Rndf;

/// A mission.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mission {
    /// Checkpoints in the order of driving.
    pub checkpoints: Vec<(usize, Span)>,
    /// Segment or zone, and its largest speed in miles per hour.
    pub limits: Vec<(usize, f64)>,
}

/// Highest speed that a mission allows, in miles per hour.
const SPEED_MAX_MPH: f64 = 200.0;

/// Reads a mission for a network; what is wrong is in the notes.
pub(crate) fn parse(text: &str, network: &Rndf, notes: &mut Notes<'_>) -> Mission {
    let mut mission = Mission::default();
    let mut lines = lines(text).into_iter();
    let mut ended = false;
    while let Some(line) = lines.next() {
        match line.key() {
            "MDF_name" | "RNDF" | "format_version" | "creation_date" => {}
            "checkpoints" => block(&mut lines, &line, "end_checkpoints", "num_checkpoints", notes, |line, notes| {
                mission.checkpoints.extend(checkpoint(line, network, notes));
            }),
            "speed_limits" => block(&mut lines, &line, "end_speed_limits", "num_speed_limits", notes, |line, notes| {
                mission.limits.extend(limit(line, network, notes));
            }),
            "end_file" => {
                ended = true;
                break;
            }
            _ => {
                let help = "known here: MDF_name, RNDF, checkpoints, speed_limits, end_file";
                notes.add("E0701", line.words[0].span, format!("`{}` does not belong here", line.key()), help);
            }
        }
    }
    if !ended {
        let end = Span { start: text.len(), end: text.len() };
        notes.add("E0706", end, "the file ends without `end_file`", "the file may have been cut off");
    }
    mission
}

/// Lines up to the end of a block, with their announced number.
fn block<'t>(
    lines: &mut impl Iterator<Item = Line<'t>>,
    head: &Line<'t>,
    end: &str,
    count: &str,
    notes: &mut Notes<'_>,
    mut each: impl FnMut(&Line<'t>, &mut Notes<'_>),
) {
    let (mut said, mut found) = (None, 0);
    for line in lines {
        if line.key() == end {
            if let Some(said) = said.filter(|said| *said != found) {
                let message = format!("{said} lines were announced, but there are {found}");
                notes.add("E0705", line.span(), message, "correct the number, or look for what is missing");
            }
            return;
        }
        if line.key() == count {
            said = line.values::<1>(notes).and_then(|[word]| word.count(notes));
        } else {
            found += 1;
            each(&line, notes);
        }
    }
    notes.add("E0706", head.span(), format!("`{}` never ends", head.key()), format!("close it with `{end}`"));
}

fn checkpoint(line: &Line<'_>, network: &Rndf, notes: &mut Notes<'_>) -> Option<(usize, Span)> {
    let number = line.words[0].count(notes)?;
    let known = network.strands().any(|strand| strand.checkpoints.iter().any(|(_, known, _)| *known == number));
    if !known {
        let help = "the RNDF has no `checkpoint` line with this number";
        notes.add("E0710", line.span(), format!("there is no checkpoint {number}"), help);
        return None;
    }
    Some((number, line.span()))
}

fn limit(line: &Line<'_>, network: &Rndf, notes: &mut Notes<'_>) -> Option<(usize, f64)> {
    let number = line.words[0].count(notes)?;
    let known = network.segments.iter().any(|segment| segment.number == number)
        || network.zones.iter().any(|zone| zone.number == number);
    if !known {
        let help = "the RNDF has no such segment or zone";
        notes.add("E0710", line.words[0].span, format!("there is no segment or zone {number}"), help);
    }
    let [_, most] = line.values::<2>(notes)?;
    most.real(0.0, SPEED_MAX_MPH, notes).filter(|_| known).map(|most| (number, most))
}
