//! Blocks with memory that follow linear difference equations, and counters.

use super::{Block, Edge, Method, Wiring};
use crate::expression::{Binary, Expr, Unary};
use crate::statement::{ArrayOp, Stmt};

/// Writes a block of this kind. Returns whether it is one.
pub fn emit(block: &Block, wiring: &mut Wiring<'_>) -> bool {
    match block {
        Block::UnitDelay { initial } => {
            let last = wiring.state("last", &[*initial]).start;
            wiring.give(last);
            let input = wiring.inputs[0];
            wiring.update(Stmt::set(last, input));
        }
        Block::Delay { ticks, initial } => delay(wiring, *ticks, *initial),
        Block::DiscreteIntegrator { method, gain, sample_time, initial, low, high } => {
            let limits = [*low, *high];
            integrator(wiring, *method, gain * sample_time, *initial, limits);
        }
        Block::DiscreteDerivative { gain, sample_time, initial } => {
            let last = wiring.state("last", &[*initial]).start;
            let input = wiring.inputs[0];
            wiring.give((input - last) * *gain / *sample_time);
            wiring.update(Stmt::set(last, input));
        }
        Block::DiscreteTransferFcn { numerator, denominator } => transfer(wiring, numerator, denominator),
        Block::DiscreteFir { coefficients } => fir(wiring, coefficients),
        Block::LowPass { time_constant, sample_time, initial } => {
            let level = wiring.state("level", &[*initial]).start;
            let share = sample_time / (time_constant + sample_time);
            let input = wiring.inputs[0];
            wiring.give(level + (input - level) * share);
            let output = wiring.outputs[0];
            wiring.update(Stmt::set(level, output));
        }
        Block::Pid { .. } => pid(block, wiring),
        Block::CounterLimited { upper } => {
            let count = wiring.state("count", &[0.0]).start;
            wiring.give(count);
            let next = Expr::select(Expr::from(count).less(f64::from(*upper)), count + 1.0, 0.0);
            wiring.update(Stmt::set(count, next));
        }
        Block::Counter { initial } => {
            let count = wiring.state("count", &[*initial]).start;
            let [event, reset] = [wiring.inputs[0], wiring.inputs[1]];
            let base = Expr::select(reset, 0.0, count);
            wiring.give(base + Expr::unary(Unary::Truth, event));
            let output = wiring.outputs[0];
            wiring.update(Stmt::set(count, output));
        }
        Block::DetectEdge { edge, initial } => detect_edge(wiring, *edge, *initial),
        Block::DetectChange { initial } => {
            let last = wiring.state("last", &[*initial]).start;
            let input = wiring.inputs[0];
            wiring.give(Expr::binary(Binary::NotEqual, input, last));
            wiring.update(Stmt::set(last, input));
        }
        Block::RsFlipFlop { initial } => {
            let bit = wiring.state("bit", &[f64::from(u8::from(*initial))]).start;
            let [set, reset] = [wiring.inputs[0], wiring.inputs[1]];
            wiring.give(Expr::and(Expr::unary(Unary::Not, reset), Expr::or(set, bit)));
            let [output, opposite] = [wiring.outputs[0], wiring.outputs[1]];
            wiring.compute(Stmt::set(opposite, Expr::unary(Unary::Not, output)));
            wiring.update(Stmt::set(bit, output));
        }
        _ => return false,
    }
    true
}

fn delay(wiring: &mut Wiring<'_>, ticks: u32, initial: f64) {
    let input = wiring.inputs[0];
    if ticks == 0 {
        return wiring.give(input);
    }
    // The oldest first.
    let line = wiring.state("line", &vec![initial; ticks as usize]);
    wiring.give(line.start);
    wiring.update(ArrayOp::Copy { to: line.part(0, ticks - 1), from: line.part(1, ticks - 1) });
    wiring.update(Stmt::set(line.at(ticks - 1), input));
}

fn integrator(wiring: &mut Wiring<'_>, method: Method, gain: f64, initial: f64, [low, high]: [f64; 2]) {
    let level = wiring.state("level", &[initial]).start;
    let (input, output) = (wiring.inputs[0], wiring.outputs[0]);
    let limited =
        |value: Expr| if low > f64::NEG_INFINITY || high < f64::INFINITY { value.max(low).min(high) } else { value };
    match method {
        Method::ForwardEuler => {
            wiring.give(limited(level.into()));
            wiring.update(Stmt::set(level, limited(output + input * gain)));
        }
        Method::BackwardEuler => {
            wiring.give(limited(level + input * gain));
            wiring.update(Stmt::set(level, output));
        }
        Method::Trapezoidal => {
            wiring.give(limited(level + input * (gain / 2.0)));
            wiring.update(Stmt::set(level, limited(output + input * (gain / 2.0))));
        }
    }
}

