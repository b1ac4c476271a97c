//! Keys of the car under test.

use super::*;
use crate::file::words::{DriverKind, Gear, HiddenMemory, Manner, SteeringLaw, VehicleKind};

const DRIVERS: &[&str] = DriverKind::WORDS;

const ON_LANE: &str = "Instead of x, y and heading: a lane of the road network, as in `main.1`.";
const STATION: &str = "Along the lane; needed with `lane`.";

const VEHICLES: &[&str] = motion::VEHICLES;

pub(super) static EGO: Section = Section {
    title: "[ego]",
    doc: "The car and its software.",
    exactly_one: &[],
    keys: &[
        key("vehicle", Kind::WordOrTable(VEHICLES, &VEHICLE), Need::Default("compact"), "The car."),
        key("start", Kind::Table(&START), Need::Required, "Where it starts; lists and ranges give several starts."),
        key(
            "goal",
            Kind::Table(&GOAL),
            Need::Required,
            "Where it shall stop; at most 2 km away, unless there is a `path` or a road.",
        ),
        key(
            "driver",
            Kind::WordFileOrTable(DRIVERS, &DRIVER),
            Need::Default("path-follower"),
            "The software under test.",
        ),
        key(
            "actuator",
            Kind::Table(&PART),
            Need::Optional,
            "An FMU between command and car, instead of lags and limits.",
        ),
        key("plant", Kind::Table(&PART), Need::Optional, "An FMU that moves the car, instead of the built-in model."),
        key(
            "safety_distance",
            at_most(BODY_MAX_M, not_negative(LENGTH)),
            Need::Default("0.2 m"),
            "Distance the planner keeps.",
        ),
        key(
            "path",
            Kind::Tables(&ARC),
            Need::Optional,
            "A fixed path from the start instead of planning, at most 20 km long.",
        ),
        key("localisation", Kind::Table(&LOCALISATION), Need::Optional, "The position estimate."),
        key("sensor", Kind::TableOrTables(&road::SENSOR), Need::Optional, "What sees others on roads."),
        key("plain", Kind::Table(&motion::PLAIN), Need::Optional, "Plain sensors that a driver may listen to (S2-35)."),
        key("obstacle_sensor", Kind::Table(&OBSTACLE_SENSOR), Need::Optional, "What sees unknown obstacles."),
        key(
            "sign_range",
            at_most(RANGE_MAX_M, positive(LENGTH)),
            Need::Optional,
            "From so far before their line stop signs and lights are seen by day, less by time of day as `sensor.range`; until then \
             the driver comes up as if there were none. Known from the map if left out (S3-17).",
        ),
    ],
};

