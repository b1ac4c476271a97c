//! The merge key: which states count as alike.
//!
//! Every state variable is in the key, discrete ones exactly, continuous ones by a cell size that
//! their part declares and the scenario may override. `Ignore` drops one, and the verdict names it.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// How one variable enters the key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum CellSize {
    /// By its exact value.
    Exact,
    /// By the cell of this size it lies in, in the unit of the variable. Cells are centred on whole
    /// multiples of the size, so that a value at rest on zero does not sit on an edge.
    Size(f64),
    /// Not at all; the verdict says so.
    Ignore,
}

/// A state variable as its part declares it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Name in scenarios: `x`, `heading`, `steering`.
    pub name: String,
    /// Unit of the values and of the cell size; empty for plain numbers.
    pub unit: String,
    /// The size its part found sensible.
    pub size: CellSize,
}

impl Variable {
    /// A discrete variable.
    pub fn exact(name: &str) -> Self {
        Self { name: name.to_owned(), unit: String::new(), size: CellSize::Exact }
    }
    /// A continuous variable with its default cell size.
    pub fn real(name: &str, unit: &str, size: f64) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), size: CellSize::Size(size) }
    }
}

/// Cell sizes of all variables of a system, in the order it declares them.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    sizes: Vec<CellSize>,
    /// Cells per unit, 0 for variables that have no cells: what the hot path needs, in one place.
    per_unit: Vec<f64>,
}

/// From this number of cells on either side of zero a value counts by its exact bits: cell numbers beyond would be rounded, in
/// the end all to the same one. 2^36 cells of 1 mm are 68 719 km.
const COUNTABLE: f64 = (1_u64 << 36) as f64;

/// Two values of one cell are at most this many cell sizes apart. Cells are counted with three roundings of relative size
/// 2^-53 at either edge, at most 2^36 cells from zero: 6 · 2^-53 · 2^36 is less than half of what is allowed here.
pub const CELL_SLACK: f64 = 1.0 + 1e-4;

/// Stands before the exact bits of a value that cannot be counted; no cell has this number.
const UNCOUNTED: u64 = 1 << 63;

impl CellSize {
    /// A size by which values can be counted: positive, and neither it nor its inverse is lost in the range of numbers.
    /// Others are refused where they are read, and a [`Grid`] takes them as exact.
    pub fn is_countable(size: f64) -> bool {
        size > 0.0 && size.is_normal() && (1.0 / size).is_normal()
    }
}

impl Grid {
    /// The sizes the parts declare.
    pub fn of(variables: &[Variable]) -> Self {
        Self::from_sizes(variables.iter().map(|v| v.size).collect())
    }
    /// Explicit sizes, one per variable. What has a size by which nothing can be counted is compared exactly: that merges
    /// less, never more.
    pub fn from_sizes(mut sizes: Vec<CellSize>) -> Self {
        for size in &mut sizes {
            if matches!(size, CellSize::Size(size) if !CellSize::is_countable(*size)) {
                *size = CellSize::Exact;
            }
        }
        let cells = |size: &CellSize| match size {
            CellSize::Size(size) => 1.0 / size,
            CellSize::Exact | CellSize::Ignore => 0.0,
        };
        Self { per_unit: sizes.iter().map(cells).collect(), sizes }
    }
    /// The same grid with every size multiplied.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let scale = |size: &CellSize| match size {
            CellSize::Size(size) => CellSize::Size(size * factor),
            other => *other,
        };
        Self::from_sizes(self.sizes.iter().map(scale).collect())
    }
    /// Sizes in the order of the variables.
    pub fn sizes(&self) -> &[CellSize] {
        &self.sizes
    }
}

/// Largest whole number not above, as a word; for values below [`COUNTABLE`]. Without a call into the maths library, which `f64::floor` is on targets
/// without an instruction for it.
#[inline(always)]
fn floor_to_word(value: f64) -> u64 {
    let towards_zero = value as i64;
    (towards_zero - i64::from(value < towards_zero as f64)) as u64
}

/// Identity of a cell. 128 bits, so that a silent drop is not a matter of luck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellKey(pub u128);

/// Words written before they are folded into one; large states fold more than once.
const WORDS_MAX: usize = 64;

/// Reads the values of the variables that a state writes into its key.
#[derive(Clone, Debug)]
pub struct KeyReader {
    grid: Grid,
}

