//! The exploration on the map (S1-48, Figs. 7, 8 and 11 of the paper).

use anabranch_kernel::maths;

use super::chart::{self, TEXT_PX};
use super::street::{self, Marking, Moment};
use super::svg::{Anchor, Style, Svg, text_width};
use super::view::{Bounds, View};
use super::world::{self, Glyph};
use super::{Point, colour};

/// An outline at a place, with a name: the start, the goal.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledPose {
    /// x, y in metres and heading in radians.
    pub pose: [f64; 3],
    /// Its name.
    pub label: String,
}

/// A path that violates a requirement; it is always drawn in full.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailingPath {
    /// x, y in metres and heading in radians, from the start to the contact, or to the verdict where there is none.
    pub poses: Vec<[f64; 3]>,
    /// Where the contact was, metres.
    pub contact: Option<Point>,
    /// Who or what was touched, for people.
    pub with: Option<String>,
    /// Some moments along the way, where others move too.
    pub moments: Vec<Moment>,
    /// Outlines of others at the end, without the one that was touched; metres.
    pub others: Vec<Vec<Point>>,
    /// The outline of who was touched, when it was; metres.
    pub touched: Option<Vec<Point>>,
}

/// How much of the world is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crop {
    /// What happened, the start and the goal.
    Whole,
    /// What happened: the goal may be far away.
    Driven,
}

/// The enlarged part of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inset {
    /// Around the first contact, or else around a middle state.
    Auto,
    /// Nothing is enlarged.
    Off,
    /// Around a place.
    Around {
        /// Middle, metres.
        centre: Point,
        /// Width, metres.
        width_m: f64,
    },
}

/// What to show; lengths in metres.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Title of the figure.
    pub title: String,
    /// A sentence below it.
    pub subtitle: String,
    /// Surfaces of lanes.
    pub surfaces: Vec<Vec<Point>>,
    /// Lines that are only painted, such as those of lanes.
    pub markings: Vec<Marking>,
    /// Walls and other lines that must not be touched.
    pub polylines: Vec<Vec<Point>>,
    /// Obstacles.
    pub polygons: Vec<Vec<Point>>,
    /// Outline of what moves, in its own frame (x forwards); may be empty.
    pub outline: Vec<Point>,
    /// The path that was to be followed; may be empty.
    pub planned: Vec<Point>,
    /// Places where the outline is shown with a name.
    pub poses: Vec<LabelledPose>,
    /// Saved states, shown as crosses.
    pub nodes: Vec<[f32; 2]>,
    /// Segments of the exploration.
    pub segments: Vec<Vec<[f32; 2]>>,
    /// Paths that violate a requirement; the outline is shown along the first.
    pub failing: Vec<FailingPath>,
    /// What to enlarge.
    pub inset: Inset,
    /// How much of the world is shown.
    pub crop: Crop,
}

const WIDTH: f64 = 1_200.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 76.0;
/// Room below a window for its ticks and title.
const BELOW: f64 = 52.0;
/// Ratio of width to height from which the enlarged part is put below.
const WIDE: f64 = 2.0;
/// An inset that enlarges less than this is left out.
const ENLARGE_MIN: f64 = 1.5;
/// An inset that is chosen for the person enlarges at least this much.
const ENLARGE_AUTO: f64 = 3.0;
/// Lengths of the outline that the inset is wide: a wall stands still, and who moves is shown as a whole.
const INSET_LENGTHS: f64 = 1.5;
const INSET_LENGTHS_AMONG_OTHERS: f64 = 6.0;
/// What is seen around the way that was driven.
const DRIVEN_MARGIN_M: f64 = 8.0;

