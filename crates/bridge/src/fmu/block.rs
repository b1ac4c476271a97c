//! An FMU as a block with inputs and outputs, for parts of a plant: set, step, get, save, load.

use std::sync::Arc;

use super::component::{Component, Fmu, State};
use super::description::Description;
use super::error::{FmuError, list};
use super::port::{Port, bundles};

/// A component that is stepped by hand, in its own units. Its code runs in this process and can end it; whoever explores with
/// foreign binaries puts them behind a process of their own.
#[derive(Debug)]
pub struct FmuBlock {
    fmu: Arc<Fmu>,
    component: Component,
    time_s: f64,
}

/// A saved state of a block, with its time.
#[derive(Debug)]
pub struct BlockState {
    state: State,
    time_s: f64,
}

impl FmuBlock {
    /// A new component at time zero, with parameters set by name first.
    ///
    /// # Errors
    /// When it does not start or a name is unknown.
    pub fn new(fmu: &Arc<Fmu>, parameters: &[(&str, f64)]) -> Result<Self, FmuError> {
        let ports = parameters.iter().map(|(name, _)| find(fmu.description(), name)).collect::<Result<Vec<_>, _>>()?;
        let values: Vec<f64> = parameters.iter().map(|&(_, value)| value).collect();
        let component = Component::new(fmu)?;
        component.initialise(&bundles(&ports), &values)?;
        Ok(Self { fmu: fmu.clone(), component, time_s: 0.0 })
    }
    /// Simulated seconds so far.
    pub fn time_s(&self) -> f64 {
        self.time_s
    }
    /// Sets a variable.
    ///
    /// # Errors
    /// When there is none of that name or the FMU refuses.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), FmuError> {
        self.component.write(&bundles([&find(self.fmu.description(), name)?]), &[value])
    }
    /// Reads a variable.
    ///
    /// # Errors
    /// When there is none of that name or the FMU refuses.
    pub fn get(&self, name: &str) -> Result<f64, FmuError> {
        let mut value = [0.0];
        self.component.read(&bundles([&find(self.fmu.description(), name)?]), &mut value)?;
        Ok(value[0])
    }
    /// Goes on for some seconds.
    ///
    /// # Errors
    /// When the FMU fails.
    pub fn step(&mut self, length_s: f64) -> Result<(), FmuError> {
        self.component.step(self.time_s, length_s)?;
        self.time_s += length_s;
        Ok(())
    }
    /// Keeps the state.
    ///
    /// # Errors
    /// When the FMU cannot.
    pub fn save(&self) -> Result<BlockState, FmuError> {
        Ok(BlockState { state: self.component.save()?, time_s: self.time_s })
    }
    /// Goes back to a state of this block, which stays.
    ///
    /// # Errors
    /// When the FMU cannot.
    pub fn load(&mut self, state: &BlockState) -> Result<(), FmuError> {
        self.component.load(&state.state)?;
        self.time_s = state.time_s;
        Ok(())
    }
    /// A state as bytes, where the FMU writes them.
    ///
    /// # Errors
    /// When the FMU fails, though it claims to.
    pub fn bytes(&self, state: &BlockState) -> Result<Option<Vec<u8>>, FmuError> {
        self.component.serialise(&state.state)
    }
}

fn find(description: &Description, name: &str) -> Result<Port, FmuError> {
    let variable = description.variable(name).ok_or_else(|| {
        let there: Vec<String> = description.variables.iter().map(|variable| variable.name.clone()).collect();
        FmuError::Mapping { text: format!("there is no variable `{name}`; there are {}", list(&there)) }
    })?;
    Port::plain(variable)
}
