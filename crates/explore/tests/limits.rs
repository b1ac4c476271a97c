//! Ctrl-C while random runs measure coverage: what they found until then is found, and runs that are not needed are not begun.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anabranch_explore::{Explorer, MemoryTrail, Observer, Outcome, Settings, Stage, Stop};
use anabranch_kernel::{Choice, ErrorSpace, Fault, KeyWriter, Params, Seed, SegmentEnd, System, Variable, Watch};

const LEVELS: u32 = 20;

/// Two errors in a row violate, and cells do not see that there was one: only random runs find it.
struct Forgetful {
    errors: ErrorSpace,
    variables: Vec<Variable>,
    /// States that were begun.
    starts: AtomicU64,
    /// Segments until somebody asks to stop, counted from when random runs begin.
    left: AtomicU64,
    is_counting: AtomicBool,
    is_stopped: AtomicBool,
}

impl Forgetful {
    fn stopped_after(segments: u64) -> Self {
        Self {
            errors: ErrorSpace::of_one_site("push", &["none", "some"]),
            variables: vec![Variable::exact("level")],
            starts: AtomicU64::new(0),
            left: AtomicU64::new(segments),
            is_counting: AtomicBool::new(false),
            is_stopped: AtomicBool::new(false),
        }
    }
}

impl System for Forgetful {
    type State = (u32, bool);
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<(u32, bool), Fault> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        Ok((0, false))
    }
    fn run(&self, state: &mut (u32, bool), choice: Choice, _watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        if self.is_counting.load(Ordering::Relaxed) && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        let is_error = choice != Choice::NONE;
        if is_error && state.1 {
            return Ok(SegmentEnd::violated(0, u64::from(state.0)));
        }
        *state = (state.0 + 1, is_error);
        Ok(if state.0 == LEVELS { SegmentEnd::TimedOut } else { SegmentEnd::Open })
    }
    fn cell(&self, state: &(u32, bool), key: &mut KeyWriter<'_>) {
        key.exact(0, u64::from(state.0));
    }
}

/// Begins to count when random runs begin.
struct Starter<'a>(&'a Forgetful);

impl Observer for Starter<'_> {
    fn stage(&mut self, stage: Stage) {
        self.0.is_counting.fetch_or(stage == Stage::Covering, Ordering::Relaxed);
    }
}

fn explored(system: &Forgetful, rollouts: u32) -> Outcome {
    let settings = Settings { rollouts, ..Settings::new(system.variables(), system.time_matters()) };
    let explorer = Explorer::new(system).settings(settings).interrupt(&system.is_stopped);
    explorer.run_with(&mut MemoryTrail::default(), &mut Starter(system)).unwrap()
}

#[test]
fn what_random_runs_found_before_they_were_cut_off_stays_found() {
    // Of 500 runs that are continued side by side about half have two errors in a row within four segments.
    let system = Forgetful::stopped_after(1_700);
    let outcome = explored(&system, 500);
    assert_eq!((outcome.stop, outcome.progress.findings), (Some(Stop::Interrupted), 0));
    assert!(outcome.coverage.violations.len() > 50, "{}", outcome.coverage.violations.len());
    assert_eq!(outcome.coverage.rollouts, 0, "runs that were cut off measure nothing");
    for (_, choices) in &outcome.coverage.violations {
        assert!(choices.ends_with(&[Choice(1), Choice(1)]), "{choices:?}");
    }
}

#[test]
fn random_runs_are_not_begun_after_somebody_has_asked_to_stop() {
    let system = Forgetful::stopped_after(1);
    assert_eq!(explored(&system, 1_000_000).stop, Some(Stop::Interrupted));
    let starts = system.starts.load(Ordering::Relaxed);
    assert!(starts < 10_000, "{starts} of a million runs were begun");
}
