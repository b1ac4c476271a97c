//! Who was merged into which cell, and how close the future of every kept state comes: what refinement asks of a graph.

use anabranch_kernel::Choice;

/// A parent that is none: of start states.
const NOBODY: u32 = u32::MAX;
/// A cell that is none.
pub(crate) const NO_CELL: u32 = u32::MAX;
/// Sweeps after which values are good enough; only a graph with cycles needs more than a few.
const SWEEPS_MAX: usize = 32;

/// A kept state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) parent: u32,
    pub(crate) cell: u32,
    pub(crate) level: u32,
    /// Smallest margin of the segments that start here.
    pub(crate) margin: f32,
    pub(crate) choice: u16,
    /// The choice of the segment with that margin.
    pub(crate) worst_choice: u16,
}

impl Kept {
    pub(crate) fn parent(&self) -> Option<usize> {
        (self.parent != NOBODY).then_some(self.parent as usize)
    }
}

/// An end that was merged away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Merged {
    pub(crate) parent: u32,
    pub(crate) choice: u16,
    /// How often it was looked at more closely.
    pub(crate) passes: u16,
    pub(crate) cell: u32,
}

/// The graph as refinement sees it; 20 bytes per kept state and 12 per merged end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    pub(crate) kept: Vec<Kept>,
    pub(crate) merged: Vec<Merged>,
}

/// The worst continuation that a graph knows.
#[derive(Debug)]
pub(crate) struct Policy {
    /// By cell.
    pub(crate) choices: Vec<Choice>,
    /// The state from which the closest segment of all starts, and its choice.
    pub(crate) closest: Option<(u64, Choice)>,
}

/// How close the future of every cell comes.
#[derive(Debug)]
pub(crate) struct Futures {
    /// The smallest margin that can follow, if every merge later on hid as much as the members of its cell differ.
    pub(crate) least: Vec<f32>,
    /// How far the members of the cell are apart in that.
    pub(crate) spread: Vec<f32>,
}

impl Links {
    pub(crate) fn add_kept(&mut self, parent: Option<u64>, choice: u16, level: u32, cell: Option<u32>) {
        let parent = parent.map_or(NOBODY, |node| node as u32);
        self.kept.push(Kept {
            parent,
            cell: cell.unwrap_or(NO_CELL),
            level,
            margin: f32::INFINITY,
            choice,
            worst_choice: 0,
        });
    }

    pub(crate) fn add_merged(&mut self, parent: u64, choice: u16, cell: Option<u32>, passes: u16) {
        if let Some(cell) = cell {
            self.merged.push(Merged { parent: parent as u32, choice, passes, cell });
        }
    }

    /// A segment from this state had this margin.
    #[inline]
    pub(crate) fn see(&mut self, parent: u64, choice: u16, margin: f64) {
        let kept = &mut self.kept[parent as usize];
        if (margin as f32) < kept.margin {
            (kept.margin, kept.worst_choice) = (margin as f32, choice);
        }
    }

