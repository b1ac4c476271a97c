//! The words of an expression.

use anabranch_kernel::units::Unit;

use anabranch_logic::text::quantity;

use crate::{ExpressionError, Span};

/// How two quantities are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

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
    Open,
    Close,
}

/// Signs that other languages use, and what they are called here.
const FOREIGN: &[(&str, &str)] = &[
    ("&&", "write `and`"),
    ("&", "write `and`"),
    ("||", "write `or`"),
    ("|", "write `or`, or `abs(x)` for a magnitude"),
    ("!=", "compare with `<` and `>`: two measured numbers are hardly ever equal"),
    ("!", "write `not`"),
    ("==", "compare with `<=` and `>=`: two measured numbers are hardly ever equal"),
    ("=", "compare with `<=` and `>=`: two measured numbers are hardly ever equal"),
];

/// All words of a text with their places.
pub(crate) fn words(text: &str) -> Result<Vec<(Token<'_>, Span)>, ExpressionError> {
    let mut found = Vec::new();
    let mut offset = 0;
    loop {
        let rest = &text[offset..];
        let trimmed = rest.trim_start();
        offset += rest.len() - trimmed.len();
        if trimmed.is_empty() {
            return Ok(found);
        }
        let (token, length) = word(trimmed, offset)?;
        found.push((token, Span { offset, length }));
        offset += length;
    }
}

fn word(rest: &str, offset: usize) -> Result<(Token<'_>, usize), ExpressionError> {
    use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
    let signs = [
        ("<=", Token::Compare(LessOrEqual)),
        ("≤", Token::Compare(LessOrEqual)),
        (">=", Token::Compare(GreaterOrEqual)),
        ("≥", Token::Compare(GreaterOrEqual)),
        ("<", Token::Compare(Less)),
        (">", Token::Compare(Greater)),
        ("(", Token::Open),
        (")", Token::Close),
    ];
    if let Some((sign, token)) = signs.into_iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((token, sign.len()));
    }
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
        let token = match &rest[..length] {
            "and" => Token::And,
            "or" => Token::Or,
            "not" => Token::Not,
            name => Token::Name(name),
        };
        return Ok((token, length));
    }
    if first.is_ascii_digit() || "+-.".contains(first) {
        let ((value, unit), length) = quantity(rest, offset, &["and", "or", "not"])?;
        return Ok((Token::Quantity(value, unit), length));
    }
    if let Some((sign, advice)) = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign)) {
        let at = Span { offset, length: sign.len() };
        return Err(ExpressionError::new(at, format!("`{sign}` is not known here")).suggest(*advice));
    }
    let at = Span { offset, length: first.len_utf8() };
    Err(ExpressionError::new(at, format!("`{first}` is not known here")))
}
