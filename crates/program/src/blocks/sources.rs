//! Blocks without inputs.

use super::{Block, Wiring};
use crate::expression::{Binary, Expr, Unary};

/// Writes a block of this kind. Returns whether it is one.
pub fn emit(block: &Block, wiring: &mut Wiring<'_>) -> bool {
    let time = |sample_time: f64| Expr::Tick * sample_time;
    let value = match *block {
        Block::Constant { value } => Expr::Const(value),
        Block::Clock { sample_time } => time(sample_time),
        Block::Step { time: at, before, after, sample_time } => {
            Expr::select(Expr::binary(Binary::GreaterEqual, time(sample_time), at), after, before)
        }
        Block::Ramp { slope, start, initial, sample_time } => {
            let running = (time(sample_time) - start).max(0.0);
            Expr::Const(initial) + running * slope
        }
        Block::Sine { amplitude, frequency, phase, bias, sample_time } => {
            let angle = time(sample_time) * frequency + phase;
            Expr::Const(bias) + Expr::unary(Unary::Sin, angle) * amplitude
        }
        Block::Pulse { amplitude, period, width, delay } => {
            let since = Expr::Tick - f64::from(delay);
            let started = Expr::binary(Binary::GreaterEqual, since.clone(), 0.0);
            let inside = Expr::binary(Binary::Modulo, since, f64::from(period)).less(f64::from(width));
            Expr::select(Expr::binary(Binary::Both, started, inside), amplitude, 0.0)
        }
        Block::Random { draw, mean, deviation } => Expr::Const(mean) + Expr::Draw(draw) * deviation,
        _ => return false,
    };
    wiring.give(value);
    true
}
