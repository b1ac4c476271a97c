//! Small systems with a limit that they may exceed: what the verdicts of the explorer are calibrated on.

use anabranch_kernel::{
    Chance, Choice, Danger, ErrorSpace, Fault, KeyWriter, Margin, Params, Seed, SegmentEnd, System, Variable, Watch,
};
use serde::{Deserialize, Serialize};

/// Most continuous variables of a plant.
pub const REALS_MAX: usize = 7;
/// Error choices of every plant; the first means no error.
pub const CHOICES: usize = 3;

/// Everything that evolves in a plant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inside {
    pub x: [f64; REALS_MAX],
    pub mode: u64,
}

impl Inside {
    pub fn at(first: &[f64]) -> Self {
        let mut x = [0.0; REALS_MAX];
        x[..first.len()].copy_from_slice(first);
        Self { x, mode: 0 }
    }
}

/// The law of a system.
pub trait Plant: Send + Sync {
    /// Continuous variables in use.
    fn reals(&self) -> usize;
    fn start(&self) -> Inside;
    /// Runs a segment under an error and says how far it went astray on the way.
    fn segment(&self, inside: &mut Inside, choice: usize) -> f64;
    /// How far astray a state is.
    fn astray(&self, inside: &Inside) -> f64;
}

/// Numbers for the parameters of one world.
pub struct Draw {
    chance: Chance,
    next: u64,
}

impl Draw {
    pub fn new(family: &str, world: u64) -> Self {
        Self { chance: Chance::new(Seed(world), family), next: 0 }
    }
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.next += 1;
        low + (high - low) * self.chance.uniform(self.next)
    }
    pub fn below(&mut self, below: u64) -> u64 {
        self.next += 1;
        self.chance.below(self.next, below)
    }
    /// No error, and one to either side, not quite as large as each other.
    pub fn pushes(&mut self, size: f64) -> [f64; CHOICES] {
        let push = size * self.between(0.3, 1.0);
        [0.0, -push, push * self.between(0.7, 1.3)]
    }
}

/// A plant with a limit.
pub struct World {
    pub plant: std::sync::Arc<dyn Plant>,
    pub limit: f64,
    pub levels: u32,
    /// Everything that the explorer sees is multiplied by this.
    pub unit: f64,
    errors: ErrorSpace,
    variables: Vec<Variable>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldState {
    inside: Inside,
    level: u32,
}

impl World {
    /// The same law without a limit.
    pub fn new_like(other: &Self) -> Self {
        Self::sharing(other.plant.clone(), other.levels)
    }
    pub fn new(plant: Box<dyn Plant>, levels: u32) -> Self {
        Self::sharing(plant.into(), levels)
    }
    fn sharing(plant: std::sync::Arc<dyn Plant>, levels: u32) -> Self {
        let real = |n: usize| Variable::real(&format!("x{n}"), "", 1.0);
        let variables = (0..plant.reals()).map(real).chain([Variable::exact("mode")]).collect();
        let errors = ErrorSpace::of_one_site("push", &["none", "left", "right"]);
        Self { plant, limit: f64::INFINITY, levels, unit: 1.0, errors, variables }
    }
}

impl System for World {
    type State = WorldState;
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<WorldState, Fault> {
        Ok(WorldState { inside: self.plant.start(), level: 0 })
    }
    fn run(&self, state: &mut WorldState, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let astray = self.plant.segment(&mut state.inside, choice.index());
        state.level += 1;
        watch.see_margin(self.unit * (self.limit - astray));
        Ok(if astray > self.limit {
            SegmentEnd::violated(0, u64::from(state.level))
        } else if state.level == self.levels {
            SegmentEnd::TimedOut
        } else {
            SegmentEnd::Open
        })
    }
    fn cell(&self, state: &WorldState, key: &mut KeyWriter<'_>) {
        for n in 0..self.plant.reals() {
            key.real(n, self.unit * state.inside.x[n]);
        }
        key.exact(self.plant.reals(), state.inside.mode);
    }
    fn danger(&self, state: &WorldState) -> Danger {
        let x = state.inside.x;
        let axes = (0..self.plant.reals().min(4)).flat_map(|n| [self.unit * x[n], -self.unit * x[n]]).collect();
        Danger { worst: self.unit * self.plant.astray(&state.inside), axes }
    }
    fn margin(&self) -> Margin {
        Margin::default()
    }
    fn time_matters(&self) -> bool {
        true
    }
}
