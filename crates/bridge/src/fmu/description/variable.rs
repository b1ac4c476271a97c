//! The variables of an FMU.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::{FmiVersion, child, required, wrong};
use crate::fmu::error::FmuError;

/// How a value crosses the border to the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the types of the standard")]
pub enum Wire {
    Float64,
    Float32,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    /// FMI 2: an `int`.
    WideBoolean,
    /// FMI 3: a `bool`.
    Boolean,
    /// Text.
    Text,
    /// Binary data or a clock.
    Other,
}

impl Wire {
    /// Whether it is a number or a boolean.
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Other)
    }
}

/// What a variable is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Causality {
    /// Set before every step.
    Input,
    /// Read after every step.
    Output,
    /// Set before the start.
    Parameter,
    /// Everything else.
    Local,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its number in the binary.
    pub reference: u32,
    /// Its type.
    pub wire: Wire,
    /// What it is for.
    pub causality: Causality,
    /// Its unit, if it has one.
    pub unit: Option<String>,
    /// Value it starts with, as written.
    pub start: Option<String>,
    /// Whether it is one number and not an array.
    pub is_scalar: bool,
    /// Line in the description.
    pub line: u32,
}

/// All variables, aliases included.
pub fn read(root: Node, version: FmiVersion) -> Result<Vec<Variable>, FmuError> {
    let list = child(root, "ModelVariables").ok_or_else(|| wrong(root, "no <ModelVariables>"))?;
    let types = type_units(root);
    let mut variables = Vec::new();
    for node in list.children().filter(Node::is_element) {
        match version {
            FmiVersion::Two if node.has_tag_name("ScalarVariable") => variables.push(two(node, &types)?),
            FmiVersion::Two => return Err(wrong(node, format!("<{}> among the variables", node.tag_name().name()))),
            FmiVersion::Three => three(node, &types, &mut variables)?,
        }
    }
    Ok(variables)
}

fn two(node: Node, types: &BTreeMap<&str, &str>) -> Result<Variable, FmuError> {
    let typed = node
        .children()
        .find(|child| child.is_element() && child.tag_name().name() != "Annotations")
        .ok_or_else(|| wrong(node, "a variable without a type"))?;
    let wire = match typed.tag_name().name() {
        "Real" => Wire::Float64,
        "Integer" | "Enumeration" => Wire::Int32,
        "Boolean" => Wire::WideBoolean,
        "String" => Wire::Text,
        other => return Err(wrong(typed, format!("a variable of unknown type <{other}>"))),
    };
    Ok(Variable {
        name: required(node, "name")?.to_owned(),
        reference: reference(node)?,
        wire,
        causality: causality(node),
        unit: unit(typed, types),
        start: typed.attribute("start").map(str::to_owned),
        is_scalar: true,
        line: line(node),
    })
}

fn three(node: Node, types: &BTreeMap<&str, &str>, variables: &mut Vec<Variable>) -> Result<(), FmuError> {
    let wire = match node.tag_name().name() {
        "Float64" => Wire::Float64,
        "Float32" => Wire::Float32,
        "Int8" => Wire::Int8,
        "UInt8" => Wire::UInt8,
        "Int16" => Wire::Int16,
        "UInt16" => Wire::UInt16,
        "Int32" => Wire::Int32,
        "UInt32" => Wire::UInt32,
        "Int64" | "Enumeration" => Wire::Int64,
        "UInt64" => Wire::UInt64,
        "Boolean" => Wire::Boolean,
        "String" => Wire::Text,
        "Binary" | "Clock" => Wire::Other,
        // Namespaced additions of tools are allowed to be skipped.
        other if node.tag_name().namespace().is_none() => {
            return Err(wrong(node, format!("a variable of unknown type <{other}>")));
        }
        _ => return Ok(()),
    };
    let text_start = || child(node, "Start")?.attribute("value");
    let variable = Variable {
        name: required(node, "name")?.to_owned(),
        reference: reference(node)?,
        wire,
        causality: causality(node),
        unit: unit(node, types),
        start: node.attribute("start").or_else(text_start).map(str::to_owned),
        is_scalar: child(node, "Dimension").is_none(),
        line: line(node),
    };
    for alias in node.children().filter(|child| child.has_tag_name("Alias")) {
        let name = required(alias, "name")?.to_owned();
        variables.push(Variable { name, line: line(alias), ..variable.clone() });
    }
    variables.push(variable);
    Ok(())
}

fn reference(node: Node) -> Result<u32, FmuError> {
    let text = required(node, "valueReference")?;
    text.trim().parse().map_err(|_| wrong(node, format!("`valueReference` is `{text}` instead of a whole number")))
}

fn causality(node: Node) -> Causality {
    match node.attribute("causality") {
        Some("input") => Causality::Input,
        Some("output") => Causality::Output,
        Some("parameter" | "structuralParameter") => Causality::Parameter,
        _ => Causality::Local,
    }
}

fn unit(node: Node, types: &BTreeMap<&str, &str>) -> Option<String> {
    let declared = || node.attribute("declaredType").and_then(|name| types.get(name).copied());
    node.attribute("unit").or_else(declared).filter(|unit| !unit.is_empty()).map(str::to_owned)
}

/// Units of declared types: on the type itself in FMI 3, on its only child in FMI 2.
fn type_units<'a>(root: Node<'a, '_>) -> BTreeMap<&'a str, &'a str> {
    let Some(definitions) = child(root, "TypeDefinitions") else { return BTreeMap::new() };
    let of = |node: Node<'a, '_>| {
        let nested = || node.children().find_map(|child| child.attribute("unit"));
        Some((node.attribute("name")?, node.attribute("unit").or_else(nested)?))
    };
    definitions.children().filter_map(of).collect()
}

fn line(node: Node) -> u32 {
    node.document().text_pos_at(node.range().start).row
}
