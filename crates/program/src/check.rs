//! What makes a draft a program: slots exist, shapes fit, nesting is bounded.

use std::ops::Range;

use crate::expression::{Expr, Place};
use crate::memory::{Matrix, Span};
use crate::program::{DecisionInfo, Draft, Program, ProgramError};
use crate::statement::{Action, ArrayOp, Decision, Problem, Step, Stmt};

/// Slots of one program: 128 MB. A larger one is a slip in a size, not a controller.
pub const SLOTS_MAX: usize = 1 << 24;
/// Operators inside operators. Executors recurse, and their stack is bounded.
pub const EXPRESSION_DEPTH_MAX: u32 = 500;
/// Blocks inside blocks.
pub const NESTING_MAX: u32 = 100;

/// Variables of one optimisation: derivatives are differences, and their number grows with the square.
pub const VARIABLES_MAX: u32 = 100;

/// What a step reads and writes, as addresses. Nothing else is touched, whatever the numbers are.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Effects {
    pub reads: Vec<Range<usize>>,
    pub writes: Vec<Range<usize>>,
    /// How many operations one run through the text has; loops count once.
    pub nodes: u32,
}

/// What a program needs.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Uses {
    pub steps: Vec<Effects>,
    pub tick: bool,
    pub chance: bool,
}

/// Gives decisions their numbers, in the order of the text.
pub fn number_decisions(draft: &mut Draft) -> Vec<DecisionInfo> {
    fn number(body: &mut [Stmt], step: u32, depth: u32, list: &mut Vec<DecisionInfo>) {
        // What is nested deeper is refused by the check.
        if depth > NESTING_MAX {
            return;
        }
        for stmt in body {
            let place = stmt.place;
            let mut next = |decision: &mut Decision| {
                *decision = Decision(u32::try_from(list.len()).unwrap_or(u32::MAX));
                list.push(DecisionInfo { step, place });
            };
            match &mut stmt.action {
                Action::If { then, otherwise, decision, .. } => {
                    next(decision);
                    number(then, step, depth + 1, list);
                    number(otherwise, step, depth + 1, list);
                }
                Action::For { body, decision, .. } | Action::While { body, decision, .. } => {
                    next(decision);
                    number(body, step, depth + 1, list);
                }
                Action::Require { decision, .. } => next(decision),
                Action::Minimize(problem) => number(&mut problem.body, step, depth + 1, list),
                Action::Set { .. } | Action::SetElement { .. } | Action::Array(_) => {}
            }
        }
    }
    let mut list = Vec::new();
    for (step, Step { body, .. }) in draft.steps.iter_mut().enumerate() {
        number(body, u32::try_from(step).unwrap_or(u32::MAX), 0, &mut list);
    }
    list
}

/// Checks everything that executors rely on.
pub fn check(draft: &Draft) -> Result<Uses, ProgramError> {
    let refuse = |step: Option<&Step>, reason: String| ProgramError {
        program: draft.name.clone(),
        step: step.map(|step| step.name.clone()),
        reason,
    };
    let total = draft.layout.total();
    if total > SLOTS_MAX {
        return Err(refuse(None, format!("{total} slots are more than {SLOTS_MAX}")));
    }
    let initial = total - draft.layout.length(crate::Region::Scratch) as usize;
    if draft.initial.len() != initial {
        return Err(refuse(None, format!("{} initial values for {initial} slots", draft.initial.len())));
    }
    if let Some(variable) = draft.variables.iter().find(|variable| !draft.layout.holds(variable.span)) {
        return Err(refuse(None, format!("variable {} lies outside its region", variable.name)));
    }
    let mut uses = Uses::default();
    for step in &draft.steps {
        let mut checker = Checker { draft, effects: Effects::default(), tick: false, chance: false };
        checker.body(&step.body, 0).map_err(|reason| refuse(Some(step), reason))?;
        uses.tick |= checker.tick;
        uses.chance |= checker.chance;
        uses.steps.push(checker.effects.merged());
    }
    Ok(uses)
}

/// What expressions and statements of a checked program touch, in any order.
pub fn effects_of(program: &Program, expressions: &[Expr], body: &[Stmt]) -> Effects {
    let draft = program.draft();
    let mut checker = Checker { draft, effects: Effects::default(), tick: false, chance: false };
    // They were checked with the program.
    let _ = expressions.iter().try_for_each(|expr| checker.expr(expr, 0));
    let _ = checker.body(body, 0);
    checker.effects
}

