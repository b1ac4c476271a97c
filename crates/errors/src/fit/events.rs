//! What happens now and then: jumps of the estimate, and times in which nothing is told.

use std::collections::BTreeMap;

use super::interval::Estimated;
use super::log::{Group, Log, LogChannel};

/// A step counts as a jump from so many deviations of ordinary steps on: one in 10⁸ ordinary ones.
const JUMP_DEVIATIONS: f64 = 6.0;
/// The same over a gap: there are few of them, so less is enough.
const JUMP_DEVIATIONS_OVER_GAP: f64 = 4.5;
/// A jump is over when the estimate is back within so many deviations of an ordinary step.
const BACK_DEVIATIONS: f64 = 4.5;
/// The same over a gap.
const BACK_DEVIATIONS_OVER_GAP: f64 = 3.5;
/// From the median of absolute values to a deviation, for normal numbers.
const DEVIATION_PER_MEDIAN: f64 = 1.482_602_2;

/// Jumps of a group of channels: the error changes at once, and later changes back.
#[derive(Clone, Debug, PartialEq)]
pub struct Jumps {
    /// What jumps: `position`, or the name of a channel.
    pub name: String,
    /// Unit of the size.
    pub unit: String,
    /// How many were found.
    pub count: usize,
    /// How many begin per second.
    pub rate_per_s: Estimated,
    /// How far; `None` without jumps.
    pub size: Option<Estimated>,
    /// For how long; `None` if none came back.
    pub hold_s: Option<Estimated>,
    /// The smallest jump that would have been told from noise.
    pub told_from: f64,
}

/// Times in which nothing was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropouts {
    /// How many were found.
    pub count: usize,
    /// How many begin per second.
    pub rate_per_s: Estimated,
    /// For how long; `None` without dropouts.
    pub duration_s: Option<Estimated>,
}

/// One step of all channels of a group, from a told row to the next one.
struct Step {
    row: usize,
    /// Rows since the one before; more than 1 over a gap.
    rows: usize,
    by: Vec<f64>,
}

fn steps(group: &Group, errors: &[Vec<Option<f64>>], count: usize) -> Vec<Step> {
    let told =
        |row: usize| -> Option<Vec<f64>> { group.channels.iter().map(|&channel| errors[channel][row]).collect() };
    let mut last: Option<(usize, Vec<f64>)> = None;
    let mut steps = Vec::new();
    for row in 0..count {
        let Some(now) = told(row) else { continue };
        if let Some((before, then)) = &last {
            let by = now.iter().zip(then).map(|(a, b)| a - b).collect();
            steps.push(Step { row, rows: row - before, by });
        }
        last = Some((row, now));
    }
    steps
}

/// Deviations of ordinary steps over so many rows, per channel; found when first asked for.
struct Ordinary<'a> {
    group: &'a Group,
    errors: &'a [Vec<Option<f64>>],
    /// What rounding alone can do to each channel.
    rounding: Vec<f64>,
    known: BTreeMap<usize, Vec<f64>>,
}

impl Ordinary<'_> {
    fn deviations(&mut self, rows: usize) -> &[f64] {
        let Self { group, errors, rounding, known } = self;
        known.entry(rows).or_insert_with(|| {
            let of_channel = |(&channel, &rounding): (&usize, &f64)| {
                let series = &errors[channel];
                let pairs = series.iter().zip(&series[rows.min(series.len())..]);
                let mut sizes: Vec<f64> = pairs.filter_map(|(a, b)| a.zip(*b)).map(|(a, b)| (b - a).abs()).collect();
                (DEVIATION_PER_MEDIAN * median(&mut sizes)).max(rounding)
            };
            group.channels.iter().zip(rounding.iter()).map(of_channel).collect()
        })
    }
    /// Length of a step in deviations.
    fn length(&mut self, step: &[f64], rows: usize) -> f64 {
        let squares =
            step.iter().zip(self.deviations(rows)).map(|(step, deviation)| (step / deviation) * (step / deviation));
        squares.sum::<f64>().sqrt()
    }
}

