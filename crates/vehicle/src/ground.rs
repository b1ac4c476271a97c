//! How slippery the ground is, by place and time (S2-33, S2-34).
//!
//! A ground has a friction coefficient everywhere and zones with others: polygons, or stretches of a lane. Where zones
//! overlap the one listed last counts, as with paint. Each coefficient may change over time. Friction is the only effect of
//! weather in physics; it acts in the tyres, and an error choice scales it by a factor that is passed in.
//!
//! ```
//! use anabranch_geometry::Point;
//! use anabranch_vehicle::{Area, Course, Ground, Place, Zone};
//!
//! let puddle = [(10.0, -2.0), (14.0, -2.0), (14.0, 2.0), (10.0, 2.0)].map(|(x, y)| Point::new(x, y));
//! let wet = Zone { area: Area::Polygon(puddle.to_vec()), friction: Course::Fixed(0.3), during_s: None };
//! let ground = Ground::new(Course::Fixed(0.9), vec![wet])?;
//! let at = |x: f64| Place { point: Point::new(x, 0.0), lane: None };
//! assert_eq!(ground.friction(&at(0.0), 0.0, 1.0), 0.9);
//! assert_eq!(ground.friction(&at(12.0), 0.0, 1.0), 0.3);
//! assert_eq!(ground.friction(&at(0.0), 0.0, 0.5), 0.45); // an error choice halves it
//! # Ok::<(), anabranch_vehicle::BadGround>(())
//! ```

use anabranch_geometry::Point;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The slipperiest ground: wet ice.
pub const FRICTION_MIN: f64 = 0.02;
/// The roughest ground: racing tyres on warm asphalt.
pub const FRICTION_MAX: f64 = 1.6;

/// A friction coefficient over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Course {
    /// The same at all times.
    Fixed(f64),
    /// Seconds and coefficients, linear in between and held before the first and after the last.
    Table(Vec<(f64, f64)>),
}

/// Where a zone is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Area {
    /// Inside of a polygon, whichever way round.
    Polygon(Vec<Point>),
    /// On a lane, from one station to another.
    Stretch {
        /// Number of the lane.
        lane: u32,
        /// First station.
        from_m: f64,
        /// Last station.
        to_m: f64,
    },
}

/// A part of the ground with its own friction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// Where.
    pub area: Area,
    /// How slippery.
    pub friction: Course,
    /// From and until when it is there; always if `None`.
    pub during_s: Option<[f64; 2]>,
}

/// A place to ask about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// In the world.
    pub point: Point,
    /// Number of the lane and station on it, where there is a lane.
    pub lane: Option<(u32, f64)>,
}

/// What is wrong with a ground.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadGround {
    /// The friction that holds everywhere.
    #[error("the friction of the ground {0}")]
    Everywhere(&'static str),
    /// One of the zones.
    #[error("friction zone {zone} {what}")]
    Zone {
        /// Its number, from 1.
        zone: usize,
        /// What about it.
        what: &'static str,
    },
}

/// The ground: immutable, shared, looked up without allocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Ground {
    everywhere: Course,
    zones: Vec<Bounded>,
}

/// A zone with the box around it, so that most are dismissed by four comparisons.
#[derive(Clone, Debug, PartialEq)]
struct Bounded {
    zone: Zone,
    low: Point,
    high: Point,
}

impl Course {
    fn fault(&self) -> Option<&'static str> {
        let sound = |friction: f64| (FRICTION_MIN..=FRICTION_MAX).contains(&friction);
        match self {
            Self::Fixed(friction) => (!sound(*friction)).then_some("must be between 0.02 and 1.6"),
            Self::Table(rows) if rows.is_empty() => Some("has a table without rows"),
            Self::Table(rows) if !rows.iter().all(|row| row.0.is_finite() && sound(row.1)) => {
                Some("must be between 0.02 and 1.6 at finite times")
            }
            Self::Table(rows) => {
                (!rows.windows(2).all(|pair| pair[0].0 < pair[1].0)).then_some("must have times that increase")
            }
        }
    }
    fn at(&self, time_s: f64) -> f64 {
        match self {
            Self::Fixed(friction) => *friction,
            Self::Table(rows) => {
                let after = rows.partition_point(|row| row.0 <= time_s);
                match (after.checked_sub(1).map(|i| rows[i]), rows.get(after)) {
                    (Some(from), Some(to)) => from.1 + (to.1 - from.1) * ((time_s - from.0) / (to.0 - from.0)),
                    (Some(held), None) => held.1,
                    (None, Some(first)) => first.1,
                    (None, None) => unreachable!("a table has rows; checked when the ground was made"),
                }
            }
        }
    }
}

