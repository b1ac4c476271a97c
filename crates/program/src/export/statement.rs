//! Statements as text.

use super::{INDEX, LOOP_BOUNDS, Language, REQUIRED, ROUNDS, Writer};
use crate::expression::Expr;
use crate::memory::Slot;
use crate::statement::{Action, Stmt};

impl Writer<'_> {
    pub(super) fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            // A block of its own keeps the local names of a statement apart.
            self.open("{");
            self.stmt(stmt);
            self.close("}");
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let place = stmt.place.0;
        match &stmt.action {
            Action::Set { target, value } => {
                let value = self.value(value);
                let address = self.program.layout().address(*target);
                self.line(format!("m[{address}] = {value};"));
            }
            Action::SetElement { span, index, value } => {
                let index = self.value(index);
                let at = self.checked_index(&index, span.length, place);
                let value = self.value(value);
                let base = self.program.layout().address(span.start);
                self.line(format!("m[{base} + {at}] = {value};"));
            }
            Action::If { condition, then, otherwise, .. } => {
                let condition = self.value(condition);
                self.open_if(&self.condition(&condition));
                self.body(then);
                self.close("} else {");
                self.indent += 1;
                self.body(otherwise);
                self.close("}");
            }
            Action::For { counter, from, step, to, body, .. } => {
                self.for_loop(*counter, [from, step, to], body, place);
            }
            Action::While { condition, body, .. } => {
                self.open(self.pick("for (;;) {", "loop {"));
                let condition = self.value(condition);
                self.open_if(&format!("{condition} == 0.0"));
                self.line("break;");
                self.close("}");
                self.charge("1.0", place);
                self.body(body);
                self.close("}");
            }
            Action::Require { condition, .. } => {
                let condition = self.value(condition);
                self.open_if(&format!("{condition} == 0.0"));
                self.fault(REQUIRED, place);
                self.close("}");
            }
            Action::Array(operation) => self.array(operation),
            Action::Minimize(_) => self.refuse("an optimisation"),
        }
    }

    fn for_loop(&mut self, counter: Slot, bounds: [&Expr; 3], body: &[Stmt], place: u32) {
        let bounds = bounds.map(|expr| {
            let value = self.value(expr);
            self.local(&value)
        });
        let [from, step, to] = bounds.each_ref().map(String::as_str);
        let count = self.call("rounds", &[from, step, to]);
        let count = self.local(&count);
        self.open_if(&format!("!({count} >= 0.0)"));
        self.fault(LOOP_BOUNDS, place);
        self.close("}");
        self.charge(&count, place);
        let k = self.local("0.0");
        match self.language {
            Language::C => self.open(format!("while ({k} < {count}) {{")),
            Language::Rust => self.open(format!("while {k} < {count} {{")),
        }
        let counter = self.program.layout().address(counter);
        self.line(format!("m[{counter}] = {from} + {k} * {step};"));
        self.body(body);
        self.line(format!("{k} += 1.0;"));
        self.close("}");
    }

    fn charge(&mut self, count: &str, place: u32) {
        self.open_if(&format!("{count} > rounds"));
        self.fault(ROUNDS, place);
        self.close("}");
        self.line(format!("rounds -= {count};"));
    }

    /// An index that was checked, as a whole number.
    pub(super) fn checked_index(&mut self, index: &str, length: u32, place: u32) -> String {
        let index = self.local(index);
        let whole = self.pick("floor", "f64::floor");
        self.open_if(&format!("!({index} >= 0.0 && {index} < {length}.0 && {whole}({index}) == {index})"));
        self.fault(INDEX, place);
        self.close("}");
        match self.language {
            Language::C => format!("(size_t){index}"),
            Language::Rust => format!("({index} as usize)"),
        }
    }

    pub(super) fn fault(&mut self, kind: u32, place: u32) {
        let step = self.step;
        match self.language {
            Language::C => {
                self.line(format!("fault->kind = {kind}; fault->step = {step}; fault->place = {place};"));
                self.line(format!("return {kind};"));
            }
            Language::Rust => self.line(format!("return Err([{kind}, {step}, {place}]);")),
        }
    }
}
