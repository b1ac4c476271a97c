//! One verdict, the same word everywhere: on the terminal, for machines, in JUnit, in pages, in tables of several runs.

use crate::common::{PULL, Project, Ran};
use serde_json::Value;

/// Too small an error to matter.
fn harmless() -> String {
    PULL.replace("\"pull\"", "\"harmless\"").replace("6 deg", "0.1 deg")
}

fn shipped(name: &str) -> String {
    let file = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"))
}

fn explored(text: &str, more: &[&str]) -> (i32, Value, String) {
    let project = Project::new();
    project.write("one.toml", text);
    let arguments = [&["explore", "one.toml", "--no-pictures"][..], more].concat();
    let (code, result) = project.json(&arguments);
    (code, result, project.run(&arguments).out)
}

#[test]
fn not_covered_is_its_own_word_in_suites_tests_junit_pages_and_gates() {
    let project = Project::new();
    std::fs::create_dir(project.file("scenarios")).unwrap();
    // Fifty random runs are too few to say how much is covered.
    let few = shipped("steady-corridor-switch").replace("[explore]\n", "[explore]\nrollouts = 50\n");
    project.write("scenarios/switch.toml", &few);
    let (code, suite) = project.json(&["explore", "scenarios", "--no-pictures"]);
    let row = &suite["scenarios"][0];
    assert_eq!(
        (code, &row["verdict"], &row["conclusion"]["kind"]),
        (5, &"not covered".into(), &row["verdict"]),
        "{suite}"
    );
    let human = project.run(&["explore", "scenarios", "--no-pictures"]);
    assert!(human.out.contains("not covered") && !human.out.contains("not found"), "{human:?}");

    let arguments = ["test", "--junit", "out.xml", "--report", "out.html"];
    let (code, tested) = project.json(&arguments);
    let case = &tested["scenarios"][0];
    assert_eq!(
        (code, &case["result"], &case["verdict"]),
        (5, &"not covered".into(), &"not covered".into()),
        "{tested}"
    );
    assert_eq!((&tested["not_covered"], &tested["passed"]), (&1.into(), &0.into()), "{tested}");
    let xml = project.read("out.xml");
    assert!(
        xml.contains("<error message=\"not covered: 50 random runs") && xml.contains("type=\"not covered\""),
        "{xml}"
    );
    let page = project.read("out.html");
    assert!(page.contains("NOT COVERED</strong>") && !page.contains("pass</strong>"), "the page of the tests");
    let human = project.run(&["test"]);
    assert!(human.out.contains("NOT COVERED") && human.out.contains("0 passed, 1 not covered"), "{human:?}");

    // The page of the run, and the gate between two such runs.
    let page = project.read("runs/last/report.html");
    assert!(page.contains("<strong>not covered</strong>") && page.contains("verdict open"), "the page of the run");
    let mut runs: Vec<String> = std::fs::read_dir(project.file("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "last")
        .collect();
    runs.sort();
    let (code, gate) = project.json(&["report", &runs[0], &runs[1], "--gate"]);
    assert_eq!((code, &gate["gate"]), (5, &"not covered".into()), "{gate}");
}

#[test]
fn too_few_random_runs_are_no_pass() {
    for rollouts in ["0", "1", "20"] {
        let (code, result, human) = explored(&harmless(), &["--rollouts", rollouts]);
        assert_eq!((code, &result["verdict"]), (5, &"not covered".into()), "{rollouts}: {result}");
        assert_eq!(result["coverage"]["covered"], Value::Null, "{rollouts}: {result}");
        assert!(human.contains("not covered: ") && human.contains("which is no pass"), "{human}");
    }
    assert_eq!(explored(&harmless(), &["--rollouts", "500"]).0, 0);
    // Where nothing is merged there is nothing to miss.
    let (code, result, _) =
        explored(&harmless().replace("\"20 s\"", "\"3 s\""), &["--rollouts", "0", "--merge", "none"]);
    assert_eq!((code, &result["verdict"]), (0, &"safe".into()), "{result}");
}

#[test]
fn without_a_must_there_is_nothing_to_judge() {
    let text = PULL.replace("[[must]]", "[[should]]");
    for more in [&[][..], &["--merge", "none", "--until", "3 s"]] {
        let (code, result, human) = explored(&text, more);
        assert_eq!((code, &result["verdict"]), (4, &"nothing to judge".into()), "{result}");
        assert!(human.contains("nothing to judge") && !human.contains("safe"), "{human}");
    }
    let project = Project::new();
    project.write("one.toml", &text);
    let (code, checked) = project.json(&["check", "one.toml"]);
    let warning = checked["files"][0]["warnings"][0].as_str().unwrap_or_default();
    assert!(code == 0 && warning.contains("no [[must]]"), "{checked}");
    assert!(project.run(&["check", "one.toml"]).out.contains("warning: there is no [[must]]"));
    assert_eq!(project.json(&["check", "pull.toml"]).1["files"][0]["warnings"], serde_json::json!([]));
    let (code, tested) = project.json(&["test", "one.toml"]);
    assert_eq!((code, &tested["scenarios"][0]["result"]), (4, &"nothing to judge".into()), "{tested}");
}

#[test]
fn requirements_that_a_shortened_run_cannot_judge_are_named_and_no_pass() {
    let must = |line: &str| format!("{}\n[[must]]\nid = \"late\"\n{line}\n", harmless());
    for line in [
        "eventually = \"ego.at_goal\"",
        "eventually = \"ego.at_goal\"\nby = \"20 s\"",
        "at_finish = \"ego.at_goal\"",
        "always = \"eventually[0 s, 15 s] ego.speed < 5 m/s\"",
    ] {
        for more in [&["--until", "3 s"][..], &["--until", "3 s", "--merge", "none"]] {
            let (code, result, human) = explored(&must(line), more);
            assert_eq!((code, &result["verdict"]), (5, &"incomplete".into()), "{line}: {result}");
            assert_eq!(
                result["conclusion"]["because"]["what"]["musts"],
                serde_json::json!(["late"]),
                "{line}: {result}"
            );
            assert!(human.contains("`late` was not judged"), "{line}: {human}");
        }
    }
    // What is due within the shortened run is judged, and so is everything where runs are not shortened.
    let soon = must("eventually = \"ego.speed > 0 m/s\"\nby = \"2 s\"");
    assert_eq!(explored(&soon, &["--until", "3 s"]).0, 0);
    assert_eq!(explored(&must("at_finish = \"ego.speed < 50 m/s\""), &[]).0, 0);
}

#[test]
fn a_negative_margin_without_a_violation_is_remarked_on() {
    let text = PULL.replace("never = \"ego.clearance <= 0 m\"", "never = \"ego.speed > 50 m/s\"");
    let (_, result, human) = explored(&text, &[]);
    assert!(result["findings"] == 0 && result["worst_clearance_m"].as_f64() < Some(0.0), "{result}");
    assert!(result["notes"][0].as_str().is_some_and(|note| note.contains("below zero")), "{result}");
    assert!(human.contains("below zero, and no requirement is violated by it"), "{human}");
    assert_eq!(explored(&harmless(), &[]).1["notes"], serde_json::json!([]));
}

#[test]
fn sequences_keep_to_the_limits_of_the_error_model_which_safe_names() {
    let text = harmless() + "\n[errors]\nper_run = 1\n";
    let more = ["--until", "3 s", "--merge", "none"];
    let (code, result, human) = explored(&text, &more);
    // No error at all, or one of two in one of three segments; 27 without the limit.
    assert_eq!((code, &result["verdict"], &result["sequences"]), (0, &"safe".into(), &7.0.into()), "{result}");
    assert_eq!(result["conclusion"]["because"]["limits"][0], "errors in at most 1 segment of a run", "{result}");
    assert!(human.contains("|Paths| = 7 of bⁿ = 3³ error sequences"), "{human}");
    let first = human.lines().next().unwrap_or_default();
    assert!(first.contains("safe") && first.contains("with errors in at most 1 segment of a run"), "{human}");
    assert_eq!(explored(&harmless(), &more).1["sequences"], 27.0);
}

#[test]
fn leagues_and_tolerances_have_the_verdict_of_explore() {
    let project = Project::new();
    project.write("harmless.toml", &harmless());
    project.write("calm.toml", "[ego.driver]\nlateral_gain = \"0.5 1/m^2\"\n");
    let league =
        |rollouts: &str| project.json(&["explore", "harmless.toml", "--league", "calm.toml", "--rollouts", rollouts]);
    let (code, table) = league("1");
    assert_eq!((code, &table["drivers"][0]["verdict"]), (5, &"not covered".into()), "{table}");
    assert_eq!(table["drivers"][0]["conclusion"]["kind"], "not covered", "{table}");
    let (code, table) = league("500");
    assert_eq!((code, &table["drivers"][0]["verdict"]), (0, &"not found".into()), "{table}");
    let (code, found) = project.json(&["explore", "harmless.toml", "--tolerance", "all", "--rollouts", "1"]);
    let channel = &found["channels"][0];
    // Without any error there is one sequence, and it was run; everything else is open.
    assert_eq!((code, &channel["complete"], &channel["passes_to"]), (5, &false.into(), &0.0.into()), "{found}");
    assert_eq!(channel["samples"][1]["verdict"], "not covered", "{found}");
    let human = project.run(&["explore", "harmless.toml", "--tolerance", "all", "--rollouts", "1"]);
    assert!(human.out.contains("not covered, some sizes could not be decided"), "{human:?}");
}

#[test]
fn a_driver_that_raises_is_not_the_accident_that_a_test_expects() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let project = Project::new();
    project.write("bad.py", "import anabranch\n\n\nclass Bad(anabranch.Driver):\n    memoryless = True\n\n    def step(self, seen):\n        raise ValueError(\"no\")\n");
    let text = PULL.replace("driver  = \"path-follower\"", "driver = { file = \"bad.py\" }");
    let tested = |expect: &str| -> (i32, Value) {
        project.write("one.toml", &format!("{text}\n[test]\nexpect = \"{expect}\"\n"));
        let mut command = project.command(&["test", "one.toml", "--format", "json"]);
        command.env("ANABRANCH_PYTHON", root.join("target/python-venv/bin/python"));
        let ran = Ran::of(command.output().expect("the program starts"));
        (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}")))
    };
    let (code, result) = tested("violated");
    let case = &result["scenarios"][0];
    assert_eq!((code, &case["result"], &case["verdict"]), (1, &"failed".into(), &"violated".into()), "{result}");
    assert!(case["message"].as_str().unwrap().contains("a fault of the driver"), "{result}");
    let (code, result) = tested("driver fault");
    assert_eq!((code, &result["scenarios"][0]["result"]), (0, &"passed".into()), "{result}");
}

#[test]
fn more_refinement_than_there_is_is_refused() {
    let project = Project::new();
    let ran = project.run(&["explore", "pull.toml", "--refine", "13"]);
    assert!(ran.code == 2 && ran.err.contains("0..=12"), "{ran:?}");
}

/// Files that a scenario names are beside it, wherever the search is started.
#[test]
fn search_finds_models_beside_the_scenario() {
    let project = Project::new();
    let file = format!("{}/../../examples/passage.toml", env!("CARGO_MANIFEST_DIR"));
    let arguments = [
        "search",
        &file,
        "--vary",
        "ego.start.y=-0.1 m .. 0.1 m",
        "--budget",
        "3",
        "--no-baseline",
        "--method",
        "random",
    ];
    let (code, found) = project.json(&arguments);
    assert!(code == 0 || code == 1, "{code}: {found}");
    assert_eq!((&found["evaluations"], &found["troubles"]), (&3.into(), &serde_json::json!([])), "{found}");
}

#[test]
fn a_resolution_is_about_the_requirements_that_clearance_measures() {
    let project = Project::new();
    let slow = PULL.replace("never = \"ego.clearance <= 0 m\"", "never = \"ego.speed > 30 m/s\"");
    let slow = slow.replace("y = \"1.5 m\"", "y = \"9 m\"");
    project.write("slow.toml", &slow);
    let (code, found) = project.json(&["explore", "slow.toml"]);
    assert_eq!((code, &found["conclusion"]["kind"]), (0, &Value::from("not found")), "{found}");
    assert_eq!(found["resolution"], Value::Null, "clearance says nothing about speed");
    let said = project.run(&["explore", "slow.toml"]).out;
    assert!(!said.contains("deeper than"), "{said}");
    assert!(said.contains("nothing measures how narrowly `no-contact` was kept"), "{said}");
    // Who asks for a resolution does not get a pass without one.
    let (code, found) = project.json(&["explore", "slow.toml", "--resolution", "1 cm"]);
    assert_eq!((code, &found["conclusion"]["kind"]), (5, &Value::from("incomplete")), "{found}");

    let both = slow.replace("[[should]]", "[[must]]\nid = \"clear\"\nnever = \"ego.clearance <= 0 m\"\n[[should]]");
    project.write("both.toml", &both);
    let said = project.run(&["explore", "both.toml"]).out;
    assert!(said.contains("deeper than") && said.contains("(`no-contact` is not measured)"), "{said}");
}

/// States of different times may not count as alike where a requirement reads the time, by a clock or by a deadline.
#[test]
fn states_of_different_times_are_not_merged_where_time_matters() {
    let project = Project::new();
    let late = "[[must]]\nid = \"late\"\n";
    for line in ["never = \"time > 100 s\"", "eventually = \"ego.speed > 0 m/s\"\nby = \"2 s\""] {
        project.write("timed.toml", &format!("{}\n{late}{line}\n", harmless()));
        for scope in [&["--scope", "visited"][..], &["--set", "explore.scope=\"visited\""]] {
            let ran = project.run(&[&["explore", "timed.toml", "--no-pictures"], scope].concat());
            assert!(ran.code == 2 && ran.err.contains("time matters in this system"), "{line}: {ran:?}");
        }
        assert!(!project.file("runs").exists(), "{line}: nothing was run");
        let (_, result) = project.json(&["explore", "timed.toml", "--no-pictures", "--until", "3 s"]);
        assert_eq!(result["settings"]["scope"], "level", "{line}: {result}");
        std::fs::remove_dir_all(project.file("runs")).unwrap();
    }
    // Without such a requirement both scopes are sound.
    project.write("timeless.toml", &harmless());
    let (_, result) = project.json(&["explore", "timeless.toml", "--no-pictures", "--scope", "visited"]);
    assert_eq!(result["settings"]["scope"], "visited", "{result}");
}
