//! Worlds and drivers whose answers depend on more than they say: nothing of that may be called *safe*.

use std::path::{Path, PathBuf};

use crate::common::{Project, Ran};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The interpreter with the kit; a test that needs it fails without it.
fn python() -> PathBuf {
    let python = root().join("target/python-venv/bin/python");
    assert!(python.is_file(), "there is no {}: `cargo xtask python` prepares it", python.display());
    python
}

fn run(project: &Project, arguments: &[&str]) -> Ran {
    let mut command = project.command(arguments);
    Ran::of(command.env("ANABRANCH_PYTHON", python()).output().expect("the program starts"))
}

fn json(project: &Project, arguments: &[&str]) -> (i32, Value) {
    let ran = run(project, &[arguments, &["--format", "json"]].concat());
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}")))
}

/// A cart on a line that is pushed; its walls are far away. `more` stands before the class, `body` in `run`.
fn cart(more: &str, settings: &str, body: &str) -> String {
    format!(
        r#"import anabranch
{more}

class Cart(anabranch.World):
    errors = {{"push": {{"none": 0.0, "left": -0.3, "right": 0.3}}}}
    merge = {{"x": (0.2, "m"), "v": (0.2, "m/s")}}
    must = ["wall"]
    segments = 6
{settings}

    def reset(self, seed):
        self.x, self.v, self.lefts, self.wall = 0.0, 0.0, 0, 100.0

    def run(self, error):
        self.lefts += error.push < 0
        self.v += error.push - 0.4 * self.x - 0.3 * self.v
{body}
        self.x += self.v
        margin = self.wall - abs(self.x)
        return anabranch.Segment(x=self.x, v=self.v, danger=-margin, margin=margin, violated=["wall"] if margin < 0 else [])
"#
    )
}

const EXHAUSTIVE: [&str; 6] = ["--merge", "none", "--until", "5 s", "--rollouts", "0"];

fn explore_all(project: &Project) -> (i32, Value) {
    json(project, &[&["explore", "cart.py"][..], &EXHAUSTIVE].concat())
}

#[test]
fn a_world_that_keeps_its_word_is_safe_when_everything_was_run_twice() {
    let project = Project::new();
    project.write("cart.py", &cart("", "", ""));
    let (code, found) = explore_all(&project);
    assert_eq!((code, &found["verdict"]), (0, &"safe".into()), "{found}");
    assert_eq!(found["world"]["doubled_segments"], 243 * 5, "every path of five segments: {found}");
    let (code, check) = json(&project, &["check", "cart.py"]);
    assert_eq!((code, &check["files"][0]["ok"]), (0, &true.into()), "{check}");
}

