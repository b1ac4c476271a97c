//! Behaviour to flat programs: names become slots, matrices become operations over spans, everything is checked on
//! the way.

mod array;
mod assign;
mod call;
pub(crate) use call::{function_names, is_function};
mod choice;
mod expr;
mod index;
mod optimise;
mod stmt;

pub use assign::root_name;
pub use expr::like_shapes;

use std::collections::BTreeMap;

use anabranch_program as ir;

use crate::diagnostic::{Code, Problem};
use crate::library::FileId;
use crate::model::env::{Env, Known, Place, Report};
use crate::model::ty::{Class, Kind, Number, Ty};
use crate::syntax::Span;
use crate::syntax::ast;
use crate::units::Dimension;

/// A name that stands for slots.
#[derive(Clone, Debug)]
pub struct Var {
    /// Its slots.
    pub span: ir::Span,
    /// The type of one element.
    pub ty: Ty,
    /// How many elements, if it is an array of ports.
    pub count: Option<u32>,
    /// Whether it may be assigned to.
    pub access: Access,
}

/// Whether a name may be assigned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It may not.
    No,
    /// It may.
    Yes,
    /// It is a copy of an in-port: it may, with a warning.
    Copy,
}

/// Where the numbers of a value are.
#[derive(Clone, Debug)]
pub enum Data {
    /// One number.
    Number(ir::Expr),
    /// Numbers in slots.
    Slots(ir::Span),
}

/// A value while a body is lowered.
#[derive(Clone, Debug)]
pub struct Val {
    /// Its type.
    pub ty: Ty,
    /// Its numbers.
    pub data: Data,
}

impl Val {
    fn number(class: Class, dimension: Option<Dimension>, expr: ir::Expr) -> Self {
        let kind = Kind::Number(Number { dimension, ..Number::any(class) });
        Self { ty: Ty { kind, shape: vec![] }, data: Data::Number(expr) }
    }

    /// The number, if it is known.
    pub fn constant(&self) -> Option<f64> {
        match self.data {
            Data::Number(ir::Expr::Const(value)) => Some(value),
            _ => None,
        }
    }
}

/// What `end` means at the moment: the sizes of what is indexed, and which index it stands in.
#[derive(Clone, Debug)]
struct Ending {
    sizes: Vec<u32>,
    at: usize,
    of: usize,
}

/// Lowers one body.
pub struct Lower<'a, 'l> {
    /// Where slots come from.
    pub builder: &'a mut ir::Builder,
    /// Where mistakes go.
    pub report: &'a mut Report<'l>,
    /// The component the text stands in.
    pub place: &'a Place<'l>,
    /// Generic and configuration parameters.
    pub env: &'a Env,
    /// Full name of the instance.
    pub name: String,
    /// Names, innermost block last.
    pub scopes: Vec<BTreeMap<String, Var>>,
    /// Statements so far.
    pub body: Vec<ir::Stmt>,
    /// Places of statements, told in faults: the number of one is its position plus 1.
    pub places: &'a mut Vec<(FileId, Span)>,
    /// Slots that last.
    pub kept: Vec<ir::Span>,
    endings: Vec<Ending>,
}

impl<'a, 'l> Lower<'a, 'l> {
    /// Nothing lowered yet.
    pub fn new(
        builder: &'a mut ir::Builder,
        report: &'a mut Report<'l>,
        place: &'a Place<'l>,
        env: &'a Env,
        places: &'a mut Vec<(FileId, Span)>,
    ) -> Self {
        let (scopes, body, endings) = (vec![BTreeMap::new()], Vec::new(), Vec::new());
        Self { builder, report, place, env, name: String::new(), scopes, body, places, kept: Vec::new(), endings }
    }

