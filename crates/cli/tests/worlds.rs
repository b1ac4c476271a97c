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
}

#[test]
fn a_finding_of_a_world_is_explained_kept_and_tested_until_it_is_mended() {
    let project = Project::new();
    compiled(&project, &[]);
    let (code, found) = project.json(&["explore", "./toy_world", "--until", "4 s", "--rollouts", "0"]);
    assert_eq!(code, 1, "{found}");
    let (code, why) = project.json(&["explain", "last#1", "--samples", "8"]);
    assert_eq!(
        (code, &why["schema"], &why["requirement"]),
        (0, &"anabranch.explain/1".into(), &"wall".into()),
        "{why}"
    );
    assert_eq!(why["minimal"]["certified_from_start"], true);
    let needed = why["minimal"]["erroneous_segments"].as_u64().expect("a number");
    assert!(needed > 0 && needed <= why["found"]["segments"].as_u64().expect("a number"), "{why}");
    assert!(why["point_of_no_return"]["segment"].is_u64(), "{why}");
    let minimal = why["files"]["minimal"].as_str().expect("a file");
    let (code, again) = project.json(&["replay", minimal]);
    assert_eq!((code, &again["same_as_found"]), (1, &true.into()), "{again}");
    let told = project.run(&["explain", "last#1"]);
    assert!(told.out.contains("too late") && told.out.contains("enough"), "{told:?}");
    let refused = project.run(&["explain", "last#1", "--set", "a=1 m"]);
    assert!(refused.code == 2 && refused.err.contains("--set is about scenarios"), "{refused:?}");

    let (code, kept) = project.json(&["replay", "last#1", "--keep"]);
    assert_eq!(code, 1, "{kept}");
    assert!(project.read(kept["kept"].as_str().expect("a file")).contains("matters = true"), "{kept}");
    let test = ["test", "--filter", "findings/"];
    let (code, tested) = project.json(&test);
    assert_eq!((code, &tested["failed"]), (1, &1.into()), "{tested}");
    assert_eq!(tested["findings"][0]["details"]["scenario_has_changed"], false, "{tested}");
    // A mended world: nothing pushes any more.
    compiled(&project, &[("{ 0.0, -0.3, 0.3 }", "{ 0.0, 0.0, 0.0 }")]);
    let (code, tested) = project.json(&test);
    assert_eq!((code, &tested["passed"]), (0, &1.into()), "{tested}");
    assert_eq!(tested["findings"][0]["details"]["scenario_has_changed"], true, "{tested}");
}

#[test]
fn a_world_that_was_stopped_is_resumed_to_the_same_end_and_another_program_is_refused() {
    let project = Project::new();
    compiled(&project, &[]);
    let whole = ["explore", "./toy_world", "--until", "5 s", "--rollouts", "0", "--refine", "0"];
    let (_, straight) = project.json(&whole);
    let (code, part) = project.json(&[&whole[..], &["--budget", "states=2"]].concat());
    assert_eq!(part["complete"], false, "{code} {part}");
    let (code, resumed) = project.json(&["explore", "--resume", "--budget", "states=1000000"]);
    assert_eq!((code, &resumed["complete"]), (1, &true.into()), "{resumed}");
    assert_eq!(resumed["run"], part["run"]);
    for name in ["digest", "segments", "states", "findings"] {
        assert_eq!(resumed[name], straight[name], "{name}");
    }
    let (_, _) = project.json(&[&whole[..], &["--budget", "states=2"]].concat());
    compiled(&project, &[("-0.3, 0.3 }", "-0.3, 0.31 }")]);
    let refused = project.run(&["explore", "--resume", "--budget", "states=1000000"]);
    assert!(refused.code == 2 && refused.err.contains("has changed since the run"), "{refused:?}");
}

#[test]
fn a_world_that_cannot_be_started_again_leaves_an_incomplete_result() {
    let project = Project::new();
    let begin = "int main(void) {";
    let gone = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nint main(void) { if (access(\"gone\", 0) == 0) return 1;";
    let dies = "if (run->modes[0] == 2 && x > 0.3) { fclose(fopen(\"gone\", \"w\")); abort(); }\n    for (tick = 0";
    compiled(
        &project,
        &[
            (begin, gone),
            ("for (tick = 0", dies),
            ("#include <math.h>", "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>"),
        ],
    );
    let (code, found) = project.json(&["explore", "./toy_world", "--until", "5 s", "--rollouts", "0", "-j", "1"]);
    assert!(code == 5 || code == 1, "{code} {found}");
    assert_eq!(found["complete"], false, "{found}");
    assert!(project.file(found["run"].as_str().expect("a folder")).join("report.html").is_file());
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
    assert_eq!(one["settings"]["keep"], "extremes", "of x and v");
    let (_, worst) = explore(&["--keep", "worst"]);
    assert!(worst["segments"].as_u64() < one["segments"].as_u64(), "{worst}");
    let (_, coarse) = explore(&["--merge", "x=0.5m,v=exact"]);
    assert_eq!(coarse["settings"]["merge"], serde_json::json!(["x 0.5 m", "v exact"]));
    for (flags, told) in [
        (["--until", "99 s"], "the world ends after 8 s"),
        (["--merge", "z=1m"], "`z` is no state variable"),
        (["--set", "ego.start.y=1 m"], "--set is about scenarios"),
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
