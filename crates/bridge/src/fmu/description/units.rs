//! Units: what a value of an FMU is in metres, seconds and radians.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::{child, number, required};
use crate::fmu::error::FmuError;

/// Exponents of metre, second and of everything else that a driver never sees; angles count as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Dimensions {
    /// Exponent of the metre.
    pub metre: i32,
    /// Exponent of the second.
    pub second: i32,
    /// Whether kilograms, amperes, kelvins, moles or candelas are in it.
    pub other: bool,
}

impl Dimensions {
    /// Of metres and seconds.
    pub const fn new(metre: i32, second: i32) -> Self {
        Self { metre, second, other: false }
    }
}

impl std::fmt::Display for Dimensions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.other {
            return f.write_str("something other than lengths and times");
        }
        match (self.metre, self.second) {
            (0, 0) => f.write_str("a plain number or an angle"),
            (1, 0) => f.write_str("a length"),
            (0, 1) => f.write_str("a time"),
            (1, -1) => f.write_str("a speed"),
            (1, -2) => f.write_str("an acceleration"),
            (-1, 0) => f.write_str("a curvature"),
            (metre, second) => write!(f, "m^{metre} s^{second}"),
        }
    }
}

/// A unit: SI value = factor · value + offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// SI units per unit.
    pub factor: f64,
    /// SI value of zero.
    pub offset: f64,
    /// What it measures.
    pub dimensions: Dimensions,
}

impl Unit {
    const fn new(factor: f64, metre: i32, second: i32) -> Self {
        Self { factor, offset: 0.0, dimensions: Dimensions::new(metre, second) }
    }
    /// Units that descriptions often name without defining them.
    pub fn common(name: &str) -> Option<Self> {
        const DEGREE: f64 = std::f64::consts::PI / 180.0;
        Some(match name {
            "1" | "-" | "rad" => Self::new(1.0, 0, 0),
            "deg" | "°" => Self::new(DEGREE, 0, 0),
            "%" => Self::new(0.01, 0, 0),
            "m" => Self::new(1.0, 1, 0),
            "cm" => Self::new(0.01, 1, 0),
            "mm" => Self::new(0.001, 1, 0),
            "km" => Self::new(1000.0, 1, 0),
            "ft" => Self::new(0.3048, 1, 0),
            "s" => Self::new(1.0, 0, 1),
            "ms" => Self::new(0.001, 0, 1),
            "m/s" => Self::new(1.0, 1, -1),
            "km/h" | "kph" => Self::new(1.0 / 3.6, 1, -1),
            "mph" | "mi/h" => Self::new(0.447_04, 1, -1),
            "m/s2" | "m/s^2" | "m/s²" => Self::new(1.0, 1, -2),
            "1/m" | "rad/m" => Self::new(1.0, -1, 0),
            "rad/s" | "1/s" | "Hz" => Self::new(1.0, 0, -1),
            "deg/s" | "°/s" => Self::new(DEGREE, 0, -1),
            _ => return None,
        })
    }
}

/// The defined units; one without a base unit is as good as not defined.
pub fn read(root: Node) -> Result<BTreeMap<String, Unit>, FmuError> {
    let Some(definitions) = child(root, "UnitDefinitions") else { return Ok(BTreeMap::new()) };
    let mut units = BTreeMap::new();
    for node in definitions.children().filter(|node| node.has_tag_name("Unit")) {
        let Some(base) = child(node, "BaseUnit") else { continue };
        let exponent = |name: &str| Ok::<_, FmuError>(number(base, name)?.unwrap_or(0.0) as i32);
        let mut other = false;
        for name in ["kg", "A", "K", "mol", "cd"] {
            other |= exponent(name)? != 0;
        }
        let unit = Unit {
            factor: number(base, "factor")?.unwrap_or(1.0),
            offset: number(base, "offset")?.unwrap_or(0.0),
            dimensions: Dimensions { metre: exponent("m")?, second: exponent("s")?, other },
        };
        units.insert(required(node, "name")?.to_owned(), unit);
    }
    Ok(units)
}
