//! What `check`, `test` and `bench` consist of.

use std::process::{Command, Stdio};
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
}

/// The steps of `cargo xtask check`, the cheap ones first.
pub fn check() -> Vec<Step> {
    vec![
        Step { name: "tidy", run: || said(tidy::check_workspace()) },
        Step { name: "rooms", run: || said(rooms::check_workspace()) },
        Step { name: "fmt", run: || runner::run(cargo().args(["fmt", "--all", "--check"])) },
        Step { name: "clippy", run: clippy },
        Step { name: "tests", run: all_tests },
        Step { name: "doctests", run: doctests },
    ]
}

/// The steps of `cargo xtask test`. What is built with optimisation is what must not differ by it, and what takes a fast
/// build: linking the whole program once more would cost minutes and show nothing new.
pub fn test() -> Vec<Step> {
    let mut steps = vec![Step { name: "tools", run: tools }];
    steps.extend(python());
    steps.extend(check());
    steps.push(Step { name: "golden and verdicts, release", run: truth_in_release });
    steps
}

/// The steps of `cargo xtask python`. They come before the tests in Rust, which start drivers in Python.
pub fn python() -> Vec<Step> {
    vec![
        Step { name: "python packages", run: python::prepare },
        Step { name: "python types", run: python::types },
        Step { name: "python tests", run: python::tests },
    ]
}

/// Runs every step, says how long each took, and closes with one line.
pub fn run_all(task: &str, steps: Vec<Step>) -> Result<(), String> {
    let start = now();
    let mut counts = Counts::default();
    let mut table = Vec::new();
    let mut failed = Vec::new();
    for step in steps {
        eprintln!("── {}", step.name);
        let begun = now();
        let report = (step.run)();
        counts.add(report.counts);
        let word = if report.problem.is_none() { "ok" } else { "FAILED" };
        table.push(format!("{:<18}{:>9}  {word}", step.name, seconds(begun.elapsed())));
        if let Some(problem) = report.problem {
            eprintln!("{problem}");
            failed.push(step.name);
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
        command.args(["nextest", "run", "--no-fail-fast", "--no-tests=warn"]);
    } else {
        command.args(["test", "--no-fail-fast"]);
    }
    command.args(selection);
    command
}

/// The golden digests of the debug tests once more: optimisation must not change a bit. And the verdicts against the
/// truth, which take a fast build.
fn truth_in_release() -> Report {
    let chosen = ["--package", "anabranch-scenario", "--test", "closed_loop", "--", "golden::", "verdicts::"];
    runner::run(tests(&["--release"]).args(chosen))
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
            Step { name: "first", run: || Report::failed("broken".to_owned()) },
            Step {
                name: "second",
                run: || Report { counts: Counts { passed: 1, failed: 0, skipped: 0 }, problem: None },
            },
            Step { name: "third", run: || Report::failed("broken too".to_owned()) },
        ];
        let message = run_all("check", steps).unwrap_err();
        assert!(message.starts_with("check: FAILED in first, third; 1 tests passed, 0 failed"), "{message}");
    }
}
