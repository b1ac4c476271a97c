//! Running a stream test.

use anabranch_program as ir;

use super::bind::{Bound, bind};
use super::condition::History;
use super::open;
use super::value::{Entry, Numbers, Reader};
use super::{Failure, Outcome, StreamResult};
use crate::diagnostic::{Code, Diagnostic, Problem, Severity};
use crate::library::{FileId, Library};
use crate::model::build::{Asked, Model, Options};
use crate::syntax::Span;
use crate::syntax::ast::{Arg, Base, Component, Direction, Expr, Item, Stream, StreamLine};

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
        Ok((model, lines, history, notes)) => {
            result.component = model.name().to_owned();
            result.notes = notes;
            result.used = model.order().iter().map(|e| (e.name.clone(), e.component.clone())).collect();
            result.files = model.files().to_vec();
            execute(library, &model, &lines, history, &mut result);
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

/// Where a stream says what its component is built with: its arguments, the component, or the stream itself.
fn written_at(stream: &Stream) -> Span {
    let Some((ty, args)) = &stream.component else { return stream.name.span };
    let whole = |arg: &Arg| arg.name.as_ref().map_or(arg.value.span, |name| name.span.to(arg.value.span));
    match args.as_slice() {
        [] => ty.span,
        [first, .., last] => whole(first).to(whole(last)),
        [one] => whole(one),
    }
}

type Prepared = (Model, Vec<Line>, History, Vec<Diagnostic>);

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
        return Err(fail(told.help(crate::library::missing_help(&name, library.closest_name(&name)))));
    };
    let (generics, args) = stream.component.as_ref().map_or((&[][..], &[][..]), |(ty, args)| (&ty.args[..], &args[..]));
    let mut options = options.clone();
    let taken = args.is_empty().then(|| open::parameter(component, stream, &options)).flatten();
    if let Some(taken) = &taken {
        options.args.push((taken.name.clone(), vec![taken.value]));
    }
    let asked = Asked { generics, args, place: Some((file, written_at(stream))), options: &options };
    let model = Model::of(library, component_file, component, &asked)?;
    let (bound, mut problems) = bind(&model, &stream.lines);
    problems.extend(taken.map(|taken| taken.note(stream)));
    problems.extend(twice(&stream.lines, &bound));
    let length = stream.lines.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    let mut history = History::default();
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
        let values =
            line_values(line, &bound, &reader, &mut problems, |condition| history.prepare(condition, &model, length));
        lines.push(Line { bound, values });
    }
    let failed = problems.iter().any(|problem| problem.severity == Severity::Error);
    let mut told: Vec<Diagnostic> = problems.into_iter().map(|problem| library.located(file, problem)).collect();
    if failed {
        return Err(told);
    }
    told.extend(model.warnings().iter().cloned());
    Ok((model, lines, history, told))
}

/// The values of a line in numbers; what is wrong with them is told.
fn line_values(
    line: &StreamLine,
    bound: &Bound,
    reader: &Reader<'_, '_>,
    problems: &mut Vec<Problem>,
    mut prepare: impl FnMut(&Expr) -> Result<(), Problem>,
) -> Vec<Numbers> {
    let (mut values, mut outside) = (Vec::new(), None);
    for value in &line.values {
        if reader.is_short(value) {
            let message = format!(
                "`{}` has {} elements, and fewer are given; the others keep their values",
                bound.name, reader.size
            );
            problems.push(Problem::warning(Code::StreamValue, value.span, message).help("give all of them"));
        }
        let read = reader.read(value).and_then(|numbers| match &numbers {
            Numbers::Compare(_) if bound.direction == Direction::In => {
                let message = format!("`{}` is an in-port, and a condition says nothing to put in", bound.name);
                let told = Problem::error(Code::StreamValue, value.span, message);
                Err(told.help("give a value here, and write conditions for out-ports"))
            }
            Numbers::Compare(condition) => prepare(condition).map(|()| numbers),
            _ => Ok(numbers),
        });
        match read {
            Ok(numbers) => {
                outside = outside.or_else(|| given_outside(bound, &numbers).map(|told| (told, value.span)));
                values.push(numbers);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if let Some((message, span)) = outside {
        problems.push(Problem::warning(Code::OutOfRange, span, message));
    }
    values
}

fn execute(library: &Library, model: &Model, lines: &[Line], mut history: History, result: &mut StreamResult) {
    let program = model.program();
    let mut memory = program.memory();
    let mut coverage = ir::Coverage::new(program);
    let ticks = lines.iter().map(|line| line.values.len()).max().unwrap_or(0);
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
        history.keep(&memory);
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

/// Bounds count as inside, both as they are written and by rounding: 1 is 1.1 +/- 0.1.
fn is_off(actual: f64, value: f64, by: f64) -> bool {
    !((value - by..=value + by).contains(&actual) || (actual - value).abs() <= by)
}

fn compare(lines: &[Line], tick: usize, memory: &ir::Memory, checks: &mut usize) -> Option<Failure> {
    for line in lines.iter().filter(|line| line.bound.direction == Direction::Out) {
        let Some(Numbers::All(entries, share)) = line.values.get(tick) else { continue };
        let actual = memory.read(line.bound.slots);
        *checks += 1;
        let wrong = |(actual, entry): &(&f64, &Entry)| entry.is_some_and(|(value, by)| is_off(**actual, value, by));
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
fn compare_over_time(lines: &[Line], history: &History, checks: &mut usize) -> Option<Failure> {
    for line in lines {
        for (tick, value) in line.values.iter().enumerate() {
            let Numbers::Compare(condition) = value else { continue };
            *checks += 1;
            if let Err(message) = history.check(condition, tick) {
                return Some(Failure { tick: tick + 1, port: line.bound.name.clone(), message });
            }
        }
    }
    None
}

/// A number that goes in although its port does not take it.
fn given_outside(bound: &Bound, numbers: &Numbers) -> Option<String> {
    let (Direction::In, Some(range), Numbers::All(entries, _)) = (bound.direction, bound.ty.number(), numbers) else {
        return None;
    };
    let outside = |value: &f64| !range.holds(*value, 1e-9 * value.abs().max(1.0));
    let value = entries.iter().flatten().map(|(value, _)| *value).find(outside)?;
    Some(format!("{value} for `{}` is outside of {}", bound.name, bound.ty))
}

/// Two lines about the same numbers: the second would silently win.
fn twice(lines: &[StreamLine], bound: &[Option<Bound>]) -> Vec<Problem> {
    let mut told = Vec::new();
    let all: Vec<(&StreamLine, &Bound)> =
        lines.iter().zip(bound).filter_map(|(line, bound)| Some((line, bound.as_ref()?))).collect();
    for (at, (line, this)) in all.iter().enumerate() {
        let within =
            |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']));
        let same = |other: &Bound| within(&this.name, &other.name) || within(&other.name, &this.name);
        if all[..at].iter().any(|(_, other)| same(other)) {
            let message = format!("two lines are about `{}`", this.name);
            told.push(Problem::error(Code::Duplicate, line.port.span, message).help("keep one of them"));
        }
    }
    told
}
