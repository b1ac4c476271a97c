//! Programs as source text that stands alone: C or Rust, without this crate.
//!
//! The text computes what the interpreter computes, in the same order. Compile C with `-ffp-contract=off`, since a fused
//! multiplication rounds differently. Functions such as sine come from the library of the target, so their last bits may
//! differ; everything else is the same bit for bit.
//!
//! Random numbers, determinants, inverses, equations, eigenvalues and roots of matrices are not exported; a program with
//! them is refused by name.

mod arrays;
mod statement;

use std::fmt::Write;

use crate::expression::{Binary, Expr, Unary};
use crate::memory::Region;
use crate::program::{NonFinite, Program};

/// The language of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C99 with `math.h`.
    C,
    /// Rust, standard library only.
    Rust,
}

/// Why a program was not exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// It does something that has no text yet.
    #[error("step {step} uses {what}, which is not exported")]
    Unsupported {
        /// The step.
        step: String,
        /// What it uses.
        what: &'static str,
    },
    /// Functions of the text begin with this word.
    #[error("`{0}` cannot begin a name: use letters, digits and underscores, a letter first")]
    Prefix(String),
}

/// The text of a program. Its functions begin with `prefix`.
///
/// C: `void <prefix>_start(double *m)` and `int <prefix>_tick(double *m, double tick, <prefix>_fault *fault)`; Rust:
/// `pub fn <prefix>_start(m: &mut [f64])` and `pub fn <prefix>_tick(m: &mut [f64], tick: f64) -> Result<(), [u32; 3]>`.
/// `m` has `<PREFIX>_SLOTS` numbers; where inputs and outputs lie is told in the text. A fault is (kind, step, place).
///
/// # Errors
/// If the program does something that has no text yet.
pub fn export(program: &Program, language: Language, prefix: &str) -> Result<String, ExportError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !prefix.starts_with(|c: char| c.is_ascii_alphabetic()) || !prefix.chars().all(plain) {
        return Err(ExportError::Prefix(prefix.to_owned()));
    }
    let mut writer =
        Writer { program, language, prefix, text: String::new(), indent: 0, names: 0, step: 0, unsupported: None };
    writer.opening();
    writer.start();
    writer.tick();
    match writer.unsupported {
        Some((step, what)) => Err(ExportError::Unsupported { step, what }),
        None => Ok(writer.text),
    }
}

struct Writer<'a> {
    program: &'a Program,
    language: Language,
    prefix: &'a str,
    text: String,
    indent: usize,
    names: u32,
    step: u32,
    unsupported: Option<(String, &'static str)>,
}

