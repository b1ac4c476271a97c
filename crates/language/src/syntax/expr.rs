//! Expressions, by binding power.

use super::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use super::parser::{HEIGHT_MAX, Parser};
use super::{Kind, Span};
use crate::diagnostic::{Code, Problem};
use crate::units::Unit;

/// Binding power of `:`; what binds more strongly can stand in a range.
const RANGE: u8 = 5;
const UNARY: u8 = 8;

fn binary(sign: &str) -> Option<(BinaryOp, u8)> {
    Some(match sign {
        "||" => (BinaryOp::Or, 1),
        "&&" => (BinaryOp::And, 2),
        "==" => (BinaryOp::Equal, 3),
        "!=" | "~=" => (BinaryOp::Unequal, 3),
        "<" => (BinaryOp::Less, 4),
        ">" => (BinaryOp::Greater, 4),
        "<=" => (BinaryOp::LessEqual, 4),
        ">=" => (BinaryOp::GreaterEqual, 4),
        "+" => (BinaryOp::Add, 6),
        "-" => (BinaryOp::Subtract, 6),
        "*" => (BinaryOp::Multiply, 7),
        "/" => (BinaryOp::Divide, 7),
        "%" => (BinaryOp::Modulo, 7),
        ".*" => (BinaryOp::EachMultiply, 7),
        "./" => (BinaryOp::EachDivide, 7),
        "\\" => (BinaryOp::Solve, 7),
        "^" => (BinaryOp::Power, 9),
        ".^" => (BinaryOp::EachPower, 9),
        _ => return None,
    })
}

