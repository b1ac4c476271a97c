//! What the plots share: a framed panel with ticks, series with markers, a title.

use super::axis::Axis;
use super::svg::{Anchor, Style, Svg};
use super::{Point, colour};

pub(super) const TITLE_PX: f64 = 21.0;
pub(super) const TEXT_PX: f64 = 14.0;

/// Shape of the points of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
}

/// One line of a plot.
pub(super) struct Series<'a> {
    pub points: Vec<Point>,
    pub style: Style,
    pub marker: Marker,
    pub label: &'a str,
}

pub(super) fn title(svg: &mut Svg, text: &str, subtitle: &str) {
    svg.text([24.0, 34.0], TITLE_PX, Anchor::Start, colour::INK, text);
    svg.text([24.0, 56.0], TEXT_PX, Anchor::Start, colour::SOFT_INK, subtitle);
}

/// Frame, grid, ticks and titles of a panel.
pub(super) fn panel(svg: &mut Svg, x: &Axis, y: &Axis, x_title: &str, y_title: &str) {
    let (left, right, top, bottom) = (x.px_from, x.px_to, y.px_to, y.px_from);
    svg.rect([left, top], [right - left, bottom - top], Style::area(colour::PLOT));
    for (value, label) in y.ticks(44.0) {
        let at = y.map(value);
        svg.line([left, at], [right, at], Style::line(colour::GRID, 1.0));
        svg.text([left - 8.0, at + 5.0], TEXT_PX, Anchor::End, colour::INK, &label);
    }
    for (value, label) in x.ticks(70.0) {
        let at = x.map(value);
        svg.line([at, bottom], [at, bottom + 5.0], Style::line(colour::FRAME, 1.0));
        svg.text([at, bottom + 20.0], TEXT_PX, Anchor::Middle, colour::INK, &label);
    }
    svg.rect([left, top], [right - left, bottom - top], Style::line(colour::FRAME, 1.0));
    if !x_title.is_empty() {
        svg.text([0.5 * (left + right), bottom + 44.0], TEXT_PX, Anchor::Middle, colour::INK, x_title);
    }
    svg.text_upwards([left - 74.0, 0.5 * (top + bottom)], TEXT_PX, colour::INK, y_title);
}

pub(super) fn series(svg: &mut Svg, x: &Axis, y: &Axis, series: &Series<'_>) {
    let pixels: Vec<Point> = series
        .points
        .iter()
        .filter(|[_, value]| value.is_finite() && (!y.log || *value > 0.0))
        .map(|[at, value]| [x.map(*at), y.map(*value)])
        .collect();
    svg.lines([pixels.iter().copied()], series.style);
    let every = pixels.len().div_ceil(25).max(1);
    for point in pixels.iter().rev().step_by(every) {
        marker(svg, *point, series.marker, series.style.stroke);
    }
}

pub(super) fn marker(svg: &mut Svg, [x, y]: Point, marker: Marker, stroke: &'static str) {
    let style = Style::line(stroke, 1.6).fill(colour::PLOT, 1.0);
    match marker {
        Marker::Circle => svg.circle([x, y], 3.6, style),
        Marker::Square => svg.rect([x - 3.3, y - 3.3], [6.6, 6.6], style),
        Marker::Triangle => svg.polygon([[x, y - 4.6], [x + 4.4, y + 3.4], [x - 4.4, y + 3.4]], style),
    }
}

/// Samples of the series with their names, from left to right.
pub(super) fn key(svg: &mut Svg, [x, y]: Point, all: &[&Series<'_>]) {
    let mut at = x;
    for one in all {
        svg.line([at, y - 5.0], [at + 40.0, y - 5.0], one.style);
        marker(svg, [at + 20.0, y - 5.0], one.marker, one.style.stroke);
        svg.text([at + 48.0, y], TEXT_PX, Anchor::Start, colour::INK, one.label);
        at += 48.0 + super::svg::text_width(one.label, TEXT_PX) + 36.0;
    }
}
