//! Whole folders of scenarios under one change: S1-35 and S1-36.

use crate::common::{PULL, Project};

const ERRORS: &str =
    "[[error]]\nid = \"jump\"\non = \"ego.localisation\"\njump = { radius = \"0.9 m\", directions = 2 }\n";

/// Coarse and short: what is asked here needs no more.
const QUICK: [&str; 6] = ["--until", "7 s", "--merge", "4", "--rollouts", "500"];

fn harmless() -> String {
    PULL.replace("\"pull\"", "\"harmless\"").replace("6 deg", "0.1 deg")
}

/// Two scenarios in a folder: in one the steering pulls too much, in the other too little to matter.
fn project() -> Project {
    let project = Project::new();
    std::fs::create_dir(project.file("all")).unwrap();
    project.write("all/pull.toml", PULL);
    project.write("all/harmless.toml", &harmless());
    project
}

fn verdicts(result: &serde_json::Value) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let rows = result["scenarios"].as_array().unwrap();
    rows.iter().map(|row| (text(&row["file"]), text(&row["verdict"]))).collect()
}

fn pairs(expect: &[(&str, &str)]) -> Vec<(String, String)> {
    expect.iter().map(|(file, verdict)| ((*file).to_owned(), (*verdict).to_owned())).collect()
}

#[test]
fn a_folder_gives_one_table() {
    let project = project();
    let (code, result) = project.json(&["explore", "all", "--no-pictures"]);
    assert_eq!((code, &result["schema"]), (1, &"anabranch.suite/1".into()), "{result}");
    assert_eq!(verdicts(&result), pairs(&[("all/harmless.toml", "not found"), ("all/pull.toml", "violated")]));
    let row = &result["scenarios"][1];
    assert!(row["findings"].as_u64().unwrap() > 0 && row["worst_clearance_m"].as_f64().unwrap() <= 0.0, "{row}");
    let errors = row["worst_combination"].as_array().unwrap();
    assert!(errors.iter().any(|run| run["error"].as_str().unwrap().contains("steering-pulls")), "{row}");
    let run = row["run"].as_str().unwrap();
    assert!(project.file(run).join("result.json").is_file());
    assert_eq!(project.json(&["replay", &format!("{run}#1")]).1["same_as_found"], true);
    let human = project.run(&["explore", "all/pull.toml", "all/harmless.toml", "--no-pictures", "-q"]);
    assert!(human.code == 1 && human.out.contains("2 scenarios: 1 not found, 1 violated"), "{human:?}");
    assert!(human.err.is_empty(), "{human:?}");
}

#[test]
fn a_new_error_is_tried_in_every_scenario_and_replays() {
    let project = project();
    project.write("anomaly.toml", ERRORS);
    let (code, result) =
        project.json(&[&["explore", "all", "--with", "anomaly.toml", "--no-pictures"], &QUICK[..]].concat());
    assert_eq!(code, 1, "{result}");
    assert_eq!(verdicts(&result), pairs(&[("all/harmless.toml", "violated"), ("all/pull.toml", "violated")]));
    let run = result["scenarios"][0]["run"].as_str().unwrap().to_owned();
    let (_, replayed) = project.json(&["replay", &format!("{run}#1"), "--keep"]);
    assert_eq!(replayed["same_as_found"], true);
    let kept = replayed["kept"].as_str().unwrap();
    assert!(project.read(kept).contains("\"error.jump\" = "), "{}", project.read(kept));
    assert_eq!(project.json(&["replay", kept]).1["same_as_found"], true);
    // An error of the same id is replaced.
    project.write(
        "weaker.toml",
        &PULL[PULL.find("[[error]]").unwrap()..PULL.find("[explore]").unwrap()].replace("6 deg", "0.1 deg"),
    );
    let (code, result) = project.json(&["explore", "all/pull.toml", "--with", "weaker.toml", "--no-pictures"]);
    assert_eq!((code, &result["verdict"]), (0, &"not found".into()), "{result}");
}

#[test]
fn a_file_of_errors_with_a_mistake_is_located() {
    let project = project();
    project.write("anomaly.toml", &ERRORS.replace("radius", "radios"));
    let ran = project.run(&["explore", "all", "--with", "anomaly.toml"]);
    assert!(
        ran.code == 2 && ran.err.contains("anomaly.toml:4:10") && ran.err.contains("did you mean `radius`?"),
        "{ran:?}"
    );
    assert!(!project.file("runs").exists());
}

