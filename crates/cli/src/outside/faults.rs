//! `av-faults/0001-hang/`: what a driver from outside did wrong, with the input that made it.

use std::path::Path;

use anabranch_bridge::Misbehaviour;
use anabranch_kernel::{Choice, System};
use anabranch_record::{ErrorRun, Finding, RunFolder, StartValue, publish};
use anabranch_scenario::Drive;
use anabranch_scenario::drive::foreign::AvFault;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::load::Loaded;
use crate::project;

/// Folder of all faults in the folder of a run.
const FOLDER: &str = "av-faults";
/// Most faults with a folder of their own.
const FOLDERS_MAX: usize = 64;
/// So much of the output is kept.
const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// Something that was found and did not come out the same way again.
#[derive(Clone, Debug)]
pub struct Unstable {
    /// Number of the start.
    pub start: usize,
    /// The error of every segment.
    pub choices: Vec<Choice>,
    /// What differed, in a sentence.
    pub text: String,
}

impl Unstable {
    /// For machines.
    pub fn to_json<S: System>(&self, drive: &S) -> Value {
        let errors: Vec<String> = self.choices.iter().map(|choice| drive.errors().describe(*choice)).collect();
        json!({ "start": self.start, "errors": errors, "text": self.text })
    }
}

/// A fault with everything that is known about it.
pub struct Evidence {
    /// What went wrong.
    pub wrong: Misbehaviour,
    /// The path to it.
    pub finding: Finding,
    /// Name of the guilty.
    pub by: String,
    /// What was asked last, where that is known.
    pub asked: Option<String>,
}

/// Writes a folder for every fault that is kept, and says how many.
pub fn write_faults(folder: &RunFolder, loaded: &Loaded, drive: &Drive, seed: u64) -> Result<usize, Failure> {
    let Some(driver) = drive.foreign() else { return Ok(0) };
    let faults = driver.faults();
    let evidence = |fault: &AvFault| Evidence {
        wrong: Misbehaviour { kind: fault.kind, text: fault.text.clone(), output: fault.output.clone() },
        finding: finding_of(fault, loaded, drive, seed),
        by: driver.card().name.clone(),
        asked: Some(serde_json::to_string_pretty(&fault.asked).unwrap_or_default()),
    };
    write_evidence(folder, faults.iter().map(evidence))?;
    Ok(faults.len())
}

/// Writes a folder for each of these, as far as there are not too many, instead of those of an earlier process.
pub fn write_evidence(folder: &RunFolder, faults: impl Iterator<Item = Evidence>) -> Result<(), Failure> {
    let all = folder.path().join(FOLDER);
    if all.is_dir() {
        std::fs::remove_dir_all(&all).map_err(|e| Failure::file("remove", &all, &e))?;
    }
    for (at, fault) in faults.take(FOLDERS_MAX).enumerate() {
        let path = all.join(format!("{:04}-{}", at + 1, fault.wrong.kind.name()));
        std::fs::create_dir_all(&path).map_err(|e| Failure::file("create", &path, &e))?;
        write_one(&path, &fault)?;
    }
    Ok(())
}

fn finding_of(fault: &AvFault, loaded: &Loaded, drive: &Drive, seed: u64) -> Finding {
    let mut finding = Finding::new(drive.name(), loaded.hash, drive.segment_seconds());
    finding.scenario_file = project::relative(&loaded.path);
    finding.set = loaded.overrides.clone();
    finding.seed = seed;
    finding.start = StartValue::of(drive.space(), &drive.space().all()[fault.start]);
    finding.errors = ErrorRun::group(drive.errors(), &fault.choices, &[]);
    finding.requirement = format!("driver.{}", fault.kind.name());
    finding.tick = fault.tick;
    finding.time_s = fault.tick as f64 * drive.step_s();
    finding.group = finding.requirement.clone();
    finding
}

fn write_one(path: &Path, fault: &Evidence) -> Result<(), Failure> {
    let Evidence { wrong, finding, by, asked } = fault;
    publish(&path.join("finding.toml"), finding.to_toml().as_bytes())?;
    let said = json!({
        "schema": "anabranch.av-fault/1",
        "kind": wrong.kind.name(),
        "text": wrong.text,
        "tick": finding.tick,
        "time_s": finding.time_s,
        "driver": by,
    });
    publish(&path.join("fault.json"), format!("{said:#}\n").as_bytes())?;
    if let Some(asked) = asked {
        publish(&path.join("input.json"), asked.as_bytes())?;
    }
    if let Some(output) = &wrong.output {
        let from = output.len().saturating_sub(OUTPUT_BYTES_MAX);
        publish(&path.join("output.txt"), &output.as_bytes()[from..])?;
    }
    Ok(())
}
