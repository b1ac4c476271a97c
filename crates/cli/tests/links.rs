//! The built-in law once more, in every language and by every link: through the command line all of them find what the
//! built-in driver finds, and explore one and the same graph however their states are kept.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "../../anabranch/tests/law/mod.rs"]
mod law;

use std::path::{Path, PathBuf};
use std::process::Command;

use anabranch::{DriverInstance, Endpoint, serve};
use law::Law;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The narrow passage, made short: 2 m instead of 17, four directions instead of eight, and a large error, so that a few
/// hundred segments have everything in them: contacts, arrivals, and those that come too late.
const SHORTER: [(&str, &str); 4] = [
    ("-17 m", "-2 m"),
    ("22 s", "4 s"),
    ("directions = 8", "directions = 4"),
    ("radius = \"0.1 m\"", "radius = \"0.5 m\""),
];
const BUILT_IN: &str =
    r#"{ kind = "path-follower", lateral_gain = "1.5 1/m^2", heading_gain = "2 1/m", cycle = "20 ms" }"#;
/// Few members per cell, so that it is quick: what is compared is whether all drivers find the same.
const QUICK: [&str; 9] =
    ["--merge", "x=1m,y=0.2m,heading=0.05rad", "--keep", "worst", "--rollouts", "0", "--refine", "0", "--no-pictures"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder for scenarios and drivers.
struct Bench(TempDir);

/// An exploration, as machines are told about it.
struct Explored {
    link: String,
    value: Value,
}

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }
    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).expect("a file in a temporary folder");
    }
    /// Explores with this driver, kept in this way where the driver lets one choose.
    fn explore(&self, driver: &str, snapshot: Option<&str>) -> Explored {
        let file = root().join("scenarios/narrow-passage.toml");
        let mut text = std::fs::read_to_string(file).expect("the scenario is there");
        assert!(text.contains(BUILT_IN), "the scenario names its driver otherwise");
        for (from, to) in [&SHORTER[..], &[(BUILT_IN, driver)]].concat() {
            text = text.replace(from, to);
        }
        self.write("passage.toml", &text);
        let mut command = Command::new(env!("CARGO_BIN_EXE_anabranch"));
        command.current_dir(self.0.path()).args(["explore", "passage.toml", "--format", "json"]).args(QUICK);
        command.env("ANABRANCH_PYTHON", root().join("target/python-venv/bin/python"));
        command.env_remove("ANABRANCH_SNAPSHOT");
        if let Some(snapshot) = snapshot {
            command.env("ANABRANCH_SNAPSHOT", snapshot);
        }
        let output = command.output().expect("the program starts");
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{driver} by {snapshot:?}: {words}");
        let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {words}"));
        Explored { link: format!("{driver} by {}", snapshot.unwrap_or("its own choice")), value }
    }
    /// The driver that all others are compared with.
    fn built_in(&self) -> Explored {
        let built_in = self.explore(BUILT_IN, None);
        let groups = built_in.value["groups"].as_array().expect("groups");
        assert!(groups.iter().any(|group| group["requirement"] == "no-contact"), "there are contacts");
        assert!(built_in.value["goals"].as_u64() > Some(0) && built_in.value["merged"].as_u64() > Some(0));
        built_in
    }
    /// The link whose graph all others must have: the law in C, saved as plain memory.
    fn first_link(&self) -> Explored {
        self.explore(&compiled_c(self), Some("memory"))
    }
    /// Runs something that must succeed in this folder.
    fn shell(&self, program: &str, arguments: &[&str]) {
        let output = Command::new(program).current_dir(self.0.path()).args(arguments).output();
        let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Explored {
    /// Everything that was found, with its errors: it must not depend on who drives by the same law.
    fn found(&self) -> Value {
        let without_file = |group: &Value| {
            let mut group = group.clone();
            group.as_object_mut().expect("an object").remove("finding");
            group
        };
        let groups: Vec<Value> = self.value["groups"].as_array().expect("groups").iter().map(without_file).collect();
        let of = |name: &str| self.value[name].clone();
        let counts = ["segments", "states", "merged", "findings", "goals", "timed_out", "worst_clearance_m"].map(of);
        json!({ "counts": counts, "groups": groups })
    }
    fn snapshot(&self) -> (&str, &str) {
        let word = |name: &str| self.value["driver"][name].as_str().expect("a word");
        (word("support"), word("snapshot"))
    }
}

/// The same findings as the built-in law, and the same graph as the first link.
#[track_caller]
fn check(explored: &Explored, built_in: &Explored, first: &Explored) {
    assert_eq!(explored.found(), built_in.found(), "{} finds something else", explored.link);
    assert_eq!(explored.value["digest"], first.value["digest"], "{} and {}", explored.link, first.link);
    assert_eq!((&explored.value["driver"]["merging"], &explored.value["driver"]["faults"]), (&json!("key"), &json!(0)));
}

fn compiled_c(bench: &Bench) -> String {
    let (include, source) = (root().join("c"), root().join("examples/c/follow_law.c"));
    let (include, source) = (include.display().to_string(), source.display().to_string());
    bench.shell("cc", &["-O2", "-ffp-contract=off", "-I", &include, &source, "-o", "follow_law", "-lm"]);
    r#"{ command = ["./follow_law"], cycle = "20 ms" }"#.to_owned()
}

#[test]
fn the_law_in_c_by_memory_by_fork_and_by_replay_explores_one_graph() {
    let bench = Bench::new();
    let (built_in, first) = (bench.built_in(), bench.first_link());
    assert_eq!(first.snapshot(), ("save", "own"));
    check(&first, &built_in, &first);
    for (way, shown) in [("fork", ("save", "fork")), ("replay", ("replay", "none"))] {
        let explored = bench.explore(&compiled_c(&bench), Some(way));
        assert_eq!(explored.snapshot(), shown);
        check(&explored, &built_in, &first);
    }
}

#[test]
fn the_law_in_python_by_copy_by_fork_and_by_replay_explores_that_graph() {
    let python = root().join("target/python-venv/bin/python");
    assert!(python.exists(), "{} is missing: `cargo xtask python` prepares it", python.display());
    let bench = Bench::new();
    let (built_in, first) = (bench.built_in(), bench.first_link());
    let driver = format!("{{ file = {:?}, cycle = \"20 ms\" }}", root().join("examples/follow_law.py"));
    for (way, shown) in [("copy", ("save", "copy")), ("fork", ("save", "fork")), ("replay", ("replay", "none"))] {
        let explored = bench.explore(&driver, Some(way));
        assert_eq!(explored.snapshot(), shown);
        check(&explored, &built_in, &first);
    }
}

#[test]
fn the_law_as_fmu_with_and_without_states_explores_that_graph() {
    let bench = Bench::new();
    let (built_in, first) = (bench.built_in(), bench.first_link());
    let sources = root().join("examples/fmu");
    for name in ["pack.sh", "fmi.h", "follow_law.c", "follow_law.fmi2.xml", "follow_law.fmi3.xml"] {
        std::fs::copy(sources.join(name), bench.file(name)).expect("a part of the example");
    }
    let driver = |name: &str| {
        let words = [env!("CARGO_BIN_EXE_anabranch"), "serve-fmu", name, "--key", "completed"];
        format!("{{ command = {words:?}, cycle = \"20 ms\" }}")
    };
    bench.shell("sh", &["pack.sh"]);
    for name in ["follow_law.fmi2.fmu", "follow_law.fmi3.fmu"] {
        let explored = bench.explore(&driver(name), None);
        assert_eq!(explored.snapshot(), ("save", "fmu-state"));
        check(&explored, &built_in, &first);
    }
    let text = std::fs::read_to_string(bench.file("follow_law.fmi2.xml")).expect("just copied");
    let claims = "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"";
    assert!(text.contains(claims), "the example claims to save states");
    bench.write("follow_law.fmi2.xml", &text.replace(claims, ""));
    bench.shell("sh", &["pack.sh"]);
    let explored = bench.explore(&driver("follow_law.fmi2.fmu"), None);
    assert_eq!(explored.snapshot(), ("replay", "none"));
    check(&explored, &built_in, &first);
}

#[test]
fn the_law_in_rust_that_is_running_already_explores_that_graph() {
    let bench = Bench::new();
    let (built_in, first) = (bench.built_in(), bench.first_link());
    let endpoint = Endpoint::bind("tcp://127.0.0.1:0").expect("a free port");
    let address = endpoint.address().expect("its address").to_string();
    // Serves until this process ends.
    std::thread::spawn(move || serve(&mut DriverInstance::new(Law::default()), &endpoint));
    let explored = bench.explore(&format!("{{ zmq = {address:?}, cycle = \"20 ms\" }}"), None);
    assert_eq!(explored.snapshot(), ("save", "copy"));
    check(&explored, &built_in, &first);
}

#[cfg(feature = "wasm")]
#[test]
fn the_law_as_wasm_module_explores_that_graph() {
    let bench = Bench::new();
    let (built_in, first) = (bench.built_in(), bench.first_link());
    let (include, source) = (root().join("c"), root().join("examples/wasm/follow_law.c"));
    let include = format!("-I{}", include.display());
    let words = "--target=wasm32 -O2 -ffp-contract=off -mbulk-memory -nostdlib -Wl,--no-entry -o follow_law.wasm";
    let mut words: Vec<&str> = words.split(' ').collect();
    let source = source.display().to_string();
    words.extend([include.as_str(), source.as_str()]);
    bench.shell("clang", &words);
    let explored = bench.explore(r#"{ file = "follow_law.wasm", cycle = "20 ms" }"#, None);
    assert_eq!(explored.snapshot(), ("save", "memory"));
    check(&explored, &built_in, &first);
}
