//! Where the files of cars and components are.

use std::path::{Path, PathBuf};

use anabranch_language::diagnostic::Problem;
use anabranch_language::syntax::assembly::{Assembly, Text};

use super::page::wrong;

/// Folders that are looked through below the one of a simulation.
const DEPTH_MAX: usize = 20;

/// Reads a file of cars or components; an editor has texts that are not on the disk yet.
pub type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// The folder of a simulation, and what it imports.
pub(super) struct Garage<'a> {
    pub(super) folder: &'a Path,
    pub(super) read: Read<'a>,
    /// Imported cars: name and file.
    imported: Vec<(String, PathBuf)>,
    /// Folders of which all cars are imported.
    folders: Vec<PathBuf>,
}

impl<'a> Garage<'a> {
    /// Looks for what a simulation imports, from its own folder and from the one in which its package begins.
    pub(super) fn of(folder: &'a Path, simulation: &Assembly, read: Read<'a>) -> Result<Self, Problem> {
        let mut root = folder;
        let depth = simulation.package.as_ref().map_or(0, |package| package.text.split('.').count());
        for _ in 0..depth {
            root = root.parent().unwrap_or(root);
        }
        let mut garage = Self { folder, read, imported: Vec::new(), folders: Vec::new() };
        for import in &simulation.imports {
            let below: PathBuf = import.text.trim_end_matches(".*").split('.').collect();
            let found = |path: &Path| {
                let below = path.join(&below);
                if import.text.ends_with(".*") { below.is_dir() } else { below.with_extension("car").is_file() }
            };
            let Some(from) = [folder, root].into_iter().find(|path| found(path)) else {
                let message = format!("`{}` is imported, and there is no such car", import.text);
                let help =
                    format!("add {}.car below the folder of the simulation, or leave the import out", below.display());
                return Err(wrong(import, message, help));
            };
            if import.text.ends_with(".*") {
                garage.folders.push(from.join(below));
            } else {
                let name = import.text.rsplit('.').next().unwrap_or("").to_owned();
                garage.imported.push((name, from.join(below).with_extension("car")));
            }
        }
        Ok(garage)
    }

    /// One that imports nothing.
    pub(super) fn alone(folder: &'a Path, read: Read<'a>) -> Self {
        Self { folder, read, imported: Vec::new(), folders: Vec::new() }
    }

    /// The file of a car.
    pub(super) fn car(&self, name: &Text) -> Option<PathBuf> {
        if let Some((_, path)) = self.imported.iter().find(|(known, _)| *known == name.text) {
            return Some(path.clone());
        }
        let folders = std::iter::once(self.folder).chain(self.folders.iter().map(PathBuf::as_path));
        folders.map(|folder| folder.join(format!("{}.car", name.text))).find(|path| path.is_file())
    }

    /// The file of a component, by its name, anywhere below the folder; the first in the order of paths.
    pub(super) fn component(&self, name: &Text) -> Result<String, Problem> {
        let short = name.text.rsplit('.').next().unwrap_or("");
        let mut waiting = vec![(self.folder.to_owned(), 0)];
        let mut found: Vec<PathBuf> = Vec::new();
        while let Some((at, depth)) = waiting.pop() {
            let entries = std::fs::read_dir(if at.as_os_str().is_empty() { Path::new(".") } else { &at });
            for path in entries.into_iter().flatten().flatten().map(|entry| entry.path()) {
                let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
                if path.is_dir() && !hidden && depth < DEPTH_MAX {
                    waiting.push((path, depth + 1));
                } else if path.file_name().is_some_and(|file| file == format!("{short}.emam").as_str()) {
                    found.push(path);
                }
            }
        }
        found.sort();
        let Some(first) = found.first() else {
            let message = format!("there is no component `{}` below the folder of the simulation", name.text);
            return Err(wrong(name, message, format!("add {short}.emam, or correct the name")));
        };
        let root = if self.folder.as_os_str().is_empty() { Path::new(".") } else { self.folder };
        Ok(first.strip_prefix(root).unwrap_or(first).display().to_string())
    }
}
