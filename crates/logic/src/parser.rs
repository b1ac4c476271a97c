//! From the text of a formula to the tree as it was written: a Pratt parser.
//!
//! ```text
//! implies                       lowest, groups to the right
//! or
//! and
//! until[..]  release[..]  since[..]
//! not  always[..]  eventually[..]  historically[..]  once[..]
//! < <= > >= == !=
//! + -
//! * /
//! signal   0.1 m   abs(x)   min(x, y)   max(x, y)   settles(a, 2 s, 1 s)   ( … )   highest
//! ```

use anabranch_kernel::units::{Dimension, Unit};

use crate::formula::{Bounds, Comparison, Link, SignalKind, Window};
use crate::lexer::{Token, words};
use crate::text::{FormulaError, Span, nearest};

/// Arithmetic of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Sum,
    Difference,
    Product,
    Quotient,
    Smaller,
    Larger,
}

/// Conditions of two conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    And,
    Or,
    Implies,
}

/// An expression as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Written {
    Constant(bool),
    Signal(usize),
    Quantity(f64, Option<&'static Unit>),
    Negated(Box<Tree>),
    Magnitude(Box<Tree>),
    Arithmetic(Arithmetic, Box<Tree>, Box<Tree>),
    Compare(Comparison, Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    Joint(Joint, Box<Tree>, Box<Tree>),
    Window(Window, Bounds, Box<Tree>),
    Link(Link, Bounds, Box<Tree>, Box<Tree>),
}

/// A node with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    pub(crate) node: Written,
    pub(crate) at: Span,
}

/// Deepest nesting of anything in anything.
const NESTING_MAX: usize = 64;
/// How strongly operators bind.
const IMPLIES: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const LINK: u8 = 4;
const NOT: u8 = 5;
const COMPARE: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const SIGN: u8 = 9;

/// What joins a left to a right side.
#[derive(Clone, Copy)]
enum Infix {
    Arithmetic(Arithmetic),
    Compare(Comparison),
    Joint(Joint),
    Link(Link),
}

struct Parser<'t> {
    words: Vec<(Token<'t>, Span)>,
    next: usize,
    end: Span,
    nesting: usize,
    signals: &'t [(&'t str, SignalKind)],
}

/// The tree of a text over a table of signals.
pub(crate) fn parse<'t>(text: &'t str, signals: &'t [(&'t str, SignalKind)]) -> Result<Tree, FormulaError> {
    let end = Span { offset: text.len(), length: 0 };
    let mut parser = Parser { words: words(text)?, next: 0, end, nesting: 0, signals };
    let tree = parser.expression(0)?;
    match parser.peek() {
        None => Ok(tree),
        Some((Token::Close, at)) => Err(FormulaError::new(at, "this parenthesis was never opened")),
        Some((_, at)) => Err(FormulaError::new(at, "the expression is complete before this")
            .suggest("join two conditions by `and`, `or`, `implies` or `until`")),
    }
}

fn window_of(name: &str) -> Option<Window> {
    match name.trim_end_matches('_') {
        "always" | "globally" | "G" => Some(Window::Always),
        "eventually" | "finally" | "F" => Some(Window::Eventually),
        "historically" | "H" => Some(Window::Historically),
        "once" | "O" => Some(Window::Once),
        _ => None,
    }
}

