//! Seconds simulated with and without saved states (S1-44, Fig. 9 of the paper).

use super::axis::{Axis, Scale, grouped};
use super::chart::{self, Marker, Series};
use super::colour;
use super::svg::{Anchor, Style, Svg};

/// Cost up to one length of a simulation sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavingsRow {
    /// Length of a sequence, simulated seconds.
    pub n_s: f64,
    /// Seconds simulated with saved states.
    pub saved_s: f64,
    /// Seconds simulated when each kept path is run from the start.
    pub replayed_s: f64,
}

/// What saved states and merging save.
#[derive(Clone, Debug, PartialEq)]
pub struct Savings {
    /// Title of the figure.
    pub title: String,
    /// One row per length, increasing.
    pub rows: Vec<SavingsRow>,
    /// Seconds that every error sequence from the start would take at the largest length (n·bⁿ).
    pub unmerged_s: f64,
}

/// Seconds simulated against the length of a sequence, as SVG.
pub fn savings_plot(savings: &Savings) -> String {
    let (width, height) = (960.0, 560.0);
    let mut svg = Svg::new(width, height, &savings.title);
    chart::title(&mut svg, &savings.title, &subtitle(savings));
    let saved = Series {
        points: savings.rows.iter().map(|r| [r.n_s, r.saved_s]).collect(),
        style: Style::line(colour::RED, 2.6),
        marker: Marker::Circle,
        label: "saved states",
    };
    let replayed = Series {
        points: savings.rows.iter().map(|r| [r.n_s, r.replayed_s]).collect(),
        style: Style::line(colour::BLUE, 2.4).dash("2 5"),
        marker: Marker::Square,
        label: "merging, every path from the start",
    };
    let x = Axis::around(savings.rows.iter().map(|r| r.n_s), Scale::Linear, [118.0, width - 110.0]);
    let values = savings.rows.iter().flat_map(|r| [r.saved_s, r.replayed_s]);
    let y = Axis::around(values, Scale::LogIfWide, [height - 70.0, 116.0]);
    chart::key(&mut svg, [118.0, 96.0], &[&saved, &replayed]);
    chart::panel(&mut svg, &x, &y, "length n of a simulation sequence [s]", "simulated in total [s]");
    chart::series(&mut svg, &x, &y, &replayed);
    chart::series(&mut svg, &x, &y, &saved);
    for one in [&saved, &replayed] {
        if let Some([at, value]) = one.points.last().copied() {
            let label = format!("{}\u{a0}s", grouped(value));
            svg.text([x.map(at) + 12.0, y.map(value) + 5.0], chart::TEXT_PX, Anchor::Start, one.style.stroke, &label);
        }
    }
    svg.finish()
}

fn subtitle(savings: &Savings) -> String {
    let n_s = savings.rows.last().map_or(0.0, |row| row.n_s);
    let seconds = savings.unmerged_s;
    let years = seconds / (365.25 * 86_400.0);
    let highest = savings.rows.iter().map(|row| row.saved_s.max(row.replayed_s)).fold(0.0, f64::max);
    let place = if seconds > 10.0 * highest { ", far above this plot" } else { "" };
    let long = if years >= 1.0 { format!(" ({}\u{a0}years)", grouped(years)) } else { String::new() };
    format!(
        "Without merging, every error sequence of n = {} s from the start: {}\u{a0}s{long}{place}.",
        super::axis::fixed(n_s, usize::from(n_s.fract() != 0.0)),
        grouped(seconds)
    )
}
