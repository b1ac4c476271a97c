//! Where cars begin and where they go, on the lanes of a map.

use std::path::Path;

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;
use anabranch_language::diagnostic::Problem;
use anabranch_language::syntax::assembly::{Route, Text, coordinate, quantity};
use anabranch_roads::{Frenet, Network};

use super::wrong;
use crate::file::Report;

/// Metres on a meridian for one degree, and on the equator (mean sphere).
const METRES_PER_DEGREE: f64 = 111_194.926_644_558_74;
/// How fast people walk, and how far before the place of a crossing they begin.
const WALK_MPS: f64 = 1.4;
const KERB_M: f64 = 0.5;
/// A place further from every lane than this is a slip.
const BESIDE_MAX_M: f64 = 50.0;

/// A road network and the name of its file.
pub(super) struct Road {
    pub(super) name: String,
    network: Network,
}

/// A place on a lane.
pub(super) struct OnLane {
    pub(super) lane: String,
    pub(super) station_m: f64,
}

/// From where to where.
pub(super) struct Way {
    pub(super) from: OnLane,
    pub(super) to: OnLane,
}

/// The map of a simulation: `Town.osm` stands for the road file `Town.road.toml` beside it, or in the folder of its maps.
pub(super) fn read_map(
    folder: &Path,
    below: Option<&Text>,
    map: &Text,
    told: &dyn Fn(Problem) -> Report,
) -> Result<Road, Report> {
    let mut name = match map.text.strip_suffix(".osm") {
        Some(stem) => format!("{stem}.road.toml"),
        None => map.text.clone(),
    };
    // A simulation may say in which folder its maps are.
    let inside = below.map(|below| format!("{}/{name}", below.text)).filter(|inside| folder.join(inside).is_file());
    name = inside.unwrap_or(name);
    let Ok(text) = std::fs::read_to_string(folder.join(&name)) else {
        let message = format!("there is no road file `{name}` beside the simulation");
        return Err(told(wrong(
            map,
            message,
            "maps cannot be imported yet; write the roads as a map file of this name",
        )));
    };
    let file = folder.join(&name).display().to_string();
    let network = anabranch_roads::file::read(&file, &text)?.network;
    Ok(Road { name, network })
}

impl Road {
    /// The way between two places: `lane @ station`, or coordinates. The first coordinates of a simulation stand for the
    /// origin of its map.
    pub(super) fn way(&self, from: &Text, to: &Text, origin: &mut Option<[f64; 2]>) -> Result<Way, Problem> {
        if let (Some(start), Some(goal)) = (self.on_lane(from)?, self.on_lane(to)?) {
            return Ok(Way { from: start, to: goal });
        }
        let (a, b) = (point(from, origin)?, point(to, origin)?);
        let heading = maths::atan2(b.y - a.y, b.x - a.x);
        let place = |text: &Text, at: Point| {
            let found = self.network.nearest_along(Pose::new(at.x, at.y, heading));
            let found = found.filter(|(_, place)| place.lateral_m.abs() < BESIDE_MAX_M);
            let Some((lane, place)) = found else {
                let message = format!("no lane leads this way within {BESIDE_MAX_M} m of `{}`", text.text);
                let help = match text.text.starts_with('(') {
                    true => "these are metres of the map, as places lie further apart than degrees of one map can",
                    false => "the first coordinates stand for the origin of the map",
                };
                return Err(wrong(text, message, help));
            };
            let lane = self.network.lane(lane);
            let station_m = place.station_m.clamp(0.0, lane.length_m());
            Ok(OnLane { lane: lane.name().to_string(), station_m: (station_m * 1e3).floor() / 1e3 })
        };
        Ok(Way { from: place(from, a)?, to: place(to, b)? })
    }

