//! Answers about simulations and cars, which are no files of the library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anabranch_language::syntax::Span;
use serde_json::{Value, json};

use crate::assembly::{self, Told, is_assembly};
use crate::place::{address_of, byte_at, range};
use crate::server::{ERROR, Server, items, path_in, published};

impl Server<'_> {
    /// The simulation or car that a question is about, with its text.
    pub(crate) fn assembly_in(&self, params: &Value) -> Option<(PathBuf, String)> {
        let path = path_in(params).filter(|path| is_assembly(path))?;
        let text = self.open.get(&path)?.clone();
        Some((path, text))
    }

    /// Mistakes of a simulation or car, and of what it names.
    pub(crate) fn diagnose_assembly(&self, path: &Path) -> Vec<Value> {
        let Some(text) = self.open.get(path).cloned() else { return vec![] };
        let mut by_file: BTreeMap<PathBuf, Vec<Value>> = BTreeMap::from([(path.to_owned(), vec![])]);
        let read = |path: &Path| self.open.get(path).cloned().or_else(|| std::fs::read_to_string(path).ok());
        for told in (self.above.mistakes)(path, &text, &read) {
            let place = PathBuf::from(&told.file);
            match self.open.get(&place) {
                Some(text) => by_file.entry(place.clone()).or_default().push(diagnostic(text, &told)),
                None => by_file.entry(path.to_owned()).or_default().push(elsewhere(&text, &told)),
            }
        }
        by_file.into_iter().map(|(file, told)| published(&file, &told)).collect()
    }

    pub(crate) fn hover_assembly(&mut self, params: &Value) -> Option<Value> {
        let (path, text) = self.assembly_in(params)?;
        let (at, above) = (byte_at(&text, &params["position"]), self.above);
        let found = assembly::meaning(self.library(), &path, &text, at, above)?;
        let contents = json!({ "kind": "markdown", "value": found.text });
        Some(json!({ "contents": contents, "range": range(&text, found.span) }))
    }

    pub(crate) fn definition_assembly(&mut self, params: &Value) -> Option<Value> {
        let (path, text) = self.assembly_in(params)?;
        let (at, above) = (byte_at(&text, &params["position"]), self.above);
        let library = self.library();
        let found = assembly::meaning(library, &path, &text, at, above)?;
        if let Some((file, span)) = found.place {
            let source = library.file(file);
            return Some(json!({ "uri": address_of(&source.path), "range": range(&source.text, span) }));
        }
        let there = path.with_file_name(found.file?);
        there.is_file().then(|| json!({ "uri": address_of(&there), "range": range("", Span::default()) }))
    }

    pub(crate) fn completion_assembly(&mut self, params: &Value) -> Option<Value> {
        let (path, text) = self.assembly_in(params)?;
        let (at, above) = (byte_at(&text, &params["position"]), self.above);
        let all = assembly::completion(self.library(), &path, &text, at, above);
        Some(items(&all.into_iter().map(|(name, kind, detail)| (name, (kind, detail))).collect()))
    }
}

fn diagnostic(text: &str, told: &Told) -> Value {
    let line = text.lines().nth(told.line.saturating_sub(1)).unwrap_or("");
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    let byte = |characters: usize| line.char_indices().nth(characters).map_or(line.len(), |(at, _)| at);
    let from = told.column.saturating_sub(1);
    let span = Span::new(start + byte(from), start + byte(from + told.length));
    let span = if line.is_empty() { Span::default() } else { span };
    json!({
        "range": range(text, span),
        "severity": ERROR,
        "code": told.code,
        "source": "anabranch",
        "message": told.message,
    })
}

/// A mistake of a file that is not open: told where it is named, or at the beginning.
fn elsewhere(text: &str, told: &Told) -> Value {
    let file = Path::new(&told.file);
    let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let at = text.find(&name).filter(|_| !name.is_empty());
    let span = at.map_or_else(Span::default, |at| Span::new(at, at + name.len()));
    let file = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    json!({
        "range": range(text, span),
        "severity": ERROR,
        "code": told.code,
        "source": "anabranch",
        "message": format!("{file}, line {}: {}", told.line, told.message),
    })
}
