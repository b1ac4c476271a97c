//! Problems as closed loops that can be branched, saved, merged and judged while they run.

use anabranch_kernel::{
    Choice, Danger, Declarations, ErrorSpace, Fault, KeyWriter, Leaf, Mode, Params, Seed, SegmentEnd, Signal, Site,
    System, Variable, Visitor, Watch,
};
use anabranch_logic::{Memory, Monitor, Reading, Scratch};
use serde::{Deserialize, Serialize};

use crate::plant::{Body, Moment};
use crate::problem::{PIECE_S, Problem};

/// A problem whose inputs are chosen piece by piece from a few levels: what the pedals do is the error.
#[derive(Clone, Debug)]
pub struct ProblemSystem {
    problem: Problem,
    monitor: Monitor,
    errors: ErrorSpace,
    declared: Declarations,
    requirements: Vec<String>,
    signals: Vec<Signal>,
}

/// Everything that evolves: the plant and what the monitor remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemState {
    moment: Moment,
    memory: Memory,
}

/// Levels of each input: none, half and full.
const LEVELS: [(&str, f64); 3] = [("none", 0.0), ("half", 0.5), ("full", 1.0)];
/// Cell size of margins, in the unit of the requirement.
const MARGIN_CELL: f64 = 0.1;
/// Cell size of ages of remembered samples.
const AGE_CELL_S: f64 = 0.01;

impl ProblemSystem {
    /// The system of a problem.
    pub fn new(problem: Problem) -> Self {
        let site = |id: &str| Site {
            id: id.to_owned(),
            modes: LEVELS.iter().map(|&(name, size)| Mode { name: name.to_owned(), size }).collect(),
        };
        let errors = ErrorSpace::new(vec![site("throttle"), site("brake")], 2).unwrap_or_else(|_| ErrorSpace::none());
        let monitor = Monitor::new(problem.formula().clone(), Reading::Margin);
        let requirements = vec![problem.name.to_owned()];
        let signals = problem.plant.signals().iter().map(|(name, _)| Signal::new(name, "")).collect();
        let start = ProblemState { moment: problem.plant.start(), memory: monitor.start() };
        let declared = Declarations::default();
        let mut system = Self { problem, monitor, errors, declared, requirements, signals };
        system.declared = Declarations::of(|v| system.visit(&start, v));
        system
    }

    /// Names the variables of a state.
    fn visit<V: Visitor>(&self, state: &ProblemState, v: &mut V) {
        v.time("moment.step");
        v.real("part", "s", AGE_CELL_S, state.moment.part_s);
        match &state.moment.body {
            Body::Convoy(convoy) => {
                for car in 0..5 {
                    v.real(format_args!("place-{}", car + 1), "m", 0.1, convoy.place[car]);
                    v.real(format_args!("speed-{}", car + 1), "m/s", 0.1, convoy.speed[car]);
                }
                // The first car drives as the inputs say and has no mode.
                (0..4).for_each(|car| v.exact(format_args!("mode-{}", car + 2), convoy.mode[car] as u64));
            }
            Body::Gearbox(gearbox) => {
                v.real("engine", "rpm", 10.0, gearbox.engine_rpm);
                v.real("wheel", "rpm", 1.0, gearbox.wheel_rpm);
                v.exact("gear", u64::from(gearbox.gear));
                v.exact("shifting", gearbox.shifting.number());
            }
        }
        v.within("requirement", |v| {
            v.field("memory", |v| self.monitor.visit(&state.memory, MARGIN_CELL, AGE_CELL_S, v));
        });
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
    /// The smallest and the largest robustness that can still come of a state.
    pub fn interval(&self, state: &ProblemState) -> (f64, f64) {
        self.monitor.interval(&state.memory)
    }

    /// Runs one piece under any inputs, not only the levels of choices.
    ///
    /// # Errors
    /// When a number stops being finite.
    pub fn run_piece(
        &self,
        state: &mut ProblemState,
        inputs: [f64; 2],
        watch: &mut Watch<'_>,
    ) -> Result<SegmentEnd, Fault> {
        let plant = self.problem.plant;
        let needed_s = self.problem.needed_s();
        let piece = (state.moment.time_s(plant) / PIECE_S + 1e-9).floor();
        let end_s = ((piece + 1.0) * PIECE_S).min(needed_s);
        let mut scratch = Scratch::default();
        let mut fault = None;
        let ProblemState { moment, memory } = state;
        moment.run_until(end_s, inputs, |time_s, values| {
            watch.frame((time_s / plant.step_s()).round() as u64, values);
            if let Err(error) = self.monitor.see_with(memory, time_s, values, &mut scratch) {
                fault.get_or_insert(Fault::Numeric(error.to_string()));
            }
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        let tick = u64::from(moment.step);
        let is_over = end_s >= needed_s;
        if is_over {
            self.monitor.finish(memory);
        }
        let (_, hi) = self.monitor.interval(memory);
        watch.see_margin(hi);
        Ok(match self.monitor.verdict(memory) {
            Some(false) => SegmentEnd::violated(0, tick),
            _ if is_over => SegmentEnd::TimedOut,
            Some(true) => SegmentEnd::Goal,
            None => SegmentEnd::Open,
        })
    }
}

impl System for ProblemSystem {
    type State = ProblemState;

    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.declared.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<ProblemState, Fault> {
        let mut memory = self.monitor.start();
        let first = self.problem.plant.first_sample();
        self.monitor.see(&mut memory, 0.0, first).map_err(|error| Fault::Numeric(error.to_string()))?;
        Ok(ProblemState { moment: self.problem.plant.start(), memory })
    }
    fn run(&self, state: &mut ProblemState, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let modes = self.errors.modes(choice);
        let ranges = self.problem.plant.ranges();
        let input = |site: usize| {
            let level = modes.get(site).map_or(0.0, |&mode| LEVELS[usize::from(mode)].1);
            ranges[site].0 + (ranges[site].1 - ranges[site].0) * level
        };
        self.run_piece(state, [input(0), input(1)], watch)
    }
    fn cell(&self, state: &ProblemState, key: &mut KeyWriter<'_>) {
        self.visit(state, &mut key.visitor(&self.declared.sections));
    }
    fn danger(&self, state: &ProblemState) -> Danger {
        let (_, hi) = self.monitor.interval(&state.memory);
        Danger { worst: -hi.min(f64::MAX), ..Danger::default() }
    }
    fn leaves(&self) -> Vec<Leaf> {
        self.declared.leaves.clone()
    }
    fn time_matters(&self) -> bool {
        // The run ends at a fixed time.
        true
    }
    fn requirements(&self) -> &[String] {
        &self.requirements
    }
    fn signals(&self) -> &[Signal] {
        &self.signals
    }
    fn segment_seconds(&self) -> f64 {
        PIECE_S
    }
}
