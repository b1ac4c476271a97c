//! Keys of the world.

use super::*;

const YES: Need = Need::Default("true");

pub(super) static WORLD: Section = Section {
    title: "[world]",
    doc: "Everything around the car. x points east, y points north, headings turn counter-clockwise from east.",
    exactly_one: &[],
    keys: &[
        key("step", positive(TIME), Need::Default("10 ms"), "Base cycle: the only clock there is."),
        key(
            "wall",
            Kind::Tables(&WALL),
            Need::Optional,
            "Lines that must not be touched. Walls and obstacles have at most 20 000 points and 10 000 km of edges together.",
        ),
        key("obstacle", Kind::Tables(&OBSTACLE), Need::Optional, "Things that must not be touched."),
        key(
            "friction",
            positive(NUMBER),
            Need::Optional,
            "Friction coefficient everywhere but in zones; 0.9, dry asphalt, if left out. For tyres.",
        ),
        key(
            "time_of_day",
            not_negative(TIME),
            Need::Optional,
            "Since midnight, up to 1440 min: `\"480 min\"` is 8 a.m. (S3-11). Shortens `ego.sensor.range` and \
             `ego.sign_range` at night, and most in the low sun; day if left out.",
        ),
        key(
            "clouds",
            not_negative(NUMBER),
            Need::Default("0"),
            "From 0, a clear sky, to 1, overcast, which covers a low sun (S3-6).",
        ),
        key(
            "tiles",
            Kind::File,
            Need::Optional,
            "Kerbs, fences and houses beside roads, as `convert` draws them from barriers of a map or from a picture. They must \
             not be touched; only those around the car are held in memory.",
        ),
        key(
            "tiles_hide",
            Kind::Flag,
            Need::Default("true"),
            "Whether sensors do not see what is behind them; `false` for kerbs.",
        ),
        key("zone", Kind::Tables(&motion::ZONE), Need::Optional, "Parts with a property of their own."),
    ],
};

static WALL: Section = Section {
    title: "[[world.wall]]",
    doc: "A line through two or more points. Walls are in the planner's map.",
    exactly_one: &[],
    keys: &[
        key("id", Kind::Id, Need::Optional, "Name in reports; `wall-1`, `wall-2` .. if left out."),
        key("line", Kind::Points, Need::Required, "Its points: `[[\"x\", \"y\"], ..]`."),
    ],
};

static OBSTACLE: Section = Section {
    title: "[[world.obstacle]]",
    doc: "A polygon or a box.",
    exactly_one: &["polygon", "box"],
    keys: &[
        key("id", Kind::Id, Need::Required, "Name in reports and in errors."),
        key("polygon", Kind::Points, Need::Optional, "Its corners in order; closed by itself."),
        key("box", Kind::Table(&BOX), Need::Optional, "A rectangle by its centre."),
        key("known", Kind::Flag, YES, "In the planner's map from the start; `false`: must be sensed."),
        key("present", Kind::Flag, YES, "There from the start; `false`: only an `appears` error makes it appear."),
        key("ghost", Kind::Flag, Need::Default("false"), "Exists only as a false detection, by a `ghost` error."),
    ],
};

static BOX: Section = Section {
    title: "box = { .. }",
    doc: "A rectangle.",
    exactly_one: &[],
    keys: &[
        key("x", any(LENGTH), Need::Required, "Centre."),
        key("y", any(LENGTH), Need::Required, "Centre."),
        key("length", positive(LENGTH), Need::Required, "Size along its heading."),
        key("width", positive(LENGTH), Need::Required, "Size across its heading."),
        key("heading", any(ANGLE), Need::Default("0 deg"), "Which way its length points."),
    ],
};
