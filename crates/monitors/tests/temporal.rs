//! Requirements about more than one moment: when they are violated, and that merging with them loses nothing.

use std::collections::BTreeSet;

use anabranch_explore::{Explorer, Merge, Settings};
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{
    CellSize, Choice, Declarations, ErrorSpace, Fault, Grid, KeyWriter, Leaf, Params, Seed, SegmentEnd, System,
    Variable, Visitor, Watch,
};
use anabranch_monitors::*;
use serde::{Deserialize, Serialize};

const STEP_S: f64 = 0.1;

fn requirements(rule: Rule, text: &str) -> Requirements {
    let one =
        Requirement::new("r", Level::Must, rule, text, LOW_SPEED_SIGNALS).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    Requirements::new(vec![one], STEP_S).unwrap()
}

/// Judges speeds in m/s, ten per second; the first violation as its tick, from 1, or "end", or "" if there is none.
fn check(rule: Rule, text: &str, speeds: &[f64], expect: &str) {
    let requirements = requirements(rule, text);
    let (mut memory, mut histories) = (Memory::default(), requirements.histories());
    let mut found = String::new();
    for (n, &speed) in speeds.iter().enumerate() {
        let mut frame = [0.0; LOW_SPEED_SIGNALS.len()];
        // A clearance without anything near is infinite, and does not matter here.
        (frame[low_speed::SPEED], frame[low_speed::CLEARANCE]) = (speed, f64::INFINITY);
        if requirements.judge(&frame, n as u64 + 1, &mut memory, &mut histories).violated != 0 {
            found = (n + 1).to_string();
            break;
        }
    }
    if found.is_empty() && requirements.finish(&[], &mut memory, &mut histories).violated != 0 {
        found = "end".to_owned();
    }
    assert_eq!(found, expect, "{rule:?} {text} {speeds:?}");
}

#[test]
fn a_violation_is_found_as_soon_as_it_is_certain() {
    let slows = "ego.speed > 5 m/s implies eventually[0 s, 0.3 s] ego.speed < 3 m/s";
    check(Rule::Always, slows, &[1.0, 6.0, 6.0, 4.0, 2.0, 1.0], "");
    check(Rule::Always, slows, &[1.0, 6.0, 6.0, 4.0, 4.0, 2.0], "5");
    // What has to happen has to happen before the run ends.
    check(Rule::Always, slows, &[1.0, 6.0, 4.0], "end");
    let stands = "always[0 s, 0.2 s] ego.speed < 1 m/s";
    check(Rule::Never, stands, &[2.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0], "7");
    check(Rule::Never, "historically[0 s, 0.2 s] ego.speed < 1 m/s", &[2.0, 0.0, 0.0, 0.0, 2.0], "4");
    check(Rule::Always, "ego.speed < 5 m/s until ego.speed < 1 m/s", &[2.0, 3.0, 0.0, 6.0, 0.5], "4");
    check(Rule::Eventually { by_ticks: None }, stands, &[2.0, 0.0, 0.0, 2.0], "end");
    check(Rule::Eventually { by_ticks: Some(3) }, stands, &[2.0, 0.0, 0.0, 0.0, 2.0], "");
    check(Rule::Eventually { by_ticks: Some(3) }, stands, &[2.0, 2.0, 2.0, 0.0, 0.0, 0.0], "3");
    check(Rule::Always, "once[0 s, 0.2 s] ego.speed < 20 mph", &[8.0, 10.0, 10.0, 10.0], "4");
}

