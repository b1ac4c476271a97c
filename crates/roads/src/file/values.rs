//! Numbers with units, names, words and points.

use anabranch_geometry::Point;
use anabranch_kernel::units::{Dimension, QuantityError, parse_quantity};

use super::tree::{Node, Table};
use crate::plan::LaneName;
use crate::report::Notes;

/// A quantity in SI units.
pub(super) fn quantity(node: Node<'_>, dimension: Dimension, notes: &mut Notes<'_>) -> Option<f64> {
    let unit = dimension.si();
    if let Some(number) = node.value.as_float().or_else(|| node.value.as_integer().map(|number| number as f64)) {
        if !number.is_finite() {
            notes.add("E0111", node.span, "the number is not finite", "write an ordinary number");
        } else if dimension == Dimension::Number {
            return within(number, dimension, &node, notes);
        } else {
            notes.add("E0104", node.span, "the number needs its unit", format!("write \"{number} {unit}\""));
        }
        return None;
    }
    let text = node.text(notes)?;
    let (code, message, help) = match parse_quantity(text, dimension) {
        Ok(value) => return within(value, dimension, &node, notes),
        Err(QuantityError::NotANumber) => {
            ("E0110", format!("`{text}` does not begin with a number"), format!("write for example \"2 {unit}\""))
        }
        Err(QuantityError::NotFinite) => {
            ("E0111", format!("`{text}` is not finite"), "write an ordinary number".to_owned())
        }
        Err(QuantityError::NoUnit) => {
            ("E0104", "the number needs its unit".to_owned(), format!("write \"{text} {unit}\""))
        }
        Err(QuantityError::UnknownUnit(name)) => {
            ("E0108", format!("there is no unit `{name}`"), format!("units: {}", units(dimension)))
        }
        Err(QuantityError::WrongUnit(wrong)) => {
            let message = format!("`{}` is a unit of something else", wrong.name);
            ("E0109", message, format!("units: {}", units(dimension)))
        }
    };
    notes.add(code, node.span, message, help);
    None
}

/// A value that is not beyond what its dimension may have.
fn within(value: f64, dimension: Dimension, node: &Node<'_>, notes: &mut Notes<'_>) -> Option<f64> {
    let (most, unit) = (dimension.largest(), dimension.si());
    if value.abs() <= most {
        return Some(value);
    }
    let message = format!("the value is more than {most} {unit}, the most there is");
    notes.add("E0119", node.span, message.replace(" ,", ","), "is the unit right?");
    None
}

fn units(dimension: Dimension) -> String {
    dimension.units().map(|unit| unit.name).collect::<Vec<_>>().join(", ")
}

/// A quantity of a key, or its default if the key is missing.
pub(super) fn quantity_or(
    table: &mut Table<'_>,
    key: &'static str,
    dimension: Dimension,
    default: f64,
    notes: &mut Notes<'_>,
) -> f64 {
    table.take(key).and_then(|node| quantity(node, dimension, notes)).unwrap_or(default)
}

/// A whole number of a key, or its default if the key is missing.
pub(super) fn count_or(table: &mut Table<'_>, key: &'static str, default: usize, notes: &mut Notes<'_>) -> usize {
    let Some(node) = table.take(key) else { return default };
    match node.value.as_integer().map(usize::try_from) {
        Some(Ok(number)) if number <= COUNT_MAX => return number,
        Some(_) => notes.add("E0119", node.span, "the number is out of range", format!("write 0 to {COUNT_MAX}")),
        None => node.complain("a whole number", "write digits only, without quotes", notes),
    }
    default
}

/// Largest number of lanes, blocks, way-points that a map file counts.
const COUNT_MAX: usize = 100_000;

/// The text of a key that must be there.
pub(super) fn needed_text<'d>(table: &mut Table<'d>, key: &'static str, notes: &mut Notes<'_>) -> Option<&'d str> {
    needed(table, key, notes)?.text(notes)
}

/// The value of a key that must be there.
pub(super) fn needed<'d>(table: &mut Table<'d>, key: &'static str, notes: &mut Notes<'_>) -> Option<Node<'d>> {
    let node = table.take(key);
    if node.is_none() {
        notes.add("E0106", table.span, format!("`{key}` is missing here"), format!("add `{key} = …`"));
    }
    node
}

/// The id of a table.
pub(super) fn id(table: &mut Table<'_>, notes: &mut Notes<'_>) -> String {
    let Some(node) = needed(table, "id", notes) else { return String::new() };
    let text = node.text(notes).unwrap_or_default();
    let is_fine = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !is_fine {
        let help = "ids consist of letters, digits, `-` and `_`";
        notes.add("E0122", node.span, format!("`{text}` cannot be an id"), help);
    }
    text.to_owned()
}

/// `road.lane`.
pub(super) fn lane_name(node: Node<'_>, notes: &mut Notes<'_>) -> Option<LaneName> {
    let text = node.text(notes)?;
    let name = text.split_once('.').map(|(road, lane)| LaneName::new(road, lane));
    if name.is_none() {
        let help = "write road and lane with a point between them: \"main.1\"";
        notes.add("E0110", node.span, format!("`{text}` does not name a lane"), help);
    }
    name
}

/// One of a few words.
pub(super) fn word<T: Copy>(node: Node<'_>, words: &[(&str, T)], notes: &mut Notes<'_>) -> Option<T> {
    let text = node.text(notes)?;
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    if found.is_none() {
        let known = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        notes.add("E0114", node.span, format!("`{text}` is not one of the words"), format!("write one of: {known}"));
    }
    found
}

/// `["1 m", "2 m"]`.
pub(super) fn point(node: Node<'_>, notes: &mut Notes<'_>) -> Option<Point> {
    let items = node.items(notes);
    if items.len() != 2 && node.value.is_array() {
        notes.add("E0107", node.span, "a point has two coordinates", "write [\"1 m\", \"2 m\"]");
    }
    let [x, y] = items[..] else { return None };
    let (x, y) = (quantity(x, Dimension::Length, notes), quantity(y, Dimension::Length, notes));
    Some(Point::new(x?, y?))
}

/// A list of points.
pub(super) fn points(node: Node<'_>, notes: &mut Notes<'_>) -> Vec<Point> {
    node.items(notes).into_iter().filter_map(|item| point(item, notes)).collect()
}
