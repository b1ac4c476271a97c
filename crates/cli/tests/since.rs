//! `explore --remember` and `explore --since`: what a change cannot reach is not run again, and nothing else changes.

use crate::common::{Project, Ran};
use serde_json::Value;

const SCENARIO: &str = include_str!("../../../scenarios/pass-and-reverse.toml");
const REVERSE: &str = "ego.driver.reverse_lateral_gain=\"0.95 1/m^2\"";
/// Few states of each cell, so that a test is quick.
const EXPLORE: [&str; 7] = ["explore", "pass.toml", "--keep", "first", "--rollouts", "50", "--no-pictures"];

fn project() -> Project {
    let project = Project::new();
    project.write("pass.toml", SCENARIO);
    project
}

fn explored(project: &Project, more: &[&str]) -> (i32, Value) {
    project.json(&[&EXPLORE, more].concat())
}

fn told(project: &Project, more: &[&str]) -> Ran {
    project.run(&[&EXPLORE, more].concat())
}

/// What must not depend on what was remembered.
fn lasting(result: &Value) -> Vec<Value> {
    let keys = [
        "digest",
        "complete",
        "segments",
        "states",
        "merged",
        "findings",
        "worst_clearance_m",
        "coverage",
        "verdict",
        "level_rows",
        "goals",
        "timed_out",
        "should_violated",
        "constant_errors_violate",
        "groups",
        "soundness",
    ];
    keys.iter().map(|key| result[key].clone()).collect()
}

#[test]
fn a_changed_gain_is_explored_with_half_the_segments_and_the_same_result() {
    let project = project();
    let (_, first) = explored(&project, &["--remember", "--name", "first"]);
    assert!(first["remembered_bytes"].as_u64().unwrap() > 100_000);
    assert_eq!(first["reused_segments"], Value::Null, "nobody asked");
    let (code, again) = explored(&project, &["--since", "last", "--set", REVERSE, "--remember"]);
    let (code_scratch, scratch) = explored(&project, &["--set", REVERSE]);
    assert_eq!((code, lasting(&again)), (code_scratch, lasting(&scratch)));

    let number = |key: &str| again[key].as_u64().unwrap();
    assert_eq!(
        number("segments"),
        number("reused_segments") + number("simulated_segments") - number("checked_segments")
    );
    assert!(number("simulated_segments") * 2 <= number("segments"), "{again:#}");
    assert_eq!(again["changed_parts"], serde_json::json!(["driver.reverse"]));
    let difference = &again["first_difference"];
    let (begins_s, time_s) = (difference["segment_begins_s"].as_f64().unwrap(), difference["time_s"].as_f64().unwrap());
    assert!(begins_s >= 20.0 && time_s > begins_s && time_s <= begins_s + 1.0, "{difference:#}");
    assert_eq!(difference["choices"].as_array().unwrap().len() as u64, difference["level"].as_u64().unwrap() + 1);
    assert!(difference["signal"].as_str().unwrap().starts_with("ego."));
    assert_ne!(difference["before"], difference["after"]);

    let saved = project.read(&format!("{}/result.json", again["run"].as_str().unwrap()));
    assert!(saved.contains("\"simulated_segments\""), "the folder says it too");

    // What the second run remembered is enough for a third, and people are told the same.
    let ran = told(&project, &["--since", again["run"].as_str().unwrap(), "--set", REVERSE]);
    assert!(ran.out.contains("nothing changed that a segment reads"), "{}", ran.out);
    assert!(ran.out.contains("nowhere: every segment that both runs know ends alike"), "{}", ran.out);
    let ran = told(&project, &["--since", first["run"].as_str().unwrap(), "--set", REVERSE]);
    assert!(ran.out.contains("changed: driver.reverse;") && ran.out.contains("segments reused ("), "{}", ran.out);
    assert!(ran.out.contains("first in the segment that begins after"), "{}", ran.out);
}

#[test]
fn where_nothing_can_be_taken_over_everything_is_run_and_said() {
    let project = project();
    let (code, scratch) = explored(&project, &[]);
    let (code_again, again) = explored(&project, &["--since", "last"]);
    assert_eq!((code, lasting(&scratch)), (code_again, lasting(&again)));
    assert_eq!((&again["reused_segments"], &again["simulated_segments"]), (&Value::from(0), &again["segments"]));
    let why = again["since_unusable"].as_str().unwrap();
    assert!(why.contains("it kept no segments; explore it with --remember"), "{why}");

    explored(&project, &["--remember"]);
    let ran = told(&project, &["--since", "last", "--set", "ego.driver.cruise=\"0.9 m/s\""]);
    assert!(ran.err.contains("something has changed that every segment may read"), "{}", ran.err);
    assert!(ran.out.contains("nothing reused, everything was run"), "{}", ran.out);

    let ran = told(&project, &["--since", "no-such-run"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("there is no run `no-such-run`"), "{}", ran.err);
    assert_eq!(project.run(&["explore", ".", "--since", "last"]).code, 2);
}

#[test]
fn a_damaged_memory_is_noticed_and_costs_only_what_is_damaged() {
    let project = project();
    let (_, first) = explored(&project, &["--remember"]);
    let file = format!("{}/segments.memo", first["run"].as_str().unwrap());
    let good = std::fs::read(project.file(&file)).unwrap();
    let since = ["--since", first["run"].as_str().unwrap()];

    let mut flipped = good.clone();
    // All over the file: it has the segments of random runs as well.
    (1..16).for_each(|part| flipped[part * good.len() / 16] ^= 4);
    std::fs::write(project.file(&file), &flipped).unwrap();
    let ran = told(&project, &since);
    assert!(ran.err.contains("are not what was written; those segments are run again"), "{}", ran.err);
    let (_, again) = explored(&project, &since);
    assert_eq!(lasting(&again), lasting(&first));
    let reused = again["reused_segments"].as_u64().unwrap();
    assert!(reused > 0 && reused < again["segments"].as_u64().unwrap(), "{reused}");

    std::fs::write(project.file(&file), &good[..good.len() - 5]).unwrap();
    let (_, again) = explored(&project, &since);
    assert_eq!(lasting(&again), lasting(&first));

    let mut headless = good;
    headless[3] ^= 1;
    std::fs::write(project.file(&file), &headless).unwrap();
    let (_, again) = explored(&project, &since);
    assert_eq!(lasting(&again), lasting(&first));
    assert!(again["since_unusable"].as_str().unwrap().contains("damaged"));
}
