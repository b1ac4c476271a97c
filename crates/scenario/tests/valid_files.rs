//! Shipped scenarios are read; damaged ones never make the reader panic.

use std::path::Path;

use anabranch_scenario::file::{
    Document, DriverKind, ErrorKind, Hooks, MergeCell, MergeSpec, ScenarioSpec, read_scenario,
};
use proptest::prelude::*;

fn shipped() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let toml = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let mut files: Vec<_> = toml
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

fn narrow_passage() -> (Document, ScenarioSpec) {
    let (_, bytes) = shipped().into_iter().find(|(name, _)| name == "narrow-passage").unwrap();
    read_scenario("narrow-passage.toml", &bytes, &Hooks::default()).unwrap()
}

#[test]
fn every_shipped_scenario_is_read_and_named_like_its_file() {
    let files = shipped();
    assert!(files.len() >= 9);
    for (name, bytes) in files {
        let read = read_scenario(&format!("{name}.toml"), &bytes, &Hooks::default());
        let (_, spec) = read.unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(spec.name.value, name);
    }
}

#[test]
fn values_arrive_in_si_units() {
    let (_, spec) = narrow_passage();
    assert_eq!(spec.world.step_s.value, 0.01);
    assert_eq!(spec.world.ticks(spec.explore.segment_s.value), 100);
    assert_eq!(spec.world.walls[1].points[0].value.y, -1.6);
    assert_eq!(spec.ego.driver.kind.value, DriverKind::PathFollower);
    assert_eq!(spec.explore.budget.memory_bytes.map(|bytes| bytes.value), Some(2_000_000_000));
    let ErrorKind::Jump { radius_m, directions, .. } = &spec.errors[0].kind.value else { panic!("a jump") };
    assert_eq!((radius_m.as_slice(), *directions), ([0.1].as_slice(), 8));
    let MergeSpec::Sizes(sizes) = &spec.explore.merge else { panic!("sizes") };
    assert_eq!(sizes[2].name.value, "heading");
    assert!(matches!(sizes[2].size.value, MergeCell::Size { value: 0.02, .. }));
}

