//! Accidents that a search finds in the closed loop, and why they happened.

use crate::common::Project;

/// The scenario of the accident at the T-junction, in the closed loop with all its parts.
fn accident() -> String {
    format!("{}/../../scenarios/t-junction-accident.toml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn accidents_at_the_t_junction_are_found_in_the_closed_loop_and_told_apart_with_their_causes() {
    let (project, scenario) = (Project::new(), accident());
    // Three of the first twelve seeds have the published mechanism among their accidents (4, 5 and 11); most have others.
    let search = ["--seed", "5", "search", &scenario, "-q", "--budget", "200", "--no-baseline"];
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
