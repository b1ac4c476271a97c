//! Every shipped scenario loads, keeps the contract, and runs side by side with the bits of one by one.

use std::fs;
use std::path::PathBuf;

use anabranch_kernel::{Choices, Job, Seed, System, contract, to_bytes};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks, ScenarioSpec, read_scenario};

pub fn texts() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|file| file.extension().is_some_and(|e| e == "toml"));
    let name = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), fs::read(file).unwrap())).collect()
}

pub fn scenarios() -> Vec<(String, ScenarioSpec)> {
    let read = |(name, text): (String, Vec<u8>)| {
        let (_, spec) = read_scenario(&name, &text, &Hooks::default()).unwrap_or_else(|e| panic!("{e}"));
        (name, spec)
    };
    texts().into_iter().map(read).collect()
}

#[test]
fn every_scenario_keeps_the_contract() {
    for (name, spec) in scenarios() {
        let drive = Drive::assemble(&spec).unwrap_or_else(|e| panic!("{name}: {e}"));
        let report = contract::check_contract(&drive, 6, 40).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(report.segments > 20, "{name}: {report:?}");
    }
}

#[test]
fn side_by_side_has_the_bits_of_one_by_one() {
    let mut compared = 0;
    for (name, spec) in scenarios() {
        let wide = Drive::assemble(&spec).unwrap();
        let mut narrow = wide.clone();
        narrow.set_side_by_side(false);
        let mut level = vec![wide.start(Seed(0), &wide.space().all()[0]).unwrap()];
        let mut choices = Choices::new();
        for _ in 0..wide.segments() {
            let mut jobs = Vec::new();
            for state in &level {
                wide.live(state, &mut choices);
                jobs.extend(choices.iter().map(|&choice| Job::new(state.clone(), choice)));
            }
            let mut again = jobs.clone();
            wide.run_many(&mut jobs);
            narrow.run_many(&mut again);
            for (a, b) in jobs.iter().zip(&again) {
                assert_eq!(to_bytes(&a.state), to_bytes(&b.state), "{name} {:?}", a.choice);
                assert_eq!((&a.end, &a.notes, a.margin.to_bits()), (&b.end, &b.notes, b.margin.to_bits()), "{name}");
                compared += 1;
            }
            let open = jobs.into_iter().filter(|job| job.end == Ok(anabranch_kernel::SegmentEnd::Open));
            level = open.map(|job| job.state).step_by(7).take(12).collect();
        }
    }
    assert!(compared > 2000, "{compared}");
}

/// Segments of one base cycle: every part is saved, loaded and continued at every tick, also between the cycles of
/// slower parts.
#[test]
fn every_scenario_keeps_the_contract_at_every_tick() {
    for (name, text) in texts() {
        let document = Document::parse(&name, &text).unwrap();
        let mut spec = document.read(&Hooks::default()).unwrap_or_else(|e| panic!("{e}"));
        // Not by the file: it refuses helpers with a period that does not fit into a segment, and just between two of their steps
        // a state must be whole.
        spec.explore.segment_s.value = spec.world.step_s.value;
        let drive = Drive::assemble(&spec).unwrap_or_else(|e| panic!("{name}: {e}"));
        let report = contract::check_contract(&drive, 2, 700).unwrap_or_else(|e| panic!("{name}: {e}"));
        let least = if spec.road.is_some() { 100 } else { 300 };
        assert!(report.saves > least, "{name}: {report:?}");
    }
}
