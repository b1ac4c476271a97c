//! Parameters of a component model: written in the scenario, or facts of the car.

use anabranch_bridge::fmu::folded;
use anabranch_language::Library;
use anabranch_language::syntax::ast::Item;
use anabranch_vehicle::CarSpec;

use super::super::super::codes::Code;
use super::super::super::problems::{Problems, excerpt};
use super::super::super::span::{Located, Span};
use super::Asked;
use super::bind::split;

/// What parameters can be: numbers of the car, and the seconds between two cycles of the driver.
pub(super) type Facts<'a> = (&'a CarSpec, Located<f64>);

/// The parameter that is told the seconds between two cycles.
const CYCLE: &str = "cycle_s";

/// A value of a parameter.
pub(super) struct Given {
    pub(super) name: String,
    pub(super) values: Vec<f64>,
    /// Who says so: an entry, or what the fact follows from.
    pub(super) span: Span,
}

/// A fact by name.
fn fact((car, cycle_s): Facts<'_>, name: &str) -> Option<f64> {
    let outline = &car.outline;
    Some(match folded(name).as_str() {
        CYCLE => cycle_s.value,
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
pub(super) fn parameters(
    problems: &mut Problems<'_>,
    asked: &Asked<'_>,
    library: &Library,
    component: &str,
    facts: Facts<'_>,
) -> Option<Vec<Given>> {
    let mut args: Vec<Given> = Vec::new();
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
        args.push(Given { name: name.to_owned(), values, span: text.span });
    }
    if let Some(Item::Component(found)) = library.find(component, None).map(|found| found.item) {
        let generic = found.generics.iter().map(|generic| generic.name.text.as_str());
        let names = found.params.iter().map(|param| param.name.text.as_str()).chain(generic);
        let own: Vec<&str> = names.filter(|name| args.iter().all(|given| given.name != *name)).collect();
        let span = |name: &str| if folded(name) == CYCLE { facts.1.span } else { asked.file.span };
        let known =
            |name: &str| Some(Given { name: name.to_owned(), values: vec![fact(facts, name)?], span: span(name) });
        args.extend(own.into_iter().filter_map(known));
    }
    Some(args)
}
