//! What an FMU says of itself: `modelDescription.xml` of FMI 2 and 3, as far as co-simulation needs it.

mod units;
mod variable;

use std::collections::BTreeMap;

use roxmltree::{Document, Node, ParsingOptions};

use super::error::FmuError;
pub use units::{Dimensions, Unit};
pub use variable::{Causality, Variable, Wire};

/// Nodes of a description; the largest vendors' ones have some ten thousand.
const NODES_MAX: u32 = 4_000_000;

/// Version of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FmiVersion {
    /// FMI 2.0.
    Two,
    /// FMI 3.0.
    Three,
}

/// What the FMU claims to be able to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Its state can be taken out and put back.
    pub saves_state: bool,
    /// Its state can be written as bytes.
    pub serialises_state: bool,
    /// Steps may have any length.
    pub variable_step: bool,
    /// There can be only one component in a process.
    pub only_once: bool,
    /// It needs the tool that made it.
    pub needs_tool: bool,
}

/// An FMU's description.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Version of the standard.
    pub version: FmiVersion,
    /// Name of the model.
    pub model_name: String,
    /// Version of the model; may be empty.
    pub model_version: String,
    /// Tool that made it; may be empty.
    pub tool: String,
    /// What the binary wants to hear when it is instantiated (`guid`, `instantiationToken`).
    pub token: String,
    /// Name of the binary, without its ending.
    pub identifier: String,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Step length it asks for, if it says.
    pub step_s: Option<f64>,
    /// Everything that can be read or written.
    pub variables: Vec<Variable>,
    /// Defined units by name.
    pub units: BTreeMap<String, Unit>,
}

impl Description {
    /// Reads the text of `modelDescription.xml`.
    ///
    /// # Errors
    /// When it is no XML, of another version, or does not describe co-simulation; with line and column.
    pub fn parse(text: &str) -> Result<Self, FmuError> {
        let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
        let document = Document::parse_with_options(text.trim_start_matches('\u{feff}'), options).map_err(|error| {
            let place = error.pos();
            FmuError::Description { line: place.row, column: place.col, text: error.to_string() }
        })?;
        let root = document.root_element();
        if root.tag_name().name() != "fmiModelDescription" {
            return Err(wrong(root, format!("<{}> where <fmiModelDescription> should be", root.tag_name().name())));
        }
        let version = match root.attribute("fmiVersion") {
            Some("2.0") => FmiVersion::Two,
            Some(text) if text.starts_with("3.") => FmiVersion::Three,
            Some(other) => return Err(wrong(root, format!("FMI {other}; 2.0 and 3.0 are understood"))),
            None => return Err(wrong(root, "`fmiVersion` is missing")),
        };
        let simulation = child(root, "CoSimulation").ok_or_else(|| {
            wrong(
                root,
                "no <CoSimulation>: an FMU for other uses (model exchange, scheduled execution) cannot be stepped",
            )
        })?;
        let identifier = required(simulation, "modelIdentifier")?;
        if identifier.is_empty() || identifier.contains(['/', '\\', ':', '\0']) || identifier.contains("..") {
            return Err(wrong(simulation, format!("`{identifier}` is no name of a file")));
        }
        let token = match version {
            FmiVersion::Two => required(root, "guid")?,
            FmiVersion::Three => required(root, "instantiationToken")?,
        };
        let text_of = |name: &str| root.attribute(name).unwrap_or_default().to_owned();
        Ok(Self {
            version,
            model_name: text_of("modelName"),
            model_version: text_of("version"),
            tool: text_of("generationTool"),
            token: token.to_owned(),
            identifier: identifier.to_owned(),
            capabilities: capabilities(simulation)?,
            step_s: step_s(root, simulation)?,
            variables: variable::read(root, version)?,
            units: units::read(root)?,
        })
    }
    /// The variable of this name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }
    /// Names of all variables of a causality, in the order of the description.
    pub fn names(&self, causality: Causality) -> Vec<String> {
        let matching = self.variables.iter().filter(|variable| variable.causality == causality);
        matching.map(|variable| variable.name.clone()).collect()
    }
}

fn capabilities(simulation: Node) -> Result<Capabilities, FmuError> {
    // FMI 2 writes `FMUstate`, FMI 3 `FMUState`.
    let either = |two: &str, three: &str| Ok::<_, FmuError>(flag(simulation, two)? || flag(simulation, three)?);
    Ok(Capabilities {
        saves_state: either("canGetAndSetFMUstate", "canGetAndSetFMUState")?,
        serialises_state: either("canSerializeFMUstate", "canSerializeFMUState")?,
        variable_step: flag(simulation, "canHandleVariableCommunicationStepSize")?,
        only_once: flag(simulation, "canBeInstantiatedOnlyOncePerProcess")?,
        needs_tool: flag(simulation, "needsExecutionTool")?,
    })
}

fn step_s(root: Node, simulation: Node) -> Result<Option<f64>, FmuError> {
    let experiment = child(root, "DefaultExperiment").map(|node| number(node, "stepSize")).transpose()?.flatten();
    let step_s = experiment.or(number(simulation, "fixedInternalStepSize")?);
    Ok(step_s.filter(|&step_s| step_s > 0.0))
}

/// A complaint about the place where a node begins.
fn wrong(node: Node, text: impl Into<String>) -> FmuError {
    let place = node.document().text_pos_at(node.range().start);
    FmuError::Description { line: place.row, column: place.col, text: text.into() }
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|child| child.has_tag_name(name))
}

fn required<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, FmuError> {
    node.attribute(name).ok_or_else(|| wrong(node, format!("`{name}` is missing")))
}

fn flag(node: Node, name: &str) -> Result<bool, FmuError> {
    match node.attribute(name).map(str::trim) {
        None | Some("false" | "0") => Ok(false),
        Some("true" | "1") => Ok(true),
        Some(other) => Err(wrong(node, format!("`{name}` is `{other}` instead of true or false"))),
    }
}

fn number(node: Node, name: &str) -> Result<Option<f64>, FmuError> {
    let Some(text) = node.attribute(name) else { return Ok(None) };
    let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    value.map(Some).ok_or_else(|| wrong(node, format!("`{name}` is `{text}` instead of a number")))
}

#[cfg(test)]
mod tests;
