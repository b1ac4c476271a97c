//! Expressions as machine code.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};

use super::emit::{Emitter, flags, place, rounds_in_hardware};
use super::helpers::{self, Context};
use crate::expression::{Binary, Draw, Expr, Unary};

/// An operand up to this size is computed even where it may not be needed, instead of jumping around it.
const CHEAP_NODES: u32 = 12;

impl Emitter<'_> {
    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Const(value) => self.number(*value),
            Expr::Slot(slot) => self.load(self.layout().address(*slot)),
            Expr::Element { span, index, place: at } => {
                let address = self.element(*span, index, *at);
                let offset = place(self.layout().address(span.start));
                self.builder.ins().load(types::F64, flags(), address, offset)
            }
            Expr::Unary(Unary::Not | Unary::Truth | Unary::IsFinite, _) | Expr::And(..) | Expr::Or(..) => {
                let condition = self.condition(expr);
                self.truth_number(condition)
            }
            Expr::Unary(function, of) => {
                let of = self.value(of);
                self.unary(*function, of)
            }
            Expr::Binary(function, left, right) => self.binary_expr(*function, left, right),
            Expr::Select(condition, yes, no) => self.select(condition, yes, no),
            Expr::Draw(draw) => {
                let kind = self.integer(u32::from(*draw == Draw::Normal));
                let step = self.integer(self.step);
                let address = helpers::draw as *const () as usize;
                self.call(address, &[self.context, kind, step], types::F64)
            }
            Expr::Tick => {
                let offset = offset_of!(Context, tick) as i32;
                self.builder.ins().load(types::F64, flags(), self.context, offset)
            }
        }
    }

    /// Whether an expression is true, as an integer of 0 or 1.
    pub(super) fn condition(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Unary(Unary::Not, of) => {
                let of = self.condition(of);
                let one = self.builder.ins().iconst(types::I8, 1);
                self.builder.ins().bxor(of, one)
            }
            Expr::Unary(Unary::Truth, of) => self.condition(of),
            Expr::Unary(Unary::IsFinite, of) => {
                let of = self.value(of);
                let size = self.builder.ins().fabs(of);
                let infinity = self.number(f64::INFINITY);
                self.builder.ins().fcmp(FloatCC::LessThan, size, infinity)
            }
            Expr::And(left, right) => self.short_circuit(left, right, true),
            Expr::Or(left, right) => self.short_circuit(left, right, false),
            Expr::Binary(Binary::Xor | Binary::Both | Binary::Either, left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                match expr {
                    Expr::Binary(Binary::Xor, ..) => self.builder.ins().bxor(left, right),
                    Expr::Binary(Binary::Both, ..) => self.builder.ins().band(left, right),
                    _ => self.builder.ins().bor(left, right),
                }
            }
            Expr::Binary(function, left, right) if comparison(*function).is_some() => {
                let (left, right) = (self.value(left), self.value(right));
                let code = comparison(*function).unwrap_or(FloatCC::Equal);
                self.builder.ins().fcmp(code, left, right)
            }
            _ => {
                let value = self.value(expr);
                self.is_true(value)
            }
        }
    }

    pub(super) fn is_true(&mut self, value: Value) -> Value {
        let zero = self.number(0.0);
        self.builder.ins().fcmp(FloatCC::NotEqual, value, zero)
    }
    pub(super) fn truth_number(&mut self, condition: Value) -> Value {
        let wide = self.builder.ins().uextend(types::I32, condition);
        self.builder.ins().fcvt_from_sint(types::F64, wide)
    }

    fn short_circuit(&mut self, left: &Expr, right: &Expr, both: bool) -> Value {
        let left = self.condition(left);
        if is_cheap(right) {
            let right = self.condition(right);
            return if both { self.builder.ins().band(left, right) } else { self.builder.ins().bor(left, right) };
        }
        let (more, end) = (self.builder.create_block(), self.builder.create_block());
        let result = self.builder.append_block_param(end, types::I8);
        let settled = [BlockArg::from(left)];
        if both {
            self.builder.ins().brif(left, more, &[], end, &settled);
        } else {
            self.builder.ins().brif(left, end, &settled, more, &[]);
        }
        // What is loaded in between is known only there.
        let before = self.known.clone();
        self.builder.switch_to_block(more);
        let right = self.condition(right);
        self.builder.ins().jump(end, &[BlockArg::from(right)]);
        self.builder.switch_to_block(end);
        self.known = before;
        result
    }

    fn select(&mut self, condition: &Expr, yes: &Expr, no: &Expr) -> Value {
        let condition = self.condition(condition);
        if is_cheap(yes) && is_cheap(no) {
            let (yes, no) = (self.value(yes), self.value(no));
            return self.builder.ins().select(condition, yes, no);
        }
        let [first, second, end] = [(); 3].map(|()| self.builder.create_block());
        let result = self.builder.append_block_param(end, types::F64);
        self.builder.ins().brif(condition, first, &[], second, &[]);
        let before = self.known.clone();
        for (block, expr) in [(first, yes), (second, no)] {
            self.builder.switch_to_block(block);
            self.known.clone_from(&before);
            let value = self.value(expr);
            self.builder.ins().jump(end, &[BlockArg::from(value)]);
        }
        self.builder.switch_to_block(end);
        self.known = before;
        result
    }

    fn binary_expr(&mut self, function: Binary, left: &Expr, right: &Expr) -> Value {
        let left = self.value(left);
        if let (Binary::Pow, Expr::Const(2.0)) = (function, right) {
            return self.builder.ins().fmul(left, left);
        }
        let right = self.value(right);
        self.binary(function, left, right)
    }

    /// A function of one number.
    pub(super) fn unary(&mut self, function: Unary, x: Value) -> Value {
        let zero = self.number(0.0);
        let ins = self.builder.ins();
        match function {
            Unary::Negate => ins.fneg(x),
            Unary::Abs => ins.fabs(x),
            Unary::Sqrt => ins.sqrt(x),
            Unary::Floor if rounds_in_hardware() => ins.floor(x),
            Unary::Ceil if rounds_in_hardware() => ins.ceil(x),
            Unary::Truncate if rounds_in_hardware() => ins.trunc(x),
            Unary::Sign => {
                let above = ins.fcmp(FloatCC::GreaterThan, x, zero);
                let below = self.builder.ins().fcmp(FloatCC::LessThan, x, zero);
                let (above, below) = (self.truth_number(above), self.truth_number(below));
                self.builder.ins().fsub(above, below)
            }
            _ => self.call(helpers::unary_address(function), &[x], types::F64),
        }
    }

    /// A function of two numbers.
    pub(super) fn binary(&mut self, function: Binary, x: Value, y: Value) -> Value {
        if let Some(code) = comparison(function) {
            let holds = self.builder.ins().fcmp(code, x, y);
            return self.truth_number(holds);
        }
        match function {
            Binary::Add => self.builder.ins().fadd(x, y),
            Binary::Sub => self.builder.ins().fsub(x, y),
            Binary::Mul => self.builder.ins().fmul(x, y),
            Binary::Div => self.builder.ins().fdiv(x, y),
            Binary::Min => self.extreme(FloatCC::LessThan, x, y),
            Binary::Max => self.extreme(FloatCC::GreaterThan, x, y),
            Binary::Hypot => {
                let (x, y) = (self.builder.ins().fmul(x, x), self.builder.ins().fmul(y, y));
                let sum = self.builder.ins().fadd(x, y);
                self.builder.ins().sqrt(sum)
            }
            Binary::Xor | Binary::Both | Binary::Either => {
                let (x, y) = (self.is_true(x), self.is_true(y));
                let both = match function {
                    Binary::Xor => self.builder.ins().icmp(IntCC::NotEqual, x, y),
                    Binary::Both => self.builder.ins().band(x, y),
                    _ => self.builder.ins().bor(x, y),
                };
                self.truth_number(both)
            }
            _ => self.call(helpers::binary_address(function), &[x, y], types::F64),
        }
    }

    /// The second if it is better or the first is not a number, else the first.
    fn extreme(&mut self, better: FloatCC, x: Value, y: Value) -> Value {
        let is_better = self.builder.ins().fcmp(better, y, x);
        let is_nan = self.builder.ins().fcmp(FloatCC::Unordered, x, x);
        let second = self.builder.ins().bor(is_better, is_nan);
        self.builder.ins().select(second, y, x)
    }
}

