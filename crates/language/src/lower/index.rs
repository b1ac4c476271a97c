//! Indices: which elements are read or written. They are counted from 1 in the text and from 0 in programs.

use anabranch_program::{self as ir, ArrayOp, Binary, Unary};

use super::expr::{fold_binary, slots_value, var_value};
use super::{Data, Ending, Lower, Val};
use crate::diagnostic::{Code, Problem};
use crate::model::ty::{Class, Ty};
use crate::syntax::Span;
use crate::syntax::ast::{Expr, ExprKind};

/// Elements that an index chose.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// The type of what was chosen.
    pub ty: Ty,
    /// The slots it was chosen from.
    pub from: ir::Span,
    /// Where each chosen slot is, counted from zero.
    pub at: Vec<ir::Expr>,
    /// The place told in faults.
    pub place: ir::Place,
}

/// One index: a place, or several that are known.
enum Pick {
    One(ir::Expr),
    Many(Vec<u32>),
}

impl Lower<'_, '_> {
    /// `f(…)` or `m(…)`.
    pub(super) fn call_or_index(&mut self, callee: &Expr, args: &[Expr], span: Span) -> Option<Val> {
        if let ExprKind::Name(name) = &callee.kind {
            let is_value = self.var(name).is_some() || self.env.values.contains_key(name);
            if !is_value {
                return self.call(name, args, callee.span, span);
            }
        }
        let chosen = self.chosen(callee, args, span)?;
        Some(self.read(&chosen))
    }

    /// The elements that `base(args)` means.
    pub(super) fn chosen(&mut self, base: &Expr, args: &[Expr], span: Span) -> Option<Chosen> {
        if let ExprKind::Name(name) = &base.kind
            && let Some(var) = self.var(name).cloned()
            && let Some(count) = var.count
        {
            return self.chosen_port(&var_value(&var), &var.ty, count, args, span);
        }
        let val = self.expr(base)?;
        self.choose(&val, args, span)
    }

    /// An element of an array of ports, and elements of that one.
    fn chosen_port(&mut self, all: &Val, each: &Ty, count: u32, args: &[Expr], span: Span) -> Option<Chosen> {
        let flat = Val { ty: Ty { shape: vec![count], ..each.clone() }, data: all.data.clone() };
        if each.shape.is_empty() {
            return self.choose(&flat, args, span);
        }
        let Some((first, rest)) = args.split_first() else { return self.choose(&flat, args, span) };
        let size = each.size();
        let pick = self.picked(first, &[count], 0, 1)?;
        let Pick::One(at) = pick else {
            return self.error(Code::NotSupported, first.span, "several ports with several elements each");
        };
        let from = self.slots(all);
        let start = fold_binary(Binary::Mul, at, ir::Expr::Const(f64::from(size)));
        let at = (0..size).map(|i| fold_binary(Binary::Add, start.clone(), ir::Expr::Const(f64::from(i)))).collect();
        let whole = Chosen { ty: each.clone(), from, at, place: self.located(span) };
        if rest.is_empty() {
            return Some(whole);
        }
        let val = self.read(&whole);
        self.choose(&val, rest, span)
    }

    fn choose(&mut self, val: &Val, args: &[Expr], span: Span) -> Option<Chosen> {
        let sizes = sizes_for(&val.ty, args.len());
        let Some(sizes) = sizes else {
            let message = format!("{} indices for {}", args.len(), val.ty);
            return self.error(Code::ShapeMismatch, span, message);
        };
        let picks: Vec<Option<Pick>> =
            args.iter().enumerate().map(|(i, arg)| self.picked(arg, &sizes, i, args.len())).collect();
        let picks: Vec<Pick> = picks.into_iter().collect::<Option<_>>()?;
        let stride = val.ty.size() / val.ty.elements().max(1);
        let one = picks.iter().all(|pick| matches!(pick, Pick::One(_)));
        let shape: Vec<u32> = picks.iter().map(count).collect();
        let shape = if one { vec![] } else { lying(&val.ty, shape) };
        let at = self.offsets(&val.ty, &picks, stride);
        let from = self.slots(val);
        Some(Chosen { ty: Ty { kind: val.ty.kind.clone(), shape }, from, at, place: self.located(span) })
    }

