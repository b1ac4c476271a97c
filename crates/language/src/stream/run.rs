//! Running a stream test.

use anabranch_program as ir;

use super::bind::{Bound, bind};
use super::open;
use super::value::{Entry, Numbers, Reader};
use super::{Failure, Outcome, StreamResult};
use crate::diagnostic::{Code, Diagnostic, Problem, Severity};
use crate::library::{FileId, Library};
use crate::model::build::{Asked, Model, Options};
use crate::syntax::ast::{Base, BinaryOp, Component, Direction, Expr, ExprKind, Item, Stream, UnaryOp};

/// A line of a stream with its port and its values.
struct Line {
    bound: Bound,
    values: Vec<Numbers>,
}

pub(super) fn run(
    library: &Library,
    file: FileId,
    stream: &Stream,
    against: Option<(FileId, &Component)>,
    options: &Options,
) -> StreamResult {
    let mut result = StreamResult {
        stream: stream.name.text.clone(),
        file: library.file(file).path.clone(),
        component: component_name(stream),
        component_file: None,
        outcome: Outcome::Passed,
        ticks: 0,
        checks: 0,
        used: vec![],
        files: vec![],
        coverage: ir::Coverage::default(),
        branches: (0, 0),
        notes: vec![],
    };
    let problems: Vec<Diagnostic> =
        library.file(file).parsed.problems.iter().map(|problem| library.located(file, problem.clone())).collect();
    if problems.iter().any(Diagnostic::is_error) {
        result.outcome = Outcome::CannotRun(problems);
        return result;
    }
    let found = against.or_else(|| find_component(library, file, stream));
    if let Some((file, component)) = found {
        result.component_file = Some(library.file(file).path.clone());
        result.component = library.full_name(file, &component.name.text);
    }
    match prepare(library, file, stream, found, options) {
        Err(told) => result.outcome = Outcome::CannotRun(told),
        Ok((model, lines, notes)) => {
            result.component = model.name().to_owned();
            result.notes = notes;
            result.used = model.order().iter().map(|e| (e.name.clone(), e.component.clone())).collect();
            result.files = model.files().to_vec();
            execute(library, &model, &lines, &mut result);
        }
    }
    result
}

fn component_name(stream: &Stream) -> String {
    match stream.component.as_ref().map(|(ty, _)| &ty.base) {
        Some(Base::Named(path)) => path.text(),
        _ => stream.name.text.clone(),
    }
}

/// The component that a stream is for: by its name as imports say, else the nearest with that name, of a
/// package that ends as that of the stream if there is one.
fn find_component<'l>(library: &'l Library, file: FileId, stream: &Stream) -> Option<(FileId, &'l Component)> {
    let name = component_name(stream);
    let package = library.full_name(file, &name);
    let found = library.resolve(&name, file).or_else(|| library.find_simple(&package, file));
    let found = found.or_else(|| library.find_simple(&name, file))?;
    match found.item {
        Item::Component(component) => Some((found.file, component)),
        _ => None,
    }
}

type Prepared = (Model, Vec<Line>, Vec<Diagnostic>);

fn prepare(
    library: &Library,
    file: FileId,
    stream: &Stream,
    found: Option<(FileId, &Component)>,
    options: &Options,
) -> Result<Prepared, Vec<Diagnostic>> {
    let fail = |problem: Problem| vec![library.located(file, problem)];
    let name = component_name(stream);
    let Some((component_file, component)) = found else {
        let span = stream.component.as_ref().map_or(stream.name.span, |(ty, _)| ty.span);
        let told = Problem::error(Code::StreamComponent, span, format!("there is no component `{name}`"));
        return Err(fail(match library.closest_name(&name) {
            Some(close) => told.help(format!("did you mean `{close}`?")),
            None => told.help("put its file into the folder, or import it"),
        }));
    };
    let (generics, args) = stream.component.as_ref().map_or((&[][..], &[][..]), |(ty, args)| (&ty.args[..], &args[..]));
    let mut options = options.clone();
    let taken = args.is_empty().then(|| open::parameter(component, stream, &options)).flatten();
    if let Some(taken) = &taken {
        options.args.push((taken.name.clone(), vec![taken.value]));
    }
    let asked = Asked { generics, args, place: Some(file), options: &options };
    let model = Model::of(library, component_file, component, &asked)?;
    let (bound, mut problems) = bind(&model, &stream.lines);
    problems.extend(taken.map(|taken| taken.note(stream)));
    let length = stream.lines.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (line, bound) in stream.lines.iter().zip(bound) {
        let Some(bound) = bound else { continue };
        if line.values.len() != length {
            let message = format!("`{}` has {} values, others have {length}", bound.name, line.values.len());
            let told = Problem::error(Code::StreamLength, line.port.span, message);
            problems.push(told.help("every stream needs one value per tick; `-` stands for any"));
            continue;
        }
        let reader = Reader {
            library,
            file,
            component,
            ty: &bound.ty,
            size: bound.slots.length as usize,
            may_be_short: bound.direction == Direction::In,
        };
        let mut values = Vec::new();
        for value in &line.values {
            if reader.is_short(value) {
                let message = format!(
                    "`{}` has {} elements, and fewer are given; the others keep their values",
                    bound.name, reader.size
                );
                problems.push(Problem::warning(Code::StreamValue, value.span, message).help("give all of them"));
            }
            match reader.read(value) {
                Ok(numbers) => values.push(numbers),
                Err(problem) => problems.push(problem),
            }
        }
        lines.push(Line { bound, values });
    }
    let failed = problems.iter().any(|problem| problem.severity == Severity::Error);
    let mut told: Vec<Diagnostic> = problems.into_iter().map(|problem| library.located(file, problem)).collect();
    if failed {
        return Err(told);
    }
    told.extend(model.warnings().iter().cloned());
    Ok((model, lines, told))
}

