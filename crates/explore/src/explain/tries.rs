//! Running many similar error sequences, each from the nearest saved ancestor.

use std::collections::BTreeSet;

use anabranch_kernel::{Choice, Choices, Fault, Job, SegmentEnd, System, Verdict};
use rayon::prelude::*;

use super::cost::Cost;
use super::{Question, violation};
use crate::runner::state_bytes;

/// Sequences that are advanced together.
const TOGETHER: usize = 256;
/// Segments of one piece of work for a core: enough to fill vector lanes.
const JOBS: usize = 16;
/// Bytes of saved states; beyond it they are forgotten and made again when needed.
const BYTES_MAX: usize = 256 << 20;
/// Fewest and most saved states, whatever their size.
const NODES: (usize, usize) = (1_024, 100_000);

/// A sequence that was run to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The error of every segment that was run: what is not live became "no error", what came after the end is left
    /// out, and where the run went on after the last error there are choices of "no error".
    pub choices: Vec<Choice>,
    /// How it ended; `Open` if the horizon was reached before.
    pub end: SegmentEnd,
    /// Smallest margin.
    pub margin: f64,
}

impl Tried {
    /// The verdict about a requirement, if it was violated.
    pub fn violation(&self, requirement: u16) -> Option<Verdict> {
        violation(&self.end, requirement)
    }
    /// Whether no requirement was violated.
    pub fn passes(&self) -> bool {
        !matches!(self.end, SegmentEnd::Violated(_))
    }
}

/// A saved state: where one sequence of choices leads.
#[derive(Debug)]
struct Node<S> {
    /// `None` once the run has ended here.
    state: Option<S>,
    end: SegmentEnd,
    /// Smallest margin from the start.
    margin: f64,
    /// Live choices; empty until somebody asks.
    live: Choices,
    children: Vec<(Choice, usize)>,
}

/// One sequence on its way.
struct Walker<'w> {
    wanted: &'w [Choice],
    taken: Vec<Choice>,
    at: usize,
}

/// All sequences that were run so far, as a tree of saved states. Bounded: when it grows too large it is forgotten.
#[derive(Debug)]
pub struct Tries<'a, S: System> {
    question: Question<'a, S>,
    nodes: Vec<Node<S::State>>,
    nodes_max: usize,
    /// Segments after which the finding violates.
    found: usize,
    segments_run: u64,
    segments_asked: u64,
}

impl<'a, S: System> Tries<'a, S> {
    /// Nothing tried yet.
    ///
    /// # Errors
    /// When the start cannot be computed.
    pub fn new(question: Question<'a, S>) -> Result<Self, Fault> {
        Self::within(question, BYTES_MAX)
    }

    /// As [`Tries::new`], with fewer bytes of saved states.
    ///
    /// # Errors
    /// When the start cannot be computed.
    pub(crate) fn within(question: Question<'a, S>, bytes_max: usize) -> Result<Self, Fault> {
        let state = question.system.start(question.seed, question.params)?;
        let nodes_max = (bytes_max / state_bytes(&state).max(1)).clamp(NODES.0, NODES.1);
        let root = Node {
            state: Some(state),
            end: SegmentEnd::Open,
            margin: f64::INFINITY,
            live: Choices::new(),
            children: Vec::new(),
        };
        let found = question.choices.len();
        Ok(Self { question, nodes: vec![root], nodes_max, found, segments_run: 0, segments_asked: 0 })
    }

