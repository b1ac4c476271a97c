//! Which error when, above the clearance over time: one finding at a glance.

use super::Point;
use super::axis::{Axis, Scale, fixed};
use super::chart::{self, TEXT_PX};
use super::colour;
use super::svg::{Anchor, Style, Svg, text_width};

/// An error during some time.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorSpan {
    /// When it begins, seconds.
    pub from_s: f64,
    /// When it ends, seconds.
    pub to_s: f64,
    /// What a person calls it.
    pub label: String,
}

/// Something else over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Title of its axis, with its unit: `speed [m/s]`.
    pub title: String,
    /// Time in seconds and value; where the value is not finite there is none.
    pub points: Vec<Point>,
    /// Values beyond this are not drawn.
    pub most: Option<f64>,
}

/// Errors and clearance of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Title of the figure.
    pub title: String,
    /// Errors in the order of time; times without error are left out.
    pub errors: Vec<ErrorSpan>,
    /// Time in seconds and clearance in metres.
    pub clearance: Vec<Point>,
    /// What else is worth a curve.
    pub curves: Vec<Curve>,
    /// When the run ended, seconds.
    pub end_s: f64,
}

const WIDTH: f64 = 1_200.0;
const LEFT: f64 = 250.0;
const RIGHT: f64 = 1_172.0;
const LANE: f64 = 28.0;
/// Of the plots below that of the clearance, with and without the room for their ticks.
const CURVE_HEIGHT: f64 = 120.0;
const CURVE_PITCH: f64 = CURVE_HEIGHT + 34.0;
const TIME: &str = "time [s]";
/// More lanes than this would not be read; the rest shares the last one.
const LANES_MAX: usize = 14;
/// Longest label of a lane, characters.
const LABEL_MAX: usize = 32;

/// Lanes of errors above a plot of the clearance, as SVG.
pub fn timeline(run: &Timeline) -> String {
    let mut lanes: Vec<&str> = Vec::new();
    for error in &run.errors {
        if !lanes.contains(&error.label.as_str()) {
            lanes.push(&error.label);
        }
    }
    let rest = lanes.len().saturating_sub(LANES_MAX);
    let shown = lanes.len().clamp(1, LANES_MAX);
    let top = 72.0;
    let bottom = top + LANE * shown as f64;
    let plot = [bottom + 30.0, bottom + 230.0];
    let below = plot[1] + CURVE_PITCH * run.curves.len() as f64;
    let mut svg = Svg::new(WIDTH, below + 62.0, &run.title);
    let more = if rest > 0 { format!(" {rest} more kinds of error share the last lane.") } else { String::new() };
    let what = if run.curves.is_empty() { "the clearance" } else { "what the car did" };
    chart::title(&mut svg, &run.title, &format!("Errors over time, and {what}.{more}"));
    let x = Axis { from: 0.0, to: run.end_s.max(1e-3), log: false, px_from: LEFT, px_to: RIGHT };
    svg.rect([LEFT, top], [RIGHT - LEFT, bottom - top], Style::area(colour::PLOT));
    for (value, _) in x.ticks(70.0) {
        svg.line([x.map(value), top], [x.map(value), bottom], Style::line(colour::GRID, 1.0));
    }
    for (lane, label) in lanes.iter().take(shown).enumerate() {
        let y = top + LANE * (lane as f64 + 0.5) + 5.0;
        svg.text([LEFT - 10.0, y], TEXT_PX, Anchor::End, colour::INK, &shortened(label));
    }
    if lanes.is_empty() {
        svg.text([LEFT - 10.0, top + 19.0], TEXT_PX, Anchor::End, colour::SOFT_INK, "no error");
    }
    for error in &run.errors {
        let lane = lanes.iter().position(|label| *label == error.label).unwrap_or(0).min(shown - 1);
        put_span(&mut svg, &x, top + LANE * lane as f64, error);
    }
    svg.rect([LEFT, top], [RIGHT - LEFT, bottom - top], Style::line(colour::FRAME, 1.0));
    put_clearance(&mut svg, &x, plot, run);
    for (number, curve) in run.curves.iter().enumerate() {
        let top = plot[1] + CURVE_PITCH * (number as f64 + 1.0) - CURVE_HEIGHT;
        let is_last = number + 1 == run.curves.len();
        put_curve(&mut svg, &x, [top, top + CURVE_HEIGHT], curve, if is_last { TIME } else { "" });
    }
    svg.finish()
}

/// Neighbours differ in place, so no colour is needed to tell them apart.
fn put_span(svg: &mut Svg, x: &Axis, top: f64, error: &ErrorSpan) {
    let (from, to) = (x.map(error.from_s), x.map(error.to_s.min(x.to)));
    let style = Style::line(colour::ORANGE, 1.2).fill(colour::ORANGE, 0.3);
    svg.rect([from + 1.0, top + 5.0], [(to - from - 2.0).max(1.0), LANE - 10.0], style);
    let label =
        format!("{}\u{a0}s", fixed(error.to_s - error.from_s, usize::from((error.to_s - error.from_s).fract() != 0.0)));
    if to - from > text_width(&label, 12.0) + 8.0 {
        svg.text([0.5 * (from + to), top + 18.0], 12.0, Anchor::Middle, colour::INK, &label);
    }
}

