//! Types as written to types with everything known.

use std::rc::Rc;

use super::env::{Env, Place, Report};
use super::range::Piece;
use super::ty::{Choices, Class, Fields, Kind, Number, Ty};
use crate::diagnostic::{Code, Problem};
use crate::library::{FileId, Library};
use crate::lower::{ELEMENTS_MAX, known};
use crate::syntax::ast::{Base, Expr, ExprKind, Item, Range, Struct, Type};
use crate::units::Unit;

/// Deepest nesting of structs; deeper ones contain themselves.
const STRUCT_DEPTH_MAX: usize = 30;

/// A type in the environment of a component; `None` if a mistake was told.
pub fn resolve(ty: &Type, place: &Place<'_>, env: &Env, report: &mut Report<'_>) -> Option<Ty> {
    resolve_deep(ty, place, env, report, 0)
}

fn resolve_deep(ty: &Type, place: &Place<'_>, env: &Env, report: &mut Report<'_>, depth: usize) -> Option<Ty> {
    let mut resolved = base(ty, place, env, report, depth)?;
    if !ty.ranges.is_empty() {
        match &mut resolved.kind {
            Kind::Number(number) => ranges(number, &ty.ranges, place, env, report)?,
            Kind::Struct(_) => {
                report.tell(place.file, Problem::error(Code::BadRange, ty.span, "a struct has no range"));
                return None;
            }
        }
    }
    for dim in &ty.dims {
        resolved.shape.push(size(dim, place, env, report)?);
    }
    if resolved.shape.len() > 3 {
        let told = Problem::error(Code::NotSupported, ty.span, "more than three dimensions are not supported");
        report.tell(place.file, told);
        return None;
    }
    if resolved.size() > ELEMENTS_MAX {
        report.tell(place.file, Problem::error(Code::TooLarge, ty.span, format!("more than {ELEMENTS_MAX} elements")));
        return None;
    }
    Some(resolved)
}

/// A size that must be a whole number from 1 on.
pub fn size(expr: &Expr, place: &Place<'_>, env: &Env, report: &mut Report<'_>) -> Option<u32> {
    let value = known(expr, place, env, report)?;
    match value.values.as_slice() {
        [n] if n.fract() == 0.0 && *n >= 0.0 && *n <= f64::from(ELEMENTS_MAX) => Some(*n as u32),
        [n] => {
            let told = if *n > f64::from(ELEMENTS_MAX) {
                Problem::error(Code::TooLarge, expr.span, format!("more than {ELEMENTS_MAX} elements"))
            } else {
                let told = Problem::error(Code::Index, expr.span, format!("{n} is no size"));
                told.help("a size is a whole number from 1 on")
            };
            report.tell(place.file, told);
            None
        }
        _ => {
            report.tell(place.file, Problem::error(Code::Index, expr.span, "a matrix is no size"));
            None
        }
    }
}

fn base(ty: &Type, place: &Place<'_>, env: &Env, report: &mut Report<'_>, depth: usize) -> Option<Ty> {
    let low = |low: f64| {
        let number = Number { low, ..Number::any(Class::Whole) };
        Ty { kind: Kind::Number(number), shape: vec![] }
    };
    let unsupported = |report: &mut Report<'_>, what: &str| {
        report.tell(place.file, Problem::error(Code::NotSupported, ty.span, format!("{what} are not supported")));
        None
    };
    match &ty.base {
        Base::Rational => Some(Ty::real()),
        Base::Integer => Some(Ty::scalar(Class::Whole)),
        Base::Natural => Some(low(0.0)),
        Base::Positive => Some(low(1.0)),
        Base::Boolean => Some(Ty::scalar(Class::Truth)),
        Base::Complex => unsupported(report, "complex numbers"),
        Base::Text => unsupported(report, "texts"),
        Base::Named(path) => {
            let name = path.text();
            if let Some(known) = env.types.get(&name) {
                return Some(known.clone());
            }
            let found = report.library.resolve(&name, place.file);
            match found.map(|found| (found.file, found.item)) {
                Some((file, Item::Struct(data))) => structure(data, file, place, report, depth),
                Some((_, Item::Enum(data))) => {
                    let values = data.values.iter().map(|value| value.text.clone()).collect();
                    let choices = Choices { name: data.name.text.clone(), values };
                    Some(Ty::scalar(Class::Choice(Rc::new(choices))))
                }
                Some(_) => {
                    let told = Problem::error(
                        Code::TypeMismatch,
                        ty.span,
                        format!("`{name}` is a component, not a type of values"),
                    );
                    report.tell(place.file, told);
                    None
                }
                None => {
                    let told = Problem::error(Code::UnknownType, ty.span, format!("there is no type `{name}`"));
                    let told = match report.library.closest_name(&name) {
                        Some(close) => told.help(format!("did you mean `{close}`?")),
                        None => told.help("import its struct or enum, or use Q, Z, N, N1 or B"),
                    };
                    report.tell(place.file, told);
                    None
                }
            }
        }
    }
}

