//! Axes with ticks at 1, 2, 5 × 10ⁿ.

/// Maps values to pixels and says where ticks go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub from: f64,
    pub to: f64,
    pub log: bool,
    pub px_from: f64,
    pub px_to: f64,
}

impl Axis {
    /// Spans the values with round ends; logarithmic when they span more than two decades and are positive.
    pub fn around(values: impl Iterator<Item = f64>, scale: Scale, [px_from, px_to]: [f64; 2]) -> Self {
        let (mut low, mut high, mut low_positive) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
        for value in values.filter(|v| v.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
            if value > 0.0 {
                low_positive = low_positive.min(value);
            }
        }
        if low > high {
            (low, high, low_positive) = (0.0, 1.0, 1.0);
        }
        if scale == Scale::LogIfWide && high / low_positive > 100.0 {
            let (from, to) = (decade(low_positive.log10().floor()), decade(high.log10().ceil()));
            return Self { from, to, log: true, px_from, px_to };
        }
        if scale != Scale::Data {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if high - low <= 0.0 {
            high = low + 1.0;
        }
        let step = step_125((high - low) / 5.0);
        Self { from: (low / step).floor() * step, to: (high / step).ceil() * step, log: false, px_from, px_to }
    }

    pub fn map(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.from).log10() - self.from.log10()) / (self.to.log10() - self.from.log10())
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.px_from + share * (self.px_to - self.px_from)
    }

    /// Ticks with their labels, about one per `spacing_px`.
    pub fn ticks(&self, spacing_px: f64) -> Vec<(f64, String)> {
        if self.log {
            let (from, to) = (self.from.log10().round() as i32, self.to.log10().round() as i32);
            let room = ((self.px_to - self.px_from).abs() / spacing_px).max(1.0);
            let every = ((f64::from(to - from) / room).ceil() as usize).max(1);
            return (from..=to).step_by(every).map(|n| (decade(f64::from(n)), decade_label(n))).collect();
        }
        let count = ((self.px_to - self.px_from).abs() / spacing_px).max(1.0);
        let step = step_125((self.to - self.from) / count);
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let (first, last) = ((self.from / step - 1e-6).ceil() as i64, (self.to / step + 1e-6).floor() as i64);
        (first..=last).map(|n| n as f64 * step).map(|v| (v, fixed(v, decimals))).collect()
    }
}

/// How an axis spans its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// From zero.
    Linear,
    /// From zero, or logarithmic when the values span more than two decades.
    LogIfWide,
    /// Only the values.
    Data,
}

fn decade(exponent: f64) -> f64 {
    10_f64.powi(exponent as i32)
}

fn decade_label(exponent: i32) -> String {
    if (0..6).contains(&exponent) {
        grouped(decade(f64::from(exponent)))
    } else {
        format!("10{}", superscript(exponent))
    }
}

/// The next 1, 2 or 5 × 10ⁿ at or above a value.
pub(super) fn step_125(value: f64) -> f64 {
    let base = decade(value.max(1e-12).log10().floor());
    [1.0, 2.0, 5.0].map(|m| m * base).into_iter().find(|step| *step >= value * (1.0 - 1e-9)).unwrap_or(10.0 * base)
}

/// A number with a true minus sign.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let text = if decimals == 0 { grouped(value.abs()) } else { text };
    let zero = text.chars().all(|c| c == '0' || c == '.');
    if value < 0.0 && !zero { format!("\u{2212}{text}") } else { text }
}

/// `12 345` for counts a person can read, `1.2 × 10¹²` beyond.
pub(crate) fn grouped(value: f64) -> String {
    if value.abs() >= 1e7 {
        let exponent = value.abs().log10().floor();
        let mantissa = value / decade(exponent);
        return format!("{mantissa:.1}\u{a0}×\u{a0}10{}", superscript(exponent as i32));
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{a0}');
        }
        text.push(digit);
    }
    text
}

fn superscript(number: i32) -> String {
    let digit = |c| match c {
        '-' => '⁻',
        c => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize],
    };
    number.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_1_2_5() {
        for (value, expect) in
            [(0.7, 1.0), (1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (6.0, 10.0), (0.03, 0.05), (230.0, 500.0)]
        {
            assert!((step_125(value) - expect).abs() < 1e-9 * expect, "{value}");
        }
    }

    #[test]
    fn ticks_have_as_many_decimals_as_they_need() {
        let axis = Axis { from: -0.1, to: 0.1, log: false, px_from: 0.0, px_to: 400.0 };
        let labels: Vec<String> = axis.ticks(100.0).into_iter().map(|t| t.1).collect();
        assert_eq!(labels, ["−0.10", "−0.05", "0.00", "0.05", "0.10"]);
    }

    #[test]
    fn wide_values_get_decades() {
        let axis = Axis::around([3.0, 4_414.0, 51_000.0].into_iter(), Scale::LogIfWide, [0.0, 300.0]);
        assert!(axis.log);
        let labels: Vec<String> = axis.ticks(40.0).into_iter().map(|t| t.1).collect();
        assert_eq!(labels, ["1", "10", "100", "1\u{a0}000", "10\u{a0}000", "100\u{a0}000"]);
        assert_eq!(grouped(1.26e12), "1.3\u{a0}×\u{a0}10¹²");
    }
}
