//! What programs promise: faults with a place, coverage, saved states, refused drafts, linear algebra.

use anabranch_kernel::Seed;
use anabranch_program::{
    ArrayOp, Binary, Builder, Coverage, Draw, Expr, Fault, FaultKind, Fold, Matrix, NonFinite, Now, Place, Program,
    Region, Slot, Span, Stmt, Unary,
};

fn one_step(make: impl FnOnce(&mut Builder) -> Vec<Stmt>) -> Program {
    let mut builder = Builder::new("test");
    let body = make(&mut builder);
    builder.step("part", body);
    builder.finish().unwrap()
}

fn fault(program: &Program) -> Fault {
    program.tick(&mut program.memory(), Now::default()).unwrap_err()
}

#[test]
fn faults_name_step_and_place() {
    let program = one_step(|builder| {
        let list = builder.state("list", &[1.0, 2.0]);
        vec![Stmt::set_element(list, 2.0, 0.0).at(Place(7))]
    });
    let told = fault(&program);
    assert_eq!(told, Fault { kind: FaultKind::Index { index: 2.0, length: 2 }, step: Some(0), place: Place(7) });
    assert_eq!(program.explain(&told), "part: there is no element 3 in 2 (counted from 1)");

    let program = one_step(|_| vec![Stmt::require(0.0, "the car has four wheels").at(Place(3))]);
    let told = fault(&program);
    assert_eq!((program.explain(&told).as_str(), told.place), ("part: the car has four wheels", Place(3)));

    let program = one_step(|_| vec![Stmt::while_true(1.0, Vec::new())]);
    assert_eq!(fault(&program).kind, FaultKind::TooManyRounds);

    let program = one_step(|builder| {
        let k = builder.scratch(1).start;
        vec![Stmt::for_each(k, 0.0, 1.0, f64::INFINITY, Vec::new())]
    });
    assert_eq!(fault(&program).kind, FaultKind::LoopBounds);
}

#[test]
fn a_state_is_finite_unless_the_program_says_otherwise() {
    let build = |policy| {
        let mut builder = Builder::new("test");
        let good = builder.state("good", &[0.0]).start;
        let bad = builder.output("bad", &[0.0, 0.0]);
        builder.step("first", vec![Stmt::set(good, 1.0)]);
        builder.step("second", vec![Stmt::set(bad.at(1), Expr::unary(Unary::Sqrt, -1.0))]);
        builder.non_finite(policy);
        builder.finish().unwrap()
    };
    let program = build(NonFinite::Fault);
    let told = fault(&program);
    assert_eq!(program.explain(&told), "second: bad(2) is not a finite number");
    let program = build(NonFinite::Keep);
    let mut memory = program.memory();
    program.tick(&mut memory, Now::default()).unwrap();
    assert_eq!(memory.outputs()[1].to_bits(), f64::NAN.to_bits());
}

#[test]
fn coverage_counts_both_sides_of_every_decision() {
    let mut builder = Builder::new("test");
    let input = builder.input("u", &[0.0]).start;
    let k = builder.scratch(1).start;
    let branch = Stmt::if_else(Expr::from(input).greater(0.0), vec![], vec![]).at(Place(1));
    let round = Stmt::for_each(k, 1.0, 1.0, input, vec![branch]).at(Place(2));
    builder.step("part", vec![round]);
    let program = builder.finish().unwrap();
    assert_eq!(program.decisions().iter().map(|decision| decision.place.0).collect::<Vec<_>>(), [2, 1]);
    let mut coverage = Coverage::new(&program);
    let mut memory = program.memory();
    for value in [0.0, 3.0] {
        memory.set(input, value);
        program.tick_covered(&mut memory, Now::default(), &mut coverage).unwrap();
    }
    assert_eq!((coverage.steps.as_slice(), coverage.decisions.as_slice()), (&[2][..], &[[1, 1], [0, 3]][..]));
    assert_eq!(coverage.outcomes(), (3, 4));
    let mut twice = coverage.clone();
    twice.add(&coverage);
    assert_eq!(twice.decisions, [[2, 2], [0, 6]]);
}

