//! Keys of scenarios on roads: the map, whom one meets there, and what happens.

use super::*;
use crate::file::words::{Care, JunctionControl, LightColour, ObjectKind, RoadShape};

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
          themselves; pedestrians cross the road from right to left; things stand there.",
    exactly_one: &[],
    keys: &[
        key("id", Kind::Id, Need::Required, "Name in reports, errors and triggers."),
        key("kind", Kind::Word(ObjectKind::WORDS), Need::Default("car"), "What it is."),
        key("lane", Kind::Text, Need::Required, LANE_DOC),
        key(
            "station",
            not_negative(LENGTH),
            Need::Required,
            "Along the lane: front of a vehicle, middle of the others.",
        ),
        key(
            "lateral",
            any(LENGTH),
            Need::Default("0 m"),
            "Beside the middle of the lane, to the left; of things and ghosts.",
        ),
        key("speed", not_negative(SPEED), Need::Default("0 m/s"), "At the beginning; of pedestrians, when they walk."),
        key("to", Kind::Text, Need::Optional, "The lane beside it that a vehicle changes to."),
        key("length", positive(LENGTH), Need::Default("0.5 m"), "Of things and ghosts, along the lane."),
        key("width", positive(LENGTH), Need::Default("0.5 m"), "Of things and ghosts, across the lane."),
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
            "A pedestrian starts, or a thing appears, only by a trigger or an `appears` error.",
        ),
        key(
            "ghost",
            Kind::Flag,
            Need::Default("false"),
            "A thing that exists only as a false detection, by a `ghost` error.",
        ),
    ],
};

pub(super) static TRAFFIC: Section = Section {
    title: "[traffic]",
    doc: "Cars without names around the car under test: a density, or a number of cars; and flows of cars that come in later and \
          go where they like or where they want to. `cars` and `per_km` together lay a `straight`, `ring` or `city` whose size is \
          left out as large as it takes.",
    exactly_one: &[],
    keys: &[
        key("per_km", not_negative(NUMBER), Need::Default("0"), "Cars on each kilometre of lane at the beginning."),
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
        key("per_hour", positive(NUMBER), Need::Required, "How many, on average."),
        key("speed", not_negative(SPEED), Need::Required, "Their speed, if there is room."),
        key("to", Kind::Text, Need::Optional, "The lane where they want to go; they go on as they like if left out."),
        key("kind", Kind::Word(ObjectKind::WORDS), Need::Default("car"), "What they are: `car`, `lorry` or `cyclist`."),
    ],
};

pub(super) static TRIGGER: Section = Section {
    title: "[[trigger]]",
    doc: "Something happens once: a pedestrian starts, a thing appears, a vehicle brakes, a light changes. Without `at`, `reaches`, \
          `arrives`, `faster` and `slower` only an `appears` error on the trigger makes it happen.",
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
    ],
};

pub(super) static SENSOR: Section = Section {
    title: "sensor = { .. }",
    doc: "What sees others on roads, by rays that everything stops: only what is hit is seen.",
    exactly_one: &[],
    keys: &[
        key("range", positive(LENGTH), Need::Default("120 m"), "How far it sees."),
        key("view", positive(ANGLE), Need::Default("360 deg"), "Width of its field of view."),
        key(
            "rays",
            Kind::Count { min: 1, max: 7200 },
            Need::Default("720"),
            "What fits between two of them is not seen.",
        ),
        key("cycle", positive(TIME), Need::Default("100 ms"), "It looks this often."),
        key("ahead", any(LENGTH), Need::Default("1.5 m"), "Where it sits, from the rear axle."),
        key("yaw", any(ANGLE), Need::Default("0 deg"), "Where it looks, to the left of straight ahead."),
        key(
            "share",
            not_negative(NUMBER),
            Need::Default("0.3"),
            "Share of an object in sight below which it is not recognised.",
        ),
        key("hits", Kind::Count { min: 1, max: 20 }, Need::Default("2"), "Looks after which an object is believed."),
        key("noise", not_negative(LENGTH), Need::Default("0 m"), "Standard deviation of a position."),
        key("latency", not_negative(TIME), Need::Default("0 s"), "Time between seeing and telling."),
    ],
};
