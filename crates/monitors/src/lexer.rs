//! The words of an expression.

use anabranch_kernel::units::{UNITS, Unit};

use crate::error::{ExpressionError, Span, nearest};

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
        return quantity(rest, offset);
    }
    if let Some((sign, advice)) = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign)) {
        let at = Span { offset, length: sign.len() };
        return Err(ExpressionError::new(at, format!("`{sign}` is not known here")).suggest(*advice));
    }
    let at = Span { offset, length: first.len_utf8() };
    Err(ExpressionError::new(at, format!("`{first}` is not known here")))
}

/// A number and, if one follows, its unit.
fn quantity(rest: &str, offset: usize) -> Result<(Token<'_>, usize), ExpressionError> {
    let number_length = number_length(rest);
    let number = &rest[..number_length];
    let bad = || ExpressionError::new(Span { offset, length: number_length.max(1) }, "this is not a number");
    let value: f64 = number.replace('_', "").parse().map_err(|_| bad().suggest("write it like `0.25 m`"))?;
    if !value.is_finite() {
        return Err(bad().suggest("write a finite number"));
    }
    let after = &rest[number_length..];
    let gap = after.len() - after.trim_start().len();
    let name = unit_name(&after[gap..]);
    if name.is_empty() {
        return Ok((Token::Quantity(value, None), number_length));
    }
    match UNITS.iter().find(|unit| unit.name == name) {
        Some(unit) => Ok((Token::Quantity(value * unit.factor, Some(unit)), number_length + gap + name.len())),
        None => {
            let at = Span { offset: offset + number_length + gap, length: name.len() };
            let error = ExpressionError::new(at, format!("the unit `{name}` is not known"));
            Err(match nearest(name, UNITS.iter().map(|unit| unit.name)) {
                Some(unit) => error.suggest(format!("did you mean `{unit}`?")),
                None => error.suggest("units are m, s, m/s, km/h, m/s^2, rad, deg, 1/m and more"),
            })
        }
    }
}

fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut end = usize::from(bytes[0] == b'-' || bytes[0] == b'+');
    while digit(end) || bytes.get(end).is_some_and(|b| b"._".contains(b)) {
        end += 1;
    }
    if bytes.get(end).is_some_and(|b| b"eE".contains(b)) {
        let sign = usize::from(bytes.get(end + 1).is_some_and(|b| b"+-".contains(b)));
        if digit(end + 1 + sign) {
            end += 1 + sign;
            while digit(end) {
                end += 1;
            }
        }
    }
    end
}

/// The unit at the beginning of a text; empty if there is none.
fn unit_name(rest: &str) -> &str {
    let reciprocal = rest.starts_with("1/");
    if !reciprocal && !rest.starts_with(|c: char| c.is_alphabetic() || c == '°') {
        return "";
    }
    let belongs = |c: char| c.is_alphanumeric() || "/^°²³".contains(c);
    let name = &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())];
    if ["and", "or", "not"].contains(&name) { "" } else { name }
}