#[test]
fn a_larger_safety_distance_leaves_no_path_where_there_was_one() {
    let project = project();
    let planned = harmless().replace("path    = [{ length = \"10 m\" }]", "");
    let walls = "[[world.wall]]\nline = [[\"-3 m\", \"3 m\"], [\"15 m\", \"3 m\"]]\n[[world.wall]]\nline = [[\"-3 m\", \"-1.8 m\"], [\"15 m\", \"-1.8 m\"]]\n[[world.wall]]\nline = [[\"15 m\", \"-1.8 m\"], [\"15 m\", \"3 m\"]]\n[[world.wall]]\nline = [[\"-3 m\", \"-1.8 m\"], [\"-3 m\", \"3 m\"]]\n[ego]";
    project.write("all/planned.toml", &planned.replace("[ego]", walls));
    let verdict = |distance: &str| {
        let set = format!("safety_distance={distance}");
        let (_, result) = project.json(&["explore", "all", "--set", &set, "--no-pictures"]);
        verdicts(&result).into_iter().find(|(file, _)| file == "all/planned.toml").unwrap().1
    };
    assert_eq!((verdict("0.05 m").as_str(), verdict("0.8 m").as_str()), ("not found", "no path"));
}

#[test]
fn short_names_must_be_unique_and_a_missing_key_is_reported() {
    let project = project();
    let ran = project.run(&["explore", "pull.toml", "--set", "cycle=20 ms"]);
    assert!(
        ran.code == 2 && ran.err.contains(" values of this scenario") && ran.err.contains("ego.driver.cycle"),
        "{ran:?}"
    );
    project
        .write("all/other.toml", &harmless().replace("\"harmless\"", "\"other\"").replace("steering-pulls", "wheel"));
    let (code, result) = project.json(&["explore", "all", "--set", "steering-pulls.by=0.2 deg", "--no-pictures"]);
    assert_eq!(code, 2);
    let expect = [("all/harmless.toml", "not found"), ("all/other.toml", "bad input"), ("all/pull.toml", "not found")];
    assert_eq!(verdicts(&result), pairs(&expect));
    let message = result["scenarios"][1]["error"]["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("no key `steering-pulls`"), "{message}");
}

#[test]
fn nothing_selected_and_spent_budgets_have_their_codes() {
    let project = project();
    std::fs::create_dir(project.file("empty")).unwrap();
    assert_eq!(project.run(&["explore", "empty"]).code, 4);
    let harmless = ["explore", "all/harmless.toml", "all/harmless.toml", "--no-pictures", "--budget", "states=2"];
    let (code, result) = project.json(&harmless);
    assert_eq!((code, &result["scenarios"][0]["verdict"]), (5, &"incomplete".into()), "{result}");
    let events = project.run(&["explore", "all", "--no-pictures", "--format", "jsonl"]);
    let lines: Vec<serde_json::Value> = events.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() == 3 && lines[..2].iter().all(|line| line["event"] == "scenario"), "{events:?}");
}

#[test]
fn the_tolerance_map_names_a_size_that_passes_and_one_that_fails() {
    let project = project();
    let quick = ["--no-pictures", "--rollouts", "500"];
    let (code, map) =
        project.json(&[&["explore", "pull.toml", "--tolerance", "steering-pulls.by"], &quick[..]].concat());
    assert_eq!((code, &map["schema"]), (0, &"anabranch.tolerance/1".into()), "{map}");
    let channel = &map["channels"][0];
    let size = |key: &str| channel[key].as_f64().unwrap_or_else(|| panic!("{key}: {channel}"));
    let (passes, fails) = (size("passes_to"), size("fails_from"));
    assert!(0.0 < passes && passes < fails && fails < size("nominal"), "{channel}");
    assert!(fails - passes <= size("resolution") + 1e-9, "{channel}");
    // Both ends are what `explore` says about them.
    let verdict = |radians: f64| {
        let set = format!("steering-pulls.by={radians} rad");
        project.json(&[&["explore", "pull.toml", "--set", &set], &quick[..]].concat()).1["verdict"].clone()
    };
    assert_eq!((verdict(passes), verdict(fails)), ("not found".into(), "violated".into()));
    let run = map["run"].as_str().unwrap();
    for name in ["tolerance.svg", "tolerance.png", "tolerance.json", "scenario.toml", "run.json"] {
        assert!(project.file(run).join(name).is_file(), "{name}");
    }
    let human = project.run(&[&["explore", "pull.toml", "--tolerance", "all", "-q"], &quick[..]].concat());
    assert!(human.code == 0 && human.out.contains("steering-pulls.by  6 deg"), "{human:?}");
    let wrong = project.run(&["explore", "pull.toml", "--tolerance", "steering-pulls.radius"]);
    assert!(wrong.code == 2 && wrong.err.contains("this scenario has steering-pulls.by"), "{wrong:?}");
}

