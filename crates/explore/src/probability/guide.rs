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
    /// Its end will be looked up by its key; if no cell has that name, the states of the graph that are likely to be near
    /// go on guiding it.
    LookUp(Option<Members>),
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
        let Whereabouts::At(members) = at else { return Whereabouts::LookUp(None) };
        let steps = self.flow.nodes(members).iter().filter_map(|&node| self.flow.step(node, choice));
        let open = steps.filter_map(|step| match &self.flow.steps[step].end {
            End::Open(members) => Some((self.values[step], members)),
            End::Violated | End::Over => None,
        });
        let worst = open.reduce(|worst, next| if next.0 > worst.0 { next } else { worst });
        match worst {
            Some((_, next)) if self.flow.only(members).is_some() => Whereabouts::At(next.clone()),
            worst => Whereabouts::LookUp(worst.map(|(_, members)| members.clone())),
        }
    }

    /// The cell with a name at a level, or else what is near.
    pub(super) fn look_up(&self, key: Option<CellKey>, level: u32, near: Option<Members>) -> Whereabouts {
        key.and_then(|key| self.flow.named(key, level)).or(near).map_or(Whereabouts::Lost, Whereabouts::At)
    }
}
