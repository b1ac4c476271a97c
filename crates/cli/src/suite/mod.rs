//! Many scenarios as one question: the same change or the same new error, and one table of what it does to each.

pub mod baseline;
pub mod case;
pub mod quick;
pub mod row;
pub mod shard;
mod table;

use std::path::{Path, PathBuf};

use anabranch_scenario::file::{FILE_BYTES_MAX, error_file};
use anabranch_scenario::simulation::is_car;
use clap::Args;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::family;
use crate::interrupt;
use crate::league;
use crate::load::Override;
use crate::origin::{self, Origin};
use crate::screen::{Format, Global, Screen, Talk, print_err};
use crate::tolerance;
use crate::usage::WallClock;
use crate::verbs::check::select;
use crate::verbs::explore::Explore;
use row::Row;

/// What is asked about more than one exploration.
#[derive(Args, Clone, Debug, Default)]
pub struct Flags {
    /// Add the [[error]] tables of a file to every scenario, or replace those of the same id; may be repeated.
    #[arg(long = "with", value_name = "ERRORS.toml")]
    pub with: Vec<PathBuf>,
    /// For each of these error sizes the largest without reachable failure, as in estimate-jump.radius; all for all.
    #[arg(long, value_name = "ERROR.KEY,…", value_delimiter = ',', conflicts_with_all = ["league", "more"])]
    pub tolerance: Vec<String>,
    /// Compare drivers under the same errors: models, programs, or tables with what each has different in [ego].
    #[arg(long, value_name = "DRIVER", num_args = 1.., conflicts_with = "more")]
    pub league: Vec<PathBuf>,
}

impl Flags {
    /// The errors to add, as overrides of a scenario.
    pub fn overrides(&self) -> Result<Vec<Override>, Failure> {
        let mut all = Vec::new();
        for path in &self.with {
            all.extend(error_file(&path.display().to_string(), &read(path)?)?);
        }
        Ok(all)
    }

    /// What is wrong with an error of a file is told with the name of the file.
    pub fn relocated(&self, failure: Failure) -> Failure {
        let of_file = |path: &PathBuf| {
            let (flag, name) = (format!("--with {}", path.display()), path.display().to_string());
            let errors = read(path).ok().and_then(|bytes| error_file(&name, &bytes).ok()).unwrap_or_default();
            errors.into_iter().map(move |error| Origin::as_it_is(flag.clone(), &error))
        };
        origin::relocated(failure, &self.with.iter().flat_map(of_file).collect::<Vec<_>>())
    }
}

/// Reads a small file that changes scenarios.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let refused = |e: std::io::Error| Failure::file("read", path, &e);
    let size = std::fs::metadata(path).map_err(refused)?.len();
    if size > FILE_BYTES_MAX as u64 {
        return Err(Failure::input(format!("`{}` has {size} bytes", path.display()), "is this the right file?"));
    }
    std::fs::read(path).map_err(refused)
}

/// Does what was asked for, if it was more than one exploration.
pub fn explore(verb: &Explore, global: &Global, screen: &Screen) -> Result<Option<Exit>, Failure> {
    if !verb.whole.tolerance.is_empty() {
        return tolerance::explore(verb, &verb.whole.tolerance, global, screen).map(Some);
    }
    if !verb.whole.league.is_empty() {
        return league::explore(verb, &verb.whole.league, global, screen).map(Some);
    }
    if verb.more.is_empty() && !verb.scenario.is_dir() {
        return Ok(None);
    }
    let before = verb.whole.overrides()?;
    let named: Vec<PathBuf> = std::iter::once(&verb.scenario).chain(&verb.more).cloned().collect();
    // Each member of a simulation is a row of its own.
    let scenarios = select(&named)?.into_iter().filter(|path| !is_car(path));
    let files: Vec<PathBuf> = scenarios.flat_map(|file| family::members(&file)).collect();
    let clock = WallClock::start();
    let mut rows: Vec<Row> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let row = Row::evaluate(verb, file, &before, global, screen);
        tell_progress(screen, &row, number + 1, files.len());
        let is_last = row.exit == Exit::Interrupted || interrupt::is_asked();
        rows.push(row);
        if is_last {
            break;
        }
    }
    let exit = exit_of(&rows, files.len());
    let machine = to_json(&rows, &files[rows.len()..], clock.seconds(), exit);
    screen.result(|paint| table::text(&rows, files.len(), clock.seconds(), paint), &machine);
    Ok(Some(exit))
}

fn exit_of(rows: &[Row], selected: usize) -> Exit {
    if selected == 0 {
        return Exit::Nothing;
    }
    let mut exits: Vec<Exit> = rows.iter().map(|row| row.exit).collect();
    exits.extend((rows.len() < selected).then_some(Exit::Interrupted));
    Exit::of(&exits)
}

/// Mistakes are told as they are met, with their place; everything else is one line on the way.
pub fn tell_progress(screen: &Screen, row: &Row, number: usize, of: usize) {
    if let Some(failure) = row.failure() {
        print_err(&failure.render(screen.err));
    } else if screen.talk >= Talk::Usual {
        print_err(&format!(
            "{number}/{of} {}: {} ({:.1} s)\n",
            crate::escape::escape(&row.file),
            row.word(),
            row.seconds
        ));
    }
    let mut event = row.to_json();
    event["event"] = json!("scenario");
    screen.event(&event);
}

fn to_json(rows: &[Row], not_run: &[PathBuf], seconds: f64, exit: Exit) -> Value {
    json!({
        "schema": "anabranch.suite/1",
        "exit": exit.code(),
        "wall_s": seconds,
        "scenarios": rows.iter().map(Row::to_json).collect::<Vec<_>>(),
        "not_run": not_run.iter().map(|path| crate::project::relative(path)).collect::<Vec<_>>(),
    })
}

/// A screen for explorations whose result is a part of something larger.
pub fn muted(screen: &Screen) -> Screen {
    Screen { format: Format::Json, ..screen.clone() }
}
