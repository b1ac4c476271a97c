//! Helper simulators, and the errors of what they simulate.

use anabranch_helpers::Wheel;

use super::super::codes::Code;
use super::super::error_spec::ErrorKind;
use super::super::helper_spec::{HelperSpec, RadioGiven, TyresGiven};
use super::super::motion_spec::VehicleModel;
use super::super::outside::PartKind;
use super::super::problems::{Problems, excerpt, listed, nearest};
use super::super::road_spec::{ObjectSpec, RoadSpec};
use super::super::span::{Located, Span};
use super::super::spec::EgoSpec;
use super::super::tree::Node;
use super::super::view::View;
use super::super::words::{ErrorPlace, ObjectKind};

/// Most messages of one sender that are on their way at once: they are part of the state.
const UNDER_WAY_MAX: f64 = 50.0;

/// All of them.
pub(super) fn build(
    problems: &mut Problems<'_>,
    root: View<'_>,
    road: Option<&RoadSpec>,
    ego: Option<&EgoSpec>,
) -> Option<HelperSpec> {
    let Some(view) = root.table("helper") else { return Some(HelperSpec::default()) };
    let Some(road) = road else {
        let help = "add [road], or remove [helper]";
        problems.add(Code::MissingKey, view.span(), "helper simulators are on roads only", help);
        return None;
    };
    let radio = match view.table("radio") {
        Some(table) => Some(radio(problems, table, road)?),
        None => None,
    };
    let tyres = match view.table("tyres") {
        Some(table) => Some(tyres(problems, table, ego)?),
        None => None,
    };
    Some(HelperSpec { radio, tyres })
}

/// A number of at most 1.
fn share(problems: &mut Problems<'_>, view: View<'_>, key: &str) -> Option<f64> {
    let given = view.real(key)?;
    if given.value > 1.0 {
        let message = format!("`{key}` is a share, from 0 to 1");
        problems.add(Code::OutOfRange, given.span, message, "write a number such as 0.1");
        return None;
    }
    Some(given.value)
}

fn radio(problems: &mut Problems<'_>, view: View<'_>, road: &RoadSpec) -> Option<RadioGiven> {
    let (period, latency, jitter) = (view.real("period")?, view.real("latency")?, view.real("jitter")?);
    if (latency.value + jitter.value) / period.value > UNDER_WAY_MAX {
        let message = format!("more than {UNDER_WAY_MAX} messages of each sender would be under way at once");
        problems.add(
            Code::OutOfRange,
            latency.span,
            message,
            "make `latency` and `jitter` shorter, or `period` longer",
        );
        return None;
    }
    let keep = view.real("keep")?;
    if keep.value < latency.value {
        let message = "messages are forgotten before they arrive";
        problems.add(Code::NothingActs, keep.span, message, "make `keep` longer than `latency`");
        return None;
    }
    let from = match view.get("from") {
        Some(named) => Some(senders(problems, named, &road.objects)?),
        None => None,
    };
    Some(RadioGiven {
        range_m: view.real("range")?.value,
        period_s: period,
        latency_s: latency.value,
        jitter_s: jitter.value,
        loss: share(problems, view, "loss")?,
        keep_s: keep,
        from,
        span: view.span(),
    })
}

/// Objects by name that can have a radio.
fn senders(problems: &mut Problems<'_>, named: &Node, objects: &[ObjectSpec]) -> Option<Vec<usize>> {
    let has_radio = |object: &&ObjectSpec| matches!(object.kind.value, ObjectKind::Car | ObjectKind::Lorry);
    let mut found = Vec::new();
    for node in named.items() {
        let text = node.text().unwrap_or_default();
        let ids = || objects.iter().filter(|object| has_radio(object)).map(|object| object.id.value.as_str());
        let Some(number) = objects.iter().position(|object| object.id.value == text) else {
            let guess = nearest(text, ids()).map_or(String::new(), |id| format!("did you mean `{id}`? "));
            let message = format!("there is no object `{}` that could send", excerpt(text));
            problems.add(
                Code::UnknownObstacle,
                node.span,
                message,
                format!("{guess}there is {}", listed(ids().take(20))),
            );
            return None;
        };
        if !has_radio(&&objects[number]) || objects[number].ghost {
            let message = format!("`{text}` has no radio");
            problems.add(Code::WrongObstacle, node.span, message, "cars and lorries have one; name one of those");
            return None;
        }
        if found.contains(&number) {
            problems.add(Code::DuplicateId, node.span, format!("`{text}` is there already"), "name each sender once");
            return None;
        }
        found.push(number);
    }
    Some(found)
}

