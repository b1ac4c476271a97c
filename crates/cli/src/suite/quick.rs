//! An exploration that is one of many: no folder of its own, only what it says.

use std::path::Path;

use anabranch_explore::{Explorer, MemoryTrail, NoObserver, Stop};
use anabranch_kernel::Seed;
use anabranch_record::{RunFolder, RunInfo};
use anabranch_scenario::Drive;

use crate::exit::Exit;
use crate::explore::candidates::confirmed;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::Loaded;
use crate::project::{self, RUNS};
use crate::screen::Global;
use crate::usage::WallClock;
use crate::verbs::explore::Explore;

/// What one exploration said.
#[derive(Clone, Debug)]
pub struct Quick {
    /// *violated*, *not found* or *incomplete*.
    pub verdict: &'static str,
    /// Confirmed error sequences that violate.
    pub findings: u64,
    /// The smallest clearance; infinite if nothing is near.
    pub worst_clearance_m: f64,
    /// Segments that were simulated.
    pub segments: u64,
    /// Seconds on the wall.
    pub seconds: f64,
    /// How the program would end.
    pub exit: Exit,
}

/// Explores and confirms every finding from the start, without merging.
pub fn evaluate(verb: &Explore, loaded: &Loaded, drive: &Drive, global: &Global) -> Result<Quick, Failure> {
    let clock = WallClock::start();
    let (settings, _) = verb.settings(loaded, drive)?;
    let (seed, threads) = (Seed(global.seed.unwrap_or(0)), global.threads());
    let mut trail = MemoryTrail::default();
    let explorer = Explorer::new(drive).settings(settings).seed(seed).threads(threads).clock(&clock);
    let outcome = explorer.interrupt(interrupt::listen()?).run_with(&mut trail, &mut NoObserver)?;
    let confirmed = confirmed(drive, seed, &outcome, &trail, threads)?;
    let findings = confirmed.candidates.len() as u64;
    let is_stable = confirmed.unstable.is_empty();
    let (verdict, exit) = match (findings, outcome.complete(), outcome.stop) {
        (_, _, Some(Stop::Interrupted)) => ("incomplete", Exit::Interrupted),
        _ if !is_stable => ("not reproducible", Exit::NotReproducible),
        (1.., _, _) => ("violated", Exit::Findings),
        (0, true, _) => ("not found", Exit::Done),
        (0, false, _) => ("incomplete", Exit::Incomplete),
    };
    Ok(Quick {
        verdict,
        findings,
        worst_clearance_m: outcome.progress.margin,
        segments: outcome.progress.segments,
        seconds: clock.seconds(),
        exit,
    })
}

/// A folder for the answer, with the scenario in it.
pub fn folder(loaded: &Loaded, what: &str, global: &Global) -> Result<RunFolder, Failure> {
    let name = &loaded.spec.name.value;
    let folder = RunFolder::create_now(Path::new(RUNS), &format!("{name}-{what}"))?;
    folder.write_run(&RunInfo::new(name, loaded.hash, global.seed.unwrap_or(0), std::env::args()))?;
    project::save_scenario(&folder, loaded)?;
    Ok(folder)
}
