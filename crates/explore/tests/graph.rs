//! The explorer on small systems whose truth is known.

use std::io;

use crate::common::{Pushed, PushedState, settings};
use anabranch_explore::{
    Budget, Disk, Explorer, Fate, Keep, MemoryTrail, Merge, NoObserver, Order, Recording, Scope, Settings, Stop,
    Target, Trail, replay, walk,
};
use anabranch_kernel::{Choice, Grid, KeyWriter, Params, Seed, SegmentEnd, System, Watch, contract};

#[test]
fn the_toy_keeps_the_contract() {
    contract::check_contract(&Pushed::new(1.0, 0.4, 10.0, 8), 20, 8).unwrap();
}

#[test]
fn without_merging_every_sequence_is_run() {
    let system = Pushed::new(1.0, 0.4, 10.0, 6);
    let none = Settings { merge: Merge::None, ..settings(&system) };
    let outcome = Explorer::new(&system).settings(none).run().unwrap();
    assert_eq!(outcome.progress.segments, (1..=6).map(|n| 3_u64.pow(n)).sum::<u64>());
    assert_eq!(outcome.timed_out, 3_u64.pow(6));
}

#[test]
fn any_number_of_threads_gives_one_digest() {
    let system = Pushed::new(1.0, 0.4, 0.9, 14);
    for (keep, order) in [
        (Keep::First, Order::Breadth),
        (Keep::Worst, Order::Breadth),
        (Keep::Extremes, Order::Breadth),
        (Keep::Worst, Order::Danger),
        (Keep::Extremes, Order::Danger),
    ] {
        let settings = Settings { keep, order, rollouts: 200, ..settings(&system) };
        let run = |threads| Explorer::new(&system).settings(settings.clone()).threads(threads).run().unwrap();
        let one = run(1);
        for threads in [2, 3, 7, 16] {
            let many = run(threads);
            assert_eq!(
                (one.digest, &one.hits, &one.coverage),
                (many.digest, &many.hits, &many.coverage),
                "{keep:?} {order:?}"
            );
        }
    }
}

#[test]
fn merging_keeps_nearly_the_true_worst_at_a_fraction_of_the_cost() {
    let (mut shares, mut costs) = (Vec::new(), Vec::new());
    for n in 0..40 {
        let system = Pushed::new(0.5 + 0.05 * f64::from(n), 0.2 + 0.03 * f64::from(n % 11), 100.0, 9);
        let truth =
            Explorer::new(&system).settings(Settings { merge: Merge::None, ..settings(&system) }).run().unwrap();
        let merged = Explorer::new(&system).run().unwrap();
        shares.push((100.0 - merged.progress.margin) / (100.0 - truth.progress.margin));
        costs.push(merged.progress.segments as f64 / truth.progress.segments as f64);
    }
    shares.sort_by(f64::total_cmp);
    costs.sort_by(f64::total_cmp);
    assert!(shares[2] > 0.99, "the third worst finds only {}", shares[2]);
    assert!(costs[20] < 0.3, "median cost {}", costs[20]);
}

#[test]
fn findings_replay_from_the_start() {
    let system = Pushed::new(1.0, 0.3, 0.75, 12);
    for order in [Order::Breadth, Order::Danger] {
        let mut trail = MemoryTrail::default();
        let explorer = Explorer::new(&system).settings(Settings { order, ..settings(&system) });
        let outcome = explorer.run_with(&mut trail, &mut NoObserver).unwrap();
        assert!(!outcome.hits.is_empty());
        assert!(outcome.constant_errors_violate.is_empty(), "only the combination violates");
        for hit in &outcome.hits {
            let (_, mut path) = trail.path(hit.parent).unwrap();
            path.push(hit.choice);
            let run = replay(&system, Seed(0), &Params::default(), &path, None).unwrap();
            assert_eq!(run.end, SegmentEnd::Violated(vec![hit.verdict]));
            assert_eq!(run.segments, path.len());
        }
    }
}

#[test]
fn danger_first_finds_a_violation_sooner() {
    let system = Pushed::new(1.0, 0.3, 0.8, 14);
    let first = |order| {
        let settings = Settings { order, ..settings(&system) };
        Explorer::new(&system).settings(settings).run().unwrap().first_hit.unwrap()
    };
    assert!(first(Order::Danger) * 5 < first(Order::Breadth));
}

