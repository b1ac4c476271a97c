//! Component models in a scenario: read, built, and bound to the loop by names.

mod bind;
mod cells;
mod commands;
mod parameters;

use std::sync::Arc;

use anabranch_language::model::ty::{Kind, Ty};
use anabranch_language::syntax::ast::Direction;
use anabranch_language::units::Dimension;
use anabranch_language::{Library, Model, Options, Severity};
use anabranch_program::Program;

use super::super::codes::Code;
use super::super::model_spec::{ModelSpec, StageSpec};
use super::super::outside::MappingSpec;
use super::super::problems::{Problems, excerpt};
use super::super::span::{Located, Span};
use super::super::view::View;
use super::super::{Diagnostic, Hooks, Report};
use bind::bind_inputs;
use cells::stage;
use commands::Given;
use parameters::{Facts, parameters};

/// A component as a scenario asks for it.
struct Asked<'a> {
    file: Located<String>,
    component: Option<Located<String>>,
    mapping: &'a MappingSpec,
    noise: &'a [Located<String>],
}

/// One number of a port.
struct Element {
    name: String,
    dimension: Option<Dimension>,
}

/// A component that was built, not bound yet.
struct Built {
    name: String,
    program: Arc<Program>,
    inputs: Vec<Element>,
    outputs: Vec<Element>,
}

/// The controller and the actuators behind it; `None` with a problem that says why.
pub(super) fn build(
    problems: &mut Problems<'_>,
    view: View<'_>,
    file: Located<String>,
    mapping: &MappingSpec,
    (hooks, facts): (&Hooks<'_>, Facts<'_>),
) -> Option<ModelSpec> {
    let noise = super::driver::texts(view, "noise");
    let asked = Asked { file, component: view.text("component"), mapping, noise: &noise };
    let built = read(problems, &asked, hooks, facts)?;
    // Mistakes of inputs and of outputs are told together.
    let inputs = bind_inputs(problems, &asked, &built, &[]);
    let mut given = Given::default();
    given.take(problems, &asked, &built, 0)?;
    let inputs = inputs?;
    let mut stages = vec![stage(problems, &asked, &built, inputs)?];
    actuators(problems, view, (hooks, facts), (&mut stages, &mut given, vec![built]))?;
    let command = given.command(problems, &stages[0])?;
    Some(ModelSpec { stages, command })
}

/// Actuators behind a built-in driver; `None` with a problem that says why. The first component passes on what it commands.
pub(super) fn behind(
    problems: &mut Problems<'_>,
    view: View<'_>,
    span: Span,
    (hooks, facts): (&Hooks<'_>, Facts<'_>),
) -> Option<ModelSpec> {
    let (built, first) = commands::passed_on(span)?;
    let (mut stages, mut given) = (vec![first], Given::of_driver());
    actuators(problems, view, (hooks, facts), (&mut stages, &mut given, vec![built]))?;
    let mut inputs = stages.iter().flat_map(|stage| stage.inputs.iter().map(move |input| (&stage.file, input)));
    if let Some((file, input)) = inputs.find(|(_, input)| bind::is_about_the_way(&input.from)) {
        let message = format!("`{}` is about the way, which only a driver that is a model is told", input.name);
        let help = "actuators of a built-in driver are told its commands (steer, accel, gear) and the car";
        problems.add(Code::WrongMapping, file.span, message, help);
        return None;
    }
    let command = given.command(problems, &stages[0])?;
    if command.completed.is_some() {
        let message = "the built-in driver says by itself when it has completed its way";
        problems.add(Code::WrongMapping, span, message, "give the output `completed` another name");
        return None;
    }
    Some(ModelSpec { stages, command })
}

/// The components before, their commands, and what they are called by.
type Before<'s> = (&'s mut Vec<StageSpec>, &'s mut Given, Vec<Built>);

/// Models behind what there is, one after the other.
fn actuators(
    problems: &mut Problems<'_>,
    view: View<'_>,
    (hooks, facts): (&Hooks<'_>, Facts<'_>),
    (stages, given, mut known): Before<'_>,
) -> Option<()> {
    for table in view.tables("actuators") {
        let mapping = super::driver::mapping_of(table);
        let asked =
            Asked { file: table.text("file")?, component: table.text("component"), mapping: &mapping, noise: &[] };
        let built = read(problems, &asked, hooks, facts)?;
        let inputs = bind_inputs(problems, &asked, &built, &known);
        given.take(problems, &asked, &built, stages.len())?;
        let inputs = inputs?;
        stages.push(stage(problems, &asked, &built, inputs)?);
        known.push(built);
    }
    Some(())
}

