//! FMUs as parts of the car: one that repeats the built-in actuator or the built-in car explores the graph of the built-in
//! one, bit for bit, whether its states are saved or its paths run again; and what does not fit is told with its place.

use anabranch_kernel::maths;
use serde_json::{Value, json};

use super::make::{Recipe, root};
use crate::common::Project;

const STATE: &str = "canGetAndSetFMUstate=\"true\" canGetAndSetFMUState=\"true\"";
/// A few hundred segments of the narrow passage with contacts, arrivals and late ones, as in the tests of links.
const SHORTER: [(&str, &str); 4] = [
    ("-17 m", "-2 m"),
    ("22 s", "4 s"),
    ("directions = 8", "directions = 4"),
    ("radius = \"0.1 m\"", "radius = \"0.5 m\""),
];
const EXPLORE: [&str; 11] = [
    "explore",
    "passage.toml",
    "--merge",
    "x=1m,y=0.2m,heading=0.05rad",
    "--keep",
    "worst",
    "--rollouts",
    "0",
    "--refine",
    "0",
    "--no-pictures",
];

/// The van of the passage: what its parts need to know, with the base cycle of 10 ms.
fn van() -> String {
    let share = |lag_s: f64| 1.0 - maths::exp(-0.01 / lag_s);
    let numbers =
        [("steering_share", share(0.15)), ("accel_share", share(0.25)), ("accel_max", 2.0), ("brake_max", 7.0)];
    numbers.map(|(name, value)| format!("\"{name} = {value:?}\"")).join(", ")
}

#[derive(Clone, Copy, PartialEq)]
enum Which {
    Actuator,
    Plant,
}

/// The built-in part as an FMU, with these capabilities.
fn part(which: Which, version: u8, claims: &str) -> Recipe {
    let inputs = ["command.steer", "a_cmd", "gear", "car.speed", "car.steer", "car.accel"];
    let outputs = ["x", "y", "heading", "speed", "steer", "accel"];
    let parameters = [
        "start.x",
        "start.y",
        "start.heading",
        "start.speed",
        "car.wheelbase_m",
        "car.steering_max_rad",
        "car.steering_rate_max_radps",
        "steering_share",
        "accel_share",
        "accel_max",
        "brake_max",
        "wrong_from",
    ];
    let all = (1..).zip(inputs).map(|(reference, name)| (name, reference, "input"));
    let all = all.chain((11..).zip(outputs).map(|(reference, name)| (name, reference, "output")));
    let all = all.chain((21..).zip(parameters).map(|(reference, name)| (name, reference, "parameter")));
    let belongs = |(_, reference, _): &(&str, u32, &str)| match which {
        Which::Actuator => !(11..=14).contains(reference),
        Which::Plant => !(4..=6).contains(reference),
    };
    let line = |(name, reference, causality): (&str, u32, &str)| match version {
        2 => format!(
            "<ScalarVariable name=\"{name}\" valueReference=\"{reference}\" causality=\"{causality}\"><Real/></ScalarVariable>\n"
        ),
        _ => format!("<Float64 name=\"{name}\" valueReference=\"{reference}\" causality=\"{causality}\"/>\n"),
    };
    let token = if version == 2 { "guid" } else { "instantiationToken" };
    let description = format!(
        "<fmiModelDescription fmiVersion=\"{version}.0\" modelName=\"car\" {token}=\"{{anabranch-example}}\">\n\
         <CoSimulation modelIdentifier=\"car\" canHandleVariableCommunicationStepSize=\"true\" {claims}/>\n\
         <ModelVariables>\n{}</ModelVariables>\n</fmiModelDescription>\n",
        all.filter(belongs).map(line).collect::<String>()
    );
    let flags = if which == Which::Actuator { vec!["-DACTUATOR"] } else { Vec::new() };
    let source = root().join("crates/bridge/tests/fmu/car.c");
    Recipe { source, description, identifier: "car", version, flags }
}

/// The short narrow passage with these lines in `[ego]`.
fn passage(project: &Project, line: &str) {
    let mut text =
        std::fs::read_to_string(root().join("scenarios/narrow-passage.toml")).expect("the scenario is there");
    for (from, to) in SHORTER {
        text = text.replace(from, to);
    }
    project.write("passage.toml", &text.replace("[ego]\n", &format!("[ego]\n{line}\n")));
}

/// Explores with an FMU as this part.
fn explore(project: &Project, which: Which, recipe: &Recipe, more: &str) -> Value {
    std::fs::copy(recipe.make().path, project.file("car.fmu")).expect("copied");
    let key = if which == Which::Actuator { "actuator" } else { "plant" };
    let van = van();
    passage(
        project,
        &format!("{key} = {{ file = \"car.fmu\", inputs = [\"a_cmd = command.accel\"], parameters = [{van}{more} }}"),
    );
    let (code, value) = project.json(&EXPLORE);
    assert_eq!(code, 1, "{value}");
    value
}

