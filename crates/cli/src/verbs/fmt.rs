//! `fmt`: one layout for all models.

use std::path::{Path, PathBuf};

use anabranch_language::{Library, format};
use clap::Args;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::model::files::{is_text, shown};
use crate::screen::Screen;

/// Lay out models alike: indentation, and blanks around signs. Words, lines and comments stay.
#[derive(Args, Debug)]
pub struct Fmt {
    /// Model files, or folders with models; this folder if left out.
    #[arg(value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// Change nothing, and end with 1 if something would change.
    #[arg(long)]
    pub check: bool,
}

impl Fmt {
    /// Formats, or tells what would change.
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let here = [PathBuf::from(".")];
        let mut files = Vec::new();
        for path in if self.paths.is_empty() { &here } else { self.paths.as_slice() } {
            if path.is_dir() {
                let library = Library::open(path).map_err(|e| Failure::file("read", path, &e))?;
                files.extend(library.files().map(|(_, file)| file.path.clone()));
            } else if is_text(path) {
                files.push(path.clone());
            } else {
                let message = format!("`{}` is no model", path.display());
                return Err(Failure::input(message, "names of models end in .emam, .stream and the like"));
            }
        }
        let mut changed = Vec::new();
        for file in &files {
            if self.one(file)? {
                changed.push(shown(file));
            }
        }
        let machine = json!({ "schema": "anabranch.fmt/1", "files": files.len(), "changed": changed });
        let word = if self.check { "would change" } else { "changed" };
        let lines: String = changed.iter().map(|file| format!("{word} {}\n", crate::escape::escape(file))).collect();
        screen.result(|_| format!("{lines}{} of {} files {word}\n", changed.len(), files.len()), &machine);
        Ok(match (files.is_empty(), self.check && !changed.is_empty()) {
            (true, _) => Exit::Nothing,
            (_, true) => Exit::Findings,
            _ => Exit::Done,
        })
    }

    fn one(&self, file: &Path) -> Result<bool, Failure> {
        let bytes = std::fs::read(file).map_err(|e| Failure::file("read", file, &e))?;
        let Ok(text) = String::from_utf8(bytes) else {
            let message = format!("`{}` is not UTF-8", file.display());
            return Err(Failure::input(message, "store it as UTF-8; nothing of it was changed"));
        };
        let formatted = format(&text);
        let changes = formatted != text;
        if changes && !self.check {
            anabranch_record::publish(file, formatted.as_bytes())?;
        }
        Ok(changes)
    }
}
