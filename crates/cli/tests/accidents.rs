//! Accidents that a search finds in the closed loop, and why they happened.

use crate::common::{Project, Ran};
use serde_json::Value;

/// The scenario of the accident at the T-junction, in the closed loop with all its parts.
fn accident() -> String {
    format!("{}/../../scenarios/t-junction-accident.toml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn accidents_at_the_t_junction_are_found_in_the_closed_loop_and_told_apart_with_their_causes() {
    let (project, scenario) = (Project::new(), accident());
    // Three of the first twelve seeds have the published mechanism among their accidents (6, 8 and 9); most have others.
    let search = ["--seed", "9", "search", &scenario, "-q", "--budget", "200", "--no-baseline"];
    let (code, found) = project.json(&search);
    assert_eq!((code, &found["verdict"]), (1, &"violated".into()), "{found}");
    let accidents = found["groups"].as_array().unwrap();
    assert!(accidents.len() >= 2, "different accidents in one search: {}", found["groups"]);
    let causes = ["missed", "detected late", "blind corner", "controller too aggressive", "unavoidable"];
    let mut mechanisms = 0;
    for (number, accident) in accidents.iter().enumerate() {
        let triage = &accident["triage"];
        assert!(causes.iter().any(|cause| triage["cause"] == *cause), "{triage}");
        assert!(triage["visible_s"].as_f64() >= triage["believed_s"].as_f64(), "{triage}");
        assert!(triage["prevented_by"]["daylight"].is_boolean(), "{triage}");
        mechanisms += usize::from(triage["published_mechanism"] == true);
        let file = accident["finding"].as_str().unwrap().replace("finding.toml", "blind-corner.toml");
        let is_corner = triage["cause"] == "blind corner";
        assert_eq!(project.file(&file).is_file(), is_corner, "{file}");
        assert!(!is_corner || project.read(&file).contains("kind    = \"blind-corner\""), "{file}");
        let (code, again) = project.json(&["replay", &format!("last#{}", number + 1)]);
        assert_eq!((code, &again["same_as_found"]), (1, &true.into()), "{again}");
    }
    assert!(mechanisms > 0, "twilight, seen late, similar speeds: {}", found["groups"]);
    // A finding is asked the same when it is explained, with the smallest errors that do it.
    let (code, why) = project.json(&["explain", "last#1"]);
    assert_eq!((code, &why["triage"]["with"]), (0, &"car `other`".into()), "{why}");
    assert!(causes.iter().any(|cause| why["triage"]["cause"] == *cause), "{}", why["triage"]);
    let first = accidents[0]["triage"]["sentences"][1].as_str().unwrap();
    let (_, sight) = first.split_once(" was in ").unwrap();
    assert!(project.read("runs/last/report.html").contains(sight), "{first}");
}

#[test]
fn a_search_says_why_in_words() {
    let (project, scenario) = (Project::new(), accident());
    let ran =
        project.run(&["--seed", "5", "search", &scenario, "-q", "--budget", "100", "--no-baseline", "--stop-on-first"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().map(str::trim).collect();
    let why = lines.iter().position(|line| line.contains(" prevents it")).expect("why");
    assert!(lines[why].contains("the fault of"), "{}", lines[why]);
    assert!(lines[why + 1].starts_with("car `other` was in line of sight for "), "{}", lines[why + 1]);
}

#[test]
fn a_driver_from_outside_is_asked_again_why_it_had_an_accident() {
    let (project, scenario) = (Project::new(), accident());
    let driver = format!("{}/../../examples/lane_keeper.py", env!("CARGO_MANIFEST_DIR"));
    // It stops at signs and yields to nobody.
    let search = ["--seed", "1", "search", &scenario, "-q", "--driver", &driver, "--budget", "60"];
    let mut command =
        project.command(&[&search[..], &["--no-baseline", "--stop-on-first", "--format", "json"]].concat());
    command.env("ANABRANCH_PYTHON", format!("{}/../../target/python-venv/bin/python", env!("CARGO_MANIFEST_DIR")));
    let ran = Ran::of(command.output().expect("the program starts"));
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    assert_eq!((ran.code, &found["verdict"]), (1, &"violated".into()), "{found}");
    let triage = &found["groups"][0]["triage"];
    assert_eq!(triage["with"], "car `other`", "{triage}");
    // The same program is asked again and told other things: with the sign in sight it stops, and it knows of the sign by day or from a map.
    assert_eq!((&triage["cause"], &triage["fault"]), (&"missed".into(), &"car".into()), "{triage}");
    let prevented = [("daylight", true), ("signs_known", true), ("nothing_hides", false), ("perfect_sensor", false)];
    for (question, answer) in prevented {
        assert_eq!(triage["prevented_by"][question], answer, "{question}: {triage}");
    }
}
