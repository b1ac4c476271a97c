//! Which values of discrete variables an exploration reached, and which of them random runs hardly ever meet.
//!
//! A mode that only few runs reach is where merging can hide something from every random run. So searches start there too.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_kernel::{KeyReader, Reading, System};

/// A variable with more values than this is a counter or a name, not a mode.
const VALUES_MAX: usize = 16;
/// States that are remembered for each value.
const STATES_PER_VALUE: usize = 3;
/// Runs that must have met a value before nothing more is asked about it.
const RUNS_PER_VALUE: u32 = 3;

/// A value of a discrete variable: the position of the variable, and the value.
pub(crate) type Mode = (usize, u64);

/// Reads the discrete variables of states.
#[derive(Clone, Debug)]
pub(crate) struct ModeReader(KeyReader);

impl ModeReader {
    pub(crate) fn new<S: System>(system: &S) -> Self {
        Self(KeyReader::new(system.variables().len()))
    }
    pub(crate) fn read<S: System>(&self, system: &S, state: &S::State) -> impl Iterator<Item = Mode> {
        let readings = self.0.read(|writer| system.cell(state, writer));
        readings.into_iter().filter_map(|(variable, reading)| match reading {
            Reading::Exact(value) => Some((variable, value)),
            Reading::Real(_) => None,
        })
    }
}

/// The values that kept states have.
#[derive(Clone, Debug)]
pub(crate) struct Modes {
    reader: ModeReader,
    /// By variable and value, some states that have it. A variable with too many values has none.
    states: BTreeMap<usize, BTreeMap<u64, Vec<u64>>>,
    counters: BTreeSet<usize>,
}

impl Modes {
    pub(crate) fn new<S: System>(system: &S) -> Self {
        Self { reader: ModeReader::new(system), states: BTreeMap::new(), counters: BTreeSet::new() }
    }

    /// A state was kept.
    pub(crate) fn see<S: System>(&mut self, system: &S, node: u64, state: &S::State) {
        for (variable, value) in self.reader.read(system, state) {
            if self.counters.contains(&variable) {
                continue;
            }
            let values = self.states.entry(variable).or_default();
            let states = values.entry(value).or_default();
            if states.len() < STATES_PER_VALUE {
                states.push(node);
            }
            if values.len() > VALUES_MAX {
                self.states.remove(&variable);
                self.counters.insert(variable);
            }
        }
    }

    /// States with values that too few random runs met, in order, each once.
    pub(crate) fn hardly_met(&self, met: &BTreeMap<Mode, u32>) -> Vec<u64> {
        let mut states = BTreeSet::new();
        for (&variable, values) in &self.states {
            for (&value, with_it) in values {
                if met.get(&(variable, value)).copied().unwrap_or(0) < RUNS_PER_VALUE {
                    states.extend(with_it);
                }
            }
        }
        states.into_iter().collect()
    }
}
