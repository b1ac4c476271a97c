//! Verdicts against exhaustive truth on families of small systems: how deep a violation is missed, how often the stated
//! resolution holds, and at which cost. `cargo xtask soak families` runs the full dose; the table goes to `docs/trust.md`.
//!
//! The environment chooses the dose: `ANABRANCH_FAMILY_WORLDS` worlds of each family with all their cases, from world number
//! `ANABRANCH_FAMILY_FIRST` on, of the families that `ANABRANCH_FAMILY_SET` names (`usual`, `apart` or `all`).

mod apart;
mod plants;
mod world;

use std::io::Write;
use std::ops::Range;

use anabranch_explore::{
    Cover, Covered, Explorer, Keep, MemoryTrail, Merge, Outcome, Recording, Refine, Resolution, Resolve, Settings,
    clopper_pearson,
};
use anabranch_kernel::{Chance, Seed, System};

use apart::APART;
use plants::{FAMILIES, Family};
use world::{Draw, World};

const WORLDS_VARIABLE: &str = "ANABRANCH_FAMILY_WORLDS";
const FIRST_VARIABLE: &str = "ANABRANCH_FAMILY_FIRST";
const SET_VARIABLE: &str = "ANABRANCH_FAMILY_SET";

/// Segments of a run; 3 + 3² + … + 3¹⁰ segments are the whole truth.
const LEVELS: u32 = 10;
const EXHAUSTIVE: u64 = 88_572;
/// Worlds of a family in every test run.
const WORLDS: u64 = if cfg!(debug_assertions) { 3 } else { 100 };
/// Depths of the limits below the true worst, in resolutions; the fifth limit is drawn between 0.85 and 1.1 of the worst.
const DEPTHS: [f64; 4] = [0.5, 1.5, 3.0, 10.0];
/// Resolutions times limits.
const CASES: u64 = 15;
/// From this depth on a violation must be found. Limits are placed at 1.5 resolutions, which rounding makes a little less.
const MUST_BE_FOUND: f64 = 1.5 - 1e-9;

/// What is asked for, and of how many worlds.
struct Dose {
    families: Vec<Family>,
    worlds: Range<u64>,
    /// All cases of each world instead of one.
    is_full: bool,
}

impl Dose {
    fn from_environment() -> Self {
        let number = |name: &str| {
            let text = std::env::var(name).ok()?;
            Some(text.parse::<u64>().unwrap_or_else(|e| panic!("{name} must be a whole number, not {text:?}: {e}")))
        };
        let (worlds, first) = (number(WORLDS_VARIABLE), number(FIRST_VARIABLE).unwrap_or(0));
        let families = match std::env::var(SET_VARIABLE).as_deref() {
            Err(_) | Ok("usual") => FAMILIES.to_vec(),
            Ok("apart") => APART.to_vec(),
            Ok("all") => [&FAMILIES[..], &APART[..]].concat(),
            Ok(other) => panic!("{SET_VARIABLE} must be usual, apart or all, not {other:?}"),
        };
        Self { families, worlds: first..first + worlds.unwrap_or(WORLDS), is_full: worlds.is_some() }
    }
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
#[derive(Debug)]
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

impl Case {
    fn must_be_found(&self) -> bool {
        self.depth >= MUST_BE_FOUND
    }
    /// A violation that had to be found and was not.
    fn is_missed(&self) -> bool {
        self.must_be_found() && self.said != Said::Violated
    }
    /// A verdict that states a resolution which the truth exceeds.
    fn is_deeper(&self) -> bool {
        self.said == Said::NotFound && self.depth > 1.0
    }
    fn is_open(&self) -> bool {
        matches!(self.said, Said::NotCovered | Said::Incomplete)
    }
    fn is_wrong_safe(&self) -> bool {
        self.depth > 0.0 && self.said == Said::Safe
    }
    fn is_alarm(&self) -> bool {
        self.depth <= 0.0 && self.said == Said::Violated
    }
    /// Whether somebody should look at it.
    fn is_notable(&self) -> bool {
        self.is_missed() || self.is_deeper() || self.is_open() || self.is_wrong_safe() || self.is_alarm()
    }
}

/// Which resolution a case asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Share(f64),
    Default,
}

const ASKED: [Asked; 3] = [Asked::Share(0.01), Asked::Share(0.001), Asked::Default];

/// Judges a world whose true worst is known.
fn judge(family: &Family, number: u64, worst: f64, case: u64) -> Case {
    let mut world = world(family, number);
    let (asked, limit_at) = (ASKED[(case % 3) as usize], (case / 3) as usize);
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
    let judged = Case {
        depth: (worst - world.limit) / resolution,
        said: said(&outcome),
        cost: segments as f64 / EXHAUSTIVE as f64,
        resolution: resolution / worst,
        counts: asked == Asked::Share(0.01),
    };
    if judged.is_notable() {
        show(&format!("{} {number} case {case}: {judged:?}", family.name));
    }
    judged
}

