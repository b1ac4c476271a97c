//! What is written at the end of every level, so that a killed exploration goes on from there.
//!
//! A state is its path, so no state is written: the waiting ones are computed again along the trail. Everything that
//! was counted, found and merged is.

use std::io;

use anabranch_kernel::{CellKey, Choice, Digest, Fault, KeyWriter, System, Verdict, from_bytes, to_bytes};
use serde::{Deserialize, Serialize};

use crate::cells::{Arrival, JobOrder, Member};
use crate::edge::{Apart, Edge, Fate, LevelReport, Node, Progress, Stage, Trail};
use crate::graph::{FaultAt, Graph, Hit};
use crate::limits::{Limits, Stop};
use crate::links::NO_CELL;
use crate::pool::Pool;
use crate::runner::{Runner, Waiting};
use crate::settings::Scope;
use crate::walk::{WalkError, walk_nodes};

/// Changes when the form of checkpoints changes; others are not read.
const FORM: u32 = 3;

/// A violated requirement as it is written.
#[derive(Clone, Serialize, Deserialize)]
struct HitRow(u64, u16, u32, u64, Verdict);

impl HitRow {
    fn of(hit: &Hit) -> Self {
        Self(hit.parent, hit.choice.0, hit.level, hit.segment, hit.verdict)
    }
    fn hit(self) -> Hit {
        let Self(parent, choice, level, segment, verdict) = self;
        Hit { parent, choice: Choice(choice), level, segment, verdict }
    }
}

/// One finished level.
#[derive(Clone, Serialize, Deserialize)]
struct Checkpoint {
    form: u32,
    /// Digest of everything that decides the result.
    identity: u128,
    progress: Progress,
    report: LevelReport,
    goals: u64,
    timed_out: u64,
    note_count: u64,
    fault_count: u64,
    first_hit: Option<u64>,
    /// Those of this level.
    hits: Vec<HitRow>,
    notes: Vec<HitRow>,
    faults: Vec<(u64, u16, String)>,
    digest: u128,
    /// Number of the first member of the next level.
    first_member: u64,
    /// Cells of the states that were kept in this level, in order.
    cells: Vec<u32>,
    /// Segments of this level, in order.
    edges: Vec<u8>,
    /// Offsets of the first members of cells, in the order of the segments that led to them; where the graph was recorded.
    firsts: Vec<u8>,
}

/// How much of the lists of a graph was written already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    hits: usize,
    notes: usize,
    faults: usize,
}

/// The checkpoints of an earlier process, and what they must belong to.
pub(crate) struct Notes {
    pub(crate) all: Vec<Vec<u8>>,
    /// Nothing where exploring does not go on anyway.
    pub(crate) identity: Option<Digest>,
}

/// Where a resumed exploration goes on.
pub(crate) struct Resumed {
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) level: u32,
    pub(crate) first_member: u64,
    /// What ended it before the waiting states were computed again.
    pub(crate) stop: Option<Stop>,
}

/// A level is finished: its checkpoint.
pub(crate) fn write<S: System>(graph: &mut Graph<'_, S>, level: u32, first_member: u64, identity: Digest) -> Vec<u8> {
    let written = &mut graph.written;
    let hits = graph.hits[written.hits..].iter().map(HitRow::of).collect();
    let notes = graph.notes[written.notes..].iter().map(HitRow::of).collect();
    let faults = graph.faults[written.faults..].iter().map(|f| (f.parent, f.choice.0, f.fault.to_string())).collect();
    *written = Written { hits: graph.hits.len(), notes: graph.notes.len(), faults: graph.faults.len() };
    let log = graph.log.as_mut().expect("a log is kept when the trail wants it");
    let Log { edges, cells, firsts } = std::mem::take(log);
    to_bytes(&Checkpoint {
        form: FORM,
        identity: identity.0,
        progress: graph.progress,
        report: graph.levels[level as usize],
        goals: graph.goals,
        timed_out: graph.timed_out,
        note_count: graph.note_count,
        fault_count: graph.fault_count,
        first_hit: graph.first_hit,
        hits,
        notes,
        faults,
        digest: graph.digest().0,
        first_member,
        cells,
        edges,
        firsts,
    })
}

/// Segments and cells of the level in hand, for its checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Log {
    edges: Vec<u8>,
    cells: Vec<u32>,
    firsts: Vec<u8>,
}

/// Bytes of a segment in a checkpoint.
const EDGE_BYTES: usize = 8 + 2 + 1 + 4 + 16 + 8 + 1 + 1 + 2;
/// A variable that is none: the segment has no distance.
const NO_VARIABLE: u16 = u16::MAX;

impl Log {
    pub(crate) fn bytes(&self) -> u64 {
        (self.edges.capacity() + size_of_val(self.cells.as_slice()) + self.firsts.capacity()) as u64
    }

    /// The segment that is added next opens its cell.
    pub(crate) fn add_first(&mut self, offsets: &[u8]) {
        self.firsts.extend_from_slice(offsets);
    }

