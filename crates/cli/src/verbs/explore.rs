//! `explore`: every error combination, with saved states.

use std::path::{Path, PathBuf};

use anabranch_explore::{Disk, ExploreError, Explorer, Outcome, Settings, Stop};
use anabranch_kernel::{Seed, System};
use anabranch_record::{Phase, RunFolder, RunInfo};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Keep, Order, Scope};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::exit::Exit;
use crate::explore::candidates::confirmed;
use crate::explore::facts::{Facts, Used, no_path_json};
use crate::explore::meter::Meter;
use crate::explore::settings::{self, Flags, Horizon, MergeFlag, Pairs, parse_budget, parse_merge};
use crate::explore::store::{LevelTrail, SpillDisk};
use crate::explore::watcher::{Pictures, Watcher};
use crate::explore::{groups, human, pictures};
use crate::failure::Failure;
use crate::interrupt;
use crate::load::{Assembled, Loaded, Override, load_with, no_path, parse_override};
use crate::project::{self, RUNS};
use crate::screen::{Format, Global, Screen, print_err};
use crate::usage::{ThisSystem, Usage, WallClock};

/// Run every error combination, with saved states.
#[derive(Args, Debug)]
pub struct Explore {
    /// Scenario file.
    pub scenario: PathBuf,
    /// End after this time, as in "10 s"; the scenario's own end if left out.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// When states are alike: none, a factor such as 0.5 for all sizes, or sizes such as x=0.05m,y=0.05m.
    #[arg(long, value_name = "SIZES", value_parser = parse_merge)]
    pub merge: Option<MergeFlag>,
    /// Which states of a cell are continued.
    #[arg(long, value_name = "WHICH", value_parser = PossibleValuesParser::new(Keep::WORDS))]
    pub keep: Option<String>,
    /// Which state is continued next.
    #[arg(long, value_name = "ORDER", value_parser = PossibleValuesParser::new(Order::WORDS))]
    pub order: Option<String>,
    /// With which states a new one is compared.
    #[arg(long, value_name = "SCOPE", value_parser = PossibleValuesParser::new(Scope::WORDS))]
    pub scope: Option<String>,
    /// All settings at once, as in the paper.
    #[arg(long, value_name = "PRESET", conflicts_with_all = ["merge", "keep", "order", "scope"])]
    pub preset: Option<Preset>,
    /// Limits, as in time=10min,states=1000,memory=2GB.
    #[arg(long, value_name = "LIMITS", value_parser = parse_budget)]
    pub budget: Option<Pairs>,
    /// End at the first finding.
    #[arg(long)]
    pub stop_on_first: bool,
    /// Random runs without merging that measure what merging missed.
    #[arg(long, value_name = "N")]
    pub rollouts: Option<u32>,
    /// Change a value of the scenario, as in ego.start.y="0.1 m"; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub sets: Vec<Override>,
    /// Name of the run's folder, after its time; the scenario's name if left out.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Draw no pictures.
    #[arg(long)]
    pub no_pictures: bool,
}

/// Settings with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Breadth-first, the first of a cell is kept, x, y and heading alone are compared with waiting states.
    Paper,
}

/// One exploration on its way.
struct Journey<'a> {
    screen: &'a Screen,
    loaded: &'a Loaded,
    drive: &'a Drive,
    settings: Settings,
    horizon: Horizon,
    seed: Seed,
    threads: usize,
    clock: WallClock,
    folder: RunFolder,
}

impl Explore {
    /// Explores, saves, and tells what was found.
    pub fn run(&self, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
        let loaded = load_with(&self.scenario, &self.sets, &self.flags().overrides())?;
        let drive = match loaded.assemble()? {
            Assembled::Drive(drive) => drive,
            Assembled::NoPath(why) => return Ok(tell_no_path(screen, &loaded, &why)),
        };
        let horizon = settings::horizon(self.until.as_deref(), &loaded.spec.explore)?;
        let mut settings = settings::build(&loaded, &drive, self.merge.as_ref(), horizon)?;
        settings.stop_on_first = self.stop_on_first;
        if self.preset == Some(Preset::Paper) {
            settings = settings.paper(drive.variables());
        }
        refuse_contradictions(&drive, &settings)?;
        let name = self.name.as_deref().unwrap_or(drive.name());
        let folder = RunFolder::create_now(Path::new(RUNS), name)?;
        let (seed, clock) = (Seed(global.seed.unwrap_or(0)), WallClock::start());
        let drive = drive.as_ref();
        let journey = Journey {
            screen,
            loaded: &loaded,
            drive,
            settings,
            horizon,
            seed,
            threads: global.threads(),
            clock,
            folder,
        };
        journey.write_info()?;
        let pictures = if self.no_pictures { Pictures::Leave } else { Pictures::Draw };
        journey.travel(pictures)
    }

    fn flags(&self) -> Flags<'_> {
        let given = [("keep", &self.keep), ("order", &self.order), ("scope", &self.scope)];
        let mut words: Vec<(&'static str, String)> =
            given.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))).collect();
        words.extend(self.rollouts.map(|n| ("rollouts", n.to_string())));
        Flags { merge: self.merge.as_ref(), words, budget: self.budget.as_deref().unwrap_or(&[]) }
    }
}

