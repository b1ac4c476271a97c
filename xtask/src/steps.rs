//! What `check`, `test` and `bench` consist of.

use std::num::NonZero;
use std::process::{Command, Stdio};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crate::metadata::{self, cargo};
use crate::runner::{self, Counts, Report};
use crate::{python, rooms, tidy};

const BENCH: &str = "anabranch-bench";
/// Parts that are off unless asked for, because they bring a compiler along.
const FEATURES: &str = "--features=anabranch-cli/wasm";

/// Something outside of this repository that the tests need.
struct Tool {
    name: &'static str,
    /// A command that succeeds when the tool is there.
    probe: &'static [&'static str],
    /// A command that brings it, where we can.
    install: Option<&'static [&'static str]>,
    /// What to do when it is not there and we cannot bring it.
    way_out: &'static str,
}

/// Everything the tests need; a new kind of test adds its tools here.
const TOOLS: [Tool; 5] = [
    Tool {
        name: "cargo",
        probe: &["cargo", "--version"],
        install: None,
        way_out: "install Rust with the version in Cargo.toml or a newer one",
    },
    Tool {
        name: "clang with lld",
        probe: &["sh", "-c", "clang --version && wasm-ld --version"],
        install: Some(&["sh", "-c", "apt-get update && apt-get install --yes clang lld"]),
        way_out: "install clang and lld: tests compile drivers in C to WASM",
    },
    Tool {
        name: "rustfmt",
        probe: &["cargo", "fmt", "--version"],
        install: Some(&["rustup", "component", "add", "rustfmt"]),
        way_out: "add the component rustfmt to your Rust installation",
    },
    Tool {
        name: "clippy",
        probe: &["cargo", "clippy", "--version"],
        install: Some(&["rustup", "component", "add", "clippy"]),
        way_out: "add the component clippy to your Rust installation",
    },
    Tool {
        name: "python3",
        probe: &["python3", "-m", "venv", "--help"],
        install: None,
        way_out: "install Python 3.11 or newer with its module venv",
    },
];

/// One part of a task.
pub struct Step {
    name: &'static str,
    run: fn() -> Report,
    when: When,
}

/// When a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// In its turn.
    InTurn,
    /// Beside those in turn, after others of its kind: it keeps one core busy and little else.
    Beside,
    /// In its turn, when nothing runs beside it any more.
    Alone,
}

impl Step {
    const fn new(name: &'static str, run: fn() -> Report) -> Self {
        Self { name, run, when: When::InTurn }
    }
    const fn beside(name: &'static str, run: fn() -> Report) -> Self {
        Self { name, run, when: When::Beside }
    }
    const fn alone(name: &'static str, run: fn() -> Report) -> Self {
        Self { name, run, when: When::Alone }
    }
    /// Runs it, and says how long that took.
    fn done(&self) -> Done {
        eprintln!("── {}", self.name);
        let begun = now();
        let report = (self.run)();
        if let Some(problem) = &report.problem {
            eprintln!("{problem}");
        }
        Done { name: self.name, report, took: begun.elapsed() }
    }
}

/// A step that was run.
struct Done {
    name: &'static str,
    report: Report,
    took: Duration,
}

/// The steps of `cargo xtask check`, the cheap ones first.
pub fn check() -> Vec<Step> {
    vec![
        Step::new("tidy", || said(tidy::check_workspace())),
        Step::new("rooms", || said(rooms::check_workspace())),
        Step::new("fmt", || runner::run(cargo().args(["fmt", "--all", "--check"]))),
        Step::new("clippy", clippy),
        Step::alone("tests", all_tests),
        Step::new("doctests", doctests),
    ]
}

/// The steps of `cargo xtask test`. What is built with optimisation is what must not differ by it, and what takes a fast
/// build: linking the whole program once more would cost minutes and show nothing new. The tests in Python come after
/// those in Rust, which build the program they talk to.
pub fn test() -> Vec<Step> {
    let mut steps = vec![Step::new("tools", tools)];
    let [packages, types, tests] = python_steps();
    steps.extend([packages, types]);
    steps.extend(check());
    steps.extend([tests, Step::new("golden and verdicts, release", truth_in_release)]);
    steps
}

/// The steps of `cargo xtask python`.
pub fn python() -> Vec<Step> {
    python_steps().into()
}

fn python_steps() -> [Step; 3] {
    [
        Step::beside("python packages", python::prepare),
        Step::beside("python types", python::types),
        Step::beside("python tests", python::tests),
    ]
}

