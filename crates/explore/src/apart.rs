//! How far apart the members of a cell are: what merging treats as equal.

use anabranch_kernel::{KeyWriter, OffsetGrid, System};

use crate::danger::Flags;
use crate::edge::{Apart, Edge, Fate};
use crate::graph::Graph;
use crate::settings::Scope;

/// Where in its cell the first kept member of each cell is; one byte per continuous variable.
///
/// Cells of finished levels stay: random runs and closer looks that join the graph later are merged into them.
#[derive(Debug)]
pub(crate) struct Firsts<'g> {
    grid: &'g OffsetGrid,
    /// One row per cell; of cells that are not known, zeros.
    rows: Vec<u8>,
    known: Flags,
}

impl<'g> Firsts<'g> {
    pub(crate) fn new(grid: &'g OffsetGrid) -> Self {
        Self { grid, rows: Vec::new(), known: Flags::default() }
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        self.rows.capacity() as u64 + self.known.bytes()
    }

    /// Bytes of a row.
    pub(crate) fn stride(&self) -> usize {
        self.grid.variables().len()
    }

    /// The offsets of one state, which `write` writes.
    pub(crate) fn read(&self, write: impl FnOnce(&mut KeyWriter<'_>)) -> Vec<u8> {
        let mut writer = self.grid.writer(1);
        writer.begin_offsets();
        write(&mut writer);
        writer.into_offsets()
    }

    /// Whether the cell has a first member.
    pub(crate) fn knows(&self, cell: u32) -> bool {
        self.known.get(u64::from(cell))
    }

    /// The state with these offsets is the one that later arrivals in the cell are compared with.
    pub(crate) fn set(&mut self, cell: u32, offsets: &[u8]) {
        let (row, stride) = (cell as usize * self.stride(), self.stride());
        if self.rows.len() < row + stride {
            self.rows.resize(row + stride, 0);
        }
        self.rows[row..row + stride].copy_from_slice(offsets);
        self.known.set(u64::from(cell), true);
    }

    /// How far an arrival with these offsets is from the first member of its cell; `None` if there is no such member, or
    /// no continuous variable.
    pub(crate) fn apart(&self, cell: u32, offsets: &[u8]) -> Option<Apart> {
        if !self.knows(cell) {
            return None;
        }
        let row = cell as usize * self.stride();
        let first = &self.rows[row..row + self.stride()];
        let differences = || first.iter().zip(offsets).map(|(first, offset)| first.abs_diff(*offset));
        let parts = differences().max()?;
        let at = differences().position(|difference| difference == parts)?;
        let variable = u16::try_from(self.grid.variables()[at]).expect("fewer than 2¹⁶ variables");
        Some(Apart { parts, variable })
    }
}

impl<S: System> Graph<'_, S> {
    /// Where in its cell a state is; empty where nothing is recorded.
    pub(crate) fn offsets_of(&self, state: &S::State) -> Vec<u8> {
        let firsts = self.firsts.as_ref();
        firsts.map_or_else(Vec::new, |firsts| firsts.read(|writer| self.system.cell(state, writer)))
    }

    /// How far an arrival is from the first kept member of its cell, which it becomes where there is none.
    pub(crate) fn meet_first(&mut self, cell: Option<u32>, fate: Fate, offsets: &[u8]) -> Option<Apart> {
        let becomes_first = self.becomes_first(cell, fate);
        let (Some(firsts), Some(cell)) = (&mut self.firsts, cell) else { return None };
        let apart = firsts.apart(cell, offsets);
        if becomes_first {
            firsts.set(cell, offsets);
            self.log.iter_mut().for_each(|log| log.add_first(offsets));
        }
        apart
    }

    /// Whether later arrivals in the cell are compared with this one. With scope `frontier` they are merged into the member that
    /// waits, and that is the last one.
    fn becomes_first(&self, cell: Option<u32>, fate: Fate) -> bool {
        let (Some(firsts), Some(cell)) = (&self.firsts, cell) else { return false };
        fate == Fate::Kept && (self.settings.scope == Scope::Frontier || !firsts.knows(cell))
    }

    /// A segment of an earlier process may have opened its cell. Where that process did not record where, distances are
    /// unknown from here on.
    pub(crate) fn take_in_first(&mut self, edge: &Edge, rows: &mut &[u8]) {
        if !self.becomes_first(edge.cell, edge.fate) {
            return;
        }
        let (Some(firsts), Some(cell)) = (&mut self.firsts, edge.cell) else { return };
        match rows.split_at_checked(firsts.stride()) {
            Some((row, rest)) => {
                firsts.set(cell, row);
                *rows = rest;
            }
            None => self.firsts = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use anabranch_kernel::{CellSize, Grid};

    use super::*;

    #[test]
    fn the_variable_that_differs_most_is_named() {
        let sizes = vec![CellSize::Exact, CellSize::Size(1.0), CellSize::Size(0.1), CellSize::Size(2.0)];
        let grid = OffsetGrid::new(&Grid::from_sizes(sizes));
        let mut firsts = Firsts::new(&grid);
        assert_eq!(firsts.apart(3, &[1, 2, 3]), None);
        firsts.set(3, &[10, 20, 30]);
        assert_eq!(firsts.apart(3, &[14, 10, 40]), Some(Apart { parts: 10, variable: 2 }));
        assert_eq!(firsts.apart(3, &[10, 20, 30]), Some(Apart { parts: 0, variable: 1 }));
        assert_eq!((firsts.apart(2, &[0, 0, 0]), firsts.apart(4, &[0, 0, 0])), (None, None));
        firsts.set(1, &[0, 0, 255]);
        assert_eq!(firsts.apart(1, &[0, 0, 0]).map(|apart| apart.share()), Some(255.0 / 256.0));
        assert_eq!(firsts.apart(3, &[10, 20, 31]), Some(Apart { parts: 1, variable: 3 }));
    }

    #[test]
    fn without_continuous_variables_there_is_no_distance() {
        let grid = OffsetGrid::new(&Grid::from_sizes(vec![CellSize::Exact, CellSize::Ignore]));
        let mut firsts = Firsts::new(&grid);
        firsts.set(0, &[]);
        assert!(firsts.knows(0));
        assert_eq!(firsts.apart(0, &[]), None);
    }
}
