//! Exploring again after a change gives every bit of an exploration from scratch, and runs only what can be different.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anabranch_explore::{
    CHECK_ONE_IN, Explorer, Memory, MemoryTrail, Merge, Order, Outcome, Recording, Remembering, SegmentAt, SegmentSink,
    Settings, Since,
};
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{
    Choice, Danger, Digest, ErrorSpace, Fault, Job, KeyWriter, Leaf, Params, Part, Parts, Reads, Recall, Seed,
    SegmentEnd, System, Variable, Watch,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

const PLACES: usize = 4;

/// A walker on a line whose stride depends on the kind of place it stands on; each kind is a part of its own.
#[derive(Clone)]
struct Walker {
    strides: [i64; PLACES],
    /// Read everywhere.
    wall: i64,
    levels: u32,
    tells: Tells,
    errors: ErrorSpace,
    variables: Vec<Variable>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tells {
    Truth,
    /// It reads a part and says it read none.
    Lies,
    /// Nothing about what it reads.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct At {
    x: i64,
    level: u32,
}

fn walker(strides: [i64; PLACES]) -> Walker {
    let errors = ErrorSpace::of_one_site("push", &["none", "left", "right", "far right"]);
    let variables = vec![Variable::exact("x")];
    Walker { strides, wall: 300, levels: 9, tells: Tells::Truth, errors, variables }
}

fn place(x: i64) -> usize {
    (x.rem_euclid(5 * PLACES as i64) / 5) as usize
}

impl System for Walker {
    type State = At;
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<At, Fault> {
        Ok(At { x: 0, level: 0 })
    }
    fn run(&self, at: &mut At, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let here = place(at.x);
        match self.tells {
            Tells::Truth => watch.reads = Reads::of(here),
            Tells::Lies => watch.reads = Reads::NONE,
            Tells::Nothing => {}
        }
        at.x += [0, -1, 1, 3][choice.index()] * self.strides[here];
        at.level += 1;
        watch.see_margin((self.wall - at.x.abs()) as f64);
        if at.x.abs() > self.wall {
            return Ok(SegmentEnd::violated(0, u64::from(at.level)));
        }
        Ok(if at.level == self.levels { SegmentEnd::TimedOut } else { SegmentEnd::Open })
    }
    fn cell(&self, at: &At, key: &mut KeyWriter<'_>) {
        key.exact(0, at.x as u64);
    }
    fn danger(&self, at: &At) -> Danger {
        Danger { worst: at.x as f64, axes: [at.x as f64, -at.x as f64].into_iter().collect() }
    }
    fn leaves(&self) -> Vec<Leaf> {
        vec![Leaf::time("level")]
    }
    fn time_matters(&self) -> bool {
        true
    }
    fn parts(&self) -> Parts {
        let part = |(n, stride): (usize, &i64)| Part { name: format!("stride.{n}"), digest: Digest(*stride as u128) };
        Parts { rest: Some(Digest(self.wall as u128)), separate: self.strides.iter().enumerate().map(part).collect() }
    }
}

/// Counts the segments that are really run.
struct Counting<'a> {
    walker: &'a Walker,
    runs: AtomicU64,
}

impl System for Counting<'_> {
    type State = At;
    fn errors(&self) -> &ErrorSpace {
        self.walker.errors()
    }
    fn variables(&self) -> &[Variable] {
        self.walker.variables()
    }
    fn start(&self, seed: Seed, params: &Params) -> Result<At, Fault> {
        self.walker.start(seed, params)
    }
    fn run(&self, at: &mut At, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.walker.run(at, choice, watch)
    }
    fn cell(&self, at: &At, key: &mut KeyWriter<'_>) {
        self.walker.cell(at, key);
    }
    fn danger(&self, at: &At) -> Danger {
        self.walker.danger(at)
    }
    fn leaves(&self) -> Vec<Leaf> {
        vec![Leaf::time("level")]
    }
    fn time_matters(&self) -> bool {
        true
    }
}

#[derive(Default)]
struct Kept(Mutex<Vec<u8>>);

impl SegmentSink for Kept {
    fn keep(&self, segments: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(segments);
    }
}

impl Kept {
    fn memory(self) -> Memory {
        let mut memory = Memory::new();
        memory.add(self.0.into_inner().unwrap()).unwrap();
        memory
    }
}

fn settings(system: &impl System, order: Order) -> Settings {
    Settings { order, rollouts: 40, ..Settings::new(system.variables(), system.time_matters()) }
}

fn explored(system: &impl System<State = At>, order: Order, threads: usize) -> (Outcome, Recording) {
    let mut recording = Recording::default();
    let explorer = Explorer::new(system).settings(settings(system, order)).threads(threads);
    let outcome = explorer.run_with(&mut MemoryTrail::default(), &mut recording).unwrap();
    (outcome, recording)
}

fn remembered(system: &Walker) -> Memory {
    let kept = Kept::default();
    explored(&Remembering::new(system).keeping(&kept), Order::Breadth, 2);
    kept.memory()
}

