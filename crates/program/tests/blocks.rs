//! Library blocks against traces computed by hand, or by a formula that the block does not use (S2-25).

use std::f64::consts::PI;
use std::sync::Arc;

use anabranch_program::blocks::{Block, BlockError};
use anabranch_program::{Builder, Now, Program, Slot};

/// The inputs of a block that has none.
const NOTHING: &[f64] = &[];

/// The program of one block between inputs `u1`, `u2`, … and outputs `y1`, ….
fn alone(block: &Block) -> Program {
    let mut builder = Builder::new("block");
    let inputs: Vec<Slot> = (0..block.inputs()).map(|k| builder.input(format!("u{}", k + 1), &[0.0]).start).collect();
    let outputs: Vec<Slot> =
        (0..block.outputs()).map(|k| builder.output(format!("y{}", k + 1), &[0.0]).start).collect();
    let emitted = block.emit(&mut builder, "block", &inputs, &outputs).unwrap();
    builder.step("block", emitted.compute);
    builder.step("block", emitted.update);
    builder.finish().unwrap()
}

/// The first output for each row of inputs, the same by interpreter and machine code.
fn trace(name: &str, parameters: &[(&str, &[f64])], rows: &[&[f64]]) -> Vec<f64> {
    let block = Block::named(name, parameters).unwrap_or_else(|error| panic!("{error}"));
    let program = Arc::new(alone(&block));
    #[cfg(feature = "native")]
    let native = anabranch_program::Native::compile(program.clone()).unwrap();
    let mut memory = program.memory();
    let mut seen = Vec::new();
    for (tick, row) in rows.iter().enumerate() {
        memory.inputs().copy_from_slice(row);
        let now = Now { tick: tick as u64, ..Now::default() };
        let mut other = memory.clone();
        program.tick(&mut memory, now).unwrap_or_else(|fault| panic!("{name}: {}", program.explain(&fault)));
        #[cfg(feature = "native")]
        {
            native.tick(&mut other, now).unwrap();
            assert_eq!(other.saved(), memory.saved(), "{name}, tick {tick}");
        }
        #[cfg(not(feature = "native"))]
        let _ = &mut other;
        seen.push(memory.outputs()[0]);
    }
    seen
}

fn check(name: &str, parameters: &[(&str, &[f64])], inputs: &[f64], expected: &[f64]) {
    let rows: Vec<&[f64]> = inputs.chunks(1).collect();
    check_rows(name, parameters, &rows, expected);
}

fn check_rows(name: &str, parameters: &[(&str, &[f64])], rows: &[&[f64]], expected: &[f64]) {
    let seen = trace(name, parameters, rows);
    assert_eq!(seen.len(), expected.len());
    let close = seen.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs()));
    assert!(close, "{name}: {seen:?} instead of {expected:?}");
}

#[test]
fn sums_products_and_gains() {
    check("Gain", &[("gain", &[2.5])], &[1.0, -2.0], &[2.5, -5.0]);
    check("Bias", &[("bias", &[-1.0])], &[1.0, -2.0], &[0.0, -3.0]);
    check_rows("Sum", &[("signs", &[1.0, -1.0, 1.0])], &[&[1.0, 2.0, 4.0], &[0.5, 0.25, 0.0]], &[3.0, 0.25]);
    check_rows("Sum", &[("signs", &[-1.0])], &[&[3.0]], &[-3.0]);
    check_rows("Add", &[], &[&[1.0, 2.0]], &[3.0]);
    check_rows("Subtract", &[], &[&[1.0, 2.0]], &[-1.0]);
    check_rows("Product", &[], &[&[3.0, 2.0]], &[6.0]);
    check_rows("Product", &[("signs", &[-1.0, 1.0])], &[&[4.0, 2.0]], &[0.5]);
    check_rows("Divide", &[], &[&[3.0, 2.0]], &[1.5]);
}