fn execute(library: &Library, model: &Model, lines: &[Line], result: &mut StreamResult) {
    let program = model.program();
    let mut memory = program.memory();
    let mut coverage = ir::Coverage::new(program);
    let ticks = lines.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let mut history: Vec<Vec<f64>> = vec![Vec::new(); lines.len()];
    for tick in 0..ticks {
        for line in lines.iter().filter(|line| line.bound.direction == Direction::In) {
            if let Some(Numbers::All(entries, _)) = line.values.get(tick) {
                for (slot, entry) in memory.write(line.bound.slots).iter_mut().zip(entries) {
                    if let Some((value, _)) = entry {
                        *slot = as_held(*value, &line.bound);
                    }
                }
            }
        }
        let now = ir::Now { tick: tick as u64, ..ir::Now::default() };
        if let Err(fault) = program.tick_covered(&mut memory, now, &mut coverage) {
            let message = model.explain(library, &fault);
            result.outcome = Outcome::Failed(Failure { tick: tick + 1, port: String::new(), message });
            break;
        }
        result.ticks += 1;
        for (line, history) in lines.iter().zip(&mut history) {
            history.push(memory.read(line.bound.slots).first().copied().unwrap_or(0.0));
        }
        if let Some(failure) = compare(lines, tick, &memory, &mut result.checks) {
            result.outcome = Outcome::Failed(failure);
            break;
        }
    }
    if result.outcome == Outcome::Passed
        && let Some(failure) = compare_over_time(lines, &history, &mut result.checks)
    {
        result.outcome = Outcome::Failed(failure);
    }
    result.branches = coverage.outcomes();
    result.coverage = coverage;
}

/// A given number as the port holds it.
fn as_held(value: f64, bound: &Bound) -> f64 {
    use crate::model::ty::Class;
    match bound.ty.number().map(|number| &number.class) {
        Some(Class::Whole) => value.trunc(),
        Some(Class::Truth) => f64::from(u8::from(value != 0.0)),
        _ => value,
    }
}

fn compare(lines: &[Line], tick: usize, memory: &ir::Memory, checks: &mut usize) -> Option<Failure> {
    for line in lines.iter().filter(|line| line.bound.direction == Direction::Out) {
        let Some(Numbers::All(entries, share)) = line.values.get(tick) else { continue };
        let actual = memory.read(line.bound.slots);
        *checks += 1;
        let wrong = |(actual, entry): &(&f64, &Entry)| {
            entry.is_some_and(|(value, by)| actual.is_nan() || (**actual - value).abs() > by)
        };
        let bad = actual.iter().zip(entries).filter(wrong).count();
        let allowed = share.map_or(0, |share| (share * actual.len() as f64).floor() as usize);
        if bad > allowed {
            let (at, (actual, entry)) = actual.iter().zip(entries).enumerate().find(|(_, pair)| wrong(pair))?;
            let (value, by) = entry.unwrap_or((0.0, 0.0));
            let element = if entries.len() > 1 { format!(" in element {}", at + 1) } else { String::new() };
            let by = if by > 0.0 { format!(" +/- {by}") } else { String::new() };
            let message = format!("expected {value}{by}{element}, got {actual}");
            return Some(Failure { tick: tick + 1, port: line.bound.name.clone(), message });
        }
    }
    None
}

/// Conditions between values at different ticks.
fn compare_over_time(lines: &[Line], history: &[Vec<f64>], checks: &mut usize) -> Option<Failure> {
    for line in lines {
        for (tick, value) in line.values.iter().enumerate() {
            let Numbers::Compare(condition) = value else { continue };
            *checks += 1;
            if over_time(condition, lines, history).is_none_or(|holds| holds == 0.0) {
                let message = "the condition does not hold".to_owned();
                return Some(Failure { tick: tick + 1, port: line.bound.name.clone(), message });
            }
        }
    }
    None
}

/// The value of an expression in which `port(2)` is the value of a port at tick 2.
fn over_time(expr: &Expr, lines: &[Line], history: &[Vec<f64>]) -> Option<f64> {
    match &expr.kind {
        ExprKind::Number { value, .. } => Some(*value),
        ExprKind::Unary(UnaryOp::Negate, inner) => Some(-over_time(inner, lines, history)?),
        ExprKind::Call(base, args) => {
            let (ExprKind::Name(name), [arg]) = (&base.kind, args.as_slice()) else { return None };
            let tick = over_time(arg, lines, history)?;
            let line = lines.iter().position(|line| line.bound.name == *name)?;
            if tick < 1.0 {
                return None;
            }
            history[line].get(tick as usize - 1).copied()
        }
        ExprKind::Binary(op, left, right) => {
            let (a, b) = (over_time(left, lines, history)?, over_time(right, lines, history)?);
            let truth = |holds: bool| Some(f64::from(u8::from(holds)));
            match op {
                BinaryOp::Less => truth(a < b),
                BinaryOp::LessEqual => truth(a <= b),
                BinaryOp::Greater => truth(a > b),
                BinaryOp::GreaterEqual => truth(a >= b),
                BinaryOp::Equal => truth(a == b),
                BinaryOp::Add => Some(a + b),
                BinaryOp::Subtract => Some(a - b),
                BinaryOp::Multiply => Some(a * b),
                _ => None,
            }
        }
        _ => None,
    }
}
