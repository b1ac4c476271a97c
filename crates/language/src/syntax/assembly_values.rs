//! Values in simulations and cars: quantities, coordinates, times of day, lists and ranges.

use super::Span;
use super::assembly::Text;
use crate::diagnostic::{Code, Problem};
use crate::units::Unit;

/// Members that a family may have; more is a slip in a range.
pub const MEMBERS_MAX: usize = 1000;

/// Exponents of a length, a time, a frequency and of what else settings are measured in.
pub mod exponents {
    /// A plain number or an angle.
    pub const NUMBER: [i8; 7] = [0; 7];
    /// A length.
    pub const LENGTH: [i8; 7] = [1, 0, 0, 0, 0, 0, 0];
    /// A mass.
    pub const MASS: [i8; 7] = [0, 1, 0, 0, 0, 0, 0];
    /// A time.
    pub const TIME: [i8; 7] = [0, 0, 1, 0, 0, 0, 0];
    /// A frequency.
    pub const FREQUENCY: [i8; 7] = [0, 0, -1, 0, 0, 0, 0];
    /// A speed.
    pub const SPEED: [i8; 7] = [1, 0, -1, 0, 0, 0, 0];
    /// An acceleration.
    pub const ACCELERATION: [i8; 7] = [1, 0, -2, 0, 0, 0, 0];
    /// A temperature.
    pub const TEMPERATURE: [i8; 7] = [0, 0, 0, 0, 1, 0, 0];
    /// A pressure.
    pub const PRESSURE: [i8; 7] = [-1, 1, -2, 0, 0, 0, 0];
}

/// A quantity such as `1ms`, `4.43 m` or `1'655 kg`, in SI.
///
/// # Errors
///
/// What is wrong with it, at its place.
pub fn quantity(text: &Text) -> Result<(f64, Unit), Problem> {
    let end = text
        .text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '\'' | '-' | '+')))
        .unwrap_or(text.text.len());
    let (number, unit) = text.text.split_at(end);
    let wrong = |message: String| Problem::error(Code::Field, text.span, message);
    let value: f64 =
        number.replace('\'', "").parse().map_err(|_| wrong(format!("`{}` does not begin with a number", text.text)))?;
    let unit: Unit = if unit.trim().is_empty() {
        Unit::ONE
    } else {
        unit.trim()
            .parse()
            .map_err(|_| Problem::error(Code::UnknownUnit, text.span, format!("`{}` is no unit", unit.trim())))?
    };
    Ok((unit.to_si(value), unit))
}

/// A quantity of one of some kinds, in SI and with the exponents it has.
///
/// # Errors
///
/// What is wrong with it, at its place; `what` is what it should be.
pub fn measured(text: &Text, kinds: &[[i8; 7]], what: &str) -> Result<(f64, [i8; 7]), Problem> {
    let (value, unit) = quantity(text)?;
    let exponents = unit.dimension.0;
    if !kinds.contains(&exponents) {
        let minutes = what == "time" && exponents == exponents::LENGTH && text.text.ends_with('m');
        let help = if minutes { "`m` is metres; write `min` for minutes" } else { "write a number with its unit" };
        return Err(Problem::error(Code::Field, text.span, format!("`{}` is no {what}", text.text)).help(help));
    }
    Ok((value, exponents))
}

