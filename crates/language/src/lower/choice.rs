//! Enums: their values are compared with each other and handed on. They are numbered, and yet no numbers.

use super::{Lower, Val};
use crate::diagnostic::{Code, Problem};
use crate::model::ty::{Choices, Class, Ty};
use crate::syntax::Span;
use crate::syntax::ast::BinaryOp;

/// The enum that a type is made of, if it is.
pub(super) fn choices(ty: &Ty) -> Option<&Choices> {
    match &ty.number()?.class {
        Class::Choice(choices) => Some(choices),
        _ => None,
    }
}

impl Lower<'_, '_> {
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
