//! How likely an error is.

use super::super::codes::Code;
use super::super::error_spec::{ErrorKind, ModeWeights, ProbabilitySpec};
use super::super::problems::Problems;
use super::super::shape::{WEIGHT, WEIGHTS};
use super::super::span::Located;
use super::super::tree::{Entry, Value};
use super::super::values::read_values;
use super::super::view::View;

/// Decimal fractions miss their sum by less.
const ROUNDING: f64 = 1e-9;

pub(super) fn build(problems: &mut Problems<'_>, view: View<'_>, kind: &ErrorKind) -> Option<ProbabilitySpec> {
    let drifts = matches!(kind, ErrorKind::Drift { .. });
    let (own, foreign): (&str, &[&str]) = if drifts { ("grow", &["change"]) } else { ("change", &["grow", "decay"]) };
    for key in foreign {
        if let Some(span) = view.key_span(key) {
            let message = format!("`{key}` says nothing about this kind of error");
            let help =
                if drifts { "a drift stays, grows or decays" } else { "only drifts grow and decay; use `change`" };
            problems.add(Code::Exclusive, span, message, help);
            return None;
        }
    }
    let probability = ProbabilitySpec {
        begin: view.real("begin")?,
        stay: view.real("stay")?,
        change: view.real(own)?,
        decay: view.real("decay"),
        modes: modes(view)?,
        span: view.span(),
    };
    check_range(problems, &probability)?;
    check_sum(problems, &probability, own)?;
    Some(probability)
}

fn check_range(problems: &mut Problems<'_>, probability: &ProbabilitySpec) -> Option<()> {
    let ProbabilitySpec { begin, stay, change, decay, .. } = probability;
    let wrong = [Some(begin), Some(stay), Some(change), decay.as_ref()].into_iter().flatten().find(|p| p.value > 1.0);
    let Some(wrong) = wrong else { return Some(()) };
    let message = format!("{} is not a probability", wrong.value);
    problems.add(Code::NotAProbability, wrong.span, message, "write a number from 0 to 1; one percent is 0.01");
    None
}

fn check_sum(problems: &mut Problems<'_>, probability: &ProbabilitySpec, own: &str) -> Option<()> {
    let ProbabilitySpec { stay, change, decay, span, .. } = probability;
    let sum = stay.value + change.value + decay.map_or(0.0, |decay| decay.value);
    let (fits, names) = match decay {
        Some(_) => ((sum - 1.0).abs() <= ROUNDING, "`stay`, `grow` and `decay`".to_owned()),
        None => (sum <= 1.0 + ROUNDING, format!("`stay` and `{own}`")),
    };
    if fits {
        return Some(());
    }
    let wanted = if decay.is_some() { "exactly 1" } else { "at most 1" };
    let message = format!("{names} are {} together, and must be {wanted}", (sum * 1e9).round() / 1e9);
    problems.add(Code::DoesNotAddUp, *span, message, "what is left over ends the error");
    None
}

fn modes(view: View<'_>) -> Option<ModeWeights> {
    let Some(node) = view.get("modes") else { return Some(ModeWeights::Equal) };
    let weight = |entry: &Entry| {
        let name = Located::new(entry.key.clone(), entry.key_span);
        Some((name, read_values(&entry.node, &WEIGHT).ok()?.first()?.value))
    };
    match &node.value {
        Value::Table(named) => named.iter().map(weight).collect::<Option<Vec<_>>>().map(ModeWeights::Named),
        _ => {
            let values = read_values(node, &WEIGHTS).ok()?;
            Some(ModeWeights::Listed(Located::new(values.iter().map(|m| m.value).collect(), node.span)))
        }
    }
}
