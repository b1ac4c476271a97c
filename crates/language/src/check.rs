//! Checking a whole folder of models.

use std::path::Path;

use crate::diagnostic::Diagnostic;
use crate::library::{FileId, Library};
use crate::model::build::{Asked, Model, Options};
use crate::model::env::Report;
use crate::syntax::ast::{Component, GenericKind};

/// Everything that is wrong with the models below a folder, in the order of files and places.
///
/// Every component is built on its own, as far as its parameters have values.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn check(folder: &Path, options: &Options) -> std::io::Result<Vec<Diagnostic>> {
    Ok(check_library(&Library::open(folder)?, options))
}

/// Everything that is wrong with the models of a library.
pub fn check_library(library: &Library, options: &Options) -> Vec<Diagnostic> {
    let mut all = library.reading_problems();
    for (id, _) in library.files() {
        all.extend(library.naming_problems(id));
    }
    let mut report = Report::new(library);
    for (_, file, component) in library.components() {
        structure(component, file, &mut report);
    }
    all.extend(report.finish());
    for (_, file, component) in library.components() {
        if !can_stand_alone(component) || !library.file(file).parsed.problems.is_empty() {
            continue;
        }
        match Model::of(library, file, component, &Asked { generics: &[], args: &[], place: None, options }) {
            Ok(model) => all.extend(model.warnings().iter().cloned()),
            Err(told) => all.extend(told),
        }
    }
    for result in crate::stream::run_all(library) {
        all.extend(result.notes);
        if let crate::Outcome::CannotRun(told) = result.outcome {
            all.extend(told);
        }
    }
    in_order(library, &mut all);
    all
}

/// Everything that is wrong with one file and with what its component uses.
pub fn check_file(library: &Library, file: FileId, options: &Options) -> (Vec<Diagnostic>, Option<Model>) {
    let source = library.file(file);
    let mut all: Vec<Diagnostic> =
        source.parsed.problems.iter().map(|problem| library.located(file, problem.clone())).collect();
    all.extend(library.naming_problems(file));
    let mut model = None;
    if let Some(component) = library.component_in(file) {
        let mut report = Report::new(library);
        structure(component, file, &mut report);
        all.extend(report.finish());
        if can_stand_alone(component) || !options.args.is_empty() {
            match Model::of_file(library, file, options) {
                Ok(built) => {
                    all.extend(built.warnings().iter().cloned());
                    model = Some(built);
                }
                Err(told) => all.extend(told),
            }
        }
    }
    for (_, stream) in crate::stream::streams(library).into_iter().filter(|(at, _)| *at == file) {
        let result = crate::stream::run_stream(library, file, stream, None, options);
        all.extend(result.notes);
        if let crate::Outcome::CannotRun(told) = result.outcome {
            all.extend(told);
        }
    }
    in_order(library, &mut all);
    (all, model)
}

/// By file and place, each once. Files are compared by their number: there can be thousands, with long paths.
fn in_order(library: &Library, all: &mut Vec<Diagnostic>) {
    let mut keyed: Vec<(Option<FileId>, Diagnostic)> =
        std::mem::take(all).into_iter().map(|told| (library.file_at(&told.file), told)).collect();
    keyed.sort_by(|(a_file, a), (b_file, b)| {
        (a_file, a.span, a.code, &a.message).cmp(&(b_file, b.span, b.code, &b.message))
    });
    // What is seen without building a component is seen again when it is built, perhaps with another help.
    keyed.dedup_by(|(a_file, a), (b_file, b)| {
        (a_file, a.span, a.code, &a.message) == (b_file, b.span, b.code, &b.message)
    });
    all.extend(keyed.into_iter().map(|(_, told)| told));
}

/// Structure of a component and of those inside, whether it can be built or not.
fn structure(component: &Component, file: FileId, report: &mut Report<'_>) {
    crate::model::check::component(component, file, report);
    for inner in &component.inner {
        structure(inner, file, report);
    }
}

/// Whether every parameter has a value of its own.
fn can_stand_alone(component: &Component) -> bool {
    let open = |kind: &GenericKind| matches!(kind, GenericKind::Value(_, None));
    !component.interface
        && !component.generics.iter().any(|generic| open(&generic.kind))
        && component.params.iter().all(|param| param.default.is_some())
}
