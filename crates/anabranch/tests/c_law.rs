//! The built-in law once more, in C (`examples/c/follow_law.c`): the same findings in the same scenario, and one digest however its
//! states are kept.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use anabranch::{Drive, Explored, Outside, ProcessFactory, Scenario, explore, explore_drive, explore_scenario};

/// Builds an example with the system's compiler; tests run side by side, so it appears whole.
fn build(compiler: &str, source: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let stem = Path::new(source).file_stem().unwrap().to_str().unwrap();
    let finished = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{stem}-{}", std::process::id()));
    let mut command = Command::new(compiler);
    command
        .args(["-O1", "-ffp-contract=off", "-I"])
        .arg(root.join("c"))
        .arg(root.join(source))
        .arg("-o")
        .arg(&finished)
        .arg("-lm");
    let output = command.output().expect("a C compiler is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    finished
}

fn scenario(file: &str, seconds: u32) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let until = format!("{seconds} s");
    // Few members per cell, so that it is quick: what is compared is whether all drivers find the same.
    let values = [
        ("explore.until", until.as_str()),
        ("must.arrives.by", &until),
        ("explore.keep", "worst"),
        ("explore.merge.x", "1 m"),
        ("explore.rollouts", "0"),
        ("explore.refine", "0"),
    ];
    Scenario::read(path).unwrap().with(&values).unwrap()
}

fn drive(scenario: &Scenario, program: &Path, snapshot: &str, instances: usize) -> Drive {
    let mut factory = ProcessFactory::new(program, [] as [&str; 0]);
    factory.spec.env.push(("ANABRANCH_SNAPSHOT".into(), snapshot.into()));
    scenario.drive_outside(Outside { instances, ..Outside::new(Box::new(factory)) }).unwrap()
}

#[test]
fn the_law_in_c_finds_what_the_built_in_one_finds() {
    let passage = scenario("scenarios/narrow-passage.toml", 8);
    let built_in = explore_scenario(&passage).unwrap();
    assert!(built_in.findings.iter().any(|finding| finding.requirement == "no-contact"));
    let law = build("cc", "examples/c/follow_law.c");
    let in_c = explore_drive(&passage, &drive(&passage, &law, "memory", 2)).unwrap();
    assert_eq!(in_c.findings, built_in.findings);
    assert_eq!(in_c.outcome.progress, built_in.outcome.progress);
}

#[test]
fn one_digest_for_the_law_in_c_by_copy_by_fork_and_by_replay() {
    let passage = scenario("scenarios/narrow-passage.toml", 3);
    let law = build("cc", "examples/c/follow_law.c");
    let explored = |snapshot: &str, instances: usize| -> Explored {
        let drive = drive(&passage, &law, snapshot, instances);
        let settings = passage.settings(&drive).unwrap();
        explore(&drive, settings).unwrap()
    };
    let by_memory = explored("memory", 1);
    assert!(by_memory.outcome.complete() && by_memory.outcome.progress.segments > 50);
    for (snapshot, instances) in [("memory", 2), ("fork", 1), ("fork", 2), ("replay", 1)] {
        let other = explored(snapshot, instances);
        assert_eq!(other.outcome.digest, by_memory.outcome.digest, "{snapshot}, {instances} instances");
        assert_eq!(other.findings, by_memory.findings);
    }
}

#[test]
fn a_class_in_cpp_is_explored() {
    let passage = scenario("examples/cpp/follow.toml", 2);
    let drive = drive(&passage, &build("c++", "examples/cpp/follow.cpp"), "auto", 1);
    let explored = explore_drive(&passage, &drive).unwrap();
    assert!(explored.outcome.complete() && explored.outcome.progress.merged > 0, "{:?}", explored.outcome.progress);
    assert!(
        explored.findings.iter().all(|finding| finding.requirement == "arrives"),
        "{:?}",
        explored.findings.first()
    );
}
