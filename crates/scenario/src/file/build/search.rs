//! What a search may vary.

use super::super::inline::text_of;
use super::super::keys::Kind;
use super::super::search_spec::{Over, Range, SearchSpec, VarySpec};
use super::super::span::{Located, Span};
use super::super::tree::{Entry, Node, Value};
use super::super::view::View;

/// Simulations of a search that nobody limits.
const BUDGET: u64 = 300;
/// Most steps of a range, and most control points of a signal.
pub(in crate::file) const STEPS_MAX: usize = 1000;

pub(super) fn build(root: View<'_>) -> Option<SearchSpec> {
    let Some(view) = root.table("search") else {
        let span = Span { end: 0, ..root.span() };
        let (vary, require, objective, error_points) = (Vec::new(), Vec::new(), Vec::new(), None);
        return Some(SearchSpec { span, vary, require, objective, error_points, budget: Located::new(BUDGET, span) });
    };
    let mut vary = Vec::new();
    if let Some(node) = view.get("vary") {
        leaves(node, "", &mut vary);
    }
    let texts = |key: &str| {
        let items = view.get(key).map_or(&[][..], Node::items);
        items.iter().filter_map(|item| Some(Located::new(item.text()?.to_owned(), item.span))).collect()
    };
    Some(SearchSpec {
        span: view.span(),
        vary,
        require: texts("require"),
        objective: texts("objective"),
        error_points: view.small_count("error_points"),
        budget: view.count("budget")?,
    })
}

/// Paths may be written with quotes or as tables in tables.
fn leaves(node: &Node, path: &str, out: &mut Vec<VarySpec>) {
    for Entry { key, key_span, node } in node.entries() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if is_leaf(node) {
            if let Ok(over) = over(node) {
                out.push(VarySpec { key: Located::new(path, *key_span), over: Located::new(over, node.span) });
            }
        } else {
            leaves(node, &path, out);
        }
    }
}

/// Whether a value says over what to vary; a table without `range` is part of a path.
pub(in crate::file) fn is_leaf(node: &Node) -> bool {
    !matches!(node.value, Value::Table(_)) || node.get("range").is_some()
}

/// What is wrong, and how to mend it.
pub(in crate::file) type Wrong = (String, &'static str);

const HELP: &str =
    "write a range \"0.5 m .. 2 m\", one with a step \"0.5 m .. 2 m step 0.5 m\", or a list of alternatives";
const SIGNAL_HELP: &str = "write { range = \"-2 deg .. 2 deg\", points = 4, shape = \"linear\" }";

pub(in crate::file) fn over(node: &Node) -> Result<Over, Wrong> {
    match &node.value {
        Value::Text(text) => range(text),
        Value::List(items) if items.is_empty() => Err(("there is nothing to choose from".to_owned(), HELP)),
        Value::List(items) if items.len() > STEPS_MAX => {
            Err((format!("{} alternatives; at most {STEPS_MAX} are read", items.len()), HELP))
        }
        Value::List(items) => Ok(Over::OneOf(items.iter().map(text_of).collect())),
        Value::Table(entries) => signal(node, entries),
        _ => Err((format!("one value does not vary, and this is {}", node.type_name()), HELP)),
    }
}

fn signal(node: &Node, entries: &[Entry]) -> Result<Over, Wrong> {
    let known = ["range", "points", "shape"];
    if let Some(entry) = entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
        return Err((format!("a signal has no key `{}`", entry.key), SIGNAL_HELP));
    }
    let text = node.get("range").and_then(Node::text).ok_or(("the range is not a text".to_owned(), SIGNAL_HELP))?;
    let Over::Range(range) = range(text)? else {
        return Err(("a signal goes over a range without steps".to_owned(), SIGNAL_HELP));
    };
    let points = match node.get("points").map(|node| &node.value) {
        Some(Value::Integer(points)) => usize::try_from(*points).ok().filter(|n| (1..=STEPS_MAX).contains(n)),
        _ => None,
    };
    let points = points.ok_or((format!("`points` is a whole number from 1 to {STEPS_MAX}"), SIGNAL_HELP))?;
    let is_linear = match node.get("shape").map(Node::text) {
        None => false,
        Some(Some("linear")) => true,
        Some(Some("constant")) => false,
        Some(_) => return Err(("`shape` is \"constant\" or \"linear\"".to_owned(), SIGNAL_HELP)),
    };
    if is_linear && points < 2 {
        return Err(("a linear signal has at least 2 control points".to_owned(), SIGNAL_HELP));
    }
    Ok(Over::Signal { range, points, is_linear })
}

fn range(text: &str) -> Result<Over, Wrong> {
    let (lo, rest) = text.split_once("..").ok_or((format!("`{text}` is one value and does not vary"), HELP))?;
    let (hi, step) = rest.split_once("step").map_or((rest, None), |(hi, step)| (hi, Some(step)));
    let ((lo, first), (hi, unit)) = (number(lo)?, number(hi)?);
    if !first.is_empty() && first != unit {
        return Err((format!("the range begins in `{first}` and ends in `{unit}`"), "use one unit for both"));
    }
    if hi < lo {
        return Err((format!("the range {lo} .. {hi} is backwards"), "write the smaller number first"));
    }
    let range = Range { lo, hi, unit: unit.to_owned() };
    let Some(step) = step else { return Ok(Over::Range(range)) };
    let (step, third) = number(step)?;
    if third != unit || step <= 0.0 {
        return Err(("the step is a positive number in the unit of the range".to_owned(), HELP));
    }
    let count = ((hi - lo) / step + 1e-9).floor() + 1.0;
    if count > STEPS_MAX as f64 {
        return Err((format!("the range has {count} steps; at most {STEPS_MAX} are read"), HELP));
    }
    Ok(Over::Steps { range, step })
}

/// A number and what stands behind it.
fn number(text: &str) -> Result<(f64, &str), Wrong> {
    let text = text.trim();
    let bytes = text.as_bytes();
    let belongs = |at: usize| match bytes[at] {
        b'0'..=b'9' | b'.' | b'_' => true,
        b'+' | b'-' => at == 0 || matches!(bytes[at - 1], b'e' | b'E'),
        b'e' | b'E' => at > 0 && bytes.get(at + 1).is_some_and(|next| matches!(next, b'0'..=b'9' | b'+' | b'-')),
        _ => false,
    };
    let end = (0..bytes.len()).find(|at| !belongs(*at)).unwrap_or(bytes.len());
    let value = text[..end].replace('_', "").parse::<f64>();
    match value {
        Ok(value) if value.is_finite() => Ok((value + 0.0, text[end..].trim())),
        Ok(_) => Err((format!("`{text}` is not finite"), "use finite numbers")),
        Err(_) => Err((format!("`{text}` does not begin with a number"), HELP)),
    }
}

/// The kind behind a path; nothing where it leads nowhere.
pub(in crate::file) fn kind_at(path: &str) -> Option<Kind> {
    let mut kind = Kind::Table(&super::super::keys::ROOT);
    for step in path.split('.') {
        kind = match kind {
            Kind::Tables(section) => Kind::Table(section),
            _ => kind.section()?.key(step)?.kind,
        };
    }
    Some(kind)
}
