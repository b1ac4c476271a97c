//! Values of a result as people read them.

use serde_json::Value;

use crate::picture::axis::grouped;

/// Metres and seconds without digits that say nothing.
pub(super) fn short(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.replace('-', "\u{2212}") }
}

/// A count, or a dash where there is none.
pub(super) fn count(value: &Value) -> String {
    value.as_f64().map_or_else(|| "–".to_owned(), grouped)
}

/// A length in metres that no line break tears apart, or a dash.
pub(super) fn metres(value: &Value) -> String {
    value.as_f64().map_or_else(|| "–".to_owned(), |value| format!("{}\u{a0}m", short(value, 3)))
}

/// A share as percent, or a dash.
pub(super) fn percent(value: &Value) -> String {
    value.as_f64().map_or_else(|| "–".to_owned(), |value| format!("{} %", short(100.0 * value, 2)))
}

/// `12.5 s`, `3 min 20 s`.
pub(super) fn duration(value: &Value) -> String {
    let Some(seconds) = value.as_f64() else { return "–".to_owned() };
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..10 => format!("{seconds:.1} s"),
        10..120 => format!("{whole} s"),
        120..7200 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// `12.3 MB`, or a dash.
pub(super) fn bytes(value: &Value) -> String {
    let Some(bytes) = value.as_f64() else { return "–".to_owned() };
    if bytes >= 1e9 { format!("{:.2} GB", bytes / 1e9) } else { format!("{:.1} MB", bytes / 1e6) }
}

/// Any value in one line.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) if whole > 9_999 => grouped(whole as f64),
            (None, Some(real)) if real.abs() >= 1e-3 && real.abs() < 1e6 => short(real, 4),
            _ => number.to_string().replace('-', "\u{2212}"),
        },
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            map.iter().map(|(key, value)| format!("{}: {}", spaced(key), plain(value))).collect::<Vec<_>>().join("; ")
        }
    }
}

/// `worst_missed_m` becomes `worst missed [m]`.
pub(super) fn spaced(key: &str) -> String {
    let (name, unit) = match key.rsplit_once('_') {
        Some((name, unit @ ("m" | "s" | "bytes" | "rad"))) => (name, format!(" [{unit}]")),
        _ => (key, String::new()),
    };
    format!("{}{unit}", name.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_readable() {
        assert_eq!(short(-0.125, 3), "\u{2212}0.125");
        assert_eq!(spaced("worst_missed_m"), "worst missed [m]");
        assert_eq!(plain(&json!({ "a_s": 1.5, "b": [1, true, null] })), "a [s]: 1.5; b: 1, yes, –");
        assert_eq!(duration(&json!(200.0)), "3 min 20 s");
    }
}
