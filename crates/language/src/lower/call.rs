//! Functions.

use anabranch_program::{self as ir, ArrayOp, Binary, Draw, Fold, Unary};

use super::expr::{is_one, of_class, shape};
use super::{Data, ELEMENTS_MAX, Lower, Val};
use crate::diagnostic::{Code, Problem};
use crate::model::ty::{Class, Ty};
use crate::syntax::Span;
use crate::syntax::ast::Expr;
use crate::units::Dimension;

/// Functions of one number and what they do to units.
enum Effect {
    /// Takes a plain number, gives a plain number.
    Plain,
    /// Keeps the unit.
    Keeps,
    /// Takes the root of the unit.
    Root,
}

fn of_one(name: &str) -> Option<(Unary, Effect)> {
    Some(match name {
        "abs" => (Unary::Abs, Effect::Keeps),
        "round" => (Unary::Round, Effect::Keeps),
        "floor" => (Unary::Floor, Effect::Keeps),
        "ceil" => (Unary::Ceil, Effect::Keeps),
        "fix" | "trunc" => (Unary::Truncate, Effect::Keeps),
        "sign" | "sgn" => (Unary::Sign, Effect::Plain),
        "sqrt" => (Unary::Sqrt, Effect::Root),
        "exp" => (Unary::Exp, Effect::Plain),
        "log" | "ln" => (Unary::Log, Effect::Plain),
        "log2" => (Unary::Log2, Effect::Plain),
        "log10" => (Unary::Log10, Effect::Plain),
        "sin" => (Unary::Sin, Effect::Plain),
        "cos" => (Unary::Cos, Effect::Plain),
        "tan" => (Unary::Tan, Effect::Plain),
        "asin" => (Unary::Asin, Effect::Plain),
        "acos" => (Unary::Acos, Effect::Plain),
        "atan" => (Unary::Atan, Effect::Plain),
        "sinh" => (Unary::Sinh, Effect::Plain),
        "cosh" => (Unary::Cosh, Effect::Plain),
        "tanh" => (Unary::Tanh, Effect::Plain),
        "asinh" => (Unary::Asinh, Effect::Plain),
        "acosh" => (Unary::Acosh, Effect::Plain),
        "atanh" => (Unary::Atanh, Effect::Plain),
        "cbrt" => (Unary::Cbrt, Effect::Plain),
        _ => return None,
    })
}

fn of_two(name: &str) -> Option<Binary> {
    Some(match name {
        "min" => Binary::Min,
        "max" => Binary::Max,
        "mod" | "modulo" => Binary::Modulo,
        "rem" => Binary::Remainder,
        "atan2" => Binary::Atan2,
        "hypot" => Binary::Hypot,
        "gcd" => Binary::Gcd,
        "xor" => Binary::Xor,
        _ => return None,
    })
}

fn of_many(name: &str) -> Option<Fold> {
    Some(match name {
        "sum" => Fold::Sum,
        "prod" => Fold::Product,
        "min" => Fold::Min,
        "max" => Fold::Max,
        "mean" => Fold::Mean,
        "norm" => Fold::Norm,
        "any" | "or" => Fold::Any,
        "all" | "and" => Fold::All,
        _ => return None,
    })
}

/// Every function, for "did you mean".
const NAMES: [&str; 64] = [
    "abs",
    "acos",
    "acosh",
    "all",
    "and",
    "any",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "det",
    "diag",
    "diff",
    "dot",
    "eigval",
    "eigvec",
    "exp",
    "eye",
    "fix",
    "floor",
    "gcd",
    "hypot",
    "inv",
    "length",
    "log",
    "log10",
    "log2",
    "max",
    "mean",
    "min",
    "mod",
    "norm",
    "normrnd",
    "numel",
    "ones",
    "or",
    "pow",
    "prod",
    "rand",
    "randn",
    "rem",
    "round",
    "saturate",
    "sign",
    "sin",
    "sinh",
    "size",
    "sort",
    "sqrt",
    "sqrtm",
    "sum",
    "tan",
    "tanh",
    "transpose",
    "xor",
    "zeros",
    "cumsum",
    "trunc",
    "ln",
];

/// Functions of the original that need changing components.
const DYNAMIC: [&str; 3] = ["is_connected", "ports_connect", "ports_free"];

