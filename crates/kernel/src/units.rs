//! Units as types, and units as text.
//!
//! Quantities that a person enters are typed, so that mixing them does not compile (S2-38):
//!
//! ```
//! use anabranch_kernel::units::{Length, Time, Velocity, metre, second, metre_per_second};
//! let way = Length::new::<metre>(30.0);
//! let speed: Velocity = way / Time::new::<second>(3.0);
//! assert_eq!(speed.get::<metre_per_second>(), 10.0);
//! ```
//!
//! ```compile_fail
//! use anabranch_kernel::units::{Length, Time, metre, second};
//! let nonsense = Length::new::<metre>(30.0) + Time::new::<second>(3.0);
//! ```
//!
//! Inside the loops numbers are plain `f64` in SI units with the unit last in their name: `gap_m`, `speed_mps`.

pub use uom::si::acceleration::meter_per_second_squared as metre_per_second_squared;
pub use uom::si::angle::{degree, radian};
pub use uom::si::angular_velocity::radian_per_second;
pub use uom::si::f64::{Acceleration, Angle, AngularVelocity, Length, Time, Velocity};
pub use uom::si::length::meter as metre;
pub use uom::si::time::second;
pub use uom::si::velocity::meter_per_second as metre_per_second;

/// The physical dimensions that scenario values can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Metres.
    Length,
    /// Square metres.
    Area,
    /// Seconds.
    Time,
    /// Metres per second.
    Speed,
    /// Metres per second squared.
    Acceleration,
    /// Metres per second cubed.
    Jerk,
    /// Radians.
    Angle,
    /// Radians per second.
    AngularSpeed,
    /// One over metres.
    Curvature,
    /// One over metres squared (a path gain).
    CurvaturePerLength,
    /// One over seconds.
    Rate,
    /// Kilograms.
    Mass,
    /// Kilograms times metres squared, about an axis.
    Inertia,
    /// Newtons per radian, of tyres.
    Stiffness,
    /// Pascals.
    Pressure,
    /// Bytes.
    Memory,
    /// A plain number.
    Number,
}

/// A unit a person may write, with its factor to SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// As written: `km/h`.
    pub name: &'static str,
    /// What it measures.
    pub dimension: Dimension,
    /// SI value of one of it.
    pub factor: f64,
}

const fn unit(name: &'static str, dimension: Dimension, factor: f64) -> Unit {
    Unit { name, dimension, factor }
}

/// Every unit that is understood. The first of each dimension is the one we print.
pub const UNITS: &[Unit] = &[
    unit("m", Dimension::Length, 1.0),
    unit("cm", Dimension::Length, 0.01),
    unit("mm", Dimension::Length, 0.001),
    unit("km", Dimension::Length, 1000.0),
    unit("m^2", Dimension::Area, 1.0),
    unit("m²", Dimension::Area, 1.0),
    unit("cm^2", Dimension::Area, 1e-4),
    unit("cm²", Dimension::Area, 1e-4),
    unit("s", Dimension::Time, 1.0),
    unit("ms", Dimension::Time, 0.001),
    unit("min", Dimension::Time, 60.0),
    unit("h", Dimension::Time, 3600.0),
    unit("m/s", Dimension::Speed, 1.0),
    unit("km/h", Dimension::Speed, 1.0 / 3.6),
    unit("mph", Dimension::Speed, 0.447_04),
    unit("m/s^2", Dimension::Acceleration, 1.0),
    unit("m/s²", Dimension::Acceleration, 1.0),
    unit("m/s^3", Dimension::Jerk, 1.0),
    unit("m/s³", Dimension::Jerk, 1.0),
    unit("rad", Dimension::Angle, 1.0),
    unit("deg", Dimension::Angle, std::f64::consts::PI / 180.0),
    unit("°", Dimension::Angle, std::f64::consts::PI / 180.0),
    unit("rad/s", Dimension::AngularSpeed, 1.0),
    unit("deg/s", Dimension::AngularSpeed, std::f64::consts::PI / 180.0),
    unit("°/s", Dimension::AngularSpeed, std::f64::consts::PI / 180.0),
    unit("1/m", Dimension::Curvature, 1.0),
    unit("1/m^2", Dimension::CurvaturePerLength, 1.0),
    unit("1/m²", Dimension::CurvaturePerLength, 1.0),
    unit("1/s", Dimension::Rate, 1.0),
    unit("Hz", Dimension::Rate, 1.0),
    unit("kg", Dimension::Mass, 1.0),
    unit("t", Dimension::Mass, 1000.0),
    unit("kg*m^2", Dimension::Inertia, 1.0),
    unit("kg·m²", Dimension::Inertia, 1.0),
    unit("N/rad", Dimension::Stiffness, 1.0),
    unit("kN/rad", Dimension::Stiffness, 1000.0),
    unit("Pa", Dimension::Pressure, 1.0),
    unit("kPa", Dimension::Pressure, 1e3),
    unit("bar", Dimension::Pressure, 1e5),
    unit("B", Dimension::Memory, 1.0),
    unit("kB", Dimension::Memory, 1e3),
    unit("MB", Dimension::Memory, 1e6),
    unit("GB", Dimension::Memory, 1e9),
];

