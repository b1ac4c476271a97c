//! A checked program, and the memory it works on.

use anabranch_kernel::Seed;
use serde::{Deserialize, Serialize};

use crate::check::{self, Effects, Uses};
use crate::expression::Place;
use crate::fault::{Fault, FaultKind};
use crate::memory::{Layout, Region, Slot, Span};
use crate::statement::Step;

/// How many rounds the loops of one tick may make unless a program says otherwise. Far more than a controller needs, and
/// over in a second.
pub const ROUNDS_PER_TICK: u32 = 10_000_000;

/// A variable with its name: what messages, traces and merge keys speak of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Full name.
    pub name: String,
    /// Its slots.
    pub span: Span,
}

/// What happens when a number of the state or of the outputs is not finite after a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum NonFinite {
    /// It is a fault: a state holds finite numbers. Between steps such numbers may come and go.
    #[default]
    Fault,
    /// It stays. What is not a number takes its one canonical form, so that equal states have equal bits.
    Keep,
}

/// Everything a program is made of, before it was checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    pub(crate) name: String,
    pub(crate) layout: Layout,
    /// Initial values of state, outputs, inputs and constants, in that order.
    pub(crate) initial: Vec<f64>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) steps: Vec<Step>,
    pub(crate) rounds_per_tick: u32,
    pub(crate) non_finite: NonFinite,
}

/// Why a draft is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("program {program}: {reason}{}", step.as_ref().map(|name| format!(" (in step {name})")).unwrap_or_default())]
pub struct ProgramError {
    /// Name of the program.
    pub program: String,
    /// Name of the step, if one is to blame.
    pub step: Option<String>,
    /// What is wrong.
    pub reason: String,
}

/// A checked program: immutable, shared by all threads.
///
/// Every slot it names exists, nothing writes inputs or constants, shapes fit, and nesting is bounded. So executing it
/// cannot fail but by a [`Fault`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Draft", into = "Draft")]
pub struct Program {
    draft: Draft,
    decisions: Vec<DecisionInfo>,
    uses: Uses,
}

/// Where a decision stands, for coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionInfo {
    /// The step it belongs to.
    pub step: u32,
    /// Its place in the source.
    pub place: Place,
}

impl TryFrom<Draft> for Program {
    type Error = ProgramError;
    fn try_from(mut draft: Draft) -> Result<Self, ProgramError> {
        let decisions = check::number_decisions(&mut draft);
        let uses = check::check(&draft)?;
        Ok(Self { draft, decisions, uses })
    }
}
impl From<Program> for Draft {
    fn from(program: Program) -> Self {
        program.draft
    }
}