#[test]
fn chance_without_a_seed_and_memory_in_globals_are_not_reproducible() {
    for (more, body) in [
        ("import random\nCHANCE = random.SystemRandom()", "        self.v += CHANCE.choice([0.0, 1e-12])"),
        ("COUNT = [0]", "        COUNT[0] += 1\n        self.v += 1e-9 * COUNT[0]"),
        ("ONCE = []", "        self.v += 1e-9 * bool(ONCE)\n        error.push < 0 and ONCE.append(1)"),
    ] {
        let project = Project::new();
        project.write("cart.py", &cart(more, "", body));
        let (code, found) = explore_all(&project);
        assert_eq!((code, &found["verdict"]), (6, &"not reproducible".into()), "{more}: {found}");
        let told = found["not_reproducible"].to_string();
        assert!(told.contains("`v` was") || told.contains("`x` was"), "{more}: {told}");
        assert!(told.contains(r#"snapshot = \"fork\""#), "{more}: {told}");
        let (code, check) = json(&project, &["check", "cart.py"]);
        assert!(code != 0 && check["files"][0]["ok"] == false, "{more}: {code} {check}");
    }
}

#[test]
fn globals_are_no_trouble_where_every_branch_is_a_process() {
    let project = Project::new();
    project.write(
        "cart.py",
        &cart("COUNT = [0]", "    snapshot = \"fork\"", "        COUNT[0] += 1\n        self.v += 1e-9 * COUNT[0]"),
    );
    let (code, found) = json(&project, &["explore", "cart.py", "--merge", "none", "--until", "3 s"]);
    assert_eq!((code, &found["verdict"]), (0, &"safe".into()), "{found}");
}

#[test]
fn an_attribute_that_is_not_compared_is_named_and_followed() {
    let project = Project::new();
    // The third push to the left breaks the spring, and nobody can see how many there were.
    project.write("cart.py", &cart("", "", "        self.v += 5.0 * (self.lefts >= 3)"));
    let ran = run(&project, &["explore", "cart.py"]);
    assert!(!ran.out.contains("no state variable"), "{ran:?}");
    assert!(ran.out.contains("not compared when states were merged: lefts of the world"), "{ran:?}");
    assert!(ran.out.contains("went apart under equal errors"), "{ran:?}");
    assert!(!ran.out.contains("safe"), "{ran:?}");
    // Where sequences were merged, that is no pass.
    let longer = cart("", "", "        self.v += 5.0 * (self.lefts >= 3)").replace("segments = 6", "segments = 9");
    project.write("cart.py", &longer);
    let (code, found) = json(&project, &["explore", "cart.py"]);
    assert_eq!((code, &found["conclusion"]["because"]["kind"]), (5, &"parted".into()), "{found}");
    assert!(found["hints"].to_string().contains("merge = {"), "{found}");
    // Declared, it counts, and nothing is left out.
    let counted = cart("", "", "        self.v += 5.0 * (self.lefts >= 3)")
        .replace("\"v\": (0.2, \"m/s\")", "\"v\": (0.2, \"m/s\"), \"lefts\": None")
        .replace("v=self.v, danger", "v=self.v, lefts=self.lefts, danger");
    project.write("cart.py", &counted);
    let ran = run(&project, &["explore", "cart.py"]);
    assert!(ran.out.contains("no state variable"), "{ran:?}");
}

#[test]
fn a_world_without_margin_says_so_and_prints_no_infinite_number() {
    let project = Project::new();
    project.write("cart.py", &cart("", "", "").replace("margin=margin, ", ""));
    let ran = run(&project, &["explore", "cart.py"]);
    assert!(!ran.out.contains("inf"), "{ran:?}");
    assert!(ran.out.contains("no resolution can be stated") && ran.out.contains("reports no margin"), "{ran:?}");
    assert!(!ran.out.contains("no cell could hide"), "{ran:?}");
}

#[test]
fn nothing_depends_on_the_unit_of_a_world() {
    // A power of two changes no digit: states, choices and merges must be the same.
    let seen = |scale: &str| {
        let project = Project::new();
        let text = cart("", "    time_matters = True", "")
            .replace("\"x\": (0.2", &format!("\"x\": (0.2 * {scale}"))
            .replace("\"v\": (0.2", &format!("\"v\": (0.2 * {scale}"))
            .replace("error.push", &format!("{scale} * error.push"))
            .replace("100.0", &format!("{scale} * 0.85"));
        project.write("cart.py", &text);
        let (_, found) = json(&project, &["explore", "cart.py"]);
        assert!(found["findings"].as_u64().is_some_and(|n| n > 0) && found["merged"] != 0, "{found}");
        assert_eq!(found["settings"]["keep"], "extremes", "{found}");
        let levels = found["level_rows"].as_array().expect("rows").iter();
        let levels: Vec<Value> = levels
            .map(|row| serde_json::json!([row["segments"], row["kept"], row["merged"], row["findings"]]))
            .collect();
        let errors: Vec<Value> =
            found["groups"].as_array().expect("groups").iter().map(|g| g["errors"].clone()).collect();
        (levels, errors, found["refinement"].clone(), found["findings"].clone())
    };
    let plain = seen("1.0");
    assert_eq!(seen("2.0**16"), plain);
    assert_eq!(seen("2.0**-16"), plain);
}

#[test]
fn a_driver_whose_branches_share_a_flag_is_not_reproducible() {
    let project = Project::new();
    project.write(
        "av.py",
        r#"import anabranch

ONCE = []

class Av(anabranch.Driver):
    memoryless = True

    def step(self, seen):
        if seen.path.lateral > 0.05:
            ONCE.append(1)
        speed = max(-1.0, min(1.0, seen.path.speed_max - seen.speed))
        return anabranch.Command(steer=-0.4 * seen.path.lateral - 0.8 * seen.path.heading + 1e-9 * bool(ONCE), accel=speed)
"#,
    );
    std::fs::copy(root().join("scenarios/narrow-passage.toml"), project.file("passage.toml")).expect("it is there");
    let explore = [
        "explore",
        "passage.toml",
        "--driver",
        "av.py",
        "--until",
        "2 s",
        "--merge",
        "none",
        "--rollouts",
        "0",
        "-j",
        "1",
    ];
    let (code, found) = json(&project, &explore);
    assert_eq!((code, &found["verdict"]), (6, &"not reproducible".into()), "{found}");
    let told = found["not_reproducible"].to_string();
    assert!(told.contains("in a new instance") && told.contains("fork"), "{told}");
}

#[test]
fn a_driver_that_names_one_of_two_integrators_does_not_hide_the_other() {
    let project = Project::new();
    let driver = |key: &str| {
        format!(
            r#"import anabranch

class Av(anabranch.Driver):
    key = {key}

    def reset(self, begin):
        self.first, self.second = 0.0, 0.0

    def step(self, seen):
        self.first += 0.01 * seen.path.lateral
        self.second += 0.01 * seen.path.heading
        speed = max(-1.0, min(1.0, seen.path.speed_max - seen.speed))
        return anabranch.Command(steer=-0.4 * seen.path.lateral - 0.8 * seen.path.heading - 0.01 * self.second, accel=speed)
"#
        )
    };
    std::fs::copy(root().join("scenarios/narrow-passage.toml"), project.file("passage.toml")).expect("it is there");
    let explore = ["explore", "passage.toml", "--driver", "av.py", "--until", "2 s", "--rollouts", "0"];
    project.write("av.py", &driver(r#"{"first": 0.01}"#));
    let ran = run(&project, &explore);
    assert!(ran.out.contains("not compared when states were merged: second of the driver"), "{ran:?}");
    assert!(!ran.out.contains("no state variable"), "{ran:?}");
    project.write("av.py", &driver(r#"{"first": 0.01, "second": 0.01}"#));
    let ran = run(&project, &explore);
    assert!(ran.out.contains("no state variable"), "{ran:?}");
}

/// A small world: what its class names, what `reset` makes, and what a segment does.
fn marble(class: &str, reset: &str, body: &str) -> String {
    let lines = [
        "import os, random",
        "import anabranch",
        "G = [0]",
        "class Marble(anabranch.World):",
        "    errors = {\"e\": {\"none\": 0, \"a\": 1, \"b\": 2}}",
        "    must = [\"ok\"]",
        "    segments = 8",
        "    merge = {\"x\": (0.05, \"m\"), \"brake\": (0.1, \"\")}",
        class,
        "    def reset(self, seed):",
        "        self.x = 0.0",
        reset,
        "    def run(self, error):",
        "        self.x = 0.5 * self.x + [0.0, 0.1, -0.1][error.e]",
        "        margin = 1.0 - abs(self.x)",
        body,
        "        return anabranch.Segment(x=self.x, brake=0.0, danger=-margin, margin=margin, violated=[\"ok\"] if margin < 0 else [])",
        "anabranch.serve(Marble())\n",
    ];
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn no_memory_hides_from_the_result() {
    let many = "        for n in range(80): setattr(self, f\"p{n}\", 0.5 + n)\n        self.zz = 0";
    for (class, reset, body, expect) in [
        // A latch that is 0 or 1 while a variable is 0.
        ("", "        self.latch = 0", "        self.latch |= self.x > 0.15", "latch of the world"),
        // The name of a setting.
        ("", "        self.tick = 0", "        self.tick += error.e == 1", "tick of the world"),
        ("    __slots__ = (\"n\",)", "        self.n = 0", "        self.n += error.e == 1", "n of the world"),
        ("", many, "        self.zz += error.e == 1", "… and 17 more of the world"),
        ("    snapshot = \"fork\"", "        G[0] = 0", "        G[0] += error.e == 1", "outside of its object"),
        (
            "    global_random = True",
            "",
            "        [random.random() for _ in range(error.e)]",
            "the state of the global generators",
        ),
    ] {
        let project = Project::new();
        project.write("marble.py", &marble(class, reset, body));
        let ran = run(&project, &["explore", "marble.py", "--until", "5 s", "--rollouts", "50"]);
        assert!(!ran.out.contains("no state variable"), "{expect}: {ran:?}");
        let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(expect), "{expect}: {ran:?}");
    }
}

#[test]
fn a_declared_constant_that_changes_forbids_the_word_safe() {
    let project = Project::new();
    let forked = "    constants = [\"m\"]\n    snapshot = \"fork\"";
    project.write("marble.py", &marble(forked, "        self.m = [0]", "        self.m[0] += 1"));
    let ran = run(&project, &["explore", "marble.py", "--merge", "none", "--until", "3 s"]);
    assert!(!ran.out.contains("safe: "), "{ran:?}");
    let (_, found) = json(&project, &["explore", "marble.py", "--merge", "none", "--until", "3 s"]);
    assert_ne!(found["verdict"], "safe", "{found}");
    assert!(found.to_string().contains("`m`, which it declares constant"), "{found}");
}

#[test]
fn a_world_with_only_should_has_nothing_to_judge() {
    let project = Project::new();
    let noting =
        marble("    must, should = [], [\"slow\"]", "", "").replace("violated=[\"ok\"] if", "notes=[\"slow\"] if");
    project.write("marble.py", &noting);
    for more in [&["--until", "3 s"][..], &["--until", "3 s", "--merge", "none"]] {
        let (code, found) = json(&project, &[&["explore", "marble.py"], more].concat());
        assert_eq!((code, &found["verdict"]), (4, &"nothing to judge".into()), "{found}");
    }
    let ran = run(&project, &["check", "marble.py"]);
    assert!(ran.out.contains("only *should* requirements"), "{ran:?}");
}

#[test]
fn a_failure_that_comes_every_time_is_a_finding_in_late_segments_too() {
    for (body, fault) in [
        ("        if self.x > 0.18: raise ValueError(\"deep\")", "driver.exception"),
        ("        if self.x > 0.18: raise SystemExit(0)", "driver.exception"),
        ("        if self.x > 0.18: raise KeyboardInterrupt", "driver.crash"),
        ("        if self.x > 0.18: os._exit(0)", "driver.crash"),
        ("        if self.x > 0.18: margin = float(\"nan\")", "driver.not-a-number"),
        ("        if self.x > 0.18: margin = -float(\"inf\")", "driver.not-a-number"),
    ] {
        let project = Project::new();
        project.write("marble.py", &marble("", "", body));
        let (code, found) = json(&project, &["explore", "marble.py", "--until", "4 s", "--rollouts", "20"]);
        assert_eq!((code, &found["verdict"]), (1, &"violated".into()), "{body}: {found}");
        assert!(found.to_string().contains(fault), "{body}: {found}");
        assert!(!found.to_string().contains("driver.nondeterministic"), "{body}: {found}");
    }
}
