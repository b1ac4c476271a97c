//! Run folders are unique, found by the names people use, and say nothing about the machine.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use anabranch_kernel::{Choice, Digest, ErrorSpace};
use anabranch_record::{ErrorRun, Finding, Phase, RecordError, RunFolder, RunInfo, RunReference, Status};

fn create(runs: &Path) -> RunFolder {
    let run = RunFolder::create(runs, "Narrow passage", UNIX_EPOCH + Duration::from_secs(1_794_769_340)).unwrap();
    run.make_last().unwrap();
    run
}

fn finding() -> Finding {
    let space = ErrorSpace::of_one_site("jump", &["none", "left 0.1 m"]);
    let mut finding = Finding::new("narrow-passage", Digest::of(b"text"), 1.0);
    finding.errors = ErrorRun::group(&space, &[Choice(0), Choice(1)], &[]);
    finding
}

#[test]
fn names_are_unique_and_last_is_the_latest() {
    let runs = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..3).map(|_| create(runs.path()).name()).collect();
    let base = "2026-11-15T19-02-20-narrow-passage";
    assert_eq!(names, [base.to_owned(), format!("{base}-2"), format!("{base}-3")]);
    let resolve = |text: &str| text.parse::<RunReference>().and_then(|r| r.resolve(runs.path())).map(|f| f.run.name());
    assert_eq!(resolve("last").unwrap(), names[2]);
    assert_eq!(resolve(&names[0]).unwrap(), names[0]);
    assert_eq!(resolve(runs.path().join(&names[1]).to_str().unwrap()).unwrap(), names[1]);
    let message = resolve("nothing").unwrap_err().to_string();
    assert!(message.contains("there is no run `nothing`; latest: 2026-11-15T19-02-20-narrow-passage-3"), "{message}");
}

#[test]
fn findings_are_found_by_number() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path());
    let resolve = |text: &str| text.parse::<RunReference>()?.resolve(runs.path());
    assert!(resolve("last#1").unwrap_err().to_string().contains("has no findings"));
    for _ in 0..2 {
        run.add_finding("no-contact, left rear", &finding()).unwrap();
    }
    let found = resolve("last#2").unwrap().finding.unwrap();
    assert!(found.ends_with("findings/0002-no-contact-left-rear"));
    let text = fs::read_to_string(found.join("finding.toml")).unwrap();
    assert_eq!(Finding::from_toml(&text).unwrap().to_toml(), text);
    assert!(resolve(&format!("{}#2", run.name())).unwrap().finding.is_some());
    assert!(resolve("last#3").unwrap_err().to_string().contains("has no finding 3; it has 2 of them"));
    for bad in ["last#", "last#x", "last#0"] {
        assert!(matches!(bad.parse::<RunReference>(), Err(RecordError::NotFound(_))), "{bad}");
    }
}

#[test]
fn run_and_status_come_back() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path());
    let mut info = RunInfo::new("narrow-passage", Digest::of(b"text"), u64::MAX, ["explore", "a.toml"]);
    info.limits.insert("states".into(), 2_000_000.into());
    run.write_run(&info).unwrap();
    assert_eq!(run.read_run().unwrap(), info);
    let mut status = Status::begin();
    for level in 0..3 {
        status.levels = level;
        run.write_status(&status).unwrap();
    }
    status.phase = Phase::Done;
    run.write_status(&status).unwrap();
    assert_eq!(RunFolder::open(run.path()).unwrap().read_status().unwrap(), status);
}

#[test]
fn no_file_names_an_absolute_path() {
    let runs = tempfile::tempdir().unwrap();
    let run = create(runs.path());
    let here = runs.path().to_str().unwrap();
    let arguments =
        [format!("{here}/bin/anabranch"), "explore".into(), format!("--driver={here}/av.py"), format!("{here}/a.toml")];
    run.write_run(&RunInfo::new("narrow-passage", Digest::of(b"text"), 0, arguments)).unwrap();
    run.write_status(&Status::begin()).unwrap();
    run.add_finding("no-contact", &finding()).unwrap();
    let mut folders = vec![run.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let text = fs::read_to_string(entry.path()).unwrap();
                assert!(!text.contains(here) && !text.contains("\"/"), "{text}");
            }
        }
    }
    assert_eq!(run.read_run().unwrap().command, ["anabranch", "explore", "--driver=av.py", "a.toml"]);
    #[cfg(unix)]
    assert!(fs::read_link(runs.path().join("last")).unwrap().is_relative());
}
