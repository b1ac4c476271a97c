//! Pieces of text that requirements and formulas are both made of: where something is wrong and how to mend it, numbers with units,
//! and names that were probably meant.

use anabranch_kernel::units::{UNITS, Unit};

/// A piece of a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub offset: usize,
    /// How long it is.
    pub length: usize,
}

impl Span {
    /// From the beginning of one piece to the end of another.
    pub fn to(self, last: Self) -> Self {
        Self { offset: self.offset, length: last.offset + last.length - self.offset }
    }
}

/// A text that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FormulaError {
    /// Where in the text.
    pub at: Span,
    /// What is wrong.
    pub message: String,
    /// How to go on.
    pub suggestion: Option<String>,
}

impl FormulaError {
    /// Without advice.
    pub fn new(at: Span, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), suggestion: None }
    }
    /// With advice on how to go on.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// The known name that was probably meant: the same without its prefix, or few letters apart.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let rank = |candidate: &&str| {
        let own = candidate.rsplit('.').next().unwrap_or(candidate);
        if own == name { 0 } else { letters_apart(name, candidate).min(1 + letters_apart(name, own)) }
    };
    // Of equally near names the longer one: people leave letters out (`kmh`) rather than add some.
    let best = known.map(|k| (rank(&k), std::cmp::Reverse(k.len()), k)).min();
    best.filter(|(rank, _, k)| *rank <= 1 + k.len() / 4).map(|(_, _, k)| k)
}

/// Levenshtein distance.
fn letters_apart(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let change = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.chars().count()]
}

/// A quantity in SI units with the unit it was written in.
pub type Quantity = (f64, Option<&'static Unit>);

/// The number at the beginning of a text and, if one follows, its unit; and how long they are. Reserved words are never a unit.
///
/// # Errors
/// When there is no finite number, or a unit that nobody knows.
pub fn quantity(rest: &str, offset: usize, reserved: &[&str]) -> Result<(Quantity, usize), FormulaError> {
    let number_length = number_length(rest);
    let number = &rest[..number_length];
    let bad = || FormulaError::new(Span { offset, length: number_length.max(1) }, "this is not a number");
    let value: f64 = number.replace('_', "").parse().map_err(|_| bad().suggest("write it like `0.25 m`"))?;
    if !value.is_finite() {
        return Err(bad().suggest("write a finite number"));
    }
    let after = &rest[number_length..];
    let gap = after.len() - after.trim_start().len();
    let name = unit_name(&after[gap..], reserved);
    if name.is_empty() {
        return Ok(((value, None), number_length));
    }
    match UNITS.iter().find(|unit| unit.name == name) {
        Some(unit) => Ok(((value * unit.factor, Some(unit)), number_length + gap + name.len())),
        None => {
            let at = Span { offset: offset + number_length + gap, length: name.len() };
            let error = FormulaError::new(at, format!("the unit `{name}` is not known"));
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
fn unit_name<'t>(rest: &'t str, reserved: &[&str]) -> &'t str {
    let reciprocal = rest.starts_with("1/");
    if !reciprocal && !rest.starts_with(|c: char| c.is_alphabetic() || c == '°') {
        return "";
    }
    let belongs = |c: char| c.is_alphanumeric() || "/^°²³".contains(c);
    let name = &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())];
    if reserved.contains(&name) { "" } else { name }
}
