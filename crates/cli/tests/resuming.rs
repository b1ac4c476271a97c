//! Explorations that are killed, interrupted, damaged or run out of disk go on where they were.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{Project, Ran};
use anabranch_kernel::{Chance, Seed};
use anabranch_record::trail::TrailReader;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A scenario that takes long enough to be killed in the middle of it.
fn scenario() -> String {
    format!("{}/../../scenarios/narrow-passage.toml", env!("CARGO_MANIFEST_DIR"))
}

const SHORT: [&str; 6] = ["--set", "explore.until=\"7 s\"", "--set", "must.arrives.by=\"7 s\"", "--no-pictures", "-q"];

fn explore<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["explore", file][..], &SHORT, more].concat()
}

/// How often, unless somebody asks for more.
fn dose(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Waits for the child at most this long; true if it has ended by itself.
fn ended_within(child: &mut Child, time: Duration) -> bool {
    let (_keep, timer) = mpsc::channel::<()>();
    let mut left = time;
    let step = Duration::from_millis(5);
    while !left.is_zero() {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        let _ = timer.recv_timeout(step.min(left));
        left = left.saturating_sub(step);
    }
    child.try_wait().unwrap().is_some()
}

fn start(project: &Project, arguments: &[&str]) -> Child {
    project.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn result(project: &Project) -> Value {
    serde_json::from_str(&project.read("runs/last/result.json")).unwrap()
}

/// What must not depend on how often a run was stopped.
fn essence(result: &Value) -> Vec<Value> {
    let keys = [
        "digest",
        "verdict",
        "segments",
        "states",
        "merged",
        "findings",
        "finding_groups",
        "coverage",
        "refinement",
        "first_finding_segment",
        "worst_clearance_m",
        "level_rows",
        "complete",
    ];
    keys.iter().map(|key| result[key].clone()).collect()
}

fn tables(folder: &Path) -> [Vec<u8>; 2] {
    ["segments.parquet", "states.parquet"].map(|name| std::fs::read(folder.join(name)).unwrap())
}

#[test]
fn killed_at_any_moment_a_run_goes_on_to_the_same_result() {
    let (file, whole) = (scenario(), Project::new());
    assert_eq!(whole.run(&explore(&file, &[])).code, 1);
    let usual = Duration::from_secs_f64(result(&whole)["wall_s"].as_f64().unwrap());
    let expected = essence(&result(&whole));
    let chance = Chance::new(Seed(20), "kills");
    let (mut kills, mut finished) = (0, 0);
    while kills < dose("ANABRANCH_KILLS", 20) {
        let project = Project::new();
        let mut arguments = explore(&file, &[]);
        for attempt in 0..30 {
            let mut child = start(&project, &arguments);
            let after = usual.mul_f64(0.02 + 0.6 * chance.at(finished).uniform(attempt));
            if ended_within(&mut child, after) {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            let threads = ["1", "2", "3"][(kills % 3) as usize];
            // Killed before its folder was whole, a run is begun again.
            let is_there = project.file("runs/last/scenario.json").exists();
            arguments = if is_there { vec!["explore", "--resume", "-q", "-j", threads] } else { explore(&file, &[]) };
        }
        let ran = project.run(&arguments);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert_eq!(essence(&result(&project)), expected);
        assert_eq!(tables(&project.file("runs/last")), tables(&whole.file("runs/last")));
        finished += 1;
        println!("{kills} kills in {finished} explorations, each with the result of the uninterrupted one");
    }
}

#[test]
fn interrupted_once_a_run_is_saved_and_goes_on() {
    let (file, project) = (scenario(), Project::new());
    let mut child = start(&project, &explore(&file, &[]));
    // Ask as soon as some level is whole.
    let levels = project.file("runs/last/levels/0004.lvl");
    while !levels.exists() {
        assert!(!ended_within(&mut child, Duration::from_millis(5)), "it ended before it could be interrupted");
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let interrupted = result(&project);
    assert_eq!((&interrupted["complete"], &interrupted["stop"]), (&false.into(), &"it was interrupted".into()));
    let resumed = project.run(&["explore", "--resume", "-q"]);
    assert_eq!(resumed.code, 1, "{resumed:?}");
    let whole = Project::new();
    whole.run(&explore(&file, &[]));
    assert_eq!(essence(&result(&project)), essence(&result(&whole)));
}

#[test]
fn interrupted_twice_a_run_stops_at_once_and_can_still_be_resumed() {
    let (file, project) = (scenario(), Project::new());
    let mut child = start(&project, &explore(&file, &[]));
    let levels = project.file("runs/last/levels/0003.lvl");
    while !levels.exists() {
        assert!(!ended_within(&mut child, Duration::from_millis(5)), "it ended before it could be interrupted");
    }
    let pid = Pid::from_raw(child.id() as i32);
    kill(pid, Signal::SIGINT).unwrap();
    // The second may come too late, if the first was enough.
    let _ = kill(pid, Signal::SIGINT);
    assert!(ended_within(&mut child, Duration::from_secs(10)));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let resumed = project.run(&["explore", "--resume", "-q"]);
    assert_eq!(resumed.code, 1, "{resumed:?}");
    assert_eq!(result(&project)["complete"], true);
}

#[test]
fn a_folder_that_cannot_be_written_is_a_clear_error() {
    let project = Project::new();
    // A file in the place of the folder refuses everybody, whatever their rights.
    project.write("runs", "");
    let ran = project.run(&["explore", "pull.toml", "-q"]);
    assert!(ran.code == 2 && ran.err.contains("runs"), "{ran:?}");
    assert_eq!(project.read("runs"), "");
}

#[test]
fn a_spent_budget_is_incomplete_and_can_be_raised() {
    let (file, project) = (scenario(), Project::new());
    let few = project.run(&explore(&file, &["--budget", "states=2000"]));
    let expected = if result(&project)["findings"] == 0 { 5 } else { 1 };
    assert_eq!(few.code, expected, "{few:?}");
    assert_eq!(result(&project)["complete"], false);
    let more = project.run(&["explore", "--resume", "-q", "--budget", "states=100000000"]);
    assert_eq!(more.code, 1, "{more:?}");
    assert_eq!(result(&project)["complete"], true);
}

fn level_files(project: &Project) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(project.file("runs/last/levels")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn flipped_bits_are_noticed_and_computed_again() {
    let project = Project::new();
    assert_eq!(project.run(&["explore", "pull.toml", "--no-pictures", "-q"]).code, 1);
    let expected = essence(&result(&project));
    let files = level_files(&project);
    let chance = Chance::new(Seed(1), "bits");
    for trial in 0..20 {
        let file = &files[chance.below(2 * trial, files.len() as u64) as usize];
        let mut bytes = std::fs::read(file).unwrap();
        let bit = chance.below(2 * trial + 1, bytes.len() as u64 * 8) as usize;
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(file, bytes).unwrap();
        let ran = project.run(&["explore", "--resume"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("is computed again"), "bit {bit} of {}: {ran:?}", file.display());
        assert_eq!(essence(&result(&project)), expected);
    }
}

#[test]
fn a_thousand_flipped_bits_are_noticed() {
    let project = Project::new();
    assert_eq!(project.run(&["explore", "pull.toml", "--no-pictures", "-q"]).code, 1);
    let (files, folder) = (level_files(&project), project.file("runs/last/levels"));
    let damage = || TrailReader::open_whole(&folder).unwrap().1;
    assert!(damage().is_none());
    let chance = Chance::new(Seed(2), "bits");
    for trial in 0..dose("ANABRANCH_BITS", 1_000) {
        let file = &files[chance.below(2 * trial, files.len() as u64) as usize];
        let good = std::fs::read(file).unwrap();
        let bit = chance.below(2 * trial + 1, good.len() as u64 * 8) as usize;
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(file, bad).unwrap();
        assert!(damage().is_some(), "bit {bit} of {}", file.display());
        std::fs::write(file, good).unwrap();
    }
}

/// Runs with files limited to some bytes: every write beyond fails as on a full disk.
fn with_file_limit(project: &Project, arguments: &[&str], blocks: u64) -> Ran {
    let program = env!("CARGO_BIN_EXE_anabranch");
    let quoted: Vec<String> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
    let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec '{program}' {}", quoted.join(" "));
    let output = std::process::Command::new("bash").current_dir(project.path()).args(["-c", &line]).output().unwrap();
    Ran::of(output)
}

#[test]
fn a_full_disk_is_a_clear_error_and_leaves_earlier_results_alone() {
    let project = Project::new();
    project.run(&["explore", "pull.toml", "--no-pictures", "-q"]);
    let earlier = std::fs::canonicalize(project.file("runs/last")).unwrap();
    let before = std::fs::read(earlier.join("result.json")).unwrap();
    let mut refused = 0;
    // From nothing at all up to enough; a block has 1024 bytes.
    for blocks in (0..24).chain([32, 48, 64, 100_000]) {
        let ran = with_file_limit(&project, &["explore", "pull.toml", "--no-pictures", "-q"], blocks);
        assert_eq!(std::fs::read(earlier.join("result.json")).unwrap(), before);
        if ran.code == 1 {
            continue;
        }
        refused += 1;
        assert_eq!(ran.code, 2, "{blocks}: {ran:?}");
        assert!(ran.err.contains("too large") || ran.err.contains("cannot"), "{blocks}: {ran:?}");
        assert!(!ran.err.contains("panicked"), "{ran:?}");
    }
    assert!(refused >= 5, "{refused}");
    assert_eq!(with_file_limit(&project, &["explore", "pull.toml", "-q", "--no-pictures"], 100_000).code, 1);
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let project = Project::new();
    let nothing = project.run(&["explore", "--resume"]);
    assert!(nothing.code == 2 && nothing.out.is_empty(), "{nothing:?}");
    project.run(&["explore", "pull.toml", "--no-pictures", "-q"]);
    let again = project.run(&["explore", "pull.toml", "--resume", "-q"]);
    assert_eq!(again.code, 1, "{again:?}");
    project.write("pull.toml", &project.read("pull.toml").replace("6 deg", "5 deg"));
    let changed = project.run(&["explore", "pull.toml", "--resume"]);
    assert!(changed.code == 2 && changed.err.contains("has changed"), "{changed:?}");
    let (code, as_it_was) = project.json(&["explore", "--resume"]);
    assert_eq!((code, &as_it_was["verdict"]), (1, &"violated".into()));
    let contradiction = project.run(&["explore", "--resume", "--keep", "worst"]);
    assert_eq!(contradiction.code, 2, "{contradiction:?}");
}

/// A cart that never fails, with its physics in a module of its own.
const CART: &str = r#"import anabranch
from parts import physics


class Cart(anabranch.World):
    errors = {"push": {"none": 0.0, "left": -0.3, "right": 0.3}}
    merge = {"x": (0.05, "m"), "v": (0.05, "m/s")}
    must = ["wall"]
    segments = 5

    def reset(self, seed):
        self.x, self.v = 0.0, 0.0

    def run(self, error):
        self.x, self.v = physics.move(self.x, self.v, error.push)
        margin = physics.WALL - abs(self.x)
        return anabranch.Segment(x=self.x, v=self.v, danger=-margin, margin=margin, violated=["wall"] if margin < 0 else [])
"#;
const PHYSICS: &str = "WALL = 9.0\n\n\ndef move(x, v, push):\n    v += push - 0.4 * x - 0.3 * v\n    return x + v, v\n";

/// The interpreter with the kit; a test that needs it fails without it.
fn python() -> PathBuf {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python-venv/bin/python");
    assert!(python.is_file(), "there is no {}: `cargo xtask python` prepares it", python.display());
    python
}

fn with_python(project: &Project, arguments: &[&str]) -> Ran {
    Ran::of(project.command(arguments).env("ANABRANCH_PYTHON", python()).output().expect("the program starts"))
}

/// Stops `explore` by a budget, changes a module that the code imports, and goes on: refused, and nothing is lost.
fn check_refused_after_an_edit(project: &Project, explore: &[&str], module: &str, (from, to): (&str, &str)) {
    let few = [explore, &["--no-pictures", "-q", "--rollouts", "0", "--budget", "states=40"]].concat();
    let stopped = with_python(project, &few);
    assert_eq!((stopped.code, &result(project)["complete"]), (5, &false.into()), "{stopped:?}");
    let (before, good) = (project.read("runs/last/result.json"), project.read(module));
    assert!(good.contains(from), "{good}");
    project.write(module, &good.replace(from, to));
    let changed = with_python(project, &["explore", "--resume", "-q", "--budget", "states=100000"]);
    assert!(changed.code == 2 && changed.err.contains("has changed since the run"), "{changed:?}");
    assert!(changed.err.contains("a module it imports") && changed.err.contains("begin anew"), "{changed:?}");
    assert_eq!(project.read("runs/last/result.json"), before, "what is known stays as it was");
    // As it was then, it goes on: the digest is about what is in the file, not about when it was written.
    project.write(module, &good);
    let resumed = with_python(project, &["explore", "--resume", "-q", "--budget", "states=100000"]);
    assert!(resumed.code != 2, "{resumed:?}");
    assert_eq!(result(project)["stop"], "", "{resumed:?}");
}

#[test]
fn a_world_whose_imported_module_has_changed_is_not_resumed() {
    let project = Project::new();
    std::fs::create_dir(project.file("parts")).unwrap();
    project.write("cart.py", CART);
    project.write("parts/physics.py", PHYSICS);
    check_refused_after_an_edit(&project, &["explore", "cart.py"], "parts/physics.py", ("9.0", "0.2"));
}

#[test]
fn a_driver_whose_imported_module_has_changed_is_not_resumed() {
    let project = Project::new();
    project.write("gains.py", "LATERAL = 0.5\n");
    let driver = "import anabranch\nimport gains\n\n\nclass Line(anabranch.Driver):\n    memoryless = True\n    cycle = 0.1\n\n    \
        def step(self, seen):\n        return anabranch.Command(steer=-gains.LATERAL * seen.pose.y, accel=0.2)\n";
    project.write("line.py", driver);
    let calm = project.read("pull.toml").replace("6 deg", "0.1 deg").replace("\"20 s\"", "\"5 s\"");
    project.write("calm.toml", &calm.replace("\"path-follower\"", "{ file = \"line.py\" }"));
    check_refused_after_an_edit(&project, &["explore", "calm.toml"], "gains.py", ("0.5", "0.6"));
}
