//! The contract test that every part, monitor and bridge passes.
//!
//! It is public so that a user's own [`System`] can be put through it:
//! save → load → continue is byte-equal, the same input gives the same bytes, many at once equals one by one,
//! and every value of the state is in the key ([`check_leaves`] looks closer at that).

mod changes;
mod leaves;
mod subject;
mod tree;

pub use leaves::{Fate, LeafReport};
pub use subject::{Dose, check_leaves, check_part};

use crate::errors::Choices;
use crate::key::{Grid, KeyWriter};
use crate::state::{from_bytes, to_bytes};
use crate::system::{Job, Params, SegmentEnd, System};
use crate::watch::Watch;
use crate::{Chance, Choice, Fault, Reads, Seed};

/// How much of a system was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContractReport {
    /// Segments that were run at least twice.
    pub segments: usize,
    /// States that were saved and loaded.
    pub saves: usize,
    /// Values of states that were changed, one at a time, to see another key.
    pub leaves: usize,
}

/// States of a run whose values are changed: enough to see each kind of value, few enough for the many tests that call this.
const LEAVES_OF: usize = 4;
/// Runs of which states are looked at.
const LEAVES_RUNS: u64 = 3;

/// Runs `runs` random error sequences of up to `length` segments and compares.
///
/// # Errors
/// With the first broken promise in words.
pub fn check_contract<S: System>(system: &S, runs: u64, length: usize) -> Result<ContractReport, String> {
    let mut report = ContractReport::default();
    let starts = system.space().all();
    let grid = Grid::of(system.variables());
    for run in 0..runs {
        let params = &starts[run as usize % starts.len()];
        check_run(system, &grid, run, params, length, &mut report)
            .map_err(|broken| format!("run {run} from {params:?}: {broken}"))?;
    }
    let dose = Dose { runs: runs.min(LEAVES_RUNS), length, states: LEAVES_OF, alike: 1 };
    report.leaves = check_leaves(system, dose)?.leaves;
    Ok(report)
}

fn check_run<S: System>(
    system: &S,
    grid: &Grid,
    run: u64,
    params: &Params,
    length: usize,
    report: &mut ContractReport,
) -> Result<(), String> {
    let chance = Chance::new(Seed(0), "contract").at(run);
    let start = || system.start(Seed(run), params).map_err(|fault| fault.to_string());
    let mut state = start()?;
    equal("two starts", &to_bytes(&state), &to_bytes(&start()?))?;
    let mut choices = Choices::new();
    for n in 0..length {
        let saved = to_bytes(&state);
        let loaded: S::State = from_bytes(&saved).map_err(|e| e.to_string())?;
        equal("load then save", &saved, &to_bytes(&loaded))?;
        system.live(&state, &mut choices);
        if choices.first() != Some(&Choice::NONE) || !choices.is_sorted() {
            return Err(format!("live choices must be sorted and begin with \"no error\": {choices:?}"));
        }
        let choice = choices[chance.below(n as u64, choices.len() as u64) as usize];
        let (straight, end, reads) = run_one(system, state.clone(), choice);
        let (resumed, end_resumed, reads_resumed) = run_one(system, loaded, choice);
        equal("run after load", &to_bytes(&straight), &to_bytes(&resumed))?;
        if (&end, reads) != (&end_resumed, reads_resumed) {
            return Err(format!("segment {n} ended as {end:?}, after load as {end_resumed:?}, or read other parts"));
        }
        let mut jobs: Vec<Job<S::State>> = choices.iter().map(|&c| Job::new(state.clone(), c)).collect();
        system.run_many(&mut jobs);
        for job in &jobs {
            let (alone, end_alone, reads_alone) = run_one(system, state.clone(), job.choice);
            equal("many at once", &to_bytes(&alone), &to_bytes(&job.state))?;
            if job.end != end_alone {
                return Err(format!("alone {end_alone:?}, among many {:?}", job.end));
            }
            if job.reads != reads_alone {
                return Err(format!("alone it reads the parts {reads_alone:?}, among many {:?}", job.reads));
            }
        }
        let mut key = KeyWriter::new(grid);
        system.cell(&straight, &mut key);
        let first = key.finish();
        system.cell(&resumed, &mut key);
        if first.is_none() || first != key.finish() {
            return Err("equal states have different keys, or a key is not finite".to_owned());
        }
        report.segments += 1;
        report.saves += 1;
        if end != Ok(SegmentEnd::Open) {
            break;
        }
        state = straight;
    }
    Ok(())
}

fn run_one<S: System>(system: &S, mut state: S::State, choice: Choice) -> (S::State, Result<SegmentEnd, Fault>, Reads) {
    let mut watch = Watch::off();
    let end = system.run(&mut state, choice, &mut watch);
    (state, end, watch.reads)
}

fn equal(what: &str, a: &[u8], b: &[u8]) -> Result<(), String> {
    match a.iter().zip(b).position(|(a, b)| a != b) {
        None if a.len() == b.len() => Ok(()),
        at => {
            Err(format!("{what} differs at byte {} of {} and {}", at.unwrap_or(a.len().min(b.len())), a.len(), b.len()))
        }
    }
}
