//! `data fit-errors`: from a log to an error table that a scenario takes.

use std::path::Path;

use crate::common::{PULL, Project};

/// The shipped log; it was made with known errors.
fn with_log() -> Project {
    let project = Project::new();
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/logs/localisation.csv");
    std::fs::copy(log, project.file("log.csv")).unwrap();
    project
}

#[test]
fn the_shipped_log_gives_back_what_it_was_made_of() {
    let (code, found) = with_log().json(&["data", "fit-errors", "log.csv"]);
    assert_eq!((code, found["schema"].as_str()), (0, Some("anabranch.fit-errors/1")));
    assert_eq!(found["rows"], 1800);
    let holds = |interval: &serde_json::Value, truth: f64| {
        let end = |name: &str| interval[name].as_f64().unwrap_or_else(|| panic!("{interval}"));
        assert!(end("low") <= truth && truth <= end("high"), "{truth} in {interval}");
    };
    let x = &found["channels"][0];
    assert_eq!((x["name"].as_str(), x["unit"].as_str()), (Some("x"), Some("m")));
    holds(&x["bias"], 0.25);
    holds(&x["white"], 0.04);
    holds(&x["wander"], 0.12);
    holds(&x["correlation_time_s"], 2.0);
    holds(&found["delay_s"], 0.15);
    holds(&found["jumps"][0]["size"], 1.5);
    holds(&found["jumps"][0]["rate_per_s"], 0.05);
    holds(&found["dropouts"]["rate_per_s"], 0.08);
}

#[test]
fn the_error_table_is_taken_by_a_scenario() {
    let project = with_log();
    let ran = project.run(&["data", "fit-errors", "log.csv", "--out", "errors.toml"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("correlation time") && ran.out.contains("errors.toml"), "{}", ran.out);
    let table = project.read("errors.toml");
    let own = PULL.split("[[error]]").next().unwrap().to_owned();
    let rest = PULL.split("[explore]").nth(1).unwrap();
    project.write("fitted.toml", &format!("{own}{table}\n[explore]{rest}"));
    let checked = project.run(&["check", "fitted.toml"]);
    assert_eq!(checked.code, 0, "{checked:?}\n{table}");
    let ran = project.run(&["explore", "fitted.toml", "--until", "1 s"]);
    assert!(ran.code == 0 || ran.code == 1, "{ran:?}");
}

#[test]
fn people_see_the_table_and_the_errors_at_once() {
    let ran = with_log().run(&["data", "fit-errors", "log.csv", "--segment", "500 ms"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in ["x [m]", "heading [rad]", "jumps of position", "dropouts", "[[error]]", "segment of 0.5 s"] {
        assert!(ran.out.contains(part), "{part} in {}", ran.out);
    }
}

#[test]
fn logs_that_cannot_be_used_are_bad_input_with_their_place() {
    let project = Project::new();
    let header = "time [s],truth.x [m],estimate.x [m]\n";
    for (name, text, hint) in [
        ("short.csv", format!("{header}0,1,1\n1,2,2\n"), "2 rows"),
        ("words.csv", format!("{header}0,1,much\n"), "line 2"),
        ("other.csv", "a,b\n".to_owned(), "time [s]"),
        ("drive.mcap", String::new(), "MCAP"),
    ] {
        project.write(name, &text);
        let ran = project.run(&["data", "fit-errors", name]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(name) && ran.err.contains(hint), "{hint} in {ran:?}");
    }
    let missing = project.run(&["data", "fit-errors", "nothing.csv"]);
    assert!(missing.code == 2 && missing.err.contains("nothing.csv"), "{missing:?}");
    let segment = project.run(&["data", "fit-errors", "nothing.csv", "--segment", "3 m"]);
    assert!(segment.code == 2 && segment.err.contains("--segment"), "{segment:?}");
}
