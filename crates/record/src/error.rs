//! What can go wrong with the files of a run.

use std::io;
use std::path::Path;

/// A file of a run could not be written, read or trusted.
///
/// Files are named by their last two path parts, so that a message can be shown to anybody.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The system refused.
    #[error("cannot {what} `{file}`: {source}")]
    Io {
        /// What was tried: `write`, `read`.
        what: &'static str,
        /// The end of the file's path.
        file: String,
        /// Why the system refused.
        source: io::Error,
    },
    /// The bytes are not what was once written.
    #[error("`{file}` is damaged: {why}. {way_out}")]
    Damaged {
        /// The end of the file's path.
        file: String,
        /// What does not fit.
        why: String,
        /// How to go on.
        way_out: &'static str,
    },
    /// A JSON file does not have the expected form.
    #[error("`{file}` cannot be understood: {why}")]
    Json {
        /// The end of the file's path.
        file: String,
        /// What the parser says.
        why: String,
    },
    /// A run or finding that does not exist.
    #[error("{0}")]
    NotFound(String),
    /// Something of an earlier run is in the way.
    #[error("{0}")]
    Taken(String),
    /// A table that cannot be written or read.
    #[error("the table `{file}` cannot be used: {why}")]
    Table {
        /// The end of the file's path.
        file: String,
        /// What does not fit.
        why: String,
    },
    /// A picture that cannot be drawn.
    #[error("the picture cannot be drawn: {0}")]
    Picture(String),
}

impl RecordError {
    /// For `map_err`: names the file and what was tried.
    pub fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = short(path);
        move |source| Self::Io { what, file, source: without_path(source) }
    }

    /// A level file does not hold what was written.
    pub fn damaged(path: &Path, why: impl Into<String>) -> Self {
        let way_out = "What this run says cannot be trusted; explore again";
        Self::Damaged { file: short(path), why: why.into(), way_out }
    }

    pub(crate) fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> Self {
        let file = short(path);
        move |e| Self::Json { file, why: e.to_string() }
    }
}

/// What the system said, without the path that temporary files add to it: that names the machine, and a file that nobody
/// knows.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((said, _)) if error.raw_os_error().is_none() => io::Error::new(error.kind(), said),
        _ => error,
    }
}

/// The last two parts of a path: enough for a person, nothing about the machine.
pub fn short(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .filter_map(|c| match c {
            std::path::Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        })
        .collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_no_machine() {
        let error = RecordError::damaged(Path::new("/home/someone/runs/levels/0001.lvl"), "its end is missing");
        assert!(error.to_string().starts_with("`levels/0001.lvl` is damaged"));
        assert_eq!(short(Path::new("/")), "");
    }

    #[test]
    fn what_the_system_said_about_a_temporary_file_names_no_machine() {
        let nowhere = Path::new("/nowhere/at/all");
        let refused = tempfile::NamedTempFile::new_in(nowhere).unwrap_err();
        assert!(refused.to_string().contains("/nowhere"), "{refused}");
        let error = RecordError::io("write", &nowhere.join("run.json"))(refused);
        assert!(!error.to_string().contains("/nowhere"), "{error}");
    }
}