/// Functions of the original that are not there.
const FOREIGN: [&str; 16] = [
    "kmeans",
    "scaleCube",
    "joinCubeDim",
    "cvtColor",
    "inRange",
    "erode",
    "dilate",
    "findContours",
    "largestContour",
    "boundingRect",
    "rectangle",
    "gaussianBlur",
    "spectralClustering",
    "eval",
    "fileread",
    "kneighbors",
];

/// Whether there is a function of this name, or was one in the original.
pub(crate) fn is_function(name: &str) -> bool {
    let here = NAMES.contains(&name) || of_one(name).is_some() || of_two(name).is_some() || name == "modulo";
    here || DYNAMIC.contains(&name) || FOREIGN.contains(&name)
}

/// Names of functions, for "did you mean".
pub(crate) fn function_names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter()
}

impl Lower<'_, '_> {
    pub(super) fn call(&mut self, name: &str, args: &[Expr], name_span: Span, span: Span) -> Option<Val> {
        if DYNAMIC.contains(&name) {
            let told = Problem::error(
                Code::Dynamic,
                name_span,
                format!("`{name}`: components that change while they run are not supported"),
            );
            self.tell(told.help("connect everything at the start"));
            return None;
        }
        if FOREIGN.contains(&name) {
            return self.error(Code::NotSupported, name_span, format!("the function `{name}` is not supported"));
        }
        if !is_function(name) {
            let told =
                Problem::error(Code::UnknownFunction, name_span, format!("there is no function or variable `{name}`"));
            let mut names = self.names();
            names.extend(NAMES.iter().map(|&name| name.to_owned()));
            self.tell(told.did_you_mean(name, names.iter().map(String::as_str)));
            return None;
        }
        let vals: Vec<Option<Val>> = args.iter().map(|arg| self.expr(arg)).collect();
        let vals: Vec<Val> = vals.into_iter().collect::<Option<_>>()?;
        for (val, arg) in vals.iter().zip(args) {
            match name {
                "size" | "length" | "numel" | "transpose" | "diag" => self.require_number(val, arg.span)?,
                _ => self.require_plain(val, arg.span)?,
            }
        }
        self.call_values(name, &vals, args, span)
    }

    fn call_values(&mut self, name: &str, vals: &[Val], args: &[Expr], span: Span) -> Option<Val> {
        match (name, vals) {
            (_, [a]) if of_one(name).is_some() => self.call_one(name, a, args[0].span),
            (_, [a]) if of_many(name).is_some() => self.call_many(name, a),
            (_, [a, b]) if of_two(name).is_some() => self.call_two(name, a, b, span),
            ("pow", [a, b]) => self.operate(crate::syntax::ast::BinaryOp::EachPower, a, b, span),
            ("saturate", [x, low, high]) => self.saturate(x, low, high, span),
            ("normrnd", [mean, deviation]) => self.normal(mean, deviation, span),
            ("rand", []) => Some(Val::number(Class::Real, None, ir::Expr::Draw(Draw::Uniform))),
            ("randn", []) => Some(Val::number(Class::Real, None, ir::Expr::Draw(Draw::Normal))),
            ("zeros" | "ones" | "eye", sizes) if (1..=3).contains(&sizes.len()) => self.filled(name, sizes, span),
            ("size" | "length" | "numel", [a, ..]) => self.size(name, a, vals.get(1), span),
            ("transpose", [_]) => self.transpose(&args[0]),
            ("det" | "inv" | "eigval" | "eigvec" | "sqrtm", [a]) => self.square(name, a, span),
            ("dot", [a, b]) if a.ty.elements() == b.ty.elements() => self.dot(a, b),
            ("diff" | "sort" | "cumsum", [a]) => self.series(name, a, span),
            ("diag", [a]) => self.diagonal(a),
            _ => {
                let message = format!("`{name}` does not take {} arguments of these shapes", vals.len());
                self.error(Code::Arguments, span, message)
            }
        }
    }

    fn call_one(&mut self, name: &str, a: &Val, span: Span) -> Option<Val> {
        let (function, effect) = of_one(name)?;
        let dimension = match (effect, a.ty.dimension()) {
            (Effect::Keeps, dimension) => dimension,
            (Effect::Root, Some(dimension)) => dimension.root(),
            (Effect::Plain, Some(dimension)) if dimension != Dimension::NUMBER && function != Unary::Sign => {
                let told = Problem::error(Code::UnitMismatch, span, format!("`{name}` of a value in {dimension}"));
                if !self.report.units_differ(self.place.file, told.help("divide by a value of the same unit first")) {
                    return None;
                }
                None
            }
            _ => None,
        };
        let whole = matches!(function, Unary::Round | Unary::Floor | Unary::Ceil | Unary::Truncate | Unary::Sign);
        let class = match (whole, a.ty.number()) {
            (true, _) => Class::Whole,
            (false, Some(number)) if function == Unary::Abs => number.class.clone(),
            _ => Class::Real,
        };
        let ty = of_class(&a.ty, class, dimension);
        Some(self.map(function, a, ty))
    }

