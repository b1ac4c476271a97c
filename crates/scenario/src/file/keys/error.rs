//! Keys of errors.

use super::*;
use crate::file::words::Frame;

/// The kinds of error; an `[[error]]` has exactly one of them.
pub const ERROR_KINDS: &[&str] = &[
    "jump",
    "drift",
    "delay",
    "offset",
    "gain",
    "lost",
    "late",
    "displaced",
    "flipped",
    "missed",
    "ghost",
    "appears",
    "leak",
];

const DIRECTIONS: Kind = Kind::Count { min: 1, max: 64 };
const FRAME: Kind = Kind::Word(Frame::WORDS);
const OBSTACLE_DOC: &str = "Id of the obstacle; may be left out if `on` names it.";
const LIMIT: Kind = Kind::Count { min: 1, max: 1_000_000 };

pub(super) static ERROR: Section = Section {
    title: "[[error]]",
    doc: "Something that may be wrong during a segment. \"No error\" is always possible as well.",
    exactly_one: ERROR_KINDS,
    keys: &[
        key("id", Kind::Id, Need::Required, "Name in findings and reports."),
        key(
            "on",
            Kind::Text,
            Need::Required,
            "What is wrong: `ego.localisation`, `ego.steering`, `ego.acceleration`, `ego.actuators`, `ego.obstacles`, `world.friction`, an object sensor as in `sensor.front` (`sensor` if there is one only), `helper.radio`, `helper.tyres`, or the id of an obstacle.",
        ),
        key("jump", Kind::Table(&JUMP), Need::Optional, "The estimate is off at once (S1-21)."),
        key("drift", Kind::Table(&DRIFT), Need::Optional, "The estimate moves away step by step (S1-22)."),
        key("delay", Kind::Table(&DELAY), Need::Optional, "Values arrive late (S1-19, S1-20)."),
        key("offset", Kind::Table(&OFFSET), Need::Optional, "A value is added to the command (S1-26, S1-27)."),
        key("gain", Kind::Table(&GAIN), Need::Optional, "The command is multiplied (S1-26, S1-27)."),
        key("lost", Kind::Table(&LOST), Need::Optional, "Sensors tell nothing (S4-8)."),
        key("late", Kind::Table(&LATE), Need::Optional, "An obstacle is recognised late (S1-19)."),
        key("displaced", Kind::Table(&DISPLACED), Need::Optional, "An obstacle is seen at a wrong place (S1-23)."),
        key(
            "flipped",
            Kind::Table(&FLIPPED),
            Need::Optional,
            "An object on a road is seen with front and rear exchanged.",
        ),
        key("missed", Kind::Table(&MISSED), Need::Optional, "An obstacle is not seen (S1-24)."),
        key("ghost", Kind::Table(&GHOST), Need::Optional, "An obstacle is seen that is not there (S1-25)."),
        key("appears", Kind::Table(&APPEARS), Need::Optional, "An obstacle appears, really (S1-28)."),
        key("leak", Kind::Table(&LEAK), Need::Optional, "A tyre loses air (S2-22)."),
        key("per_run", LIMIT, Need::Optional, "Most segments of a run with this error; no limit if left out."),
        key(
            "probability",
            Kind::Table(&PROBABILITY),
            Need::Optional,
            "How likely it is; if one error says so, all of them do, and `explore` says how likely failures are.",
        ),
    ],
};

static PROBABILITY: Section = Section {
    title: "probability = { .. }",
    doc: "Probabilities per segment: whether the error begins, stays, changes, or ends. What is left over ends it. Errors are \
          independent of each other, and before the first segment there is none. Where limits (`at_once`, `per_run`) or the \
          error itself leave out combinations, these are removed and the rest is divided by its sum.",
    exactly_one: &[],
    keys: &[
        key("begin", not_negative(NUMBER), Need::Required, "That it begins when there is none; from 0 to 1."),
        key("stay", not_negative(NUMBER), Need::Default("0"), "That it stays as it is when there is one."),
        key(
            "change",
            not_negative(NUMBER),
            Need::Default("0"),
            "That another mode follows at once, for example a jump to another side. Not for drifts.",
        ),
        key(
            "grow",
            not_negative(NUMBER),
            Need::Default("0"),
            "Only for drifts: that it increases further, to a side chosen by weight.",
        ),
        key(
            "decay",
            not_negative(NUMBER),
            Need::Optional,
            "Only for drifts: that it decreases; what `stay` and `grow` leave over if left out.",
        ),
        key(
            "modes",
            Kind::Weights,
            Need::Optional,
            "How a beginning or changing error chooses its mode: weights by name, such as `{ \"left 0.1 m\" = 2 }`, with 1 \
             for those not named, or a list in the order of modes without \"none\". All alike if left out.",
        ),
    ],
};

pub(super) static ERRORS: Section = Section {
    title: "[errors]",
    doc: "Limits for all errors together.",
    exactly_one: &[],
    keys: &[
        key("at_once", LIMIT, Need::Optional, "Most errors in the same segment; no limit if left out."),
        key("per_run", LIMIT, Need::Optional, "Most segments of a run with any error; no limit if left out."),
    ],
};

static JUMP: Section = Section {
    title: "jump = { .. }",
    doc: "The estimate is displaced during a segment, to evenly spread directions; with `heading` also turned both ways.",
    exactly_one: &[],
    keys: &[
        key("radius", not_negative_several(LENGTH), Need::Required, "How far the estimate is off."),
        key(
            "directions",
            DIRECTIONS,
            Need::Required,
            "To how many sides, evenly spread from straight ahead; 2 are left and right.",
        ),
        key("heading", not_negative_several(ANGLE), Need::Optional, "How much it is turned, to both sides."),
        key("frame", FRAME, Need::Default("car"), "Directions relative to the car or to the world."),
    ],
};

