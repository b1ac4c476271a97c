//! Hints are tried: each command is pasted into a shell, as it is on the terminal, and must do what was said.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{PULL, Project, Ran};
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

/// Pastes lines into a shell that finds the program.
fn paste(project: &Project, lines: &str) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_anabranch"));
    let mut path = program.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.current_dir(project.path()).args(["-c", lines]).env("PATH", path).env("ANABRANCH_PYTHON", python());
    Ran::of(shell.output().expect("a shell starts"))
}

/// What a run left, with the exit code.
fn explored(project: &Project, command: &str) -> (i32, Value) {
    let ran = paste(project, command);
    let result =
        serde_json::from_str(&project.read("runs/last/result.json")).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    (ran.code, result)
}

/// A hint: why, what to try as it is on the terminal, effect.
#[derive(Debug)]
struct Shown {
    why: String,
    lines: String,
    effect: String,
}

/// Explores, and returns the hints. Terminal, machine output and page must have the same ones.
fn hinted(project: &Project, command: &str) -> (i32, Value, Vec<Shown>) {
    let ran = paste(project, command);
    let result: Value = serde_json::from_str(&project.read("runs/last/result.json")).expect("a result");
    let page = project.read("runs/last/report.html");
    let mut shown: Vec<Shown> = Vec::new();
    let (_, rest) = ran.out.split_once("\nhint ").unwrap_or_else(|| panic!("no hint: {ran:?}"));
    for block in format!("\nhint {rest}").split("\nhint ").skip(1) {
        let lines: Vec<&str> = block.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "too wide: {block}");
        let is_command = |line: &&str| line.contains("anabranch explore");
        let first = lines.iter().position(is_command);
        let last = first.map(|first| first + lines[first..].iter().take_while(|line| line.ends_with('\\')).count());
        let (Some(first), Some(last)) = (first, last) else { panic!("no command: {block}") };
        let joined = |lines: &[&str]| lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        let (why, effect) = (joined(&lines[..first]), joined(&lines[last + 1..]));
        shown.push(Shown { why, lines: lines[first..=last].join("\n"), effect });
    }
    let objects = result["hints"].as_array().expect("hints");
    assert!(!objects.is_empty() && objects.len() <= 3 && objects.len() == shown.len(), "{ran:?}");
    for (object, shown) in objects.iter().zip(&shown) {
        assert_eq!((&object["why"], &object["effect"]), (&shown.why.clone().into(), &shown.effect.clone().into()));
        assert!(
            page.contains(&escaped(&shown.why)) && page.contains(&escaped(object["try"].as_str().unwrap())),
            "{object}"
        );
    }
    (ran.code, result, shown)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// The hint whose command has these words.
fn with<'a>(hints: &'a [Shown], words: &str) -> &'a Shown {
    hints.iter().find(|hint| hint.lines.contains(words)).unwrap_or_else(|| panic!("no `{words}` in {hints:#?}"))
}

/// `cells of 2 m leave about 43 % of …` as a share.
fn percent(text: &str) -> f64 {
    let before = text.split(" %").next().unwrap_or_default();
    before.rsplit(' ').next().and_then(|number| number.parse::<f64>().ok()).unwrap_or_else(|| panic!("{text}")) / 100.0
}

/// A small error in small segments; nothing is violated.
fn steady(merge: &str) -> Project {
    let project = Project::new();
    let text = PULL
        .replace("6 deg", "0.3 deg")
        .replace("until   = \"20 s\"", &format!("until   = \"14 s\"\nscope = \"level\"\n{merge}"));
    project.write("pull.toml", &text);
    project
}

const FINE: &str = "merge = { x = \"0.1 m\", y = \"0.02 m\", heading = \"0.0002 rad\", driver_station = \"0.5 m\" }";

/// The wider cell of a hint lets the exploration end within its budget, and leaves as many states as was estimated.
fn check_separator(project: &Project, variable: &str, budget: &str) {
    let (code, result, hints) =
        hinted(project, &format!("anabranch explore pull.toml --no-pictures --budget {budget}"));
    assert_eq!((code, &result["verdict"]), (5, &"incomplete".into()), "{result}");
    let hint = with(&hints, "--merge");
    assert!(hint.why.contains(&format!("`{variable}` keeps states apart")), "{hints:#?}");
    let (code, wider) = explored(project, &hint.lines);
    assert_eq!((code, &wider["verdict"]), (0, &"not found".into()), "{wider}");
    // Both to their end.
    let (_, all) = explored(project, "anabranch explore pull.toml --no-pictures");
    let share = wider["states"].as_f64().unwrap() / all["states"].as_f64().unwrap();
    let estimate = percent(&hint.effect);
    assert!((1.0 / 1.5..1.5).contains(&(share / estimate)), "{share} of the states, estimated {estimate}");
}