    fn call_many(&mut self, name: &str, a: &Val) -> Option<Val> {
        let function = of_many(name)?;
        if let (Data::Number(expr), true) = (&a.data, !matches!(function, Fold::Norm | Fold::Any | Fold::All)) {
            return Some(Val { ty: a.ty.clone(), data: Data::Number(expr.clone()) });
        }
        let from = self.slots(a);
        let to = self.builder.scratch(1).start;
        self.emit(ArrayOp::Fold { to, function, from });
        let dimension = a.ty.dimension().filter(|_| function != Fold::Product);
        let class = match function {
            Fold::Any | Fold::All => Class::Truth,
            _ => a.ty.number().map_or(Class::Real, |number| number.class.clone()),
        };
        Some(Val::number(class, dimension, ir::Expr::Slot(to)))
    }

    fn call_two(&mut self, name: &str, a: &Val, b: &Val, span: Span) -> Option<Val> {
        let function = of_two(name)?;
        let dimension = self.same_unit(a, b, span)?;
        let dimension = if function == Binary::Atan2 { Some(Dimension::NUMBER) } else { dimension };
        let class = if function == Binary::Gcd { Class::Whole } else { Class::Real };
        self.zip(function, a, b, class, dimension, span)
    }

    fn saturate(&mut self, x: &Val, low: &Val, high: &Val, span: Span) -> Option<Val> {
        let dimension = self.same_unit(x, low, span)?;
        self.same_unit(x, high, span)?;
        let above = self.zip(Binary::Max, x, low, Class::Real, dimension, span)?;
        self.zip(Binary::Min, &above, high, Class::Real, dimension, span)
    }

    /// Mean and standard deviation, as in Matlab.
    fn normal(&mut self, mean: &Val, deviation: &Val, span: Span) -> Option<Val> {
        let dimension = self.same_unit(mean, deviation, span)?;
        let (mean, deviation) = (self.scalar(mean, span)?, self.scalar(deviation, span)?);
        let draw = mean + deviation * ir::Expr::Draw(Draw::Normal);
        // Drawn into a slot of its own, so that reading the value twice gives the same number.
        let slot = self.builder.scratch(1).start;
        self.emit(ir::Stmt::set(slot, draw));
        Some(Val::number(Class::Real, dimension, ir::Expr::Slot(slot)))
    }

    fn filled(&mut self, name: &str, sizes: &[Val], span: Span) -> Option<Val> {
        let mut shape = Vec::new();
        for size in sizes {
            match size.constant() {
                Some(n) if n.fract() == 0.0 && n >= 0.0 && n <= f64::from(ELEMENTS_MAX) => shape.push(n as u32),
                Some(n) => return self.error(Code::Arguments, span, format!("{n} is no size")),
                None => return self.error(Code::NotConstant, span, "the size is not known when the model is built"),
            }
        }
        if let [n] = *shape.as_slice() {
            shape.push(n);
        }
        let ty = Ty { shape, ..Ty::real() };
        if ty.elements() > ELEMENTS_MAX {
            return self.error(Code::TooLarge, span, format!("a matrix of more than {ELEMENTS_MAX} elements"));
        }
        let to = self.builder.scratch(ty.size());
        let (rows, columns) = ty.rows_columns();
        match name {
            "eye" if rows == columns => self.emit(ArrayOp::Diagonal { to: to.matrix(rows, columns), from: None }),
            "eye" => return self.error(Code::ShapeMismatch, span, "`eye` of a matrix that is not square"),
            "ones" => self.emit(ArrayOp::Fill { to, value: ir::Expr::Const(1.0) }),
            _ => self.emit(ArrayOp::Fill { to, value: ir::Expr::Const(0.0) }),
        }
        Some(Val { ty, data: Data::Slots(to) })
    }

