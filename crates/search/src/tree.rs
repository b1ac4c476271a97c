//! Tree search over saved states: a longer error sequence costs one segment more, not a run from the start.
//!
//! Each node is a state after some choices. A visit goes down from the root to where something is untried, runs one
//! segment from the saved state there, and takes what it saw back up. The order of visits does not depend on whether
//! states are saved, so the saving can be measured: with [`Reuse::Off`] the same search runs every prefix again.

use anabranch_kernel::{Choice, Choices, Fault, Params, Seed, SegmentEnd, System, Watch, maths};
use serde::{Deserialize, Serialize};

use crate::dice::Dice;

/// Whether states at nodes are saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reuse {
    /// Up to this many; a state that was not saved is run again from the nearest saved one.
    Saved(usize),
    /// None: every visit runs from the start.
    Off,
}

/// How a tree is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeSettings {
    /// Seed of the system and of the search.
    pub seed: Seed,
    /// Longest error sequence.
    pub segments_max: usize,
    /// Most visits. A visit adds one segment to the tree.
    pub visits_max: u64,
    /// How much less visited branches are favoured; 0 is greedy, 1 balanced.
    pub curiosity: f64,
    /// Saved states.
    pub reuse: Reuse,
}

/// What a tree search found, and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeReport {
    /// Choices of the most dangerous sequence.
    pub best: Vec<Choice>,
    /// Its smallest margin.
    pub margin: f64,
    /// Whether it violates a requirement.
    pub violated: bool,
    /// Visits, which is nodes besides the root.
    pub visits: u64,
    /// Segments that were run.
    pub segments: u64,
    /// Segments that the same search runs without saved states.
    pub segments_without_reuse: u64,
    /// Simulated time of the segments that were run.
    pub simulated_seconds: f64,
    /// Whether every sequence was tried.
    pub complete: bool,
}

struct Node<S> {
    parent: usize,
    choice: Choice,
    depth: usize,
    state: Option<S>,
    untried: Vec<Choice>,
    children: Vec<usize>,
    /// Nothing below is left to try.
    closed: bool,
    visits: u64,
    /// Smallest margin on the way here.
    margin: f64,
    /// Score of the segment that led here.
    own: f64,
    /// Lowest score in the subtree.
    score: f64,
}

struct Tree<'a, S: System> {
    system: &'a S,
    settings: &'a TreeSettings,
    params: &'a Params,
    nodes: Vec<Node<S::State>>,
    saved: usize,
    /// Least and largest score so far, for a scale.
    extent: (f64, f64),
    report: TreeReport,
}

/// Searches error sequences of a system for the most dangerous one; ends at the first violation.
///
/// # Errors
/// When a segment could not be computed.
pub fn search_tree<S: System>(system: &S, params: &Params, settings: &TreeSettings) -> Result<TreeReport, Fault> {
    let start = system.start(settings.seed, params)?;
    let report = TreeReport {
        best: Vec::new(),
        margin: f64::INFINITY,
        violated: false,
        visits: 0,
        segments: 0,
        segments_without_reuse: 0,
        simulated_seconds: 0.0,
        complete: false,
    };
    let mut tree = Tree {
        system,
        settings,
        params,
        nodes: Vec::new(),
        saved: 0,
        extent: (f64::INFINITY, f64::NEG_INFINITY),
        report,
    };
    tree.add(0, Choice::NONE, 0, start, f64::INFINITY, f64::INFINITY, settings.segments_max > 0);
    while tree.report.visits < settings.visits_max && !tree.report.violated {
        if tree.nodes[0].closed {
            tree.report.complete = true;
            break;
        }
        tree.visit()?;
    }
    tree.report.simulated_seconds = tree.report.segments as f64 * system.segment_seconds();
    Ok(tree.report)
}

