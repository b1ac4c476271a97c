//! `explore`: every error combination, with saved states.

use std::path::{Path, PathBuf};

use anabranch_explore::{ExploreError, Explorer, Settings};
use anabranch_kernel::{Seed, System};
use anabranch_record::{Phase, RunFolder, RunInfo, Status};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Keep, Order, Scope};
use anabranch_study::{Conclusion, Evidence, conclude};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::escape::escape;
use crate::exit::Exit;
use crate::explore::facts::no_path_json;
use crate::explore::graph::GraphFlag;
use crate::explore::journey::Journey;
use crate::explore::probability::Wanted;
use crate::explore::resume::{self, Earlier};
use crate::explore::settings::{self, Flags, Horizon, MergeFlag, Pairs, parse_budget, parse_merge};
use crate::explore::since::Before;
use crate::explore::subject::{Keeps, Subject as _, Wishes};
use crate::explore::time_left::TimeLeft;
use crate::explore::watcher::Pictures;
use crate::explore::world;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::{Assembled, Loaded, Override, load_with, no_path, parse_override, with_driver};
use crate::project::{self, RUNS};
use crate::report;
use crate::screen::{Format, Global, Paint, Screen, print_err};
use crate::suite;
use crate::usage::{ThisSystem, Usage, WallClock};

/// Stands for the scenario where none is named, because a run is resumed.
pub const NO_SCENARIO: &str = "-";

/// Run every error combination, with saved states.
#[derive(Args, Clone, Debug)]
pub struct Explore {
    /// Scenario file, a folder of scenarios, or a program that is a whole world (.py, executable).
    #[arg(required_unless_present = "resume", default_value = NO_SCENARIO, hide_default_value = true)]
    pub scenario: PathBuf,
    /// More of them; several scenarios give one table.
    pub more: Vec<PathBuf>,
    /// What is asked about more than one exploration.
    #[command(flatten)]
    pub whole: suite::Flags,
    /// End after this time, as in "10 s"; the scenario's own end if left out.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// When states are alike: none, a factor such as 0.5 for all sizes, sizes such as x=0.05m,y=0.05m, or declared for sizes
    /// that stay the same when the scenario changes.
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
    /// How often cells that could hide a contact are halved and looked at again, at most 12; 0 = never.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=12))]
    pub refine: Option<u32>,
    /// Search until no violation deeper than this is expected, as in "1 cm" (worlds: in the unit of their margin).
    #[arg(long, value_name = "DEPTH")]
    pub resolution: Option<String>,
    /// Go on with a run that was interrupted, killed or ended by a budget; the last one if none is named.
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "last")]
    #[arg(conflicts_with_all = ["until", "merge", "keep", "order", "scope", "preset", "sets", "driver", "with", "tolerance", "league", "since", "remember"])]
    pub resume: Option<String>,
    /// Keep every segment in the run folder, so that a later run need not run again what a change cannot reach.
    #[arg(long, conflicts_with_all = ["tolerance", "league"])]
    pub remember: bool,
    /// Take over the segments of an earlier run that a change of the driver cannot reach; it needs --remember there.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["more", "tolerance", "league"])]
    pub since: Option<String>,
    /// Another driver instead of the scenario's: a built-in one by name, a file, or the address of a running one.
    #[arg(long, value_name = "FILE")]
    pub driver: Option<String>,
    /// Change a value of the scenario, as in ego.start.y="0.1 m"; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub sets: Vec<Override>,
    /// Name of the run's folder, after its time; the scenario's name if left out.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// How the graph is written to the run folder: every segment and every kept state.
    #[arg(long, value_name = "FORM", default_value = "parquet")]
    pub graph: GraphFlag,
    /// Draw no pictures.
    #[arg(long)]
    pub no_pictures: bool,
    /// Runs from the start that say how likely a failure is, where errors have probabilities [default: 10000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=100_000_000))]
    pub samples: Option<u32>,
    /// How many of the most likely failures to name, where errors have probabilities [default: 3].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub most_likely: Option<u32>,
}

