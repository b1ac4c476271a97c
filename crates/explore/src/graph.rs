//! The growing graph: counts, digest, findings, and the decision whether an arrival is kept.

use std::collections::BTreeSet;
use std::io;

use anabranch_kernel::{CellKey, Choice, DigestWriter, KeyWriter, Recall, SegmentEnd, System, Verdict};

use crate::apart::Firsts;
use crate::cells::{Arrival, Cells, JobOrder, Member, Members, ReopenSteps};
use crate::checkpoint::{Log, Written};
use crate::crowd::Crowd;
use crate::edge::{Drawn, Edge, Fate, LevelReport, NO_PARENT, Node, Observer, Progress, SegmentAt};
use crate::links::Links;
use crate::modes::Modes;
use crate::pool::Pool;
use crate::runner::{Done, MergeClock, Origin, Profile, Waiting, cell_key};
use crate::settings::{Merge, Scope, Settings};
use crate::soundness::Evidence;
use crate::table::Table;

/// Hits kept with their path; more are only counted.
pub const HITS_MAX: usize = 100_000;
/// Bytes of segments that are digested at once.
const DIGEST_BYTES: usize = 4096;

/// A segment in which a requirement was violated.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Number of the state it started from.
    pub parent: u64,
    /// Choice of the segment.
    pub choice: Choice,
    /// Level of its start: the path has this many segments and one more.
    pub level: u32,
    /// Which segment of the exploration it was, counted from 1.
    pub segment: u64,
    /// What was violated.
    pub verdict: Verdict,
}

/// A segment that could not be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultAt {
    /// Number of the state it started from.
    pub parent: u64,
    /// Choice of the segment.
    pub choice: Choice,
    /// What went wrong.
    pub fault: anabranch_kernel::Fault,
}

/// Everything an exploration accumulates besides the waiting states.
pub(crate) struct Graph<'a, S: System> {
    pub(crate) system: &'a S,
    pub(crate) settings: &'a Settings,
    pub(crate) observer: &'a mut (dyn Observer + Send),
    pub(crate) table: Table,
    pub(crate) cells: Cells,
    /// The first members of all cells, while the graph is recorded.
    pub(crate) firsts: Option<Firsts<'a>>,
    /// Cells of waiting states, for the paper's scope.
    queued: BTreeSet<CellKey>,
    /// Cells of the states of the level being expanded, in order, for the paper's scope.
    pub(crate) parent_keys: Vec<CellKey>,
    digest: DigestWriter,
    /// Segments not yet digested: many at once are cheaper.
    undigested: Vec<u8>,
    pub(crate) progress: Progress,
    pub(crate) goals: u64,
    pub(crate) timed_out: u64,
    pub(crate) hits: Vec<Hit>,
    pub(crate) notes: Vec<Hit>,
    pub(crate) note_count: u64,
    pub(crate) faults: Vec<FaultAt>,
    pub(crate) fault_count: u64,
    pub(crate) first_hit: Option<u64>,
    pub(crate) levels: Vec<LevelReport>,
    pub(crate) profile: Profile,
    pub(crate) merge_clock: MergeClock,
    /// How much of the lists below is in checkpoints.
    pub(crate) written: Written,
    /// What the next checkpoint will hold; `None` if none is wanted.
    pub(crate) log: Option<Log>,
    /// What refinement will ask; `None` if it will not.
    pub(crate) links: Option<Links>,
    pub(crate) peak_bytes: u64,
    /// Which modes were reached, if somebody will search there.
    pub(crate) modes: Option<Modes>,
    /// Values of some states, to say what keeps them apart; with the modes.
    pub(crate) crowd: Crowd,
    /// What a proof needs, if one is wanted.
    pub(crate) evidence: Option<Evidence<S::State>>,
}

impl<'a, S: System> Graph<'a, S> {
    pub(crate) fn new(
        system: &'a S,
        settings: &'a Settings,
        (axes, reopen): (usize, ReopenSteps),
        observer: &'a mut (dyn Observer + Send),
    ) -> Self {
        Self {
            system,
            settings,
            observer,
            table: Table::new(),
            cells: Cells::new(settings.keep, axes, reopen),
            firsts: None,
            queued: BTreeSet::new(),
            parent_keys: Vec::new(),
            digest: DigestWriter::new(),
            undigested: Vec::with_capacity(DIGEST_BYTES + 64),
            progress: Progress { margin: f64::INFINITY, ..Progress::default() },
            goals: 0,
            timed_out: 0,
            hits: Vec::new(),
            notes: Vec::new(),
            note_count: 0,
            faults: Vec::new(),
            fault_count: 0,
            first_hit: None,
            levels: Vec::new(),
            profile: Profile::default(),
            merge_clock: MergeClock::default(),
            written: Written::default(),
            log: None,
            links: settings.needs_links().then(Links::default),
            peak_bytes: 0,
            crowd: Crowd::new(system.variables().len()),
            modes: settings.searches().then(|| Modes::new(system)),
            evidence: None,
        }
    }