impl Writer<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:indent$}{}", "", line.as_ref(), indent = 4 * self.indent);
    }
    fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.indent += 1;
    }
    fn close(&mut self, line: impl AsRef<str>) {
        self.indent = self.indent.saturating_sub(1);
        self.line(line);
    }
    fn pick(&self, c: &'static str, rust: &'static str) -> &'static str {
        if self.language == Language::C { c } else { rust }
    }
    fn refuse(&mut self, what: &'static str) {
        let step = self.program.steps().get(self.step as usize).map(|step| step.name.clone()).unwrap_or_default();
        self.unsupported.get_or_insert((step, what));
    }
    /// A new local variable with a first value.
    fn local(&mut self, value: &str) -> String {
        self.names += 1;
        let name = format!("t{}", self.names);
        match self.language {
            Language::C => self.line(format!("double {name} = {value};")),
            Language::Rust => self.line(format!("let mut {name}: f64 = {value};")),
        }
        name
    }
    fn number(&self, value: f64) -> String {
        let c = self.language == Language::C;
        match value {
            value if value.is_nan() => if c { "NAN" } else { "f64::NAN" }.to_owned(),
            f64::INFINITY => if c { "INFINITY" } else { "f64::INFINITY" }.to_owned(),
            f64::NEG_INFINITY => if c { "(-INFINITY)" } else { "f64::NEG_INFINITY" }.to_owned(),
            value if value.is_sign_negative() => format!("({value:?})"),
            value => format!("{value:?}"),
        }
    }
    fn condition(&self, value: &str) -> String {
        format!("{value} != 0.0")
    }
    fn truth(&self, condition: &str) -> String {
        match self.language {
            Language::C => format!("(({condition}) ? 1.0 : 0.0)"),
            Language::Rust => format!("(if {condition} {{ 1.0 }} else {{ 0.0 }})"),
        }
    }
    fn open_if(&mut self, condition: &str) {
        let line = match self.language {
            Language::C => format!("if ({condition}) {{"),
            Language::Rust => format!("if {condition} {{"),
        };
        self.open(line);
    }
    /// A loop over whole numbers below `count`.
    fn open_count(&mut self, name: &str, count: &str) {
        let line = match self.language {
            Language::C => format!("for (size_t {name} = 0; {name} < {count}; {name}++) {{"),
            Language::Rust => format!("for {name} in 0..{count} {{"),
        };
        self.open(line);
    }
    fn call(&self, name: &str, arguments: &[&str]) -> String {
        format!("{}_{name}({})", self.prefix, arguments.join(", "))
    }

    /// The value of an expression: a name, a number or a place of the memory.
    fn value(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Const(value) => self.number(*value),
            Expr::Slot(slot) => format!("m[{}]", self.program.layout().address(*slot)),
            Expr::Tick => "tick".to_owned(),
            Expr::Draw(_) => {
                self.refuse("random numbers");
                self.number(0.0)
            }
            Expr::Element { span, index, place } => {
                let index = self.value(index);
                let at = self.checked_index(&index, span.length, place.0);
                let base = self.program.layout().address(span.start);
                self.local(&format!("m[{base} + {at}]"))
            }
            Expr::Unary(function, of) => {
                let of = self.value(of);
                let value = self.unary(*function, &of);
                self.local(&value)
            }
            Expr::Binary(function, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                let value = self.binary(*function, &left, &right);
                self.local(&value)
            }
            Expr::And(left, right) => self.short_circuit(left, right, "!= 0.0", "0.0"),
            Expr::Or(left, right) => self.short_circuit(left, right, "== 0.0", "1.0"),
            Expr::Select(condition, yes, no) => {
                let condition = self.value(condition);
                let result = self.local("0.0");
                self.open_if(&self.condition(&condition));
                let yes = self.value(yes);
                self.line(format!("{result} = {yes};"));
                self.close("} else {");
                self.indent += 1;
                let no = self.value(no);
                self.line(format!("{result} = {no};"));
                self.close("}");
                result
            }
        }
    }

    /// The second operand is computed only if the first is as `go_on` says; else the result is `settled`.
    fn short_circuit(&mut self, left: &Expr, right: &Expr, go_on: &str, settled: &str) -> String {
        let left = self.value(left);
        let result = self.local(settled);
        self.open_if(&format!("{left} {go_on}"));
        let right = self.value(right);
        let truth = self.truth(&self.condition(&right));
        self.line(format!("{result} = {truth};"));
        self.close("}");
        result
    }

    fn unary(&self, function: Unary, x: &str) -> String {
        let plain = |c: &str, rust: &str| match self.language {
            Language::C => format!("{c}({x})"),
            Language::Rust => format!("f64::{rust}({x})"),
        };
        match function {
            Unary::Negate => format!("-{x}"),
            Unary::Not => self.truth(&format!("{x} == 0.0")),
            Unary::Truth => self.truth(&self.condition(x)),
            Unary::IsFinite => {
                let size = plain("fabs", "abs");
                self.truth(&format!("{size} < {}", self.number(f64::INFINITY)))
            }
            Unary::Sign => {
                format!("{} - {}", self.truth(&format!("{x} > 0.0")), self.truth(&format!("{x} < 0.0")))
            }
            Unary::Abs => plain("fabs", "abs"),
            Unary::Sqrt => plain("sqrt", "sqrt"),
            Unary::Floor => plain("floor", "floor"),
            Unary::Ceil => plain("ceil", "ceil"),
            Unary::Truncate => plain("trunc", "trunc"),
            Unary::Round => plain("round", "round"),
            Unary::Exp => plain("exp", "exp"),
            Unary::Log => plain("log", "ln"),
            Unary::Log2 => plain("log2", "log2"),
            Unary::Log10 => plain("log10", "log10"),
            Unary::Sin => plain("sin", "sin"),
            Unary::Cos => plain("cos", "cos"),
            Unary::Tan => plain("tan", "tan"),
            Unary::Asin => plain("asin", "asin"),
            Unary::Acos => plain("acos", "acos"),
            Unary::Atan => plain("atan", "atan"),
            Unary::Sinh => plain("sinh", "sinh"),
            Unary::Cosh => plain("cosh", "cosh"),
            Unary::Tanh => plain("tanh", "tanh"),
            Unary::Asinh => plain("asinh", "asinh"),
            Unary::Acosh => plain("acosh", "acosh"),
            Unary::Atanh => plain("atanh", "atanh"),
            Unary::Cbrt => plain("cbrt", "cbrt"),
        }
    }

    fn binary(&self, function: Binary, x: &str, y: &str) -> String {
        let compared = |sign: &str| self.truth(&format!("{x} {sign} {y}"));
        let logic = |sign: &str| self.truth(&format!("({x} != 0.0) {sign} ({y} != 0.0)"));
        match function {
            Binary::Add => format!("{x} + {y}"),
            Binary::Sub => format!("{x} - {y}"),
            Binary::Mul => format!("{x} * {y}"),
            Binary::Div => format!("{x} / {y}"),
            Binary::Remainder => match self.language {
                Language::C => format!("fmod({x}, {y})"),
                Language::Rust => format!("{x} % {y}"),
            },
            Binary::Modulo => self.call("modulo", &[x, y]),
            Binary::Pow => self.call("power", &[x, y]),
            Binary::Min => self.call("min", &[x, y]),
            Binary::Max => self.call("max", &[x, y]),
            Binary::Gcd => self.call("gcd", &[x, y]),
            Binary::Atan2 => match self.language {
                Language::C => format!("atan2({x}, {y})"),
                Language::Rust => format!("f64::atan2({x}, {y})"),
            },
            Binary::Hypot => match self.language {
                Language::C => format!("sqrt({x} * {x} + {y} * {y})"),
                Language::Rust => format!("f64::sqrt({x} * {x} + {y} * {y})"),
            },
            Binary::Less => compared("<"),
            Binary::LessEqual => compared("<="),
            Binary::Greater => compared(">"),
            Binary::GreaterEqual => compared(">="),
            Binary::Equal => compared("=="),
            Binary::NotEqual => compared("!="),
            Binary::Xor => logic("!="),
            Binary::Both => logic("&&"),
            Binary::Either => logic("||"),
        }
    }

    fn opening(&mut self) {
        let (prefix, layout) = (self.prefix, *self.program.layout());
        let constant = format!("{}_SLOTS", prefix.to_ascii_uppercase());
        let remark = self.pick("//", "//");
        self.line(format!("{remark} {}", self.program.name().escape_default()));
        for region in Region::ALL {
            let range = layout.range(region);
            self.line(format!("{remark} {region:?}: m[{}] to before m[{}]", range.start, range.end));
        }
        for variable in self.program.variables() {
            if matches!(variable.span.start.region, Region::Input | Region::Output) {
                let range = layout.addresses(variable.span);
                let name = variable.name.escape_default();
                self.line(format!("{remark} {name}: m[{}], {} numbers", range.start, range.len()));
            }
        }
        let text = match self.language {
            Language::C => include_str!("opening.c.txt"),
            Language::Rust => include_str!("opening.rs.txt"),
        };
        let text = text.replace("PREFIX_SLOTS", &constant).replace("PREFIX", prefix);
        self.text.push_str(&text.replace("TOTAL", &layout.total().max(1).to_string()));
        self.text.push('\n');
    }

    fn start(&mut self) {
        let signature = match self.language {
            Language::C => format!("void {}_start(double *m) {{", self.prefix),
            Language::Rust => format!("pub fn {}_start(m: &mut [f64]) {{", self.prefix),
        };
        self.open(signature);
        let memory = self.program.memory();
        self.open_count("k", &memory.all().len().to_string());
        self.line("m[k] = 0.0;");
        self.close("}");
        for (address, value) in memory.all().iter().enumerate() {
            if value.to_bits() != 0 {
                let value = self.number(*value);
                self.line(format!("m[{address}] = {value};"));
            }
        }
        self.close("}");
    }

    fn tick(&mut self) {
        let prefix = self.prefix;
        let signature = match self.language {
            Language::C => format!("int {prefix}_tick(double *m, double tick, {prefix}_fault *fault) {{"),
            Language::Rust => format!("pub fn {prefix}_tick(m: &mut [f64], tick: f64) -> Result<(), [u32; 3]> {{"),
        };
        self.open(signature);
        let rounds = self.number(f64::from(self.program.rounds_per_tick()));
        self.line(format!("{} rounds{} = {rounds};", self.pick("double", "let mut"), self.pick("", ": f64")));
        self.line(self.pick("(void)tick; (void)rounds;", "let _ = (tick, &mut rounds);"));
        let scratch = self.program.layout().range(Region::Scratch);
        self.open_count("k", &scratch.len().to_string());
        self.line(format!("m[{} + k] = 0.0;", scratch.start));
        self.close("}");
        let program = self.program;
        for (number, step) in program.steps().iter().enumerate() {
            self.step = u32::try_from(number).unwrap_or(u32::MAX);
            self.line(format!("// {}", step.name.escape_default()));
            self.body(&step.body);
        }
        self.open_count("k", &program.layout().saved().to_string());
        match program.non_finite() {
            NonFinite::Fault => {
                let size = self.pick("fabs(m[k])", "m[k].abs()");
                self.open_if(&format!("!({size} < {})", self.number(f64::INFINITY)));
                self.fault(NOT_FINITE, 0);
            }
            NonFinite::Keep => {
                self.open_if(self.pick("isnan(m[k])", "m[k].is_nan()"));
                let nan = self.number(f64::NAN);
                self.line(format!("m[k] = {nan};"));
            }
        }
        self.close("}");
        self.close("}");
        self.line(self.pick("return 0;", "Ok(())"));
        self.close("}");
    }
}

/// Kinds of faults in exported text.
const INDEX: u32 = 1;
const LOOP_BOUNDS: u32 = 2;
const ROUNDS: u32 = 3;
const REQUIRED: u32 = 4;
const NOT_FINITE: u32 = 8;
