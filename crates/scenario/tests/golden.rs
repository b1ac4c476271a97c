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
    ("brake-light-chain", 6, "1e909dc21b859cac29d37d7703af9561", "dcb029d9f1287661190ee7ca387700c9"),
    ("city-traffic", 3, "098e639019369259a9d3646e09dde315", "b817cd6b9a3c0de1cb4499917322ce1e"),
    ("curved-parking", 9, "60c82953d811ed4c558015a1998965e8", "6f829223addbf9bd45c962826f45e2e7"),
    ("first-steps", 5, "bc084e0c4f32c7cda088fcbe2c3f8619", "663c4dc457449d25c90a8846101cf95b"),
    ("highway-cut-in", 5, "9faaf3cc8f68b7aa0fa5df7123c82eec", "91909835b7f98542db1b90e77e36e6ff"),
    ("lane-drop-merge", 5, "8c147c78015688c5f9add7dac2d3a500", "9e2cf917a953c40313760d97cc4e6777"),
    ("late-obstacle", 12, "64f0b18941b1b380854b1aaeacbfe716", "acf6ccb6bf34e35731ad65f00d1abb9a"),
    ("motorway-traffic", 3, "40930d78f49e533951c94b97c1ef2a72", "ab170fc39cd42d088fd96cf21ba00587"),
    ("narrow-passage", 5, "94268e617575a4560e02c4a9a70d440b", "0764f1954c9ec6e8bb40d8fef117949a"),
    ("narrow-passage-actuator-delay", 6, "d6ca23efa8e905d32c8c3ffa2accc8f3", "eaa39be0dd532b21c3e3f77dfdc1f887"),
    ("narrow-passage-calm", 10, "0aa5d3cd372bef0228fc2e35c2820562", "2a8ea2d720d1c321ce099bff1b240da8"),
    ("narrow-passage-drift", 8, "d624db3a362e590953dcc56162ccb6d4", "ab03e58d9c27b1004f901289e0361a11"),
    ("narrow-passage-eager", 8, "ffad2eef9ce6e3c80e335c1f4fdac654", "367cc9493f110a35b8ce1bd73576b368"),
    ("narrow-passage-likely", 10, "8f3e25b2ae139c5888598da21ebb8d0e", "a343e4416e856065a123ce4258570966"),
    ("narrow-passage-starts", 6, "7cea65e116e67886ceeeeb8018f32609", "e285d90097e5b995df3e68f4068e12bc"),
    ("narrow-passage-timetable", 6, "0ecf5a74aafc7d0d5f6b7e560ef0fe3f", "1043a1cf0ca16ac0396414c449295b34"),
    ("occluded-pedestrian", 8, "71f4db6b27cd3dd8c2172e77bb5c504e", "8d74ca2e1158eb7b0ddf5b3020c63c60"),
    ("parking-lot", 10, "dc6891fc7172a294f933725671a2e277", "536cc8050dd75fb3fad1256074e3491f"),
    ("pass-and-reverse", 36, "70da3e82d92b9f48cf1fcca53afcb419", "f0bfdf5870c12d0e3c3669859d0d56c6"),
    ("replanning-garage", 5, "fe9a05b148048c06ed866df5973408c2", "68495107270acb6c9166fd02bbf05594"),
    ("room-for-the-door", 12, "522f86fffd83008b58356d26de5c7259", "b55a362c4b9b04ba58c6277eb7b15404"),
    ("roundabout", 4, "4d71e86697aa1e12e424eb2c1f70a45b", "b6d8975033cbe73d8e59c5b4e6094ca3"),
    ("signalised-crossing", 5, "da200ae9ee53451382f26f56d313db14", "b56acfe139f82d0d9997764167498b91"),
    ("slippery-road", 6, "62b3b6ce175a829d9239d1b92eb286c9", "ded393ae35fece3a836de711d3b8a72b"),
    ("small-obstacle", 9, "1992402da1446ee81e147555ca33a2ca", "8ab38d706886ecb1ca2e6e807c34e0fd"),
    ("soft-tyre", 4, "455a6c6f23dcfd442dd54e0dcf8658f7", "cf33d6688c45582106e7da7afb1afd59"),
    ("steady-corridor", 6, "eece2028658f4d73eb0dab452f7eefff", "177ed48e5b7deecb7d41290567360f14"),
    ("steady-corridor-switch", 8, "2fd75b8094f5939bae8452c75217c570", "f5d30a0a2e6294aa0f6496d9b4863f28"),
    ("sudden-obstacle", 8, "3f781a84abcb52bd526bcffc8d38d4b4", "f93dc18d0c3d91e57e68106ebc25650d"),
    ("t-junction-accident", 8, "887c77cc39f96f5a9aeda2f585c9f96b", "a16b7b8e4f570c8cb386b04724a4a1b9"),
    ("t-junction-stop", 6, "6cf4b5d6156728bd52aab6510fda29a8", "37d56d985b995d2187a7b54d77614fb8"),
    ("truck-with-trailer", 4, "95000acea7e17a8afeee7f6b7ed8fb6a", "d68c7c9ac0d76918cc4818ea8ca4d83b"),
    ("urban-parked-cars", 5, "25411538a5d26e036176d35250535a45", "f21107d13c10abbd5d94217ed35447a9"),
    ("weak-brakes", 12, "612921d38b8549670367185bf235f26a", "71a1b1a1e07f3f74a7fcc38192614665"),
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