/// Figure 6 of the paper, written down as plainly as possible.
fn figure_6(system: &Pushed, grid: &Grid) -> (u64, Vec<u64>) {
    use std::collections::VecDeque;
    let key = |s: &PushedState| {
        let mut writer = KeyWriter::new(grid);
        system.cell(s, &mut writer);
        writer.finish().unwrap()
    };
    let start = system.start(Seed(0), &Params::default()).unwrap();
    let mut queue = VecDeque::from([(start, 0_u16)]);
    let (mut segments, mut hits) = (0, Vec::new());
    while let Some((restored, next_error)) = queue.front_mut() {
        let (mut state, choice) = (restored.clone(), *next_error);
        *next_error += 1;
        if choice == 2 {
            queue.pop_front();
        }
        segments += 1;
        match system.run(&mut state, Choice(choice), &mut Watch::off()).unwrap() {
            SegmentEnd::Violated(_) => hits.push(segments),
            SegmentEnd::Open if !queue.iter().any(|(queued, _)| key(queued) == key(&state)) => {
                queue.push_back((state, 0))
            }
            _ => {}
        }
    }
    (segments, hits)
}

#[test]
fn the_paper_scope_is_figure_6_exactly() {
    for wall in [0.7, 0.8, 10.0] {
        let system = Pushed::new(1.0, 0.3, wall, 12);
        let grid = Grid::of(system.variables());
        let (scope, keep) = (Scope::Frontier, Keep::First);
        let settings = Settings { scope, keep, merge: Merge::Grid(grid.clone()), ..settings(&system) };
        let outcome = Explorer::new(&system).settings(settings).run().unwrap();
        let hits: Vec<u64> = outcome.hits.iter().map(|hit| hit.segment).collect();
        assert_eq!((outcome.progress.segments, hits), figure_6(&system, &grid), "wall at {wall}");
    }
}

