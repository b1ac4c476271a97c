//! Component models in the loop: the same findings as the law they are twins of, branchable, side by side.

use std::path::{Path, PathBuf};

use anabranch_explore::{Explorer, Merge, Scope, Settings};
use anabranch_kernel::{Choice, Choices, Job, Seed, SegmentEnd, System, Watch, contract, to_bytes};
use anabranch_language::Library;
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks, Report, ScenarioSpec};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn read_in(folder: &Path, text: &str) -> Result<ScenarioSpec, Report> {
    let read_models = |name: &str| Library::around(&folder.join(name));
    let read_file = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let hooks = Hooks {
        has_file: &|name| folder.join(name).is_file(),
        read_file: &read_file,
        read_models: &read_models,
        ..Hooks::default()
    };
    Document::parse("test.toml", text.as_bytes())?.read(&hooks)
}

fn drive(text: &str) -> Drive {
    Drive::assemble(&read_in(&folder(), text).unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e}"))
}

fn passage() -> String {
    std::fs::read_to_string(folder().join("passage.toml")).unwrap()
}

/// The same world with the built-in law.
fn twin() -> String {
    std::fs::read_to_string(folder().join("../scenarios/narrow-passage.toml")).unwrap()
}

fn explored(text: &str, levels_max: u32, side_by_side: bool, threads: usize) -> anabranch_explore::Outcome {
    let spec = read_in(&folder(), text).unwrap_or_else(|e| panic!("{e}"));
    let mut drive = Drive::assemble(&spec).unwrap_or_else(|e| panic!("{e}"));
    drive.set_side_by_side(side_by_side);
    let grid = drive.grid(&spec.explore.merge).expect("cells").expect("merging");
    let settings = Settings {
        merge: Merge::Grid(grid),
        scope: if drive.time_matters() { Scope::Level } else { Scope::Visited },
        levels_max,
        ..Settings::new(drive.variables(), drive.time_matters())
    };
    Explorer::new(&drive).settings(settings).threads(threads).run().expect("it explores")
}

#[test]
fn a_model_finds_what_the_law_finds_that_it_was_written_after() {
    let (model, law) = (drive(&passage()), drive(&twin()));
    let start = |drive: &Drive| drive.start(Seed(0), &drive.space().all()[0]).expect("it starts");
    let (mut by_model, mut by_law) = (start(&model), start(&law));
    for segment in 0..20 {
        let choice = Choice(segment * 5 % 9);
        let ends = [(&model, &mut by_model), (&law, &mut by_law)]
            .map(|(drive, state)| drive.run(state, choice, &mut Watch::off()).expect("it runs"));
        assert_eq!(ends[0], ends[1], "segment {segment}");
        assert_eq!(to_bytes(&by_model.car), to_bytes(&by_law.car), "segment {segment}");
        if ends[0] != SegmentEnd::Open {
            break;
        }
    }
    let (model, law) = (explored(&passage(), 7, true, 2), explored(&twin(), 7, true, 2));
    assert_eq!(model.progress.segments, law.progress.segments);
    assert_eq!(model.progress.findings, law.progress.findings);
    assert!(model.progress.findings > 0 && model.progress.segments > 5_000, "{:?}", model.progress);
}

#[test]
fn a_model_has_one_digest_in_every_way_to_compute_it() {
    let found = explored(&passage(), 4, true, 1).digest;
    assert_eq!(explored(&passage(), 4, true, 3).digest, found);
    assert_eq!(explored(&passage(), 4, false, 2).digest, found);
}

#[test]
fn models_keep_the_contract_and_run_side_by_side_with_the_same_bits() {
    let wide = drive(&passage());
    let report = contract::check_contract(&wide, 4, 30).unwrap_or_else(|e| panic!("{e}"));
    assert!(report.segments > 20, "{report:?}");
    let mut narrow = wide.clone();
    narrow.set_side_by_side(false);
    let mut level = vec![wide.start(Seed(0), &wide.space().all()[0]).unwrap()];
    let mut choices = Choices::new();
    let mut compared = 0;
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
            assert_eq!(to_bytes(&a.state), to_bytes(&b.state), "{:?}", a.choice);
            assert_eq!((&a.end, &a.notes, a.margin.to_bits()), (&b.end, &b.notes, b.margin.to_bits()));
            compared += 1;
        }
        let open = jobs.into_iter().filter(|job| job.end == Ok(SegmentEnd::Open));
        level = open.map(|job| job.state).step_by(7).take(8).collect();
    }
    assert!(compared > 500, "{compared}");
}
