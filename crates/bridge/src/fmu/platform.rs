//! Where the binary for this machine is inside an FMU.

use std::path::{Path, PathBuf};

/// Names of this machine: of FMI 2, then of FMI 3. Some tools write either in both versions.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub const FOLDERS: [&str; 2] = ["linux64", "x86_64-linux"];
/// Names of this machine.
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
pub const FOLDERS: [&str; 2] = ["aarch64-linux", "linuxaarch64"];
/// Names of this machine.
#[cfg(all(target_os = "macos", target_arch = "x86_64"))]
pub const FOLDERS: [&str; 2] = ["darwin64", "x86_64-darwin"];
/// Names of this machine.
#[cfg(all(target_os = "macos", target_arch = "aarch64"))]
pub const FOLDERS: [&str; 2] = ["aarch64-darwin", "darwin64"];
/// Names of this machine.
#[cfg(target_os = "windows")]
pub const FOLDERS: [&str; 2] = ["win64", "x86_64-windows"];

/// The binary of a model in an unpacked FMU.
pub fn binary(folder: &Path, identifier: &str) -> Option<PathBuf> {
    let file = format!("{identifier}{}", std::env::consts::DLL_SUFFIX);
    FOLDERS.iter().map(|name| folder.join("binaries").join(name).join(&file)).find(|path| path.is_file())
}

/// What [`binary`] looks for, for people.
pub fn wanted(identifier: &str) -> String {
    let suffix = std::env::consts::DLL_SUFFIX;
    format!("binaries/{}/{identifier}{suffix} (or binaries/{}/…)", FOLDERS[0], FOLDERS[1])
}