impl KeyReader {
    /// A reader for systems with this many variables.
    pub fn new(variables: usize) -> Self {
        Self { grid: Grid::from_sizes(vec![CellSize::Ignore; variables]) }
    }
    /// Hands a writer to `write` and returns what it wrote, with the positions of the variables, in order.
    pub fn read(&self, write: impl FnOnce(&mut KeyWriter<'_>)) -> Vec<(usize, Reading)> {
        let mut writer = KeyWriter { tap: Tap::Readings(Vec::new()), ..KeyWriter::new(&self.grid) };
        write(&mut writer);
        match writer.tap {
            Tap::Readings(readings) => readings,
            Tap::Closed | Tap::Offsets(..) => Vec::new(),
        }
    }
}

/// Where in its cell each continuous variable of a state is: one byte per variable, in 1/256 of the cell.
#[derive(Clone, Debug)]
pub struct OffsetGrid {
    /// The grid without its cells per unit, so that every continuous variable takes the way of [`KeyWriter::set_aside`].
    /// Writers without offsets do not pay for those with them.
    grid: Grid,
    /// Cells per unit, 0 for variables without cells.
    per_unit: Vec<f64>,
    /// The byte of each variable in a row.
    columns: Vec<usize>,
    /// The variable of each byte in a row.
    variables: Vec<usize>,
}

impl OffsetGrid {
    /// Offsets in the cells of a grid.
    pub fn new(grid: &Grid) -> Self {
        let per_unit = grid.per_unit.clone();
        let variables: Vec<usize> = (0..per_unit.len()).filter(|&variable| per_unit[variable] != 0.0).collect();
        let column = |variable| variables.partition_point(|&other| other < variable);
        let columns = (0..per_unit.len()).map(column).collect();
        let grid = Grid { sizes: grid.sizes.clone(), per_unit: vec![0.0; per_unit.len()] };
        Self { grid, per_unit, columns, variables }
    }
    /// The variable of each byte in a row, by its number; rows have as many bytes.
    pub fn variables(&self) -> &[usize] {
        &self.variables
    }
    /// A writer of the same keys as the grid's that also collects offsets, with room for those of `states` states.
    pub fn writer(&self, states: usize) -> KeyWriter<'_> {
        let rows = Vec::with_capacity(states * self.variables.len());
        KeyWriter { tap: Tap::Offsets(self, rows), ..KeyWriter::new(&self.grid) }
    }
}

/// Collects the variables of one state and yields its cell.
#[derive(Debug)]
pub struct KeyWriter<'g> {
    grid: &'g Grid,
    words: ArrayVec<u64, WORDS_MAX>,
    /// Zero, or not a number once a value was not finite.
    poison: f64,
    tap: Tap<'g>,
}

/// What a writer collects apart from the key.
#[derive(Debug)]
enum Tap<'g> {
    Closed,
    /// The values themselves.
    Readings(Vec<(usize, Reading)>),
    /// Rows of offsets, one after another.
    Offsets(&'g OffsetGrid, Vec<u8>),
}

/// A state variable as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// Of a continuous variable.
    Real(f64),
    /// Of a discrete one.
    Exact(u64),
}

