//! How likely failures of a shipped scenario are, against the exhaustive truth of a shorter run.

use std::path::PathBuf;

use anabranch_explore::probability::{Asked, Probability, probability};
use anabranch_explore::{Explorer, Keep, MemoryTrail, Merge, Recording, Settings, replay};
use anabranch_kernel::{Choice, Likelihood, Params, Seed, SegmentEnd, System};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks, ScenarioSpec};

fn spec(name: &str, overrides: &[(&str, &str)]) -> ScenarioSpec {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(format!("{name}.toml"));
    let mut document = Document::parse(name, &std::fs::read(file).unwrap()).unwrap_or_else(|e| panic!("{e}"));
    for (path, value) in overrides {
        document.apply_override(path, value).unwrap_or_else(|e| panic!("{e}"));
    }
    document.read(&Hooks::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Explores some levels and asks how likely failures are.
fn likely(drive: &Drive, merge: Merge, levels_max: u32, samples: u32) -> Probability {
    let settings = Settings { keep: Keep::Extremes, merge, levels_max, ..Settings::new(drive.variables(), true) };
    let mut graph = Recording::default();
    let explorer = Explorer::new(drive).settings(settings.clone());
    explorer.run_with(&mut MemoryTrail::default(), &mut graph).unwrap();
    let asked = Asked { settings: &settings, seed: Seed(0), threads: 1, samples, most_likely: 3 };
    probability(drive, &graph, &asked).unwrap().unwrap()
}

#[test]
fn the_interval_of_a_drive_holds_its_exhaustive_truth() {
    let spec = spec("narrow-passage-likely", &[]);
    let drive = Drive::assemble(&spec).unwrap();
    let grid = drive.grid(&spec.explore.merge).unwrap().unwrap();
    let exact = likely(&drive, Merge::None, 8, 100);
    let merged = likely(&drive, Merge::Grid(grid), 8, 2000);
    let (truth, interval) = (exact.estimate.unwrap(), merged.interval);
    println!("truth {truth:e}, merged estimate {:e}, {interval:?}", merged.estimate.unwrap());
    assert!(truth > 1e-6 && truth < 1e-2, "{truth:e}");
    assert!(interval.low <= truth && truth <= interval.high, "{truth:e} {interval:?}");
    assert!((interval.high - interval.low) / truth < 0.5, "{interval:?}");
    let most = |found: &Probability| found.most_likely[0].probability;
    assert!((most(&merged) / most(&exact) - 1.0).abs() < 1e-12, "{:e} {:e}", most(&merged), most(&exact));
    for failure in &merged.most_likely {
        let start: &Params = &drive.space().all()[failure.start];
        let run = replay(&drive, Seed(0), start, &failure.choices, None).unwrap();
        assert_eq!(run.end, SegmentEnd::Violated(vec![failure.verdict]));
    }
}

/// Probability that the modes of the only error follow each other like this, rounded.
fn follows(likelihood: &Likelihood, live: &[Choice], from: u16) -> Vec<f64> {
    let mut out = Vec::new();
    likelihood.probabilities(Choice(from), live, &mut out);
    out.iter().map(|p| (p * 1e4).round() / 1e4).collect()
}

#[test]
fn a_drift_stays_decreases_or_grows_as_the_file_says() {
    let id = "error.estimate-drift.probability";
    let overrides = [(format!("{id}.begin"), "0.2"), (format!("{id}.stay"), "0.5"), (format!("{id}.grow"), "0.3")];
    let overrides: Vec<(&str, &str)> = overrides.iter().map(|(path, value)| (path.as_str(), *value)).collect();
    let drive = Drive::assemble(&spec("narrow-passage-drift", &overrides)).unwrap();
    let names: Vec<&str> = drive.errors().sites()[0].modes.iter().map(|mode| mode.name.as_str()).collect();
    assert_eq!(names, ["none", "stay", "grow left 0.1 m", "grow right 0.1 m"]);
    let all: Vec<Choice> = drive.errors().choices().collect();
    let likelihood = drive.likelihood().unwrap();
    assert_eq!(follows(likelihood, &all, 0), [0.8, 0.0, 0.1, 0.1]);
    assert_eq!(follows(likelihood, &all, 2), [0.2, 0.5, 0.15, 0.15]);
    // At its limit it cannot grow to that side: what is left is divided by its sum.
    let at_limit = [Choice(0), Choice(1), Choice(3)];
    assert_eq!(follows(likelihood, &at_limit, 2), [0.2353, 0.5882, 0.1765]);
}

#[test]
fn a_scenario_without_probabilities_has_no_likelihood() {
    assert!(Drive::assemble(&spec("narrow-passage-drift", &[])).unwrap().likelihood().is_none());
}