    fn size(&mut self, name: &str, a: &Val, which: Option<&Val>, span: Span) -> Option<Val> {
        let (rows, columns) = a.ty.rows_columns();
        let number = |n: u32| Some(Val::number(Class::Whole, None, ir::Expr::Const(f64::from(n))));
        match (name, which.map(Val::constant)) {
            ("length", None) => number(rows.max(columns)),
            ("numel", None) => number(a.ty.elements()),
            ("size", Some(Some(1.0))) => number(rows),
            ("size", Some(Some(2.0))) => number(columns),
            ("size", Some(Some(3.0))) => number(a.ty.shape.get(2).copied().unwrap_or(1)),
            ("size", None) => {
                let to = self.builder.scratch(2);
                self.emit(ir::Stmt::set(to.at(0), f64::from(rows)));
                self.emit(ir::Stmt::set(to.at(1), f64::from(columns)));
                Some(Val { ty: Ty { shape: vec![1, 2], ..Ty::scalar(Class::Whole) }, data: Data::Slots(to) })
            }
            _ => self.error(Code::Arguments, span, format!("`{name}` is asked for a size that is not known")),
        }
    }

    fn square(&mut self, name: &str, a: &Val, span: Span) -> Option<Val> {
        let (rows, columns) = a.ty.rows_columns();
        if rows != columns {
            return self.error(
                Code::ShapeMismatch,
                span,
                format!("`{name}` of a {} matrix, which is not square", shape(&a.ty)),
            );
        }
        let from = self.matrix(a);
        if name == "det" {
            let to = self.builder.scratch(1).start;
            self.emit(ArrayOp::Determinant { to, from });
            return Some(Val::number(Class::Real, None, ir::Expr::Slot(to)));
        }
        let to = self.builder.scratch(rows * columns);
        let square = to.matrix(rows, columns);
        let mut shape = vec![rows, columns];
        let mut slots = to;
        match name {
            "inv" => self.emit(ArrayOp::Inverse { to: square, from }),
            "sqrtm" => self.emit(ArrayOp::SquareRoot { to: square, from }),
            _ => {
                let values = self.builder.scratch(rows);
                self.emit(ArrayOp::Eigen { values, vectors: Some(square), from });
                if name == "eigval" {
                    (shape, slots) = (vec![rows, 1], values);
                }
            }
        }
        let ty =
            of_class(&Ty { shape, ..Ty::real() }, Class::Real, a.ty.dimension().filter(|d| *d == Dimension::NUMBER));
        Some(Val { ty, data: Data::Slots(slots) })
    }

    fn dot(&mut self, a: &Val, b: &Val) -> Option<Val> {
        let (left, right) = (self.slots(a), self.slots(b));
        let to = self.builder.scratch(1).start;
        self.emit(ArrayOp::Dot { to, left, right });
        Some(Val::number(Class::Real, None, ir::Expr::Slot(to)))
    }

    fn series(&mut self, name: &str, a: &Val, span: Span) -> Option<Val> {
        let (rows, columns) = a.ty.rows_columns();
        if rows != 1 && columns != 1 || is_one(a) {
            return self.error(Code::ShapeMismatch, span, format!("`{name}` of a {} matrix", shape(&a.ty)));
        }
        let from = self.slots(a);
        let length = from.length - u32::from(name == "diff");
        let to = self.builder.scratch(length);
        self.emit(match name {
            "diff" => ArrayOp::Differences { to, from },
            "sort" => ArrayOp::Sort { to, from },
            _ => ArrayOp::RunningSum { to, from },
        });
        let shape = if rows == 1 { vec![1, length] } else { vec![length, 1] };
        Some(Val { ty: Ty { shape, ..of_class(&a.ty, Class::Real, a.ty.dimension()) }, data: Data::Slots(to) })
    }

    fn diagonal(&mut self, a: &Val) -> Option<Val> {
        let (rows, columns) = a.ty.rows_columns();
        let from = self.slots(a);
        if rows == 1 || columns == 1 {
            let n = a.ty.elements();
            let to = self.builder.scratch(n * n);
            self.emit(ArrayOp::Diagonal { to: to.matrix(n, n), from: Some(from) });
            return Some(Val { ty: Ty { shape: vec![n, n], ..a.ty.clone() }, data: Data::Slots(to) });
        }
        let n = rows.min(columns);
        let to = self.builder.scratch(n);
        for i in 0..n {
            self.emit(ir::Stmt::set(to.at(i), ir::Expr::Slot(from.at(i * columns + i))));
        }
        Some(Val { ty: Ty { shape: vec![n, 1], ..a.ty.clone() }, data: Data::Slots(to) })
    }
}