impl Zone {
    fn fault(&self) -> Option<&'static str> {
        let shape = match &self.area {
            Area::Polygon(corners) if corners.len() < 3 => Some("has fewer than three corners"),
            Area::Polygon(corners) if !corners.iter().all(|p| p.x.is_finite() && p.y.is_finite()) => {
                Some("has a corner that is not finite")
            }
            Area::Stretch { from_m, to_m, .. } if !(from_m.is_finite() && to_m.is_finite() && from_m < to_m) => {
                Some("must end after it begins")
            }
            _ => None,
        };
        let time = self.during_s.is_some_and(|[from, until]| !(from.is_finite() && until > from));
        shape.or_else(|| self.friction.fault()).or(time.then_some("must be there for some time"))
    }
}

impl Bounded {
    fn new(zone: Zone) -> Self {
        let corners: &[Point] = match &zone.area {
            Area::Polygon(corners) => corners,
            Area::Stretch { .. } => &[],
        };
        let (mut low, mut high) = (corners.first().copied().unwrap_or_default(), Point::default());
        high = corners.first().copied().unwrap_or(high);
        for corner in corners {
            low = Point::new(low.x.min(corner.x), low.y.min(corner.y));
            high = Point::new(high.x.max(corner.x), high.y.max(corner.y));
        }
        Self { zone, low, high }
    }
    fn holds(&self, place: &Place, time_s: f64) -> bool {
        if self.zone.during_s.is_some_and(|[from, until]| !(from..until).contains(&time_s)) {
            return false;
        }
        match &self.zone.area {
            Area::Polygon(corners) => {
                let point = place.point;
                let boxed =
                    self.low.x <= point.x && point.x <= self.high.x && self.low.y <= point.y && point.y <= self.high.y;
                boxed && is_inside(corners, point)
            }
            Area::Stretch { lane, from_m, to_m } => {
                place.lane.is_some_and(|(on, station_m)| on == *lane && *from_m <= station_m && station_m <= *to_m)
            }
        }
    }
}

/// Whether a ray to the right crosses the outline an odd number of times.
fn is_inside(corners: &[Point], point: Point) -> bool {
    let mut inside = false;
    let mut from = corners[corners.len() - 1];
    for &to in corners {
        if (from.y > point.y) != (to.y > point.y) {
            let crossing_x = from.x + (to.x - from.x) * ((point.y - from.y) / (to.y - from.y));
            inside ^= point.x < crossing_x;
        }
        from = to;
    }
    inside
}

impl Ground {
    /// A ground with the same friction everywhere but in its zones.
    pub fn new(everywhere: Course, zones: Vec<Zone>) -> Result<Self, BadGround> {
        if let Some(what) = everywhere.fault() {
            return Err(BadGround::Everywhere(what));
        }
        for (index, zone) in zones.iter().enumerate() {
            if let Some(what) = zone.fault() {
                return Err(BadGround::Zone { zone: index + 1, what });
            }
        }
        Ok(Self { everywhere, zones: zones.into_iter().map(Bounded::new).collect() })
    }
    /// Whether it changes over time: then the tick belongs to the merge key.
    pub fn changes(&self) -> bool {
        let changes = |course: &Course| matches!(course, Course::Table(rows) if rows.len() > 1);
        let zone = |bounded: &Bounded| changes(&bounded.zone.friction) || bounded.zone.during_s.is_some();
        changes(&self.everywhere) || self.zones.iter().any(zone)
    }
    /// Friction coefficient at a place and time, scaled by the factor of an error choice (1 is no error, S2-34) and kept
    /// between [`FRICTION_MIN`] and [`FRICTION_MAX`].
    pub fn friction(&self, place: &Place, time_s: f64, factor: f64) -> f64 {
        let zone = self.zones.iter().rev().find(|bounded| bounded.holds(place, time_s));
        let course = zone.map_or(&self.everywhere, |bounded| &bounded.zone.friction);
        (course.at(time_s) * factor).clamp(FRICTION_MIN, FRICTION_MAX)
    }
}
