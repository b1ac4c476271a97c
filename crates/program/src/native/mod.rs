//! Programs as machine code in memory.
//!
//! The code computes the same bits as the interpreter: additions and products are IEEE 754's and are never fused, all other
//! functions are those of the interpreter. Only the bits of "not a number" in scratch slots may differ; no operation of a
//! program can tell them apart.

mod arrays;
mod branched;
mod emit;
mod expression;
mod helpers;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cranelift_codegen::ir::{AbiParam, UserFuncName, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};

use crate::expression::Place;
use crate::fault::Fault;
use crate::program::{Memory, Now, Program};
use crate::statement::{ArrayOp, Problem};
pub use branched::Branched;
use emit::Emitter;
use helpers::Context;

/// Operations after which a function of machine code ends at the next step. Within a function values stay in registers;
/// beyond this size compiling takes more than proportional time.
const NODES_PER_FUNCTION: u32 = 2000;

/// A step with more operations is left to the interpreter: compiling it could take minutes.
const NODES_PER_STEP_MAX: u32 = 200_000;

/// Why a program could not be compiled. The interpreter can still execute it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("program {program} cannot be compiled to machine code: {reason}")]
pub struct NativeError {
    /// Name of the program.
    pub program: String,
    /// What the compiler said.
    pub reason: String,
}

// SAFETY: to be called with the memory of the program that it was compiled from and a context of the same program.
type Code = unsafe extern "C" fn(*mut f64, *mut Context) -> u32;

/// A program compiled to machine code. Shared by all threads, like the program.
pub struct Native {
    program: Arc<Program>,
    code: Vec<Code>,
    calls: Calls,
    /// Owns the pages of the code. Taken only when this value is dropped.
    module: Mutex<Option<JITModule>>,
}

/// What the code calls by number.
#[derive(Default)]
struct Calls {
    arrays: Vec<ArrayOp>,
    /// Optimisation problems with step and place.
    problems: Vec<(Problem, u32, Place)>,
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Native").field("program", &self.program.name()).field("functions", &self.code.len()).finish()
    }
}

impl Native {
    /// Compiles a program for this machine.
    ///
    /// # Errors
    /// If the machine is not supported, or the code is too large.
    pub fn compile(program: Arc<Program>) -> Result<Self, NativeError> {
        let name = program.name().to_owned();
        Self::try_compile(program).map_err(|reason| NativeError { program: name, reason })
    }

    fn try_compile(program: Arc<Program>) -> Result<Self, String> {
        let steps: Vec<usize> = (0..program.steps().len()).collect();
        let mut compiler = Compiler::new(program)?;
        for steps in functions(compiler.program(), &steps) {
            compiler.function(steps)?;
        }
        compiler.finish()
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Executes all steps once; the same bits and faults as [`Program::tick`].
    ///
    /// # Errors
    /// If the tick cannot be computed.
    pub fn tick(&self, memory: &mut Memory, now: Now) -> Result<(), Fault> {
        let values = memory.for_tick(&self.program)?;
        let mut context = Context::new(&self.program, &self.calls, now);
        for code in &self.code {
            // SAFETY: `for_tick` has checked that the memory has the layout of this program. Every slot that the code
            // touches was checked to lie inside it when the program was built, and computed indices are checked by the
            // code itself. The context outlives the call, and the program and array operations it points to are ours.
            let failed = unsafe { code(values.as_mut_ptr(), &raw mut context) };
            if failed != 0 {
                return Err(context.fault());
            }
        }
        self.program.finish_tick(values)
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        let module = self.module.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(module) = module {
            // SAFETY: the code runs only inside `tick`, which borrows this value, so nothing runs now; the pointers in
            // `code` go with it.
            unsafe { module.free_memory() };
        }
    }
}

/// A program while it is compiled, function by function.
struct Compiler {
    program: Arc<Program>,
    module: JITModule,
    calls: Calls,
    ids: Vec<FuncId>,
    builder_context: FunctionBuilderContext,
    context: cranelift_codegen::Context,
}

impl Compiler {
    fn new(program: Arc<Program>) -> Result<Self, String> {
        if let Some(step) = program.effects().iter().position(|effects| effects.nodes > NODES_PER_STEP_MAX) {
            return Err(format!("step {} has more than {NODES_PER_STEP_MAX} operations", program.steps()[step].name));
        }
        let module = module()?;
        let context = module.make_context();
        let builder_context = FunctionBuilderContext::new();
        Ok(Self { program, module, calls: Calls::default(), ids: Vec::new(), builder_context, context })
    }

