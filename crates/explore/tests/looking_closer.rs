//! What merging missed: refinement repairs it, and coverage measures it.

use anabranch_explore::{Explorer, Keep, MemoryTrail, Merge, NoObserver, Refine, RefineEnd, Settings, Trail, replay};
use anabranch_kernel::{
    Chance, Choice, Danger, ErrorSpace, Fault, Grid, KeyWriter, Params, Seed, SegmentEnd, System, Variable, Watch,
};
use serde::{Deserialize, Serialize};

/// A point on a spring that is pushed sideways.
struct Spring {
    errors: ErrorSpace,
    variables: Vec<Variable>,
    pull: f64,
    damping: f64,
    wall: f64,
    levels: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SpringState {
    y: f64,
    v: f64,
    level: u32,
}

impl Spring {
    fn new(n: u64, wall: f64) -> Self {
        let chance = Chance::new(Seed(3), "spring").at(n);
        Self {
            errors: ErrorSpace::of_one_site("push", &["none", "left", "right"]),
            variables: vec![Variable::real("y", "m", 0.05), Variable::real("v", "m/s", 0.05)],
            pull: 0.5 + chance.uniform(0),
            damping: 0.2 + chance.uniform(1),
            wall,
            levels: 7,
        }
    }
    fn settings(&self, scale: f64, refine: Refine) -> Settings {
        let merge = Merge::Grid(Grid::of(&self.variables).scaled(scale));
        Settings { keep: Keep::Worst, merge, refine, ..Settings::new(&self.variables, true) }
    }
    fn exhaustive(&self) -> Settings {
        Settings { merge: Merge::None, ..Settings::new(&self.variables, true) }
    }
}

impl System for Spring {
    type State = SpringState;
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<SpringState, Fault> {
        Ok(SpringState { y: 0.0, v: 0.0, level: 0 })
    }
    fn run(&self, s: &mut SpringState, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let push = [0.0, -0.3, 0.3][choice.index()];
        for tick in 0..10 {
            s.v += 0.1 * (-self.pull * (s.y - push) - self.damping * s.v);
            s.y += 0.1 * s.v;
            watch.see_margin(self.wall - s.y.abs());
            if s.y.abs() > self.wall {
                return Ok(SegmentEnd::violated(0, u64::from(s.level) * 10 + tick));
            }
        }
        s.level += 1;
        Ok(if s.level == self.levels { SegmentEnd::TimedOut } else { SegmentEnd::Open })
    }
    fn cell(&self, s: &SpringState, key: &mut KeyWriter<'_>) {
        key.real(0, s.y);
        key.real(1, s.v);
    }
    fn danger(&self, s: &SpringState) -> Danger {
        Danger { worst: s.y.abs() as f32, axes: [s.y as f32, -s.y as f32].into_iter().collect() }
    }
    fn time_matters(&self) -> bool {
        true
    }
    fn requirements(&self) -> &[String] {
        static NAMES: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| vec!["no-contact".into()]);
        &NAMES
    }
}

/// The spring number `n` with walls at a share of its true worst excursion, and whether it fails.
fn world(n: u64, share: f64) -> Spring {
    let far = Spring::new(n, 100.0);
    let margin = Explorer::new(&far).settings(far.exhaustive()).threads(1).run().unwrap().progress.margin;
    Spring::new(n, (100.0 - margin) * share)
}

/// As much as it takes.
const UNBOUNDED: Refine = Refine { passes: 6, effort: 1e9 };

#[test]
fn looking_closer_finds_what_coarse_cells_hid() {
    let (mut missed, mut repaired, mut alarms) = (0, 0, 0);
    for n in 0..150 {
        let system = world(n, 0.94 + 0.1 * Chance::new(Seed(0), "share").at(n).uniform(0));
        let explore = |settings| Explorer::new(&system).settings(settings).threads(1).run().unwrap();
        let fails = explore(system.exhaustive()).progress.findings > 0;
        let coarse = explore(system.settings(6.0, Refine::OFF)).progress.findings > 0;
        let closer = explore(system.settings(6.0, UNBOUNDED));
        let found = closer.progress.findings > 0;
        alarms += u32::from(found && !fails);
        missed += u32::from(fails && !coarse);
        repaired += u32::from(fails && !coarse && found);
        if fails && !coarse && found {
            assert_eq!(closer.refinement[0].end, RefineEnd::Found);
        }
        if !found {
            assert!(matches!(closer.refinement[0].end, RefineEnd::NothingAtRisk | RefineEnd::Finest));
        }
    }
    println!("coarse cells missed {missed} failing worlds of 150; looking closer repaired {repaired}");
    assert_eq!(alarms, 0);
    assert!(missed >= 10, "only {missed} misses: the test has nothing to show");
    assert!(repaired * 10 >= missed * 9, "{repaired} of {missed}");
}