static VEHICLE: Section = Section {
    title: "vehicle = { .. }",
    doc: "A built-in vehicle with some of its values changed.",
    exactly_one: &[],
    keys: &[
        key("base", Kind::Word(VEHICLES), Need::Default("compact"), "The vehicle whose other values are kept."),
        key(
            "model",
            Kind::Word(VehicleKind::WORDS),
            Need::Default("car"),
            "What moves it; those with slip or a trailer on roads.",
        ),
        key("length", at_most(BODY_MAX_M, positive(LENGTH)), Need::Optional, "Bumper to bumper."),
        key("width", at_most(BODY_MAX_M, positive(LENGTH)), Need::Optional, "Without mirrors."),
        key("wheelbase", at_most(BODY_MAX_M, positive(LENGTH)), Need::Optional, "Between the axles."),
        key("front_overhang", at_most(BODY_MAX_M, not_negative(LENGTH)), Need::Optional, "Front axle to front bumper."),
        key("rear_overhang", at_most(BODY_MAX_M, not_negative(LENGTH)), Need::Optional, "Rear axle to rear bumper."),
        key("corner_radius", at_most(BODY_MAX_M, not_negative(LENGTH)), Need::Optional, "Rounding of the outline."),
        key("steering_max", positive(ANGLE), Need::Optional, "Largest steering angle of the front wheels."),
        key("steering_rate_max", positive(ANGULAR_SPEED), Need::Optional, "Fastest change of the steering angle."),
        key("steering_lag", not_negative(TIME), Need::Optional, "Time constant of the steering."),
        key("accel_max", positive(ACCELERATION), Need::Optional, "Strongest acceleration."),
        key("brake_max", positive(ACCELERATION), Need::Optional, "Strongest braking."),
        key("accel_lag", not_negative(TIME), Need::Optional, "Time constant of drive and brake."),
        key("slip_gain", positive(NUMBER), Need::Optional, "Part of the steering that the tyres deliver, up to 1."),
        key("gear_change", not_negative(TIME), Need::Optional, "Standstill needed to change the gear."),
        key("mass", positive(MASS), Need::Optional, "With load; of `single-track`, as all that follow."),
        key("yaw_inertia", positive(INERTIA), Need::Optional, "About the vertical axis."),
        key("centre_to_front", at_most(BODY_MAX_M, positive(LENGTH)), Need::Optional, "Centre of mass to front axle."),
        key(
            "centre_height",
            at_most(BODY_MAX_M, not_negative(LENGTH)),
            Need::Optional,
            "Of the centre of mass; 0 shifts no load.",
        ),
        key("front_stiffness", positive(STIFFNESS), Need::Optional, "Cornering stiffness of both front tyres."),
        key("rear_stiffness", positive(STIFFNESS), Need::Optional, "Cornering stiffness of both rear tyres."),
        key("front_drive", not_negative(NUMBER), Need::Optional, "Share of the front axle in the drive, up to 1."),
        key("front_brake", not_negative(NUMBER), Need::Optional, "Share of the front axle in the brakes, up to 1."),
        key("tyre", Kind::Word(motion::TYRES), Need::Optional, "How side force grows with slip; `brush` if left out."),
        key("door", Kind::Table(&DOOR), Need::Optional, "Its front doors, for `ego.door_room` (S2-53)."),
        key(
            "trailer",
            Kind::WordOrTable(motion::TRAILERS, &motion::TRAILER),
            Need::Optional,
            "Of `trailer`; `semi` behind a truck and `caravan` behind others if left out.",
        ),
    ],
};

static DOOR: Section = Section {
    title: "door = { .. }",
    doc: "The front doors, one on each side, hinged in front.",
    exactly_one: &[],
    keys: &[
        key(
            "hinge",
            at_most(BODY_MAX_M, any(LENGTH)),
            Need::Optional,
            "Ahead of the rear axle; 0.6 m behind the front axle if left out.",
        ),
        key(
            "length",
            at_most(BODY_MAX_M, positive(LENGTH)),
            Need::Optional,
            "From the hinge to the edge that opens; 1.1 m if left out.",
        ),
    ],
};

static START: Section = Section {
    title: "start = { .. }",
    doc: "Pose of the middle of the rear axle, by x and y or by its place on a lane. Each value but lane and station may be a \
          list or a range (S1-52).",
    exactly_one: &["x", "lane"],
    keys: &[
        key("x", any_several(LENGTH), Need::Optional, "East."),
        key("y", any_several(LENGTH), Need::Optional, "North; needed with `x`."),
        key("lane", Kind::Text, Need::Optional, ON_LANE),
        key("station", not_negative(LENGTH), Need::Optional, STATION),
        key("heading", any_several(ANGLE), Need::Default("0 deg"), "Direction of its front."),
        key("speed", any_several(SPEED), Need::Default("0 m/s"), "Negative is backwards."),
    ],
};

static GOAL: Section = Section {
    title: "goal = { .. }",
    doc: "Pose of the middle of the rear axle, by x and y or by its place on a lane.",
    exactly_one: &["x", "lane"],
    keys: &[
        key("x", any(LENGTH), Need::Optional, "East."),
        key("y", any(LENGTH), Need::Optional, "North; needed with `x`."),
        key("lane", Kind::Text, Need::Optional, ON_LANE),
        key("station", not_negative(LENGTH), Need::Optional, STATION),
        key("heading", any(ANGLE), Need::Default("0 deg"), "Direction of its front."),
        key("gear", Kind::Word(Gear::WORDS), Need::Optional, "Gear in which it arrives."),
        key("tolerance", positive(LENGTH), Need::Default("0.3 m"), "How far off still counts as arrived."),
        key("heading_tolerance", positive(ANGLE), Need::Default("10 deg"), "How much turned still counts as arrived."),
    ],
};