    /// Every combination of the picks, as places in memory.
    fn offsets(&self, ty: &Ty, picks: &[Pick], stride: u32) -> Vec<ir::Expr> {
        let (rows, columns) = match *ty.shape.as_slice() {
            [rows, columns, ..] => (rows, columns),
            _ => ty.rows_columns(),
        };
        let list = |pick: &Pick| -> Vec<ir::Expr> {
            match pick {
                Pick::One(at) => vec![at.clone()],
                Pick::Many(all) => all.iter().map(|at| ir::Expr::Const(f64::from(*at))).collect(),
            }
        };
        let times = |a: ir::Expr, n: u32| fold_binary(Binary::Mul, a, ir::Expr::Const(f64::from(n)));
        let plus = |a, b| fold_binary(Binary::Add, a, b);
        let mut places = Vec::new();
        match picks {
            [all] => {
                let by_columns = rows > 1 && columns > 1;
                places
                    .extend(list(all).into_iter().map(|at| if by_columns { by_column(at, rows, columns) } else { at }));
            }
            [row, column] => {
                for i in list(row) {
                    places.extend(list(column).into_iter().map(|j| plus(times(i.clone(), columns), j)));
                }
            }
            [row, column, slice, ..] => {
                for k in list(slice) {
                    for i in list(row) {
                        let top = plus(times(k.clone(), rows), i);
                        places.extend(list(column).into_iter().map(|j| plus(times(top.clone(), columns), j)));
                    }
                }
            }
            [] => places.extend((0..ty.elements()).map(|i| ir::Expr::Const(f64::from(i)))),
        }
        if stride == 1 {
            return places;
        }
        let parts =
            |at: ir::Expr| (0..stride).map(move |i| plus(times(at.clone(), stride), ir::Expr::Const(f64::from(i))));
        places.into_iter().flat_map(parts).collect()
    }

    /// One index of several.
    fn picked(&mut self, arg: &Expr, sizes: &[u32], at: usize, of: usize) -> Option<Pick> {
        let size = sizes.get(at).copied().unwrap_or(1);
        if matches!(arg.kind, ExprKind::Colon) {
            return Some(Pick::Many((0..size).collect()));
        }
        self.endings.push(Ending { sizes: sizes.to_vec(), at, of });
        let pick = self.picked_value(arg, size, of);
        self.endings.pop();
        pick
    }

    fn picked_value(&mut self, arg: &Expr, size: u32, of: usize) -> Option<Pick> {
        if matches!(arg.kind, ExprKind::Range(..) | ExprKind::Matrix(_)) {
            let known = self.known_indices(arg)?;
            for index in &known {
                self.inside(*index, size, arg.span)?;
            }
            return Some(Pick::Many(known.iter().map(|index| *index as u32 - 1).collect()));
        }
        let val = self.expr(arg)?;
        self.require_plain(&val, arg.span)?;
        if let Some(index) = val.constant() {
            self.inside(index, size, arg.span)?;
            return Some(Pick::One(ir::Expr::Const(index - 1.0)));
        }
        let expr = self.scalar(&val, arg.span)?;
        let whole = val.ty.number().is_some_and(|number| number.class == Class::Whole);
        let expr = if whole { expr } else { ir::Expr::unary(Unary::Truncate, expr) };
        let zero_based = fold_binary(Binary::Sub, expr, ir::Expr::Const(1.0));
        let zero_based = self.light(zero_based);
        Some(Pick::One(if of > 1 { bounded(zero_based, size) } else { zero_based }))
    }

    /// The same value, in a slot of its own if it takes long to write: indices are repeated.
    fn light(&mut self, expr: ir::Expr) -> ir::Expr {
        fn weight(expr: &ir::Expr) -> usize {
            1 + expr.operands().map(weight).sum::<usize>()
        }
        if weight(&expr) <= 6 {
            return expr;
        }
        let slot = self.builder.scratch(1).start;
        self.emit(ir::Stmt::set(slot, expr));
        ir::Expr::Slot(slot)
    }

    /// Indices of a range or list, which must be known.
    fn known_indices(&mut self, arg: &Expr) -> Option<Vec<f64>> {
        let entries: Vec<Val> = match &arg.kind {
            ExprKind::Range(low, step, high) => {
                let low = self.expr(low)?;
                let step = match step {
                    Some(step) => self.expr(step)?.constant(),
                    None => Some(1.0),
                };
                let high = self.expr(high)?;
                let (Some(low), Some(step), Some(high)) = (low.constant(), step, high.constant()) else {
                    let told =
                        Problem::error(Code::NotConstant, arg.span, "this slice is not known when the model is built");
                    self.tell(told.help("use a loop, or parameters as bounds"));
                    return None;
                };
                let count = ((high - low) / step + 1e-10).floor() + 1.0;
                if !count.is_finite() || count > f64::from(super::ELEMENTS_MAX) {
                    return self.error(Code::TooLarge, arg.span, "this slice never ends or is too long");
                }
                return Some((0..count.max(0.0) as u32).map(|i| low + f64::from(i) * step).collect());
            }
            ExprKind::Matrix(rows) => {
                let vals: Vec<Option<Val>> = rows.iter().flatten().map(|entry| self.expr(entry)).collect();
                vals.into_iter().collect::<Option<_>>()?
            }
            _ => return None,
        };
        let known: Option<Vec<f64>> = entries.iter().map(Val::constant).collect();
        if known.is_none() {
            return self.error(Code::NotConstant, arg.span, "these indices are not known when the model is built");
        }
        known
    }

    fn inside(&mut self, index: f64, size: u32, span: Span) -> Option<()> {
        if index.fract() != 0.0 || index < 1.0 || index > f64::from(size) {
            let told = Problem::error(Code::Index, span, format!("there is no element {index} of {size}"));
            self.tell(told.help("elements are counted from 1"));
            return None;
        }
        Some(())
    }

