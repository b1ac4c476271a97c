//! Merged verdicts with the default settings against exhaustive truth, on thousands of random small worlds with walls near the
//! worst excursion: nothing that fails may be called *safe*, next to nothing *not found*, and nothing may be a false
//! alarm. `cargo xtask soak verdicts` runs the full dose.

use crate::worlds::{HALF_WIDTH_M, world_with_walls};
use anabranch_explore::{Explorer, Keep, Merge, Outcome, Refine, Scope, Settings};
use anabranch_kernel::{Chance, Grid, Seed, System};
use anabranch_scenario::Drive;

/// Worlds in every test run, fewer where assertions make everything slow; `ANABRANCH_WORLDS` asks for more.
const WORLDS: u64 = if cfg!(debug_assertions) { 100 } else { 2_010 };
const FAR_M: f64 = 6.0;

fn worlds() -> u64 {
    std::env::var("ANABRANCH_WORLDS").ok().and_then(|n| n.parse().ok()).unwrap_or(WORLDS)
}

/// As `explore` does unless a scenario says otherwise.
fn usual(drive: &Drive, scale: f64) -> Settings {
    let merge = Merge::Grid(Grid::of(drive.variables()).scaled(scale));
    let base = Settings::new(drive.variables(), true);
    Settings { scope: Scope::Level, keep: Keep::Extremes, refine: Refine::USUAL, rollouts: 100, merge, ..base }
}

/// Every error sequence.
fn exhaust(drive: &Drive) -> Outcome {
    let settings = Settings { merge: Merge::None, rollouts: 0, ..usual(drive, 1.0) };
    Explorer::new(drive).settings(settings).threads(1).run().unwrap()
}

/// What one rule said about one world.
#[derive(Clone, Copy, Default)]
struct Said {
    found: bool,
    safe: bool,
    cost: f64,
}

struct World {
    fails: bool,
    usual: Said,
    coarse: Said,
}

fn judge(n: u64) -> Option<World> {
    let far = world_with_walls(n, FAR_M).unwrap();
    let exhaustive = exhaust(&far);
    let excursion_m = FAR_M - HALF_WIDTH_M - exhaustive.progress.margin;
    let share = 0.8 + 0.4 * Chance::new(Seed(7), "walls").at(n).uniform(0);
    // Where the start is the worst place of all, walls this near would stand in the car.
    let near = world_with_walls(n, HALF_WIDTH_M + share * excursion_m)?;
    let said = |scale: f64| {
        let outcome = Explorer::new(&near).settings(usual(&near, scale)).threads(1).prove().run().unwrap();
        let found = outcome.progress.findings > 0 || !outcome.coverage.violations.is_empty();
        let cost = outcome.progress.segments as f64 / exhaustive.progress.segments as f64;
        Said { found, safe: outcome.soundness.is_safe(), cost }
    };
    // Walls along the way only end runs, so the worst excursion decides; now and then that is put to the test.
    let fails = share < 1.0;
    assert!(!n.is_multiple_of(16) || fails == (exhaust(&near).progress.findings > 0), "world {n}");
    Some(World { fails, usual: said(1.0), coarse: said(4.0) })
}

fn summary(worlds: &[World], name: &str, said: fn(&World) -> Said) -> (usize, usize, usize, f64) {
    let missed = worlds.iter().filter(|w| w.fails && !said(w).found).count();
    let unsafe_safe = worlds.iter().filter(|w| w.fails && said(w).safe).count();
    let alarms = worlds.iter().filter(|w| !w.fails && said(w).found).count();
    let safe = worlds.iter().filter(|w| said(w).safe).count();
    let failing = worlds.iter().filter(|w| w.fails).count();
    let mut costs: Vec<f64> = worlds.iter().map(|w| said(w).cost).collect();
    costs.sort_by(f64::total_cmp);
    let median = costs[costs.len() / 2];
    println!(
        "{name}: {missed} misses among {failing} failing worlds of {}, {unsafe_safe} of them called safe, {alarms} false \
         alarms, {safe} worlds proven safe, median cost {:.1} % of the exhaustive segments",
        worlds.len(),
        100.0 * median
    );
    (missed, unsafe_safe, alarms, median)
}

#[test]
fn verdicts_agree_with_the_exhaustive_truth() {
    let count = worlds();
    let halves: Vec<Vec<World>> = std::thread::scope(|scope| {
        let half = |odd: u64| scope.spawn(move || (0..count).filter(|n| n % 2 == odd).filter_map(judge).collect());
        [half(0), half(1)].into_iter().map(|half| half.join().unwrap()).collect()
    });
    let worlds: Vec<World> = halves.into_iter().flatten().collect();
    assert!(worlds.len() as u64 * 10 >= count * 9, "{} worlds", worlds.len());
    let (missed, unsafe_safe, alarms, median) = summary(&worlds, "default", |world| world.usual);
    assert_eq!((unsafe_safe, alarms), (0, 0));
    assert!(missed * 1_000 <= worlds.len(), "{missed} misses");
    assert!(median <= 0.30, "median cost {median}");
    let (_, unsafe_safe, alarms, _) = summary(&worlds, "cells four times as large", |world| world.coarse);
    assert_eq!((unsafe_safe, alarms), (0, 0));
}
