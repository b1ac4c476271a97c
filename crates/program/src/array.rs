//! Computations with whole spans, defined once for every executor.

use std::cell::Cell;
use std::ops::Range;

use crate::cells::{self, Cells};
use crate::fault::FaultKind;
use crate::linear;
use crate::memory::{Layout, Matrix, Span};
use crate::scalar::{self, truth};
use crate::statement::{ArrayOp, Fold};

/// Does an array operation. `value` is the computed value of a `Fill`.
///
/// The program was checked: all spans exist and all shapes fit.
pub fn run(operation: &ArrayOp, layout: &Layout, memory: &Cells, value: f64) -> Result<(), FaultKind> {
    let at = |span: Span| layout.addresses(span);
    match *operation {
        ArrayOp::Copy { to, from } => cells::copy_within(memory, at(from), at(to).start),
        ArrayOp::Fill { to, .. } => memory[at(to)].iter().for_each(|cell| cell.set(value)),
        ArrayOp::Map { to, function, from } => {
            let (to, from) = (at(to), at(from));
            in_order(memory, to, std::slice::from_ref(&from), |memory, k| {
                scalar::unary(function, memory[from.start + k].get())
            });
        }
        ArrayOp::Zip { to, function, left, right } => {
            let (to, left, right) = (at(to), at(left), at(right));
            let stride = |operand: &Range<usize>| usize::from(operand.len() != 1 || to.len() == 1);
            let (step_left, step_right) = (stride(&left), stride(&right));
            in_order(memory, to, &[left.clone(), right.clone()], |memory, k| {
                let (x, y) = (&memory[left.start + k * step_left], &memory[right.start + k * step_right]);
                scalar::binary(function, x.get(), y.get())
            });
        }
        ArrayOp::Fold { to, function, from } => memory[layout.address(to)].set(fold(function, &memory[at(from)])),
        ArrayOp::Dot { to, left, right } => {
            let pairs = memory[at(left)].iter().zip(&memory[at(right)]);
            memory[layout.address(to)].set(pairs.fold(0.0, |sum, (a, b)| sum + a.get() * b.get()));
        }
        ArrayOp::Differences { to, from } => {
            let (to, from) = (at(to), at(from));
            in_order(memory, to, std::slice::from_ref(&from), |memory, k| {
                memory[from.start + k + 1].get() - memory[from.start + k].get()
            });
        }
        ArrayOp::RunningSum { to, from } => {
            let (to, from) = (at(to), at(from));
            let mut sum = 0.0;
            in_order(memory, to, std::slice::from_ref(&from), |memory, k| {
                sum += memory[from.start + k].get();
                sum
            });
        }
        ArrayOp::Sort { to, from } => {
            let mut numbers = cells::read(&memory[at(from)]);
            numbers.sort_by(|a, b| match (a.is_nan(), b.is_nan()) {
                (false, false) => a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal),
                (first, second) => first.cmp(&second),
            });
            cells::write(&memory[at(to)], &numbers);
        }
        _ => return matrices(operation, layout, memory),
    }
    Ok(())
}

/// Writes element after element. Where a later element would read what an earlier one has overwritten, the results wait
/// beside the memory.
fn in_order(
    memory: &Cells,
    to: Range<usize>,
    operands: &[Range<usize>],
    mut element: impl FnMut(&Cells, usize) -> f64,
) {
    let length = to.len();
    // From an operand that begins at or after the target, element k is read before it is overwritten. One element that
    // every round reads must lie outside.
    let safe = operands.iter().all(|from| {
        let outside = from.end <= to.start || to.end <= from.start;
        outside || (from.start >= to.start && from.len() >= length)
    });
    if safe {
        for k in 0..length {
            memory[to.start + k].set(element(memory, k));
        }
    } else {
        let results: Vec<f64> = (0..length).map(|k| element(memory, k)).collect();
        cells::write(&memory[to], &results);
    }
}

/// The scalar product, summed in order.
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in left.iter().zip(right) {
        sum += a * b;
    }
    sum
}

