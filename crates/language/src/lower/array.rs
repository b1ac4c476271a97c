//! Matrices: literals, products, transposition.

use anabranch_program::{self as ir, ArrayOp, Binary};

use super::choice::choices;
use super::expr::{fold_binary, is_one, of_class, shape};
use super::{Data, ELEMENTS_MAX, Lower, Val};
use crate::diagnostic::{Code, Problem};
use crate::model::ty::{Class, Kind, Ty};
use crate::syntax::Span;
use crate::syntax::ast::Expr;
use crate::units::Dimension;

impl Lower<'_, '_> {
    /// `[a b; c d]`; entries may be matrices themselves.
    pub(super) fn matrix_literal(&mut self, rows: &[Vec<Expr>], span: Span) -> Option<Val> {
        let mut lowered: Vec<Vec<Val>> = Vec::new();
        let mut fine = true;
        for row in rows {
            let vals: Vec<Option<Val>> = row.iter().map(|entry| self.expr(entry)).collect();
            fine &= vals.iter().all(Option::is_some);
            lowered.push(vals.into_iter().flatten().collect());
        }
        if !fine {
            return None;
        }
        let dimension = self.entry_units(&lowered, rows)?;
        let mut total_rows = 0;
        let mut columns = None;
        for (row, vals) in rows.iter().zip(&lowered) {
            let height = vals.first().map_or(0, |val| val.ty.rows_columns().0);
            let width = vals.iter().map(|val| val.ty.rows_columns().1).sum::<u32>();
            let place = row.first().map_or(span, |first| first.span);
            if vals.iter().any(|val| val.ty.rows_columns().0 != height) {
                return self.error(Code::ShapeMismatch, place, "entries of one row have different heights");
            }
            if columns.is_some_and(|columns| columns != width) {
                let message = format!("this row has {width} columns, the one before {}", columns.unwrap_or(0));
                return self.error(Code::ShapeMismatch, place, message);
            }
            columns = Some(width);
            total_rows += height;
        }
        let columns = columns.unwrap_or(0);
        if total_rows.saturating_mul(columns) > ELEMENTS_MAX {
            return self.error(Code::TooLarge, span, format!("a matrix of more than {ELEMENTS_MAX} elements"));
        }
        let real = Ty { shape: vec![total_rows, columns], ..Ty::real() };
        let class = literal_class(&lowered);
        let ty = of_class(&real, class, dimension);
        let to = self.builder.scratch(total_rows * columns);
        self.fill_literal(&lowered, to, columns);
        Some(Val { ty, data: Data::Slots(to) })
    }

    fn fill_literal(&mut self, rows: &[Vec<Val>], to: ir::Span, columns: u32) {
        let mut top = 0;
        for vals in rows {
            let mut left = 0;
            for val in vals {
                let (height, width) = val.ty.rows_columns();
                match &val.data {
                    Data::Number(expr) => self.emit(ir::Stmt::set(to.at(top * columns + left), expr.clone())),
                    Data::Slots(from) => {
                        for row in 0..height {
                            let from = from.part(row * width, width);
                            self.emit(ArrayOp::Copy { to: to.part((top + row) * columns + left, width), from });
                        }
                    }
                }
                left += width;
            }
            top += vals.first().map_or(0, |val| val.ty.rows_columns().0);
        }
    }

    /// Entries must have one unit, and be of one enum or of none.
    #[expect(clippy::option_option, reason = "the outer one is the mistake, the inner one an unknown unit")]
    fn entry_units(&mut self, rows: &[Vec<Val>], written: &[Vec<Expr>]) -> Option<Option<Dimension>> {
        let mut unit = None;
        for (vals, exprs) in rows.iter().zip(written) {
            for (val, expr) in vals.iter().zip(exprs) {
                self.require_number(val, expr.span)?;
                if let Some(first) = rows.first().and_then(|row| row.first())
                    && choices(&first.ty) != choices(&val.ty)
                {
                    let message = format!("entries of one matrix of {} and of {}", first.ty, val.ty);
                    return self.error(Code::TypeMismatch, expr.span, message);
                }
                match (unit, val.ty.dimension()) {
                    (Some(x), Some(y)) if x != y => {
                        let message = format!("entries of one matrix in {x} and in {y}");
                        return self.error(Code::UnitMismatch, expr.span, message);
                    }
                    (None, found) => unit = found,
                    _ => {}
                }
            }
        }
        Some(unit)
    }

    /// `a:s:b` with known bounds.
    pub(super) fn range_literal(&mut self, low: &Expr, step: Option<&Expr>, high: &Expr, span: Span) -> Option<Val> {
        let from = self.expr(low)?;
        let by = match step {
            Some(step) => self.expr(step)?,
            None => Val::number(Class::Real, None, ir::Expr::Const(1.0)),
        };
        let to = self.expr(high)?;
        let (Some(from), Some(by), Some(to)) = (from.constant(), by.constant(), to.constant()) else {
            let told = Problem::error(
                Code::NotConstant,
                span,
                "the bounds of this range are not known when the model is built",
            );
            self.tell(told.help("use a loop, or parameters as bounds"));
            return None;
        };
        let count = ((to - from) / by + 1e-10).floor() + 1.0;
        if by == 0.0 || !count.is_finite() || count > f64::from(ELEMENTS_MAX) {
            return self.error(Code::TooLarge, span, "this range never ends or is too long");
        }
        let values: Vec<f64> = (0..count.max(0.0) as u32).map(|i| from + f64::from(i) * by).collect();
        let length = u32::try_from(values.len()).unwrap_or(0);
        let slots = self.builder.scratch(length);
        for (i, value) in values.iter().enumerate() {
            self.emit(ir::Stmt::set(slots.at(i as u32), *value));
        }
        Some(Val { ty: Ty { shape: vec![1, length], ..Ty::real() }, data: Data::Slots(slots) })
    }

