//! `modelDescription.xml` of an exported model.

use std::collections::BTreeSet;
use std::rc::Rc;

use anabranch_language::model::ty::Choices;
use anabranch_language::syntax::ast::Direction;
use anabranch_language::table::Column;
use anabranch_language::units::Dimension;
use anabranch_language::{Class, Model};

/// How FMI names the base units, in the order of [`Dimension`].
const BASE: [&str; 7] = ["m", "kg", "s", "A", "K", "mol", "cd"];

/// What a description says beside the ports.
pub struct Facts<'a> {
    /// Name of the binary.
    pub identifier: &'a str,
    /// What the binary wants to hear.
    pub token: &'a str,
    /// The length of a tick.
    pub step_s: f64,
}

/// The description of a model. The number of a column is its value reference.
pub fn written(model: &Model, columns: &[Column], facts: &Facts<'_>) -> String {
    let enums = enums(columns);
    let memory = model.program().memory();
    let mut variables = String::new();
    for (reference, column) in columns.iter().enumerate() {
        // What goes in has a first value; what comes out is calculated.
        let (causality, start) = match column.direction {
            Direction::In => ("input", Some(memory.get(column.slot))),
            Direction::Out => ("output", None),
        };
        variables += &format!(
            "    <ScalarVariable name=\"{}\" valueReference=\"{reference}\" causality=\"{causality}\" \
             variability=\"discrete\"><{}/></ScalarVariable>\n",
            xml(&column.name),
            typed(column, start, &enums),
        );
    }
    let unknowns = |more: &str| -> String {
        let outputs = columns.iter().enumerate().filter(|(_, column)| column.direction == Direction::Out);
        outputs.map(|(at, _)| format!("<Unknown index=\"{}\"{more}/>", at + 1)).collect()
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <fmiModelDescription fmiVersion=\"2.0\" modelName=\"{name}\" guid=\"{token}\" generationTool=\"Anabranch {version}\" \
         variableNamingConvention=\"flat\">\n  \
         <CoSimulation modelIdentifier=\"{identifier}\" canHandleVariableCommunicationStepSize=\"false\" \
         canNotUseMemoryManagementFunctions=\"true\" canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"/>\n\
         {units}{types}  <DefaultExperiment stepSize=\"{step_s}\"/>\n  \
         <ModelVariables>\n{variables}  </ModelVariables>\n  \
         <ModelStructure>\n{outputs}{initial}  </ModelStructure>\n\
         </fmiModelDescription>\n",
        name = xml(model.name()),
        token = facts.token,
        version = env!("CARGO_PKG_VERSION"),
        identifier = facts.identifier,
        units = element("UnitDefinitions", &units(columns)),
        types = element("TypeDefinitions", &types(&enums)),
        step_s = facts.step_s,
        outputs = element("Outputs", &unknowns("")),
        // Before the first tick outputs are constants of the model.
        initial = element("InitialUnknowns", &unknowns(" dependencies=\"\"")),
    )
}

/// An element with what is in it; nothing if there is nothing, as the schema wants it.
fn element(name: &str, inner: &str) -> String {
    if inner.is_empty() { String::new() } else { format!("  <{name}>{inner}</{name}>\n") }
}

/// The type of a variable with its attributes.
fn typed(column: &Column, start: Option<f64>, enums: &[Rc<Choices>]) -> String {
    let (name, start) = match &column.class {
        Class::Real => ("Real", start.map(|value| format!("{value}"))),
        Class::Whole | Class::Choice(_) => (
            if column.class == Class::Whole { "Integer" } else { "Enumeration" },
            start.map(|v| format!("{}", v as i32)),
        ),
        Class::Truth => ("Boolean", start.map(|value| (value != 0.0).to_string())),
    };
    let mut out = name.to_owned();
    if let Class::Choice(choices) = &column.class
        && let Some(at) = enums.iter().position(|known| known == choices)
    {
        out += &format!(" declaredType=\"{}\"", type_name(at, choices));
    }
    if let Some(dimension) = measured(column) {
        out += &format!(" unit=\"{dimension}\"");
    }
    start.map_or(out.clone(), |start| format!("{out} start=\"{start}\""))
}

/// What a real number measures. Angles and plain numbers have no unit, which means radians and SI.
fn measured(column: &Column) -> Option<Dimension> {
    column.dimension.filter(|dimension| column.class == Class::Real && *dimension != Dimension::NUMBER)
}

fn units(columns: &[Column]) -> String {
    let all: BTreeSet<Dimension> = columns.iter().filter_map(measured).collect();
    let one = |dimension: Dimension| {
        let exponents = BASE.iter().zip(dimension.0).filter(|(_, exponent)| *exponent != 0);
        let exponents: String = exponents.map(|(name, exponent)| format!(" {name}=\"{exponent}\"")).collect();
        format!("<Unit name=\"{dimension}\"><BaseUnit{exponents}/></Unit>")
    };
    all.into_iter().map(one).collect()
}

/// Every enum once.
fn enums(columns: &[Column]) -> Vec<Rc<Choices>> {
    let mut all: Vec<Rc<Choices>> = Vec::new();
    for column in columns {
        if let Class::Choice(choices) = &column.class
            && !all.contains(choices)
        {
            all.push(choices.clone());
        }
    }
    all
}

/// A name that no variable and no other enum has.
fn type_name(at: usize, choices: &Choices) -> String {
    format!("{} (enum {})", xml(&choices.name), at + 1)
}

fn types(enums: &[Rc<Choices>]) -> String {
    let item = |(value, name): (usize, &String)| format!("<Item name=\"{}\" value=\"{value}\"/>", xml(name));
    let one = |(at, choices): (usize, &Rc<Choices>)| {
        let items: String = choices.values.iter().enumerate().map(item).collect();
        format!("<SimpleType name=\"{}\"><Enumeration>{items}</Enumeration></SimpleType>", type_name(at, choices))
    };
    enums.iter().enumerate().map(one).collect()
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
