//! Types: `Q(0 m : 0.1 m : oo m)^{2,3}`, `And<2>`, `[ (0:1) (5:6) ]`.

use super::ast::{Arg, Base, Expr, ExprKind, GenericArg, GenericValue, Path, Range, Type};
use super::parser::Parser;
use super::{Kind, Span};
use crate::diagnostic::{Code, Problem};

/// The built-in type of a word, older spellings included.
pub(super) fn built_in(word: &str) -> Option<Base> {
    Some(match word {
        "Q" | "Double" | "double" | "Number" | "Float" | "float" => Base::Rational,
        "Z" | "Integer" | "int" | "Long" | "Short" | "Byte" => Base::Integer,
        "N" | "N0" => Base::Natural,
        "N1" => Base::Positive,
        "C" => Base::Complex,
        "B" | "Boolean" | "boolean" | "bool" | "Bool" => Base::Boolean,
        "String" | "Character" => Base::Text,
        _ => return None,
    })
}

impl Parser<'_> {
    /// A type, with everything that can follow its name.
    pub(super) fn ty(&mut self) -> Option<Type> {
        self.deeper(Self::ty_inside)
    }

    fn ty_inside(&mut self) -> Option<Type> {
        let start = self.here();
        let mut ty = Type { span: start, base: Base::Rational, args: vec![], ranges: vec![], dims: vec![] };
        if self.at_sign("(") {
            ty.ranges.push(self.range()?);
        } else if self.at_sign("[") {
            self.take();
            while self.at_sign("(") {
                ty.ranges.push(self.range()?);
            }
            self.expect("]", "after the ranges");
        } else {
            let word = self.word();
            if word.is_none() {
                self.tell_expected("a type");
                return None;
            }
            match word.and_then(built_in).filter(|_| !self.sign_after(1, ".")) {
                Some(base) => {
                    ty.base = base;
                    self.take();
                }
                None => ty.base = Base::Named(self.path()?),
            }
            if self.at_sign("<") {
                ty.args = self.generic_args()?;
            }
            if self.at_sign("(") && !matches!(ty.base, Base::Named(_)) {
                ty.ranges.push(self.range()?);
            } else if self.at_sign("[") && self.sign_after(1, "(") {
                self.take();
                while self.at_sign("(") {
                    ty.ranges.push(self.range()?);
                }
                self.expect("]", "after the ranges");
            }
        }
        if self.at_sign("^") {
            ty.dims = self.dims()?;
        }
        if self.at_sign("(") && ty.ranges.is_empty() && !ty.dims.is_empty() {
            ty.ranges.push(self.range()?);
        }
        ty.span = start.to(self.last());
        Some(ty)
    }

    /// `^5` or `^{2,3}`.
    fn dims(&mut self) -> Option<Vec<Expr>> {
        self.take();
        if !self.eat("{") {
            return self.dim().map(|dim| vec![dim]);
        }
        let mut dims = Vec::new();
        while !self.at_sign("}") && !self.at_end() {
            dims.push(self.dim_sum()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}", "after the dimensions");
        Some(dims)
    }

    /// One dimension: `5` or `n`; never `5 h`.
    fn dim(&mut self) -> Option<Expr> {
        let span = self.here();
        match self.bare_number() {
            Some(value) => Some(Expr { span, kind: ExprKind::Number { value, unit: None } }),
            None => self.atom(),
        }
    }

    /// One dimension in braces: a lone number, or a sum.
    fn dim_sum(&mut self) -> Option<Expr> {
        if self.token().kind == Kind::Number && (self.sign_after(1, ",") || self.sign_after(1, "}")) {
            return self.dim();
        }
        self.additive()
    }

    /// `(low : step : high)`; a unit may follow the last bound or the bracket.
    pub(super) fn range(&mut self) -> Option<Range> {
        let start = self.here();
        self.expect("(", "before the range");
        let was = std::mem::replace(&mut self.in_matrix, false);
        let low = self.additive()?;
        if !self.expect(":", "between the bounds of the range") {
            return None;
        }
        let mut high = self.additive()?;
        let mut step = None;
        if self.eat(":") {
            step = Some(std::mem::replace(&mut high, self.additive()?));
        }
        self.in_matrix = was;
        if !self.expect(")", "after the range") {
            return None;
        }
        Some(Range { span: start.to(self.last()), low, step, high })
    }

    /// `<Q, 3, n*2>`; stands on `<`.
    pub(super) fn generic_args(&mut self) -> Option<Vec<GenericArg>> {
        self.take();
        let mut args = Vec::new();
        while !self.at_sign(">") && !self.at_end() {
            let name = if self.token().kind == Kind::Word && self.sign_after(1, "=") {
                let name = self.name("a name");
                self.take();
                name
            } else {
                None
            };
            let value = self.generic_value()?;
            args.push(GenericArg { name, value });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(">", "after the generic arguments").then_some(args)
    }

    fn generic_value(&mut self) -> Option<GenericValue> {
        let mark = self.mark();
        let told = self.problems.len();
        let word = self.word();
        let type_like =
            self.at_sign("(") || word.is_some_and(|w| built_in(w).is_some() || !matches!(w, "true" | "false" | "oo"));
        if type_like
            && let Some(ty) = self.ty()
            && self.problems.len() == told
            && (self.at_sign(",") || self.at_sign(">"))
        {
            return Some(GenericValue::Type(ty));
        }
        self.reset(mark);
        self.problems.truncate(told);
        self.forget_telling();
        self.additive().map(GenericValue::Value)
    }

    /// `(a, name = b)`; stands on `(`.
    pub(super) fn args(&mut self) -> Option<Vec<Arg>> {
        self.take();
        let was = std::mem::replace(&mut self.in_matrix, false);
        let mut args = Vec::new();
        while !self.at_sign(")") && !self.at_end() {
            let named = self.token().kind == Kind::Word && self.sign_after(1, "=");
            let name = if named { self.name("a name") } else { None };
            if named {
                self.take();
            }
            args.push(Arg { name, value: self.expr()? });
            if !self.eat(",") {
                break;
            }
        }
        self.in_matrix = was;
        self.expect(")", "after the arguments").then_some(args)
    }

    /// Whether a declaration `type name` stands here, and not an expression.
    pub(super) fn begins_declaration(&mut self) -> bool {
        let Some(word) = self.word() else { return self.at_sign("(") && self.range_then_name() };
        if matches!(word, "static" | "symbolic") {
            return true;
        }
        let known = built_in(word).is_some();
        match self.kind_after(1) {
            Kind::Word => true,
            Kind::Sign("(" | "^") if known => self.type_then_name(),
            Kind::Sign("[") if known && self.sign_after(2, "(") => true,
            Kind::Sign("<") | Kind::Sign(".") => self.type_then_name(),
            _ => false,
        }
    }

    fn range_then_name(&mut self) -> bool {
        self.type_then_name()
    }

    /// Reads ahead a type, then puts everything back.
    fn type_then_name(&mut self) -> bool {
        let (mark, told) = (self.mark(), self.problems.len());
        let found = self.ty().is_some() && self.problems.len() == told && self.token().kind == Kind::Word;
        self.reset(mark);
        self.problems.truncate(told);
        self.forget_telling();
        found
    }

    /// A struct or component type by name only.
    pub(super) fn named_type(&mut self, what: &str) -> Option<Type> {
        let start = self.here();
        if self.token().kind != Kind::Word {
            self.tell_expected(what);
            return None;
        }
        let path: Path = self.path()?;
        let args = if self.at_sign("<") { self.generic_args()? } else { vec![] };
        let span: Span = start.to(self.last());
        Some(Type { span, base: Base::Named(path), args, ranges: vec![], dims: vec![] })
    }

    /// Refuses a word that cannot stand here by its name.
    pub(super) fn refuse(&mut self, code: Code, span: Span, message: &str, help: &str) {
        self.problems.push(Problem::error(code, span, message).help(help));
    }
}