/// Draws a scene as SVG.
pub fn scene_picture(scene: &Scene) -> String {
    let focus = focus(scene);
    let [width, height] = focus.size();
    let wide = width / height >= WIDE || scene.inset == Inset::Off;
    let beside = if wide { None } else { Some(layout_beside(scene, focus)).filter(|(_, inset)| inset.is_some()) };
    let wide = beside.is_none();
    let (map, inset) = beside.unwrap_or_else(|| layout_below(scene, focus));
    let windows_bottom =
        [Some(&map), inset.as_ref()].into_iter().flatten().map(|v| v.at[1] + v.size[1]).fold(0.0, f64::max);
    let legend_top = windows_bottom + BELOW + 24.0;
    let drawn = world::thin(scene, &map, &world::Detail::MAP);
    let items = legend_items(scene, &map, &drawn);
    let rows = legend_rows(&items);
    let mut svg = Svg::new(WIDTH, legend_top + 26.0 * rows.len() as f64, &scene.title);
    chart::title(&mut svg, &scene.title, &scene.subtitle);
    put_window(&mut svg, scene, &map, &drawn, &world::Detail::MAP);
    if is_empty(scene) {
        let middle = [map.at[0] + 0.5 * map.size[0], map.at[1] + 0.5 * map.size[1]];
        let why = "Nothing to show: no walls, no obstacles and no saved states.";
        svg.text(middle, TEXT_PX, Anchor::Middle, colour::SOFT_INK, why);
    }
    if let Some(inset) = &inset {
        put_connection(&mut svg, &map, inset, wide);
        let drawn = world::thin(scene, inset, &world::Detail::INSET);
        put_window(&mut svg, scene, inset, &drawn, &world::Detail::INSET);
    }
    for view in [Some(&map), inset.as_ref()].into_iter().flatten() {
        view.put_frame(&mut svg);
        view.put_scale_bar(&mut svg);
    }
    put_legend(&mut svg, &rows, legend_top);
    svg.finish()
}

fn is_empty(scene: &Scene) -> bool {
    let around = scene.polylines.is_empty() && scene.polygons.is_empty() && scene.poses.is_empty();
    around && scene.nodes.is_empty() && scene.segments.is_empty() && scene.failing.is_empty()
}

fn put_window(svg: &mut Svg, scene: &Scene, view: &View, drawn: &world::Thinned<'_>, detail: &world::Detail) {
    svg.rect(view.at, view.size, Style::area(colour::PLOT));
    svg.begin_clip(view.at, view.size);
    world::put_world(svg, scene, view, drawn, detail);
    svg.end_clip();
}

/// The grey box on the map and thin lines to its enlargement.
fn put_connection(svg: &mut Svg, map: &View, inset: &View, below: bool) {
    let (upper_left, lower_right) =
        (map.map([inset.world.low[0], inset.world.high[1]]), map.map([inset.world.high[0], inset.world.low[1]]));
    // Only what is on the map: the enlarged part may reach beyond it.
    let end = [map.at[0] + map.size[0], map.at[1] + map.size[1]];
    let low = [upper_left[0].max(map.at[0]), upper_left[1].max(map.at[1])];
    let high = [lower_right[0].min(end[0]), lower_right[1].min(end[1])];
    let thin = Style::line(colour::SOFT_INK, 1.0).opacity(0.75);
    svg.rect(low, [high[0] - low[0], high[1] - low[1]], Style::line(colour::SOFT_INK, 1.4).fill(colour::FRAME, 0.14));
    let [x, y] = inset.at;
    if below {
        svg.line([low[0], high[1]], [x, y], thin);
        svg.line(high, [x + inset.size[0], y], thin);
    } else {
        svg.line([high[0], low[1]], [x, y], thin);
        svg.line(high, [x, y + inset.size[1]], thin);
    }
}

fn layout_below(scene: &Scene, focus: Bounds) -> (View, Option<View>) {
    let width = WIDTH - LEFT - RIGHT;
    let [focus_width, focus_height] = focus.size();
    let height = (width * focus_height / focus_width).clamp(130.0, 620.0);
    let map = View::new(focus, [LEFT, TOP], [width, height]);
    let at = [LEFT, TOP + height + BELOW + 26.0];
    (map, inset_view(scene, &map, at, [width, 400.0]))
}

