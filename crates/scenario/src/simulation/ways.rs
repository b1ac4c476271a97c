//! Where cars begin and where they go, on the lanes of a map.

use std::path::Path;

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;
use anabranch_language::diagnostic::Problem;
use anabranch_language::syntax::assembly::{Text, coordinate, quantity};
use anabranch_roads::Network;

use super::wrong;
use crate::file::Report;

/// Metres on a meridian for one degree, and on the equator (mean sphere).
const METRES_PER_DEGREE: f64 = 111_194.926_644_558_74;
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

/// The map of a simulation: `Town.osm` stands for the road file `Town.road.toml` beside it.
pub(super) fn read_map(folder: &Path, map: &Text, told: &dyn Fn(Problem) -> Report) -> Result<Road, Report> {
    let name = match map.text.strip_suffix(".osm") {
        Some(stem) => format!("{stem}.road.toml"),
        None => map.text.clone(),
    };
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
                return Err(wrong(text, message, "the first coordinates stand for the origin of the map"));
            };
            let lane = self.network.lane(lane);
            let station_m = place.station_m.clamp(0.0, lane.length_m());
            Ok(OnLane { lane: lane.name().to_string(), station_m: (station_m * 1e3).floor() / 1e3 })
        };
        Ok(Way { from: place(from, a)?, to: place(to, b)? })
    }

    fn on_lane(&self, text: &Text) -> Result<Option<OnLane>, Problem> {
        let Some((lane, station)) = text.text.split_once('@') else { return Ok(None) };
        let (station_m, _) = quantity(&Text { text: station.trim().to_owned(), span: text.span })?;
        Ok(Some(OnLane { lane: lane.trim().to_owned(), station_m }))
    }
}

/// Metres east and north of the first coordinates.
fn point(text: &Text, origin: &mut Option<[f64; 2]>) -> Result<Point, Problem> {
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
