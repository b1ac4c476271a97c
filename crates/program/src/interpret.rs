//! The reference: a program executed as it is written.

use anabranch_kernel::Chance;

use crate::array;
use crate::cells::{self, Cells};
use crate::coverage::Coverage;
use crate::expression::{Draw, Expr, Place};
use crate::fault::{Fault, FaultKind};
use crate::memory::Layout;
use crate::optimise::{self, Failure, Sample};
use crate::program::{Memory, Now, Program};
use crate::scalar::{self, truth};
use crate::statement::{Action, Problem, Step, Stmt};

impl Program {
    /// Executes all steps once.
    ///
    /// # Errors
    /// If the tick cannot be computed; [`Program::explain`] says it in words.
    pub fn tick(&self, memory: &mut Memory, now: Now) -> Result<(), Fault> {
        self.interpret(memory, now, None)
    }

    /// Executes all steps once, and counts which steps and branches were executed.
    ///
    /// # Errors
    /// If the tick cannot be computed.
    pub fn tick_covered(&self, memory: &mut Memory, now: Now, coverage: &mut Coverage) -> Result<(), Fault> {
        self.interpret(memory, now, Some(coverage))
    }

    fn interpret(&self, memory: &mut Memory, now: Now, coverage: Option<&mut Coverage>) -> Result<(), Fault> {
        let values = memory.for_tick(self)?;
        let mut run = Run {
            layout: self.layout(),
            memory: cells::of(values),
            now,
            rounds: f64::from(self.rounds_per_tick()),
            draws: 0,
            step_name: "",
            coverage,
        };
        for (number, step) in self.steps().iter().enumerate() {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            run.step(number, step).map_err(|(kind, place)| Fault { kind, step: Some(number), place })?;
        }
        self.finish_tick(values)
    }
}

type Stop = (FaultKind, Place);

/// A tick in the making.
pub(crate) struct Run<'a> {
    pub layout: &'a Layout,
    pub memory: &'a Cells,
    pub now: Now,
    /// How many rounds loops may still make in this tick.
    pub rounds: f64,
    /// How many random numbers this step has drawn.
    pub draws: u64,
    pub step_name: &'a str,
    pub coverage: Option<&'a mut Coverage>,
}

