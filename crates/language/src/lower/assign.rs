//! Assignments: what may go where, and how it is converted.

use anabranch_program::{self as ir, ArrayOp, Unary};

use super::choice::choices;
use super::expr::{is_one, like_shapes, shape, shown};
use super::index::Chosen;
use super::{Access, Data, Lower, Val};
use crate::diagnostic::{Code, Problem};
use crate::model::ty::{Class, Kind, Ty};
use crate::syntax::Span;
use crate::syntax::ast::{Expr, ExprKind};

impl Lower<'_, '_> {
    /// `target = value`.
    pub(super) fn assign(&mut self, target: &Expr, value: &Val, span: Span) -> Option<()> {
        let chosen = self.target(target)?;
        let value = self.converted(value, &chosen.ty, span)?;
        self.write(&chosen, &value);
        Some(())
    }

    /// The slots that a target means.
    fn target(&mut self, target: &Expr) -> Option<Chosen> {
        let Some(root) = root_name(target) else {
            return self.error(Code::NotAssignable, target.span, "this cannot be assigned to");
        };
        match self.var(root) {
            Some(var) if var.access == Access::Yes => {}
            Some(var) if var.access == Access::Copy => {
                let message =
                    format!("the in-port `{root}` is assigned to; only this component sees it, until the tick ends");
                let told = Problem::warning(Code::NotAssignable, target.span, message);
                self.tell(told.help("declare a variable"));
            }
            Some(_) => {
                let told = Problem::error(Code::NotAssignable, target.span, format!("`{root}` cannot be assigned to"));
                self.tell(told.help("only out-ports and variables of this component change; declare a variable"));
                return None;
            }
            None if self.env.values.contains_key(root) => {
                let message = format!("the parameter `{root}` cannot be assigned to");
                return self.error(Code::NotAssignable, target.span, message);
            }
            None => {
                let names: Vec<String> = self.names();
                let told = Problem::error(Code::UnknownName, target.span, format!("nothing here is called `{root}`"));
                let known = names.iter().map(String::as_str);
                let told = match crate::diagnostic::closest(root, known) {
                    Some(name) => {
                        told.help(format!("did you mean `{name}`? A new variable is declared: `Q {root} = …;`"))
                    }
                    None => told.help(format!("a new variable is declared: `Q {root} = …;`")),
                };
                self.tell(told);
                return None;
            }
        }
        match &target.kind {
            ExprKind::Call(base, args) => self.chosen(base, args, target.span),
            _ => {
                let val = self.expr(target)?;
                let from = self.slots(&val);
                let at = (0..from.length).map(|i| ir::Expr::Const(f64::from(i))).collect();
                Some(Chosen { ty: val.ty, from, at, place: self.located(target.span) })
            }
        }
    }

    /// A value as its target holds it: checked, and cut off where the target is whole.
    pub(super) fn converted(&mut self, val: &Val, to: &Ty, span: Span) -> Option<Val> {
        let number = match (&val.ty.kind, &to.kind) {
            (Kind::Struct(a), Kind::Struct(b)) if a == b => return Some(val.clone()),
            (Kind::Number(_), Kind::Number(number)) => number,
            _ => return self.error(Code::TypeMismatch, span, format!("{} cannot become {to}", val.ty)),
        };
        if choices(&val.ty) != choices(to) {
            return self.error(Code::TypeMismatch, span, format!("{} cannot become {to}", val.ty));
        }
        if let (Some(x), Some(y)) = (val.ty.dimension(), number.dimension)
            && x != y
        {
            let told = Problem::error(Code::UnitMismatch, span, format!("a value in {} cannot become {y}", shown(val)));
            if !self.report.units_differ(self.place.file, told.help(format!("the target is measured in {y}"))) {
                return None;
            }
        }
        if !is_one(val) && !like_shapes(&val.ty, to) {
            let message = format!("a {} value cannot become {}", shape(&val.ty), shape(to));
            return self.error(Code::ShapeMismatch, span, message);
        }
        if let Some(value) = val.constant()
            && !number.holds(value, 0.0)
        {
            let message = format!("{value} is outside of the range of its target, {to}");
            self.tell(Problem::warning(Code::OutOfRange, span, message));
        }
        let from_class = val.ty.number().map_or(Class::Real, |number| number.class.clone());
        let function = match (&number.class, &from_class) {
            (Class::Whole, Class::Real) => Unary::Truncate,
            (Class::Truth, Class::Real | Class::Whole) => Unary::Truth,
            _ => return Some(val.clone()),
        };
        let ty = Ty { shape: val.ty.shape.clone(), ..to.clone() };
        Some(self.map(function, val, ty))
    }

    /// Numbers into slots that belong to a variable of a type.
    pub fn store(&mut self, to: ir::Span, ty: &Ty, val: &Val, span: Span) -> Option<()> {
        let val = self.converted(val, ty, span)?;
        match &val.data {
            Data::Number(expr) if to.length == 1 => self.emit(ir::Stmt::set(to.start, expr.clone())),
            Data::Number(expr) => self.emit(ArrayOp::Fill { to, value: expr.clone() }),
            Data::Slots(from) if from.length == to.length => self.emit(ArrayOp::Copy { to, from: *from }),
            Data::Slots(from) => self.emit(ArrayOp::Fill { to, value: ir::Expr::Slot(from.start) }),
        }
        Some(())
    }
}

/// The variable that a target begins with.
pub fn root_name(target: &Expr) -> Option<&str> {
    match &target.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Call(base, _) | ExprKind::Field(base, _) => root_name(base),
        _ => None,
    }
}
