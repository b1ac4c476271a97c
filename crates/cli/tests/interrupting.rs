//! Ctrl-C while many scenarios are explored: what is finished is kept, the one in hand is saved, nothing is left behind.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::common::Project;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Three scenarios: a quick one, one that takes long, and one that is never reached.
fn project() -> Project {
    let project = Project::new();
    std::fs::create_dir(project.file("scenarios")).unwrap();
    let long = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/narrow-passage.toml");
    let pull = project.read("pull.toml");
    project.write("scenarios/a.toml", &pull);
    project.write("scenarios/b.toml", &std::fs::read_to_string(long).unwrap());
    project.write("scenarios/c.toml", &pull.replace("\"pull\"", "\"never\""));
    project
}

fn next_line(lines: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
}

/// Runs until the long scenario has whole levels, interrupts, and gives the last object. The first event is that of the
/// quick scenario.
fn interrupted(project: &Project, arguments: &[&str]) -> (Option<i32>, Value) {
    let arguments = [arguments, &["--format", "jsonl", "-q"]].concat();
    let mut command = project.command(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let first = next_line(&mut lines);
    assert!(["case", "scenario"].contains(&first["event"].as_str().unwrap()), "{first}");
    let is_there = |project: &Project| {
        let last = std::fs::read_link(project.file("runs/last")).unwrap();
        last.to_string_lossy().contains("narrow-passage") && project.file("runs/last/levels/0003.lvl").exists()
    };
    let (_keep, timer) = mpsc::channel::<()>();
    while !is_there(project) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be interrupted");
        let _ = timer.recv_timeout(Duration::from_millis(5));
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let mut last = Value::Null;
    for line in lines.lines() {
        last = serde_json::from_str(&line.unwrap()).unwrap();
    }
    (child.wait().unwrap().code(), last)
}

/// The quick run is whole, the long one says that it was interrupted, and no unfinished file lies about.
fn check_folders(project: &Project) {
    let mut phases = Vec::new();
    for run in std::fs::read_dir(project.file("runs")).unwrap().map(|entry| entry.unwrap()) {
        if run.file_type().unwrap().is_dir() {
            let read = |name: &str| std::fs::read_to_string(run.path().join(name)).unwrap();
            let status: Value = serde_json::from_str(&read("status.json")).unwrap();
            let result: Value = serde_json::from_str(&read("result.json")).unwrap();
            phases.push((result["scenario"].clone(), status["phase"].clone(), result["complete"].clone()));
        }
        assert_eq!(unfinished(&run.path()), 0, "{}", run.path().display());
    }
    phases.sort_by_key(|(name, ..)| name.to_string());
    let expected = [("narrow-passage", "interrupted", false), ("pull", "done", true)];
    assert_eq!(phases, expected.map(|(name, phase, whole)| (name.into(), phase.into(), whole.into())));
}

/// Files that were begun and have no name yet.
fn unfinished(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let one = |path: &Path| {
        let begun = path.file_name().unwrap().to_string_lossy().starts_with(".part-");
        usize::from(begun) + if path.is_symlink() { 0 } else { unfinished(path) }
    };
    entries.map(|entry| one(&entry.unwrap().path())).sum()
}

#[test]
fn interrupted_tests_keep_what_is_finished_and_say_what_was_not_run() {
    let project = project();
    let (code, tested) = interrupted(&project, &["test", "--junit", "out.xml", "--report", "out.html"]);
    assert_eq!((code, &tested["exit"]), (Some(130), &130.into()), "{tested}");
    let results: Vec<&Value> = tested["scenarios"].as_array().unwrap().iter().map(|case| &case["result"]).collect();
    assert_eq!(results, ["failed", "incomplete", "not run"]);
    check_folders(&project);
    let xml = project.read("out.xml");
    assert!(xml.contains("skipped=\"1\"") && xml.contains("errors=\"1\"") && xml.contains("failures=\"1\""), "{xml}");
    // The element of all suites has no such attribute in JUnit, although something was skipped.
    let (_, of_all) = xml.split_once("<testsuites").expect("there is an element of all suites");
    let of_all = of_all.split_once('>').expect("it ends").0;
    assert!(of_all.contains("tests=\"3\"") && !of_all.contains("skipped"), "{xml}");
    assert!(project.read("out.html").contains("<strong>interrupted</strong>"));
    // What was found before is still there to be seen again.
    let again = tested["scenarios"][0]["again"].as_str().unwrap();
    let again: Vec<&str> = again.split(' ').skip(1).collect();
    let ran = project.run(&again);
    assert!(ran.code == 1 && ran.out.contains("no-contact") && ran.err.is_empty(), "{ran:?}");
}

#[test]
fn an_interrupted_suite_keeps_what_is_finished_and_says_what_was_not_run() {
    let project = project();
    let (code, suite) = interrupted(&project, &["explore", "scenarios", "--no-pictures"]);
    assert_eq!((code, &suite["exit"]), (Some(130), &130.into()), "{suite}");
    assert_eq!(
        (&suite["scenarios"][0]["verdict"], suite["scenarios"].as_array().unwrap().len()),
        (&"violated".into(), 2)
    );
    assert_eq!(suite["not_run"], serde_json::json!(["scenarios/c.toml"]));
    check_folders(&project);
    // The one in hand can be gone on with: a small budget ends it again at once.
    let (code, resumed) = project.json(&["explore", "--resume", "--budget", "states=1"]);
    assert!([1, 5].contains(&code) && resumed["complete"] == false, "{resumed}");
}
