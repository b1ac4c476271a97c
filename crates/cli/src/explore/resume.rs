//! Going on with a run that was interrupted, killed or ended by a budget.

use std::path::Path;

use anabranch_bridge::Card;
use anabranch_record::{RunFolder, RunInfo, RunLock, RunReference};
use clap::Parser as _;

use crate::cli::{Cli, Verb};
use crate::failure::Failure;
use crate::load::Loaded;
use crate::project::{self, RUNS};
use crate::verbs::explore::{Explore, NO_SCENARIO};

/// A run to go on with.
#[derive(Debug)]
pub struct Earlier {
    /// Its folder.
    pub folder: RunFolder,
    /// What was typed then, with the limits of today.
    pub verb: Box<Explore>,
    /// Its scenario, as it was then.
    pub loaded: Loaded,
    /// Its seed.
    pub seed: u64,
}

impl Earlier {
    /// Finds the run and reads what it was asked to do.
    pub fn find(reference: &str, today: &Explore) -> Result<Self, Failure> {
        let (folder, verb, info) = typed(reference, today)?;
        let flags = verb.flags().overrides();
        let (loaded, changed) = project::of_run(folder.path(), &[], &flags)?;
        if changed && today.scenario != Path::new(NO_SCENARIO) {
            let message = format!("`{}` has changed since the run `{}`", today.scenario.display(), folder.name());
            return Err(Failure::input(message, "explore it anew, or resume the run as it was: explore --resume"));
        }
        Ok(Self { folder, verb, loaded, seed: info.seed })
    }
}

/// What was typed for a run, with the limits of today.
pub fn typed(reference: &str, today: &Explore) -> Result<(RunFolder, Box<Explore>, RunInfo), Failure> {
    let folder = reference.parse::<RunReference>()?.resolve(Path::new(RUNS))?.run;
    let info = folder.read_run()?;
    let no_exploration = || {
        let message = format!("the run `{}` is no exploration and cannot be resumed", folder.name());
        Failure::input(message, "name one with --resume=FOLDER")
    };
    let then = Cli::try_parse_from(&info.command).map_err(|_| no_exploration())?;
    let Verb::Explore(mut verb) = then.verb else { return Err(no_exploration()) };
    verb.budget = today.budget.clone().or(verb.budget);
    Ok((folder, verb, info))
}

/// Refuses to go on where the code from outside is not what the run began with. A module that it imports is part of it.
pub fn check_code(folder: &RunFolder, file: &Path, card: Option<&Card>) -> Result<(), Failure> {
    let (then, now) = (folder.read_run()?.code, card.and_then(|card| card.code.clone()));
    if then == now {
        return Ok(());
    }
    let (file, run) = (file.display(), folder.name());
    let message = format!("code that `{file}` runs has changed since the run `{run}`: its own, or a module it imports");
    Err(Failure::input(message, "begin anew, without --resume"))
}

/// Takes the run from now on, and removes the findings of an earlier process; they are written again.
pub fn take(folder: &RunFolder) -> Result<RunLock, Failure> {
    let lock = folder.lock()?;
    clear(folder)?;
    Ok(lock)
}

/// Removes the findings of an earlier process; they are written again.
pub fn clear(folder: &RunFolder) -> Result<(), Failure> {
    for (_, path) in folder.list_findings()? {
        std::fs::remove_dir_all(&path).map_err(|e| Failure::file("remove", &path, &e))?;
    }
    Ok(())
}