    /// What is being explained.
    pub fn question(&self) -> &Question<'a, S> {
        &self.question
    }
    /// How small a counterexample is.
    pub(crate) fn cost(&self, tried: &Tried) -> Cost {
        Cost::of(self.question.system.errors(), &tried.choices, self.found)
    }
    /// Segments after which the finding violates.
    pub(super) fn found(&self) -> usize {
        self.found
    }
    /// The choices of the finding may go on after its violation; what comes then does not count.
    pub(crate) fn set_found(&mut self, segments: usize) {
        self.found = segments;
    }
    /// Segments that were simulated.
    pub fn segments_run(&self) -> u64 {
        self.segments_run
    }
    /// Segments that would have been simulated if every sequence were run from the start.
    pub fn segments_asked(&self) -> u64 {
        self.segments_asked
    }

    /// Runs one sequence, and no error from its end on.
    ///
    /// # Errors
    /// When a segment cannot be computed.
    pub fn one(&mut self, choices: &[Choice]) -> Result<Tried, Fault> {
        let mut tried = self.many(&[choices.to_vec()])?;
        Ok(tried.remove(0))
    }

    /// Runs sequences side by side; results in their order.
    ///
    /// # Errors
    /// When a segment cannot be computed.
    pub fn many(&mut self, sequences: &[Vec<Choice>]) -> Result<Vec<Tried>, Fault> {
        let mut all = Vec::with_capacity(sequences.len());
        for together in sequences.chunks(TOGETHER) {
            if self.nodes.len() > self.nodes_max {
                self.nodes.truncate(1);
                self.nodes[0].children.clear();
            }
            all.extend(self.walk(together)?);
        }
        Ok(all)
    }

    /// Those of the sequences that lead to the accident, in their order.
    ///
    /// # Errors
    /// When a segment cannot be computed.
    pub fn violating(&mut self, sequences: &[Vec<Choice>]) -> Result<Vec<Tried>, Fault> {
        let mut tried = self.many(sequences)?;
        tried.retain(|one| self.accident(one).is_some());
        Ok(tried)
    }

    /// The verdict about the accident that is asked about, if this run ended with it.
    pub fn accident(&self, tried: &Tried) -> Option<Verdict> {
        self.question.accident(&tried.end, &tried.choices)
    }

    fn walk(&mut self, sequences: &[Vec<Choice>]) -> Result<Vec<Tried>, Fault> {
        let mut walkers: Vec<Walker<'_>> =
            sequences.iter().map(|wanted| Walker { wanted, taken: Vec::new(), at: 0 }).collect();
        loop {
            let mut missing = BTreeSet::new();
            for walker in &mut walkers {
                missing.extend(self.advance(walker));
            }
            if missing.is_empty() {
                break;
            }
            self.simulate(&missing.into_iter().collect::<Vec<_>>())?;
        }
        self.segments_asked += walkers.iter().map(|walker| walker.taken.len() as u64).sum::<u64>();
        let tried = |walker: Walker<'_>| {
            let node = &self.nodes[walker.at];
            Tried { choices: walker.taken, end: node.end.clone(), margin: node.margin }
        };
        Ok(walkers.into_iter().map(tried).collect())
    }

    /// Goes as far as states are saved; the segment that is missing, if the run does not end there.
    fn advance(&mut self, walker: &mut Walker<'_>) -> Option<(usize, Choice)> {
        let horizon = self.question.segments_max.max(self.question.choices.len());
        while self.nodes[walker.at].state.is_some() && walker.taken.len() < horizon {
            let wanted = walker.wanted.get(walker.taken.len()).copied().unwrap_or(Choice::NONE);
            let choice = if self.is_live(walker.at, wanted) { wanted } else { Choice::NONE };
            let known = self.nodes[walker.at].children.iter().find(|(c, _)| *c == choice);
            let Some(&(_, child)) = known else { return Some((walker.at, choice)) };
            walker.at = child;
            walker.taken.push(choice);
        }
        None
    }

    fn is_live(&mut self, node: usize, choice: Choice) -> bool {
        if choice == Choice::NONE {
            return true;
        }
        let node = &mut self.nodes[node];
        if let (true, Some(state)) = (node.live.is_empty(), &node.state) {
            self.question.system.live(state, &mut node.live);
        }
        node.live.contains(&choice)
    }

    /// Runs segments from saved states and saves where they lead.
    fn simulate(&mut self, missing: &[(usize, Choice)]) -> Result<(), Fault> {
        let (system, nodes) = (self.question.system, &self.nodes);
        let run = |part: &[(usize, Choice)]| {
            let state = |node: usize| nodes[node].state.clone().expect("a run that has ended is not continued");
            let mut jobs: Vec<Job<S::State>> = part.iter().map(|(node, c)| Job::new(state(*node), *c)).collect();
            system.run_many(&mut jobs);
            jobs
        };
        let done: Vec<Vec<Job<S::State>>> = missing.par_chunks(JOBS).map(run).collect();
        for (&(parent, choice), job) in missing.iter().zip(done.into_iter().flatten()) {
            let end = job.end?;
            let margin = self.nodes[parent].margin.min(job.margin);
            let state = (end == SegmentEnd::Open).then_some(job.state);
            let child = self.nodes.len();
            self.nodes.push(Node { state, end, margin, live: Choices::new(), children: Vec::new() });
            self.nodes[parent].children.push((choice, child));
            self.segments_run += 1;
        }
        Ok(())
    }
}
