//! The built-in law as a program of its own (`examples/c/follow_law.c`) on the command line: explored, killed and resumed,
//! explained, reported; and what is said of one that answers differently or goes away.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::common::Project;
use serde_json::Value;

/// In one of some hundred steps it steers a little differently, whatever was saved and loaded.
const FLIPS: &str = "static long asked; if (++asked % 997 == 0) out->steer += 1e-9;";
/// It ends in the middle of its work.
const DIES: &str = "static long asked; if (++asked == 1000) { fclose(fopen(\"gone\", \"w\")); abort(); }";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds the law into a project, with something more in every step; it does not start where a file `gone` is.
fn build(project: &Project, trick: &str) {
    let text = std::fs::read_to_string(root().join("examples/c/follow_law.c")).unwrap();
    let told = "out->key[0] = self->completed;";
    let begin = "int main(void) {";
    assert!(text.contains(told) && text.contains(begin));
    let text = text
        .replace(told, &format!("{told} {trick}"))
        .replace(begin, "int main(int argc, char **argv) { if (access(\"gone\", 0) == 0) return 1;")
        .replace("return ab_serve", "if (argc > 1) driver.endpoint = argv[1]; return ab_serve");
    project.write("law.c", &text);
    let mut cc = Command::new("cc");
    cc.current_dir(project.path()).args(["-O1", "-ffp-contract=off", "-I"]).arg(root().join("c"));
    let built = cc.args(["law.c", "-o", "law", "-lm"]).output().expect("a C compiler is installed");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

/// A short way into the passage with large errors and few members per cell: quick, and something is found.
const SHORT: [&str; 10] = [
    "passage.toml",
    "--until=4 s",
    "--set",
    "error.estimate-jump.jump.radius=\"0.4 m\"",
    "--set",
    "explore.merge.x=\"1 m\"",
    "--keep=worst",
    "--refine=0",
    "--no-pictures",
    "-q",
];

fn project(trick: &str) -> Project {
    let project = Project::new();
    let passage = std::fs::read_to_string(root().join("scenarios/narrow-passage.toml")).unwrap();
    project.write("passage.toml", &passage);
    build(&project, trick);
    project
}

fn explore<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["explore"][..], &SHORT, more].concat()
}

fn result(project: &Project) -> Value {
    serde_json::from_str(&project.read("runs/last/result.json")).unwrap()
}

/// Name of the folder of the last run.
fn last(project: &Project) -> String {
    std::fs::canonicalize(project.file("runs/last")).map_or_else(|_| String::new(), |path| path.display().to_string())
}

/// At least so long.
fn pause(time: Duration) {
    let (_keep, timer) = mpsc::channel::<()>();
    let _ = timer.recv_timeout(time);
}

/// What must not depend on who drives by the same law, nor on how often it was stopped.
fn essence(result: &Value) -> Vec<Value> {
    let keys = ["verdict", "segments", "states", "merged", "findings", "coverage", "worst_clearance_m", "complete"];
    let mut all: Vec<Value> = keys.iter().map(|key| result[key].clone()).collect();
    for group in result["groups"].as_array().unwrap() {
        all.extend(["group", "count", "tick", "errors"].map(|key| group[key].clone()));
    }
    all
}

#[test]
fn findings_and_coverage_are_those_of_the_same_law_built_in() {
    let project = project("");
    let built_in = project.run(&explore(&["--rollouts=50"]));
    assert_eq!(built_in.code, 1, "{built_in:?}");
    let expected = essence(&result(&project));
    let ran = project.run(&explore(&["--rollouts=50", "--driver=law"]));
    assert_eq!(ran.code, 1, "{ran:?}");
    let found = result(&project);
    assert_eq!(essence(&found), expected);
    assert_eq!(found["coverage"]["rollouts"], 50);
    let coverage = ran.out.lines().find(|line| line.contains("coverage")).expect("it is told");
    assert!(coverage.contains("50 random"), "{coverage}");
    assert!(found["driver"]["doubled_segments"].as_u64() >= Some(200), "{}", found["driver"]);
}

#[test]
fn without_merging_every_path_comes_out_as_with_the_law_built_in() {
    let project = project("");
    let truth = |more: &[&str]| {
        let two = ["explore", "passage.toml", "--until=2 s", "--merge=none", "--rollouts=0", "--no-pictures", "-q"];
        let ran = project.run(&[&two[..], more].concat());
        // `arrives` is due later, so two seconds alone are no pass.
        assert!(ran.code == 5 && ran.out.contains("`arrives` was not judged"), "{ran:?}");
        essence(&result(&project))
    };
    assert_eq!(truth(&["--driver=law"]), truth(&[]));
}

