//! Which variable keeps states apart: what an exploration that hardly merges can be told about itself.

use std::collections::BTreeSet;

use anabranch_kernel::{CellSize, Grid, KeyReader, Reading, System};

/// States of a level that are looked at.
const STATES_MAX: usize = 2_048;
/// By how much a cell is widened to see what that would merge.
const WIDER: f64 = 4.0;
/// Into how many cells the range of a continuous variable that is compared exactly is cut, to see what that would merge.
const CELLS_OF_RANGE: f64 = 32.0;
/// A separator leaves at most this share of the states.
const LEFT_MAX: f64 = 0.75;
/// Fewer states than this say nothing.
const STATES_MIN: usize = 64;

/// A variable that keeps states apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separator {
    /// Its position among the variables of the system.
    pub variable: usize,
    /// A cell of this size was looked at; `None` if the variable was left out altogether.
    pub size: Option<f64>,
    /// Of the states of the widest level that was looked at, the share that would then be left.
    pub left: f64,
}

/// The values of some states of the widest level.
#[derive(Clone, Debug)]
pub(crate) struct Crowd {
    reader: KeyReader,
    level: u32,
    current: Vec<Vec<(usize, Reading)>>,
    widest: Vec<Vec<(usize, Reading)>>,
}

impl Crowd {
    pub(crate) fn new(variables: usize) -> Self {
        Self { reader: KeyReader::new(variables), level: 0, current: Vec::new(), widest: Vec::new() }
    }

    /// A state of a level was kept.
    pub(crate) fn see<S: System>(&mut self, system: &S, level: u32, state: &S::State) {
        if level != self.level {
            let last = std::mem::take(&mut self.current);
            if last.len() > self.widest.len() {
                self.widest = last;
            }
            self.level = level;
        }
        if self.current.len() < STATES_MAX {
            self.current.push(self.reader.read(|writer| system.cell(state, writer)));
        }
    }

    /// The variable whose wider cells, or absence, would merge most; nothing if none would merge much.
    pub(crate) fn separator(&self, grid: &Grid) -> Option<Separator> {
        let states = if self.current.len() > self.widest.len() { &self.current } else { &self.widest };
        if states.len() < STATES_MIN {
            return None;
        }
        let now = distinct(states, grid.sizes());
        let tried = grid.sizes().iter().enumerate().filter_map(|(variable, size)| {
            let mut sizes = grid.sizes().to_vec();
            let wider = match size {
                CellSize::Size(size) => Some(size * WIDER),
                CellSize::Exact => cell_of_range(states, variable),
                CellSize::Ignore => return None,
            };
            sizes[variable] = wider.map_or(CellSize::Ignore, CellSize::Size);
            let left = distinct(states, &sizes) as f64 / now as f64;
            Some(Separator { variable, size: wider, left })
        });
        tried.filter(|tried| tried.left < LEFT_MAX).min_by(|a, b| a.left.total_cmp(&b.left))
    }
}

/// A cell for a variable that is compared exactly although it takes numbers between whole ones; nothing for any other.
fn cell_of_range(states: &[Vec<(usize, Reading)>], variable: usize) -> Option<f64> {
    let readings = states.iter().flatten().filter(|(index, _)| *index == variable);
    let (mut low, mut high, mut is_whole) = (f64::INFINITY, f64::NEG_INFINITY, true);
    for (_, reading) in readings {
        let Reading::Real(value) = *reading else { return None };
        (low, high) = (low.min(value), high.max(value));
        is_whole &= value.fract() == 0.0;
    }
    let cell = round_number((high - low) / CELLS_OF_RANGE);
    (!is_whole && CellSize::is_countable(cell)).then_some(cell)
}

/// The largest of 1, 2 and 5 times a power of ten that is not larger.
fn round_number(value: f64) -> f64 {
    if value.is_nan() || value <= 0.0 {
        return 0.0;
    }
    let power = 10_f64.powi((value.log10() + 1e-9).floor() as i32);
    let digit = [5.0, 2.0].into_iter().find(|digit| digit * power <= value * (1.0 + 1e-9)).unwrap_or(1.0);
    digit * power
}

/// Cells that the states fall into.
fn distinct(states: &[Vec<(usize, Reading)>], sizes: &[CellSize]) -> usize {
    let cell = |&(variable, reading): &(usize, Reading)| match (sizes[variable], reading) {
        (CellSize::Ignore, _) => None,
        (CellSize::Size(size), Reading::Real(value)) => Some((variable, (value / size + 0.5).floor().to_bits())),
        (_, Reading::Real(value)) => Some((variable, value.to_bits())),
        (_, Reading::Exact(value)) => Some((variable, value)),
    };
    states.iter().map(|state| state.iter().filter_map(cell).collect::<Vec<_>>()).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_that_keeps_states_apart_is_named() {
        // 100 states that differ in the second variable alone.
        let states =
            (0..100).map(|n| vec![(0, Reading::Real(0.5)), (1, Reading::Real(f64::from(n))), (2, Reading::Exact(1))]);
        let mut crowd = Crowd::new(3);
        crowd.current = states.collect();
        let grid = Grid::from_sizes(vec![CellSize::Size(1.0), CellSize::Size(1.0), CellSize::Exact]);
        let separator = crowd.separator(&grid).unwrap();
        assert_eq!((separator.variable, separator.size), (1, Some(4.0)));
        assert!((separator.left - 0.26).abs() < 0.02, "{}", separator.left);
        crowd.current.truncate(10);
        assert_eq!(crowd.separator(&grid), None);
    }

    #[test]
    fn a_continuous_variable_that_is_compared_exactly_gets_a_cell_and_a_discrete_one_none() {
        let grid = Grid::from_sizes(vec![CellSize::Exact]);
        let check = |reading: fn(u32) -> Reading, size: Option<f64>| {
            let mut crowd = Crowd::new(1);
            crowd.current = (0..1_000).map(|n| vec![(0, reading(n))]).collect();
            let separator = crowd.separator(&grid).unwrap();
            assert_eq!((separator.variable, separator.size), (0, size));
            separator.left
        };
        // Numbers from 0 to 0.999: a 32nd of that is 0.0312, and 0.02 is the next round number.
        let left = check(|n| Reading::Real(f64::from(n) / 1_000.0), Some(0.02));
        assert!((left - 0.051).abs() < 1e-9, "{left}");
        check(|n| Reading::Real(f64::from(n)), None);
        check(|n| Reading::Exact(u64::from(n)), None);
        assert_eq!([0.0312, 0.05, 0.2, 7.0, f64::NAN].map(round_number), [0.02, 0.05, 0.2, 5.0, 0.0]);
    }
}