fn tyres(problems: &mut Problems<'_>, view: View<'_>, ego: Option<&EgoSpec>) -> Option<TyresGiven> {
    let ego = ego?;
    if !matches!(ego.vehicle.model.value, VehicleModel::Tyres(_)) {
        let help = "write vehicle = { model = \"single-track\" }, or leave out the tyres";
        problems.add(Code::NothingActs, view.span(), "pressure acts on tyres, and this car has none", help);
        return None;
    }
    if let Some(part) = ego.part.as_ref().filter(|part| part.kind == PartKind::Plant) {
        let help = "leave out `[helper.tyres]`, or the plant";
        problems.add(Code::NothingActs, part.span, "a car from outside has tyres of its own", help);
        return None;
    }
    let nominal_pa = view.real("nominal")?.value;
    Some(TyresGiven {
        period_s: view.real("period")?,
        monitor_s: view.real("monitor")?,
        nominal_pa,
        start_pa: pressures(problems, view, nominal_pa)?,
        warn_share: share(problems, view, "warn")?,
        flat_stiffness: share(problems, view, "flat_stiffness")?,
        flat_grip: share(problems, view, "flat_grip")?,
        drag: share(problems, view, "drag")?,
        span: view.span(),
    })
}

fn pressures(problems: &mut Problems<'_>, view: View<'_>, nominal_pa: f64) -> Option<[f64; 4]> {
    let given: Vec<Located<f64>> = view.reals("pressure").unwrap_or_default();
    match *given.iter().map(|one| one.value).collect::<Vec<_>>() {
        [] => Some([nominal_pa; 4]),
        [all] => Some([all; 4]),
        [fl, fr, rl, rr] => Some([fl, fr, rl, rr]),
        _ => {
            let span = view.get("pressure").map_or(view.span(), |node| node.span);
            let message = format!("a car has four wheels, and here are {} pressures", given.len());
            problems.add(
                Code::OutOfRange,
                span,
                message,
                "write one for all, or front left, front right, rear left, rear right",
            );
            None
        }
    }
}

/// Complains if there is no helper that an error is about.
pub(super) fn check_there(problems: &mut Problems<'_>, there: bool, span: Span, name: &str) -> Option<()> {
    if !there {
        let help = format!("add [{name}], or remove the error");
        problems.add(Code::NothingActs, span, format!("this scenario has no `{name}`"), help);
    }
    there.then_some(())
}

/// Complains about a key of `lost` that belongs to another place.
pub(super) fn names_others(problems: &mut Problems<'_>, view: View<'_>, place: ErrorPlace) -> bool {
    let wrong = match place {
        ErrorPlace::Radio => &["sensors"][..],
        ErrorPlace::Tyres => &["sensors", "from"],
        _ => &["from"],
    };
    let Some((key, span)) = wrong.iter().find_map(|key| Some((key, view.key_span(key)?))) else { return false };
    let message = format!("`{key}` says nothing about `{}`", place.word());
    problems.add(Code::Exclusive, span, message, format!("remove `{key}`"));
    true
}

/// What is on its way is part of the state, and there must not be too much of it.
pub(super) fn check_delay(problems: &mut Problems<'_>, view: View<'_>, by_s: &[f64], radio: &RadioGiven) -> Option<()> {
    let longest_s = by_s.iter().copied().fold(0.0, f64::max) + radio.latency_s + radio.jitter_s;
    if longest_s / radio.period_s.value > UNDER_WAY_MAX {
        let message = format!("more than {UNDER_WAY_MAX} messages of each sender would be under way at once");
        problems.add(Code::OutOfRange, view.span(), message, "make `by` smaller");
        return None;
    }
    Some(())
}

/// Messages that do not arrive.
pub(super) fn messages_lost(
    problems: &mut Problems<'_>,
    view: View<'_>,
    road: Option<&RoadSpec>,
    radio: &RadioGiven,
) -> Option<ErrorKind> {
    let objects = road.map_or(&[][..], |road| &road.objects);
    let Some(named) = view.get("from") else { return Some(ErrorKind::MessagesLost { objects: Vec::new() }) };
    let found = senders(problems, named, objects)?;
    let silent = |number: &usize| radio.from.as_ref().is_some_and(|from| !from.contains(number));
    if let Some(number) = found.iter().find(|number| silent(number)) {
        let message = format!("`{}` does not send", objects[*number].id.value);
        problems.add(Code::NothingActs, named.span, message, "add it to `from` of [helper.radio], or name another");
        return None;
    }
    Some(ErrorKind::MessagesLost { objects: found })
}

/// Air that is lost.
pub(super) fn leak(problems: &mut Problems<'_>, view: View<'_>, by_pa: Vec<f64>) -> Option<ErrorKind> {
    let mut wheels = Vec::new();
    for node in view.get("wheels").map_or(&[][..], Node::items) {
        let text = node.text().unwrap_or_default();
        let Some(wheel) = Wheel::from_word(text) else {
            let message = format!("there is no wheel `{}`", excerpt(text));
            problems.add(
                Code::UnknownWord,
                node.span,
                message,
                format!("it is {}", listed(Wheel::ALL.map(Wheel::word))),
            );
            return None;
        };
        if wheels.contains(&wheel) {
            problems.add(Code::DuplicateId, node.span, format!("`{text}` is there already"), "name each wheel once");
            return None;
        }
        wheels.push(wheel);
    }
    if wheels.is_empty() {
        wheels = Wheel::ALL.to_vec();
    }
    Some(ErrorKind::Leak { by_pa, wheels, stays: view.flag("stays")? })
}