    /// `end` as an index.
    pub(super) fn end_value(&mut self, span: Span) -> Option<Val> {
        let Some(ending) = self.endings.last() else {
            return self.error(Code::Expected, span, "`end` is an index only inside an index");
        };
        let size = if ending.of == 1 { ending.sizes.iter().product() } else { ending.sizes[ending.at] };
        Some(Val::number(Class::Whole, None, ir::Expr::Const(f64::from(size))))
    }

    /// The chosen elements as a value.
    pub(super) fn read(&mut self, chosen: &Chosen) -> Val {
        if let Some(start) = contiguous(&chosen.at) {
            let length = u32::try_from(chosen.at.len()).unwrap_or(0);
            return slots_value(chosen.ty.clone(), chosen.from.part(start, length));
        }
        let element = |at: &ir::Expr| match at {
            ir::Expr::Const(at) => ir::Expr::Slot(chosen.from.at(*at as u32)),
            at => ir::Expr::element(chosen.from, at.clone(), chosen.place),
        };
        if let ([one], true) = (chosen.at.as_slice(), chosen.ty.shape.is_empty() && chosen.ty.number().is_some()) {
            return Val { ty: chosen.ty.clone(), data: Data::Number(element(one)) };
        }
        let to = self.builder.scratch(u32::try_from(chosen.at.len()).unwrap_or(0));
        for (i, at) in chosen.at.iter().enumerate() {
            let expr = element(at);
            self.emit(ir::Stmt::set(to.at(i as u32), expr));
        }
        Val { ty: chosen.ty.clone(), data: Data::Slots(to) }
    }

    /// Writes numbers to the chosen elements: one to all, or each its own.
    pub(super) fn write(&mut self, chosen: &Chosen, val: &Val) {
        if let (Some(start), Data::Slots(from)) = (contiguous(&chosen.at), &val.data)
            && from.length as usize == chosen.at.len()
        {
            self.emit(ArrayOp::Copy { to: chosen.from.part(start, from.length), from: *from });
            return;
        }
        for (i, at) in chosen.at.iter().enumerate() {
            let value = match &val.data {
                Data::Number(expr) => expr.clone(),
                Data::Slots(from) => ir::Expr::Slot(from.at(if from.length == 1 { 0 } else { i as u32 })),
            };
            match at {
                ir::Expr::Const(at) => self.emit(ir::Stmt::set(chosen.from.at(*at as u32), value)),
                at => self.emit(ir::Stmt::set_element(chosen.from, at.clone(), value).at(chosen.place)),
            }
        }
    }
}

fn count(pick: &Pick) -> u32 {
    match pick {
        Pick::One(_) => 1,
        Pick::Many(all) => u32::try_from(all.len()).unwrap_or(0),
    }
}

/// A slice of a vector lies as the vector does.
fn lying(ty: &Ty, shape: Vec<u32>) -> Vec<u32> {
    match (shape.as_slice(), ty.rows_columns()) {
        ([n], (rows, 1)) if rows > 1 => vec![*n, 1],
        ([n], _) => vec![1, *n],
        _ => shape,
    }
}

/// The sizes that so many indices count through.
fn sizes_for(ty: &Ty, indices: usize) -> Option<Vec<u32>> {
    match (indices, ty.shape.as_slice()) {
        (0, _) => Some(vec![]),
        (1, _) => Some(vec![ty.elements()]),
        (2, [n]) => Some(vec![1, *n]),
        (2, []) => Some(vec![1, 1]),
        (n, shape) if n == shape.len() => Some(shape.to_vec()),
        (3, [rows, columns]) => Some(vec![*rows, *columns, 1]),
        _ => None,
    }
}

/// Element `l` of a matrix, counted down its columns.
fn by_column(at: ir::Expr, rows: u32, columns: u32) -> ir::Expr {
    let (rows, columns) = (f64::from(rows), f64::from(columns));
    if let ir::Expr::Const(at) = at {
        return ir::Expr::Const((at % rows) * columns + (at / rows).floor());
    }
    let inside = bounded(at, (rows * columns) as u32);
    let row = ir::Expr::binary(Binary::Remainder, inside.clone(), rows);
    row * columns + ir::Expr::unary(Unary::Floor, inside / rows)
}

/// An index of several that leads outside of the whole matrix if it is outside of its own size.
fn bounded(at: ir::Expr, size: u32) -> ir::Expr {
    let fits = ir::Expr::and(
        ir::Expr::binary(Binary::GreaterEqual, at.clone(), 0.0),
        ir::Expr::binary(Binary::Less, at.clone(), f64::from(size)),
    );
    ir::Expr::select(fits, at, -1e12)
}

/// The first place, if all are known and follow each other.
fn contiguous(at: &[ir::Expr]) -> Option<u32> {
    let ir::Expr::Const(first) = at.first()? else { return None };
    let follows = |(i, at): (usize, &ir::Expr)| matches!(at, ir::Expr::Const(x) if *x == first + i as f64);
    at.iter().enumerate().all(follows).then_some(*first as u32)
}