    /// What a graph would do next in every cell to come as close as it can, and the state that came closest of all.
    pub(crate) fn policy(&self, cells: usize) -> Policy {
        let (least, value) = self.least(None, cells);
        let mut best: Vec<(f32, u16)> = self.kept.iter().map(|kept| (kept.margin, kept.worst_choice)).collect();
        let mut offer = |parent: usize, value: f32, choice: u16| {
            if value < best[parent].0 {
                best[parent] = (value, choice);
            }
        };
        for merged in &self.merged {
            offer(merged.parent as usize, least[merged.cell as usize], merged.choice);
        }
        for (at, kept) in self.kept.iter().enumerate() {
            if let Some(parent) = kept.parent() {
                offer(parent, value[at], kept.choice);
            }
        }
        let mut choices: Vec<(f32, u16)> = vec![(f32::INFINITY, 0); cells];
        for (kept, (value, choice)) in self.kept.iter().zip(&best) {
            if let Some(cell) = choices.get_mut(kept.cell as usize)
                && *value < cell.0
            {
                *cell = (*value, *choice);
            }
        }
        let closest = (0..self.kept.len()).min_by(|&a, &b| self.kept[a].margin.total_cmp(&self.kept[b].margin));
        let closest = closest.map(|at| (at as u64, Choice(self.kept[at].worst_choice)));
        Policy { choices: choices.into_iter().map(|(_, choice)| Choice(choice)).collect(), closest }
    }

    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(self.kept.as_slice()) + size_of_val(self.merged.as_slice())) as u64
    }

    /// How close the future of every cell comes, and how much its members differ in that.
    pub(crate) fn futures(&self, cells: usize) -> Futures {
        let (least, value) = self.least(None, cells);
        let mut most = vec![f32::NEG_INFINITY; cells];
        for (at, kept) in self.kept.iter().enumerate() {
            if let Some(cell) = most.get_mut(kept.cell as usize) {
                *cell = cell.max(value[at]);
            }
        }
        let spread = self.spreads(&least, &most);
        let (least, _) = self.least(Some(&spread), cells);
        Futures { least, spread }
    }

    /// By cell the least value of its members, and the values of all kept states; every merge on the way takes off what
    /// it may have hidden, if that is given.
    fn least(&self, hidden: Option<&[f32]>, cells: usize) -> (Vec<f32>, Vec<f32>) {
        let mut value: Vec<f32> = self.kept.iter().map(|kept| kept.margin).collect();
        let mut least = vec![f32::INFINITY; cells];
        for _ in 0..SWEEPS_MAX {
            for (at, kept) in self.kept.iter().enumerate() {
                if let Some(cell) = least.get_mut(kept.cell as usize) {
                    *cell = cell.min(value[at]);
                }
            }
            if !self.sweep(&mut value, &least, hidden) {
                break;
            }
        }
        (least, value)
    }

    /// Hands values to parents, along kept and merged segments; says whether anything changed.
    fn sweep(&self, value: &mut [f32], least: &[f32], hidden: Option<&[f32]>) -> bool {
        let mut changed = false;
        let mut lower = |value: &mut [f32], parent: usize, to: f32| {
            if to < value[parent] {
                value[parent] = to;
                changed = true;
            }
        };
        for merged in &self.merged {
            let cell = merged.cell as usize;
            lower(value, merged.parent as usize, least[cell] - hidden.map_or(0.0, |hidden| hidden[cell]));
        }
        for at in (0..self.kept.len()).rev() {
            if let Some(parent) = self.kept[at].parent() {
                lower(value, parent, value[at]);
            }
        }
        changed
    }

    /// Differences between the members of each cell. A cell with one member is taken to be as spread as the median of
    /// its level, because what was merged into it is not known any more; where no cell has two, it could be anything.
    fn spreads(&self, least: &[f32], most: &[f32]) -> Vec<f32> {
        let mut level_of = vec![u32::MAX; least.len()];
        let mut members = vec![0_u32; least.len()];
        for kept in self.kept.iter().filter(|kept| kept.cell != NO_CELL) {
            level_of[kept.cell as usize] = level_of[kept.cell as usize].min(kept.level);
            members[kept.cell as usize] += 1;
        }
        let known = |cell: usize| members[cell] > 1 && most[cell].is_finite() && least[cell].is_finite();
        let levels = self.kept.iter().map(|kept| kept.level as usize + 1).max().unwrap_or(0);
        let mut by_level: Vec<Vec<f32>> = vec![Vec::new(); levels];
        for cell in (0..least.len()).filter(|cell| known(*cell)) {
            by_level[level_of[cell] as usize].push(most[cell] - least[cell]);
        }
        let mut all: Vec<f32> = by_level.iter().flatten().copied().collect();
        let overall = median(&mut all).unwrap_or(f32::INFINITY);
        let typical: Vec<f32> = by_level.iter_mut().map(|level| median(level).unwrap_or(overall)).collect();
        let of_cell = |cell: usize| match level_of[cell] {
            _ if known(cell) => most[cell] - least[cell],
            u32::MAX => overall,
            level => typical[level as usize],
        };
        (0..least.len()).map(of_cell).collect()
    }
}

fn median(values: &mut [f32]) -> Option<f32> {
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_future_flows_back_along_kept_and_merged_segments() {
        let mut links = Links::default();
        links.add_kept(None, 0, 0, Some(0));
        links.add_kept(Some(0), 0, 1, Some(1));
        links.add_kept(Some(0), 1, 1, Some(2));
        links.add_kept(Some(2), 0, 2, Some(3));
        links.add_kept(Some(2), 1, 2, Some(3));
        links.add_merged(1, 0, Some(3), 0);
        for (node, margin) in [(0, 5.0), (1, 4.0), (2, 3.0), (3, 2.0), (4, 0.5)] {
            links.see(node, 0, margin);
        }
        let futures = links.futures(4);
        assert_eq!(futures.spread[3], 1.5);
        // State 1 was merged into cell 3, whose members differ by 1.5.
        assert_eq!(futures.least, [-1.0, -1.0, 0.5, 0.5]);
    }
}
