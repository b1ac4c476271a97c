//! Statements as machine code.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, InstBuilder, MemFlagsData, SigRef, Signature, Type, Value, types,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilder;

use super::Calls;
use super::helpers::{self, Context, code};
use crate::expression::{Expr, Place};
use crate::memory::{Layout, Slot, Span};
use crate::program::Program;
use crate::scalar;
use crate::statement::{Action, Problem, Stmt};

/// Emits one function.
pub struct Emitter<'a> {
    pub(super) builder: FunctionBuilder<'a>,
    pub(super) program: &'a Program,
    pub(super) calls: &'a mut Calls,
    pub(super) pointer: Type,
    pub(super) memory: Value,
    pub(super) context: Value,
    pub(super) step: u32,
    /// What slots hold, as far as it is known here. Memory holds the same.
    pub(super) known: BTreeMap<usize, Value>,
    config: TargetFrontendConfig,
    fault: Block,
    signatures: BTreeMap<(Vec<u8>, u8), SigRef>,
}

/// Whether the machine rounds to whole numbers in one instruction.
pub(super) fn rounds_in_hardware() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("sse4.1")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        cfg!(target_arch = "aarch64")
    }
}

impl<'a> Emitter<'a> {
    pub fn new(
        mut builder: FunctionBuilder<'a>,
        program: &'a Program,
        calls: &'a mut Calls,
        config: TargetFrontendConfig,
    ) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let (memory, context) = (builder.block_params(entry)[0], builder.block_params(entry)[1]);
        let fault = builder.create_block();
        for kind in [types::I32, types::I32, types::F64, types::I32, types::I32] {
            builder.append_block_param(fault, kind);
        }
        builder.set_cold_block(fault);
        Self {
            builder,
            program,
            calls,
            pointer: config.pointer_type(),
            memory,
            context,
            step: 0,
            known: BTreeMap::new(),
            config,
            fault,
            signatures: BTreeMap::new(),
        }
    }

    /// The function of some steps.
    pub fn function(mut self, steps: &[usize]) {
        let program = self.program;
        for &number in steps {
            self.step = u32::try_from(number).unwrap_or(u32::MAX);
            let none = self.builder.ins().iconst(types::I64, 0);
            self.builder.ins().store(flags(), none, self.context, offset_of!(Context, draws) as i32);
            self.body(&program.steps()[number].body);
        }
        let done = self.builder.ins().iconst(types::I32, 0);
        self.builder.ins().return_(&[done]);
        self.fault_block();
        self.builder.seal_all_blocks();
        self.builder.finalize(self.config);
    }

    fn fault_block(&mut self) {
        self.builder.switch_to_block(self.fault);
        let parameters = self.builder.block_params(self.fault).to_vec();
        let places = [
            offset_of!(Context, code),
            offset_of!(Context, detail),
            offset_of!(Context, number),
            offset_of!(Context, step),
            offset_of!(Context, place),
        ];
        for (value, place) in parameters.into_iter().zip(places) {
            self.builder.ins().store(flags(), value, self.context, place as i32);
        }
        let failed = self.builder.ins().iconst(types::I32, 1);
        self.builder.ins().return_(&[failed]);
    }

    pub(super) fn layout(&self) -> &'a Layout {
        self.program.layout()
    }
    pub(super) fn number(&mut self, value: f64) -> Value {
        self.builder.ins().f64const(value)
    }
    pub(super) fn integer(&mut self, value: u32) -> Value {
        self.builder.ins().iconst(types::I32, i64::from(value))
    }

    /// What a slot holds.
    pub(super) fn load(&mut self, address: usize) -> Value {
        if let Some(&value) = self.known.get(&address) {
            return value;
        }
        let value = self.builder.ins().load(types::F64, flags(), self.memory, place(address));
        self.known.insert(address, value);
        value
    }
    pub(super) fn store(&mut self, address: usize, value: Value) {
        self.builder.ins().store(flags(), value, self.memory, place(address));
        self.known.insert(address, value);
    }
    /// Nothing is known any more about these slots.
    pub(super) fn forget(&mut self, addresses: Range<usize>) {
        let gone: Vec<usize> = self.known.range(addresses).map(|(&address, _)| address).collect();
        for address in gone {
            self.known.remove(&address);
        }
    }

    /// Ends in a fault unless a condition holds.
    pub(super) fn unless(&mut self, holds: Value, code: Value, detail: u32, number: Option<Value>, at: Place) {
        let go_on = self.builder.create_block();
        let detail = self.integer(detail);
        let number = number.unwrap_or_else(|| self.builder.ins().f64const(0.0));
        let (step, at) = (self.integer(self.step), self.integer(at.0));
        let arguments = [code, detail, number, step, at].map(BlockArg::from);
        self.builder.ins().brif(holds, go_on, &[], self.fault, &arguments);
        self.builder.switch_to_block(go_on);
    }

    /// Calls a function of this program by its address.
    pub(super) fn call(&mut self, address: usize, arguments: &[Value], result: Type) -> Value {
        let kinds: Vec<Type> = arguments.iter().map(|&value| self.builder.func.dfg.value_type(value)).collect();
        let key =
            (kinds.iter().map(|kind| kind.bytes() as u8 | u8::from(kind.is_float())).collect(), result.bytes() as u8);
        let convention = self.config.default_call_conv;
        let builder = &mut self.builder;
        let signature = *self.signatures.entry(key).or_insert_with(|| {
            let mut signature = Signature::new(convention);
            signature.params = kinds.into_iter().map(AbiParam::new).collect();
            signature.returns = vec![AbiParam::new(result)];
            builder.import_signature(signature)
        });
        let callee = self.builder.ins().iconst(self.pointer, address as i64);
        let call = self.builder.ins().call_indirect(signature, callee, arguments);
        self.builder.inst_results(call)[0]
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.action {
            Action::Set { target, value } => {
                let value = self.value(value);
                self.set(*target, value);
            }
            Action::SetElement { span, index, value } => {
                let address = self.element(*span, index, stmt.place);
                let value = self.value(value);
                let offset = place(self.layout().address(span.start));
                self.builder.ins().store(flags(), value, address, offset);
                self.forget(self.layout().addresses(*span));
            }
            Action::If { condition, then, otherwise, .. } => self.choose(condition, then, otherwise),
            Action::For { counter, from, step, to, body, .. } => {
                self.for_loop(*counter, [from, step, to], body, stmt.place);
            }
            Action::While { condition, body, .. } => self.while_loop(condition, body, stmt.place),
            Action::Require { condition, decision, .. } => {
                let holds = self.condition(condition);
                let code = self.integer(code::REQUIRED);
                self.unless(holds, code, decision.0, None, stmt.place);
            }
            Action::Array(operation) => self.array(operation, stmt.place),
            Action::Minimize(problem) => self.minimize(problem, stmt.place),
        }
    }

    fn set(&mut self, target: Slot, value: Value) {
        self.store(self.layout().address(target), value);
    }

    /// The address of an element, less that of the first.
    pub(super) fn element(&mut self, span: Span, index: &Expr, at: Place) -> Value {
        let index = self.value(index);
        let whole = self.builder.ins().fcvt_to_sint_sat(types::I32, index);
        let back = self.builder.ins().fcvt_from_sint(types::F64, whole);
        let exact = self.builder.ins().fcmp(FloatCC::Equal, back, index);
        let length = self.integer(span.length);
        let inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, whole, length);
        let holds = self.builder.ins().band(exact, inside);
        let code = self.integer(code::INDEX);
        self.unless(holds, code, span.length, Some(index), at);
        let wide = self.builder.ins().uextend(types::I64, whole);
        let three = self.builder.ins().iconst(types::I64, 3);
        let bytes = self.builder.ins().ishl(wide, three);
        self.builder.ins().iadd(self.memory, bytes)
    }

    fn choose(&mut self, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let condition = self.condition(condition);
        let [yes, no, end] = [(); 3].map(|()| self.builder.create_block());
        self.builder.ins().brif(condition, yes, &[], no, &[]);
        let before = self.known.clone();
        self.builder.switch_to_block(yes);
        self.body(then);
        self.builder.ins().jump(end, &[]);
        let after_yes = std::mem::replace(&mut self.known, before);
        self.builder.switch_to_block(no);
        self.body(otherwise);
        self.builder.ins().jump(end, &[]);
        self.builder.switch_to_block(end);
        self.known.retain(|address, value| after_yes.get(address) == Some(value));
    }

    fn for_loop(&mut self, counter: Slot, [from, step, to]: [&Expr; 3], body: &[Stmt], at: Place) {
        let bounds = [from, step, to].map(|expr| if let Expr::Const(value) = expr { Some(*value) } else { None });
        let (from, step, to) = (self.value(from), self.value(step), self.value(to));
        let fixed = match bounds {
            [Some(from), Some(step), Some(to)] => scalar::rounds(from, step, to),
            _ => None,
        };
        let count = match fixed {
            Some(count) => self.number(count),
            None => {
                let address = helpers::rounds as *const () as usize;
                let count = self.call(address, &[from, step, to], types::F64);
                let zero = self.number(0.0);
                let finite = self.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, count, zero);
                let code = self.integer(code::LOOP_BOUNDS);
                self.unless(finite, code, 0, None, at);
                count
            }
        };
        self.charge(count, at);
        let [head, inner, end] = [(); 3].map(|()| self.builder.create_block());
        let k = self.builder.append_block_param(head, types::F64);
        let zero = self.number(0.0);
        self.builder.ins().jump(head, &[BlockArg::from(zero)]);
        self.builder.switch_to_block(head);
        self.known.clear();
        let again = self.builder.ins().fcmp(FloatCC::LessThan, k, count);
        self.builder.ins().brif(again, inner, &[], end, &[]);
        self.builder.switch_to_block(inner);
        let distance = self.builder.ins().fmul(k, step);
        let value = self.builder.ins().fadd(from, distance);
        self.set(counter, value);
        self.body(body);
        let one = self.number(1.0);
        let next = self.builder.ins().fadd(k, one);
        self.builder.ins().jump(head, &[BlockArg::from(next)]);
        self.builder.switch_to_block(end);
        self.known.clear();
    }

    fn while_loop(&mut self, condition: &Expr, body: &[Stmt], at: Place) {
        let [head, inner, end] = [(); 3].map(|()| self.builder.create_block());
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        self.known.clear();
        let again = self.condition(condition);
        self.builder.ins().brif(again, inner, &[], end, &[]);
        self.builder.switch_to_block(inner);
        let one = self.number(1.0);
        self.charge(one, at);
        self.body(body);
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(end);
        self.known.clear();
    }

    fn minimize(&mut self, problem: &Problem, at: Place) {
        let number = self.integer(u32::try_from(self.calls.problems.len()).unwrap_or(u32::MAX));
        self.calls.problems.push((problem.clone(), self.step, at));
        let address = helpers::minimize as *const () as usize;
        let failed = self.call(address, &[self.context, self.memory, number], types::I32);
        let [noted, go_on] = [(); 2].map(|()| self.builder.create_block());
        self.builder.set_cold_block(noted);
        self.builder.ins().brif(failed, noted, &[], go_on, &[]);
        self.builder.switch_to_block(noted);
        let one = self.integer(1);
        self.builder.ins().return_(&[one]);
        self.builder.switch_to_block(go_on);
        self.known.clear();
    }

    /// Takes rounds from those that loops may still make.
    fn charge(&mut self, count: Value, at: Place) {
        let offset = offset_of!(Context, rounds) as i32;
        let left = self.builder.ins().load(types::F64, flags(), self.context, offset);
        let enough = self.builder.ins().fcmp(FloatCC::LessThanOrEqual, count, left);
        let code = self.integer(code::ROUNDS);
        self.unless(enough, code, 0, None, at);
        let rest = self.builder.ins().fsub(left, count);
        self.builder.ins().store(flags(), rest, self.context, offset);
    }
}

/// All accesses are to addresses that were checked, and aligned.
pub(super) fn flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// The distance of a slot from the start of the memory. Programs have at most 2²⁴ slots, so it fits.
pub(super) fn place(address: usize) -> i32 {
    (address * 8) as i32
}
