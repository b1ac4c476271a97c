//! Why a run failed: the margin over time of the found, the smallest and the nearest passing run, and their errors.

use super::axis::{Axis, Scale};
use super::chart::{self, TEXT_PX};
use super::svg::{Anchor, Style, Svg, text_width};
use super::{Point, colour};

/// An error while it lasts.
#[derive(Clone, Debug, PartialEq)]
pub struct WhyError {
    /// Seconds since the start.
    pub from_s: f64,
    /// Seconds since the start.
    pub to_s: f64,
    /// What it is.
    pub label: String,
    /// Whether the violation needs it.
    pub matters: bool,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct WhyRun {
    /// What it is called: `found`, `smallest`, `nearest that passes`.
    pub label: String,
    /// Seconds and margin.
    pub margin: Vec<Point>,
    /// Its errors.
    pub errors: Vec<WhyError>,
    /// When it violated the requirement.
    pub violated_s: Option<f64>,
}

/// What to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// Title of the figure.
    pub title: String,
    /// A sentence below it.
    pub subtitle: String,
    /// Title of the vertical axis, with its unit.
    pub margin_title: String,
    /// At most three runs.
    pub runs: Vec<WhyRun>,
    /// The point of no return, seconds.
    pub no_return_s: Option<f64>,
}

const WIDTH: f64 = 1_200.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 36.0;
const TOP: f64 = 116.0;
const PLOT_HEIGHT: f64 = 330.0;
const LANE_HEIGHT: f64 = 40.0;
const LANE_GAP: f64 = 10.0;
/// Points of one curve; more cannot be told apart.
const POINTS_MAX: usize = 1_500;

/// Line styles, told apart by colour, width and dashes.
const STYLES: [Style; 3] = [
    Style::line(colour::ORANGE, 2.0).dash("9 4"),
    Style::line(colour::RED, 3.0),
    Style::line(colour::BLUE, 2.2).dash("2 5"),
];

/// Draws it as SVG.
pub fn why_plot(why: &Why) -> String {
    let lanes_top = TOP + PLOT_HEIGHT + 34.0;
    let lanes_bottom = lanes_top + why.runs.len() as f64 * (LANE_HEIGHT + LANE_GAP);
    let ends = why.runs.iter().flat_map(|run| run.margin.iter().map(|p| p[0]).chain(run.errors.iter().map(|e| e.to_s)));
    let x = Axis::around(ends, Scale::Linear, [LEFT, WIDTH - RIGHT]);
    let labels = Labels::new(&why.runs, &x);
    let mut svg = Svg::new(WIDTH, lanes_bottom + 58.0 + labels.height(), &why.title);
    chart::title(&mut svg, &why.title, &why.subtitle);
    put_key(&mut svg, &why.runs);
    put_margin(&mut svg, why, &x);
    for (at, (run, style)) in why.runs.iter().zip(STYLES).enumerate() {
        let lane = Lane { run, style, top: lanes_top + at as f64 * (LANE_HEIGHT + LANE_GAP) };
        put_lane(&mut svg, &lane, &x, &labels);
    }
    put_time(&mut svg, &x, lanes_bottom);
    put_no_return(&mut svg, why.no_return_s, &x, lanes_bottom);
    labels.put(&mut svg, lanes_bottom + 58.0);
    svg.finish()
}

fn put_key(svg: &mut Svg, runs: &[WhyRun]) {
    let mut at = LEFT;
    for (run, style) in runs.iter().zip(STYLES) {
        svg.line([at, 87.0], [at + 40.0, 87.0], style);
        svg.text([at + 48.0, 92.0], TEXT_PX, Anchor::Start, colour::INK, &run.label);
        at += 48.0 + text_width(&run.label, TEXT_PX) + 36.0;
    }
}