#[test]
fn random_numbers_belong_to_step_tick_and_order() {
    let mut builder = Builder::new("test");
    let outputs = builder.output("y", &[0.0; 3]);
    let draw = |k: u32| Stmt::set(outputs.at(k), Expr::Draw(Draw::Normal));
    builder.step("one", vec![draw(0), draw(1)]);
    builder.step("two", vec![draw(2)]);
    let program = builder.finish().unwrap();
    assert!(program.draws_chance() && program.depends_on_tick());
    let run = |now| {
        let mut memory = program.memory();
        program.tick(&mut memory, now).unwrap();
        memory.outputs().to_vec()
    };
    let first = run(Now { seed: Seed(1), tick: 5 });
    let chance = anabranch_kernel::Chance::new(Seed(1), "one").at(5);
    assert_eq!(first[..2], [chance.normal(0), chance.normal(1)]);
    assert_eq!(first[2], anabranch_kernel::Chance::new(Seed(1), "two").at(5).normal(0));
    assert_ne!(first, run(Now { seed: Seed(1), tick: 6 }));
    assert_ne!(first, run(Now { seed: Seed(2), tick: 5 }));
}

#[test]
fn saving_and_restoring_continues_with_the_same_bits() {
    let program = one_step(|builder| {
        let level = builder.state("level", &[0.1]).start;
        let output = builder.output("y", &[0.0]).start;
        vec![Stmt::set(level, level * 1.7 - 0.3), Stmt::set(output, Expr::unary(Unary::Sin, level))]
    });
    let mut memory = program.memory();
    let step = |memory: &mut _, tick| program.tick(memory, Now { tick, ..Now::default() }).unwrap();
    (0..5).for_each(|tick| step(&mut memory, tick));
    let text = serde_json::to_string(&memory.save()).unwrap();
    (5..9).for_each(|tick| step(&mut memory, tick));
    let mut other = program.memory();
    assert!(other.restore(&serde_json::from_str(&text).unwrap()));
    (5..9).for_each(|tick| step(&mut other, tick));
    assert_eq!(other.saved(), memory.saved());
    assert!(!other.restore_from(&[1.0]));
}

#[test]
fn a_program_survives_a_file_and_a_damaged_file_is_refused() {
    let program = one_step(|builder| {
        let list = builder.state("list", &[1.0, 2.0]);
        vec![ArrayOp::Copy { to: list.part(0, 1), from: list.part(1, 1) }.into()]
    });
    let text = serde_json::to_string(&program).unwrap();
    assert_eq!(serde_json::from_str::<Program>(&text).unwrap(), program);
    let damaged = text.replace("\"offset\":1", "\"offset\":9");
    assert_ne!(damaged, text);
    let message = serde_json::from_str::<Program>(&damaged).unwrap_err().to_string();
    assert!(message.contains("does not exist"), "{message}");
}

