//! Exploration and requirements.

use super::super::codes::Code;
use super::super::problems::Problems;
use super::super::shape::{cell_size, items_or_self};
use super::super::span::Located;
use super::super::spec::{BudgetSpec, ExploreSpec, GivenSpec, Level, MergeCell, MergeSize, MergeSpec, RequirementSpec};
use super::super::tree::{Entry, Node, Value};
use super::super::view::View;
use super::super::words::{Form, Keep, Order, Scope};
use super::check_ids;
use anabranch_monitors::REQUIREMENTS_MAX;

pub(super) fn build(problems: &mut Problems<'_>, view: View<'_>) -> Option<ExploreSpec> {
    let merge = merge(view)?;
    if let (MergeSpec::Off(_), Some(span)) = (&merge, view.key_span("merge_every")) {
        let message = "`merge_every` says when to merge, and `merge = \"none\"` says never";
        problems.add(Code::Exclusive, span, message, "remove one of them");
    }
    Some(ExploreSpec {
        segment_s: view.real("segment")?,
        until_s: view.real("until")?,
        merge,
        merge_every: view.small_count("merge_every")?,
        scope: view.word("scope", Scope::from_word)?,
        keep: view.word("keep", Keep::from_word)?,
        order: view.word("order", Order::from_word)?,
        budget: view.table("budget").map_or_else(BudgetSpec::default, budget),
        rollouts: view.small_count("rollouts")?,
        refine: view.small_count("refine")?,
        resolution_m: view.real("resolution"),
    })
}

fn budget(view: View<'_>) -> BudgetSpec {
    BudgetSpec {
        time_s: view.real("time"),
        states: view.count("states"),
        memory_bytes: view.real("memory").map(|bytes| bytes.map(|bytes| bytes as u64)),
    }
}

fn merge(view: View<'_>) -> Option<MergeSpec> {
    let Some(node) = view.get("merge") else { return Some(MergeSpec::Declared) };
    let size = |entry: &Entry| {
        let cell = match (cell_size(&entry.node).ok()?, &entry.node.value) {
            (Some((value, dimension)), _) => MergeCell::Size { value, dimension },
            (None, Value::Text(word)) if word == "exact" => MergeCell::Exact,
            (None, _) => MergeCell::Ignore,
        };
        let name = Located::new(entry.key.clone(), entry.key_span);
        Some(MergeSize { name, size: Located::new(cell, entry.node.span) })
    };
    match &node.value {
        Value::Table(cells) => cells.iter().map(size).collect::<Option<Vec<_>>>().map(MergeSpec::Sizes),
        _ => Some(MergeSpec::Off(node.span)),
    }
}

/// All `[[must]]`, then all `[[should]]`.
pub(super) fn requirements(problems: &mut Problems<'_>, root: View<'_>) -> Option<Vec<RequirementSpec>> {
    let levels = [("must", Level::Must), ("should", Level::Should)];
    let tables = levels.into_iter().flat_map(|(key, level)| root.tables(key).into_iter().map(move |t| (t, level)));
    let all: Option<Vec<_>> = tables.map(|(table, level)| requirement(problems, table, level)).collect();
    let all = all?;
    check_ids(problems, "requirement", all.iter().map(|requirement| &requirement.id));
    if let Some(first) = all.get(REQUIREMENTS_MAX) {
        let message = format!("{} requirements; at most {REQUIREMENTS_MAX} are judged", all.len());
        problems.add(Code::TooMany, first.id.span, message, "join some of them by `and`, or write another scenario");
    }
    Some(all)
}

fn requirement(problems: &mut Problems<'_>, view: View<'_>, level: Level) -> Option<RequirementSpec> {
    let form = Form::WORDS.iter().find_map(|word| Some(Located::new(Form::from_word(word)?, view.key_span(word)?)))?;
    let by_s = view.real("by");
    if let (Some(by), true) = (by_s, form.value != Form::Eventually) {
        let message = format!("`by` is a deadline, and `{}` has none", form.value.word());
        problems.add(Code::NeedsEventually, by.span, message, "remove `by`, or write `eventually`");
    }
    let expression = view.text(form.value.word())?;
    let sizes = view.get("given").map_or(&[][..], Node::entries);
    let given = sizes.iter().map(given).collect::<Option<Vec<_>>>()?;
    Some(RequirementSpec { id: view.text("id")?, level, form, expression, by_s, given })
}

fn given(entry: &Entry) -> Option<GivenSpec> {
    let limit = |node: &Node| Some(Located::new(cell_size(node).ok()??, node.span));
    let limits = items_or_self(&entry.node).iter().map(limit).collect::<Option<Vec<_>>>()?;
    Some(GivenSpec { error: Located::new(entry.key.clone(), entry.key_span), limits })
}
