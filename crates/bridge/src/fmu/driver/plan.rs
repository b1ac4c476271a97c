//! The mapping of a driver, found and checked before anything runs.

use super::mapping::{FmuMapping, FmuRole, InputSource};
use super::signals::{Fact, Signal, Told, fact, fact_names, folded};
use crate::fmu::description::{Causality, Description, Dimensions, Variable};
use crate::fmu::error::{FmuError, list};
use crate::fmu::port::{Bundle, Port, bundles};
use crate::protocol::{Begin, Decision, KeyVariable, Moved};

/// What an answer is made of: name, what it measures, whether one can do without.
type Piece = (&'static str, Dimensions, Need);

const DECISIONS: &[Piece] = &[
    ("steer", Dimensions::new(0, 0), Need::Required),
    ("accel", Dimensions::new(1, -2), Need::Required),
    ("gear", Dimensions::new(0, 0), Need::Optional),
    ("completed", Dimensions::new(0, 0), Need::Optional),
];
const DELIVERED: &[Piece] =
    &[("steer", Dimensions::new(0, 0), Need::Required), ("accel", Dimensions::new(1, -2), Need::Required)];
const PLACED: &[Piece] = &[
    ("steer", Dimensions::new(0, 0), Need::Optional),
    ("accel", Dimensions::new(1, -2), Need::Optional),
    ("x", Dimensions::new(1, 0), Need::Required),
    ("y", Dimensions::new(1, 0), Need::Required),
    ("heading", Dimensions::new(0, 0), Need::Required),
    ("speed", Dimensions::new(1, -1), Need::Required),
];

impl FmuRole {
    fn pieces(self) -> &'static [Piece] {
        match self {
            Self::Driver => DECISIONS,
            Self::Actuator => DELIVERED,
            Self::Plant => PLACED,
        }
    }
    /// In sentences: who it is, how it gets, how it gives.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Driver => ["a driver", "sees", "decides"],
            Self::Actuator => ["an actuator", "gets", "gives"],
            Self::Plant => ["a plant", "gets", "gives"],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Need {
    Required,
    Optional,
}

/// Which values go where.
#[derive(Clone, Debug)]
pub struct Plan {
    pub inputs: Vec<Bundle>,
    signals: Vec<Signal>,
    pub parameters: Vec<Bundle>,
    facts: Vec<Setting>,
    pub outputs: Vec<Bundle>,
    /// Where each piece of the answer stands among the outputs.
    places: Vec<Option<usize>>,
    pub outputs_count: usize,
    /// The key follows the decisions.
    pub key: Vec<KeyVariable>,
}

/// What a parameter is set to.
#[derive(Clone, Copy, Debug)]
enum Setting {
    Number(f64),
    Fact(Fact),
}

/// Whether a driver can be made of an FMU with this mapping; nothing of it is run.
///
/// # Errors
/// What does not fit, with its place and what there is.
pub fn check_mapping(description: &Description, mapping: &FmuMapping) -> Result<(), FmuError> {
    Plan::new(description, mapping).map(drop)
}

impl Plan {
    /// Finds every variable.
    ///
    /// # Errors
    /// What does not fit, with its place and what there is.
    pub fn new(description: &Description, mapping: &FmuMapping) -> Result<Self, FmuError> {
        let inputs = inputs(description, mapping)?;
        let parameters = parameters(description, mapping)?;
        let (mut outputs, places) = answers(description, mapping)?;
        let mut key = Vec::new();
        for cell in &mapping.key {
            let variable = named(description, &cell.name)?;
            outputs.push(Port::plain(variable)?);
            let unit = variable.unit.clone().unwrap_or_default();
            key.push(KeyVariable { name: cell.name.clone(), unit, cell: cell.cell });
        }
        Ok(Self {
            inputs: bundles(inputs.iter().map(|(port, _)| port)),
            signals: inputs.iter().map(|&(_, signal)| signal).collect(),
            parameters: bundles(parameters.iter().map(|(port, _)| port)),
            facts: parameters.iter().map(|&(_, setting)| setting).collect(),
            outputs_count: outputs.len(),
            outputs: bundles(&outputs),
            places,
            key,
        })
    }
    /// The values of the inputs.
    pub fn input_values(&self, told: Told<'_>) -> Vec<f64> {
        self.signals.iter().map(|signal| signal.value(told)).collect()
    }
    /// The values of the parameters.
    pub fn parameter_values(&self, begin: &Begin) -> Vec<f64> {
        let value = |setting: &Setting| match setting {
            Setting::Number(value) => *value,
            Setting::Fact(value) => value(begin),
        };
        self.facts.iter().map(value).collect()
    }
    /// What the values of the outputs decide.
    ///
    /// # Errors
    /// When gear or "completed" is no such thing.
    pub fn decision(&self, outputs: &[f64]) -> Result<Decision, FmuError> {
        let [steer, accel, gear, completed] = self.pieces(outputs);
        let gear = match gear {
            None | Some(0.0) => None,
            Some(1.0) => Some(1),
            Some(-1.0) => Some(-1),
            Some(other) => {
                return Err(FmuError::Output { text: format!("the gear is {other}; it must be 1, -1 or 0") });
            }
        };
        let completed = completed.unwrap_or(0.0);
        if completed.is_nan() {
            return Err(FmuError::Output { text: "`completed` is not a number".to_owned() });
        }
        Ok(Decision {
            steer: steer.unwrap_or(0.0),
            accel: accel.unwrap_or(0.0),
            gear,
            completed: completed != 0.0,
            trajectory: Vec::new(),
            key: self.key_values(outputs),
        })
    }
    /// What the values of the outputs say of the car.
    pub fn moved(&self, outputs: &[f64]) -> Moved {
        let [steer, accel, x, y, heading, speed] = self.pieces(outputs);
        Moved { x, y, heading, speed, steer, accel, key: self.key_values(outputs) }
    }
    /// The first pieces of the answer; none where its role has fewer.
    fn pieces<const N: usize>(&self, outputs: &[f64]) -> [Option<f64>; N] {
        std::array::from_fn(|piece| Some(outputs[(*self.places.get(piece)?)?]))
    }
    fn key_values(&self, outputs: &[f64]) -> Vec<f64> {
        outputs[outputs.len() - self.key.len()..].to_vec()
    }
}

fn wrong(text: String) -> FmuError {
    FmuError::Mapping { text }
}

fn named<'d>(description: &'d Description, name: &str) -> Result<&'d Variable, FmuError> {
    description.variable(name).ok_or_else(|| {
        let there: Vec<String> = description.variables.iter().map(|variable| variable.name.clone()).collect();
        wrong(format!("the FMU has no variable `{name}`; it has {}", list(&there)))
    })
}