#[test]
fn a_wider_cell_for_the_variable_that_keeps_states_apart_leaves_as_many_states_as_was_estimated() {
    check_separator(&steady(FINE), "heading", "states=800");
}

#[test]
fn where_cells_were_measured_the_others_are_written_down_and_stay() {
    let project = steady("");
    let (_, before, hints) = hinted(&project, "anabranch explore pull.toml --no-pictures --budget states=400");
    let hint = with(&hints, "--merge");
    let (_, after) = explored(&project, &hint.lines);
    let cells = |result: &Value| -> Vec<String> {
        result["settings"]["merge"].as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().to_owned()).collect()
    };
    let differing: Vec<(String, String)> =
        cells(&before).into_iter().zip(cells(&after)).filter(|(before, after)| before != after).collect();
    let named = hint.why.split('`').nth(1).unwrap();
    assert!(differing.len() == 1 && differing[0].0.starts_with(named), "{differing:?} for {hint:?}");
    assert_eq!((&before["complete"], &after["complete"]), (&false.into(), &true.into()), "{after}");
}

#[test]
fn fewer_errors_and_longer_segments_leave_the_sequences_that_were_counted() {
    let project = steady(FINE);
    let (_, _, hints) = hinted(&project, "anabranch explore pull.toml --no-pictures --budget states=800");
    let hint = with(&hints, "errors.per_run");
    let (code, fewer) = explored(&project, &hint.lines);
    assert_eq!((code, &fewer["sequences"]), (0, &393.0.into()), "{fewer}");
    assert!(hint.effect.contains("leave 393 sequences"), "{hint:?}");

    let (_, _, hints) =
        hinted(&project, "anabranch explore pull.toml --no-pictures --budget states=800 --set errors.per_run=9");
    let hint = with(&hints, "explore.segment");
    let (code, longer) = explored(&project, &hint.lines);
    assert_eq!((code, &longer["complete"]), (0, &true.into()), "{longer}");
    assert!(longer["sequences"] == 2187.0 && hint.effect.contains("leave 2 187 sequences"), "{hint:?} {longer}");
}

#[test]
fn where_nothing_was_merged_merging_is_proposed() {
    let project = steady(FINE);
    let (code, _, hints) =
        hinted(&project, "anabranch explore pull.toml --no-pictures --merge none --budget states=1100");
    assert!(code == 5 && hints[0].why == "nothing was merged", "{hints:#?}");
    assert_eq!(explored(&project, &hints[0].lines).0, 0);
}

#[test]
fn every_sequence_is_run_where_that_is_cheap_with_room_in_the_budget() {
    let project = steady(FINE);
    let (code, _, hints) =
        hinted(&project, "anabranch explore pull.toml --no-pictures --until '4 s' --budget states=10,time=100s");
    assert!(code == 5 && hints[0].effect.contains("every one of the 81 error sequences is run"), "{hints:#?}");
    let (code, all) = explored(&project, &hints[0].lines);
    assert_eq!((code, &all["verdict"]), (0, &"safe".into()), "{all}");
}

#[test]
fn random_runs_that_are_asked_for_suffice_to_know_the_coverage() {
    let project = steady(FINE);
    let (code, _, hints) = hinted(&project, "anabranch explore pull.toml --no-pictures --rollouts 50");
    assert!(code == 5 && hints[0].lines.contains("--rollouts 437"), "{hints:#?}");
    let (code, covered) = explored(&project, &hints[0].lines);
    assert_eq!((code, &covered["verdict"]), (0, &"not found".into()), "{covered}");
}

#[test]
fn danger_first_finds_within_a_budget_what_breadth_first_does_not() {
    let project = Project::new();
    let file = root().join("scenarios/narrow-passage.toml");
    project.write("narrow.toml", &std::fs::read_to_string(file).expect("a shipped scenario"));
    let command = "anabranch explore narrow.toml --no-pictures --rollouts 0 --budget states=1000";
    let (code, _, hints) = hinted(&project, command);
    assert_eq!(code, 5, "{hints:#?}");
    let (code, found) = explored(&project, &with(&hints, "--order danger --stop-on-first").lines);
    assert_eq!((code, &found["verdict"]), (1, &"violated".into()), "{found}");
    // A run with an answer needs no hint.
    assert_eq!(found["hints"], serde_json::json!([]));
}