    fn program(&self) -> &Program {
        &self.program
    }

    /// How many functions there are.
    fn count(&self) -> usize {
        self.ids.len()
    }

    /// One more function, of some steps in order.
    fn function(&mut self, steps: &[usize]) -> Result<(), String> {
        let Self { program, module, calls, context, builder_context, .. } = self;
        let pointer = module.target_config().pointer_type();
        context.func.signature.params = vec![AbiParam::new(pointer); 2];
        context.func.signature.returns = vec![AbiParam::new(types::I32)];
        context.func.signature.call_conv = module.isa().default_call_conv();
        let id = module.declare_anonymous_function(&context.func.signature).map_err(|error| error.to_string())?;
        context.func.name = UserFuncName::user(0, id.as_u32());
        let builder = FunctionBuilder::new(&mut context.func, builder_context);
        Emitter::new(builder, program, calls, module.target_config()).function(steps);
        module.define_function(id, context).map_err(|error| error.to_string())?;
        module.clear_context(context);
        self.ids.push(id);
        Ok(())
    }

    fn finish(mut self) -> Result<Native, String> {
        self.module.finalize_definitions().map_err(|error| error.to_string())?;
        let Self { program, module, calls, ids, .. } = self;
        let code = ids
            .into_iter()
            .map(|id| {
                // SAFETY: the function was defined above with exactly this signature and calling convention, and its
                // pages live as long as `module`, which is dropped together with these pointers.
                unsafe { std::mem::transmute::<*const u8, Code>(module.get_finalized_function(id)) }
            })
            .collect();
        Ok(Native { program, code, calls, module: Mutex::new(Some(module)) })
    }
}

/// An empty module for this machine.
fn module() -> Result<JITModule, String> {
    /// Looking at the machine takes longer than compiling a small program, so it is done once.
    static TARGETS: [OnceLock<Result<OwnedTargetIsa, String>>; 2] = [const { OnceLock::new() }; 2];
    /// Only for the choice below; no result depends on it.
    static COMPILED: AtomicU32 = AtomicU32::new(0);
    // The compiler's own check of what it is given takes a third of the time: where we test, one in eight is enough.
    let verify = cfg!(debug_assertions) && COMPILED.fetch_add(1, Ordering::Relaxed).is_multiple_of(8);
    let target = TARGETS[usize::from(verify)].get_or_init(|| target(verify)).clone()?;
    Ok(JITModule::new(JITBuilder::with_isa(target, default_libcall_names())))
}

fn target(verify: bool) -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let verify = if verify { "true" } else { "false" };
    let wanted = [
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("opt_level", "speed"),
        ("enable_verifier", verify),
        ("unwind_info", "false"),
    ];
    for (name, value) in wanted {
        flags.set(name, value).map_err(|error| format!("{name}: {error}"))?;
    }
    let target = cranelift_native::builder().map_err(str::to_owned)?;
    target.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}

/// Steps that share a function: in order, each function of about the same size.
fn functions<'a>(program: &Program, steps: &'a [usize]) -> Vec<&'a [usize]> {
    let mut list = Vec::new();
    let (mut start, mut nodes) = (0, 0);
    for (at, step) in steps.iter().enumerate() {
        nodes += program.effects()[*step].nodes;
        if nodes >= NODES_PER_FUNCTION {
            list.push(&steps[start..=at]);
            (start, nodes) = (at + 1, 0);
        }
    }
    if start < steps.len() {
        list.push(&steps[start..]);
    }
    list
}
