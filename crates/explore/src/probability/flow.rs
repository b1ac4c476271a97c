//! The recorded graph in the form in which probability flows through it.

use std::collections::BTreeMap;
use std::ops::Range;

use anabranch_kernel::{CellKey, Choice};

use crate::edge::{Fate, NO_PARENT};
use crate::recording::Recording;

/// Nodes from which a run goes on: a range of [`Flow::members`].
pub(super) type Members = Range<u32>;

/// Where a segment leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A *must* was violated.
    Violated,
    /// The run is over, or nobody went on from here.
    Over,
    /// It goes on from these kept states: from its own end state if that was kept, else from the members of its cell.
    Open(Members),
}

/// One segment.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) level: u32,
    pub(super) choice: Choice,
    pub(super) end: End,
}

/// Segments sorted by the state they start from and by choice.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) steps: Vec<Step>,
    /// The choice of each step: those of one state are its live choices.
    choices: Vec<Choice>,
    /// First step of each state, and the end.
    first: Vec<u32>,
    /// Parent and choice of each state.
    origin: Vec<(u64, Choice)>,
    /// Every state once, then the members of cells.
    members: Vec<u32>,
    /// Members by cell and level.
    cells: BTreeMap<(u32, u32), Members>,
    /// Cells by name, sorted.
    names: Vec<(CellKey, u32)>,
    /// Whether every segment leads to a later level.
    pub(super) is_layered: bool,
    /// Segments of the longest run.
    pub(super) levels: u32,
}

impl Flow {
    /// The flow of a whole recording.
    pub(super) fn of(graph: &Recording) -> Self {
        let mut members: Vec<u32> = (0..graph.nodes.len() as u32).collect();
        let cells = members_of_cells(graph, &mut members);
        let mut edges: Vec<&crate::edge::Edge> = graph.edges.iter().collect();
        edges.sort_by_key(|edge| (edge.parent, edge.choice));
        let own: BTreeMap<(u64, Choice), u32> =
            graph.nodes.iter().map(|node| ((node.parent, node.choice), node.node as u32)).collect();
        let mut first = vec![0; graph.nodes.len() + 1];
        for edge in &edges {
            first[edge.parent as usize + 1] += 1;
        }
        for n in 1..first.len() {
            first[n] += first[n - 1];
        }
        let mut flow = Self {
            steps: Vec::with_capacity(edges.len()),
            choices: edges.iter().map(|edge| edge.choice).collect(),
            first,
            origin: graph.nodes.iter().map(|node| (node.parent, node.choice)).collect(),
            members,
            cells,
            names: names(graph),
            is_layered: true,
            levels: graph.edges.iter().map(|edge| edge.level + 1).max().unwrap_or(0),
        };
        for edge in edges {
            let end = match (edge.fate, own.get(&(edge.parent, edge.choice))) {
                (Fate::Violated, _) => End::Violated,
                (Fate::Kept | Fate::Merged, Some(&node)) => End::Open(node..node + 1),
                (Fate::Kept | Fate::Merged, None) => {
                    edge.cell.and_then(|cell| flow.cell(cell, edge.level + 1)).map_or(End::Over, End::Open)
                }
                (Fate::Goal | Fate::TimedOut | Fate::Fault, _) => End::Over,
            };
            if let End::Open(range) = &end {
                let levels = flow.nodes(range).iter().map(|&node| graph.nodes[node as usize].level);
                flow.is_layered &= levels.min() > Some(edge.level);
            }
            flow.steps.push(Step { level: edge.level, choice: edge.choice, end });
        }
        flow
    }

    /// States of a range.
    pub(super) fn nodes(&self, range: &Members) -> &[u32] {
        &self.members[range.start as usize..range.end as usize]
    }
    /// Steps that start from a state.
    pub(super) fn steps_of(&self, node: u32) -> Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }
    /// Live choices of a state.
    pub(super) fn live(&self, node: u32) -> &[Choice] {
        &self.choices[self.steps_of(node)]
    }
    /// The step of a state by a choice.
    pub(super) fn step(&self, node: u32, choice: Choice) -> Option<usize> {
        let steps = self.steps_of(node);
        let at = self.choices[steps.clone()].binary_search(&choice).ok()?;
        Some(steps.start + at)
    }
    /// How many states there are.
    pub(super) fn len(&self) -> u32 {
        self.origin.len() as u32
    }
    /// The state a range stands for, if it is a single one by itself and not a cell.
    pub(super) fn only(&self, range: &Members) -> Option<u32> {
        (range.start < self.len()).then_some(range.start)
    }
    /// Parent and choice of a state; `None` for a start.
    pub(super) fn parent(&self, node: u32) -> Option<(u32, Choice)> {
        let (parent, choice) = self.origin[node as usize];
        (parent != NO_PARENT).then_some((parent as u32, choice))
    }
    /// The start states, in the order of starts.
    pub(super) fn starts(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        let count = self.origin.iter().take_while(|(parent, _)| *parent == NO_PARENT).count();
        0..count as u32
    }
    /// Members of a cell that were kept at a level, or else at the last level before.
    fn cell(&self, cell: u32, level: u32) -> Option<Members> {
        self.cells.range((cell, 0)..=(cell, level)).next_back().map(|(_, range)| range.clone())
    }
    /// Members of the cell with this name.
    pub(super) fn named(&self, key: CellKey, level: u32) -> Option<Members> {
        let at = self.names.binary_search_by_key(&key, |(name, _)| *name).ok()?;
        self.cell(self.names[at].1, level)
    }
}

fn members_of_cells(graph: &Recording, members: &mut Vec<u32>) -> BTreeMap<(u32, u32), Members> {
    let mut cells: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for node in &graph.nodes {
        if let Some(cell) = node.cell {
            cells.entry((cell, node.level)).or_default().push(node.node as u32);
        }
    }
    let mut place = |nodes: Vec<u32>| {
        let start = members.len() as u32;
        members.extend(nodes);
        start..members.len() as u32
    };
    cells.into_iter().map(|(cell, nodes)| (cell, place(nodes))).collect()
}

fn names(graph: &Recording) -> Vec<(CellKey, u32)> {
    let mut names: Vec<_> = graph.edges.iter().filter_map(|edge| Some((edge.key?, edge.cell?))).collect();
    names.sort_unstable();
    names.dedup();
    names
}