/// Everything but what was spared and how long it took.
fn assert_equal(again: &(Outcome, Recording), scratch: &(Outcome, Recording)) {
    let (a, b) = (&again.0, &scratch.0);
    assert_eq!(a.digest, b.digest);
    assert_eq!((&a.hits, &a.notes, &a.levels, a.first_hit), (&b.hits, &b.notes, &b.levels, b.first_hit));
    assert_eq!((a.goals, a.timed_out, a.note_count), (b.goals, b.timed_out, b.note_count));
    assert_eq!((&a.coverage, &a.constant_errors_violate), (&b.coverage, &b.constant_errors_violate));
    let counts = |o: &Outcome| {
        let p = o.progress;
        (p.segments, p.states, p.merged, p.findings, p.segments_from_start, p.margin.to_bits())
    };
    assert_eq!(counts(a), counts(b));
    assert_eq!(again.1, scratch.1);
    assert!(a.complete() && b.complete());
}

fn again(before: &Walker, after: &Walker, memory: &Memory, order: Order, threads: usize) -> (Outcome, Recording) {
    let changed = after.parts().unlike(&before.parts()).unwrap();
    let system = Remembering::new(after).since(Since { memory, changed });
    let again = explored(&system, order, threads);
    assert_eq!(system.broken(), None);
    again
}

#[test]
fn a_change_is_explored_as_from_scratch_for_any_number_of_threads() {
    let before = walker([1, 2, 3, 4]);
    let memory = remembered(&before);
    for strides in [[1, 2, 3, 4], [2, 2, 3, 4], [1, 2, 3, 5], [9, 8, 7, 6]] {
        let after = walker(strides);
        for order in [Order::Breadth, Order::Danger] {
            let scratch = explored(&after, order, 1);
            let first = again(&before, &after, &memory, order, 1);
            assert_equal(&first, &scratch);
            for threads in [2, 5] {
                let other = again(&before, &after, &memory, order, threads);
                assert_equal(&other, &scratch);
                assert_eq!(other.0.progress, first.0.progress, "the same is reused with {threads} threads");
            }
        }
    }
}

#[test]
fn without_a_change_nothing_is_run_but_the_checks() {
    let before = walker([1, 2, 3, 4]);
    let memory = remembered(&before);
    let counting = Counting { walker: &before, runs: AtomicU64::new(0) };
    let system = Remembering::new(&counting).since(Since { memory: &memory, changed: Reads::NONE });
    let (outcome, _) = explored(&system, Order::Breadth, 2);
    let progress = outcome.progress;
    assert_eq!((progress.reused, progress.first_difference), (progress.segments, None));
    assert!(progress.checked > 0 && progress.checked < progress.segments / 20, "{progress:?}");
    let runs = counting.runs.load(Ordering::Relaxed);
    assert!(runs >= progress.checked && u128::from(runs) < 4 * u128::from(progress.segments) / CHECK_ONE_IN);
}

#[test]
fn the_first_difference_is_where_a_changed_stride_is_first_used() {
    let (before, after) = (walker([1, 2, 3, 4]), walker([1, 9, 3, 4]));
    let memory = remembered(&before);
    let (outcome, recording) = again(&before, &after, &memory, Order::Breadth, 3);
    let first = outcome.progress.first_difference.unwrap();
    // Places 5 to 9 are of the second kind; from 0 the walker gets to 6 in two segments, not in one.
    assert_eq!((first.level, first.choice), (2, 1));
    let node = recording.nodes.iter().find(|node| node.node == first.parent).unwrap();
    assert_eq!((node.level, node.choice), (2, Choice(3)));
    assert!(outcome.progress.reused > 0 && outcome.progress.reused < outcome.progress.segments);
}

#[test]
fn a_system_that_lies_about_what_it_reads_is_caught() {
    let mut before = walker([1, 2, 3, 4]);
    before.tells = Tells::Lies;
    let memory = remembered(&before);
    let mut after = walker([1, 2, 9, 4]);
    after.tells = Tells::Lies;
    let changed = after.parts().unlike(&before.parts()).unwrap();
    for threads in [1, 3] {
        let system = Remembering::new(&after).since(Since { memory: &memory, changed });
        let (outcome, _) = explored(&system, Order::Breadth, threads);
        assert!(matches!(system.broken(), Some(Fault::Contract(_))));
        assert!(!outcome.complete() && outcome.fault_count > 0);
    }
}

#[test]
fn of_a_system_that_does_not_say_what_it_reads_everything_runs_after_a_change() {
    let mut before = walker([1, 2, 3, 4]);
    before.tells = Tells::Nothing;
    let memory = remembered(&before);
    let after = Walker { strides: [1, 2, 3, 5], ..before.clone() };
    let (outcome, _) = again(&before, &after, &memory, Order::Breadth, 2);
    assert_eq!(outcome.progress.reused, 0);
    assert_eq!(outcome.progress.first_difference.map(|at| at.level > 0), Some(true));
}