impl Parser<'_> {
    /// A whole expression.
    pub(super) fn expr(&mut self) -> Option<Expr> {
        self.stronger(0)
    }

    /// An expression without comparison and range: for bounds, dimensions and generic arguments.
    pub(super) fn additive(&mut self) -> Option<Expr> {
        self.stronger(RANGE + 1)
    }

    /// An expression whose operators bind at least so strongly.
    fn stronger(&mut self, power: u8) -> Option<Expr> {
        self.deeper(|p| p.operators(power))
    }

    fn operators(&mut self, power: u8) -> Option<Expr> {
        let mut left = self.prefix()?;
        let mut height = self.height;
        loop {
            self.height = height;
            if self.at_sign(":") && power <= RANGE && !self.in_stream {
                left = self.rest_of_range(left)?;
                height = self.higher(height)?;
                continue;
            }
            let Kind::Sign(sign) = self.token().kind else { return Some(left) };
            let Some((op, strength)) = binary(sign) else { return Some(left) };
            if strength < power || self.separates_entries(sign) {
                return Some(left);
            }
            self.take();
            let right = self.stronger(strength + 1)?;
            left = Expr { span: left.span.to(right.span), kind: ExprKind::Binary(op, left.into(), right.into()) };
            height = self.higher(height)?;
        }
    }

    /// One more than this and the expression read last, or a told problem.
    fn higher(&mut self, height: usize) -> Option<usize> {
        let height = height.max(self.height) + 1;
        if height > HEIGHT_MAX {
            let told = Problem::error(Code::TooDeep, self.here(), "an expression of too many terms");
            self.tell(told.help("split it into several statements"));
            return None;
        }
        self.height = height;
        Some(height)
    }

    /// In `[a -b]` the sign begins a new entry, in `[a - b]` and `[a-b]` it does not.
    fn separates_entries(&self, sign: &str) -> bool {
        self.in_matrix && matches!(sign, "+" | "-") && self.spaced() && !self.spaced_after(1)
    }

    fn rest_of_range(&mut self, low: Expr) -> Option<Expr> {
        self.take();
        let second = self.additive()?;
        let (step, high) = if self.eat(":") { (Some(Box::new(second)), self.additive()?) } else { (None, second) };
        Some(Expr { span: low.span.to(high.span), kind: ExprKind::Range(low.into(), step, high.into()) })
    }

    fn prefix(&mut self) -> Option<Expr> {
        let op = match self.token().kind {
            Kind::Sign("-") => UnaryOp::Negate,
            Kind::Sign("!" | "~") => UnaryOp::Not,
            Kind::Sign("+") => UnaryOp::Plus,
            _ => return self.postfix(),
        };
        let start = self.take();
        let inner = self.stronger(UNARY)?;
        self.higher(0)?;
        Some(Expr { span: start.to(inner.span), kind: ExprKind::Unary(op, inner.into()) })
    }

    fn postfix(&mut self) -> Option<Expr> {
        let mut expr = self.atom()?;
        loop {
            let height = self.height;
            self.height = 0;
            let apart = self.in_matrix && self.spaced();
            let kind = match self.token().kind {
                Kind::Sign("(") if !apart && callable(&expr) => {
                    ExprKind::Call(Box::new(expr.clone()), self.call_args()?)
                }
                Kind::Sign(".") if matches!(self.kind_after(1), Kind::Word) && !apart => {
                    self.take();
                    ExprKind::Field(Box::new(expr.clone()), self.name("a field")?)
                }
                Kind::Sign("'" | ".'") if !self.spaced() => {
                    self.take();
                    ExprKind::Transpose(Box::new(expr.clone()))
                }
                _ => {
                    self.height = height;
                    return Some(expr);
                }
            };
            expr = Expr { span: expr.span.to(self.last()), kind };
            self.higher(height)?;
        }
    }

    /// `(a, :, 1:end)`; stands on `(`.
    fn call_args(&mut self) -> Option<Vec<Expr>> {
        self.take();
        let was = (std::mem::replace(&mut self.in_matrix, false), std::mem::replace(&mut self.in_stream, false));
        self.calls += 1;
        let args = self.call_args_inside();
        self.calls -= 1;
        (self.in_matrix, self.in_stream) = was;
        let args = args?;
        self.expect(")", "after the arguments").then_some(args)
    }

    fn call_args_inside(&mut self) -> Option<Vec<Expr>> {
        let mut args = Vec::new();
        let mut height = 0;
        while !self.at_sign(")") && !self.at_end() {
            if self.at_sign(":") && (self.sign_after(1, ",") || self.sign_after(1, ")")) {
                args.push(Expr { span: self.take(), kind: ExprKind::Colon });
            } else {
                let mut arg = self.expr()?;
                if self.eat("=") {
                    let right = self.expr()?;
                    let span = arg.span.to(right.span);
                    arg = Expr { span, kind: ExprKind::Binary(BinaryOp::Equal, arg.into(), right.into()) };
                }
                args.push(arg);
                height = height.max(self.height + 1);
            }
            if !self.eat(",") {
                break;
            }
        }
        self.height = height;
        Some(args)
    }

    /// A number, a name, a bracket.
    pub(super) fn atom(&mut self) -> Option<Expr> {
        let span = self.here();
        self.height = 0;
        match self.token().kind {
            Kind::Number => self.quantity(),
            Kind::Text => {
                self.take();
                let text = self.text_of(span);
                if text.len() < 2 || !text.ends_with('"') {
                    self.tell(Problem::error(Code::Unclosed, span, "this text is never closed").help("add `\"`"));
                }
                Some(Expr { span, kind: ExprKind::Text(text.trim_matches('"').to_owned()) })
            }
            Kind::Word => self.word_atom(span),
            Kind::Sign("(") => self.bracket(),
            Kind::Sign("[") => self.matrix(),
            _ => {
                self.tell_expected("a value");
                None
            }
        }
    }

    fn word_atom(&mut self, span: Span) -> Option<Expr> {
        let word = self.text_of(span);
        let kind = match word {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "oo" => {
                self.take();
                let unit = self.unit();
                return Some(Expr { span: span.to(self.last()), kind: ExprKind::Infinity(unit) });
            }
            "end" if self.calls > 0 => ExprKind::End,
            "end" | "else" | "elseif" => {
                self.tell_expected("a value");
                return None;
            }
            "minimize" | "maximize" => {
                let told = Problem::error(Code::Expected, span, format!("`{word}` is a statement, not a value"));
                self.tell(told.help(format!("write `{word} Q x; in Q y = …; subject to … end`, then use `y`")));
                return None;
            }
            _ => ExprKind::Name(word.to_owned()),
        };
        self.take();
        Some(Expr { span, kind })
    }

    fn bracket(&mut self) -> Option<Expr> {
        let start = self.take();
        let was = (std::mem::replace(&mut self.in_matrix, false), std::mem::replace(&mut self.in_stream, false));
        let inside = self.expr();
        (self.in_matrix, self.in_stream) = was;
        let mut inside = inside?;
        if !self.expect(")", "after the expression") {
            return None;
        }
        inside.span = start.to(self.last());
        Some(inside)
    }

    fn matrix(&mut self) -> Option<Expr> {
        let start = self.take();
        let was = std::mem::replace(&mut self.in_matrix, true);
        let rows = self.rows(Self::expr);
        self.in_matrix = was;
        let rows = rows?;
        Some(Expr { span: start.to(self.last()), kind: ExprKind::Matrix(rows) })
    }

    /// Rows up to `]`: entries apart by `,` or blanks, rows by `;`.
    pub(super) fn rows<T>(&mut self, entry: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<Vec<T>>> {
        let mut rows = vec![Vec::new()];
        let mut height = 0;
        loop {
            if self.eat("]") {
                if rows.last().is_some_and(Vec::is_empty) {
                    rows.pop();
                }
                self.height = height;
                return Some(rows);
            }
            if self.at_end() {
                self.tell_expected("`]` after the matrix");
                return None;
            }
            if self.eat(";") {
                rows.push(Vec::new());
                continue;
            }
            let value = entry(self)?;
            height = height.max(self.height + 1);
            if let Some(row) = rows.last_mut() {
                row.push(value);
            }
            self.eat(",");
        }
    }

    /// A number as written, without looking for a unit.
    pub(super) fn bare_number(&mut self) -> Option<f64> {
        if self.token().kind != Kind::Number {
            return None;
        }
        let span = self.take();
        let text = self.text_of(span);
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            return u64::from_str_radix(digits, 16).ok().map(|value| value as f64);
        }
        text.replace('\'', "").parse().ok().filter(|v: &f64| v.is_finite())
    }

    /// `5`, `5 m/s`, `45°`.
    fn quantity(&mut self) -> Option<Expr> {
        let start = self.here();
        let Some(value) = self.bare_number() else {
            self.problems.push(Problem::error(Code::Expected, start, "this number is too large"));
            return None;
        };
        let unit = self.unit();
        let value = unit.map_or(value, |unit| unit.to_si(value));
        Some(Expr { span: start.to(self.last()), kind: ExprKind::Number { value, unit } })
    }

    /// The unit here, if one stands here: on the same line, a known name, and nothing that makes it a variable.
    fn unit(&mut self) -> Option<Unit> {
        if self.fresh_line() {
            return None;
        }
        let start = self.here();
        if self.token().kind == Kind::Number && self.in_range_of_units() {
            self.take();
            return self.rest_of_unit(start);
        }
        let name = self.word()?;
        if matches!(self.kind_after(1), Kind::Sign("=" | "(" | "+=" | "-=" | "*=" | "/=" | "++" | "--"))
            || (self.sign_after(1, ".") && self.spaced())
        {
            return None;
        }
        if Unit::named(name.trim_end_matches(['²', '³'])).is_none() {
            self.tell_unknown_unit(name, start);
            return None;
        }
        self.take();
        self.rest_of_unit(start)
    }

    /// `1/s` after a number: a one, a slash and a unit, without blanks.
    fn in_range_of_units(&self) -> bool {
        self.text_of(self.here()) == "1"
            && self.spaced()
            && self.sign_after(1, "/")
            && !self.spaced_after(1)
            && !self.spaced_after(2)
            && self.word_after(2).is_some_and(|name| Unit::named(name).is_some())
    }

    /// A word right behind a number is meant as a unit, unless it goes on as something else.
    fn tell_unknown_unit(&mut self, name: &str, span: Span) {
        if !self.spaced() && !matches!(name, "end" | "tick" | "else" | "elseif" | "for" | "if" | "subject") {
            self.take();
            let known =
                ["m", "km", "cm", "mm", "s", "ms", "h", "min", "kg", "g", "km/h", "m/s", "deg", "rad", "Hz", "N"];
            let told = Problem::error(Code::UnknownUnit, span, format!("`{name}` is no unit"));
            self.problems.push(match name {
                "kmh" | "kph" => told.help("write `km/h`"),
                "mps" | "ms1" => told.help("write `m/s`"),
                "sec" | "sek" => told.help("write `s`"),
                "mph" => told.help("write `mi/h`"),
                _ => told.did_you_mean(name, known),
            });
        }
    }

    fn rest_of_unit(&mut self, start: Span) -> Option<Unit> {
        loop {
            let close = !self.spaced() && !self.spaced_after(1);
            let next = self.word_after(1).is_some_and(|name| Unit::named(name.trim_end_matches(['²', '³'])).is_some());
            let calls = matches!(self.kind_after(2), Kind::Sign("(")) && !self.spaced_after(2);
            let factor = next && !calls && (self.at_sign("/") || self.at_sign("*"));
            let power = self.at_sign("^") && self.kind_after(1) == Kind::Number;
            let below = self.at_sign("^") && self.sign_after(1, "-") && self.kind_after(2) == Kind::Number;
            if !close || !(factor || power || below) {
                break;
            }
            for _ in 0..if below { 3 } else { 2 } {
                self.take();
            }
        }
        let span = start.to(self.last());
        let text = self.text_of(span);
        match text.parse() {
            Ok(unit) => Some(unit),
            Err(crate::units::UnknownUnit(part)) => {
                self.problems.push(Problem::error(Code::UnknownUnit, span, format!("`{part}` in `{text}` is no unit")));
                None
            }
        }
    }
}

fn callable(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Call(..))
}
