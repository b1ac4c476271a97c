//! How a program is put together.

use crate::memory::{Layout, Region, Slot, Span};
use crate::program::{Draft, NonFinite, Program, ProgramError, ROUNDS_PER_TICK, Variable};
use crate::statement::{Step, Stmt};

/// Puts a program together: variables in any order, steps in the order in which they are executed.
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    /// Initial values per region, in the order of [`Region::ALL`]; of scratch slots only the number counts.
    regions: [Vec<f64>; 5],
    variables: Vec<Variable>,
    steps: Vec<Step>,
    rounds_per_tick: u32,
    non_finite: NonFinite,
}

impl Builder {
    /// An empty program.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            regions: Default::default(),
            variables: Vec::new(),
            steps: Vec::new(),
            rounds_per_tick: ROUNDS_PER_TICK,
            non_finite: NonFinite::default(),
        }
    }
    /// An input with its first value (it holds until the outside sets another).
    pub fn input(&mut self, name: impl Into<String>, initial: &[f64]) -> Span {
        self.named(Region::Input, name, initial)
    }
    /// An output with its first value.
    pub fn output(&mut self, name: impl Into<String>, initial: &[f64]) -> Span {
        self.named(Region::Output, name, initial)
    }
    /// A variable that lasts from tick to tick, with its first value.
    pub fn state(&mut self, name: impl Into<String>, initial: &[f64]) -> Span {
        self.named(Region::State, name, initial)
    }
    /// A table or a parameter with a name.
    pub fn constant(&mut self, name: impl Into<String>, values: &[f64]) -> Span {
        self.named(Region::Constant, name, values)
    }
    /// A named signal or local variable of one tick; zero when a tick starts.
    pub fn signal(&mut self, name: impl Into<String>, length: u32) -> Span {
        self.named(Region::Scratch, name, &vec![0.0; length as usize])
    }
    /// Nameless slots of one tick; zero when a tick starts.
    pub fn scratch(&mut self, length: u32) -> Span {
        self.allocate(Region::Scratch, &vec![0.0; length as usize])
    }
    /// A variable in a region chosen at run time.
    pub fn named(&mut self, region: Region, name: impl Into<String>, initial: &[f64]) -> Span {
        let span = self.allocate(region, initial);
        self.variables.push(Variable { name: name.into(), span });
        span
    }
    /// The next step to be executed.
    pub fn step(&mut self, name: impl Into<String>, body: Vec<Stmt>) {
        self.steps.push(Step { name: name.into(), body });
    }
    /// How many rounds the loops of one tick may make.
    pub fn rounds_per_tick(&mut self, rounds: u32) {
        self.rounds_per_tick = rounds;
    }
    /// What happens to numbers that are not finite.
    pub fn non_finite(&mut self, policy: NonFinite) {
        self.non_finite = policy;
    }
    /// The program, if it is in order.
    pub fn finish(self) -> Result<Program, ProgramError> {
        let lengths = [0, 1, 2, 3, 4].map(|region| u32::try_from(self.regions[region].len()).unwrap_or(u32::MAX));
        let draft = Draft {
            name: self.name,
            layout: Layout::new(lengths),
            initial: self.regions[..4].concat(),
            variables: self.variables,
            steps: self.steps,
            rounds_per_tick: self.rounds_per_tick,
            non_finite: self.non_finite,
        };
        Program::try_from(draft)
    }

    fn allocate(&mut self, region: Region, initial: &[f64]) -> Span {
        let values = &mut self.regions[region as usize];
        let offset = u32::try_from(values.len()).unwrap_or(u32::MAX);
        values.extend_from_slice(initial);
        Slot { region, offset }.span(u32::try_from(initial.len()).unwrap_or(u32::MAX))
    }
}
