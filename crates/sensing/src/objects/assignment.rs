//! Which detection belongs to which track: the pairing with the least total cost (Kuhn's Hungarian method).

use super::detection::DETECTIONS_MAX;
use super::tracker::TRACKS_MAX;

/// Cost of a pair that cannot be.
pub(crate) const NEVER: f64 = f64::INFINITY;
/// Cost of leaving a track without a detection: so large that as many as possible get one.
const ALONE: f64 = 1e6;
/// Columns: detections, and one more per track for "none"; number 0 is the method's own.
const COLUMNS: usize = DETECTIONS_MAX + TRACKS_MAX + 1;

/// Costs of pairs of tracks (rows) and detections (columns).
pub(crate) type Costs = [[f64; DETECTIONS_MAX]; TRACKS_MAX];

/// The detection of each track, if it gets one. Equal costs go to the lower number, whatever the machine.
pub(crate) fn assign(costs: &Costs, tracks: usize, detections: usize) -> [Option<u8>; TRACKS_MAX] {
    let columns = detections + tracks;
    let cost = |track: usize, column: usize| {
        let pair = if column < detections { costs[track][column] } else { ALONE };
        // A pair that cannot be costs more than every way around it.
        if pair == NEVER { 1e3 * ALONE } else { pair }
    };
    let (mut row_part, mut column_part) = ([0.0; TRACKS_MAX + 1], [0.0; COLUMNS]);
    // Row of each column and the column before it on the way; rows and columns count from 1, 0 is "none".
    let (mut row_of, mut before) = ([0_usize; COLUMNS], [0_usize; COLUMNS]);
    for row in 1..=tracks {
        row_of[0] = row;
        let (mut least, mut used) = ([f64::INFINITY; COLUMNS], [false; COLUMNS]);
        let mut column = 0;
        while row_of[column] != 0 {
            used[column] = true;
            let from = row_of[column];
            let (mut next, mut step) = (0, f64::INFINITY);
            for other in (1..=columns).filter(|&other| !used[other]) {
                let reduced = cost(from - 1, other - 1) - row_part[from] - column_part[other];
                if reduced < least[other] {
                    least[other] = reduced;
                    before[other] = column;
                }
                if least[other] < step {
                    step = least[other];
                    next = other;
                }
            }
            for other in 0..=columns {
                if used[other] {
                    row_part[row_of[other]] += step;
                    column_part[other] -= step;
                } else {
                    least[other] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    let mut found = [None; TRACKS_MAX];
    for column in (1..=detections).filter(|&column| row_of[column] != 0) {
        let track = row_of[column] - 1;
        found[track] = (costs[track][column - 1] != NEVER).then_some((column - 1) as u8);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(rows: &[&[f64]]) -> Costs {
        let mut costs = [[NEVER; DETECTIONS_MAX]; TRACKS_MAX];
        rows.iter().enumerate().for_each(|(row, values)| costs[row][..values.len()].copy_from_slice(values));
        costs
    }

    #[test]
    fn the_nearest_is_left_to_whom_it_costs_more_to_go_without() {
        // Greedily, track 0 would take detection 0 and leave 9 to track 1: 10 in all instead of 2 + 1.
        let costs = filled(&[&[1.0, 2.0], &[1.0, 9.0]]);
        assert_eq!(assign(&costs, 2, 2)[..2], [Some(1), Some(0)]);
    }

    #[test]
    fn a_pair_that_cannot_be_never_is() {
        let costs = filled(&[&[NEVER, NEVER], &[3.0, NEVER]]);
        assert_eq!(assign(&costs, 2, 2)[..2], [None, Some(0)]);
        assert_eq!(assign(&costs, 2, 0)[..2], [None, None]);
        assert_eq!(assign(&costs, 0, 2)[0], None);
    }

    /// The least cost by trying everything; leaving a track alone costs the same as there.
    fn least(costs: &Costs, track: usize, tracks: usize, detections: usize, taken: u32) -> f64 {
        if track == tracks {
            return 0.0;
        }
        let alone = ALONE + least(costs, track + 1, tracks, detections, taken);
        let free = (0..detections).filter(|d| taken >> d & 1 == 0 && costs[track][*d] != NEVER);
        free.map(|d| costs[track][d] + least(costs, track + 1, tracks, detections, taken | 1 << d))
            .fold(alone, f64::min)
    }

    proptest! {
        #[test]
        fn no_other_pairing_costs_less(
            values in prop::collection::vec(prop::collection::vec(0.0..20.0_f64, 5), 1..6), detections in 0..6_usize,
        ) {
            let rows: Vec<Vec<f64>> = values.iter().map(|row| {
                row.iter().map(|&c| if c > 14.0 { NEVER } else { c }).collect()
            }).collect();
            let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..detections.min(5)]).collect();
            let (costs, tracks, detections) = (filled(&rows), rows.len(), detections.min(5));
            let found = assign(&costs, tracks, detections);
            let cost: f64 = (0..tracks).map(|t| found[t].map_or(ALONE, |d| costs[t][usize::from(d)])).sum();
            prop_assert!((cost - least(&costs, 0, tracks, detections, 0)).abs() < 1e-6);
            let mut taken: Vec<u8> = found.iter().flatten().copied().collect();
            taken.dedup();
            prop_assert_eq!(taken.len(), found.iter().flatten().count());
        }
    }
}
