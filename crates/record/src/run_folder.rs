//! The folder of one run: `runs/2026-11-15T19-02-20-narrow-passage/`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anabranch_kernel::Digest;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::error::RecordError;
use crate::finding::Finding;
use crate::last::set_last;
use crate::publish::{publish, slug};

/// Most runs of one scenario that may begin in the same second.
const SAME_SECOND_MAX: u32 = 1_000;

/// What a run was asked to do: `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// `anabranch.run/1`.
    pub schema: String,
    /// Versions of the tool and of what else matters: `anabranch` → `0.1.0`.
    pub versions: BTreeMap<String, String>,
    /// Name of the scenario.
    pub scenario: String,
    /// Hex digest of the scenario text.
    pub scenario_hash: String,
    /// Digest of the code from outside with everything that it imports, as that code reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Seed of all chance.
    pub seed: u64,
    /// Limits by name: `until_s`, `states`, `memory_bytes`.
    pub limits: BTreeMap<String, serde_json::Value>,
    /// The command line, without absolute paths; see [`crate::tidy_command`].
    pub command: Vec<String>,
    /// When it began, UTC.
    pub started: String,
}

impl RunInfo {
    /// Schema of `run.json`.
    pub const SCHEMA: &'static str = "anabranch.run/1";

    /// A run that begins now; the arguments are tidied here.
    pub fn new<S: AsRef<str>>(
        scenario: &str,
        scenario_hash: Digest,
        seed: u64,
        arguments: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            versions: [("anabranch".to_owned(), env!("CARGO_PKG_VERSION").to_owned())].into(),
            scenario: scenario.to_owned(),
            scenario_hash: scenario_hash.to_string(),
            code: None,
            seed,
            limits: BTreeMap::new(),
            command: crate::tidy_command(arguments),
            started: clock::rfc3339(clock::now()),
        }
    }
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Working.
    Running,
    /// Everything that was asked for is done.
    Done,
    /// Ended by a budget.
    Incomplete,
    /// Stopped by a person.
    Interrupted,
    /// Ended by an error.
    Failed,
}

/// How far a run is: `status.json`, safe to poll.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// `anabranch.status/1`.
    pub schema: String,
    /// Where it stands.
    pub phase: Phase,
    /// Whole levels so far.
    pub levels: u64,
    /// Kept states so far.
    pub states: u64,
    /// Segments run so far.
    pub segments: u64,
    /// States merged into others so far.
    pub merged: u64,
    /// Findings so far.
    pub findings: u64,
    /// Seconds since it began.
    pub wall_s: f64,
    /// Why it stands where it stands, for a person; may be empty.
    pub message: String,
}

impl Status {
    /// Schema of `status.json`.
    pub const SCHEMA: &'static str = "anabranch.status/1";

    /// A run that has done nothing yet.
    pub fn begin() -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            phase: Phase::Running,
            levels: 0,
            states: 0,
            segments: 0,
            merged: 0,
            findings: 0,
            wall_s: 0.0,
            message: String::new(),
        }
    }
}

/// The file whose lock says that a process works on a run. The system releases it when the process ends, so a crash
/// leaves nothing to clean up.
const LOCK: &str = "lock";

/// A run that only this process may write into.
#[derive(Debug)]
pub struct RunLock {
    _file: fs::File,
}

