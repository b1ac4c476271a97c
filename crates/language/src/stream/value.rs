//! Values of streams as numbers.

use std::path::Path;

use crate::diagnostic::{Code, Problem};
use crate::library::{FileId, Library};
use crate::lower::known;
use crate::model::env::{Env, Place, Report};
use crate::model::ty::{Class, Ty};
use crate::syntax::ast::{Component, Expr, ExprKind, Item, StreamValue, StreamValueKind};
use crate::syntax::parse;

/// How far a matrix entry without tolerance may be off, as in the original.
const ENTRY_TOLERANCE: f64 = 1e-4;

/// One expected or given number: `None` where any will do.
pub(super) type Entry = Option<(f64, f64)>;

/// A value at a tick, in numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Numbers {
    /// Any, or the last one.
    Any,
    /// One per slot, each with its tolerance, and the share that may be wrong.
    All(Vec<Entry>, Option<f64>),
    /// A condition over values at ticks.
    Compare(Expr),
}

/// Reads values of one port.
pub(super) struct Reader<'a, 'l> {
    pub library: &'l Library,
    pub file: FileId,
    pub component: &'a Component,
    pub ty: &'a Ty,
    /// How many slots the port has.
    pub size: usize,
    /// Whether a row may be shorter than the port: the rest keeps its value.
    pub may_be_short: bool,
}

impl Reader<'_, '_> {
    /// A value in numbers, or what is wrong with it.
    pub fn read(&self, value: &StreamValue) -> Result<Numbers, Problem> {
        match &value.kind {
            StreamValueKind::Any => Ok(Numbers::Any),
            StreamValueKind::Compare(condition) => Ok(Numbers::Compare(condition.clone())),
            StreamValueKind::One(expr, tolerance) => {
                let entry = self.entry(expr, tolerance.as_ref(), 0.0)?;
                if self.size != 1 {
                    let message = format!("one value for {} with {} elements", self.ty, self.size);
                    return Err(Problem::error(Code::StreamValue, value.span, message).help("write `[a b …]`"));
                }
                Ok(Numbers::All(vec![Some(entry)], None))
            }
            StreamValueKind::Array { slices, slack } => {
                let rows = slices.iter().flatten().filter(|row| !row.is_empty()).count();
                let entries: Vec<_> = slices.iter().flatten().flatten().collect();
                let columns = entries.len() / rows.max(1);
                let (each, share) = match slack {
                    Some((each, share)) => (self.number(each)?, Some(self.number(share)?)),
                    None => (if entries.len() == 1 && self.size == 1 { 0.0 } else { ENTRY_TOLERANCE }, None),
                };
                let short = self.is_short(value);
                if !short && (entries.len() != self.size || !self.shape_fits(rows, columns)) {
                    let message = format!("a {rows}×{columns} value for {} with {} elements", self.ty, self.size);
                    return Err(Problem::error(Code::StreamValue, value.span, message));
                }
                let mut all = Vec::new();
                for entry in entries {
                    all.push(match entry {
                        Some((expr, tolerance)) => Some(self.entry(expr, tolerance.as_ref(), each)?),
                        None => None,
                    });
                }
                all.resize(self.size, None);
                Ok(Numbers::All(all, share))
            }
            StreamValueKind::File { path, .. } => self.file_value(path, value),
        }
    }

    /// Whether a value is a row with fewer entries than the port takes.
    pub fn is_short(&self, value: &StreamValue) -> bool {
        let StreamValueKind::Array { slices, .. } = &value.kind else { return false };
        let [rows] = slices.as_slice() else { return false };
        let [row] = rows.as_slice() else { return false };
        let (r, c) = self.ty.rows_columns();
        self.may_be_short && (r == 1 || c == 1) && row.len() < self.size
    }

    /// Vectors may lie either way; matrices may not.
    fn shape_fits(&self, rows: usize, columns: usize) -> bool {
        let (r, c) = self.ty.rows_columns();
        let vector = rows == 1 || columns == 1;
        (rows, columns) == (r as usize, c as usize)
            || vector && (r == 1 || c == 1 || self.size != self.ty.size() as usize)
    }

