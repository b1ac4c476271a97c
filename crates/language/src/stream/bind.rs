//! Names of streams to ports of a model.

use anabranch_program as ir;

use crate::diagnostic::{Code, Problem, closest};
use crate::model::build::{Model, ModelPort};
use crate::model::ty::{Kind, Ty};
use crate::syntax::ast::{Direction, Endpoint, ExprKind, Index, StreamLine};

/// The part of a port that a line is about.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub name: String,
    pub direction: Direction,
    pub slots: ir::Span,
    pub ty: Ty,
}

/// Finds the port of every line. Names that match no port are mistakes; those that can only mean one thing are noted.
pub(super) fn bind(model: &Model, lines: &[StreamLine]) -> (Vec<Option<Bound>>, Vec<Problem>) {
    let mut problems = Vec::new();
    let by_number = lines.iter().any(|line| numbered(&line.port).is_some() && exact(model, &line.port).is_none());
    let mut bound = Vec::new();
    for line in lines {
        let by_place = numbered(&line.port).filter(|_| by_number).and_then(|n| input_number(model, n));
        let found = by_place.clone().or_else(|| exact(model, &line.port));
        let guessed = found.is_none().then(|| by_tail(model, &line.port)).flatten();
        match (found, guessed) {
            (Some(found), _) => {
                if let Some(by_place) = by_place.filter(|b| b.name != text(&line.port)) {
                    let message = format!("`{}` is taken as `{}`, by its number", text(&line.port), by_place.name);
                    problems.push(Problem::warning(Code::StreamName, line.port.span, message));
                }
                bound.push(Some(found));
            }
            (None, Some(guess)) => {
                let message = format!("`{}` is taken as `{}`", text(&line.port), guess.name);
                let told = Problem::warning(Code::StreamName, line.port.span, message);
                problems.push(told.help(format!("write `{}`", guess.name)));
                bound.push(Some(guess));
            }
            (None, None) => {
                problems.push(unknown(model, &line.port));
                bound.push(None);
            }
        }
    }
    (bound, problems)
}

fn text(port: &Endpoint) -> String {
    port.steps.iter().map(|(name, _)| name.text.as_str()).collect::<Vec<_>>().join(".")
}

fn unknown(model: &Model, port: &Endpoint) -> Problem {
    let name = text(port);
    let short = model.name().rsplit('.').next().unwrap_or("");
    let told = Problem::error(Code::StreamName, port.span, format!("`{short}` has no port `{name}`"));
    let ports: Vec<&str> = model.ports().iter().map(|port| port.name.as_str()).collect();
    match closest(&name.replace('_', ""), ports.iter().copied()).or_else(|| closest(&name, ports.iter().copied())) {
        Some(close) => told.help(format!("did you mean `{close}`?")),
        None => told.help(format!("its ports are {}", ports.join(", "))),
    }
}

fn whole(port: &ModelPort) -> Bound {
    Bound { name: port.name.clone(), direction: port.direction, slots: port.slots, ty: port.ty.clone() }
}

/// Port, index and fields as written.
fn exact(model: &Model, port: &Endpoint) -> Option<Bound> {
    let (first, index) = port.steps.first()?;
    let found = model.port(&first.text)?;
    let mut bound = whole(found);
    if let Some(index) = index {
        let Index::One(expr) = index else { return None };
        let ExprKind::Number { value, .. } = expr.kind else { return None };
        let count = found.count?;
        if value < 1.0 || value > f64::from(count) {
            return None;
        }
        bound.slots = found.slots.part((value as u32 - 1) * found.ty.size(), found.ty.size());
        bound.name = format!("{}[{value}]", found.name);
    }
    for (field, _) in &port.steps[1..] {
        let (offset, ty) = bound.ty.field(&field.text).map(|(offset, ty)| (offset, ty.clone()))?;
        bound.slots = bound.slots.part(offset, ty.size());
        bound.name = format!("{}.{}", bound.name, field.text);
        bound.ty = ty;
    }
    Some(bound)
}

/// `in3`: 3.
fn numbered(port: &Endpoint) -> Option<u32> {
    let [(name, None)] = port.steps.as_slice() else { return None };
    name.text.strip_prefix("in")?.parse().ok()
}

/// The n-th number that goes in, arrays element by element.
fn input_number(model: &Model, number: u32) -> Option<Bound> {
    let mut left = number.checked_sub(1)?;
    for port in model.ports().iter().filter(|port| port.direction == Direction::In) {
        if !port.ty.shape.is_empty() || port.ty.number().is_none() {
            return None;
        }
        let count = port.count.unwrap_or(1);
        if left < count {
            let name = if port.count.is_some() { format!("{}[{}]", port.name, left + 1) } else { port.name.clone() };
            return Some(Bound { name, slots: port.slots.part(left, 1), ..whole(port) });
        }
        left -= count;
    }
    None
}

/// A field whose path ends as written, if there is only one.
fn by_tail(model: &Model, port: &Endpoint) -> Option<Bound> {
    let tail = format!(".{}", text(port));
    let mut all = Vec::new();
    for port in model.ports().iter().filter(|port| port.count.is_none()) {
        fields(whole(port), &mut all);
    }
    let mut fitting = all.into_iter().filter(|bound| bound.name.ends_with(&tail));
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Some(one),
        _ => None,
    }
}

fn fields(bound: Bound, all: &mut Vec<Bound>) {
    if let (Kind::Struct(data), true) = (&bound.ty.kind, bound.ty.shape.is_empty()) {
        let mut offset = 0;
        for (name, ty) in &data.fields {
            let slots = bound.slots.part(offset, ty.size());
            let name = format!("{}.{name}", bound.name);
            fields(Bound { name, slots, ty: ty.clone(), direction: bound.direction }, all);
            offset += ty.size();
        }
    }
    all.push(bound);
}
