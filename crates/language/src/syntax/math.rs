//! Behaviour: statements.

use super::ast::{BinaryOp, Expr, ExprKind, Name, Optimize, Stmt, StmtKind, Type};
use super::parser::Parser;
use super::{Kind, Span};
use crate::diagnostic::{Code, Problem};

/// Words that may stand before a type and say something about a matrix; they change nothing here.
const PROPERTIES: [&str; 12] =
    ["diag", "psd", "pd", "nsd", "nd", "herm", "skewHerm", "norm", "invertible", "sym", "pos", "square"];

fn begins_statement(word: &str) -> bool {
    matches!(word, "static" | "for" | "if" | "while" | "end" | "else" | "elseif" | "minimize" | "maximize" | "subject")
}

impl Parser<'_> {
    /// Statements up to a word or sign that ends them.
    pub(super) fn statements(&mut self) -> Vec<Stmt> {
        let mut body = Vec::new();
        loop {
            if self.at_end() || self.at_sign("}") || matches!(self.word(), Some("end" | "else" | "elseif")) {
                return body;
            }
            if self.eat(";") {
                continue;
            }
            let before = self.mark();
            match self.deeper(Self::statement) {
                Some(stmt) => body.push(stmt),
                None => {
                    if self.mark() == before && !self.at_end() && !self.word().is_some_and(begins_statement) {
                        self.take();
                    }
                    self.recover(begins_statement);
                    if self.mark() == before {
                        self.take();
                    }
                }
            }
        }
    }

    fn statement(&mut self) -> Option<Stmt> {
        let start = self.here();
        let kind = match self.word() {
            Some("for") => self.for_loop()?,
            Some("while") => self.while_loop()?,
            Some("if") => self.if_chain()?,
            Some("minimize" | "maximize") => self.optimize()?,
            Some("break" | "return" | "continue") if self.sign_after(1, ";") => {
                let word = self.word().unwrap_or_default().to_owned();
                let told = Problem::error(Code::NotSupported, start, format!("`{word}` is not part of the language"));
                self.problems.push(told.help("say it with `if … end`"));
                self.take();
                self.take();
                StmtKind::Equation
            }
            Some("symbolic") => {
                self.recover(|_| false);
                StmtKind::Equation
            }
            _ if self.begins_declaration() => self.declaration()?,
            _ => self.assignment()?,
        };
        Some(Stmt { span: start.to(self.last()), kind })
    }

    /// Words about a matrix before its type.
    pub(super) fn properties(&mut self) {
        while self.word().is_some_and(|word| PROPERTIES.contains(&word)) && matches!(self.kind_after(1), Kind::Word) {
            self.take();
        }
    }

    fn declaration(&mut self) -> Option<StmtKind> {
        let keep = self.eat_word("static");
        self.properties();
        let ty = self.ty()?;
        let mut names = Vec::new();
        loop {
            let name = self.name("the name of the variable")?;
            let first = if self.eat("=") { Some(self.expr()?) } else { None };
            names.push((name, first));
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";", "after the declaration");
        Some(StmtKind::Declare { keep, ty, names })
    }

    fn assignment(&mut self) -> Option<StmtKind> {
        let target = self.expr()?;
        let op = match self.token().kind {
            Kind::Sign("=") => None,
            Kind::Sign("+=") => Some(BinaryOp::Add),
            Kind::Sign("-=") => Some(BinaryOp::Subtract),
            Kind::Sign("*=") => Some(BinaryOp::Multiply),
            Kind::Sign("/=") => Some(BinaryOp::Divide),
            Kind::Sign(sign @ ("++" | "--")) => {
                let span = self.take();
                self.expect(";", "after the statement");
                let op = if sign == "++" { BinaryOp::Add } else { BinaryOp::Subtract };
                let value = Expr { span, kind: ExprKind::Number { value: 1.0, unit: None } };
                return Some(StmtKind::Assign { target, op: Some(op), value });
            }
            Kind::Sign("~") if self.sign_after(1, "=") => {
                self.recover(|_| false);
                return Some(StmtKind::Equation);
            }
            _ => return self.lone_expression(target),
        };
        self.take();
        let value = self.expr()?;
        self.expect(";", "after the statement");
        if is_initial(&target) {
            return Some(StmtKind::Equation);
        }
        Some(StmtKind::Assign { target, op, value })
    }

    /// An expression where a statement should be: an equation, a call, or a mistake.
    fn lone_expression(&mut self, expr: Expr) -> Option<StmtKind> {
        let constraint = matches!(
            expr.kind,
            ExprKind::Binary(BinaryOp::LessEqual | BinaryOp::GreaterEqual | BinaryOp::Less | BinaryOp::Greater, ..)
        );
        if constraint && self.constraints > 0 {
            self.expect(";", "after the condition");
            return Some(StmtKind::Call(expr));
        }
        if matches!(expr.kind, ExprKind::Binary(BinaryOp::Equal, ..)) {
            self.expect(";", "after the equation");
            return Some(if self.constraints > 0 { StmtKind::Call(expr) } else { StmtKind::Equation });
        }
        if matches!(expr.kind, ExprKind::Call(..)) {
            self.expect(";", "after the call");
            return Some(StmtKind::Call(expr));
        }
        let found = self.found();
        let told = Problem::error(Code::Expected, self.here(), format!("expected `=` after the target, found {found}"));
        let help = if self.at_sign("[") {
            "an index stands in round brackets: `a(i)`"
        } else {
            "a statement is `target = value;`"
        };
        self.tell(told.help(help));
        None
    }

    fn for_loop(&mut self) -> Option<StmtKind> {
        let start = self.take();
        let bracket = self.at_sign("(") && self.sign_after(2, "=");
        if bracket {
            self.take();
        }
        let counter = self.name("the counter of the loop")?;
        if !self.expect("=", "after the counter of the loop") {
            return None;
        }
        let through = self.expr()?;
        if bracket {
            self.expect(")", "after the range of the loop");
        }
        self.no_brace();
        let body = self.statements();
        self.close(start, "for");
        Some(StmtKind::For { counter, through, body })
    }

    fn while_loop(&mut self) -> Option<StmtKind> {
        let start = self.take();
        let condition = self.expr()?;
        let body = self.statements();
        self.close(start, "while");
        Some(StmtKind::While { condition, body })
    }

    fn if_chain(&mut self) -> Option<StmtKind> {
        let start = self.here();
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            self.take();
            let condition = self.expr()?;
            if self.at_sign("=") {
                let told = Problem::error(Code::Expected, self.here(), "expected a comparison, found `=`");
                self.tell(told.help("write `==` to compare"));
                return None;
            }
            self.no_brace();
            arms.push((condition, self.statements()));
            if self.at_word("else") && self.word_after(1) == Some("if") && self.on_this_line() {
                self.tell(
                    Problem::error(Code::Expected, self.here(), "`else if` is written in one word")
                        .help("write `elseif`"),
                );
                self.take();
                continue;
            }
            if self.at_word("elseif") {
                continue;
            }
            if self.eat_word("else") {
                otherwise = Some(self.statements());
            }
            break;
        }
        self.close(start, "if");
        Some(StmtKind::If { arms, otherwise })
    }

    /// Whether the next word is on the line of this one; `else` + line end + `if` is a nested `if`.
    fn on_this_line(&mut self) -> bool {
        let mark = self.mark();
        self.take();
        let same = !self.fresh_line();
        self.reset(mark);
        // An `if` nested in an `else` has its own `end`; look whether one more follows than the chain needs.
        same && !self.nested_if_closes()
    }

    /// Counts on from `else if` to see whether that `if` has an `end` of its own.
    fn nested_if_closes(&mut self) -> bool {
        let mark = self.mark();
        self.take();
        let (mut open, mut ends) = (0usize, 0usize);
        while !self.at_end() && !self.at_sign("}") && !self.at_word("implementation") {
            match self.word() {
                Some("if" | "for" | "while" | "minimize" | "maximize") => open += 1,
                Some("end") if !matches!(self.kind_after(1), Kind::Sign(")" | "-" | "," | "/")) => ends += 1,
                _ => {}
            }
            self.take();
        }
        self.reset(mark);
        ends > open
    }

    /// A `{` after the head of a block is a slip of those who know other languages.
    fn no_brace(&mut self) {
        if self.at_sign("{") {
            self.tell(
                Problem::error(Code::Stray, self.here(), "blocks have no braces here")
                    .help("leave out `{`, and write `end` instead of `}`"),
            );
            self.take();
        }
    }

    fn close(&mut self, start: Span, what: &str) {
        if self.eat_word("end") {
            self.eat(";");
            return;
        }
        let told = Problem::error(Code::Unclosed, start, format!("this `{what}` has no `end`, found {}", self.found()));
        self.tell(told.help("add `end`"));
    }

    fn optimize(&mut self) -> Option<StmtKind> {
        let start = self.here();
        let maximize = self.at_word("maximize");
        self.take();
        if self.at_sign("<") {
            let told = Problem::error(Code::NotSupported, self.here(), "optimising over a horizon is not supported");
            self.tell(told.help("write one unknown with an element for each step, as in `minimize Q^{1,10} u;`"));
            return None;
        }
        let bracket = self.eat("(");
        let mut unknowns: Vec<(Type, Name)> = Vec::new();
        loop {
            let ty = self.ty()?;
            unknowns.push((ty, self.name("the name of the unknown")?));
            if !self.eat(",") {
                break;
            }
        }
        if bracket {
            self.expect(")", "after the unknowns");
        }
        self.eat(";");
        if !self.eat_word("in") {
            self.tell_expected("`in` before what is made best");
            return None;
        }
        let result = self.optimum()?;
        let objective = self.expr()?;
        self.expect(";", "after what is made best");
        let mut constraints = Vec::new();
        if self.eat_word("subject") {
            if !self.eat_word("to") {
                self.tell_expected("`to` after `subject`");
            }
            self.constraints += 1;
            constraints = self.statements();
            self.constraints -= 1;
        }
        self.close(start, if maximize { "maximize" } else { "minimize" });
        Some(StmtKind::Optimize(Box::new(Optimize { maximize, unknowns, result, objective, constraints })))
    }

    /// `Q y =` or `y =` before the objective.
    #[expect(
        clippy::option_option,
        reason = "the outer one says that reading failed, the inner one that nothing is there"
    )]
    fn optimum(&mut self) -> Option<Option<(Option<Type>, Name)>> {
        if self.begins_declaration() {
            let ty = self.ty()?;
            let name = self.name("the name of the best value")?;
            return self.expect("=", "after the name of the best value").then_some(Some((Some(ty), name)));
        }
        if self.token().kind == Kind::Word && self.sign_after(1, "=") {
            let name = self.name("the name of the best value")?;
            self.take();
            return Some(Some((None, name)));
        }
        Some(None)
    }
}

/// `x(t=0)`: the initial value of an equation.
fn is_initial(target: &Expr) -> bool {
    let ExprKind::Call(_, args) = &target.kind else { return false };
    matches!(args.as_slice(), [Expr { kind: ExprKind::Binary(BinaryOp::Equal, ..), .. }])
}