/// Every input gets a signal: by the mapping, else by its name. One that gets none is a mistake, unless it is no number.
fn inputs(description: &Description, mapping: &FmuMapping) -> Result<Vec<(Port, Signal)>, FmuError> {
    for name in mapping.inputs.keys() {
        let variable = named(description, name)?;
        if !matches!(variable.causality, Causality::Input | Causality::Parameter) {
            let inputs = list(&description.names(Causality::Input));
            return Err(wrong(format!("`{name}` is no input of the FMU; its inputs are {inputs}")));
        }
    }
    let mut found = Vec::new();
    for variable in description.variables.iter().filter(|variable| variable.causality == Causality::Input) {
        let (name, line) = (&variable.name, variable.line);
        let source = match mapping.inputs.get(name) {
            Some(InputSource::Constant(value)) => {
                found.push((Port::plain(variable)?, Signal::Constant(*value)));
                continue;
            }
            Some(InputSource::Signal(source)) => source,
            // A text keeps its start value.
            None if !variable.wire.is_number() => continue,
            None => name,
        };
        let (signal, dimensions) = Signal::named(mapping.role, source).ok_or_else(|| {
            let [who, gets, _] = mapping.role.words();
            let names = Signal::names(mapping.role);
            let example = names.get(names.len() / 2).cloned().unwrap_or_default();
            wrong(format!(
                "modelDescription.xml:{line}: the input `{name}` gets nothing: {who} {gets} no `{source}`; it {gets} {}. \
                 Map it, as in inputs = [\"{name} = {example}\"], or to a number",
                list(&names)
            ))
        })?;
        found.push((Port::si(description, variable, dimensions)?, signal));
    }
    Ok(found)
}

/// Parameters with a number, with a fact by the mapping, or with the name of a fact; the others keep their start values.
fn parameters(description: &Description, mapping: &FmuMapping) -> Result<Vec<(Port, Setting)>, FmuError> {
    let mut found = Vec::new();
    for (name, value) in &mapping.parameters {
        found.push((Port::plain(named(description, name)?)?, Setting::Number(*value)));
    }
    for variable in description.variables.iter().filter(|variable| variable.causality == Causality::Parameter) {
        let name = &variable.name;
        if mapping.parameters.contains_key(name) {
            continue;
        }
        let (value, dimensions) = match mapping.inputs.get(name) {
            Some(InputSource::Constant(value)) => {
                found.push((Port::plain(variable)?, Setting::Number(*value)));
                continue;
            }
            Some(InputSource::Signal(source)) => fact(source).ok_or_else(|| {
                let there = list(&fact_names());
                wrong(format!(
                    "the parameter `{name}` gets nothing: there is no `{source}` at the start; there are {there}"
                ))
            })?,
            None => match fact(name) {
                Some(found) => found,
                None => continue,
            },
        };
        found.push((Port::si(description, variable, dimensions)?, Setting::Fact(value)));
    }
    Ok(found)
}

type Places = Vec<Option<usize>>;

/// Every piece of the answer gets its output: by the mapping, else by its name.
fn answers(description: &Description, mapping: &FmuMapping) -> Result<(Vec<Port>, Places), FmuError> {
    let pieces = mapping.role.pieces();
    let known: Vec<String> = pieces.iter().map(|(name, ..)| (*name).to_owned()).collect();
    for (variable, name) in &mapping.outputs {
        named(description, variable)?;
        if !known.contains(name) {
            let [who, _, gives] = mapping.role.words();
            return Err(wrong(format!("{who} {gives} no `{name}`; it {gives} {}", list(&known))));
        }
    }
    let (mut ports, mut places) = (Vec::new(), vec![None; pieces.len()]);
    for (place, &(name, dimensions, need)) in places.iter_mut().zip(pieces) {
        let mapped = mapping.outputs.iter().find(|(_, decision)| *decision == name);
        let variable = match mapped {
            Some((variable, _)) => Some(named(description, variable)?),
            None => description
                .variables
                .iter()
                .find(|variable| variable.causality == Causality::Output && folded(&variable.name) == name),
        };
        match (variable, need) {
            (Some(variable), _) => {
                *place = Some(ports.len());
                ports.push(Port::si(description, variable, dimensions)?);
            }
            (None, Need::Optional) => {}
            (None, Need::Required) => {
                let outputs = description.names(Causality::Output);
                let example = outputs.first().cloned().unwrap_or_else(|| "delta".to_owned());
                return Err(wrong(format!(
                    "no output gives `{name}`; the outputs of the FMU are {}. Map one, as in outputs = [\"{example} = {name}\"]",
                    list(&outputs)
                )));
            }
        }
    }
    Ok((ports, places))
}
