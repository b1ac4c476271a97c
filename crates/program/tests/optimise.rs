//! Optimisation problems with solutions known by other means.

use std::sync::Arc;

use anabranch_program::{Builder, Expr, FaultKind, Now, Problem, Program, Slot, Span, Stmt, Unary};

/// What a problem is made of: start, bounds, and a function that makes objective and constraints of the variables.
struct Case<'a> {
    start: &'a [f64],
    bounds: [f64; 2],
    objective: fn(Span) -> Expr,
    at_least: Vec<fn(Span) -> Expr>,
    equal: Vec<fn(Span) -> Expr>,
}

fn build(case: &Case<'_>) -> Program {
    let mut builder = Builder::new("optimisation");
    let n = case.start.len();
    let variables = builder.output("x", case.start);
    let value = builder.output("value", &[0.0]).start;
    let lower = builder.constant("lower", &vec![case.bounds[0]; n]);
    let upper = builder.constant("upper", &vec![case.bounds[1]; n]);
    let at_least = builder.scratch(case.at_least.len() as u32);
    let equal = builder.scratch(case.equal.len() as u32);
    let mut body = vec![Stmt::set(value, (case.objective)(variables))];
    let constraints = |list: &[fn(Span) -> Expr], span: Span| -> Vec<Stmt> {
        list.iter().enumerate().map(|(k, make)| Stmt::set(span.at(k as u32), make(variables))).collect()
    };
    body.extend(constraints(&case.at_least, at_least));
    body.extend(constraints(&case.equal, equal));
    let problem =
        Problem { variables, lower, upper, body, objective: value, at_least_zero: at_least, equal_zero: equal };
    builder.step("search", vec![anabranch_program::Action::Minimize(Box::new(problem)).into()]);
    builder.finish().unwrap()
}

/// The outputs after one tick, by interpreter and by machine code.
fn solve(case: &Case<'_>) -> Result<Vec<f64>, FaultKind> {
    let program = Arc::new(build(case));
    let mut memory = program.memory();
    let result = program.tick(&mut memory, Now::default());
    #[cfg(feature = "native")]
    {
        let native = anabranch_program::Native::compile(program.clone()).unwrap();
        let mut other = program.memory();
        assert_eq!(native.tick(&mut other, Now::default()), result);
        let bits = |memory: &anabranch_program::Memory| memory.all().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&other), bits(&memory));
    }
    result.map_err(|fault| fault.kind)?;
    Ok(memory.outputs().to_vec())
}

fn check(case: &Case<'_>, expected: &[f64], tolerance: f64) {
    let seen = solve(case).unwrap();
    let close = seen.iter().zip(expected).all(|(a, b)| (a - b).abs() <= tolerance);
    assert!(close && seen.len() == expected.len(), "{seen:?} instead of {expected:?}");
}

const FREE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

fn x(span: Span, k: u32) -> Slot {
    span.at(k)
}

#[test]
fn parabolas_without_constraints() {
    // (x − 3)² + 2 → 3, 2.
    let case = Case {
        start: &[0.0],
        bounds: FREE,
        objective: |v| (x(v, 0) - 3.0) * (x(v, 0) - 3.0) + 2.0,
        at_least: vec![],
        equal: vec![],
    };
    check(&case, &[3.0, 2.0], 1e-8);
    // The same within [0, 1] → 1, 6.
    check(&Case { bounds: [0.0, 1.0], ..case }, &[1.0, 6.0], 1e-8);
}

#[test]
fn a_quadratic_program_with_three_constraints() {
    // Nocedal and Wright, example 16.4: (x − 1)² + (y − 2.5)², x − 2y + 2 ≥ 0, −x − 2y + 6 ≥ 0, −x + 2y + 2 ≥ 0,
    // x, y ≥ 0: (1.4, 1.7), value 0.8.
    let case = Case {
        start: &[2.0, 0.0],
        bounds: [0.0, f64::INFINITY],
        objective: |v| (x(v, 0) - 1.0) * (x(v, 0) - 1.0) + (x(v, 1) - 2.5) * (x(v, 1) - 2.5),
        at_least: vec![|v| x(v, 0) - x(v, 1) * 2.0 + 2.0, |v| -Expr::from(x(v, 0)) - x(v, 1) * 2.0 + 6.0, |v| {
            -Expr::from(x(v, 0)) + x(v, 1) * 2.0 + 2.0
        }],
        equal: vec![],
    };
    check(&case, &[1.4, 1.7, 0.8], 1e-7);
}

