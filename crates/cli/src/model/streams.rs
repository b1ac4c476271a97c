//! Stream tests of a tree of models, as cases of `test`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use anabranch_language::diagnostic::Problem;
use anabranch_language::library::FileId;
use anabranch_language::stream::{Outcome, StreamResult, run_stream, streams};
use anabranch_language::syntax::ast::Stream;
use anabranch_language::{Code, Diagnostic, Library, Units};
use anabranch_program::Coverage;
use serde_json::{Value, json};

use super::files::{Given, is_text, shown};
use super::told;
use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::screen::Paint;
use crate::suite::case::{Case, Result as Ended};
use crate::usage::WallClock;

/// What came of all stream tests.
#[derive(Debug, Default)]
pub struct Streams {
    /// One case per stream.
    pub cases: Vec<Case>,
    /// Components with a failing test, by their full names.
    failing: BTreeSet<String>,
    /// Components that took part in a test, and how many there are.
    components: (usize, usize),
    /// Components that took part in none.
    untested: Vec<String>,
    /// Outcomes of decisions that were seen, and how many there are in what was run.
    branches: (usize, usize),
}

impl Streams {
    /// Runs the stream tests below paths: folders, or single streams.
    pub fn run(
        paths: &[PathBuf],
        given: &Given,
        wanted: &dyn Fn(&str) -> bool,
        threads: usize,
    ) -> Result<Self, Failure> {
        let mut all = Self::default();
        for path in paths.iter().filter(|path| path.is_dir() || is_text(path)) {
            let library = if path.is_dir() { given.open(path)? } else { given.open_file(path)?.0 };
            let only = (!path.is_dir()).then(|| std::fs::canonicalize(path).ok()).flatten();
            all.of_library(&library, given, only.as_ref(), wanted, threads);
        }
        Ok(all)
    }

    /// Whether there were models or streams at all.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    fn of_library(
        &mut self,
        library: &Library,
        given: &Given,
        only: Option<&PathBuf>,
        wanted: &dyn Fn(&str) -> bool,
        threads: usize,
    ) {
        let chosen: Vec<(String, FileId, &Stream)> = streams(library)
            .into_iter()
            .filter(|(file, _)| {
                only.is_none_or(|only| std::fs::canonicalize(&library.file(*file).path).is_ok_and(|p| p == *only))
            })
            .map(|(file, stream)| (name_of(library, file, stream), file, stream))
            .filter(|(name, ..)| wanted(name))
            .collect();
        for (id, file) in library.files() {
            let meant = |only: &PathBuf| std::fs::canonicalize(&file.path).is_ok_and(|path| path == *only);
            if only.is_none_or(meant)
                && let Some(case) = unread(library, id, wanted)
            {
                self.cases.push(case);
            }
        }
        let done = in_parallel(chosen.len(), threads, |at| {
            let (name, file, stream) = &chosen[at];
            one(library, given, name, *file, stream)
        });
        let (mut files, mut coverage) = (BTreeSet::new(), BTreeMap::<PathBuf, Coverage>::new());
        for (case, result) in done {
            if case.result != Ended::Passed {
                self.failing.insert(case.details["component"].as_str().unwrap_or_default().to_owned());
            }
            if let Some(result) = result {
                files.extend(result.files.iter().copied());
                let of_component = coverage.entry(result.component_file.unwrap_or_default()).or_default();
                if of_component.decisions.len() == result.coverage.decisions.len() {
                    of_component.add(&result.coverage);
                } else if of_component.decisions.is_empty() {
                    *of_component = result.coverage;
                }
            }
            self.cases.push(case);
        }
        for (name, file, _) in library.components() {
            self.components.1 += 1;
            if files.contains(&file) {
                self.components.0 += 1;
            } else {
                self.untested.push(name.to_owned());
            }
        }
        for (seen, total) in coverage.values().map(Coverage::outcomes) {
            self.branches.0 += seen;
            self.branches.1 += total;
        }
    }

    /// For machines.
    pub fn coverage_json(&self) -> Value {
        json!({
            "components": { "tested": self.components.0, "all": self.components.1, "untested": self.untested },
            "branches": { "seen": self.branches.0, "all": self.branches.1 },
        })
    }

    /// Components with a failing test.
    pub fn failing_json(&self) -> Value {
        json!(self.failing)
    }

    /// For people: how much was tested, and which components fail.
    pub fn summary(&self, paint: &Paint) -> String {
        if self.is_empty() {
            return String::new();
        }
        let share = |(part, all): (usize, usize)| format!("{part} of {all}");
        let mut out = format!(
            "coverage: {} components, {} outcomes of decisions\n",
            share(self.components),
            share(self.branches)
        );
        if !self.failing.is_empty() {
            let names: Vec<&str> = self.failing.iter().map(String::as_str).collect();
            out += &format!("{} {}\n", paint.red("failing components:"), escape(&names.join(", ")));
        }
        out
    }
}

