//! Which variable of an FMU is which part of what a driver sees and decides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::protocol::Role;

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InputSource {
    /// Always the same number, in the variable's own unit.
    Constant(f64),
    /// A name of what is seen (`path.lateral`), or, for parameters, of what a run begins with (`car.wheelbase_m`).
    Signal(String),
}

/// A variable that counts for merging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyCell {
    /// An output or local variable.
    pub name: String,
    /// Size of its cells in its own unit; `None` counts exactly.
    #[serde(default)]
    pub cell: Option<f64>,
}

/// What an FMU is in the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FmuRole {
    /// Gets what the sensors say, returns commands.
    #[default]
    Driver,
    /// Gets commands, returns what wheels and drive make of them.
    Actuator,
    /// Gets commands, returns where the car is.
    Plant,
}

impl FmuRole {
    /// The role that its card tells.
    pub fn role(self) -> Role {
        match self {
            Self::Driver => Role::Driver,
            Self::Actuator => Role::Actuator,
            Self::Plant => Role::Plant,
        }
    }
    /// The one of this name.
    ///
    /// # Errors
    /// With all names, if there is none.
    pub fn named(name: &str) -> Result<Self, String> {
        let all = [Self::Driver, Self::Actuator, Self::Plant];
        let found = all.into_iter().find(|role| role.role().word() == name);
        found.ok_or_else(|| format!("`{name}` is none of driver, actuator and plant"))
    }
}

/// What cannot be told from the names of the variables.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FmuMapping {
    /// What it is.
    pub role: FmuRole,
    /// By variable: where its value comes from.
    pub inputs: BTreeMap<String, InputSource>,
    /// By variable: what of the answer it is, as `steer` or `accel`.
    pub outputs: BTreeMap<String, String>,
    /// Parameters set before the start, in their own units.
    pub parameters: BTreeMap<String, f64>,
    /// What of its memory counts for merging.
    pub key: Vec<KeyCell>,
    /// Seconds between two steps, if it cannot take those of the scenario.
    pub cycle_s: Option<f64>,
    /// Somebody vouches that it has no memory.
    pub memoryless: bool,
}

impl FmuMapping {
    /// As flags of the verb that serves FMUs.
    pub fn to_arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut flag = |name: &str, value: String| arguments.extend([format!("--{name}"), value]);
        for (variable, source) in &self.inputs {
            match source {
                InputSource::Constant(value) => flag("input", format!("{variable}={value:?}")),
                InputSource::Signal(name) => flag("input", format!("{variable}={name}")),
            }
        }
        for (variable, name) in &self.outputs {
            flag("output", format!("{variable}={name}"));
        }
        for (variable, value) in &self.parameters {
            flag("parameter", format!("{variable}={value:?}"));
        }
        for KeyCell { name, cell } in &self.key {
            flag("key", cell.map_or_else(|| name.clone(), |cell| format!("{name}={cell:?}")));
        }
        if let Some(cycle_s) = self.cycle_s {
            flag("cycle", format!("{cycle_s:?}"));
        }
        if self.role != FmuRole::Driver {
            flag("as", self.role.role().word().to_owned());
        }
        if self.memoryless {
            arguments.push("--memoryless".to_owned());
        }
        arguments
    }
    /// One flag `--input VARIABLE=SOURCE`; a number is a constant. The last `=` counts: names of variables may have some.
    ///
    /// # Errors
    /// When there is no `=`.
    pub fn add_input(&mut self, text: &str) -> Result<(), String> {
        let (variable, source) = split(text)?;
        let source = source.parse().map_or_else(|_| InputSource::Signal(source.to_owned()), InputSource::Constant);
        self.inputs.insert(variable.to_owned(), source);
        Ok(())
    }
    /// One flag `--output VARIABLE=NAME`.
    ///
    /// # Errors
    /// When there is no `=`.
    pub fn add_output(&mut self, text: &str) -> Result<(), String> {
        let (variable, name) = split(text)?;
        self.outputs.insert(variable.to_owned(), name.to_owned());
        Ok(())
    }
    /// One flag `--parameter VARIABLE=NUMBER`.
    ///
    /// # Errors
    /// When there is no `=` or no number.
    pub fn add_parameter(&mut self, text: &str) -> Result<(), String> {
        let (variable, value) = split(text)?;
        let value = value.parse().map_err(|_| format!("`{value}` is no number"))?;
        self.parameters.insert(variable.to_owned(), value);
        Ok(())
    }
    /// One flag `--key VARIABLE` or `--key VARIABLE=CELL`.
    pub fn add_key(&mut self, text: &str) {
        let with_cell = split(text).ok().and_then(|(name, cell)| Some((name, cell.parse().ok()?)));
        let (name, cell) = with_cell.map_or((text.trim(), None), |(name, cell)| (name, Some(cell)));
        self.key.push(KeyCell { name: name.to_owned(), cell });
    }
}

fn split(text: &str) -> Result<(&str, &str), String> {
    let (variable, value) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` has no `=`"))?;
    Ok((variable.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_survives_being_written_as_flags() {
        let mut mapping = FmuMapping { cycle_s: Some(0.02), memoryless: true, ..FmuMapping::default() };
        mapping.inputs.insert("e".to_owned(), InputSource::Signal("path.lateral".to_owned()));
        mapping.inputs.insert("a=b".to_owned(), InputSource::Constant(-0.1));
        mapping.outputs.insert("delta".to_owned(), "steer".to_owned());
        mapping.parameters.insert("k".to_owned(), 1e-9);
        mapping.key =
            vec![KeyCell { name: "sum".to_owned(), cell: Some(0.25) }, KeyCell { name: "done".to_owned(), cell: None }];
        let arguments = mapping.to_arguments();
        let mut again = FmuMapping { cycle_s: Some(0.02), memoryless: true, ..FmuMapping::default() };
        for pair in arguments.windows(2) {
            match pair[0].as_str() {
                "--input" => again.add_input(&pair[1]).expect("good"),
                "--output" => again.add_output(&pair[1]).expect("good"),
                "--parameter" => again.add_parameter(&pair[1]).expect("good"),
                "--key" => again.add_key(&pair[1]),
                _ => {}
            }
        }
        assert_eq!(again, mapping);
        assert!(arguments.ends_with(&["--cycle".to_owned(), "0.02".to_owned(), "--memoryless".to_owned()]));
        assert!(again.add_input("nothing").is_err() && again.add_parameter("k=x").is_err());
    }
}
