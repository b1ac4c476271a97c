//! Component models in a scenario: read, built, and bound to the loop by names.

use std::sync::Arc;

use anabranch_bridge::fmu::folded;
use anabranch_kernel::{CellSize, Variable};
use anabranch_language::model::ty::{Kind, Ty};
use anabranch_language::syntax::ast::{Direction, Item};
use anabranch_language::units::Dimension;
use anabranch_language::{Library, Model, Options, Severity};
use anabranch_program::Program;
use anabranch_sensing::{NoiseModel, Output, Ready};
use anabranch_vehicle::CarSpec;

use super::super::codes::Code;
use super::super::model_spec::{CommandSlots, ModelCell, ModelInput, ModelSource, ModelSpec, StageSpec};
use super::super::outside::MappingSpec;
use super::super::problems::{Problems, excerpt, listed, nearest};
use super::super::span::{Located, Span};
use super::super::view::View;
use super::super::{Diagnostic, Hooks, Report};
use crate::models::{self, Plain};

/// What commands are called.
const COMMANDS: [&str; 4] = ["steer", "accel", "gear", "completed"];

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
    let inputs = bind_inputs(problems, &asked, &built, &[])?;
    let mut given = Given::default();
    given.take(problems, &asked, &built, 0)?;
    let mut stages = vec![stage(problems, &asked, &built, inputs)?];
    let mut known = vec![built];
    for table in view.tables("actuators") {
        let mapping = super::driver::mapping_of(table);
        let asked =
            Asked { file: table.text("file")?, component: table.text("component"), mapping: &mapping, noise: &[] };
        let built = read(problems, &asked, hooks, facts)?;
        let inputs = bind_inputs(problems, &asked, &built, &known)?;
        given.take(problems, &asked, &built, stages.len())?;
        stages.push(stage(problems, &asked, &built, inputs)?);
        known.push(built);
    }
    let command = given.command(problems, &stages[0])?;
    Some(ModelSpec { stages, command })
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
    let options = Options { args: parameters(problems, asked, &library, &name, facts)?, ..Options::default() };
    let model = match Model::build(&library, &name, &options) {
        Ok(model) => model,
        Err(told) => {
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

/// What parameters can be: numbers of the car, and the seconds between two cycles of the driver.
type Facts<'a> = (&'a CarSpec, f64);

/// A fact by name.
fn fact((car, cycle_s): Facts<'_>, name: &str) -> Option<f64> {
    let outline = &car.outline;
    Some(match folded(name).as_str() {
        "cycle_s" => cycle_s,
        "car_wheelbase_m" => car.wheelbase_m,
        "car_length_m" => outline.front_m + outline.rear_m,
        "car_width_m" => 2.0 * outline.half_width_m,
        "car_rear_overhang_m" => outline.rear_m,
        "car_steering_max_rad" => car.steering_max_rad,
        "car_steering_rate_max_radps" => car.steering_rate_max_radps,
        _ => return None,
    })
}

/// Values of parameters: as written, or facts of the car that have the name of the parameter.
fn parameters(
    problems: &mut Problems<'_>,
    asked: &Asked<'_>,
    library: &Library,
    component: &str,
    facts: Facts<'_>,
) -> Option<Vec<(String, Vec<f64>)>> {
    let mut args = Vec::new();
    for text in &asked.mapping.parameters {
        let (name, value) = split(problems, text)?;
        let numbers = value.trim_start_matches('[').trim_end_matches(']');
        let numbers: Option<Vec<f64>> =
            numbers.split([' ', ',']).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect();
        let Some(values) = fact(facts, value).map(|fact| vec![fact]).or(numbers.filter(|all| !all.is_empty())) else {
            let message = format!("`{}` gives the parameter no number", excerpt(&text.value));
            let help = "write a number in SI units, a row of them, or a fact of the car: \"L = car.wheelbase_m\"";
            problems.add(Code::WrongMapping, text.span, message, help);
            return None;
        };
        args.push((name.to_owned(), values));
    }
    if let Some(Item::Component(found)) = library.find(component, None).map(|found| found.item) {
        let generic = found.generics.iter().map(|generic| generic.name.text.as_str());
        let names = found.params.iter().map(|param| param.name.text.as_str()).chain(generic);
        let own: Vec<&str> = names.filter(|name| args.iter().all(|(given, _)| given != name)).collect();
        args.extend(own.into_iter().filter_map(|name| Some((name.to_owned(), vec![fact(facts, name)?]))));
    }
    Some(args)
}

/// `name = what it is`.
fn split<'t>(problems: &mut Problems<'_>, text: &'t Located<String>) -> Option<(&'t str, &'t str)> {
    let parts = text.value.split_once('=');
    if parts.is_none() {
        let message = format!("`{}` does not say what the port is", excerpt(&text.value));
        problems.add(Code::WrongMapping, text.span, message, "write a port and what it is: \"v = speed\"");
    }
    parts.map(|(name, what)| (name.trim(), what.trim()))
}