/// A coordinate such as `50°46'43.7"N` or `50.7748°N`, in degrees; south and west are negative.
///
/// # Errors
///
/// What is wrong with it, at its place.
pub fn coordinate(text: &Text) -> Result<f64, Problem> {
    let wrong = |why: &str| {
        Problem::error(Code::Field, text.span, format!("`{}`: {why}", text.text)).help("write `50°46'43.7\"N`")
    };
    let (degrees, rest) = text.text.split_once('°').ok_or_else(|| wrong("no degrees"))?;
    let (degrees, rest) = match rest.contains('\'') {
        true => (degrees, rest.to_owned()),
        false => (degrees, format!("0'0\"{rest}")),
    };
    let (minutes, rest) = rest.split_once('\'').ok_or_else(|| wrong("no minutes"))?;
    let (seconds, side) = rest.split_once('"').ok_or_else(|| wrong("no seconds"))?;
    let number = |part: &str, below: f64| {
        part.trim()
            .parse()
            .ok()
            .filter(|x: &f64| (0.0..below).contains(x))
            .ok_or_else(|| wrong("a part is no number or too large"))
    };
    let (degrees, minutes, seconds) = (number(degrees, 180.1)?, number(minutes, 60.0)?, number(seconds, 60.0)?);
    let value = degrees + minutes / 60.0 + seconds / 3600.0;
    match side.trim() {
        "N" | "E" => Ok(value),
        "S" | "W" => Ok(-value),
        _ => Err(wrong("N, S, E or W is missing")),
    }
}

/// Seconds since midnight of `13:30`, `1:22:33`, `1:22:33:444` (milliseconds) or one of them after a date as in
/// `22.06.2017 13:30`.
///
/// # Errors
///
/// What is wrong with it, at its place.
///
/// ```
/// use anabranch_language::syntax::assembly::{Text, moment};
/// let at = |text: &str| moment(&Text { text: text.to_owned(), ..Text::default() });
/// assert_eq!(at("22.06.2017 13:30"), Ok(48_600.0));
/// assert_eq!(at("1:22:33:500"), Ok(4_953.5));
/// assert!(at("24:00").is_err());
/// ```
pub fn moment(text: &Text) -> Result<f64, Problem> {
    let wrong = |message: &str| {
        let help = "write hours and minutes as in `13:30`, with a date before them if you like: `22.06.2017 13:30`";
        Problem::error(Code::Field, text.span, format!("`{}`: {message}", text.text)).help(help)
    };
    let (date, clock) = match text.text.trim().rsplit_once(char::is_whitespace) {
        Some((date, clock)) => (Some(date.trim()), clock),
        None => (None, text.text.trim()),
    };
    if let Some(date) = date {
        let parts: Option<Vec<u32>> = date.split('.').map(|part| part.parse().ok()).collect();
        let fits =
            |parts: &[u32]| matches!(parts, [day, month, _] if (1..=31).contains(day) && (1..=12).contains(month));
        if !parts.is_some_and(|parts| fits(&parts)) {
            return Err(wrong("this is no date"));
        }
    }
    let parts: Option<Vec<u32>> = clock.split(':').map(|part| part.trim().parse().ok()).collect();
    let parts = parts.filter(|parts| (2..=4).contains(&parts.len())).ok_or_else(|| wrong("this is no time of day"))?;
    let below = [24, 60, 60, 1000];
    if parts.iter().zip(below).any(|(part, below)| *part >= below) {
        return Err(wrong("a day has 24 hours of 60 minutes"));
    }
    let seconds = [3600.0, 60.0, 1.0, 0.001];
    Ok(parts.iter().zip(seconds).map(|(part, each)| f64::from(*part) * each).sum())
}

