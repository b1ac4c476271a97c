//! Findings that a person would call the same mishap.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anabranch_kernel::Seed;
use anabranch_record::{Contact, ErrorRun, Finding, RunFolder, StartValue, publish};
use serde_json::{Value, json};

use super::candidates::{Candidate, Source, confirm_alone};
use super::contact::Sector;
use super::subject::{Subject, trace};
use crate::errors_table::ErrorsTable;
use crate::failure::Failure;
use crate::outside::Unstable;
use crate::project;

/// Most groups that are shown and drawn; all of them are in the machine output.
const SHOWN_MAX: usize = 10;
/// Groups that are shown even if they are variations of one mishap.
const SHOWN_MIN: usize = 4;
/// Groups that get a folder; more would not be looked at.
pub const FOLDERS_MAX: usize = 200;
/// Groups that get a trace at once; of the others `replay --trace` writes one.
pub const TRACES_MAX: usize = 10;

/// What findings of one group share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    requirement: u16,
    other: Option<u32>,
    sector: Option<Sector>,
    /// Sites and modes of the errors that occur.
    modes: BTreeSet<(usize, u8)>,
}

/// Findings that are alike.
#[derive(Clone, Debug)]
pub struct Group {
    /// The earliest of them.
    pub first: Candidate,
    /// How many there are.
    pub count: usize,
    /// `no-contact left-rear`.
    pub label: String,
    /// Whether it is the earliest of its requirement, obstacle and part of the car.
    pub is_first_of_place: bool,
    /// The file of the first, once it is saved.
    pub file: Option<PathBuf>,
}

/// Groups in the order of their earliest finding; mishaps at different places come before variations of one.
pub fn group<S: Subject>(drive: &S, candidates: &[Candidate]) -> Vec<Group> {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for candidate in candidates {
        let (key, label) = key(drive, candidate);
        let fresh = || Group { first: candidate.clone(), count: 0, label, is_first_of_place: false, file: None };
        let group = groups.entry(key).or_insert_with(fresh);
        group.count += 1;
        if rank(candidate) < rank(&group.first) {
            group.first = candidate.clone();
        }
    }
    let mut groups: Vec<(Key, Group)> = groups.into_iter().collect();
    groups.sort_by(|(_, a), (_, b)| rank(&a.first).cmp(&rank(&b.first)).then_with(|| b.count.cmp(&a.count)));
    let mut seen = BTreeSet::new();
    let (mut first_of_place, mut others) = (Vec::new(), Vec::new());
    for (key, mut group) in groups {
        group.is_first_of_place = seen.insert((key.requirement, key.other, key.sector));
        if group.is_first_of_place { first_of_place.push(group) } else { others.push(group) }
    }
    first_of_place.extend(others);
    first_of_place
}

/// The groups that people are shown: one for each place, and a few variations if there are few places.
pub fn shown(groups: &[Group]) -> &[Group] {
    let places = groups.iter().filter(|group| group.is_first_of_place).count();
    &groups[..places.clamp(SHOWN_MIN, SHOWN_MAX).min(groups.len())]
}

/// What was explored before what was drawn by lot, then the earlier violation.
fn rank(candidate: &Candidate) -> (Source, u64) {
    (candidate.source, candidate.verdict.tick)
}

fn key<S: Subject>(drive: &S, candidate: &Candidate) -> (Key, String) {
    let Candidate { verdict, choices, .. } = candidate;
    let used = choices.iter().flat_map(|choice| drive.errors().modes(*choice).iter().copied().enumerate());
    let modes = used.filter(|(_, mode)| *mode != 0).collect();
    let sector = verdict.place.as_ref().and_then(|place| drive.sector(place));
    let id = &drive.requirements()[usize::from(verdict.requirement)];
    let label = sector.map_or_else(|| id.clone(), |sector| format!("{id} {}", sector.word()));
    (Key { requirement: verdict.requirement, other: verdict.place.map(|p| p.other), sector, modes }, label)
}

/// What was taken out of the groups.
#[derive(Debug, Default)]
pub struct TakenOut {
    /// What code from outside did once and not again.
    pub unstable: Vec<Unstable>,
    /// Findings that could not be run again, because the code is gone.
    pub unconfirmed: u64,
}

/// Writes the first finding of every group to the folder of the run, after it was confirmed once more. Groups of code from
/// outside that did not come out the same way again, or could not be run again, are taken out and returned.
pub fn save<S: Subject>(
    groups: &mut Vec<Group>,
    folder: &RunFolder,
    loaded: &S::Source,
    drive: &S,
    seed: Seed,
) -> Result<TakenOut, Failure> {
    let mut out = TakenOut::default();
    if drive.is_outside() {
        groups.retain(|group| match confirm_alone(drive, seed, &group.first) {
            Ok(()) => true,
            // Who is not there any more has answered nothing differently.
            Err(_) if drive.gone().is_some() => {
                out.unconfirmed += group.count as u64;
                false
            }
            Err(failure) => {
                let Candidate { start, choices, .. } = group.first.clone();
                out.unstable.push(Unstable { start, choices, text: failure.to_string() });
                false
            }
        });
    }
    for (at, group) in groups.iter_mut().take(FOLDERS_MAX).enumerate() {
        if !drive.is_outside() {
            confirm_alone(drive, seed, &group.first)?;
        }
        let path = folder.add_finding(&group.label, &finding_of(group, loaded, drive, seed))?;
        if at < TRACES_MAX {
            match write_traces(group, loaded, drive, seed, &path) {
                // What was found stays found; that there is no trace of it is told with the reason.
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
    finding.errors = ErrorRun::group(drive.errors(), choices, &[]);
    finding.requirement = drive.requirements()[usize::from(verdict.requirement)].clone();
    finding.tick = verdict.tick;
    finding.time_s = verdict.tick as f64 * drive.step_s();
    finding.contact = verdict.place.map(Contact::from);
    finding.group = group.label.clone();
    finding
}

impl Group {
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
        })
    }
}