fn structure(data: &Struct, file: FileId, place: &Place<'_>, report: &mut Report<'_>, depth: usize) -> Option<Ty> {
    if depth > STRUCT_DEPTH_MAX {
        let told =
            Problem::error(Code::Recursive, data.name.span, format!("struct `{}` contains itself", data.name.text));
        report.tell(file, told);
        return None;
    }
    report.reading(file);
    let inside = Place { file, component: place.component, outer: None };
    let mut fields: Vec<(String, Ty)> = Vec::new();
    for (ty, name) in &data.fields {
        if fields.iter().any(|(field, _)| *field == name.text) {
            let told = Problem::error(Code::Duplicate, name.span, format!("two fields are called `{}`", name.text));
            report.tell(file, told.help("rename one"));
            return None;
        }
        fields.push((name.text.clone(), resolve_deep(ty, &inside, &Env::default(), report, depth + 1)?));
    }
    let fields = Fields { name: data.name.text.clone(), fields };
    Some(Ty { kind: Kind::Struct(Rc::new(fields)), shape: vec![] })
}

/// The enum with a name, as seen from a file.
pub fn find_enum(library: &Library, name: &str, from: FileId) -> Option<Rc<Choices>> {
    match library.resolve(name, from)?.item {
        Item::Enum(data) => {
            let values = data.values.iter().map(|value| value.text.clone()).collect();
            Some(Rc::new(Choices { name: data.name.text.clone(), values }))
        }
        _ => None,
    }
}

/// The unit that a bound is written with.
fn written_unit(expr: &Expr) -> Option<Unit> {
    match &expr.kind {
        ExprKind::Number { unit, .. } | ExprKind::Infinity(unit) => *unit,
        ExprKind::Unary(_, inner) => written_unit(inner),
        ExprKind::Binary(_, left, right) => written_unit(left).or_else(|| written_unit(right)),
        _ => None,
    }
}

fn ranges(number: &mut Number, written: &[Range], place: &Place<'_>, env: &Env, report: &mut Report<'_>) -> Option<()> {
    let bounds = |piece: &'_ Range| [Some(piece.low.clone()), Some(piece.high.clone()), piece.step.clone()];
    let all: Vec<Expr> = written.iter().flat_map(bounds).flatten().collect();
    let shared = all.iter().find_map(written_unit);
    let mut pieces = Vec::new();
    for piece in written {
        pieces.push(one_range(piece, shared, place, env, report)?);
    }
    number.low = pieces.iter().map(|piece| piece.low).fold(f64::INFINITY, f64::min);
    number.high = pieces.iter().map(|piece| piece.high).fold(f64::NEG_INFINITY, f64::max);
    number.pieces = pieces;
    number.unit = shared;
    number.dimension = shared.map(|unit| unit.dimension).or(number.dimension);
    Some(())
}

/// One piece of a range; a bound without a unit is in the unit that the others share.
fn one_range(
    piece: &Range,
    shared: Option<Unit>,
    place: &Place<'_>,
    env: &Env,
    report: &mut Report<'_>,
) -> Option<Piece> {
    let value = |expr: &Expr, report: &mut Report<'_>| -> Option<f64> {
        let known = known(expr, place, env, report)?;
        let plain = *known.values.first()?;
        match (written_unit(expr), shared) {
            (Some(own), Some(shared)) if own.dimension != shared.dimension => {
                let message = format!("bounds in {} and in {}", shared.dimension, own.dimension);
                report.tell(place.file, Problem::error(Code::UnitMismatch, expr.span, message));
                None
            }
            (None, Some(shared)) if known.ty.dimension().is_none() && plain.is_finite() => Some(shared.to_si(plain)),
            _ => Some(plain),
        }
    };
    let (low, high) = (value(&piece.low, report)?, value(&piece.high, report)?);
    if low > high {
        let told = Problem::error(Code::BadRange, piece.span, format!("this range begins at {low} and ends at {high}"));
        report.tell(place.file, told.help("the smaller bound comes first"));
        return None;
    }
    let Some(step) = &piece.step else { return Some(Piece { low, high, step: None }) };
    if matches!(&step.kind, ExprKind::Name(name) if !env.values.contains_key(name)) {
        let told = Problem::warning(Code::UnknownName, step.span, "nobody says how large this step is; it is left out");
        report.tell(place.file, told);
        return Some(Piece { low, high, step: None });
    }
    // A step is a difference: degrees Celsius count like kelvins there.
    let width = value(step, report)? - written_unit(step).or(shared).map_or(0.0, |unit| unit.plus);
    if width.is_nan() || width <= 0.0 {
        let told = Problem::error(Code::BadRange, step.span, format!("{width} is no step"));
        report.tell(place.file, told.help("a step is larger than zero"));
        return None;
    }
    if low < high && width > (high - low) * (1.0 + 1e-9) {
        let message = format!("a step of {width} is larger than the range from {low} to {high}");
        let told = Problem::error(Code::BadRange, step.span, message);
        report.tell(place.file, told.help("the step stands between the bounds: `(low : step : high)`"));
        return None;
    }
    Some(Piece { low, high, step: Some(width) })
}
