//! Keys of how the car moves, of the ground, and of the sensors of its own motion.

use super::*;

pub(super) const VEHICLES: &[&str] = &["compact", "estate", "van", "truck"];
pub(super) const TRAILERS: &[&str] = &["caravan", "semi"];
pub(super) const TYRES: &[&str] = &["brush", "linear"];
pub(super) const NOISES: &[&str] = &["white", "wandering", "situational"];

/// What sensors of the own motion measure.
const MEASURED: &[Dimension] = &[Dimension::Length, Dimension::Angle, Dimension::Speed, Dimension::AngularSpeed];

pub(super) static TRAILER: Section = Section {
    title: "trailer = { .. }",
    doc: "A built-in trailer with some of its values changed.",
    exactly_one: &[],
    keys: &[
        key("base", Kind::Word(TRAILERS), Need::Default("semi"), "The trailer whose other values are kept."),
        key(
            "hitch_behind",
            at_most(BODY_MAX_M, any(LENGTH)),
            Need::Optional,
            "Rear axle of the car back to the hitch; negative is ahead.",
        ),
        key(
            "hitch_to_axle",
            at_most(BODY_MAX_M, positive(LENGTH)),
            Need::Optional,
            "Hitch back to the axle of the trailer.",
        ),
        key("front", at_most(BODY_MAX_M, positive(LENGTH)), Need::Optional, "Axle of the trailer to its front."),
        key("rear", at_most(BODY_MAX_M, positive(LENGTH)), Need::Optional, "Axle of the trailer to its rear."),
        key("width", at_most(BODY_MAX_M, positive(LENGTH)), Need::Optional, "Its width."),
        key("corner_radius", at_most(BODY_MAX_M, not_negative(LENGTH)), Need::Optional, "Rounding of its outline."),
        key("hitch_max", positive(ANGLE), Need::Optional, "Largest angle between both: there they touch."),
    ],
};

pub(super) static ZONE: Section = Section {
    title: "[[world.zone]]",
    doc: "A part of the world with a property of its own: `friction`, `gps_noise` or `gps_lost`. Where zones of friction overlap, \
          the one that comes last counts; zones of the map come first.",
    exactly_one: &["polygon", "lane"],
    keys: &[
        key("id", Kind::Id, Need::Optional, "Its name; `zone-1`, `zone-2` .. if left out."),
        key("polygon", Kind::Points, Need::Optional, "Its corners in order; closed by itself."),
        key("lane", Kind::Text, Need::Optional, "Instead: a stretch of a lane, as in `main.1`."),
        key("station", not_negative(LENGTH), Need::Default("0 m"), "Where the stretch begins."),
        key("length", positive(LENGTH), Need::Optional, "How long it is; to the end of the lane if left out."),
        key("friction", positive(NUMBER), Need::Optional, "Friction coefficient: 0.9 dry, 0.5 wet, 0.1 ice (S2-34)."),
        key("gps_noise", positive(NUMBER), Need::Optional, "Times the usual noise of satellites: an urban canyon."),
        key("gps_lost", Kind::Flag, Need::Default("false"), "No satellites: a tunnel."),
        key("from", not_negative(TIME), Need::Optional, "Slippery from this time on; from the beginning if left out."),
        key("until", positive(TIME), Need::Optional, "Slippery until this time; for ever if left out."),
    ],
};

/// What plain sensors can measure: also friction, which has no unit.
const PLAINLY: &[Dimension] = &[Dimension::Number, Dimension::Length, Dimension::Angle, Dimension::Speed];

pub(super) static PLAIN: Section = Section {
    title: "plain = { .. }",
    doc: "Plain sensors on roads (S2-35, S2-14). A driver from outside is told their readings as `plain`; the built-in one does \
          not listen to them. Each tells the truth unless it has noise.",
    exactly_one: &[],
    keys: &[
        key(
            "noise",
            Kind::Word(NOISES),
            Need::Optional,
            "One of the three ready noise models for all of them (S2-12); none if left out.",
        ),
        key("weather", Kind::Table(&GAUGE), Need::Optional, "Friction coefficient of the road below the car."),
        key("location", Kind::Table(&GAUGE), Need::Optional, "East and north of the rear axle."),
        key("compass", Kind::Table(&GAUGE), Need::Optional, "Heading."),
        key("speed", Kind::Table(&GAUGE), Need::Optional, "Speed, negative in reverse."),
        key("steering", Kind::Table(&GAUGE), Need::Optional, "Angle of the front wheels."),
        key("distance_to_right", Kind::Table(&GAUGE), Need::Optional, "From the right side to the edge of the road."),
        key(
            "lane_markers",
            Kind::Table(&GAUGE),
            Need::Optional,
            "From the corners to the markers of the lane: front left, front right, rear left, rear right.",
        ),
    ],
};

static GAUGE: Section = Section {
    title: "weather = { .. }, location = { .. } ..",
    doc: "One plain sensor. Sizes are numbers of `weather`, angles of `compass` and `steering`, speeds of `speed` and lengths of \
          the others; what is left out is that of `noise`.",
    exactly_one: &[],
    keys: &[
        key("cycle", positive(TIME), Need::Optional, "It reads this often; every base cycle if left out."),
        key(
            "resolution",
            quantity(PLAINLY, Sign::NotNegative, Amount::One),
            Need::Optional,
            "Readings are whole multiples of this; any number if left out.",
        ),
        key("white", quantity(PLAINLY, Sign::NotNegative, Amount::One), Need::Optional, "Deviation of the white part."),
        key(
            "wander",
            quantity(PLAINLY, Sign::NotNegative, Amount::One),
            Need::Optional,
            "Deviation of the part that remembers.",
        ),
        key("wander_time", positive(TIME), Need::Optional, "How long it remembers (Gauss-Markov)."),
        key("bias", quantity(PLAINLY, Sign::Any, Amount::One), Need::Optional, "Always added."),
        key("situational", Kind::Flag, Need::Optional, "Zones of bad reception scale the noise."),
    ],
};

pub(super) static SENSOR: Section = Section {
    title: "gps = { .. }, compass = { .. }, wheels = { .. }, gyro = { .. }",
    doc: "A sensor of the own motion: what it tells is the truth and its noise. Sizes are lengths of `gps`, angles of `compass`, \
          speeds of `wheels` and angular speeds of `gyro`; what is left out is that of `noise`.",
    exactly_one: &[],
    keys: &[
        key(
            "cycle",
            positive(TIME),
            Need::Optional,
            "It reads this often; `gps` 200 ms, others every base cycle if left out.",
        ),
        key("present", Kind::Flag, Need::Default("true"), "Whether the car has it."),
        key(
            "white",
            quantity(MEASURED, Sign::NotNegative, Amount::One),
            Need::Optional,
            "Deviation of the white part.",
        ),
        key(
            "wander",
            quantity(MEASURED, Sign::NotNegative, Amount::One),
            Need::Optional,
            "Deviation of the part that remembers.",
        ),
        key("wander_time", positive(TIME), Need::Optional, "How long it remembers (Gauss-Markov)."),
        key("bias", quantity(MEASURED, Sign::Any, Amount::One), Need::Optional, "Always added."),
        key("situational", Kind::Flag, Need::Optional, "Zones scale the noise; of `gps`."),
        key(
            "assumed",
            quantity(MEASURED, Sign::Positive, Amount::One),
            Need::Optional,
            "Deviation that the filter counts with; the right one if left out.",
        ),
    ],
};
