use super::*;
use crate::run_folder::{RunInfo, Status};
use anabranch_kernel::Digest;
use serde_json::json;

const HOSTILE: &str = "</title><script>alert(1)</script>\" onload=\"x' \u{202E}";

fn folder(result: &Value) -> (tempfile::TempDir, RunFolder) {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(place.path(), "passage", std::time::SystemTime::UNIX_EPOCH).unwrap();
    let mut info = RunInfo::new(HOSTILE, Digest::of(b"x"), 3, ["anabranch", "explore", HOSTILE]);
    info.started = "1970-01-01T00:00:00Z".to_owned();
    folder.write_run(&info).unwrap();
    folder.write_status(&Status::begin()).unwrap();
    folder.publish("scenario.toml", HOSTILE.as_bytes()).unwrap();
    if !result.is_null() {
        folder.publish_json("result.json", result).unwrap();
    }
    (place, folder)
}

fn violated() -> Value {
    json!({
        "schema": "anabranch.explore/1", "scenario": HOSTILE, "verdict": "violated", "complete": true, "findings": 12,
        "finding_groups": 1, "segments": 100, "states": 40, "merged": 50, "stop": "", "worst_clearance_m": -0.01,
        "settings": { "segment_s": 1.0, "until_s": 5.0, "merge": [HOSTILE], "scope": HOSTILE, "seed": 0 },
        "groups": [{
            "number": 1, "group": HOSTILE, "count": 3, "requirement": HOSTILE, "time_s": 2.5,
            "contact": { "sector": HOSTILE, "other": HOSTILE, "in_world_m": [1.0, 2.0] },
            "errors": [{ "from_s": 0.0, "to_s": 1.0, "error": HOSTILE }], "finding": HOSTILE,
        }],
        "error_sites": [{ "id": HOSTILE, "modes": ["none", HOSTILE] }],
        "coverage": { "rollouts": 100, "runs_inside": 0.99, "runs_inside_low": 0.95, "runs_inside_high": 0.999 },
        "level_rows": [{ "level": 0, "segments": 100, "kept": 40, "merged": 50, "worst_clearance_m": 0.2 }],
        "profile": [{ "name": HOSTILE, "cpu_s": 1.0 }],
        "probability": { HOSTILE: HOSTILE, "failure": 0.25 },
    })
}

fn check_harmless(page: &str) {
    let lower = page.to_lowercase();
    for bad in ["<script", "http:", "https:", "onload=\"", " src=", "@import", "url(http", "\u{202e}"] {
        assert!(!lower.contains(bad), "{bad}");
    }
    assert!(page.len() < PAGE_BYTES_MAX);
}

#[test]
fn hostile_names_stay_text_everywhere() {
    let (_place, folder) = folder(&violated());
    let page = run_report(&folder).unwrap();
    check_harmless(&page);
    assert!(page.contains("&lt;script&gt;") && page.contains("by 12 error sequences in 1 group"), "{page}");
    assert!(page.contains("Probability"), "sections of other versions are shown");
    let two = RunComparison::read(&[folder.clone(), folder]).unwrap();
    check_harmless(&two.page());
    assert_eq!(two.gate(), Gate::Incomparable, "they have no graph");
}

#[test]
fn causes_are_told_with_their_minimal_sequence_and_what_each_error_does() {
    let mut result = violated();
    let why = json!({ "sentences": ["without `jump` it does not happen", HOSTILE] });
    result["causes"] = json!([{ "cause": 1, "finding_number": 1, "why": why }, { "cause": 2, "finding_number": 2 }]);
    (result["findings_without_cause"], result["causes_unfinished"]) = (json!(7), json!("the work was used up"));
    let group = &mut result["groups"][0];
    (group["cause"], group["kinds"], group["minimal"]) = (json!(1), json!(["jump: left", HOSTILE]), json!(true));
    let (_place, folder) = folder(&result);
    let page = run_report(&folder).unwrap();
    check_harmless(&page);
    let parts = [
        "of 2 causes",
        "Cause 1: jump: left, ",
        "Without `jump` it does not happen.",
        "The minimal sequence",
        "7 findings not assigned to a cause: the work was used up",
    ];
    for part in parts {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_run_without_a_result_is_incomplete_and_no_pass() {
    let (_place, folder) = folder(&Value::Null);
    let page = run_report(&folder).unwrap();
    assert!(page.contains("<strong>incomplete</strong>") && page.contains("no pass"), "{page}");
}

/// Nothing found is no pass where random runs went elsewhere.
#[test]
fn nothing_found_outside_of_what_was_explored_is_no_pass() {
    let mut result = violated();
    (result["verdict"], result["groups"], result["findings"]) = (json!("not found"), json!([]), json!(0));
    for (covered, words) in [(true, "class=\"verdict good\""), (false, "class=\"verdict open\"")] {
        result["coverage"] = json!({ "rollouts": 100, "runs_inside": 0.5, "covered": covered });
        let (_place, folder) = folder(&result);
        let page = run_report(&folder).unwrap();
        assert!(page.contains(words) && page.contains("<strong>not covered</strong>: only 50 %") != covered, "{page}");
    }
}

#[test]
fn pictures_of_others_and_too_large_ones_are_left_out_and_listed() {
    let (_place, folder) = folder(&violated());
    folder.publish("bundle.svg", b"<svg><script>alert(1)</script></svg>").unwrap();
    let page = run_report(&folder).unwrap();
    check_harmless(&page);
    assert!(page.contains("the picture bundle: it is not one that we drew"));
    let large = format!("<svg><path d=\"{}\"/></svg>", "M0 0".repeat(800_000));
    folder.publish("bundle.svg", large.as_bytes()).unwrap();
    let page = run_report(&folder).unwrap();
    assert!(page.contains("the picture bundle: 3200 kB") && page.len() < PAGE_BYTES_MAX);
}

#[test]
fn something_else_is_not_a_run() {
    let place = tempfile::tempdir().unwrap();
    assert!(run_report(&RunFolder::open(place.path()).unwrap()).is_err());
}