fn link_of(name: &str) -> Option<Link> {
    match name.trim_end_matches('_') {
        "until" | "U" => Some(Link::Until),
        "release" | "R" => Some(Link::Release),
        "since" | "S" => Some(Link::Since),
        _ => None,
    }
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<(Token<'t>, Span)> {
        self.words.get(self.next).copied()
    }
    fn take(&mut self) -> Option<(Token<'t>, Span)> {
        self.next += 1;
        self.words.get(self.next - 1).copied()
    }

    fn infix(token: Token<'_>) -> Option<(Infix, u8)> {
        Some(match token {
            Token::Implies => (Infix::Joint(Joint::Implies), IMPLIES),
            Token::Or => (Infix::Joint(Joint::Or), OR),
            Token::And => (Infix::Joint(Joint::And), AND),
            Token::Name(name) => (Infix::Link(link_of(name)?), LINK),
            Token::Compare(comparison) => (Infix::Compare(comparison), COMPARE),
            Token::Plus => (Infix::Arithmetic(Arithmetic::Sum), SUM),
            Token::Minus => (Infix::Arithmetic(Arithmetic::Difference), SUM),
            Token::Times => (Infix::Arithmetic(Arithmetic::Product), PRODUCT),
            Token::Over => (Infix::Arithmetic(Arithmetic::Quotient), PRODUCT),
            _ => return None,
        })
    }

    /// Everything that binds more strongly than `floor`.
    fn expression(&mut self, floor: u8) -> Result<Tree, FormulaError> {
        self.nesting += 1;
        let mut left = self.operand()?;
        while let Some((token, at)) = self.peek() {
            let Some((infix, power)) = Self::infix(token) else { break };
            if power <= floor {
                break;
            }
            if let (Infix::Compare(_), Written::Compare(..)) = (infix, &left.node) {
                return Err(FormulaError::new(at, "comparisons cannot be chained")
                    .suggest("write two of them: `a < b and b < c`"));
            }
            self.next += 1;
            let bounds = if matches!(infix, Infix::Link(_)) { self.bounds()? } else { Bounds::ALL };
            // An implication groups to the right, everything else to the left.
            let right = self.expression(if power == IMPLIES { power - 1 } else { power })?;
            let span = left.at.to(right.at);
            let (a, b) = (Box::new(left), Box::new(right));
            let node = match infix {
                Infix::Arithmetic(operator) => Written::Arithmetic(operator, a, b),
                Infix::Compare(comparison) => Written::Compare(comparison, a, b),
                Infix::Joint(joint) => Written::Joint(joint, a, b),
                Infix::Link(link) => Written::Link(link, bounds, a, b),
            };
            left = Tree { node, at: span };
        }
        self.nesting -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Tree, FormulaError> {
        let Some((token, at)) = self.take() else {
            return Err(FormulaError::new(self.end, "something is missing here")
                .suggest("a signal such as `ego.clearance` or a quantity such as `0.1 m`"));
        };
        if self.nesting > NESTING_MAX {
            return Err(FormulaError::new(at, format!("nested more than {NESTING_MAX} deep")));
        }
        match token {
            Token::Quantity(value, unit) => Ok(Tree { node: Written::Quantity(value, unit), at }),
            Token::Name(name) => self.named(name, at),
            Token::Not => self.prefixed(at, NOT, Written::Not),
            Token::Minus => self.prefixed(at, SIGN, Written::Negated),
            Token::Plus => self.expression(SIGN),
            Token::Open => {
                self.next -= 1;
                self.parenthesised(at, "(")
            }
            _ => Err(FormulaError::new(at, "a signal or a quantity is missing before this")),
        }
    }

    fn prefixed(&mut self, at: Span, power: u8, make: fn(Box<Tree>) -> Written) -> Result<Tree, FormulaError> {
        let inner = self.expression(power)?;
        Ok(Tree { at: at.to(inner.at), node: make(Box::new(inner)) })
    }

    /// What a name stands for: a signal, unless only an operator can stand here.
    fn named(&mut self, name: &'t str, at: Span) -> Result<Tree, FormulaError> {
        let is_signal = self.signals.iter().any(|(known, _)| *known == name);
        let has_bounds = matches!(self.peek(), Some((Token::OpenBracket | Token::Name("_"), _)));
        if let Some(window) = window_of(name).filter(|_| has_bounds || !is_signal) {
            let bounds = self.bounds()?;
            let inner = self.expression(NOT)?;
            return Ok(Tree { at: at.to(inner.at), node: Written::Window(window, bounds, Box::new(inner)) });
        }
        match name {
            _ if is_signal => self.signal(name, at),
            "true" => Ok(Tree { node: Written::Constant(true), at }),
            "false" => Ok(Tree { node: Written::Constant(false), at }),
            "abs" => {
                let inner = self.parenthesised(at, "abs")?;
                Ok(Tree { at: at.to(inner.at), node: Written::Magnitude(Box::new(inner)) })
            }
            "settles" => self.settles(at),
            "min" => self.pair(at, Arithmetic::Smaller),
            "max" => self.pair(at, Arithmetic::Larger),
            _ => self.signal(name, at),
        }
    }

    /// `( expression )`; `before` is the place of the word that asks for it.
    fn parenthesised(&mut self, before: Span, word: &str) -> Result<Tree, FormulaError> {
        let Some((Token::Open, open)) = self.take() else {
            return Err(FormulaError::new(before, format!("`{word}` needs parentheses"))
                .suggest(format!("write `{word}(ego.steering)`")));
        };
        let inner = self.expression(0)?;
        let close = self.close(open)?;
        Ok(Tree { node: inner.node, at: open.to(close) })
    }

    fn close(&mut self, open: Span) -> Result<Span, FormulaError> {
        match self.take() {
            Some((Token::Close, close)) => Ok(close),
            Some((_, at)) => Err(FormulaError::new(at, "`)` is missing before this")),
            None => Err(FormulaError::new(open, "this parenthesis is never closed")),
        }
    }

    /// `( expression , expression )`.
    fn pair(&mut self, before: Span, operator: Arithmetic) -> Result<Tree, FormulaError> {
        let usage =
            |at| FormulaError::new(at, "two numbers are needed here").suggest("write `min(x, y)` or `max(x, y)`");
        let Some((Token::Open, open)) = self.take() else {
            return Err(usage(before));
        };
        let a = self.expression(0)?;
        if !matches!(self.take(), Some((Token::Comma, _))) {
            return Err(usage(before.to(a.at)));
        }
        let b = self.expression(0)?;
        let close = self.close(open)?;
        Ok(Tree { at: before.to(close), node: Written::Arithmetic(operator, Box::new(a), Box::new(b)) })
    }

    /// `settles( condition , within , for )`: within the first time a stretch of the second time begins in which it holds throughout
    /// (S2-54).
    fn settles(&mut self, before: Span) -> Result<Tree, FormulaError> {
        let usage = |at| {
            FormulaError::new(at, "`settles` needs a condition and two times")
                .suggest("write `settles(ego.speed < 30 km/h, 2 s, 1 s)`: within 2 s, and then for 1 s")
        };
        let Some((Token::Open, open)) = self.take() else {
            return Err(usage(before));
        };
        let condition = self.expression(0)?;
        let mut times_s = [0.0; 2];
        for time_s in &mut times_s {
            if !matches!(self.take(), Some((Token::Comma, _))) {
                return Err(usage(before.to(condition.at)));
            }
            let (value_s, at) = self.time(open)?;
            if value_s < 0.0 {
                return Err(FormulaError::new(at, "a time of at least 0 s is expected here"));
            }
            *time_s = value_s;
        }
        let at = before.to(self.close(open)?);
        let [within_s, for_s] = times_s.map(|to_s| Bounds { from_s: 0.0, to_s });
        let holds = Tree { node: Written::Window(Window::Always, for_s, Box::new(condition)), at };
        Ok(Tree { node: Written::Window(Window::Eventually, within_s, Box::new(holds)), at })
    }

    /// `[0 s, 20 s]`, `[0, inf]`, or nothing for all of time.
    fn bounds(&mut self) -> Result<Bounds, FormulaError> {
        // `□_[0, 20]`, as it is typeset.
        if let (Some((Token::Name("_"), _)), Some((Token::OpenBracket, _))) =
            (self.peek(), self.words.get(self.next + 1))
        {
            self.next += 1;
        }
        let Some((Token::OpenBracket, open)) = self.peek() else {
            return Ok(Bounds::ALL);
        };
        self.next += 1;
        let (from_s, from_at) = self.time(open)?;
        match self.take() {
            Some((Token::Comma, _)) => {}
            other => {
                let at = other.map_or(open, |(_, at)| at);
                return Err(FormulaError::new(at, "`,` is missing between two times").suggest("write `[0 s, 20 s]`"));
            }
        }
        let (to_s, to_at) = self.time(open)?;
        match self.take() {
            Some((Token::CloseBracket, _)) => {}
            Some((Token::Close, _)) if to_s == f64::INFINITY => {}
            other => {
                let at = other.map_or(open, |(_, at)| at);
                return Err(FormulaError::new(at, "`]` is missing after two times").suggest("write `[0 s, 20 s]`"));
            }
        }
        if from_s < 0.0 || from_s == f64::INFINITY {
            return Err(FormulaError::new(from_at, "a window begins at a time of at least 0 s")
                .suggest("operators of the past look back: `once[1 s, 2 s] (…)`"));
        }
        if to_s < from_s {
            return Err(FormulaError::new(from_at.to(to_at), "this window ends before it begins")
                .suggest(format!("write `[{to_s} s, {from_s} s]`")));
        }
        Ok(Bounds { from_s, to_s })
    }

    fn time(&mut self, open: Span) -> Result<(f64, Span), FormulaError> {
        match self.take() {
            Some((Token::Quantity(value, None), at)) => Ok((value, at)),
            Some((Token::Quantity(value, Some(unit)), at)) if unit.dimension == Dimension::Time => Ok((value, at)),
            Some((Token::Quantity(_, Some(unit)), at)) => {
                Err(FormulaError::new(at, format!("`{}` does not measure time", unit.name))
                    .suggest("use `s`, `ms`, `min` or `h`"))
            }
            Some((Token::Name("inf"), at)) => Ok((f64::INFINITY, at)),
            Some((_, at)) => Err(FormulaError::new(at, "a time is expected here").suggest("write `[0 s, 20 s]`")),
            None => Err(FormulaError::new(open, "this bracket is never closed").suggest("write `[0 s, 20 s]`")),
        }
    }

    fn signal(&self, name: &str, at: Span) -> Result<Tree, FormulaError> {
        if let Some(index) = self.signals.iter().position(|(known, _)| *known == name) {
            return Ok(Tree { node: Written::Signal(index), at });
        }
        let error = FormulaError::new(at, format!("the signal `{name}` is not known"));
        Err(match nearest(name, self.signals.iter().map(|(known, _)| *known)) {
            Some(known) => error.suggest(format!("did you mean `{known}`?")),
            None => {
                let all: Vec<&str> = self.signals.iter().map(|(known, _)| *known).collect();
                error.suggest(format!("signals are {}", all.join(", ")))
            }
        })
    }
}