#[test]
fn overrides_replace_values_make_tables_and_find_items_by_id() {
    let (mut document, _) = narrow_passage();
    for (path, value) in [
        ("ego.start.y", "-0.2 m .. 0.2 m step 0.2 m"),
        ("ego.start.x", r#"["0 m", "0.5 m"]"#),
        ("ego.driver", "calm"),
        ("ego.driver.cruise", "0.5 m/s"),
        ("ego.vehicle.width", "1.9 m"),
        ("errors.at_once", "1"),
        ("error.estimate-jump.jump.radius", "20 cm"),
        ("must.1.by", "21 s"),
        ("explore.merge.steering", "ignore"),
    ] {
        document.apply_override(path, value).unwrap_or_else(|error| panic!("{error}"));
    }
    let spec = document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(spec.ego.start.count(), 6);
    assert_eq!(spec.ego.start.all().count(), 6);
    assert_eq!(spec.ego.driver.kind.value, DriverKind::Calm);
    assert_eq!(spec.ego.driver.cruise_mps.map(|speed| speed.value), Some(0.5));
    assert_eq!(spec.ego.vehicle.base.value, "van");
    assert_eq!(spec.ego.vehicle.car.outline.half_width_m, 0.95);
    assert_eq!(spec.requirements[1].by_s.map(|by| by.value), Some(21.0));
}

#[test]
fn a_message_about_an_override_shows_the_override() {
    let (mut document, _) = narrow_passage();
    document.apply_override("ego.start.y", "0.1").unwrap();
    let report = document.read(&Hooks::default()).unwrap_err().to_string();
    assert!(report.contains("--> --set:1:13\n"), "{report}");
    assert!(report.contains("1 | ego.start.y=0.1\n"), "{report}");
    assert!(report.contains("write \"0.1 m\""), "{report}");
}

/// Ways to damage a file.
#[derive(Clone, Debug)]
enum Damage {
    Replace(Vec<u8>),
    Delete(usize),
    Repeat(usize),
    /// Another value for a text in quotes, so that the file stays TOML.
    Value(&'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let words = [
        "nan",
        "inf",
        "-",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "=",
        "..",
        "step",
        "1e308 km",
        "é",
        "\n",
        "[[error]]",
        "0",
        "-1",
        "9223372036854775807",
        "true",
        "{}",
        "[]",
        "1979-05-27",
        "'''",
        "\\u0000",
        ".",
        "\u{FEFF}",
        "m",
        "\0",
    ];
    let values = [
        "\"1e308 m\"",
        "\"-1e308 m\"",
        "\"0 m\"",
        "\"1e-320 m\"",
        "\"1 m .. 5 m step 1 m\"",
        "[\"1 m\", \"2 m\"]",
        "1",
        "nan",
        "-inf",
        "[]",
        "{}",
        "true",
        "\"1e308 s\"",
        "\"1e-300 s\"",
        "\"0.3 s\"",
        "\"1e300 deg\"",
        "\"box\"",
        "\"\"",
        "[[\"0 m\", \"1e308 m\"], [\"1 m\", \"-1e308 m\"], [\"1e308 m\", \"0 m\"]]",
        "\"ego.obstacles\"",
        "{ width = \"1e308 m\" }",
        "{ length = \"1e308 m\", wheelbase = \"1e308 m\" }",
        "{ steering_max = \"1e-9 deg\" }",
    ];
    prop_oneof![
        16 => proptest::sample::select(values.to_vec()).prop_map(Damage::Value),
        4 => proptest::sample::select(words.to_vec()).prop_map(|word| Damage::Replace(word.as_bytes().to_vec())),
        2 => proptest::collection::vec(any::<u8>(), 1..4).prop_map(Damage::Replace),
        2 => (1_usize..40).prop_map(Damage::Delete),
        2 => (1_usize..200).prop_map(Damage::Repeat),
    ]
}

fn apply(bytes: &mut Vec<u8>, at: usize, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let at = at % bytes.len();
    match damage {
        Damage::Replace(new) => drop(bytes.splice(at..(at + new.len()).min(bytes.len()), new.iter().copied())),
        Damage::Delete(count) => drop(bytes.drain(at..(at + count).min(bytes.len()))),
        Damage::Value(new) => {
            let is_quote = |byte: &u8| *byte == b'"';
            let first = at + bytes[at..].iter().position(is_quote).unwrap_or(0);
            let end =
                bytes[(first + 1).min(bytes.len())..].iter().position(is_quote).map_or(bytes.len(), |n| first + n + 2);
            drop(bytes.splice(first..end, new.bytes()));
        }
        Damage::Repeat(count) => {
            let part = bytes[at..(at + count).min(bytes.len())].to_vec();
            drop(bytes.splice(at..at, part));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_read_or_reported_and_never_panic(
        which in any::<prop::sample::Index>(),
        damages in proptest::collection::vec((any::<u32>(), damage()), 1..6),
    ) {
        let files = shipped();
        let (name, mut bytes) = files[which.index(files.len())].clone();
        for (at, damage) in &damages {
            apply(&mut bytes, *at as usize, damage);
        }
        if let Err(report) = read_scenario(&name, &bytes, &Hooks::default()) {
            prop_assert!(!report.diagnostics.is_empty() && report.diagnostics.len() <= 20);
            prop_assert!(!report.to_string().is_empty());
        }
    }

    #[test]
    fn overrides_never_panic(path in "[a-z0-9._\\[\\]-]{0,30}|(ego|error|explore|must|world)(\\.[a-z0-9_]{0,9}){0,4}", value in ".{0,20}") {
        let (mut document, _) = narrow_passage();
        if document.apply_override(&path, &value).is_ok() {
            let _ = document.read(&Hooks::default());
        }
    }
}