#[test]
fn delays_give_what_was() {
    check("UnitDelay", &[("initial", &[7.0])], &[1.0, 2.0, 3.0], &[7.0, 1.0, 2.0]);
    check("Memory", &[], &[1.0, 2.0, 3.0], &[0.0, 1.0, 2.0]);
    check("Delay", &[("ticks", &[3.0]), ("initial", &[9.0])], &[1.0, 2.0, 3.0, 4.0, 5.0], &[9.0, 9.0, 9.0, 1.0, 2.0]);
    check("Delay", &[("ticks", &[0.0])], &[1.0, 2.0], &[1.0, 2.0]);
    check("Delay", &[("ticks", &[1.0])], &[1.0, 2.0], &[0.0, 1.0]);
}

#[test]
fn integrators_follow_their_method() {
    // Input 1, 2, 3 at T = 0.5 and gain 2, so that gain·T = 1; start at 10.
    let parameters: [(&str, &[f64]); 3] = [("gain", &[2.0]), ("sample_time", &[0.5]), ("initial", &[10.0])];
    let inputs = [1.0, 2.0, 3.0, 0.0];
    check("DiscreteIntegrator", &parameters, &inputs, &[10.0, 11.0, 13.0, 16.0]);
    check("DiscreteIntegratorBackward", &parameters, &inputs, &[11.0, 13.0, 16.0, 16.0]);
    check("DiscreteIntegratorTrapezoidal", &parameters, &inputs, &[10.5, 12.0, 14.5, 16.0]);
    let limited: [(&str, &[f64]); 3] = [("sample_time", &[1.0]), ("low", &[-1.0]), ("high", &[2.5])];
    check("DiscreteIntegrator", &limited, &[1.0, 1.0, 1.0, -1.0, 0.0], &[0.0, 1.0, 2.0, 2.5, 1.5]);
}

#[test]
fn a_derivative_undoes_a_backward_integral() {
    check(
        "DiscreteDerivative",
        &[("gain", &[3.0]), ("sample_time", &[0.1])],
        &[1.0, 1.5, 1.5, 0.0],
        &[30.0, 15.0, 0.0, -45.0],
    );
}

#[test]
fn filters_have_the_impulse_response_of_their_polynomials() {
    let impulse = [1.0, 0.0, 0.0, 0.0, 0.0];
    check("DiscreteFir", &[("coefficients", &[0.5, 0.25, 0.125])], &impulse, &[0.5, 0.25, 0.125, 0.0, 0.0]);
    check("DiscreteFir", &[("coefficients", &[2.0])], &[1.0, 3.0], &[2.0, 6.0]);
    // 1/(z − 0.5): 0, 1, 0.5, 0.25, …
    let parameters: [(&str, &[f64]); 2] = [("numerator", &[1.0]), ("denominator", &[1.0, -0.5])];
    check("DiscreteTransferFcn", &parameters, &impulse, &[0.0, 1.0, 0.5, 0.25, 0.125]);
    // (2z² + z)/(2z² − z + 0.5) by long division: 1, 1, 0.25, −0.125, −0.125.
    let parameters: [(&str, &[f64]); 2] = [("numerator", &[2.0, 1.0, 0.0]), ("denominator", &[2.0, -1.0, 0.5])];
    check("DiscreteTransferFcn", &parameters, &impulse, &[1.0, 1.0, 0.25, -0.125, -0.125]);
    // A plain number.
    let parameters: [(&str, &[f64]); 2] = [("numerator", &[3.0]), ("denominator", &[2.0])];
    check("DiscreteTransferFcn", &parameters, &[2.0, 4.0], &[3.0, 6.0]);
}

#[test]
fn a_low_pass_closes_in_by_a_constant_ratio() {
    // T/(tau + T) = 1/4: the distance to the input shrinks to 3/4 in each tick.
    let expected: Vec<f64> = (1..=6).map(|n| 1.0 - 0.75_f64.powi(n)).collect();
    check("LowPass", &[("time_constant", &[0.3]), ("sample_time", &[0.1])], &[1.0; 6], &expected);
}

