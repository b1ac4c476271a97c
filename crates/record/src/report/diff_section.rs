//! What became of every failing cell, for people.

use super::compare::Compared;
use super::html::Html;
use super::page::Budget;
use super::plots;
use super::words::{metres, short};
use crate::graph_diff::{ChangeBin, Elsewhere, ErrorSequence, FailingCell, FirstDifference};
use crate::table::SegmentRow;
use serde_json::json;

/// Cells of one kind that are listed.
pub(super) const CELLS_MAX: usize = 25;

/// Which run a witness belongs to.
#[derive(Clone, Copy)]
enum Side {
    A,
    B,
}

pub(super) fn put(out: &mut Html, budget: &mut Budget, compared: &Compared) {
    let diff = &compared.diff;
    out.markup("<h2>Failing cells</h2>\n");
    out.element("p", "A cell is a box of states that count as alike; it fails when a segment that ends in it violates a must. A is the first run, B the second.");
    put_cells(out, budget, compared, Side::B, "New: failing in B, not in A", &diff.new);
    put_cells(out, budget, compared, Side::A, "Fixed: failing in A, not in B", &diff.fixed);
    put_cells(out, budget, compared, Side::B, "The same: failing in both", &diff.same);
    out.markup("<h2>Where the graphs part</h2>\n");
    match &diff.first {
        None => {
            out.element("p", "Nowhere: every segment has the same end, cell and margin.");
        }
        Some(first) => put_first(out, compared, first),
    }
    out.markup("<h2>Clearance per cell</h2>\n");
    out.element(
        "p",
        &format!(
            "{} cells were reached by both runs; none of them lost more than {} m.",
            diff.shared_cells,
            short(diff.largest_loss_m, 3)
        ),
    );
    let bars: Vec<(String, u64)> = diff.clearance.iter().map(|bin| (bin_label(bin), bin.cells)).collect();
    if !bars.is_empty() {
        let svg = plots::histogram("Change of the smallest clearance per cell, B minus A", &bars);
        budget.figure(out, "histogram", &svg, "Number of cells by how much their smallest clearance changed.");
    }
}

fn put_cells(out: &mut Html, budget: &mut Budget, compared: &Compared, side: Side, title: &str, cells: &[FailingCell]) {
    out.element("h3", &format!("{title} ({})", cells.len()));
    if cells.is_empty() {
        out.element("p", "None.");
        return;
    }
    let errors = &compared.errors[side as usize];
    let row = |cell: &FailingCell| {
        let elsewhere = match cell.elsewhere {
            Elsewhere::Fails => "fails too",
            Elsewhere::Passes => "passes",
            Elsewhere::Unreached => "not reached",
        };
        vec![
            format!("{:08x}", (cell.key >> 96) as u32),
            format!("{} s", short(cell.witness.choices.len() as f64 * compared.segment_s, 3)),
            metres(&json!(cell.margin)),
            elsewhere.to_owned(),
            told(&cell.witness, errors, compared.segment_s),
        ]
    };
    let rows: Vec<Vec<String>> = cells.iter().take(CELLS_MAX).map(row).collect();
    out.table(
        "With the shortest error sequence into each cell",
        &["cell", "until", "margin", "other run", "errors"],
        &rows,
    );
    if cells.len() > CELLS_MAX {
        budget.left_out.push(format!("{} cells of \u{201c}{title}\u{201d}", cells.len() - CELLS_MAX));
    }
}

fn put_first(out: &mut Html, compared: &Compared, first: &FirstDifference) {
    let from_s = f64::from(first.level) * compared.segment_s;
    let equal = match first.level {
        0 => "At once.".to_owned(),
        1 => "After the first level, which is equal.".to_owned(),
        levels => format!("After the first {levels} levels, which are equal."),
    };
    let (from, to) = (short(from_s, 3), short(from_s + compared.segment_s, 3));
    let (all, differing) = (first.compared, first.differing);
    let text =
        format!("{equal} Of {all} segments from {from} to {to} s, {differing} differ; the first of them is this one.");
    out.element("p", &text);
    let row = |name: &str, segment: &Option<SegmentRow>| match segment {
        None => vec![name.to_owned(), "not run".to_owned(), "–".to_owned(), "–".to_owned()],
        Some(row) => {
            let cell = row.key.map_or_else(|| "–".to_owned(), |key| format!("{:08x}", (key >> 96) as u32));
            vec![name.to_owned(), row.fate.word().to_owned(), cell, format!("{:.9} m", row.margin)]
        }
    };
    let rows = [row("A", &first.a), row("B", &first.b)];
    out.table("The first segment that differs", &["run", "end", "cell", "margin"], &rows);
    out.element("p", &format!("Its errors: {}.", told(&first.sequence, &compared.errors[0], compared.segment_s)));
}

/// `0–2 s none, 2–3 s estimate-jump: left 0.1 m`; equal errors in a row are one.
pub(super) fn told(sequence: &ErrorSequence, errors: &[String], segment_s: f64) -> String {
    let mut parts: Vec<(usize, usize, u16)> = Vec::new();
    for (at, choice) in sequence.choices.iter().enumerate() {
        match parts.last_mut() {
            Some((_, to, last)) if *last == *choice => *to = at + 1,
            _ => parts.push((at, at + 1, *choice)),
        }
    }
    let time = |segments: usize| short(segments as f64 * segment_s, 3);
    let part = |(from, to, choice): &(usize, usize, u16)| {
        let name = errors.get(usize::from(*choice)).map_or("?", String::as_str);
        format!("{}–{} s {name}", time(*from), time(*to))
    };
    let start = if sequence.start > 0 { format!("start {}; ", sequence.start + 1) } else { String::new() };
    format!("{start}{}", parts.iter().map(part).collect::<Vec<_>>().join(", "))
}

/// `lost 0.05 to 0.1 m`, `unchanged`, `gained more than 0.5 m`.
fn bin_label(bin: &ChangeBin) -> String {
    let (low, high) = (bin.from_m.abs().min(bin.to_m.abs()), bin.from_m.abs().max(bin.to_m.abs()));
    let word = if bin.to_m <= 0.0 { "lost" } else { "gained" };
    match (bin.from_m < 0.0 && bin.to_m > 0.0, high.is_finite()) {
        (true, _) => "unchanged (below 1 mm)".to_owned(),
        (false, true) => format!("{word} {} to {} m", short(low, 3), short(high, 3)),
        (false, false) => format!("{word} more than {} m", short(low, 3)),
    }
}
