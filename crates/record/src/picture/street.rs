//! Roads, and others who move on them, in a picture of a run.

use super::scene::{FailingPath, Scene, place};
use super::svg::{Anchor, Style, Svg};
use super::view::{Bounds, View};
use super::{Point, colour};

/// How a line on the road is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Must not be crossed.
    Solid,
    /// May be crossed.
    Broken,
    /// Painted nowhere: the edge of a way across a junction.
    None,
}

/// A line on the road.
#[derive(Clone, Debug, PartialEq)]
pub struct Marking {
    /// Its corners, metres.
    pub points: Vec<Point>,
    /// How it is painted.
    pub paint: Paint,
}

/// Everybody at one moment of a failing path.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// When: `3 s`.
    pub label: String,
    /// x, y in metres and heading in radians of what the path is about.
    pub pose: [f64; 3],
    /// Outlines of others who matter, metres.
    pub others: Vec<Vec<Point>>,
}

const SOLID: Style = Style::line(colour::SOFT_INK, 1.3).opacity(0.8);
const BROKEN: Style = Style::line(colour::SOFT_INK, 1.0).opacity(0.8).dash("9 9");
const UNPAINTED: Style = Style::line(colour::FRAME, 0.7).opacity(0.6);
const SURFACE: Style = Style::area(colour::GRID).fill(colour::GRID, 0.55);
pub(super) const ALONG: Style = Style::line(colour::RED, 1.1).fill(colour::RED, 0.03).dash("5 3");
pub(super) const OTHER_ALONG: Style = Style::line(colour::BLUE, 1.1).fill(colour::BLUE, 0.03).dash("2 3");
pub(super) const OTHER: Style = Style::line(colour::SOFT_INK, 1.2).fill(colour::PLOT, 0.8);
pub(super) const TOUCHED: Style = Style::line(colour::BLUE, 2.2).fill(colour::BLUE, 0.35);
/// Text of moments.
const MOMENT_PX: f64 = 12.0;

/// The ground: surfaces of lanes and the lines on them.
pub(super) fn put_ground(svg: &mut Svg, scene: &Scene, view: &View) {
    let is_seen = |points: &[Point]| {
        let mut bounds = Bounds::NOTHING;
        points.iter().for_each(|point| bounds.add(*point));
        view.world.touches(&bounds)
    };
    for surface in scene.surfaces.iter().filter(|surface| is_seen(surface)) {
        svg.polygon(surface.iter().map(|point| view.map(*point)), SURFACE);
    }
    for (paint, style) in [(Paint::None, UNPAINTED), (Paint::Broken, BROKEN), (Paint::Solid, SOLID)] {
        let lines = scene.markings.iter().filter(|marking| marking.paint == paint && is_seen(&marking.points));
        svg.lines(lines.map(|marking| marking.points.iter().map(|point| view.map(*point))), style);
    }
}

/// Others along the way and at its end; what the path is about at the same moments.
pub(super) fn put_others(svg: &mut Svg, scene: &Scene, view: &View, path: &FailingPath) {
    let mut put = |outline: &[Point], style| svg.polygon(outline.iter().map(|point| view.map(*point)), style);
    for moment in &path.moments {
        moment.others.iter().for_each(|outline| put(outline, OTHER_ALONG));
        put(&place(&scene.outline, moment.pose), ALONG);
    }
    path.others.iter().for_each(|outline| put(outline, OTHER));
    if let Some(touched) = &path.touched {
        put(touched, TOUCHED);
    }
    put_names(svg, scene, view, path);
}

/// When each moment was, beside the outlines; those that would lie on another one are left out.
fn put_names(svg: &mut Svg, scene: &Scene, view: &View, path: &FailingPath) {
    let mut taken: Vec<Point> = path.poses.last().map(|last| view.map([last[0], last[1]])).into_iter().collect();
    // Their names stand above places with a name.
    taken.extend(scene.poses.iter().map(|named| view.map([named.pose[0], named.pose[1]])).map(|[x, y]| [x, y - 14.0]));
    let mut put = |outline: &[Point], label: &str| {
        let pixels: Vec<Point> = outline.iter().map(|point| view.map(*point)).collect();
        let highest = pixels.iter().fold(f64::INFINITY, |high, point| high.min(point[1]));
        let middle = pixels.iter().map(|point| point[0]).sum::<f64>() / pixels.len().max(1) as f64;
        let at = [middle, highest - 4.0];
        let is_free = taken.iter().all(|other| (other[0] - at[0]).abs() > 30.0 || (other[1] - at[1]).abs() > 14.0);
        if is_free && at.iter().all(|value| value.is_finite()) {
            taken.push(at);
            svg.text(at, MOMENT_PX, Anchor::Middle, colour::INK, label);
        }
    };
    for moment in path.moments.iter().rev() {
        put(&place(&scene.outline, moment.pose), &moment.label);
        moment.others.iter().for_each(|outline| put(outline, &moment.label));
    }
}

/// Samples in the legend, 36 pixels wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoadGlyph {
    Marking,
    Moment,
    Other,
    Touched,
}

pub(super) fn put_glyph(svg: &mut Svg, [x, y]: Point, glyph: RoadGlyph) {
    let size = [34.0, 14.0];
    match glyph {
        RoadGlyph::Marking => {
            svg.rect([x, y - 8.0], [36.0, 16.0], SURFACE);
            svg.lines([[[x, y - 8.0], [x + 36.0, y - 8.0]]], SOLID);
            svg.lines([[[x, y + 8.0], [x + 36.0, y + 8.0]]], BROKEN);
        }
        RoadGlyph::Moment => {
            svg.rect([x, y - 8.0], [17.0, 9.0], ALONG);
            svg.rect([x + 17.0, y], [17.0, 9.0], OTHER_ALONG);
        }
        RoadGlyph::Other => svg.rect([x, y - 7.0], size, OTHER),
        RoadGlyph::Touched => svg.rect([x, y - 7.0], size, TOUCHED),
    }
}

/// What the legend says about roads and others, in its order.
pub(super) fn legend(scene: &Scene) -> Vec<(RoadGlyph, String)> {
    let mut items = Vec::new();
    if !scene.markings.is_empty() {
        items.push((RoadGlyph::Marking, "lane".to_owned()));
    }
    let Some(path) = scene.failing.first() else { return items };
    if !path.moments.is_empty() {
        items.push((RoadGlyph::Moment, "the car and who was touched, at times before".to_owned()));
    }
    if !path.others.is_empty() {
        items.push((RoadGlyph::Other, "others at the end".to_owned()));
    }
    if path.touched.is_some() {
        let with = path.with.as_deref().unwrap_or("who was touched");
        items.push((RoadGlyph::Touched, format!("{with}, when touched")));
    }
    items
}

/// Where the label of a contact begins: with whom it was.
pub(super) fn contact_words(path: &FailingPath) -> String {
    path.with.as_ref().map_or_else(|| "contact".to_owned(), |with| format!("contact with {with}"))
}
