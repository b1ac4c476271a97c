//! A condition about one moment, ready to be evaluated one by one or side by side.

use anabranch_kernel::maths::Real;
use anabranch_logic::{Comparison, Formula, Node, SignalKind, Term};

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
    /// Position among the terms that have to be computed.
    Computed(usize),
}

/// One step; answers wait on a stack.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Below(Operand, Operand),
    NotAbove(Operand, Operand),
    /// The same whole number.
    Same(Operand, Operand),
    Truth(u8),
    Constant(bool),
    Not,
    And,
    Or,
}

/// A condition over the signals of one frame. Evaluation does not allocate.
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
    terms: Vec<Term>,
    signals: u64,
}

impl Program {
    /// Compiles a text over a table of signals.
    ///
    /// # Errors
    /// With the first place that cannot be understood, or if it looks ahead or back.
    ///
    /// # Panics
    /// With a table of more than [`SIGNALS_MAX`] signals.
    pub fn compile(text: &str, signals: &[(&str, SignalKind)]) -> Result<Self, ExpressionError> {
        assert!(signals.len() <= SIGNALS_MAX, "a table has at most {SIGNALS_MAX} signals");
        let at = Span { offset: 0, length: text.len() };
        Self::of(&Formula::parse(text, signals)?, at)
    }

    /// The program of a formula that was written at `at`.
    pub(crate) fn of(formula: &Formula, at: Span) -> Result<Self, ExpressionError> {
        let mut program = Self { steps: Vec::new(), terms: Vec::new(), signals: signals_of(formula) };
        let depth = program.condition(formula.root(), at)?;
        if depth > DEPTH_MAX {
            return Err(ExpressionError::new(at, "this expression is nested too deeply")
                .suggest("make several requirements of it"));
        }
        Ok(program)
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

    /// Whether it compares a signal with a number that is at least this large, or with something that is not a number.
    pub fn compares_from(&self, signal: usize, least: f64) -> bool {
        let is_signal =
            |side: Operand| matches!(side, Operand::Signal(s) | Operand::Magnitude(s) if usize::from(s) == signal);
        let is_beyond = |side: Operand| match side {
            Operand::Constant(number) => number >= least,
            _ => true,
        };
        let is_computed = |side: Operand| matches!(side, Operand::Computed(_)) && self.signals >> signal & 1 == 1;
        self.steps.iter().any(|step| match *step {
            Step::Below(a, b) | Step::NotAbove(a, b) | Step::Same(a, b) => {
                is_signal(a) && is_beyond(b) || is_signal(b) && is_beyond(a) || is_computed(a) || is_computed(b)
            }
            Step::Truth(_) | Step::Constant(_) | Step::Not | Step::And | Step::Or => false,
        })
    }

    /// Whether it holds in a frame, for every lane.
    #[inline(always)]
    pub fn holds<R: Real>(&self, frame: &[R]) -> R::Mask {
        if let [step] = self.steps[..] {
            return self.answer(step, frame);
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
                    waiting[top] = self.answer(leaf, frame);
                    top += 1;
                }
            }
        }
        waiting[0]
    }

    #[inline(always)]
    fn value<R: Real>(&self, operand: Operand, frame: &[R]) -> R {
        match operand {
            Operand::Signal(index) => frame[usize::from(index)],
            Operand::Magnitude(index) => frame[usize::from(index)].abs(),
            Operand::Constant(value) => R::splat(value),
            Operand::Computed(index) => computed(&self.terms[index], frame),
        }
    }

    /// The answer of a step that needs no other answer.
    #[inline(always)]
    fn answer<R: Real>(&self, step: Step, frame: &[R]) -> R::Mask {
        match step {
            Step::Below(left, right) => self.value(left, frame).lt(self.value(right, frame)),
            Step::NotAbove(left, right) => self.value(left, frame).le(self.value(right, frame)),
            Step::Same(left, right) => (self.value(left, frame) - self.value(right, frame)).abs().lt(R::splat(0.5)),
            Step::Truth(index) => R::splat(0.5).lt(frame[usize::from(index)]),
            Step::Constant(value) => R::splat(0.0).lt(R::splat(f64::from(u8::from(value)))),
            Step::Not | Step::And | Step::Or => unreachable!("a program begins with a comparison"),
        }
    }

    /// Adds the steps that leave the answer of a condition on the stack; how many answers wait at most meanwhile.
    fn condition(&mut self, node: &Node, at: Span) -> Result<usize, ExpressionError> {
        let leaf = match node {
            Node::Constant(value) => Step::Constant(*value),
            Node::Truth(index) => Step::Truth(*index as u8),
            Node::Compare(comparison, left, right) => {
                let (left, right) = (self.operand(left), self.operand(right));
                match comparison {
                    Comparison::Less => Step::Below(left, right),
                    Comparison::LessOrEqual => Step::NotAbove(left, right),
                    Comparison::Greater => Step::Below(right, left),
                    Comparison::GreaterOrEqual => Step::NotAbove(right, left),
                    Comparison::Equal => Step::Same(left, right),
                    Comparison::Unequal => {
                        self.steps.push(Step::Same(left, right));
                        Step::Not
                    }
                }
            }
            Node::Not(inner) => {
                let depth = self.condition(inner, at)?;
                self.steps.push(Step::Not);
                return Ok(depth);
            }
            Node::And(left, right) => return self.both(left, right, Step::And, at),
            Node::Or(left, right) => return self.both(left, right, Step::Or, at),
            Node::Implies(left, right) => {
                let first = self.condition(left, at)?;
                self.steps.push(Step::Not);
                let second = self.condition(right, at)?;
                self.steps.push(Step::Or);
                return Ok(first.max(1 + second));
            }
            Node::Window(..) | Node::Link(..) => {
                return Err(ExpressionError::new(at, "one moment is not enough to judge this")
                    .suggest("write a condition without `always`, `eventually` and the like"));
            }
        };
        self.steps.push(leaf);
        Ok(1)
    }

    fn both(&mut self, left: &Node, right: &Node, step: Step, at: Span) -> Result<usize, ExpressionError> {
        let (first, second) = (self.condition(left, at)?, self.condition(right, at)?);
        self.steps.push(step);
        Ok(first.max(1 + second))
    }

    fn operand(&mut self, term: &Term) -> Operand {
        if let Term::Magnitude(inner) = term
            && let Term::Signal(index) = **inner
        {
            return Operand::Magnitude(index as u8);
        }
        match term {
            Term::Signal(index) => Operand::Signal(*index as u8),
            Term::Constant(value, _) => Operand::Constant(*value),
            other => {
                self.terms.push(other.clone());
                Operand::Computed(self.terms.len() - 1)
            }
        }
    }
}

/// The signals of a formula, one bit for each position in the table.
pub(crate) fn signals_of(formula: &Formula) -> u64 {
    formula.reads().into_iter().fold(0, |all, index| all | 1 << index)
}

/// The value of a number made of others.
fn computed<R: Real>(term: &Term, frame: &[R]) -> R {
    let of = |inner: &Term| computed(inner, frame);
    match term {
        Term::Signal(index) => frame[*index],
        Term::Constant(value, _) => R::splat(*value),
        Term::Negated(a) => -of(a),
        Term::Magnitude(a) => of(a).abs(),
        Term::Sum(a, b) => of(a) + of(b),
        Term::Difference(a, b) => of(a) - of(b),
        Term::Product(a, b) => of(a) * of(b),
        Term::Quotient(a, b) => of(a) / of(b),
        Term::Smaller(a, b) => of(a).min(of(b)),
        Term::Larger(a, b) => of(a).max(of(b)),
    }
}