#[test]
fn an_equation_and_a_linear_function() {
    // Nearest point of the plane x + y + z = 3 to the origin: (1, 1, 1).
    let case = Case {
        start: &[5.0, -2.0, 0.0],
        bounds: FREE,
        objective: |v| x(v, 0) * x(v, 0) + x(v, 1) * x(v, 1) + x(v, 2) * x(v, 2),
        at_least: vec![],
        equal: vec![|v| x(v, 0) + x(v, 1) + x(v, 2) - 3.0],
    };
    check(&case, &[1.0, 1.0, 1.0, 3.0], 1e-7);
    // A linear programme: −3x − 5y, x ≤ 4, 2y ≤ 12, 3x + 2y ≤ 18, not negative: (2, 6), −36 (Hillier and Lieberman).
    let case = Case {
        start: &[0.0, 0.0],
        bounds: [0.0, f64::INFINITY],
        objective: |v| x(v, 0) * -3.0 - x(v, 1) * 5.0,
        at_least: vec![|v| Expr::Const(4.0) - x(v, 0), |v| Expr::Const(12.0) - x(v, 1) * 2.0, |v| {
            Expr::Const(18.0) - x(v, 0) * 3.0 - x(v, 1) * 2.0
        }],
        equal: vec![],
    };
    check(&case, &[2.0, 6.0, -36.0], 1e-6);
}

#[test]
fn curved_functions_and_constraints() {
    // Rosenbrock's valley from its usual start: (1, 1), 0.
    let valley = |v: Span| {
        let bend = x(v, 1) - x(v, 0) * x(v, 0);
        let side = Expr::Const(1.0) - x(v, 0);
        bend.clone() * bend * 100.0 + side.clone() * side
    };
    let case = Case { start: &[-1.2, 1.0], bounds: FREE, objective: valley, at_least: vec![], equal: vec![] };
    check(&case, &[1.0, 1.0, 0.0], 1e-6);
    // x·y smallest on the circle x² + y² = 2, from (1, −0.5): (1, −1), −1.
    let case = Case {
        start: &[1.0, -0.5],
        bounds: [-2.0, 2.0],
        objective: |v| x(v, 0) * x(v, 1),
        at_least: vec![],
        equal: vec![|v| x(v, 0) * x(v, 0) + x(v, 1) * x(v, 1) - 2.0],
    };
    check(&case, &[1.0, -1.0, -1.0], 1e-5);
}

/// Problem 71 of Hock and Schittkowski (1981): curved everywhere, an equation, an inequality, bounds. From their own start
/// and from the middle of the bounds, where a component of the language begins.
#[test]
fn hock_and_schittkowski_71() {
    for start in [[1.0, 5.0, 5.0, 1.0], [3.0, 3.0, 3.0, 3.0], [5.0, 5.0, 5.0, 5.0], [1.0, 1.0, 1.0, 1.0]] {
        let case = Case {
            start: &start,
            bounds: [1.0, 5.0],
            objective: |v| x(v, 0) * x(v, 3) * (x(v, 0) + x(v, 1) + x(v, 2)) + x(v, 2),
            at_least: vec![|v| x(v, 0) * x(v, 1) * x(v, 2) * x(v, 3) - 25.0],
            equal: vec![|v| x(v, 0) * x(v, 0) + x(v, 1) * x(v, 1) + x(v, 2) * x(v, 2) + x(v, 3) * x(v, 3) - 40.0],
        };
        check(&case, &[1.0, 4.742_999_63, 3.821_149_98, 1.379_408_29, 17.014_017_29], 1e-5);
    }
}

#[test]
fn one_bounded_variable_finds_the_deepest_valley() {
    // sin(3x) + x/10 in [0, 6]: near π/2 the derivative 3·cos(3x) + 0.1 is zero: x = (π + acos(1/30))/3 … the first valley.
    let case = Case {
        start: &[5.9],
        bounds: [0.0, 6.0],
        objective: |v| Expr::unary(Unary::Sin, x(v, 0) * 3.0) + x(v, 0) * 0.1,
        at_least: vec![],
        equal: vec![],
    };
    // cos(3x) = −1/30 with sin(3x) < 0: 3x = 2π − acos(−1/30).
    let place = (2.0 * std::f64::consts::PI - anabranch_kernel::maths::acos(-1.0 / 30.0)) / 3.0;
    let value = anabranch_kernel::maths::sin(3.0 * place) + 0.1 * place;
    check(&case, &[place, value], 1e-6);
}

#[test]
fn contradictions_are_faults() {
    let case = Case {
        start: &[0.0],
        bounds: FREE,
        objective: |v| x(v, 0) * x(v, 0),
        at_least: vec![|v| x(v, 0) - 2.0, |v| Expr::Const(1.0) - x(v, 0)],
        equal: vec![],
    };
    assert_eq!(solve(&case), Err(FaultKind::Infeasible));
    assert_eq!(solve(&Case { bounds: [1.0, 0.0], ..case }), Err(FaultKind::Infeasible));
    let case = Case {
        start: &[1.0],
        bounds: FREE,
        objective: |v| Expr::unary(Unary::Log, x(v, 0) - 5.0),
        at_least: vec![],
        equal: vec![],
    };
    assert_eq!(solve(&case), Err(FaultKind::NoConvergence));
}
