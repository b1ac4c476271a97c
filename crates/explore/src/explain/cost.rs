//! How small a counterexample is.

use std::cmp::Reverse;

use anabranch_kernel::{Choice, ErrorSpace};

/// How small a counterexample is; smaller is better, earlier fields weigh more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Single errors: every site in error counts, in every segment.
    pub errors: usize,
    /// Segments with an error.
    pub erroneous: usize,
    /// How often the error differs from that of the segment before; before the start there is none.
    pub changes: usize,
    /// Sum of all errors' sizes, each as millionths of the largest size of its site, so that metres and degrees add up.
    pub magnitude_millionths: u64,
    /// Segments by which it violates later than the finding: who asks why wants that mishap, not a later one.
    pub late_by: usize,
    /// The first segment with an error; a later one is better, because it is closer to the violation.
    pub start: Reverse<usize>,
}

impl Cost {
    /// The cost of a sequence that ends with its violation; the finding violates after `found` segments.
    pub fn of(space: &ErrorSpace, choices: &[Choice], found: usize) -> Self {
        let before = std::iter::once(&Choice::NONE).chain(choices);
        Self {
            errors: choices.iter().map(|&choice| space.active(choice)).sum(),
            erroneous: choices.iter().filter(|&&choice| choice != Choice::NONE).count(),
            changes: before.zip(choices).filter(|(before, now)| before != now).count(),
            magnitude_millionths: choices.iter().map(|&choice| weight(space, choice)).sum(),
            late_by: choices.len().saturating_sub(found),
            start: Reverse(choices.iter().position(|&choice| choice != Choice::NONE).unwrap_or(usize::MAX)),
        }
    }
}

/// Size of a choice in millionths of the largest size of each site.
pub(super) fn weight(space: &ErrorSpace, choice: Choice) -> u64 {
    (0..space.sites().len()).map(|site| mode_weight(space, site, space.modes(choice)[site])).sum()
}

/// Size of a mode in millionths of the largest of its site. A mode without size weighs as much as the largest.
fn mode_weight(space: &ErrorSpace, site: usize, mode: u8) -> u64 {
    if mode == 0 {
        return 0;
    }
    let modes = &space.sites()[site].modes;
    let largest = modes.iter().map(|m| m.size.abs()).fold(0.0, f64::max);
    let share = modes[usize::from(mode)].size.abs() / largest;
    if share.is_finite() && share > 0.0 { (share * 1e6).round() as u64 } else { 1_000_000 }
}

/// How far apart two choices are. Two different errors of one site count as leaving the one and making the other,
/// because nothing is known about their directions.
pub(super) fn distance(space: &ErrorSpace, a: Choice, b: Choice) -> u64 {
    let modes = space.modes(a).iter().zip(space.modes(b)).enumerate();
    let differing = modes.filter(|(_, (a, b))| a != b);
    differing.map(|(site, (&a, &b))| mode_weight(space, site, a) + mode_weight(space, site, b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::{Mode, Site};

    fn space() -> ErrorSpace {
        let mode = |name: &str, size| Mode { name: name.to_owned(), size };
        let jump = Site { id: "jump".into(), modes: vec![mode("none", 0.0), mode("small", 0.05), mode("large", 0.1)] };
        let late = Site { id: "late".into(), modes: vec![mode("none", 0.0), mode("late", 0.5)] };
        ErrorSpace::new(vec![jump, late], 2).unwrap()
    }

    #[test]
    fn errors_come_first_then_segments_then_changes_then_size_then_time() {
        let space = space();
        let cost = |choices: &[u16]| Cost::of(&space, &choices.iter().map(|&c| Choice(c)).collect::<Vec<_>>(), 3);
        assert_eq!(cost(&[0, 0]).changes, 0);
        assert_eq!((cost(&[1, 1, 0]).changes, cost(&[0, 1, 1]).changes, cost(&[1, 2, 0, 1]).changes), (2, 1, 4));
        assert!(cost(&[0, 2, 0, 0]) < cost(&[0, 2, 2, 2]), "a held error is never better than one of its segments");
        assert!(cost(&[0, 2, 2]) < cost(&[2, 0, 2]), "of as many errors the one with fewer changes");
        assert!(cost(&[0, 1, 1, 1]) < cost(&[0, 2, 2, 2]), "of the same length the smaller error");
        assert!(cost(&[0, 0, 2]) < cost(&[0, 2]), "of the same size the later one");
        assert!(cost(&[0, 2]) < cost(&[0, 0, 0, 2]), "but not later than it was found");
    }

    #[test]
    fn sizes_of_different_sites_add_up_as_shares() {
        let space = space();
        let both = space.find(&[1, 1]).unwrap();
        assert_eq!(Cost::of(&space, &[both], 1).errors, 2, "two errors at once are two errors");
        assert_eq!(weight(&space, both), 500_000 + 1_000_000);
        assert_eq!(distance(&space, both, Choice::NONE), 1_500_000);
        assert_eq!(distance(&space, Choice(1), Choice(2)), 1_500_000);
    }
}