#[test]
fn visited_scope_ends_without_a_horizon_and_finds_the_same_worst() {
    let mut system = Pushed::new(1.0, 0.5, 100.0, u32::MAX);
    system.time_matters = false;
    let outcome = Explorer::new(&system).run().unwrap();
    assert!(outcome.complete());
    let mut long = Pushed::new(1.0, 0.5, 100.0, 40);
    long.time_matters = true;
    let by_level = Explorer::new(&long).run().unwrap();
    assert!((outcome.progress.margin - by_level.progress.margin).abs() < 0.01);
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    let system = Pushed::new(1.0, 0.5, 1.0, 4);
    let check = |change: fn(Settings) -> Settings, expect: &str| {
        let error = Explorer::new(&system).settings(change(settings(&system))).run().unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(|s| Settings { scope: Scope::Visited, ..s }, "time matters");
    check(|s| Settings { scope: Scope::Frontier, keep: Keep::Worst, ..s }, "frontier");
    check(|s| Settings { merge_every: 0, ..s }, "merge_every");
}

#[test]
fn budgets_end_as_incomplete_and_say_why() {
    let system = Pushed::new(0.3, 0.01, 100.0, 30);
    let stop = |budget, change: fn(Settings) -> Settings| {
        let outcome = Explorer::new(&system).settings(change(Settings { budget, ..settings(&system) })).run().unwrap();
        assert!(!outcome.complete());
        outcome.stop.unwrap()
    };
    assert_eq!(stop(Budget { states: Some(50), ..Budget::default() }, |s| s), Stop::States);
    assert_eq!(stop(Budget { memory_bytes: Some(1000), ..Budget::default() }, |s| s), Stop::Memory);
    let narrow = Pushed::new(1.0, 0.3, 0.75, 12);
    let settings = Settings { stop_on_first: true, ..settings(&narrow) };
    let outcome = Explorer::new(&narrow).settings(settings).run().unwrap();
    assert_eq!(outcome.stop, Some(Stop::FirstFinding));
}

#[derive(Default)]
struct VecDisk(Vec<Vec<u8>>);
impl Disk for VecDisk {
    fn append(&mut self, record: &[u8]) -> io::Result<u64> {
        self.0.push(record.to_vec());
        Ok(self.0.len() as u64 - 1)
    }
    fn read(&self, place: u64, record: &mut Vec<u8>) -> io::Result<()> {
        record.clear();
        record.extend_from_slice(&self.0[place as usize]);
        Ok(())
    }
    fn clear(&mut self) -> io::Result<()> {
        self.0.clear();
        Ok(())
    }
}

#[test]
fn a_frontier_larger_than_memory_spills_and_changes_nothing() {
    let system = Pushed::new(0.4, 0.02, 100.0, 9);
    for order in [Order::Breadth, Order::Danger] {
        let base = Settings { order, merge: Merge::None, ..settings(&system) };
        let in_memory = Explorer::new(&system).settings(base.clone()).run().unwrap();
        let budget = Budget { memory_bytes: Some(50_000), ..Budget::default() };
        let (mut a, mut b) = (VecDisk::default(), VecDisk::default());
        let explorer = Explorer::new(&system).settings(Settings { budget, ..base }).disks([&mut a, &mut b]);
        let spilled = explorer.run().unwrap();
        assert!(spilled.spilled > 100, "{}", spilled.spilled);
        assert_eq!(in_memory.digest, spilled.digest);
    }
}

#[test]
fn rollouts_inside_a_finished_fine_exploration_agree_with_it() {
    let system = Pushed::new(1.0, 0.4, 0.9, 10);
    let outcome = Explorer::new(&system).settings(Settings { rollouts: 500, ..settings(&system) }).run().unwrap();
    let c = &outcome.coverage;
    assert_eq!(c.rollouts, 500);
    assert!(c.share > 0.8 && c.share_low <= c.share && c.share <= c.share_high, "{c:?}");
    assert_eq!(c.disagreements, 0);
}

#[test]
fn a_recording_holds_every_segment_and_every_kept_state() {
    let system = Pushed::new(1.0, 0.4, 0.9, 10);
    for order in [Order::Breadth, Order::Danger] {
        let settings = Settings { keep: Keep::Extremes, order, ..settings(&system) };
        let (mut trail, mut graph) = (MemoryTrail::default(), Recording::default());
        let outcome = Explorer::new(&system).settings(settings).run_with(&mut trail, &mut graph).unwrap();
        assert_eq!(graph.edges.len() as u64, outcome.progress.segments);
        assert_eq!(graph.nodes.len() as u64, outcome.progress.states);
        for (number, node) in graph.nodes.iter().enumerate() {
            assert_eq!(node.node, number as u64);
            assert_eq!(trail.look(node.node).unwrap(), (node.parent, node.choice));
        }
        let violated = graph.edges.iter().filter(|e| e.fate == Fate::Violated).count() as u64;
        assert_eq!(violated, outcome.progress.findings);
        // Whatever is merged falls into a cell of which a member is kept.
        let cells: std::collections::BTreeSet<_> = graph.nodes.iter().map(|n| n.cell.unwrap()).collect();
        let open = graph.edges.iter().filter(|e| matches!(e.fate, Fate::Kept | Fate::Merged));
        assert!(open.map(|e| e.cell.unwrap()).all(|cell| cells.contains(&cell)));
    }
}

#[test]
fn walking_again_gives_every_hit_from_the_start() {
    let system = Pushed::new(1.0, 0.4, 0.6, 10);
    let mut trail = MemoryTrail::default();
    let settings = Settings { keep: Keep::Extremes, ..settings(&system) };
    let outcome = Explorer::new(&system).settings(settings).run_with(&mut trail, &mut NoObserver).unwrap();
    assert!(outcome.hits.len() > 20);
    let targets: Vec<Target> = outcome.hits.iter().map(|h| Target { parent: h.parent, choice: h.choice }).collect();
    let mut ends = vec![None; targets.len()];
    let starts = system.space().all();
    let segments = walk(&system, Seed(0), &starts, &trail, &targets, |at, job| ends[at] = Some(job.end)).unwrap();
    assert!(segments < outcome.progress.segments);
    for (hit, end) in outcome.hits.iter().zip(ends) {
        assert_eq!(end, Some(Ok(SegmentEnd::Violated(vec![hit.verdict]))));
    }
}
