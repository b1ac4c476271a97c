//! The whole graph in memory, for whoever wants to walk it after an exploration.

use crate::edge::{Edge, LevelReport, Node, Observer, Progress};

/// An observer that keeps every segment and every kept state.
///
/// About 80 bytes per segment, so it is for graphs that fit into memory; [`Recording::with_room`] stops recording when
/// there are too many and says so by [`Recording::is_whole`].
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Segments in the order of jobs.
    pub edges: Vec<Edge>,
    /// Kept states by number.
    pub nodes: Vec<Node>,
    /// Reports of finished levels.
    pub levels: Vec<LevelReport>,
    edges_max: usize,
    is_whole: bool,
}

impl Default for Recording {
    fn default() -> Self {
        Self::with_room(usize::MAX)
    }
}

impl Recording {
    /// Records at most this many segments.
    pub fn with_room(edges_max: usize) -> Self {
        Self { edges: Vec::new(), nodes: Vec::new(), levels: Vec::new(), edges_max, is_whole: true }
    }
    /// Whether everything that happened was recorded.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }
}

impl Observer for Recording {
    fn progress(&mut self, _: &Progress) {}
    fn level(&mut self, report: &LevelReport) {
        self.levels.push(*report);
    }
    fn records(&self) -> bool {
        self.is_whole
    }
    fn edge(&mut self, edge: &Edge) {
        self.is_whole = self.edges.len() < self.edges_max;
        if self.is_whole {
            self.edges.push(*edge);
        }
    }
    fn node(&mut self, node: &Node) {
        self.nodes.push(*node);
    }
}