/// Runs every step, says how long each took, and closes with one line.
pub fn run_all(task: &str, steps: Vec<Step>) -> Result<(), String> {
    let start = now();
    let mut counts = Counts::default();
    let mut table = Vec::new();
    let mut failed = Vec::new();
    for Done { name, report, took } in all_done(&steps) {
        counts.add(report.counts);
        let word = if report.problem.is_none() { "ok" } else { "FAILED" };
        table.push(format!("{name:<18}{:>9}  {word}", seconds(took)));
        if report.problem.is_some() {
            failed.push(name);
        }
    }
    println!("\n{}", table.join("\n"));
    let tests = format!("{} tests passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    let took = seconds(start.elapsed());
    if failed.is_empty() {
        println!("{task}: {tests}, in {took}");
        Ok(())
    } else {
        Err(format!("{task}: FAILED in {}; {tests}, in {took}", failed.join(", ")))
    }
}

/// Runs all steps: those beside that follow each other run in that order, while the others go on.
fn all_done(steps: &[Step]) -> Vec<Done> {
    thread::scope(|scope| {
        let mut done = Vec::new();
        let mut beside = None;
        for chain in steps.chunk_by(|a, b| a.when == When::Beside && b.when == When::Beside) {
            match chain[0].when {
                When::Beside => {
                    done.extend(waited_for(&mut beside));
                    beside = Some(scope.spawn(|| chain.iter().map(Step::done).collect()));
                }
                When::InTurn => done.push(chain[0].done()),
                When::Alone => {
                    done.extend(waited_for(&mut beside));
                    done.push(chain[0].done());
                }
            }
        }
        done.extend(waited_for(&mut beside));
        done
    })
}

fn waited_for(beside: &mut Option<ScopedJoinHandle<'_, Vec<Done>>>) -> Vec<Done> {
    beside.take().map_or_else(Vec::new, |chain| chain.join().expect("a step does not panic"))
}

/// Builds release and measures everything, or the one bench named. The link to Python is measured from Python.
pub fn bench(name: Option<&str>) -> Result<(), String> {
    if name == Some(python::BENCH) {
        return python::bench();
    }
    let measured = bench_rust(name);
    if name.is_some() { measured } else { measured.and_then(|()| python::bench()) }
}

fn bench_rust(name: Option<&str>) -> Result<(), String> {
    if !metadata::packages()?.iter().any(|package| package.name == BENCH) {
        return Err(format!("there is no crate `{BENCH}` in this tree, so there is nothing to measure"));
    }
    let status = cargo()
        .args(["run", "--release", "--quiet", "--package", BENCH, "--"])
        .args(name)
        .status()
        .map_err(|error| format!("the bench did not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the bench ended with {status}")) }
}

#[expect(clippy::disallowed_methods, reason = "tasks stand at the edge and say how long they took")]
fn now() -> Instant {
    Instant::now()
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

fn said(outcome: Result<String, String>) -> Report {
    match outcome {
        Ok(line) => {
            println!("{line}");
            Report::default()
        }
        Err(problem) => Report::failed(problem),
    }
}

fn clippy() -> Report {
    runner::run(cargo().args(["clippy", "--workspace", FEATURES, "--all-targets", "--quiet", "--", "-D", "warnings"]))
}

/// Examples hold no tests; that they compile is clippy's to say.
fn all_tests() -> Report {
    runner::run(&mut tests(&["--workspace", FEATURES, "--exclude", BENCH, "--lib", "--bins", "--tests"]))
}

/// With the features of the tests, so that nothing is built twice.
fn doctests() -> Report {
    runner::run(cargo().args(["test", "--workspace", FEATURES, "--doc", "--quiet", "--no-fail-fast"]))
}

/// The test runner with this selection of tests: nextest where it is installed, cargo's own elsewhere.
pub fn tests(selection: &[&str]) -> Command {
    let mut command = cargo();
    if succeeds(&["cargo", "nextest", "--version"]) {
        // Many tests wait for processes they started: twice as many as cores keep the cores busy.
        let threads = 2 * thread::available_parallelism().map_or(1, NonZero::get);
        command.args(["nextest", "run", "--no-fail-fast", "--no-tests=warn", &format!("--test-threads={threads}")]);
    } else {
        command.args(["test", "--no-fail-fast"]);
    }
    command.args(selection);
    command
}

/// The golden digests of the debug tests once more: optimisation must not change a bit. And the verdicts against the
/// truth and the causes of findings, which take a fast build.
fn truth_in_release() -> Report {
    let packages = ["--package", "anabranch-scenario", "--test", "closed_loop"];
    let families = ["--package", "anabranch-explore", "--test", "explorer"];
    let chosen = ["--", "golden::", "verdicts::", "causes::", "families::"];
    runner::run(tests(&["--release"]).args(packages).args(families).args(chosen))
}

fn tools() -> Report {
    for tool in &TOOLS {
        let there =
            succeeds(tool.probe) || tool.install.is_some_and(|install| succeeds(install) && succeeds(tool.probe));
        if !there {
            return Report::failed(format!("{} is missing: {}", tool.name, tool.way_out));
        }
    }
    println!("tools: {}", TOOLS.map(|tool| tool.name).join(", "));
    Report::default()
}

fn succeeds(words: &[&str]) -> bool {
    let mut command = if words[0] == "cargo" { cargo() } else { Command::new(words[0]) };
    let status = command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_contains_every_step_of_check() {
        let names = |steps: Vec<Step>| steps.iter().map(|step| step.name).collect::<Vec<_>>();
        let test = names(test());
        assert!(names(check()).iter().all(|name| test.contains(name)), "{test:?}");
    }

    #[test]
    fn every_failed_step_is_named_and_none_hides_another() {
        let steps = vec![
            Step::new("first", || Report::failed("broken".to_owned())),
            Step::beside("second", || Report { counts: Counts { passed: 1, failed: 0, skipped: 0 }, problem: None }),
            Step::beside("beside", || Report::failed("broken beside".to_owned())),
            Step::alone("third", || Report::failed("broken too".to_owned())),
        ];
        let message = run_all("check", steps).unwrap_err();
        assert!(message.starts_with("check: FAILED in first, beside, third; 1 tests passed, 0 failed"), "{message}");
    }
}
