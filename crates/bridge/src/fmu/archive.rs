//! An FMU is a zip file from anywhere: unpacked into a private folder, within limits, and nowhere else.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::error::FmuError;
use super::place::Place;
use super::platform;

/// Name of the description inside.
pub const DESCRIPTION: &str = "modelDescription.xml";

/// How much an FMU may unpack to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Bytes in all. The largest of the vendors' cross-check FMUs unpacks to a few dozen megabytes.
    pub bytes_max: u64,
    /// Files in all, whether unpacked or not.
    pub files_max: usize,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self { bytes_max: 1 << 30, files_max: 20_000 }
    }
}

/// Unpacks what is needed to run the FMU here: the description, the binaries of this platform, the resources.
///
/// # Errors
/// When the file cannot be read, is no zip file, is larger than allowed, or wants to write elsewhere.
pub fn unpack(path: &Path, limits: &ArchiveLimits) -> Result<Place, FmuError> {
    let fail = |text: String| FmuError::Archive { path: path.to_owned(), text };
    let file = File::open(path).map_err(|error| fail(error.to_string()))?;
    let mut archive = ZipArchive::new(file).map_err(|error| fail(format!("not a zip file: {error}")))?;
    if archive.len() > limits.files_max {
        return Err(fail(format!("{} files inside, more than {}", archive.len(), limits.files_max)));
    }
    let folder = Place::new().map_err(|error| fail(format!("no folder to unpack into: {error}")))?;
    let mut left = limits.bytes_max;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| fail(format!("entry {index}: {error}")))?;
        let name = entry.name().map_err(|error| fail(format!("entry {index}: {error}")))?.replace('\\', "/");
        let inside = inside(&name).ok_or_else(|| fail(format!("`{name}` leads out of the archive")))?;
        if entry.is_dir() || !wanted(&name) {
            continue;
        }
        let place = folder.path().join(inside);
        let written = write(&mut entry, &place, left).map_err(|error| fail(format!("`{name}`: {error}")))?;
        left = left
            .checked_sub(written)
            .ok_or_else(|| fail(format!("unpacks to more than {} MB (at `{name}`)", limits.bytes_max >> 20)))?;
    }
    Ok(folder)
}

/// Writes an entry as a plain file, whatever it claims to be (links are written as the text they are); one byte more than
/// allowed shows that there is more.
fn write(entry: &mut impl Read, place: &Path, bytes_max: u64) -> io::Result<u64> {
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = File::options().write(true).create_new(true).open(place)?;
    io::copy(&mut entry.take(bytes_max.saturating_add(1)), &mut file)
}

/// The name as a path below the folder; nothing if it leads anywhere else.
fn inside(name: &str) -> Option<PathBuf> {
    let plain = |part: &str| part != ".." && !part.contains([':', '\0']);
    let fits = !name.starts_with('/') && name.split('/').all(plain);
    fits.then(|| name.split('/').filter(|part| !part.is_empty() && *part != ".").collect())
}

/// Documentation, sources and binaries for other machines stay in the archive.
fn wanted(name: &str) -> bool {
    name == DESCRIPTION
        || name.starts_with("resources/")
        || platform::FOLDERS.iter().any(|folder| name.starts_with(&format!("binaries/{folder}/")))
}

/// Folders of binaries an archive has, for people.
pub fn binary_folders(path: &Path) -> Vec<String> {
    let Some(archive) = File::open(path).ok().and_then(|file| ZipArchive::new(file).ok()) else { return Vec::new() };
    let folder = |name: &str| {
        let name = name.replace('\\', "/");
        let (folder, file) = name.strip_prefix("binaries/")?.split_once('/')?;
        (!file.is_empty()).then(|| folder.to_owned())
    };
    let mut folders: Vec<String> = archive.file_names().flatten().filter_map(|name| folder(&name)).collect();
    folders.sort();
    folders.dedup();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_below_the_folder_are_taken() {
        let check = |name: &str, expect: Option<&str>| assert_eq!(inside(name), expect.map(PathBuf::from), "{name}");
        check("binaries/linux64/a.so", Some("binaries/linux64/a.so"));
        check("./resources//a.txt", Some("resources/a.txt"));
        check("../a", None);
        check("resources/../../a", None);
        check("/etc/a", None);
        check("C:/a", None);
        check("a\0b", None);
    }

    #[test]
    fn what_is_no_zip_file_is_told_with_its_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.fmu");
        fs::write(&path, b"hello").expect("written");
        let text = unpack(&path, &ArchiveLimits::default()).expect_err("no zip file").to_string();
        assert!(text.contains("a.fmu") && text.contains("not a zip file"), "{text}");
        let missing = unpack(&folder.path().join("b.fmu"), &ArchiveLimits::default());
        assert!(matches!(missing, Err(FmuError::Archive { .. })));
    }
}
