//! Tables with straight lines between their points.

use super::{Beyond, Block, Wiring};
use crate::expression::{Binary, Expr, Place};
use crate::memory::{Slot, Span};
use crate::statement::Stmt;

/// Writes a block of this kind. Returns whether it is one.
pub fn emit(block: &Block, wiring: &mut Wiring<'_>) -> bool {
    match block {
        Block::Lookup1 { points, values, beyond } => {
            let input = wiring.inputs[0];
            let (part, share) = between(wiring, input, points, *beyond);
            let values = wiring.builder.constant(format!("{}.values", wiring.name), values);
            let value = line(value_at(values, part.into()), value_at(values, part + 1.0), share);
            wiring.give(value);
        }
        Block::Lookup2 { rows, columns, values, beyond } => {
            let [first, second] = [wiring.inputs[0], wiring.inputs[1]];
            let width = columns.len() as f64;
            let (row, down) = between(wiring, first, rows, *beyond);
            let (column, right) = between(wiring, second, columns, *beyond);
            let values = wiring.builder.constant(format!("{}.values", wiring.name), values);
            let corner = |down: f64, right: f64| value_at(values, (row + down) * width + (column + right));
            let upper = line(corner(0.0, 0.0), corner(0.0, 1.0), right);
            let lower = line(corner(1.0, 0.0), corner(1.0, 1.0), right);
            let edges = wiring.builder.scratch(2);
            wiring.compute(Stmt::set(edges.at(0), upper));
            wiring.compute(Stmt::set(edges.at(1), lower));
            wiring.give(line(edges.at(0).into(), edges.at(1).into(), down));
        }
        _ => return false,
    }
    true
}

fn value_at(values: Span, index: Expr) -> Expr {
    Expr::element(values, index, Place::default())
}

/// from + (to − from)·share.
fn line(from: Expr, to: Expr, share: Slot) -> Expr {
    from.clone() + (to - from) * share
}

/// Which part of the points an input lies in, and where in it: 0 at its start, 1 at its end.
fn between(wiring: &mut Wiring<'_>, input: Slot, points: &[f64], beyond: Beyond) -> (Slot, Slot) {
    let locals = wiring.builder.scratch(4);
    let [at, part, share, k] = [0, 1, 2, 3].map(|offset| locals.at(offset));
    let last = points.len() - 1;
    let clipped = match beyond {
        Beyond::Clip => Expr::from(input).max(points[0]).min(points[last]),
        Beyond::Extend => input.into(),
    };
    let table = wiring.builder.constant(format!("{}.points", wiring.name), points);
    wiring.compute(Stmt::set(at, clipped));
    wiring.compute(Stmt::set(part, 0.0));
    let passed = Expr::binary(Binary::GreaterEqual, at, value_at(table, k.into()));
    let found = Stmt::if_else(passed, vec![Stmt::set(part, k)], Vec::new());
    wiring.compute(Stmt::for_each(k, 1.0, 1.0, last as f64 - 1.0, vec![found]));
    let start = value_at(table, part.into());
    let end = value_at(table, part + 1.0);
    wiring.compute(Stmt::set(share, (at - start.clone()) / (end - start)));
    (part, share)
}
