//! Verdicts against exhaustive truth on families of small systems: how deep a violation is missed, how often the stated
//! resolution holds, and at which cost. `cargo xtask soak families` runs the full dose; the table goes to `docs/trust.md`.

mod plants;
mod world;

use anabranch_explore::{
    Cover, Covered, Explorer, Keep, MemoryTrail, Merge, Outcome, Recording, Refine, Resolution, Resolve, Settings,
    clopper_pearson,
};
use anabranch_kernel::{Chance, Seed, System};

use plants::{FAMILIES, Family};
use world::{Draw, World};

/// Segments of a run; 3 + 3² + … + 3¹⁰ segments are the whole truth.
const LEVELS: u32 = 10;
const EXHAUSTIVE: u64 = 88_572;
/// Worlds of a family in every test run; `ANABRANCH_FAMILY_WORLDS` asks for more.
const WORLDS: u64 = if cfg!(debug_assertions) { 3 } else { 100 };
/// Depths of the limits below the true worst, in resolutions.
const DEPTHS: [f64; 4] = [0.5, 1.5, 3.0, 10.0];

fn worlds() -> u64 {
    std::env::var("ANABRANCH_FAMILY_WORLDS").ok().and_then(|n| n.parse().ok()).unwrap_or(WORLDS)
}

fn world(family: &Family, number: u64) -> World {
    World::new((family.make)(&mut Draw::new(family.name, number)), LEVELS)
}

/// As `explore` does unless somebody says otherwise, with the cells left to the program.
fn usual(world: &World, asked: Option<f64>) -> Settings {
    let resolve = Some(Resolve { asked, ..Resolve::USUAL });
    let (keep, merge, refine) = (Keep::Extremes, Merge::MEASURED, Refine::OFF);
    let base = Settings::new(world.variables(), true);
    Settings { keep, merge, refine, rollouts: 437, cover: Some(Cover::USUAL), resolve, ..base }
}

/// The largest excursion of any sequence.
fn truth(world: &World) -> f64 {
    let merge = Merge::None;
    let settings = Settings { merge, ..Settings::new(world.variables(), true) };
    let mut far = World::new_like(world);
    far.limit = 1e9;
    let outcome = Explorer::new(&far).settings(settings).threads(1).run().unwrap();
    assert_eq!(outcome.progress.segments, EXHAUSTIVE);
    1e9 - outcome.progress.margin
}

/// What was said about a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Violated,
    Safe,
    /// No violation deeper than the resolution.
    NotFound,
    NotCovered,
    Incomplete,
}

fn said(outcome: &Outcome) -> Said {
    let searched = outcome.resolution.as_ref().map_or(0, |resolution| resolution.violations.len());
    let found = outcome.progress.findings > 0
        || !outcome.coverage.violations.is_empty()
        || !outcome.constant_errors_violate.is_empty()
        || searched > 0;
    if found {
        Said::Violated
    } else if outcome.soundness.is_safe() {
        Said::Safe
    } else if outcome.coverage.covered() != Covered::Yes {
        Said::NotCovered
    } else if outcome.resolution.as_ref().is_some_and(Resolution::is_reached) {
        Said::NotFound
    } else {
        Said::Incomplete
    }
}

/// One judged world.
struct Case {
    /// How far the true worst is beyond the limit, in resolutions; below zero where nothing fails.
    depth: f64,
    said: Said,
    cost: f64,
    /// The resolution as a share of the true worst.
    resolution: f64,
    /// Whether it is the cost at one hundredth that is asked about.
    counts: bool,
}

/// Which resolution a case asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Share(f64),
    Default,
}

const ASKED: [Asked; 3] = [Asked::Share(0.01), Asked::Share(0.001), Asked::Default];

fn judge(family: &Family, number: u64, asked: Asked, limit_at: usize) -> Case {
    let mut world = world(family, number);
    let worst = truth(&world);
    let share = match asked {
        Asked::Share(share) => share,
        // Only to place the limit: the program chooses for itself.
        Asked::Default => 0.005,
    };
    world.limit = match DEPTHS.get(limit_at) {
        Some(depth) => worst - depth * share * worst,
        None => worst * (0.85 + 0.25 * Chance::new(Seed(number), family.name).at(1).uniform(limit_at as u64)),
    };
    let asked_depth = match asked {
        Asked::Share(share) => Some(share * worst),
        Asked::Default => None,
    };
    let outcome = Explorer::new(&world).settings(usual(&world, asked_depth)).threads(1).prove().run().unwrap();
    let shadow = outcome.resolution.as_ref().map_or(0, |resolution| resolution.segments);
    let segments = outcome.progress.segments + outcome.coverage.segments + shadow;
    let resolution = outcome.resolution.as_ref().map_or(share * worst, |resolution| resolution.asked);
    Case {
        depth: (worst - world.limit) / resolution,
        said: said(&outcome),
        cost: segments as f64 / EXHAUSTIVE as f64,
        resolution: resolution / worst,
        counts: asked == Asked::Share(0.01),
    }
}

/// All cases of a family; one of each world, unless everything is asked for.
fn cases(family: &Family) -> Vec<Case> {
    let (count, full) = (worlds(), std::env::var("ANABRANCH_FAMILY_WORLDS").is_ok());
    let half = |odd: u64| {
        let mut cases = Vec::new();
        for number in (0..count).filter(|number| number % 2 == odd) {
            for at in (0..15).filter(|at| full || *at as u64 == number % 15) {
                cases.push(judge(family, number, ASKED[at % 3], at / 3));
            }
        }
        cases
    };
    std::thread::scope(|scope| {
        let halves = [scope.spawn(|| half(0)), scope.spawn(|| half(1))];
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    })
}