/// The folder of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes the folder of a run that begins at `time`. It is the last one only after [`make_last`](Self::make_last).
    ///
    /// # Errors
    /// When the folder of runs cannot be written.
    pub fn create(runs: &Path, scenario: &str, time: SystemTime) -> Result<Self, RecordError> {
        fs::create_dir_all(runs).map_err(RecordError::io("make", runs))?;
        let base = format!("{}-{}", clock::stamp(time), slug(scenario));
        for attempt in 1..=SAME_SECOND_MAX {
            let name = if attempt == 1 { base.clone() } else { format!("{base}-{attempt}") };
            let path = runs.join(&name);
            match fs::create_dir(&path) {
                Ok(()) => {
                    let folder = Self { path };
                    for inner in [folder.levels(), folder.findings()] {
                        fs::create_dir(&inner).map_err(RecordError::io("make", &inner))?;
                    }
                    return Ok(folder);
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(RecordError::io("make", &path)(e)),
            }
        }
        Err(RecordError::Taken(format!("no free name for `{base}` after {SAME_SECOND_MAX} attempts; wait a second")))
    }

    /// As [`create`](Self::create), now.
    ///
    /// # Errors
    /// When the folder of runs cannot be written.
    pub fn create_now(runs: &Path, scenario: &str) -> Result<Self, RecordError> {
        Self::create(runs, scenario, clock::now())
    }

    /// Keeps other processes from writing into this run until the lock is dropped or this process ends, however it ends.
    ///
    /// # Errors
    /// When another process has it, or when the folder cannot be written.
    pub fn lock(&self) -> Result<RunLock, RecordError> {
        let path = self.path.join(LOCK);
        let file = fs::File::create(&path).map_err(RecordError::io("write", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(RunLock { _file: file }),
            Err(fs::TryLockError::WouldBlock) => {
                let name = self.name();
                let text = format!("another process is working on the run `{name}`; wait for its end, or end it first");
                Err(RecordError::Taken(text))
            }
            Err(fs::TryLockError::Error(error)) => Err(RecordError::io("lock", &path)(error)),
        }
    }

    /// Points `last` to this run. Done once the folder says what it was asked to do, so that `last` is always a run that
    /// can be resumed.
    ///
    /// # Errors
    /// When the folder of runs cannot be written; then `last` is what it was.
    pub fn make_last(&self) -> Result<(), RecordError> {
        let runs = self.path.parent().unwrap_or(Path::new("."));
        set_last(runs, &self.name()).map_err(RecordError::io("write", &runs.join("last")))
    }

    /// The folder of an earlier run.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        if !path.is_dir() {
            return Err(RecordError::NotFound(format!("`{}` is not a folder of a run", crate::error::short(path))));
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Its name: what people type and what outputs show.
    pub fn name(&self) -> String {
        self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }
    /// Folder of the trail.
    pub fn levels(&self) -> PathBuf {
        self.path.join("levels")
    }
    /// Folder of the findings.
    pub fn findings(&self) -> PathBuf {
        self.path.join("findings")
    }

    /// Publishes a file of this run atomically.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn publish(&self, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
        publish(&self.path.join(name), bytes)
    }

    /// Publishes a value as a JSON file of this run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn publish_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), RecordError> {
        let path = self.path.join(name);
        let mut text = serde_json::to_string_pretty(value).map_err(RecordError::json(&path))?;
        text.push('\n');
        publish(&path, text.as_bytes())
    }

    /// Reads a JSON file of this run.
    ///
    /// # Errors
    /// When it is missing or has another form.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, RecordError> {
        let path = self.path.join(name);
        let text = fs::read(&path).map_err(RecordError::io("read", &path))?;
        serde_json::from_slice(&text).map_err(RecordError::json(&path))
    }

    /// Writes `run.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_run(&self, info: &RunInfo) -> Result<(), RecordError> {
        self.publish_json("run.json", info)
    }
    /// Reads `run.json`.
    ///
    /// # Errors
    /// When it is missing or has another form.
    pub fn read_run(&self) -> Result<RunInfo, RecordError> {
        self.read_json("run.json")
    }
    /// Replaces `status.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_status(&self, status: &Status) -> Result<(), RecordError> {
        self.publish_json("status.json", status)
    }
    /// Reads `status.json`.
    ///
    /// # Errors
    /// When it is missing or has another form.
    pub fn read_status(&self) -> Result<Status, RecordError> {
        self.read_json("status.json")
    }

    /// Makes the next folder of a finding, `findings/0001-<label>/`, with its `finding.toml`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_finding(&self, label: &str, finding: &Finding) -> Result<PathBuf, RecordError> {
        let number = self.list_findings()?.last().map_or(1, |(number, _)| number + 1);
        let path = self.findings().join(format!("{number:04}-{}", slug(label)));
        fs::create_dir_all(&path).map_err(RecordError::io("make", &path))?;
        publish(&path.join("finding.toml"), finding.to_toml().as_bytes())?;
        Ok(path)
    }

    /// Folders of the findings with their numbers, in order.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list_findings(&self) -> Result<Vec<(u32, PathBuf)>, RecordError> {
        let folder = self.findings();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(RecordError::io("read", &folder)(e)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(RecordError::io("read", &folder))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(number) = name.split('-').next().and_then(|number| number.parse().ok()) {
                found.push((number, entry.path()));
            }
        }
        found.sort();
        Ok(found)
    }
}
