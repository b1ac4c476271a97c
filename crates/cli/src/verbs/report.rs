//! `report`: one self-contained HTML file of a run, or a comparison of several.

use std::path::{Path, PathBuf};

use anabranch_record::report::{Gate, RunComparison, run_report};
use anabranch_record::{RunFolder, RunReference, publish};
use clap::Args;
use serde_json::{Value, json};

use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::project::{self, RUNS};
use crate::report::PAGE;
use crate::screen::{Format, Screen};

/// Write one HTML file of a run, or a comparison of several.
#[derive(Args, Debug)]
pub struct Report {
    /// Runs, the oldest first: `last`, or the name of a folder in runs/. Two of the same scenario are compared cell by cell.
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// The file; report.html in the folder of the run, or comparison.html here, if left out.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// End with exit code 1 if a cell fails in the second run that did not fail in the first.
    #[arg(long)]
    pub gate: bool,
}

impl Report {
    /// Writes the page and says where it is.
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let folders: Vec<RunFolder> = self.runs.iter().map(|run| folder(run)).collect::<Result<_, _>>()?;
        if self.gate && folders.len() != 2 {
            return Err(Failure::input("--gate compares two runs", "anabranch report BEFORE AFTER --gate"));
        }
        match &folders[..] {
            [one] => self.one(screen, one),
            _ => self.several(screen, &folders),
        }
    }

    fn one(&self, screen: &Screen, run: &RunFolder) -> Result<Exit, Failure> {
        let page = run_report(run)?;
        let path = self.out.clone().unwrap_or_else(|| run.path().join(PAGE));
        publish(&path, page.as_bytes())?;
        let machine = json!({
            "schema": "anabranch.report/1", "run": run.name(), "report": project::relative(&path), "bytes": page.len(),
        });
        screen.result(|_| format!("{}\n", escape(&project::relative(&path))), &machine);
        Ok(Exit::Done)
    }

    fn several(&self, screen: &Screen, folders: &[RunFolder]) -> Result<Exit, Failure> {
        let comparison = RunComparison::read(folders)?;
        // Whoever asks for the object alone gets no file they did not ask for.
        let path = match (&self.out, screen.format) {
            (Some(path), _) => Some(path.clone()),
            (None, Format::Human) => Some(PathBuf::from("comparison.html")),
            (None, Format::Json | Format::Jsonl) => None,
        };
        if let Some(path) = &path {
            publish(path, comparison.page().as_bytes())?;
        }
        let place = path.as_deref().map(project::relative);
        let mut machine = comparison.to_json();
        machine["report"] = place.as_ref().map_or(Value::Null, |place| json!(place));
        let human = |_: &crate::screen::Paint| {
            let place = place.as_deref().map_or_else(String::new, |place| format!("{}\n", escape(place)));
            format!("{}\n{place}", escape(&comparison.sentence()))
        };
        screen.result(human, &machine);
        Ok(if self.gate { judged(screen, comparison.gate()) } else { Exit::Done })
    }
}

/// What cannot be compared or is incomplete never passes.
fn judged(screen: &Screen, gate: Gate) -> Exit {
    match gate {
        Gate::Open => Exit::Done,
        Gate::NewFailures => Exit::Findings,
        Gate::Incomplete | Gate::NotCovered => Exit::Incomplete,
        Gate::Incomparable => {
            screen.warn("the runs cannot be compared cell by cell, so the gate stays shut");
            Exit::BadInput
        }
    }
}

fn folder(run: &str) -> Result<RunFolder, Failure> {
    let reference: RunReference = run.parse()?;
    if reference.finding.is_some() {
        let name = reference.run;
        return Err(Failure::input(
            format!("`{run}` is a finding; a report is of a run"),
            format!("anabranch report {name}"),
        ));
    }
    Ok(reference.resolve(Path::new(RUNS))?.run)
}
