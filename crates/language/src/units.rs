//! Units as people write them in models: SI with prefixes, products, quotients and whole powers.
//!
//! A unit has seven exponents and an exact fraction that leads to SI. Angles count as plain numbers, as in SI:
//! an arc is a radius times an angle.
//!
//! ```
//! use anabranch_language::units::Unit;
//! let speed: Unit = "km/h".parse().unwrap();
//! assert_eq!(speed.to_si(36.0), 10.0);
//! assert!("kg".parse::<Unit>().unwrap().dimension != speed.dimension);
//! ```

use std::fmt;
use std::str::FromStr;

/// Exponents of metre, kilogram, second, ampere, kelvin, mole and candela.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dimension(pub [i8; 7]);

/// Names of the seven, in the order of [`Dimension`].
const BASE: [&str; 7] = ["m", "kg", "s", "A", "K", "mol", "cd"];

impl Dimension {
    /// A plain number.
    pub const NUMBER: Self = Self([0; 7]);

    /// Exponents added: the dimension of a product.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].saturating_add(other.0[i])))
    }

    /// Exponents multiplied: the dimension of a power.
    #[must_use]
    pub fn power(self, exponent: i32) -> Self {
        let clamp = |x: i32| i8::try_from(x).unwrap_or(if x < 0 { i8::MIN } else { i8::MAX });
        Self(self.0.map(|e| clamp(i32::from(e).saturating_mul(exponent))))
    }

    /// Exponents halved, where all are even: the dimension of a square root.
    pub fn root(self) -> Option<Self> {
        self.0.iter().all(|e| e % 2 == 0).then(|| Self(self.0.map(|e| e / 2)))
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |(name, e): (&str, i8)| if e == 1 { name.to_owned() } else { format!("{name}^{e}") };
        let of = |keep: fn(i8) -> bool, sign: i8| -> Vec<String> {
            BASE.iter().zip(self.0).filter(|(_, e)| keep(*e)).map(|(n, e)| part((n, e * sign))).collect()
        };
        let (above, below) = (of(|e| e > 0, 1), of(|e| e < 0, -1));
        match (above.is_empty(), below.is_empty()) {
            (true, true) => write!(f, "a plain number"),
            (false, true) => write!(f, "{}", above.join("*")),
            (true, false) => write!(f, "1/{}", below.join("/")),
            (false, false) => write!(f, "{}/{}", above.join("*"), below.join("/")),
        }
    }
}

/// A unit: what it measures and how it leads to SI, `si = value * times / over + plus`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// Numerator of the factor.
    pub times: f64,
    /// Denominator of the factor; both are kept so that 36 km/h is 10 m/s to the last bit.
    pub over: f64,
    /// Offset, for degrees Celsius and Fahrenheit.
    pub plus: f64,
}

impl Unit {
    /// A plain number.
    pub const ONE: Self = Self { dimension: Dimension::NUMBER, times: 1.0, over: 1.0, plus: 0.0 };

    /// The value in SI.
    pub fn to_si(self, value: f64) -> f64 {
        if self.times == self.over { value + self.plus } else { value * self.times / self.over + self.plus }
    }

    /// The value in this unit of something in SI.
    pub fn from_si(self, value: f64) -> f64 {
        (value - self.plus) * self.over / self.times
    }

    /// The size of a difference in SI: without the offset.
    pub fn difference_to_si(self, value: f64) -> f64 {
        Self { plus: 0.0, ..self }.to_si(value)
    }

    fn times(self, other: Self) -> Self {
        Self {
            dimension: self.dimension.times(other.dimension),
            times: self.times * other.times,
            over: self.over * other.over,
            plus: 0.0,
        }
    }

    fn power(self, exponent: i32) -> Self {
        let (times, over) = if exponent < 0 { (self.over, self.times) } else { (self.times, self.over) };
        let raised = |x: f64| (0..exponent.unsigned_abs().min(16)).fold(1.0, |product, _| product * x);
        Self { dimension: self.dimension.power(exponent), times: raised(times), over: raised(over), plus: 0.0 }
    }

    /// One factor of a unit by its name, prefix included: `km`, `h`, `Ohm`, `°`.
    pub fn named(name: &str) -> Option<Self> {
        if let Some(unit) = plain(name) {
            return Some(unit);
        }
        PREFIXES.iter().find_map(|&(prefix, times, over)| {
            let rest = name.strip_prefix(prefix)?;
            let unit = plain(rest)?;
            takes_prefix(rest).then_some(Self { times: unit.times * times, over: unit.over * over, ..unit })
        })
    }
}