fn tell_no_path(screen: &Screen, loaded: &Loaded, why: &str) -> Exit {
    let failure = no_path(why);
    if screen.format == Format::Human {
        print_err(&failure.render(screen.err));
    }
    screen
        .result(|paint| format!("{}: {}\n", loaded.spec.name.value, paint.red("no path")), &no_path_json(loaded, why));
    failure.exit()
}

impl Journey<'_> {
    fn write_info(&self) -> Result<(), Failure> {
        let mut info = RunInfo::new(self.drive.name(), self.loaded.hash, self.seed.0, std::env::args());
        let budget = &self.settings.budget;
        let until_s = f64::from(self.horizon.levels) * self.drive.segment_seconds();
        info.limits.insert("until_s".to_owned(), json!(until_s));
        info.limits.insert("time_s".to_owned(), json!(budget.time_ns.map(|ns| ns as f64 * 1e-9)));
        info.limits.insert("states".to_owned(), json!(budget.states));
        info.limits.insert("memory_bytes".to_owned(), json!(budget.memory_bytes));
        self.folder.write_run(&info)?;
        project::save_scenario(&self.folder, self.loaded)
    }

    fn travel(&self, pictures: Pictures) -> Result<Exit, Failure> {
        let meter = Meter::new(self.screen, self.clock, self.horizon.levels, self.drive.segment_seconds());
        let mut watcher = Watcher::new(self.screen, &self.folder, self.clock, meter, pictures);
        let mut trail = LevelTrail::create(&self.folder.levels())?;
        let done =
            self.explore(&mut trail, &mut watcher).and_then(|outcome| self.conclude(outcome, &trail, &mut watcher));
        if let Err(failure) = &done {
            watcher.finish(Phase::Failed, 0, &failure.to_string());
        }
        done
    }

    fn explore(&self, trail: &mut LevelTrail, watcher: &mut Watcher<'_>) -> Result<Outcome, Failure> {
        let asked = interrupt::listen()?;
        let mut disks = match self.settings.budget.memory_bytes {
            None => None,
            Some(_) => Some([SpillDisk::new_in(self.folder.path())?, SpillDisk::new_in(self.folder.path())?]),
        };
        let mut explorer = Explorer::new(self.drive)
            .settings(self.settings.clone())
            .seed(self.seed)
            .threads(self.threads)
            .clock(&self.clock)
            .interrupt(asked)
            .prove();
        if let Some([first, second]) = &mut disks {
            explorer = explorer.disks([first as &mut dyn Disk, second as &mut dyn Disk]);
        }
        let outcome = explorer.run_with(trail, watcher)?;
        trail.finish()?;
        Ok(outcome)
    }

    fn conclude(&self, outcome: Outcome, trail: &LevelTrail, watcher: &mut Watcher<'_>) -> Result<Exit, Failure> {
        let (explored_wall_s, explored_cpu_s) = (self.clock.seconds(), ThisSystem.cpu_s());
        self.screen.detail(&format!("confirming {} findings from the start, without merging", outcome.hits.len()));
        let candidates = confirmed(self.drive, self.seed, &outcome, trail, self.threads)?;
        let mut groups = groups::group(self.drive, &candidates);
        groups::save(&mut groups, &self.folder, self.loaded, self.drive, self.seed)?;
        let used = Used {
            wall_s: self.clock.seconds(),
            explored_wall_s,
            explored_cpu_s,
            cpu_s: ThisSystem.cpu_s(),
            peak_rss_bytes: ThisSystem.peak_rss_bytes(),
        };
        // Hits beyond the limit of the explorer are counted and have no path.
        let beyond = outcome.progress.findings.saturating_sub(outcome.hits.len() as u64);
        let facts = Facts {
            loaded: self.loaded,
            drive: self.drive,
            settings: &self.settings,
            horizon: self.horizon,
            seed: self.seed,
            outcome: &outcome,
            groups: &groups,
            findings: candidates.len() as u64 + beyond,
            used,
            run: project::relative(self.folder.path()),
        };
        let drawing = std::mem::take(&mut watcher.drawing);
        if watcher.wants_pictures() {
            self.screen.detail("drawing pictures");
            pictures::draw(&facts, drawing, &self.folder)?;
        }
        let machine = facts.to_json();
        self.folder.publish_json("result.json", &machine)?;
        watcher.finish(phase(&outcome), facts.findings, facts.verdict());
        self.screen.result(|paint| human::text(&facts, paint), &machine);
        Ok(facts.exit())
    }
}

fn phase(outcome: &Outcome) -> Phase {
    match outcome.stop {
        Some(Stop::Interrupted) => Phase::Interrupted,
        Some(Stop::FirstFinding) => Phase::Done,
        _ if outcome.complete() => Phase::Done,
        _ => Phase::Incomplete,
    }
}

/// Options that contradict each other are refused before a folder is made: an exploration of no level says so.
fn refuse_contradictions(drive: &Drive, settings: &Settings) -> Result<(), Failure> {
    let nothing = Settings { levels_max: 0, rollouts: 0, ..settings.clone() };
    let refused = Explorer::new(drive).settings(nothing).threads(1).run();
    refused.map(|_| ()).map_err(|error| match error {
        ExploreError::Settings(settings) => {
            Failure::input(settings.to_string(), "see [explore] of the scenario and the flags")
        }
        other => other.into(),
    })
}