fn put_clearance(svg: &mut Svg, x: &Axis, [top, bottom]: [f64; 2], run: &Timeline) {
    let y = Axis::around(run.clearance.iter().map(|point| point[1]), Scale::Linear, [bottom, top]);
    chart::panel(svg, x, &y, if run.curves.is_empty() { TIME } else { "" }, "clearance [m]");
    let points = run.clearance.iter().filter(|point| point[1].is_finite());
    svg.lines([points.map(|point| [x.map(point[0]), y.map(point[1])])], Style::line(colour::PURPLE, 2.2));
    let zero = y.map(0.0);
    svg.line([LEFT, zero], [RIGHT, zero], Style::line(colour::RED, 1.6).dash("6 4"));
    let lowest = run.clearance.iter().filter(|p| p[1].is_finite()).min_by(|a, b| a[1].total_cmp(&b[1]));
    if let Some([at, value]) = lowest.copied() {
        chart::marker(svg, [x.map(at), y.map(value)], chart::Marker::Triangle, colour::RED);
        let label = format!("{}\u{a0}m after {}\u{a0}s", fixed(value, 3), fixed(at, 2));
        let anchor = if x.map(at) > 0.6 * RIGHT { Anchor::End } else { Anchor::Start };
        // Below the lowest point there is nothing but the frame.
        let below = y.map(value) + 20.0;
        let y_px = if below < bottom - 4.0 { below } else { (y.map(value) - 12.0).max(top + 14.0) };
        svg.text([x.map(at) - 8.0, y_px], TEXT_PX, anchor, colour::INK, &label);
    }
}

/// One curve in a panel of its own, broken where there is no value.
fn put_curve(svg: &mut Svg, x: &Axis, [top, bottom]: [f64; 2], curve: &Curve, time: &str) {
    let is_there = |point: &&Point| point[1].is_finite() && curve.most.is_none_or(|most| point[1] <= most);
    let y = Axis::around(curve.points.iter().filter(is_there).map(|point| point[1]), Scale::Linear, [bottom, top]);
    chart::panel(svg, x, &y, time, &curve.title);
    let place = |point: &Point| [x.map(point[0]), y.map(point[1])];
    let pieces = || curve.points.split(|point| !is_there(&point)).filter(|piece| !piece.is_empty());
    svg.lines(pieces().map(|piece| piece.iter().map(place)), Style::line(colour::BLUE, 2.0));
    // A value of a single moment has no line.
    for piece in pieces().filter(|piece| piece.len() == 1) {
        svg.circle(place(&piece[0]), 3.5, Style::line(colour::BLUE, 0.0).fill(colour::BLUE, 1.0));
    }
    if !curve.points.iter().any(|point| is_there(&point)) {
        let middle = [0.5 * (LEFT + RIGHT), 0.5 * (top + bottom) + 5.0];
        svg.text(middle, TEXT_PX, Anchor::Middle, colour::SOFT_INK, "none during this run");
    }
    if y.from < 0.0 {
        svg.line([LEFT, y.map(0.0)], [RIGHT, y.map(0.0)], Style::line(colour::FRAME, 1.2));
    }
}

fn shortened(label: &str) -> String {
    if label.chars().count() <= LABEL_MAX {
        return label.to_owned();
    }
    label.chars().take(LABEL_MAX - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_its_lane_and_hostile_names_stay_text() {
        let span = |from_s, to_s, label: &str| ErrorSpan { from_s, to_s, label: label.to_owned() };
        let run = Timeline {
            title: "a".to_owned(),
            errors: vec![span(0.0, 2.0, "left"), span(2.0, 3.0, "<script>"), span(3.0, 4.0, "left")],
            clearance: vec![[0.0, 0.5], [2.0, f64::INFINITY], [4.0, -0.01]],
            curves: Vec::new(),
            end_s: 4.0,
        };
        let svg = timeline(&run);
        assert_eq!(svg.matches(">left</text>").count(), 1);
        assert!(svg.contains("&lt;script&gt;") && !svg.contains("<script>"));
        assert!(svg.contains("−0.010\u{a0}m after 4.00\u{a0}s"), "{svg}");
        roxmltree::Document::parse(&svg).unwrap();
    }

    #[test]
    fn many_errors_share_the_last_lane() {
        let errors = (0..30).map(|at| {
            let from_s = f64::from(at);
            ErrorSpan { from_s, to_s: from_s + 1.0, label: format!("error {at}") }
        });
        let svg = timeline(&Timeline {
            title: "a".to_owned(),
            errors: errors.collect(),
            clearance: vec![],
            curves: vec![],
            end_s: 30.0,
        });
        assert!(svg.contains("16 more kinds of error"));
    }

    #[test]
    fn a_curve_is_broken_where_there_is_no_value_and_says_when_there_is_none_at_all() {
        let curve = |title: &str, values: &[f64]| Curve {
            title: title.to_owned(),
            points: values.iter().enumerate().map(|(at, value)| [at as f64, *value]).collect(),
            most: Some(10.0),
        };
        let svg = timeline(&Timeline {
            title: "a".to_owned(),
            errors: vec![],
            clearance: vec![[0.0, 1.0], [4.0, 0.0]],
            curves: vec![
                curve("gap [m]", &[3.0, 2.0, f64::INFINITY, 2.0, 1.0]),
                curve("ttc [s]", &[f64::INFINITY, 99.0]),
                curve("reserve [m]", &[f64::INFINITY, 5.0, f64::INFINITY]),
            ],
            end_s: 4.0,
        });
        roxmltree::Document::parse(&svg).unwrap();
        assert!(svg.contains("gap [m]") && svg.contains("ttc [s]"));
        assert_eq!(svg.matches("none during this run").count(), 1);
        assert_eq!(svg.matches("time [s]").count(), 1, "only the lowest panel names its axis");
        let line = svg.split("<path").find(|part| part.contains("#0072b2")).expect("a blue line");
        assert_eq!(line.matches('M').count(), 2, "{line}");
        assert_eq!(svg.matches("<circle").count(), 1, "a single moment is a dot");
    }
}
