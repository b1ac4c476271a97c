//! What can be said about a component without building it.

use super::env::Report;
use crate::diagnostic::{Code, Problem};
use crate::library::FileId;
use crate::syntax::ast::{Component, GenericKind, Name};

/// Tells what is wrong with the structure of a component.
pub fn component(component: &Component, file: FileId, report: &mut Report<'_>) {
    twice(component.ports.iter().map(|port| &port.name), "ports", file, report);
    twice(component.instances.iter().map(|instance| &instance.name), "instances", file, report);
    twice(component.inner.iter().map(|inner| &inner.name), "inner components", file, report);
    let generics = component.generics.iter().map(|generic| &generic.name);
    let params = component.params.iter().map(|param| &param.name);
    twice(generics.chain(params), "parameters", file, report);
    for port in &component.ports {
        if component.instances.iter().any(|instance| instance.name.text == port.name.text) {
            let message = format!("a port and an instance are both called `{}`", port.name.text);
            report.tell(file, Problem::warning(Code::Duplicate, port.name.span, message).help("rename one"));
        }
    }
    if component.name.text.starts_with(char::is_lowercase) {
        let told =
            Problem::warning(Code::NameCase, component.name.span, "names of components begin with a capital letter");
        report.tell(file, told.help("rename it, and its file"));
    }
    if let (Some(behaviour), false) = (&component.behaviour, component.instances.is_empty()) {
        let message = format!("`{}` has instances and its own behaviour", component.name.text);
        let told = Problem::error(Code::BehaviourAndInstances, behaviour.span, message);
        report.tell(file, told.help("move the behaviour into a component of its own"));
    }
    if component.interface && (component.behaviour.is_some() || !component.instances.is_empty()) {
        let told = Problem::error(Code::Interface, component.name.span, "an interface has ports and nothing else");
        report.tell(file, told.help("leave out `interface`"));
    }
    defaults_last(component, file, report);
    super::behaviour::check(component, file, report);
}

fn twice<'a>(names: impl Iterator<Item = &'a Name>, what: &str, file: FileId, report: &mut Report<'_>) {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name.text.as_str()) {
            let told = Problem::error(Code::Duplicate, name.span, format!("two {what} are called `{}`", name.text));
            report.tell(file, told.help("rename one"));
        }
        seen.push(&name.text);
    }
}

fn defaults_last(component: &Component, file: FileId, report: &mut Report<'_>) {
    let has_default = |kind: &GenericKind| matches!(kind, GenericKind::Type(Some(_)) | GenericKind::Value(_, Some(_)));
    let generics = component.generics.iter().map(|generic| (&generic.name, has_default(&generic.kind)));
    let params = component.params.iter().map(|param| (&param.name, param.default.is_some()));
    for list in [generics.collect::<Vec<_>>(), params.collect()] {
        for pair in list.windows(2) {
            if pair[0].1 && !pair[1].1 {
                let message = format!("`{}` has no default, but stands after one that has", pair[1].0.text);
                let told = Problem::error(Code::DefaultOrder, pair[1].0.span, message);
                report.tell(file, told.help("put parameters with defaults last"));
            }
        }
    }
}
