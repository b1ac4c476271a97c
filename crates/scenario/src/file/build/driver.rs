//! The software under test: built in, or from outside.

use super::super::Hooks;
use super::super::codes::Code;
use super::super::keys::Section;
use super::super::model_spec::is_model;
use super::super::outside::{MappingSpec, OutsideSpec, PartKind, PartSpec, Program};
use super::super::problems::{Problems, excerpt, listed};
use super::super::span::{Located, Span};
use super::super::spec::DriverSpec;
use super::super::tree::{Node, Value};
use super::super::view::View;
use super::super::words::{DriverKind, HiddenMemory, Manner, SteeringLaw};
use anabranch_vehicle::CarSpec;

/// What says which driver it is.
const WHICH: [&str; 4] = ["kind", "file", "command", "zmq"];
/// Keys of built-in drivers.
const BUILT_IN: [&str; 7] = [
    "lateral_gain",
    "heading_gain",
    "reverse_lateral_gain",
    "reverse_heading_gain",
    "cruise",
    "comfort_decel",
    "replan",
];
/// Keys of drivers from outside.
const FROM_OUTSIDE: [&str; 11] = [
    "deadline",
    "latency_budget",
    "instances",
    "memory",
    "hidden",
    "double",
    "inputs",
    "outputs",
    "parameters",
    "key",
    "memoryless",
];
/// Of these, the keys of FMUs.
const OF_FMUS: [&str; 5] = ["inputs", "outputs", "parameters", "key", "memoryless"];

/// Keys of component models alone.
const OF_MODELS: [&str; 3] = ["component", "noise", "actuators"];
/// Keys of models and FMUs that a model can have.
const MAPPED: [&str; 4] = ["inputs", "outputs", "parameters", "key"];

