//! Stopping and resuming changes nothing.

use std::sync::atomic::{AtomicBool, Ordering};

use anabranch_explore::{
    Cover, Edge, ExploreError, Explorer, Keep, LevelReport, MemoryTrail, Merge, Node, Observer, Outcome, Progress,
    Recording, Refine, Scope, Settings, Stop,
};
use anabranch_kernel::{Chance, Digest, Seed, System};

use crate::common::{Pushed, settings};

/// Asks to stop after so many looks at the progress, and records the graph.
struct Impatient<'a> {
    looks_left: u64,
    asked: &'a AtomicBool,
    graph: Recording,
}

impl Observer for Impatient<'_> {
    fn progress(&mut self, _: &Progress) {
        self.looks_left = self.looks_left.saturating_sub(1);
        self.asked.store(self.looks_left == 0, Ordering::Relaxed);
    }
    fn level(&mut self, report: &LevelReport) {
        self.graph.level(report);
    }
    fn records(&self) -> bool {
        true
    }
    fn edge(&mut self, edge: &Edge) {
        self.graph.edge(edge);
    }
    fn node(&mut self, node: &Node) {
        self.graph.node(node);
    }
}

fn run(
    system: &Pushed,
    settings: &Settings,
    trail: &mut MemoryTrail,
    looks: u64,
    threads: usize,
) -> (Outcome, Recording) {
    let asked = AtomicBool::new(false);
    let mut observer = Impatient { looks_left: looks, asked: &asked, graph: Recording::default() };
    let explorer = Explorer::new(system).settings(settings.clone()).threads(threads).interrupt(&asked);
    let outcome = explorer.run_with(trail, &mut observer).unwrap();
    (outcome, observer.graph)
}

fn rules(system: &Pushed) -> Vec<Settings> {
    let base = Settings { rollouts: 50, ..settings(system) };
    let level = |keep, refine| Settings { keep, refine, ..base.clone() };
    let free = Settings { scope: Scope::Visited, ..base.clone() };
    vec![
        level(Keep::First, Refine::OFF),
        level(Keep::Worst, Refine::USUAL),
        level(Keep::Extremes, Refine::USUAL),
        Settings { keep: Keep::Worst, refine: Refine::USUAL, ..free.clone() },
        Settings { keep: Keep::Extremes, refine: Refine::OFF, ..free.clone() },
        Settings { keep: Keep::First, scope: Scope::Frontier, ..base.clone() },
        Settings { merge: Merge::None, levels_max: 5, ..base.clone() },
        Settings { merge_every: 2, ..level(Keep::Worst, Refine::OFF) },
    ]
}

#[test]
fn stopping_and_resuming_changes_nothing() {
    let mut stops = 0;
    for (walls, time_matters) in [(0.9, true), (0.55, true), (1.5, false)] {
        let mut system = Pushed::new(1.0, 0.4, walls, 10);
        system.time_matters = time_matters;
        for (number, rule) in rules(&system).into_iter().enumerate() {
            if time_matters && rule.scope == Scope::Visited {
                continue;
            }
            let (whole, graph) = run(&system, &rule, &mut MemoryTrail::with_notes(), u64::MAX, 2);
            let chance = Chance::new(Seed(1), "stops").at(number as u64);
            for attempt in 0..6 {
                let mut trail = MemoryTrail::with_notes();
                for stop in 0..20 {
                    let looks = 1 + chance.below(attempt * 100 + stop, 12);
                    let threads = 1 + chance.below(attempt * 100 + stop + 50, 3) as usize;
                    let (outcome, _) = run(&system, &rule, &mut trail, looks, threads);
                    if outcome.stop != Some(Stop::Interrupted) {
                        break;
                    }
                    stops += 1;
                }
                let (resumed, resumed_graph) = run(&system, &rule, &mut trail, u64::MAX, 2);
                assert_eq!(resumed.levels, whole.levels, "rule {number}, attempt {attempt}");
                assert_eq!(resumed.digest, whole.digest, "rule {number}, attempt {attempt}");
                assert_eq!(resumed.progress, whole.progress);
                assert_eq!(resumed.levels, whole.levels);
                assert_eq!(resumed.hits, whole.hits);
                assert_eq!(resumed.notes, whole.notes);
                assert_eq!(resumed.coverage, whole.coverage);
                assert_eq!(resumed.refinement, whole.refinement);
                assert_eq!(resumed_graph, graph);
                assert_eq!(graph.edges.iter().any(|edge| edge.apart.is_some()), rule.merge != Merge::None);
            }
        }
    }
    println!("{stops} stops");
    assert!(stops > 200, "{stops}");
}

/// Random runs that join are merged into cells of every level, also of those that an earlier process finished.
#[test]
fn after_a_stop_random_runs_join_the_same_graph() {
    let system = Pushed::new(1.0, 0.4, 3.0, 7);
    let rule = Settings { keep: Keep::First, cover: Some(Cover::USUAL), rollouts: 437, ..settings(&system) };
    let (whole, graph) = run(&system, &rule, &mut MemoryTrail::with_notes(), u64::MAX, 2);
    assert!(whole.coverage.joined > 10, "{:?}", whole.coverage);
    for looks in [3, 7] {
        let mut trail = MemoryTrail::with_notes();
        assert_eq!(run(&system, &rule, &mut trail, looks, 2).0.stop, Some(Stop::Interrupted));
        let (resumed, resumed_graph) = run(&system, &rule, &mut trail, u64::MAX, 2);
        assert_eq!((resumed.digest, &resumed.coverage), (whole.digest, &whole.coverage));
        assert_eq!(resumed_graph, graph);
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let system = Pushed::new(1.0, 0.4, 0.9, 10);
    let mut trail = MemoryTrail::with_notes();
    let explore = |identity: u128, settings: Settings, trail: &mut MemoryTrail| {
        let explorer = Explorer::new(&system).settings(settings).identity(Digest(identity)).threads(1);
        explorer.run_with(trail, &mut anabranch_explore::NoObserver)
    };
    let rule = Settings { levels_max: 4, ..settings(&system) };
    explore(1, rule.clone(), &mut trail).unwrap();
    explore(1, rule.clone(), &mut trail).unwrap();
    let refused = |result: Result<Outcome, ExploreError>| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("another scenario"), "{error}");
    };
    refused(explore(2, rule.clone(), &mut trail));
    refused(explore(1, Settings { keep: Keep::First, ..rule.clone() }, &mut trail));
    let budget = anabranch_explore::Budget { states: Some(1_000_000), ..Default::default() };
    explore(1, Settings { budget, ..rule }, &mut trail).unwrap();
    assert!(!system.errors().is_empty());
}
