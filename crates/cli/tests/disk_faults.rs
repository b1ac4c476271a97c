//! Whatever call of a run the disk refuses: the run says so and names the file, or nothing is missing; what was there
//! before stays as it was, and the next run is right.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Project, Ran};
use crate::faults::{Call, Kind, contents};
use serde_json::Value;

/// Each of so many calls fails, unless somebody asks for other doses; 1 is all of them.
const EVERY: usize = 13;
/// Faults that are tried at the same time; each has a project of its own.
const AT_ONCE: usize = 2;

fn every() -> usize {
    std::env::var("ANABRANCH_FAULTS_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(EVERY)
}

/// What a run with faults begins from.
struct Case {
    /// Brings a fresh project to where the faulty command starts.
    prepare: fn() -> Project,
    /// The command.
    arguments: Vec<&'static str>,
    /// What goes on with it, if it began a run.
    go_on: Vec<&'static str>,
    /// Which calls fail.
    concerns: fn(&Call) -> bool,
}

/// How it goes without a fault.
struct Reference {
    code: i32,
    calls: Vec<Call>,
    files: BTreeMap<String, Vec<u8>>,
    digest: Value,
}

fn last(project: &Project) -> PathBuf {
    std::fs::canonicalize(project.file("runs/last")).expect("`runs/last` leads to a run")
}

fn digest(project: &Project) -> Value {
    serde_json::from_str::<Value>(&project.read("runs/last/result.json")).expect("JSON")["digest"].clone()
}

impl Case {
    fn reference(&self) -> Reference {
        let project = (self.prepare)();
        let (ran, calls) = crate::faults::run(&project, &self.arguments, 0, Kind::Full);
        assert!([0, 1, 5].contains(&ran.code), "{ran:?}");
        Reference { code: ran.code, calls, files: contents(&last(&project)), digest: digest(&project) }
    }

    /// Lets the chosen calls fail one after the other, and counts the runs in which one did.
    fn sweep(&self) -> usize {
        let reference = self.reference();
        let chosen: Vec<(usize, Kind)> = Kind::ALL
            .iter()
            .enumerate()
            .flat_map(|(offset, kind)| {
                let concerned = reference.calls.iter().filter(|call| (self.concerns)(call));
                concerned.skip(offset).step_by(every()).map(|call| (call.number, *kind))
            })
            .collect();
        let (next, injected) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some((at, kind)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                        injected.fetch_add(usize::from(self.try_one(*at, *kind, &reference)), Ordering::Relaxed);
                    }
                });
            }
        });
        let (calls, injected) = (reference.calls.len(), injected.into_inner());
        println!("{calls} calls, {} faults tried, {injected} met", chosen.len());
        injected
    }

    /// True if a call really failed; how many calls a run makes depends a little on the time.
    fn try_one(&self, at: usize, kind: Kind, reference: &Reference) -> bool {
        let project = (self.prepare)();
        let earlier = contents(&project.file("earlier"));
        let (ran, calls) = crate::faults::run(&project, &self.arguments, at, kind);
        let place = || format!("{kind:?} at {at}, {:?}: {ran:?}", calls.iter().find(|call| !call.passed));
        assert!(ran.code != 3 && !ran.err.contains("panicked"), "{}", place());
        assert!(!ran.err.contains(project.path().to_str().unwrap()), "{}", place());
        if ran.code == 2 {
            assert_ne!(kind, Kind::Short, "{}", place());
            assert!(names_a_file(&ran, reference) && ran.out.is_empty(), "{}", place());
        } else {
            assert_eq!(ran.code, reference.code, "{}", place());
            assert_same(&contents(&last(&project)), &reference.files, &place());
            assert_eq!(digest(&project), reference.digest, "{}", place());
        }
        assert!(last(&project).join("scenario.json").is_file(), "{}", place());
        assert_eq!(contents(&project.file("earlier")), earlier, "{}", place());
        // The next run is right: it goes on with what is there, or begins anew if nothing is.
        let began = last(&project) != std::fs::canonicalize(project.file("earlier")).unwrap();
        let again = if began { &self.go_on } else { &self.arguments };
        let ran = project.run(again);
        assert_eq!((ran.code, digest(&project)), (reference.code, reference.digest.clone()), "{} {ran:?}", place());
        calls.iter().any(|call| !call.passed)
    }
}

