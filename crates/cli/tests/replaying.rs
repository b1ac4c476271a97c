//! One simulation, and findings again: the way of the tutorial.

use crate::common::{PULL, Project};
use serde_json::Value;

#[test]
fn the_tutorial_can_be_followed() {
    let project = Project::new();
    assert_eq!(project.run(&["new", "first", "--template", "first-steps"]).code, 0);
    let here = |arguments: &[&str]| project.run(&[&["-C", "first"], arguments].concat());
    assert_eq!(here(&["check", "first-steps.toml"]).code, 0);
    assert_eq!(here(&["run", "first-steps.toml"]).code, 0);
    // What is found in a shipped scenario is its own business; the way on is shown with ours.
    let shipped = here(&["explore", "first-steps.toml", "--no-pictures"]);
    assert!([0, 1].contains(&shipped.code), "{shipped:?}");
    project.write("first/pull.toml", PULL);
    let explored = here(&["explore", "pull.toml"]);
    assert_eq!(explored.code, 1, "{explored:?}");
    assert!(explored.out.contains("anabranch replay last#1"), "{explored:?}");
    let replayed = here(&["replay", "last#1"]);
    assert_eq!(replayed.code, 1, "{replayed:?}");
    assert!(replayed.out.contains("the same verdict on the same tick"), "{replayed:?}");
}

#[test]
fn a_run_without_errors_passes_and_leaves_a_trace() {
    let project = Project::new();
    let (code, run) = project.json(&["run", "pull.toml", "--trace", "trace.csv"]);
    assert_eq!((code, &run["verdict"], &run["completed"]), (0, &"completed".into(), &true.into()), "{run}");
    assert!(run["worst_clearance_m"].as_f64().unwrap() > 0.0);
    let trace = project.read("trace.csv");
    assert!(trace.starts_with("tick,time [s],"), "{}", &trace[..60]);
    assert_eq!(trace.lines().count() as u64, run["tick"].as_u64().unwrap() + 2);
    let human = project.run(&["run", "pull.toml", "--set", "ego.start.y=0.05 m"]);
    assert!(human.code == 0 && human.out.contains("manoeuvre completed"), "{human:?}");
}

#[test]
fn a_finding_replays_to_the_same_verdict_on_the_same_tick() {
    let project = Project::new();
    let (_, explored) = project.json(&["explore", "pull.toml", "--no-pictures"]);
    let group = &explored["groups"][0];
    let (code, replayed) = project.json(&["replay", "last#1", "--twice", "--trace", "t.csv"]);
    assert_eq!(code, 1, "{replayed}");
    for key in ["tick", "requirement", "time_s"] {
        assert_eq!(replayed[key], group[key], "{key}");
    }
    assert_eq!((&replayed["same_as_found"], &replayed["twice"]["equal"]), (&true.into(), &true.into()));
    assert_eq!(replayed["contact"], group["contact"]);
    let file = group["finding"].as_str().unwrap();
    let (code, run) = project.json(&["run", "pull.toml", "--errors", file]);
    assert_eq!((code, &run["tick"], &run["state_digest"]), (1, &replayed["tick"], &replayed["state_digest"]));
    assert_eq!(project.json(&["replay", file]).1["tick"], replayed["tick"]);
}

#[test]
fn overrides_of_the_run_are_part_of_its_findings() {
    let project = Project::new();
    let (code, explored) = project.json(&["explore", "pull.toml", "--no-pictures", "--set", "ego.start.y=0.02 m"]);
    assert_eq!(code, 1, "{explored}");
    let (_, replayed) = project.json(&["replay", "last#1"]);
    assert_eq!((&replayed["same_as_found"], &replayed["tick"]), (&true.into(), &explored["groups"][0]["tick"]));
}

#[test]
fn a_changed_scenario_is_mentioned_and_the_run_replays_as_it_was() {
    let project = Project::new();
    assert_eq!(project.run(&["explore", "pull.toml", "--no-pictures"]).code, 1);
    project.write("pull.toml", &PULL.replace("y = \"1.5 m\"", "y = \"4 m\""));
    let ran = project.run(&["replay", "last#1"]);
    assert!(ran.code == 1 && ran.err.contains("has changed") && ran.out.contains("the same verdict"), "{ran:?}");
    // A kept finding is run with the scenario of today.
    let kept = project.run(&["replay", "last#1", "--keep"]);
    assert!(kept.out.contains("findings/"), "{kept:?}");
    let name = std::fs::read_dir(project.file("findings")).unwrap().next().unwrap().unwrap().file_name();
    let today = project.run(&["replay", &format!("findings/{}", name.to_string_lossy())]);
    assert!(today.code == 0 && today.err.contains("not the text") && today.out.contains("not as found"), "{today:?}");
}

#[test]
fn a_forged_verdict_is_not_reproducible() {
    let project = Project::new();
    assert_eq!(project.run(&["explore", "pull.toml", "--no-pictures"]).code, 1);
    let (_, replayed) = project.json(&["replay", "last#1"]);
    let file = replayed["finding"].as_str().unwrap();
    let tick = replayed["tick"].as_u64().unwrap();
    let forged = project.read(file).replace(&format!("tick = {tick}"), &format!("tick = {}", tick - 1));
    project.write(file, &forged);
    assert_eq!(project.run(&["replay", "last#1"]).code, 6);
}

#[test]
fn references_that_lead_nowhere_are_bad_input() {
    let project = Project::new();
    for reference in ["last#1", "last", "nothing#2", "last#0", "no.toml"] {
        let ran = project.run(&["replay", reference]);
        assert!(ran.code == 2 && ran.err.starts_with("error: "), "{ran:?}");
    }
    let harmless =
        project.json(&["explore", "pull.toml", "--no-pictures", "--set", "error.steering-pulls.offset.by=0.1 deg"]);
    assert_eq!(harmless.0, 0);
    assert!(project.run(&["replay", "last#1"]).err.contains("has no findings"));
    project.write("bad.toml", "schema = \"anabranch.finding/1\"\nnonsense = 1\n");
    let ran = project.run(&["run", "pull.toml", "--errors", "bad.toml"]);
    assert!(ran.code == 2 && ran.err.contains("bad.toml:"), "{ran:?}");
}

#[test]
fn bad_input_is_an_object_for_machines_too() {
    let project = Project::new();
    let (code, error) = project.json(&["replay", "last#1"]);
    assert_eq!((code, &error["schema"], &error["exit"]), (2, &"anabranch.error/1".into(), &Value::from(2)));
}
