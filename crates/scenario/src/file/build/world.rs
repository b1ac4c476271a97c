//! Walls and obstacles.

use anabranch_geometry::tiles::TileFile;
use anabranch_geometry::{Point, Pose};

use super::super::Hooks;
use super::super::check::shapes;
use super::super::codes::Code;
use super::super::problems::{Problems, excerpt};
use super::super::span::{Located, Span};
use super::super::spec::{ObstacleSpec, TilesSpec, WallSpec, WorldSpec};
use super::super::view::View;
use super::{check_ids, light};

/// Most points of all walls and obstacles: each is compared with every start, and with every square of the index.
const EDGES_MAX: usize = 20_000;
/// Longest walls and edges of obstacles together: sensors on roads know them as pieces of 20 m, 500 000 of them.
const EDGES_MAX_M: f64 = 1e7;

pub(super) fn build(problems: &mut Problems<'_>, view: View<'_>, hooks: &Hooks<'_>) -> Option<WorldSpec> {
    let walls: Option<Vec<_>> =
        view.tables("wall").into_iter().enumerate().map(|(number, wall)| build_wall(problems, number, wall)).collect();
    let obstacles: Option<Vec<_>> =
        view.tables("obstacle").into_iter().map(|obstacle| build_obstacle(problems, obstacle)).collect();
    let friction = view.real("friction");
    let tiles = match view.text("tiles") {
        Some(name) => Some(open_tiles(problems, view, name, hooks)?),
        None => None,
    };
    let (walls, obstacles) = (walls?, obstacles?);
    let daylight = light::daylight(view);
    let world =
        WorldSpec { step_s: view.real("step")?, walls, obstacles, friction, zones: Vec::new(), tiles, daylight };
    let ids = world.walls.iter().map(|wall| &wall.id).chain(world.obstacles.iter().map(|obstacle| &obstacle.id));
    check_ids(problems, "wall or obstacle", ids);
    let span = ["obstacle", "wall"].iter().find_map(|key| view.key_span(key)).unwrap_or(view.span());
    check_amount(problems, &world, span)?;
    Some(world)
}

/// Complains about walls and obstacles that take too much time and memory together.
fn check_amount(problems: &mut Problems<'_>, world: &WorldSpec, span: Span) -> Option<()> {
    let walls = world.walls.iter().map(|wall| wall.points.iter().map(|point| point.value).collect::<Vec<Point>>());
    let outlines = walls.chain(world.obstacles.iter().map(|obstacle| obstacle.corners.clone()));
    let (mut points, mut length_m) = (0, 0.0);
    for outline in outlines {
        points += outline.len();
        length_m += outline.windows(2).map(|ends| ends[0].distance_m(ends[1])).sum::<f64>();
    }
    let help = "leave out what the car cannot come near, or draw it into `tiles`";
    if points > EDGES_MAX {
        let message = format!("walls and obstacles have {points} points together; at most {EDGES_MAX} are handled");
        problems.add(Code::TooMany, span, message, help);
        return None;
    }
    if length_m > EDGES_MAX_M {
        let message =
            format!("walls and obstacles are {length_m:.0} m long together; at most {EDGES_MAX_M} m are handled");
        problems.add(Code::OutOfRange, span, message, help);
        return None;
    }
    Some(())
}

/// Only the header is read now.
fn open_tiles(
    problems: &mut Problems<'_>,
    view: View<'_>,
    name: Located<String>,
    hooks: &Hooks<'_>,
) -> Option<TilesSpec> {
    let Some(bytes) = (hooks.open_tiles)(&name.value) else {
        let message = format!("there is no file `{}`", excerpt(&name.value));
        problems.add(Code::NoSuchFile, name.span, message, "names of files are relative to the folder of the scenario");
        return None;
    };
    match TileFile::open(bytes) {
        Ok(file) => Some(TilesSpec { name, file, hide: view.flag("tiles_hide")? }),
        Err(error) => {
            let help = "draw tiles with `anabranch convert fences.png fences.tiles --pixel \"0.1 m\"`";
            problems.add(Code::BadRoad, name.span, error.to_string(), help);
            None
        }
    }
}

fn build_wall(problems: &mut Problems<'_>, number: usize, view: View<'_>) -> Option<WallSpec> {
    let id = view.text("id").unwrap_or_else(|| Located::new(format!("wall-{}", number + 1), view.span()));
    let points = view.points("line")?;
    shapes::check_wall(problems, view.get("line")?.span, &points);
    Some(WallSpec { id, points })
}

fn build_obstacle(problems: &mut Problems<'_>, view: View<'_>) -> Option<ObstacleSpec> {
    let ghost = view.flag("ghost")?;
    if ghost && let Some(key) = ["known", "present"].into_iter().find(|key| view.get(key).is_some()) {
        let message = format!("a ghost is not there, so `{key}` says nothing about it");
        problems.add(Code::Exclusive, view.key_span(key)?, message, format!("remove `{key}` or `ghost`"));
    }
    let shape_span = view.get("polygon").or_else(|| view.get("box"))?.span;
    let corners = match view.table("box") {
        Some(rectangle) => box_corners(rectangle)?.to_vec(),
        None => {
            let points = view.points("polygon")?;
            shapes::check_polygon(problems, shape_span, &points);
            points.iter().map(|point| point.value).collect()
        }
    };
    if !corners.iter().all(|corner| corner.x.is_finite() && corner.y.is_finite()) {
        problems.add(Code::NotFinite, shape_span, "a corner of this shape is not finite", "use smaller numbers");
        return None;
    }
    let (known, present) = (view.flag("known")? && !ghost, view.flag("present")? && !ghost);
    Some(ObstacleSpec { id: view.text("id")?, corners, shape_span, known, present, ghost })
}

/// Counter-clockwise from front left.
fn box_corners(view: View<'_>) -> Option<[Point; 4]> {
    let real = |key: &str| view.real(key).map(|value| value.value);
    let center = Pose::new(real("x")?, real("y")?, real("heading")?);
    let (ahead_m, left_m) = (0.5 * real("length")?, 0.5 * real("width")?);
    let corners = [(ahead_m, left_m), (-ahead_m, left_m), (-ahead_m, -left_m), (ahead_m, -left_m)];
    Some(corners.map(|(x, y)| center.world_from_local(Point::new(x, y))))
}
