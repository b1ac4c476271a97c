//! A whole world from outside: a program that has its car, its surroundings and its errors inside.

mod explain;
mod found;
mod replay;
mod settings;
mod subject;

use std::path::{Path, PathBuf};

use anabranch_bridge::{Role, WorldError, WorldSystem};
use anabranch_kernel::{Digest, Seed, System};
use anabranch_record::RunFolder;

use super::journey::Journey;
use super::resume;
use super::time_left::TimeLeft;
use super::watcher::Pictures;
use crate::failure::Failure;
use crate::interrupt;
use crate::outside::{Patience, fleet_of, is_program};
use crate::project::{self, RUNS};
use crate::screen::{Global, Screen};
use crate::usage::{ThisSystem, Usage, WallClock};
use crate::verbs::explore::{Concluded, Explore, refuse_contradictions};

pub use explain::explain_in_world;
pub use replay::{replay, replay_kept};

/// A program on the command line.
#[derive(Debug)]
pub struct Program {
    /// As the user named it.
    pub path: PathBuf,
    /// Digest of the file.
    pub hash: Digest,
}

impl Program {
    /// Reads what is in the file: it is the identity of what will be found.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(path).map_err(|e| Failure::file("read", path, &e))?;
        Ok(Self { path: path.to_owned(), hash: Digest::of(&bytes) })
    }

    /// Starts it as a world, at most so many side by side.
    pub fn start(&self, instances: usize, patience: Patience) -> Result<WorldSystem, Failure> {
        let fleet = fleet_of(&self.path, instances, patience)?;
        let file = project::relative(&self.path);
        if fleet.card().role == Role::Driver {
            let message = format!("`{file}` is a driver, not a world: it needs a scenario to drive in");
            return Err(Failure::input(message, format!("anabranch explore scenario.toml --driver {file}")));
        }
        WorldSystem::new(fleet).map_err(|error: WorldError| Failure::input(format!("`{file}`: {error}"), ""))
    }
}

/// Explores a world, if that is what was named.
pub fn explore(verb: &Explore, global: &Global, screen: &Screen) -> Result<Option<Concluded>, Failure> {
    let Some(path) = std::iter::once(&verb.scenario).chain(&verb.more).find(|path| is_program(path)) else {
        return Ok(None);
    };
    refuse(verb, path)?;
    explore_in(verb, &Program::open(path)?, None, (global, screen)).map(Some)
}

/// Goes on with the run of a world, if that is what the run was.
pub fn resume(run: &str, today: &Explore, global: &Global, screen: &Screen) -> Result<Option<Concluded>, Failure> {
    let (folder, verb, info) = resume::typed(run, today)?;
    if !is_program(&verb.scenario) {
        return Ok(None);
    }
    let program = Program::open(&verb.scenario)?;
    if program.hash.to_string() != info.scenario_hash {
        let message = format!("`{}` has changed since the run `{}`", verb.scenario.display(), folder.name());
        return Err(Failure::input(message, format!("begin anew: anabranch explore {}", verb.scenario.display())));
    }
    explore_in(&verb, &program, Some((folder, info.seed)), (global, screen)).map(Some)
}

fn explore_in(
    verb: &Explore,
    program: &Program,
    earlier: Option<(RunFolder, u64)>,
    (global, screen): (&Global, &Screen),
) -> Result<Concluded, Failure> {
    let (clock, cpu_before_s) = (WallClock::start(), ThisSystem.cpu_s().unwrap_or(0.0));
    let _hurry = interrupt::hurry()?;
    // A world may take long to start, so its time counts from before that.
    let time = TimeLeft::new(clock, settings::budget(verb)?.time_ns);
    time.for_answers().into_iter().for_each(|within| interrupt::cutoff().come_within(within));
    let world = program.start(global.threads(), Patience::Usual).map_err(interrupt::or_stopped)?;
    let (settings, horizon) = settings::build(verb, &world)?;
    refuse_contradictions(&world, &settings)?;
    // Findings of the earlier process are removed only when it is sure that the run goes on.
    let taken = earlier.as_ref().map(|(folder, _)| {
        resume::check_code(folder, &program.path, Some(world.fleet().card()))?;
        resume::take(folder)
    });
    let taken = taken.transpose()?;
    tried(&world, earlier.as_ref().map_or(global.seed.unwrap_or(0), |(_, seed)| *seed), (screen, time));
    let resumes = earlier.is_some();
    let (folder, seed) = match earlier {
        Some(earlier) => earlier,
        None => {
            let stem = program.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let name = verb.name.as_deref().unwrap_or(&stem);
            (RunFolder::create_now(Path::new(RUNS), name)?, global.seed.unwrap_or(0))
        }
    };
    let _lock = taken.map_or_else(|| folder.lock(), Ok)?;
    let journey = Journey {
        screen,
        source: program,
        subject: &world,
        settings,
        horizon,
        seed: Seed(seed),
        threads: global.threads(),
        clock,
        cpu_before_s,
        folder,
        wishes: (),
    };
    if !resumes {
        journey.write_info()?;
    }
    screen.detail(&format!("{} error choices in each of {} segments", world.errors().len(), world.segments_max()));
    // There is no map to draw on.
    journey.travel(Pictures::Leave, verb.graph)
}

/// Tries what the world claims before it is explored: what does not hold makes the result worthless, and is told at once.
fn tried(world: &WorldSystem, seed: u64, (screen, time): (&Screen, TimeLeft)) {
    screen.detail("trying what the world claims");
    let claims = world.check_while(Seed(seed), &|| time.tries_claims());
    if !time.tries_claims() && !interrupt::is_asked() {
        screen.warn("there was no time to try everything that the world claims");
    }
    for claim in claims.iter().filter(|claim| claim.broken.is_some()) {
        screen.warn(&claim.to_string().replace('\n', " "));
    }
}

/// Options that ask about a scenario are refused, not ignored.
fn refuse(verb: &Explore, path: &Path) -> Result<(), Failure> {
    let file = path.display();
    if !verb.more.is_empty() {
        let message = format!("`{file}` is a program; worlds are explored one at a time");
        return Err(Failure::input(message, format!("anabranch explore {file}")));
    }
    let asked = [
        ("--driver", verb.driver.is_some()),
        ("--set", !verb.sets.is_empty()),
        ("--with", !verb.whole.with.is_empty()),
        ("--tolerance", !verb.whole.tolerance.is_empty()),
        ("--league", !verb.whole.league.is_empty()),
        ("--since", verb.since.is_some()),
        ("--remember", verb.remember),
        ("--samples", verb.samples.is_some()),
        ("--most-likely", verb.most_likely.is_some()),
    ];
    match asked.iter().find(|(_, is_asked)| *is_asked) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::input(
            format!("{flag} is about scenarios, and `{file}` is a program"),
            "a world has its errors, its start and its requirements inside",
        )),
    }
}
