//! What two explorations of one scenario have in common: failing cells that are fixed, new or the same, where the graphs
//! part, and how the clearance of each cell changed.
//!
//! Cells are compared by their key, which is the same in every run with the same merging. A cell *fails* when a segment
//! that ends in it violates a *must*.

use std::path::Path;

use crate::error::RecordError;
use crate::table::{SegmentFate, SegmentRow, StateRow, read_errors, read_segments, read_states};

/// The graph of one run.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Segments in the order of jobs.
    pub segments: Vec<SegmentRow>,
    /// Kept states by number.
    pub states: Vec<StateRow>,
    /// Descriptions of the errors, by choice.
    pub errors: Vec<String>,
}

/// An error sequence: a start, and the choice of every segment.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorSequence {
    /// Number of the start.
    pub start: u16,
    /// One choice per segment.
    pub choices: Vec<u16>,
}

/// What the other run says about a cell that fails in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// It fails there too.
    Fails,
    /// It was reached there, and nothing was violated.
    Passes,
    /// It was not reached there.
    Unreached,
}

/// A cell in which something is violated.
#[derive(Clone, Debug, PartialEq)]
pub struct FailingCell {
    /// Its name.
    pub key: u128,
    /// The shortest error sequence into it, the first of these; the last choice is the one that violates.
    pub witness: ErrorSequence,
    /// Smallest margin of that last segment.
    pub margin: f64,
    /// What the other run says.
    pub elsewhere: Elsewhere,
}

/// Where two graphs part: the first segment, by level and error sequence, that is not the same in both.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstDifference {
    /// Level of its start.
    pub level: u32,
    /// The errors up to and in it.
    pub sequence: ErrorSequence,
    /// The segment in the first run, if it has it.
    pub a: Option<SegmentRow>,
    /// The segment in the second run, if it has it.
    pub b: Option<SegmentRow>,
    /// How many segments of that level differ.
    pub differing: u64,
    /// How many segments of that level were compared.
    pub compared: u64,
}

/// How many cells changed by how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeBin {
    /// Lower end, metres; infinite at the left.
    pub from_m: f64,
    /// Upper end, metres; infinite at the right.
    pub to_m: f64,
    /// Cells in between.
    pub cells: u64,
}

/// What two graphs have in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphDiff {
    /// Cells that fail in the first run and not in the second.
    pub fixed: Vec<FailingCell>,
    /// Cells that fail in the second run and not in the first.
    pub new: Vec<FailingCell>,
    /// Cells that fail in both, with the witness of the second run.
    pub same: Vec<FailingCell>,
    /// Where they part; `None` if they are equal.
    pub first: Option<FirstDifference>,
    /// Cells that both runs reached.
    pub shared_cells: u64,
    /// Change of the smallest clearance per shared cell, second minus first.
    pub clearance: Vec<ChangeBin>,
    /// Most that a shared cell lost, metres.
    pub largest_loss_m: f64,
}

/// Changes below this count as none, metres.
const NO_CHANGE_M: f64 = 0.001;
/// Ends of the bins beside [`NO_CHANGE_M`], metres.
const ENDS_M: [f64; 6] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

impl Graph {
    /// Reads the tables of a run.
    ///
    /// # Errors
    /// When they are missing or damaged.
    pub fn read(folder: &Path) -> Result<Self, RecordError> {
        let (segments, states) = (folder.join("segments.parquet"), folder.join("states.parquet"));
        if !segments.is_file() || !states.is_file() {
            let name = crate::error::short(folder);
            return Err(RecordError::NotFound(format!(
                "`{name}` has no graph: explore again with `--graph parquet`, which is the default"
            )));
        }
        let errors = read_errors(&segments)?;
        Ok(Self { segments: read_segments(&segments)?, states: read_states(&states)?, errors })
    }

    /// Whether ends have keys, without which nothing can be compared by cell.
    pub fn has_keys(&self) -> bool {
        self.segments.iter().any(|segment| segment.key.is_some())
    }