const PREFIXES: [(&str, f64, f64); 20] = [
    ("da", 10.0, 1.0),
    ("Y", 1e24, 1.0),
    ("Z", 1e21, 1.0),
    ("E", 1e18, 1.0),
    ("P", 1e15, 1.0),
    ("T", 1e12, 1.0),
    ("G", 1e9, 1.0),
    ("M", 1e6, 1.0),
    ("k", 1e3, 1.0),
    ("h", 1e2, 1.0),
    ("d", 1.0, 1e1),
    ("c", 1.0, 1e2),
    ("m", 1.0, 1e3),
    ("u", 1.0, 1e6),
    ("µ", 1.0, 1e6),
    ("μ", 1.0, 1e6),
    ("n", 1.0, 1e9),
    ("p", 1.0, 1e12),
    ("f", 1.0, 1e15),
    ("a", 1.0, 1e18),
];

/// Whether a unit is one of those that SI prefixes go with.
fn takes_prefix(name: &str) -> bool {
    const WITH: [&str; 29] = [
        "m", "g", "s", "A", "K", "mol", "cd", "Hz", "N", "Pa", "J", "W", "C", "V", "F", "Ohm", "Ω", "S", "Wb", "T",
        "H", "lm", "lx", "Bq", "Gy", "Sv", "kat", "eV", "rad",
    ];
    WITH.contains(&name)
}

/// A unit without prefix.
fn plain(name: &str) -> Option<Unit> {
    const DEGREE: f64 = std::f64::consts::PI / 180.0;
    let (dimension, times, over, plus) = match name {
        "m" => ([1, 0, 0, 0, 0, 0, 0], 1.0, 1.0, 0.0),
        "g" => ([0, 1, 0, 0, 0, 0, 0], 1.0, 1e3, 0.0),
        "s" => ([0, 0, 1, 0, 0, 0, 0], 1.0, 1.0, 0.0),
        "A" => ([0, 0, 0, 1, 0, 0, 0], 1.0, 1.0, 0.0),
        "K" => ([0, 0, 0, 0, 1, 0, 0], 1.0, 1.0, 0.0),
        "mol" => ([0, 0, 0, 0, 0, 1, 0], 1.0, 1.0, 0.0),
        "cd" | "lm" => ([0, 0, 0, 0, 0, 0, 1], 1.0, 1.0, 0.0),
        "lx" => ([-2, 0, 0, 0, 0, 0, 1], 1.0, 1.0, 0.0),
        "Hz" | "Bq" => ([0, 0, -1, 0, 0, 0, 0], 1.0, 1.0, 0.0),
        "N" => ([1, 1, -2, 0, 0, 0, 0], 1.0, 1.0, 0.0),
        "Pa" => ([-1, 1, -2, 0, 0, 0, 0], 1.0, 1.0, 0.0),
        "bar" => ([-1, 1, -2, 0, 0, 0, 0], 1e5, 1.0, 0.0),
        "J" => ([2, 1, -2, 0, 0, 0, 0], 1.0, 1.0, 0.0),
        "eV" => ([2, 1, -2, 0, 0, 0, 0], 1.602_176_634e-19, 1.0, 0.0),
        "W" => ([2, 1, -3, 0, 0, 0, 0], 1.0, 1.0, 0.0),
        "C" => ([0, 0, 1, 1, 0, 0, 0], 1.0, 1.0, 0.0),
        "V" => ([2, 1, -3, -1, 0, 0, 0], 1.0, 1.0, 0.0),
        "F" => ([-2, -1, 4, 2, 0, 0, 0], 1.0, 1.0, 0.0),
        "Ohm" | "Ω" => ([2, 1, -3, -2, 0, 0, 0], 1.0, 1.0, 0.0),
        "S" => ([-2, -1, 3, 2, 0, 0, 0], 1.0, 1.0, 0.0),
        "Wb" => ([2, 1, -2, -1, 0, 0, 0], 1.0, 1.0, 0.0),
        "T" => ([0, 1, -2, -1, 0, 0, 0], 1.0, 1.0, 0.0),
        "H" => ([2, 1, -2, -2, 0, 0, 0], 1.0, 1.0, 0.0),
        "Gy" | "Sv" => ([2, 0, -2, 0, 0, 0, 0], 1.0, 1.0, 0.0),
        "kat" => ([0, 0, -1, 0, 0, 1, 0], 1.0, 1.0, 0.0),
        "min" => ([0, 0, 1, 0, 0, 0, 0], 60.0, 1.0, 0.0),
        "h" => ([0, 0, 1, 0, 0, 0, 0], 3600.0, 1.0, 0.0),
        "day" => ([0, 0, 1, 0, 0, 0, 0], 86_400.0, 1.0, 0.0),
        "ha" => ([2, 0, 0, 0, 0, 0, 0], 1e4, 1.0, 0.0),
        "l" | "L" => ([3, 0, 0, 0, 0, 0, 0], 1.0, 1e3, 0.0),
        "t" => ([0, 1, 0, 0, 0, 0, 0], 1e3, 1.0, 0.0),
        "au" => ([1, 0, 0, 0, 0, 0, 0], 149_597_870_700.0, 1.0, 0.0),
        "in" => ([1, 0, 0, 0, 0, 0, 0], 254.0, 1e4, 0.0),
        "ft" => ([1, 0, 0, 0, 0, 0, 0], 3048.0, 1e4, 0.0),
        "yd" => ([1, 0, 0, 0, 0, 0, 0], 9144.0, 1e4, 0.0),
        "mi" => ([1, 0, 0, 0, 0, 0, 0], 1_609_344.0, 1e3, 0.0),
        "lb" => ([0, 1, 0, 0, 0, 0, 0], 45_359_237.0, 1e8, 0.0),
        "oz" => ([0, 1, 0, 0, 0, 0, 0], 45_359_237.0, 16e8, 0.0),
        "rad" | "sr" => ([0; 7], 1.0, 1.0, 0.0),
        "deg" | "°" => ([0; 7], DEGREE, 1.0, 0.0),
        "°C" | "degC" => ([0, 0, 0, 0, 1, 0, 0], 1.0, 1.0, 273.15),
        "°F" | "degF" => ([0, 0, 0, 0, 1, 0, 0], 5.0, 9.0, 459.67 * 5.0 / 9.0),
        _ => return None,
    };
    Some(Unit { dimension: Dimension(dimension), times, over, plus })
}

