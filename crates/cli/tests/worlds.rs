//! Whole worlds from outside on the command line: explored, replayed, checked.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Project;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a world in C into the project, after some changes to the example.
fn compiled(project: &Project, changes: &[(&str, &str)]) {
    let example = root().join("examples/c/toy_world.c");
    let mut text = std::fs::read_to_string(&example).expect("the example is there");
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    project.write("toy_world.c", &text);
    let mut cc = Command::new("cc");
    cc.current_dir(project.path()).args(["-O1", "-I"]).arg(root().join("c"));
    let output = cc.args(["toy_world.c", "-o", "toy_world", "-lm"]).output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The interpreter with the kit; a test that needs it fails without it.
fn python() -> PathBuf {
    let python = root().join("target/python-venv/bin/python");
    assert!(python.is_file(), "there is no {}: `cargo xtask python` prepares it", python.display());
    python
}

fn json(project: &Project, arguments: &[&str]) -> (i32, Value) {
    let mut command = project.command(&[arguments, &["--format", "json"]].concat());
    let ran = crate::common::Ran::of(command.env("ANABRANCH_PYTHON", python()).output().expect("the program starts"));
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}")))
}

#[test]
fn a_world_in_c_is_explored_and_its_first_finding_replayed() {
    let project = Project::new();
    compiled(&project, &[]);
    let (code, found) = project.json(&["explore", "./toy_world", "--rollouts", "20"]);
    assert_eq!(code, 1, "{found}");
    assert_eq!((&found["schema"], &found["verdict"]), (&"anabranch.explore/1".into(), &"violated".into()));
    assert_eq!((&found["error_choices"], &found["complete"]), (&3.into(), &true.into()));
    assert_eq!((&found["worst_clearance_m"], &found["program"]), (&Value::Null, &"./toy_world".into()));
    assert!(found["worst_margin"].as_f64().unwrap() <= 0.0, "{found}");
    assert_eq!(found["groups"][0]["requirement"], "wall");
    let run = found["run"].as_str().unwrap();
    for file in ["run.json", "status.json", "result.json", "report.html", "states.parquet"] {
        assert!(project.file(run).join(file).is_file(), "{file}");
    }
    assert!(project.file(run).join("levels").is_dir());
    let finding = found["groups"][0]["finding"].as_str().unwrap();
    assert!(project.read(finding).contains("scenario_file = \"./toy_world\""), "{}", project.read(finding));

    let (code, again) = project.json(&["replay", "last#1", "--twice", "--trace", "trace.csv"]);
    assert_eq!(code, 1, "{again}");
    assert_eq!((&again["same_as_found"], &again["twice"]["equal"]), (&true.into(), &true.into()), "{again}");
    assert!(project.read("trace.csv").lines().count() > 10);
    let explain = project.run(&["explain", "last#1"]);
    assert_eq!(explain.code, 2, "{explain:?}");
    assert!(explain.err.contains("this was found in the world"), "{explain:?}");
}

#[test]
fn flags_say_how_a_world_is_explored_and_threads_change_nothing() {
    let project = Project::new();
    compiled(&project, &[]);
    let explore = |more: &[&str]| {
        let usual = ["explore", "./toy_world", "--rollouts", "0", "--refine", "0"];
        project.json(&[&usual[..], more].concat())
    };
    let (_, one) = explore(&["-j", "1"]);
    let (_, two) = explore(&["-j", "2"]);
    assert_eq!(one["digest"], two["digest"]);
    let (code, short) = explore(&["--until", "1 s", "--merge", "none", "--order", "danger"]);
    assert_eq!((code, &short["verdict"]), (0, &"safe".into()), "{short}");
    assert_eq!((&short["segments"], &short["settings"]["merge"]), (&3.into(), &"none".into()));
    let (code, few) = explore(&["--budget", "states=2"]);
    assert_eq!((code, &few["complete"]), (if few["findings"] == 0 { 5 } else { 1 }, &false.into()), "{few}");
    let (_, coarse) = explore(&["--merge", "x=0.5m,v=exact"]);
    assert_eq!(coarse["settings"]["merge"], serde_json::json!(["x 0.5 m", "v exact"]));
    for (flags, told) in [
        (["--until", "99 s"], "the world ends after 8 s"),
        (["--merge", "z=1m"], "`z` is no state variable"),
        (["--set", "ego.start.y=1 m"], "--set is about scenarios"),
        (["--keep", "extremes"], "needs a system that names axes"),
    ] {
        let ran = project.run(&[&["explore", "./toy_world"][..], &flags].concat());
        assert!(ran.code == 2 && ran.err.contains(told), "{flags:?}: {ran:?}");
    }
}

