//! Every shipped scenario has one digest per order, whatever the number of threads and whether branches run side by
//! side. A change that is meant to change results prints the new table, ready to paste; any other is a bug.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use anabranch_explore::{self as engine, Explorer, Merge, Scope, Settings};
use anabranch_kernel::System;
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Hooks, Keep, ScenarioSpec, read_scenario};

/// Name, levels explored (few where a whole exploration would take long), digest by breadth, digest by danger.
const GOLDEN: &[(&str, u32, &str, &str)] = &[
    ("brake-light-chain", 6, "f6d878dfe27e1ae05fb3d12b295d313f", "c8b2b4b3ac9dedc31829cc08bf8aa45b"),
    ("city-traffic", 3, "1e9463a367321826cd26c0ea17671b6e", "443180eb3b12f1da9d77ac36766666d4"),
    ("curved-parking", 9, "60c82953d811ed4c558015a1998965e8", "ca0f091ef6357d68a9b2ca67ed7ef818"),
    ("first-steps", 5, "bc084e0c4f32c7cda088fcbe2c3f8619", "663c4dc457449d25c90a8846101cf95b"),
    ("highway-cut-in", 5, "5af2fa0501c9094939329d72527542ed", "bb573d6806ba34b10b21bd9ff768e8ef"),
    ("lane-drop-merge", 5, "88028a945c833c8d7224fd59510e723d", "463bed8aa393f4795a75ab69aed03596"),
    ("late-obstacle", 12, "e4bab018763f09a3a19ce6ceb711ca7e", "238a41fef3a17216ffda08a8b49b2650"),
    ("motorway-traffic", 3, "19808b3ecc8eddcae739b1a072e84c78", "ede3e3b53e1e35fb19cd623626e939ff"),
    ("narrow-passage", 5, "94268e617575a4560e02c4a9a70d440b", "eb2c1829355ee28a38a20e66277ce6c2"),
    ("narrow-passage-actuator-delay", 6, "d6ca23efa8e905d32c8c3ffa2accc8f3", "6f05a141591f02d70cee9865a33b8594"),
    ("narrow-passage-calm", 10, "0aa5d3cd372bef0228fc2e35c2820562", "00d95fb4ede3cec41f6eba4258094a3a"),
    ("narrow-passage-drift", 8, "d624db3a362e590953dcc56162ccb6d4", "619a704d5c848f57b4c0f7546ebc598d"),
    ("narrow-passage-eager", 8, "ffad2eef9ce6e3c80e335c1f4fdac654", "cb212e22f39dd6f4abf974cd55e38f5b"),
    ("narrow-passage-likely", 10, "8f3e25b2ae139c5888598da21ebb8d0e", "5b525892df54d32e7890a43a7b67ec31"),
    ("narrow-passage-starts", 6, "7cea65e116e67886ceeeeb8018f32609", "6b37e532769b8abef495477569aa00e4"),
    ("narrow-passage-timetable", 6, "0ecf5a74aafc7d0d5f6b7e560ef0fe3f", "4bb2a2cc00ab444689ae1279a900836c"),
    ("occluded-pedestrian", 8, "cebda459933f6eb790c3f9d568b9bff6", "efae7db2b20d23bbb6d9f5c990a92cae"),
    ("parking-lot", 10, "85d3e5de971938e0360047ffce57ade1", "f89f42c4aa212f85f1e59d4061d186e9"),
    ("pass-and-reverse", 36, "70da3e82d92b9f48cf1fcca53afcb419", "3aaf84d54f51fe1a12cc84e31d42ba4a"),
    ("replanning-garage", 5, "fe9a05b148048c06ed866df5973408c2", "68495107270acb6c9166fd02bbf05594"),
    ("room-for-the-door", 12, "522f86fffd83008b58356d26de5c7259", "8b4d073956918e2062445fb1a06a92e3"),
    ("roundabout", 4, "f4ea4b38b84970fc6265b0fd4ad944d5", "cf98602ff690c98fdb0b1ecc23f0d67d"),
    ("signalised-crossing", 5, "aeb28cd9fea0b7c5d7435ae0b0e5f60d", "9af7208fd5ac9898660502e4e5deffb1"),
    ("slippery-road", 6, "d3454fe8db3447382778500cbae3da1e", "b36c34eef02c4daf4f9fcdf6b4c6c67c"),
    ("small-obstacle", 9, "1992402da1446ee81e147555ca33a2ca", "f0d0d633f8e7a509f12a3c793dc5bb27"),
    ("soft-tyre", 4, "455a6c6f23dcfd442dd54e0dcf8658f7", "cf33d6688c45582106e7da7afb1afd59"),
    ("steady-corridor", 6, "eece2028658f4d73eb0dab452f7eefff", "047e851a01a13acc0722126e9bab72b9"),
    ("steady-corridor-switch", 8, "2fd75b8094f5939bae8452c75217c570", "063ce83564eeb0999fc07bdacd6267b8"),
    ("sudden-obstacle", 8, "3f781a84abcb52bd526bcffc8d38d4b4", "f93dc18d0c3d91e57e68106ebc25650d"),
    ("t-junction-accident", 8, "8ffcfc49efe6e5584de0fe5c7a1752ce", "91fa7500796450aefa89934f8a795d70"),
    ("t-junction-stop", 6, "24b61e468eb979b4e43f4aae4083ad5c", "fbbde9aa4ff43d88c20e16a350d3bf03"),
    ("truck-with-trailer", 4, "ddc2196200d7e149d6aaf092e5154d23", "c189b0dfd0d16f31f6e6db0794575a55"),
    ("urban-parked-cars", 5, "45d7207e415fef4fcbaaafb0edb6f561", "21de9f599a7eb1d57ead95bdaeb114ad"),
    ("weak-brakes", 12, "c00ec1b30da1987000fb0a2d6ff44d4b", "10eb4d6c068503fc6d8977c01649fcf0"),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn settings(spec: &ScenarioSpec, drive: &Drive, levels_max: u32, order: engine::Order) -> Settings {
    let merge = drive.grid(&spec.explore.merge).expect("the file names variables that exist");
    let defaults = Settings::new(drive.variables(), drive.time_matters());
    Settings {
        keep: match spec.explore.keep.value {
            Keep::First => engine::Keep::First,
            Keep::Worst => engine::Keep::Worst,
            Keep::Extremes => engine::Keep::Extremes,
        },
        scope: if drive.time_matters() { Scope::Level } else { Scope::Visited },
        merge: merge.map_or(Merge::None, Merge::Grid),
        merge_every: spec.explore.merge_every.value,
        order,
        levels_max,
        ..defaults
    }
}

fn digest(drive: &Drive, settings: &Settings, threads: usize) -> String {
    let outcome = Explorer::new(drive).settings(settings.clone()).threads(threads).run().unwrap();
    assert!(outcome.complete() && outcome.progress.segments > 30, "{}: {:?}", drive.name(), outcome.progress);
    outcome.digest.to_string()
}

/// The digest, checked to be the same in every way to compute it. With assertions on everything is slow, and there one way
/// is enough: the table is the same one. On roads branches never run side by side.
fn only_digest(spec: &ScenarioSpec, levels_max: u32, order: engine::Order) -> String {
    let drive = Drive::assemble(spec).unwrap();
    let settings = settings(spec, &drive, levels_max, order);
    if cfg!(debug_assertions) {
        return digest(&drive, &settings, 2);
    }
    let found = digest(&drive, &settings, 1);
    assert_eq!(digest(&drive, &settings, 7), found, "{} {order:?} with 7 threads", drive.name());
    if drive.network().is_none() {
        let mut one_by_one = drive;
        one_by_one.set_side_by_side(false);
        assert_eq!(digest(&one_by_one, &settings, 2), found, "{} {order:?} one by one", one_by_one.name());
    }
    found
}

#[test]
fn every_scenario_has_its_digests() {
    let (mut table, mut changed) = (String::new(), Vec::new());
    for &(name, levels, breadth, danger) in GOLDEN {
        let file = format!("{name}.toml");
        let bytes = std::fs::read(folder().join(&file)).unwrap();
        let (_, spec) = read_scenario(&file, &bytes, &Hooks::default()).unwrap_or_else(|e| panic!("{e}"));
        let found = [engine::Order::Breadth, engine::Order::Danger].map(|order| only_digest(&spec, levels, order));
        if found != [breadth, danger] {
            changed.push(name);
        }
        writeln!(table, "    ({name:?}, {levels}, {:?}, {:?}),", found[0], found[1]).unwrap();
    }
    assert!(changed.is_empty(), "the results of {} changed; if they are meant to:\n{table}", changed.join(", "));
}

#[test]
fn every_scenario_is_in_the_table() {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let shipped: BTreeSet<String> = files
        .filter(|file| file.extension().is_some_and(|e| e == "toml"))
        .map(|file| file.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let listed: BTreeSet<String> = GOLDEN.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(listed, shipped);
}
