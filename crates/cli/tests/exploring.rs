//! `explore` from outside: verdicts, exit codes, machine output, run folder.

use std::io::Read;
use std::process::Stdio;

use crate::common::{PULL, Project};
use serde_json::Value;

const KEYS: [&str; 25] = [
    "schema",
    "scenario",
    "digest",
    "complete",
    "levels",
    "segments",
    "states",
    "merged",
    "error_choices",
    "findings",
    "finding_groups",
    "first_finding_segment",
    "worst_clearance_m",
    "seconds_simulated",
    "seconds_without_saved_states",
    "seconds_without_merging",
    "constant_errors_violate",
    "save_load_share",
    "cpu_s",
    "wall_s",
    "peak_rss_bytes",
    "coverage",
    "verdict",
    "ignored",
    "run",
];
const COVERAGE: [&str; 6] =
    ["rollouts", "runs_inside", "runs_inside_low", "runs_inside_high", "worst_missed_m", "verdict_disagreements"];

#[test]
fn the_object_has_every_promised_key() {
    let project = Project::new();
    let (code, result) = project.json(&["explore", "pull.toml", "--rollouts", "100", "--no-pictures"]);
    assert_eq!(code, 1, "{result}");
    for key in KEYS {
        assert!(result.get(key).is_some(), "{key}");
    }
    for key in COVERAGE {
        assert!(result["coverage"][key].is_number(), "{key}");
    }
    assert_eq!(result["schema"], "anabranch.explore/1");
    assert_eq!(
        (&result["verdict"], &result["complete"], &result["error_choices"]),
        (&"violated".into(), &true.into(), &3.into())
    );
    assert!(result["seconds_simulated"].as_f64() < result["seconds_without_saved_states"].as_f64());
    assert_eq!(result["findings"].as_u64().map(|n| n > 0), Some(true));
    let stored: Value = serde_json::from_str(&project.read("runs/last/result.json")).unwrap();
    assert_eq!(stored, result);
}

#[test]
fn nothing_found_is_not_called_safe() {
    let project = Project::new();
    let harmless = ["explore", "pull.toml", "--no-pictures", "--set", "error.steering-pulls.offset.by=\"0.1 deg\""];
    let (code, result) = project.json(&harmless);
    assert_eq!((code, &result["verdict"]), (0, &"not found".into()), "{result}");
    let human = project.run(&harmless);
    assert!(human.out.contains("not found") && !human.out.contains("safe"), "{human:?}");
}

#[test]
fn results_do_not_depend_on_threads() {
    let project = Project::new();
    let digest = |threads| {
        let (_, result) = project.json(&["explore", "pull.toml", "--no-pictures", "--rollouts", "50", "-j", threads]);
        (result["digest"].clone(), result["groups"].as_array().unwrap().len(), result["coverage"].clone())
    };
    let one = digest("1");
    assert_eq!(one, digest("2"));
    assert_eq!(one, digest("7"));
}

#[test]
fn a_spent_budget_is_incomplete_and_never_a_pass() {
    let project = Project::new();
    let harmless = "error.steering-pulls.offset.by=0.1 deg";
    for limit in ["states=2", "time=1ms,states=1000000", "memory=1B"] {
        let arguments = ["explore", "pull.toml", "--no-pictures", "--set", harmless, "--budget", limit];
        let (code, result) = project.json(&arguments);
        assert_eq!(
            (code, &result["verdict"], &result["complete"]),
            (5, &"incomplete".into(), &false.into()),
            "{limit}"
        );
    }
    // Findings weigh more than a spent budget.
    let (code, result) = project.json(&["explore", "pull.toml", "--no-pictures", "--stop-on-first"]);
    assert_eq!((code, &result["verdict"], &result["complete"]), (1, &"violated".into(), &false.into()), "{result}");
}