fn put_margin(svg: &mut Svg, why: &Why, x: &Axis) {
    let values = why.runs.iter().flat_map(|run| run.margin.iter().map(|p| p[1]));
    let y = Axis::around(values, Scale::Linear, [TOP + PLOT_HEIGHT, TOP]);
    svg.rect([x.px_from, TOP], [x.px_to - x.px_from, PLOT_HEIGHT], Style::area(colour::PLOT));
    for (value, label) in y.ticks(44.0) {
        let at = y.map(value);
        svg.line([x.px_from, at], [x.px_to, at], Style::line(colour::GRID, 1.0));
        svg.text([x.px_from - 8.0, at + 5.0], TEXT_PX, Anchor::End, colour::INK, &label);
    }
    let zero = y.map(0.0);
    svg.line([x.px_from, zero], [x.px_to, zero], Style::line(colour::INK, 1.4));
    // The solid line first, so that dashes on it are seen.
    let mut order: Vec<(&WhyRun, Style)> = why.runs.iter().zip(STYLES).collect();
    order.sort_by_key(|(_, style)| !style.dash.is_empty());
    for (run, style) in order {
        let every = run.margin.len().div_ceil(POINTS_MAX).max(1);
        let last = run.margin.last().into_iter();
        let points = run.margin.iter().step_by(every).chain(last).filter(|p| p[1].is_finite());
        svg.lines([points.map(|p| [x.map(p[0]), y.map(p[1])])], style);
        if let (Some(_), Some(end)) = (run.violated_s, run.margin.last().filter(|p| p[1].is_finite())) {
            put_cross(svg, [x.map(end[0]), y.map(end[1])], style);
        }
    }
    svg.rect([x.px_from, TOP], [x.px_to - x.px_from, PLOT_HEIGHT], Style::line(colour::FRAME, 1.0));
    svg.text_upwards([x.px_from - 74.0, TOP + 0.5 * PLOT_HEIGHT], TEXT_PX, colour::INK, &why.margin_title);
}

/// Where a run ended by violating the requirement.
fn put_cross(svg: &mut Svg, [x, y]: Point, style: Style) {
    let arms = [[[x - 7.0, y - 7.0], [x + 7.0, y + 7.0]], [[x - 7.0, y + 7.0], [x + 7.0, y - 7.0]]];
    svg.lines(arms, Style::line(style.stroke, 3.0));
}

/// A run among the others.
struct Lane<'w> {
    run: &'w WhyRun,
    style: Style,
    top: f64,
}

/// The errors of a run as boxes, up to its end; those that do not matter are pale.
fn put_lane(svg: &mut Svg, lane: &Lane<'_>, x: &Axis, labels: &Labels) {
    let Lane { run, style, top } = lane;
    svg.rect([x.px_from, *top], [x.px_to - x.px_from, LANE_HEIGHT], Style::area(colour::PLOT));
    svg.text([x.px_from - 10.0, top + 0.5 * LANE_HEIGHT + 5.0], TEXT_PX, Anchor::End, colour::INK, &run.label);
    for error in &run.errors {
        let [from, to] = extent(run, error, x);
        let fill = if error.matters { 0.30 } else { 0.07 };
        let width = if error.matters { 1.6 } else { 0.8 };
        let box_style = Style::line(style.stroke, width).fill(style.stroke, fill);
        svg.rect([from, top + 2.0], [to - from, LANE_HEIGHT - 4.0], box_style);
        put_label(svg, &labels.lines(&error.label, to - from), 0.5 * (from + to), *top);
    }
    if let Some(end_s) = run.violated_s {
        put_cross(svg, [x.map(end_s), top + 0.5 * LANE_HEIGHT], *style);
    }
    svg.rect([x.px_from, *top], [x.px_to - x.px_from, LANE_HEIGHT], Style::line(colour::FRAME, 1.0));
}

/// From where to where a box reaches: a run that has ended has no error any more.
fn extent(run: &WhyRun, error: &WhyError, x: &Axis) -> [f64; 2] {
    let to_s = run.violated_s.map_or(error.to_s, |end_s| error.to_s.min(end_s.max(error.from_s)));
    [x.map(error.from_s) + 1.0, x.map(to_s) - 1.0]
}

fn put_label(svg: &mut Svg, lines: &[String], middle: f64, top: f64) {
    let mut put = |text: &str, y: f64| svg.text([middle, y], LABEL_PX, Anchor::Middle, colour::INK, text);
    match lines {
        [] => {}
        [one] => put(one, top + 0.5 * LANE_HEIGHT + 4.0),
        [one, two, ..] => {
            put(one, top + 0.5 * LANE_HEIGHT - 2.0);
            put(two, top + 0.5 * LANE_HEIGHT + 11.0);
        }
    }
}