/// The part of a unit that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownUnit(pub String);

impl FromStr for Unit {
    type Err = UnknownUnit;

    fn from_str(text: &str) -> Result<Self, UnknownUnit> {
        let mut unit = Self::ONE;
        let mut rest = text.trim();
        let mut sign = 1;
        if let Some(after) = rest.strip_prefix("1/") {
            (sign, rest) = (-1, after);
        }
        let mut alone = true;
        loop {
            let end = rest.find(['*', '/', '·']).unwrap_or(rest.len());
            let (name, exponent) = split_power(&rest[..end]).ok_or_else(|| UnknownUnit(rest[..end].to_owned()))?;
            let factor = Self::named(name).ok_or_else(|| UnknownUnit(name.to_owned()))?;
            let last = end == rest.len();
            if alone && last && sign == 1 && exponent == 1 {
                return Ok(factor);
            }
            unit = unit.times(factor.power(exponent * sign));
            if last {
                return Ok(unit);
            }
            sign = if rest[end..].starts_with('/') { -1 } else { 1 };
            rest = &rest[end + rest[end..].chars().next().map_or(1, char::len_utf8)..];
            alone = false;
        }
    }
}

/// `s^2`, `s²`, `s^-1`: the name and its power.
fn split_power(text: &str) -> Option<(&str, i32)> {
    let text = text.trim();
    if let Some((name, power)) = text.split_once('^') {
        return Some((name.trim(), power.trim().parse().ok().filter(|p: &i32| p.abs() <= 16)?));
    }
    match (text.strip_suffix('²'), text.strip_suffix('³')) {
        (Some(name), _) => Some((name, 2)),
        (_, Some(name)) => Some((name, 3)),
        _ => Some((text, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, value: f64, si: f64, dimension: &str) {
        let unit: Unit = text.parse().unwrap();
        assert_eq!(unit.to_si(value), si, "{value} {text}");
        assert_eq!(unit.dimension.to_string(), dimension, "{text}");
    }

    #[test]
    fn units_lead_to_si_without_a_lost_bit() {
        check("km/h", 36.0, 10.0, "m/s");
        check("cm", 130.0, 1.3, "m");
        check("m/s^2", 2.0, 2.0, "m/s^2");
        check("kg", 3.0, 3.0, "kg");
        check("t", 2.0, 2000.0, "kg");
        check("mm", 40.0, 0.04, "m");
        check("kN*m", 1.5, 1500.0, "m^2*kg/s^2");
        check("°C", 20.0, 293.15, "K");
        check("1/s", 4.0, 4.0, "1/s");
        check("min", 2.0, 120.0, "s");
        check("deg", 180.0, std::f64::consts::PI, "a plain number");
    }

    #[test]
    fn what_is_no_unit_is_named() {
        for (text, culprit) in [("kmh", "kmh"), ("m/sek", "sek"), ("", ""), ("m^x", "m^x"), ("km/", "")] {
            assert_eq!(text.parse::<Unit>(), Err(UnknownUnit(culprit.to_owned())), "{text}");
        }
    }
}