#[test]
fn an_undecided_tolerance_is_incomplete() {
    let project = project();
    let (code, map) = project.json(&["explore", "all/harmless.toml", "--tolerance", "all", "--budget", "states=2"]);
    assert_eq!((code, &map["channels"][0]["complete"]), (5, &false.into()), "{map}");
    assert_eq!(map["channels"][0]["passes_to"], serde_json::Value::Null, "{map}");
}

#[test]
fn the_league_ranks_drivers_under_the_same_errors() {
    let project = project();
    // One driver does not get as far as the box, the other is as in the scenario.
    project.write("slow.toml", "[ego.driver]\ncruise = \"0.1 m/s\"\n");
    project.write("same.toml", "[ego.driver]\nkind = \"path-follower\"\n");
    let arguments = ["explore", "pull.toml", "--rollouts", "500", "--league", "slow.toml", "same.toml"];
    let (code, league) = project.json(&arguments);
    assert_eq!((code, &league["schema"]), (1, &"anabranch.league/1".into()), "{league}");
    let drivers = league["drivers"].as_array().unwrap();
    assert_eq!(
        (drivers.len(), &drivers[0]["driver"], &drivers[0]["verdict"]),
        (3, &"slow".into(), &"not found".into())
    );
    let (own, same) = (&drivers[1], &drivers[2]);
    assert_eq!((&own["driver"], &same["driver"]), (&"as in the scenario".into(), &"same".into()));
    for key in ["verdict", "findings", "worst_clearance_m", "segments", "random_runs"] {
        assert_eq!(own[key], same[key], "{key}");
    }
    let comfort = &own["random_runs"];
    for key in ["deceleration", "lateral_acceleration", "curvature", "steering_rate"] {
        let (worst, mean) = (comfort[key]["worst"].as_f64().unwrap(), comfort[key]["mean"].as_f64().unwrap());
        assert!(0.0 < mean && mean <= worst * (1.0 + 1e-9), "{key}: {comfort}");
    }
    assert_eq!(
        project.json(&[&arguments[..], &["-j", "1"]].concat()).1["drivers"][0]["random_runs"],
        drivers[0]["random_runs"]
    );
    project.write("wrong.toml", "[ego.driver]\ncruize = \"1 m/s\"\n");
    let wrong = project.run(&["explore", "pull.toml", "--league", "wrong.toml"]);
    assert!(wrong.code == 2 && wrong.err.contains("wrong.toml:2:1"), "{wrong:?}");
}

/// A model takes part by its file, under its own name, and is measured like everybody else.
#[test]
fn a_model_takes_part_in_the_league() {
    let project = project();
    let model = format!("{}/../../examples/models/passage/Follow.emam", env!("CARGO_MANIFEST_DIR"));
    let arguments = ["explore", "pull.toml", "--rollouts", "10", "--league", &model];
    let (code, league) = project.json(&arguments);
    assert_eq!(code, 1, "{league}");
    let drivers = league["drivers"].as_array().unwrap();
    let follow = drivers.iter().find(|driver| driver["driver"] == "Follow").unwrap_or_else(|| panic!("{league}"));
    let measure = |name: &str| follow["random_runs"][name]["mean"].as_f64().unwrap();
    assert!(measure("deviation_per_metre") > 0.0 && measure("jerk_rms") > 0.0, "{follow}");
    assert!(measure("path_mse") > 0.0 && measure("door_room") > 0.0, "{follow}");
    let told = project.run(&arguments).out;
    assert!(told.contains("off line [m/m]") && told.contains("arrived"), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 120), "{told}");
}