#[test]
fn drafts_that_executors_could_not_trust_are_refused() {
    let refused = |make: fn(&mut Builder) -> Vec<Stmt>, reason: &str| {
        let mut builder = Builder::new("test");
        let body = make(&mut builder);
        builder.step("part", body);
        let message = builder.finish().unwrap_err().to_string();
        assert!(message.contains(reason) && message.ends_with("(in step part)"), "{message}");
    };
    let nowhere = Slot { region: Region::State, offset: 3 };
    assert_eq!(nowhere.plus(1).offset, 4);
    refused(|_| vec![Stmt::set(Slot { region: Region::State, offset: 3 }, 1.0)], "is written and does not exist");
    refused(|b| vec![Stmt::set(b.input("u", &[0.0]).start, 1.0)], "Input cannot be written");
    refused(|b| vec![Stmt::set(b.constant("c", &[0.0]).start, 1.0)], "Constant cannot be written");
    refused(
        |b| {
            let x = b.state("x", &[0.0; 4]);
            vec![ArrayOp::Product { to: x.matrix(2, 2), left: x.matrix(2, 2), right: x.matrix(1, 4) }.into()]
        },
        "do not fit",
    );
    refused(
        |b| {
            let x = b.state("x", &[0.0]).start;
            vec![Stmt::set(x, (0..600).fold(Expr::Const(0.0), |sum, _| sum + 1.0))]
        },
        "nested more than 500",
    );
    refused(
        |_| (0..120).fold(Vec::new(), |body, _| vec![Stmt::if_else(1.0, body, Vec::new())]),
        "blocks are nested more than 100",
    );
    refused(
        |b| {
            let span = Span { start: b.state("x", &[0.0; 2]).start, length: u32::MAX };
            vec![Stmt::set_element(span, 0.0, 1.0)]
        },
        "does not exist",
    );
}

/// The result of an operation from `from` (and `other`) to a target of a length.
fn operate(
    from: &[f64],
    other: &[f64],
    length: usize,
    make: impl FnOnce(Span, Span, Span) -> ArrayOp,
) -> Result<Vec<f64>, FaultKind> {
    let mut builder = Builder::new("test");
    let from = builder.constant("from", from);
    let other = builder.constant("other", other);
    let to = builder.output("to", &vec![0.0; length]);
    builder.step("part", vec![make(to, from, other).into()]);
    let program = builder.finish().unwrap();
    let mut memory = program.memory();
    program.tick(&mut memory, Now::default()).map_err(|fault| fault.kind)?;
    Ok(memory.outputs().to_vec())
}