impl Program {
    /// The name it was given.
    pub fn name(&self) -> &str {
        &self.draft.name
    }
    /// Where its regions lie.
    pub fn layout(&self) -> &Layout {
        &self.draft.layout
    }
    /// Its steps, in the order in which they are executed.
    pub fn steps(&self) -> &[Step] {
        &self.draft.steps
    }
    /// Its named variables, in the order in which they were declared.
    pub fn variables(&self) -> &[Variable] {
        &self.draft.variables
    }
    /// The variable with a name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.draft.variables.iter().find(|variable| variable.name == name)
    }
    /// Its decisions; a [`crate::Decision`] is a place in this list.
    pub fn decisions(&self) -> &[DecisionInfo] {
        &self.decisions
    }
    /// How many rounds the loops of one tick may make.
    pub fn rounds_per_tick(&self) -> u32 {
        self.draft.rounds_per_tick
    }
    /// What happens to numbers that are not finite.
    pub fn non_finite(&self) -> NonFinite {
        self.draft.non_finite
    }
    /// Whether a result depends on seed or tick: then equal states at different ticks have different futures.
    pub fn depends_on_tick(&self) -> bool {
        self.uses.tick || self.uses.chance
    }
    /// Whether random numbers are drawn.
    pub fn draws_chance(&self) -> bool {
        self.uses.chance
    }
    /// A memory with the initial values.
    pub fn memory(&self) -> Memory {
        let mut values = self.draft.initial.clone();
        values.resize(self.layout().total(), 0.0);
        Memory { values, layout: *self.layout() }
    }
    /// A fault in words.
    pub fn explain(&self, fault: &Fault) -> String {
        let reason = match fault.kind {
            FaultKind::Index { index, length } => {
                format!("there is no element {} in {length} (counted from 1)", index + 1.0)
            }
            FaultKind::LoopBounds => "the bounds or the step of a loop are not finite numbers".to_owned(),
            FaultKind::TooManyRounds => {
                format!("its loops made more than {} rounds in one tick", self.rounds_per_tick())
            }
            FaultKind::Required { decision } => {
                self.steps().iter().find_map(|step| step.message(decision)).unwrap_or("a requirement fails").to_owned()
            }
            FaultKind::Singular => "a matrix is singular".to_owned(),
            FaultKind::NoRealRoot => "a matrix with negative eigenvalues has no real square root".to_owned(),
            FaultKind::NoConvergence => "an iteration did not converge".to_owned(),
            FaultKind::Infeasible => "the constraints of an optimisation cannot be met".to_owned(),
            FaultKind::NotFinite { slot } => format!("{} is not a finite number", self.name_of(slot)),
            FaultKind::WrongMemory => "the memory belongs to another program".to_owned(),
        };
        match fault.step.and_then(|step| self.steps().get(step as usize)) {
            Some(step) => format!("{}: {reason}", step.name),
            None => format!("{}: {reason}", self.name()),
        }
    }
    /// The name of the variable that a slot belongs to, with its element if it has several.
    pub fn name_of(&self, slot: Slot) -> String {
        let holds = |variable: &&Variable| {
            let span = variable.span;
            span.start.region == slot.region
                && (span.start.offset..span.start.offset.saturating_add(span.length)).contains(&slot.offset)
        };
        match self.draft.variables.iter().find(holds) {
            Some(variable) if variable.span.length == 1 => variable.name.clone(),
            Some(variable) => format!("{}({})", variable.name, slot.offset - variable.span.start.offset + 1),
            None => format!("{:?} {}", slot.region, slot.offset),
        }
    }
    /// The last step that writes a slot.
    pub fn writer_of(&self, slot: Slot) -> Option<u32> {
        let address = self.layout().address(slot);
        let writes = |step: &Effects| step.writes.iter().any(|range| range.contains(&address));
        self.uses.steps.iter().rposition(writes).map(|step| step as u32)
    }
    /// The level of each step: steps of one level touch nothing that another of them writes, so their order among each
    /// other does not matter. A step comes after every earlier step that it could hear from or overwrite.
    pub fn levels(&self) -> Vec<u32> {
        let total = self.layout().total();
        // The first level at which a slot may be read, and at which it may be written.
        let (mut readable, mut writable) = (vec![0_u32; total], vec![0_u32; total]);
        let mut levels = Vec::with_capacity(self.steps().len());
        for effects in self.effects() {
            let after_reads = effects.reads.iter().flat_map(|range| &readable[range.clone()]);
            let after_writes = effects.writes.iter().flat_map(|range| &writable[range.clone()]);
            let level = after_reads.chain(after_writes).copied().max().unwrap_or(0);
            for address in effects.reads.iter().cloned().flatten() {
                writable[address] = writable[address].max(level + 1);
            }
            for address in effects.writes.iter().cloned().flatten() {
                readable[address] = readable[address].max(level + 1);
                writable[address] = writable[address].max(level + 1);
            }
            levels.push(level);
        }
        levels
    }
    /// Everything it is made of.
    pub(crate) fn draft(&self) -> &Draft {
        &self.draft
    }
    /// What each step reads and writes.
    pub(crate) fn effects(&self) -> &[Effects] {
        &self.uses.steps
    }
    /// The end of a tick, the same for every executor: numbers that are not finite.
    #[inline]
    pub(crate) fn finish_tick(&self, memory: &mut [f64]) -> Result<(), Fault> {
        let saved = &mut memory[..self.layout().saved()];
        if saved.iter().all(|value| value.is_finite()) {
            return Ok(());
        }
        match self.non_finite() {
            NonFinite::Keep => {
                saved.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = f64::NAN);
                Ok(())
            }
            NonFinite::Fault => {
                let address = saved.iter().position(|value| !value.is_finite()).unwrap_or_default();
                let slot = self.layout().slot_at(address).unwrap_or(Slot { region: Region::State, offset: 0 });
                let step = self.writer_of(slot);
                Err(Fault { kind: FaultKind::NotFinite { slot }, step, place: Place::default() })
            }
        }
    }
}