/// A message says what cannot be done with which file of a run.
fn names_a_file(ran: &Ran, reference: &Reference) -> bool {
    let known = |name: &str| {
        let part = name.rsplit('/').next().unwrap_or_default();
        let folders = ["runs", "last", "levels", "findings"];
        folders.contains(&part)
            || part.starts_with("20")
            || reference.files.keys().any(|file| file.split('/').any(|piece| piece == part))
    };
    let told = ran.err.lines().rfind(|line| line.starts_with("error: ") && line.contains("cannot "));
    told.is_some_and(|line| line.split('`').skip(1).step_by(2).any(known))
}

/// The same files, and the same bytes in all that say no time.
fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>, place: &str) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "{place}");
    let timed = ["run.json", "status.json", "result.json", "report.html", "profile.svg", "profile.png"];
    for (name, bytes) in expected {
        assert!(found[name] == *bytes || timed.contains(&name.as_str()), "{name}: {place}");
        assert!(!found[name].is_empty() || bytes.is_empty(), "{name}: {place}");
    }
}

const PULL: [&str; 7] = ["explore", "pull.toml", "-q", "--no-pictures", "--until", "6 s", "-j1"];
const GO_ON: [&str; 3] = ["explore", "--resume", "-q"];

/// A project with a finished run, also reachable as `earlier`.
fn with_an_earlier_run() -> Project {
    let project = Project::new();
    std::fs::create_dir_all(project.file("runs/2026-01-01T00-00-00-pull")).unwrap();
    for (name, bytes) in finished_run() {
        let file = project.file("runs/2026-01-01T00-00-00-pull").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
    for link in ["runs/last", "earlier"] {
        let target = if link == "earlier" { "runs/2026-01-01T00-00-00-pull" } else { "2026-01-01T00-00-00-pull" };
        std::os::unix::fs::symlink(target, project.file(link)).unwrap();
    }
    project
}

/// The files of a finished run, made once.
fn finished_run() -> &'static BTreeMap<String, Vec<u8>> {
    static FILES: std::sync::OnceLock<BTreeMap<String, Vec<u8>>> = std::sync::OnceLock::new();
    FILES.get_or_init(|| {
        let project = Project::new();
        assert_eq!(project.json(&PULL).0, 1);
        contents(&last(&project))
    })
}

/// The same, and a run that a budget ended in the middle.
fn with_a_run_to_go_on_with() -> Project {
    let project = with_an_earlier_run();
    let ran = project.run(&[&PULL[..], &["--budget", "states=30"]].concat());
    assert!([1, 5].contains(&ran.code), "{ran:?}");
    project
}

#[test]
fn a_fault_at_any_call_of_an_exploration_is_told_or_does_no_harm() {
    let case =
        Case { prepare: with_an_earlier_run, arguments: PULL.to_vec(), go_on: GO_ON.to_vec(), concerns: |_| true };
    assert!(case.sweep() >= 10);
}

#[test]
fn a_fault_at_any_call_of_a_resumed_exploration_is_told_or_does_no_harm() {
    let arguments = vec!["explore", "--resume", "-q", "--budget", "states=1000000"];
    let go_on = arguments.clone();
    let case = Case { prepare: with_a_run_to_go_on_with, arguments, go_on, concerns: |_| true };
    assert!(case.sweep() >= 10);
}

#[test]
fn a_fault_while_pictures_are_drawn_is_told() {
    let arguments = vec!["explore", "pull.toml", "-q", "--until", "5 s", "-j1"];
    let pictures = |call: &Call| call.what.ends_with("svg") || call.what.ends_with("png");
    let case = Case { prepare: with_an_earlier_run, arguments, go_on: GO_ON.to_vec(), concerns: pictures };
    assert!(case.sweep() >= 2);
}

#[test]
fn a_fault_while_states_are_spilled_is_told() {
    const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/narrow-passage.toml");
    let short = ["--until", "5 s", "--rollouts", "0", "--refine", "0", "--set", "must.arrives.by=\"5 s\"", "-j1"];
    let arguments = [&["explore", SCENARIO, "-q", "--no-pictures", "--budget", "memory=100kB"][..], &short].concat();
    // Files without a name are shown so.
    let spilled = |call: &Call| call.what.contains("(deleted)");
    let case = Case { prepare: with_an_earlier_run, arguments, go_on: GO_ON.to_vec(), concerns: spilled };
    assert!(case.sweep() >= 2);
}

#[test]
fn a_result_that_does_not_fit_on_the_disk_is_an_error() {
    let project = Project::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let arguments = [&PULL[..], &["--format", "json"]].concat();
    let ran = Ran::of(project.command(&arguments).stdout(full).output().unwrap());
    assert!(ran.code == 2 && ran.err.contains("standard output"), "{ran:?}");
}