/// Settings with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Breadth-first, the first of a cell is kept, x, y and heading alone are compared with waiting states.
    Paper,
}

/// An exploration that has come to its end.
#[derive(Debug)]
pub struct Concluded {
    /// How the program would end.
    pub exit: Exit,
    /// The verdict.
    pub conclusion: Conclusion,
    /// For machines.
    pub machine: Value,
    /// For people.
    pub human: String,
    /// Why there was nothing to explore.
    pub trouble: Option<Failure>,
}

impl Explore {
    /// Explores, saves, and tells what was found.
    pub fn run(&self, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
        let done = match &self.resume {
            Some(run) => {
                if let Some(done) = world::resume(run, self, global, screen)? {
                    screen.result(|_| done.human, &done.machine);
                    return Ok(done.exit);
                }
                let earlier = Earlier::find(run, self)?;
                let Earlier { folder, mut verb, loaded, seed } = earlier;
                if let Some(since) = verb.since.take() {
                    screen.warn(&format!("going on without `--since {since}`: what is left is run"));
                }
                verb.explore_in(Some((folder, seed)), &loaded, global, screen)?
            }
            None => {
                if self.since.is_some() && self.scenario.is_dir() {
                    return Err(Failure::input("--since takes one scenario, not a folder of them", ""));
                }
                if let Some(done) = world::explore(self, global, screen)? {
                    screen.result(|_| done.human, &done.machine);
                    return Ok(done.exit);
                }
                if let Some(exit) = suite::explore(self, global, screen)? {
                    return Ok(exit);
                }
                self.explore_one(&self.load(&self.scenario, &self.whole.overrides()?)?, global, screen)?
            }
        };
        if let (Some(trouble), Format::Human) = (&done.trouble, screen.format) {
            print_err(&trouble.render(screen.err));
        }
        screen.result(|_| done.human, &done.machine);
        Ok(done.exit)
    }

    /// Reads a scenario with everything that the command line says about it, and some overrides before that.
    pub fn load(&self, path: &Path, before: &[Override]) -> Result<Loaded, Failure> {
        let sets: Vec<Override> = before.iter().chain(&self.sets).cloned().collect();
        let sets = with_driver(&sets, self.driver.as_ref());
        load_with(path, &sets, &self.flags().overrides()).map_err(|failure| self.whole.relocated(failure))
    }

    /// How a scenario is explored, and how far.
    pub fn settings(&self, loaded: &Loaded, drive: &Drive) -> Result<(Settings, Horizon), Failure> {
        let horizon = settings::horizon(self.until.as_deref(), &loaded.spec.explore)?;
        let mut settings = settings::build(loaded, drive, self.merge.as_ref(), horizon)?;
        settings.stop_on_first = self.stop_on_first;
        if self.preset == Some(Preset::Paper) {
            settings = settings.paper(drive.variables());
        }
        refuse_contradictions(drive, &settings)?;
        Ok((settings, horizon))
    }

    /// Explores one scenario and saves what was found.
    pub fn explore_one(&self, loaded: &Loaded, global: &Global, screen: &Screen) -> Result<Concluded, Failure> {
        self.explore_in(None, loaded, global, screen)
    }

