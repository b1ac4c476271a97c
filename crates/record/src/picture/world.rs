//! What is seen through a window onto the world, and its samples in the legend.

use std::collections::BTreeSet;

use super::chart::TEXT_PX;
use super::scene::{FailingPath, Scene, place};
use super::street::{self, RoadGlyph};
use super::svg::{Anchor, Style, Svg};
use super::view::{Bounds, View};
use super::{Point, colour};

/// Most segments and most crosses in one window; more would be a blot and a large file.
const BUNDLE_MAX: usize = 20_000;

const WALL: Style = Style::line(colour::INK, 2.6);
const OBSTACLE: Style = Style::line(colour::INK, 1.4).fill(colour::SOLID, 1.0);
const SEGMENT: Style = Style::line(colour::BLUE, 0.9).opacity(0.55);
const FAILING: Style = Style::line(colour::RED, 2.6);
const PLANNED: Style = Style::line(colour::GREEN, 1.8).dash("10 4 2 4");
const ALONG: Style = Style::line(colour::RED, 0.9).opacity(0.65).dash("5 3");
const AT_CONTACT: Style = Style::line(colour::RED, 1.9).fill(colour::RED, 0.07);
const POSE: Style = Style::line(colour::SOFT_INK, 1.4).fill(colour::SOFT_INK, 0.08);

/// Sizes that differ between the map and its enlarged part.
#[derive(Clone, Copy)]
pub(super) struct Detail {
    cross_px: f64,
    cross_width: f64,
    contact_px: f64,
    segment_width: f64,
    names_contact: bool,
}

impl Detail {
    pub const MAP: Self =
        Self { cross_px: 2.0, cross_width: 0.8, contact_px: 9.0, segment_width: 0.9, names_contact: false };
    pub const INSET: Self =
        Self { cross_px: 3.6, cross_width: 1.1, contact_px: 14.0, segment_width: 0.6, names_contact: true };
}

/// The part of the bundle that is drawn.
pub(super) struct Thinned<'a> {
    pub segments: Vec<&'a [[f32; 2]]>,
    pub segment_every: usize,
    /// Pixels of the crosses.
    pub nodes: Vec<Point>,
    pub node_every: usize,
    /// Some crosses lay on others and are drawn once.
    pub nodes_overlap: bool,
}

/// Keeps what can be seen, crosses that would cover each other once, and of the rest every n-th so that it stays
/// below the limit.
pub(super) fn thin<'a>(scene: &'a Scene, view: &View, detail: &Detail) -> Thinned<'a> {
    let window = &view.world;
    let seen = |line: &&Vec<[f32; 2]>| {
        let mut bounds = Bounds::NOTHING;
        line.iter().for_each(|point| bounds.add(wide(point)));
        window.touches(&bounds)
    };
    let segments: Vec<&[[f32; 2]]> = scene.segments.iter().filter(seen).map(Vec::as_slice).collect();
    let mut taken = BTreeSet::new();
    let mut is_free = |[x, y]: &Point| {
        let cell = 2.4 * detail.cross_px;
        taken.insert(((x / cell) as i32, (y / cell) as i32))
    };
    let inside = scene.nodes.iter().map(wide).filter(|node| window.holds(*node));
    let seen_nodes = inside.clone().count();
    let nodes: Vec<Point> = inside.map(|node| view.map(node)).filter(&mut is_free).collect();
    let nodes_overlap = nodes.len() < seen_nodes;
    let (segment_every, node_every) =
        (segments.len().div_ceil(BUNDLE_MAX).max(1), nodes.len().div_ceil(BUNDLE_MAX).max(1));
    Thinned {
        segments: segments.into_iter().step_by(segment_every).collect(),
        segment_every,
        nodes: nodes.into_iter().step_by(node_every).collect(),
        node_every,
        nodes_overlap,
    }
}

pub(super) fn put_world(svg: &mut Svg, scene: &Scene, view: &View, drawn: &Thinned<'_>, detail: &Detail) {
    street::put_ground(svg, scene, view);
    for polygon in &scene.polygons {
        svg.polygon(polygon.iter().map(|point| view.map(*point)), OBSTACLE);
    }
    for pose in &scene.poses {
        svg.polygon(place(&scene.outline, pose.pose).into_iter().map(|point| view.map(point)), POSE);
    }
    let segment = Style { width: detail.segment_width, ..SEGMENT };
    svg.lines(drawn.segments.iter().map(|line| line.iter().map(|point| view.map(wide(point)))), segment);
    let crosses = drawn.nodes.iter().flat_map(|node| cross(*node, detail.cross_px));
    svg.lines(crosses, Style::line(colour::INK, detail.cross_width));
    svg.lines([scene.planned.iter().map(|point| view.map(*point))], PLANNED);
    for path in &scene.failing {
        svg.lines([path.poses.iter().map(|pose| view.map([pose[0], pose[1]]))], FAILING);
    }
    if let Some(path) = scene.failing.first() {
        street::put_others(svg, scene, view, path);
        put_outlines(svg, scene, view, path);
    }
    for polyline in &scene.polylines {
        svg.lines([polyline.iter().map(|point| view.map(*point))], WALL);
    }
    for pose in scene.poses.iter().filter(|pose| view.world.holds([pose.pose[0], pose.pose[1]])) {
        let [x, y] = view.map([pose.pose[0], pose.pose[1]]);
        put_label(svg, view, [x, y - 14.0], Anchor::Middle, &pose.label);
    }
    put_contacts(svg, scene, view, detail);
}

