//! Enums: their values are compared with each other and handed on. They are numbered, and yet no numbers.

use anabranch_program as ir;

use super::{Lower, Val};
use crate::diagnostic::{Code, Problem};
use crate::model::ty::{Choices, Class, Ty};
use crate::syntax::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind};

/// The enum that a type is made of, if it is.
pub(super) fn choices(ty: &Ty) -> Option<&Choices> {
    match &ty.number()?.class {
        Class::Choice(choices) => Some(choices),
        _ => None,
    }
}

impl Lower<'_, '_> {
    /// An expression beside something of a type: a bare name of that type's enum means its value, whatever other enums
    /// have a value of that name.
    pub(super) fn meant(&mut self, expr: &Expr, beside: Option<&Ty>) -> Option<Val> {
        if let (ExprKind::Name(name), Some(class)) = (&expr.kind, beside.and_then(Ty::number).map(|n| &n.class))
            && let Class::Choice(choices) = class
            && !self.is_value(name)
            && let Some(at) = choices.values.iter().position(|value| value == name)
        {
            return Some(Val::number(class.clone(), None, ir::Expr::Const(at as f64)));
        }
        self.expr(expr)
    }

    /// Both sides of an operation; a bare name is read beside the other side.
    pub(super) fn sides(&mut self, left: &Expr, right: &Expr) -> Option<(Val, Val)> {
        let bare = matches!(&left.kind, ExprKind::Name(name) if !self.is_value(name));
        let (a, b) = if bare {
            let b = self.expr(right);
            (self.meant(left, b.as_ref().map(|b| &b.ty)), b)
        } else {
            let a = self.expr(left);
            let b = self.meant(right, a.as_ref().map(|a| &a.ty));
            (a, b)
        };
        Some((a?, b?))
    }

    /// Whether a name is that of a variable, a port or a parameter.
    fn is_value(&self, name: &str) -> bool {
        self.var(name).is_some() || self.env.values.contains_key(name)
    }

    /// Whether two values go together under an operation: enums only to be compared, and only with themselves.
    pub(super) fn operands(&mut self, op: BinaryOp, a: &Val, b: &Val, span: Span) -> Option<()> {
        let (x, y) = (choices(&a.ty), choices(&b.ty));
        if x == y && (x.is_none() || op.is_comparison()) {
            return Some(());
        }
        if op.is_comparison() {
            return self.error(Code::TypeMismatch, span, format!("{} is compared with {}", a.ty, b.ty));
        }
        self.no_number(if x.is_some() { a } else { b }, span)
    }

    /// A number or a truth: no struct, and no value of an enum.
    pub(super) fn require_plain(&mut self, val: &Val, span: Span) -> Option<()> {
        self.require_number(val, span)?;
        if choices(&val.ty).is_some() { self.no_number(val, span) } else { Some(()) }
    }

    fn no_number(&mut self, val: &Val, span: Span) -> Option<()> {
        let name = choices(&val.ty).map_or("", |choices| &choices.name);
        let told = Problem::error(Code::TypeMismatch, span, format!("a value of the enum `{name}` is no number"));
        self.tell(told.help("compare it: `if a == b … end`"));
        None
    }
}
