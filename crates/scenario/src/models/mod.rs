//! Component models as parts of the loop: what they can be told, by name.

use anabranch_bridge::fmu::{FmuRole, Signal, folded};
use anabranch_kernel::maths;
pub use anabranch_language::Library;
use anabranch_language::units::Dimension;

/// What every driver is told, on roads and off them: one number each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Plain {
    /// Seconds since the start.
    Time,
    /// Base cycles since the start.
    Tick,
    /// East, as localisation tells it.
    PoseX,
    /// North, as localisation tells it.
    PoseY,
    /// Heading, as localisation tells it.
    PoseHeading,
    /// Speed, negative backwards.
    Speed,
    /// Angle of the front wheels.
    Steer,
    /// 1 forwards, -1 backwards.
    Gear,
    /// Place along the path.
    PathStation,
    /// To the left of the path.
    PathLateral,
    /// Turned from the path.
    PathHeading,
    /// Curvature of the path here and a little ahead.
    PathCurvature,
    /// Way to where it must stand.
    PathRemaining,
    /// Speed at which the steering can follow.
    PathSpeedMax,
    /// 1 where the path is driven forwards, else -1.
    PathDirection,
    /// Number of the section.
    PathSection,
    /// Sections after this one.
    PathSectionsLeft,
    /// Way to the end of the section.
    PathToEnd,
    /// The goal, in the direction of the car.
    GoalAhead,
    /// The goal, to the left of the car.
    GoalLeft,
    /// Turn to the heading of the goal.
    GoalHeading,
}

/// How many there are.
pub(crate) const PLAIN: usize = 21;

impl Plain {
    /// All of them with their names, in order.
    pub const ALL: [(Self, &'static str); PLAIN] = [
        (Self::Time, "time"),
        (Self::Tick, "tick"),
        (Self::PoseX, "pose.x"),
        (Self::PoseY, "pose.y"),
        (Self::PoseHeading, "pose.heading"),
        (Self::Speed, "speed"),
        (Self::Steer, "steer"),
        (Self::Gear, "gear"),
        (Self::PathStation, "path.station"),
        (Self::PathLateral, "path.lateral"),
        (Self::PathHeading, "path.heading"),
        (Self::PathCurvature, "path.curvature"),
        (Self::PathRemaining, "path.remaining"),
        (Self::PathSpeedMax, "path.speed_max"),
        (Self::PathDirection, "path.direction"),
        (Self::PathSection, "path.section"),
        (Self::PathSectionsLeft, "path.sections_left"),
        (Self::PathToEnd, "path.to_end"),
        (Self::GoalAhead, "goal.ahead"),
        (Self::GoalLeft, "goal.left"),
        (Self::GoalHeading, "goal.heading"),
    ];

    /// The one of this name; `.`, `_`, `-` and brackets count alike, and so do capitals.
    pub fn named(name: &str) -> Option<Self> {
        let name = folded(name);
        Self::ALL.into_iter().find(|(_, known)| folded(known) == name).map(|(plain, _)| plain)
    }
}

/// Two of these as the public simulators tell them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// Heading, counter-clockwise from north instead of east.
    Compass,
    /// Angle of the front wheels, positive to the right.
    SteerRight,
}

impl Otherwise {
    /// Both with their names.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Compass, "pose.compass"), (Self::SteerRight, "steer.right")];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        let name = folded(name);
        Self::ALL.into_iter().find(|(_, known)| folded(known) == name).map(|(otherwise, _)| otherwise)
    }

    /// What it is made of.
    pub fn plain(self) -> Plain {
        match self {
            Self::Compass => Plain::PoseHeading,
            Self::SteerRight => Plain::Steer,
        }
    }

    /// Made of its value.
    pub(crate) fn of(self, value: f64) -> f64 {
        match self {
            Self::Compass => maths::wrap_angle(value - std::f64::consts::FRAC_PI_2),
            Self::SteerRight => -value,
        }
    }
}

/// What a name that drivers are told measures, as exponents of metre and second.
pub(crate) fn measures(name: &str) -> Option<Dimension> {
    let of = |metre: i32, second: i32| Dimension([metre as i8, 0, second as i8, 0, 0, 0, 0]);
    if markers::named(name).is_some() {
        return Some(of(1, 0));
    }
    if Otherwise::named(name).is_some() {
        return Some(of(0, 0));
    }
    Signal::named(FmuRole::Driver, name).map(|(_, dimensions)| of(dimensions.metre, dimensions.second))
}

/// Every name, for people.
pub(crate) fn names() -> Vec<String> {
    let markers = markers::NAMES.iter().map(|name| (*name).to_owned());
    let otherwise = Otherwise::ALL.iter().map(|(_, name)| (*name).to_owned());
    Signal::names(FmuRole::Driver).into_iter().chain(markers).chain(otherwise).collect()
}

pub(crate) mod markers;
