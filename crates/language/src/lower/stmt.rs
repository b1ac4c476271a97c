//! Statements.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_program::{self as ir, ArrayOp};

use super::{Access, Lower, Val, Var, known};
use crate::diagnostic::{Code, Problem};
use crate::model::delay::reads;
use crate::model::ty::{Class, Kind, Number, Ty};
use crate::syntax::Span;
use crate::syntax::ast::{Expr, ExprKind, Name, Stmt, StmtKind, Type};

/// Most arms of an `if` that stand inside one another: a part of the blocks that a program may nest.
const ARMS_NESTED_MAX: usize = ir::NESTING_MAX as usize / 4;

impl Lower<'_, '_> {
    /// Lowers statements, one after the other; all mistakes are told.
    pub fn statements(&mut self, body: &[Stmt]) {
        for stmt in body {
            let before = self.body.len();
            self.statement(stmt);
            let place = self.located(stmt.span);
            for emitted in &mut self.body[before..] {
                if emitted.place == ir::Place::default() {
                    emitted.place = place;
                }
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt) -> Option<()> {
        match &stmt.kind {
            StmtKind::Declare { keep, ty, names } => self.declare_all(*keep, ty, names),
            StmtKind::Assign { target, op, value } => {
                let beside = super::root_name(target).and_then(|root| self.var(root)).map(|var| var.ty.clone());
                let mut val = self.meant(value, beside.as_ref())?;
                if let Some(op) = op {
                    let old = self.expr(target)?;
                    val = self.operate(*op, &old, &val, stmt.span)?;
                }
                self.assign(target, &val, value.span)
            }
            StmtKind::If { arms, otherwise } => self.if_chain(arms, otherwise.as_deref()),
            StmtKind::For { counter, through, body } => self.for_loop(counter, through, body),
            StmtKind::While { condition, body } => self.while_loop(condition, body),
            StmtKind::Optimize(problem) => self.optimise(problem, stmt.span),
            StmtKind::Equation => {
                let told = Problem::error(Code::NotSupported, stmt.span, "equations that need a solver cannot be run");
                self.tell(told.help("write `target = value;`; to compare, use `if a == b … end`"));
                None
            }
            StmtKind::Call(expr) => {
                self.expr(expr)?;
                Some(())
            }
        }
    }

    fn declare_all(&mut self, keep: bool, ty: &Type, names: &[(Name, Option<Expr>)]) -> Option<()> {
        let ty = crate::model::types::resolve(ty, self.place, self.env, self.report)?;
        for (name, first) in names {
            if self.scopes.last().is_some_and(|scope| scope.contains_key(&name.text)) {
                let told = Problem::error(Code::Duplicate, name.span, format!("`{}` is declared twice", name.text));
                self.tell(told.help("use another name, or assign without a type"));
                continue;
            }
            if keep {
                self.declare_static(&ty, name, first.as_ref());
            } else {
                self.declare_local(&ty, name, first.as_ref());
            }
        }
        Some(())
    }

    /// A variable that lasts. Its first value is computed when the model is built if it can be, else in the first tick.
    fn declare_static(&mut self, ty: &Ty, name: &Name, first: Option<&Expr>) {
        let names: BTreeSet<String> = self.scopes.iter().flat_map(|scope| scope.keys()).cloned().collect();
        let late = first.filter(|first| reads(first, &names));
        let initial = match first {
            Some(first) if late.is_none() => self.first_value(ty, first),
            _ => vec![0.0; ty.size() as usize],
        };
        let span = self.builder.state(format!("{}.{}", self.name, name.text), &initial);
        self.kept.push(span);
        if let Some(first) = late {
            self.set_once(span, ty, first, &name.text);
        }
        self.declare(&name.text, Var { span, ty: ty.clone(), count: None, access: Access::Yes });
    }

    /// The numbers that a variable starts with.
    fn first_value(&mut self, ty: &Ty, first: &Expr) -> Vec<f64> {
        let size = ty.size() as usize;
        let zero = vec![0.0; size];
        let Some(known) = known(first, self.place, self.env, self.report) else { return zero };
        // Checked as an assignment is; the numbers are used directly.
        if !self.fits(&known_as_val(&known), ty, first.span) {
            return zero;
        }
        let cut = |x: &f64| match ty.number().map(|number| &number.class) {
            Some(Class::Whole) => x.trunc(),
            Some(Class::Truth) => f64::from(u8::from(*x != 0.0)),
            _ => *x,
        };
        match known.values.as_slice() {
            [one] => vec![cut(one); size],
            many if many.len() == size => many.iter().map(cut).collect(),
            _ => zero,
        }
    }

    /// Sets a variable in the first tick only.
    fn set_once(&mut self, span: ir::Span, ty: &Ty, first: &Expr, name: &str) {
        let done = self.builder.state(format!("{}.{name} (set)", self.name), &[0.0]);
        self.kept.push(done);
        let outer = std::mem::take(&mut self.body);
        if let Some(val) = self.expr(first) {
            self.store(span, ty, &val, first.span);
        }
        self.emit(ir::Stmt::set(done.start, 1.0));
        let once = std::mem::replace(&mut self.body, outer);
        self.emit(ir::Stmt::if_else(done.start, vec![], once));
    }

    /// Whether a value could be assigned; nothing of it is kept.
    fn fits(&mut self, val: &Val, ty: &Ty, span: Span) -> bool {
        let before = self.body.len();
        let fits = self.converted(val, ty, span).is_some();
        self.body.truncate(before);
        fits
    }

    fn declare_local(&mut self, ty: &Ty, name: &Name, first: Option<&Expr>) {
        let val = first.and_then(|first| self.meant(first, Some(ty)).map(|val| (val, first.span)));
        let span = self.builder.scratch(ty.size());
        match val {
            Some((val, place)) => {
                self.store(span, ty, &val, place);
            }
            None => self.emit(ArrayOp::Fill { to: span, value: ir::Expr::Const(0.0) }),
        }
        self.declare(&name.text, Var { span, ty: ty.clone(), count: None, access: Access::Yes });
    }

    /// Statements of their own, with names of their own.
    fn block(&mut self, body: &[Stmt]) -> Vec<ir::Stmt> {
        let outer = std::mem::take(&mut self.body);
        self.scopes.push(BTreeMap::new());
        self.statements(body);
        self.scopes.pop();
        std::mem::replace(&mut self.body, outer)
    }

    fn condition(&mut self, condition: &Expr) -> Option<ir::Expr> {
        let val = self.expr(condition)?;
        self.require_plain(&val, condition.span)?;
        self.scalar(&val, condition.span)
    }

    /// `if … elseif … else … end`. An arm stands in the `else` of the one before; a long chain is cut into pieces that
    /// stand one after the other, since blocks in blocks take room on the stack.
    fn if_chain(&mut self, arms: &[(Expr, Vec<Stmt>)], otherwise: Option<&[Stmt]>) -> Option<()> {
        if arms.len() <= ARMS_NESTED_MAX {
            return self.if_arms(arms, |lower| {
                let rest = lower.block(otherwise.unwrap_or_default());
                lower.body.extend(rest);
            });
        }
        let open = self.builder.scratch(1).start;
        self.emit(ir::Stmt::set(open, 1.0));
        let mut fine = true;
        for piece in arms.chunks(ARMS_NESTED_MAX) {
            let outer = std::mem::take(&mut self.body);
            // Whoever comes to the end of a piece found no arm of it, and goes on with the next one.
            self.emit(ir::Stmt::set(open, 0.0));
            fine &= self.if_arms(piece, |lower| lower.emit(ir::Stmt::set(open, 1.0))).is_some();
            let body = std::mem::replace(&mut self.body, outer);
            self.emit(ir::Stmt::if_else(open, body, vec![]));
        }
        let rest = self.block(otherwise.unwrap_or_default());
        if !rest.is_empty() {
            self.emit(ir::Stmt::if_else(open, rest, vec![]));
        }
        fine.then_some(())
    }

    /// Arms inside one another, and what happens where none of them does.
    fn if_arms(&mut self, arms: &[(Expr, Vec<Stmt>)], otherwise: impl FnOnce(&mut Self)) -> Option<()> {
        let mut open = Vec::new();
        for (condition, body) in arms {
            let decided = self.condition(condition);
            let then = self.block(body);
            open.push((decided, then, condition.span, std::mem::take(&mut self.body)));
        }
        otherwise(self);
        let mut fine = true;
        while let Some((decided, then, span, outer)) = open.pop() {
            let other = std::mem::replace(&mut self.body, outer);
            let place = self.located(span);
            match decided {
                Some(decided) => self.emit(ir::Stmt::if_else(decided, then, other).at(place)),
                None => fine = false,
            }
        }
        fine.then_some(())
    }

    fn for_loop(&mut self, counter: &Name, through: &Expr, body: &[Stmt]) -> Option<()> {
        let (from, step, to) = match &through.kind {
            ExprKind::Range(low, step, high) => {
                let from = self.bound(low);
                let step = match step {
                    Some(step) => self.bound(step),
                    None => Some(ir::Expr::Const(1.0)),
                };
                (from, step, self.bound(high))
            }
            _ => return self.for_elements(counter, through, body),
        };
        let slot = self.builder.scratch(1);
        let whole = |bound: &Option<ir::Expr>| matches!(bound, Some(ir::Expr::Const(x)) if x.fract() == 0.0);
        let class = if whole(&from) && whole(&step) { Class::Whole } else { Class::Real };
        self.scopes.push(BTreeMap::new());
        let var = Var { span: slot, ty: Ty::scalar(class), count: None, access: Access::No };
        self.declare(&counter.text, var);
        let inside = self.block(body);
        self.scopes.pop();
        self.emit(ir::Stmt::for_each(slot.start, from?, step?, to?, inside));
        Some(())
    }

    fn bound(&mut self, expr: &Expr) -> Option<ir::Expr> {
        let val = self.expr(expr)?;
        self.require_plain(&val, expr.span)?;
        self.scalar(&val, expr.span)
    }

    /// `for x = vector`: each element in turn.
    fn for_elements(&mut self, counter: &Name, through: &Expr, body: &[Stmt]) -> Option<()> {
        let val = self.expr(through)?;
        self.require_number(&val, through.span)?;
        let from = self.slots(&val);
        let (index, slot) = (self.builder.scratch(1), self.builder.scratch(1));
        let ty = Ty { shape: vec![], ..val.ty.clone() };
        self.scopes.push(BTreeMap::new());
        self.declare(&counter.text, Var { span: slot, ty, count: None, access: Access::No });
        let mut inside = self.block(body);
        self.scopes.pop();
        let place = self.located(through.span);
        inside.insert(0, ir::Stmt::set(slot.start, ir::Expr::element(from, index.start, place)));
        self.emit(ir::Stmt::for_each(index.start, 0.0, 1.0, f64::from(from.length) - 1.0, inside));
        Some(())
    }

    fn while_loop(&mut self, condition: &Expr, body: &[Stmt]) -> Option<()> {
        let outer = std::mem::take(&mut self.body);
        let decided = self.condition(condition);
        let prelude = std::mem::replace(&mut self.body, outer);
        let mut inside = self.block(body);
        inside.extend(prelude.clone());
        self.body.extend(prelude);
        self.emit(ir::Stmt::while_true(decided?, inside));
        Some(())
    }
}

/// A known value as one to be checked; its numbers are not looked at.
fn known_as_val(known: &crate::model::env::Known) -> Val {
    match known.values.as_slice() {
        [one] if known.ty.shape.is_empty() => {
            Val { ty: known.ty.clone(), data: super::Data::Number(ir::Expr::Const(*one)) }
        }
        values => {
            let length = u32::try_from(values.len()).unwrap_or(0);
            let kind = match &known.ty.kind {
                Kind::Number(number) => Kind::Number(Number { ..number.clone() }),
                other => other.clone(),
            };
            let start = ir::Slot { region: ir::Region::Constant, offset: 0 };
            Val { ty: Ty { kind, shape: known.ty.shape.clone() }, data: super::Data::Slots(start.span(length)) }
        }
    }
}