    /// Somebody on foot, as keys of an object: over the road where the way leads over it, else along its side.
    pub(super) fn pedestrian(&self, route: &Route, origin: &mut Option<[f64; 2]>) -> Result<Vec<String>, Problem> {
        let (a, b) = (point(&route.from, origin)?, point(&route.to, origin)?);
        let middle = Point::new(0.5 * (a.x + b.x), 0.5 * (a.y + b.y));
        let near = |(_, place): &(_, Frenet)| place.lateral_m.abs() < BESIDE_MAX_M;
        let Some((lane, place)) = self.network.nearest(middle).filter(near) else {
            let message = format!("no road is within {BESIDE_MAX_M} m of the middle of this way");
            return Err(wrong(&route.from, message, "pedestrians walk beside roads and over them"));
        };
        let lane = self.network.lane(lane);
        // Along and beside the lane, from where it is nearest.
        let pose = lane.pose(place.station_m.clamp(0.0, lane.length_m()));
        let (sin, cos) = maths::sin_cos(pose.heading);
        let seen = |at: Point| {
            let (dx, dy) = (at.x - pose.x, at.y - pose.y);
            (cos * dx + sin * dy, cos * dy - sin * dx)
        };
        let ((from_m, from_left_m), (to_m, to_left_m)) = (seen(a), seen(b));
        let crosses = (from_left_m > 0.0) != (to_left_m > 0.0);
        let along_m = match crosses {
            true => from_m + (to_m - from_m) * from_left_m / (from_left_m - to_left_m),
            // A pedestrian begins so much before its station.
            false => from_m.min(to_m) + KERB_M,
        };
        let station_m = ((place.station_m + along_m).clamp(0.0, lane.length_m()) * 1e3).floor() / 1e3;
        let side = if from_left_m > 0.0 { "left" } else { "right" };
        let mut lines = vec![
            "kind = \"pedestrian\"".to_owned(),
            format!("lane = \"{}\"", lane.name()),
            format!("station = \"{station_m} m\""),
            format!("speed = \"{WALK_MPS} m/s\""),
            format!("side = \"{side}\""),
        ];
        if !crosses {
            let walk_m = ((to_m - from_m).abs() * 1e3).round() / 1e3;
            lines.push("crosses = false".to_owned());
            lines.push(format!("walk = \"{} m\"", walk_m.max(KERB_M)));
            lines.push(format!("direction = \"{}\"", if to_m >= from_m { "forth" } else { "back" }));
        }
        Ok(lines)
    }

    fn on_lane(&self, text: &Text) -> Result<Option<OnLane>, Problem> {
        let Some((lane, station)) = text.text.split_once('@') else { return Ok(None) };
        let (station_m, _) = quantity(&Text { text: station.trim().to_owned(), span: text.span })?;
        Ok(Some(OnLane { lane: lane.trim().to_owned(), station_m }))
    }
}

/// Metres east and north: of the first coordinates, or of the map where a place is given as `(100 m, 0 m)`.
fn point(text: &Text, origin: &mut Option<[f64; 2]>) -> Result<Point, Problem> {
    if let Some(inside) = text.text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let part =
            |part: &str| quantity(&Text { text: part.trim().to_owned(), span: text.span }).map(|(value, _)| value);
        let (east, north) = inside.split_once(',').unwrap_or((inside, ""));
        return Ok(Point::new(part(east)?, part(north)?));
    }
    let mut parts = text.text.split_whitespace();
    let (Some(north), Some(east), None) = (parts.next(), parts.next(), parts.next()) else {
        let help = "write `main.1 @ 30m`, or coordinates such as `50°46'43.7\"N 6°03'38.6\"E`";
        return Err(wrong(text, format!("`{}` is no place", text.text), help));
    };
    let degrees = |part: &str| coordinate(&Text { text: part.to_owned(), span: text.span });
    let here = [degrees(north)?, degrees(east)?];
    let from = *origin.get_or_insert(here);
    let narrower = maths::cos(from[0].to_radians());
    Ok(Point::new((here[1] - from[1]) * METRES_PER_DEGREE * narrower, (here[0] - from[0]) * METRES_PER_DEGREE))
}