impl<'g> KeyWriter<'g> {
    /// A writer for one state after another.
    pub fn new(grid: &'g Grid) -> Self {
        Self { grid, words: ArrayVec::new(), poison: 0.0, tap: Tap::Closed }
    }
    /// Begins the offsets of another state, if they are collected.
    #[inline]
    pub fn begin_offsets(&mut self) {
        if let Tap::Offsets(offsets, rows) = &mut self.tap {
            rows.resize(rows.len() + offsets.variables.len(), 0);
        }
    }
    /// The offsets of all states that were begun, one row after another.
    pub fn into_offsets(self) -> Vec<u8> {
        match self.tap {
            Tap::Offsets(_, rows) => rows,
            Tap::Closed | Tap::Readings(_) => Vec::new(),
        }
    }
    /// Adds the discrete variable number `index`.
    #[inline]
    pub fn exact(&mut self, index: usize, value: u64) {
        if !matches!(self.grid.sizes[index], CellSize::Ignore) {
            self.push(value);
        } else {
            self.set_aside(index, Reading::Exact(value));
        }
    }
    /// Adds the continuous variable number `index`.
    #[inline(always)]
    pub fn real(&mut self, index: usize, value: f64) {
        // Zero times a value that is not finite is not a number: one operation instead of a branch.
        self.poison += value * 0.0;
        let per_unit = self.grid.per_unit[index];
        if per_unit != 0.0 {
            let cell = value * per_unit + 0.5;
            if cell.abs() < COUNTABLE {
                self.push(floor_to_word(cell));
            } else {
                self.uncounted(value);
            }
        } else if self.grid.sizes[index] == CellSize::Exact {
            self.push((value + 0.0).to_bits());
        } else {
            self.set_aside(index, Reading::Real(value));
        }
    }
    /// A variable without cells in the grid of the writer: an ignored one, or one whose offset is collected.
    #[cold]
    fn set_aside(&mut self, index: usize, reading: Reading) {
        match (&mut self.tap, reading) {
            (Tap::Readings(readings), _) => readings.push((index, reading)),
            (Tap::Offsets(offsets, _), Reading::Real(value)) if offsets.per_unit[index] != 0.0 => {
                self.count_with_offset(index, value);
            }
            _ => {}
        }
    }
    /// Adds the cell of a continuous variable and collects its offset. A value that cannot be counted shares its cell with
    /// equal values only, so its offset stays 0.
    fn count_with_offset(&mut self, index: usize, value: f64) {
        let Tap::Offsets(offsets, rows) = &mut self.tap else { return };
        let cell = value * offsets.per_unit[index] + 0.5;
        if cell.is_nan() || cell.abs() >= COUNTABLE {
            return self.uncounted(value);
        }
        let floor = floor_to_word(cell);
        let row = rows.len().saturating_sub(offsets.variables.len());
        if let Some(offset) = rows.get_mut(row + offsets.columns[index]) {
            *offset = ((cell - floor.cast_signed() as f64) * 256.0) as u8;
        }
        self.push(floor);
    }
    /// Adds a value that is too many cells away from zero.
    #[cold]
    fn uncounted(&mut self, value: f64) {
        self.push(UNCOUNTED);
        self.push((value + 0.0).to_bits());
    }
    /// Adds an angle in radians: equal directions fall into equal cells.
    #[inline]
    pub fn angle(&mut self, index: usize, radians: f64) {
        self.real(index, crate::maths::wrap_angle(radians));
    }
    /// Adds a word that is no state variable, such as the level.
    #[inline]
    pub fn extra(&mut self, word: u64) {
        self.push(word);
    }
    #[inline(always)]
    fn push(&mut self, word: u64) {
        if self.words.is_full() {
            self.fold();
        }
        self.words.push(word);
    }
    #[cold]
    fn fold(&mut self) {
        let hash = self.hash();
        self.words.clear();
        self.words.push(hash as u64);
        self.words.push((hash >> 64) as u64);
    }
    #[inline]
    fn hash(&mut self) -> u128 {
        // The key is defined on little-endian words, whatever the machine.
        self.words.iter_mut().for_each(|word| *word = word.to_le());
        xxh3_128(bytemuck::cast_slice(&self.words))
    }
    /// The cell of the variables added since the last call; `None` if one of them was not finite.
    #[inline]
    pub fn finish(&mut self) -> Option<CellKey> {
        let key = CellKey(self.hash());
        self.words.clear();
        (std::mem::replace(&mut self.poison, 0.0) == 0.0).then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(grid: &Grid, x: f64, gear: u64) -> Option<CellKey> {
        let mut writer = KeyWriter::new(grid);
        writer.real(0, x);
        writer.exact(1, gear);
        writer.finish()
    }

    #[test]
    fn cells_are_centred_on_multiples_of_the_size() {
        let grid = Grid::of(&[Variable::real("x", "m", 0.1), Variable::exact("gear")]);
        assert_eq!(key(&grid, 0.049, 1), key(&grid, -0.049, 1));
        assert_ne!(key(&grid, 0.049, 1), key(&grid, 0.051, 1));
        assert_ne!(key(&grid, 0.0, 1), key(&grid, 0.0, 2));
        assert_eq!(key(&grid, f64::NAN, 1), None);
    }

    #[test]
    fn offsets_are_shares_of_the_cell_and_leave_the_key_as_it_is() {
        let sizes = [CellSize::Size(0.5), CellSize::Exact, CellSize::Ignore, CellSize::Size(4.0), CellSize::Exact];
        let grid = Grid::from_sizes(sizes.to_vec());
        let offsets = OffsetGrid::new(&grid);
        assert_eq!(offsets.variables(), [0, 3]);
        let below = (-0.25_f64).next_down();
        let states = [[0.0, 7.0], [-0.25, 1.9], [0.249, -2.0], [below, -1e-20], [1e300, 5.0], [f64::NAN, 0.0]];
        let write = |writer: &mut KeyWriter<'_>, [a, b]: [f64; 2]| {
            writer.begin_offsets();
            writer.real(0, a);
            writer.exact(1, 3);
            writer.real(2, a);
            writer.real(3, b);
            writer.real(4, b);
            writer.finish()
        };
        let mut with = offsets.writer(states.len());
        for state in states {
            assert_eq!(write(&mut with, state), write(&mut KeyWriter::new(&grid), state), "{state:?}");
        }
        assert_eq!(with.into_offsets(), [128, 64, 0, 249, 255, 0, 255, 128, 0, 192, 0, 128]);
    }