/// The outline every 0.6 of its length along a path, unless it is shown at moments, and at its end.
fn put_outlines(svg: &mut Svg, scene: &Scene, view: &View, path: &FailingPath) {
    let mut size = Bounds::NOTHING;
    scene.outline.iter().for_each(|point| size.add(*point));
    let Some(last) = path.poses.last().filter(|_| !size.is_nothing()) else { return };
    let spacing_m = 0.6 * size.size()[0].max(size.size()[1]);
    let mut since_m = f64::INFINITY;
    let mut before = path.poses[0];
    for pose in &path.poses {
        let (dx, dy) = (pose[0] - before[0], pose[1] - before[1]);
        since_m += (dx * dx + dy * dy).sqrt();
        before = *pose;
        if since_m >= spacing_m && path.moments.is_empty() {
            since_m = 0.0;
            svg.polygon(place(&scene.outline, *pose).into_iter().map(|point| view.map(point)), ALONG);
        }
    }
    svg.polygon(place(&scene.outline, *last).into_iter().map(|point| view.map(point)), AT_CONTACT);
}

fn put_contacts(svg: &mut Svg, scene: &Scene, view: &View, detail: &Detail) {
    for contact in scene.failing.iter().filter_map(|path| path.contact) {
        put_contact(svg, view.map(contact), detail.contact_px);
    }
    let first = scene.failing.iter().find_map(|path| Some((path.contact?, path.poses.last()?, path)));
    if let Some((contact, last, path)) = first.filter(|(contact, ..)| view.world.holds(*contact))
        && detail.names_contact
    {
        put_contact_label(svg, view, contact, [last[0], last[1]], &street::contact_words(path));
    }
}

/// Names the place of the contact on the side where nothing moves.
fn put_contact_label(svg: &mut Svg, view: &View, contact: Point, ego: Point, words: &str) {
    let decimals = 2;
    let [x_m, y_m] = contact.map(|v| super::axis::fixed(v, decimals));
    let ([x, y], [ego_x, ego_y]) = (view.map(contact), view.map(ego));
    let (at, anchor) = match (x - ego_x, y - ego_y) {
        (dx, dy) if dx.abs() < dy.abs() => ([x, if dy < 0.0 { y - 28.0 } else { y + 38.0 }], Anchor::Middle),
        (dx, _) if dx < 0.0 => ([x + 14.0, y + 38.0], Anchor::End),
        _ => ([x - 14.0, y + 38.0], Anchor::Start),
    };
    put_label(svg, view, at, anchor, &format!("{words} at ({x_m}, {y_m}) m"));
}

/// A text on a light ground, kept inside of the window.
fn put_label(svg: &mut Svg, view: &View, [x, y]: Point, anchor: Anchor, text: &str) {
    let width = super::svg::text_width(text, TEXT_PX) + 10.0;
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - 0.5 * width,
        Anchor::End => x - width,
    };
    let left = left.clamp(view.at[0] + 4.0, (view.at[0] + view.size[0] - width - 4.0).max(view.at[0] + 4.0));
    svg.rect([left, y - 15.0], [width, 21.0], Style::area(colour::PLOT).fill(colour::PLOT, 0.88));
    svg.text([left + 0.5 * width, y], TEXT_PX, Anchor::Middle, colour::INK, text);
}

/// A ring with a cross in it.
fn put_contact(svg: &mut Svg, at: Point, size: f64) {
    svg.circle(at, size, Style::line(colour::PLOT, 4.5));
    svg.circle(at, size, Style::line(colour::INK, 2.0));
    svg.lines(cross(at, 0.7 * size), Style::line(colour::PLOT, 4.0));
    svg.lines(cross(at, 0.7 * size), Style::line(colour::INK, 2.0));
}

fn cross([x, y]: Point, half: f64) -> [[Point; 2]; 2] {
    [[[x - half, y - half], [x + half, y + half]], [[x - half, y + half], [x + half, y - half]]]
}

fn wide([x, y]: &[f32; 2]) -> Point {
    [f64::from(*x), f64::from(*y)]
}

/// Samples in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Glyph {
    Wall,
    Obstacle,
    Node,
    Segment,
    Planned,
    Pose,
    Failing,
    Contact,
    Road(RoadGlyph),
}

/// Draws a sample 36 pixels wide, centred on `y`.
pub(super) fn put_glyph(svg: &mut Svg, [x, y]: Point, glyph: Glyph) {
    let across = [[x, y], [x + 36.0, y]];
    match glyph {
        Glyph::Wall => svg.lines([across], WALL),
        Glyph::Segment => svg.lines([across], SEGMENT),
        Glyph::Planned => svg.lines([across], PLANNED),
        Glyph::Failing => {
            svg.rect([x, y - 8.0], [36.0, 16.0], ALONG);
            svg.lines([across], FAILING);
        }
        Glyph::Obstacle => svg.rect([x + 6.0, y - 7.0], [24.0, 14.0], OBSTACLE),
        Glyph::Pose => svg.rect([x, y - 7.0], [34.0, 14.0], POSE),
        Glyph::Contact => put_contact(svg, [x + 18.0, y], 7.0),
        Glyph::Road(glyph) => street::put_glyph(svg, [x, y], glyph),
        Glyph::Node => {
            let crosses = [6.0, 18.0, 30.0].map(|dx| cross([x + dx, y], 3.6));
            svg.lines(crosses.into_iter().flatten(), Style::line(colour::INK, 1.1));
        }
    }
}
