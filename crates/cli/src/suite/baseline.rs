//! Earlier runs that a test run must not be worse than: no cell may fail that did not fail then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anabranch_record::report::{Gate, RunComparison};
use anabranch_record::{RunFolder, RunReference};
use serde_json::{Value, json};

use super::case::{Case, Result as Ended};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::project::RUNS;

/// New failing cells that a message names; the machine output has up to a thousand.
const NAMED_MAX: usize = 5;

/// The latest run of each scenario.
#[derive(Debug)]
pub struct Baseline(BTreeMap<String, RunFolder>);

impl Baseline {
    /// A run, or a folder of runs, of which each scenario's latest finished one counts.
    pub fn read(place: &Path) -> Result<Self, Failure> {
        let folders = if is_run(place) {
            vec![place.to_owned()]
        } else if place.is_dir() {
            runs_in(place)?
        } else {
            let reference: RunReference = place.display().to_string().parse()?;
            vec![reference.resolve(Path::new(RUNS))?.run.path().to_owned()]
        };
        let mut latest: BTreeMap<String, (bool, RunFolder)> = BTreeMap::new();
        for path in folders {
            let folder = RunFolder::open(&path)?;
            let result: Value = folder.read_json("result.json").unwrap_or(Value::Null);
            let Some(scenario) = result["scenario"].as_str().filter(|_| result["digest"].is_string()) else { continue };
            let whole = result["complete"].as_bool().unwrap_or(false);
            // Later ones come later; one that was cut short does not replace a whole one.
            if whole || latest.get(scenario).is_none_or(|(before, _)| !before) {
                latest.insert(scenario.to_owned(), (whole, folder));
            }
        }
        if latest.is_empty() {
            let help = "name a run, or a folder of runs such as runs/";
            return Err(Failure::input(format!("there is no exploration in `{}`", place.display()), help));
        }
        Ok(Self(latest.into_iter().map(|(scenario, (_, folder))| (scenario, folder)).collect()))
    }

    /// Judges a scenario that was explored once more: a new failing cell makes it fail, whatever it expects.
    pub fn judge(&self, case: Case) -> Case {
        let told = case.details["scenario"].as_str().zip(case.details["run"].as_str());
        let Some((scenario, run)) = told else { return case };
        let Some(before) = self.0.get(scenario) else {
            return with(case, json!({ "run": null, "sentence": "There is no earlier run of this scenario." }));
        };
        match RunFolder::open(Path::new(run)).and_then(|now| RunComparison::read(&[before.clone(), now])) {
            Err(error) => refuse(case, before, &error.to_string()),
            Ok(comparison) => compared(case, before, &comparison),
        }
    }
}

fn is_run(path: &Path) -> bool {
    path.join("run.json").is_file()
}

/// Folders of runs, the oldest first; links such as `last` lead to one of them.
fn runs_in(place: &Path) -> Result<Vec<PathBuf>, Failure> {
    let refused = |e: std::io::Error| Failure::file("read", place, &e);
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(place).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        if entry.file_type().map_err(refused)?.is_dir() && is_run(&entry.path()) {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

fn with(mut case: Case, baseline: Value) -> Case {
    case.details["baseline"] = baseline;
    case
}

fn compared(case: Case, before: &RunFolder, comparison: &RunComparison) -> Case {
    let machine = comparison.to_json();
    if comparison.gate() == Gate::Incomparable {
        return refuse(case, before, machine["incomparable"].as_str().unwrap_or("they cannot be compared"));
    }
    let cells: Vec<Value> = machine["new"]["cells"].as_array().into_iter().flatten().map(told).collect();
    let count = machine["new"]["count"].as_u64().unwrap_or(0);
    let sentence = format!("Compared with {}: {}.", before.name(), comparison.sentence());
    let gate = json!({ "run": before.name(), "gate": machine["gate"], "sentence": sentence, "new_count": count,
        "fixed_count": machine["fixed"]["count"], "same_count": machine["same"]["count"], "new": cells });
    let mut case = with(case, gate);
    match comparison.gate() {
        Gate::NewFailures => {
            let noun = if count == 1 { "1 new failing cell".to_owned() } else { format!("{count} new failing cells") };
            let mut message = format!("{noun} since {}; {}", before.name(), case.message);
            for cell in cells.iter().take(NAMED_MAX) {
                message += &format!("\ncell {}: {}", word(&cell["cell"]), word(&cell["errors"]));
            }
            if cells.len() > NAMED_MAX {
                message += &format!("\nand {} more", count - NAMED_MAX as u64);
            }
            case.message = message;
            worsen(&mut case, Ended::Failed, Exit::Findings);
        }
        Gate::Incomplete => {
            case.message =
                format!("one of the two runs is incomplete, so nobody can say if it is worse; {}", case.message);
            worsen(&mut case, Ended::Incomplete, Exit::Incomplete);
        }
        Gate::NotCovered => {
            case.message =
                format!("one of the two runs is not covered, so nobody can say if it is worse; {}", case.message);
            worsen(&mut case, Ended::NotCovered, Exit::Incomplete);
        }
        Gate::Open | Gate::Incomparable => {}
    }
    case
}

/// What cannot be compared never passes.
fn refuse(case: Case, before: &RunFolder, why: &str) -> Case {
    let sentence = format!("It cannot be compared with {}: {why}.", before.name());
    let mut case = with(case, json!({ "run": before.name(), "gate": "incomparable", "sentence": sentence }));
    case.message = format!("cannot be compared with {}: {why}; {}", before.name(), case.message);
    worsen(&mut case, Ended::Error, Exit::BadInput);
    case
}

/// A case never becomes better by a comparison.
fn worsen(case: &mut Case, result: Ended, exit: Exit) {
    case.exit = Exit::of(&[case.exit, exit]);
    if case.exit == exit {
        case.result = result;
    }
}

/// A new failing cell in short: its name as reports show it, how it fails, and the shortest way into it.
fn told(cell: &Value) -> Value {
    let key: String = word(&cell["key"]).chars().take(8).collect();
    let until = cell["witness"]["choices"].as_array().map_or(0, Vec::len);
    json!({ "cell": key, "key": cell["key"], "margin_m": cell["margin_m"], "other_run": cell["other_run"],
        "segments": until, "errors": cell["witness"]["words"] })
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("–")
}
