//! Findings of one accident and one cause: what is saved, shown and drawn of them.

use std::path::{Path, PathBuf};

use anabranch_kernel::Seed;
use anabranch_record::{Contact, ErrorRun, Finding, RunFolder, StartValue, publish};
use serde_json::{Value, json};

use super::candidates::{Candidate, Source, confirm_alone};
use super::subject::{Subject, trace};
use super::time_left::TimeLeft;
use crate::errors_table::ErrorsTable;
use crate::failure::Failure;
use crate::interrupt;
use crate::outside::Unstable;
use crate::project;

/// Most groups that are shown and drawn; all of them are in the machine output.
const SHOWN_MAX: usize = 10;
/// Groups that get a folder; more would not be looked at.
pub const FOLDERS_MAX: usize = 200;
/// Groups that get a trace at once; of the others `replay --trace` writes one.
pub const TRACES_MAX: usize = 10;

/// Findings of one accident that share a cause.
#[derive(Clone, Debug)]
pub struct Group {
    /// The minimal sequence of the cause; without a cause the earliest finding.
    pub first: Candidate,
    /// How many there are.
    pub count: usize,
    /// `no-contact left-rear`.
    pub label: String,
    /// The cause they share; nothing if none was looked for, or none was found in the time there was.
    pub cause: Option<CauseOf>,
    /// The file of the first, once it is saved.
    pub file: Option<PathBuf>,
}

/// The cause that the findings of a group share.
#[derive(Clone, Debug)]
pub struct CauseOf {
    /// Its number; a cause and its mirror image have the same.
    pub number: usize,
    /// The kinds of error that are enough.
    pub kinds: Vec<String>,
    /// Whether this group is the mirror image of another.
    pub is_mirrored: bool,
    /// Whether the first of the group is minimal: every error in it is needed.
    pub is_minimal: bool,
    /// The finding that the minimal sequence comes from.
    pub found: Candidate,
    /// Where code from outside failed.
    pub line: Option<String>,
    /// What mattered, for machines.
    pub why: Option<Value>,
}

