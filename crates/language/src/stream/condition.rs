//! Conditions in streams: `y(2) > y(1)`, `0 < y`, `y(1:3) <= 5 m`.
//!
//! A name is the value of a port at the tick that the condition stands at, `y(2)` that at tick 2, and `y(1:3)` every value
//! from tick 1 to tick 3. What cannot be meant so is told with its place before anything runs.

use anabranch_program as ir;

use crate::diagnostic::{Code, Problem};
use crate::model::build::Model;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::units::Dimension;

/// The ports that conditions of a stream name, and their values so far.
#[derive(Default)]
pub(super) struct History {
    ports: Vec<(String, ir::Span, Vec<f64>)>,
}

impl History {
    /// Keeps the values of a tick.
    pub fn keep(&mut self, memory: &ir::Memory) {
        for (_, slots, values) in &mut self.ports {
            values.push(memory.read(*slots).first().copied().unwrap_or(0.0));
        }
    }

    fn of(&self, name: &str) -> &[f64] {
        self.ports.iter().find(|(known, ..)| known == name).map_or(&[], |(.., values)| values)
    }

    /// What is wrong with a condition, if anything; else its ports are kept from now on.
    pub fn prepare(&mut self, condition: &Expr, model: &Model, ticks: usize) -> Result<(), Problem> {
        let (mut names, mut at) = (Vec::new(), Vec::new());
        mentioned(condition, &mut names, &mut at)?;
        for (name, expr) in names {
            let Some(port) = model.port(name) else {
                let told = Problem::error(Code::StreamName, expr.span, format!("there is no port `{name}`"));
                return Err(told.did_you_mean(name, model.ports().iter().map(|port| port.name.as_str())));
            };
            if port.slots.length != 1 {
                let message = format!("`{name}` has several numbers; a condition takes one");
                return Err(Problem::error(Code::StreamValue, expr.span, message));
            }
            if !self.ports.iter().any(|(known, ..)| known == name) {
                self.ports.push((name.to_owned(), port.slots, Vec::new()));
            }
        }
        for (tick, expr) in at {
            if tick.fract() != 0.0 || tick < 1.0 || tick > ticks as f64 {
                let told = Problem::error(Code::StreamValue, expr.span, format!("there is no tick {tick}"));
                return Err(told.help(format!("ticks are counted from 1 to {ticks}")));
            }
        }
        units(condition, model).map(|_| ())
    }

    /// Whether a condition holds at a tick, counted from 0; if not, what its sides are.
    pub fn check(&self, condition: &Expr, tick: usize) -> Result<(), String> {
        match &condition.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => {
                self.check(left, tick)?;
                self.check(right, tick)
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => self
                .check(left, tick)
                .or_else(|first| self.check(right, tick).map_err(|then| format!("{first}; {then}"))),
            ExprKind::Binary(op, left, right) => {
                // `0 < y < 5` means both.
                let middle = match &left.kind {
                    ExprKind::Binary(inner, _, middle) if inner.is_comparison() => {
                        self.check(left, tick)?;
                        middle
                    }
                    _ => left,
                };
                let (a, b) = (self.values(middle, tick), self.values(right, tick));
                for (a, b) in a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b))) {
                    if !compares(*op, a, b) {
                        return Err(format!("{a} {} {b} does not hold", sign(*op)));
                    }
                }
                Ok(())
            }
            _ => Err("this is no condition".to_owned()),
        }
    }

    fn values(&self, expr: &Expr, tick: usize) -> Vec<f64> {
        match &expr.kind {
            ExprKind::Number { value, .. } => vec![*value],
            ExprKind::Bool(truth) => vec![f64::from(u8::from(*truth))],
            ExprKind::Unary(UnaryOp::Negate, inner) => self.values(inner, tick).iter().map(|value| -value).collect(),
            ExprKind::Name(name) => self.of(name).get(tick).copied().into_iter().collect(),
            ExprKind::Call(base, args) => {
                let (ExprKind::Name(name), [arg]) = (&base.kind, args.as_slice()) else { return vec![] };
                let (first, last) = match &arg.kind {
                    ExprKind::Range(first, None, last) => (number(first), number(last)),
                    _ => (number(arg), number(arg)),
                };
                let (Some(first), Some(last)) = (first, last) else { return vec![] };
                (first as usize..=last as usize)
                    .filter_map(|at| self.of(name).get(at.checked_sub(1)?).copied())
                    .collect()
            }
            ExprKind::Binary(op, left, right) => {
                let (a, b) = (self.values(left, tick), self.values(right, tick));
                let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b)));
                let one = |(a, b): (f64, f64)| match op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Subtract => a - b,
                    BinaryOp::Divide => a / b,
                    _ => a * b,
                };
                pairs.map(one).collect()
            }
            _ => vec![],
        }
    }
}