impl Effects {
    /// The same with neighbouring and repeated ranges joined.
    fn merged(mut self) -> Self {
        for list in [&mut self.reads, &mut self.writes] {
            list.sort_by_key(|range| (range.start, range.end));
            list.dedup_by(|next, last| {
                let joins = next.start <= last.end;
                if joins {
                    last.end = last.end.max(next.end);
                }
                joins
            });
        }
        self
    }
}

struct Checker<'a> {
    draft: &'a Draft,
    effects: Effects,
    tick: bool,
    chance: bool,
}

impl Checker<'_> {
    fn reads(&mut self, span: Span) -> Result<(), String> {
        if !self.draft.layout.holds(span) {
            return Err(format!("{span:?} is read and does not exist"));
        }
        self.effects.reads.push(self.draft.layout.addresses(span));
        Ok(())
    }
    fn writes(&mut self, span: Span) -> Result<(), String> {
        if !self.draft.layout.holds(span) {
            return Err(format!("{span:?} is written and does not exist"));
        }
        if !span.start.region.is_writable() {
            return Err(format!("{:?} cannot be written", span.start.region));
        }
        self.effects.writes.push(self.draft.layout.addresses(span));
        Ok(())
    }
    fn body(&mut self, body: &[Stmt], depth: u32) -> Result<(), String> {
        if depth > NESTING_MAX {
            return Err(format!("blocks are nested more than {NESTING_MAX} deep"));
        }
        body.iter().try_for_each(|stmt| self.stmt(stmt, depth))
    }
    fn stmt(&mut self, stmt: &Stmt, depth: u32) -> Result<(), String> {
        self.effects.nodes += 1;
        match &stmt.action {
            Action::Set { target, value } => {
                self.expr(value, 0)?;
                self.writes((*target).into())
            }
            Action::SetElement { span, index, value } => {
                self.expr(index, 0)?;
                self.expr(value, 0)?;
                self.writes(*span)
            }
            Action::If { condition, then, otherwise, .. } => {
                self.expr(condition, 0)?;
                self.body(then, depth + 1)?;
                self.body(otherwise, depth + 1)
            }
            Action::For { counter, from, step, to, body, .. } => {
                for expr in [from, step, to] {
                    self.expr(expr, 0)?;
                }
                self.writes((*counter).into())?;
                self.body(body, depth + 1)
            }
            Action::While { condition, body, .. } => {
                self.expr(condition, 0)?;
                self.body(body, depth + 1)
            }
            Action::Require { condition, .. } => self.expr(condition, 0),
            Action::Array(operation) => self.array(operation),
            Action::Minimize(problem) => self.problem(problem, depth),
        }
    }
    fn problem(&mut self, problem: &Problem, depth: u32) -> Result<(), String> {
        let lengths = [problem.variables, problem.lower, problem.upper].map(|span| span.length);
        if lengths.iter().any(|&length| length != lengths[0] || !(1..=VARIABLES_MAX).contains(&length)) {
            return Err(format!(
                "an optimisation has {lengths:?} variables and bounds, not 1 to {VARIABLES_MAX} of each"
            ));
        }
        for span in [problem.lower, problem.upper, problem.variables, problem.at_least_zero, problem.equal_zero] {
            self.reads(span)?;
        }
        self.reads(problem.objective.into())?;
        self.writes(problem.variables)?;
        self.body(&problem.body, depth + 1)
    }
    fn expr(&mut self, expr: &Expr, depth: u32) -> Result<(), String> {
        if depth > EXPRESSION_DEPTH_MAX {
            return Err(format!("an expression is nested more than {EXPRESSION_DEPTH_MAX} deep"));
        }
        self.effects.nodes += 1;
        match expr {
            Expr::Slot(slot) => self.reads((*slot).into())?,
            Expr::Element { span, .. } => self.reads(*span)?,
            Expr::Draw(_) => self.chance = true,
            Expr::Tick => self.tick = true,
            _ => {}
        }
        expr.operands().try_for_each(|operand| self.expr(operand, depth + 1))
    }
    fn array(&mut self, operation: &ArrayOp) -> Result<(), String> {
        if let ArrayOp::Fill { value, .. } = operation {
            self.expr(value, 0)?;
        }
        let Operands { reads, writes } = operation.operands();
        for span in reads.into_iter().flatten() {
            self.reads(span)?;
        }
        for span in writes.into_iter().flatten() {
            self.writes(span)?;
        }
        if let [Some(first), Some(second)] = writes {
            let (first, second) = (self.draft.layout.addresses(first), self.draft.layout.addresses(second));
            if first.start < second.end && second.start < first.end {
                return Err("both results of an operation lie in the same slots".to_owned());
            }
        }
        self.effects.nodes += 4;
        shapes_fit(operation).then_some(()).ok_or_else(|| format!("the shapes of {operation:?} do not fit"))
    }
}