impl CauseOf {
    /// `estimate-jump: left and estimate-jump: right`.
    pub fn sentence(&self) -> String {
        match self.kinds.as_slice() {
            [] => "no error at all".to_owned(),
            [one] => one.clone(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        }
    }
}

/// The groups that people are shown: one for each cause, and what has none. Mirror images are told with their cause.
pub fn shown(groups: &[Group]) -> &[Group] {
    let own = groups.iter().filter(|group| group.cause.as_ref().is_none_or(|cause| !cause.is_mirrored)).count();
    &groups[..own.min(SHOWN_MAX)]
}

/// What was explored before what was drawn by lot, then the earlier violation.
pub fn rank(candidate: &Candidate) -> (Source, u64) {
    (candidate.source, candidate.verdict.tick)
}

/// `no-contact left-rear`.
pub fn label<S: Subject>(drive: &S, candidate: &Candidate) -> String {
    let verdict = &candidate.verdict;
    let sector = verdict.place.as_ref().and_then(|place| drive.sector(place));
    let id = &drive.requirements()[usize::from(verdict.requirement)];
    sector.map_or_else(|| id.clone(), |sector| format!("{id} {}", sector.word()))
}

/// What was taken out of the groups.
#[derive(Debug, Default)]
pub struct TakenOut {
    /// What code from outside did once and not again.
    pub unstable: Vec<Unstable>,
    /// Findings that could not be run again, because the code is gone.
    pub unconfirmed: u64,
    /// Groups that were confirmed, but not once more alone, for want of time.
    pub confirmed_once: u64,
    /// Groups without a trace for want of time.
    pub without_trace: u64,
}

/// Whether a group is still there after its first finding was run once more alone.
enum Alone {
    Confirmed,
    /// It was confirmed together with others, and there is no time for more.
    Skipped,
    Gone,
    Differs(Failure),
}

fn once_more<S: Subject>(group: &Group, drive: &S, seed: Seed, time: TimeLeft) -> Alone {
    if !time.confirms() {
        return Alone::Skipped;
    }
    match confirm_alone(drive, seed, &group.first) {
        Ok(()) => Alone::Confirmed,
        Err(_) if interrupt::cutoff().has_come() => Alone::Skipped,
        // Who is not there any more has answered nothing differently.
        Err(_) if drive.gone().is_some() => Alone::Gone,
        Err(failure) => Alone::Differs(failure),
    }
}

/// Writes the first finding of every group to the folder of the run, after it was confirmed once more. Groups of code from
/// outside that did not come out the same way again, or could not be run again, are taken out and returned.
pub fn save<S: Subject>(
    groups: &mut Vec<Group>,
    folder: &RunFolder,
    loaded: &S::Source,
    drive: &S,
    (seed, time): (Seed, TimeLeft),
) -> Result<TakenOut, Failure> {
    let mut out = TakenOut::default();
    let mut failed = None;
    let mut at = 0;
    groups.retain(|group| {
        at += 1;
        // Built-in parts do not change their mind; whoever is shown is run once more all the same.
        if !drive.is_outside() && at > FOLDERS_MAX {
            return true;
        }
        match once_more(group, drive, seed, time) {
            Alone::Confirmed => return true,
            Alone::Skipped => {
                out.confirmed_once += 1;
                return true;
            }
            Alone::Gone => out.unconfirmed += group.count as u64,
            Alone::Differs(failure) if drive.is_outside() => {
                let Candidate { start, choices, .. } = group.first.clone();
                out.unstable.push(Unstable { start, choices, text: failure.to_string() });
            }
            Alone::Differs(failure) => failed = failed.take().or(Some(failure)),
        }
        false
    });
    if let Some(failure) = failed {
        return Err(failure);
    }
    for (at, group) in groups.iter_mut().take(FOLDERS_MAX).enumerate() {
        let path = folder.add_finding(&group.label, &finding_of(group, loaded, drive, seed))?;
        if at < TRACES_MAX && !time.draws() {
            out.without_trace += 1;
        } else if at < TRACES_MAX {
            match write_traces(group, loaded, drive, seed, &path) {
                // What was found stays found; that there is no trace of it is told with the reason.
                Err(_) if interrupt::cutoff().has_come() => out.without_trace += 1,
                Err(_) if drive.gone().is_some() => {}
                written => written?,
            }
        }
        group.file = Some(path.join("finding.toml"));
    }
    Ok(out)
}

fn write_traces<S: Subject>(
    group: &Group,
    loaded: &S::Source,
    drive: &S,
    seed: Seed,
    folder: &Path,
) -> Result<(), Failure> {
    publish(&folder.join("trace.csv"), &trace(drive, &group.first, seed)?)?;
    drive.write_traces(loaded, &group.first, seed, folder)
}

/// The file of the first finding of a group.
pub fn finding_of<S: Subject>(group: &Group, loaded: &S::Source, drive: &S, seed: Seed) -> Finding {
    let Candidate { start, choices, verdict, .. } = &group.first;
    let mut finding = Finding::new(drive.name(), S::hash(loaded), drive.segment_seconds());
    S::name_source(loaded, &mut finding);
    finding.seed = seed.0;
    finding.start = StartValue::of(drive.space(), &drive.space().all()[*start]);
    finding.errors = match &group.cause {
        Some(cause) if cause.is_minimal => ErrorRun::group_needed(drive.errors(), choices),
        _ => ErrorRun::group(drive.errors(), choices, &[]),
    };
    finding.requirement = drive.requirements()[usize::from(verdict.requirement)].clone();
    finding.tick = verdict.tick;
    finding.time_s = verdict.tick as f64 * drive.step_s();
    finding.contact = verdict.place.map(Contact::from);
    finding.group = group.label.clone();
    finding
}

impl Group {
    /// Findings without a known cause.
    pub fn alone<S: Subject>(drive: &S, first: Candidate, count: usize) -> Self {
        Self { label: label(drive, &first), first, count, cause: None, file: None }
    }

    /// The errors of the first finding.
    pub fn table<S: Subject>(&self, drive: &S) -> ErrorsTable {
        ErrorsTable::of_choices(drive.errors(), &self.first.choices, drive.segment_seconds())
    }

    /// For machines.
    pub fn to_json<S: Subject>(&self, number: usize, loaded: &S::Source, drive: &S) -> Value {
        let verdict = &self.first.verdict;
        json!({
            "number": number,
            "group": self.label,
            "count": self.count,
            "source": self.first.source.word(),
            "requirement": drive.requirements()[usize::from(verdict.requirement)],
            "tick": verdict.tick,
            "time_s": verdict.tick as f64 * drive.step_s(),
            "segments": self.first.choices.len(),
            "contact": verdict.place.as_ref().map(|place| drive.place_json(loaded, place)),
            "errors": self.table(drive).to_json(),
            "finding": self.file.as_ref().map(|path| project::relative(path)),
            "cause": self.cause.as_ref().map(|cause| cause.number),
            "kinds": self.cause.as_ref().map(|cause| &cause.kinds),
            "mirrored": self.cause.as_ref().is_some_and(|cause| cause.is_mirrored),
            "minimal": self.cause.as_ref().is_some_and(|cause| cause.is_minimal),
            "found": self.cause.as_ref().map(|cause| json!({
                "tick": cause.found.verdict.tick,
                "segments": cause.found.choices.len(),
                "errors":
                    ErrorsTable::of_choices(drive.errors(), &cause.found.choices, drive.segment_seconds()).to_json(),
            })),
        })
    }
}