/// The elements that a written name means: one, or all of a port.
fn meant(elements: &[Element], name: &str) -> Vec<usize> {
    let name = folded(name).trim_end_matches('_').to_owned();
    let own = |element: &Element| folded(&element.name).trim_end_matches('_').to_owned();
    let exactly: Vec<usize> = (0..elements.len()).filter(|&i| own(&elements[i]) == name).collect();
    if !exactly.is_empty() {
        return exactly;
    }
    let begins = format!("{name}_");
    (0..elements.len()).filter(|&i| own(&elements[i]).starts_with(&begins)).collect()
}

fn unknown(problems: &mut Problems<'_>, span: Span, what: &str, name: &str, elements: &[Element]) {
    let names = || elements.iter().map(|element| element.name.as_str());
    let guess = nearest(name, names()).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let message = format!("the model has no {what} `{}`", excerpt(name));
    problems.add(Code::WrongMapping, span, message, format!("{guess}it has {}", listed(names().take(20))));
}

/// Where every input comes from: as written, by its name among what the components before have, or by its name among
/// what drivers are told.
fn bind_inputs(
    problems: &mut Problems<'_>,
    asked: &Asked<'_>,
    built: &Built,
    before: &[Built],
) -> Option<Vec<ModelInput>> {
    let mut sources: Vec<Option<(ModelSource, Option<Dimension>)>> = Vec::new();
    for element in &built.inputs {
        sources.push(from_before(before, &element.name).or_else(|| told(&element.name)));
    }
    let mut places = vec![asked.file.span; built.inputs.len()];
    for text in &asked.mapping.inputs {
        let (name, what) = split(problems, text)?;
        let elements = meant(&built.inputs, name);
        if elements.is_empty() {
            unknown(problems, text.span, "input", name, &built.inputs);
            return None;
        }
        let source = match what.parse::<f64>() {
            Ok(number) if number.is_finite() => Some((ModelSource::Constant(number), None)),
            _ => from_before(before, what).or_else(|| told(what)),
        };
        let Some(source) = source else {
            let names = models::names();
            let near = nearest(what, names.iter().map(String::as_str));
            let help = near.map_or_else(|| there_is(&names), |near| format!("did you mean `{near}`?"));
            let message = format!("a driver is not told `{}`", excerpt(what));
            problems.add(Code::WrongMapping, text.span, message, help);
            return None;
        };
        for element in elements {
            (sources[element], places[element]) = (Some(source.clone()), text.span);
        }
    }
    let noises = noises(problems, asked, built, &sources)?;
    let mut inputs = Vec::new();
    for (number, (element, source)) in built.inputs.iter().zip(sources).enumerate() {
        let Some((from, measured)) = source else {
            let message = format!("nothing says where the input `{}` comes from", element.name);
            let help = format!("add inputs = [\"{} = speed\"]; {}", element.name, there_is(&models::names()));
            problems.add(Code::WrongMapping, places[number], message, help);
            return None;
        };
        if let (Some(own), Some(measured)) = (element.dimension, measured)
            && own != measured
        {
            let message = format!("`{}` is {own}, and what it is told is {measured}", element.name);
            problems.add(Code::WrongMapping, places[number], message, "choose a port or a signal of the same kind");
            return None;
        }
        inputs.push(ModelInput { name: element.name.clone(), from, noise: noises[number] });
    }
    Some(inputs)
}