/// Direct form II: w(n) = (u − Σ a(k)·w(n−k))/a(0), y = Σ b(k)·w(n−k), with the numerator filled up by zeros in front.
fn transfer(wiring: &mut Wiring<'_>, numerator: &[f64], denominator: &[f64]) {
    let order = denominator.len() - 1;
    let mut b = vec![0.0; denominator.len() - numerator.len()];
    b.extend_from_slice(numerator);
    let input = wiring.inputs[0];
    let output = wiring.outputs[0];
    let length = order as u32;
    let past = wiring.state("past", &vec![0.0; order]);
    let a = wiring.builder.constant(format!("{}.a", wiring.name), &denominator[1..]);
    let tail = wiring.builder.constant(format!("{}.b", wiring.name), &b[1..]);
    let [fed_back, newest] = [(); 2].map(|()| wiring.builder.scratch(1).start);
    let feedback = [
        Stmt::from(ArrayOp::Dot { to: fed_back, left: a, right: past }),
        Stmt::set(newest, (input - fed_back) / denominator[0]),
    ];
    wiring.compute(ArrayOp::Dot { to: output, left: tail, right: past });
    if b[0] == 0.0 {
        // The output does not need the newest value, so it can be known before the input is.
        feedback.into_iter().for_each(|stmt| wiring.update(stmt));
    } else {
        feedback.into_iter().for_each(|stmt| wiring.compute(stmt));
        wiring.give(newest * b[0] + output);
    }
    if order > 0 {
        wiring.update(ArrayOp::Copy { to: past.part(1, length - 1), from: past.part(0, length - 1) });
        wiring.update(Stmt::set(past.start, newest));
    }
}

fn fir(wiring: &mut Wiring<'_>, coefficients: &[f64]) {
    let order = coefficients.len() - 1;
    let length = order as u32;
    let (input, output) = (wiring.inputs[0], wiring.outputs[0]);
    let past = wiring.state("past", &vec![0.0; order]);
    let tail = wiring.builder.constant(format!("{}.h", wiring.name), &coefficients[1..]);
    wiring.compute(ArrayOp::Dot { to: output, left: tail, right: past });
    if coefficients[0] != 0.0 {
        wiring.give(input * coefficients[0] + output);
    }
    if order > 0 {
        wiring.update(ArrayOp::Copy { to: past.part(1, length - 1), from: past.part(0, length - 1) });
        wiring.update(Stmt::set(past.start, input));
    }
}

fn pid(block: &Block, wiring: &mut Wiring<'_>) {
    let Block::Pid { p, i, d, filter, sample_time, low, high } = *block else { return };
    let integral = wiring.state("integral", &[0.0]).start;
    let smooth = wiring.state("filter", &[0.0]).start;
    let [slope, wanted] = [(); 2].map(|()| wiring.builder.scratch(1).start);
    let (error, output) = (wiring.inputs[0], wiring.outputs[0]);
    wiring.compute(Stmt::set(slope, (error * d - smooth) * filter));
    wiring.compute(Stmt::set(wanted, error * p + integral + slope));
    wiring.give(Expr::from(wanted).max(low).min(high));
    // The integral waits while the output is limited and the error would drive it further beyond.
    let beyond = Expr::binary(Binary::NotEqual, wanted, output);
    let further = ((wanted - output) * (error * i)).greater(0.0);
    let waits = Expr::binary(Binary::Both, beyond, further);
    wiring.update(Stmt::set(integral, integral + Expr::select(waits, 0.0, error * (i * sample_time))));
    wiring.update(Stmt::set(smooth, smooth + slope * sample_time));
}

fn detect_edge(wiring: &mut Wiring<'_>, edge: Edge, initial: bool) {
    let last = wiring.state("last", &[f64::from(u8::from(initial))]).start;
    let input = wiring.inputs[0];
    let was_not = Expr::unary(Unary::Not, last);
    let is_not = Expr::unary(Unary::Not, input);
    wiring.give(match edge {
        Edge::Rising => Expr::binary(Binary::Both, input, was_not),
        Edge::Falling => Expr::binary(Binary::Both, is_not, last),
        Edge::Either => Expr::binary(Binary::Xor, input, last),
    });
    wiring.update(Stmt::set(last, Expr::unary(Unary::Truth, input)));
}
