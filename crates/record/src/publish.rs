//! A file appears whole or not at all.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use crate::error::RecordError;

/// How the names of unfinished files begin; left behind only by a killed process.
pub const UNFINISHED: &str = ".part-";

/// Writes a file beside its final place, makes it durable and renames it, so that a reader sees the old or the new
/// content and never a mixture, also after a power cut.
///
/// # Errors
/// When the folder cannot be written.
pub fn publish(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let mut file = begin(path)?;
    file.write_all(bytes).map_err(RecordError::io("write", path))?;
    finish(file, path)
}

/// An unfinished file in the folder of `path`.
///
/// # Errors
/// When the folder cannot be written.
pub fn begin(path: &Path) -> Result<NamedTempFile, RecordError> {
    let mut builder = Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As readable as any file the user creates; the umask still applies.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder_of(path)).map_err(RecordError::io("write", path))
}

/// Makes an unfinished file durable and gives it its name.
///
/// # Errors
/// When the disk is full or the name cannot be taken.
pub fn finish(file: NamedTempFile, path: &Path) -> Result<(), RecordError> {
    file.as_file().sync_all().map_err(RecordError::io("write", path))?;
    file.persist(path).map_err(|e| RecordError::io("write", path)(e.error))?;
    sync_folder(folder_of(path)).map_err(RecordError::io("write", path))
}

/// Removes what a killed process left unfinished in a folder.
///
/// # Errors
/// When the folder cannot be read.
pub fn sweep(folder: &Path) -> Result<(), RecordError> {
    for entry in std::fs::read_dir(folder).map_err(RecordError::io("read", folder))? {
        let path = entry.map_err(RecordError::io("read", folder))?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED)) {
            std::fs::remove_file(&path).map_err(RecordError::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Lower-case words joined by `-`, for names of folders: `No contact, left rear` becomes `no-contact-left-rear`.
pub fn slug(text: &str) -> String {
    let words: Vec<String> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    if words.is_empty() { "unnamed".to_owned() } else { words.join("-").chars().take(SLUG_MAX).collect() }
}

/// Longest slug: with number, time and suffix it stays below the 255 bytes of common file systems.
const SLUG_MAX: usize = 60;

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The rename itself is durable only once the folder is.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_file_replaces_the_old_one_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("status.json");
        publish(&path, b"old").unwrap();
        publish(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn unfinished_files_are_swept_away() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".part-x"), "half").unwrap();
        std::fs::write(folder.path().join("whole"), "whole").unwrap();
        sweep(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn slugs_are_names_of_folders() {
        assert_eq!(slug("No contact, left/rear"), "no-contact-left-rear");
        assert_eq!(slug("../.."), "unnamed");
    }
}
