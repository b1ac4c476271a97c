//! Independent branches on several threads compute the same bits as the interpreter, and are used where that pays.
#![cfg(feature = "native")]

mod common;

use std::sync::Arc;

use anabranch_program::{ArrayOp, Branched, Builder, Expr, Now, Program, Slot, Stmt};
use common::{same_as_interpreter, wide};

const PROGRAMS: u64 = 120;

fn check(seed: u64, program: &Program, branched: &mut Branched) -> bool {
    let way = format!("{} branches", branched.branches());
    same_as_interpreter(seed, program, &way, |memory, now| branched.tick(memory, now))
}

#[test]
fn random_programs_give_the_same_bits_and_faults_on_any_number_of_threads() {
    let (mut apart, mut complete, mut several_stages) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let program = Arc::new(wide(seed));
        let threads = [2, 3, 7][seed as usize % 3];
        if let Some(mut branched) = Branched::compile_if(program.clone(), threads, 0.0).unwrap() {
            apart += 1;
            several_stages += u32::from(branched.stages() > 1);
            complete += u32::from(check(seed, &program, &mut branched));
        }
    }
    // Else this compares little.
    let told = format!("{apart} with branches, {complete} ran through, {several_stages} meet and part again");
    assert!(apart > 60 && complete > 25 && several_stages > 5, "{told}");
}

/// So many branches, each a product of two matrices whose sum goes on, after one step they share and before one that adds
/// all up.
fn products(branches: usize, n: u32) -> Program {
    let mut b = Builder::new("products");
    let u = b.input("u", &[0.5]).start;
    let y = b.output("y", &[0.0]).start;
    let first = b.signal("first", 1).start;
    b.step("first", vec![Stmt::set(first, u * 2.0)]);
    let mut ends: Vec<Slot> = Vec::new();
    for branch in 0..branches {
        let [left, right] = ["l", "r"].map(|name| b.state(format!("{name}{branch}"), &vec![0.01; (n * n) as usize]));
        let end = b.signal(format!("end{branch}"), 1).start;
        let to = b.signal(format!("p{branch}"), n * n);
        let [l, r] = [left, right].map(|span| span.matrix(n, n));
        b.step(
            format!("product {branch}"),
            vec![
                Stmt::set(left.start, Expr::from(first) + branch as f64),
                ArrayOp::Product { to: to.matrix(n, n), left: l, right: r }.into(),
                ArrayOp::Fold { to: end, function: anabranch_program::Fold::Sum, from: to }.into(),
            ],
        );
        ends.push(end);
    }
    let sum = ends.into_iter().map(Expr::from).reduce(|a, c| a + c).unwrap();
    b.step("last", vec![Stmt::set(y, sum)]);
    b.finish().unwrap()
}

#[test]
fn branches_that_part_and_meet_again_run_side_by_side_when_they_are_dear() {
    let dear = Arc::new(products(4, 60));
    let mut branched = Branched::compile(dear.clone(), 2).unwrap().expect("a product takes 100 µs");
    assert_eq!((branched.branches(), branched.stages(), branched.threads()), (4, 1, 2));
    check(1, &dear, &mut branched);
    // A hand-over takes longer than products of 4 × 4 numbers.
    assert!(Branched::compile(Arc::new(products(4, 4)), 2).unwrap().is_none());
    // One thread has nobody to hand over to; one branch nothing.
    assert!(Branched::compile(dear, 1).unwrap().is_none());
    assert!(Branched::compile(Arc::new(products(1, 60)), 2).unwrap().is_none());
}

#[test]
fn rounds_of_all_branches_count_together() {
    let mut b = Builder::new("rounds");
    for branch in 0..2 {
        let y = b.output(format!("y{branch}"), &[0.0]).start;
        let count = b.scratch(1).start;
        let again = vec![Stmt::set(y, y + 1.0)];
        b.step(format!("loop {branch}"), vec![Stmt::for_each(count, 1.0, 1.0, 60.0, again)]);
    }
    b.rounds_per_tick(100);
    let program = Arc::new(b.finish().unwrap());
    let mut branched = Branched::compile_if(program.clone(), 2, 0.0).unwrap().expect("two branches");
    let (mut one, mut two) = (program.memory(), program.memory());
    let (expected, told) = (program.tick(&mut one, Now::default()), branched.tick(&mut two, Now::default()));
    assert_eq!(told, expected);
    assert_eq!(told.unwrap_err().step, Some(1), "each alone would have been allowed");
    assert_eq!(one.outputs(), two.outputs());
}