impl<S: System> Tree<'_, S> {
    #[expect(clippy::too_many_arguments, reason = "the parts of a node, named where it is made")]
    fn add(
        &mut self,
        parent: usize,
        choice: Choice,
        depth: usize,
        state: S::State,
        margin: f64,
        score: f64,
        open: bool,
    ) {
        let mut live = Choices::default();
        if open {
            self.system.live(&state, &mut live);
        }
        let mut untried: Vec<Choice> = live.to_vec();
        let mut dice = Dice::new(self.settings.seed, "search/tree/order", self.nodes.len() as u64);
        for n in (1..untried.len()).rev() {
            untried.swap(n, dice.below(n + 1));
        }
        let most = match self.settings.reuse {
            Reuse::Saved(most) => most,
            Reuse::Off => 0,
        };
        let state = (open && self.saved < most).then_some(state);
        self.saved += usize::from(state.is_some());
        let closed = untried.is_empty();
        self.nodes.push(Node {
            parent,
            choice,
            depth,
            state,
            untried,
            children: Vec::new(),
            closed,
            visits: 1,
            margin,
            own: score,
            score,
        });
    }
    /// Choices from the root to a node.
    fn path(&self, mut node: usize) -> Vec<Choice> {
        let mut path = Vec::with_capacity(self.nodes[node].depth);
        while node != 0 {
            path.push(self.nodes[node].choice);
            node = self.nodes[node].parent;
        }
        path.reverse();
        path
    }
    /// The state at a node: saved, or run again from the nearest saved one above it.
    fn state(&mut self, node: usize) -> Result<S::State, Fault> {
        let mut above = node;
        while above != 0 && self.nodes[above].state.is_none() {
            above = self.nodes[above].parent;
        }
        let mut state = match &self.nodes[above].state {
            Some(saved) => saved.clone(),
            None => self.system.start(self.settings.seed, self.params)?,
        };
        let path = self.path(node);
        for choice in &path[self.nodes[above].depth..] {
            self.system.run(&mut state, *choice, &mut Watch::off())?;
            self.report.segments += 1;
        }
        Ok(state)
    }
    /// Where to go next: an untried choice counts like a child nobody visited.
    fn select(&self) -> usize {
        let mut node = 0;
        loop {
            let here = &self.nodes[node];
            let widen = here.untried.len() as f64 / (here.untried.len() + here.children.len()).max(1) as f64;
            let open = here.children.iter().filter(|child| !self.nodes[**child].closed);
            let best = open
                .map(|child| (self.promise(*child, here.visits), *child))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let Some((promise, child)) = best else { return node };
            // As if the untried one were as good as the segment before it, and visited once.
            let untried = self.scaled(here.own) - self.curiosity(1, here.visits);
            if widen > 0.0 && untried <= promise {
                return node;
            }
            node = child;
        }
    }
    fn curiosity(&self, visits: u64, parent_visits: u64) -> f64 {
        self.settings.curiosity * (maths::ln(parent_visits as f64 + 1.0) / visits as f64).sqrt()
    }
    /// A score on the scale of all scores, from 0 for the lowest to 1.
    fn scaled(&self, score: f64) -> f64 {
        let (lo, hi) = self.extent;
        if hi > lo && score.is_finite() { ((score - lo) / (hi - lo)).clamp(0.0, 1.0) } else { 0.5 }
    }
    /// Low is good: a low score in the subtree, few visits.
    fn promise(&self, node: usize, parent_visits: u64) -> f64 {
        self.scaled(self.nodes[node].score) - self.curiosity(self.nodes[node].visits, parent_visits)
    }
    /// Runs one new segment.
    fn visit(&mut self) -> Result<(), Fault> {
        let node = self.select();
        let (depth, margin_before) = (self.nodes[node].depth, self.nodes[node].margin);
        let mut state = self.state(node)?;
        let Some(choice) = self.nodes[node].untried.pop() else {
            self.close_upwards(node);
            return Ok(());
        };
        let mut watch = Watch::off();
        let end = self.system.run(&mut state, choice, &mut watch)?;
        self.report.visits += 1;
        self.report.segments += 1;
        self.report.segments_without_reuse += depth as u64 + 1;
        let margin = margin_before.min(watch.margin);
        let danger = -self.system.danger(&state).worst;
        let score = if watch.margin.is_finite() { watch.margin } else { danger };
        let violated = matches!(end, SegmentEnd::Violated(_));
        if score.is_finite() {
            self.extent = (self.extent.0.min(score), self.extent.1.max(score));
        }
        let open = end == SegmentEnd::Open && depth + 1 < self.settings.segments_max;
        let child = self.nodes.len();
        self.add(node, choice, depth + 1, state, margin, score, open);
        self.nodes[node].children.push(child);
        let lowest = if margin.is_finite() { margin } else { score };
        if violated || lowest < self.report.margin {
            (self.report.margin, self.report.violated) = (lowest, violated);
            self.report.best = self.path(child);
        }
        self.take_upwards(child);
        Ok(())
    }
    fn take_upwards(&mut self, from: usize) {
        let (score, mut node) = (self.nodes[from].score, from);
        while node != 0 {
            node = self.nodes[node].parent;
            self.nodes[node].visits += 1;
            self.nodes[node].score = self.nodes[node].score.min(score);
        }
        self.close_upwards(from);
    }
    /// Closes what has nothing left to try, and gives its saved state back.
    fn close_upwards(&mut self, from: usize) {
        let mut node = from;
        loop {
            let here = &self.nodes[node];
            let spent = here.untried.is_empty();
            if spent && here.state.is_some() && node != 0 {
                self.nodes[node].state = None;
                self.saved -= 1;
            }
            let here = &self.nodes[node];
            if !spent || !here.children.iter().all(|child| self.nodes[*child].closed) {
                return;
            }
            self.nodes[node].closed = true;
            if node == 0 {
                return;
            }
            node = self.nodes[node].parent;
        }
    }
}