impl<'a> Run<'a> {
    fn step(&mut self, number: u32, step: &'a Step) -> Result<(), Stop> {
        self.draws = 0;
        self.step_name = &step.name;
        if let Some(coverage) = &mut self.coverage {
            coverage.step(number);
        }
        self.body(&step.body)
    }
    fn body(&mut self, body: &[Stmt]) -> Result<(), Stop> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }
    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Stop> {
        let stop = |kind| (kind, stmt.place);
        match &stmt.action {
            Action::Set { target, value } => {
                let value = self.value(value)?;
                self.memory[self.layout.address(*target)].set(value);
            }
            Action::SetElement { span, index, value } => {
                let index = self.value(index)?;
                let Some(place) = scalar::place(index, span.length) else {
                    return Err(stop(FaultKind::Index { index, length: span.length }));
                };
                let value = self.value(value)?;
                self.memory[self.layout.address(span.at(place))].set(value);
            }
            Action::If { condition, then, otherwise, decision } => {
                let taken = truth(self.value(condition)?);
                self.decided(decision.0, taken);
                return self.body(if taken { then } else { otherwise });
            }
            Action::For { counter, from, step, to, body, decision } => {
                let (from, step, to) = (self.value(from)?, self.value(step)?, self.value(to)?);
                let count = scalar::rounds(from, step, to).ok_or(stop(FaultKind::LoopBounds))?;
                self.decided(decision.0, count > 0.0);
                if count > self.rounds {
                    return Err(stop(FaultKind::TooManyRounds));
                }
                self.rounds -= count;
                let counter = self.layout.address(*counter);
                let mut k = 0.0;
                while k < count {
                    self.memory[counter].set(from + k * step);
                    self.body(body)?;
                    k += 1.0;
                }
            }
            Action::While { condition, body, decision } => loop {
                let again = truth(self.value(condition)?);
                self.decided(decision.0, again);
                if !again {
                    break;
                }
                if self.rounds < 1.0 {
                    return Err(stop(FaultKind::TooManyRounds));
                }
                self.rounds -= 1.0;
                self.body(body)?;
            },
            Action::Require { condition, decision, .. } => {
                let holds = truth(self.value(condition)?);
                self.decided(decision.0, holds);
                if !holds {
                    return Err(stop(FaultKind::Required { decision: *decision }));
                }
            }
            Action::Array(operation) => {
                let value = match operation {
                    crate::ArrayOp::Fill { value, .. } => self.value(value)?,
                    _ => 0.0,
                };
                array::run(operation, self.layout, self.memory, value).map_err(stop)?;
            }
            Action::Minimize(problem) => self.minimize(problem, stmt.place)?,
        }
        Ok(())
    }
    /// Finds the solution of an optimisation problem and leaves everything as its body computes it there.
    pub(crate) fn minimize(&mut self, problem: &Problem, place: Place) -> Result<(), Stop> {
        let variables = self.layout.addresses(problem.variables);
        let start = cells::read(&self.memory[variables]);
        let (lower, upper) = (self.layout.addresses(problem.lower), self.layout.addresses(problem.upper));
        let bounds: Vec<[f64; 2]> =
            self.memory[lower].iter().zip(&self.memory[upper]).map(|(low, high)| [low.get(), high.get()]).collect();
        let solution = optimise::minimise(&start, &bounds, &mut |x| self.sample(problem, x, place));
        match solution {
            Ok(solution) => self.sample(problem, &solution, place).map(|_| ()),
            Err(Failure::Evaluate(stop)) => Err(stop),
            Err(Failure::Search(kind)) => Err((kind, place)),
        }
    }
    fn sample(&mut self, problem: &Problem, x: &[f64], place: Place) -> Result<Sample, Stop> {
        if self.rounds < 1.0 {
            return Err((FaultKind::TooManyRounds, place));
        }
        self.rounds -= 1.0;
        let variables = self.layout.addresses(problem.variables);
        cells::write(&self.memory[variables], x);
        self.body(&problem.body)?;
        Ok(Sample {
            value: self.memory[self.layout.address(problem.objective)].get(),
            at_least: cells::read(&self.memory[self.layout.addresses(problem.at_least_zero)]),
            equal: cells::read(&self.memory[self.layout.addresses(problem.equal_zero)]),
        })
    }
    fn decided(&mut self, decision: u32, taken: bool) {
        if let Some(coverage) = &mut self.coverage {
            coverage.decision(decision, taken);
        }
    }
    fn value(&mut self, expr: &Expr) -> Result<f64, Stop> {
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Slot(slot) => self.memory[self.layout.address(*slot)].get(),
            Expr::Element { span, index, place } => {
                let index = self.value(index)?;
                let Some(number) = scalar::place(index, span.length) else {
                    return Err((FaultKind::Index { index, length: span.length }, *place));
                };
                self.memory[self.layout.address(span.at(number))].get()
            }
            Expr::Unary(function, of) => scalar::unary(*function, self.value(of)?),
            Expr::Binary(function, left, right) => {
                let left = self.value(left)?;
                scalar::binary(*function, left, self.value(right)?)
            }
            Expr::And(left, right) => f64::from(u8::from(truth(self.value(left)?) && truth(self.value(right)?))),
            Expr::Or(left, right) => f64::from(u8::from(truth(self.value(left)?) || truth(self.value(right)?))),
            Expr::Select(condition, yes, no) => {
                let chosen = if truth(self.value(condition)?) { yes } else { no };
                self.value(chosen)?
            }
            Expr::Draw(draw) => {
                let n = self.draws;
                self.draws += 1;
                drawn(*draw, self.now, self.step_name, n)
            }
            Expr::Tick => self.now.tick as f64,
        })
    }
}

/// The `n`-th random number of a step in a tick.
pub(crate) fn drawn(draw: Draw, now: Now, step: &str, n: u64) -> f64 {
    let chance = Chance::new(now.seed, step).at(now.tick);
    match draw {
        Draw::Uniform => chance.uniform(n),
        Draw::Normal => chance.normal(n),
    }
}
