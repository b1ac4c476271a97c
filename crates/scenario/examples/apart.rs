//! What keeps the states of a scenario apart: explores it as it is, then with each variable of the key left out in turn.
//!
//! ```text
//! cargo run --release -p anabranch-scenario --example apart -- scenarios/highway-cut-in.toml [LEVELS] [KEY=VALUE ..]
//! ```
//!
//! States are kept as `explore` keeps them by default. A variable whose absence makes much more merge is the one to look at: is its cell too fine, does the future depend on it at all?
//! With `LEVELS` of 0 the variables are left alone. Single errors, held or for one segment, are tried too.

use std::error::Error;
use std::time::Instant;

use anabranch_explore::{Budget, Explorer, Keep, Merge, Outcome, Scope, Settings, replay};
use anabranch_kernel::{CellSize, Choice, Grid, Seed, SegmentEnd, System};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks};

/// A scenario in which nothing merges grows without end.
const STATES_MAX: u64 = 30_000;

type Failure = Box<dyn Error>;

fn drive_of(path: &str, overrides: &[(&str, &str)]) -> Result<(Drive, Vec<CellSize>), Failure> {
    let bytes = std::fs::read(path)?;
    let mut document = Document::parse(path, &bytes).map_err(|report| report.to_string())?;
    for (key, value) in overrides {
        document.apply_override(key, value).map_err(|report| report.to_string())?;
    }
    let spec = document.read(&Hooks::default()).map_err(|report| report.to_string())?;
    let drive = Drive::assemble(&spec)?;
    let grid = drive.grid(&spec.explore.merge).map_err(|error| error.message)?;
    let sizes = grid.unwrap_or_else(|| Grid::of(drive.variables())).sizes().to_vec();
    Ok((drive, sizes))
}

fn explored(drive: &Drive, sizes: Vec<CellSize>, levels_max: u32, rollouts: u32) -> Result<Outcome, Failure> {
    let base = Settings::new(drive.variables(), drive.time_matters());
    let merge = Merge::Grid(Grid::from_sizes(sizes));
    let budget = Budget { states: Some(STATES_MAX), ..Budget::default() };
    let settings = Settings { scope: Scope::Level, merge, levels_max, rollouts, budget, keep: Keep::Extremes, ..base };
    Ok(Explorer::new(drive).settings(settings).threads(2).run()?)
}

fn line(name: &str, outcome: &Outcome) {
    let progress = &outcome.progress;
    let share = 100.0 * progress.merged as f64 / progress.segments.max(1) as f64;
    println!(
        "{name:<28} {:>8} segments {:>8} merged {share:>5.1} % {:>6} findings, closest {:.2} m",
        progress.segments, progress.merged, progress.findings, progress.margin
    );
}

fn singles(path: &str, overrides: &[(&str, &str)]) -> Result<(), Failure> {
    let mut alone = overrides.to_vec();
    alone.push(("errors.at_once", "1"));
    let (drive, _) = drive_of(path, &alone)?;
    let params = drive.space().all().remove(0);
    let levels = drive.segments() as usize;
    let (mut worst, mut ended) = (f64::INFINITY, 0);
    for choice in 0..drive.errors().len() as u16 {
        let held = vec![Choice(choice); levels];
        let once = (0..levels).map(|at| (0..levels).map(|n| Choice(if n == at { choice } else { 0 })).collect());
        for (number, run) in std::iter::once(held).chain(once).enumerate() {
            let Ok(run) = replay(&drive, Seed(0), &params, &run, None) else { continue };
            worst = worst.min(run.margin);
            if choice == 0 && number == 0 {
                println!("without errors: {:?} after {} segments, closest {:.2} m", run.end, run.segments, run.margin);
            }
            if let SegmentEnd::Violated(verdicts) = &run.end {
                let when = if number == 0 { "held".to_owned() } else { format!("in segment {number}") };
                ended += 1;
                let name = &drive.requirements()[usize::from(verdicts[0].requirement)];
                println!(
                    "alone: {} {when} violates {name} after {}",
                    drive.errors().describe(Choice(choice)),
                    run.segments
                );
            }
        }
    }
    println!("single errors: {ended} violate, closest {worst:.2} m");
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("name a scenario")?;
    let sets: Vec<(&str, &str)> = arguments.iter().filter_map(|argument| argument.split_once('=')).collect();
    let levels: u32 = arguments.get(1).and_then(|levels| levels.parse().ok()).unwrap_or(0);
    singles(path, &sets)?;
    let (drive, all) = drive_of(path, &sets)?;
    #[expect(clippy::disallowed_methods, reason = "a tool for a person: it says how long it took")]
    let since = Instant::now();
    let whole = explored(&drive, all.clone(), drive.segments(), 200)?;
    line("whole", &whole);
    let seconds = since.elapsed().as_secs_f64();
    println!("{} choices, {seconds:.1} s, {:?}, {:?}", drive.errors().len(), whole.stop, whole.coverage);
    for level in &whole.levels {
        println!("  {level:?}");
    }
    for hit in whole.hits.iter().take(3) {
        println!("  {hit:?}");
    }
    if levels == 0 {
        return Ok(());
    }
    line(&format!("{levels} levels"), &explored(&drive, all.clone(), levels, 0)?);
    for (number, variable) in drive.variables().iter().enumerate() {
        let mut sizes = all.clone();
        sizes[number] = CellSize::Ignore;
        line(&format!("without {}", variable.name), &explored(&drive, sizes, levels, 0)?);
    }
    Ok(())
}