// Keys of everything that comes from outside.
const INPUTS: Key = key(
    "inputs",
    Kind::Texts,
    Need::Optional,
    "Where inputs of an FMU or a model come from, as in `[\"e = path.lateral\"]`.",
);
const OUTPUTS: Key =
    key("outputs", Kind::Texts, Need::Optional, "What outputs of an FMU or a model are, as in `[\"delta = steer\"]`.");
const PARAMETERS: Key = key(
    "parameters",
    Kind::Texts,
    Need::Optional,
    "Numbers an FMU or a model is given at the start, as in `[\"K_p = 1.5\"]`.",
);
const REMEMBERED: Key = key(
    "key",
    Kind::Texts,
    Need::Optional,
    "What an FMU or a model remembers, with cell sizes, as in `[\"integrator = 0.05\"]`.",
);
const MEMORYLESS: Key = key(
    "memoryless",
    Kind::Flag,
    Need::Default("false"),
    "Says of an FMU that it remembers nothing but what it gives.",
);
const DEADLINE: Key = key(
    "deadline",
    positive(TIME),
    Need::Default("10 s"),
    "Longest wait for the answer to one step; later is a finding.",
);
const LATENCY_BUDGET: Key =
    key("latency_budget", positive(TIME), Need::Default("100 ms"), "Time for one step; slower ones are counted.");
const INSTANCES: Key =
    key("instances", Kind::Count { min: 1, max: 64 }, Need::Optional, "Copies side by side; one per core if left out.");
const MEMORY_MAX: Key =
    key("memory", positive(MEMORY), Need::Default("2 GB"), "Most main memory of one copy; more is a finding.");

static DRIVER: Section = Section {
    title: "driver = { .. }",
    doc: "A built-in driver with some of its values changed, or a driver from outside. One of `kind`, `file`, `command` and \
          `zmq` says which; the keys from `lateral_gain` to `replan` belong to built-in ones, those from `deadline` on to \
          drivers from outside.",
    exactly_one: &[],
    keys: &[
        key("kind", Kind::Word(DRIVERS), Need::Optional, "A built-in one."),
        key("manner", Kind::Word(Manner::WORDS), Need::Default("calm"), "How `road` drives."),
        key("steering", Kind::Word(SteeringLaw::WORDS), Need::Default("lqr"), "How `road` follows its way."),
        key(
            "file",
            Kind::File,
            Need::Optional,
            "A driver from outside: a `.py`, `.wasm` or `.fmu` file, or a program; or a component model, an `.emam` file.",
        ),
        key("command", Kind::Texts, Need::Optional, "A command that starts one; it runs in the folder of this file."),
        key("zmq", Kind::Text, Need::Optional, "Address of one that is running already, as in `tcp://127.0.0.1:5555`."),
        key("lateral_gain", positive(PATH_GAIN), Need::Optional, "Curvature per metre beside the path."),
        key("heading_gain", positive(CURVATURE), Need::Optional, "Curvature per radian off the path."),
        key("reverse_lateral_gain", positive(PATH_GAIN), Need::Optional, "Backwards; as forwards if left out."),
        key("reverse_heading_gain", positive(CURVATURE), Need::Optional, "Backwards; as forwards if left out."),
        key("cruise", positive(SPEED), Need::Optional, "Speed on a free path."),
        key("comfort_decel", positive(ACCELERATION), Need::Optional, "Deceleration it plans with."),
        key("replan", positive(TIME), Need::Optional, "Plans again this often; never if left out."),
        key("cycle", positive(TIME), Need::Optional, "It decides this often; every base cycle if left out."),
        DEADLINE,
        LATENCY_BUDGET,
        INSTANCES,
        MEMORY_MAX,
        key(
            "hidden",
            Kind::Word(HiddenMemory::WORDS),
            Need::Default("refuse"),
            "Whether states may merge whose drivers remember things that they do not report.",
        ),
        key(
            "double",
            not_negative(NUMBER),
            Need::Default("0.02"),
            "Share of segments that are run twice and compared: 1 is all, 0 is none; in between at least 200, if there are that many.",
        ),
        INPUTS,
        OUTPUTS,
        PARAMETERS,
        REMEMBERED,
        MEMORYLESS,
        COMPONENT,
        key(
            "noise",
            Kind::Texts,
            Need::Optional,
            "Noise of the sensors behind inputs of a model: `white`, `wandering` or `situational`, as in `[\"v = white\"]` (S2-12).",
        ),
        key(
            "actuators",
            Kind::Tables(&BEHIND),
            Need::Optional,
            "Models between the driver and the car, one after the other; together with a driver that is a model they are one large model (S2-39). Behind a built-in driver they are told its commands and the car.",
        ),
    ],
};

