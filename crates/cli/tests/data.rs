//! `data fit-errors`: from a log to an error table that a scenario takes.

use std::path::Path;

use anabranch_kernel::maths;

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

/// A drive of a minute that speeds up and slows down; an estimate with a bias of 0.25 m and a little noise that is no chance.
fn drive() -> impl Iterator<Item = (u64, f64, f64)> {
    let mut word = 7_u64;
    (0..600_u64).map(move |row| {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (word >> 33) as f64 / (1_u64 << 31) as f64 - 0.5;
        let time_s = 0.1 * row as f64;
        let x = 8.0 * time_s + 10.0 * maths::sin(0.4 * time_s);
        (row, x, x + 0.25 + 0.1 * noise)
    })
}

/// A whole MCAP file by hand, with what the format asks for and nothing else.
fn mcap(topics: &[&str], messages: &[(usize, u64, String)]) -> Vec<u8> {
    const MAGIC: &[u8] = b"\x89MCAP0\r\n";
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let mut file = MAGIC.to_vec();
    let mut record = |opcode: u8, parts: &[&[u8]]| {
        let body = parts.concat();
        file.push(opcode);
        file.extend_from_slice(&(body.len() as u64).to_le_bytes());
        file.extend_from_slice(&body);
    };
    record(1, &[&text(""), &text("test")]);
    let schema = r#"{"type": "object", "properties": {"x": {"type": "number", "unit": "m"}}}"#;
    record(3, &[&1_u16.to_le_bytes(), &text("place"), &text("jsonschema"), &text(schema)]);
    for (number, topic) in (1_u16..).zip(topics) {
        record(4, &[&number.to_le_bytes(), &1_u16.to_le_bytes(), &text(topic), &text("json"), &0_u32.to_le_bytes()]);
    }
    for (topic, at_ns, said) in messages {
        let number = (*topic as u16 + 1).to_le_bytes();
        let at = at_ns.to_le_bytes();
        record(5, &[&number, &0_u32.to_le_bytes(), &at, &at, said.as_bytes()]);
    }
    record(15, &[&0_u32.to_le_bytes()]);
    record(2, &[&0_u64.to_le_bytes(), &0_u64.to_le_bytes(), &0_u32.to_le_bytes()]);
    file.extend_from_slice(MAGIC);
    file
}

#[test]
fn an_mcap_log_is_fitted_like_a_csv_one() {
    let project = Project::new();
    let said = |x: f64| format!("{{\"x\": {x}}}");
    let messages: Vec<(usize, u64, String)> = drive()
        .flat_map(|(row, truth, told)| [(0, row * 100_000_000, said(truth)), (1, row * 100_000_000, said(told))])
        .collect();
    std::fs::write(project.file("log.mcap"), mcap(&["/truth", "/estimate"], &messages)).unwrap();
    let rows: String = drive().map(|(row, truth, told)| format!("{},{truth},{told}\n", 0.1 * row as f64)).collect();
    project.write("log.csv", &format!("time [s],truth.x [m],estimate.x [m]\n{rows}"));
    let bias = |file: &str| {
        let (code, found) = project.json(&["data", "fit-errors", file]);
        assert_eq!((code, found["rows"].as_u64()), (0, Some(600)), "{file}: {found}");
        assert_eq!(
            (found["channels"][0]["name"].as_str(), found["channels"][0]["unit"].as_str()),
            (Some("x"), Some("m"))
        );
        assert_eq!(found["jumps"][0]["count"], 0, "{found}");
        found["channels"][0]["bias"]["value"].as_f64().unwrap()
    };
    let (from_mcap, from_csv) = (bias("log.mcap"), bias("log.csv"));
    assert!((from_mcap - 0.25).abs() < 0.02 && (from_mcap - from_csv).abs() < 1e-6, "{from_mcap} {from_csv}");
}

#[test]
fn a_uniform_drive_cannot_tell_bias_and_delay_apart_and_says_so() {
    let project = Project::new();
    // 20 m/s all along: 0.1 s late and 2 m behind are the same log.
    let row = |(row, x, told): (u64, f64, f64)| {
        let (time_s, noise) = (0.1 * row as f64, told - x - 0.25);
        format!("{time_s},{},{}\n", 20.0 * time_s, 20.0 * time_s - 2.0 + noise)
    };
    project.write("log.csv", &format!("time [s],truth.x [m],estimate.x [m]\n{}", drive().map(row).collect::<String>()));
    let ran = project.run(&["data", "fit-errors", "log.csv"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("bias and delay cannot be told apart"), "{}", ran.out);
    let (_, found) = project.json(&["data", "fit-errors", "log.csv"]);
    assert!(found["channels"][0]["delay_s"].is_null() && found["delay_s"].is_null(), "{found}");
    // The interval of the bias holds both: 2 m behind, and none at all.
    let bias = &found["channels"][0]["bias"];
    assert!(bias["low"].as_f64().unwrap() <= -2.0 && bias["high"].as_f64().unwrap() >= 0.0, "{bias}");
}

#[test]
fn rounding_of_a_log_without_noise_is_no_jump() {
    let project = Project::new();
    let row = |(row, x, _): (u64, f64, f64)| format!("{:.1},{x:.3},{:.3}\n", 0.1 * row as f64, x + 0.2504);
    project.write("log.csv", &format!("time [s],truth.x [m],estimate.x [m]\n{}", drive().map(row).collect::<String>()));
    let (code, found) = project.json(&["data", "fit-errors", "log.csv"]);
    assert_eq!((code, found["jumps"][0]["count"].as_u64()), (0, Some(0)), "{found}");
    assert!((found["channels"][0]["bias"]["value"].as_f64().unwrap() - 0.2504).abs() < 1e-3, "{found}");
}
