//! Which member of a cell is continued: the algebra of merging.
//!
//! Members compete per axis by (score, earlier job); the largest wins. That is associative and commutative, so the
//! outcome does not depend on the order in which results arrive.

use anabranch_kernel::{AXES_MAX, Danger};
use arrayvec::ArrayVec;

use crate::settings::Keep;

/// A cell that is entered again by a member worse by at least this is re-opened (scope `visited`). In metres or radians,
/// the units of danger; small against any clearance of interest, large against rounding, so that re-opening ends.
pub const REOPEN_STEP: f32 = 1e-3;

/// Number of a kept member; numbers only grow.
pub(crate) type Member = u32;

/// Position of a member's job in the total order of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct JobOrder {
    pub(crate) parent: u64,
    pub(crate) choice: u16,
}

/// The members that one arrival can dethrone: one per axis, and the most dangerous.
pub(crate) type Members = ArrayVec<Member, { AXES_MAX + 1 }>;

/// What to do with an arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It is like one that is kept.
    Merged,
    /// It is kept; these members lost their last axis to it and need not be continued.
    Kept {
        /// Dethroned, not yet expanded.
        replaced: Members,
    },
}

/// Scores and holders of all cells; one row of axes per cell.
pub(crate) struct Cells {
    axes: usize,
    first_cell: u32,
    /// Side by side, so that a cell is one place in memory.
    slots: Vec<Slot>,
}

/// The best score along one axis of a cell, and who has it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    score: f32,
    holder: Member,
}

impl Cells {
    /// Cells for a rule and the number of axes of the system.
    pub(crate) fn new(keep: Keep, system_axes: usize) -> Self {
        let axes = match keep {
            Keep::First => 0,
            Keep::Worst => 1,
            Keep::Extremes => 1 + system_axes,
        };
        Self { axes, first_cell: 0, slots: Vec::new() }
    }

    /// Forgets all rows: cells numbered below `next_cell` will never be asked for again.
    pub(crate) fn start_over(&mut self, next_cell: u32) {
        self.first_cell = next_cell;
        self.slots.clear();
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(self.slots.as_slice()) as u64
    }

    /// A new cell is entered by its first member.
    pub(crate) fn open(&mut self, danger: &Danger, member: Member) {
        if self.axes > 0 {
            let scores = std::iter::once(&danger.worst).chain(&danger.axes).take(self.axes);
            self.slots.extend(scores.map(|&score| Slot { score, holder: member }));
        }
    }

    /// A cell that was entered in an earlier process; its members follow.
    pub(crate) fn open_vacant(&mut self) {
        let vacant = Slot { score: f32::NEG_INFINITY, holder: Member::MAX };
        self.slots.extend(std::iter::repeat_n(vacant, self.axes));
    }

    /// A member of a level in which nothing is merged: it counts only if it is the first of its cell.
    pub(crate) fn enter_unmerged(&mut self, cell: u32, danger: &Danger, member: Member) {
        let row = (cell - self.first_cell) as usize * self.axes;
        let scores = std::iter::once(danger.worst).chain(danger.axes.iter().copied());
        for (slot, score) in self.slots[row..row + self.axes].iter_mut().zip(scores) {
            if slot.holder == Member::MAX {
                *slot = Slot { score, holder: member };
            }
        }
    }

    /// A known cell is entered again. `waiting` tells the job of a member that is not yet expanded.
    pub(crate) fn enter(
        &mut self,
        cell: u32,
        danger: &Danger,
        job: JobOrder,
        member: Member,
        waiting: impl Fn(Member) -> Option<JobOrder>,
    ) -> Arrival {
        let row = (cell - self.first_cell) as usize * self.axes;
        let slots = &mut self.slots[row..row + self.axes];
        let scores = std::iter::once(danger.worst).chain(danger.axes.iter().copied());
        let mut dethroned = Members::new();
        let mut won = false;
        for (slot, score) in slots.iter_mut().zip(scores) {
            let Slot { score: best, holder } = *slot;
            if score < best {
                continue;
            }
            let holder_job = waiting(holder);
            let wins = match holder_job {
                Some(holder_job) => score > best || job < holder_job,
                None => score >= best + REOPEN_STEP,
            };
            if wins {
                won = true;
                *slot = Slot { score, holder: member };
                if holder_job.is_some() && !dethroned.contains(&holder) {
                    dethroned.push(holder);
                }
            }
        }
        if !won {
            return Arrival::Merged;
        }
        dethroned.retain(|m| !slots.iter().any(|slot| slot.holder == *m));
        Arrival::Kept { replaced: dethroned }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn danger(worst: i8, axis: i8) -> Danger {
        Danger { worst: f32::from(worst), axes: [f32::from(axis), -f32::from(axis)].into_iter().collect() }
    }

    /// The members kept of one cell when they arrive in the given order.
    fn kept(keep: Keep, members: &[(i8, i8)], order: &[usize]) -> BTreeSet<usize> {
        let mut cells = Cells::new(keep, 2);
        let mut alive = BTreeSet::new();
        for (n, &i) in order.iter().enumerate() {
            let (worst, axis) = members[i];
            let job = |i: Member| JobOrder { parent: u64::from(i), choice: 0 };
            if n == 0 {
                cells.open(&danger(worst, axis), i as Member);
                alive.insert(i);
                continue;
            }
            let arrival = cells.enter(0, &danger(worst, axis), job(i as Member), i as Member, |m| Some(job(m)));
            if let Arrival::Kept { replaced } = arrival {
                alive.insert(i);
                replaced.iter().for_each(|m| assert!(alive.remove(&(*m as usize)), "replaced twice"));
            }
        }
        alive
    }

    proptest! {
        #[test]
        fn merging_is_associative_and_commutative(
            (members, order) in prop::collection::vec((-3_i8..3, -3_i8..3), 1..12)
                .prop_flat_map(|m| { let n = m.len(); (Just(m), Just((0..n).collect::<Vec<_>>()).prop_shuffle()) })
        ) {
            let in_order: Vec<usize> = (0..members.len()).collect();
            for keep in [Keep::Worst, Keep::Extremes] {
                prop_assert_eq!(kept(keep, &members, &in_order), kept(keep, &members, &order));
            }
        }

        #[test]
        fn the_worst_member_is_always_kept(members in prop::collection::vec((-3_i8..3, -3_i8..3), 1..12)) {
            let order: Vec<usize> = (0..members.len()).collect();
            let worst = members.iter().map(|m| m.0).max().unwrap();
            for keep in [Keep::Worst, Keep::Extremes] {
                prop_assert!(kept(keep, &members, &order).iter().any(|&i| members[i].0 == worst));
            }
        }
    }

    #[test]
    fn an_expanded_cell_is_reopened_only_by_a_clearly_worse_member() {
        let mut cells = Cells::new(Keep::Worst, 0);
        let job = JobOrder { parent: 0, choice: 0 };
        cells.open(&danger(1, 0), 0);
        let mut enter = |worst: f32| {
            let danger = Danger { worst, ..Danger::default() };
            cells.enter(0, &danger, job, 1, |_| None)
        };
        assert_eq!(enter(1.0 + REOPEN_STEP / 2.0), Arrival::Merged);
        assert_eq!(enter(1.0 + 2.0 * REOPEN_STEP), Arrival::Kept { replaced: Members::new() });
    }
}