#[test]
fn contradicting_options_are_refused_before_a_run_begins() {
    let project = Project::new();
    let ran = project.run(&["explore", "pull.toml", "--scope", "frontier", "--keep", "extremes"]);
    assert!(ran.code == 2 && ran.err.contains("frontier"), "{ran:?}");
    let ran = project.run(&["explore", "pull.toml", "--preset", "paper", "--keep", "worst"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    for until in ["30 s", "0.7 s", "3", "soon"] {
        assert_eq!(project.run(&["explore", "pull.toml", "--until", until]).code, 2, "{until}");
    }
    assert!(!project.file("runs").exists());
}

#[test]
fn the_paper_preset_names_what_it_ignores() {
    let project = Project::new();
    let (_, result) = project.json(&["explore", "pull.toml", "--no-pictures", "--preset", "paper"]);
    let ignored: Vec<&str> = result["ignored"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(ignored.contains(&"speed") && !ignored.contains(&"x"), "{ignored:?}");
    assert_eq!((&result["settings"]["scope"], &result["settings"]["keep"]), (&"frontier".into(), &"first".into()));
    let human = project.run(&["explore", "pull.toml", "--no-pictures", "--preset", "paper"]);
    assert!(human.out.contains("speed") && human.out.contains("count as one"), "{human:?}");
}

#[test]
fn merging_can_be_finer_or_off() {
    let project = Project::new();
    let states = |merge: &str| {
        let (_, result) = project.json(&["explore", "pull.toml", "--no-pictures", "--until", "5 s", "--merge", merge]);
        (result["states"].as_u64().unwrap(), result["merged"].as_u64().unwrap())
    };
    let (coarse, fine, off) = (states("2"), states("x=0.01m,y=0.01m"), states("none"));
    assert!(coarse.0 <= fine.0 && fine.0 <= off.0, "{coarse:?} {fine:?} {off:?}");
    assert_eq!(off.1, 0);
}

#[test]
fn the_run_folder_has_everything_and_names_no_machine() {
    let project = Project::new();
    let scenario = project.file("pull.toml");
    let ran = project.run(&["explore", scenario.to_str().unwrap(), "--name", "my run"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for name in [
        "run.json",
        "status.json",
        "scenario.toml",
        "scenario.json",
        "result.json",
        "levels/0000.lvl",
        "levels/0001.lvl",
    ] {
        assert!(project.file("runs/last").join(name).is_file(), "{name}");
    }
    for name in ["bundle", "savings", "profile", "levels"] {
        assert!(project.read(&format!("runs/last/{name}.svg")).starts_with("<svg"), "{name}");
        assert!(std::fs::read(project.file("runs/last").join(format!("{name}.png"))).unwrap().starts_with(b"\x89PNG"));
    }
    let first = std::fs::read_dir(project.file("runs/last/findings")).unwrap().next().unwrap().unwrap().path();
    assert!(first.join("finding.toml").is_file() && first.join("trace.csv").is_file());
    let here = project.path().file_name().unwrap().to_string_lossy().into_owned();
    for name in ["run.json", "status.json", "scenario.json", "result.json"] {
        assert!(!project.read(&format!("runs/last/{name}")).contains(&here), "{name}");
    }
    assert!(!ran.out.contains(&here), "{}", ran.out);
    let status: Value = serde_json::from_str(&project.read("runs/last/status.json")).unwrap();
    assert_eq!(status["phase"], "done");
    assert!(std::fs::read_link(project.file("runs/last")).unwrap().to_string_lossy().ends_with("my-run"));
}

#[test]
fn jsonl_streams_levels_and_ends_with_the_object() {
    let project = Project::new();
    let ran = project.run(&["explore", "pull.toml", "--no-pictures", "--format", "jsonl"]);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, levels) = lines.split_last().unwrap();
    assert_eq!(last["schema"], "anabranch.explore/1");
    assert_eq!(levels.len() as u64, last["levels"].as_u64().unwrap());
    assert!(levels.iter().all(|level| level["event"] == "level"));
}

#[test]
fn danger_order_findings_can_be_replayed_too() {
    let project = Project::new();
    let (code, result) =
        project.json(&["explore", "pull.toml", "--no-pictures", "--order", "danger", "--scope", "visited"]);
    assert_eq!(code, 1, "{result}");
    assert_eq!(project.json(&["replay", "last#1"]).1["same_as_found"], true);
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_ends_with_130() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let project = Project::new();
    // Without merging it would take years; the first level event says that it is under way.
    let endless =
        PULL.replace("[explore]\n", "[explore]\nmerge = \"none\"\nbudget = { memory = \"200 MB\", time = \"60 s\" }\n");
    project.write("endless.toml", &endless);
    let mut child = project
        .command(&["explore", "endless.toml", "--no-pictures", "--format", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut first = [0];
    out.read_exact(&mut first).unwrap();
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let result: Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    assert_eq!(result["complete"], false);
    let status: Value = serde_json::from_str(&project.read("runs/last/status.json")).unwrap();
    assert_eq!(status["phase"], "interrupted");
}

#[test]
fn a_constant_error_that_violates_is_a_finding_even_if_the_budget_ends_before() {
    let project = Project::new();
    let strong = ["--set", "error.steering-pulls.offset.by=25 deg", "--budget", "states=1"];
    let (code, result) = project.json(&[&["explore", "pull.toml", "--no-pictures"], &strong[..]].concat());
    assert!(result["constant_errors_violate"].as_u64().unwrap() > 0, "{result}");
    assert_eq!((code, &result["verdict"], &result["complete"]), (1, &"violated".into(), &false.into()), "{result}");
    assert_eq!(result["groups"][0]["source"], "constant");
}

/// `pull.toml` with an error that seldom begins.
fn likely_project() -> Project {
    let project = Project::new();
    let offset = "offset = { by = \"6 deg\" }\n";
    assert!(PULL.contains(offset));
    let probability = "probability = { begin = 0.01, stay = 0.6 }\n";
    project.write("likely.toml", &PULL.replace(offset, &format!("{offset}{probability}")));
    project
}

#[test]
fn probabilities_of_errors_become_probabilities_of_failures() {
    let project = likely_project();
    let arguments = ["explore", "likely.toml", "--no-pictures", "--samples", "1000", "--most-likely", "2"];
    let (code, result) = project.json(&arguments);
    assert_eq!(code, 1, "{result}");
    let found = &result["probability"];
    let number = |key: &str| found[key].as_f64().unwrap_or_else(|| panic!("{key}: {found}"));
    let (low, failure, high) = (number("low"), number("failure"), number("high"));
    assert!(0.0 < low && low <= failure && failure <= high && high < 0.2, "{found}");
    assert_eq!(number("samples") + number("samples_to_look_around"), 1000.0);
    let most_likely = found["most_likely"].as_array().unwrap();
    assert!(!most_likely.is_empty() && most_likely.len() <= 2, "{found}");
    let first = &most_likely[0];
    assert!(first["probability"].as_f64().unwrap() <= failure, "{found}");
    let replayed = project.run(&["replay", first["finding"].as_str().unwrap(), "--twice"]);
    assert!(replayed.code == 1 && replayed.out.contains("no-contact"), "{replayed:?}");
    let human = project.run(&arguments);
    assert!(human.out.contains("Most likely failures") && human.out.contains("95 %"), "{human:?}");
    let threads = project.json(&[&arguments[..], &["-j", "3"]].concat()).1;
    assert_eq!(threads["probability"]["low"], found["low"]);
    assert_eq!(threads["probability"]["high"], found["high"]);
}

#[test]
fn without_probabilities_nothing_is_said_about_them() {
    let project = Project::new();
    let (_, result) = project.json(&["explore", "pull.toml", "--no-pictures"]);
    assert!(result.get("probability").is_none(), "{result}");
    let ran = project.run(&["explore", "pull.toml", "--samples", "1000"]);
    assert!(ran.code == 2 && ran.err.contains("--samples"), "{ran:?}");
}

/// The words of a proof, for people and for machines; the switch in the second corridor takes them away.
#[test]
fn safe_is_said_with_a_proof_and_withheld_without() {
    let project = Project::new();
    let shipped = |name: &str| format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let explored = |name: &str| {
        let file = shipped(name);
        let arguments = ["explore", file.as_str(), "--no-pictures", "--rollouts", "500"];
        (project.run(&arguments).out, project.json(&arguments))
    };
    let (human, (code, result)) = explored("steady-corridor");
    assert_eq!((code, &result["verdict"]), (0, &"safe".into()), "{result}");
    let proof = &result["soundness"];
    assert_eq!((&proof["kind"], &proof["why"]), (&"proven".into(), &Value::Null));
    assert!(proof["found_m"].as_f64() > proof["needed_m"].as_f64() && proof["lambda"].as_f64() < Some(1.0), "{proof}");
    assert!(human.contains("safe inside the error model: clearance"), "{human}");
    let (human, (code, result)) = explored("steady-corridor-switch");
    // One run in seven leaves what is explored at first; these runs join until hardly any does.
    assert_eq!((code, &result["verdict"]), (0, &"not found".into()), "{result}");
    assert_eq!(result["coverage"]["covered"], true, "{result}");
    assert!(result["coverage"]["joined"].as_u64() > Some(0), "{result}");
    assert!(result["soundness"]["why"].as_str().unwrap().contains("brake"), "{result}");
    assert!(human.contains("not proven: ") && !human.contains("safe"), "{human}");
    assert!(human.contains("no violation deeper than"), "{human}");
}
