//! The page of verdicts is what the function does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anabranch_study::{
    Conclusion, Coverage, Evidence, Findings, Ground, Musts, Resolution, Share, Stop, Tone, conclude,
};

/// A row of the table: number, condition, word, mark.
struct Row {
    number: usize,
    word: String,
    mark: String,
}

fn table() -> Vec<Row> {
    let page = include_str!("../../../docs/verdicts.md");
    let cells =
        |line: &str| -> Vec<String> { line.trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect() };
    let rows = page.lines().filter(|line| line.starts_with("| ")).map(cells);
    let rows = rows.filter_map(|cells| {
        Some(Row { number: cells[0].parse().ok()?, word: cells[2].clone(), mark: cells[5].clone() })
    });
    rows.collect()
}

/// The condition of each row, as the page says it.
fn applies(row: usize, evidence: &Evidence) -> bool {
    match row {
        1 => evidence.no_path.is_some(),
        2 => !evidence.unstable.is_empty(),
        3 => evidence.findings.sequences > 0,
        4 => matches!(evidence.musts, Musts::Missing(_)),
        5 => evidence.stop.is_some() || evidence.faults > 0 || evidence.unconfirmed > 0 || evidence.gone.is_some(),
        6 => matches!(evidence.musts, Musts::NotJudged(_)),
        7 => evidence.ground.is_some(),
        8 => evidence.parted.is_some() && evidence.coverage != Coverage::NotNeeded,
        9 => match &evidence.coverage {
            Coverage::Unknown { .. } => true,
            Coverage::Measured(share) => !share.is_covered,
            Coverage::NotNeeded | Coverage::NotClaimed { .. } => false,
        },
        10 => evidence.resolution.as_ref().is_some_and(|r| r.reached.is_none_or(|reached| reached > r.asked)),
        _ => true,
    }
}

fn share(is_covered: bool) -> Coverage {
    Coverage::Measured(Share { runs: 500, share: 0.9, low: 0.88, high: 0.93, needed: 0.95, is_covered })
}

fn resolution(reached: Option<f64>) -> Option<Resolution> {
    Some(Resolution { asked: 0.01, reached, unit: "m".to_owned(), why_not: String::new(), left_out: Vec::new() })
}

/// One value of evidence changed at a time, in all combinations.
fn combinations() -> Vec<Evidence> {
    type Change = fn(&mut Evidence);
    let alternatives: [&[Change]; 12] = [
        &[|_| {}, |e| e.no_path = Some("a wall".to_owned())],
        &[|_| {}, |e| e.unstable = vec!["two answers".to_owned()]],
        &[
            |_| {},
            |e| e.findings = Findings { sequences: 2, faults: 0 },
            |e| e.findings = Findings { sequences: 1, faults: 1 },
        ],
        &[|_| {}, |e| e.unconfirmed = 1],
        &[
            |_| {},
            |e| e.stop = Some(Stop::Time),
            |e| e.stop = Some(Stop::Interrupted),
            |e| e.stop = Some(Stop::FirstFinding),
        ],
        &[|_| {}, |e| e.faults = 3],
        &[|_| {}, |e| e.gone = Some("it crashed".to_owned())],
        &[|_| {}, |e| e.parted = Some("`x` 1 and 2".to_owned())],
        &[
            |_| {},
            |e| e.ground = Some(Ground::Exhaustive),
            |e| e.ground = Some(Ground::Proven { needed: 0.1, found: None }),
        ],
        &[
            |_| {},
            |e| e.coverage = Coverage::NotNeeded,
            |e| e.coverage = Coverage::NotClaimed { simulations: 7 },
            |e| e.coverage = share(true),
            |e| e.coverage = share(false),
        ],
        &[
            |_| {},
            |e| e.resolution = resolution(None),
            |e| e.resolution = resolution(Some(0.02)),
            |e| e.resolution = resolution(Some(0.005)),
        ],
        &[
            |_| {},
            |e| e.musts = Musts::Missing("none".to_owned()),
            |e| e.musts = Musts::NotJudged(vec!["arrives".to_owned()]),
        ],
    ];
    let mut all = vec![Evidence::default()];
    for changes in alternatives {
        all = all
            .iter()
            .flat_map(|evidence| {
                changes.iter().map(move |change| {
                    let mut evidence = evidence.clone();
                    change(&mut evidence);
                    evidence
                })
            })
            .collect();
    }
    all
}