/// What the cases of a family, or of all, add up to.
struct Sum {
    cases: usize,
    /// Violations at least one and a half resolutions deep, and those of them that were not found.
    failing: u64,
    missed: u64,
    /// Verdicts that state a resolution, and those of them that the truth exceeds.
    stated: u64,
    deeper: u64,
    /// *Not covered* or *incomplete*.
    open: u64,
    safe: u64,
    wrong_safe: u64,
    alarms: u64,
    /// Of the cases at one hundredth of the worst.
    median_cost: f64,
    coarsest: f64,
}

impl Sum {
    fn of(cases: &[Case]) -> Self {
        let count = |is: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count() as u64;
        let mut costs: Vec<f64> = cases.iter().filter(|case| case.counts).map(|case| case.cost).collect();
        costs.sort_by(f64::total_cmp);
        Self {
            cases: cases.len(),
            failing: count(&|case| case.depth >= 1.5),
            missed: count(&|case| case.depth >= 1.5 && case.said != Said::Violated),
            stated: count(&|case| case.said == Said::NotFound),
            deeper: count(&|case| case.said == Said::NotFound && case.depth > 1.0),
            open: count(&|case| matches!(case.said, Said::NotCovered | Said::Incomplete)),
            safe: count(&|case| case.said == Said::Safe),
            wrong_safe: count(&|case| case.depth > 0.0 && case.said == Said::Safe),
            alarms: count(&|case| case.depth <= 0.0 && case.said == Said::Violated),
            median_cost: costs.get(costs.len() / 2).copied().unwrap_or(0.0),
            coarsest: cases.iter().map(|case| case.resolution).fold(0.0, f64::max),
        }
    }

    fn row(&self, name: &str) -> String {
        let Self { cases, failing, missed, stated, deeper, open, safe, wrong_safe, alarms, median_cost, coarsest } =
            self;
        format!(
            "| {name} | {cases} | {missed} of {failing} | {deeper} of {stated} | {open} | {safe} | {wrong_safe} | {alarms} | {:.1} % | {coarsest:.4} |",
            100.0 * median_cost
        )
    }
}

/// Upper end of a one-sided 95 % interval for a share.
fn at_most(hits: u64, of: u64) -> f64 {
    clopper_pearson(hits, of, 0.1).1
}

/// What is promised; with the full dose by the upper ends of intervals, otherwise by the shares themselves.
fn check(family: &Family, sum: &Sum) {
    let (name, open) = (family.name, if family.grows { 0.5 } else { 0.1 });
    assert_eq!((sum.wrong_safe, sum.alarms), (0, 0), "{name}: wrong verdicts");
    assert!(sum.open as f64 <= open * sum.cases as f64, "{name}: {} of {} without a verdict", sum.open, sum.cases);
    if !family.grows {
        assert!(sum.missed as f64 <= 0.02 * sum.failing as f64, "{name}: {} of {} missed", sum.missed, sum.failing);
    }
    assert!(sum.coarsest <= 0.0101, "{name}: a resolution of {} of the worst", sum.coarsest);
}

#[test]
fn verdicts_state_a_resolution_that_holds() {
    let full = std::env::var("ANABRANCH_FAMILY_WORLDS").is_ok();
    let mut all = Vec::new();
    for family in &FAMILIES {
        let cases = cases(family);
        let sum = Sum::of(&cases);
        println!("{}", sum.row(family.name));
        check(family, &sum);
        all.extend(cases.into_iter().filter(|_| !family.grows));
    }
    let sum = Sum::of(&all);
    println!("{}", sum.row("all that do not grow"));
    if full {
        assert!(at_most(sum.missed, sum.failing) <= 0.01, "{} of {} missed", sum.missed, sum.failing);
        assert!(at_most(sum.deeper, sum.stated) <= 0.01, "{} of {} deeper than stated", sum.deeper, sum.stated);
    } else {
        assert!(sum.missed * 100 <= sum.failing && sum.deeper * 100 <= sum.stated);
    }
    assert!(sum.median_cost <= 0.35, "median cost {}", sum.median_cost);
}

#[test]
fn units_change_nothing_but_units() {
    for family in &FAMILIES {
        let mut world = world(family, 7);
        world.limit = 0.9 * truth(&world);
        let explored = |unit: f64, world: &mut World| {
            world.unit = unit;
            let (mut trail, mut graph) = (MemoryTrail::default(), Recording::default());
            let explorer = Explorer::new(&*world).settings(usual(world, Some(0.01 * unit))).threads(1);
            let outcome = explorer.run_with(&mut trail, &mut graph).unwrap();
            let edges = graph.edges.iter().map(|edge| (edge.level, edge.parent, edge.choice, edge.fate, edge.cell));
            (edges.collect::<Vec<_>>(), graph.nodes, said(&outcome), outcome.coverage.runs_inside)
        };
        let usual = explored(1.0, &mut world);
        for unit in [1.0 / 65_536.0, 65_536.0] {
            assert!(explored(unit, &mut world) == usual, "{} in units of {unit}", family.name);
        }
    }
}
