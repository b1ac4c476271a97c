//! Which outputs of component models are the commands of the car.

use std::sync::Arc;

use anabranch_bridge::fmu::folded;
use anabranch_language::units::Dimension;
use anabranch_program as ir;

use super::super::super::codes::Code;
use super::super::super::model_spec::{CommandSlots, ModelInput, ModelSource, StageSpec};
use super::super::super::problems::{Problems, excerpt, listed};
use super::super::super::span::{Located, Span};
use super::bind::{meant, split, unknown};
use super::{Asked, Built, Element};

/// What commands are called. The last two are those of the public simulators: wheels to the right, and brakes apart
/// from the engine. They count only where a mapping says so.
const COMMANDS: [&str; 6] = ["steer", "accel", "gear", "completed", "steer.right", "brake"];
const STEER: usize = 0;
const STEER_RIGHT: usize = 4;
/// What they measure: angles and words are plain numbers, the engine and the brakes accelerate.
const MEASURES: [Dimension; 6] = {
    let (number, acceleration) = (Dimension([0; 7]), Dimension([1, 0, -2, 0, 0, 0, 0]));
    [number, acceleration, number, number, number, acceleration]
};
/// How many of them are found by the names of outputs.
const BY_NAME: usize = 4;
/// How many of them the built-in driver gives.
const PASSED_ON: usize = 3;

/// Commands found so far, by component and output; later components count more.
#[derive(Default)]
pub(super) struct Given([Option<(usize, usize)>; 6]);

/// A component that passes on what the built-in driver commands, as the first of those behind it.
pub(super) fn passed_on(span: Span) -> Option<(Built, StageSpec)> {
    let passed = &COMMANDS[..PASSED_ON];
    let element = |(name, of): (&&str, Dimension)| Element { name: (*name).to_owned(), dimension: Some(of) };
    let elements = || passed.iter().zip(MEASURES).map(element).collect::<Vec<_>>();
    let mut builder = ir::Builder::new("driver");
    let pass = |name: &str| {
        let from = builder.input(name, &[0.0]).start;
        ir::Stmt::set(builder.output(name, &[0.0]).start, from)
    };
    let body: Vec<ir::Stmt> = passed.iter().copied().map(pass).collect();
    builder.step("driver", body);
    let program = Arc::new(builder.finish().ok()?);
    let input = |(number, name): (usize, &&str)| ModelInput {
        name: (*name).to_owned(),
        from: ModelSource::Driven(number),
        noise: None,
    };
    let inputs = passed.iter().enumerate().map(input).collect();
    let file = Located::new("driver".to_owned(), span);
    let stage = StageSpec { file, name: "driver".to_owned(), program: program.clone(), inputs, cells: Vec::new() };
    Some((Built { name: "driver".to_owned(), program, inputs: elements(), outputs: elements() }, stage))
}

/// The command and the output that an entry is about.
fn mapped_output(problems: &mut Problems<'_>, text: &Located<String>, built: &Built) -> Option<(usize, usize)> {
    let (name, what) = split(problems, text)?;
    let Some(command) = COMMANDS.iter().position(|known| folded(known) == folded(what)) else {
        let message = format!("`{}` is no command", excerpt(what));
        problems.add(Code::WrongMapping, text.span, message, format!("there is {}", listed(COMMANDS)));
        return None;
    };
    let [element] = meant(&built.outputs, name)[..] else {
        unknown(problems, text.span, "output", name, &built.outputs);
        return None;
    };
    measured_alike(problems, text.span, &built.outputs[element], command)?;
    Some((command, element))
}

/// Whether an output measures what the command does; one without a unit is taken as SI, as inputs are.
fn measured_alike(problems: &mut Problems<'_>, span: Span, output: &Element, command: usize) -> Option<()> {
    let (name, asked) = (COMMANDS[command], MEASURES[command]);
    let Some(own) = output.dimension.filter(|own| *own != asked) else { return Some(()) };
    let message = format!("`{}` is {own}, and the command `{name}` is {asked}", output.name);
    problems.add(Code::WrongMapping, span, message, "choose an output of the same kind, or give the port another unit");
    None
}

impl Given {
    /// The commands of a built-in driver, as they are passed on.
    pub(super) fn of_driver() -> Self {
        Self([Some((0, 0)), Some((0, 1)), Some((0, 2)), None, None, None])
    }

    pub(super) fn take(
        &mut self,
        problems: &mut Problems<'_>,
        asked: &Asked<'_>,
        built: &Built,
        stage: usize,
    ) -> Option<()> {
        let mut mapped: Vec<(usize, usize)> = Vec::new();
        let mut understood = true;
        for text in &asked.mapping.outputs {
            let side = |command: usize| command == STEER || command == STEER_RIGHT;
            match mapped_output(problems, text, built) {
                Some((command, _)) if side(command) && mapped.iter().any(|(before, _)| side(*before)) => {
                    let message = "the wheels are commanded twice";
                    problems.add(Code::WrongMapping, text.span, message, "keep one of `steer` and `steer.right`");
                    understood = false;
                }
                Some(found) => mapped.push(found),
                None => understood = false,
            }
        }
        if !understood {
            return None;
        }
        for (command, name) in COMMANDS.iter().enumerate() {
            let own = mapped.iter().find(|(known, _)| *known == command).map(|(_, element)| *element);
            let named = || built.outputs.iter().position(|element| folded(&element.name) == *name);
            let by_name = || if command < BY_NAME { named() } else { None };
            if let Some(element) = own.or_else(by_name) {
                if own.is_none() {
                    measured_alike(problems, asked.file.span, &built.outputs[element], command)?;
                }
                self.0[command] = Some((stage, element));
                // Who comes later says to which side.
                self.0[STEER] = self.0[STEER].filter(|_| command != STEER_RIGHT);
                self.0[STEER_RIGHT] = self.0[STEER_RIGHT].filter(|_| command != STEER);
            }
        }
        Some(())
    }

    pub(super) fn command(&self, problems: &mut Problems<'_>, controller: &StageSpec) -> Option<CommandSlots> {
        let [steer, accel, gear, completed, steer_right, brake] = self.0;
        let steer_sign = if steer.is_some() { 1 } else { -1 };
        let steer = steer.or(steer_right);
        if let (Some(steer), Some(accel)) = (steer, accel) {
            return Some(CommandSlots { steer, steer_sign, accel, brake, gear, completed });
        }
        let missing = if steer.is_none() { "steer" } else { "accel" };
        let message = format!("no output of `{}` is the command `{missing}`", controller.name);
        let help = format!("add outputs = [\"its output = {missing}\"]");
        problems.add(Code::WrongMapping, controller.file.span, message, help);
        None
    }
}
