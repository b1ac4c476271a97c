//! Worst clearance against the size of an error, with what passes and what fails.

use super::axis::{Axis, Scale};
use super::chart;
use super::colour;
use super::svg::{Anchor, Style, Svg};

/// How a size went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing was found.
    Passes,
    /// A requirement was violated.
    Fails,
    /// The budget was used up before.
    Undecided,
}

/// One error size.
#[derive(Clone, Debug, PartialEq)]
pub struct TolerancePanel {
    /// Its name and unit.
    pub x_title: String,
    /// Size, worst clearance in metres and mark, by increasing size.
    pub points: Vec<(f64, f64, Mark)>,
    /// The size in the scenario.
    pub nominal: f64,
    /// Everything up to here passes.
    pub passes_to: Option<f64>,
    /// The smallest size that fails.
    pub fails_from: Option<f64>,
}

const WIDTH_PX: f64 = 960.0;
const PANEL_PX: f64 = 330.0;
const LEFT_PX: f64 = 118.0;
const RIGHT_PX: f64 = 40.0;

/// One panel below the other, as SVG.
pub fn tolerance_plot(title: &str, panels: &[TolerancePanel]) -> String {
    let height = 100.0 + PANEL_PX * panels.len().max(1) as f64;
    let mut svg = Svg::new(WIDTH_PX, height, title);
    chart::title(
        &mut svg,
        title,
        "Worst clearance of every reachable run; the band lies between the last pass and the first failure.",
    );
    key(&mut svg);
    for (number, panel) in panels.iter().enumerate() {
        draw(&mut svg, panel, 100.0 + PANEL_PX * number as f64);
    }
    svg.finish()
}

fn key(svg: &mut Svg) {
    let mut x = LEFT_PX;
    for (what, label) in [(Mark::Passes, "passes"), (Mark::Fails, "fails"), (Mark::Undecided, "not decided")] {
        mark(svg, [x + 6.0, 81.0], what);
        svg.text([x + 20.0, 86.0], chart::TEXT_PX, Anchor::Start, colour::INK, label);
        x += 46.0 + super::svg::text_width(label, chart::TEXT_PX);
    }
    svg.line([x, 81.0], [x + 30.0, 81.0], Style::line(colour::SOFT_INK, 1.4).dash("4 4"));
    svg.text([x + 38.0, 86.0], chart::TEXT_PX, Anchor::Start, colour::INK, "size in the scenario");
}

fn draw(svg: &mut Svg, panel: &TolerancePanel, top: f64) {
    let sizes = panel.points.iter().map(|point| point.0).chain([panel.nominal]);
    let x = Axis::around(sizes, Scale::Linear, [LEFT_PX, WIDTH_PX - RIGHT_PX]);
    let clearances = panel.points.iter().map(|point| point.1);
    let (bottom, top) = (top + PANEL_PX - 76.0, top + 8.0);
    let y = Axis::around(clearances, Scale::Linear, [bottom, top]);
    chart::panel(svg, &x, &y, &panel.x_title, "worst clearance [m]");
    if let (Some(from), Some(to)) = (panel.passes_to, panel.fails_from) {
        let (from, to) = (x.map(from), x.map(to));
        svg.rect([from, top], [(to - from).max(1.0), bottom - top], Style::area(colour::SOLID));
    }
    svg.line([LEFT_PX, y.map(0.0)], [WIDTH_PX - RIGHT_PX, y.map(0.0)], Style::line(colour::FRAME, 1.4));
    let nominal = x.map(panel.nominal);
    svg.line([nominal, top], [nominal, bottom], Style::line(colour::SOFT_INK, 1.4).dash("4 4"));
    let finite = panel.points.iter().filter(|point| point.1.is_finite());
    svg.lines([finite.clone().map(|point| [x.map(point.0), y.map(point.1)])], Style::line(colour::SOFT_INK, 1.0));
    for (size, clearance, what) in finite {
        mark(svg, [x.map(*size), y.map(*clearance)], *what);
    }
}

/// Shapes differ, not only colours.
fn mark(svg: &mut Svg, [x, y]: super::Point, what: Mark) {
    match what {
        Mark::Passes => svg.circle([x, y], 4.6, Style::line(colour::GREEN, 1.8).fill(colour::PLOT, 1.0)),
        Mark::Fails => {
            let style = Style::line(colour::RED, 2.4);
            svg.line([x - 4.6, y - 4.6], [x + 4.6, y + 4.6], style);
            svg.line([x - 4.6, y + 4.6], [x + 4.6, y - 4.6], style);
        }
        Mark::Undecided => {
            svg.rect([x - 4.0, y - 4.0], [8.0, 8.0], Style::line(colour::ORANGE, 1.8).fill(colour::PLOT, 1.0));
        }
    }
}