fn layout_beside(scene: &Scene, focus: Bounds) -> (View, Option<View>) {
    let [focus_width, focus_height] = focus.size();
    let (map_width, gap) = (560.0, 104.0);
    let height = (map_width * focus_height / focus_width).clamp(420.0, 760.0);
    let map = View::new(focus, [LEFT, TOP], [map_width, height]);
    let at = [LEFT + map_width + gap, TOP];
    let size = [WIDTH - RIGHT - at[0], height.min(520.0)];
    (map, inset_view(scene, &map, at, size))
}

/// The window onto what is to be enlarged, if that is worth it.
fn inset_view(scene: &Scene, map: &View, at: Point, size: Point) -> Option<View> {
    let mut outline = Bounds::NOTHING;
    scene.outline.iter().for_each(|point| outline.add(*point));
    let length_m = if outline.is_nothing() { f64::INFINITY } else { outline.size()[0] };
    let is_among_others = scene.failing.iter().any(|path| path.touched.is_some());
    let lengths = if is_among_others { INSET_LENGTHS_AMONG_OTHERS } else { INSET_LENGTHS };
    let auto_width = (lengths * length_m).min(size[0] / (ENLARGE_AUTO * map.px_per_m()));
    let ([x, y], width_m) = match scene.inset {
        Inset::Off => return None,
        Inset::Around { centre, width_m } => (centre, width_m),
        Inset::Auto => (auto_centre(scene, [auto_width, auto_width * size[1] / size[0]])?, auto_width),
    };
    if width_m.is_nan() || width_m <= 0.0 {
        return None;
    }
    // A flat box; the window gives it its height.
    let [half, flat] = [0.5 * width_m, 1e-3 * width_m];
    let view = View::new(Bounds { low: [x - half, y - flat], high: [x + half, y + flat] }, at, size);
    (view.px_per_m() >= ENLARGE_MIN * map.px_per_m()).then_some(view)
}

/// Between the first contact and the path that leads there, so that both are seen where they fit into `extent`.
fn auto_centre(scene: &Scene, extent: Point) -> Option<Point> {
    let contact = scene.failing.iter().find_map(|path| Some((path.contact?, path.poses.last()?)));
    let middle = || scene.nodes.get(scene.nodes.len() / 2).map(|[x, y]| [f64::from(*x), f64::from(*y)]);
    let between = |(contact, last): (Point, &[f64; 3])| {
        [0, 1].map(|axis| {
            contact[axis] + (0.5 * (last[axis] - contact[axis])).clamp(-0.3 * extent[axis], 0.3 * extent[axis])
        })
    };
    contact.map(between).or_else(middle)
}

/// What happens, with some of what stands around it; long walls do not shrink it.
fn focus(scene: &Scene) -> Bounds {
    let mut bounds = Bounds::NOTHING;
    scene.nodes.iter().for_each(|[x, y]| bounds.add([f64::from(*x), f64::from(*y)]));
    scene.segments.iter().flatten().for_each(|[x, y]| bounds.add([f64::from(*x), f64::from(*y)]));
    let named = scene.poses.iter().filter(|_| scene.crop == Crop::Whole).map(|p| &p.pose);
    let poses = scene.failing.iter().flat_map(|path| &path.poses);
    scene.failing.iter().filter_map(|path| path.touched.as_ref()).flatten().for_each(|point| bounds.add(*point));
    for pose in poses.chain(named) {
        bounds.add([pose[0], pose[1]]);
        place(&scene.outline, *pose).into_iter().for_each(|point| bounds.add(point));
    }
    let around = || scene.polylines.iter().chain(&scene.polygons);
    if bounds.is_nothing() {
        around().flatten().for_each(|point| bounds.add(*point));
    }
    if bounds.is_nothing() {
        bounds = Bounds { low: [0.0; 2], high: [1.0; 2] };
    }
    let [width, height] = bounds.size();
    let mut near = bounds;
    near.grow(0.3 * width.min(height) + 1.0);
    for line in around() {
        edge_points(line).filter(|point| near.holds(*point)).for_each(|point| bounds.add(point));
    }
    bounds.grow(match scene.crop {
        Crop::Whole => (0.04 * width.max(height)).clamp(0.3, 5.0),
        Crop::Driven => DRIVEN_MARGIN_M,
    });
    bounds
}

