//! Findings that a project keeps: small files in a folder that is committed.

use std::path::{Path, PathBuf};

use super::Finding;
use crate::error::RecordError;
use crate::publish::{publish, slug};

/// Most findings of one name; whoever keeps more has another problem.
const SAME_NAME_MAX: u32 = 10_000;

/// Where a finding was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its file.
    pub path: PathBuf,
    /// `false` if the folder had this finding already.
    pub is_new: bool,
}

/// Writes a finding to a folder of kept findings, under a name that says what happens in which scenario. The same
/// finding is kept once, and none is ever written over another.
///
/// # Errors
/// When the folder cannot be read or written.
pub fn keep(folder: &Path, finding: &Finding) -> Result<Kept, RecordError> {
    std::fs::create_dir_all(folder).map_err(RecordError::io("make", folder))?;
    let text = finding.to_toml();
    let mine = essence(finding);
    for path in files(folder)? {
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        if Finding::from_toml(&there).is_ok_and(|other| essence(&other) == mine) {
            // The same mishap; what is known by now about which errors matter is worth writing down.
            if there != text && finding.errors.iter().any(|run| run.matters.is_some()) {
                publish(&path, text.as_bytes())?;
            }
            return Ok(Kept { path, is_new: false });
        }
    }
    let what = if finding.group.is_empty() { &finding.requirement } else { &finding.group };
    let base = format!("{}-{}", slug(&finding.scenario), slug(what));
    for attempt in 1..=SAME_NAME_MAX {
        let name = if attempt == 1 { format!("{base}.toml") } else { format!("{base}-{attempt}.toml") };
        let path = folder.join(name);
        if !path.exists() {
            publish(&path, text.as_bytes())?;
            return Ok(Kept { path, is_new: true });
        }
    }
    Err(RecordError::Taken(format!("there are {SAME_NAME_MAX} findings named `{base}`; remove some")))
}

/// The file without what is only known about it: which errors matter, and where the scenario lay.
fn essence(finding: &Finding) -> String {
    let mut finding = finding.clone();
    finding.scenario_file.clear();
    let mut runs: Vec<super::ErrorRun> = Vec::new();
    for run in finding.errors {
        match runs.last_mut() {
            Some(last) if last.modes == run.modes => last.segments += run.segments,
            _ => runs.push(super::ErrorRun { matters: None, line: 0, ..run }),
        }
    }
    finding.errors = runs;
    finding.to_toml()
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(RecordError::io("read", folder))? {
        let path = entry.map_err(RecordError::io("read", folder))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::Digest;

    fn finding(tick: u64) -> Finding {
        let mut finding = Finding::new("pull", Digest::of(b"text"), 1.0);
        finding.group = "no-contact left-rear".to_owned();
        finding.requirement = "no-contact".to_owned();
        finding.tick = tick;
        finding
    }

    #[test]
    fn a_finding_is_kept_once_and_never_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let first = keep(folder.path(), &finding(1)).unwrap();
        assert!(first.is_new && first.path.ends_with("pull-no-contact-left-rear.toml"), "{first:?}");
        let again = keep(folder.path(), &Finding { scenario_file: "elsewhere.toml".to_owned(), ..finding(1) }).unwrap();
        assert_eq!(again, Kept { is_new: false, ..first.clone() });
        let other = keep(folder.path(), &finding(2)).unwrap();
        assert!(other.is_new && other.path.ends_with("pull-no-contact-left-rear-2.toml"), "{other:?}");
        let read = |kept: &Kept| Finding::from_toml(&std::fs::read_to_string(&kept.path).unwrap()).unwrap().tick;
        assert_eq!((read(&first), read(&other)), (1, 2));
    }
}
