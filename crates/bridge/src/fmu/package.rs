//! An FMU on disk: unpacked, described, with its binary found.

use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};

use super::archive::{self, ArchiveLimits, DESCRIPTION};
use super::description::{Description, FmiVersion};
use super::error::FmuError;
use super::place::Place;
use super::platform;

/// Longest description.
const DESCRIPTION_BYTES_MAX: u64 = 64 << 20;

/// An FMU whose code has not run yet.
#[derive(Debug)]
pub struct Package {
    description: Description,
    binary: PathBuf,
    folder: PathBuf,
    /// Removed when the package goes; none where somebody else unpacked it.
    _unpacked: Option<Place>,
}

impl Package {
    /// Unpacks a file, or takes a folder that was unpacked before. Nothing of it is run.
    ///
    /// # Errors
    /// When it is no FMU for co-simulation on this machine.
    pub fn open(path: &Path, limits: &ArchiveLimits) -> Result<Self, FmuError> {
        let unpacked = if path.is_dir() { None } else { Some(archive::unpack(path, limits)?) };
        // FMUs hear where their resources are, and may run elsewhere.
        let folder = fs::canonicalize(unpacked.as_ref().map_or(path, Place::path))
            .map_err(|error| FmuError::Archive { path: path.to_owned(), text: error.to_string() })?;
        let description = Description::parse(&text(path, &folder)?)?;
        let binary = platform::binary(&folder, &description.identifier).ok_or_else(|| FmuError::NoBinary {
            wanted: platform::wanted(&description.identifier),
            there: archive::binary_folders(path),
        })?;
        Ok(Self { description, binary, folder, _unpacked: unpacked })
    }
    /// What it says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }
    /// The binary for this machine.
    pub fn binary(&self) -> &Path {
        &self.binary
    }
    /// Where it is unpacked.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
    /// Where its resources are, as its version wants to hear it.
    pub(super) fn resources(&self) -> CString {
        let folder = self.folder.join("resources");
        let folder = folder.to_string_lossy();
        let text = match self.description.version {
            FmiVersion::Two => uri(&folder),
            FmiVersion::Three => format!("{folder}{}", std::path::MAIN_SEPARATOR),
        };
        CString::new(text).unwrap_or_default()
    }
}

fn uri(folder: &str) -> String {
    let mut uri = String::from(if folder.starts_with('/') { "file://" } else { "file:///" });
    for byte in folder.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => {
                uri.push(char::from(byte))
            }
            b'\\' => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The description as text. Old tools write Latin-1, where every byte is its own character.
fn text(path: &Path, folder: &Path) -> Result<String, FmuError> {
    let fail = |text: String| FmuError::Archive { path: path.to_owned(), text };
    let file = folder.join(DESCRIPTION);
    let size = fs::metadata(&file).map_err(|_| fail(format!("there is no {DESCRIPTION} inside")))?.len();
    if size > DESCRIPTION_BYTES_MAX {
        return Err(fail(format!("{DESCRIPTION} has {} MB", size >> 20)));
    }
    let bytes = fs::read(&file).map_err(|error| fail(format!("{DESCRIPTION}: {error}")))?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_become_uris() {
        assert_eq!(uri("/a b/ä"), "file:///a%20b/%C3%A4");
        assert_eq!(uri("C:\\a"), "file:///C:/a");
    }
}