    pub(super) fn transpose(&mut self, inner: &Expr) -> Option<Val> {
        let val = self.expr(inner)?;
        self.require_number(&val, inner.span)?;
        if is_one(&val) {
            return Some(val);
        }
        let (rows, columns) = val.ty.rows_columns();
        let ty = Ty { shape: vec![columns, rows], ..val.ty.clone() };
        let from = self.matrix(&val);
        let to = self.builder.scratch(rows * columns);
        self.emit(ArrayOp::Transpose { to: to.matrix(columns, rows), from });
        Some(Val { ty, data: Data::Slots(to) })
    }

    /// Matrix product; two vectors of one length that lie the same way give their scalar product.
    pub(super) fn product(&mut self, a: &Val, b: &Val, span: Span) -> Option<Val> {
        let ((rows, inner), (inner_b, columns)) = (a.ty.rows_columns(), b.ty.rows_columns());
        let dimension = match (a.ty.dimension(), b.ty.dimension()) {
            (Some(x), Some(y)) => Some(x.times(y)),
            _ => None,
        };
        let vectors = (rows == 1 || inner == 1) && (inner_b == 1 || columns == 1);
        if inner != inner_b && vectors && a.ty.elements() == b.ty.elements() {
            let (left, right) = (self.slots(a), self.slots(b));
            let to = self.builder.scratch(1).start;
            self.emit(ArrayOp::Dot { to, left, right });
            return Some(Val::number(Class::Real, dimension, ir::Expr::Slot(to)));
        }
        if inner != inner_b {
            let message =
                format!("a product of {} and {}: columns and rows must be as many", shape(&a.ty), shape(&b.ty));
            return self.error(Code::ShapeMismatch, span, message);
        }
        let (left, right) = (self.matrix(a), self.matrix(b));
        let to = self.builder.scratch(rows * columns);
        self.emit(ArrayOp::Product { to: to.matrix(rows, columns), left, right });
        if rows * columns == 1 {
            return Some(Val::number(Class::Real, dimension, ir::Expr::Slot(to.start)));
        }
        let ty = of_class(&Ty { shape: vec![rows, columns], ..Ty::real() }, Class::Real, dimension);
        Some(Val { ty, data: Data::Slots(to) })
    }

    /// `m^2`: a square matrix with itself.
    pub(super) fn matrix_power(&mut self, a: &Val, b: &Val, span: Span) -> Option<Val> {
        let exponent = b.constant().filter(|e| (1.0..=16.0).contains(e) && e.fract() == 0.0);
        let (rows, columns) = a.ty.rows_columns();
        match exponent {
            Some(exponent) if rows == columns => {
                let mut result = a.clone();
                for _ in 1..exponent as u32 {
                    result = self.product(&result, a, span)?;
                }
                Some(result)
            }
            _ => {
                let told = Problem::error(Code::ShapeMismatch, span, format!("a power of a {} matrix", shape(&a.ty)));
                self.tell(told.help("write `.^` for each element"));
                None
            }
        }
    }

    /// `a \ b`.
    pub(super) fn solve(&mut self, a: &Val, b: &Val, span: Span) -> Option<Val> {
        if is_one(a) && is_one(b) {
            let (x, y) = (self.scalar(a, span)?, self.scalar(b, span)?);
            return Some(Val::number(Class::Real, None, fold_binary(Binary::Div, y, x)));
        }
        let ((rows, columns), (mut rows_b, mut columns_b)) = (a.ty.rows_columns(), b.ty.rows_columns());
        if rows != rows_b && rows_b == 1 && columns_b == rows {
            (rows_b, columns_b) = (columns_b, rows_b);
        }
        if rows != rows_b || rows < columns {
            let message = format!("{} \\ {}: there are not as many rows", shape(&a.ty), shape(&b.ty));
            return self.error(Code::ShapeMismatch, span, message);
        }
        let left = self.matrix(a);
        let right = self.slots(b).matrix(rows_b, columns_b);
        let to = self.builder.scratch(columns * columns_b);
        self.emit(ArrayOp::Solve { to: to.matrix(columns, columns_b), left, right });
        Some(Val { ty: Ty { shape: vec![columns, columns_b], ..Ty::real() }, data: Data::Slots(to) })
    }
}

fn literal_class(rows: &[Vec<Val>]) -> Class {
    if let Some(Class::Choice(choices)) =
        rows.first().and_then(|row| row.first()?.ty.number()).map(|number| &number.class)
    {
        return Class::Choice(choices.clone());
    }
    let mut truth = true;
    for val in rows.iter().flatten() {
        truth &= matches!(&val.ty.kind, Kind::Number(number) if number.class == Class::Truth);
    }
    if truth && !rows.is_empty() { Class::Truth } else { Class::Real }
}
