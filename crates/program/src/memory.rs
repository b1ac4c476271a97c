//! Where values live: one flat memory of numbers, cut into regions.

use serde::{Deserialize, Serialize};

/// A part of the memory with one purpose.
///
/// State and outputs come first and together are what a saved state holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Region {
    /// What lasts from tick to tick: static variables, delays, held outputs of inner components.
    State,
    /// What the program gives to the outside. It lasts too: an output that is not written holds its last value.
    Output,
    /// What the outside sets before a tick. Steps cannot write it.
    Input,
    /// Tables and parameters. Steps cannot write them.
    Constant,
    /// Signals and local variables of one tick. Zero when a tick starts.
    Scratch,
}

impl Region {
    /// All regions, in the order in which they lie in memory.
    pub const ALL: [Self; 5] = [Self::State, Self::Output, Self::Input, Self::Constant, Self::Scratch];

    /// Whether steps may write here.
    pub fn is_writable(self) -> bool {
        !matches!(self, Self::Input | Self::Constant)
    }
}

/// A place for one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// The region it lies in.
    pub region: Region,
    /// Its number inside the region.
    pub offset: u32,
}

impl Slot {
    /// The slot `count` places further on in the same region.
    #[must_use]
    pub fn plus(self, count: u32) -> Self {
        Self { offset: self.offset.saturating_add(count), ..self }
    }
    /// This slot and those after it, as many as `length`.
    pub fn span(self, length: u32) -> Span {
        Span { start: self, length }
    }
}

/// Consecutive slots: a vector, a matrix by rows, the fields of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first slot.
    pub start: Slot,
    /// How many slots.
    pub length: u32,
}

impl Span {
    /// The slot at a place, counted from zero.
    pub fn at(self, index: u32) -> Slot {
        self.start.plus(index)
    }
    /// `length` slots from a place on, counted from zero.
    pub fn part(self, from: u32, length: u32) -> Self {
        Self { start: self.at(from), length }
    }
    /// The same slots as a matrix. The builder refuses one that is larger than its variable.
    pub fn matrix(self, rows: u32, columns: u32) -> Matrix {
        Matrix { start: self.start, rows, columns }
    }
    /// The same slots as one row.
    pub fn row(self) -> Matrix {
        self.matrix(1, self.length)
    }
    /// The same slots as one column.
    pub fn column(self) -> Matrix {
        self.matrix(self.length, 1)
    }
}

impl From<Slot> for Span {
    fn from(slot: Slot) -> Self {
        slot.span(1)
    }
}

/// A matrix that lies row by row in consecutive slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Matrix {
    /// Row 0, column 0.
    pub start: Slot,
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
}

impl Matrix {
    /// All its elements, row by row.
    pub fn span(self) -> Span {
        self.start.span(self.rows.saturating_mul(self.columns))
    }
    /// The slot of an element, counted from zero.
    pub fn at(self, row: u32, column: u32) -> Slot {
        self.start.plus(row.saturating_mul(self.columns).saturating_add(column))
    }
}

/// How many slots each region has, and so where each begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "[u32; 5]", into = "[u32; 5]")]
pub struct Layout {
    lengths: [u32; 5],
    bases: [u32; 5],
}

impl From<[u32; 5]> for Layout {
    fn from(lengths: [u32; 5]) -> Self {
        Self::new(lengths)
    }
}
impl From<Layout> for [u32; 5] {
    fn from(layout: Layout) -> Self {
        layout.lengths
    }
}

impl Layout {
    /// The layout of regions with these lengths, in the order of [`Region::ALL`].
    pub(crate) fn new(lengths: [u32; 5]) -> Self {
        let mut bases = [0; 5];
        for region in 1..5 {
            bases[region] = u32::saturating_add(bases[region - 1], lengths[region - 1]);
        }
        Self { lengths, bases }
    }
    /// Number of slots of a region.
    #[inline]
    pub fn length(&self, region: Region) -> u32 {
        self.lengths[region as usize]
    }
    /// Where a region lies in memory.
    #[inline]
    pub fn range(&self, region: Region) -> std::ops::Range<usize> {
        let base = self.bases[region as usize] as usize;
        base..base + self.length(region) as usize
    }
    /// Where a slot lies in memory.
    #[inline]
    pub fn address(&self, slot: Slot) -> usize {
        self.bases[slot.region as usize] as usize + slot.offset as usize
    }
    /// Where a span lies in memory.
    #[inline]
    pub fn addresses(&self, span: Span) -> std::ops::Range<usize> {
        let base = self.address(span.start);
        base..base + span.length as usize
    }
    /// The slot at an address, if there is one.
    pub fn slot_at(&self, address: usize) -> Option<Slot> {
        Region::ALL.into_iter().find(|&region| self.range(region).contains(&address)).map(|region| {
            let offset = (address - self.bases[region as usize] as usize) as u32;
            Slot { region, offset }
        })
    }
    /// Number of slots that a saved state holds: state and outputs.
    #[inline]
    pub fn saved(&self) -> usize {
        self.lengths[0] as usize + self.lengths[1] as usize
    }
    /// Number of slots altogether.
    pub fn total(&self) -> usize {
        self.lengths.iter().map(|&length| length as usize).sum()
    }
    /// Whether all slots of a span exist.
    #[inline]
    pub fn holds(&self, span: Span) -> bool {
        u64::from(span.start.offset) + u64::from(span.length) <= u64::from(self.length(span.start.region))
    }
}