fn number(expr: &Expr) -> Option<f64> {
    match expr.kind {
        ExprKind::Number { value, .. } => Some(value),
        _ => None,
    }
}

fn compares(op: BinaryOp, a: f64, b: f64) -> bool {
    match op {
        BinaryOp::Less => a < b,
        BinaryOp::LessEqual => a <= b,
        BinaryOp::Greater => a > b,
        BinaryOp::GreaterEqual => a >= b,
        BinaryOp::Unequal => a != b,
        _ => a == b,
    }
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Unequal => "!=",
        _ => "==",
    }
}

/// Ports and ticks that a condition names.
fn mentioned<'e>(
    expr: &'e Expr,
    names: &mut Vec<(&'e str, &'e Expr)>,
    ticks: &mut Vec<(f64, &'e Expr)>,
) -> Result<(), Problem> {
    let strange = |expr: &Expr| {
        let told = Problem::error(Code::StreamValue, expr.span, "a condition cannot say this");
        Err(told.help("write `y(2) > y(1)`, `0 < y` or `y(1:3) <= 5`"))
    };
    match &expr.kind {
        ExprKind::Number { .. } | ExprKind::Bool(_) => Ok(()),
        ExprKind::Name(name) => {
            names.push((name, expr));
            Ok(())
        }
        ExprKind::Unary(UnaryOp::Negate, inner) => mentioned(inner, names, ticks),
        ExprKind::Binary(op, left, right)
            if op.is_condition()
                || matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide) =>
        {
            mentioned(left, names, ticks)?;
            mentioned(right, names, ticks)
        }
        ExprKind::Call(base, args) => {
            let (ExprKind::Name(name), [arg]) = (&base.kind, args.as_slice()) else { return strange(expr) };
            names.push((name, base));
            let ends = match &arg.kind {
                ExprKind::Range(first, None, last) => vec![&**first, &**last],
                _ => vec![arg],
            };
            for end in ends {
                match number(end) {
                    Some(tick) => ticks.push((tick, end)),
                    None => return strange(end),
                }
            }
            Ok(())
        }
        _ => strange(expr),
    }
}

/// The dimension of one side, as far as it says one; sides that do not go together are told.
fn units(expr: &Expr, model: &Model) -> Result<Option<Dimension>, Problem> {
    let port = |name: &str| model.port(name).and_then(|port| port.ty.dimension());
    Ok(match &expr.kind {
        ExprKind::Number { unit, .. } => unit.as_ref().map(|unit| unit.dimension),
        ExprKind::Name(name) => port(name),
        ExprKind::Call(base, _) => match &base.kind {
            ExprKind::Name(name) => port(name),
            _ => None,
        },
        ExprKind::Unary(_, inner) => units(inner, model)?,
        ExprKind::Binary(BinaryOp::Multiply | BinaryOp::Divide, ..) => None,
        ExprKind::Binary(op, left, right) => {
            let left_of = |side: &Expr| match &side.kind {
                ExprKind::Binary(inner, _, middle) if inner.is_comparison() => units(middle, model),
                _ => units(side, model),
            };
            if matches!(op, BinaryOp::And | BinaryOp::Or) {
                units(left, model)?;
                units(right, model)?;
                return Ok(None);
            }
            if let ExprKind::Binary(inner, ..) = &left.kind
                && inner.is_comparison()
            {
                units(left, model)?;
            }
            let (a, b) = (left_of(left)?, units(right, model)?);
            if let (Some(a), Some(b)) = (a, b)
                && a != b
            {
                let message = format!("{a} is compared with {b}");
                return Err(Problem::error(Code::UnitMismatch, expr.span, message));
            }
            a.or(b)
        }
        _ => None,
    })
}
