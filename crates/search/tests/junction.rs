//! The accident at the T-junction (S3-16 … S3-19): hard for chance, found by annealing and by `auto`, and explained.

use std::collections::BTreeSet;

use anabranch_kernel::Seed;
use anabranch_problems::{JUNCTION_AXES, JUNCTION_RANGES, Junction};
use anabranch_search::{Dimension, Method, Search, Settings, Space};
use rayon::prelude::*;

const SEEDS: u64 = 50;
const SIMULATIONS: u64 = 100;

fn space() -> Space {
    let axes = JUNCTION_AXES.iter().zip(JUNCTION_RANGES);
    Space::new(axes.map(|((name, unit), (lo, hi))| Dimension::real(name, unit, lo, hi)).collect()).expect("good axes")
}

/// Accidents that a method found, at most one for each seed.
fn found(method: Method) -> Vec<Vec<f64>> {
    let space = space();
    let danger =
        |values: &[f64]| Junction::from_numbers(values).map_or(f64::NAN, |junction| junction.run_all().danger_m());
    // Habits were chosen with seeds below 5000.
    let one = |seed: u64| {
        let optimiser = method.build(&space.layout().ok()?, Seed(seed), SIMULATIONS).ok()?;
        let settings = Settings::first(Seed(seed), SIMULATIONS);
        let report = Search::new(&space, &danger, optimiser, settings).ok()?.run_unsaved();
        report.simulations_to_first().and(report.best().map(|best| best.values.clone()))
    };
    (9000..9000 + SEEDS).into_par_iter().filter_map(one).collect()
}

#[test]
fn annealing_and_auto_find_what_chance_seldom_finds() {
    let [random, annealing, auto] = [Method::Random, Method::Annealing, Method::Auto].map(found);
    let counts = [random.len(), annealing.len(), auto.len()];
    println!("of {SEEDS}: random {}, annealing {}, auto {}", counts[0], counts[1], counts[2]);
    assert!(counts[0] <= 25 && counts[1] >= 45 && counts[2] >= 49, "{counts:?}");
    // Different accidents, whose causes are told apart, and the published one among them.
    let triage = |values: &Vec<f64>| Junction::from_numbers(values).and_then(|junction| junction.run_all().triage);
    let all: Vec<_> = annealing.iter().chain(&auto).chain(&random).filter_map(triage).collect();
    let kinds: BTreeSet<_> = all.iter().map(|triage| (triage.cause, triage.fault)).collect();
    println!("{kinds:?}");
    assert!(kinds.len() >= 2, "{kinds:?}");
    assert!(all.iter().any(|triage| triage.is_published_mechanism()), "twilight, hidden, similar speed, late sign");
}