static DRIFT: Section = Section {
    title: "drift = { .. }",
    doc: "In each segment the error stays, decays, or grows by a step to one of the directions.",
    exactly_one: &[],
    keys: &[
        key("step", not_negative(LENGTH), Need::Required, "How far it moves in a segment."),
        key("limit", not_negative(LENGTH), Need::Required, "How far off it can become."),
        key(
            "directions",
            DIRECTIONS,
            Need::Required,
            "To how many sides, evenly spread from straight ahead; 2 are left and right.",
        ),
        key("decay", not_negative(LENGTH), Need::Optional, "How far it returns in a segment; all at once if left out."),
        key("heading", not_negative(ANGLE), Need::Optional, "How much it turns in a segment, to both sides."),
        key("heading_limit", not_negative(ANGLE), Need::Optional, "How much turned it can become."),
        key("heading_decay", not_negative(ANGLE), Need::Optional, "How much it turns back; all at once if left out."),
        key("frame", FRAME, Need::Default("car"), "Directions relative to the car or to the world."),
    ],
};

static DELAY: Section = Section {
    title: "delay = { .. }",
    doc: "On `ego.localisation` a sensor delay, on `ego.actuators` an actuator delay; on `helper.radio` messages that are sent during \
          the segment arrive so much later.",
    exactly_one: &[],
    keys: &[key("by", not_negative_several(TIME), Need::Required, "How late.")],
};

static OFFSET: Section = Section {
    title: "offset = { .. }",
    doc: "Added to the steering angle or to the acceleration.",
    exactly_one: &[],
    keys: &[key(
        "by",
        not_negative_several(&[Dimension::Angle, Dimension::Acceleration]),
        Need::Required,
        "How much; both signs are tried.",
    )],
};

static GAIN: Section = Section {
    title: "gain = { .. }",
    doc: "Multiplies the steering angle, the acceleration, or on `world.friction` the grip of the tyres (S2-34).",
    exactly_one: &[],
    keys: &[key("by", not_negative_several(NUMBER), Need::Required, "Factors; 1 would be no error.")],
};

static LOST: Section = Section {
    title: "lost = { .. }",
    doc: "On `ego.localisation` with `filter = \"ekf\"`: a sensor behind the filter tells nothing during the segment. On an object \
          sensor, as in `lost = {}`: it sees nothing during the segment. On `helper.radio`: messages that are sent during the segment do \
          not arrive. On `helper.tyres`: the monitor keeps its last reading.",
    exactly_one: &[],
    keys: &[
        key(
            "sensors",
            Kind::Texts,
            Need::Optional,
            "Of `ego.localisation`: `gps`, `compass`, `wheels`, `gyro`; one mode each.",
        ),
        key("from", Kind::Texts, Need::Optional, "Of `helper.radio`: senders, one mode each; all at once if left out."),
    ],
};

static LEAK: Section = Section {
    title: "leak = { .. }",
    doc: "On `helper.tyres`: a tyre loses so much pressure during the segment, evenly; one mode for each wheel and each loss.",
    exactly_one: &[],
    keys: &[
        key("by", not_negative_several(PRESSURE), Need::Required, "Pressure that is lost in a segment."),
        key("wheels", Kind::Texts, Need::Optional, "Of `fl`, `fr`, `rl`, `rr`; all of them if left out."),
        key("stays", Kind::Flag, Need::Default("false"), "The hole stays, and as much is lost in every later segment."),
    ],
};

static LATE: Section = Section {
    title: "late = { .. }",
    doc: "The obstacle is recognised only some time after it entered the sensor's range.",
    exactly_one: &[],
    keys: &[
        key("by", not_negative_several(TIME), Need::Required, "How late."),
        key("obstacle", Kind::Id, Need::Optional, OBSTACLE_DOC),
    ],
};

static DISPLACED: Section = Section {
    title: "displaced = { .. }",
    doc: "The obstacle is seen beside its place.",
    exactly_one: &[],
    keys: &[
        key("by", not_negative(LENGTH), Need::Required, "How far."),
        key("directions", DIRECTIONS, Need::Required, "To how many sides, evenly spread from east."),
        key("obstacle", Kind::Id, Need::Optional, OBSTACLE_DOC),
    ],
};

static FLIPPED: Section = Section {
    title: "flipped = { .. }",
    doc: "The object is seen the wrong way round during the segment: one that stands seems to come towards the car, or to lead it. \
          Only objects on roads have a heading.",
    exactly_one: &[],
    keys: &[key("obstacle", Kind::Id, Need::Optional, OBSTACLE_DOC)],
};

static MISSED: Section = Section {
    title: "missed = { .. }",
    doc: "The obstacle is not seen during the segment.",
    exactly_one: &[],
    keys: &[key("obstacle", Kind::Id, Need::Optional, OBSTACLE_DOC)],
};

static GHOST: Section = Section {
    title: "ghost = { .. }",
    doc: "An obstacle with `ghost = true` is seen during the segment.",
    exactly_one: &[],
    keys: &[key("obstacle", Kind::Id, Need::Optional, OBSTACLE_DOC)],
};

static APPEARS: Section = Section {
    title: "appears = { .. }",
    doc: "An obstacle with `present = false` appears at the beginning of the segment and stays.",
    exactly_one: &[],
    keys: &[key("obstacle", Kind::Id, Need::Optional, OBSTACLE_DOC)],
};
