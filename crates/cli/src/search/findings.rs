//! Accidents of a search become findings that replay: the scenario with the values of the point, run from the start.

use anabranch_kernel::{Choice, Seed, System};
use anabranch_record::RunFolder;
use anabranch_search::{Accident, Report};

use super::instance::Unbuilt;
use super::objective::ScenarioObjective;
use crate::exit::Exit;
use crate::explore::candidates::{Candidate, Source};
use crate::explore::finding_pictures;
use crate::explore::groups::{self, Group};
use crate::explore::subject::Subject;
use crate::explore::time_left::TimeLeft;
use crate::failure::Failure;
use crate::load::{Override, load_text};
use crate::triage::{self, Triage};

/// Most accidents that get a folder.
const FOLDERS_MAX: usize = 50;

/// The zone of a map for a blind corner, beside its finding.
const BLIND_CORNER: &str = "blind-corner.toml";

/// An accident that was run again from the text of the scenario.
#[derive(Debug)]
pub struct Confirmed {
    /// The evaluation.
    pub evaluation: u64,
    /// How many evaluations showed it.
    pub seen: u64,
    /// Its values as changes of the scenario.
    pub set: Vec<Override>,
    /// The finding.
    pub group: Group,
    /// In words, with its place.
    pub sentence: String,
    /// Its errors as a table; empty if there are none.
    pub errors: String,
    /// Why it happened, for contacts on roads.
    pub triage: Option<Triage>,
    /// For machines.
    pub json: serde_json::Value,
}

/// Confirms and saves every accident.
///
/// # Errors
/// When one does not come out the same way again: exit 6.
pub fn save(objective: &ScenarioObjective<'_>, report: &Report, folder: &RunFolder) -> Result<Vec<Confirmed>, Failure> {
    let mut all = Vec::new();
    for (number, accident) in report.accidents.iter().take(FOLDERS_MAX).enumerate() {
        all.push(confirm(objective, report, accident, (folder, number + 1))?);
    }
    Ok(all)
}

fn confirm(
    objective: &ScenarioObjective<'_>,
    report: &Report,
    accident: &Accident,
    (folder, number): (&RunFolder, usize),
) -> Result<Confirmed, Failure> {
    let evaluation = &report.evaluations[accident.worst as usize];
    let point = objective.varied.describe(&evaluation.values);
    let unlike = |what: String| Failure::Plain {
        exit: Exit::NotReproducible,
        message: format!("evaluation {}: {what} ({point})", evaluation.number),
        help: "a part keeps something that is not in its state".to_owned(),
    };
    let scored = match objective.score(&evaluation.values)? {
        Ok(scored) => scored,
        Err(Unbuilt::Refused(why)) => return Err(unlike(format!("now it is no instance: {why}"))),
        Err(Unbuilt::Wrong(report)) => return Err(report.into()),
        Err(Unbuilt::Failed(failure)) => return Err(failure),
    };
    let Some(verdict) = scored.verdict else { return Err(unlike("now nothing is violated".to_owned())) };
    let instance = objective.varied.instance(&objective.loaded.document, &evaluation.values);
    let (set, _) = instance.overrides(objective.drive);
    let base = objective.loaded;
    let sets: Vec<Override> = base.overrides.iter().chain(&set).cloned().collect();
    let loaded = load_text(&base.path, base.text.as_bytes(), &sets, &[])?;
    let drive = loaded.drive()?;
    let start = drive.space().all().iter().position(|params| *params == scored.params).unwrap_or(0);
    let candidate = Candidate { source: Source::Searched, start, choices: scored.choices, verdict };
    let mut groups = vec![Group::alone(drive.as_ref(), candidate, 1)];
    let seed = Seed(objective.seed.0);
    groups::save(&mut groups, folder, &loaded, drive.as_ref(), (seed, TimeLeft::endless()))?;
    let Some(mut group) = groups.pop() else { return Err(unlike("it did not come out the same way again".to_owned())) };
    group.count = accident.seen as usize;
    match finding_pictures::draw(&loaded, &drive, Seed(objective.seed.0), &group) {
        // What was found stays found, also where the driver is gone and cannot be watched again.
        Err(_) if drive.gone().is_some() => {}
        drawn => drawn?,
    }
    let sentence = crate::explore::contact::sentence(&loaded, &drive, group.first.verdict.place.as_ref());
    let has_errors = group.first.choices.iter().any(|choice| *choice != Choice::NONE);
    let errors = if has_errors { group.table(drive.as_ref()).human("       ") } else { String::new() };
    let triage = triage::of(&loaded, &drive, objective.seed, &group.first)?;
    if let (Some(zone), Some(beside)) = (triage.as_ref().and_then(Triage::map_zone), &group.file) {
        anabranch_record::publish(&beside.with_file_name(BLIND_CORNER), zone.as_bytes())?;
    }
    let mut json = group.to_json(number, &loaded, drive.as_ref());
    if let Some(triage) = &triage {
        json["triage"] = triage.to_json();
    }
    Ok(Confirmed { evaluation: evaluation.number, seen: accident.seen, set, group, sentence, errors, triage, json })
}
