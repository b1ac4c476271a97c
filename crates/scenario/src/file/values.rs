//! Numbers with units: one, a list, or a range.

use anabranch_kernel::units::{Dimension, QuantityError, SMALLEST_POSITIVE, UNITS, parse_quantity};

use super::codes::Code;
use super::keys::{Amount, Quantity, Sign};
use super::problems::{Problem, excerpt, listed, nearest};
use super::span::Span;
use super::tree::{Node, Value};

/// Most values of a list or range.
pub const VALUES_MAX: usize = 1000;

/// What people write for units, and what we call them.
const ALIASES: &[(&str, &str)] = &[
    ("meter", "m"),
    ("meters", "m"),
    ("metre", "m"),
    ("metres", "m"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("minutes", "min"),
    ("kmh", "km/h"),
    ("kph", "km/h"),
    ("mps", "m/s"),
    ("m/s/s", "m/s^2"),
    ("m/s2", "m/s^2"),
    ("degree", "deg"),
    ("degrees", "deg"),
    ("radian", "rad"),
    ("radians", "rad"),
    ("GiB", "GB"),
    ("MiB", "MB"),
];

/// A number as read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// In SI units.
    pub value: f64,
    pub dimension: Dimension,
    pub span: Span,
}

/// What a person calls a dimension, with its article.
pub(super) fn dimension_name(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Length => "a length",
        Dimension::Area => "an area",
        Dimension::Time => "a time",
        Dimension::Speed => "a speed",
        Dimension::Acceleration => "an acceleration",
        Dimension::Jerk => "a jerk",
        Dimension::Angle => "an angle",
        Dimension::AngularSpeed => "an angular speed",
        Dimension::Curvature => "a curvature",
        Dimension::CurvaturePerLength => "a path gain",
        Dimension::Rate => "a rate",
        Dimension::Mass => "a mass",
        Dimension::Inertia => "a moment of inertia",
        Dimension::Stiffness => "a stiffness",
        Dimension::Pressure => "a pressure",
        Dimension::Memory => "an amount of memory",
        Dimension::Number => "a number",
    }
}

fn names_of(dimensions: &[Dimension]) -> String {
    dimensions.iter().map(|d| dimension_name(*d)).collect::<Vec<_>>().join(" or ")
}

fn units_of(dimensions: &[Dimension]) -> impl Iterator<Item = &'static str> + '_ {
    dimensions.iter().flat_map(|d| d.units()).map(|unit| unit.name)
}