#[test]
fn merging_otherwise_reuses_what_is_reached_again() {
    let before = walker([1, 2, 3, 4]);
    let memory = remembered(&before);
    let unmerged = Settings { merge: Merge::None, rollouts: 0, levels_max: 4, ..settings(&before, Order::Breadth) };
    let scratch = Explorer::new(&before).settings(unmerged.clone()).run().unwrap();
    let system = Remembering::new(&before).since(Since { memory: &memory, changed: Reads::NONE });
    let again = Explorer::new(&system).settings(unmerged).run().unwrap();
    assert_eq!((again.digest, again.progress.states), (scratch.digest, scratch.progress.states));
    assert_eq!(again.progress.reused, again.progress.segments);
}

#[test]
fn the_wrapper_keeps_the_contract() {
    let before = walker([1, 2, 3, 4]);
    let memory = remembered(&before);
    let after = walker([1, 2, 3, 6]);
    let changed = after.parts().unlike(&before.parts()).unwrap();
    let kept = Kept::default();
    let system = Remembering::new(&after).since(Since { memory: &memory, changed }).keeping(&kept);
    check_contract(&system, 20, 8).unwrap();
    check_contract(&Remembering::new(&after), 5, 8).unwrap();
    assert!(!kept.memory().is_empty());
}

#[test]
fn what_a_second_run_keeps_is_enough_for_a_third() {
    let (first, second, third) = (walker([1, 2, 3, 4]), walker([1, 2, 3, 5]), walker([1, 2, 4, 5]));
    let memory = remembered(&first);
    let kept = Kept::default();
    let changed = second.parts().unlike(&first.parts()).unwrap();
    explored(&Remembering::new(&second).since(Since { memory: &memory, changed }).keeping(&kept), Order::Breadth, 2);
    let memory = kept.memory();
    let outcome = again(&second, &third, &memory, Order::Breadth, 2);
    assert_equal(&outcome, &explored(&third, Order::Breadth, 1));
    assert!(outcome.0.progress.reused > 0);
}

#[test]
fn segments_are_ordered_by_level_first() {
    let at = |level, parent, choice| SegmentAt { level, parent, choice };
    assert!(at(1, 9, 9) < at(2, 0, 0) && at(1, 1, 9) < at(1, 2, 0) && at(1, 1, 0) < at(1, 1, 1));
}

#[test]
fn many_jobs_come_back_in_their_order() {
    let before = walker([1, 2, 3, 4]);
    let memory = remembered(&before);
    let after = walker([1, 7, 3, 4]);
    let changed = after.parts().unlike(&before.parts()).unwrap();
    let system = Remembering::new(&after).since(Since { memory: &memory, changed });
    let jobs =
        |n: i64| (0..n).map(|x| Job::new(At { x: x % 17, level: 2 }, Choice((x % 4) as u16))).collect::<Vec<_>>();
    let (mut many, mut alone) = (jobs(60), jobs(60));
    system.run_many(&mut many);
    alone.iter_mut().for_each(|job| after.run_many(std::slice::from_mut(job)));
    for (a, b) in many.iter().zip(&alone) {
        assert_eq!((&a.state, &a.end, a.margin, a.reads), (&b.state, &b.end, b.margin, b.reads));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_segment_is_reused_that_read_a_changed_part(
        before in proptest::array::uniform4(0_i64..6),
        after in proptest::array::uniform4(0_i64..6),
        keep in proptest::array::uniform4(any::<bool>()),
        levels in 2_u32..7,
        wall in 5_i64..40,
    ) {
        let (mut before, mut after) = (walker(before), walker(after));
        for (n, keeps) in keep.into_iter().enumerate() {
            if keeps {
                after.strides[n] = before.strides[n];
            }
        }
        (before.levels, after.levels, before.wall, after.wall) = (levels, levels, wall, wall);
        let memory = remembered(&before);
        let scratch = explored(&after, Order::Breadth, 1);
        assert_equal(&again(&before, &after, &memory, Order::Breadth, 2), &scratch);
        let changed = after.parts().unlike(&before.parts()).unwrap();
        let system = Remembering::new(&after).since(Since { memory: &memory, changed });
        let starts = (-wall..=wall).flat_map(|x| (0..levels).map(move |level| At { x, level }));
        let mut jobs: Vec<Job<At>> = starts.flat_map(|at| (0..4).map(move |c| Job::new(at.clone(), Choice(c)))).collect();
        let reads: Vec<Reads> = jobs.iter().map(|job| Reads::of(place(job.state.x))).collect();
        system.run_many(&mut jobs);
        for (job, reads) in jobs.iter().zip(reads) {
            let reused = matches!(job.recall, Recall::Reused | Recall::Checked);
            prop_assert!(!reused || !reads.touches(changed));
            prop_assert!(job.recall != Recall::Differs || reads.touches(changed));
        }
    }
}