impl Dimension {
    /// What it is called in messages: `a length`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Length => "a length",
            Self::Area => "an area",
            Self::Time => "a time",
            Self::Speed => "a speed",
            Self::Acceleration => "an acceleration",
            Self::Jerk => "a jerk",
            Self::Angle => "an angle",
            Self::AngularSpeed => "an angular speed",
            Self::Curvature => "a curvature",
            Self::CurvaturePerLength => "a curvature per length",
            Self::Rate => "a rate",
            Self::Mass => "a mass",
            Self::Inertia => "a moment of inertia",
            Self::Stiffness => "a stiffness",
            Self::Pressure => "a pressure",
            Self::Memory => "an amount of memory",
            Self::Number => "a plain number",
        }
    }
    /// The largest absolute value, in SI units, that files and the command line may give.
    ///
    /// Far beyond anything that drives, and small enough that squares and products of a few values keep their digits, that
    /// grids over the world can be counted, and that one tick never covers more of the world than it has.
    pub const fn largest(self) -> f64 {
        match self {
            // A thousand kilometres, as for coordinates of maps; there a double still resolves a nanometre.
            Self::Length => 1e6,
            Self::Area => 1e12,
            // Almost four months, of simulated time or on the clock of a budget.
            Self::Time => 1e7,
            // More than the land speed record of 341 m/s.
            Self::Speed => 500.0,
            // A hundred times what falls; brakes and crashes stay below it.
            Self::Acceleration => 1e3,
            Self::Jerk => 1e6,
            // More than a hundred turns: sines of larger angles lose digits.
            Self::Angle | Self::AngularSpeed => 1e3,
            // Arcs of a centimetre.
            Self::Curvature => 100.0,
            Self::CurvaturePerLength | Self::Rate => 1e4,
            // A thousand tonnes, and bodies and tyres that belong to it.
            Self::Mass => 1e6,
            Self::Inertia | Self::Stiffness => 1e9,
            Self::Pressure => 1e8,
            Self::Memory => 1e15,
            Self::Number => 1e9,
        }
    }
    /// The unit we print values of this dimension in.
    pub fn si(self) -> &'static str {
        UNITS.iter().find(|u| u.dimension == self).map_or("", |u| u.name)
    }
    /// Every unit of this dimension.
    pub fn units(self) -> impl Iterator<Item = &'static Unit> {
        UNITS.iter().filter(move |u| u.dimension == self)
    }
}

/// The smallest value, in SI units, of a quantity that must be positive: below it, divisions and squares leave the range
/// of what can be computed.
pub const SMALLEST_POSITIVE: f64 = 1e-9;

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// No number at its beginning.
    NotANumber,
    /// Infinite or not a number.
    NotFinite,
    /// A number without unit where one is needed.
    NoUnit,
    /// A unit nobody knows.
    UnknownUnit(String),
    /// A unit of another dimension.
    WrongUnit(&'static Unit),
}

impl Eq for Unit {}

/// Reads `"0.1 m"` as a value in SI units.
///
/// ```
/// use anabranch_kernel::units::{Dimension, QuantityError, parse_quantity};
/// assert_eq!(parse_quantity("36 km/h", Dimension::Speed), Ok(10.0));
/// assert_eq!(parse_quantity("3", Dimension::Length), Err(QuantityError::NoUnit));
/// ```
///
/// # Errors
/// When the number or its unit cannot be understood, or the unit measures something else.
pub fn parse_quantity(text: &str, dimension: Dimension) -> Result<f64, QuantityError> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-._eE".contains(c))).unwrap_or(text.len());
    // An exponent needs a digit: in `2e` or `3 E` the letter belongs to the unit.
    let (number, name) = text.split_at(end);
    let value: f64 = number.replace('_', "").parse().map_err(|_| {
        if text.to_ascii_lowercase().contains("nan") || text.to_ascii_lowercase().contains("inf") {
            QuantityError::NotFinite
        } else {
            QuantityError::NotANumber
        }
    })?;
    if !value.is_finite() {
        return Err(QuantityError::NotFinite);
    }
    let name = name.trim();
    if name.is_empty() {
        return if dimension == Dimension::Number { Ok(value) } else { Err(QuantityError::NoUnit) };
    }
    let unit = UNITS.iter().find(|u| u.name == name).ok_or_else(|| QuantityError::UnknownUnit(name.to_owned()))?;
    if unit.dimension == dimension { Ok(value * unit.factor) } else { Err(QuantityError::WrongUnit(unit)) }
}