/// Reads all values of a node; the first problem of each place is kept.
pub(super) fn read_values(node: &Node, wanted: &Quantity) -> Result<Vec<Measured>, Vec<(Span, Problem)>> {
    let Value::List(items) = &node.value else {
        return read_scalar(node, wanted).map_err(|problem| vec![(node.span, problem)]);
    };
    let fail = |code, message: String, help: &str| Err(vec![(node.span, Problem::new(code, message, help))]);
    if wanted.amount == Amount::One {
        return fail(Code::OneValue, "one value is needed here, not a list".into(), "keep one value of the list");
    }
    if items.is_empty() {
        return fail(Code::Empty, "the list is empty".into(), "name at least one value");
    }
    if items.len() > VALUES_MAX {
        return fail(
            Code::TooMany,
            format!("{} values; at most {VALUES_MAX} are read", items.len()),
            "shorten the list",
        );
    }
    let (mut values, mut problems) = (Vec::new(), Vec::new());
    for item in items {
        match read_scalar(item, wanted) {
            Ok(read) => values.extend(read),
            Err(problem) => problems.push((item.span, problem)),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

fn read_scalar(node: &Node, wanted: &Quantity) -> Result<Vec<Measured>, Problem> {
    let number = match &node.value {
        Value::Text(text) if text.contains("..") => return read_range(text, node.span, wanted),
        Value::Text(text) => {
            let (value, dimension) = read_quantity(text, wanted.dimensions)?;
            return Ok(vec![bounded(Measured { value, dimension, span: node.span }, wanted)?]);
        }
        Value::Integer(number) => *number as f64,
        Value::Float(number) => *number,
        _ => {
            let message = format!("{} is needed here, not {}", names_of(wanted.dimensions), node.type_name());
            return Err(Problem::new(Code::WrongType, message, example_of(wanted.dimensions)));
        }
    };
    if !number.is_finite() {
        return Err(not_finite());
    }
    if !wanted.dimensions.contains(&Dimension::Number) {
        let message = format!("{} needs its unit", names_of(wanted.dimensions));
        let written = wanted.dimensions.iter().map(|d| format!("\"{number} {}\"", d.si())).collect::<Vec<_>>();
        let others = listed(units_of(wanted.dimensions));
        return Err(Problem::new(
            Code::BareNumber,
            message,
            format!("write {}; units: {others}", written.join(" or ")),
        ));
    }
    Ok(vec![bounded(Measured { value: number, dimension: Dimension::Number, span: node.span }, wanted)?])
}

fn example_of(dimensions: &[Dimension]) -> String {
    match dimensions {
        [Dimension::Number] => "write a number such as 0.5".into(),
        _ => format!("write for example \"2 {}\"", dimensions.first().map_or("m", |d| d.si())),
    }
}

fn not_finite() -> Problem {
    Problem::new(Code::NotFinite, "the number is not finite", "use a finite number")
}

/// The value, if it has the sign and the size that are wanted.
fn bounded(measured: Measured, wanted: &Quantity) -> Result<Measured, Problem> {
    let Measured { value, dimension, .. } = measured;
    let complain = |what: &str| Err(Problem::new(Code::NotPositive, format!("the value must {what}"), ""));
    match wanted.sign {
        Sign::Positive if value <= 0.0 => complain("be more than zero"),
        Sign::NotNegative if value < 0.0 => complain("not be negative"),
        Sign::Positive if value < SMALLEST_POSITIVE => {
            Err(out_of_range(dimension, &format!("at least {}", written(SMALLEST_POSITIVE, dimension))))
        }
        _ if value.abs() > wanted.most => {
            Err(out_of_range(dimension, &format!("at most {}", written(wanted.most, dimension))))
        }
        _ => within(value, dimension).map(|()| measured),
    }
}

/// Complains about a value beyond what its dimension may have.
pub(super) fn within(value: f64, dimension: Dimension) -> Result<(), Problem> {
    if value.abs() <= dimension.largest() {
        return Ok(());
    }
    Err(out_of_range(dimension, &format!("at most {}", written(dimension.largest(), dimension))))
}

fn out_of_range(dimension: Dimension, limit: &str) -> Problem {
    let message = format!("{} must be {limit} here", dimension_name(dimension));
    Problem::new(Code::OutOfRange, message, "is the unit right?")
}

/// A value in SI units as a person writes it.
pub(super) fn written(value: f64, dimension: Dimension) -> String {
    let number = if (1e-3..1e7).contains(&value) { value.to_string() } else { format!("{value:e}") };
    format!("{number} {}", dimension.si()).trim_end().to_owned()
}

/// Reads one quantity that may have one of several dimensions.
pub(super) fn read_quantity(text: &str, dimensions: &[Dimension]) -> Result<(f64, Dimension), Problem> {
    let mut first_error = None;
    for dimension in dimensions {
        match parse_quantity(text, *dimension) {
            Ok(value) if value.is_finite() => return Ok((value + 0.0, *dimension)),
            Ok(_) => return Err(not_finite()),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(explain(text, first_error.unwrap_or(QuantityError::NotANumber), dimensions))
}

fn explain(text: &str, error: QuantityError, dimensions: &[Dimension]) -> Problem {
    let wanted = names_of(dimensions);
    let units = listed(units_of(dimensions));
    match error {
        QuantityError::NotFinite => not_finite(),
        QuantityError::NotANumber => Problem::new(
            Code::NotANumber,
            format!("`{}` does not begin with a number; {wanted} is needed here", excerpt(text)),
            example_of(dimensions),
        ),
        QuantityError::NoUnit => {
            let unit = dimensions.first().map_or("m", |d| d.si());
            let help = format!("write \"{} {unit}\"; units: {units}", excerpt(text.trim()));
            Problem::new(Code::BareNumber, format!("{wanted} needs its unit"), help)
        }
        QuantityError::UnknownUnit(name) if name.starts_with(',') => Problem::new(
            Code::NotANumber,
            "the decimal sign is a point",
            format!("write \"{}\"", text.replacen(',', ".", 1)),
        ),
        QuantityError::UnknownUnit(name) => unknown_unit(&name, dimensions, &units),
        QuantityError::WrongUnit(unit) => Problem::new(
            Code::WrongUnit,
            format!("`{}` measures {}; {wanted} is needed here", unit.name, dimension_name(unit.dimension)),
            if units == "nothing" { "leave the unit out".to_owned() } else { format!("units: {units}") },
        ),
    }
}

fn unknown_unit(name: &str, dimensions: &[Dimension], units: &str) -> Problem {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)).map(|(_, unit)| *unit);
    let near = alias
        .or_else(|| nearest(name, units_of(dimensions)))
        .or_else(|| nearest(name, UNITS.iter().map(|unit| unit.name)));
    let guess = near.map_or(String::new(), |unit| format!("did you mean `{unit}`? "));
    let message = format!("the unit `{}` is not known", excerpt(name));
    Problem::new(Code::UnknownUnit, message, format!("{guess}units: {units}"))
}

/// Reads `"0.5 m .. 2 m step 0.5 m"`.
fn read_range(text: &str, span: Span, wanted: &Quantity) -> Result<Vec<Measured>, Problem> {
    let help = "a range is written \"0.5 m .. 2 m step 0.5 m\"";
    let bad = |message: String| Problem::new(Code::BadRange, message, help);
    if wanted.amount == Amount::One {
        return Err(Problem::new(Code::OneValue, "one value is needed here, not a range", "keep one value"));
    }
    let (first, rest) = text.split_once("..").ok_or_else(|| bad("this is not a range".into()))?;
    let (last, step) = rest.split_once("step").ok_or_else(|| bad("the range has no `step`".into()))?;
    let read =
        |part: &str| read_quantity(part, wanted.dimensions).map_err(|p| bad(format!("in the range: {}", p.message)));
    let ((first, dimension), (last, other), (step, third)) = (read(first)?, read(last)?, read(step)?);
    if dimension != other || dimension != third {
        return Err(bad("the parts of the range have different dimensions".into()));
    }
    if step <= 0.0 || last < first {
        return Err(bad("a range goes upwards by a positive step".into()));
    }
    // A little more than the quotient, so that 0.1 + 0.1 + 0.1 still reaches 0.3.
    let count = ((last - first) / step + 1e-9).floor() + 1.0;
    if count > VALUES_MAX as f64 {
        return Err(bad(format!("the range has {count} values; at most {VALUES_MAX} are read")));
    }
    let value = |i: usize| bounded(Measured { value: first + step * i as f64, dimension, span }, wanted);
    (0..count as usize).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, amount: Amount, expect: Result<&[f64], Code>) {
        let node = Node { span: Span { source: 0, start: 0, end: 0 }, value: Value::Text(text.to_owned()) };
        let wanted = Quantity { dimensions: &[Dimension::Length], sign: Sign::Any, amount, most: f64::INFINITY };
        let read = read_values(&node, &wanted).map(|v| v.iter().map(|m| m.value).collect::<Vec<_>>());
        assert_eq!(read.map_err(|p| p[0].1.code), expect.map(<[f64]>::to_vec), "{text}");
    }

    #[test]
    fn quantities_and_ranges_are_read() {
        check("10 cm", Amount::One, Ok(&[0.1]));
        check("0 m .. 3 m step 1 m", Amount::Several, Ok(&[0.0, 1.0, 2.0, 3.0]));
        check("0m..50cm step 0.25m", Amount::Several, Ok(&[0.0, 0.25, 0.5]));
        check("1 m .. 1 m step 1 m", Amount::Several, Ok(&[1.0]));
        check("1000 km", Amount::One, Ok(&[1e6]));
    }

    #[test]
    fn mistakes_have_codes() {
        check("0 m .. 3 m step 1 m", Amount::One, Err(Code::OneValue));
        check("0 m .. 3 m", Amount::Several, Err(Code::BadRange));
        check("0 m .. 3 m step 0 m", Amount::Several, Err(Code::BadRange));
        check("0 m .. 3 m step 1 s", Amount::Several, Err(Code::BadRange));
        check("0 m ... 3 m step 1 m", Amount::Several, Err(Code::BadRange));
        check("0 m .. 1e300 m step 1 m", Amount::Several, Err(Code::BadRange));
        check("0,1 m", Amount::One, Err(Code::NotANumber));
        check("1e308 km", Amount::One, Err(Code::NotFinite));
        check("1e17 m", Amount::One, Err(Code::OutOfRange));
        check("-9e299 m", Amount::One, Err(Code::OutOfRange));
        check("0 m .. 2e6 m step 1e6 m", Amount::Several, Err(Code::OutOfRange));
        check("0.1", Amount::One, Err(Code::BareNumber));
        check("1 metre", Amount::One, Err(Code::UnknownUnit));
        check("1 s", Amount::One, Err(Code::WrongUnit));
        check("", Amount::One, Err(Code::NotANumber));
    }
}
