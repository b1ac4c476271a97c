//! Merged explorations against the exhaustive truth, on our own loop: how much of the worst excursion does each rule
//! find, at which cost? The table of `docs/papers.md` is printed by
//! `cargo nextest run --release -p anabranch-scenario truth:: --no-capture`.

use crate::worlds::{HALF_WIDTH_M, world_with_walls};
use anabranch_explore::{Explorer, Keep, Merge, Scope, Settings};
use anabranch_kernel::{CellSize, Grid, System};
use anabranch_scenario::Drive;

const WORLDS: u64 = 200;
/// 3 + 3² + … + 3⁸ segments.
const EXHAUSTIVE: u64 = 9_840;

/// A car reversing between far walls.
fn world(n: u64) -> Drive {
    world_with_walls(n, 6.0).unwrap()
}

/// Largest excursion from the middle that any explored run makes, and the segments it took.
fn worst(drive: &Drive, settings: Settings) -> (f64, u64) {
    let outcome = Explorer::new(drive).settings(settings).run().unwrap();
    assert!(outcome.complete() && outcome.hits.is_empty());
    // Half of the 12 m less half of the car is free in the middle.
    (6.0 - HALF_WIDTH_M - outcome.progress.margin, outcome.progress.segments)
}

fn base(drive: &Drive) -> Settings {
    Settings { scope: Scope::Level, ..Settings::new(drive.variables(), true) }
}

/// The grid with only the named variables; sizes multiplied.
fn only(drive: &Drive, names: &[(&str, f64)]) -> Merge {
    let size = |name: &str| names.iter().find(|n| n.0 == name).map_or(CellSize::Ignore, |n| CellSize::Size(n.1));
    Merge::Grid(Grid::from_sizes(drive.variables().iter().map(|v| size(&v.name)).collect()))
}

const POSE: [(&str, f64); 3] = [("x", 0.1), ("y", 0.1), ("heading", 0.02)];

type Rule = (&'static str, fn(&Drive) -> Settings);

const RULES: &[Rule] = &[
    ("paper: first arrival, key (x, y, heading)", |d| base(d).paper(d.variables())),
    ("first, grid x 0.5", |d| Settings {
        keep: Keep::First,
        merge: only(d, &POSE.map(|(n, s)| (n, s / 2.0))),
        ..base(d)
    }),
    ("first, key + steering", |d| Settings {
        keep: Keep::First,
        merge: only(d, &[POSE[0], POSE[1], POSE[2], ("steering", 0.02)]),
        ..base(d)
    }),
    ("worst, key (x, y, heading)", |d| Settings { keep: Keep::Worst, merge: only(d, &POSE), ..base(d) }),
    ("extremes, key (x, y, heading)", |d| Settings { keep: Keep::Extremes, merge: only(d, &POSE), ..base(d) }),
    ("worst, every variable", |d| Settings { keep: Keep::Worst, ..base(d) }),
    ("worst, every variable, grid x 2", |d| Settings {
        keep: Keep::Worst,
        merge: Merge::Grid(Grid::of(d.variables()).scaled(2.0)),
        ..base(d)
    }),
    ("extremes, every variable", |d| Settings { keep: Keep::Extremes, ..base(d) }),
    ("extremes, every variable, grid x 2", |d| Settings {
        keep: Keep::Extremes,
        merge: Merge::Grid(Grid::of(d.variables()).scaled(2.0)),
        ..base(d)
    }),
];

struct Row {
    /// Share of the true worst excursion, sorted.
    shares: Vec<f64>,
    /// Share of the exhaustive segments, sorted.
    costs: Vec<f64>,
}

impl Row {
    fn line(&self, name: &str) -> String {
        let good = self.shares.iter().filter(|&&share| share >= 0.99).count();
        let at = |values: &[f64], q: f64| 100.0 * values[((values.len() - 1) as f64 * q) as usize];
        format!(
            "| {name} | {:.1} % | {:.1} % | {:.1} % | {:.1} % |",
            100.0 * good as f64 / self.shares.len() as f64,
            at(&self.shares, 0.0),
            at(&self.shares, 0.5),
            at(&self.costs, 0.5),
        )
    }
}

fn measure(rules: &[Rule]) -> Vec<Row> {
    let mut rows: Vec<Row> = rules.iter().map(|_| Row { shares: Vec::new(), costs: Vec::new() }).collect();
    for n in 0..WORLDS {
        let drive = world(n);
        let (truth_m, segments) = worst(&drive, Settings { merge: Merge::None, ..base(&drive) });
        assert_eq!(segments, EXHAUSTIVE);
        for (row, (_, rule)) in rows.iter_mut().zip(rules) {
            let (found_m, segments) = worst(&drive, rule(&drive));
            row.shares.push(found_m / truth_m);
            row.costs.push(segments as f64 / EXHAUSTIVE as f64);
        }
    }
    for row in &mut rows {
        row.shares.sort_by(f64::total_cmp);
        row.costs.sort_by(f64::total_cmp);
    }
    rows
}

#[test]
fn the_default_finds_the_true_worst_excursion_at_a_fraction_of_the_cost() {
    // A slow build compares the two rules that are claimed something about.
    let claimed: Vec<Rule> = RULES.iter().filter(|rule| rule.0.ends_with(", every variable")).copied().collect();
    let rules = if cfg!(debug_assertions) { &claimed } else { RULES };
    let rows = measure(rules);
    println!("| rule | worlds with ≥ 99 % of the worst | least share | median share | median cost |");
    println!("|---|---|---|---|---|");
    for (row, (name, _)) in rows.iter().zip(rules) {
        println!("{}", row.line(name));
    }
    let row = |name: &str| &rows[rules.iter().position(|rule| rule.0 == name).unwrap()];
    let good = |row: &Row| row.shares.iter().filter(|&&share| share >= 0.99).count() as u64;
    let (worst, extremes) = (row("worst, every variable"), row("extremes, every variable"));
    assert!(good(extremes) > good(worst), "the better of both rules is the default");
    assert!(good(extremes) * 100 >= 95 * WORLDS, "≥ 99 % of the worst in only {} worlds", good(extremes));
    assert!(extremes.costs[WORLDS as usize / 2] <= 0.30, "median cost {}", extremes.costs[WORLDS as usize / 2]);
}
