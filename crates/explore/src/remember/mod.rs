//! Exploring again after a change, without running what the change cannot reach.
//!
//! The outcome of a segment depends on its start state, its choice and the parts of the configuration that it read
//! ([`Parts`]). [`Remembering`] is a [`System`] around another one: it hands every segment to a sink that wants to keep
//! it, and where an earlier run knows a segment that read nothing of what has changed, it takes the outcome from there.
//! The explorer does not notice: every bit of the graph is as if all had been run.
//!
//! Nobody is trusted blindly. A share of what could be reused is run all the same ([`CHECK_ONE_IN`]), chosen by the
//! segment and not by chance; one difference there is a broken contract and no result.

mod memory;

use std::sync::Mutex;

use anabranch_kernel::{
    Choice, Choices, Contraction, Danger, ErrorSpace, Fault, Job, KeyWriter, Leaf, Likelihood, Margin, NoProof,
    ParamSpace, Params, Parts, Reads, Recall, Seed, SegmentEnd, Signal, System, Tube, Twice, Variable, Watch,
};

use memory::{Key, Remembered, write_outcome, write_segment};
pub use memory::{Memory, MemoryError};

/// One in so many of the segments that could be reused is run all the same.
pub const CHECK_ONE_IN: u128 = 64;

/// Keeps segments for a later run.
pub trait SegmentSink: Sync {
    /// Whole segments, from any thread, in no particular order; [`Memory::add`] reads them.
    fn keep(&self, segments: &[u8]);
}

/// An earlier run and what has changed since.
#[derive(Clone, Copy, Debug)]
pub struct Since<'a> {
    /// Its segments.
    pub memory: &'a Memory,
    /// The separate parts of the system that have changed; the rest has not. See [`Parts::unlike`].
    pub changed: Reads,
}

/// A system that remembers segments of an earlier run, keeps its own for a later one, or both.
///
/// ```
/// # use anabranch_kernel::*;
/// # use anabranch_explore::*;
/// # use std::sync::Mutex;
/// # struct Walker { stride: i64, errors: ErrorSpace, variables: Vec<Variable> }
/// # impl System for Walker {
/// #     type State = i64;
/// #     fn errors(&self) -> &ErrorSpace { &self.errors }
/// #     fn variables(&self) -> &[Variable] { &self.variables }
/// #     fn start(&self, _seed: Seed, _params: &Params) -> Result<i64, Fault> { Ok(0) }
/// #     fn run(&self, x: &mut i64, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
/// #         // Only where it stands to the right does it look at its stride.
/// #         watch.reads = if *x > 0 { Reads::of(0) } else { Reads::NONE };
/// #         *x += [0, -1, 1][choice.index()] * if *x > 0 { self.stride } else { 1 };
/// #         Ok(if x.abs() > 9 { SegmentEnd::violated(0, 0) } else { SegmentEnd::Open })
/// #     }
/// #     fn cell(&self, x: &i64, key: &mut KeyWriter<'_>) { key.exact(0, *x as u64); }
/// #     fn parts(&self) -> Parts {
/// #         let stride = Part { name: "stride".to_owned(), digest: Digest(self.stride as u128) };
/// #         Parts { rest: Some(Digest(0)), separate: vec![stride] }
/// #     }
/// # }
/// # fn walker(stride: i64) -> Walker {
/// #     let errors = ErrorSpace::of_one_site("push", &["none", "left", "right"]);
/// #     Walker { stride, errors, variables: vec![Variable::exact("x")] }
/// # }
/// # #[derive(Default)]
/// # struct Kept(Mutex<Vec<u8>>);
/// # impl SegmentSink for Kept {
/// #     fn keep(&self, segments: &[u8]) { self.0.lock().unwrap().extend_from_slice(segments); }
/// # }
/// let (before, after) = (walker(1), walker(2)); // they differ in their stride to the right
/// let kept = Kept::default();
/// Explorer::new(&Remembering::new(&before).keeping(&kept)).run().unwrap();
///
/// let mut memory = Memory::new();
/// memory.add(kept.0.into_inner().unwrap()).unwrap();
/// let changed = after.parts().unlike(&before.parts()).unwrap();
/// let again = Remembering::new(&after).since(Since { memory: &memory, changed });
/// let outcome = Explorer::new(&again).run().unwrap();
/// assert_eq!(outcome.digest, Explorer::new(&after).run().unwrap().digest);
/// assert!(outcome.progress.reused * 2 >= outcome.progress.segments); // the left half is as it was
/// assert!(outcome.progress.first_difference.is_some());
/// ```
pub struct Remembering<'a, S: System> {
    system: &'a S,
    since: Option<Since<'a>>,
    sink: Option<&'a dyn SegmentSink>,
    /// The smallest key of a segment that was reused wrongly.
    broken: Mutex<Option<Key>>,
}