    /// The errors that lead to a kept state; `None` if the table does not say.
    pub fn sequence_to(&self, node: u64) -> Option<ErrorSequence> {
        let mut choices = Vec::new();
        let mut at = node;
        loop {
            let state = self.states.get(usize::try_from(at).ok()?).filter(|state| state.node == at)?;
            match state.parent {
                None => {
                    choices.reverse();
                    return Some(ErrorSequence { start: state.choice, choices });
                }
                // Parents are older; anything else would be a circle.
                Some(parent) if parent < at => {
                    choices.push(state.choice);
                    at = parent;
                }
                Some(_) => return None,
            }
        }
    }

    fn sequence_of(&self, segment: &SegmentRow) -> ErrorSequence {
        let mut sequence = self.sequence_to(segment.parent).unwrap_or_default();
        sequence.choices.push(segment.choice);
        sequence
    }

    /// Cells with their smallest margin, by key.
    fn cells(&self) -> Vec<(u128, f64)> {
        let mut cells: Vec<(u128, f64)> =
            self.segments.iter().filter_map(|segment| Some((segment.key?, segment.margin))).collect();
        cells.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        cells.dedup_by_key(|cell| cell.0);
        cells
    }

    /// Failing cells by key, each with its first segment of the lowest level.
    fn failing(&self) -> Vec<(u128, SegmentRow)> {
        let violated = self.segments.iter().filter(|segment| segment.fate == SegmentFate::Violated);
        let mut failing: Vec<(u128, SegmentRow)> =
            violated.filter_map(|segment| Some((segment.key?, *segment))).collect();
        failing.sort_by(|(a_key, a), (b_key, b)| {
            (a_key, a.level, a.parent, a.choice).cmp(&(b_key, b.level, b.parent, b.choice))
        });
        failing.dedup_by_key(|cell| cell.0);
        failing
    }
}

/// Compares two runs.
pub fn graph_diff(a: &Graph, b: &Graph) -> GraphDiff {
    let (failing_a, failing_b, cells_a, cells_b) = (a.failing(), b.failing(), a.cells(), b.cells());
    let mut diff = GraphDiff { first: first_difference(a, b), ..GraphDiff::default() };
    for (key, segment) in &failing_a {
        if !has(&failing_b, *key) {
            diff.fixed.push(cell(a, *key, segment, elsewhere(&cells_b, *key)));
        }
    }
    for (key, segment) in &failing_b {
        if has(&failing_a, *key) {
            diff.same.push(cell(b, *key, segment, Elsewhere::Fails));
        } else {
            diff.new.push(cell(b, *key, segment, elsewhere(&cells_a, *key)));
        }
    }
    for cells in [&mut diff.fixed, &mut diff.new, &mut diff.same] {
        cells.sort_by(|a, b| {
            let length = |cell: &FailingCell| cell.witness.choices.len();
            length(a).cmp(&length(b)).then_with(|| a.witness.cmp(&b.witness))
        });
    }
    compare_clearance(&mut diff, &cells_a, &cells_b);
    diff
}

fn has<T>(cells: &[(u128, T)], key: u128) -> bool {
    cells.binary_search_by_key(&key, |cell| cell.0).is_ok()
}

fn elsewhere(cells: &[(u128, f64)], key: u128) -> Elsewhere {
    if has(cells, key) { Elsewhere::Passes } else { Elsewhere::Unreached }
}

fn cell(graph: &Graph, key: u128, segment: &SegmentRow, elsewhere: Elsewhere) -> FailingCell {
    FailingCell { key, witness: graph.sequence_of(segment), margin: segment.margin, elsewhere }
}

fn bins() -> Vec<ChangeBin> {
    let mut ends = vec![f64::NEG_INFINITY];
    ends.extend(ENDS_M.iter().rev().map(|end| -end));
    ends.extend([-NO_CHANGE_M, NO_CHANGE_M]);
    ends.extend(ENDS_M);
    ends.push(f64::INFINITY);
    ends.windows(2).map(|pair| ChangeBin { from_m: pair[0], to_m: pair[1], cells: 0 }).collect()
}

