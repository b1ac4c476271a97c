//! What names mean while a component is built, and what went wrong so far.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::ty::Ty;
use crate::diagnostic::{Code, Diagnostic, Problem, Severity};
use crate::library::{FileId, Library};
use crate::syntax::Span;
use crate::syntax::ast::Component;

/// A value that is known when the model is built.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Its type.
    pub ty: Ty,
    /// Its numbers, row by row, in SI.
    pub values: Vec<f64>,
}

impl Known {
    /// One real number.
    pub fn number(value: f64) -> Self {
        Self { ty: Ty::real(), values: vec![value] }
    }
}

/// Generic parameters and configuration parameters of a component that is being built.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// Values by name.
    pub values: BTreeMap<String, Known>,
    /// Types by name.
    pub types: BTreeMap<String, Ty>,
}

/// A component declaration and what stands around it.
#[derive(Clone, Debug)]
pub struct Place<'l> {
    /// The file.
    pub file: FileId,
    /// The component.
    pub component: &'l Component,
    /// The component around it, if it is an inner one, with its environment.
    pub outer: Option<Rc<(Place<'l>, Env)>>,
}

/// What happens where units do not go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// It is an error.
    #[default]
    Strict,
    /// It is a warning, and numbers go on as they are: what tools do that drop units.
    Warn,
}

/// Everything that is wrong, each once.
#[derive(Debug)]
pub struct Report<'l> {
    /// The library, for places.
    pub library: &'l Library,
    /// Whether units that do not go together are errors.
    pub units: Units,
    told: Vec<Diagnostic>,
    seen: BTreeSet<(FileId, Span, Code)>,
}

impl<'l> Report<'l> {
    /// Nothing wrong yet.
    pub fn new(library: &'l Library) -> Self {
        Self { library, units: Units::Strict, told: Vec::new(), seen: BTreeSet::new() }
    }

    /// Tells a problem, unless it was told at the same place.
    pub fn tell(&mut self, file: FileId, problem: Problem) {
        if self.seen.insert((file, problem.span, problem.code)) {
            let located = self.library.located(file, problem);
            self.told.push(located);
        }
    }

    /// Tells that units do not go together. Returns whether one can go on.
    pub fn units_differ(&mut self, file: FileId, mut problem: Problem) -> bool {
        let goes_on = self.units == Units::Warn;
        if goes_on {
            problem.severity = Severity::Warning;
        }
        self.tell(file, problem);
        goes_on
    }

    /// Adds the mistakes of reading a file.
    pub fn reading(&mut self, file: FileId) {
        for problem in &self.library.file(file).parsed.problems {
            self.tell(file, problem.clone());
        }
    }

    /// Whether there is an error among them.
    pub fn failed(&self) -> bool {
        self.told.iter().any(Diagnostic::is_error)
    }

    /// All, in the order of files and places.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        let library = self.library;
        self.told.sort_by_cached_key(|told| (library.file_at(&told.file), told.span, told.code));
        self.told
    }
}
