//! A system that does not say how near it comes to a violation: there is no resolution, and what is found counts all the same.

use anabranch_explore::{Cover, Explorer, Keep, Merge, Outcome, Resolve, Settings, Soundness};
use anabranch_kernel::{Choice, ErrorSpace, Fault, Grid, KeyWriter, Params, Seed, SegmentEnd, System, Variable, Watch};
use serde::{Deserialize, Serialize};

/// A lock that opens after one sequence of errors; its cells see nothing of how far it is turned.
struct Lock {
    errors: ErrorSpace,
    variables: Vec<Variable>,
    code: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Turned {
    level: u32,
    right: f64,
}

impl Lock {
    fn new(code: &[usize]) -> Self {
        let variables = vec![Variable::real("right", "", 1000.0)];
        Self { errors: ErrorSpace::of_one_site("turn", &["none", "left", "right"]), variables, code: code.to_vec() }
    }
}

impl System for Lock {
    type State = Turned;
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _: Seed, _: &Params) -> Result<Turned, Fault> {
        Ok(Turned { level: 0, right: 0.0 })
    }
    fn run(&self, state: &mut Turned, choice: Choice, _: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let is_right = self.code[state.level as usize] == choice.index();
        state.right += f64::from(u8::from(is_right));
        state.level += 1;
        if state.right as usize == self.code.len() {
            return Ok(SegmentEnd::violated(0, u64::from(state.level)));
        }
        let is_over = state.level as usize == self.code.len();
        Ok(if is_over { SegmentEnd::TimedOut } else { SegmentEnd::Open })
    }
    fn cell(&self, state: &Turned, key: &mut KeyWriter<'_>) {
        key.real(0, state.right);
    }
    fn time_matters(&self) -> bool {
        true
    }
}

fn usual(lock: &Lock) -> Settings {
    let merge = Merge::Grid(Grid::of(lock.variables()));
    let base = Settings::new(lock.variables(), true);
    let (cover, resolve) = (Some(Cover::USUAL), Some(Resolve::USUAL));
    Settings { keep: Keep::First, merge, rollouts: 299, cover, resolve, ..base }
}

fn explore(lock: &Lock) -> Outcome {
    Explorer::new(lock).settings(usual(lock)).threads(1).prove().run().unwrap()
}

#[test]
fn what_running_every_sequence_finds_is_found_without_a_margin_too() {
    let lock = Lock::new(&[2, 1, 1, 2, 2, 1, 2]);
    let outcome = explore(&lock);
    assert!(outcome.resolution.is_none(), "nothing is measured: {:?}", outcome.resolution);
    let found = &outcome.coverage.violations;
    assert_eq!(found.len(), 1, "{outcome:?}");
    assert_eq!(found[0].1.iter().map(|choice| choice.index()).collect::<Vec<_>>(), lock.code);
}

#[test]
fn a_small_exploration_runs_every_sequence_instead_of_random_ones() {
    // 3 + 3² + … + 3⁵ segments are fewer than 299 random runs take.
    let lock = Lock::new(&[2, 1, 1, 2, 2]);
    let found = explore(&lock).coverage.violations;
    assert_eq!(found[0].1.iter().map(|choice| choice.index()).collect::<Vec<_>>(), lock.code);
    // No error has this number.
    let closed = Lock::new(&[2, 1, 3, 2, 2]);
    let outcome = explore(&closed);
    assert_eq!((outcome.coverage.rollouts, outcome.coverage.segments), (0, 363));
    assert!(matches!(outcome.soundness, Soundness::Exhaustive { .. }), "{:?}", outcome.soundness);
}