    #[test]
    fn floors_are_floors() {
        for value in [-2.0, -1.5, -1.0, -0.25, -0.0, 0.0, 0.25, 1.0, 1.75, 1e15, -1e15] {
            assert_eq!(floor_to_word(value), f64::floor(value) as i64 as u64, "{value}");
        }
    }

    #[test]
    fn a_size_by_which_nothing_can_be_counted_is_exact() {
        for size in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-310, 1e-320, f64::MAX, f64::MIN_POSITIVE / 4.0] {
            assert_eq!(Grid::from_sizes(vec![CellSize::Size(size)]).sizes(), [CellSize::Exact], "{size:e}");
        }
        for size in [1e-300, 1e-25, 0.1, 1e25, 1e300] {
            assert_eq!(Grid::from_sizes(vec![CellSize::Size(size)]).sizes(), [CellSize::Size(size)], "{size:e}");
        }
        let grid = Grid::from_sizes(vec![CellSize::Size(0.1)]);
        assert_eq!(grid.scaled(1e-320).sizes(), [CellSize::Exact]);
        assert_eq!(grid.scaled(f64::INFINITY).sizes(), [CellSize::Exact]);
    }

    /// `--merge 1e-25`: all positions had the largest cell number there is, and merged.
    #[test]
    fn cells_finer_than_numbers_keep_all_numbers_apart() {
        for size in [1e-300, 1e-25, 1e-17, 1e-13] {
            let grid = Grid::from_sizes(vec![CellSize::Size(size), CellSize::Exact]);
            let values = [-3.0, -0.5, 0.0, 0.1, 0.2, 0.3, 0.1 + 0.2, 1.0, 1.0 + f64::EPSILON, 2.0, 1e9, f64::MAX];
            let keys: std::collections::BTreeSet<_> = values.iter().map(|&x| key(&grid, x, 0)).collect();
            assert_eq!(keys.len(), values.len(), "{size:e}");
        }
    }

    #[test]
    fn exact_bits_cannot_be_taken_for_the_number_of_a_cell() {
        let grid = Grid::from_sizes(vec![CellSize::Size(1.0), CellSize::Size(1.0)]);
        let key = |values: &[f64]| {
            let mut writer = KeyWriter::new(&grid);
            values.iter().enumerate().for_each(|(index, value)| writer.real(index, *value));
            writer.finish()
        };
        let far = 1e15_f64;
        assert_ne!(key(&[far, 0.0]), key(&[0.0, far]));
        assert_ne!(key(&[far]), key(&[-0.0, far]));
        assert_eq!(key(&[f64::INFINITY]), None);
    }

    #[test]
    fn ignored_variables_do_not_separate_and_zero_has_one_sign() {
        let grid = Grid::from_sizes(vec![CellSize::Exact, CellSize::Ignore]);
        assert_eq!(key(&grid, 0.0, 1), key(&grid, -0.0, 2));
        assert_ne!(key(&grid, 0.0, 1), key(&grid, 1e-300, 1));
    }

    #[test]
    fn long_states_fold_without_collisions_of_neighbours() {
        let n = 3 * WORDS_MAX;
        let grid = Grid::from_sizes(vec![CellSize::Exact; n]);
        let key = |changed: usize| {
            let mut writer = KeyWriter::new(&grid);
            (0..n).for_each(|i| writer.exact(i, u64::from(i == changed)));
            writer.finish()
        };
        let keys: std::collections::BTreeSet<_> = (0..n).map(key).collect();
        assert_eq!(keys.len(), n);
    }
}