    /// A file beside the stream, or below one of the folders around it.
    fn file_value(&self, path: &str, value: &StreamValue) -> Result<Numbers, Problem> {
        let relative = path.trim_start_matches('/');
        let stream = &self.library.file(self.file).path;
        let found = stream.ancestors().skip(1).map(|folder| folder.join(relative)).find(|file| file.is_file());
        let Some(found) = found else {
            let told = Problem::error(Code::StreamValue, value.span, format!("there is no file `{path}`"));
            return Err(told.help("give its path from a folder around the stream"));
        };
        if found.extension().is_none_or(|ending| ending != "txt") {
            return Err(Problem::error(Code::StreamValue, value.span, "only text files with values can be read"));
        }
        self.text_value(&found, value)
    }

    fn text_value(&self, path: &Path, value: &StreamValue) -> Result<Numbers, Problem> {
        let wrong = |why: String| Problem::error(Code::StreamValue, value.span, format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let parsed = parse(&format!("stream File {{ file: {}; }}", text.trim().trim_end_matches(';')));
        if let Some(problem) = parsed.problems.first() {
            return Err(wrong(problem.message.clone()));
        }
        match parsed.file.items.first() {
            Some(Item::Stream(stream)) => match stream.lines.first().and_then(|line| line.values.first()) {
                Some(inner) if !matches!(inner.kind, StreamValueKind::File { .. }) => self.read(inner),
                _ => Err(wrong("no value".to_owned())),
            },
            _ => Err(wrong("no value".to_owned())),
        }
    }

    fn entry(&self, expr: &Expr, tolerance: Option<&Expr>, else_by: f64) -> Result<(f64, f64), Problem> {
        let value = self.number(expr)?;
        let by = match tolerance {
            Some(tolerance) => self.tolerance(tolerance)?,
            None => else_by,
        };
        Ok((value, by))
    }

    /// A tolerance is a difference: degrees Celsius count like kelvins there.
    fn tolerance(&self, expr: &Expr) -> Result<f64, Problem> {
        let value = self.number(expr)?;
        let offset = match &expr.kind {
            ExprKind::Number { unit: Some(unit), .. } => unit.plus,
            _ => 0.0,
        };
        Ok((value - offset).abs())
    }

    /// A number, a truth or a name of the port's enum, in SI.
    fn number(&self, expr: &Expr) -> Result<f64, Problem> {
        if let (ExprKind::Name(name), Some(Class::Choice(choices))) = (&expr.kind, self.ty.number().map(|n| &n.class)) {
            if let Some(at) = choices.values.iter().position(|value| value == name) {
                return Ok(at as f64);
            }
            let told =
                Problem::error(Code::StreamValue, expr.span, format!("`{}` has no value `{name}`", choices.name));
            return Err(told.did_you_mean(name, choices.values.iter().map(String::as_str)));
        }
        let place = Place { file: self.file, component: self.component, outer: None };
        let mut report = Report::new(self.library);
        let value = known(expr, &place, &Env::default(), &mut report);
        let told = report.finish().into_iter().next();
        match (value, told) {
            (Some(value), _) => {
                if let (Some(x), Some(y)) = (value.ty.dimension(), self.ty.dimension())
                    && x != y
                {
                    let message = format!("a value in {x} for a port in {y}");
                    return Err(Problem::error(Code::UnitMismatch, expr.span, message));
                }
                if let Some(Class::Choice(given)) = value.ty.number().map(|number| &number.class)
                    && self.ty.number().is_none_or(|number| number.class != Class::Choice(given.clone()))
                {
                    let message = format!("a value of the enum `{}` for a port of {}", given.name, self.ty);
                    return Err(Problem::error(Code::TypeMismatch, expr.span, message));
                }
                match value.values.as_slice() {
                    [one] => Ok(*one),
                    _ => Err(Problem::error(Code::StreamValue, expr.span, "expected one number")),
                }
            }
            (None, Some(d)) => Err(Problem {
                code: Code::StreamValue,
                severity: d.severity,
                span: expr.span,
                message: d.message,
                help: d.help,
            }),
            (None, None) => Err(Problem::error(Code::StreamValue, expr.span, "this is no value")),
        }
    }
}