    pub(crate) fn digest(&self) -> anabranch_kernel::Digest {
        let mut digest = self.digest.clone();
        digest.bytes(&self.undigested);
        digest.finish()
    }

    pub(crate) fn merges_at(&self, level: u32) -> bool {
        self.settings.merge != Merge::None && level.is_multiple_of(self.settings.merge_every)
    }

    pub(crate) fn begin_level(&mut self, level: u32, waiting: u64) {
        self.progress.level = level;
        (self.progress.expanded, self.progress.waiting) = (0, waiting);
        if self.settings.scope == Scope::Level {
            self.cells.start_over(self.table.len());
        }
        let (segments, kept, merged, goals, findings) = (0, 0, 0, 0, 0);
        let margin = f64::INFINITY;
        self.levels.push(LevelReport { level, segments, kept, merged, goals, findings, margin });
        self.undigested.extend_from_slice(&waiting.to_le_bytes());
    }

    fn report_of(&mut self, level: u32) -> &mut LevelReport {
        // In order of danger levels are visited again and again; their reports exist once.
        while self.levels.len() <= level as usize {
            let level = self.levels.len() as u32;
            let (segments, kept, merged, goals, findings) = (0, 0, 0, 0, 0);
            let margin = f64::INFINITY;
            self.levels.push(LevelReport { level, segments, kept, merged, goals, findings, margin });
        }
        &mut self.levels[level as usize]
    }

    /// Asks for the table's memory before its turn comes.
    pub(crate) fn prefetch(&self, keys: &[Option<CellKey>]) {
        for key in keys.iter().flatten() {
            self.table.prefetch(*key);
        }
    }

    /// Counts what a segment took: it may have been run, or be known from an earlier run.
    fn count_segment(&mut self, done: &Done<'_, S::State>) {
        self.progress.segments += 1;
        self.progress.segments_from_start += u64::from(done.origin.level) + 1;
        if done.job.recall != Recall::Ran {
            self.count_recall(done);
        }
    }

    #[cold]
    fn count_recall(&mut self, done: &Done<'_, S::State>) {
        let Origin { parent, level, .. } = done.origin;
        let progress = &mut self.progress;
        match done.job.recall {
            Recall::Ran | Recall::Alike => {}
            Recall::Reused => progress.reused += 1,
            Recall::Checked => (progress.reused, progress.checked) = (progress.reused + 1, progress.checked + 1),
            Recall::Differs => {
                let at = SegmentAt { level, parent, choice: done.job.choice.0 };
                progress.first_difference = Some(progress.first_difference.map_or(at, |first| first.min(at)));
            }
        }
    }

    /// Counts a segment and says what became of it, or `None` if its end is open.
    pub(crate) fn account(&mut self, done: &mut Done<'_, S::State>) -> Option<Fate> {
        self.count_segment(done);
        if done.job.margin < self.progress.margin {
            self.progress.margin = done.job.margin;
        }
        if let Some(links) = &mut self.links {
            links.see(done.origin.parent, done.job.choice.0, done.job.margin);
        }
        let segment = self.progress.segments;
        if done.key.is_none() && done.job.end == Ok(SegmentEnd::Open) && self.merges_at(done.origin.level + 1) {
            let what = "a state variable is not finite".to_owned();
            done.job.end = Err(anabranch_kernel::Fault::Numeric(what));
        }
        let (code, fate) = match &done.job.end {
            Ok(SegmentEnd::Open) => (0, None),
            Ok(SegmentEnd::Goal) => (1, Some(Fate::Goal)),
            Ok(SegmentEnd::Violated(_)) => (2, Some(Fate::Violated)),
            Ok(SegmentEnd::TimedOut) => (3, Some(Fate::TimedOut)),
            Err(_) => (4, Some(Fate::Fault)),
        };
        self.digest_segment(done, code);
        if fate.is_some() || !done.job.notes.is_empty() {
            self.collect(done, segment);
        }
        let margin = done.job.margin;
        let report = self.report_of(done.origin.level);
        report.segments += 1;
        report.goals += u64::from(fate == Some(Fate::Goal));
        report.findings += u64::from(fate == Some(Fate::Violated));
        report.margin = if margin < report.margin { margin } else { report.margin };
        fate
    }

