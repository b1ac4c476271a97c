//! How many error sequences there are.

use std::collections::BTreeMap;

use anabranch_kernel::Choice;

use crate::set::ErrorSet;

/// Additions that counting may take, about a tenth of a second. Limits beyond that are left out, the largest first, and the number
/// is then an upper bound.
const EFFORT_MAX: u64 = 50_000_000;

/// A number of error sequences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sequences {
    /// How many.
    pub count: f64,
    /// Whether that is the number, and not only more than it.
    pub is_exact: bool,
}

impl ErrorSet {
    /// How many error sequences of so many segments keep to the limits of a run.
    pub fn sequences(&self, segments: u32) -> Sequences {
        let (over_all, own) = self.run_limits();
        self.counted(segments, over_all, own)
    }

    /// How many there would be with errors in at most so many segments of a run; nothing if the set has such a limit already.
    pub fn sequences_with(&self, segments: u32, per_run: u16) -> Option<Sequences> {
        let (over_all, own) = self.run_limits();
        over_all.is_none().then(|| self.counted(segments, Some(per_run), own))
    }

    fn counted(&self, segments: u32, over_all: Option<u16>, own: Vec<(usize, u16)>) -> Sequences {
        // A limit that no run can reach is none. The position behind all sites stands for the limit over all errors.
        let anything = self.space().sites().len();
        let all = own.into_iter().chain(over_all.map(|limit| (anything, limit)));
        let mut limits: Vec<(usize, u16)> = all.filter(|(_, limit)| u32::from(*limit) < segments).collect();
        limits.sort_by_key(|(_, limit)| *limit);
        let before = limits.len();
        while effort(&limits, segments) > EFFORT_MAX {
            limits.pop();
        }
        let kinds = self.kinds(&limits);
        let rows = rows(&limits) as usize;
        let mut counted = vec![0.0; rows];
        counted[0] = 1.0;
        for _ in 0..segments {
            let mut next = vec![0.0; rows];
            for (row, count) in counted.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                for (counters, choices) in &kinds {
                    if let Some(raised) = raised(row, counters, &limits) {
                        next[raised] += count * choices;
                    }
                }
            }
            counted = next;
        }
        Sequences { count: counted.iter().sum(), is_exact: limits.len() == before }
    }

    /// Which limited counters a segment can raise together, and by how many choices.
    fn kinds(&self, limits: &[(usize, u16)]) -> BTreeMap<Vec<u16>, f64> {
        let mut kinds = BTreeMap::new();
        for choice in self.space().choices() {
            let modes = self.space().modes(choice);
            let raises =
                |(at, _): &(usize, u16)| u16::from(modes.get(*at).map_or(choice != Choice::NONE, |mode| *mode != 0));
            *kinds.entry(limits.iter().map(raises).collect::<Vec<u16>>()).or_insert(0.0) += 1.0;
        }
        kinds
    }
}

/// Combinations of counters, each from nothing to its limit.
fn rows(limits: &[(usize, u16)]) -> u64 {
    limits.iter().fold(1_u64, |all, (_, limit)| all.saturating_mul(u64::from(*limit) + 1))
}

fn effort(limits: &[(usize, u16)], segments: u32) -> u64 {
    let kinds = 1_u64 << limits.len().min(32);
    rows(limits).saturating_mul(kinds).saturating_mul(u64::from(segments))
}

/// The row with these counters raised; nothing beyond a limit. A row is a number whose digits are the counters.
fn raised(row: usize, counters: &[u16], limits: &[(usize, u16)]) -> Option<usize> {
    let (mut rest, mut place, mut raised) = (row, 1, 0);
    for (one, (_, limit)) in counters.iter().zip(limits) {
        let base = usize::from(*limit) + 1;
        let used = rest % base + usize::from(*one);
        if used >= base {
            return None;
        }
        raised += used * place;
        place *= base;
        rest /= base;
    }
    Some(raised)
}