#[test]
fn a_run_that_ends_before_a_must_is_judged_is_proposed_whole() {
    let project = steady(FINE);
    let text =
        project.read("pull.toml") + "\n[[must]]\nid = \"arrives\"\neventually = \"ego.at_goal\"\nby = \"14 s\"\n";
    project.write("pull.toml", &text);
    let (code, _, hints) = hinted(&project, "anabranch explore pull.toml --no-pictures --until '3 s'");
    assert!(code == 5 && hints[0].why.contains("`arrives`"), "{hints:#?}");
    let (code, whole) = explored(&project, &hints[0].lines);
    assert_eq!((code, &whole["verdict"]), (0, &"not found".into()), "{whole}");
}

const DRIVER: &str = r#"import anabranch


class Follow(anabranch.Driver):
    # KEY

    def reset(self, begin):
        self.integral = 0.0

    def step(self, seen):
        path = seen.path
        self.integral += 0.001 * path.lateral
        steer = -0.01 * self.integral - 0.6 * path.lateral - 1.2 * path.direction * path.heading
        arrived = path.sections_left == 0 and path.to_end < 0.05 and abs(seen.speed) < 0.05
        return anabranch.Command(steer=steer, accel=2.0 * (min(1.0, 0.8 * path.remaining) - abs(seen.speed)), completed=arrived)


if __name__ == "__main__":
    anabranch.serve(Follow())
"#;

#[test]
fn a_driver_that_names_the_attributes_that_count_merges() {
    let project = steady("merge = { x = \"0.5 m\", y = \"0.2 m\", heading = \"0.1 rad\" }");
    let text = project.read("pull.toml").replace("\"path-follower\"", "\"follow.py\"").replace("14 s", "6 s");
    project.write("pull.toml", &text);
    project.write("follow.py", DRIVER);
    let ran = paste(&project, "anabranch explore pull.toml --no-pictures --rollouts 0 --budget states=200");
    let result: Value = serde_json::from_str(&project.read("runs/last/result.json")).expect("a result");
    let key = "key = {\"integral\": 0.02}";
    let hints = result["hints"].as_array().expect("hints");
    assert!(ran.code == 5 && hints.iter().any(|hint| hint["try"] == key), "{ran:?}");
    assert!(ran.out.contains("the driver's memory counts bit by bit"), "{ran:?}");
    project.write("follow.py", &DRIVER.replace("# KEY", key));
    let (_, named) = explored(&project, "anabranch explore pull.toml --no-pictures --rollouts 0 --budget states=200");
    assert_eq!(named["complete"], true, "{named}");
}

/// A world in which differences grow, and one with memory in a global.
fn world(state: &str, step: &str, segments: u32) -> Project {
    let project = Project::new();
    let text = format!(
        r#"import anabranch

COUNT = [0]


class One(anabranch.World):
    errors = {{"kick": {{"none": 0.0, "up": 0.0123, "down": -0.0117}}}}
    merge = {{"x": (0.02, "")}}
    must = ["low"]
    segments = {segments}
    time_matters = True

    def reset(self, seed):
        self.x = {state}

    def run(self, error):
{step}
        margin = self.x + 0.05
        return anabranch.Segment(x=self.x, danger=-margin, margin=margin, violated=[])


if __name__ == "__main__":
    anabranch.serve(One())
"#
    );
    project.write("one.py", &text);
    project
}

#[test]
fn memory_in_globals_is_saved_with_the_process() {
    let step = "        COUNT[0] += 1\n        self.x = 0.5 * self.x + error.kick + 1e-9 * COUNT[0]";
    let project = world("0.3", step, 2);
    let (code, _, hints) = hinted(&project, "anabranch explore one.py");
    assert!(code == 6 && hints[0].lines.contains("ANABRANCH_SNAPSHOT=fork anabranch explore one.py"), "{hints:#?}");
    assert_eq!(explored(&project, &hints[0].lines).0, 0);
}

#[test]
fn where_differences_grow_a_shorter_run_has_an_answer() {
    let step = "        self.x = (2.6 * self.x + error.kick) % 1.0";
    let project = world("0.3137", step, 11);
    let (code, _, hints) = hinted(&project, "anabranch explore one.py");
    assert!(code == 5 && hints[0].why.starts_with("differences between runs grow"), "{hints:#?}");
    assert_eq!(explored(&project, &with(&hints, "--until").lines).0, 0);
}