/// The machine's comparison for a function, if it is one.
fn comparison(function: Binary) -> Option<FloatCC> {
    Some(match function {
        Binary::Less => FloatCC::LessThan,
        Binary::LessEqual => FloatCC::LessThanOrEqual,
        Binary::Greater => FloatCC::GreaterThan,
        Binary::GreaterEqual => FloatCC::GreaterThanOrEqual,
        Binary::Equal => FloatCC::Equal,
        Binary::NotEqual => FloatCC::NotEqual,
        _ => return None,
    })
}

/// Whether a function takes a few instructions and no call.
pub(super) fn is_inline(function: Binary) -> bool {
    !matches!(function, Binary::Remainder | Binary::Modulo | Binary::Pow | Binary::Atan2 | Binary::Gcd)
}

/// Whether an expression can be computed in vain: small, without faults, draws and calls.
fn is_cheap(expr: &Expr) -> bool {
    fn size(expr: &Expr) -> Option<u32> {
        let fits = match expr {
            Expr::Const(_) | Expr::Slot(_) | Expr::Tick => true,
            Expr::Unary(function, _) => matches!(
                function,
                Unary::Negate | Unary::Not | Unary::Truth | Unary::Abs | Unary::Sign | Unary::IsFinite
            ),
            Expr::Binary(function, ..) => is_inline(*function) && !matches!(function, Binary::Div | Binary::Hypot),
            Expr::And(..) | Expr::Or(..) => true,
            Expr::Element { .. } | Expr::Select(..) | Expr::Draw(_) => false,
        };
        if !fits {
            return None;
        }
        expr.operands().try_fold(1, |sum, operand| Some(sum + size(operand)?))
    }
    size(expr).is_some_and(|nodes| nodes <= CHEAP_NODES)
}