#[test]
fn the_page_has_the_precedence_of_the_function_for_every_combination_of_evidence() {
    let table = table();
    assert_eq!(table.iter().map(|row| row.number).collect::<Vec<_>>(), (1..=11).collect::<Vec<_>>());
    let all = combinations();
    assert_eq!(all.len(), 2 * 2 * 3 * 2 * 4 * 2 * 2 * 2 * 3 * 5 * 4 * 3);
    let mut met = [0_u32; 11];
    for evidence in &all {
        let row = table.iter().find(|row| applies(row.number, evidence)).unwrap();
        let conclusion = conclude(evidence);
        assert_eq!(
            (conclusion.word(), conclusion.tone().mark()),
            (row.word.as_str(), row.mark.as_str()),
            "row {} for {evidence:?}",
            row.number
        );
        met[row.number - 1] += 1;
    }
    assert!(met.iter().all(|count| *count > 0), "every row is met: {met:?}");
}

#[test]
fn a_pass_needs_everything_judged_finished_and_covered_or_proven() {
    for evidence in combinations() {
        let conclusion = conclude(&evidence);
        if conclusion.tone() == Tone::Good {
            assert!(evidence.is_complete() && evidence.musts == Musts::Judged && evidence.unstable.is_empty());
            assert!(evidence.findings.sequences == 0 && evidence.no_path.is_none());
            assert!(evidence.ground.is_some() || evidence.coverage.is_enough(), "{evidence:?}");
            let is_merged = evidence.ground.is_none() && evidence.coverage != Coverage::NotNeeded;
            assert!(!is_merged || evidence.parted.is_none(), "{evidence:?}");
        }
    }
}

#[test]
fn a_conclusion_is_the_same_after_it_was_written_and_read() {
    for evidence in combinations() {
        let conclusion = conclude(&evidence);
        let mut result = serde_json::json!({});
        conclusion.write(&mut result);
        let read: serde_json::Value = serde_json::from_str(&result.to_string()).unwrap();
        assert_eq!(Conclusion::read(&read), conclusion);
        assert_eq!(read["verdict"], read["conclusion"]["kind"]);
    }
}

#[test]
fn results_of_versions_with_the_word_alone_are_read() {
    let read = |text: &str| Conclusion::read(&serde_json::from_str(text).unwrap()).word();
    let covered = r#""coverage": { "rollouts": 500, "runs_inside": 1.0, "covered": true }"#;
    assert_eq!(read(r#"{ "verdict": "violated", "findings": 3 }"#), "violated");
    assert_eq!(read(r#"{ "verdict": "safe", "soundness": { "kind": "exhaustive" } }"#), "safe");
    assert_eq!(read(&format!(r#"{{ "verdict": "not found", {covered} }}"#)), "not found");
    assert_eq!(read(r#"{ "verdict": "not found", "coverage": { "rollouts": 500, "covered": false } }"#), "not covered");
    assert_eq!(read(r#"{ "verdict": "not found", "coverage": { "rollouts": 0, "covered": null } }"#), "not covered");
    assert_eq!(read(r#"{ "verdict": "not found", "settings": { "merge": "none" }, "coverage": {} }"#), "not found");
    assert_eq!(read(r#"{ "verdict": "not found", "evaluations": 100 }"#), "not found");
    assert_eq!(read(r#"{ "verdict": "no path", "stop": "planner found no path: it is closed" }"#), "no path");
    assert_eq!(read(r#"{ "verdict": "incomplete", "stop": "the time budget was used up" }"#), "incomplete");
    assert_eq!(read(r#"{ "verdict": "all is well" }"#), "incomplete");
    assert_eq!(read("null"), "incomplete");
}

/// All Rust files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

#[test]
fn nobody_compares_a_verdict_as_text() {
    let words = table().into_iter().map(|row| row.word).collect::<BTreeSet<_>>();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for room in std::fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path()) {
        // Here the words of older versions are read, in one place.
        if room.join("src").is_dir() && !room.ends_with("study") {
            sources(&room.join("src"), &mut files);
        }
    }
    assert!(files.len() > 100, "the files of all rooms are looked at");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for word in &words {
            let quoted = format!("\"{word}\"");
            for compared in [
                format!("== {quoted}"),
                format!("!= {quoted}"),
                format!("{quoted} =>"),
                format!("{quoted} |"),
                format!("Some({quoted}"),
            ] {
                assert!(!code.contains(&compared), "{}: {compared}; read the Conclusion instead", file.display());
            }
        }
    }
}
