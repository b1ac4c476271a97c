//! Run folders from outside: tables of the graph, traces, the page of a run and the comparison of two.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::common::{PULL, Project};
use serde_json::Value;

const QUICK: [&str; 5] = ["explore", "pull.toml", "--until", "8 s", "--no-pictures"];
const HARMLESS: [&str; 2] = ["--set", "error.steering-pulls.offset.by=0.1 deg"];

/// The name of the last run, as `report` takes it.
fn last(project: &Project) -> String {
    let target = fs::read_link(project.file("runs/last")).unwrap();
    target.file_name().unwrap().to_string_lossy().into_owned()
}

fn page(project: &Project) -> String {
    let page = project.read("runs/last/report.html");
    let lower = page.to_lowercase();
    for bad in ["http:", "https:", "<script", " src=", "@import", "javascript:", "<link", "<iframe", "<img"] {
        assert!(!lower.contains(bad), "{bad}");
    }
    let here = project.path().file_name().unwrap().to_string_lossy().into_owned();
    assert!(!page.contains(&here), "a page names no folder of this machine");
    page
}

fn finding(project: &Project) -> PathBuf {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(project.file("runs/last/findings")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders[0].clone()
}

#[test]
fn the_page_of_a_violated_run_tells_and_shows_it() {
    let project = Project::new();
    let ran = project.run(&["explore", "pull.toml", "--rollouts", "50"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let page = page(&project);
    for words in [
        "<strong>violated</strong>, by ",
        "anabranch replay ",
        "no-contact",
        "steering-pulls",
        "50 random runs without merging",
        "left out of the key",
        "Merge tolerance per state variable",
        "[[must]]",
        "Where the CPU time of the exploration went",
        "The failing path on the map",
        "prefers-color-scheme:dark",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.matches("<svg").count() >= 7, "{}", page.matches("<svg").count());
    let written = project.run(&["report"]);
    assert!(written.code == 0 && written.out.contains("report.html"), "{written:?}");
    assert_eq!(page, project.read("runs/last/report.html"), "the folder alone gives the same page");
}

#[test]
fn pages_of_other_verdicts_use_the_same_words_as_the_machine() {
    let project = Project::new();
    assert_eq!(project.run(&[&QUICK[..], &HARMLESS].concat()).code, 0);
    let text = page(&project);
    assert!(
        text.contains("<strong>not found</strong> in any error sequence of 8 s, shorter than the scenario"),
        "{text}"
    );
    assert_eq!(project.run(&[&QUICK[..], &HARMLESS, &["--budget", "states=2"]].concat()).code, 5);
    let text = page(&project);
    assert!(
        text.contains("<strong>incomplete</strong> (the budget of states was used up)") && text.contains("no pass")
    );
    assert!(!text.contains("<strong>safe"));
}

#[test]
fn no_path_is_a_run_with_a_page() {
    let project = Project::new();
    let walled = PULL
        .replace("path    = [{ length = \"10 m\" }]\n", "")
        .replace("[ego]\n", "[[world.obstacle]]\nid = \"wall\"\nbox = { x = \"6 m\", y = \"0 m\", length = \"0.4 m\", width = \"60 m\" }\n\n[ego]\n");
    project.write("walled.toml", &walled);
    let (code, result) = project.json(&["explore", "walled.toml"]);
    assert_eq!((code, &result["verdict"]), (1, &"no path".into()), "{result}");
    let text = page(&project);
    assert!(text.contains("<strong>no path</strong>: planner found no path"), "{text}");
    assert!(text.contains("Nothing was explored, so nothing is claimed"));
}

#[test]
fn hostile_scenarios_stay_text() {
    let project = Project::new();
    let hostile = PULL.replace("Drive straight", "<img src=x onerror=alert(1)> & </pre><b>");
    project.write("hostile.toml", &hostile);
    assert_eq!(project.run(&["explore", "hostile.toml", "--until", "6 s"]).code, 1);
    let text = project.read("runs/last/report.html");
    assert!(text.contains("&lt;img src=x onerror=alert(1)&gt; &amp; &lt;/pre&gt;"), "{text}");
    assert!(!text.contains("<img"));
}

#[test]
fn tables_are_the_same_for_any_number_of_threads_and_fit_the_result() {
    let project = Project::new();
    let tables = |threads: &str| {
        let (_, result) = project.json(&[&QUICK[..], &["-j", threads]].concat());
        let read = |name: &str| fs::read(project.file("runs/last").join(name)).unwrap();
        (read("states.parquet"), read("segments.parquet"), result)
    };
    let (states, segments, result) = tables("1");
    assert!(tables("3").0 == states && tables("7").1 == segments);
    let folder = project.file("runs/last");
    let rows = anabranch_record::table::read_segments(&folder.join("segments.parquet")).unwrap();
    assert_eq!(rows.len() as u64, result["segments"].as_u64().unwrap());
    let violated = rows.iter().filter(|row| row.fate == anabranch_record::table::SegmentFate::Violated).count();
    assert!(violated > 0);
    let worst = rows.iter().map(|row| row.margin).fold(f64::INFINITY, f64::min);
    assert_eq!(Some(worst), result["worst_clearance_m"].as_f64());
    let states = anabranch_record::table::read_states(&folder.join("states.parquet")).unwrap();
    assert!(states.iter().all(|state| state.pose.iter().all(|value| value.is_finite())));
    assert_eq!(states.iter().filter(|state| state.parent.is_none()).count(), 1);
}

#[test]
fn tables_can_be_csv_or_left_out_and_hold_what_an_incomplete_run_saw() {
    let project = Project::new();
    project.run(&[&QUICK[..], &["--graph", "csv", "--budget", "states=5"]].concat());
    let text = project.read("runs/last/segments.csv");
    let result: Value = serde_json::from_str(&project.read("runs/last/result.json")).unwrap();
    assert_eq!(text.lines().count() as u64, 1 + result["segments"].as_u64().unwrap());
    assert_eq!(result["complete"], false);
    project.run(&[&QUICK[..], &["--graph", "none"]].concat());
    assert!(!project.file("runs/last/segments.parquet").exists() && !project.file("runs/last/segments.csv").exists());
}

#[test]
fn traces_are_mcap_by_their_name() {
    let project = Project::new();
    assert_eq!(project.run(&QUICK).code, 1);
    let is_mcap = |path: &Path| {
        let mut begin = [0; 8];
        fs::File::open(path).unwrap().read_exact(&mut begin).unwrap();
        begin == *b"\x89MCAP0\r\n"
    };
    assert!(is_mcap(&finding(&project).join("trace.mcap")));
    for name in ["a.mcap", "b.MCAP"] {
        let ran = project.run(&["replay", "last#1", "--trace", name]);
        assert!(ran.code == 1 && is_mcap(&project.file(name)), "{ran:?}");
    }
    assert_eq!(fs::read(project.file("a.mcap")).unwrap(), fs::read(project.file("b.MCAP")).unwrap());
    assert_eq!(project.run(&["run", "pull.toml", "--trace", "c.mcap"]).code, 0);
    assert!(is_mcap(&project.file("c.mcap")));
    assert_eq!(project.run(&["run", "pull.toml", "--trace", "d.csv"]).code, 0);
    assert!(project.read("d.csv").starts_with("tick,"));
}

#[test]
fn a_change_is_compared_cell_by_cell_and_the_gate_shuts() {
    let project = Project::new();
    let explore = |offset: &str, name: &str| {
        let set = format!("error.steering-pulls.offset.by={offset}");
        project.run(&[&QUICK[..], &["--merge", "declared", "--set", &set, "--name", name]].concat());
        last(&project)
    };
    let (weak, strong, again) = (explore("2 deg", "weak"), explore("7 deg", "strong"), explore("7 deg", "again"));
    let (code, diff) = project.json(&["report", &weak, &strong, "--gate"]);
    assert_eq!((code, &diff["gate"]), (1, &"new failures".into()), "{diff}");
    assert_eq!(diff["schema"], "anabranch.diff/1");
    assert!(diff["new"]["count"].as_u64().unwrap() > 0 && diff["fixed"]["count"] == 0, "{diff}");
    let witness = diff["new"]["cells"][0]["witness"]["words"].as_str().unwrap();
    assert!(witness.contains("steering-pulls"), "{witness}");
    assert_eq!(diff["first_difference"]["level"], 0, "{diff}");
    let (code, diff) = project.json(&["report", &strong, &weak, "--gate"]);
    assert!(code == 0 && diff["fixed"]["count"].as_u64().unwrap() > 0, "{diff}");
    let (code, diff) = project.json(&["report", &strong, &again, "--gate"]);
    assert_eq!((code, &diff["equal"], &diff["first_difference"]), (0, &true.into(), &Value::Null), "{diff}");
    let ran = project.run(&["report", &weak, &strong, "--out", "c.html"]);
    assert!(ran.code == 0 && ran.out.contains("new"), "{ran:?}");
    let text = project.read("c.html");
    assert!(text.contains("New: failing in B, not in A") && text.contains("--set error.steering-pulls.offset.by"));
}

#[test]
fn what_cannot_be_compared_never_passes_a_gate() {
    let project = Project::new();
    project.run(&[&QUICK[..], &HARMLESS].concat());
    let whole = last(&project);
    project.run(&[&QUICK[..], &HARMLESS, &["--name", "part", "--budget", "states=3"]].concat());
    let part = last(&project);
    assert_eq!(project.json(&["report", &whole, &part, "--gate"]).0, 5);
    project.run(&[&QUICK[..], &HARMLESS, &["--name", "fine", "--merge", "0.5"]].concat());
    let fine = last(&project);
    let ran = project.run(&["report", &whole, &fine, "--gate", "--out", "c.html"]);
    assert!(ran.code == 2 && ran.out.contains("cell sizes"), "{ran:?}");
    let alone = project.run(&["report", &whole, "--gate"]);
    assert!(alone.code == 2 && alone.err.contains("--gate compares two runs"), "{alone:?}");
    assert_eq!(project.run(&["report", "last#1"]).code, 2);
}