/// Prints a line at once: a full dose takes long.
fn show(line: &str) {
    println!("{line}");
    std::io::stdout().flush().expect("standard output can be written");
}

/// The case of a world where one case is judged: the first few worlds have deep and shallow limits, and all resolutions.
fn case_of(number: u64) -> u64 {
    (7 * number + 4) % CASES
}

#[test]
fn any_fifteen_worlds_have_all_cases_and_the_first_three_must_find_something() {
    let all: std::collections::BTreeSet<u64> = (0..CASES).map(case_of).collect();
    assert_eq!(all.len() as u64, CASES);
    let depth = |number: u64| DEPTHS.get((case_of(number) / 3) as usize).copied().unwrap_or(0.0);
    assert!((0..3).filter(|number| depth(*number) >= MUST_BE_FOUND).count() >= 2);
}

/// The cases of a family: all of each world, or one.
fn cases(family: &Family, dose: &Dose) -> Vec<Case> {
    let half = |odd: u64| {
        let mut cases = Vec::new();
        for number in dose.worlds.clone().filter(|number| number % 2 == odd) {
            let worst = truth(&world(family, number));
            let chosen = (0..CASES).filter(|case| dose.is_full || *case == case_of(number));
            cases.extend(chosen.map(|case| judge(family, number, worst, case)));
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
            failing: count(&Case::must_be_found),
            missed: count(&Case::is_missed),
            stated: count(&|case| case.said == Said::NotFound),
            deeper: count(&Case::is_deeper),
            open: count(&Case::is_open),
            safe: count(&|case| case.said == Said::Safe),
            wrong_safe: count(&Case::is_wrong_safe),
            alarms: count(&Case::is_alarm),
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

/// Whether a share is at most this large: by the upper end of its interval if no hit at all would show that, otherwise by the
/// share itself.
fn is_rare(hits: u64, of: u64, share: f64) -> bool {
    let has_enough = at_most(0, of) <= share;
    if has_enough { at_most(hits, of) <= share } else { hits as f64 <= share * of as f64 }
}

#[test]
fn few_cases_are_judged_by_the_share_and_many_by_its_bound() {
    for (hits, of, expect) in
        [(0, 0, true), (0, 5, true), (1, 99, false), (2, 298, true), (2, 299, false), (1, 473, true), (1, 472, false)]
    {
        assert_eq!(is_rare(hits, of, 0.01), expect, "{hits} of {of}");
    }
}

/// Which promises about a family are broken.
fn broken(family: &Family, sum: &Sum) -> Vec<String> {
    let (name, open) = (family.name, if family.grows { 0.5 } else { 0.1 });
    let Sum { cases, failing, missed, coarsest, .. } = sum;
    let promises = [
        (sum.wrong_safe == 0, format!("{} wrong safe", sum.wrong_safe)),
        (sum.alarms == 0, format!("{} false alarms", sum.alarms)),
        (sum.open as f64 <= open * *cases as f64, format!("{} of {cases} without a verdict", sum.open)),
        (family.grows || *missed as f64 <= 0.02 * *failing as f64, format!("{missed} of {failing} missed")),
        (*coarsest <= 0.0101, format!("a resolution of {coarsest} of the worst")),
    ];
    promises.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| format!("{name}: {what}")).collect()
}

/// Which promises about all families that do not grow are broken. With one case of each world by the shares themselves.
fn broken_by_all(sum: &Sum, is_full: bool) -> Vec<String> {
    let Sum { failing, missed, stated, deeper, median_cost, .. } = sum;
    let holds = |hits: u64, of: u64| if is_full { is_rare(hits, of, 0.01) } else { hits * 100 <= of };
    let promises = [
        (holds(*missed, *failing), format!("{missed} of {failing} missed")),
        (holds(*deeper, *stated), format!("{deeper} of {stated} deeper than stated")),
        (*median_cost <= 0.35, format!("median cost {median_cost}")),
    ];
    promises.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what).collect()
}

/// Every row is shown before anything is held against it: a set that is looked at once is then seen whole.
#[test]
fn verdicts_state_a_resolution_that_holds() {
    let dose = Dose::from_environment();
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for family in &dose.families {
        let cases = cases(family, &dose);
        let sum = Sum::of(&cases);
        show(&sum.row(family.name));
        wrong.extend(broken(family, &sum));
        all.extend(cases.into_iter().filter(|_| !family.grows));
    }
    let sum = Sum::of(&all);
    show(&sum.row("all that do not grow"));
    let bound = |hits, of| 100.0 * at_most(hits, of);
    let (missed, deeper) = (bound(sum.missed, sum.failing), bound(sum.deeper, sum.stated));
    show(&format!("with 95 % confidence at most {missed:.2} % missed and {deeper:.2} % deeper than stated"));
    wrong.extend(broken_by_all(&sum, dose.is_full));
    assert!(!all.is_empty(), "no world was asked about");
    assert!(wrong.is_empty(), "{}", wrong.join("; "));
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