fn there_is(names: &[String]) -> String {
    format!("there is {}", listed(names.iter().map(String::as_str)))
}

/// What drivers are told under a name.
fn told(name: &str) -> Option<(ModelSource, Option<Dimension>)> {
    let dimension = models::measures(name)?;
    let source = Plain::named(name).map_or_else(|| ModelSource::Seen(name.to_owned()), ModelSource::Plain);
    Some((source, Some(dimension)))
}

/// What components before give or were given under a name; what is given counts first, and later ones before earlier.
fn from_before(before: &[Built], name: &str) -> Option<(ModelSource, Option<Dimension>)> {
    let find = |elements: &[Element]| elements.iter().position(|element| folded(&element.name) == folded(name));
    let outputs = before.iter().enumerate().rev().find_map(|(stage, built)| {
        let at = find(&built.outputs)?;
        Some((ModelSource::Output(stage, at), built.outputs[at].dimension))
    });
    outputs.or_else(|| {
        before.iter().enumerate().rev().find_map(|(stage, built)| {
            let at = find(&built.inputs)?;
            Some((ModelSource::Input(stage, at), built.inputs[at].dimension))
        })
    })
}

/// The noise of every input, by the names of the three ready models of what it tells.
fn noises(
    problems: &mut Problems<'_>,
    asked: &Asked<'_>,
    built: &Built,
    sources: &[Option<(ModelSource, Option<Dimension>)>],
) -> Option<Vec<Option<NoiseModel>>> {
    let mut noises = vec![None; built.inputs.len()];
    for text in asked.noise {
        let (name, word) = split(problems, text)?;
        let elements = meant(&built.inputs, name);
        if elements.is_empty() {
            unknown(problems, text.span, "input", name, &built.inputs);
            return None;
        }
        let Some(ready) = Ready::named(word) else {
            let message = format!("there is no noise `{}`", excerpt(word));
            problems.add(Code::WrongMapping, text.span, message, "write `white`, `wandering` or `situational`");
            return None;
        };
        for element in elements {
            let told = sources[element].as_ref().and_then(|(source, _)| sensor_of(source));
            let Some(told) = told else {
                let message = format!("no sensor tells `{}`, so it has no noise", built.inputs[element].name);
                problems.add(Code::WrongMapping, text.span, message, "remove it");
                return None;
            };
            noises[element] = Some(told.noise(ready));
        }
    }
    Some(noises)
}

/// The sensor that tells a signal.
fn sensor_of(source: &ModelSource) -> Option<Output> {
    match source {
        ModelSource::Plain(plain) => match plain {
            Plain::PoseX | Plain::PoseY => Some(Output::Position),
            Plain::PoseHeading => Some(Output::Heading),
            Plain::Speed => Some(Output::Speed),
            Plain::Steer => Some(Output::Steering),
            Plain::PathLateral => Some(Output::RoadDistance),
            Plain::PathHeading => Some(Output::Heading),
            _ => None,
        },
        ModelSource::Seen(name) => match folded(name) {
            name if name.starts_with("road_marker") || name == "road_lateral" => Some(Output::RoadDistance),
            name if name == "road_heading" => Some(Output::Heading),
            name if name == "road_leader_ahead" => Some(Output::ObjectPosition),
            name if name == "road_leader_speed" => Some(Output::Speed),
            _ => None,
        },
        ModelSource::Constant(_) | ModelSource::Output(..) | ModelSource::Input(..) => None,
    }
}

