//! How people name a run or a finding: `last`, `last#1`, `<folder>`, `<folder>#2`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::RecordError;
use crate::last::last;
use crate::run_folder::RunFolder;

/// A run, and possibly one of its findings, as a person wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReference {
    /// `last`, the name of a folder in the folder of runs, or a path.
    pub run: String,
    /// Number of the finding, counted from 1.
    pub finding: Option<u32>,
}

/// What a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The run.
    pub run: RunFolder,
    /// Folder of the finding, if one was named.
    pub finding: Option<PathBuf>,
}

impl FromStr for RunReference {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Self, RecordError> {
        let (run, finding) = match text.rsplit_once('#') {
            None => (text, None),
            Some((run, number)) => match number.parse() {
                Ok(number) if number > 0 => (run, Some(number)),
                _ => {
                    return Err(RecordError::NotFound(format!(
                        "`#{number}` in `{text}` is not a finding: write a number from 1, as in `last#1`"
                    )));
                }
            },
        };
        Ok(Self { run: run.to_owned(), finding })
    }
}

impl RunReference {
    /// Looks it up in the folder of runs.
    ///
    /// # Errors
    /// When the run or the finding does not exist, with what there is instead.
    pub fn resolve(&self, runs: &Path) -> Result<Found, RecordError> {
        let run = self.resolve_run(runs)?;
        let Some(number) = self.finding else { return Ok(Found { run, finding: None }) };
        let findings = run.list_findings()?;
        match findings.iter().find(|(n, _)| *n == number) {
            Some((_, path)) => Ok(Found { run, finding: Some(path.clone()) }),
            None => Err(RecordError::NotFound(match findings.len() {
                0 => format!("the run `{}` has no findings", run.name()),
                count => format!("the run `{}` has no finding {number}; it has {count} of them", run.name()),
            })),
        }
    }

    fn resolve_run(&self, runs: &Path) -> Result<RunFolder, RecordError> {
        let name = if self.run == "last" {
            last(runs).ok_or_else(|| {
                RecordError::NotFound("there is no last run here: `explore` or `run` a scenario first".to_owned())
            })?
        } else {
            self.run.clone()
        };
        let name = name.trim_end_matches(['/', '\\']);
        // A name typed in the folder of runs wins over a path from where the person stands.
        let inside = runs.join(name);
        let path = if inside.is_dir() { inside } else { PathBuf::from(name) };
        if !name.is_empty() && path.is_dir() {
            return RunFolder::open(&path);
        }
        let latest = newest(runs);
        let known =
            if latest.is_empty() { "there are none".to_owned() } else { format!("latest: {}", latest.join(", ")) };
        Err(RecordError::NotFound(format!("there is no run `{}`; {known}", crate::error::short(Path::new(name)))))
    }
}

/// Names of the newest three runs.
fn newest(runs: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(runs) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_by(|a, b| b.cmp(a));
    names.truncate(3);
    names
}
