//! Array operations as machine code: small ones element by element, the others as calls.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::emit::Emitter;
use super::expression::is_inline;
use super::helpers;
use crate::expression::{Place, Unary};
use crate::memory::Matrix;
use crate::statement::{ArrayOp, Fold};

/// An operation is written out up to this many elements or products; beyond it a call costs less than the code.
const INLINE_MAX: usize = 32;

impl Emitter<'_> {
    /// Does an array operation.
    pub(super) fn array(&mut self, operation: &ArrayOp, at: Place) {
        let value = match operation {
            ArrayOp::Fill { value, .. } => Some(self.value(value)),
            _ => None,
        };
        if !self.written_out(operation, value) {
            self.called(operation, value, at);
        }
    }

    fn called(&mut self, operation: &ArrayOp, value: Option<Value>, at: Place) {
        let number = self.integer(u32::try_from(self.calls.arrays.len()).unwrap_or(u32::MAX));
        self.calls.arrays.push(operation.clone());
        let value = value.unwrap_or_else(|| self.number(0.0));
        let address = helpers::array as *const () as usize;
        let code = self.call(address, &[self.context, self.memory, number, value], types::I32);
        let zero = self.integer(0);
        let fine = self.builder.ins().icmp(IntCC::Equal, code, zero);
        self.unless(fine, code, 0, None, at);
        for span in operation.operands().writes.into_iter().flatten() {
            self.forget(self.layout().addresses(span));
        }
    }

    /// Element by element, all results before the first is stored. Returns whether it was done.
    fn written_out(&mut self, operation: &ArrayOp, value: Option<Value>) -> bool {
        let layout = self.layout();
        let (to, results): (usize, Vec<Value>) = match *operation {
            ArrayOp::Fill { to, .. } if to.length as usize <= INLINE_MAX => {
                let Some(value) = value else { return false };
                (layout.address(to.start), vec![value; to.length as usize])
            }
            ArrayOp::Copy { to, from } if to.length as usize <= INLINE_MAX => {
                let values = layout.addresses(from).map(|address| self.load(address)).collect();
                (layout.address(to.start), values)
            }
            ArrayOp::Map { to, function, from } if to.length as usize <= INLINE_MAX && is_simple(function) => {
                let results = layout.addresses(from).map(|address| {
                    let x = self.load(address);
                    self.unary(function, x)
                });
                (layout.address(to.start), results.collect())
            }
            ArrayOp::Zip { to, function, left, right } if to.length as usize <= INLINE_MAX && is_inline(function) => {
                let element =
                    |span: crate::Span, k: u32| layout.address(if span.length == 1 { span.start } else { span.at(k) });
                let results = (0..to.length).map(|k| {
                    let (x, y) = (self.load(element(left, k)), self.load(element(right, k)));
                    self.binary(function, x, y)
                });
                (layout.address(to.start), results.collect())
            }
            ArrayOp::Fold { to, function: Fold::Sum, from } if from.length as usize <= INLINE_MAX => {
                let zero = self.number(0.0);
                let sum = layout.addresses(from).fold(zero, |sum, address| {
                    let x = self.load(address);
                    self.builder.ins().fadd(sum, x)
                });
                (layout.address(to), vec![sum])
            }
            ArrayOp::Dot { to, left, right } if left.length as usize <= INLINE_MAX => {
                let pairs = layout.addresses(left).zip(layout.addresses(right)).collect();
                (layout.address(to), vec![self.sum_of_products(pairs)])
            }
            ArrayOp::Product { to, left, right }
                if (to.span().length as usize).saturating_mul(left.columns as usize) <= INLINE_MAX =>
            {
                (layout.address(to.start), self.product(left, right))
            }
            ArrayOp::Transpose { to, from } if to.span().length as usize <= INLINE_MAX => {
                let places = (0..to.rows).flat_map(|row| (0..to.columns).map(move |column| from.at(column, row)));
                let values = places.map(|slot| self.load(layout.address(slot))).collect();
                (layout.address(to.start), values)
            }
            _ => return false,
        };
        for (k, result) in results.into_iter().enumerate() {
            self.store(to + k, result);
        }
        true
    }

    fn product(&mut self, left: Matrix, right: Matrix) -> Vec<Value> {
        let layout = self.layout();
        let mut results = Vec::new();
        for row in 0..left.rows {
            for column in 0..right.columns {
                let pairs = (0..left.columns)
                    .map(|k| (layout.address(left.at(row, k)), layout.address(right.at(k, column))))
                    .collect();
                results.push(self.sum_of_products(pairs));
            }
        }
        results
    }

    fn sum_of_products(&mut self, pairs: Vec<(usize, usize)>) -> Value {
        let zero = self.number(0.0);
        pairs.into_iter().fold(zero, |sum, (left, right)| {
            let (x, y) = (self.load(left), self.load(right));
            let product = self.builder.ins().fmul(x, y);
            self.builder.ins().fadd(sum, product)
        })
    }
}

fn is_simple(function: Unary) -> bool {
    matches!(function, Unary::Negate | Unary::Abs | Unary::Sqrt | Unary::Sign)
}