    pub(crate) fn add_node(&mut self, node: &Node) {
        self.cells.push(node.cell.unwrap_or(NO_CELL));
    }

    pub(crate) fn add_edge(&mut self, edge: &Edge) {
        self.edges.extend_from_slice(&edge.parent.to_le_bytes());
        self.edges.extend_from_slice(&edge.choice.0.to_le_bytes());
        self.edges.push(edge.fate as u8);
        self.edges.extend_from_slice(&edge.cell.unwrap_or(NO_CELL).to_le_bytes());
        self.edges.extend_from_slice(&edge.key.map_or(0, |key| key.0).to_le_bytes());
        self.edges.push(u8::from(edge.key.is_some()));
        self.edges.extend_from_slice(&edge.margin.to_le_bytes());
        self.edges.push(edge.apart.map_or(0, |apart| apart.parts));
        self.edges.extend_from_slice(&edge.apart.map_or(NO_VARIABLE, |apart| apart.variable).to_le_bytes());
    }
}

fn edge_of(bytes: &[u8], level: u32) -> Option<Edge> {
    let (parent, rest) = bytes.split_first_chunk()?;
    let (choice, rest) = rest.split_first_chunk()?;
    let (&[fate], rest) = rest.split_first_chunk()?;
    let (cell, rest) = rest.split_first_chunk()?;
    let (key, rest) = rest.split_first_chunk()?;
    let (&[has_key], rest) = rest.split_first_chunk()?;
    let (margin, rest) = rest.split_first_chunk()?;
    let (&[parts], rest) = rest.split_first_chunk()?;
    let (variable, _) = rest.split_first_chunk()?;
    let (cell, variable) = (u32::from_le_bytes(*cell), u16::from_le_bytes(*variable));
    Some(Edge {
        level,
        parent: u64::from_le_bytes(*parent),
        choice: Choice(u16::from_le_bytes(*choice)),
        fate: Fate::of_number(fate)?,
        cell: (cell != NO_CELL).then_some(cell),
        key: (has_key == 1).then_some(CellKey(u128::from_le_bytes(*key))),
        margin: f64::from_le_bytes(*margin),
        apart: (variable != NO_VARIABLE).then_some(Apart { parts, variable }),
    })
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a checkpoint cannot be used: {what}"))
}

/// Takes in the checkpoints of all finished levels and computes the waiting states again.
pub(crate) fn resume<S: System>(
    graph: &mut Graph<'_, S>,
    runner: &Runner<'_, S>,
    trail: &dyn Trail,
    walker: &Walker<'_, S>,
    pool: &mut Pool<'_, S::State>,
    notes: Notes,
) -> io::Result<Option<Resumed>> {
    let starts = graph.progress.states;
    let (mut node, mut first_member, mut level) = (starts, starts, 0_u32);
    let (mut last, mut nodes) = (0..starts, Vec::new());
    for bytes in notes.all {
        let checkpoint: Checkpoint = from_bytes(&bytes).map_err(|e| damaged(&e.to_string()))?;
        if checkpoint.form != FORM || notes.identity.is_some_and(|identity| checkpoint.identity != identity.0) {
            return Err(damaged("it belongs to another scenario, other settings or another version"));
        }
        first_member = checkpoint.first_member;
        last = node..node + checkpoint.cells.len() as u64;
        nodes.extend(take_in(graph, trail, checkpoint, level, node)?);
        node = last.end;
        level += 1;
    }
    if level == 0 {
        return Ok(None);
    }
    graph.observer.stage(Stage::Resuming);
    let rebuilt = match walker.limits.urgent() {
        Some(stop) => Err(stop),
        None => walker.rebuild(graph, runner, trail, (last, &nodes), level, pool)?,
    };
    let (waiting, stop) = rebuilt.map_or_else(|stop| (Vec::new(), Some(stop)), |waiting| (waiting, None));
    Ok(Some(Resumed { waiting, level, first_member, stop }))
}

