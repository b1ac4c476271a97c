//! Where the CPU time of an exploration goes (S1-45, Fig. 10 of the paper).

use super::axis::{Axis, Scale, fixed};
use super::chart;
use super::colour;
use super::svg::{Anchor, Style, Svg};

/// One part of the work.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// What it is: `simulate`, `save + restore`, `key + merge`, `danger`, `other`.
    pub name: String,
    /// Its CPU seconds.
    pub cpu_s: f64,
}

/// CPU time by part of the work.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Title of the figure.
    pub title: String,
    /// The parts, in the order to be shown.
    pub shares: Vec<Share>,
}

/// One bar per part of the work, as SVG.
pub fn profile_bars(profile: &Profile) -> String {
    let (width, row_px, top) = (960.0, 46.0, 84.0);
    let bottom = top + row_px * profile.shares.len().max(1) as f64;
    let mut svg = Svg::new(width, bottom + 74.0, &profile.title);
    let total: f64 = profile.shares.iter().map(|share| share.cpu_s).sum();
    chart::title(
        &mut svg,
        &profile.title,
        &format!("{} s of CPU time in total, all threads together.", seconds(total)),
    );
    let x = Axis {
        px_from: 190.0,
        px_to: width - 150.0,
        ..Axis::around([0.0, 100.0].into_iter(), Scale::Linear, [0.0; 2])
    };
    svg.rect([x.px_from, top], [x.px_to - x.px_from, bottom - top], Style::area(colour::PLOT));
    for (value, label) in x.ticks(60.0) {
        let at = x.map(value);
        svg.line([at, top], [at, bottom + 5.0], Style::line(colour::GRID, 1.0));
        svg.text([at, bottom + 20.0], chart::TEXT_PX, Anchor::Middle, colour::INK, &label);
    }
    for (row, share) in profile.shares.iter().enumerate() {
        let y = top + row_px * row as f64;
        let percent = if total > 0.0 { 100.0 * share.cpu_s / total } else { 0.0 };
        let fill = [colour::BLUE, colour::RED, colour::ORANGE, colour::GREEN, colour::SOFT_INK][row.min(4)];
        svg.rect([x.px_from, y + 9.0], [x.map(percent) - x.px_from, row_px - 18.0], Style::area(fill));
        svg.text([x.px_from - 10.0, y + 0.5 * row_px + 5.0], chart::TEXT_PX, Anchor::End, colour::INK, &share.name);
        let label = format!("{}\u{a0}%  ({}\u{a0}s)", fixed(percent, 1), seconds(share.cpu_s));
        svg.text([x.map(percent) + 8.0, y + 0.5 * row_px + 5.0], chart::TEXT_PX, Anchor::Start, colour::INK, &label);
    }
    svg.line([x.px_from, top], [x.px_from, bottom], Style::line(colour::FRAME, 1.0));
    svg.line([x.px_from, bottom], [x.px_to, bottom], Style::line(colour::FRAME, 1.0));
    let middle = 0.5 * (x.px_from + x.px_to);
    svg.text([middle, bottom + 46.0], chart::TEXT_PX, Anchor::Middle, colour::INK, "share of CPU time [%]");
    svg.finish()
}

/// About three digits are enough for a time.
fn seconds(value: f64) -> String {
    fixed(
        value,
        if value < 10.0 {
            2
        } else if value < 100.0 {
            1
        } else {
            0
        },
    )
}
