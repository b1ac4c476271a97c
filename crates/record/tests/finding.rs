//! Findings are values that people can read and that survive a changed scenario.

use anabranch_kernel::{Axis, Choice, Digest, ErrorSpace, Mode, ParamSpace, Params, Site};
use anabranch_record::{Contact, ErrorRun, Finding, FindingErrorKind, StartValue};
use proptest::prelude::*;

fn site(id: &str, modes: &[&str]) -> Site {
    let modes = modes.iter().map(|name| Mode { name: (*name).to_owned(), size: 0.1 }).collect();
    Site { id: id.to_owned(), modes }
}

fn space() -> ErrorSpace {
    let jump = site("estimate-jump", &["none", "left 0.1 m", "right 0.1 m"]);
    ErrorSpace::new(vec![jump, site("steering \"bias\"", &["none", "+2°"])], 2).unwrap()
}

fn starts() -> ParamSpace {
    let axis = |name: &str, unit: &str| Axis { name: name.into(), unit: unit.into(), values: vec![0.0] };
    ParamSpace { axes: vec![axis("ego.start.y", "m"), axis("count", ""), axis("ego.start.heading", "rad")] }
}

fn finding(choices: &[Choice]) -> Finding {
    Finding {
        seed: 7,
        start: StartValue::of(&starts(), &Params(vec![0.1, 3.0, -1e-3])),
        errors: ErrorRun::group(&space(), choices, &[]),
        requirement: "no-contact".into(),
        tick: 1_234,
        time_s: 12.34,
        contact: Some(Contact { on_ego_m: [-0.9, 0.8], in_world_m: [-13.5, 1.6], other: 2 }),
        group: "no-contact left-rear".into(),
        ..Finding::new("narrow-passage", Digest::of(b"text"), 1.0)
    }
}

const TEXT: &str = r#"schema = "anabranch.finding/1"
scenario = "narrow-passage"
scenario_hash = "HASH"
seed = 7
segment_length = "1 s"
group = "no-contact left-rear"

[start]
"ego.start.y" = "0.1 m"
"count" = "3"
"ego.start.heading" = "-0.001 rad"

[verdict]
requirement = "no-contact"
time = "12.34 s"
tick = 1234

[verdict.contact]
on_ego = ["-0.9 m", "0.8 m"]
in_world = ["-13.5 m", "1.6 m"]
other = 2

[[segment]]
from = "0 s"
to = "4 s"
error = "none"

[[segment]]
from = "4 s"
to = "6 s"
error = { estimate-jump = "left 0.1 m" }

[[segment]]
from = "6 s"
to = "7 s"
error = { estimate-jump = "right 0.1 m", 'steering "bias"' = "+2°" }
"#;

fn text() -> String {
    TEXT.replace("HASH", &Digest::of(b"text").to_string())
}

fn choices() -> Vec<Choice> {
    let both = space().find(&[2, 1]).unwrap();
    [Choice(0); 4].into_iter().chain([Choice(1), Choice(1), both]).collect()
}

#[test]
fn a_finding_reads_like_a_story() {
    assert_eq!(finding(&choices()).to_toml(), text());
    let read = Finding::from_toml(&text()).unwrap();
    assert_eq!(read.choices(&space()).unwrap(), choices());
    assert_eq!(read.params(&starts()).unwrap(), Params(vec![0.1, 3.0, -1e-3]));
    assert_eq!((read.tick, read.time_s, read.contact), (1_234, 12.34, finding(&[]).contact));
}

#[test]
fn what_matters_is_kept() {
    let mut finding = finding(&[]);
    finding.errors = ErrorRun::group(&space(), &[Choice(1), Choice(1), Choice(0)], &[false, true, false]);
    assert_eq!(finding.errors.len(), 3);
    let read = Finding::from_toml(&finding.to_toml()).unwrap();
    assert_eq!(read.errors.iter().map(|run| run.matters).collect::<Vec<_>>(), [Some(false), Some(true), Some(false)]);
}