/// Commands found so far, by component and output; later components count more.
#[derive(Default)]
struct Given([Option<(usize, usize)>; 4]);

impl Given {
    fn take(&mut self, problems: &mut Problems<'_>, asked: &Asked<'_>, built: &Built, stage: usize) -> Option<()> {
        let mut mapped = Vec::new();
        for text in &asked.mapping.outputs {
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
            mapped.push((command, element));
        }
        for (command, name) in COMMANDS.iter().enumerate() {
            let own = mapped.iter().find(|(known, _)| *known == command).map(|(_, element)| *element);
            let by_name = || built.outputs.iter().position(|element| folded(&element.name) == *name);
            if let Some(element) = own.or_else(by_name) {
                self.0[command] = Some((stage, element));
            }
        }
        Some(())
    }

    fn command(&self, problems: &mut Problems<'_>, controller: &StageSpec) -> Option<CommandSlots> {
        let [steer, accel, gear, completed] = self.0;
        if let (Some(steer), Some(accel)) = (steer, accel) {
            return Some(CommandSlots { steer, accel, gear, completed });
        }
        let missing = if steer.is_none() { "steer" } else { "accel" };
        let message = format!("no output of `{}` is the command `{missing}`", controller.name);
        let help = format!("add outputs = [\"its output = {missing}\"]");
        problems.add(Code::WrongMapping, controller.file.span, message, help);
        None
    }
}

fn stage(problems: &mut Problems<'_>, asked: &Asked<'_>, built: &Built, inputs: Vec<ModelInput>) -> Option<StageSpec> {
    let mut cells = cells(&built.program);
    for text in &asked.mapping.key {
        let (name, size) = text
            .value
            .split_once('=')
            .map_or((text.value.trim(), None), |(name, size)| (name.trim(), Some(size.trim())));
        let fits = |cell: &&mut ModelCell| {
            let own = &cell.variable.name;
            own == name || own.ends_with(&format!(".{name}"))
        };
        let size = match size.map(str::parse::<f64>) {
            None => CellSize::Exact,
            Some(Ok(size)) if size > 0.0 && size.is_finite() => CellSize::Size(size),
            Some(_) => {
                let message = format!("`{}` gives no cell size", excerpt(&text.value));
                problems.add(Code::WrongMapping, text.span, message, "write a positive number in SI units");
                return None;
            }
        };
        let Some(cell) = cells.iter_mut().find(fits) else {
            let names: Vec<String> = cells.iter().map(|cell| cell.variable.name.clone()).collect();
            let help = if names.is_empty() {
                "it remembers nothing".to_owned()
            } else {
                format!("it remembers {}", names.join(", "))
            };
            let message = format!("the model does not remember `{}`", excerpt(name));
            problems.add(Code::WrongMapping, text.span, message, help);
            return None;
        };
        cell.variable.size = size;
    }
    let (name, program) = (built.name.clone(), built.program.clone());
    Some(StageSpec { file: asked.file.clone(), name, program, inputs, cells })
}

/// What of a program's memory reaches later cycles, by its names; bit by bit unless the scenario says otherwise.
fn cells(program: &Program) -> Vec<ModelCell> {
    let lasting = program.lasting();
    let mut cells = Vec::new();
    let mut named = vec![false; lasting.len()];
    for variable in program.variables() {
        let saved = program.layout().addresses(variable.span);
        if saved.end <= lasting.len() && lasting[saved.clone()].iter().any(|lasts| *lasts) {
            named[saved.clone()].fill(true);
            cells.push(ModelCell { saved, variable: Variable::exact(&format!("driver.{}", variable.name)) });
        }
    }
    for at in (0..lasting.len()).filter(|&at| lasting[at] && !named[at]) {
        cells.push(ModelCell { saved: at..at + 1, variable: Variable::exact(&format!("driver.memory{at}")) });
    }
    cells
}
