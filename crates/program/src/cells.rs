//! Numbers that several hands may write, each in places of its own.
//!
//! Executors work on cells and not on an exclusive slice, because independent branches of a program run at the same time over
//! one memory. Nothing claims places that it does not touch.

use std::cell::Cell;

/// A part of the memory.
pub type Cells = [Cell<f64>];

/// Exclusive numbers as cells.
pub fn of(values: &mut [f64]) -> &Cells {
    Cell::from_mut(values).as_slice_of_cells()
}

/// A copy of the numbers.
pub fn read(cells: &Cells) -> Vec<f64> {
    cells.iter().map(Cell::get).collect()
}

/// Puts numbers in; as many as both have.
pub fn write(cells: &Cells, values: &[f64]) {
    cells.iter().zip(values).for_each(|(cell, value)| cell.set(*value));
}

/// Copies a range to a place; they may overlap.
pub fn copy_within(cells: &Cells, from: std::ops::Range<usize>, to: usize) {
    let (start, length) = (from.start, from.len());
    if to <= start {
        (0..length).for_each(|k| cells[to + k].set(cells[start + k].get()));
    } else {
        (0..length).rev().for_each(|k| cells[to + k].set(cells[start + k].get()));
    }
}