const COMPONENT: Key = key(
    "component",
    Kind::Text,
    Need::Optional,
    "Full name of the component of a model; the one that is called like its file if left out.",
);

static BEHIND: Section = Section {
    title: "actuators = [{ .. }]",
    doc: "A component model behind the controller. Its inputs are outputs and inputs of the models before it, and what the \
          driver is told, by name; its outputs take the place of commands of the same name (S2-37).",
    exactly_one: &[],
    keys: &[
        key("file", Kind::File, Need::Required, "An `.emam` file."),
        COMPONENT,
        INPUTS,
        OUTPUTS,
        PARAMETERS,
        REMEMBERED,
    ],
};

static PART: Section = Section {
    title: "actuator = { .. }, plant = { .. }",
    doc: "A part of the car from outside. An actuator gets commands and gives what wheels and drive make of them; a plant gets \
          commands and gives where the car is.",
    exactly_one: &[],
    keys: &[
        key("file", Kind::File, Need::Required, "A `.fmu` file."),
        INPUTS,
        OUTPUTS,
        PARAMETERS,
        REMEMBERED,
        MEMORYLESS,
        DEADLINE,
        LATENCY_BUDGET,
        INSTANCES,
        MEMORY_MAX,
        key(
            "hidden",
            Kind::Word(HiddenMemory::WORDS),
            Need::Default("refuse"),
            "Whether states may merge whose parts remember things that they do not report.",
        ),
        key(
            "double",
            not_negative(NUMBER),
            Need::Default("0.02"),
            "Share of segments that are run twice and compared: 1 is all, 0 is none.",
        ),
    ],
};

static ARC: Section = Section {
    title: "path = [{ .. }]",
    doc: "A piece of constant curvature.",
    exactly_one: &[],
    keys: &[
        key("curvature", any(CURVATURE), Need::Default("0 1/m"), "Positive turns left when driven forwards."),
        key("length", any(LENGTH), Need::Required, "Negative is driven backwards."),
    ],
};

static LOCALISATION: Section = Section {
    title: "localisation = { .. }",
    doc: "The position estimate.",
    exactly_one: &[],
    keys: &[
        key("cycle", positive(TIME), Need::Optional, "A new estimate this often; every base cycle if left out."),
        key(
            "filter",
            Kind::Word(&["ekf"]),
            Need::Optional,
            "An extended Kalman filter behind noisy sensors, on roads; the truth and its errors if left out (S4-8).",
        ),
        key("noise", Kind::Word(motion::NOISES), Need::Default("white"), "Of all sensors behind the filter (S2-12)."),
        key("gps", Kind::Table(&motion::SENSOR), Need::Optional, "Position by satellites, with its own noise."),
        key("compass", Kind::Table(&motion::SENSOR), Need::Optional, "Heading, with its own noise."),
        key("wheels", Kind::Table(&motion::SENSOR), Need::Optional, "Speed, with its own noise."),
        key("gyro", Kind::Table(&motion::SENSOR), Need::Optional, "Yaw rate, with its own noise."),
    ],
};

static OBSTACLE_SENSOR: Section = Section {
    title: "obstacle_sensor = { .. }",
    doc: "Sees obstacles that are not in the map.",
    exactly_one: &[],
    keys: &[
        key("range", positive(LENGTH), Need::Default("8 m"), "How far it sees."),
        key("cycle", positive(TIME), Need::Default("100 ms"), "It looks this often."),
    ],
};
