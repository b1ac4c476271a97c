//! The generic explorer against Stateright's breadth-first checker on seven counters modulo eight:
//! 2 097 152 states, 14 680 064 transitions.

use std::hint::black_box;

use anabranch_explore::{Explorer, Keep, Scope, Settings};
use anabranch_kernel::{Choice, ErrorSpace, Fault, KeyWriter, Params, Seed, SegmentEnd, System, Variable, Watch};
use stateright::{Checker, Model, Property};

use crate::timing::medians_cpu_s;
use crate::{Figure, Goal};

const COUNTERS: usize = 7;
const STATES: u64 = 2_097_152;
const TRANSITIONS: f64 = 14_680_064.0;

/// Counters, each with its modulus, and a choice of which one to advance.
pub(crate) struct Ours {
    errors: ErrorSpace,
    variables: Vec<Variable>,
    moduli: [u8; 8],
}

impl Ours {
    /// At most eight counters.
    pub(crate) fn new(moduli: &[u8]) -> Self {
        let names: Vec<String> = (0..moduli.len()).map(|i| i.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let errors = ErrorSpace::of_one_site("advance", &names);
        let moduli = std::array::from_fn(|i| moduli.get(i).copied().unwrap_or(1));
        Self { errors, variables: vec![Variable::exact("counters")], moduli }
    }
}

impl System for Ours {
    type State = [u8; 8];
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<[u8; 8], Fault> {
        Ok([0; 8])
    }
    fn run(&self, s: &mut [u8; 8], choice: Choice, _watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let i = choice.index();
        s[i] = (s[i] + 1) % self.moduli[i];
        let in_range = s.iter().zip(&self.moduli).all(|(v, modulus)| v < modulus);
        Ok(if in_range { SegmentEnd::Open } else { SegmentEnd::violated(0, 0) })
    }
    fn cell(&self, s: &[u8; 8], key: &mut KeyWriter<'_>) {
        key.exact(0, u64::from_le_bytes(*s));
    }
}

#[derive(Clone)]
struct Theirs;

impl Model for Theirs {
    type State = [u8; COUNTERS];
    type Action = u8;
    fn init_states(&self) -> Vec<Self::State> {
        vec![[0; COUNTERS]]
    }
    fn actions(&self, _state: &Self::State, actions: &mut Vec<u8>) {
        actions.extend(0..COUNTERS as u8);
    }
    fn next_state(&self, state: &Self::State, action: u8) -> Option<Self::State> {
        let mut next = *state;
        next[action as usize] = (next[action as usize] + 1) % 8;
        Some(next)
    }
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("in range", |_, s: &[u8; COUNTERS]| s.iter().all(|&v| v < 8))]
    }
}

/// Explores all states once; returns how many there are.
fn explore(system: &Ours) -> u64 {
    let settings = Settings { scope: Scope::Visited, keep: Keep::First, ..Settings::new(system.variables(), false) };
    let outcome = Explorer::new(system).settings(settings).threads(1).run().expect("the counters can be explored");
    outcome.progress.states
}

pub(crate) fn run() -> Vec<Figure> {
    let system = Ours::new(&[8; COUNTERS]);
    let mut ours = || assert_eq!(black_box(explore(&system)), STATES);
    let mut theirs = || {
        let checker = Theirs.checker().threads(1).spawn_bfs().join();
        assert_eq!(black_box(checker).unique_state_count() as u64, STATES);
    };
    let [ours_s, theirs_s] = medians_cpu_s(5, [&mut ours, &mut theirs]);
    vec![
        Figure::new("transitions per CPU second, ours", TRANSITIONS / ours_s, Goal::None),
        Figure::new("transitions per CPU second, Stateright breadth-first", TRANSITIONS / theirs_s, Goal::None),
        Figure::new("ours / Stateright", theirs_s / ours_s, Goal::AtLeast(1.5)),
    ]
}