/// Reads and builds a component.
fn read(problems: &mut Problems<'_>, asked: &Asked<'_>, hooks: &Hooks<'_>, facts: Facts<'_>) -> Option<Built> {
    let file = &asked.file;
    let Ok((library, names)) = (hooks.read_models)(&file.value) else {
        let message = format!("there is no file `{}`", excerpt(&file.value));
        problems.add(Code::NoSuchFile, file.span, message, "names of files are relative to the folder of the scenario");
        return None;
    };
    let (name, span) = match &asked.component {
        Some(component) => (component.value.clone(), component.span),
        None => (names.first().cloned().unwrap_or_default(), file.span),
    };
    let given = parameters(problems, asked, &library, &name, facts)?;
    let args = given.iter().map(|given| (given.name.clone(), given.values.clone())).collect();
    let options = Options { args, ..Options::default() };
    let model = match Model::build(&library, &name, &options) {
        Ok(model) => model,
        Err(mut told) => {
            told.retain(|wrong| {
                let blamed = options.blamed(&library, wrong);
                let given = blamed.and_then(|name| given.iter().find(|given| given.name == name));
                given.inspect(|given| does_not_fit(problems, given, wrong)).is_none()
            });
            tell(problems, &library, &told, span);
            return None;
        }
    };
    let elements = |direction: Direction| {
        let ports = model.ports().iter().filter(move |port| port.direction == direction);
        let mut all = Vec::new();
        ports.for_each(|port| flatten(&port.name, &port.ty, port.count, &mut all));
        all
    };
    let (inputs, outputs) = (elements(Direction::In), elements(Direction::Out));
    Some(Built { name, program: Arc::new((**model.program()).clone()), inputs, outputs })
}

/// A value that the model cannot take, where it was given.
fn does_not_fit(problems: &mut Problems<'_>, given: &parameters::Given, wrong: &anabranch_language::Diagnostic) {
    let message = match wrong.message.contains(&format!("`{}`", given.name)) {
        true => wrong.message.clone(),
        false => format!("the parameter `{}`: {}", given.name, wrong.message),
    };
    problems.add(Code::WrongMapping, given.span, message, wrong.help.clone().unwrap_or_default());
}

/// What is wrong with a model, in the file where it is wrong; here if it has no place there.
fn tell(problems: &mut Problems<'_>, library: &Library, told: &[anabranch_language::Diagnostic], span: Span) {
    let mut elsewhere = Vec::new();
    for wrong in told.iter().filter(|wrong| wrong.severity == Severity::Error) {
        let text = library.file_at(&wrong.file).map(|id| library.file(id).text.as_str());
        let Some(text) = text else {
            problems.add(Code::WrongModel, span, wrong.message.clone(), wrong.help.clone().unwrap_or_default());
            continue;
        };
        let length = text.get(wrong.span.start as usize..wrong.span.end as usize).unwrap_or("").lines().next();
        elsewhere.push(Diagnostic {
            code: wrong.code.text(),
            file: wrong.file.display().to_string(),
            line: wrong.line,
            column: wrong.column,
            length: length.map_or(1, |marked| marked.chars().count().max(1)),
            message: wrong.message.clone(),
            help: wrong.help.clone().unwrap_or_default(),
            source_line: text.lines().nth(wrong.line.saturating_sub(1)).unwrap_or("").to_owned(),
        });
    }
    if !elsewhere.is_empty() {
        problems.add_elsewhere(Report::new(elsewhere));
    }
}

/// Every number of a port, in the order of its slots.
fn flatten(name: &str, ty: &Ty, count: Option<u32>, all: &mut Vec<Element>) {
    let several = count.is_some() || !ty.shape.is_empty();
    let each = ty.elements();
    for number in 0..count.unwrap_or(1).saturating_mul(each) {
        let name = if several { format!("{name}[{}]", number + 1) } else { name.to_owned() };
        match &ty.kind {
            Kind::Number(number) => all.push(Element { name, dimension: number.dimension }),
            Kind::Struct(fields) => {
                fields.fields.iter().for_each(|(field, ty)| flatten(&format!("{name}.{field}"), ty, None, all));
            }
        }
    }
}
