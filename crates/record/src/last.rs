//! `runs/last`: which run was the latest.

use std::io;
use std::path::Path;

/// A way to remember the latest run in the folder of runs.
pub trait LastPointer {
    /// Points to the run with this folder name.
    ///
    /// # Errors
    /// When the file system refuses.
    fn set(&self, runs: &Path, name: &str) -> io::Result<()>;
    /// The folder name it points to, if there is one.
    fn get(&self, runs: &Path) -> Option<String>;
    /// Forgets it.
    fn clear(&self, runs: &Path);
}

/// A relative symbolic link `last`.
#[derive(Clone, Copy, Debug)]
pub struct Symlink;

/// A text file `last.txt`, where links need special rights.
#[derive(Clone, Copy, Debug)]
pub struct TextFile;

impl LastPointer for Symlink {
    #[cfg(unix)]
    fn set(&self, runs: &Path, name: &str) -> io::Result<()> {
        // A link cannot be overwritten, but another link can be renamed over it: `last` never disappears.
        let fresh = runs.join(format!("{}last-{}", crate::publish::UNFINISHED, std::process::id()));
        let _ = std::fs::remove_file(&fresh);
        std::os::unix::fs::symlink(name, &fresh)?;
        std::fs::rename(&fresh, runs.join("last")).inspect_err(|_| {
            let _ = std::fs::remove_file(&fresh);
        })
    }
    #[cfg(not(unix))]
    fn set(&self, _runs: &Path, _name: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn get(&self, runs: &Path) -> Option<String> {
        let target = std::fs::read_link(runs.join("last")).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }
    fn clear(&self, runs: &Path) {
        let _ = std::fs::remove_file(runs.join("last"));
    }
}

impl LastPointer for TextFile {
    fn set(&self, runs: &Path, name: &str) -> io::Result<()> {
        crate::publish::publish(&runs.join("last.txt"), format!("{name}\n").as_bytes()).map_err(io::Error::other)
    }
    fn get(&self, runs: &Path) -> Option<String> {
        let text = std::fs::read_to_string(runs.join("last.txt")).ok()?;
        let name = text.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }
    fn clear(&self, runs: &Path) {
        let _ = std::fs::remove_file(runs.join("last.txt"));
    }
}

/// Remembers the latest run: as a link, or as a text where links are not to be had. What was remembered before goes only
/// when the new one is there.
///
/// # Errors
/// When the disk refuses.
pub fn set_last(runs: &Path, name: &str) -> io::Result<()> {
    match Symlink.set(runs, name) {
        Ok(()) => {
            TextFile.clear(runs);
            Ok(())
        }
        Err(refused) if has_no_links(&refused) => {
            TextFile.set(runs, name)?;
            Symlink.clear(runs);
            Ok(())
        }
        Err(refused) => Err(refused),
    }
}

/// Some file systems have no links, and some systems ask for special rights; a full or broken disk is neither.
fn has_no_links(refused: &io::Error) -> bool {
    matches!(refused.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
}

/// Folder name of the latest run, whichever way it was remembered.
pub fn last(runs: &Path) -> Option<String> {
    Symlink.get(runs).or_else(|| TextFile.get(runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_read() {
        let runs = tempfile::tempdir().unwrap();
        assert_eq!(last(runs.path()), None);
        TextFile.set(runs.path(), "a").unwrap();
        assert_eq!(last(runs.path()).as_deref(), Some("a"));
        set_last(runs.path(), "b").unwrap();
        set_last(runs.path(), "c").unwrap();
        assert_eq!(last(runs.path()).as_deref(), Some("c"));
        assert_eq!(std::fs::read_dir(runs.path()).unwrap().count(), 1);
    }
}
