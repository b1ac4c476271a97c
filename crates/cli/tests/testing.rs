//! `test`: kept findings, scenarios with what they expect, parts of a suite, and the file for CI.

use std::path::Path;

use crate::common::{PULL, Project};

/// A project with `scenarios/` of its own; `pull.toml` at its top is removed.
fn project(scenarios: &[(&str, String)]) -> Project {
    let project = Project::new();
    std::fs::remove_file(project.file("pull.toml")).unwrap();
    std::fs::create_dir(project.file("scenarios")).unwrap();
    for (name, text) in scenarios {
        project.write(&format!("scenarios/{name}.toml"), text);
    }
    project
}

fn pull() -> String {
    PULL.to_owned()
}
fn harmless() -> String {
    PULL.replace("\"pull\"", "\"harmless\"").replace("6 deg", "0.1 deg")
}
fn expecting(text: String, expect: &str) -> String {
    format!("{text}\n[test]\nexpect = \"{expect}\"\n")
}

#[test]
fn what_is_expected_passes_and_everything_else_fails() {
    let check = |text: String, code: i32, result: &str| {
        let project = project(&[("one", text)]);
        let (got, tested) = project.json(&["test"]);
        assert_eq!(
            (got, &tested["scenarios"][0]["result"], &tested["schema"]),
            (code, &result.into(), &"anabranch.test/1".into()),
            "{tested}"
        );
    };
    check(harmless(), 0, "passed");
    check(pull(), 1, "failed");
    check(expecting(pull(), "violated"), 0, "passed");
    check(expecting(harmless(), "violated"), 1, "failed");
    // Merging by likeness is never called safe.
    check(expecting(harmless(), "safe"), 1, "failed");
    check(expecting(harmless(), "no path"), 1, "failed");
    let no_path = harmless().replace("path    = [{ length = \"10 m\" }]", "safety_distance = \"40 m\"");
    check(no_path.clone(), 1, "failed");
    check(expecting(no_path, "no path"), 0, "passed");
}