#[test]
fn reordered_and_extended_errors_still_fit() {
    let jump = site("estimate-jump", &["none", "back 0.1 m", "right 0.1 m", "left 0.1 m"]);
    let wider = ErrorSpace::new(vec![site("steering \"bias\"", &["none", "+1°", "+2°"]), jump], 2).unwrap();
    let read = Finding::from_toml(&text()).unwrap().choices(&wider).unwrap();
    let described = |space: &ErrorSpace, c| {
        let mut parts: Vec<_> = space.describe(c).split(" + ").map(str::to_owned).collect();
        parts.sort();
        parts
    };
    for (old, new) in choices().into_iter().zip(read) {
        assert_eq!(described(&space(), old), described(&wider, new));
    }
}

#[test]
fn what_no_longer_exists_is_located() {
    let check = |space: &ErrorSpace, line: usize, expect: &str| {
        let error = Finding::from_toml(&text()).unwrap().choices(space).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(expect), "{error}");
    };
    let steering = || site("steering \"bias\"", &["none", "+2°"]);
    check(&ErrorSpace::new(vec![steering()], 1).unwrap(), 31, "has no error `estimate-jump`");
    let no_right = ErrorSpace::new(vec![site("estimate-jump", &["none", "left 0.1 m"]), steering()], 2).unwrap();
    check(&no_right, 36, "has no mode `right 0.1 m`; it has `none`, `left 0.1 m`");
    let single = ErrorSpace::new(space().sites().to_vec(), 1).unwrap();
    check(&single, 36, "at the same time");
}

#[test]
fn broken_files_are_located() {
    let check = |from: &str, to: &str, line: usize, expect: &str| {
        let broken = text().replacen(from, to, 1);
        let error = Finding::from_toml(&broken).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(expect), "{error}");
    };
    check("finding/1", "finding/9", 1, "schema");
    check("seed = 7", "seed = -7", 4, "");
    check("segment_length = \"1 s\"", "segment_length = \"1 m\"", 5, "a time such as");
    check("segment_length = \"1 s\"", "segment_length = \"0 s\"", 5, "a length of a segment");
    check("\"0.1 m\"", "\"wide\"", 9, "a number with its unit");
    check("tick = 1234", "tick = 1234\nluck = 3", 17, "luck");
    check("from = \"4 s\"", "from = \"5 s\"", 29, "must begin at 4 s");
    check("to = \"6 s\"", "to = \"5.5 s\"", 29, "whole number of segments");
    check("error = \"none\"", "error = \"left\"", 26, "\"none\" or a table");
    let other = ParamSpace { axes: vec![] };
    let error = Finding::from_toml(&text()).unwrap().params(&other).unwrap_err();
    assert!(matches!(error.kind, FindingErrorKind::Start(_)));
}

proptest! {
    #[test]
    fn any_sequence_comes_back(numbers in proptest::collection::vec(0_u16..6, 0..60), seed: u64, y in -1e6..1e6, segment_ms in 1_u32..5_000) {
        let choices: Vec<Choice> = numbers.into_iter().map(Choice).collect();
        let mut finding = finding(&choices);
        (finding.seed, finding.start[0].value, finding.segment_s) = (seed, y, f64::from(segment_ms) / 1_000.0);
        let read = Finding::from_toml(&finding.to_toml()).unwrap();
        prop_assert_eq!(read.choices(&space()).unwrap(), choices);
        prop_assert_eq!((read.seed, read.start[0].value, read.segment_s), (seed, y, finding.segment_s));
    }

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,200}") {
        let _ = Finding::from_toml(&text);
    }
}

/// P17: the shapes of earlier versions stay readable, and what is written again is read again.
#[test]
fn findings_of_every_release_are_readable() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept-findings");
    let mut count = 0;
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(&path).unwrap();
        let finding = Finding::from_toml(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(Finding::from_toml(&finding.to_toml()).unwrap().to_toml(), finding.to_toml());
        assert_eq!(text.contains("[set]"), !finding.set.is_empty());
        count += 1;
    }
    assert!(count >= 3, "{count}");
}
