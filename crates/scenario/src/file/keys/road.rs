//! Keys of scenarios on roads: the map, whom one meets there, and what happens.

use super::*;
use crate::file::words::{Care, JunctionControl, LightColour, ObjectKind, RoadShape, RoadSide, Walking};

const LANE_DOC: &str = "The lane, by road and lane as in `main.1`.";

pub(super) static ROAD: Section = Section {
    title: "[road]",
    doc: "A road network laid by a few numbers, or read from a map file. Lanes are named by road and lane, as in `main.1`, \
          and counted from the right; those of the other direction have a minus.",
    exactly_one: &["kind", "map"],
    keys: &[
        key("kind", Kind::Word(RoadShape::WORDS), Need::Optional, "What is laid."),
        key("map", Kind::File, Need::Optional, "A map file instead, relative to the scenario."),
        key("lanes", Kind::Count { min: 1, max: 16 }, Need::Default("1"), "Lanes of one direction."),
        key("oncoming", Kind::Count { min: 0, max: 16 }, Need::Default("0"), "Lanes of the other one; of `straight`."),
        key("limit", positive(SPEED), Need::Optional, "Speed limit everywhere, instead of the usual ones."),
        key("length", positive(LENGTH), Need::Default("500 m"), "Of `straight`; as `traffic.cars` need it."),
        key(
            "radius",
            positive(LENGTH),
            Need::Default("50 m"),
            "Of `arc`, `ring` (as `traffic.cars` need it) and `roundabout`.",
        ),
        key("angle", any(ANGLE), Need::Default("90 deg"), "Of `arc`, to the left."),
        key("before", positive(LENGTH), Need::Default("500 m"), "Of `lane-drop`: road `before`."),
        key("after", positive(LENGTH), Need::Default("500 m"), "Of `lane-drop`: road `after`."),
        key("merge", positive(LENGTH), Need::Default("250 m"), "Of `on-ramp`: acceleration lane."),
        key("arm", positive(LENGTH), Need::Default("100 m"), "Of `crossing`, `t-junction` and `roundabout`."),
        key("arms", Kind::Count { min: 2, max: 8 }, Need::Default("4"), "Of `roundabout`."),
        key(
            "columns",
            Kind::Count { min: 1, max: 200 },
            Need::Default("3"),
            "Of `city`: blocks from west to east; as `traffic.cars` need it.",
        ),
        key(
            "rows",
            Kind::Count { min: 1, max: 200 },
            Need::Default("3"),
            "Of `city`: blocks from south to north; as `traffic.cars` need it.",
        ),
        key("block", positive(LENGTH), Need::Default("120 m"), "Of `city`: from junction to junction."),
        key(
            "control",
            Kind::Word(JunctionControl::WORDS),
            Need::Optional,
            "Of junctions; lights, and a stop sign at the side road of `t-junction`, if left out.",
        ),
    ],
};

pub(super) static OBJECT: Section = Section {
    title: "[[object]]",
    doc: "Somebody or something on the road, with a name for errors and triggers. Cars, lorries and cyclists drive by \
          themselves; pedestrians walk beside the road and cross it; things stand there.",
    exactly_one: &[],
    keys: &[
        key("id", Kind::Id, Need::Required, "Name in reports, errors and triggers."),
        key("kind", Kind::Word(ObjectKind::WORDS), Need::Default("car"), "What it is."),
        key("lane", Kind::Text, Need::Optional, "The lane, by road and lane as in `main.1`; needed without `poses`."),
        key(
            "station",
            not_negative(LENGTH),
            Need::Optional,
            "Along the lane: front of a vehicle, middle of the others; needed with `lane`.",
        ),
        key(
            "lateral",
            any(LENGTH),
            Need::Default("0 m"),
            "Beside the middle of the lane, to the left; of things, ghosts and who has `acts`.",
        ),
        key("speed", not_negative(SPEED), Need::Default("0 m/s"), "At the beginning; of pedestrians, when they walk."),
        key("to", Kind::Text, Need::Optional, "The lane beside it that a vehicle changes to."),
        key(
            "length",
            at_most(BODY_MAX_M, positive(LENGTH)),
            Need::Default("0.5 m"),
            "Of things and ghosts, along the lane.",
        ),
        key(
            "width",
            at_most(BODY_MAX_M, positive(LENGTH)),
            Need::Default("0.5 m"),
            "Of things and ghosts, across the lane.",
        ),
        key("care", Kind::Word(Care::WORDS), Need::Default("looks"), "How a pedestrian crosses."),
        key(
            "kerb",
            not_negative(LENGTH),
            Need::Default("0.5 m"),
            "Way of a pedestrian from where it stands to where it crosses.",
        ),
        key(
            "waits",
            Kind::Flag,
            Need::Default("false"),
            "A pedestrian or somebody on a predetermined way starts, or a thing appears, only by a trigger or an `appears` \
             error.",
        ),
        key(
            "side",
            Kind::Word(RoadSide::WORDS),
            Need::Default("right"),
            "On which side of the road a pedestrian begins (S2-32).",
        ),
        key(
            "direction",
            Kind::Word(Walking::WORDS),
            Need::Default("forth"),
            "Whether a pedestrian begins along the lane or against it; at the ends of `walk` it turns round (S2-32).",
        ),
        key(
            "crosses",
            Kind::Flag,
            Need::Default("true"),
            "Whether a pedestrian crosses the road, at `station`, or walks to and fro beside it (S2-32).",
        ),
        key(
            "walk",
            positive(LENGTH),
            Need::Optional,
            "Way of a pedestrian beside the road, from `kerb` before `station` on; 1 m beyond `station` if left out.",
        ),
        key(
            "along",
            not_negative(LENGTH),
            Need::Optional,
            "Where on `walk` a pedestrian begins (S2-32); at the end that it comes from if left out.",
        ),
        key(
            "poses",
            Kind::Tables(&POSE),
            Need::Optional,
            "A predetermined way: where it is when. It reacts to nobody; others react to it.",
        ),
        key(
            "acts",
            Kind::Tables(&ACT),
            Need::Optional,
            "What a car, lorry or cyclist does when, as a kinematic bicycle that reacts to nobody (S4-6).",
        ),
        key(
            "fired",
            not_negative(TIME),
            Need::Optional,
            "Who `waits` starts or appears at this time, as if by hand: `run --fire NAME@3.2s`.",
        ),
        key(
            "ghost",
            Kind::Flag,
            Need::Default("false"),
            "A thing that exists only as a false detection, by a `ghost` error.",
        ),
    ],
};

