//! Figures of a run from its numbers; from its files where an older run has no numbers.

use serde_json::Value;

use super::source::Run;
use crate::picture::{
    Anchor, LevelRow, Levels, Profile, Savings, SavingsRow, Share, Style, Svg, colour, level_plot, profile_bars,
    savings_plot,
};

/// Seconds simulated with and without saved states.
pub(super) fn savings(run: &Run) -> Option<String> {
    let (rows, segment_s) = (level_rows(run), run.result["settings"]["segment_s"].as_f64());
    let (Some(segment_s), false) = (segment_s, rows.is_empty()) else { return run.pictures.get("savings").cloned() };
    let (mut saved_s, mut replayed_s) = (0.0, 0.0);
    let row = |level: &Value| {
        let length = number(&level["level"]) + 1.0;
        let segments = number(&level["segments"]);
        saved_s += segments * segment_s;
        replayed_s += segments * length * segment_s;
        SavingsRow { n_s: length * segment_s, saved_s, replayed_s }
    };
    let rows = rows.iter().map(row).collect();
    let unmerged_s = number(&run.result["seconds_without_merging"]);
    Some(savings_plot(&Savings { title: format!("{}: seconds simulated", run.scenario()), rows, unmerged_s }))
}

/// Kept, merged and worst clearance per level.
pub(super) fn levels(run: &Run) -> Option<String> {
    let rows = level_rows(run);
    if rows.is_empty() {
        return run.pictures.get("levels").cloned();
    }
    let row = |level: &Value| LevelRow {
        level: number(&level["level"]) as u32,
        states: number(&level["kept"]) as u64,
        merged: number(&level["merged"]) as u64,
        worst_clearance_m: level["worst_clearance_m"].as_f64().unwrap_or(f64::INFINITY),
    };
    let title = format!("{}: level by level", run.scenario());
    Some(level_plot(&Levels { title, rows: rows.iter().map(row).collect() }))
}

/// Where the CPU time went.
pub(super) fn profile(run: &Run) -> Option<String> {
    let Some(shares) = run.result["profile"].as_array() else { return run.pictures.get("profile").cloned() };
    let share = |share: &Value| Share {
        name: share["name"].as_str().unwrap_or_default().to_owned(),
        cpu_s: number(&share["cpu_s"]),
    };
    let title = format!("{}: where the CPU time went", run.scenario());
    Some(profile_bars(&Profile { title, shares: shares.iter().map(share).collect() }))
}

/// The share of random runs inside what was explored, with its interval.
pub(super) fn coverage(run: &Run) -> Option<String> {
    let coverage = &run.result["coverage"];
    let (low, share, high) = (
        coverage["runs_inside_low"].as_f64()?,
        coverage["runs_inside"].as_f64()?,
        coverage["runs_inside_high"].as_f64()?,
    );
    let runs = coverage["rollouts"].as_u64().filter(|runs| *runs > 0)?;
    let mut svg = Svg::new(960.0, 118.0, "Share of random runs inside what was explored");
    let x = |share: f64| 40.0 + 880.0 * share.clamp(0.0, 1.0);
    svg.rect([40.0, 34.0], [880.0, 30.0], Style::line(colour::FRAME, 1.0).fill(colour::PLOT, 1.0));
    svg.rect([40.0, 34.0], [x(share) - 40.0, 30.0], Style::area(colour::BLUE).fill(colour::BLUE, 0.55));
    svg.rect([x(low), 28.0], [(x(high) - x(low)).max(1.0), 42.0], Style::line(colour::INK, 1.4));
    svg.line([x(share), 24.0], [x(share), 74.0], Style::line(colour::INK, 2.4));
    for tick in 0..=10 {
        let at = f64::from(tick) / 10.0;
        svg.text([x(at), 90.0], 13.0, Anchor::Middle, colour::SOFT_INK, &format!("{} %", tick * 10));
    }
    let label = format!(
        "{:.2} % of {runs} runs; 95 % interval {:.2} to {:.2} %, shown as the box",
        100.0 * share,
        100.0 * low,
        100.0 * high
    );
    svg.text([40.0, 17.0], 14.0, Anchor::Start, colour::INK, &label);
    Some(svg.finish())
}

/// Bars with their counts, for changes of clearance.
pub(super) fn histogram(title: &str, bars: &[(String, u64)]) -> String {
    let row_px = 26.0;
    let mut svg = Svg::new(960.0, 56.0 + row_px * bars.len() as f64, title);
    svg.text([24.0, 28.0], 16.0, Anchor::Start, colour::INK, title);
    let most = bars.iter().map(|bar| bar.1).max().unwrap_or(1).max(1) as f64;
    for (row, (label, cells)) in bars.iter().enumerate() {
        let y = 44.0 + row_px * row as f64;
        svg.text([250.0, y + 17.0], 14.0, Anchor::End, colour::INK, label);
        let length = 540.0 * *cells as f64 / most;
        let fill = match label.chars().next() {
            Some('l') => colour::RED,
            Some('g') => colour::GREEN,
            _ => colour::SOFT_INK,
        };
        svg.rect([262.0, y + 4.0], [length.max(if *cells > 0 { 1.5 } else { 0.0 }), row_px - 8.0], Style::area(fill));
        svg.text([270.0 + length, y + 17.0], 14.0, Anchor::Start, colour::INK, &cells.to_string());
    }
    svg.finish()
}

fn level_rows(run: &Run) -> Vec<Value> {
    run.result["level_rows"].as_array().cloned().unwrap_or_default()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}