fn fold(function: Fold, cells: &Cells) -> f64 {
    let from = || cells.iter().map(Cell::get);
    let extreme = |better: fn(f64, f64) -> bool| {
        let mut best = 0;
        for (k, value) in from().enumerate() {
            let held = cells[best].get();
            if better(value, held) || (held.is_nan() && !value.is_nan()) {
                best = k;
            }
        }
        best as f64
    };
    let sum = |of: fn(f64) -> f64| from().fold(0.0, |sum, x| sum + of(x));
    match function {
        Fold::Sum => sum(|x| x),
        Fold::Product => from().fold(1.0, |product, x| product * x),
        Fold::Min => from().fold(f64::INFINITY, |best, x| scalar::min(x, best)),
        Fold::Max => from().fold(f64::NEG_INFINITY, |best, x| scalar::max(x, best)),
        Fold::Mean => sum(|x| x) / cells.len() as f64,
        Fold::Norm => sum(|x| x * x).sqrt(),
        Fold::NormOne => sum(f64::abs),
        Fold::NormMax => from().fold(0.0, |best, x| scalar::max(x.abs(), best)),
        Fold::ArgMin => extreme(|a, b| a < b),
        Fold::ArgMax => extreme(|a, b| a > b),
        Fold::Any => f64::from(u8::from(from().any(truth))),
        Fold::All => f64::from(u8::from(from().all(truth))),
    }
}

fn matrices(operation: &ArrayOp, layout: &Layout, memory: &Cells) -> Result<(), FaultKind> {
    let place = |matrix: Matrix| layout.addresses(matrix.span());
    let size = |matrix: Matrix| (matrix.rows as usize, matrix.columns as usize);
    match *operation {
        ArrayOp::Product { to, left, right } => {
            let results = product(&memory[place(left)], &memory[place(right)], size(left), right.columns as usize);
            cells::write(&memory[place(to)], &results);
        }
        ArrayOp::Transpose { to, from } => {
            let (rows, columns) = size(from);
            let (to, from) = (place(to), place(from));
            let start = from.start;
            beside(memory, to, &[from], |memory, k| memory[start + (k % rows) * columns + k / rows].get());
        }
        ArrayOp::Diagonal { to, from } => {
            let n = to.rows as usize;
            let numbers = from.map_or_else(|| vec![1.0; n], |from| cells::read(&memory[layout.addresses(from)]));
            let to = &memory[place(to)];
            to.iter().for_each(|cell| cell.set(0.0));
            numbers.into_iter().enumerate().for_each(|(k, number)| to[k * n + k].set(number));
        }
        ArrayOp::Determinant { to, from } => {
            memory[layout.address(to)].set(linear::determinant(cells::read(&memory[place(from)]), size(from).0));
        }
        ArrayOp::Inverse { to, from } => {
            let inverse = linear::inverse(cells::read(&memory[place(from)]), size(from).0)?;
            cells::write(&memory[place(to)], &inverse);
        }
        ArrayOp::Solve { to, left, right } => {
            let a = cells::read(&memory[place(left)]);
            let b = cells::read(&memory[place(right)]);
            let x = linear::solve(a, size(left), b, size(right).1)?;
            cells::write(&memory[place(to)], &x);
        }
        ArrayOp::Eigen { values, vectors, from } => {
            let (found, columns) = linear::eigen(cells::read(&memory[place(from)]), size(from).0)?;
            cells::write(&memory[layout.addresses(values)], &found);
            if let Some(vectors) = vectors {
                cells::write(&memory[place(vectors)], &columns);
            }
        }
        ArrayOp::SquareRoot { to, from } => {
            let root = linear::square_root(cells::read(&memory[place(from)]), size(from).0)?;
            cells::write(&memory[place(to)], &root);
        }
        // The others are done by `run`.
        _ => {}
    }
    Ok(())
}

/// The product of matrices. Each element is summed in order, but whole rows grow together, which suits caches and vectors.
fn product(left: &Cells, right: &Cells, (rows, inner): (usize, usize), columns: usize) -> Vec<f64> {
    let mut results = vec![0.0; rows * columns];
    if columns == 0 || inner == 0 {
        return results;
    }
    for (sums, factors) in results.chunks_mut(columns).zip(left.chunks(inner)) {
        for (factor, row) in factors.iter().zip(right.chunks(columns)) {
            let factor = factor.get();
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * x.get());
        }
    }
    results
}

/// Writes element after element if the target lies apart from all operands, else all at once at the end.
fn beside(memory: &Cells, to: Range<usize>, operands: &[Range<usize>], element: impl Fn(&Cells, usize) -> f64) {
    if operands.iter().all(|from| from.end <= to.start || to.end <= from.start) {
        for k in 0..to.len() {
            memory[to.start + k].set(element(memory, k));
        }
    } else {
        let results: Vec<f64> = (0..to.len()).map(|k| element(memory, k)).collect();
        cells::write(&memory[to], &results);
    }
}