static POSE: Section = Section {
    title: "[[object.poses]]",
    doc: "Its middle at a time. In between it goes straight from one to the next and turns evenly; it begins at the first of them \
          and stays at the last. Times count from the start of the run, or from the trigger of who `waits`.",
    exactly_one: &["x", "lane"],
    keys: &[
        key("at", not_negative(TIME), Need::Required, "When; later than the one before."),
        key("x", any(LENGTH), Need::Optional, "East."),
        key("y", any(LENGTH), Need::Optional, "North; needed with `x`."),
        key("lane", Kind::Text, Need::Optional, "Instead of x and y: a lane of the road network, as in `main.1`."),
        key("station", not_negative(LENGTH), Need::Optional, "Along the lane; needed with `lane`."),
        key("lateral", any(LENGTH), Need::Default("0 m"), "Beside the middle of the lane, to the left."),
        key(
            "heading",
            any(ANGLE),
            Need::Optional,
            "Direction of its front; if left out that of the way to the next one, or of the lane.",
        ),
    ],
};

static ACT: Section = Section {
    title: "[[object.acts]]",
    doc: "From this time on, until the next one. Its wheels are 0.6 of its length apart; it never rolls backwards.",
    exactly_one: &[],
    keys: &[
        key("at", not_negative(TIME), Need::Required, "When; later than the one before."),
        key("accel", any(ACCELERATION), Need::Optional, "Along its heading; as before if left out, at first 0."),
        key("steering", any(ANGLE), Need::Optional, "Of its front wheels; as before if left out, at first 0."),
    ],
};

pub(super) static TRAFFIC: Section = Section {
    title: "[traffic]",
    doc: "Cars without names around the car under test: a density, or a number of cars; and flows of cars that come in later and \
          go where they like or where they want to. `cars` and `per_km` together lay a `straight`, `ring` or `city` whose size is \
          left out as large as it takes.",
    exactly_one: &[],
    keys: &[
        key(
            "per_km",
            at_most(DENSITY_MAX, not_negative(NUMBER)),
            Need::Default("0"),
            "Cars on each kilometre of lane at the beginning.",
        ),
        key(
            "cars",
            Kind::Count { min: 0, max: 1_000_000 },
            Need::Optional,
            "So many cars at the beginning, spread evenly over all lanes.",
        ),
        key("speed", not_negative(SPEED), Need::Default("100 km/h"), "Their speed then, at most the limit."),
        key(
            "clear",
            not_negative(LENGTH),
            Need::Default("40 m"),
            "None of them begin this near to the car and to objects.",
        ),
        key(
            "seed",
            Kind::Count { min: 0, max: 1_000_000 },
            Need::Default("0"),
            "Of their chance: who comes and turns where.",
        ),
        key("flow", Kind::Tables(&FLOW), Need::Optional, "Cars that come in later."),
    ],
};

