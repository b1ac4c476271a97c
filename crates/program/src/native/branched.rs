//! Independent branches of a program as machine code on several threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::helpers::Context;
use super::{Compiler, Native, NativeError, functions};
use crate::branches::{HANDOVER_NS, Plan, Pool};
use crate::fault::Fault;
use crate::program::{Memory, Now, Program};

/// Most threads: more lanes than this were never seen to pay.
const THREADS_MAX: usize = 64;

/// A program whose independent branches run on several threads. The bits and faults are those of [`Program::tick`], for any
/// number of threads.
#[derive(Debug)]
pub struct Branched {
    native: Native,
    plan: Plan,
    /// For each stage and lane the functions in `native`.
    lanes: Vec<Vec<std::ops::Range<usize>>>,
    pool: Pool,
    /// State and outputs before the tick: if a fault comes up, the tick is computed again in order to find the first one.
    before: Vec<f64>,
}

impl Branched {
    /// Compiles a program for some threads, if its branches are likely to make it quicker than one thread would be. Threads
    /// are started at once and wait.
    ///
    /// # Errors
    /// If the program cannot be compiled.
    pub fn compile(program: Arc<Program>, threads: usize) -> Result<Option<Self>, NativeError> {
        Self::compile_if(program, threads, HANDOVER_NS)
    }

    /// The same with another opinion about what it costs to hand over: with zero all branches are used.
    ///
    /// # Errors
    /// If the program cannot be compiled.
    pub fn compile_if(program: Arc<Program>, threads: usize, handover_ns: f64) -> Result<Option<Self>, NativeError> {
        let threads = threads.min(THREADS_MAX);
        let Some(plan) = Plan::new(&program, threads, handover_ns) else { return Ok(None) };
        let name = program.name().to_owned();
        let told = |reason| NativeError { program: name.clone(), reason };
        let mut compiler = Compiler::new(program).map_err(told)?;
        let mut lanes = Vec::new();
        for stage in &plan.stages {
            let mut of_stage = Vec::new();
            for lane in &stage.lanes {
                let first = compiler.count();
                for steps in functions(compiler.program(), &lane.steps) {
                    compiler.function(steps).map_err(told)?;
                }
                of_stage.push(first..compiler.count());
            }
            lanes.push(of_stage);
        }
        let native = compiler.finish().map_err(told)?;
        let widest = plan.stages.iter().map(|stage| stage.lanes.len()).max().unwrap_or(1);
        let pool = Pool::new(threads.min(widest) - 1);
        Ok(Some(Self { native, plan, lanes, pool, before: Vec::new() }))
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        self.native.program()
    }
    /// The most branches that run at the same time.
    pub fn branches(&self) -> usize {
        self.plan.branches()
    }
    /// How many times a tick hands over to other threads.
    pub fn stages(&self) -> usize {
        self.plan.stages.iter().filter(|stage| stage.lanes.len() > 1).count()
    }
    /// Threads, the caller among them.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// Executes all steps once; the same bits and faults as [`Program::tick`].
    ///
    /// # Errors
    /// If the tick cannot be computed.
    pub fn tick(&mut self, memory: &mut Memory, now: Now) -> Result<(), Fault> {
        let Self { native, lanes, pool, before, .. } = self;
        let program = native.program();
        let values = memory.for_tick(program)?;
        before.clear();
        before.extend_from_slice(&values[..program.layout().saved()]);
        let tick = Tick {
            native,
            memory: values.as_mut_ptr(),
            now,
            rounds: AtomicU64::new(0),
            failed: AtomicBool::new(false),
        };
        for lanes in lanes.iter() {
            match lanes.as_slice() {
                [only] => tick.lane(only.clone()),
                lanes => pool.run(lanes.len(), &|lane| tick.lane(lanes[lane].clone())),
            }
            if tick.is_doubtful() {
                // Which fault is the first, and what was written before it, is only known in order.
                memory.restore_from(before);
                return program.tick(memory, now);
            }
        }
        program.finish_tick(values)
    }
}

/// A tick in the making, seen by all threads.
struct Tick<'a> {
    native: &'a Native,
    memory: *mut f64,
    now: Now,
    /// Rounds that the loops of all lanes have made.
    rounds: AtomicU64,
    failed: AtomicBool,
}

// SAFETY: lanes of a stage touch nothing that another one writes, so what goes through the pointer is no race; stages come one
// after the other. The memory is borrowed by `Branched::tick` until all are done.
unsafe impl Sync for Tick<'_> {}

impl Tick<'_> {
    /// Executes the functions of one lane. Each lane has all rounds of the tick for itself; they are added up.
    fn lane(&self, functions: std::ops::Range<usize>) {
        let mut context = Context::new(&self.native.program, &self.native.calls, self.now);
        let rounds = context.rounds;
        for code in &self.native.code[functions] {
            // SAFETY: as in `Native::tick`; beside this lane others run that write nothing of what it touches.
            if unsafe { code(self.memory, &raw mut context) } != 0 {
                self.failed.store(true, Ordering::Relaxed);
                return;
            }
        }
        self.rounds.fetch_add((rounds - context.rounds) as u64, Ordering::Relaxed);
    }

    /// Whether a lane has stopped, or all of them together have made more rounds than a tick may.
    fn is_doubtful(&self) -> bool {
        let allowed = u64::from(self.native.program.rounds_per_tick());
        self.failed.load(Ordering::Relaxed) || self.rounds.load(Ordering::Relaxed) > allowed
    }
}
