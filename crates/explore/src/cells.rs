//! Which member of a cell is continued: the algebra of merging.
//!
//! Members compete per axis by (score, earlier job); the largest wins. That is associative and commutative, so the
//! outcome does not depend on the order in which results arrive.

use anabranch_kernel::{AXES_MAX, Danger};
use arrayvec::ArrayVec;

use crate::settings::Keep;

/// By how much a member must be worse to re-open a cell that was expanded (scope `visited`), for the danger and for each
/// axis of the system. A share of what random runs range over, so that no unit matters: small against any
/// difference of interest, large against rounding, so that re-opening ends.
pub(crate) type ReopenSteps = ArrayVec<f64, { AXES_MAX + 1 }>;

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
    /// The best score along each axis of each cell.
    scores: Vec<f64>,
    /// Who has it.
    holders: Vec<Member>,
    reopen: ReopenSteps,
}

impl Cells {
    /// Cells for a rule and the number of axes of the system.
    pub(crate) fn new(keep: Keep, system_axes: usize, reopen: ReopenSteps) -> Self {
        let axes = match keep {
            Keep::First => 0,
            Keep::Worst => 1,
            Keep::Extremes => 1 + system_axes,
        };
        Self { axes, first_cell: 0, scores: Vec::new(), holders: Vec::new(), reopen }
    }

    /// Forgets all rows: cells numbered below `next_cell` will never be asked for again.
    pub(crate) fn start_over(&mut self, next_cell: u32) {
        self.first_cell = next_cell;
        self.scores.clear();
        self.holders.clear();
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(self.scores.as_slice()) + size_of_val(self.holders.as_slice())) as u64
    }

    /// A new cell is entered by its first member.
    pub(crate) fn open(&mut self, danger: &Danger, member: Member) {
        if self.axes > 0 {
            self.scores.extend(scores(danger).take(self.axes));
            self.holders.extend(std::iter::repeat_n(member, self.axes));
        }
    }

    /// A cell that was entered in an earlier process; its members follow.
    pub(crate) fn open_vacant(&mut self) {
        self.scores.extend(std::iter::repeat_n(f64::NEG_INFINITY, self.axes));
        self.holders.extend(std::iter::repeat_n(Member::MAX, self.axes));
    }

    /// A member of a level in which nothing is merged: it counts only if it is the first of its cell.
    pub(crate) fn enter_unmerged(&mut self, cell: u32, danger: &Danger, member: Member) {
        let row = (cell - self.first_cell) as usize * self.axes;
        for (at, score) in (row..row + self.axes).zip(scores(danger)) {
            if self.holders[at] == Member::MAX {
                (self.scores[at], self.holders[at]) = (score, member);
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
        let best_scores = &mut self.scores[row..row + self.axes];
        let holders = &mut self.holders[row..row + self.axes];
        let mut dethroned = Members::new();
        let mut won = false;
        for (axis, score) in scores(danger).take(best_scores.len()).enumerate() {
            let (best, holder) = (best_scores[axis], holders[axis]);
            if score < best {
                continue;
            }
            let holder_job = waiting(holder);
            let wins = match holder_job {
                Some(holder_job) => score > best || job < holder_job,
                None => score > best && score >= best + self.reopen.get(axis).copied().unwrap_or(0.0),
            };
            if wins {
                won = true;
                (best_scores[axis], holders[axis]) = (score, member);
                if holder_job.is_some() && !dethroned.contains(&holder) {
                    dethroned.push(holder);
                }
            }
        }
        if !won {
            return Arrival::Merged;
        }
        dethroned.retain(|m| !holders.contains(m));
        Arrival::Kept { replaced: dethroned }
    }
}

/// What members compete by: the danger, then the axes. Axes are rounded to 24 binary digits, whatever their unit: members that
/// differ by less are equal there, so that one of them can hold several axes and need not be continued twice.
fn scores(danger: &Danger) -> impl Iterator<Item = f64> {
    std::iter::once(danger.worst).chain(danger.axes.iter().map(|axis| rounded(*axis)))
}

/// Rounded to 24 binary digits.
fn rounded(value: f64) -> f64 {
    const DROPPED: u32 = 52 - 23;
    if !value.is_finite() {
        return value;
    }
    f64::from_bits((value.to_bits() + (1 << (DROPPED - 1))) & !((1 << DROPPED) - 1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn danger(worst: i8, axis: i8) -> Danger {
        Danger { worst: f64::from(worst), axes: [f64::from(axis), -f64::from(axis)].into_iter().collect() }
    }

    /// The members kept of one cell when they arrive in the given order.
    fn kept(keep: Keep, members: &[(i8, i8)], order: &[usize]) -> BTreeSet<usize> {
        let mut cells = Cells::new(keep, 2, ReopenSteps::new());
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
    fn axes_are_rounded_and_danger_is_not() {
        for value in [0.0, 1.0, -3.7, 1e300, 5e-300, 1.0 + 1e-12] {
            assert!((rounded(value) - value).abs() <= value.abs() * 6e-8, "{value}");
            assert_eq!(rounded(value * 65_536.0), rounded(value) * 65_536.0);
        }
        assert_eq!(rounded(1.0 + 1e-12), 1.0);
        assert_eq!((rounded(f64::INFINITY), rounded(f64::NEG_INFINITY)), (f64::INFINITY, f64::NEG_INFINITY));
        let danger = Danger { worst: 1.0 + 1e-12, axes: [1.0 + 1e-12].into_iter().collect() };
        assert_eq!(scores(&danger).collect::<Vec<_>>(), [1.0 + 1e-12, 1.0]);
    }

    #[test]
    fn an_expanded_cell_is_reopened_only_by_a_clearly_worse_member() {
        const STEP: f64 = 1e-3;
        let mut cells = Cells::new(Keep::Worst, 0, [STEP].into_iter().collect());
        let job = JobOrder { parent: 0, choice: 0 };
        cells.open(&danger(1, 0), 0);
        let mut enter = |worst: f64| {
            let danger = Danger { worst, ..Danger::default() };
            cells.enter(0, &danger, job, 1, |_| None)
        };
        assert_eq!(enter(1.0 + STEP / 2.0), Arrival::Merged);
        assert_eq!(enter(1.0 + 2.0 * STEP), Arrival::Kept { replaced: Members::new() });
    }
}