#[test]
fn a_spent_budget_is_incomplete_and_never_a_pass() {
    let project = project(&[("one", harmless())]);
    let (code, tested) = project.json(&["test", "--budget", "states=2", "--junit", "out.xml"]);
    assert_eq!((code, &tested["scenarios"][0]["result"]), (5, &"incomplete".into()), "{tested}");
    let xml = project.read("out.xml");
    assert!(xml.contains("<error message=\"incomplete") && xml.contains("errors=\"1\""), "{xml}");
    let human = project.run(&["test", "--budget", "states=2"]);
    assert!(human.code == 5 && human.out.contains("INCOMPLETE") && human.out.contains("0 passed"), "{human:?}");
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let broken = PULL.replace("\"6 deg\"", "6");
    let project = project(&[("a", broken), ("b", harmless()), ("c", pull())]);
    let ran = project.run(&["test"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("scenarios/a.toml:21:17") && ran.err.contains("E0104"), "{ran:?}");
    assert!(ran.out.contains("pass scenarios/b.toml") && ran.out.contains("FAIL scenarios/c.toml"), "{ran:?}");
    assert!(ran.out.contains("3 cases: 1 passed, 1 failed, 1 could not be run"), "{ran:?}");
}

#[test]
fn kept_findings_come_first_and_are_fixed_or_still_fail() {
    let project = project(&[("pull", pull())]);
    assert_eq!(project.run(&["explore", "scenarios/pull.toml", "--no-pictures"]).code, 1);
    let kept = project.json(&["replay", "last#1", "--keep"]).1["kept"].as_str().unwrap().to_owned();
    assert_eq!(kept, "findings/pull-no-contact-left-front.toml");
    // The same finding is kept once.
    assert_eq!(project.json(&["replay", "last#1", "--keep"]).1["kept"].as_str(), Some(kept.as_str()));
    assert_eq!(std::fs::read_dir(project.file("findings")).unwrap().count(), 1);

    let (code, tested) = project.json(&["test", "--filter", "findings/"]);
    let case = &tested["findings"][0];
    assert_eq!(
        (code, &case["verdict"], &case["details"]["scenario_has_changed"]),
        (1, &"still fails".into(), &false.into())
    );
    let human = project.run(&["test"]);
    let (finding, scenario) = (human.out.find(&kept).unwrap(), human.out.find("scenarios/pull.toml").unwrap());
    assert!(finding < scenario && human.out.contains(&format!("anabranch replay {kept}")), "{human:?}");

    project.write("scenarios/pull.toml", &PULL.replace("y = \"1.5 m\"", "y = \"4 m\""));
    let (code, tested) = project.json(&["test"]);
    let case = &tested["findings"][0];
    assert_eq!((code, &case["verdict"], &case["result"]), (0, &"fixed".into(), &"passed".into()), "{tested}");
    assert!(case["message"].as_str().unwrap().contains("the scenario has changed"), "{case}");
}

#[test]
fn a_kept_finding_that_no_longer_applies_is_not_a_pass() {
    let project = project(&[("pull", pull())]);
    assert_eq!(project.run(&["explore", "scenarios/pull.toml", "--no-pictures"]).code, 1);
    assert_eq!(project.run(&["replay", "last#1", "--keep"]).code, 1);
    project.write("scenarios/pull.toml", &PULL.replace("steering-pulls", "other-error"));
    let ran = project.run(&["test", "--filter", "findings/"]);
    assert!(ran.code == 2 && ran.err.contains("has no error `steering-pulls`"), "{ran:?}");
    assert!(ran.out.contains("ERROR findings/"), "{ran:?}");
}

#[test]
fn changed_values_are_part_of_a_kept_finding() {
    let project = project(&[("pull", pull())]);
    let sets = ["--set", "steering-pulls.by=7 deg", "--set", "ego.start.y=0.02 m"];
    let (code, explored) = project.json(&[&["explore", "scenarios/pull.toml", "--no-pictures"], &sets[..]].concat());
    assert_eq!(code, 1, "{explored}");
    let kept = project.json(&["replay", "last#1", "--keep"]).1["kept"].as_str().unwrap().to_owned();
    let text = project.read(&kept);
    assert!(
        text.contains("[set]\n\"error.steering-pulls.offset.by\" = \"7 deg\"\n\"ego.start.y\" = \"0.02 m\""),
        "{text}"
    );
    let ran = project.run(&["replay", &kept]);
    assert!(ran.out.contains("the same verdict on the same tick") && ran.err.is_empty(), "{ran:?}");
    let (_, tested) = project.json(&["test", "--filter", "findings/"]);
    assert_eq!(tested["findings"][0]["details"]["tick"], explored["groups"][0]["tick"], "{tested}");
    // With a value that makes it harmless there is nothing to keep.
    let ran = project.run(&["replay", &kept, "--keep", "--set", "box.box.y=4 m"]);
    assert!(ran.code == 2 && ran.err.contains("nothing to keep"), "{ran:?}");
}

#[test]
fn parts_of_a_suite_are_stable_and_nothing_selected_is_said() {
    let names = ["a", "b", "c", "d", "e"];
    let project = project(&names.map(|name| (name, harmless())));
    let cases = |arguments: &[&str]| {
        let (_, tested) = project.json(&[&["test"], arguments].concat());
        let all = tested["scenarios"].as_array().unwrap();
        all.iter().map(|case| case["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (first, second) = (cases(&["--shard", "1/2"]), cases(&["--shard", "2/2"]));
    assert_eq!(first.len() + second.len(), names.len());
    assert!(first.iter().all(|name| !second.contains(name)));
    project.write("scenarios/f.toml", &harmless());
    assert!(first.iter().all(|name| cases(&["--shard", "1/2"]).contains(name)));
    assert_eq!(cases(&["--filter", "c.toml"]), ["scenarios/c.toml"]);
    let nothing = project.run(&["test", "--filter", "zebra"]);
    assert!(nothing.code == 4 && nothing.out.contains("nothing to test"), "{nothing:?}");
    assert_eq!(project.run(&["test", "--shard", "3/2"]).code, 2);
}

#[test]
fn the_file_for_ci_has_every_case_and_survives_hostile_names() {
    let hostile = PULL.replace("\"no-contact\"", "\"no-contact\" # <&>");
    let project = project(&[("a<b>&'c", hostile), ("ok", harmless())]);
    let ran = project.run(&["test", "--junit", "out.xml", "-q"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let xml = project.read("out.xml");
    let document = roxmltree::Document::parse(&xml).unwrap();
    let cases: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testcase")).collect();
    assert_eq!(
        cases.iter().filter_map(|case| case.attribute("name")).collect::<Vec<_>>(),
        ["scenarios/a<b>&'c.toml", "scenarios/ok.toml"]
    );
    assert!(cases.iter().all(|case| case.attribute("time").is_some_and(|time| time.parse::<f64>().is_ok())));
    let failure = cases[0].children().find(|node| node.has_tag_name("failure")).unwrap();
    assert!(failure.attribute("message").unwrap().starts_with("violated"), "{xml}");
    assert!(failure.text().unwrap().contains("anabranch replay runs/"), "{xml}");
    assert!(cases[1].children().any(|node| node.text().is_some_and(|text| text.contains("not found"))), "{xml}");
    assert!(!xml.contains(&*project.path().to_string_lossy()));
}

#[test]
fn the_page_of_a_test_run_has_every_case_in_the_words_of_the_terminal() {
    let hostile = PULL.replace("\"no-contact\"", "\"no-contact\" # <script>alert(1)</script>");
    let broken = PULL.replace("\"6 deg\"", "6");
    let project = project(&[("a<b>&'c", hostile), ("broken", broken), ("ok", harmless())]);
    assert_eq!(project.run(&["explore", "scenarios/a<b>&'c.toml", "-q", "--no-pictures"]).code, 1);
    assert_eq!(project.run(&["replay", "last#1", "--keep", "-q"]).code, 1);
    let ran = project.run(&["test", "--report", "out.html"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let page = project.read("out.html");
    let line = ran.out.lines().last().unwrap();
    assert!(line.starts_with("4 cases: 1 passed, 2 failed, 1 could not be run; ") && page.contains(line), "{line}");
    for word in ["pass</strong>", "FAIL</strong>", "ERROR</strong>", "still fails: `no-contact`", "E0104", "not found"]
    {
        assert!(page.contains(word), "{word}");
    }
    // Every link in the page leads somewhere in the page.
    let links: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.len() >= 8 && links.contains(&"scenarios-1") && links.contains(&"findings-1"), "{links:?}");
    assert!(links.iter().all(|link| page.contains(&format!("id=\"{link}\""))), "{links:?}");
    assert!(page.contains("id=\"scenarios-1-finding-1\"") && page.contains("<svg"), "findings with pictures");
    let lower = page.to_lowercase();
    for bad in ["<script", "http:", "https:", " src=", "a<b>", &*project.path().to_string_lossy()] {
        assert!(!lower.contains(bad), "{bad}");
    }
    let nothing = project.run(&["test", "--filter", "zebra", "--report", "out.html"]);
    assert!(nothing.code == 4 && project.read("out.html").contains("nothing to test"), "{nothing:?}");
}

#[test]
fn a_failing_cell_that_an_earlier_run_had_not_fails_and_is_named() {
    let project = project(&[("pull", expecting(pull(), "violated"))]);
    assert_eq!(project.json(&["test"]).0, 0);
    std::fs::rename(project.file("runs"), project.file("before")).unwrap();
    let (code, same) = project.json(&["test", "--baseline", "before"]);
    let gate = &same["scenarios"][0]["details"]["baseline"];
    assert_eq!((code, &gate["gate"], &gate["new_count"]), (0, &"open".into(), &0.into()), "{same}");

    // The box comes closer, so that more error sequences touch it.
    project.write("scenarios/pull.toml", &expecting(PULL.replace("y = \"1.5 m\"", "y = \"1.45 m\""), "violated"));
    let ran = project.run(&["test", "--baseline", "before", "--junit", "out.xml", "--report", "out.html"]);
    assert!(ran.code == 1 && ran.out.contains("FAIL scenarios/pull.toml"), "{ran:?}");
    assert!(ran.out.contains(" new failing cells since 20") && ran.out.contains("\n  cell "), "{ran:?}");
    let xml = project.read("out.xml");
    assert!(xml.contains("failures=\"1\"") && xml.contains("new failing cells") && xml.contains("\ncell "), "{xml}");
    let page = project.read("out.html");
    assert!(page.contains("Cells that fail now and did not then") && page.contains("not reached"), "{page}");
    // The runs of before are not touched, and one of them can be named alone.
    let run = std::fs::read_dir(project.file("before")).unwrap().find_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.starts_with("20").then_some(name)
    });
    let one = project.json(&["test", "--baseline", &format!("before/{}", run.unwrap())]);
    assert!(one.0 == 1 && one.1["scenarios"][0]["details"]["baseline"]["gate"] == "new failures", "{one:?}");
}

#[test]
fn what_cannot_be_compared_with_an_earlier_run_never_passes() {
    let project = project(&[("ok", harmless())]);
    assert_eq!(project.json(&["test"]).0, 0);
    std::fs::rename(project.file("runs"), project.file("before")).unwrap();
    // Other cells have other names.
    let (code, tested) = project.json(&["test", "--baseline", "before", "--set", "explore.merge.x=\"0.2 m\""]);
    assert_eq!((code, &tested["scenarios"][0]["result"]), (2, &"error".into()), "{tested}");
    // A scenario that is new has nothing to be worse than.
    project.write("scenarios/ok.toml", &harmless().replace("\"harmless\"", "\"new\""));
    let (code, tested) = project.json(&["test", "--baseline", "before"]);
    assert_eq!((code, &tested["scenarios"][0]["details"]["baseline"]["run"]), (0, &serde_json::Value::Null));
    let ran = project.run(&["test", "--baseline", "scenarios"]);
    assert!(ran.code == 2 && ran.err.contains("there is no exploration in `scenarios`"), "{ran:?}");
}

#[test]
fn events_stream_and_end_with_the_object() {
    let project = project(&[("a", harmless()), ("b", harmless())]);
    let ran = project.run(&["test", "--format", "jsonl"]);
    let lines: Vec<serde_json::Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() == 3 && lines[..2].iter().all(|line| line["event"] == "case"), "{ran:?}");
    assert_eq!((&lines[2]["schema"], &lines[2]["passed"]), (&"anabranch.test/1".into(), &2.into()));
}

/// P17: what an earlier version kept, this one reads and replays to the same verdict.
#[test]
fn findings_of_every_release_replay_to_the_same_verdict() {
    let project = project(&[]);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/kept-findings");
    std::fs::create_dir(project.file("findings")).unwrap();
    let copy = |from: &Path, to: &str| {
        for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            std::fs::copy(&entry, project.file(to).join(entry.file_name().unwrap())).unwrap();
        }
    };
    copy(&corpus, "findings");
    copy(&corpus.join("scenarios"), "scenarios");
    let (code, tested) = project.json(&["test", "--filter", "findings/"]);
    let cases = tested["findings"].as_array().unwrap();
    assert!(code == 1 && cases.len() >= 3, "{tested}");
    for case in cases {
        let name = case["name"].as_str().unwrap();
        assert_eq!(
            (&case["verdict"], &case["details"]["scenario_has_changed"]),
            (&"still fails".into(), &false.into()),
            "{case}"
        );
        assert_eq!(project.json(&["replay", name]).1["same_as_found"], true, "{name}");
    }
}
