//! `explore`: every error combination, with saved states.

use std::path::{Path, PathBuf};

use anabranch_explore::probability::Asked;
use anabranch_explore::{Disk, ExploreError, Explorer, Outcome, Recording, Remembering, Settings, Stop};
use anabranch_kernel::{Seed, System};
use anabranch_record::table::Whole;
use anabranch_record::{Phase, RunFolder, RunInfo, Status};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Keep, Order, Scope};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::escape::escape;
use crate::exit::Exit;
use crate::explore::candidates::{Candidate, Confirmed, confirmed};
use crate::explore::facts::{Facts, Used, no_path_json};
use crate::explore::graph::{GraphFlag, GraphRecorder};
use crate::explore::meter::Meter;
use crate::explore::probability::{self, Likely, Wanted};
use crate::explore::resume::Earlier;
use crate::explore::settings::{self, Flags, Horizon, MergeFlag, Pairs, parse_budget, parse_merge};
use crate::explore::since::{Before, Keeper};
use crate::explore::store::{LevelTrail, SpillDisk};
use crate::explore::watcher::{Pictures, Watcher};
use crate::explore::{groups, human, pictures};
use crate::failure::Failure;
use crate::interrupt;
use crate::load::{Assembled, Loaded, Override, load_with, no_path, parse_override, with_driver};
use crate::outside;
use crate::project::{self, RUNS};
use crate::report;
use crate::screen::{Format, Global, Paint, Screen, print_err};
use crate::suite;
use crate::usage::{ThisSystem, Usage, WallClock};

/// Stands for the scenario where none is named, because a run is resumed.
pub const NO_SCENARIO: &str = "-";

/// Run every error combination, with saved states.
#[derive(Args, Debug)]
pub struct Explore {
    /// Scenario file, or a folder of scenarios.
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
    /// How often cells that could hide a contact are halved and looked at again; 0 = never.
    #[arg(long, value_name = "N")]
    pub refine: Option<u32>,
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
    /// CPU seconds that others have used before.
    cpu_before_s: f64,
    folder: RunFolder,
    wanted: Wanted,
    before: Option<Before>,
    keeps: Keeps,
}

/// Whether segments are left for a later run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeps {
    Segments,
    Nothing,
}

/// What the explorer found, and how much it left for a later run.
struct Explored {
    outcome: Outcome,
    remembered_bytes: Option<u64>,
}

/// An exploration that has come to its end.
#[derive(Debug)]
pub struct Concluded {
    /// How the program would end.
    pub exit: Exit,
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
                let earlier = Earlier::find(run, self)?;
                earlier.clear()?;
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
        load_with(path, &sets, &self.flags().overrides())
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
        let cpu_before_s = ThisSystem.cpu_s().unwrap_or(0.0);
        let drive = match loaded.assemble()? {
            Assembled::Drive(drive) => drive,
            Assembled::NoPath(why) => return self.conclude_no_path(global, screen, loaded, &why),
        };
        let (settings, horizon) = self.settings(loaded, &drive)?;
        let wanted = Wanted::of(&drive, self.samples, self.most_likely)?;
        let before = self.since.as_deref().map(|run| Before::read(run, &drive, screen)).transpose()?;
        let resumes = earlier.is_some();
        let (folder, seed) = match earlier {
            Some(earlier) => earlier,
            None => {
                let name = self.name.as_deref().unwrap_or(drive.name());
                (RunFolder::create_now(Path::new(RUNS), name)?, global.seed.unwrap_or(0))
            }
        };
        let (seed, clock) = (Seed(seed), WallClock::start());
        let drive = drive.as_ref();
        let journey = Journey {
            screen,
            loaded,
            drive,
            settings,
            horizon,
            seed,
            threads: global.threads(),
            clock,
            cpu_before_s,
            folder,
            wanted,
            before,
            keeps: if self.remember { Keeps::Segments } else { Keeps::Nothing },
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
        let machine = no_path_json(loaded, why, &project::relative(folder.path()));
        folder.publish_json("result.json", &machine)?;
        folder.write_status(&Status { phase: Phase::Done, message: "no path".to_owned(), ..Status::begin() })?;
        report::write(&folder)?;
        let human = format!("{}: {}\n", escape(name), Paint(screen.out).red("no path"));
        Ok(Concluded { exit: trouble.exit(), machine, human, trouble: Some(trouble) })
    }

