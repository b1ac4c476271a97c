//! The generic explorer against Stateright's breadth-first checker on seven counters modulo eight:
//! 2 097 152 states, 14 680 064 transitions.

use std::hint::black_box;

use anabranch_explore::{Explorer, Keep, Scope, Settings};
use anabranch_kernel::{Choice, ErrorSpace, Fault, KeyWriter, Params, Seed, SegmentEnd, System, Variable, Watch};
use stateright::{Checker, Model, Property};

use crate::timing::median_cpu_s;

const COUNTERS: usize = 7;
const TRANSITIONS: f64 = 14_680_064.0;

/// Counters modulo `modulus`, a choice of which one to advance.
pub(crate) struct Ours {
    errors: ErrorSpace,
    variables: Vec<Variable>,
    modulus: u8,
}

impl Ours {
    pub(crate) fn new(counters: usize, modulus: u8) -> Self {
        let names: Vec<String> = (0..counters).map(|i| i.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Self {
            errors: ErrorSpace::of_one_site("advance", &names),
            variables: vec![Variable::exact("counters")],
            modulus,
        }
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
        s[i] = (s[i] + 1) % self.modulus;
        Ok(if s.iter().all(|&v| v < self.modulus) { SegmentEnd::Open } else { SegmentEnd::violated(0, 0) })
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
pub(crate) fn explore(system: &Ours, keep: Keep) -> u64 {
    let settings = Settings { scope: Scope::Visited, keep, ..Settings::new(system.variables(), false) };
    let outcome = Explorer::new(system).settings(settings).threads(1).run().expect("the counters can be explored");
    outcome.progress.states
}

pub(crate) fn run() {
    let system = Ours::new(COUNTERS, 8);
    for keep in [Keep::First, Keep::Worst] {
        let ours = TRANSITIONS / median_cpu_s(3, || assert_eq!(black_box(explore(&system, keep)), 2_097_152));
        let theirs = TRANSITIONS
            / median_cpu_s(3, || {
                assert_eq!(black_box(Theirs.checker().threads(1).spawn_bfs().join()).unique_state_count(), 2_097_152);
            });
        println!(
            "{keep:?}: ours {ours:.3e}, Stateright {theirs:.3e} transitions per CPU second: {:.2} x (goal 1.5)",
            ours / theirs
        );
    }
}
