//! Figures of a search: how it converged, which parameters matter, and what dangerous cases have in common.

use super::axis::{Axis, Scale, fixed};
use super::chart::{self, Marker, Series};
use super::colour;
use super::svg::{Anchor, Style, Svg};

/// Lines of a bundle before each of them becomes faint.
const BUNDLE_FAINT: usize = 20;

/// Characters of the label at the end of an axis.
const LABEL_CHARS_MAX: usize = 13;

/// The values of a search, in the order of simulations.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    /// Title of the figure.
    pub title: String,
    /// What the values are.
    pub objective: String,
    /// Number of the simulation, from 1, with its value and the lowest so far.
    pub rows: Vec<[f64; 3]>,
    /// Lowest value of as many random points.
    pub random_best: Option<f64>,
}

/// Value and lowest value over simulations, as SVG.
pub fn convergence_plot(search: &Convergence) -> String {
    let (width, height) = (960.0, 480.0);
    let mut svg = Svg::new(width, height, &search.title);
    chart::title(&mut svg, &search.title, "Below zero a requirement is violated.");
    // Very safe points are all alike: the axis ends where the typical ones do.
    let mut sorted: Vec<f64> = search.rows.iter().map(|row| row[1]).filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let roof = 1.5 * sorted.get(sorted.len() * 3 / 4).copied().unwrap_or(1.0).abs().max(1e-6);
    let x = Axis::around(search.rows.iter().map(|row| row[0]), Scale::Linear, [118.0, width - 60.0]);
    let shown = search.rows.iter().flat_map(|row| [row[1].min(roof), row[2].min(roof)]);
    let y =
        Axis::around(shown.chain(search.random_best.map(|best| best.min(roof))), Scale::Linear, [height - 70.0, 116.0]);
    let best = Series {
        points: search.rows.iter().map(|row| [row[0], row[2].min(roof)]).collect(),
        style: Style::line(colour::RED, 2.6),
        marker: Marker::Circle,
        label: "lowest so far",
    };
    chart::key(&mut svg, [118.0, 96.0], &[&best]);
    chart::panel(&mut svg, &x, &y, "simulation", &search.objective);
    for row in search.rows.iter().filter(|row| row[1].is_finite()) {
        let at = [x.map(row[0]), y.map(row[1].min(roof))];
        let style = Style::area(if row[1] < 0.0 { colour::RED } else { colour::BLUE });
        svg.circle(at, if row[1] < 0.0 { 3.4 } else { 2.0 }, style.fill(style.fill, 0.55));
    }
    if let Some(random) = search.random_best.filter(|random| random.is_finite()) {
        let at = y.map(random.min(roof));
        svg.line([x.px_from, at], [x.px_to, at], Style::line(colour::SOFT_INK, 1.6).dash("6 5"));
        let label = "lowest of as many random points";
        svg.text([x.px_to - 8.0, at - 6.0], chart::TEXT_PX, Anchor::End, colour::SOFT_INK, label);
    }
    chart::series(&mut svg, &x, &y, &best);
    svg.finish()
}

/// Shares of variance by parameter, as SVG; the largest first.
pub fn importance_bars(title: &str, shares: &[(String, f64)]) -> String {
    let row_px = 26.0;
    let mut svg = Svg::new(960.0, 88.0 + row_px * shares.len() as f64, title);
    chart::title(
        &mut svg,
        title,
        "Share of the variance that a parameter explains alone; what is missing is interaction.",
    );
    for (row, (name, share)) in shares.iter().enumerate() {
        let y = 74.0 + row_px * row as f64;
        svg.text([360.0, y + 17.0], 14.0, Anchor::End, colour::INK, name);
        svg.rect([372.0, y + 4.0], [(480.0 * share.clamp(0.0, 1.0)).max(1.0), row_px - 8.0], Style::area(colour::BLUE));
        let label = format!("{} %", fixed(100.0 * share, 1));
        svg.text([380.0 + 480.0 * share.clamp(0.0, 1.0), y + 17.0], 14.0, Anchor::Start, colour::INK, &label);
    }
    svg.finish()
}

/// One parameter of a parallel plot.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelAxis {
    /// Its name, with its unit.
    pub name: String,
    /// What stands at its lower end.
    pub low: String,
    /// What stands at its upper end.
    pub high: String,
}

/// Dangerous cases, each a line over all parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Parallel {
    /// Title of the figure.
    pub title: String,
    /// The parameters.
    pub axes: Vec<ParallelAxis>,
    /// Places between 0 and 1 on each axis, and whether a requirement is violated.
    pub cases: Vec<(Vec<f64>, bool)>,
}

/// As much of a label as has room beside its neighbours.
fn shortened(label: &str) -> String {
    if label.chars().count() <= LABEL_CHARS_MAX {
        return label.to_owned();
    }
    label.chars().take(LABEL_CHARS_MAX - 1).chain(['…']).collect()
}

/// Parallel coordinates, as SVG.
pub fn parallel_plot(parallel: &Parallel) -> String {
    let (width, height) = (960.0, 460.0);
    let mut svg = Svg::new(width, height, &parallel.title);
    let subtitle = "Each line is one simulation: red and solid where a requirement is violated, blue and dashed where it came close.";
    chart::title(&mut svg, &parallel.title, subtitle);
    let gaps = parallel.axes.len().saturating_sub(1).max(1) as f64;
    let x = |axis: usize| 90.0 + (width - 180.0) * axis as f64 / gaps;
    let (top, bottom) = (110.0, height - 96.0);
    let y = |place: f64| bottom + (top - bottom) * place.clamp(0.0, 1.0);
    let opacity = if parallel.cases.len() > BUNDLE_FAINT { 0.45 } else { 0.8 };
    // Those that violate lie on top.
    for violated in [false, true] {
        let style = if violated {
            Style::line(colour::RED, 1.8).opacity(opacity)
        } else {
            Style::line(colour::BLUE, 1.1).dash("4 4").opacity(opacity)
        };
        for (places, _) in parallel.cases.iter().filter(|(_, is)| *is == violated) {
            svg.lines([places.iter().enumerate().map(|(axis, place)| [x(axis), y(*place)])], style);
        }
    }
    for (number, axis) in parallel.axes.iter().enumerate() {
        svg.line([x(number), top], [x(number), bottom], Style::line(colour::FRAME, 1.4));
        svg.text([x(number), top - 8.0], 12.0, Anchor::Middle, colour::SOFT_INK, &shortened(&axis.high));
        svg.text([x(number), bottom + 18.0], 12.0, Anchor::Middle, colour::SOFT_INK, &shortened(&axis.low));
        // Neighbouring names take turns, so that they do not run into each other.
        let below = bottom + 40.0 + 18.0 * (number % 3) as f64;
        svg.text([x(number), below], 13.0, Anchor::Middle, colour::INK, &axis.name);
    }
    svg.finish()
}