#[test]
fn a_pid_controller_adds_its_three_parts() {
    let parameters: [(&str, &[f64]); 5] =
        [("p", &[2.0]), ("i", &[1.0]), ("d", &[0.5]), ("filter", &[2.0]), ("sample_time", &[0.1])];
    // Error 1: P = 2; I = 0, 0.1, 0.2; D: 0.5·2 = 1, then the filter state 0.1: 0.8, then 0.18: 0.64.
    check("Pid", &parameters, &[1.0; 3], &[3.0, 2.9, 2.84]);
    let limited: [(&str, &[f64]); 5] =
        [("p", &[1.0]), ("i", &[10.0]), ("sample_time", &[0.1]), ("low", &[-1.5]), ("high", &[1.5])];
    // The integral stops at 1 while the output is limited, so the output leaves the limit at once.
    check("Pid", &limited, &[1.0, 1.0, 1.0, 1.0, -1.0, -1.0], &[1.0, 1.5, 1.5, 1.5, 0.0, -1.0]);
}

#[test]
fn limits_zones_and_steps() {
    check("Saturation", &[("low", &[-1.0]), ("high", &[2.0])], &[-3.0, 0.5, 9.0], &[-1.0, 0.5, 2.0]);
    check(
        "DeadZone",
        &[("start", &[-1.0]), ("end", &[2.0])],
        &[-3.0, -1.0, 0.5, 2.0, 9.0],
        &[-2.0, 0.0, 0.0, 0.0, 7.0],
    );
    check(
        "RateLimiter",
        &[("rising", &[2.0]), ("falling", &[-4.0]), ("sample_time", &[0.5])],
        &[10.0, 10.0, 1.5, -10.0, -10.0],
        &[1.0, 2.0, 1.5, -0.5, -2.5],
    );
    check("Quantizer", &[("interval", &[0.5])], &[0.24, 0.25, -0.25, 1.2], &[0.0, 0.5, -0.5, 1.0]);
    check("Backlash", &[("width", &[2.0])], &[0.5, 1.5, 3.0, 2.5, 1.0, 0.0], &[0.0, 0.5, 2.0, 2.0, 2.0, 1.0]);
    check("IntervalTest", &[("low", &[0.0]), ("high", &[1.0])], &[-0.1, 0.0, 1.0, 1.1], &[0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn a_relay_remembers_its_side() {
    let parameters: [(&str, &[f64]); 4] =
        [("on_point", &[1.0]), ("off_point", &[-1.0]), ("on_value", &[5.0]), ("off_value", &[-5.0])];
    let inputs = [0.0, 1.0, 0.0, -0.9, -1.0, 0.9];
    for name in ["Relay", "Hysteresis"] {
        check(name, &parameters, &inputs, &[-5.0, 5.0, 5.0, 5.0, -5.0, -5.0]);
    }
}

#[test]
fn switches_choose() {
    check_rows("Switch", &[("threshold", &[0.5])], &[&[1.0, 0.5, 2.0], &[1.0, 0.4, 2.0]], &[1.0, 2.0]);
    let rows: [&[f64]; 3] = [&[1.0, 10.0, 20.0], &[2.0, 10.0, 20.0], &[2.9, 10.0, 20.0]];
    check_rows("MultiportSwitch", &[("inputs", &[2.0])], &rows, &[10.0, 20.0, 20.0]);
    let program = alone(&Block::named("MultiportSwitch", &[("inputs", &[2.0])]).unwrap());
    let mut memory = program.memory();
    memory.inputs().copy_from_slice(&[3.0, 10.0, 20.0]);
    let fault = program.tick(&mut memory, Now::default()).unwrap_err();
    assert_eq!(program.explain(&fault), "block: there is no element 3 in 2 (counted from 1)");
}

#[test]
fn tables_are_straight_between_points() {
    let table: [(&str, &[f64]); 2] = [("points", &[0.0, 1.0, 3.0]), ("values", &[10.0, 20.0, 0.0])];
    let inputs = [-1.0, 0.0, 0.25, 1.0, 2.0, 3.0, 4.0];
    check("Lookup1D", &table, &inputs, &[0.0, 10.0, 12.5, 20.0, 10.0, 0.0, -10.0]);
    let clipped: [(&str, &[f64]); 3] = [table[0], table[1], ("clip", &[1.0])];
    check("Lookup1D", &clipped, &inputs, &[10.0, 10.0, 12.5, 20.0, 10.0, 0.0, 0.0]);
    // The table of x + 2y is its own bilinear continuation.
    let (rows, columns) = ([0.0, 1.0, 4.0], [0.0, 2.0]);
    let values: Vec<f64> = rows.iter().flat_map(|x| columns.iter().map(move |y| x + 2.0 * y)).collect();
    let inputs: [&[f64]; 4] = [&[0.5, 0.5], &[3.0, 1.5], &[5.0, 3.0], &[-1.0, -1.0]];
    let parameters: [(&str, &[f64]); 3] = [("rows", &rows), ("columns", &columns), ("values", &values)];
    check_rows("Lookup2D", &parameters, &inputs, &[1.5, 6.0, 11.0, -3.0]);
    // x·y at the corners of the unit square is x·y inside.
    let parameters: [(&str, &[f64]); 4] =
        [("rows", &[0.0, 1.0]), ("columns", &[0.0, 1.0]), ("values", &[0.0, 0.0, 0.0, 1.0]), ("clip", &[1.0])];
    check_rows("Lookup2D", &parameters, &[&[0.5, 0.25], &[2.0, 0.5]], &[0.125, 0.5]);
}

#[test]
fn counters_edges_and_flip_flops() {
    check_rows("CounterLimited", &[("upper", &[2.0])], &[NOTHING; 5], &[0.0, 1.0, 2.0, 0.0, 1.0]);
    let rows: [&[f64]; 5] = [&[1.0, 0.0], &[0.0, 0.0], &[1.0, 0.0], &[1.0, 1.0], &[0.0, 1.0]];
    check_rows("Counter", &[], &rows, &[1.0, 1.0, 2.0, 1.0, 0.0]);
    let inputs = [0.0, 1.0, 1.0, 0.0, 1.0];
    check("EdgeRising", &[], &inputs, &[0.0, 1.0, 0.0, 0.0, 1.0]);
    check("EdgeFalling", &[], &inputs, &[0.0, 0.0, 0.0, 1.0, 0.0]);
    check("EdgeEither", &[], &inputs, &[0.0, 1.0, 0.0, 1.0, 1.0]);
    check("EdgeFalling", &[("initial", &[1.0])], &[0.0], &[1.0]);
    check("DetectChange", &[], &[0.0, 2.0, 2.0, 3.0], &[0.0, 1.0, 0.0, 1.0]);
    let rows: [&[f64]; 6] = [&[0.0, 0.0], &[1.0, 0.0], &[0.0, 0.0], &[1.0, 1.0], &[0.0, 0.0], &[0.0, 1.0]];
    check_rows("RsFlipFlop", &[], &rows, &[0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn logic_and_comparisons() {
    let rows: [&[f64]; 4] = [&[0.0, 0.0], &[0.0, 1.0], &[1.0, 0.0], &[1.0, 1.0]];
    let tables: [(&str, [f64; 4]); 13] = [
        ("And", [0.0, 0.0, 0.0, 1.0]),
        ("Or", [0.0, 1.0, 1.0, 1.0]),
        ("Xor", [0.0, 1.0, 1.0, 0.0]),
        ("Nand", [1.0, 1.0, 1.0, 0.0]),
        ("Nor", [1.0, 0.0, 0.0, 0.0]),
        ("Less", [0.0, 1.0, 0.0, 0.0]),
        ("LessEqual", [1.0, 1.0, 0.0, 1.0]),
        ("Greater", [0.0, 0.0, 1.0, 0.0]),
        ("GreaterEqual", [1.0, 0.0, 1.0, 1.0]),
        ("Equal", [1.0, 0.0, 0.0, 1.0]),
        ("NotEqual", [0.0, 1.0, 1.0, 0.0]),
        ("Min", [0.0, 0.0, 0.0, 1.0]),
        ("Max", [0.0, 1.0, 1.0, 1.0]),
    ];
    for (name, expected) in tables {
        check_rows(name, &[], &rows, &expected);
    }
    check_rows("And", &[("inputs", &[3.0])], &[&[1.0, 1.0, 0.0], &[1.0, 1.0, 1.0]], &[0.0, 1.0]);
    check("Not", &[], &[0.0, 1.0], &[1.0, 0.0]);
    for (number, expected) in
        [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
            .iter()
            .enumerate()
    {
        let parameters: [(&str, &[f64]); 2] = [("comparison", &[number as f64]), ("constant", &[3.0])];
        check("CompareToConstant", &parameters, &[2.0, 3.0, 4.0], expected);
    }
}

#[test]
fn functions_have_their_known_values() {
    let third = PI / 3.0;
    let values: [(&str, f64, f64); 21] = [
        ("Abs", -2.0, 2.0),
        ("Sign", -2.0, -1.0),
        ("Sqrt", 9.0, 3.0),
        ("Floor", -1.5, -2.0),
        ("Ceil", -1.5, -1.0),
        ("Fix", -1.5, -1.0),
        ("Round", -1.5, -2.0),
        ("Sin", PI / 6.0, 0.5),
        ("Cos", third, 0.5),
        ("Tan", PI / 4.0, 1.0),
        ("Asin", 0.5, PI / 6.0),
        ("Acos", 0.5, third),
        ("Atan", 1.0, PI / 4.0),
        ("Exp", 1.0, std::f64::consts::E),
        ("Log", std::f64::consts::E, 1.0),
        ("Log10", 1000.0, 3.0),
        ("Cosh", 0.0, 1.0),
        ("Asinh", 0.75, std::f64::consts::LN_2),
        ("Acosh", 1.25, std::f64::consts::LN_2),
        ("Atanh", 0.6, std::f64::consts::LN_2),
        ("Not", 2.0, 0.0),
    ];
    for (name, input, expected) in values {
        check(name, &[], &[input], &[expected]);
    }
    check_rows("Atan2", &[], &[&[1.0, -1.0]], &[3.0 * PI / 4.0]);
    check_rows("Mod", &[], &[&[-1.0, 3.0]], &[2.0]);
    check_rows("Power", &[], &[&[2.0, 10.0]], &[1024.0]);
}

#[test]
fn sources_follow_the_clock() {
    let time: (&str, &[f64]) = ("sample_time", &[0.5]);
    let ticks = [NOTHING; 5];
    check_rows("Constant", &[("value", &[4.0])], &ticks, &[4.0; 5]);
    check_rows("Clock", &[time], &ticks, &[0.0, 0.5, 1.0, 1.5, 2.0]);
    check_rows("Step", &[time, ("time", &[1.0]), ("before", &[-1.0])], &ticks, &[-1.0, -1.0, 1.0, 1.0, 1.0]);
    let ramp: [(&str, &[f64]); 4] = [time, ("slope", &[2.0]), ("start", &[1.0]), ("initial", &[3.0])];
    check_rows("Ramp", &ramp, &ticks, &[3.0, 3.0, 3.0, 4.0, 5.0]);
    let sine: [(&str, &[f64]); 4] = [time, ("frequency", &[PI]), ("amplitude", &[2.0]), ("bias", &[1.0])];
    check_rows("Sine", &sine, &ticks, &[1.0, 3.0, 1.0, -1.0, 1.0]);
    let pulse: [(&str, &[f64]); 4] = [("amplitude", &[2.0]), ("period", &[3.0]), ("width", &[1.0]), ("delay", &[1.0])];
    check_rows("Pulse", &pulse, &ticks, &[0.0, 2.0, 0.0, 0.0, 2.0]);
    let noise = trace("RandomNumber", &[("mean", &[100.0]), ("deviation", &[0.1])], &[NOTHING; 50]);
    assert!(noise.iter().all(|x| (x - 100.0).abs() < 1.0) && noise.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn a_block_that_does_not_pass_through_breaks_a_loop() {
    // y = u + delayed y: the running sum.
    let mut builder = Builder::new("loop");
    let input = builder.input("u", &[1.0]).start;
    let sum = builder.output("sum", &[0.0]).start;
    let last = builder.signal("last", 1).start;
    let delay = Block::named("UnitDelay", &[]).unwrap();
    assert!(!delay.passes_through());
    let early = delay.emit(&mut builder, "delay", &[sum], &[last]).unwrap();
    builder.step("delay", early.compute);
    let adder = Block::named("Add", &[]).unwrap();
    assert!(adder.passes_through());
    let body = adder.emit(&mut builder, "adder", &[input, last], &[sum]).unwrap();
    builder.step("adder", body.compute);
    builder.step("delay", early.update);
    let program = builder.finish().unwrap();
    let mut memory = program.memory();
    for expected in [1.0, 2.0, 3.0] {
        program.tick(&mut memory, Now::default()).unwrap();
        assert_eq!(memory.outputs(), [expected]);
    }
}

#[test]
fn every_name_makes_a_block_and_slips_are_told() {
    let common: [(&str, &[f64]); 9] = [
        ("sample_time", &[0.1]),
        ("time_constant", &[0.1]),
        ("upper", &[3.0]),
        ("coefficients", &[1.0]),
        ("numerator", &[1.0]),
        ("denominator", &[1.0]),
        ("points", &[0.0, 1.0]),
        ("rows", &[0.0, 1.0]),
        ("columns", &[0.0, 1.0]),
    ];
    for name in Block::NAMES {
        // Parameters that the block asks for, found one refusal after the other.
        let mut parameters: Vec<(&str, &[f64])> = Vec::new();
        let block = loop {
            match Block::named(name, &parameters) {
                Ok(block) => break block,
                Err(BlockError::Parameter { parameter, reason, .. }) if reason == "is missing" => {
                    let values: (&str, &[f64]) =
                        if name == "Lookup1D" { ("values", &[1.0, 2.0]) } else { ("values", &[1.0, 2.0, 3.0, 4.0]) };
                    let known = common.iter().copied().chain([values]);
                    parameters.push(known.into_iter().find(|(name, _)| *name == parameter).unwrap());
                }
                Err(error) => panic!("{error}"),
            }
        };
        alone(&block);
    }
    let message = |name: &str, parameters: &[(&str, &[f64])]| Block::named(name, parameters).unwrap_err().to_string();
    assert_eq!(message("Gian", &[]), "there is no block `Gian`");
    assert_eq!(message("Gain", &[("gian", &[1.0])]), "block Gain: parameter `gian` is not known");
    assert_eq!(message("Clock", &[]), "block Clock: parameter `sample_time` is missing");
    assert_eq!(message("Saturation", &[("low", &[3.0])]), "block Saturation: parameter `low` is above `high`");
    assert_eq!(
        message("Lookup1D", &[("points", &[1.0, 1.0]), ("values", &[1.0, 2.0])]),
        "block Lookup1D: parameter `points` does not rise from number to number"
    );
    let mut builder = Builder::new("ports");
    let gain = Block::named("Gain", &[]).unwrap();
    assert_eq!(gain.add(&mut builder, "g", &[]).unwrap_err().to_string(), "block g has 1 inputs, not 0");
}
