//! Where a run is in the graph, and where the graph expects failure from there.

use anabranch_kernel::{CellKey, Choice};

use super::flow::{End, Flow, Members};

/// The graph with the probability of failure after each step.
pub(super) struct Guide<'a> {
    pub(super) flow: &'a Flow,
    pub(super) values: &'a [f64],
    /// Probability of failure from each start.
    pub(super) starts: &'a [f64],
}

/// Where a run is, as far as the graph knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    /// Exactly at a kept state or in the cell of these.
    At(Members),
    /// Its end will be looked up by its key.
    LookUp,
    /// Outside of what was explored.
    Lost,
}

impl Guide<'_> {
    /// The state of a start.
    pub(super) fn start(&self, start: usize) -> Whereabouts {
        Whereabouts::At(start as u32..start as u32 + 1)
    }

    /// Probability of failure after each live choice, as far as the graph knows.
    pub(super) fn values(&self, at: &Whereabouts, live: &[Choice], out: &mut Vec<f64>) {
        out.clear();
        let Whereabouts::At(members) = at else { return out.resize(live.len(), 0.0) };
        let nodes = self.flow.nodes(members);
        out.extend(live.iter().map(|&choice| {
            let known = nodes.iter().filter_map(|&node| self.flow.step(node, choice));
            let (count, sum) = known.fold((0_u32, 0.0), |(n, sum), step| (n + 1, sum + self.values[step]));
            if count == 0 { 0.0 } else { sum / f64::from(count) }
        }));
    }

    /// Where a run goes by a choice, before its segment is run.
    pub(super) fn go(&self, at: &Whereabouts, choice: Choice) -> Whereabouts {
        let Whereabouts::At(members) = at else { return Whereabouts::LookUp };
        let step = self.flow.only(members).and_then(|node| self.flow.step(node, choice));
        match step.map(|step| &self.flow.steps[step].end) {
            Some(End::Open(members)) => Whereabouts::At(members.clone()),
            _ => Whereabouts::LookUp,
        }
    }

    /// The cell with a name at a level.
    pub(super) fn look_up(&self, key: Option<CellKey>, level: u32) -> Whereabouts {
        key.and_then(|key| self.flow.named(key, level)).map_or(Whereabouts::Lost, Whereabouts::At)
    }
}