/// Decimals from which on a log can be written with fewer than it has: whole numbers are no sign of rounding to metres.
const DECIMALS: std::ops::RangeInclusive<i32> = 2..=9;
/// Share of the largest value below which a number is rounding of the computer.
const COMPUTED: f64 = 1e-12;

/// Half of the last decimal that a channel is written with: a step of truth and estimate within two of those is no jump.
fn rounding(channel: &LogChannel) -> f64 {
    let values = || channel.truth.iter().copied().chain(channel.estimate.iter().flatten().copied());
    let largest = values().fold(1.0, |most: f64, value| most.max(value.abs()));
    let is_written_with = |decimals: i32| {
        let scale = 10_f64.powi(decimals);
        values().all(|value| (value * scale - (value * scale).round()).abs() <= COMPUTED * largest * scale)
    };
    // Scaled by powers of ten: what the computer rounds grows with them, so that many decimals prove nothing.
    let sure = DECIMALS.take_while(|decimals| COMPUTED * largest * 10_f64.powi(*decimals) < 0.01);
    let decimals = sure.into_iter().find(|decimals| is_written_with(*decimals));
    decimals.map_or(COMPUTED * largest, |decimals| 0.5 * 10_f64.powi(-decimals)).max(COMPUTED * largest)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// A jump that has been found.
struct Jump {
    from_row: usize,
    to_row: Option<usize>,
    /// Offset per channel, averaged over the way there and back.
    offset: Vec<f64>,
}

/// The jumps of a group, and which rows lie inside one.
pub(crate) fn find_jumps(log: &Log, period_s: f64, group: &Group, errors: &[Vec<Option<f64>>]) -> (Jumps, Vec<bool>) {
    let rounding = group.channels.iter().map(|&channel| rounding(&log.channels[channel])).collect();
    let mut ordinary = Ordinary { group, errors, rounding, known: BTreeMap::new() };
    let mut jumps: Vec<Jump> = Vec::new();
    let mut offset = vec![0.0; group.channels.len()];
    for Step { row, rows, by } in steps(group, errors, log.time_s.len()) {
        let (least, most) = match rows {
            1 => (JUMP_DEVIATIONS, BACK_DEVIATIONS),
            _ => (JUMP_DEVIATIONS_OVER_GAP, BACK_DEVIATIONS_OVER_GAP),
        };
        if ordinary.length(&by, rows) <= least {
            continue;
        }
        offset.iter_mut().zip(&by).for_each(|(sum, step)| *sum += step);
        let is_back = ordinary.length(&offset, rows) < most;
        if let Some(open) = jumps.last_mut().filter(|jump| jump.to_row.is_none()) {
            open.to_row = Some(row);
            if is_back {
                open.offset.iter_mut().zip(&by).for_each(|(there, back)| *there = 0.5 * (*there - back));
            }
        }
        if is_back {
            offset.fill(0.0);
        } else {
            jumps.push(Jump { from_row: row, to_row: None, offset: offset.clone() });
        }
    }
    let least = ordinary.deviations(1).iter().fold(0.0, |most: f64, deviation| most.max(*deviation));
    summary(log, period_s, group, JUMP_DEVIATIONS * least, &jumps)
}

fn summary(log: &Log, period_s: f64, group: &Group, told_from: f64, jumps: &[Jump]) -> (Jumps, Vec<bool>) {
    let last_s = log.time_s[log.time_s.len() - 1];
    let mut inside = vec![false; log.time_s.len()];
    let (mut held_s, mut holds_s) = (0.0, Vec::new());
    for jump in jumps {
        let until_s = jump.to_row.map_or(last_s, |row| log.time_s[row]);
        let hold_s = until_s - log.time_s[jump.from_row];
        held_s += hold_s;
        if jump.to_row.is_some() {
            holds_s.push(hold_s);
        }
        inside[jump.from_row..jump.to_row.unwrap_or(log.time_s.len())].fill(true);
    }
    let sizes: Vec<f64> = jumps.iter().map(|jump| length(&jump.offset)).collect();
    let free_s = (last_s - log.time_s[0] - held_s).max(period_s);
    let found = Jumps {
        name: group.name.clone(),
        unit: group.unit.clone(),
        count: jumps.len(),
        rate_per_s: Estimated::rate(jumps.len(), free_s),
        size: Estimated::mean_size(&sizes),
        hold_s: Estimated::mean_time(&holds_s),
        told_from,
    };
    (found, inside)
}

/// Times in which any channel was not told: rows without estimate, and rows that are missing.
pub(crate) fn find_dropouts(log: &Log, period_s: f64) -> Dropouts {
    let told = |row: usize| log.channels.iter().all(|channel| channel.estimate[row].is_some());
    let mut durations_s = Vec::new();
    let mut begin_s: Option<f64> = None;
    for row in 0..log.time_s.len() {
        let now_s = log.time_s[row];
        let missing_s = if row == 0 { 0.0 } else { now_s - log.time_s[row - 1] - period_s };
        if begin_s.is_none() && missing_s > 0.5 * period_s {
            begin_s = Some(now_s - missing_s);
        }
        match (told(row), begin_s) {
            (false, None) => begin_s = Some(now_s),
            (true, Some(since_s)) => {
                durations_s.push(now_s - since_s);
                begin_s = None;
            }
            _ => {}
        }
    }
    let duration_s = log.time_s[log.time_s.len() - 1] - log.time_s[0];
    let open_s = begin_s.map_or(0.0, |since_s| log.time_s[log.time_s.len() - 1] - since_s);
    let lost_s = open_s + durations_s.iter().sum::<f64>();
    let count = durations_s.len() + usize::from(begin_s.is_some());
    Dropouts {
        count,
        rate_per_s: Estimated::rate(count, (duration_s - lost_s).max(period_s)),
        duration_s: Estimated::mean_time(&durations_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log without noise, as it comes from a file with so many decimals; the estimate is off by a bias, and by 0.5 in the middle
    /// third if it jumps.
    fn log(decimals: i32, jumps: bool) -> Log {
        let scale = 10_f64.powi(decimals);
        let written = |value: f64| (value * scale).round() / scale;
        let rows = 300;
        let time_s: Vec<f64> = (0..rows).map(|row| 0.1 * f64::from(row)).collect();
        let exact: Vec<f64> = time_s.iter().map(|t| 7.3 * t + 0.37 * t * t).collect();
        let more = |row: usize| if jumps && (100..200).contains(&row) { 0.5 } else { 0.0 };
        let estimate = exact.iter().enumerate().map(|(row, x)| Some(written(x + 0.250_437 + more(row)))).collect();
        let truth = exact.iter().map(|x| written(*x)).collect();
        Log { time_s, channels: vec![LogChannel { name: "x".into(), unit: "m".into(), truth, estimate }] }
    }
    fn found(log: &Log) -> Jumps {
        let channel = &log.channels[0];
        let errors: Vec<_> =
            channel.truth.iter().zip(&channel.estimate).map(|(x, told)| told.map(|told| told - x)).collect();
        find_jumps(log, 0.1, &log.groups()[0], &[errors]).0
    }

    #[test]
    fn rounding_of_a_log_without_noise_is_no_jump() {
        for decimals in [2, 3, 6, 9, 14] {
            assert_eq!(found(&log(decimals, false)).count, 0, "{decimals} decimals");
        }
    }

    #[test]
    fn a_jump_of_a_log_without_noise_is_still_found() {
        for decimals in [2, 3, 6, 14] {
            let found = found(&log(decimals, true));
            assert_eq!(found.count, 1, "{decimals} decimals, told from {}", found.told_from);
            assert!((found.size.unwrap().value - 0.5).abs() < 0.03 && found.told_from < 0.1, "{found:?}");
        }
    }
}
