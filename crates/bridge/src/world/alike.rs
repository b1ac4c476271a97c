//! States that count as alike and remember different things: do they go on alike?

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use anabranch_kernel::{CellSize, Chance, Choices, Fault, Grid, Job, KeyWriter, Seed, SegmentEnd, System};

use super::{MergeRule, WorldState, WorldSystem};
use crate::attributes;
use crate::doubling::address;
use crate::protocol::Snapshot;

/// Cells of which pairs are held.
const CELLS: usize = 64;
/// Segments that a pair is followed.
const FOLLOWED: u64 = 8;
/// Two states of one cell begin less than one cell apart; so many cells are no rounding.
const PARTED_CELLS: f64 = 4.0;

/// Members of a cell that remember different things: by what they remember, each with its address.
type Members<S> = BTreeMap<u64, (u128, S)>;

/// Pairs of states of one cell. Which ones follows from what was run, not from the order of it.
#[derive(Debug)]
pub(super) struct Pairs<S>(Mutex<BTreeMap<u128, Members<S>>>);

impl<S> Default for Pairs<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S: Clone> Pairs<S> {
    fn offer(&self, cell: u128, hidden: u64, address: u128, state: impl FnOnce() -> S) {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cells.len() >= CELLS && cells.last_key_value().is_some_and(|(last, _)| cell > *last) {
            return;
        }
        let members = cells.entry(cell).or_default();
        if members.get(&hidden).is_none_or(|(before, _)| address < *before) {
            members.insert(hidden, (address, state()));
        }
        if members.len() > 2 {
            members.pop_last();
        }
        if cells.len() > CELLS {
            cells.pop_last();
        }
    }
    fn all(&self) -> Vec<[S; 2]> {
        let cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pair = |members: &Members<S>| {
            let mut states = members.values().map(|(_, state)| state.clone());
            Some([states.next()?, states.next()?])
        };
        cells.values().filter_map(pair).collect()
    }
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// What came of following pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct Parted {
    followed: u64,
    parted: u64,
    /// The first difference that was found.
    example: Option<String>,
}

impl WorldSystem {
    /// What does not count when states are compared, in words; nothing where everything does.
    pub fn not_compared(&self) -> Option<String> {
        if self.rule != MergeRule::Values {
            return None;
        }
        let names = attributes::words(self.hidden.varying(), "world");
        // A fork copies what no attribute shows.
        let is_forked = self.fleet.card().snapshot == Snapshot::Fork;
        let outside =
            is_forked.then(|| "not known: memory of the world outside of its object, which a fork saves".to_owned());
        let names = names.into_iter().chain(outside).reduce(|names, outside| format!("{names}; {outside}"))?;
        let Parted { followed, parted, example } = self.parted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Some(match example {
            Some(example) => format!(
                "{names}; {parted} of {followed} pairs of states that count as alike and differ there went apart under equal errors ({example})"
            ),
            None if followed > 0 => {
                format!("{names}; {followed} pairs of states that differ there stayed together under equal errors")
            }
            None => names,
        })
    }
    /// Why states that count as alike are not: the first pair that differed in what is not compared and went apart.
    pub fn parted(&self) -> Option<String> {
        self.parted.lock().unwrap_or_else(PoisonError::into_inner).example.as_ref()?;
        self.not_compared()
    }

    /// Holds a state that was reached, as one of a pair.
    pub(super) fn pair(&self, state: &WorldState) {
        let Some(hidden) = state.hidden else { return };
        let grid = Grid::of(&self.variables);
        let mut key = KeyWriter::new(&grid);
        self.cell(state, &mut key);
        // Of one time, or attributes that count segments would differ always.
        key.extra(state.path.len() as u64);
        let Some(cell) = key.finish() else { return };
        let own = address(state.origin.seed, &state.origin.params, &state.path);
        // A handle would keep the state alive outside.
        self.pairs.offer(cell.0, hidden, own, || WorldState { live: None, said: None, ..state.clone() });
    }

    /// Follows every pair under equal random errors.
    pub(super) fn follow_pairs(&self, goes_on: &(dyn Fn() -> bool + Sync)) {
        let mut found = Parted::default();
        for (number, pair) in (0..).zip(self.pairs.all()) {
            if !goes_on() || self.gone().is_some() {
                break;
            }
            let chance = Chance::new(Seed(pair[0].origin.seed), "alike").at(number);
            found.followed += 1;
            if let Some(text) = self.follow(pair, chance) {
                found.parted += 1;
                found.example.get_or_insert(text);
            }
        }
        *self.parted.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// The first thing in which the two differ, if anything is.
    fn follow(&self, pair: [WorldState; 2], chance: Chance) -> Option<String> {
        let mut jobs = pair.map(|state| Job::new(state, anabranch_kernel::Choice::NONE));
        let mut live = Choices::new();
        for segment in 0..FOLLOWED {
            self.live(&jobs[0].state, &mut live);
            let choice = live[chance.below(segment, live.len() as u64) as usize];
            jobs.iter_mut().for_each(|job| job.choice = choice);
            self.run_many(&mut jobs);
            let [first, second] = &jobs;
            // Whom nobody could ask has not parted.
            if jobs.iter().any(|job| matches!(job.end, Err(Fault::External(_)))) {
                return None;
            }
            if first.end != second.end {
                return Some(format!("one run ended with {} and the other with {}", end(first), end(second)));
            }
            if let Some(text) = self.apart(&first.state, &second.state) {
                return Some(text);
            }
            let is_same = first.state.values == second.state.values;
            if is_same && first.margin.to_bits() != second.margin.to_bits() {
                return Some(format!("`margin` {} and {} with equal values", first.margin, second.margin));
            }
            if first.end != Ok(SegmentEnd::Open) {
                return None;
            }
        }
        None
    }

    /// The first variable in which two states are farther apart than cells are large.
    fn apart(&self, first: &WorldState, second: &WorldState) -> Option<String> {
        let pairs = self.variables.iter().zip(first.values.iter().zip(&second.values));
        let mut differing = pairs.filter(|(variable, (a, b))| match variable.size {
            CellSize::Size(size) => (*a - *b).abs() > PARTED_CELLS * size,
            CellSize::Exact => a != b,
            CellSize::Ignore => false,
        });
        let (variable, (a, b)) = differing.next()?;
        Some(format!("`{}` {a} and {b}", variable.name))
    }
}

/// How a segment ended, in a word.
fn end(job: &Job<WorldState>) -> &'static str {
    match &job.end {
        Ok(SegmentEnd::Violated(_)) => "a violation",
        Ok(SegmentEnd::Goal) => "success",
        Ok(SegmentEnd::TimedOut) => "the end of time",
        Ok(SegmentEnd::Open) => "nothing yet",
        Err(_) => "a fault",
    }
}
