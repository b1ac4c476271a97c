//! `check` over models: everything that is wrong with a tree of them, and the order of execution.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anabranch_language::{Diagnostic, Library, Model, Units, check_file, check_library};
use serde_json::{Value, json};

use super::files::{Given, blame, is_text, shown};
use super::told;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::{Paint, Screen};

/// What was found out about one folder or file of models.
#[derive(Debug)]
pub struct Checked {
    path: PathBuf,
    library: Library,
    told: Vec<Diagnostic>,
    /// Files that were looked at.
    files: Vec<PathBuf>,
    /// The model of a single file.
    model: Option<Model>,
}

impl Checked {
    /// Checks the models of a path; nothing if there are none.
    pub fn of(path: &Path, given: &Given) -> Result<Option<Self>, Failure> {
        if path.is_dir() {
            let library = given.open(path)?;
            if library.files().next().is_none() {
                return Ok(None);
            }
            let told = check_library(&library, &given.options(Units::Strict));
            let files = library.files().map(|(_, file)| file.path.clone()).collect();
            return Ok(Some(Self { path: path.to_owned(), library, told, files, model: None }));
        }
        if !is_text(path) {
            return Ok(None);
        }
        let (library, file) = given.open_file(path)?;
        let options = given.options(Units::Strict);
        let (mut told, model) = check_file(&library, file, &options);
        blame(&library, &options, &given.args, &mut told);
        let files = vec![library.file(file).path.clone()];
        Ok(Some(Self { path: path.to_owned(), library, told, files, model }))
    }

    fn errors(&self) -> usize {
        self.told.iter().filter(|d| d.is_error()).count()
    }

    /// How the program would end with this alone.
    pub fn exit(&self) -> Exit {
        if self.errors() > 0 { Exit::BadInput } else { Exit::Done }
    }

    /// Mistakes for people, on stderr.
    pub fn complaints(&self, screen: &Screen) -> String {
        let report = told::report(&self.library, &self.told);
        let errors = if report.diagnostics.is_empty() { String::new() } else { report.render(screen.err) + "\n" };
        told::warnings(&self.told, Paint(screen.err)) + &errors
    }

    /// One line, and the order if it was asked for.
    pub fn human(&self, paint: &Paint, order: bool) -> String {
        let (errors, warnings) = (self.errors(), self.told.len() - self.errors());
        let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        let word = if errors > 0 { paint.red("bad") } else { paint.green("ok") };
        let size = match &self.model {
            Some(model) => format!("{}, {}", model.name(), count(model.order().len(), "atomic component")),
            None => count(self.files.len(), "model file"),
        };
        let path = crate::escape::escape(&self.path.display().to_string());
        let mut out = format!("{word} {path}: {size}, {}, {}\n", count(errors, "error"), count(warnings, "warning"));
        if let (Some(model), true) = (&self.model, order) {
            out += &model.slist();
        }
        out
    }

    /// One object per file.
    pub fn to_json(&self, order: bool) -> Vec<Value> {
        let mut by_file: BTreeMap<&Path, Vec<Diagnostic>> = BTreeMap::new();
        for d in &self.told {
            by_file.entry(&d.file).or_default().push(d.clone());
        }
        let one = |path: &PathBuf| {
            let told = by_file.get(path.as_path()).map_or(&[][..], Vec::as_slice);
            let ok = !told.iter().any(Diagnostic::is_error);
            json!({ "file": shown(path), "ok": ok, "diagnostics": told::to_json(&self.library, told) })
        };
        // A single file is answered for together with what it uses.
        if self.files.len() == 1 && !self.path.is_dir() {
            let diagnostics = told::to_json(&self.library, &self.told);
            let ok = self.errors() == 0;
            let mut value = json!({ "file": shown(&self.path), "ok": ok, "diagnostics": diagnostics });
            if let Some(model) = &self.model {
                value["model"] = json!(model.name());
                value["instances"] = json!(model.instances());
                value["atomic_components"] = json!(model.order().len());
                if order {
                    let row = |e: &anabranch_language::Executed| json!({ "instance": e.name, "component": e.component, "parameter": e.parameter });
                    value["order"] = model.order().iter().map(row).collect();
                }
            }
            return vec![value];
        }
        self.files.iter().map(one).collect()
    }
}