/// Speeds on a ring of five, changed by every segment of three base cycles.
struct Ring {
    requirements: Requirements,
    errors: ErrorSpace,
    declared: Declarations,
    names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RingState {
    speed: i64,
    tick: u64,
    memory: Memory,
    histories: Vec<History>,
}

const LEVELS: u64 = 6;

impl Ring {
    fn new(rule: Rule, text: &str) -> Self {
        let requirements = requirements(rule, text);
        let errors = ErrorSpace::of_one_site("push", &["none", "faster", "slower"]);
        let declared = Declarations::default();
        let mut ring = Self { names: requirements.ids(), requirements, errors, declared };
        ring.declared = Declarations::of(|v| ring.visit(&ring.begin(), v));
        ring
    }
    fn begin(&self) -> RingState {
        RingState { speed: 0, tick: 0, memory: Memory::default(), histories: self.requirements.histories() }
    }
    fn visit<V: Visitor>(&self, state: &RingState, v: &mut V) {
        v.exact("speed", state.speed as u64);
        v.time("tick");
        self.requirements.visit(("memory", &state.memory), ("histories", &state.histories), v);
    }
}

impl System for Ring {
    type State = RingState;
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.declared.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<RingState, Fault> {
        Ok(self.begin())
    }
    fn run(&self, state: &mut RingState, choice: Choice, _watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        for cycle in 0..3 {
            if cycle == 1 {
                state.speed = (state.speed + [0, 1, -1][choice.index()]).rem_euclid(5);
            }
            state.tick += 1;
            let mut frame = [0.0; LOW_SPEED_SIGNALS.len()];
            (frame[low_speed::SPEED], frame[low_speed::X]) = (state.speed as f64, (state.tick % 2) as f64);
            let judged = self.requirements.judge(&frame, state.tick, &mut state.memory, &mut state.histories);
            if judged.violated != 0 {
                return Ok(SegmentEnd::Violated(verdicts(judged.violated, state.tick, None)));
            }
        }
        if state.tick < 3 * LEVELS {
            return Ok(SegmentEnd::Open);
        }
        let judged = self.requirements.finish(&[], &mut state.memory, &mut state.histories);
        if judged.violated != 0 {
            return Ok(SegmentEnd::Violated(verdicts(judged.violated, state.tick + 1, None)));
        }
        Ok(SegmentEnd::TimedOut)
    }
    fn cell(&self, state: &RingState, key: &mut KeyWriter<'_>) {
        self.visit(state, &mut key.visitor(&[]));
    }
    fn leaves(&self) -> Vec<Leaf> {
        self.declared.leaves.clone()
    }
    fn time_matters(&self) -> bool {
        self.requirements.time_matters()
    }
    fn requirements(&self) -> &[String] {
        &self.names
    }
}

const FORMULAS: &[&str] = &[
    "ego.speed > 3 m/s implies eventually[0 s, 0.5 s] ego.speed < 1 m/s",
    "ego.speed > 1 m/s implies always[0.2 s, 0.7 s] ego.speed > 0 m/s",
    "always[0 s, 0.9 s] ego.speed < 1 m/s",
    "eventually[0.3 s, 1 s] always[0 s, 0.3 s] ego.speed >= 3 m/s",
    "historically[0.1 s, 0.8 s] ego.speed < 2 m/s",
    "once[0.4 s, 0.6 s] ego.speed > 2 m/s implies ego.speed > 1 m/s",
    "ego.speed < 3 m/s until[0 s, 1 s] ego.speed > 2 m/s",
    "ego.speed > 0 m/s release[0.1 s, 0.7 s] ego.speed < 4 m/s",
    "ego.speed > 1 m/s since[0 s, 1.2 s] ego.speed > 3 m/s",
    "ego.speed > 3 m/s and once (ego.speed > 1 m/s and ego.speed < 3 m/s)",
    "(eventually[0 s, 0.4 s] ego.speed > 2 m/s) or (eventually[0.5 s, 0.9 s] ego.speed < 1 m/s)",
    "(once[0 s, 0.6 s] ego.speed > 3 m/s) and (eventually[0 s, 0.6 s] ego.x < 1 m implies ego.speed < 2 m/s)",
    "not (ego.speed > 2 m/s until (ego.x > 0 m and ego.speed < 2 m/s))",
];

/// Base cycles at which violations were found.
fn violations(ring: &Ring, settings: Settings) -> (BTreeSet<u64>, u64) {
    let outcome = Explorer::new(ring).settings(settings).run().unwrap();
    assert!(outcome.complete());
    let ticks = outcome.hits.iter().map(|hit| hit.verdict.tick).collect();
    (ticks, outcome.progress.segments)
}

#[test]
fn merging_with_a_temporal_requirement_loses_no_violation() {
    let rules =
        [Rule::Never, Rule::Always, Rule::Eventually { by_ticks: None }, Rule::Eventually { by_ticks: Some(9) }];
    let (mut violated, mut lost_without_histories, mut run, mut of_all) = (0, 0, 0, 0);
    for text in FORMULAS {
        for rule in rules {
            let ring = Ring::new(rule, text);
            let usual = Settings::new(ring.variables(), true);
            let (truth, all) = violations(&ring, Settings { merge: Merge::None, ..usual.clone() });
            let (merged, few) = violations(&ring, usual.clone());
            assert_eq!(merged, truth, "{rule:?} {text}");
            violated += u64::from(!truth.is_empty());
            (run, of_all) = (run + few, of_all + all);
            // The same without histories in the key: a test that could not fail would show nothing.
            let sizes = ring
                .variables()
                .iter()
                .map(|v| if v.name.starts_with("requirements.r.") { CellSize::Ignore } else { v.size });
            let blind = Settings { merge: Merge::Grid(Grid::from_sizes(sizes.collect())), ..usual };
            lost_without_histories += u64::from(violations(&ring, blind).0 != truth);
        }
    }
    assert!(violated > 30, "{violated} requirements could be violated");
    assert!(lost_without_histories > 5, "{lost_without_histories}");
    assert!(2 * run < of_all, "{run} of {of_all} segments");
}

#[test]
fn histories_are_part_of_the_state() {
    for text in FORMULAS {
        check_contract(&Ring::new(Rule::Always, text), 12, LEVELS as usize).unwrap_or_else(|e| panic!("{text}: {e}"));
    }
}