/// Values of a field one by one: lists, sets in brackets, and ranges `(from : step : to)`.
///
/// # Errors
///
/// What is wrong with a range, at its place.
pub fn spread(values: &[Text]) -> Result<Vec<Text>, Problem> {
    let wrong = |value: &Text, message: &str, help: &str| Problem::error(Code::Field, value.span, message).help(help);
    let mut all = Vec::new();
    for value in values {
        let text = value.text.trim_start_matches('[').trim_end_matches(']').trim();
        let Some(range) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
            all.push(Text { text: text.to_owned(), span: value.span });
            continue;
        };
        let parts: Vec<Text> =
            range.split(':').map(|part| Text { text: part.trim().to_owned(), span: value.span }).collect();
        let [from, step, to] = &parts[..] else {
            let help = "write `(10s : 5s : 30s)`";
            return Err(wrong(value, "a range has a first value, a step and a last value", help));
        };
        let ((first, unit), (step, of_step), (last, of_last)) = (quantity(from)?, quantity(step)?, quantity(to)?);
        if unit.dimension != of_step.dimension || unit.dimension != of_last.dimension {
            return Err(wrong(
                value,
                "the three values of the range are of different kinds",
                "write `(10s : 5s : 30s)`",
            ));
        }
        let count = (last - first) / step;
        if count.is_finite() && count >= MEMBERS_MAX as f64 {
            let message = format!("the range has {} values; at most {MEMBERS_MAX} are run", count.floor() + 1.0);
            return Err(wrong(value, &message, "take a wider step, or a shorter range"));
        }
        if !(count.is_finite() && (0.0..MEMBERS_MAX as f64).contains(&count)) {
            let help = "its step leads from the first value to the last";
            return Err(wrong(value, "the range leads nowhere", help));
        }
        // A hair more, so that 0.1 and 0.2 and 0.3 end with 0.3.
        for k in 0..=(count + 1e-9).floor() as usize {
            let si = first + k as f64 * step;
            let shown = (unit.from_si(si) * 1e9).round() / 1e9;
            let letters =
                from.text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '\''));
            all.push(Text { text: format!("{shown}{letters}"), span: value.span });
        }
    }
    Ok(all)
}

/// `[50s, 4h]` is a list, `(1s : 1s : 3s)` a range, everything else one value: each with its place.
pub(super) fn listed(value: &Text) -> Vec<Text> {
    let inside = value.text.trim_start_matches('[').trim_end_matches(']');
    let mut at = value.span.start as usize + value.text.find(inside).unwrap_or(0);
    let mut all = Vec::new();
    for part in inside.split(',') {
        let text = part.trim();
        let start = at + (part.len() - part.trim_start().len());
        all.push(Text { text: text.to_owned(), span: Span::new(start, start + text.len()) });
        at += part.len() + 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<Text> {
        text.split(',').map(|part| Text { text: part.trim().to_owned(), ..Text::default() }).collect()
    }

    #[test]
    fn families_are_lists_sets_and_ranges() {
        let values =
            |text: &str| -> Vec<String> { spread(&texts(text)).unwrap().into_iter().map(|value| value.text).collect() };
        assert_eq!(values("10ms"), ["10ms"]);
        assert_eq!(values("10ms, 20ms"), ["10ms", "20ms"]);
        assert_eq!(values("[10s, 20s]"), ["10s", "20s"]);
        assert_eq!(values("(10s : 5s : 20s)"), ["10s", "15s", "20s"]);
        assert_eq!(values("(0.1s : 0.1s : 0.3s), 1s"), ["0.1s", "0.2s", "0.3s", "1s"]);
        let told = |text: &str| spread(&texts(text)).unwrap_err().message;
        assert!(told("(1s : 0s : 2s)").contains("leads nowhere"));
        assert_eq!(told("(1s : 1ms : 3s)"), "the range has 2001 values; at most 1000 are run");
        assert!(told("(60K:1m:80mm)").contains("different kinds"));
        assert!(told("(1s : 2s)").contains("a first value, a step and a last value"));
    }

    #[test]
    fn times_of_day_have_hours_and_minutes() {
        let told = |text: &str| moment(&texts(text)[0]).map_err(|problem| problem.message);
        assert_eq!(told("02:00"), Ok(7200.0));
        assert_eq!(told("23:59:59:999"), Ok(86_399.999));
        assert_eq!(told("67:99"), Err("`67:99`: a day has 24 hours of 60 minutes".to_owned()));
        assert_eq!(told("noon"), Err("`noon`: this is no time of day".to_owned()));
        assert_eq!(told("32.01.2017 12:00"), Err("`32.01.2017 12:00`: this is no date".to_owned()));
        assert_eq!(told("67s:99m"), Err("`67s:99m`: this is no time of day".to_owned()));
    }

    #[test]
    fn minutes_are_not_metres() {
        let told = measured(&texts("50m")[0], &[exponents::TIME], "time").unwrap_err();
        assert_eq!(told.help.as_deref(), Some("`m` is metres; write `min` for minutes"));
    }
}