#[test]
fn killed_in_the_middle_a_run_goes_on_to_the_same_result() {
    let project = project("");
    assert_eq!(project.run(&explore(&["--driver=law"])).code, 1);
    let expected = (essence(&result(&project)), result(&project)["digest"].clone());
    let mut child =
        project.command(&explore(&["--driver=law", "--name=killed"])).stdout(Stdio::null()).spawn().unwrap();
    let level = || project.file("runs/last/levels/0002.lvl").exists() && last(&project).contains("killed");
    for _ in 0..12_000 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
        if level() {
            break;
        }
        pause(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = project.run(&["explore", "--resume", "-q"]);
    assert_eq!(resumed.code, 1, "{resumed:?}");
    assert_eq!((essence(&result(&project)), result(&project)["digest"].clone()), expected);
}

#[test]
fn a_finding_is_replayed_and_explained_and_the_page_tells_how_the_driver_did() {
    let project = project("");
    assert_eq!(project.run(&explore(&["--driver=law"])).code, 1);
    let (code, replayed) = project.json(&["replay", "last#1"]);
    assert_eq!((code, &replayed["same_as_found"]), (1, &true.into()), "{replayed}");
    let explained = project.run(&["explain", "last#1", "--samples=2"]);
    assert_eq!(explained.code, 0, "{explained:?}");
    let page = project.read("runs/last/report.html");
    let health = page.split("id=\"health\"").nth(1).expect("a section about the driver");
    for word in ["follow law in C", "saved and loaded (", "a step, in the mean", "longest step", "started again"] {
        assert!(health.contains(word), "{word}");
    }
}

#[test]
fn two_answers_to_one_question_are_not_reproducible_and_the_signal_is_named() {
    let project = project(FLIPS);
    let once = ["--driver=law", "--set", "ego.driver.double=1.0", "--set", "ego.driver.instances=1"];
    let ran = project.run(&explore(&once));
    assert_eq!(ran.code, 6, "{ran:?}");
    assert!(ran.out.contains("answered differently: `steer` was"), "{}", ran.out);
}

#[test]
fn a_program_that_cannot_be_started_again_leaves_an_incomplete_run() {
    let project = project(DIES);
    let ran = project.run(&explore(&["--driver=law", "--set", "ego.driver.instances=1"]));
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.out.contains("incomplete") && ran.out.contains("the driver cannot be started again"), "{ran:?}");
    // Where nothing needs to be started again it is an ordinary finding.
    std::fs::remove_file(project.file("gone")).unwrap();
    let (code, run) = project.json(&["run", "passage.toml", "--driver=law", "--set", "ego.driver.double=1.0"]);
    assert_eq!((code, &run["requirement"]), (1, &"driver.crash".into()), "{run}");
}

#[test]
fn a_driver_that_goes_away_while_findings_are_saved_leaves_its_result() {
    // The number of steps after which it dies is told by a file, once it is known how many there are.
    let dies = "static long asked, last = -1; if (last < 0) { FILE *f = fopen(\"last\", \"r\"); last = 0; if (f) { \
                if (fscanf(f, \"%ld\", &last) != 1) last = 0; fclose(f); } } \
                if (++asked == last) { fclose(fopen(\"gone\", \"w\")); abort(); }";
    let project = project(dies);
    let once =
        ["--driver=law", "--set", "ego.driver.instances=1", "--set", "ego.driver.double=0", "--rollouts=0", "-j1"];
    let (code, whole) = project.json(&explore(&once));
    assert_eq!(code, 1, "{whole}");
    let (steps, groups) =
        (whole["driver"]["steps"].as_u64().expect("steps"), whole["groups"].as_array().map_or(0, Vec::len));
    assert!(groups > 1, "{whole}");
    assert_eq!(whole["driver"]["restarts"], 0, "all steps are asked of one process");
    // In the last trace, among the traces, and where findings are confirmed.
    for left in [10, 600, 2_000] {
        project.write("last", &(steps - left).to_string());
        let _ = std::fs::remove_file(project.file("gone"));
        let (code, found) = project.json(&explore(&once));
        assert!(project.file("gone").is_file(), "{left} steps before the end it was still asked");
        let traces_alone = left == 10;
        assert!(traces_alone || found["complete"] == false, "{left}: {}", found["stop"]);
        assert!(code == 1 || code == 5, "{code}, {left}: {found}");
        let run = project.file(found["run"].as_str().expect("a folder"));
        assert!(run.join("result.json").is_file() && run.join("report.html").is_file(), "{left}");
        assert!(found["not_reproducible"].is_null(), "{left}: {found}");
        if traces_alone {
            assert_eq!(found["groups"].as_array().map(Vec::len), Some(groups), "all of them were confirmed: {found}");
        }
    }
}

#[test]
fn a_peer_that_goes_away_leaves_an_incomplete_run() {
    let project = project(DIES);
    let mut peer = Command::new(project.file("law"));
    let peer = peer.current_dir(project.path()).arg("tcp://127.0.0.1:0").stderr(Stdio::piped());
    let mut peer = peer.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(peer.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().rsplit(' ').next().unwrap().to_owned();
    let ran = project.run(&explore(&["--driver", &address]));
    let _ = peer.kill();
    peer.wait().unwrap();
    assert_eq!(ran.code, 5, "{line} {ran:?}");
    assert!(ran.out.contains("the driver cannot be started again: nobody answers at"), "{ran:?}");
}

#[test]
fn other_machines_are_connected_to_only_when_asked_and_with_a_warning() {
    let project = Project::new();
    let run = project.run(&["run", "pull.toml", "--driver", "tcp://192.0.2.1:5555"]);
    assert!(run.code == 2 && run.err.contains("--allow-remote"), "{run:?}");
    // Nobody is there either, but it was tried. A name that does not exist is refused at once.
    let asked = project.run(&["run", "pull.toml", "--driver", "tcp://0.0.0.1:9", "--allow-remote"]);
    assert_eq!(asked.code, 2, "{asked:?}");
    assert!(asked.err.contains("warning") && asked.err.contains("neither encrypted nor authenticated"), "{asked:?}");
}

#[test]
fn in_real_time_a_second_takes_a_second() {
    let project = project("");
    let second = ["run", "passage.toml", "--driver=law", "--real-time", "--set", "explore.until=\"1 s\""];
    let second = [&second[..], &["--set", "must.arrives.by=\"1 s\""]].concat();
    let mut child = project.command(&second).stdout(Stdio::null()).spawn().unwrap();
    pause(Duration::from_millis(900));
    assert!(child.try_wait().unwrap().is_none(), "it was too quick");
    assert_eq!(child.wait().unwrap().code(), Some(1), "it does not arrive within a second");
    let built_in = project.run(&["run", "passage.toml", "--real-time"]);
    assert!(built_in.code == 2 && built_in.err.contains("built in"), "{built_in:?}");
}
