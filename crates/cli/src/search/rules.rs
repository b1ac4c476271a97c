//! What points must keep to: conditions over the values that vary, in the language of requirements.

use anabranch_kernel::units::{Dimension as Measure, UNITS, parse_quantity};
use anabranch_logic::{Formula, SignalKind, Trace};

/// A point that just fails counts as broken by this much.
const JUST_BROKEN: f64 = 1e-12;

/// A value that a condition may speak about.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its path.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The value is this ..
    pub from: f64,
    /// .. and so much for each one of the dimension.
    pub each: f64,
    /// Whether it is a number at all.
    pub is_number: bool,
}

/// Reads a condition over values that vary; gives how far a point breaks it.
///
/// # Errors
/// With what cannot be understood, and how to go on.
pub fn rule(
    text: &str,
    dimensions: &[Named],
) -> Result<impl Fn(&[f64]) -> f64 + Send + Sync + 'static, (String, String)> {
    let mut order: Vec<usize> = (0..dimensions.len()).collect();
    // Longer names first: one may be the beginning of another.
    order.sort_by_key(|n| std::cmp::Reverse(dimensions[*n].name.len()));
    let mut plain = text.to_owned();
    for n in order {
        plain = plain.replace(&dimensions[n].name, &format!("value{n}"));
    }
    let names: Vec<String> = (0..dimensions.len()).map(|n| format!("value{n}")).collect();
    let (mut table, mut factors) = (Vec::new(), Vec::new());
    for (dimension, name) in dimensions.iter().zip(&names) {
        let unit = UNITS.iter().find(|unit| unit.name == dimension.unit);
        let measure = unit.map_or(Measure::Number, |unit| unit.dimension);
        let unit = parse_quantity(&format!("1 {}", dimension.unit), measure).unwrap_or(1.0);
        factors.push((unit * dimension.from, unit * dimension.each));
        table.push((name.as_str(), SignalKind::Real(measure)));
    }
    let formula = Formula::parse(&plain, &table).map_err(|error| {
        let known: Vec<&str> = dimensions
            .iter()
            .filter(|dimension| dimension.is_number)
            .map(|dimension| dimension.name.as_str())
            .collect();
        let mut message = error.message;
        for (name, dimension) in names.iter().zip(dimensions).rev() {
            message = message.replace(name.as_str(), &dimension.name);
        }
        (message, format!("what varies: {}", known.join(", ")))
    })?;
    Ok(move |values: &[f64]| {
        let signals = values.iter().zip(&factors).map(|(value, (from, each))| vec![from + each * value]).collect();
        let Ok(trace) = Trace::even(1.0, signals) else { return f64::INFINITY };
        match (formula.holds(&trace), formula.robustness(&trace)) {
            (Ok(true), Ok(_)) => 0.0,
            (Ok(false), Ok(margin)) => (-margin).max(JUST_BROKEN),
            _ => f64::INFINITY,
        }
    })
}
