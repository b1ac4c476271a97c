//! Where an FMU is unpacked: a private folder that goes with its owner, or with the next owner if this one is killed.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// How the folders are named, after which comes the number of the owner's process, for people.
const PREFIX: &str = "anabranch-fmu-";
/// Locked by the owner for as long as it lives; the system unlocks it, however the owner ends. An FMU cannot have a file of
/// this name, for only its description, binaries and resources are unpacked.
const LOCK: &str = "owner.lock";
/// The same before it is locked.
const LOCK_GROWING: &str = "owner.new";

/// A folder of this process.
#[derive(Debug)]
pub struct Place {
    // Fields go in this order: what is open cannot be removed everywhere.
    _lock: File,
    folder: TempDir,
}

impl Place {
    /// A new folder; folders whose owners are gone are removed on the way.
    pub fn new() -> io::Result<Self> {
        Self::new_in(&std::env::temp_dir())
    }
    fn new_in(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.prefix(&format!("{PREFIX}{}-", std::process::id())).tempdir_in(parent)?;
        let growing = folder.path().join(LOCK_GROWING);
        let lock = File::create_new(&growing)?;
        lock.lock()?;
        // Under its name the lock is never seen unlocked by those who look for folders without an owner.
        fs::rename(growing, folder.path().join(LOCK))?;
        Ok(Self { _lock: lock, folder })
    }
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes what was left behind by processes that were killed. What cannot be removed belongs to somebody else, or is left
/// to the next one.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        // A link could lead anywhere.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_owner_and_no_sooner() {
        let parent = tempfile::tempdir().expect("a folder");
        let place = Place::new_in(parent.path()).expect("a place");
        let other = Place::new_in(parent.path()).expect("another");
        assert!(place.path().exists() && other.path().exists());
        drop((place, other));
        assert_eq!(fs::read_dir(parent.path()).expect("there").count(), 0);
    }

    #[test]
    fn what_a_killed_owner_left_is_removed_by_the_next_one_and_nothing_else_is() {
        let parent = tempfile::tempdir().expect("a folder");
        let Place { _lock, folder } = Place::new_in(parent.path()).expect("a place");
        let left = folder.keep();
        fs::write(left.join("modelDescription.xml"), "x").expect("written");
        let unlocked = parent.path().join(format!("{PREFIX}0-being-made"));
        fs::create_dir(&unlocked).expect("made");
        let next = Place::new_in(parent.path()).expect("the next one");
        assert!(left.exists(), "its owner lives");
        drop((_lock, next));
        let _next = Place::new_in(parent.path()).expect("one more");
        assert!(!left.exists(), "its owner is gone");
        assert!(unlocked.exists(), "its owner may be about to lock it");
    }
}