#[test]
fn a_part_that_repeats_the_built_in_one_explores_its_graph_bit_for_bit() {
    let project = Project::new();
    passage(&project, "");
    let (code, built_in) = project.json(&EXPLORE);
    assert_eq!(code, 1);
    assert!(built_in["findings"].as_u64() > Some(0) && built_in["merged"].as_u64() > Some(0));
    let (saved, replayed) = (("save", "fmu-state"), ("replay", "none"));
    for (which, version, claims, (support, snapshot)) in [
        (Which::Actuator, 2, STATE, saved),
        (Which::Actuator, 3, "", replayed),
        (Which::Plant, 3, STATE, saved),
        (Which::Plant, 2, "", replayed),
    ] {
        let value = explore(&project, which, &part(which, version, claims), "], memoryless = true");
        let code = &value["driver"];
        assert_eq!((&code["support"], &code["snapshot"]), (&json!(support), &json!(snapshot)));
        assert_eq!((&code["merging"], &code["faults"]), (&json!("memoryless"), &json!(0)));
        for name in ["digest", "segments", "states", "merged", "findings", "goals", "worst_clearance_m"] {
            assert_eq!(value[name], built_in[name], "{name} by FMI {version}, {snapshot}");
        }
        let errors = |value: &Value| -> Vec<Value> {
            value["groups"].as_array().expect("groups").iter().map(|group| group["errors"].clone()).collect()
        };
        assert_eq!(errors(&value), errors(&built_in));
    }
}

#[test]
fn a_part_with_a_memory_merges_by_its_key_and_what_it_does_wrong_is_a_finding_that_replays() {
    let project = Project::new();
    let recipe = part(Which::Plant, 2, STATE);
    let value = explore(&project, Which::Plant, &recipe, "], key = [\"speed = 0.2\", \"steer\"]");
    assert_eq!((&value["driver"]["merging"], &value["driver"]["faults"]), (&json!("key"), &json!(0)));
    let value = explore(&project, Which::Actuator, &part(Which::Actuator, 2, STATE), ", \"wrong_from = 150\"]");
    assert_eq!(
        value["driver"]["faults_by_kind"]["not-a-number"].as_u64().map(|count| count > 0),
        Some(true),
        "{value}"
    );
    let groups = value["groups"].as_array().expect("groups");
    assert!(groups.iter().any(|group| group["requirement"] == "actuator.not-a-number"), "{groups:?}");
    let ran = project.run(&["replay", "last#1"]);
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn what_does_not_fit_a_part_is_told_with_its_place() {
    let project = Project::new();
    std::fs::copy(part(Which::Plant, 2, STATE).make().path, project.file("car.fmu")).expect("copied");
    project.write("av.py", "");
    let check = |line: &str, expect: &[&str]| {
        passage(&project, line);
        let ran = project.run(&["check", "passage.toml"]);
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        for expect in expect {
            assert!(ran.err.contains(expect), "{line}: {}", ran.err);
        }
    };
    let at = "passage.toml:";
    check("plant = { file = \"car.fmu\" }", &[at, "E0215", "the input `a_cmd` gets nothing: a plant gets no `a_cmd`"]);
    check("plant = { file = \"car.fmu\", inputs = [\"a_cmd = speed\"] }", &[at, "a plant gets no `speed`"]);
    check("plant = { file = \"car.fmu\", inputs = [\"a_cmd\"] }", &[at, "`a_cmd` does not say what the variable is"]);
    check(
        "plant = { file = \"car.fmu\", parameters = [\"accel_max = much\"] }",
        &[at, "gives the parameter no number"],
    );
    check("plant = { file = \"none.fmu\" }", &[at, "there is no file `none.fmu`"]);
    check("plant = { file = \"av.py\" }", &[at, "`av.py` is no FMU"]);
    check(
        "plant = { file = \"car.fmu\", inputs = [\"a_cmd = command.accel\"], outputs = [\"x = left\"] }",
        &[at, "a plant gives no `left`"],
    );
    check(
        "plant = { file = \"car.fmu\" }\nactuator = { file = \"car.fmu\" }",
        &[at, "`actuator` and `plant` exclude each other"],
    );
    let text = project.read("passage.toml").replace("actuator = { file = \"car.fmu\" }\n", "");
    let driver = text.lines().find(|line| line.starts_with("driver")).expect("it names its driver").to_owned();
    project.write("passage.toml", &text.replace(&driver, "driver = \"av.py\""));
    let ran = project.run(&["check", "passage.toml"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("do not work together yet"), "{}", ran.err);
}