    fn digest_segment(&mut self, done: &Done<'_, S::State>, code: u64) {
        let key = done.key.map_or(0, |k| k.0);
        let words = [
            done.origin.parent,
            u64::from(done.job.choice.0) | code << 16 | u64::from((done.danger.worst as f32).to_bits()) << 32,
            key as u64,
            (key >> 64) as u64,
            done.job.margin.to_bits(),
            u64::from(done.origin.level),
        ];
        for word in words {
            self.undigested.extend_from_slice(&word.to_le_bytes());
        }
        if self.undigested.len() >= DIGEST_BYTES {
            self.digest.bytes(&self.undigested);
            self.undigested.clear();
        }
    }

    #[cold]
    fn collect(&mut self, done: &mut Done<'_, S::State>, segment: u64) {
        let (parent, choice, level) = (done.origin.parent, done.job.choice, done.origin.level);
        let hit = |verdict: &Verdict| Hit { parent, choice, level, segment, verdict: *verdict };
        self.note_count += done.job.notes.len() as u64;
        if self.notes.len() < HITS_MAX {
            self.notes.extend(done.job.notes.iter().map(hit));
        }
        match &done.job.end {
            Ok(SegmentEnd::Violated(verdicts)) => {
                self.progress.findings += 1;
                self.first_hit.get_or_insert(segment);
                if self.hits.len() < HITS_MAX {
                    self.hits.extend(verdicts.iter().map(hit));
                }
            }
            Ok(SegmentEnd::Goal) => self.goals += 1,
            Ok(SegmentEnd::TimedOut) => self.timed_out += 1,
            Ok(SegmentEnd::Open) => {}
            Err(fault) => {
                self.fault_count += 1;
                if self.faults.len() < HITS_MAX {
                    self.faults.push(FaultAt { parent, choice, fault: fault.clone() });
                }
            }
        }
    }

    /// A start state waits from now on. Start states in one cell are all kept: somebody asked for each of them.
    pub(crate) fn enter_start(&mut self, key: Option<CellKey>, state: &S::State, member: Member) -> Option<u32> {
        self.progress.states += 1;
        let key = key?;
        let (cell, new) = self.table.insert(key);
        let offsets = self.offsets_of(state);
        self.meet_first(Some(cell), Fate::Kept, &offsets);
        if self.settings.scope == Scope::Frontier {
            self.queued.insert(key);
            self.parent_keys.push(key);
        } else if new {
            self.cells.open(&self.system.danger(state), member);
        }
        Some(cell)
    }

    /// A state is fully expanded and leaves the queue before its last segment is compared (Fig. 6).
    pub(crate) fn dequeue_parent(&mut self, index: usize) {
        if let Some(key) = self.parent_keys.get(index) {
            self.queued.remove(key);
        }
    }

    /// Remembers the cells of the states that wait (paper scope).
    pub(crate) fn remember_parent_keys(&mut self, waiting: &[Waiting], pool: &Pool<'_, S::State>) -> io::Result<()> {
        let (Scope::Frontier, Merge::Grid(grid)) = (self.settings.scope, &self.settings.merge) else { return Ok(()) };
        let mut writer = KeyWriter::new(grid);
        for state in waiting {
            let key = cell_key(self.system, &pool.get(state.place)?, None, &mut writer);
            self.parent_keys.extend(key);
        }
        Ok(())
    }

    /// The cell of the open end of a segment, and whether it is kept there as member number `member`.
    pub(crate) fn admit(
        &mut self,
        done: &Done<'_, S::State>,
        member: Member,
        waiting: impl Fn(Member) -> Option<JobOrder>,
    ) -> (Option<u32>, Arrival) {
        let kept = Arrival::Kept { replaced: Members::new() };
        let Some(key) = done.key.filter(|_| self.settings.merge != Merge::None) else { return (None, kept) };
        let (cell, new) = self.table.insert(key);
        let job = JobOrder { parent: done.origin.parent, choice: done.job.choice.0 };
        let arrival = if !self.merges_at(done.origin.level + 1) {
            if new {
                self.cells.open(done.danger, member);
            }
            kept
        } else {
            match self.settings.scope {
                Scope::Frontier if self.queued.insert(key) => kept,
                Scope::Frontier => Arrival::Merged,
                Scope::Level | Scope::Visited if new => {
                    self.cells.open(done.danger, member);
                    kept
                }
                Scope::Level | Scope::Visited => self.cells.enter(cell, done.danger, job, member, waiting),
            }
        };
        (Some(cell), arrival)
    }

    /// Remembers a reached state for a proof, if one is wanted.
    pub(crate) fn see_reached(&mut self, level: u32, state: &S::State) {
        if let Some(evidence) = &mut self.evidence {
            evidence.see(self.system, level, state);
        }
    }