fn compare_clearance(diff: &mut GraphDiff, a: &[(u128, f64)], b: &[(u128, f64)]) {
    diff.clearance = bins();
    for (key, before) in a {
        let Ok(at) = b.binary_search_by_key(key, |cell| cell.0) else { continue };
        diff.shared_cells += 1;
        let change = b[at].1 - before;
        // Two cells without any obstacle in sight have not changed.
        let change = if change.is_nan() { 0.0 } else { change };
        diff.largest_loss_m = diff.largest_loss_m.max(-change);
        let bin = diff.clearance.iter_mut().find(|bin| change < bin.to_m);
        if let Some(bin) = bin {
            bin.cells += 1;
        }
    }
    if diff.clearance.iter().all(|bin| bin.cells == 0) {
        diff.clearance.clear();
    }
}

/// A table sorted by where its rows come from.
struct ByParent<'g, T> {
    rows: &'g [T],
    order: Vec<u32>,
    from: fn(&T) -> (u64, u16),
}

impl<'g, T> ByParent<'g, T> {
    fn new(rows: &'g [T], from: fn(&T) -> (u64, u16)) -> Self {
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_by_key(|at| from(&rows[*at as usize]));
        Self { rows, order, from }
    }
    fn of(&self, parent: u64) -> impl Iterator<Item = &'g T> + '_ {
        let key = |at: &u32| (self.from)(&self.rows[*at as usize]).0;
        let first = self.order.partition_point(|at| key(at) < parent);
        self.order[first..].iter().take_while(move |at| key(at) == parent).map(|at| &self.rows[*at as usize])
    }
}

/// The parent of starts in [`ByParent`].
const START: u64 = u64::MAX;

fn first_difference(a: &Graph, b: &Graph) -> Option<FirstDifference> {
    let segment = |row: &SegmentRow| (row.parent, row.choice);
    let state = |row: &StateRow| (row.parent.unwrap_or(START), row.choice);
    let segments = [ByParent::new(&a.segments, segment), ByParent::new(&b.segments, segment)];
    let states = [ByParent::new(&a.states, state), ByParent::new(&b.states, state)];
    let mut pairs = matched(&states, START, START);
    let mut level = 0;
    while !pairs.is_empty() {
        let mut found = LevelDifference::default();
        for (in_a, in_b) in &pairs {
            found.compare(&segments, *in_a, *in_b);
        }
        if let Some((parent, a_row, b_row)) = found.first {
            let mut sequence = a.sequence_to(parent).unwrap_or_default();
            sequence.choices.extend(a_row.or(b_row).map(|row| row.choice));
            let (differing, compared) = (found.differing, found.compared);
            return Some(FirstDifference { level, sequence, a: a_row, b: b_row, differing, compared });
        }
        pairs = pairs.iter().flat_map(|(in_a, in_b)| matched(&states, *in_a, *in_b)).collect();
        level += 1;
    }
    None
}