    /// As [`explore_one`](Self::explore_one), or goes on in the folder of an earlier run with its seed.
    fn explore_in(
        &self,
        earlier: Option<(RunFolder, u64)>,
        loaded: &Loaded,
        global: &Global,
        screen: &Screen,
    ) -> Result<Concluded, Failure> {
        let (clock, cpu_before_s) = (WallClock::start(), ThisSystem.cpu_s().unwrap_or(0.0));
        let _hurry = interrupt::hurry()?;
        let time = loaded.spec.explore.budget.time_s.map(|time| (time.value * 1e9) as u64);
        TimeLeft::new(clock, time).for_answers().into_iter().for_each(|within| interrupt::cutoff().come_within(within));
        let drive = match loaded.assemble().map_err(interrupt::or_stopped)? {
            Assembled::Drive(drive) => drive,
            Assembled::NoPath(why) => return self.conclude_no_path(global, screen, loaded, &why),
        };
        let (settings, horizon) = self.settings(loaded, &drive)?;
        if loaded.spec.likelihood_is_left_out() {
            screen.warn("only some of the errors have a probability: how likely failures are is not reported");
        }
        let wanted = Wanted::of(&drive, self.samples, self.most_likely)?;
        let before = self.since.as_deref().map(|run| Before::read(run, &drive, screen)).transpose()?;
        // Findings of the earlier process are removed only when it is sure that the run goes on.
        let taken = earlier.as_ref().map(|(folder, _)| {
            resume::check_code(folder, &loaded.path, drive.card())?;
            resume::take(folder)
        });
        let taken = taken.transpose()?;
        let resumes = earlier.is_some();
        let (folder, seed) = match earlier {
            Some(earlier) => earlier,
            None => {
                let name = self.name.as_deref().unwrap_or(drive.name());
                (RunFolder::create_now(Path::new(RUNS), name)?, global.seed.unwrap_or(0))
            }
        };
        let _lock = taken.map_or_else(|| folder.lock(), Ok)?;
        let keeps = if self.remember { Keeps::Segments } else { Keeps::Nothing };
        let journey = Journey {
            screen,
            source: loaded,
            subject: drive.as_ref(),
            settings,
            horizon,
            seed: Seed(seed),
            threads: global.threads(),
            clock,
            cpu_before_s,
            folder,
            wishes: Wishes { wanted, before, keeps },
        };
        if !resumes {
            journey.write_info()?;
        }
        let pictures = if self.no_pictures { Pictures::Leave } else { Pictures::Draw };
        journey.travel(pictures, self.graph)
    }

    /// That there is no path is a result too, and leaves a folder like any other.
    fn conclude_no_path(
        &self,
        global: &Global,
        screen: &Screen,
        loaded: &Loaded,
        why: &str,
    ) -> Result<Concluded, Failure> {
        let trouble = no_path(why);
        let name = &loaded.spec.name.value;
        let folder = RunFolder::create_now(Path::new(RUNS), self.name.as_deref().unwrap_or(name))?;
        folder.write_run(&RunInfo::new(name, loaded.hash, global.seed.unwrap_or(0), std::env::args()))?;
        project::save_scenario(&folder, loaded)?;
        let conclusion = conclude(&Evidence::without_path(format!("planner found no path: {why}")));
        let machine = no_path_json(loaded, &conclusion, &project::relative(folder.path()));
        folder.publish_json("result.json", &machine)?;
        folder.write_status(&Status {
            phase: Phase::Done,
            message: conclusion.word().to_owned(),
            ..Status::begin()
        })?;
        report::write(&folder)?;
        let human = format!("{}: {}\n", escape(name), Paint(screen.out).red(conclusion.word()));
        Ok(Concluded { exit: Exit::of_conclusion(&conclusion), conclusion, machine, human, trouble: Some(trouble) })
    }

    /// Settings of the command line, as overrides of the scenario.
    pub fn flags(&self) -> Flags<'_> {
        let given = [("keep", &self.keep), ("order", &self.order), ("scope", &self.scope)];
        let mut words: Vec<(&'static str, String)> =
            given.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))).collect();
        words.extend(self.rollouts.map(|n| ("rollouts", n.to_string())));
        words.extend(self.resolution.clone().map(|depth| ("resolution", depth)));
        words.extend(self.refine.map(|n| ("refine", n.to_string())));
        Flags { merge: self.merge.as_ref(), words, budget: self.budget.as_deref().unwrap_or(&[]) }
    }
}

/// Options that contradict each other are refused before a folder is made: an exploration of no level says so.
pub fn refuse_contradictions<S: System>(drive: &S, settings: &Settings) -> Result<(), Failure> {
    let nothing = Settings { levels_max: 0, rollouts: 0, ..settings.clone() };
    let refused = Explorer::new(drive).settings(nothing).threads(1).run();
    refused.map(|_| ()).map_err(|error| match error {
        ExploreError::Settings(settings) => {
            Failure::input(settings.to_string(), "see [explore] of the scenario and the flags")
        }
        other => other.into(),
    })
}