    /// Shows a segment to whoever draws or records.
    pub(crate) fn show(&mut self, done: &Done<'_, S::State>, fate: Fate, cell: Option<u32>) {
        let Origin { level, parent, .. } = done.origin;
        if self.observer.draws() {
            let to = self.system.glance(&done.job.state);
            self.observer.drawn(&Drawn { level, parent, to, fate });
        }
        if self.log.is_some() || self.observer.records() {
            let (choice, key, margin) = (done.job.choice, done.key, done.job.margin);
            let apart = self.meet_first(cell, fate, done.offsets);
            let edge = Edge { level, parent, choice, fate, cell, key, margin, apart };
            self.log.iter_mut().for_each(|log| log.add_edge(&edge));
            if self.observer.records() {
                self.observer.edge(&edge);
            }
        }
    }

    /// Shows a kept state to whoever draws or records.
    pub(crate) fn show_node(&mut self, node: &Node, state: impl FnOnce() -> io::Result<S::State>) -> io::Result<()> {
        if self.observer.draws() || self.modes.is_some() {
            let state = state()?;
            if self.observer.draws() {
                self.observer.kept(node.node, self.system.glance(&state));
            }
            if let Some(modes) = &mut self.modes {
                modes.see(self.system, node.node, &state);
                self.crowd.see(self.system, node.level, &state);
            }
        }
        if self.observer.records() {
            self.observer.node(node);
        }
        self.log.iter_mut().for_each(|log| log.add_node(node));
        self.link_kept(node);
        Ok(())
    }

    /// A kept state joins the graph.
    pub(crate) fn link_kept(&mut self, node: &Node) {
        if let Some(links) = &mut self.links {
            links.add_kept((node.parent != NO_PARENT).then_some(node.parent), node.choice.0, node.level, node.cell);
        }
    }

    /// A segment of an earlier process joins the graph. `firsts` are the offsets of first members that are still to come.
    pub(crate) fn take_in_edge(&mut self, edge: &Edge, firsts: &mut &[u8]) -> io::Result<()> {
        if let (Some(key), Some(expected)) = (edge.key, edge.cell) {
            let (cell, new) = self.table.insert(key);
            if cell != expected {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a checkpoint numbers cells otherwise"));
            }
            if new && self.settings.scope == Scope::Visited {
                self.cells.open_vacant();
            }
        }
        self.take_in_first(edge, firsts);
        if let Some(links) = &mut self.links {
            links.see(edge.parent, edge.choice.0, edge.margin);
        }
        if edge.fate == Fate::Merged {
            self.link_merged(edge.parent, edge.choice, edge.cell, 0);
        }
        if self.observer.records() {
            self.observer.edge(edge);
        }
        Ok(())
    }

    /// The digest goes on from another.
    pub(crate) fn continue_digest(&mut self, from: anabranch_kernel::Digest) {
        self.digest = DigestWriter::new();
        self.digest.wide(from.0);
        self.undigested.clear();
    }

    /// States wait again (paper scope).
    pub(crate) fn requeue(&mut self, waiting: &[Waiting], pool: &Pool<'_, S::State>) -> io::Result<()> {
        self.parent_keys.clear();
        self.remember_parent_keys(waiting, pool)?;
        self.queued = self.parent_keys.iter().copied().collect();
        Ok(())
    }

    /// A segment that was run before is run again: it costs, and it must end as it did.
    pub(crate) fn see_again(&mut self, done: &Done<'_, S::State>) -> io::Result<Option<Fate>> {
        self.count_segment(done);
        match &done.job.end {
            Ok(SegmentEnd::Open) => Ok(None),
            other => {
                let Origin { parent, level, .. } = done.origin;
                let what = format!("state {parent} of level {level} was left by an open segment, which now ends with");
                Err(io::Error::other(format!("not reproducible: {what} {other:?}")))
            }
        }
    }

    /// The end of a segment was merged into a cell.
    pub(crate) fn link_merged(&mut self, parent: u64, choice: Choice, cell: Option<u32>, pass: u16) {
        if let Some(links) = &mut self.links {
            links.add_merged(parent, choice.0, cell, pass);
        }
    }

    /// Remembers the largest memory use seen.
    pub(crate) fn see_bytes(&mut self) -> u64 {
        let links = self.links.as_ref().map_or(0, Links::bytes) + self.log.as_ref().map_or(0, Log::bytes);
        let firsts = self.firsts.as_ref().map_or(0, Firsts::bytes);
        let bytes = self.table.bytes() + self.cells.bytes() + links + firsts;
        self.peak_bytes = self.peak_bytes.max(bytes);
        bytes
    }

    pub(crate) fn count_merged(&mut self, level: u32) {
        self.progress.merged += 1;
        self.report_of(level).merged += 1;
    }

    /// A merged end is taken out of its cell again.
    pub(crate) fn uncount_merged(&mut self, level: u32) {
        self.progress.merged -= 1;
        self.report_of(level).merged -= 1;
    }

    pub(crate) fn count_kept(&mut self, level: u32) {
        self.report_of(level).kept += 1;
        self.progress.states += 1;
    }
}
