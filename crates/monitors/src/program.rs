//! A checked expression, ready to be evaluated one by one or side by side.

use anabranch_kernel::maths::Real;
use anabranch_kernel::units::{Dimension, Unit};

use crate::expression::{Node, Tree, parse};
use crate::lexer::Comparison;
use crate::signals::SignalKind;
use crate::{ExpressionError, Span};

/// Most answers that wait at the same time.
const DEPTH_MAX: usize = 8;
/// Most signals in a table: they are counted by the bits of a word.
pub const SIGNALS_MAX: usize = 64;

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operand {
    Signal(u8),
    Magnitude(u8),
    Constant(f64),
}

/// One step; answers wait on a stack.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Below(Operand, Operand),
    NotAbove(Operand, Operand),
    Truth(u8),
    Not,
    And,
    Or,
}

/// An expression over the signals of a frame. Evaluation does not allocate.
///
/// ```
/// use anabranch_monitors::{LOW_SPEED_SIGNALS, Program, low_speed};
/// let program = Program::compile("ego.clearance < 10 cm", LOW_SPEED_SIGNALS).unwrap();
/// let mut frame = [0.0; low_speed::COUNT];
/// frame[low_speed::CLEARANCE] = 0.09;
/// assert!(program.holds(&frame));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    steps: Vec<Step>,
    signals: u64,
}

impl Program {
    /// Compiles a text over a table of signals.
    ///
    /// # Errors
    /// With the first place that cannot be understood.
    ///
    /// # Panics
    /// With a table of more than [`SIGNALS_MAX`] signals.
    pub fn compile(text: &str, signals: &[(&str, SignalKind)]) -> Result<Self, ExpressionError> {
        assert!(signals.len() <= SIGNALS_MAX, "a table has at most {SIGNALS_MAX} signals");
        let tree = parse(text, signals)?;
        let mut compiler = Compiler { signals, program: Self { steps: Vec::new(), signals: 0 }, depth: 0 };
        compiler.truth(&tree)?;
        Ok(compiler.program)
    }

    /// The signals it reads, one bit for each position in the table.
    pub fn signals_used(&self) -> u64 {
        self.signals
    }

    /// The number up to which a signal makes it hold, if it says nothing else: `0.1` for `ego.clearance < 0.1 m` or `<=`.
    pub fn holds_up_to(&self, signal: usize) -> Option<f64> {
        match self.steps[..] {
            [
                Step::Below(Operand::Signal(s), Operand::Constant(c))
                | Step::NotAbove(Operand::Signal(s), Operand::Constant(c)),
            ] => (usize::from(s) == signal).then_some(c),
            _ => None,
        }
    }
    /// The number from which on a signal makes it hold, if it says nothing else: `0.1` for `ego.clearance > 0.1 m` or `>=`.
    pub fn holds_from(&self, signal: usize) -> Option<f64> {
        match self.steps[..] {
            [
                Step::Below(Operand::Constant(c), Operand::Signal(s))
                | Step::NotAbove(Operand::Constant(c), Operand::Signal(s)),
            ] => (usize::from(s) == signal).then_some(c),
            _ => None,
        }
    }
    /// Whether it is just this truth.
    pub fn is_truth(&self, signal: usize) -> bool {
        matches!(self.steps[..], [Step::Truth(s)] if usize::from(s) == signal)
    }

    /// Whether it holds in a frame, for every lane.
    #[inline(always)]
    pub fn holds<R: Real>(&self, frame: &[R]) -> R::Mask {
        if let [step] = self.steps[..] {
            return answer(step, frame);
        }
        let mut waiting = [R::splat(0.0).lt(R::splat(0.0)); DEPTH_MAX];
        let mut top = 0;
        for &step in &self.steps {
            match step {
                Step::Not => waiting[top - 1] = !waiting[top - 1],
                Step::And => {
                    top -= 1;
                    waiting[top - 1] = waiting[top - 1] & waiting[top];
                }
                Step::Or => {
                    top -= 1;
                    waiting[top - 1] = waiting[top - 1] | waiting[top];
                }
                leaf => {
                    waiting[top] = answer(leaf, frame);
                    top += 1;
                }
            }
        }
        waiting[0]
    }
}

#[inline(always)]
fn value<R: Real>(operand: Operand, frame: &[R]) -> R {
    match operand {
        Operand::Signal(index) => frame[usize::from(index)],
        Operand::Magnitude(index) => frame[usize::from(index)].abs(),
        Operand::Constant(value) => R::splat(value),
    }
}

/// The answer of a step that needs no other answer.
#[inline(always)]
fn answer<R: Real>(step: Step, frame: &[R]) -> R::Mask {
    match step {
        Step::Below(left, right) => value(left, frame).lt(value(right, frame)),
        Step::NotAbove(left, right) => value(left, frame).le(value(right, frame)),
        Step::Truth(index) => R::splat(0.5).lt(frame[usize::from(index)]),
        Step::Not | Step::And | Step::Or => unreachable!("a program begins with a comparison"),
    }
}

struct Compiler<'t> {
    signals: &'t [(&'t str, SignalKind)],
    program: Program,
    depth: usize,
}

