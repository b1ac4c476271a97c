//! `minimize … in … subject to … end`.

use std::collections::BTreeMap;

use anabranch_program::{self as ir, Action, Binary};

use super::expr::fold_unary;
use super::{Access, Data, Lower, Val, Var};
use crate::diagnostic::{Code, Problem};
use crate::model::ty::{Class, Number, Ty};
use crate::syntax::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Name, Optimize, Stmt, StmtKind, Type};

/// Most rounds of a loop over conditions; each round is written out.
const ROUNDS_MAX: f64 = 1000.0;

/// How to go on without whole numbers.
const WHOLE_HELP: &str = "declare it as Q, and round what comes out; or try every whole number in a loop";

/// What must hold: slots that must not be negative, and slots that must be zero.
#[derive(Default)]
struct Conditions {
    at_least: Vec<ir::Slot>,
    equal: Vec<ir::Slot>,
}

impl Lower<'_, '_> {
    /// Lowers an optimisation; the unknowns and the best value are variables from here on.
    pub(super) fn optimise(&mut self, problem: &Optimize, span: Span) -> Option<()> {
        let (variables, lower, upper) = self.unknowns(&problem.unknowns)?;
        let outer = std::mem::take(&mut self.body);
        let objective = self.objective(problem);
        let mut conditions = Conditions::default();
        let fine = self.conditions(&problem.constraints, &mut conditions).is_some();
        let at_least_zero = self.gather(&conditions.at_least);
        let equal_zero = self.gather(&conditions.equal);
        let body = std::mem::replace(&mut self.body, outer);
        let objective = objective.filter(|_| fine)?;
        let place = self.located(span);
        let problem = ir::Problem { variables, lower, upper, body, objective, at_least_zero, equal_zero };
        self.emit(ir::Stmt::new(place, Action::Minimize(Box::new(problem))));
        Some(())
    }

    /// Slots of the unknowns, and their bounds. The search starts in the middle of two bounds, else as near to zero as
    /// they allow.
    fn unknowns(&mut self, unknowns: &[(Type, Name)]) -> Option<(ir::Span, ir::Span, ir::Span)> {
        let mut types: Vec<(Ty, String)> = Vec::new();
        for (ty, name) in unknowns {
            let span = &ty.span;
            let ty = crate::model::types::resolve(ty, self.place, self.env, self.report)?;
            if ty.number().is_none() {
                return self.error(Code::TypeMismatch, name.span, "an unknown is a number or a matrix");
            }
            if ty.number().is_some_and(|number| number.class != Class::Real) {
                let message = format!("the unknown `{}` is a {ty}: only real numbers are searched", name.text);
                // It is declared all the same, so that nobody who reads it is told that it is not there.
                self.tell(Problem::error(Code::NotSupported, *span, message).help(WHOLE_HELP));
            }
            types.push((ty, name.text.clone()));
        }
        let bounds = |of: fn(&Number) -> f64| -> Vec<f64> {
            let each = |(ty, _): &(Ty, String)| vec![ty.number().map_or(0.0, of); ty.size() as usize];
            types.iter().flat_map(each).collect()
        };
        let (low, high) = (bounds(|number| number.low), bounds(|number| number.high));
        let span = self.builder.scratch(u32::try_from(low.len()).unwrap_or(u32::MAX));
        for (i, (low, high)) in low.iter().zip(&high).enumerate() {
            let start =
                if low.is_finite() && high.is_finite() { low + (high - low) / 2.0 } else { 0f64.max(*low).min(*high) };
            self.emit(ir::Stmt::set(span.at(i as u32), start));
        }
        let mut offset = 0;
        for (ty, name) in types {
            let size = ty.size();
            self.declare(&name, Var { span: span.part(offset, size), ty, count: None, access: Access::Yes });
            offset += size;
        }
        let lower = self.builder.constant(format!("{}.lower", self.name), &low);
        let upper = self.builder.constant(format!("{}.upper", self.name), &high);
        Some((span, lower, upper))
    }

