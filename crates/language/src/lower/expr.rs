//! Expressions.

use anabranch_program::{self as ir, ArrayOp, Binary, Unary};

use super::{Data, Lower, Val};
use crate::diagnostic::{Code, Problem};
use crate::model::ty::{Class, Kind, Number, Ty};
use crate::syntax::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::units::Dimension;

impl Lower<'_, '_> {
    /// Lowers an expression; `None` if a mistake was told.
    pub fn expr(&mut self, expr: &Expr) -> Option<Val> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Number { value, unit } => {
                Some(Val::number(Class::Real, unit.map(|unit| unit.dimension), ir::Expr::Const(*value)))
            }
            ExprKind::Infinity(unit) => {
                Some(Val::number(Class::Real, unit.map(|unit| unit.dimension), ir::Expr::Const(f64::INFINITY)))
            }
            ExprKind::Bool(value) => {
                Some(Val::number(Class::Truth, None, ir::Expr::Const(f64::from(u8::from(*value)))))
            }
            ExprKind::Text(_) => self.error(Code::NotSupported, span, "texts cannot be computed with"),
            ExprKind::Name(name) => self.name_value(name, span),
            ExprKind::Field(base, field) => self.field(base, field, span),
            ExprKind::Call(callee, args) => self.call_or_index(callee, args, span),
            ExprKind::Unary(op, inner) => self.unary(*op, inner, span),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, span),
            ExprKind::Matrix(rows) => self.matrix_literal(rows, span),
            ExprKind::Range(low, step, high) => self.range_literal(low, step.as_deref(), high, span),
            ExprKind::Colon => self.error(Code::Expected, span, "`:` alone stands only in an index"),
            ExprKind::End => self.end_value(span),
            ExprKind::Transpose(inner) => self.transpose(inner),
            ExprKind::Broken => None,
        }
    }

    fn name_value(&mut self, name: &str, span: Span) -> Option<Val> {
        if let Some(var) = self.var(name).cloned() {
            return Some(var_value(&var));
        }
        if let Some(known) = self.env.values.get(name) {
            return Some(known_value(self, &known.clone()));
        }
        match name {
            "M_PI" | "pi" | "PI" => return Some(constant(std::f64::consts::PI)),
            "M_E" => return Some(constant(std::f64::consts::E)),
            _ => {}
        }
        if let Some(val) = self.enum_value_of_scope(name) {
            return Some(val);
        }
        let names = self.names();
        let told = Problem::error(Code::UnknownName, span, format!("nothing here is called `{name}`"));
        self.tell(told.did_you_mean(name, names.iter().map(String::as_str)));
        None
    }

    /// Every name that could have been meant.
    pub(super) fn names(&self) -> Vec<String> {
        self.scopes.iter().flat_map(|scope| scope.keys()).chain(self.env.values.keys()).cloned().collect()
    }

    /// A bare name of an enum that some variable here has.
    fn enum_value_of_scope(&mut self, name: &str) -> Option<Val> {
        let found = self.scopes.iter().flat_map(|scope| scope.values()).find_map(|var| {
            let Class::Choice(choices) = &var.ty.number()?.class else { return None };
            let at = choices.values.iter().position(|value| value == name)?;
            Some((Class::Choice(choices.clone()), at))
        });
        found.map(|(class, at)| Val::number(class, None, ir::Expr::Const(at as f64)))
    }

    fn field(&mut self, base: &Expr, field: &crate::syntax::ast::Name, span: Span) -> Option<Val> {
        if let ExprKind::Name(name) = &base.kind
            && self.var(name).is_none()
            && let Some(val) = self.enum_value(name, &field.text)
        {
            return Some(val);
        }
        let val = self.expr(base)?;
        let Some((offset, ty)) = val.ty.field(&field.text).map(|(offset, ty)| (offset, ty.clone())) else {
            let fields: Vec<String> = match &val.ty.kind {
                Kind::Struct(fields) => fields.fields.iter().map(|(name, _)| name.clone()).collect(),
                Kind::Number(_) => vec![],
            };
            let told =
                Problem::error(Code::UnknownName, field.span, format!("{} has no field `{}`", val.ty, field.text));
            self.tell(told.did_you_mean(&field.text, fields.iter().map(String::as_str)));
            return None;
        };
        if !val.ty.shape.is_empty() {
            return self.error(Code::ShapeMismatch, span, "a field of many structs at once");
        }
        let slots = self.slots(&val).part(offset, ty.size());
        Some(slots_value(ty, slots))
    }

    fn enum_value(&mut self, name: &str, value: &str) -> Option<Val> {
        let choices = crate::model::types::find_enum(self.report.library, name, self.place.file)?;
        let at = choices.values.iter().position(|known| known == value)?;
        Some(Val::number(Class::Choice(choices), None, ir::Expr::Const(at as f64)))
    }

    fn unary(&mut self, op: UnaryOp, inner: &Expr, span: Span) -> Option<Val> {
        let val = self.expr(inner)?;
        self.require_plain(&val, inner.span)?;
        match op {
            UnaryOp::Plus => Some(val),
            UnaryOp::Negate => Some(self.map(Unary::Negate, &val, val.ty.clone())),
            UnaryOp::Not => {
                if val.ty.dimension().is_some_and(|d| d != Dimension::NUMBER) {
                    return self.error(Code::TypeMismatch, span, format!("`!` of {}", val.ty));
                }
                let ty = of_class(&val.ty, Class::Truth, None);
                Some(self.map(Unary::Not, &val, ty))
            }
        }
    }

    /// A function of each element.
    pub(super) fn map(&mut self, function: Unary, val: &Val, ty: Ty) -> Val {
        match &val.data {
            Data::Number(expr) => Val { ty, data: Data::Number(fold_unary(function, expr.clone())) },
            Data::Slots(from) => {
                let to = self.builder.scratch(from.length);
                self.emit(ArrayOp::Map { to, function, from: *from });
                Val { ty, data: Data::Slots(to) }
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Option<Val> {
        let (a, b) = self.sides(left, right)?;
        self.require_number(&a, left.span)?;
        self.require_number(&b, right.span)?;
        self.operate(op, &a, &b, span)
    }

    pub(super) fn operate(&mut self, op: BinaryOp, a: &Val, b: &Val, span: Span) -> Option<Val> {
        use BinaryOp as B;
        self.operands(op, a, b, span)?;
        let scalar = is_one(a) || is_one(b);
        match op {
            B::And | B::Or => {
                let (x, y) = (self.scalar(a, span)?, self.scalar(b, span)?);
                let expr = if op == B::And { ir::Expr::and(x, y) } else { ir::Expr::or(x, y) };
                Some(Val::number(Class::Truth, None, expr))
            }
            B::Equal | B::Unequal | B::Less | B::Greater | B::LessEqual | B::GreaterEqual => {
                self.same_unit(a, b, span)?;
                self.zip(comparison(op), a, b, Class::Truth, None, span)
            }
            B::Add | B::Subtract => {
                let dimension = self.same_unit(a, b, span)?;
                let function = if op == B::Add { Binary::Add } else { Binary::Sub };
                self.zip(function, a, b, arithmetic_class(a, b), dimension, span)
            }
            B::Modulo => {
                let dimension = self.same_unit(a, b, span)?;
                self.zip(Binary::Remainder, a, b, arithmetic_class(a, b), dimension, span)
            }
            B::Multiply if !scalar => self.product(a, b, span),
            B::Multiply | B::EachMultiply => {
                let dimension = combine(a, b, Dimension::times);
                self.zip(Binary::Mul, a, b, arithmetic_class(a, b), dimension, span)
            }
            B::Divide if !is_one(b) => {
                let told = Problem::error(Code::ShapeMismatch, span, "a division by a matrix");
                self.tell(told.help("write `./` for each element, or multiply with `inv(…)`"));
                None
            }
            B::Divide | B::EachDivide => {
                let dimension = combine(a, b, |x, y| x.times(y.power(-1)));
                self.zip(Binary::Div, a, b, Class::Real, dimension, span)
            }
            B::Power if !is_one(a) => self.matrix_power(a, b, span),
            B::Power | B::EachPower => self.power(a, b, span),
            B::Solve => self.solve(a, b, span),
        }
    }

    fn power(&mut self, a: &Val, b: &Val, span: Span) -> Option<Val> {
        let dimension = match (a.ty.dimension(), b.constant()) {
            (Some(Dimension::NUMBER), _) => Some(Dimension::NUMBER),
            (Some(d), Some(e)) if e.fract() == 0.0 && e.abs() < 64.0 => Some(d.power(e as i32)),
            (Some(d), Some(0.5)) => d.root(),
            _ => None,
        };
        if b.ty.dimension().is_some_and(|d| d != Dimension::NUMBER) {
            return self.error(Code::UnitMismatch, span, format!("an exponent cannot be in {}", shown(b)));
        }
        self.zip(Binary::Pow, a, b, Class::Real, dimension, span)
    }

    /// The unit of both, or a told mistake.
    #[expect(clippy::option_option, reason = "the outer one is the mistake, the inner one an unknown unit")]
    pub(super) fn same_unit(&mut self, a: &Val, b: &Val, span: Span) -> Option<Option<Dimension>> {
        match (a.ty.dimension(), b.ty.dimension()) {
            (Some(x), Some(y)) if x != y => {
                let message = format!("{} and {} do not go together", shown(a), shown(b));
                let told =
                    Problem::error(Code::UnitMismatch, span, message).help("both sides need units of the same kind");
                self.report.units_differ(self.place.file, told).then_some(None)
            }
            (x, y) => Some(x.or(y)),
        }
    }

    /// A function of each pair of elements; one value goes with all.
    pub(super) fn zip(
        &mut self,
        function: Binary,
        a: &Val,
        b: &Val,
        class: Class,
        dimension: Option<Dimension>,
        span: Span,
    ) -> Option<Val> {
        if let (Data::Number(x), Data::Number(y)) = (&a.data, &b.data) {
            return Some(Val::number(class, dimension, fold_binary(function, x.clone(), y.clone())));
        }
        let larger = if is_one(a) { b } else { a };
        let fits = is_one(a) || is_one(b) || like_shapes(&a.ty, &b.ty);
        if !fits {
            let message = format!("shapes {} and {} do not go together", shape(&a.ty), shape(&b.ty));
            return self.error(Code::ShapeMismatch, span, message);
        }
        let ty = of_class(&larger.ty, class, dimension);
        let (left, right) = (self.slots(a), self.slots(b));
        let to = self.builder.scratch(ty.size());
        self.emit(ArrayOp::Zip { to, function, left, right });
        Some(Val { ty, data: Data::Slots(to) })
    }

    pub(super) fn require_number(&mut self, val: &Val, span: Span) -> Option<()> {
        match &val.ty.kind {
            Kind::Number(_) => Some(()),
            Kind::Struct(fields) => {
                let told =
                    Problem::error(Code::TypeMismatch, span, format!("`{}` is a struct, not a number", fields.name));
                self.tell(told.help("use one of its fields"));
                None
            }
        }
    }
}

fn constant(value: f64) -> Val {
    Val::number(Class::Real, None, ir::Expr::Const(value))
}

/// A variable as a value.
pub(super) fn var_value(var: &super::Var) -> Val {
    match var.count {
        None => slots_value(var.ty.clone(), var.span),
        Some(count) => {
            let mut ty = var.ty.clone();
            ty.shape.insert(0, count);
            Val { ty, data: Data::Slots(var.span) }
        }
    }
}

/// Slots as a value: a lone number as such.
pub(super) fn slots_value(ty: Ty, slots: ir::Span) -> Val {
    let data = if ty.shape.is_empty() && matches!(ty.kind, Kind::Number(_)) {
        Data::Number(ir::Expr::Slot(slots.start))
    } else {
        Data::Slots(slots)
    };
    Val { ty, data }
}

/// A parameter as a value.
fn known_value(lower: &mut Lower<'_, '_>, known: &crate::model::env::Known) -> Val {
    let data = match known.values.as_slice() {
        [value] if known.ty.shape.is_empty() => Data::Number(ir::Expr::Const(*value)),
        values => Data::Slots(lower.builder.constant(format!("{}.parameter", lower.name), values)),
    };
    Val { ty: known.ty.clone(), data }
}

pub(super) fn is_one(val: &Val) -> bool {
    val.ty.elements() == 1
}

/// Same shape, or both vectors of one length, whichever way they lie.
pub fn like_shapes(a: &Ty, b: &Ty) -> bool {
    let vector = |(rows, columns)| rows == 1 || columns == 1;
    let (x, y) = (a.rows_columns(), b.rows_columns());
    x == y || (vector(x) && vector(y) && a.elements() == b.elements())
}

pub(super) fn shape(ty: &Ty) -> String {
    let (rows, columns) = ty.rows_columns();
    format!("{rows}×{columns}")
}

/// The unit of a value in words.
pub(super) fn shown(val: &Val) -> String {
    val.ty.dimension().map_or_else(|| "a value without unit".to_owned(), |dimension| dimension.to_string())
}

/// The same shape with another class and unit, and no range.
pub(super) fn of_class(ty: &Ty, class: Class, dimension: Option<Dimension>) -> Ty {
    Ty { kind: Kind::Number(Number { dimension, ..Number::any(class) }), shape: ty.shape.clone() }
}

fn combine(a: &Val, b: &Val, how: impl Fn(Dimension, Dimension) -> Dimension) -> Option<Dimension> {
    match (a.ty.dimension(), b.ty.dimension()) {
        (Some(x), Some(y)) => Some(how(x, y)),
        // A bare number scales; a value of unknown unit makes the result unknown.
        (Some(x), None) if b.constant().is_some() => Some(how(x, Dimension::NUMBER)),
        (None, Some(y)) if a.constant().is_some() => Some(how(Dimension::NUMBER, y)),
        _ => None,
    }
}

fn arithmetic_class(a: &Val, b: &Val) -> Class {
    let whole = |val: &Val| {
        val.constant().map_or_else(
            || val.ty.number().is_some_and(|number| matches!(number.class, Class::Whole | Class::Truth)),
            |value| value.fract() == 0.0,
        )
    };
    if whole(a) && whole(b) { Class::Whole } else { Class::Real }
}

fn comparison(op: BinaryOp) -> Binary {
    match op {
        BinaryOp::Equal => Binary::Equal,
        BinaryOp::Unequal => Binary::NotEqual,
        BinaryOp::Less => Binary::Less,
        BinaryOp::Greater => Binary::Greater,
        BinaryOp::LessEqual => Binary::LessEqual,
        _ => Binary::GreaterEqual,
    }
}

/// Computes what is known at once.
pub(super) fn fold_unary(function: Unary, expr: ir::Expr) -> ir::Expr {
    match (function, &expr) {
        (Unary::Negate, ir::Expr::Const(x)) => ir::Expr::Const(-x),
        (Unary::Truncate, ir::Expr::Const(x)) => ir::Expr::Const(x.trunc()),
        (Unary::Abs, ir::Expr::Const(x)) => ir::Expr::Const(x.abs()),
        (Unary::Truth, ir::Expr::Const(x)) => ir::Expr::Const(f64::from(u8::from(*x != 0.0))),
        _ => ir::Expr::unary(function, expr),
    }
}

/// Computes what is known at once.
pub(super) fn fold_binary(function: Binary, a: ir::Expr, b: ir::Expr) -> ir::Expr {
    if let (ir::Expr::Const(x), ir::Expr::Const(y)) = (&a, &b) {
        let value = match function {
            Binary::Add => Some(x + y),
            Binary::Sub => Some(x - y),
            Binary::Mul => Some(x * y),
            Binary::Div => Some(x / y),
            _ => None,
        };
        if let Some(value) = value {
            return ir::Expr::Const(value);
        }
    }
    ir::Expr::binary(function, a, b)
}
