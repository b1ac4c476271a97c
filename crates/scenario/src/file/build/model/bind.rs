//! Where the inputs of a component model come from, and how noisy they are.

use anabranch_bridge::fmu::folded;
use anabranch_language::units::Dimension;
use anabranch_sensing::{NoiseModel, Output, Ready};

use super::super::super::codes::Code;
use super::super::super::model_spec::{ModelInput, ModelSource};
use super::super::super::problems::{Problems, excerpt, listed, nearest};
use super::super::super::span::{Located, Span};
use super::{Asked, Built, Element};
use crate::models::{self, Otherwise, Plain};

/// `name = what it is`.
pub(super) fn split<'t>(problems: &mut Problems<'_>, text: &'t Located<String>) -> Option<(&'t str, &'t str)> {
    let parts = text.value.split_once('=');
    if parts.is_none() {
        let message = format!("`{}` does not say what the port is", excerpt(&text.value));
        problems.add(Code::WrongMapping, text.span, message, "write a port and what it is: \"v = speed\"");
    }
    parts.map(|(name, what)| (name.trim(), what.trim()))
}

/// The elements that a written name means: one, or all of a port.
pub(super) fn meant(elements: &[Element], name: &str) -> Vec<usize> {
    let name = folded(name).trim_end_matches('_').to_owned();
    let own = |element: &Element| folded(&element.name).trim_end_matches('_').to_owned();
    let exactly: Vec<usize> = (0..elements.len()).filter(|&i| own(&elements[i]) == name).collect();
    if !exactly.is_empty() {
        return exactly;
    }
    let begins = format!("{name}_");
    (0..elements.len()).filter(|&i| own(&elements[i]).starts_with(&begins)).collect()
}

pub(super) fn unknown(problems: &mut Problems<'_>, span: Span, what: &str, name: &str, elements: &[Element]) {
    let names = || elements.iter().map(|element| element.name.as_str());
    let guess = nearest(name, names()).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let message = format!("the model has no {what} `{}`", excerpt(name));
    problems.add(Code::WrongMapping, span, message, format!("{guess}it has {}", listed(names().take(20))));
}

/// What goes into an input, and what it measures if that is known.
type Source = (ModelSource, Option<Dimension>);

/// Where every input comes from: as written, by its name among what the components before have, or by its name among
/// what drivers are told. Every mistake is told, each at its entry.
pub(super) fn bind_inputs(
    problems: &mut Problems<'_>,
    asked: &Asked<'_>,
    built: &Built,
    before: &[Built],
) -> Option<Vec<ModelInput>> {
    let mut sources: Vec<Option<Source>> = Vec::new();
    for element in &built.inputs {
        sources.push(from_before(before, &element.name).or_else(|| told(&element.name)));
    }
    let mut places = vec![asked.file.span; built.inputs.len()];
    let mut understood = true;
    for text in &asked.mapping.inputs {
        let Some((elements, source)) = mapped(problems, text, built, before) else {
            understood = false;
            continue;
        };
        for element in elements {
            (sources[element], places[element]) = (Some(source.clone()), text.span);
        }
    }
    let noises = noises(problems, asked, built, &sources);
    let fits = fit(problems, built, &sources, &places);
    // What an entry that was not understood would have told is missing only because of it.
    let missing = sources.iter().position(Option::is_none).filter(|_| understood);
    if let Some(number) = missing {
        let element = &built.inputs[number];
        let message = format!("nothing says where the input `{}` comes from", element.name);
        let help = format!("add inputs = [\"{} = speed\"]; {}", element.name, there_is(&models::names()));
        problems.add(Code::WrongMapping, places[number], message, help);
    }
    if !understood || !fits || missing.is_some() {
        return None;
    }
    let bound = built.inputs.iter().zip(sources).zip(noises?);
    bound
        .map(|((element, source), noise)| Some(ModelInput { name: element.name.clone(), from: source?.0, noise }))
        .collect()
}

/// The inputs that an entry is about, and what it says they are told.
fn mapped(
    problems: &mut Problems<'_>,
    text: &Located<String>,
    built: &Built,
    before: &[Built],
) -> Option<(Vec<usize>, Source)> {
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
    if source.is_none() {
        let names = models::names();
        let near = nearest(what, names.iter().map(String::as_str));
        let help = near.map_or_else(|| there_is(&names), |near| format!("did you mean `{near}`?"));
        let message = format!("a driver is not told `{}`", excerpt(what));
        problems.add(Code::WrongMapping, text.span, message, help);
    }
    Some((elements, source?))
}

/// Whether every input measures what it is told; of one entry only the first that does not is told.
fn fit(problems: &mut Problems<'_>, built: &Built, sources: &[Option<Source>], places: &[Span]) -> bool {
    let mut wrong: Vec<Span> = Vec::new();
    for ((element, source), place) in built.inputs.iter().zip(sources).zip(places) {
        let measured = source.as_ref().and_then(|(_, measured)| *measured);
        if let (Some(own), Some(measured)) = (element.dimension, measured)
            && own != measured
            && !wrong.contains(place)
        {
            wrong.push(*place);
            let message = format!("`{}` is {own}, and what it is told is {measured}", element.name);
            problems.add(Code::WrongMapping, *place, message, "choose a port or a signal of the same kind");
        }
    }
    wrong.is_empty()
}

fn there_is(names: &[String]) -> String {
    format!("there is {}", listed(names.iter().map(String::as_str)))
}

/// What drivers are told under a name.
fn told(name: &str) -> Option<Source> {
    let dimension = models::measures(name)?;
    if let Some(otherwise) = Otherwise::named(name) {
        return Some((ModelSource::Otherwise(otherwise), Some(dimension)));
    }
    let source = Plain::named(name).map_or_else(|| ModelSource::Seen(name.to_owned()), ModelSource::Plain);
    Some((source, Some(dimension)))
}

/// What components before give or were given under a name; what is given counts first, and later ones before earlier.
fn from_before(before: &[Built], name: &str) -> Option<Source> {
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
    sources: &[Option<Source>],
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
        ModelSource::Otherwise(Otherwise::Compass) => Some(Output::Heading),
        ModelSource::Otherwise(Otherwise::SteerRight) => Some(Output::Steering),
        ModelSource::Seen(name) => match folded(name) {
            name if name.starts_with("road_marker") || name == "road_lateral" => Some(Output::RoadDistance),
            name if name == "road_heading" => Some(Output::Heading),
            name if name == "road_leader_ahead" => Some(Output::ObjectPosition),
            name if name == "road_leader_speed" => Some(Output::Speed),
            _ => None,
        },
        ModelSource::Constant(_) | ModelSource::Driven(_) | ModelSource::Output(..) | ModelSource::Input(..) => None,
    }
}

/// Whether a number is about the way or about what is seen, and not about the car.
pub(super) fn is_about_the_way(source: &ModelSource) -> bool {
    match source {
        ModelSource::Plain(plain) => (Plain::PathStation..=Plain::PathToEnd).contains(plain),
        ModelSource::Seen(_) => true,
        _ => false,
    }
}