/// A stream is called by its file; by its own name too where the file is called otherwise.
fn name_of(library: &Library, file: FileId, stream: &Stream) -> String {
    let path = &library.file(file).path;
    let name = shown(path);
    let alone = streams_in(library, file) == 1;
    if alone { name } else { format!("{name}#{}", stream.name.text) }
}

fn streams_in(library: &Library, file: FileId) -> usize {
    use anabranch_language::syntax::ast::Item;
    library.file(file).parsed.file.items.iter().filter(|item| matches!(item, Item::Stream(_))).count()
}

/// A file of streams in which there is none, or a file or folder that cannot be read: what is not run must not look fine.
fn unread(library: &Library, id: FileId, wanted: &dyn Fn(&str) -> bool) -> Option<Case> {
    let file = library.file(id);
    let refused = file.parsed.problems.iter().any(|problem| problem.code == Code::Unreadable);
    let of_streams = file.path.extension().is_some_and(|ending| ending == "stream");
    let name = shown(&file.path);
    if !(refused || of_streams && streams_in(library, id) == 0) || !wanted(&name) {
        return None;
    }
    let mut told: Vec<Diagnostic> =
        file.parsed.problems.iter().map(|problem| library.located(id, problem.clone())).collect();
    if told.is_empty() {
        let problem = Problem::error(Code::Expected, Default::default(), "there is no stream in this file");
        told.push(library.located(id, problem.help("write `stream Name for Component { … }`")));
    }
    let result = StreamResult {
        stream: file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        file: file.path.clone(),
        outcome: Outcome::CannotRun(told),
        ..StreamResult::default()
    };
    Some(case(library, &name, &result, 0.0))
}

/// Does all of them on some threads; results stay in order.
fn in_parallel<T: Send>(count: usize, threads: usize, one: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = if threads == 0 { std::thread::available_parallelism().map_or(1, Into::into) } else { threads };
    let (next, one) = (AtomicUsize::new(0), &one);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.clamp(1, count.max(1)))
            .map(|_| {
                let next = &next;
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= count {
                            return mine;
                        }
                        mine.push((at, one(at)));
                    }
                })
            })
            .collect();
        let joined =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|bug| std::panic::resume_unwind(bug)));
        joined.flatten().collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn one(library: &Library, given: &Given, name: &str, file: FileId, stream: &Stream) -> (Case, Option<StreamResult>) {
    if interrupt::is_asked() {
        return (Case::not_run(name), None);
    }
    let clock = WallClock::start();
    // A stream compares numbers: where units do not go together they go on as they are, and that is told.
    let result = run_stream(library, file, stream, None, &given.options(Units::Warn));
    let seconds = clock.seconds();
    (case(library, name, &result, seconds), Some(result))
}

fn case(library: &Library, name: &str, result: &StreamResult, seconds: f64) -> Case {
    let mut details = json!({
        "stream": result.stream,
        "file": name.split('#').next().unwrap_or(name),
        "component": result.component,
        "component_file": result.component_file.as_ref().map(|path| shown(path)),
        "passed": result.passed(),
        "ticks": result.ticks,
        "checks": result.checks,
        "tick": Value::Null,
        "port": Value::Null,
        "reason": Value::Null,
        "diagnostics": [],
        "notes": told::to_json(library, &result.notes),
        "branches": { "seen": result.branches.0, "all": result.branches.1 },
    });
    let (ended, word, message, exit) = match &result.outcome {
        Outcome::Passed if result.checks == 0 => {
            let message = "nothing was compared: the stream has no value for an out-port".to_owned();
            details["passed"] = json!(false);
            details["reason"] = json!(message);
            (Ended::Error, "cannot run", message, Exit::BadInput)
        }
        Outcome::Passed => {
            let lenient = [Code::UnitMismatch, Code::StreamValue, Code::StreamName];
            let note = result.notes.iter().find(|note| lenient.contains(&note.code));
            let note = note.map_or(String::new(), |note| format!("; {}: {}", note.code, note.message));
            let message = format!("{} ticks, {} checks{note}", result.ticks, result.checks);
            (Ended::Passed, "passed", message, Exit::Done)
        }
        Outcome::Failed(failure) => {
            details["tick"] = json!(failure.tick);
            details["port"] = json!(failure.port);
            let port = if failure.port.is_empty() { String::new() } else { format!(" {}", failure.port) };
            let message = format!("tick {}{port}: {}", failure.tick, failure.message);
            details["reason"] = json!(failure.message);
            (Ended::Failed, "failed", message, Exit::Findings)
        }
        Outcome::CannotRun(told) => {
            let errors: Vec<&Diagnostic> = told.iter().filter(|d| d.is_error()).collect();
            let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
            details["reason"] =
                json!(errors.first().map_or_else(String::new, |d| format!("{}: {}", d.code, d.message)));
            details["diagnostics"] = told::to_json(library, told);
            (Ended::Error, "cannot run", all.join("\n"), Exit::BadInput)
        }
    };
    Case {
        name: name.to_owned(),
        result: ended,
        word: word.to_owned(),
        message,
        again: String::new(),
        seconds,
        exit,
        failure: None,
        details,
    }
}
