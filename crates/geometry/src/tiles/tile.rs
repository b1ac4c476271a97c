//! One tile of cells.

use super::grid::SIDE;

/// Words of 64 cells per row.
pub(super) const ROW_WORDS: usize = SIDE as usize / 64;
/// Words of a whole tile.
pub(super) const WORDS: usize = ROW_WORDS * SIDE as usize;

/// One bit per cell, row by row from the south, each from the west.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap(pub(super) Box<[u64; WORDS]>);

/// Which cells of a tile are occupied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tile {
    /// None of them.
    #[default]
    Free,
    /// All of them.
    Full,
    /// Some of them.
    Mixed(Bitmap),
}

impl Default for Bitmap {
    fn default() -> Self {
        Self(Box::new([0; WORDS]))
    }
}

impl Bitmap {
    /// Whether a cell is occupied.
    #[inline]
    pub fn get(&self, column: usize, row: usize) -> bool {
        self.0[row * ROW_WORDS + column / 64] >> (column % 64) & 1 == 1
    }
    /// Marks a cell as occupied.
    #[inline]
    pub fn set(&mut self, column: usize, row: usize) {
        self.0[row * ROW_WORDS + column / 64] |= 1 << (column % 64);
    }
    /// The words of a row.
    #[inline]
    pub(super) fn row(&self, row: usize) -> &[u64] {
        &self.0[row * ROW_WORDS..(row + 1) * ROW_WORDS]
    }
}

impl Tile {
    /// Whether a cell is occupied.
    #[inline]
    pub fn get(&self, column: usize, row: usize) -> bool {
        match self {
            Self::Free => false,
            Self::Full => true,
            Self::Mixed(bitmap) => bitmap.get(column, row),
        }
    }
    /// The same with the smallest representation.
    #[must_use]
    pub fn compact(self) -> Self {
        match &self {
            Self::Mixed(bitmap) if bitmap.0.iter().all(|word| *word == 0) => Self::Free,
            Self::Mixed(bitmap) if bitmap.0.iter().all(|word| *word == u64::MAX) => Self::Full,
            _ => self,
        }
    }
    /// Memory that it occupies, its place in a container included.
    pub fn bytes(&self) -> usize {
        let heap = if matches!(self, Self::Mixed(_)) { size_of::<[u64; WORDS]>() } else { 0 };
        size_of::<Self>() + heap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_remembers_its_cells_and_becomes_small_when_it_can() {
        let mut bitmap = Bitmap::default();
        bitmap.set(0, 0);
        bitmap.set(255, 255);
        bitmap.set(64, 3);
        assert!(bitmap.get(64, 3) && bitmap.get(0, 0) && bitmap.get(255, 255) && !bitmap.get(63, 3));
        assert!(matches!(Tile::Mixed(bitmap).compact(), Tile::Mixed(_)));
        assert_eq!(Tile::Mixed(Bitmap::default()).compact(), Tile::Free);
        assert_eq!(Tile::Mixed(Bitmap(Box::new([u64::MAX; WORDS]))).compact(), Tile::Full);
        assert!(Tile::Mixed(Bitmap::default()).bytes() >= 8192 && Tile::Free.bytes() <= 16);
    }
}
