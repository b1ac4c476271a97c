//! The words of a formula.

use anabranch_kernel::units::Unit;

use crate::formula::Comparison;
use crate::text::{FormulaError, Span, quantity};

/// One word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'t> {
    Name(&'t str),
    /// A number in SI units, with the unit it was written in.
    Quantity(f64, Option<&'static Unit>),
    Compare(Comparison),
    And,
    Or,
    Not,
    Implies,
    Plus,
    Minus,
    Times,
    Over,
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    Comma,
}

/// Signs that other languages use, and what they are called here.
const FOREIGN: &[(&str, &str)] = &[
    ("&&", "write `and`"),
    ("&", "write `and`"),
    ("||", "write `or`"),
    ("|", "write `or`, or `abs(x)` for a magnitude"),
    ("!", "write `not`"),
    ("^", "write a product: `x * x`"),
];

const SIGNS: &[(&str, Token<'static>)] = &[
    ("->", Token::Implies),
    ("=>", Token::Implies),
    ("→", Token::Implies),
    ("<=", Token::Compare(Comparison::LessOrEqual)),
    ("≤", Token::Compare(Comparison::LessOrEqual)),
    (">=", Token::Compare(Comparison::GreaterOrEqual)),
    ("≥", Token::Compare(Comparison::GreaterOrEqual)),
    ("==", Token::Compare(Comparison::Equal)),
    ("!=", Token::Compare(Comparison::Unequal)),
    ("≠", Token::Compare(Comparison::Unequal)),
    ("=", Token::Compare(Comparison::Equal)),
    ("<", Token::Compare(Comparison::Less)),
    (">", Token::Compare(Comparison::Greater)),
    ("¬", Token::Not),
    ("∧", Token::And),
    ("∨", Token::Or),
    ("□", Token::Name("always")),
    ("◇", Token::Name("eventually")),
    ("■", Token::Name("historically")),
    ("◆", Token::Name("once")),
    ("∞", Token::Name("inf")),
    ("(", Token::Open),
    (")", Token::Close),
    ("[", Token::OpenBracket),
    ("]", Token::CloseBracket),
    (",", Token::Comma),
    (":", Token::Comma),
    ("+", Token::Plus),
    ("-", Token::Minus),
    ("*", Token::Times),
    ("/", Token::Over),
];

/// Words of the language that are never a unit.
const RESERVED: &[&str] =
    &["and", "or", "not", "implies", "until", "release", "since", "U", "R", "S", "G", "F", "H", "O"];

/// All words of a text with their places.
pub(crate) fn words(text: &str) -> Result<Vec<(Token<'_>, Span)>, FormulaError> {
    let mut found: Vec<(Token<'_>, Span)> = Vec::new();
    let mut offset = 0;
    loop {
        let rest = &text[offset..];
        let trimmed = rest.trim_start();
        offset += rest.len() - trimmed.len();
        if trimmed.is_empty() {
            return Ok(found);
        }
        // A sign belongs to the number behind it unless something stands before it that it could be taken from.
        let after_operand = matches!(
            found.last(),
            Some((Token::Name(_) | Token::Quantity(..) | Token::Close | Token::CloseBracket, _))
        );
        let (token, length) = word(trimmed, offset, after_operand)?;
        found.push((token, Span { offset, length }));
        offset += length;
    }
}

fn word(rest: &str, offset: usize, after_operand: bool) -> Result<(Token<'_>, usize), FormulaError> {
    let mut letters = rest.chars();
    let first = letters.next().unwrap_or(' ');
    let second = letters.next().unwrap_or(' ');
    let is_signed = "+-".contains(first) && !after_operand && (second.is_ascii_digit() || second == '.');
    if is_signed || first.is_ascii_digit() || (first == '.' && second.is_ascii_digit()) {
        let ((value, unit), length) = quantity(rest, offset, RESERVED)?;
        return Ok((Token::Quantity(value, unit), length));
    }
    if let Some((sign, token)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((*token, sign.len()));
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
        let token = match &rest[..length] {
            "and" => Token::And,
            "or" => Token::Or,
            "not" => Token::Not,
            "implies" => Token::Implies,
            name => Token::Name(name),
        };
        return Ok((token, length));
    }
    if let Some((sign, advice)) = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign)) {
        let at = Span { offset, length: sign.len() };
        return Err(FormulaError::new(at, format!("`{sign}` is not known here")).suggest(*advice));
    }
    let at = Span { offset, length: first.len_utf8() };
    Err(FormulaError::new(at, format!("`{first}` is not known here")))
}
