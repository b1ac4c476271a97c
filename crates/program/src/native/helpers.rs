//! What the code calls, and what it is given.

use std::cell::Cell;

use super::Calls;
use crate::array;
use crate::cells::Cells;
use crate::expression::{Binary, Draw, Place, Unary};
use crate::fault::{Fault, FaultKind};
use crate::interpret::{self, Run};
use crate::program::{Now, Program};
use crate::scalar;
use crate::statement::Decision;

/// What a tick needs beside the memory. The code reads and writes the first fields at fixed places.
#[repr(C)]
pub struct Context {
    /// How many rounds loops may still make in this tick.
    pub rounds: f64,
    /// The number of the tick.
    pub tick: f64,
    /// How many random numbers the step has drawn.
    pub draws: u64,
    /// The index of a fault.
    pub number: f64,
    /// The kind of a fault.
    pub code: u32,
    /// Length or decision of a fault.
    pub detail: u32,
    /// The step of a fault.
    pub step: u32,
    /// The place of a fault.
    pub place: u32,
    program: *const Program,
    calls: *const Calls,
    now: Now,
}

/// Kinds of faults, as the code numbers them.
pub mod code {
    pub const INDEX: u32 = 1;
    pub const LOOP_BOUNDS: u32 = 2;
    pub const ROUNDS: u32 = 3;
    pub const REQUIRED: u32 = 4;
    pub const SINGULAR: u32 = 5;
    pub const NO_REAL_ROOT: u32 = 6;
    pub const NO_CONVERGENCE: u32 = 7;
    pub const INFEASIBLE: u32 = 8;
}

impl Context {
    /// Notes a fault as the code does.
    fn note(&mut self, kind: FaultKind, step: u32, place: Place) {
        (self.step, self.place, self.detail, self.number) = (step, place.0, 0, 0.0);
        self.code = match kind {
            FaultKind::Index { index, length } => {
                (self.number, self.detail) = (index, length);
                code::INDEX
            }
            FaultKind::LoopBounds => code::LOOP_BOUNDS,
            FaultKind::TooManyRounds => code::ROUNDS,
            FaultKind::Required { decision } => {
                self.detail = decision.0;
                code::REQUIRED
            }
            FaultKind::Singular => code::SINGULAR,
            FaultKind::NoRealRoot => code::NO_REAL_ROOT,
            FaultKind::Infeasible => code::INFEASIBLE,
            FaultKind::NoConvergence | FaultKind::NotFinite { .. } | FaultKind::WrongMemory => code::NO_CONVERGENCE,
        };
    }
    pub fn new(program: &Program, calls: &Calls, now: Now) -> Self {
        Self {
            rounds: f64::from(program.rounds_per_tick()),
            tick: now.tick as f64,
            draws: 0,
            number: 0.0,
            code: 0,
            detail: 0,
            step: 0,
            place: 0,
            program,
            calls,
            now,
        }
    }
    /// The fault that the code has noted.
    pub fn fault(&self) -> Fault {
        let kind = match self.code {
            code::INDEX => FaultKind::Index { index: self.number, length: self.detail },
            code::LOOP_BOUNDS => FaultKind::LoopBounds,
            code::ROUNDS => FaultKind::TooManyRounds,
            code::REQUIRED => FaultKind::Required { decision: Decision(self.detail) },
            code::SINGULAR => FaultKind::Singular,
            code::NO_REAL_ROOT => FaultKind::NoRealRoot,
            code::INFEASIBLE => FaultKind::Infeasible,
            _ => FaultKind::NoConvergence,
        };
        Fault { kind, step: Some(self.step), place: Place(self.place) }
    }
}

extern "C" fn one<const FUNCTION: usize>(x: f64) -> f64 {
    scalar::unary(Unary::ALL[FUNCTION], x)
}
extern "C" fn two<const FUNCTION: usize>(x: f64, y: f64) -> f64 {
    scalar::binary(Binary::ALL[FUNCTION], x, y)
}

macro_rules! addresses {
    ($kind:ident, $shape:ty, $helper:ident, $function:expr; $($name:ident)*) => {
        match $function {
            $($kind::$name => ($helper::<{ $kind::$name as usize }> as $shape) as usize,)*
        }
    };
}