pub(super) fn build(
    problems: &mut Problems<'_>,
    ego: View<'_>,
    (hooks, car, step_s): (&Hooks<'_>, &CarSpec, Located<f64>),
) -> Option<DriverSpec> {
    let table = ego.table("driver");
    let empty = Node { span: ego.get("driver").map_or(ego.span(), |node| node.span), value: Value::Table(Vec::new()) };
    let section: &'static Section = ego.section_of("driver")?;
    let view = table.unwrap_or(View::new(&empty, section));
    let program = match table {
        Some(table) => {
            if !names_one(problems, table) {
                return None;
            }
            program(table)
        }
        None => ego.text("driver").filter(|text| DriverKind::from_word(&text.value).is_none()).map(Located::file),
    };
    let kind = match (&program, table) {
        (Some(program), _) => Located::new(DriverKind::PathFollower, program.span),
        (None, Some(table)) => table.word("kind", DriverKind::from_word)?,
        (None, None) => ego.word("driver", DriverKind::from_word)?,
    };
    let model = program.as_ref().and_then(|program| match &program.value {
        Program::File(name) if is_model(name) => Some(Located::new(name.clone(), program.span)),
        _ => None,
    });
    let is_built_in = program.is_none();
    keys_of_others(problems, view, (is_built_in, model.is_some()));
    let real = |key: &str| view.real(key);
    Some(DriverSpec {
        kind,
        manner: view.word("manner", Manner::from_word)?.value,
        steering: view.word("steering", SteeringLaw::from_word)?.value,
        outside: match program {
            Some(program) if model.is_none() => Some(outside(problems, view, program)?),
            _ => None,
        },
        model: match model {
            Some(file) => {
                let cycle_s = real("cycle").unwrap_or(step_s);
                Some(super::model::build(problems, view, file, &mapping_of(view), (hooks, (car, cycle_s)))?)
            }
            None => None,
        },
        behind: match view.key_span("actuators").filter(|_| is_built_in) {
            Some(span) => {
                let cycle_s = real("cycle").unwrap_or(step_s);
                Some(super::model::behind(problems, view, span, (hooks, (car, cycle_s)))?)
            }
            None => None,
        },
        lateral_gain_per_m2: real("lateral_gain"),
        heading_gain_per_m: real("heading_gain"),
        reverse_lateral_gain_per_m2: real("reverse_lateral_gain"),
        reverse_heading_gain_per_m: real("reverse_heading_gain"),
        cruise_mps: real("cruise"),
        comfort_decel_mps2: real("comfort_decel"),
        replan_s: real("replan"),
        cycle_s: real("cycle"),
    })
}

/// Complains about keys that belong to another kind of driver.
fn keys_of_others(problems: &mut Problems<'_>, view: View<'_>, (is_built_in, is_model): (bool, bool)) {
    if is_model {
        of_a_model(problems, view);
    } else if let Some((key, span)) = OF_MODELS
        .iter()
        .filter(|key| !is_built_in || **key != "actuators")
        .find_map(|key| Some((key, view.key_span(key)?)))
    {
        problems.add(
            Code::Exclusive,
            span,
            format!("`{key}` belongs to component models, and this is none"),
            "remove it",
        );
    }
    let foreign = if !is_built_in { &BUILT_IN[..] } else { &FROM_OUTSIDE[..] };
    for (key, span) in foreign.iter().filter_map(|key| Some((key, view.key_span(key)?))) {
        let (whose, not) =
            if !is_built_in { ("built-in drivers", "from outside") } else { ("drivers from outside", "built in") };
        problems.add(Code::Exclusive, span, format!("`{key}` belongs to {whose}, and this one is {not}"), "remove it");
    }
}

/// Whether exactly one key says which driver it is.
fn names_one(problems: &mut Problems<'_>, table: View<'_>) -> bool {
    let there: Vec<(&str, Span)> = WHICH.iter().filter_map(|key| Some((*key, table.key_span(key)?))).collect();
    match there[..] {
        [_] => true,
        [] => {
            let message = format!("the driver needs one of {}", listed(WHICH.iter().copied()));
            problems.add(Code::NoneOf, table.span(), message, "add kind = \"path-follower\", or file = \"av.py\"");
            false
        }
        [(first, _), (second, span), ..] => {
            problems.add(
                Code::Exclusive,
                span,
                format!("`{first}` and `{second}` exclude each other"),
                "keep one of them",
            );
            false
        }
    }
}

impl Located<String> {
    fn file(self) -> Located<Program> {
        Located::new(Program::File(self.value), self.span)
    }
}

fn program(table: View<'_>) -> Option<Located<Program>> {
    let text = |node: &Node| node.text().map(str::to_owned);
    let command = table
        .get("command")
        .map(|node| Located::new(Program::Command(node.items().iter().filter_map(text).collect()), node.span));
    let zmq = table.text("zmq").map(|address| Located::new(Program::Zmq(address.value), address.span));
    table.text("file").map(Located::file).or(command).or(zmq)
}

fn outside(problems: &mut Problems<'_>, view: View<'_>, program: Located<Program>) -> Option<OutsideSpec> {
    let double = view.real("double")?;
    if double.value > 1.0 {
        let message = format!("`double` is a share of all segments, and {} is more than all", double.value);
        problems.add(Code::NotAProbability, double.span, message, "write a number from 0 to 1");
    }
    let is_fmu = matches!(&program.value, Program::File(name) if name.to_ascii_lowercase().ends_with(".fmu"));
    for (key, span) in OF_FMUS.iter().filter_map(|key| Some((key, view.key_span(key)?))).filter(|_| !is_fmu) {
        problems.add(Code::Exclusive, span, format!("`{key}` belongs to FMUs, and this is none"), "remove it");
    }
    Some(OutsideSpec {
        program,
        mapping: mapping(problems, view)?,
        deadline_s: view.real("deadline")?,
        latency_budget_s: view.real("latency_budget")?,
        instances: view.small_count("instances"),
        memory_bytes: view.real("memory")?.map(|bytes| bytes as u64),
        hidden: view.word("hidden", HiddenMemory::from_word)?,
        double,
    })
}

/// Complains about keys of other drivers at a component model.
fn of_a_model(problems: &mut Problems<'_>, view: View<'_>) {
    let others = FROM_OUTSIDE.iter().filter(|key| !MAPPED.contains(key));
    for (key, span) in others.filter_map(|key| Some((key, view.key_span(key)?))) {
        let message = format!("`{key}` belongs to drivers that run outside, and a component model runs inside");
        problems.add(Code::Exclusive, span, message, "remove it");
    }
}

/// All texts of a list.
pub(super) fn texts(view: View<'_>, key: &str) -> Vec<Located<String>> {
    let items = view.get(key).map_or(&[][..], Node::items);
    let text = |node: &Node| Some(Located::new(node.text()?.to_owned(), node.span));
    items.iter().filter_map(text).collect()
}

/// Which variables are what, as written.
pub(super) fn mapping_of(view: View<'_>) -> MappingSpec {
    MappingSpec {
        inputs: texts(view, "inputs"),
        outputs: texts(view, "outputs"),
        parameters: texts(view, "parameters"),
        key: texts(view, "key"),
        memoryless: view.flag("memoryless").unwrap_or(false),
    }
}

/// Which variables of an FMU are what.
fn mapping(problems: &mut Problems<'_>, view: View<'_>) -> Option<MappingSpec> {
    let mapping = mapping_of(view);
    let pairs = mapping.inputs.iter().chain(&mapping.outputs).chain(&mapping.parameters);
    for text in pairs.filter(|text| !text.value.contains('=')) {
        let message = format!("`{}` does not say what the variable is", excerpt(&text.value));
        problems.add(Code::WrongMapping, text.span, message, "write a variable and what it is: \"v = speed\"");
    }
    let is_number = |text: &str| text.rsplit_once('=').is_some_and(|(_, number)| number.trim().parse::<f64>().is_ok());
    for text in mapping.parameters.iter().filter(|text| text.value.contains('=') && !is_number(&text.value)) {
        let message = format!("`{}` gives the parameter no number", excerpt(&text.value));
        problems.add(Code::WrongMapping, text.span, message, "write a number in its own unit: \"K_p = 1.5\"");
    }
    Some(mapping)
}

/// An FMU as a part of the car; at most one of them, beside a driver that is built in.
pub(super) fn part(problems: &mut Problems<'_>, ego: View<'_>) -> Option<Option<PartSpec>> {
    let parts = [("actuator", PartKind::Actuator), ("plant", PartKind::Plant)];
    let mut there = parts.into_iter().filter_map(|(key, kind)| Some((kind, ego.table(key)?, ego.key_span(key)?)));
    let Some((kind, view, span)) = there.next() else { return Some(None) };
    if let Some((_, _, second)) = there.next() {
        let message = "`actuator` and `plant` exclude each other: a plant is the car with its actuators";
        problems.add(Code::Exclusive, second, message, "keep one of them");
    }
    if ego.table("driver").map_or_else(|| is_file(ego), |table| table.get("kind").is_none()) {
        let message = "a driver from outside and a part of the car from outside do not work together yet";
        problems.add(Code::Exclusive, span, message, "use a built-in driver, or leave the part out");
    }
    let file = view.text("file")?;
    if is_model(&file.value) {
        let message = "a component model is no part of the car by itself; it stands behind one that drives";
        let help = "write it as one of the `actuators` of the driver, built in or not: \
                    driver = { kind = \"path-follower\", actuators = [..] }";
        problems.add(Code::Exclusive, file.span, message, help);
    }
    let program = file.file();
    Some(Some(PartSpec { kind, outside: outside(problems, view, program)?, span }))
}

/// Whether the driver is named by a file.
fn is_file(ego: View<'_>) -> bool {
    ego.text("driver").is_some_and(|text| DriverKind::from_word(&text.value).is_none())
}
