//! Everything a report says comes from the folder of a run; nothing else is read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anabranch_study::Conclusion;
use serde_json::Value;

use crate::error::RecordError;
use crate::run_folder::{Phase, RunFolder, RunInfo, Status};

/// Larger files of a run are not read into a report.
const FILE_BYTES_MAX: u64 = 4_000_000;
/// Longest piece of what external software said, bytes.
const FAULT_BYTES_MAX: usize = 4_000;
/// Reports of external software that are shown.
const FAULTS_MAX: usize = 20;

/// A run as its folder tells it.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub name: String,
    pub info: Option<RunInfo>,
    pub status: Option<Status>,
    /// The object of `--format json`; null if the run did not come that far.
    pub result: Value,
    /// The verdict; incomplete where there is no result.
    pub conclusion: Conclusion,
    pub scenario_text: String,
    /// File of the scenario and what was changed on the command line.
    pub scenario_file: String,
    pub sets: Vec<(String, String)>,
    /// SVG files by name without ending.
    pub pictures: BTreeMap<String, String>,
    /// Folders of the findings by number.
    pub findings: BTreeMap<u32, FindingFiles>,
    pub faults: Vec<FaultFiles>,
}

/// What the folder of a finding holds for a page.
#[derive(Clone, Debug)]
pub(super) struct FindingFiles {
    pub name: String,
    pub pictures: BTreeMap<String, String>,
    pub traces: Vec<String>,
}

/// What an external software left when it failed.
#[derive(Clone, Debug)]
pub(super) struct FaultFiles {
    pub name: String,
    pub files: Vec<(String, String)>,
}

impl Run {
    pub fn read(folder: &RunFolder) -> Result<Self, RecordError> {
        let path = folder.path();
        let (info, status) = (folder.read_run().ok(), folder.read_status().ok());
        let result: Value = folder.read_json("result.json").unwrap_or(Value::Null);
        if info.is_none() && result.is_null() {
            let message =
                format!("`{}` is not the folder of a run: it has neither run.json nor result.json", folder.name());
            return Err(RecordError::NotFound(message));
        }
        let origin: Value = folder.read_json("scenario.json").unwrap_or(Value::Null);
        let set = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
        let sets = origin["set"].as_array().into_iter().flatten().filter_map(set).collect();
        let findings = folder.list_findings()?.into_iter().map(|(number, path)| (number, FindingFiles::read(&path)));
        Ok(Self {
            name: folder.name(),
            info,
            status,
            conclusion: Conclusion::read(&result),
            result,
            scenario_text: read_text(&path.join("scenario.toml")).unwrap_or_default(),
            scenario_file: origin["file"].as_str().unwrap_or("scenario.toml").to_owned(),
            sets,
            pictures: pictures(path),
            findings: findings.collect(),
            faults: faults(&path.join("av-faults")),
        })
    }

    /// Name of the scenario.
    pub fn scenario(&self) -> &str {
        let told = self.result["scenario"].as_str();
        told.or(self.info.as_ref().map(|info| info.scenario.as_str())).unwrap_or("unnamed")
    }

    /// The word of the verdict.
    pub fn verdict(&self) -> &'static str {
        self.conclusion.word()
    }

    /// Whether everything that was asked for was explored.
    pub fn is_complete(&self) -> bool {
        self.result["complete"].as_bool().unwrap_or(false)
    }

    /// Why it ended early; empty if it did not.
    pub fn stop(&self) -> String {
        if let Some(stop) = self.result["stop"].as_str() {
            return stop.to_owned();
        }
        match &self.status {
            Some(status) if status.phase == Phase::Failed => format!("it failed: {}", status.message),
            Some(status) if status.phase == Phase::Running => "it has not ended, or was killed".to_owned(),
            _ => "there is no result".to_owned(),
        }
    }
}

impl FindingFiles {
    fn read(path: &Path) -> Self {
        let traces = ["trace.mcap", "trace.csv"].into_iter().filter(|name| path.join(name).is_file());
        Self { name: file_name(path), pictures: pictures(path), traces: traces.map(str::to_owned).collect() }
    }
}

fn pictures(folder: &Path) -> BTreeMap<String, String> {
    let svg = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "svg");
    let read = |path: PathBuf| Some((path.file_stem()?.to_string_lossy().into_owned(), read_text(&path)?));
    entries(folder).into_iter().filter(svg).filter_map(read).collect()
}

fn faults(folder: &Path) -> Vec<FaultFiles> {
    let one = |path: PathBuf| {
        let files = entries(&path).into_iter().take(FAULTS_MAX).filter(|file| file.is_file()).map(|file| {
            let bytes = std::fs::read(&file).unwrap_or_default();
            let tail = &bytes[bytes.len().saturating_sub(FAULT_BYTES_MAX)..];
            (file_name(&file), String::from_utf8_lossy(tail).into_owned())
        });
        FaultFiles { name: file_name(&path), files: files.collect() }
    };
    entries(folder).into_iter().filter(|path| path.is_dir()).take(FAULTS_MAX).map(one).collect()
}

/// In the order of names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn read_text(path: &Path) -> Option<String> {
    let size = std::fs::metadata(path).ok()?.len();
    if size > FILE_BYTES_MAX {
        return None;
    }
    std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