    /// The slot that is to be small; the best value itself goes to its variable.
    fn objective(&mut self, problem: &Optimize) -> Option<ir::Slot> {
        let val = self.expr(&problem.objective)?;
        self.require_number(&val, problem.objective.span)?;
        let value = self.scalar(&val, problem.objective.span)?;
        let (best, objective) = (self.builder.scratch(1), self.builder.scratch(1).start);
        self.emit(ir::Stmt::set(best.start, value));
        let best_value = ir::Expr::Slot(best.start);
        let small =
            if problem.maximize { fold_unary(ir::Unary::Negate, best_value.clone()) } else { best_value.clone() };
        self.emit(ir::Stmt::set(objective, small));
        match &problem.result {
            Some((Some(ty), name)) => {
                let ty = crate::model::types::resolve(ty, self.place, self.env, self.report)?;
                let mut span = best;
                if ty.number().is_none_or(|number| number.class != Class::Real) {
                    // The best value as its type holds it, apart from the one that is searched for.
                    span = self.builder.scratch(ty.size());
                    let value = Val { ty: val.ty.clone(), data: Data::Number(best_value) };
                    self.store(span, &ty, &value, name.span)?;
                }
                self.declare(&name.text, Var { span, ty, count: None, access: Access::Yes });
            }
            Some((None, name)) => {
                let target = Expr { span: name.span, kind: ExprKind::Name(name.text.clone()) };
                let value = Val { ty: val.ty.clone(), data: Data::Number(best_value) };
                self.assign(&target, &value, name.span)?;
            }
            None => {}
        }
        Some(objective)
    }

    fn conditions(&mut self, body: &[Stmt], found: &mut Conditions) -> Option<()> {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Call(condition) => self.required(condition, found)?,
                StmtKind::For { counter, through, body } => self.rounds(counter, through, body, found)?,
                StmtKind::Declare { .. } | StmtKind::Assign { .. } => self.statements(std::slice::from_ref(stmt)),
                _ => {
                    let told = Problem::error(
                        Code::NotSupported,
                        stmt.span,
                        "only conditions and loops over them can stand here",
                    );
                    self.tell(told);
                    return None;
                }
            }
        }
        Some(())
    }

    /// A loop over conditions, written out.
    fn rounds(&mut self, counter: &Name, through: &Expr, body: &[Stmt], found: &mut Conditions) -> Option<()> {
        let ExprKind::Range(low, None, high) = &through.kind else {
            return self.error(Code::NotSupported, through.span, "loops over conditions count by one");
        };
        let (low, high) = (self.expr(low)?.constant(), self.expr(high)?.constant());
        let (Some(low), Some(high)) = (low, high) else {
            return self.error(
                Code::NotConstant,
                through.span,
                "the bounds of this loop are not known when the model is built",
            );
        };
        if !(high - low).is_finite() || high - low > ROUNDS_MAX {
            return self.error(Code::TooLarge, through.span, format!("more than {ROUNDS_MAX} conditions"));
        }
        let slot = self.builder.scratch(1);
        self.scopes.push(BTreeMap::new());
        self.declare(&counter.text, Var { span: slot, ty: Ty::scalar(Class::Whole), count: None, access: Access::No });
        let mut fine = Some(());
        let mut at = low;
        while at <= high && fine.is_some() {
            self.emit(ir::Stmt::set(slot.start, at));
            self.scopes.push(BTreeMap::new());
            fine = self.conditions(body, found);
            self.scopes.pop();
            at += 1.0;
        }
        self.scopes.pop();
        fine
    }

    /// `a <= b`, `a == b`, `a <= b <= c`.
    fn required(&mut self, condition: &Expr, found: &mut Conditions) -> Option<()> {
        let ExprKind::Binary(op, left, right) = &condition.kind else {
            return self.error(Code::Expected, condition.span, "expected a condition: `a <= b`, `a >= b` or `a == b`");
        };
        use BinaryOp as B;
        let mut from = left.as_ref();
        if let ExprKind::Binary(B::LessEqual | B::GreaterEqual | B::Less | B::Greater, _, middle) = &left.kind {
            self.required(left, found)?;
            from = middle;
        }
        let (a, b) = (self.expr(from)?, self.expr(right)?);
        self.operands(*op, &a, &b, condition.span)?;
        self.same_unit(&a, &b, condition.span)?;
        let (large, small) = if matches!(op, B::LessEqual | B::Less) { (&b, &a) } else { (&a, &b) };
        let gap = self.zip(Binary::Sub, large, small, Class::Real, None, condition.span)?;
        // Kept in slots of its own: loop counters go on.
        let to = self.builder.scratch(gap.ty.size());
        let ty = gap.ty.clone();
        self.store(to, &ty, &gap, condition.span)?;
        let slots = (0..to.length).map(|i| to.at(i));
        match op {
            B::Equal => found.equal.extend(slots),
            B::LessEqual | B::GreaterEqual | B::Less | B::Greater => found.at_least.extend(slots),
            _ => {
                return self.error(
                    Code::Expected,
                    condition.span,
                    "expected a condition: `a <= b`, `a >= b` or `a == b`",
                );
            }
        }
        Some(())
    }

    /// Slots side by side.
    fn gather(&mut self, slots: &[ir::Slot]) -> ir::Span {
        let to = self.builder.scratch(u32::try_from(slots.len()).unwrap_or(0));
        for (i, slot) in slots.iter().enumerate() {
            self.emit(ir::Stmt::set(to.at(i as u32), *slot));
        }
        to
    }
}