impl Compiler<'_> {
    /// Steps that leave the answer of a condition on the stack.
    fn truth(&mut self, tree: &Tree) -> Result<(), ExpressionError> {
        match &tree.node {
            Node::Compare(comparison, left, right) => {
                let (left, right) = self.sides(tree.at, left, right)?;
                self.leaf(
                    match comparison {
                        Comparison::Less => Step::Below(left, right),
                        Comparison::LessOrEqual => Step::NotAbove(left, right),
                        Comparison::Greater => Step::Below(right, left),
                        Comparison::GreaterOrEqual => Step::NotAbove(right, left),
                    },
                    tree.at,
                )
            }
            Node::Not(inner) => {
                self.truth(inner)?;
                self.program.steps.push(Step::Not);
                Ok(())
            }
            Node::And(left, right) => self.both(left, right, Step::And),
            Node::Or(left, right) => self.both(left, right, Step::Or),
            Node::Signal(index) => match self.signals[*index] {
                (_, SignalKind::Truth) => {
                    self.program.signals |= 1 << index;
                    self.leaf(Step::Truth(*index as u8), tree.at)
                }
                (name, SignalKind::Real(dimension)) => {
                    let error = format!("`{name}` is {}, not a condition", dimension.noun());
                    Err(ExpressionError::new(tree.at, error)
                        .suggest(format!("compare it: `{name} < 1 {}`", dimension.si())))
                }
            },
            Node::Magnitude(_) | Node::Quantity(..) => {
                Err(ExpressionError::new(tree.at, "this is a quantity, not a condition")
                    .suggest("compare it with `<`, `<=`, `>` or `>=`"))
            }
        }
    }

    fn both(&mut self, left: &Tree, right: &Tree, step: Step) -> Result<(), ExpressionError> {
        self.truth(left)?;
        self.truth(right)?;
        self.depth -= 1;
        self.program.steps.push(step);
        Ok(())
    }

    fn leaf(&mut self, step: Step, at: Span) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ExpressionError::new(at, "this expression is nested too deeply")
                .suggest("make several requirements of it"));
        }
        self.program.steps.push(step);
        Ok(())
    }

    /// Both sides of a comparison in SI units.
    fn sides(&mut self, at: Span, left: &Tree, right: &Tree) -> Result<(Operand, Operand), ExpressionError> {
        let (left_dimension, right_dimension) = (self.dimension(left)?, self.dimension(right)?);
        match (left_dimension, right_dimension) {
            (None, None) => Err(ExpressionError::new(at, "two constants are compared")
                .suggest("one side must be a signal such as `ego.clearance`")),
            (Some(a), Some(b)) if a != b => {
                Err(ExpressionError::new(at, format!("{} is compared with {}", a.noun(), b.noun()))
                    .suggest("compare signals that measure the same"))
            }
            (Some(dimension), _) | (None, Some(dimension)) => {
                Ok((self.operand(left, dimension)?, self.operand(right, dimension)?))
            }
        }
    }

    /// What a side measures; nothing yet for a constant.
    fn dimension(&self, tree: &Tree) -> Result<Option<Dimension>, ExpressionError> {
        match &tree.node {
            Node::Quantity(..) => Ok(None),
            Node::Magnitude(inner) => match (&inner.node, self.dimension(inner)?) {
                (Node::Signal(_), dimension) => Ok(dimension),
                _ => Err(ExpressionError::new(inner.at, "`abs` takes one signal").suggest("write `abs(ego.steering)`")),
            },
            Node::Signal(index) => match self.signals[*index] {
                (_, SignalKind::Real(dimension)) => Ok(Some(dimension)),
                (name, SignalKind::Truth) => Err(ExpressionError::new(tree.at, format!("`{name}` is true or false"))
                    .suggest(format!("write `{name}` or `not {name}` without a comparison"))),
            },
            _ => Err(ExpressionError::new(tree.at, "a condition cannot be compared")
                .suggest("join conditions by `and` or `or`")),
        }
    }

    fn operand(&mut self, tree: &Tree, dimension: Dimension) -> Result<Operand, ExpressionError> {
        match &tree.node {
            Node::Quantity(value, unit) => {
                check_unit(tree.at, *value, *unit, dimension)?;
                Ok(Operand::Constant(*value))
            }
            Node::Signal(index) => {
                self.program.signals |= 1 << index;
                Ok(Operand::Signal(*index as u8))
            }
            Node::Magnitude(inner) => match self.operand(inner, dimension)? {
                Operand::Signal(index) => Ok(Operand::Magnitude(index)),
                other => Ok(other),
            },
            _ => unreachable!("sides of comparisons were checked by `dimension`"),
        }
    }
}

fn check_unit(at: Span, value: f64, unit: Option<&'static Unit>, dimension: Dimension) -> Result<(), ExpressionError> {
    let allowed = || dimension.units().map(|unit| format!("`{}`", unit.name)).collect::<Vec<_>>().join(", ");
    match unit {
        None if dimension == Dimension::Number => Ok(()),
        None => Err(ExpressionError::new(at, format!("the unit is missing: {} is expected", dimension.noun()))
            .suggest(format!("write `{value} {}`", dimension.si()))),
        Some(unit) if unit.dimension == dimension => Ok(()),
        Some(unit) => {
            let error =
                format!("`{}` measures {}, but {} is expected", unit.name, unit.dimension.noun(), dimension.noun());
            let advice = if allowed().is_empty() { "write no unit".to_owned() } else { format!("use {}", allowed()) };
            Err(ExpressionError::new(at, error).suggest(advice))
        }
    }
}
