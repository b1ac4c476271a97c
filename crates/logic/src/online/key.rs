//! What is remembered, for merge keys.

use anabranch_kernel::{Continuous, Discrete, Visitor};

use super::plan::Kind;
use super::{Memory, Monitor, Sample};

/// The variables of a memory.
#[derive(Clone, Copy)]
struct Remembered {
    /// How many answers are remembered, and everything else that is no number.
    counts: Discrete,
    /// When they were given.
    ages: Continuous,
    /// What they are worth.
    margins: Continuous,
}

impl Monitor {
    /// Names the variables of the memory and what of it is not in the key. `cell` is the cell size of the worth in the unit of
    /// the margins, `cell_s` that of times.
    pub fn visit<V: Visitor>(&self, memory: &Memory, cell: f64, cell_s: f64, v: &mut V) {
        v.constant("cells#", "one for each operator");
        v.time("start_s");
        v.time("last_s");
        if !self.is_deciding {
            v.constant("cells[].answered_s", "answers are given when windows are complete");
        }
        self.visit_answers(Some(memory), cell, cell_s, v);
    }

    /// Names the variables of the memory alone; `None` is one that nobody looks at again.
    ///
    /// Times are written as ages, so that runs which differ only in when they began can merge; what has no end and is
    /// open already has no age either.
    pub fn visit_answers<V: Visitor>(&self, memory: Option<&Memory>, cell: f64, cell_s: f64, v: &mut V) {
        let variables = Remembered {
            counts: v.discrete("counts"),
            ages: v.continuous("ages", "s", cell_s),
            margins: v.continuous("margins", "", cell),
        };
        let Some(memory) = memory else { return v.put_exact(variables.counts, u64::MAX) };
        if let Some(answer) = memory.answer {
            v.put_exact(variables.counts, u64::MAX);
            put_worth(answer, variables, v);
            return;
        }
        v.put_exact(variables.counts, u64::from(memory.start_s.is_some()));
        for (operator, cell) in self.plan.operators.iter().zip(&memory.cells) {
            // One window without end that has begun: before that, it does not matter how far back.
            let (horizon_s, is_endless) = match &operator.kind {
                Kind::Extreme { from_s, to_s, .. } => (from_s.max(0.0), *to_s == f64::INFINITY),
                Kind::Until { bounds, .. } => (bounds.from_s, bounds.to_s == f64::INFINITY),
                _ => (0.0, false),
            };
            let is_ageless = is_endless && operator.from_s == operator.to_s;
            let age = |time_s: f64| {
                let age_s = memory.last_s - time_s;
                if is_ageless { age_s.min(horizon_s) } else { age_s }
            };
            let never_expires = matches!(operator.kind, Kind::Extreme { from_s: f64::NEG_INFINITY, .. });
            let counts = [cell.waiting.len(), cell.left.len(), cell.right.len(), cell.best.len()];
            counts.into_iter().for_each(|count| v.put_exact(variables.counts, count as u64));
            cell.waiting.iter().for_each(|&time_s| v.put(variables.ages, age(time_s)));
            let put = |sample: &Sample, v: &mut V| {
                if !never_expires {
                    v.put(variables.ages, age(sample.0));
                }
                put_worth(sample.1, variables, v);
            };
            for queue in [&cell.left, &cell.right, &cell.best] {
                queue.iter().for_each(|sample| put(sample, v));
            }
            if self.is_deciding {
                v.put_exact(variables.counts, u64::from(cell.answered_s.is_some()));
                cell.answered_s.into_iter().for_each(|time_s| v.put(variables.ages, age(time_s)));
            }
            v.put_exact(variables.counts, u64::from(cell.folded.is_some()));
            cell.folded.into_iter().for_each(|value| put_worth(value, variables, v));
        }
    }
}

/// Infinite margins are told apart by a word; a key takes only finite numbers.
fn put_worth<V: Visitor>(worth: f64, variables: Remembered, v: &mut V) {
    if worth.is_finite() {
        v.put(variables.margins, worth);
    } else {
        v.put_exact(variables.counts, if worth > 0.0 { u64::MAX - 1 } else { u64::MAX - 2 });
    }
}