fn take_in<S: System>(
    graph: &mut Graph<'_, S>,
    trail: &dyn Trail,
    checkpoint: Checkpoint,
    level: u32,
    first_node: u64,
) -> io::Result<Vec<Node>> {
    let nodes: Vec<Node> = (first_node..)
        .zip(&checkpoint.cells)
        .map(|(node, cell)| {
            let (parent, choice) = trail.look(node)?;
            Ok(Node { node, level: level + 1, parent, choice, cell: (*cell != NO_CELL).then_some(*cell) })
        })
        .collect::<io::Result<_>>()?;
    // Both are in the order of jobs; a kept end that is no state was replaced by a worse one.
    let mut kept = nodes.iter().peekable();
    let mut firsts = &checkpoint.firsts[..];
    for bytes in checkpoint.edges.chunks(EDGE_BYTES) {
        let edge = edge_of(bytes, level).ok_or_else(|| damaged("a segment is cut off"))?;
        graph.take_in_edge(&edge, &mut firsts)?;
        let is_state = kept.next_if(|node| (node.parent, node.choice) == (edge.parent, edge.choice)).is_some();
        if edge.fate == Fate::Kept && !is_state {
            graph.link_merged(edge.parent, edge.choice, edge.cell, 0);
        }
    }
    nodes.iter().for_each(|node| graph.link_kept(node));
    graph.hits.extend(checkpoint.hits.into_iter().map(HitRow::hit));
    graph.notes.extend(checkpoint.notes.into_iter().map(HitRow::hit));
    let fault = |(parent, choice, what): (u64, u16, String)| FaultAt {
        parent,
        choice: Choice(choice),
        fault: Fault::External(what),
    };
    graph.faults.extend(checkpoint.faults.into_iter().map(fault));
    graph.written = Written { hits: graph.hits.len(), notes: graph.notes.len(), faults: graph.faults.len() };
    graph.progress = checkpoint.progress;
    graph.levels.push(checkpoint.report);
    (graph.goals, graph.timed_out) = (checkpoint.goals, checkpoint.timed_out);
    (graph.note_count, graph.fault_count) = (checkpoint.note_count, checkpoint.fault_count);
    graph.first_hit = checkpoint.first_hit;
    graph.continue_digest(Digest(checkpoint.digest));
    let report = graph.levels[level as usize];
    graph.observer.level(&report);
    Ok(nodes)
}

/// Computes states again along the trail.
pub(crate) struct Walker<'a, S: System> {
    pub(crate) starts: &'a [S::State],
    pub(crate) limits: &'a Limits<'a>,
}

impl<S: System> Walker<'_, S> {
    /// The states of the last level, and where cells stay open for later levels also who holds them.
    fn rebuild(
        &self,
        graph: &mut Graph<'_, S>,
        runner: &Runner<'_, S>,
        trail: &dyn Trail,
        (last, nodes): (std::ops::Range<u64>, &[Node]),
        level: u32,
        pool: &mut Pool<'_, S::State>,
    ) -> io::Result<Result<Vec<Waiting>, Stop>> {
        let holders_matter = graph.settings.scope == Scope::Visited && runner.grid.is_some();
        let draws = graph.observer.draws();
        let wanted: Vec<u64> = match holders_matter || draws {
            true => nodes.iter().map(|node| node.node).collect(),
            false => last.clone().collect(),
        };
        if graph.observer.records() && !draws {
            nodes.iter().for_each(|node| graph.observer.node(node));
        }
        let first = nodes.first().map_or(0, |node| node.node);
        let (mut waiting, mut failed) = (Vec::new(), None);
        let mut holders = Holders { level: 0, members: Vec::new() };
        let reached = |node: u64, depth: u32, state: &S::State| {
            if holders_matter {
                holders.enter(graph, runner, node, depth, state);
            }
            if draws {
                graph.observer.kept(node, graph.system.glance(state));
                if graph.observer.records() {
                    graph.observer.node(&nodes[(node - first) as usize]);
                }
            }
            if last.contains(&node) {
                match pool.put(state) {
                    Ok(place) => waiting.push(Waiting { node, level, place }),
                    Err(error) => failed = Some(error),
                }
            }
        };
        match (walk_nodes(&runner.on_time, self.starts, trail, &wanted, reached), self.limits.urgent()) {
            (Ok(_), _) => {}
            (Err(WalkError::Trail(error)), _) => return Err(error),
            (Err(WalkError::Differs { end: Err(Fault::External(_)), .. }), Some(stop)) => return Ok(Err(stop)),
            (Err(other), _) => return Err(io::Error::other(format!("not reproducible: {other}"))),
        }
        match failed {
            Some(error) => Err(error),
            None => {
                waiting.sort_unstable_by_key(|waiting| waiting.node);
                graph.requeue(&waiting, pool)?;
                Ok(Ok(waiting))
            }
        }
    }
}

/// Who holds the cells, entered again in the order of levels.
struct Holders {
    level: u32,
    /// Jobs of the members that were entered in this level, by number.
    members: Vec<(Member, JobOrder)>,
}

impl Holders {
    fn enter<S: System>(
        &mut self,
        graph: &mut Graph<'_, S>,
        runner: &Runner<'_, S>,
        node: u64,
        depth: u32,
        state: &S::State,
    ) {
        if depth != self.level {
            (self.level, self.members) = (depth, Vec::new());
        }
        let (Some(grid), Ok(member)) = (runner.grid, Member::try_from(node)) else { return };
        let key = crate::runner::cell_key(runner.system, state, None, &mut KeyWriter::new(grid));
        let Some(cell) = key.and_then(|key| graph.table.get(key)) else { return };
        let danger = runner.system.danger(state);
        if !graph.merges_at(depth) {
            return graph.cells.enter_unmerged(cell, &danger, member);
        }
        let job = JobOrder { parent: node, choice: 0 };
        let members = &self.members;
        let waiting = |m: Member| members.binary_search_by_key(&m, |(member, _)| *member).ok().map(|at| members[at].1);
        let arrival = graph.cells.enter(cell, &danger, job, member, waiting);
        if matches!(arrival, Arrival::Kept { .. }) {
            self.members.push((member, job));
        }
    }
}
