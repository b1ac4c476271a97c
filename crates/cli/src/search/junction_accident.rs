//! One accident at the T-junction: what it was, and what is kept of it.

use anabranch_problems::{AtFault, JUNCTION_AXES, Junction, JunctionState, Outcome, Triage};
use anabranch_record::RunFolder;
use anabranch_record::picture::Sight;
use anabranch_record::publish::slug;
use anabranch_search::{Report, Space};
use serde_json::{Value, json};

use super::junction::NAME;
use super::junction_pictures;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::numbers::short;
use crate::project;

/// Most accidents that get a folder; there are fewer kinds than that.
const FOLDERS_MAX: usize = 50;

/// An instance that was run, and where it is kept.
pub(super) struct Found {
    pub(super) numbers: Vec<f64>,
    pub(super) outcome: Outcome,
    /// What a map should carry about the corner, if it hides traffic for too long.
    pub(super) map_zone: Option<String>,
    /// The evaluation that showed it worst, and how many showed it; nothing for an instance that was given.
    pub(super) seen: Option<(u64, u64)>,
    /// Its folder and the files in it.
    pub(super) kept: Option<(String, Vec<String>)>,
    junction: Junction,
}

/// Runs an instance.
///
/// # Errors
/// When it has too few or too many numbers.
pub(super) fn of(numbers: &[f64]) -> Result<Found, Failure> {
    let junction = Junction::from_numbers(numbers)
        .ok_or_else(|| Failure::input(format!("{NAME}: {} numbers are no instance", numbers.len()), ""))?;
    let outcome = junction.run_all();
    let is_hidden = outcome.triage.is_some_and(|triage| triage.is_hidden);
    let note = junction.blind_corner().filter(|_| is_hidden);
    let map_zone = note.map(|note| note.map_zone(&format!("{NAME}-blind-corner")));
    Ok(Found { numbers: numbers.to_vec(), outcome, map_zone, seen: None, kept: None, junction })
}

/// Runs every different accident again and keeps its pictures.
///
/// # Errors
/// When one does not come out the same way again: exit 6.
pub(super) fn save(space: &Space, report: &Report, folder: &RunFolder) -> Result<Vec<Found>, Failure> {
    let mut all = Vec::new();
    for (number, accident) in report.accidents.iter().take(FOLDERS_MAX).enumerate() {
        let evaluation = &report.evaluations[accident.worst as usize];
        let mut found = of(&evaluation.values)?;
        let then = evaluation.result.as_ref().ok().map(|outcome| &outcome.signature);
        if found.outcome.triage.is_none() || then != Some(&found.outcome.signature()) {
            return Err(Failure::Plain {
                exit: Exit::NotReproducible,
                message: format!("{} came out otherwise when it was run again", evaluation.describe(space)),
                help: String::new(),
            });
        }
        found.seen = Some((evaluation.number, accident.seen));
        found.keep(folder, number + 1)?;
        all.push(found);
    }
    Ok(all)
}

/// An instance as `--input` takes it, to the last digit.
pub(super) fn input(numbers: &[f64]) -> String {
    let word = |((name, _), number): (&(&str, &str), &f64)| format!("{name}={number}");
    JUNCTION_AXES.iter().zip(numbers).map(word).collect::<Vec<_>>().join(" ")
}

/// The command that runs an instance again.
pub(super) fn command(numbers: &[f64]) -> String {
    format!("anabranch search --bench {NAME} --input \"{}\"", input(numbers))
}

impl Found {
    fn keep(&mut self, folder: &RunFolder, number: usize) -> Result<(), Failure> {
        let path = folder.findings().join(format!("{number:04}-{}", slug(&self.label())));
        std::fs::create_dir_all(&path).map_err(|error| Failure::file("make", &path, &error))?;
        let states: Vec<JunctionState> = self.junction.states();
        let mut files = Vec::new();
        let sight = self.junction.sight(&states).map(|seen| junction_pictures::sight(&seen, self.label()));
        for (view, picture) in sight.iter().flat_map(Sight::pictures) {
            let name = format!("{}.svg", view.name());
            anabranch_record::publish(&path.join(&name), picture.as_bytes())?;
            files.push(name);
        }
        if let Some(zone) = &self.map_zone {
            anabranch_record::publish(&path.join("blind-corner.toml"), zone.as_bytes())?;
            files.push("blind-corner.toml".to_owned());
        }
        anabranch_record::publish(&path.join(project::INSTANCE), self.text().as_bytes())?;
        files.push(project::INSTANCE.to_owned());
        self.kept = Some((project::relative(&path), files));
        Ok(())
    }

