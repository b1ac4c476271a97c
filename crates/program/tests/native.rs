//! Machine code and interpreter compute the same bits.
#![cfg(feature = "native")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anabranch_program::{Native, Now, Program};
use common::{Without, program, same_as_interpreter};

/// Nearly all of the time is compiling, and more so where the compiler itself is not optimised.
const PROGRAMS: u64 = 10_000;

fn check(seed: u64, program: &Program, native: &Native) -> bool {
    same_as_interpreter(seed, program, "machine code", |memory, now| native.tick(memory, now))
}

#[test]
fn random_programs_give_the_same_bits_and_faults_as_machine_code() {
    let without = Without { library_functions: false, linear_algebra: false };
    let complete = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for part in 0..2 {
            let complete = &complete;
            scope.spawn(move || {
                for seed in (part..PROGRAMS).step_by(2) {
                    let program = Arc::new(program(seed, without));
                    let native = Native::compile(program.clone()).unwrap();
                    complete.fetch_add(u32::from(check(seed, &program, &native)), Ordering::Relaxed);
                }
            });
        }
    });
    // Programs that stop at once compare little.
    let complete = complete.into_inner();
    assert!(u64::from(complete) > PROGRAMS / 2, "only {complete} of {PROGRAMS} ran through");
}

#[test]
fn machine_code_is_shared_by_threads() {
    let without = Without { library_functions: false, linear_algebra: false };
    let program = Arc::new(program(12, without));
    let native = Native::compile(program.clone()).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (native, program) = (&native, &program);
            scope.spawn(move || check(seed, program, native));
        }
    });
}

#[test]
fn a_program_without_steps_does_nothing() {
    let program = Arc::new(anabranch_program::Builder::new("empty").finish().unwrap());
    let native = Native::compile(program.clone()).unwrap();
    assert_eq!(native.tick(&mut program.memory(), Now::default()), Ok(()));
}

#[test]
fn memory_of_another_program_is_refused() {
    let without = Without { library_functions: false, linear_algebra: false };
    let program = Arc::new(program(1, without));
    let native = Native::compile(program).unwrap();
    let mut other = anabranch_program::Builder::new("other").finish().unwrap().memory();
    assert!(native.tick(&mut other, Now::default()).is_err());
}

#[test]
fn a_step_that_would_take_minutes_to_compile_is_left_to_the_interpreter() {
    let mut builder = anabranch_program::Builder::new("huge");
    let y = builder.output("y", &[0.0]).start;
    builder.step("long", vec![anabranch_program::Stmt::set(y, y + 1.0); 60_000]);
    let program = Arc::new(builder.finish().unwrap());
    let message = Native::compile(program.clone()).unwrap_err().to_string();
    assert!(message.ends_with("step long has more than 200000 operations"), "{message}");
    let executor = anabranch_program::Executor::new(program.clone());
    let mut memory = program.memory();
    executor.tick(&mut memory, Now::default()).unwrap();
    assert_eq!(memory.outputs(), [60_000.0]);
}
