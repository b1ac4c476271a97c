//! Array operations as text: loops into a list beside the memory, which is then copied.

use super::{Language, Writer};
use crate::memory::Span;
use crate::statement::{ArrayOp, Fold};

impl Writer<'_> {
    pub(super) fn array(&mut self, operation: &ArrayOp) {
        let layout = *self.program.layout();
        let at = |span: Span| layout.address(span.start);
        match operation {
            ArrayOp::Copy { to, from } => {
                let from = at(*from);
                self.each(*to, |_| format!("m[{from} + k]"));
            }
            ArrayOp::Fill { to, value } => {
                let value = self.value(value);
                let value = self.local(&value);
                self.each(*to, |_| value.clone());
            }
            ArrayOp::Map { to, function, from } => {
                let from = at(*from);
                self.each(*to, |writer| writer.unary(*function, &format!("m[{from} + k]")));
            }
            ArrayOp::Zip { to, function, left, right } => {
                let element = |span: &Span| match span.length {
                    1 => format!("m[{}]", at(*span)),
                    _ => format!("m[{} + k]", at(*span)),
                };
                let (left, right) = (element(left), element(right));
                self.each(*to, |writer| writer.binary(*function, &left, &right));
            }
            ArrayOp::Differences { to, from } => {
                let from = at(*from);
                self.each(*to, |_| format!("m[{from} + k + 1] - m[{from} + k]"));
            }
            ArrayOp::RunningSum { to, from } => {
                let sum = self.local("0.0");
                let from = at(*from);
                self.each_after(*to, &format!("{sum} += m[{from} + k];"), |_| sum.clone());
            }
            ArrayOp::Sort { to, from } => {
                let from = at(*from);
                self.open_results(to.length);
                self.open_count("k", &to.length.to_string());
                self.line(format!("r[k] = m[{from} + k];"));
                self.close("}");
                self.insertion_sort(to.length);
                self.close_results(*to);
            }
            ArrayOp::Fold { to, function, from } => self.fold(layout.address(*to), *function, *from),
            ArrayOp::Dot { to, left, right } => {
                let sum = self.local("0.0");
                self.open_count("k", &left.length.to_string());
                self.line(format!("{sum} += m[{} + k] * m[{} + k];", at(*left), at(*right)));
                self.close("}");
                self.line(format!("m[{}] = {sum};", layout.address(*to)));
            }
            _ => self.matrices(operation),
        }
    }

    fn matrices(&mut self, operation: &ArrayOp) {
        let layout = *self.program.layout();
        let at = |span: Span| layout.address(span.start);
        match operation {
            ArrayOp::Product { to, left, right } => {
                let (inner, columns) = (left.columns, right.columns);
                let (left, right) = (at(left.span()), at(right.span()));
                self.open_results(to.span().length);
                self.open_count("k", &to.span().length.to_string());
                let sum = self.local("0.0");
                self.open_count("i", &inner.to_string());
                let columns = columns.max(1);
                self.line(format!(
                    "{sum} += m[{left} + k / {columns} * {inner} + i] * m[{right} + i * {columns} + k % {columns}];"
                ));
                self.close("}");
                self.line(format!("r[k] = {sum};"));
                self.close("}");
                self.close_results(to.span());
            }
            ArrayOp::Transpose { to, from } => {
                let (rows, columns) = (from.rows.max(1), from.columns);
                let from = at(from.span());
                self.each(to.span(), |_| format!("m[{from} + k % {rows} * {columns} + k / {rows}]"));
            }
            ArrayOp::Diagonal { to, from } => {
                let next = to.rows + 1;
                let numbers = from.map(at);
                self.each(to.span(), |writer| {
                    let on = numbers.map_or_else(|| "1.0".to_owned(), |from| format!("m[{from} + k / {next}]"));
                    match writer.language {
                        Language::C => format!("k % {next} == 0 ? {on} : 0.0"),
                        Language::Rust => format!("if k % {next} == 0 {{ {on} }} else {{ 0.0 }}"),
                    }
                });
            }
            ArrayOp::Determinant { .. } => self.refuse("a determinant"),
            ArrayOp::Inverse { .. } => self.refuse("the inverse of a matrix"),
            ArrayOp::Solve { .. } => self.refuse("a system of equations"),
            ArrayOp::Eigen { .. } => self.refuse("eigenvalues"),
            ArrayOp::SquareRoot { .. } => self.refuse("the square root of a matrix"),
            // The others are written by `array`.
            _ => {}
        }
    }

    fn each(&mut self, to: Span, element: impl Fn(&Self) -> String) {
        self.each_after(to, "", element);
    }

    fn each_after(&mut self, to: Span, before: &str, element: impl Fn(&Self) -> String) {
        self.open_results(to.length);
        self.open_count("k", &to.length.to_string());
        if !before.is_empty() {
            self.line(before);
        }
        let element = element(self);
        self.line(format!("r[k] = {element};"));
        self.close("}");
        self.close_results(to);
    }

    fn open_results(&mut self, length: u32) {
        self.open("{");
        match self.language {
            // A list in C has at least one element.
            Language::C => self.line(format!("double r[{}];", length.max(1))),
            Language::Rust => self.line(format!("let mut r = [0.0_f64; {length}];")),
        }
    }
    fn close_results(&mut self, to: Span) {
        let base = self.program.layout().address(to.start);
        self.open_count("k", &to.length.to_string());
        self.line(format!("m[{base} + k] = r[k];"));
        self.close("}");
        self.close("}");
    }

    /// Ascending, what is not a number last, equal ones in their order.
    fn insertion_sort(&mut self, length: u32) {
        self.open_count("k", &length.to_string());
        match self.language {
            Language::C => {
                self.line("double x = r[k];");
                self.line("size_t j = k;");
                self.open("while (j > 0 && ((isnan(r[j - 1]) && !isnan(x)) || r[j - 1] > x)) {");
                self.line("r[j] = r[j - 1]; j--;");
            }
            Language::Rust => {
                self.line("let x: f64 = r[k];");
                self.line("let mut j = k;");
                self.open("while j > 0 && ((r[j - 1].is_nan() && !x.is_nan()) || r[j - 1] > x) {");
                self.line("r[j] = r[j - 1]; j -= 1;");
            }
        }
        self.close("}");
        self.line("r[j] = x;");
        self.close("}");
    }

    fn fold(&mut self, to: usize, function: Fold, from: Span) {
        let base = self.program.layout().address(from.start);
        let x = format!("m[{base} + k]");
        let size = match self.language {
            Language::C => format!("fabs({x})"),
            Language::Rust => format!("f64::abs({x})"),
        };
        let first = match function {
            Fold::Product | Fold::All => 1.0,
            Fold::Min => f64::INFINITY,
            Fold::Max => f64::NEG_INFINITY,
            _ => 0.0,
        };
        let first = self.number(first);
        let result = self.local(&first);
        self.open_count("k", &from.length.to_string());
        let best = match self.language {
            Language::C => format!("m[{base} + (size_t){result}]"),
            Language::Rust => format!("m[{base} + {result} as usize]"),
        };
        let place = self.pick("(double)k", "k as f64");
        let (isnan_best, isnan_x) = match self.language {
            Language::C => (format!("isnan({best})"), format!("isnan({x})")),
            Language::Rust => (format!("{best}.is_nan()"), format!("{x}.is_nan()")),
        };
        let line = match function {
            Fold::Sum | Fold::Mean => format!("{result} += {x};"),
            Fold::Product => format!("{result} *= {x};"),
            Fold::Min => format!("{result} = {};", self.call("min", &[&x, &result])),
            Fold::Max => format!("{result} = {};", self.call("max", &[&x, &result])),
            Fold::Norm => format!("{result} += {x} * {x};"),
            Fold::NormOne => format!("{result} += {size};"),
            Fold::NormMax => format!("{result} = {};", self.call("max", &[&size, &result])),
            Fold::Any => format!("{result} = {};", self.truth(&format!("{result} != 0.0 || {x} != 0.0"))),
            Fold::All => format!("{result} = {};", self.truth(&format!("{result} != 0.0 && {x} != 0.0"))),
            Fold::ArgMin | Fold::ArgMax => {
                let sign = if function == Fold::ArgMin { "<" } else { ">" };
                let better = format!("{x} {sign} {best} || ({isnan_best} && !{isnan_x})");
                self.open_if(&better);
                self.line(format!("{result} = {place};"));
                self.close("}");
                String::new()
            }
        };
        self.line(line);
        self.close("}");
        let root = match self.language {
            Language::C => format!("sqrt({result})"),
            Language::Rust => format!("{result}.sqrt()"),
        };
        match function {
            Fold::Mean => self.line(format!("m[{to}] = {result} / {}.0;", from.length)),
            Fold::Norm => self.line(format!("m[{to}] = {root};")),
            _ => self.line(format!("m[{to}] = {result};")),
        }
    }
}