    /// Settings of the command line, as overrides of the scenario.
    pub fn flags(&self) -> Flags<'_> {
        let given = [("keep", &self.keep), ("order", &self.order), ("scope", &self.scope)];
        let mut words: Vec<(&'static str, String)> =
            given.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))).collect();
        words.extend(self.rollouts.map(|n| ("rollouts", n.to_string())));
        words.extend(self.refine.map(|n| ("refine", n.to_string())));
        Flags { merge: self.merge.as_ref(), words, budget: self.budget.as_deref().unwrap_or(&[]) }
    }
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

    fn travel(&self, pictures: Pictures, graph: GraphFlag) -> Result<Concluded, Failure> {
        let meter = Meter::new(self.screen, self.clock, self.horizon.levels, self.drive.segment_seconds());
        let mut watcher = Watcher::new(self.screen, &self.folder, self.clock, meter, pictures);
        watcher.graph = GraphRecorder::create(self.folder.path(), self.drive, graph)?;
        watcher.recording = Wanted::recording(self.drive);
        let (mut trail, damage) = LevelTrail::recover(&self.folder.levels())?;
        if let Some(damage) = damage {
            self.screen.warn(&format!("{damage}; it and what followed is computed again"));
        }
        if trail.levels_whole() > 0 {
            self.screen.detail(&format!("going on after {} whole levels", trail.levels_whole()));
        }
        let done =
            self.explore(&mut trail, &mut watcher).and_then(|explored| self.conclude(explored, &trail, &mut watcher));
        if let Err(failure) = &done {
            // What ended it is told; that it could not be noted as well is nothing new.
            let _ = watcher.finish(Phase::Failed, 0, &failure.to_string());
        }
        done
    }

    fn explore(&self, trail: &mut LevelTrail, watcher: &mut Watcher<'_>) -> Result<Explored, Failure> {
        let keeper = match self.keeps {
            Keeps::Segments => Some(Keeper::open(&self.folder, self.drive)?),
            Keeps::Nothing => None,
        };
        let mut system = Remembering::new(self.drive);
        if let Some(since) = self.before.as_ref().and_then(Before::since) {
            system = system.since(since);
        }
        if let Some(keeper) = &keeper {
            system = system.keeping(keeper);
        }
        let outcome = self.explore_system(&system, trail, watcher)?;
        if let Some(fault) = system.broken() {
            let (exit, help) = (Exit::Bug, "explore without --since, and please send us the scenario".to_owned());
            return Err(Failure::Plain { exit, message: fault.to_string(), help });
        }
        let remembered_bytes = keeper.map(Keeper::finish).transpose()?;
        Ok(Explored { outcome, remembered_bytes })
    }

    fn explore_system(
        &self,
        system: &Remembering<'_, Drive>,
        trail: &mut LevelTrail,
        watcher: &mut Watcher<'_>,
    ) -> Result<Outcome, Failure> {
        let asked = interrupt::listen()?;
        let mut disks = match self.settings.budget.memory_bytes {
            None => None,
            Some(_) => Some([SpillDisk::new_in(self.folder.path())?, SpillDisk::new_in(self.folder.path())?]),
        };
        let mut explorer = Explorer::new(system)
            .settings(self.settings.clone())
            .seed(self.seed)
            .threads(self.threads)
            .identity(self.loaded.hash)
            .clock(&self.clock)
            .interrupt(asked)
            .prove();
        if let Some([first, second]) = &mut disks {
            explorer = explorer.disks([first as &mut dyn Disk, second as &mut dyn Disk]);
        }
        let outcome = explorer.run_with(trail, watcher)?;
        trail.finish()?;
        if let Some(graph) = watcher.graph.take() {
            graph.finish(if outcome.complete() { Whole::Yes } else { Whole::No })?;
        }
        Ok(outcome)
    }

    fn conclude(
        &self,
        explored: Explored,
        trail: &LevelTrail,
        watcher: &mut Watcher<'_>,
    ) -> Result<Concluded, Failure> {
        let Explored { outcome, remembered_bytes } = explored;
        let cpu_s = || ThisSystem.cpu_s().map(|cpu_s| cpu_s - self.cpu_before_s);
        let (explored_wall_s, explored_cpu_s) = (self.clock.seconds(), cpu_s());
        self.screen.detail(&format!("confirming {} findings from the start, without merging", outcome.hits.len()));
        let Confirmed { mut candidates, mut unstable, unconfirmed } =
            confirmed(self.drive, self.seed, &outcome, trail, self.threads)?;
        let graph = watcher.recording.take().filter(|_| outcome.stop != Some(Stop::Interrupted));
        let likely = graph.map(|graph| self.likely(&graph, &mut candidates)).transpose()?.flatten();
        let mut groups = groups::group(self.drive, &candidates);
        unstable.extend(groups::save(&mut groups, &self.folder, self.loaded, self.drive, self.seed)?);
        outside::write_faults(&self.folder, self.loaded, self.drive, self.seed.0)?;
        let used = Used {
            wall_s: self.clock.seconds(),
            explored_wall_s,
            explored_cpu_s,
            cpu_s: cpu_s(),
            peak_rss_bytes: ThisSystem.peak_rss_bytes(),
        };
        // Hits beyond the limit of the explorer are counted and have no path.
        let beyond = outcome.progress.findings.saturating_sub(outcome.hits.len() as u64);
        let spared = self.before.as_ref().map(|before| before.spared(self.drive, self.seed, &outcome.progress, trail));
        let facts = Facts {
            loaded: self.loaded,
            drive: self.drive,
            settings: &self.settings,
            horizon: self.horizon,
            seed: self.seed,
            outcome: &outcome,
            groups: &groups,
            unstable: &unstable,
            unconfirmed,
            findings: candidates.len() as u64 + beyond,
            used,
            run: project::relative(self.folder.path()),
            likely,
            spared: spared.transpose()?,
            remembered_bytes,
        };
        let drawing = std::mem::take(&mut watcher.drawing);
        // Who pressed Ctrl-C waits for what must be saved, not for pictures of a part; resuming draws them.
        if watcher.wants_pictures() && outcome.stop != Some(Stop::Interrupted) {
            self.screen.detail("drawing pictures");
            pictures::draw(&facts, drawing, &self.folder)?;
        }
        let machine = facts.to_json();
        self.folder.publish_json("result.json", &machine)?;
        watcher.finish(phase(&outcome), facts.findings, facts.verdict())?;
        report::write(&self.folder)?;
        let human = human::text(&facts, &Paint(self.screen.out));
        Ok(Concluded { exit: facts.exit(), machine, human, trouble: None })
    }
}

impl Journey<'_> {
    /// How likely failures are; those that were not known become findings.
    fn likely(&self, graph: &Recording, candidates: &mut Vec<Candidate>) -> Result<Option<Likely>, Failure> {
        let Wanted { samples, most_likely } = self.wanted;
        let (settings, seed, threads) = (&self.settings, self.seed, self.threads);
        let asked = Asked { settings, seed, threads, samples, most_likely };
        let found = probability::compute(self.screen, self.drive, graph, &asked, candidates)?;
        found.map(|found| probability::save(found, &self.folder, self.loaded, self.drive, &asked)).transpose()
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
