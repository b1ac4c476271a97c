//! From the text of a requirement to its tree: a Pratt parser.
//!
//! ```text
//! or    lowest
//! and
//! not
//! < <= > >=
//! signal   0.1 m   abs(signal)   ( … )   highest
//! ```

use anabranch_kernel::units::Unit;
use anabranch_logic::text::nearest;

use crate::{ExpressionError, Span};

use crate::lexer::{Comparison, Token, words};
use crate::signals::SignalKind;

/// An expression as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Signal(usize),
    Magnitude(Box<Tree>),
    Quantity(f64, Option<&'static Unit>),
    Compare(Comparison, Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
}

/// A node with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    pub(crate) node: Node,
    pub(crate) at: Span,
}

/// Deepest nesting of parentheses and `not`.
const NESTING_MAX: usize = 32;
/// How strongly operators bind.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARE: u8 = 4;

struct Parser<'t> {
    words: Vec<(Token<'t>, Span)>,
    next: usize,
    end: Span,
    nesting: usize,
    signals: &'t [(&'t str, SignalKind)],
}

/// The tree of a text over a table of signals.
pub(crate) fn parse<'t>(text: &'t str, signals: &'t [(&'t str, SignalKind)]) -> Result<Tree, ExpressionError> {
    let end = Span { offset: text.len(), length: 0 };
    let mut parser = Parser { words: words(text)?, next: 0, end, nesting: 0, signals };
    let tree = parser.expression(0)?;
    match parser.peek() {
        None => Ok(tree),
        Some((Token::Close, at)) => Err(ExpressionError::new(at, "this parenthesis was never opened")),
        Some((_, at)) => Err(ExpressionError::new(at, "the expression is complete before this")
            .suggest("join two conditions by `and` or `or`")),
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

    /// Everything that binds more strongly than `floor`.
    fn expression(&mut self, floor: u8) -> Result<Tree, ExpressionError> {
        self.nesting += 1;
        let mut left = self.operand()?;
        while let Some((token, at)) = self.peek() {
            let power = match token {
                Token::Or => OR,
                Token::And => AND,
                Token::Compare(_) => COMPARE,
                _ => break,
            };
            if power <= floor {
                break;
            }
            if let (Token::Compare(_), Node::Compare(..)) = (token, &left.node) {
                return Err(ExpressionError::new(at, "comparisons cannot be chained")
                    .suggest("write two of them: `a < b and b < c`"));
            }
            self.next += 1;
            let right = self.expression(power)?;
            let span = left.at.to(right.at);
            let (left_box, right) = (Box::new(left), Box::new(right));
            let node = match token {
                Token::Or => Node::Or(left_box, right),
                Token::And => Node::And(left_box, right),
                Token::Compare(comparison) => Node::Compare(comparison, left_box, right),
                _ => unreachable!("only operators get here"),
            };
            left = Tree { node, at: span };
        }
        self.nesting -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Tree, ExpressionError> {
        let Some((token, at)) = self.take() else {
            return Err(ExpressionError::new(self.end, "something is missing here")
                .suggest("a signal such as `ego.clearance` or a quantity such as `0.1 m`"));
        };
        if self.nesting > NESTING_MAX {
            return Err(ExpressionError::new(at, format!("nested more than {NESTING_MAX} deep")));
        }
        match token {
            Token::Quantity(value, unit) => Ok(Tree { node: Node::Quantity(value, unit), at }),
            Token::Name("abs") => {
                let inner = self.parenthesised(at)?;
                Ok(Tree { at: at.to(inner.at), node: Node::Magnitude(Box::new(inner)) })
            }
            Token::Name(name) => self.signal(name, at),
            Token::Not => {
                let inner = self.expression(NOT)?;
                Ok(Tree { at: at.to(inner.at), node: Node::Not(Box::new(inner)) })
            }
            Token::Open => {
                self.next -= 1;
                self.parenthesised(at)
            }
            Token::Compare(_) | Token::And | Token::Or | Token::Close => {
                Err(ExpressionError::new(at, "a signal or a quantity is missing before this"))
            }
        }
    }

    /// `( expression )`; `before` is the place of the word that asks for it.
    fn parenthesised(&mut self, before: Span) -> Result<Tree, ExpressionError> {
        let Some((Token::Open, open)) = self.take() else {
            return Err(ExpressionError::new(before, "`abs` needs parentheses").suggest("write `abs(ego.steering)`"));
        };
        let inner = self.expression(0)?;
        match self.take() {
            Some((Token::Close, close)) => Ok(Tree { node: inner.node, at: open.to(close) }),
            Some((_, at)) => Err(ExpressionError::new(at, "`)` is missing before this")),
            None => Err(ExpressionError::new(open, "this parenthesis is never closed")),
        }
    }

    fn signal(&self, name: &str, at: Span) -> Result<Tree, ExpressionError> {
        if let Some(index) = self.signals.iter().position(|(known, _)| *known == name) {
            return Ok(Tree { node: Node::Signal(index), at });
        }
        let error = ExpressionError::new(at, format!("the signal `{name}` is not known"));
        Err(match nearest(name, self.signals.iter().map(|(known, _)| *known)) {
            Some(known) => error.suggest(format!("did you mean `{known}`?")),
            None => {
                let all: Vec<&str> = self.signals.iter().map(|(known, _)| *known).collect();
                error.suggest(format!("signals are {}", all.join(", ")))
            }
        })
    }
}
