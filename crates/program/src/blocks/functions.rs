//! Blocks without memory that compute one formula.

use super::{Block, Wiring};
use crate::expression::{Binary, Expr, Unary};
use crate::memory::Slot;

/// Writes a block of this kind. Returns whether it is one.
pub fn emit(block: &Block, wiring: &mut Wiring<'_>) -> bool {
    let inputs = wiring.inputs;
    let value = match block {
        Block::Gain { gain } => inputs[0] * *gain,
        Block::Bias { bias } => inputs[0] + *bias,
        Block::Sum { signs } => signed(inputs, signs, [Binary::Add, Binary::Sub], 0.0),
        Block::Product { signs } => signed(inputs, signs, [Binary::Mul, Binary::Div], 1.0),
        Block::Function(function) => Expr::unary(*function, inputs[0]),
        Block::Combine { function, negated, .. } => combined(inputs, *function, *negated),
        Block::CompareToConstant { function, constant } => Expr::binary(*function, inputs[0], *constant),
        Block::IntervalTest { low, high } => {
            let above = Expr::binary(Binary::GreaterEqual, inputs[0], *low);
            Expr::binary(Binary::Both, above, Expr::binary(Binary::LessEqual, inputs[0], *high))
        }
        _ => return false,
    };
    wiring.give(value);
    true
}

/// Inputs joined from the first on. A first input with sign −1 is subtracted from (divides) the neutral number.
fn signed(inputs: &[Slot], signs: &[f64], [plus, minus]: [Binary; 2], neutral: f64) -> Expr {
    let mut joined: Option<Expr> = None;
    for (&input, &sign) in inputs.iter().zip(signs) {
        joined = Some(match joined {
            None if sign > 0.0 => Expr::from(input),
            None => Expr::binary(minus, neutral, input),
            Some(left) => Expr::binary(if sign > 0.0 { plus } else { minus }, left, input),
        });
    }
    joined.unwrap_or(Expr::Const(neutral))
}

fn combined(inputs: &[Slot], function: Binary, negated: bool) -> Expr {
    let joined = inputs
        .iter()
        .map(|&input| Expr::from(input))
        .reduce(|left, right| Expr::binary(function, left, right))
        .unwrap_or(Expr::Const(0.0));
    if negated { Expr::unary(Unary::Not, joined) } else { joined }
}