/// What an array operation touches.
pub struct Operands {
    pub reads: [Option<Span>; 2],
    pub writes: [Option<Span>; 2],
}

impl ArrayOp {
    /// What it touches.
    pub(crate) fn operands(&self) -> Operands {
        let (reads, writes) = match *self {
            Self::Copy { to, from }
            | Self::Map { to, from, .. }
            | Self::Differences { to, from }
            | Self::RunningSum { to, from }
            | Self::Sort { to, from } => ([Some(from), None], [Some(to), None]),
            Self::Fill { to, .. } => ([None, None], [Some(to), None]),
            Self::Zip { to, left, right, .. } => ([Some(left), Some(right)], [Some(to), None]),
            Self::Fold { to, from, .. } => ([Some(from), None], [Some(to.into()), None]),
            Self::Dot { to, left, right } => ([Some(left), Some(right)], [Some(to.into()), None]),
            Self::Product { to, left, right } | Self::Solve { to, left, right } => {
                ([Some(left.span()), Some(right.span())], [Some(to.span()), None])
            }
            Self::Transpose { to, from } | Self::Inverse { to, from } | Self::SquareRoot { to, from } => {
                ([Some(from.span()), None], [Some(to.span()), None])
            }
            Self::Diagonal { to, from } => ([from, None], [Some(to.span()), None]),
            Self::Determinant { to, from } => ([Some(from.span()), None], [Some(to.into()), None]),
            Self::Eigen { values, vectors, from } => {
                ([Some(from.span()), None], [Some(values), vectors.map(Matrix::span)])
            }
        };
        Operands { reads, writes }
    }
}

fn shapes_fit(operation: &ArrayOp) -> bool {
    let square = |matrix: Matrix| matrix.rows == matrix.columns;
    let alike = |one: Matrix, other: Matrix| (one.rows, one.columns) == (other.rows, other.columns);
    match *operation {
        ArrayOp::Copy { to, from }
        | ArrayOp::Map { to, from, .. }
        | ArrayOp::RunningSum { to, from }
        | ArrayOp::Sort { to, from } => to.length == from.length,
        ArrayOp::Fill { .. } => true,
        ArrayOp::Fold { function, from, .. } => {
            use crate::statement::Fold;
            from.length > 0 || !matches!(function, Fold::ArgMin | Fold::ArgMax | Fold::Mean)
        }
        ArrayOp::Zip { to, left, right, .. } => {
            [left, right].iter().all(|operand| operand.length == to.length || operand.length == 1)
        }
        ArrayOp::Dot { left, right, .. } => left.length == right.length,
        ArrayOp::Product { to, left, right } => {
            left.columns == right.rows && to.rows == left.rows && to.columns == right.columns
        }
        ArrayOp::Transpose { to, from } => to.rows == from.columns && to.columns == from.rows,
        ArrayOp::Diagonal { to, from } => square(to) && from.is_none_or(|from| from.length == to.rows),
        ArrayOp::Determinant { from, .. } => square(from),
        ArrayOp::Inverse { to, from } | ArrayOp::SquareRoot { to, from } => square(from) && alike(to, from),
        ArrayOp::Solve { to, left, right } => {
            left.rows >= left.columns
                && left.rows == right.rows
                && to.rows == left.columns
                && to.columns == right.columns
        }
        ArrayOp::Eigen { values, vectors, from } => {
            square(from) && values.length == from.rows && vectors.is_none_or(|vectors| alike(vectors, from))
        }
        ArrayOp::Differences { to, from } => u64::from(to.length) + 1 == u64::from(from.length),
    }
}

impl Step {
    /// The message of the `Require` with this number.
    pub(crate) fn message(&self, wanted: Decision) -> Option<&str> {
        fn find(body: &[Stmt], wanted: Decision) -> Option<&str> {
            body.iter().find_map(|stmt| match &stmt.action {
                Action::Require { message, decision, .. } if *decision == wanted => Some(message.as_str()),
                Action::If { then, otherwise, .. } => find(then, wanted).or_else(|| find(otherwise, wanted)),
                Action::For { body, .. } | Action::While { body, .. } => find(body, wanted),
                Action::Minimize(problem) => find(&problem.body, wanted),
                _ => None,
            })
        }
        find(&self.body, wanted)
    }
    /// The place of its first statement, if it has one.
    pub fn place(&self) -> Place {
        self.body.first().map(|stmt| stmt.place).unwrap_or_default()
    }
}
