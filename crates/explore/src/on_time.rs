//! A system that is asked only as long as there is time: what is left then could not be computed, and says so.

use std::sync::atomic::{AtomicU64, Ordering};

use anabranch_kernel::{
    Choice, Choices, Contraction, Danger, ErrorSpace, Fault, Job, KeyWriter, Leaf, Likelihood, Margin, NoProof,
    ParamSpace, Params, Parts, Seed, SegmentEnd, Signal, System, Tube, Twice, Variable, Watch,
};

use crate::edge::Clock;

/// Segments between two questions whether to go on take about this long.
const LOOK_NS: u64 = 200_000_000;
/// What is said about a segment that was not run.
const NO_TIME: &str = "there was no time left for this segment";

/// A system, and who says whether its segments are still run. Slow segments are handed to it a few at a time, so that
/// the question is asked often enough. Bits of results do not depend on it.
pub struct OnTime<'a, S> {
    system: &'a S,
    clock: &'a dyn Clock,
    goes_on: &'a (dyn Fn() -> bool + Sync),
    /// How long a segment takes, judged by the slower of the last ones; 0 before anything was run.
    segment_ns: AtomicU64,
}

impl<S> std::fmt::Debug for OnTime<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnTime").field("segment_ns", &self.segment_ns).finish_non_exhaustive()
    }
}

impl<'a, S: System> OnTime<'a, S> {
    /// Asks `goes_on` before every few segments.
    pub fn new(system: &'a S, clock: &'a dyn Clock, goes_on: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { system, clock, goes_on, segment_ns: AtomicU64::new(0) }
    }

    /// Whether segments are still run.
    pub fn goes_on(&self) -> bool {
        (self.goes_on)()
    }

    /// How long a segment takes by itself; zero before anything was run.
    pub fn segment_ns(&self) -> u64 {
        self.segment_ns.load(Ordering::Relaxed)
    }

    fn fitting(&self) -> usize {
        LOOK_NS.checked_div(self.segment_ns()).map_or(1, |count| count.clamp(1, 1 << 20) as usize)
    }

    fn learn(&self, took_ns: u64, count: usize) {
        // States that have to be rebuilt first make segments slower by far, and those come in no order.
        let slow = self.segment_ns() / 2;
        self.segment_ns.store((took_ns / count as u64).max(slow).max(1), Ordering::Relaxed);
    }
}

impl<S: System> System for OnTime<'_, S> {
    type State = S::State;

    fn run(&self, state: &mut S::State, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        if !self.goes_on() {
            return Err(Fault::External(NO_TIME.to_owned()));
        }
        self.system.run(state, choice, watch)
    }
    fn run_many(&self, jobs: &mut [Job<S::State>]) {
        let mut rest = jobs;
        while !rest.is_empty() {
            if !self.goes_on() {
                rest.iter_mut().for_each(|job| job.end = Err(Fault::External(NO_TIME.to_owned())));
                return;
            }
            let count = self.fitting().min(rest.len());
            let (now, later) = rest.split_at_mut(count);
            let began_ns = self.clock.now_ns();
            self.system.run_many(now);
            self.learn(self.clock.now_ns().saturating_sub(began_ns), count);
            rest = later;
        }
    }

    fn errors(&self) -> &ErrorSpace {
        self.system.errors()
    }
    fn variables(&self) -> &[Variable] {
        self.system.variables()
    }
    fn start(&self, seed: Seed, params: &Params) -> Result<S::State, Fault> {
        self.system.start(seed, params)
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
