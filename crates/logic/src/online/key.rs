//! What is remembered, for merge keys.

use anabranch_kernel::{KeyWriter, Leaf, Variable};

use super::plan::Kind;
use super::{Memory, Monitor, Sample};

impl Monitor {
    /// The variables of the memory: how many answers are remembered, when they were given, and what they are worth.
    /// `cell` is the cell size of the worth in the unit of the margins, `cell_s` that of times.
    pub fn variables(&self, name: &str, cell: f64, cell_s: f64) -> [Variable; 3] {
        [
            Variable::exact(&format!("{name}.counts")),
            Variable::real(&format!("{name}.ages"), "s", cell_s),
            Variable::real(&format!("{name}.margins"), "", cell),
        ]
    }

    /// What of a memory that is called `at` is not in the key.
    pub fn leaves(&self, at: &str) -> Vec<Leaf> {
        let mut all = vec![Leaf::constant(&format!("{at}.cells#"), "one for each operator")];
        all.extend(["start_s", "last_s"].map(|name| Leaf::time(&format!("{at}.{name}"))));
        if !self.is_deciding {
            all.push(Leaf::constant(
                &format!("{at}.cells[].answered_s"),
                "answers are given when windows are complete",
            ));
        }
        all
    }

    /// Writes the memory to a key; `first` is the index of the first of [`Self::variables`].
    ///
    /// Times are written as ages, so that runs which differ only in when they began can merge; what has no end and is
    /// open already has no age either.
    pub fn write_key(&self, memory: &Memory, first: usize, key: &mut KeyWriter<'_>) {
        if let Some(answer) = memory.answer {
            key.exact(first, u64::MAX);
            write_worth(answer, first, key);
            return;
        }
        key.exact(first, u64::from(memory.start_s.is_some()));
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
            counts.into_iter().for_each(|count| key.exact(first, count as u64));
            cell.waiting.iter().for_each(|&time_s| key.real(first + 1, age(time_s)));
            let write = |sample: &Sample, key: &mut KeyWriter<'_>| {
                if !never_expires {
                    key.real(first + 1, age(sample.0));
                }
                write_worth(sample.1, first, key);
            };
            for queue in [&cell.left, &cell.right, &cell.best] {
                queue.iter().for_each(|sample| write(sample, key));
            }
            if self.is_deciding {
                key.exact(first, u64::from(cell.answered_s.is_some()));
                cell.answered_s.into_iter().for_each(|time_s| key.real(first + 1, age(time_s)));
            }
            key.exact(first, u64::from(cell.folded.is_some()));
            cell.folded.into_iter().for_each(|value| write_worth(value, first, key));
        }
    }
}

/// Infinite margins are told apart by a word; a key takes only finite numbers.
fn write_worth(worth: f64, first: usize, key: &mut KeyWriter<'_>) {
    if worth.is_finite() {
        key.real(first + 2, worth);
    } else {
        key.exact(first, if worth > 0.0 { u64::MAX - 1 } else { u64::MAX - 2 });
    }
}