static FLOW: Section = Section {
    title: "[[traffic.flow]]",
    doc: "Cars that come in at the beginning of a lane.",
    exactly_one: &[],
    keys: &[
        key("lane", Kind::Text, Need::Required, LANE_DOC),
        key("per_hour", at_most(FLOW_MAX, positive(NUMBER)), Need::Required, "How many, on average."),
        key("speed", not_negative(SPEED), Need::Required, "Their speed, if there is room."),
        key("to", Kind::Text, Need::Optional, "The lane where they want to go; they go on as they like if left out."),
        key("kind", Kind::Word(ObjectKind::WORDS), Need::Default("car"), "What they are: `car`, `lorry` or `cyclist`."),
    ],
};

pub(super) static TRIGGER: Section = Section {
    title: "[[trigger]]",
    doc: "Something happens once: a pedestrian starts, a thing appears, a vehicle brakes, a light changes. Without `at`, `reaches`, \
          `arrives`, `faster` and `slower` only a hand (`fired`) or an `appears` error on the trigger makes it happen.",
    exactly_one: &["object", "light"],
    keys: &[
        key("id", Kind::Id, Need::Required, "Name in errors."),
        key("object", Kind::Id, Need::Optional, "Who starts, appears or brakes."),
        key("light", Kind::Text, Need::Optional, "The light at the end of this lane changes instead."),
        key("colour", Kind::Word(LightColour::WORDS), Need::Default("red"), "What the light shows then."),
        key("at", positive(TIME), Need::Optional, "At this time."),
        key(
            "reaches",
            not_negative(LENGTH),
            Need::Optional,
            "When the car's front is at this station of the lane of the object, or of the light.",
        ),
        key(
            "arrives",
            positive(TIME),
            Need::Optional,
            "When the car would be at the object's station, or at the line of the light, within this time.",
        ),
        key("faster", positive(SPEED), Need::Optional, "When the car is faster than this."),
        key("slower", positive(SPEED), Need::Optional, "When the car is slower than this."),
        key("brake", positive(ACCELERATION), Need::Default("6 m/s^2"), "How hard a vehicle brakes."),
        key("for", positive(TIME), Need::Default("3 s"), "For how long."),
        key(
            "fired",
            not_negative(TIME),
            Need::Optional,
            "At this time as well, as if by hand: `run --fire NAME@3.2s`.",
        ),
    ],
};

pub(super) static SENSOR: Section = Section {
    title: "sensor = { .. } or [[ego.sensor]]",
    doc: "What sees others on roads, by rays that everything stops: only what is hit is seen. With several sensors the tracker \
          believes in all that any of them sees, and makes up for differences in latency; `hits` is the largest of them.",
    exactly_one: &[],
    keys: &[
        key("id", Kind::Id, Need::Optional, "Its name in errors, as in `sensor.front`; needed with several."),
        key("range", at_most(RANGE_MAX_M, positive(LENGTH)), Need::Default("120 m"), "How far it sees."),
        key("view", positive(ANGLE), Need::Default("360 deg"), "Width of its field of view."),
        key(
            "rays",
            Kind::Count { min: 1, max: 7200 },
            Need::Default("720"),
            "What fits between two of them is not seen.",
        ),
        key("cycle", positive(TIME), Need::Default("100 ms"), "It looks this often."),
        key("ahead", at_most(BODY_MAX_M, any(LENGTH)), Need::Default("1.5 m"), "Where it sits, from the rear axle."),
        key(
            "aside",
            at_most(BODY_MAX_M, any(LENGTH)),
            Need::Default("0 m"),
            "Where it sits, to the left of the middle of the car.",
        ),
        key("yaw", any(ANGLE), Need::Default("0 deg"), "Where it looks, to the left of straight ahead."),
        key(
            "share",
            not_negative(NUMBER),
            Need::Default("0.3"),
            "Share of an object in sight below which it is not recognised.",
        ),
        key("hits", Kind::Count { min: 1, max: 20 }, Need::Default("2"), "Looks after which an object is believed."),
        key("noise", not_negative(LENGTH), Need::Default("0 m"), "Standard deviation of a position."),
        key("heading_noise", not_negative(ANGLE), Need::Default("0 deg"), "Standard deviation of a heading."),
        key(
            "model",
            Kind::Word(motion::NOISES),
            Need::Optional,
            "One of the three ready noise models instead of `noise` and `heading_noise` (S2-12).",
        ),
        key("latency", not_negative(TIME), Need::Default("0 s"), "Time between seeing and telling."),
        key(
            "sure",
            at_most(RANGE_MAX_M, not_negative(LENGTH)),
            Need::Optional,
            "Up to here all that is in sight is detected, from here to `range` less and less; all of it if left out.",
        ),
        key(
            "far_rate",
            not_negative(NUMBER),
            Need::Default("0"),
            "Share of looks that detect at `range`; with `sure`.",
        ),
        key("flips", not_negative(NUMBER), Need::Default("0"), "Probability that a look has front and rear exchanged."),
        key(
            "ghosts",
            not_negative(NUMBER),
            Need::Default("0"),
            "Probability that a look has somebody who is not there.",
        ),
    ],
};
