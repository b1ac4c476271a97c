//! Stream tests: what goes in at each tick, and what must come out (S2-48, S2-49).

mod bind;
mod condition;
mod open;
mod run;
mod value;

use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::library::{FileId, Library};
use crate::model::build::Options;
use crate::syntax::ast::{Component, Item, Stream};

/// How a stream test ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Outcome {
    /// Everything came out as it should.
    #[default]
    Passed,
    /// Something else came out.
    Failed(Failure),
    /// It could not be run, for these reasons.
    CannotRun(Vec<Diagnostic>),
}

/// What came out wrong first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The tick, from 1.
    pub tick: usize,
    /// The port.
    pub port: String,
    /// What was expected and what came out, in SI.
    pub message: String,
}

/// A stream test and what came of it.
#[derive(Clone, Debug, Default)]
pub struct StreamResult {
    /// The stream.
    pub stream: String,
    /// Its file.
    pub file: PathBuf,
    /// The component, by its full name if it was found.
    pub component: String,
    /// The file of the component, if it was found.
    pub component_file: Option<PathBuf>,
    /// How it ended.
    pub outcome: Outcome,
    /// How many ticks were run.
    pub ticks: usize,
    /// How many values were compared.
    pub checks: usize,
    /// Atomic components that ran: full name of the instance, and its component.
    pub used: Vec<(String, String)>,
    /// Files of all components that took part.
    pub files: Vec<FileId>,
    /// How often each step ran and each decision went either way.
    pub coverage: anabranch_program::Coverage,
    /// Outcomes of decisions that were seen, and how many there are.
    pub branches: (usize, usize),
    /// What may not be meant.
    pub notes: Vec<Diagnostic>,
}

impl StreamResult {
    /// Whether it passed.
    pub fn passed(&self) -> bool {
        self.outcome == Outcome::Passed
    }
}

/// Runs every stream test below a folder.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn run_stream_tests(folder: &Path) -> std::io::Result<Vec<StreamResult>> {
    let library = Library::open(folder)?;
    Ok(run_all(&library))
}

/// Runs every stream test of a library.
pub fn run_all(library: &Library) -> Vec<StreamResult> {
    let one = |(id, stream)| run_stream(library, id, stream, None, &Options::default());
    streams(library).into_iter().map(one).collect()
}

/// Every stream test of a library with its file, in order.
pub fn streams(library: &Library) -> Vec<(FileId, &Stream)> {
    let streams = library.files().flat_map(|(id, file)| {
        file.parsed.file.items.iter().filter_map(move |item| match item {
            Item::Stream(stream) => Some((id, stream)),
            _ => None,
        })
    });
    streams.collect()
}

/// Runs one stream test; against another component than it names, if one is given.
pub fn run_stream(
    library: &Library,
    file: FileId,
    stream: &Stream,
    against: Option<(FileId, &Component)>,
    options: &Options,
) -> StreamResult {
    run::run(library, file, stream, against, options)
}