fn close(seen: &[f64], expected: &[f64]) {
    assert_eq!(seen.len(), expected.len());
    assert!(seen.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{seen:?} instead of {expected:?}");
}

#[test]
fn matrices_multiply_turn_and_invert() {
    let m = [4.0, 7.0, 2.0, 6.0];
    let product = operate(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 0.0, 2.0], 2, |to, a, b| ArrayOp::Product {
        to: to.column(),
        left: a.matrix(2, 3),
        right: b.column(),
    });
    assert_eq!(product, Ok(vec![7.0, 16.0]));
    let turned = operate(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[], 6, |to, a, _| ArrayOp::Transpose {
        to: to.matrix(3, 2),
        from: a.matrix(2, 3),
    });
    assert_eq!(turned, Ok(vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    let inverse =
        operate(&m, &[], 4, |to, a, _| ArrayOp::Inverse { to: to.matrix(2, 2), from: a.matrix(2, 2) }).unwrap();
    close(&inverse, &[0.6, -0.7, -0.2, 0.4]);
    let singular = |to: Span, a: Span, _| ArrayOp::Inverse { to: to.matrix(2, 2), from: a.matrix(2, 2) };
    assert_eq!(operate(&[1.0, 2.0, 2.0, 4.0], &[], 4, singular), Err(FaultKind::Singular));
    let determinant = |to: Span, a: Span, _| ArrayOp::Determinant { to: to.start, from: a.matrix(3, 3) };
    let seen = operate(&[0.0, 2.0, 1.0, 3.0, 0.0, 1.0, 1.0, 1.0, 0.0], &[], 1, determinant).unwrap();
    // By Sarrus: 0 + 2·1·1 + 1·3·1 − 0 − 0 − 0 = 5.
    close(&seen, &[5.0]);
}

#[test]
fn equations_are_solved_exactly_or_by_least_squares() {
    let solve =
        |to: Span, a: Span, b: Span| ArrayOp::Solve { to: to.column(), left: a.matrix(3, 3), right: b.column() };
    // 2x + y − z = 8, −3x − y + 2z = −11, −2x + y + 2z = −3: (2, 3, −1).
    let seen = operate(&[2.0, 1.0, -1.0, -3.0, -1.0, 2.0, -2.0, 1.0, 2.0], &[8.0, -11.0, -3.0], 3, solve).unwrap();
    close(&seen, &[2.0, 3.0, -1.0]);
    // The line through (0, 1), (1, 3), (2, 4), (3, 4): by the normal equations intercept 1.5, slope 1.
    let fit = |to: Span, a: Span, b: Span| ArrayOp::Solve { to: to.column(), left: a.matrix(4, 2), right: b.column() };
    let seen = operate(&[1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 3.0], &[1.0, 3.0, 4.0, 4.0], 2, fit).unwrap();
    close(&seen, &[1.5, 1.0]);
}

#[test]
fn symmetric_matrices_have_their_eigenvalues_and_roots() {
    let m = [2.0, 1.0, 1.0, 2.0];
    let values = |to: Span, a: Span, _| ArrayOp::Eigen { values: to, vectors: None, from: a.matrix(2, 2) };
    close(&operate(&m, &[], 2, values).unwrap(), &[1.0, 3.0]);
    let both = |to: Span, a: Span, _| ArrayOp::Eigen {
        values: to.part(0, 2),
        vectors: Some(Matrix { start: to.at(2), rows: 2, columns: 2 }),
        from: a.matrix(2, 2),
    };
    let half = 0.5_f64.sqrt();
    close(&operate(&m, &[], 6, both).unwrap(), &[1.0, 3.0, half, half, -half, half]);
    let root = |to: Span, a: Span, _| ArrayOp::SquareRoot { to: to.matrix(2, 2), from: a.matrix(2, 2) };
    close(&operate(&[5.0, 4.0, 4.0, 5.0], &[], 4, root).unwrap(), &[2.0, 1.0, 1.0, 2.0]);
    assert_eq!(operate(&[0.0, 1.0, 1.0, 0.0], &[], 4, root), Err(FaultKind::NoRealRoot));
    assert_eq!(operate(&[f64::NAN; 4], &[], 2, values), Err(FaultKind::NoConvergence));
}

#[test]
fn vectors_fold_sort_and_differ() {
    let list = [3.0, -1.0, 2.0, -1.0];
    let folds = [
        (Fold::Sum, 3.0),
        (Fold::Product, 6.0),
        (Fold::Min, -1.0),
        (Fold::Max, 3.0),
        (Fold::Mean, 0.75),
        (Fold::Norm, 15.0_f64.sqrt()),
        (Fold::NormOne, 7.0),
        (Fold::NormMax, 3.0),
        (Fold::ArgMin, 1.0),
        (Fold::ArgMax, 0.0),
        (Fold::Any, 1.0),
        (Fold::All, 1.0),
    ];
    for (function, expected) in folds {
        let seen = operate(&list, &[], 1, |to, from, _| ArrayOp::Fold { to: to.start, function, from });
        assert_eq!(seen, Ok(vec![expected]), "{function:?}");
    }
    let sorted = operate(&list, &[], 4, |to, from, _| ArrayOp::Sort { to, from });
    assert_eq!(sorted, Ok(vec![-1.0, -1.0, 2.0, 3.0]));
    let steps = operate(&list, &[], 3, |to, from, _| ArrayOp::Differences { to, from });
    assert_eq!(steps, Ok(vec![-4.0, 3.0, -3.0]));
    let sums = operate(&list, &[], 4, |to, from, _| ArrayOp::RunningSum { to, from });
    assert_eq!(sums, Ok(vec![3.0, 2.0, 4.0, 3.0]));
    let product =
        operate(&list, &[1.0, 2.0, 3.0, 4.0], 1, |to, left, right| ArrayOp::Dot { to: to.start, left, right });
    assert_eq!(product, Ok(vec![3.0]));
    let scaled = operate(&list, &[2.0], 4, |to, left, right| ArrayOp::Zip { to, function: Binary::Mul, left, right });
    assert_eq!(scaled, Ok(vec![6.0, -2.0, 4.0, -2.0]));
}

#[test]
fn operands_count_as_read_before_the_target_is_written() {
    // [w d(1:end-1)]: the line is moved by one place over itself; then each element is divided by the first.
    let program = one_step(|builder| {
        let line = builder.state("line", &[2.0, 4.0, 6.0]);
        vec![
            ArrayOp::Zip { to: line, function: Binary::Div, left: line, right: line.part(0, 1) }.into(),
            ArrayOp::Copy { to: line.part(1, 2), from: line.part(0, 2) }.into(),
            ArrayOp::Zip { to: line.part(1, 2), function: Binary::Add, left: line.part(0, 2), right: line.part(1, 2) }
                .into(),
        ]
    });
    let mut memory = program.memory();
    program.tick(&mut memory, Now::default()).unwrap();
    // 1 2 3 → 1 1 2 → 1, 1 + 1, 1 + 2.
    assert_eq!(memory.saved(), [1.0, 2.0, 3.0]);
}

#[test]
fn levels_keep_every_step_after_those_it_depends_on() {
    let mut builder = Builder::new("test");
    let u = builder.input("u", &[1.0]).start;
    let [a, b, c] = ["a", "b", "c"].map(|name| builder.state(name, &[0.0]).start);
    builder.step("a from u", vec![Stmt::set(a, u)]);
    builder.step("b from u", vec![Stmt::set(b, u)]);
    builder.step("c from a and b", vec![Stmt::set(c, a + b)]);
    builder.step("a again", vec![Stmt::set(a, 2.0)]);
    builder.step("b counts", vec![Stmt::set(b, b + 1.0)]);
    builder.step("nothing", vec![]);
    let program = builder.finish().unwrap();
    assert_eq!(program.levels(), [0, 0, 1, 2, 2, 0]);
}

#[test]
fn the_executor_runs_a_program_either_way() {
    let program = std::sync::Arc::new(one_step(|builder| {
        let y = builder.output("y", &[0.0]).start;
        vec![Stmt::set(y, y + 1.0)]
    }));
    let chosen = anabranch_program::Executor::new(program.clone());
    let plain = anabranch_program::Executor::Interpreter(program.clone());
    assert_eq!(cfg!(feature = "native"), !matches!(chosen, anabranch_program::Executor::Interpreter(_)));
    for executor in [chosen, plain] {
        let mut memory = executor.program().memory();
        (0..3).for_each(|tick| executor.tick(&mut memory, Now { tick, ..Now::default() }).unwrap());
        assert_eq!(memory.outputs(), [3.0]);
    }
}

#[test]
fn a_number_lasts_only_if_somebody_reads_it_before_it_is_written() {
    let mut builder = Builder::new("lasting");
    let input = builder.input("u", &[0.0]).start;
    let [fresh, held, seldom] = ["fresh", "held", "seldom"].map(|name| builder.output(name, &[0.0]).start);
    let [memory, scratch] = ["memory", "scratch"].map(|name| builder.state(name, &[0.0]).start);
    let set_both =
        |then: Slot, other: Slot| Stmt::if_else(input, vec![Stmt::set(then, 1.0)], vec![Stmt::set(other, 2.0)]);
    builder.step(
        "all",
        vec![
            set_both(scratch, scratch),
            Stmt::set(fresh, Expr::from(memory) + Expr::from(scratch)),
            Stmt::set(memory, input),
            set_both(seldom, fresh),
            Stmt::set(held, seldom),
        ],
    );
    let program = builder.finish().unwrap();
    let lasting = program.lasting();
    let of = |slot: Slot| lasting[program.layout().address(slot)];
    assert_eq!([memory, scratch, fresh, held, seldom].map(of), [true, false, false, false, true]);
}
