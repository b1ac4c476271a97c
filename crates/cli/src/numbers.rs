//! Numbers as people read them.

use anabranch_kernel::maths;

/// `1 234 567`; from ten million on `1.2 × 10⁷`.
pub fn count(value: f64) -> String {
    if !value.is_finite() {
        return "more than 10³⁰⁸".to_owned();
    }
    if value >= 1e7 { power(value) } else { grouped(value.round() as u64) }
}

/// Digits in groups of three.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let first = digits.len() % 3;
    let mut out = digits[..first].to_owned();
    for group in digits.as_bytes()[first..].chunks(3) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(group.iter().map(|&digit| char::from(digit)));
    }
    out
}

fn power(value: f64) -> String {
    let mut exponent = (maths::ln(value) / std::f64::consts::LN_10).floor() as i32;
    let mut mantissa = value / 10_f64.powi(exponent);
    if mantissa >= 9.95 {
        (mantissa, exponent) = (mantissa / 10.0, exponent + 1);
    }
    format!("{mantissa:.1} × 10{}", raised(&exponent.to_string()))
}

/// Digits as exponents: `25` becomes `²⁵`.
pub fn raised(digits: &str) -> String {
    let up = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => c.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(c),
    };
    digits.chars().map(up).collect()
}

/// `12.5 s`, `3 min 20 s`, `2 h 5 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..10 => format!("{seconds:.1} s"),
        10..120 => format!("{whole} s"),
        120..7200 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// `12.3 MB`.
pub fn bytes(value: u64) -> String {
    let real = value as f64;
    if real >= 1e9 { format!("{:.2} GB", real / 1e9) } else { format!("{:.1} MB", real / 1e6) }
}

/// Metres to the millimetre, seconds to the hundredth: no more than `decimals`, none that say nothing.
pub fn short(value: f64, decimals: usize) -> String {
    if value.is_finite() && value.abs() >= 1e15 {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_stay_readable() {
        assert_eq!(count(0.0), "0");
        assert_eq!(count(1_234.0), "1 234");
        assert_eq!(count(123_456.0), "123 456");
        assert_eq!(count(9.0_f64.powi(25)), "7.2 × 10²³");
        assert_eq!(count(9.99e9), "1.0 × 10¹⁰");
        assert_eq!(count(f64::INFINITY), "more than 10³⁰⁸");
    }

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(duration(3.25), "3.2 s");
        assert_eq!(duration(200.0), "3 min 20 s");
        assert_eq!(duration(7_500.0), "2 h 5 min");
        assert_eq!(bytes(12_300_000), "12.3 MB");
        assert_eq!(short(-0.0001, 2), "0");
        assert_eq!(short(12.50, 2), "12.5");
        assert_eq!(short(100.0, 0), "100");
    }
}