/// Points along a line, close enough to know where it passes.
fn edge_points(line: &[Point]) -> impl Iterator<Item = Point> + '_ {
    line.windows(2).flat_map(|pair| {
        (0..=64)
            .map(|k| f64::from(k) / 64.0)
            .map(|s| [0, 1].map(|axis| pair[0][axis] + s * (pair[1][axis] - pair[0][axis])))
    })
}

/// An outline in the world.
pub(super) fn place(outline: &[Point], [x, y, heading]: [f64; 3]) -> Vec<Point> {
    let (sin, cos) = (maths::sin(heading), maths::cos(heading));
    outline.iter().map(|[a, b]| [x + cos * a - sin * b, y + sin * a + cos * b]).collect()
}

fn legend_items(scene: &Scene, map: &View, drawn: &world::Thinned<'_>) -> Vec<(Glyph, String)> {
    let every = |every: usize| if every > 1 { format!(" (1 of {every} drawn)") } else { String::new() };
    let overlap = if drawn.nodes_overlap { " (overlapping ones once)" } else { "" };
    let mut items = Vec::new();
    let mut item = |there: bool, glyph, label: String| {
        if there {
            items.push((glyph, label));
        }
    };
    item(!scene.polylines.is_empty(), Glyph::Wall, "wall".to_owned());
    item(!scene.polygons.is_empty(), Glyph::Obstacle, "obstacle".to_owned());
    item(!scene.nodes.is_empty(), Glyph::Node, format!("saved state{}{overlap}", every(drawn.node_every)));
    item(!scene.segments.is_empty(), Glyph::Segment, format!("segment{}", every(drawn.segment_every)));
    item(!scene.planned.is_empty(), Glyph::Planned, "planned path".to_owned());
    let named = scene.poses.iter().filter(|pose| map.world.holds([pose.pose[0], pose.pose[1]]));
    let named: Vec<&str> = named.map(|pose| pose.label.as_str()).collect();
    item(!named.is_empty() && !scene.outline.is_empty(), Glyph::Pose, named.join(", "));
    let failing = match scene.failing.len() {
        1 if scene.failing[0].moments.is_empty() => "failing path and outline along it".to_owned(),
        1 => "failing path".to_owned(),
        count => format!("{count} failing paths, all drawn; outline along the first"),
    };
    item(!scene.failing.is_empty(), Glyph::Failing, failing);
    let contact = match scene.failing.as_slice() {
        [path] => street::contact_words(path),
        _ => "contact".to_owned(),
    };
    item(scene.failing.iter().any(|path| path.contact.is_some()), Glyph::Contact, contact);
    items.extend(street::legend(scene).into_iter().map(|(glyph, label)| (Glyph::Road(glyph), label)));
    items
}

fn put_legend(svg: &mut Svg, rows: &[&[(Glyph, String)]], top: f64) {
    for (row, items) in rows.iter().enumerate() {
        let mut x = 24.0;
        for (glyph, label) in *items {
            world::put_glyph(svg, [x, top + 26.0 * row as f64], *glyph);
            svg.text([x + 44.0, top + 26.0 * row as f64 + 5.0], TEXT_PX, Anchor::Start, colour::INK, label);
            x += legend_width(label);
        }
    }
}

fn legend_width(label: &str) -> f64 {
    44.0 + text_width(label, TEXT_PX) + 26.0
}

fn legend_rows(items: &[(Glyph, String)]) -> Vec<&[(Glyph, String)]> {
    let mut rows = Vec::new();
    let (mut begin, mut x) = (0, 24.0);
    for (at, (_, label)) in items.iter().enumerate() {
        let width = legend_width(label);
        if x + width > WIDTH && at > begin {
            rows.push(&items[begin..at]);
            (begin, x) = (at, 24.0);
        }
        x += width;
    }
    rows.push(&items[begin..]);
    rows
}
