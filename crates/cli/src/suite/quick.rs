//! An exploration that is one of many: no folder of its own, only what it says.

use std::path::Path;

use anabranch_explore::{Explorer, MemoryTrail, NoObserver};
use anabranch_kernel::Seed;
use anabranch_record::{RunFolder, RunInfo};
use anabranch_scenario::Drive;
use anabranch_study::{Conclusion, Findings, conclude};

use crate::exit::Exit;
use crate::explore::candidates::{Candidate, confirmed};
use crate::explore::evidence::{Anything, Counted, beyond, evidence};
use crate::explore::time_left::TimeLeft;
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
    /// The verdict.
    pub conclusion: Conclusion,
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
    let _hurry = interrupt::hurry()?;
    let (settings, horizon) = verb.settings(loaded, drive)?;
    let time = TimeLeft::new(clock, settings.budget.time_ns);
    time.for_answers().into_iter().for_each(|within| interrupt::cutoff().come_within(within));
    let (seed, threads) = (Seed(global.seed.unwrap_or(0)), global.threads());
    let mut trail = MemoryTrail::default();
    let explorer = Explorer::new(drive).settings(settings.clone()).seed(seed).threads(threads).clock(&clock).prove();
    let outcome = explorer.interrupt(interrupt::listen()?).run_with(&mut trail, &mut NoObserver)?;
    let confirmed = confirmed(drive, seed, &outcome, &trail, (threads, time))?;
    let is_fault = |candidate: &&Candidate| drive.is_fault(candidate.verdict.requirement);
    let (beyond, beyond_unconfirmed) = beyond(&outcome, Anything::of(confirmed.candidates.len()));
    let findings = Findings {
        sequences: confirmed.candidates.len() as u64 + beyond,
        faults: confirmed.candidates.iter().filter(is_fault).count() as u64,
    };
    let unconfirmed = confirmed.unconfirmed + beyond_unconfirmed;
    let counted = Counted { findings, unstable: &confirmed.unstable, unconfirmed, cut_short: time.stop() };
    let evidence = evidence(drive, (&settings, horizon), &outcome, counted);
    let conclusion = conclude(&evidence);
    Ok(Quick {
        exit: Exit::of_study(&evidence, &conclusion),
        conclusion,
        findings: findings.sequences,
        worst_clearance_m: outcome.progress.margin,
        segments: outcome.progress.segments,
        seconds: clock.seconds(),
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