/// Kept states that two states have in common, by the error that led to them.
fn matched(states: &[ByParent<'_, StateRow>; 2], in_a: u64, in_b: u64) -> Vec<(u64, u64)> {
    let others: Vec<&StateRow> = states[1].of(in_b).collect();
    let pair = |state: &StateRow| {
        others.iter().find(|other| other.choice == state.choice).map(|other| (state.node, other.node))
    };
    states[0].of(in_a).filter_map(pair).collect()
}

#[derive(Default)]
struct LevelDifference {
    first: Option<(u64, Option<SegmentRow>, Option<SegmentRow>)>,
    differing: u64,
    compared: u64,
}

impl LevelDifference {
    fn compare(&mut self, segments: &[ByParent<'_, SegmentRow>; 2], in_a: u64, in_b: u64) {
        let (a, b): (Vec<_>, Vec<_>) = (segments[0].of(in_a).collect(), segments[1].of(in_b).collect());
        let mut choices: Vec<u16> = a.iter().chain(&b).map(|row| row.choice).collect();
        choices.sort_unstable();
        choices.dedup();
        for choice in choices {
            let find = |rows: &[&SegmentRow]| rows.iter().find(|row| row.choice == choice).map(|row| **row);
            let (a, b) = (find(&a), find(&b));
            self.compared += 1;
            let shown = |row: &SegmentRow| (row.fate, row.key, row.margin.to_bits());
            if a.as_ref().map(shown) != b.as_ref().map(shown) {
                self.differing += 1;
                self.first.get_or_insert((in_a, a, b));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two levels of two choices; `key` names the cell of each end and `violated` says which of them fail.
    fn graph(key: [u128; 6], margin: f64, violated: &[u128]) -> Graph {
        let end = |at: usize, level, parent, choice| SegmentRow {
            level,
            parent,
            choice,
            fate: if violated.contains(&key[at]) { SegmentFate::Violated } else { SegmentFate::Kept },
            cell: None,
            key: Some(key[at]),
            margin: if level == 0 { 1.0 } else { margin },
            apart: None,
        };
        let segments =
            vec![end(0, 0, 0, 0), end(1, 0, 0, 1), end(2, 1, 1, 0), end(3, 1, 1, 1), end(4, 1, 2, 0), end(5, 1, 2, 1)];
        let state = |node, level, parent, choice| StateRow { node, level, parent, choice, cell: None, pose: [0.0; 3] };
        let states = vec![state(0, 0, None, 0), state(1, 1, Some(0), 0), state(2, 1, Some(0), 1)];
        Graph { segments, states, errors: vec!["none".into(), "left".into()] }
    }

    #[test]
    fn equal_graphs_have_no_difference() {
        let one = graph([1, 2, 3, 4, 5, 6], 0.5, &[6]);
        let diff = graph_diff(&one, &one.clone());
        assert!(diff.first.is_none() && diff.new.is_empty() && diff.fixed.is_empty());
        assert_eq!((diff.same.len(), diff.shared_cells), (1, 6));
        assert_eq!(diff.clearance.iter().find(|bin| bin.from_m < 0.0 && bin.to_m > 0.0).unwrap().cells, 6);
    }

    #[test]
    fn fixed_and_new_cells_come_with_their_errors() {
        let a = graph([1, 2, 3, 4, 5, 6], 0.5, &[4, 6]);
        let b = graph([1, 2, 3, 4, 7, 6], 0.42, &[7, 6]);
        let diff = graph_diff(&a, &b);
        let fixed = &diff.fixed[0];
        assert_eq!((fixed.key, fixed.elsewhere, &fixed.witness.choices[..]), (4, Elsewhere::Passes, &[0, 1][..]));
        let new = &diff.new[0];
        assert_eq!((new.key, new.elsewhere, &new.witness.choices[..]), (7, Elsewhere::Unreached, &[1, 0][..]));
        assert_eq!(diff.same.iter().map(|cell| cell.key).collect::<Vec<_>>(), [6]);
        assert_eq!(diff.clearance.iter().find(|bin| bin.from_m == -0.1).unwrap().cells, 3);
        assert!((diff.largest_loss_m - 0.08).abs() < 1e-12);
    }

    #[test]
    fn graphs_part_at_the_lowest_level() {
        let a = graph([1, 2, 3, 4, 5, 6], 0.5, &[]);
        let mut b = graph([1, 2, 3, 4, 5, 6], 0.4, &[]);
        let first = graph_diff(&a, &b).first.unwrap();
        assert_eq!((first.level, first.differing, first.compared), (1, 4, 4));
        assert_eq!(first.sequence.choices, [0, 0]);
        b.segments[1].margin = 0.9;
        let first = graph_diff(&a, &b).first.unwrap();
        assert_eq!((first.level, &first.sequence.choices[..]), (0, &[1][..]));
        b.segments.truncate(1);
        assert_eq!(graph_diff(&a, &b).first.unwrap().b, None);
    }

    #[test]
    fn damaged_parents_end_the_search() {
        let mut circle = graph([1, 2, 3, 4, 5, 6], 0.5, &[6]);
        circle.states[2].parent = Some(2);
        assert_eq!(circle.sequence_to(2), None);
        assert_eq!(graph_diff(&circle, &circle.clone()).same[0].witness.choices, [1]);
    }
}