#[test]
fn a_crash_of_a_world_is_a_finding_with_its_evidence() {
    let project = Project::new();
    let crash = "if (run->modes[0] == 2 && x < -0.05) { *(volatile int *)0 = 1; }\n    for (tick = 0";
    compiled(&project, &[("for (tick = 0", crash)]);
    let (code, found) = project.json(&["explore", "./toy_world", "--until", "3 s", "--rollouts", "0"]);
    assert_eq!((code, &found["verdict"]), (1, &"violated".into()), "{found}");
    assert_eq!(found["groups"][0]["requirement"], "driver.crash", "{found}");
    let faults = project.file(found["run"].as_str().unwrap()).join("av-faults/0001-crash");
    for file in ["finding.toml", "fault.json", "input.json"] {
        assert!(faults.join(file).is_file(), "{file}");
    }
    let (code, again) = project.json(&["replay", "last#1"]);
    assert_eq!((code, &again["same_as_found"]), (1, &true.into()), "{again}");
}

#[test]
fn what_a_world_does_only_now_and_then_is_not_reproducible() {
    let project = Project::new();
    let count = "FILE *file = fopen(\"mood\", \"r\");\n    if (file) { mood = fgetc(file) - '0'; fclose(file); }\n    \
                 file = fopen(\"mood\", \"w\"); fputc('1' + mood, file); fclose(file);\n    ab_world world;";
    compiled(
        &project,
        &[
            ("#include <math.h>", "#include <math.h>\n#include <stdio.h>\nstatic int mood;"),
            ("ab_world world;", count),
            // Only the process that was started first minds being pushed to the right.
            ("for (tick = 0", "if (mood == 0 && run->modes[0] == 2) out->margin = -1.0;\n    for (tick = 0"),
        ],
    );
    let flags = ["--until", "2 s", "--rollouts", "0", "--refine", "0", "-j", "1"];
    let (code, found) = project.json(&[&["explore", "./toy_world"][..], &flags].concat());
    assert_eq!((code, &found["verdict"]), (6, &"not reproducible".into()), "{found}");
    assert!(!found["not_reproducible"].as_array().unwrap().is_empty(), "{found}");
}

#[test]
fn a_world_is_checked_before_it_is_trusted() {
    let project = Project::new();
    compiled(&project, &[]);
    let ran = project.run(&["check", "./toy_world"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("world toy world in C, saved by fork, 3 choices in each of 8 segments"), "{ran:?}");
    assert!(ran.out.contains("kept    a loaded state continues like the one that was saved"), "{ran:?}");
    let (code, none) = project.json(&["check", "/bin/false"]);
    assert_eq!((code, &none["files"][0]["ok"]), (2, &false.into()), "{none}");
}

#[test]
fn a_world_in_python_is_explored_and_replayed_and_a_driver_is_told_where_it_belongs() {
    let project = Project::new();
    for name in ["toy_world.py", "follow.py"] {
        std::fs::copy(root().join("examples").join(name), project.file(name)).expect("the example is there");
    }
    let (code, found) = json(&project, &["explore", "toy_world.py", "--until", "6 s", "--rollouts", "20"]);
    assert_eq!((code, &found["verdict"]), (1, &"violated".into()), "{found}");
    assert_eq!(found["groups"][0]["requirement"], "on the tray");
    let (code, again) = json(&project, &["replay", "last#1"]);
    assert_eq!((code, &again["same_as_found"]), (1, &true.into()), "{again}");
    let (code, driver) = json(&project, &["explore", "follow.py"]);
    assert_eq!(code, 2, "{driver}");
    assert_eq!(driver["help"], "anabranch explore scenario.toml --driver follow.py");
    let (code, check) = json(&project, &["check", "follow.py"]);
    assert_eq!((code, &check["files"][0]["card"]["role"]), (0, &"driver".into()), "{check}");
}