/// Where a function of one number lies.
pub fn unary_address(function: Unary) -> usize {
    addresses!(Unary, extern "C" fn(f64) -> f64, one, function;
        Negate Not Truth Abs Sign Sqrt Floor Ceil Truncate Round Exp Log Log2 Log10 Sin Cos Tan Asin Acos Atan Sinh Cosh
        Tanh Asinh Acosh Atanh Cbrt IsFinite)
}

/// Where a function of two numbers lies.
pub fn binary_address(function: Binary) -> usize {
    addresses!(Binary, extern "C" fn(f64, f64) -> f64, two, function;
        Add Sub Mul Div Remainder Modulo Pow Min Max Atan2 Hypot Gcd Less LessEqual Greater GreaterEqual Equal NotEqual
        Xor Both Either)
}

/// Rounds of a counted loop; −1 if its bounds are not finite.
pub extern "C" fn rounds(from: f64, step: f64, to: f64) -> f64 {
    scalar::rounds(from, step, to).unwrap_or(-1.0)
}

/// The next random number of a step: uniform for 0, else normal.
///
/// # Safety
/// `context` was made by [`Context::new`] of a program that still exists.
pub unsafe extern "C" fn draw(context: *mut Context, kind: u32, step: u32) -> f64 {
    // SAFETY: the code passes the context it was given by `Native::tick`, which lives and is not used elsewhere meanwhile.
    let context = unsafe { &mut *context };
    // SAFETY: `Native` holds the program.
    let program = unsafe { &*context.program };
    let n = context.draws;
    context.draws += 1;
    let draw = if kind == 0 { Draw::Uniform } else { Draw::Normal };
    program.steps().get(step as usize).map_or(0.0, |step| interpret::drawn(draw, context.now, &step.name, n))
}

/// The memory that the code was given.
///
/// # Safety
/// `memory` is that of the program, and nobody writes meanwhile what the caller touches.
unsafe fn cells<'a>(memory: *mut f64, program: &Program) -> &'a Cells {
    // SAFETY: a cell has the layout of its number, and the memory has as many as the layout says.
    unsafe { std::slice::from_raw_parts(memory.cast::<Cell<f64>>(), program.layout().total()) }
}

/// Does an array operation. Returns 0, or the kind of the fault.
///
/// # Safety
/// `context` was made by [`Context::new`] of a program that still exists, and `memory` is that of the same program.
pub unsafe extern "C" fn array(context: *mut Context, memory: *mut f64, number: u32, value: f64) -> u32 {
    // SAFETY: as in `draw`.
    let context = unsafe { &*context };
    // SAFETY: `Native` holds the program and the list of operations.
    let (program, calls) = unsafe { (&*context.program, &*context.calls) };
    // SAFETY: whoever called the code has checked that the memory has the layout of this program. Cells claim nothing:
    // other branches may work on it meanwhile, in places that this one does not touch, or only reads like them.
    let memory = unsafe { cells(memory, program) };
    let Some(operation) = calls.arrays.get(number as usize) else { return code::NO_CONVERGENCE };
    match array::run(operation, program.layout(), memory, value) {
        Ok(()) => 0,
        Err(FaultKind::Singular) => code::SINGULAR,
        Err(FaultKind::NoRealRoot) => code::NO_REAL_ROOT,
        Err(_) => code::NO_CONVERGENCE,
    }
}

/// Solves an optimisation problem with the interpreter. Returns 0, or 1 if a fault was noted.
///
/// # Safety
/// `context` was made by [`Context::new`] of a program that still exists, and `memory` is that of the same program.
pub unsafe extern "C" fn minimize(context: *mut Context, memory: *mut f64, number: u32) -> u32 {
    // SAFETY: as in `draw`.
    let context = unsafe { &mut *context };
    // SAFETY: `Native` holds the program and the list of problems.
    let (program, calls) = unsafe { (&*context.program, &*context.calls) };
    // SAFETY: as in `array`.
    let memory = unsafe { cells(memory, program) };
    let Some((problem, step, place)) = calls.problems.get(number as usize) else { return 1 };
    let mut run = Run {
        layout: program.layout(),
        memory,
        now: context.now,
        rounds: context.rounds,
        draws: context.draws,
        step_name: program.steps().get(*step as usize).map_or("", |step| step.name.as_str()),
        coverage: None,
    };
    let result = run.minimize(problem, *place);
    (context.rounds, context.draws) = (run.rounds, run.draws);
    match result {
        Ok(()) => 0,
        Err((kind, place)) => {
            context.note(kind, *step, place);
            1
        }
    }
}