#[test]
fn what_a_closer_look_finds_replays_from_the_start() {
    let (system, outcome, trail) = (0..200)
        .find_map(|n| {
            let system = world(n, 0.97);
            let coarse = Explorer::new(&system).settings(system.settings(6.0, Refine::OFF)).threads(1).run().unwrap();
            let mut trail = MemoryTrail::default();
            let settings = system.settings(6.0, UNBOUNDED);
            let closer = Explorer::new(&system).settings(settings).threads(1).run_with(&mut trail, &mut NoObserver);
            let closer = closer.unwrap();
            (coarse.progress.findings == 0 && closer.progress.findings > 0).then_some((system, closer, trail))
        })
        .expect("some world needs a closer look");
    for hit in &outcome.hits {
        let (start, mut choices) = trail.path(hit.parent).unwrap();
        choices.push(hit.choice);
        let run = replay(&system, Seed(0), &system.space().all()[start], &choices, None).unwrap();
        assert_eq!(run.end, SegmentEnd::Violated(vec![hit.verdict]));
    }
}

#[test]
fn a_closer_look_has_one_digest_for_any_number_of_threads() {
    let system = world(5, 1.02);
    let settings = Settings { rollouts: 100, ..system.settings(3.0, UNBOUNDED) };
    let run = |threads| Explorer::new(&system).settings(settings.clone()).threads(threads).run().unwrap();
    let one = run(1);
    assert!(one.refinement[0].passes > 0 && one.refinement[0].reopened > 0, "{:?}", one.refinement);
    for threads in [2, 3, 7] {
        let many = run(threads);
        assert_eq!((many.digest, &many.refinement, &many.coverage), (one.digest, &one.refinement, &one.coverage));
    }
}

#[test]
fn nothing_is_run_again_where_no_contact_is_near() {
    let system = world(5, 3.0);
    let explore = |refine| {
        let settings = Settings { keep: Keep::Extremes, ..system.settings(1.0, refine) };
        Explorer::new(&system).settings(settings).threads(1).run().unwrap()
    };
    let (plain, closer) = (explore(Refine::OFF), explore(Refine::USUAL));
    assert_eq!(closer.refinement[0].cells_at_risk, 0);
    assert_eq!(plain.digest, closer.digest);
    assert_eq!(plain.progress.segments, closer.progress.segments);
}

#[test]
fn a_disagreeing_random_run_makes_the_exploration_look_closer() {
    let disagreeing = (0..200).find_map(|n| {
        let system = world(n, 0.9);
        // Effort for one level only: looking closer by itself gives up at once.
        let settings = Settings { rollouts: 2_000, ..system.settings(8.0, Refine { passes: 1, effort: 0.0 }) };
        let outcome = Explorer::new(&system).settings(settings).threads(1).run().unwrap();
        (outcome.progress.findings == 0 && outcome.coverage.draws == 2).then_some(outcome)
    });
    let outcome = disagreeing.expect("some coarse exploration is contradicted by random runs");
    assert_eq!(outcome.refinement.len(), 2);
    assert!(!outcome.coverage.violations.is_empty(), "they are findings as well");
}

/// The true share of random runs that stay inside what was explored: by running every sequence.
fn true_share(system: &Spring, settings: &Settings) -> f64 {
    // A random run is one of 3⁷ equally likely sequences, so a census of all of them is a measurement without chance.
    let Merge::Grid(grid) = &settings.merge else { unreachable!("there is a grid") };
    let mut recording = anabranch_explore::Recording::default();
    Explorer::new(system)
        .settings(Settings { rollouts: 0, ..settings.clone() })
        .threads(1)
        .run_with(&mut MemoryTrail::default(), &mut recording)
        .unwrap();
    let open = |e: &&anabranch_explore::Edge| {
        matches!(e.fate, anabranch_explore::Fate::Kept | anabranch_explore::Fate::Merged)
    };
    let explored: std::collections::BTreeSet<_> = recording.edges.iter().filter(open).filter_map(|e| e.key).collect();
    let inside = (0..3_u32.pow(system.levels)).filter(|number| {
        let mut state = system.start(Seed(0), &Params::default()).unwrap();
        let (mut writer, mut number) = (KeyWriter::new(grid), *number);
        for level in 1..=system.levels {
            let end = system.run(&mut state, Choice((number % 3) as u16), &mut Watch::off()).unwrap();
            number /= 3;
            if end != SegmentEnd::Open {
                break;
            }
            system.cell(&state, &mut writer);
            writer.extra(u64::from(level));
            if !explored.contains(&writer.finish().unwrap()) {
                return false;
            }
        }
        true
    });
    inside.count() as f64 / f64::from(3_u32.pow(system.levels))
}

#[test]
fn the_coverage_interval_covers_the_truth() {
    let (mut covered, mut trials) = (0, 0);
    for n in 0..20 {
        let system = Spring::new(n, 100.0);
        let settings = Settings { rollouts: 100, ..system.settings(1.5, Refine::OFF) };
        let truth = true_share(&system, &settings);
        for seed in 0..50 {
            let outcome = Explorer::new(&system).settings(settings.clone()).seed(Seed(seed)).threads(1).run().unwrap();
            let coverage = &outcome.coverage;
            covered += u32::from((coverage.share_low..=coverage.share_high).contains(&truth));
            trials += 1;
            let expected = anabranch_explore::clopper_pearson(coverage.runs_inside, coverage.rollouts, 0.05);
            assert_eq!((coverage.share_low, coverage.share_high), expected);
        }
    }
    println!("the interval covered the true share in {covered} of {trials} trials");
    assert_eq!(trials, 1_000);
    assert!(covered >= 930, "{covered}");
}
