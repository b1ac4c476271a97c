//! Variables of an FMU as numbers in SI units, several of one type at once.

use super::description::{Description, Dimensions, Unit, Variable, Wire};
use super::error::FmuError;

/// A variable as a number in SI units.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Name of the variable.
    pub name: String,
    /// Its number in the binary.
    pub reference: u32,
    /// Its type.
    pub wire: Wire,
    /// What one is worth.
    pub unit: Unit,
}

/// One of a type's own unit.
const PLAIN: Unit = Unit { factor: 1.0, offset: 0.0, dimensions: Dimensions::new(0, 0) };

impl Port {
    /// The variable as a number in its own unit.
    ///
    /// # Errors
    /// When it is no single number.
    pub fn plain(variable: &Variable) -> Result<Self, FmuError> {
        let refuse = |what: &str| {
            let (name, line) = (&variable.name, variable.line);
            Err(FmuError::Mapping { text: format!("modelDescription.xml:{line}: `{name}` is {what}, not a number") })
        };
        if !variable.wire.is_number() {
            return refuse("a text, binary data or a clock");
        }
        if !variable.is_scalar {
            return refuse("an array");
        }
        let (name, reference, wire) = (variable.name.clone(), variable.reference, variable.wire);
        Ok(Self { name, reference, wire, unit: PLAIN })
    }
    /// The variable as a number in SI units; what it measures must be what is `expected`, if it says.
    ///
    /// # Errors
    /// When it is no single number, or its unit is unknown or measures something else.
    pub fn si(description: &Description, variable: &Variable, expected: Dimensions) -> Result<Self, FmuError> {
        let port = Self::plain(variable)?;
        let Some(name) = &variable.unit else { return Ok(port) };
        let fail = |what: String| FmuError::Mapping {
            text: format!("modelDescription.xml:{}: `{}` has the unit `{name}`, {what}", variable.line, variable.name),
        };
        let unit = description.units.get(name).copied().or_else(|| Unit::common(name));
        let unit = unit.ok_or_else(|| fail("which the FMU does not define and nobody here knows".to_owned()))?;
        if unit.dimensions != expected {
            return Err(fail(format!("which measures {}, but {expected} is wanted", unit.dimensions)));
        }
        if unit.factor == 0.0 {
            return Err(fail("whose factor is zero".to_owned()));
        }
        Ok(Self { unit, ..port })
    }
}

/// Variables of one type, set or read by one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// Their type.
    pub wire: Wire,
    /// Their numbers.
    pub references: Vec<u32>,
    /// Where each one's value is in the list of all values, and its unit.
    pub places: Vec<(usize, Unit)>,
}

/// Sorts ports into one bundle per type; the value of a port stands where the port stands.
pub fn bundles<'p>(ports: impl IntoIterator<Item = &'p Port>) -> Vec<Bundle> {
    let mut bundles: Vec<Bundle> = Vec::new();
    for (place, port) in ports.into_iter().enumerate() {
        let at = bundles.iter().position(|bundle| bundle.wire == port.wire).unwrap_or_else(|| {
            bundles.push(Bundle { wire: port.wire, references: Vec::new(), places: Vec::new() });
            bundles.len() - 1
        });
        bundles[at].references.push(port.reference);
        bundles[at].places.push((place, port.unit));
    }
    bundles
}