/// Names of errors in their boxes; where one does not fit, all are letters that are explained below.
struct Labels {
    /// Every different name; empty if they stand in their boxes.
    lettered: Vec<String>,
}

impl Labels {
    fn new(runs: &[WhyRun], x: &Axis) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut fit = true;
        for run in runs {
            for error in &run.errors {
                let [from, to] = extent(run, error, x);
                fit &= split(&error.label, room(to - from)).is_some();
                if !names.contains(&error.label) {
                    names.push(error.label.clone());
                }
            }
        }
        Self { lettered: if fit { Vec::new() } else { names } }
    }

    fn lines(&self, label: &str, width: f64) -> Vec<String> {
        match self.lettered.iter().position(|name| name == label) {
            Some(at) => vec![letter(at)],
            None => split(label, room(width)).unwrap_or_default(),
        }
    }

    fn height(&self) -> f64 {
        LEGEND_ROW * self.lettered.len() as f64
    }

    fn put(&self, svg: &mut Svg, top: f64) {
        for (at, name) in self.lettered.iter().enumerate() {
            let y = top + LEGEND_ROW * at as f64 + 10.0;
            svg.text([LEFT, y], TEXT_PX, Anchor::Start, colour::INK, &letter(at));
            svg.text([LEFT + 28.0, y], TEXT_PX, Anchor::Start, colour::INK, name);
        }
    }
}

/// Size of names in boxes.
const LABEL_PX: f64 = 11.0;
/// Height of a line that explains a letter.
const LEGEND_ROW: f64 = 22.0;

/// Characters that fit into a box.
fn room(width: f64) -> usize {
    // Names have more wide letters than usual text.
    ((width - 4.0) / (1.12 * text_width("x", LABEL_PX))).max(0.0) as usize
}

/// A to Z, then numbers.
fn letter(at: usize) -> String {
    u8::try_from(at)
        .ok()
        .filter(|at| *at < 26)
        .map_or_else(|| (at + 1).to_string(), |at| char::from(b'A' + at).to_string())
}

/// At most two lines of at most `room` characters, broken at blanks; `None` if that is not enough.
fn split(label: &str, room: usize) -> Option<Vec<String>> {
    let mut lines: Vec<String> = Vec::new();
    for word in label.split(' ') {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= room => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    (lines.len() <= 2 && lines.iter().all(|line| line.chars().count() <= room)).then_some(lines)
}

fn put_time(svg: &mut Svg, x: &Axis, bottom: f64) {
    for (value, label) in x.ticks(70.0) {
        let at = x.map(value);
        svg.line([at, bottom - LANE_GAP], [at, bottom - LANE_GAP + 5.0], Style::line(colour::FRAME, 1.0));
        svg.text([at, bottom + 12.0], TEXT_PX, Anchor::Middle, colour::INK, &label);
    }
    svg.text([0.5 * (x.px_from + x.px_to), bottom + 38.0], TEXT_PX, Anchor::Middle, colour::INK, "time [s]");
}

fn put_no_return(svg: &mut Svg, at_s: Option<f64>, x: &Axis, bottom: f64) {
    let Some(at_s) = at_s else { return };
    let at = x.map(at_s);
    svg.line([at, TOP - 4.0], [at, bottom - LANE_GAP], Style::line(colour::PURPLE, 2.0).dash("7 4 2 4"));
    let (anchor, shift) = if at > 0.6 * WIDTH { (Anchor::End, -8.0) } else { (Anchor::Start, 8.0) };
    svg.text([at + shift, TOP + 18.0], TEXT_PX, anchor, colour::INK, "point of no return");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_broken_to_their_room() {
        let fits = |label, room| split(label, room).unwrap_or_default();
        assert_eq!(fits("left 0.1 m", 12), ["left 0.1 m"]);
        assert_eq!(fits("front-left 0.1 m", 10), ["front-left", "0.1 m"]);
        assert_eq!(split("front-left 0.1 m late by 2 s", 10), None);
        assert_eq!(split("front-left 0.1 m", 6), None);
    }

    #[test]
    fn letters_stand_for_what_does_not_fit() {
        assert_eq!([0, 25, 26].map(letter), ["A", "Z", "27"]);
    }
}