/// What a tick is told beside the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Now {
    /// The seed of the run.
    pub seed: Seed,
    /// The number of the tick, from zero.
    pub tick: u64,
}

/// The memory of one running program.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub(crate) values: Vec<f64>,
    layout: Layout,
}

/// A saved state: state and outputs, in the order of their slots.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// The numbers.
    pub values: Vec<f64>,
}

impl Memory {
    /// The number in a slot; zero where there is none.
    #[inline]
    pub fn get(&self, slot: Slot) -> f64 {
        self.read(slot.into()).first().copied().unwrap_or_default()
    }
    /// Puts a number into a slot. Returns whether there is one.
    #[inline]
    pub fn set(&mut self, slot: Slot, value: f64) -> bool {
        let exists = self.layout.holds(slot.into());
        if exists {
            let address = self.layout.address(slot);
            self.values[address] = value;
        }
        exists
    }
    /// The numbers of a span; none where it does not exist.
    #[inline]
    pub fn read(&self, span: Span) -> &[f64] {
        if self.layout.holds(span) { &self.values[self.layout.addresses(span)] } else { &[] }
    }
    /// The numbers of a span, to be changed; none where it does not exist.
    #[inline]
    pub fn write(&mut self, span: Span) -> &mut [f64] {
        if self.layout.holds(span) { &mut self.values[self.layout.addresses(span)] } else { &mut [] }
    }
    /// The inputs, to be set before a tick.
    pub fn inputs(&mut self) -> &mut [f64] {
        &mut self.values[self.layout.range(Region::Input)]
    }
    /// The outputs.
    pub fn outputs(&self) -> &[f64] {
        &self.values[self.layout.range(Region::Output)]
    }
    /// What a saved state holds: state and outputs.
    pub fn saved(&self) -> &[f64] {
        &self.values[..self.layout.saved()]
    }
    /// All numbers.
    pub fn all(&self) -> &[f64] {
        &self.values
    }
    /// A copy of what lasts.
    pub fn save(&self) -> State {
        State { values: self.saved().to_vec() }
    }
    /// Goes back to a saved state. Returns whether it has the right length.
    pub fn restore(&mut self, state: &State) -> bool {
        self.restore_from(&state.values)
    }
    /// Goes back to a saved state. Returns whether it has the right length.
    pub fn restore_from(&mut self, saved: &[f64]) -> bool {
        let fits = saved.len() == self.layout.saved();
        if fits {
            self.values[..saved.len()].copy_from_slice(saved);
        }
        fits
    }
    /// The numbers for a tick of a program, with clean scratch slots, if this is its memory.
    #[inline]
    pub(crate) fn for_tick(&mut self, program: &Program) -> Result<&mut [f64], Fault> {
        if self.layout != *program.layout() {
            return Err(Fault { kind: FaultKind::WrongMemory, step: None, place: Place::default() });
        }
        let scratch = self.layout.range(Region::Scratch);
        self.values[scratch].fill(0.0);
        Ok(&mut self.values)
    }
}
