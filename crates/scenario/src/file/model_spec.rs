//! What a scenario says about component models, with the models themselves.

use std::sync::Arc;

use anabranch_kernel::Variable;
use anabranch_program::Program;
use anabranch_sensing::{NoiseModel, Situations};

use super::span::Located;
use crate::models::{Otherwise, Plain};

/// Whether a file of this name holds a component model.
pub fn is_model(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".emam", ".ema"].iter().any(|ending| name.ends_with(ending))
}

/// A controller and the actuators behind it, computed one after the other in each cycle: one large model with the
/// interface of the controller (S2-39).
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpec {
    /// The controller first.
    pub stages: Vec<StageSpec>,
    /// Which numbers are the command.
    pub command: CommandSlots,
}

impl ModelSpec {
    /// Whether zones of bad reception scale the noise of one of its inputs.
    pub fn obeys_zones(&self) -> bool {
        let mut noises = self.stages.iter().flat_map(|stage| &stage.inputs).filter_map(|input| input.noise);
        noises.any(|noise| noise.situations == Situations::Obeyed)
    }
}

/// One component of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StageSpec {
    /// Its file, as written.
    pub file: Located<String>,
    /// Full name of the component.
    pub name: String,
    /// What it computes in a cycle.
    pub program: Arc<Program>,
    /// Where each of its inputs comes from, in the order of its inputs.
    pub inputs: Vec<ModelInput>,
    /// What it remembers, as it counts for merging.
    pub cells: Vec<ModelCell>,
}

/// One number that goes into a component.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInput {
    /// Name of the port, with its element.
    pub name: String,
    /// Where it comes from.
    pub from: ModelSource,
    /// What the sensor adds (S2-12).
    pub noise: Option<NoiseModel>,
}

/// Where a number comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelSource {
    /// Always the same.
    Constant(f64),
    /// What every driver is told.
    Plain(Plain),
    /// The same as the public simulators tell it.
    Otherwise(Otherwise),
    /// Something else that drivers are told, by name: objects and roads.
    Seen(String),
    /// What the built-in driver commands: 0 the angle of the wheels, 1 the acceleration, 2 the gear.
    Driven(usize),
    /// What a component before gives: number of the component and of the output.
    Output(usize, usize),
    /// What a component before was given: number of the component and of the input.
    Input(usize, usize),
}

/// Where the command is: number of the component and of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandSlots {
    /// Angle of the front wheels.
    pub steer: (usize, usize),
    /// 1 if that angle is positive to the left, -1 if to the right.
    pub steer_sign: i8,
    /// Acceleration along the gear.
    pub accel: (usize, usize),
    /// Deceleration that is taken from it, where the brakes are commanded apart.
    pub brake: Option<(usize, usize)>,
    /// 1 or -1; that of the path if `None`.
    pub gear: Option<(usize, usize)>,
    /// Anything but 0 says that the manoeuvre is completed.
    pub completed: Option<(usize, usize)>,
}

/// Something that a component remembers.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCell {
    /// Where it is among the saved numbers.
    pub saved: std::ops::Range<usize>,
    /// How it counts.
    pub variable: Variable,
}
