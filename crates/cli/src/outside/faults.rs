//! `av-faults/0001-hang/`: what a driver from outside did wrong, with the input that made it.

use std::path::Path;

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
    pub fn to_json(&self, drive: &Drive) -> Value {
        let errors: Vec<String> = self.choices.iter().map(|choice| drive.errors().describe(*choice)).collect();
        json!({ "start": self.start, "errors": errors, "text": self.text })
    }
}

/// Writes a folder for every fault that is kept, and says how many.
pub fn write_faults(folder: &RunFolder, loaded: &Loaded, drive: &Drive, seed: u64) -> Result<usize, Failure> {
    let Some(driver) = drive.foreign() else { return Ok(0) };
    let faults = driver.faults();
    let all = folder.path().join(FOLDER);
    if all.is_dir() {
        std::fs::remove_dir_all(&all).map_err(|e| Failure::file("remove", &all, &e))?;
    }
    for (at, fault) in faults.iter().take(FOLDERS_MAX).enumerate() {
        let path = all.join(format!("{:04}-{}", at + 1, fault.kind.name()));
        std::fs::create_dir_all(&path).map_err(|e| Failure::file("create", &path, &e))?;
        write_fault(&path, fault, loaded, drive, seed)?;
    }
    Ok(faults.len())
}

fn write_fault(path: &Path, fault: &AvFault, loaded: &Loaded, drive: &Drive, seed: u64) -> Result<(), Failure> {
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
    publish(&path.join("finding.toml"), finding.to_toml().as_bytes())?;
    let said = json!({
        "schema": "anabranch.av-fault/1",
        "kind": fault.kind.name(),
        "text": fault.text,
        "tick": fault.tick,
        "time_s": finding.time_s,
        "driver": drive.foreign().map(|driver| driver.card().name.clone()),
    });
    publish(&path.join("fault.json"), format!("{said:#}\n").as_bytes())?;
    let asked = serde_json::to_string_pretty(&fault.asked).unwrap_or_default();
    publish(&path.join("input.json"), asked.as_bytes())?;
    if let Some(output) = &fault.output {
        let from = output.len().saturating_sub(OUTPUT_BYTES_MAX);
        publish(&path.join("output.txt"), &output.as_bytes()[from..])?;
    }
    Ok(())
}
