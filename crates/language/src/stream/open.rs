//! Parameters of library blocks that neither the component nor the stream gives.
//!
//! Recorded streams of blocks such as `Gain` do not say which gain they were recorded with. One tick of the recording
//! determines it; all the others are then compared with it, and that is noted.

use crate::diagnostic::{Code, Problem};
use crate::model::build::Options;
use crate::model::native::Block;
use crate::syntax::ast::{Component, Direction, Expr, ExprKind, Stream, StreamValueKind, UnaryOp};

/// A parameter taken from a stream.
pub(super) struct Taken {
    pub name: String,
    pub value: f64,
}

impl Taken {
    /// Says so.
    pub fn note(&self, stream: &Stream) -> Problem {
        let Self { name, value } = self;
        let message = format!("`{name}` is given nowhere; {value} is what the first tick needs, the others must agree");
        let help = format!("write `for … ({name} = {value})`");
        Problem::warning(Code::StreamValue, stream.name.span, message).help(help)
    }
}

/// The parameter of a block without behaviour that nobody gives, as far as the stream determines it.
pub(super) fn parameter(component: &Component, stream: &Stream, options: &Options) -> Option<Taken> {
    let block = Block::named(&component.name.text).filter(|_| component.behaviour.is_none())?;
    let usual = match block {
        Block::Gain => "gain",
        Block::Memory | Block::Constant => "value",
        _ => return None,
    };
    let declared = component.params.first();
    let given = declared.is_some_and(|param| param.default.is_some());
    // A memory without parameters begins with zero.
    if given || (declared.is_none() && block != Block::Gain) {
        return None;
    }
    let name = declared.map_or(usual, |param| param.name.text.as_str()).to_owned();
    if options.args.iter().any(|(arg, _)| *arg == name) {
        return None;
    }
    let port = |direction| component.ports.iter().find(|port| port.direction == direction);
    let column = |direction| numbers(stream, &port(direction)?.name.text);
    let outputs = column(Direction::Out)?;
    let value = match block {
        Block::Gain => {
            let pairs = column(Direction::In)?.into_iter().zip(outputs);
            pairs.filter_map(|(x, y)| Some((x.filter(|x| *x != 0.0)?, y?))).map(|(x, y)| y / x).next()?
        }
        _ => outputs.into_iter().next()??,
    };
    value.is_finite().then_some(Taken { name, value })
}

/// The numbers of a line, tick by tick; `None` where there is another value.
fn numbers(stream: &Stream, port: &str) -> Option<Vec<Option<f64>>> {
    let line =
        stream.lines.iter().find(|line| matches!(line.port.steps.as_slice(), [(name, None)] if name.text == port))?;
    let one = |kind: &StreamValueKind| match kind {
        StreamValueKind::One(expr, _) => number(expr),
        _ => None,
    };
    Some(line.values.iter().map(|value| one(&value.kind)).collect())
}

fn number(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Number { value, unit: None } => Some(*value),
        ExprKind::Unary(UnaryOp::Negate, inner) => Some(-number(inner)?),
        _ => None,
    }
}