    /// What is kept of it, to the last digit, so that a replay can compare.
    pub(super) fn text(&self) -> String {
        let instance = json!({
            "schema": "anabranch.instance/1", "bench": NAME, "input": input(&self.numbers), "result": self.to_json(),
        });
        format!("{instance:#}\n")
    }

    /// What kind of accident it was, in a few words.
    pub(super) fn label(&self) -> String {
        match &self.outcome.triage {
            Some(triage) => format!("{}, fault of {}", triage.cause.text(), triage.fault.text()),
            None => "no accident".to_owned(),
        }
    }

    /// Sentences about an accident: how it came about, and what would have prevented it.
    pub(super) fn story(&self) -> Vec<String> {
        let Some(triage) = &self.outcome.triage else { return Vec::new() };
        let mut out = vec![mechanism(triage), prevented(triage)];
        if triage.fault == AtFault::Other {
            out.push("not the fault of the car under test; kept and labelled".to_owned());
        }
        let seen = match triage.believed_s {
            Some(believed_s) => format!("believed for {} s", short(believed_s, 2)),
            None => "never believed by the camera".to_owned(),
        };
        let braked = if triage.has_other_braked { "the other driver braked" } else { "the other driver did not brake" };
        let visible_s = short(triage.visible_s, 2);
        out.push(format!("before it the other car was in sight for {visible_s} s and {seen}; {braked}"));
        out
    }

    /// Distance and reserve in words.
    pub(super) fn measures(&self) -> String {
        let Outcome { distance_m, reserve_m, .. } = self.outcome;
        format!(
            "distance {} m, reserve by responsibility-sensitive safety {}",
            short(distance_m, 3),
            reserve(reserve_m)
        )
    }

    /// For machines.
    pub(super) fn to_json(&self) -> Value {
        let Outcome { distance_m, reserve_m, time_s, .. } = self.outcome;
        let axes = JUNCTION_AXES.iter().zip(&self.numbers);
        let values: serde_json::Map<String, Value> =
            axes.map(|((name, _), number)| ((*name).to_owned(), json!(number))).collect();
        let triage = self.outcome.triage.map(|triage| {
            json!({
                "cause": triage.cause.text(),
                "fault": triage.fault.text(),
                "published_mechanism": triage.is_published_mechanism(),
                "prevented_by": { "sign_known": triage.is_sign_late, "no_hedge": triage.is_hidden, "daylight": triage.is_dim },
                "twilight": triage.is_twilight,
                "similar_speed": triage.is_similar_speed,
                "other_braked": triage.has_other_braked,
                "visible_s": triage.visible_s,
                "believed_s": triage.believed_s,
            })
        });
        json!({
            "distance_m": distance_m,
            "rss_reserve_m": Some(reserve_m).filter(|reserve_m| *reserve_m < f64::MAX),
            "danger_m": self.outcome.danger_m(),
            "time_s": time_s,
            "values": values,
            "triage": triage,
            "blind_corner": self.map_zone,
        })
    }
}

/// A reserve that was never asked for is none.
fn reserve(reserve_m: f64) -> String {
    if reserve_m < f64::MAX {
        format!("{} m", short(reserve_m, 2))
    } else {
        "does not apply (it was never in front of the other car in its lane)".to_owned()
    }
}

fn mechanism(triage: &Triage) -> String {
    let parts = [
        (triage.is_twilight, "twilight"),
        (triage.is_sign_late, "a stop sign seen late"),
        (triage.is_hidden, "a car hidden by the hedge"),
        (triage.is_similar_speed, "of similar speed"),
    ];
    let said: Vec<&str> = parts.iter().filter(|(is, _)| *is).map(|(_, text)| *text).collect();
    match (triage.is_published_mechanism(), said.is_empty()) {
        (true, _) => format!("mechanism: {}: the published one", said.join(", ")),
        (false, false) => format!("mechanism: {}", said.join(", ")),
        (false, true) => "mechanism: none of the known parts".to_owned(),
    }
}

fn prevented(triage: &Triage) -> String {
    let ways =
        [(triage.is_sign_late, "knowing of the sign"), (triage.is_hidden, "no hedge"), (triage.is_dim, "daylight")];
    let said: Vec<&str> = ways.iter().filter(|(is, _)| *is).map(|(_, text)| *text).collect();
    match said.is_empty() {
        true => "run again, none of a known sign, no hedge and daylight alone prevents it".to_owned(),
        false => format!("run again, it is prevented by {}", said.join(", by ")),
    }
}