impl<S: System> std::fmt::Debug for Remembering<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remembering").field("since", &self.since).finish_non_exhaustive()
    }
}

/// What an earlier run has to say about a segment.
enum Known<'m> {
    /// Nothing.
    No,
    /// How it ended, before something that it read has changed.
    Before(Remembered<'m>),
    /// How it ends, but it is run to check.
    Check(Remembered<'m>),
    /// How it ends.
    Reuse(Remembered<'m>),
}

impl<'a, S: System> Remembering<'a, S> {
    /// The system as it is: nothing is remembered and nothing kept.
    pub fn new(system: &'a S) -> Self {
        Self { system, since: None, sink: None, broken: Mutex::new(None) }
    }
    /// Takes from an earlier run what has not changed since.
    #[must_use]
    pub fn since(self, since: Since<'a>) -> Self {
        Self { since: Some(since), ..self }
    }
    /// Hands every segment to a sink.
    #[must_use]
    pub fn keeping(self, sink: &'a dyn SegmentSink) -> Self {
        Self { sink: Some(sink), ..self }
    }

    /// Why nothing that came of this can be trusted: a segment that could be reused ended otherwise when it was run.
    pub fn broken(&self) -> Option<Fault> {
        let broken = self.broken.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        broken.map(|_| contract())
    }

    fn known(&self, key: Key) -> Known<'a> {
        let Some(Since { memory, changed }) = self.since else { return Known::No };
        match memory.get(key) {
            None => Known::No,
            Some(remembered) if remembered.reads.touches(changed) => Known::Before(remembered),
            Some(remembered) if key.0.is_multiple_of(CHECK_ONE_IN) => Known::Check(remembered),
            Some(remembered) => Known::Reuse(remembered),
        }
    }

    /// Fills in what is known, runs the others, and says of each job which it was.
    fn run_or_recall(&self, jobs: &mut [Job<S::State>]) {
        let mut scratch = Vec::new();
        let keys: Vec<Key> = jobs.iter().map(|job| Key::of(&job.state, job.choice, &mut scratch)).collect();
        let known: Vec<Known<'_>> = keys.iter().map(|key| self.known(*key)).collect();
        self.run_those(jobs, |at| !matches!(known[at], Known::Reuse(_)));
        let mut kept = Vec::new();
        for ((job, key), known) in jobs.iter_mut().zip(keys).zip(known) {
            self.settle(job, key, &known, &mut scratch);
            if self.sink.is_some() && job.end.is_ok() {
                write_segment(key, Remembered { reads: job.reads, outcome: &scratch }, &mut kept);
            }
        }
        if let Some(sink) = self.sink.filter(|_| !kept.is_empty()) {
            sink.keep(&kept);
        }
    }

    /// Runs some of the jobs together: they change places with others and back.
    fn run_those(&self, jobs: &mut [Job<S::State>], runs: impl Fn(usize) -> bool) {
        let (mut front, mut swaps) = (0, Vec::new());
        for at in (0..jobs.len()).filter(|at| runs(*at)) {
            if at != front {
                jobs.swap(at, front);
                swaps.push((at, front));
            }
            front += 1;
        }
        self.system.run_many(&mut jobs[..front]);
        swaps.into_iter().rev().for_each(|(at, front)| jobs.swap(at, front));
    }

    /// Compares or fills in the outcome of a job; leaves it in `outcome` as bytes.
    fn settle(&self, job: &mut Job<S::State>, key: Key, known: &Known<'_>, outcome: &mut Vec<u8>) {
        outcome.clear();
        if let Known::Reuse(remembered) = known {
            if remembered.put_into(job).is_some() {
                outcome.extend_from_slice(remembered.outcome);
                job.recall = Recall::Reused;
                return;
            }
            self.system.run_many(std::slice::from_mut(job));
        }
        let ran = write_outcome(job, outcome).is_some();
        match known {
            Known::No | Known::Reuse(_) => {}
            Known::Before(remembered) => {
                let alike = ran && remembered.outcome == outcome.as_slice();
                job.recall = if alike { Recall::Alike } else { Recall::Differs };
            }
            Known::Check(remembered) => {
                job.recall = Recall::Checked;
                if !ran || remembered.outcome != outcome.as_slice() || remembered.reads != job.reads {
                    let mut broken = self.broken.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    *broken = Some(broken.map_or(key, |first| first.min(key)));
                    job.end = Err(contract());
                }
            }
        }
    }
}

fn contract() -> Fault {
    let what = "a segment that reads nothing of what has changed since the earlier run does not end as it did there";
    Fault::Contract(what.to_owned())
}

impl<S: System> System for Remembering<'_, S> {
    type State = S::State;

    fn errors(&self) -> &ErrorSpace {
        self.system.errors()
    }
    fn variables(&self) -> &[Variable] {
        self.system.variables()
    }
    fn start(&self, seed: Seed, params: &Params) -> Result<S::State, Fault> {
        self.system.start(seed, params)
    }
    fn run(&self, state: &mut S::State, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        // Frames are not remembered.
        if watch.is_recording() || (self.since.is_none() && self.sink.is_none()) {
            return self.system.run(state, choice, watch);
        }
        let mut job = Job::new(state.clone(), choice);
        self.run_or_recall(std::slice::from_mut(&mut job));
        *state = job.state;
        watch.notes.extend(job.notes);
        watch.see_margin(job.margin);
        watch.reads = job.reads;
        job.end
    }
    fn run_many(&self, jobs: &mut [Job<S::State>]) {
        if self.since.is_none() && self.sink.is_none() {
            return self.system.run_many(jobs);
        }
        self.run_or_recall(jobs);
    }
    fn cell(&self, state: &S::State, key: &mut KeyWriter<'_>) {
        self.system.cell(state, key);
    }
    fn space(&self) -> &ParamSpace {
        self.system.space()
    }
    fn live(&self, state: &S::State, out: &mut Choices) {
        self.system.live(state, out);
    }
    fn likelihood(&self) -> Option<&Likelihood> {
        self.system.likelihood()
    }
    fn parts(&self) -> Parts {
        self.system.parts()
    }
    fn danger(&self, state: &S::State) -> Danger {
        self.system.danger(state)
    }
    fn margin(&self) -> Margin {
        self.system.margin()
    }
    fn time_matters(&self) -> bool {
        self.system.time_matters()
    }
    fn leaves(&self) -> Vec<Leaf> {
        self.system.leaves()
    }
    fn derive(&self, state: &mut S::State) {
        self.system.derive(state);
    }
    fn objections(&self) -> Vec<String> {
        self.system.objections()
    }
    fn requirements(&self) -> &[String] {
        self.system.requirements()
    }
    fn signals(&self) -> &[Signal] {
        self.system.signals()
    }
    fn segment_seconds(&self) -> f64 {
        self.system.segment_seconds()
    }
    fn reals(&self, state: &S::State, out: &mut Vec<f64>) {
        self.system.reals(state, out);
    }
    fn real_variables(&self) -> Vec<usize> {
        self.system.real_variables()
    }
    fn contraction(&self, tube: &Tube) -> Result<Contraction, NoProof> {
        self.system.contraction(tube)
    }
    fn run_twice(&self, how_much: Twice, goes_on: &(dyn Fn() -> bool + Sync)) {
        self.system.run_twice(how_much, goes_on);
    }
    fn glance(&self, state: &S::State) -> [f64; 3] {
        self.system.glance(state)
    }
}