    /// A name in the innermost block.
    pub fn declare(&mut self, name: &str, var: Var) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), var);
        }
    }

    fn var(&self, name: &str) -> Option<&Var> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn tell(&mut self, problem: Problem) {
        self.report.tell(self.place.file, problem);
    }

    fn error<T>(&mut self, code: Code, span: Span, message: impl Into<String>) -> Option<T> {
        self.tell(Problem::error(code, span, message));
        None
    }

    fn located(&mut self, span: Span) -> ir::Place {
        self.places.push((self.place.file, span));
        ir::Place(u32::try_from(self.places.len()).unwrap_or(0))
    }

    fn emit(&mut self, stmt: impl Into<ir::Stmt>) {
        self.body.push(stmt.into());
    }

    /// The slots of a value; a lone number gets one of its own.
    fn slots(&mut self, val: &Val) -> ir::Span {
        match &val.data {
            Data::Slots(span) => *span,
            Data::Number(ir::Expr::Slot(slot)) => (*slot).into(),
            Data::Number(expr) => {
                let span = self.builder.scratch(1);
                self.emit(ir::Stmt::set(span.start, expr.clone()));
                span
            }
        }
    }

    /// The number of a value that has one element.
    fn scalar(&mut self, val: &Val, span: Span) -> Option<ir::Expr> {
        match &val.data {
            Data::Number(expr) => Some(expr.clone()),
            Data::Slots(slots) if slots.length == 1 => Some(ir::Expr::Slot(slots.start)),
            Data::Slots(_) => {
                let message = format!("expected one value, found {}", val.ty);
                self.error(Code::ShapeMismatch, span, message)
            }
        }
    }

    /// A matrix view of a value.
    fn matrix(&mut self, val: &Val) -> ir::Matrix {
        let (rows, columns) = val.ty.rows_columns();
        self.slots(val).matrix(rows, columns)
    }
}

/// The largest matrix that is built, in elements.
pub const ELEMENTS_MAX: u32 = 1 << 20;

/// The value of an expression that must be known when the model is built.
pub fn known(expr: &ast::Expr, place: &Place<'_>, env: &Env, report: &mut Report<'_>) -> Option<Known> {
    if let ast::ExprKind::Number { value, unit } = expr.kind {
        let dimension = unit.map(|unit| unit.dimension);
        let kind = Kind::Number(Number { dimension, unit, ..Number::any(Class::Real) });
        return Some(Known { ty: Ty { kind, shape: vec![] }, values: vec![value] });
    }
    let mut builder = ir::Builder::new("constant");
    builder.non_finite(ir::NonFinite::Keep);
    let mut places = Vec::new();
    // Names that are not parameters are told by the lowering itself; the report is the same one.
    let mut report_here = Report::new(report.library);
    report_here.units = report.units;
    let mut lower = Lower::new(&mut builder, &mut report_here, place, env, &mut places);
    let lowered = lower.expr(expr).map(|val| (lower.slots(&val), val));
    let body = std::mem::take(&mut lower.body);
    let result = lowered.and_then(|(slots, val)| match val.constant() {
        Some(value) => Some(Known { ty: val.ty, values: vec![value] }),
        None => Some(Known { ty: val.ty, values: computed(builder, body, slots)? }),
    });
    let told = report_here.finish();
    if result.is_none() && told.is_empty() {
        report.tell(place.file, Problem::error(Code::NotConstant, expr.span, "this value cannot be computed"));
    }
    for diagnostic in told {
        let problem = Problem {
            code: diagnostic.code,
            severity: diagnostic.severity,
            span: diagnostic.span,
            message: diagnostic.message,
            help: diagnostic.help,
        };
        report.tell(place.file, problem);
    }
    result
}

/// Runs statements once and reads slots.
fn computed(mut builder: ir::Builder, body: Vec<ir::Stmt>, slots: ir::Span) -> Option<Vec<f64>> {
    let out = builder.output("value", &vec![0.0; slots.length as usize]);
    let copy = ir::ArrayOp::Copy { to: out, from: slots };
    builder.step("value", body.into_iter().chain([copy.into()]).collect());
    let program = builder.finish().ok()?;
    let mut memory = program.memory();
    program.tick(&mut memory, ir::Now::default()).ok()?;
    Some(memory.read(out).to_vec())
}
