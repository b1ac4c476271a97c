//! Blocks that limit, round, switch and remember where they were.

use super::{Block, Wiring};
use crate::expression::{Binary, Expr, Place, Unary};
use crate::memory::Slot;
use crate::statement::Stmt;

/// Writes a block of this kind. Returns whether it is one.
pub fn emit(block: &Block, wiring: &mut Wiring<'_>) -> bool {
    let inputs = wiring.inputs;
    match block {
        Block::Saturation { low, high } => wiring.give(Expr::from(inputs[0]).max(*low).min(*high)),
        Block::DeadZone { start, end } => {
            let below = Expr::from(inputs[0]).less(*start);
            let above = Expr::from(inputs[0]).greater(*end);
            wiring.give(Expr::select(below, inputs[0] - *start, Expr::select(above, inputs[0] - *end, 0.0)));
        }
        Block::RateLimiter { rising, falling, sample_time, initial } => {
            let last = wiring.state("last", &[*initial]).start;
            let lowest = last + falling * sample_time;
            let highest = last + rising * sample_time;
            wiring.give(Expr::from(inputs[0]).max(lowest).min(highest));
            keep(wiring, last);
        }
        Block::Quantizer { interval } => {
            wiring.give(Expr::unary(Unary::Round, inputs[0] / *interval) * *interval);
        }
        Block::Relay { on_point, off_point, on_value, off_value } => {
            let on = wiring.state("on", &[0.0]).start;
            let rises = Expr::binary(Binary::GreaterEqual, inputs[0], *on_point);
            let falls = Expr::binary(Binary::LessEqual, inputs[0], *off_point);
            wiring.compute(Stmt::set(on, Expr::select(rises, 1.0, Expr::select(falls, 0.0, on))));
            wiring.give(Expr::select(on, *on_value, *off_value));
        }
        Block::Backlash { width, initial } => {
            let last = wiring.state("last", &[*initial]).start;
            let half = width / 2.0;
            wiring.give(Expr::from(last).max(inputs[0] - half).min(inputs[0] + half));
            keep(wiring, last);
        }
        Block::Switch { threshold } => {
            let first = Expr::binary(Binary::GreaterEqual, inputs[1], *threshold);
            wiring.give(Expr::select(first, inputs[0], inputs[2]));
        }
        Block::MultiportSwitch { inputs: count } => multiport(wiring, *count),
        _ => return false,
    }
    true
}

/// Remembers the output for the next tick.
fn keep(wiring: &mut Wiring<'_>, last: Slot) {
    let output = wiring.outputs[0];
    wiring.update(Stmt::set(last, output));
}

fn multiport(wiring: &mut Wiring<'_>, count: u32) {
    let inputs = wiring.inputs;
    let ports = wiring.builder.scratch(count);
    for (k, &input) in inputs[1..].iter().enumerate() {
        wiring.compute(Stmt::set(ports.at(k as u32), input));
    }
    let place = Place::default();
    wiring.give(Expr::element(ports, Expr::unary(Unary::Truncate, inputs[0]) - 1.0, place));
}
