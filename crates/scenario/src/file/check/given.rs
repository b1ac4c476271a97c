//! Whether `given` names errors of the scenario, and measures them as they are measured.

use anabranch_kernel::units::Dimension;

use super::super::codes::Code;
use super::super::problems::{Problems, excerpt, listed, nearest};
use super::super::spec::{GivenSpec, ScenarioSpec};
use super::super::values::dimension_name;

pub(in super::super) fn check(problems: &mut Problems<'_>, spec: &ScenarioSpec) {
    for given in spec.requirements.iter().flat_map(|requirement| &requirement.given) {
        check_one(problems, spec, given);
    }
}

fn check_one(problems: &mut Problems<'_>, spec: &ScenarioSpec, given: &GivenSpec) {
    let ids = || spec.errors.iter().map(|error| error.id.value.as_str());
    let name = given.error.value.as_str();
    let Some(error) = spec.errors.iter().find(|error| error.id.value == name) else {
        let guess = nearest(name, ids()).map_or(String::new(), |id| format!("did you mean `{id}`? "));
        let message = format!("there is no error `{}`", excerpt(name));
        let help = format!("{guess}there is {}", listed(ids().take(20)));
        return problems.add(Code::UnknownError, given.error.span, message, help);
    };
    let known = error.dimensions();
    for (at, limit) in given.limits.iter().enumerate() {
        let dimension = limit.value.1;
        if !known.contains(&dimension) {
            let nouns: Vec<&str> = known.iter().map(|d| dimension_name(*d)).collect();
            let message = format!("the size of `{}` is {}", excerpt(name), nouns.join(" or "));
            problems.add(Code::WrongUnit, limit.span, message, format!("write for example {}", example(known[0])));
        } else if given.limits[..at].iter().any(|other| other.value.1 == dimension) {
            let message = format!("`{}` has another limit of this kind already", excerpt(name));
            problems.add(Code::Exclusive, limit.span, message, "keep one of them");
        }
    }
}

fn example(dimension: Dimension) -> String {
    match dimension {
        Dimension::Number => "0.2".to_owned(),
        other => format!("\"0.05 {}\"", other.si()),
    }
}
