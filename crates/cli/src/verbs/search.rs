//! `search`: the most dangerous instance of a scenario, by optimisation.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use anabranch_explore::with_threads;
use anabranch_kernel::Seed;
use anabranch_record::{Phase, RunFolder, RunInfo, RunReference, Status};
use anabranch_scenario::Drive;
use anabranch_search::{
    Baseline, By, Ended, Goal, Method, Optimiser, Probes, Report, SearchError, Settings, importance,
};
use clap::{Args, Parser};
use serde_json::json;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;
use crate::explore::resume::check_code;
use crate::explore::subject::Subject as _;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::{Loaded, Override, load_with, parse_override, with_driver};
use crate::project::{self, RUNS};
use crate::report;
use crate::screen::{Format, Global, Screen, print_err};
use crate::search::contest::{self, Sides};
use crate::search::facts::Facts;
use crate::search::measure::Measure;
use crate::search::objective::ScenarioObjective;
use crate::search::outside::{Broken, OutsideOptimiser};
use crate::search::scorer::{HYBRID_STATES, Scorer, TREE_RUNS};
use crate::search::space::Varied;
use crate::search::store::{self, Store};
use crate::search::{bench, findings, human};
use crate::usage::{ThisSystem, Usage, WallClock};
use crate::verbs::explore::NO_SCENARIO;

/// How points are proposed if nobody says.
const METHOD_USUAL: &str = "auto";
/// Most simulations under way at once if nobody says. Part of the result, so it does not depend on threads.
const BATCH_USUAL: usize = 8;
/// From this distance on accidents are different: a corner of the car, another requirement, another one hit.
const APART: f64 = 0.6;
/// Directions that a search with several objectives takes in turn.
const FRONT_DIRECTIONS: u64 = 8;

/// Optimise continuous parameters towards danger.
#[derive(Args, Clone, Debug)]
pub struct Search {
    /// Scenario file.
    #[arg(required_unless_present_any = ["resume", "bench"], default_value = NO_SCENARIO, hide_default_value = true)]
    pub scenario: PathBuf,
    /// Where to look next: auto, random, halton, sobol, annealing, cmaes, cmaes-bipop, cross-entropy, nelder-mead, bayes,
    /// signal-descent; tree (error sequences over saved states), hybrid (the explorer scores each instance), or a .py file.
    #[arg(long, value_name = "METHOD", default_value = METHOD_USUAL)]
    pub method: String,
    /// Most simulations [default: that of the scenario, or 300].
    #[arg(long, visible_alias = "evals", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub budget: Option<u64>,
    /// What is made small: clearance, distance, ttc, rss, a formula, or a sum of them ("distance; 0.3 times rss"); may be repeated, and
    /// several give a front.
    #[arg(long, value_name = "WHAT")]
    pub objective: Vec<String>,
    /// Vary a value of the scenario too, as in ego.start.y="-0.3 m .. 0.3 m"; may be repeated.
    #[arg(long, value_name = "KEY=RANGE", value_parser = parse_override)]
    pub vary: Vec<Override>,
    /// How often each error may change in a run; 0: no errors.
    #[arg(long, value_name = "N")]
    pub error_points: Option<u32>,
    /// Most simulations under way that the optimiser has not heard of yet; part of the result, unlike --jobs [default: 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub batch: Option<u32>,
    /// End at the first violation.
    #[arg(long, conflicts_with = "different")]
    pub stop_on_first: bool,
    /// End at so many accidents that are unlike each other.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub different: Option<u32>,
    /// Try corners of the space before everything else.
    #[arg(long)]
    pub corners: bool,
    /// No random points beside the search.
    #[arg(long)]
    pub no_baseline: bool,
    /// Go on with a search that was interrupted or killed; the last run if none is named.
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "last")]
    #[arg(conflicts_with_all = ["budget", "objective", "vary", "error_points", "batch", "stop_on_first", "different", "corners", "no_baseline", "sets", "driver", "name", "bench"])]
    pub resume: Option<String>,
    /// Another driver instead of the scenario's: a built-in one by name, a file, or the address of a running one.
    #[arg(long, value_name = "FILE")]
    pub driver: Option<String>,
    /// Change a value of the scenario, as in ego.start.y="0.1 m"; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub sets: Vec<Override>,
    /// Name of the run's folder, after its time; the scenario's name if left out.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A published benchmark instead of a scenario: arch for the whole table, a requirement such as cc4
    /// or at-speed120, crosswalk, or t-junction.
    #[arg(long, value_name = "NAME", conflicts_with = "scenario")]
    pub bench: Option<String>,
    /// Evaluate one input of the benchmark, as in "0 100 0; 15 50 0": rows of time, throttle and brake; of t-junction
    /// its numbers, as in "time-of-day=1110 approach=12".
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true)]
    pub input: Option<String>,
    /// Search with so many seeds, each to its first violation, and say how reliable that is; of a benchmark [default: 50; of
    /// t-junction one search].
    #[arg(long, visible_alias = "repeat", value_name = "N", conflicts_with_all = ["resume", "different", "name"], value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub repeats: Option<u64>,
    /// Rows of the table alone; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub row: Vec<String>,
}

/// How points are proposed and scored.
#[derive(Clone, Debug, PartialEq)]
pub struct How {
    /// The optimiser.
    pub method: Method,
    /// How an instance is scored.
    pub scorer: Scorer,
}

/// A search that is ready to run.
struct Prepared<'a> {
    objective: ScenarioObjective<'a>,
    optimiser: Box<dyn Optimiser>,
    settings: Settings,
    /// Why the optimiser can no longer be asked.
    broken: Broken,
}

/// Whether `--method` names a file.
pub fn is_file(method: &str) -> bool {
    method.ends_with(".py") || method.contains('/')
}

/// The meaning of `--method`.
pub fn how(word: &str) -> Result<How, Failure> {
    let (method, scorer) = match word {
        "tree" => (Method::Auto, Scorer::Tree { runs: TREE_RUNS }),
        "hybrid" => (Method::Auto, Scorer::Graph { states: HYBRID_STATES }),
        // A file of one's own proposes the points.
        file if is_file(file) => (Method::Auto, Scorer::Run),
        "cmaes" => (Method::CmaEs, Scorer::Run),
        "cmaes-bipop" => (Method::CmaEsBipop, Scorer::Run),
        other => match Method::of_name(other) {
            Some(method) => (method, Scorer::Run),
            None => {
                let known: Vec<&str> =
                    Method::ALL.iter().map(|method| method.name()).chain(["tree", "hybrid"]).collect();
                let help = format!("methods are {}", known.join(", ").replace("cma-es", "cmaes"));
                return Err(Failure::input(format!("--method: there is no method `{other}`"), help));
            }
        },
    };
    Ok(How { method, scorer })
}

impl Search {
    /// Searches, saves, and tells what was found.
    pub fn run(&self, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
        if let Some(name) = &self.bench {
            return bench::run(self, name, global, screen);
        }
        for (is_given, flag) in [(self.input.is_some(), "--input"), (!self.row.is_empty(), "--row")] {
            if is_given {
                return Err(Failure::input(format!("{flag} belongs to --bench"), "leave it out, or name a benchmark"));
            }
        }
        let (loaded, verb, earlier) = match &self.resume {
            Some(run) => {
                let (folder, verb, info) = typed(run)?;
                self.same_as(&verb, &folder, (info.seed, global.seed))?;
                let (loaded, changed) = project::of_run(folder.path(), &[], &verb.settings())?;
                if changed && self.scenario != Path::new(NO_SCENARIO) {
                    let message =
                        format!("`{}` has changed since the run `{}`", self.scenario.display(), folder.name());
                    return Err(Failure::input(message, "search anew, or resume the run as it was: search --resume"));
                }
                (loaded, Some(verb), Some((folder, info.seed)))
            }
            None => {
                let sets = with_driver(&self.sets, self.driver.as_ref());
                (load_with(&self.scenario, &sets, &self.settings())?, None, None)
            }
        };
        let verb = verb.as_deref().unwrap_or(self);
        let threads = global.threads();
        with_threads(threads, || verb.search(&loaded, earlier, global, screen))?
    }

    /// A search goes on as it was begun: with its scenario, its method and its seed.
    fn same_as(&self, verb: &Self, folder: &RunFolder, (then, now): (u64, Option<u64>)) -> Result<(), Failure> {
        let other = |what: &str, then: String, now: String| {
            let message = format!("the run `{}` was begun with {what} {then}, not {now}", folder.name());
            Err(Failure::input(message, "leave it out, or search anew without --resume"))
        };
        if let Some(now) = now.filter(|now| *now != then) {
            return other("seed", then.to_string(), now.to_string());
        }
        if self.method != METHOD_USUAL && self.method != verb.method {
            return other("--method", verb.method.clone(), self.method.clone());
        }
        // What is recorded of a path is no more than where the file lay in the project.
        let is_same = |a: &Path, b: &Path| a.file_name() == b.file_name();
        if self.scenario != Path::new(NO_SCENARIO) && !is_same(&self.scenario, &verb.scenario) {
            return other("the scenario", verb.scenario.display().to_string(), self.scenario.display().to_string());
        }
        Ok(())
    }

    /// What is said about the search on the command line, as overrides that are no part of the scenario's identity.
    fn settings(&self) -> Vec<Override> {
        let vary = self.vary.iter().map(|(key, range)| (format!("search.vary.{key}"), range.clone()));
        let points = self.error_points.map(|points| ("search.error_points".to_owned(), points.to_string()));
        vary.chain(points).collect()
    }

    fn search(
        &self,
        loaded: &Loaded,
        earlier: Option<(RunFolder, u64)>,
        global: &Global,
        screen: &Screen,
    ) -> Result<Exit, Failure> {
        let cpu_before_s = ThisSystem.cpu_s().unwrap_or(0.0);
        let clock = WallClock::start();
        let How { method, mut scorer } = how(&self.method)?;
        let mut drive: Box<Drive> = loaded.drive()?;
        if let Some((folder, _)) = &earlier {
            check_code(folder, &loaded.path, drive.card())?;
        }
        if Measure::reads_signals(loaded, &self.objective) {
            // Any of them may be a measure of the whole run.
            *drive = drive.with_all_measures();
        }
        let varied = Varied::of(loaded, &drive, scorer)?;
        let mut budget = self.budget.unwrap_or(loaded.spec.search.budget.value);
        if varied.is_one_instance() {
            // A tree over the scenario as it is: the whole budget goes into it.
            scorer = Scorer::Tree { runs: budget };
            budget = 1;
        }
        let measures = Measure::all(loaded, &drive, &self.objective)?;
        if scorer != Scorer::Run && (measures.len() > 1 || measures[0].needs_frames()) {
            let message = format!("--method {} knows the objective clearance alone", self.method);
            return Err(Failure::input(message, "say --objective clearance, or use another method"));
        }
        let seed = Seed(earlier.as_ref().map_or(global.seed.unwrap_or(0), |(_, seed)| *seed));
        let settings = self.how_to(seed, budget, measures.len());
        let layout = varied.space.layout().map_err(|error| Failure::input(error.to_string(), ""))?;
        let broken = Broken::default();
        let optimiser: Box<dyn Optimiser> = if is_file(&self.method) {
            Box::new(OutsideOptimiser::start(&self.method, &varied.space, (seed, budget), &broken)?)
        } else {
            method.build(&layout, seed, budget).map_err(|error| Failure::input(error.to_string(), ""))?
        };
        let objective = ScenarioObjective::new(loaded, &drive, &varied, &measures, (scorer, seed));
        if let Some(repeats) = self.repeats {
            if is_file(&self.method) {
                return Err(Failure::input("--repeats: not with an optimiser from outside", "use a built-in one"));
            }
            let sides = Sides { method, repeats, has_baseline: !self.no_baseline };
            let settings = Settings { goal: Goal::First, front_every: 0, ..settings };
            return contest::run(&objective, sides, &settings, screen);
        }
        let folder = match earlier {
            Some((folder, _)) => folder,
            None => self.folder(&objective, budget)?,
        };
        self.travel(Prepared { objective, optimiser, settings, broken }, &folder, (clock, cpu_before_s), screen)
    }

    /// A new folder that says what the search was asked to do.
    fn folder(&self, objective: &ScenarioObjective<'_>, budget: u64) -> Result<RunFolder, Failure> {
        let (drive, loaded) = (objective.drive, objective.loaded);
        let folder = RunFolder::create_now(Path::new(RUNS), self.name.as_deref().unwrap_or(drive.name()))?;
        let mut info = RunInfo::new(drive.name(), loaded.hash, objective.seed.0, std::env::args());
        info.code = drive.card().and_then(|card| card.code.clone());
        info.limits.insert("simulations".to_owned(), json!(budget));
        folder.write_run(&info)?;
        project::save_scenario(&folder, loaded)?;
        Ok(folder)
    }

    /// Searches in a folder, confirms, saves, and tells.
    fn travel(
        &self,
        prepared: Prepared<'_>,
        folder: &RunFolder,
        (clock, cpu_before_s): (WallClock, f64),
        screen: &Screen,
    ) -> Result<Exit, Failure> {
        let Prepared { objective, optimiser, settings, broken } = prepared;
        let _lock = folder.lock()?;
        let (varied, budget) = (objective.varied, settings.simulations);
        let asked = interrupt::listen()?;
        let (mut edge, saved) = Store::open(folder, varied, (screen, clock), (asked, &broken), budget)?;
        let mut search =
            anabranch_search::Search::new(&varied.space, &objective, optimiser, settings.clone()).map_err(refused)?;
        if let Some(saved) = saved {
            screen.detail(&format!("going on after {} simulations", saved.progress.evaluations));
            search = search.resume(saved.evaluations, saved.progress).map_err(refused)?;
        }
        let report = search.run(&mut edge);
        if let Some(why) = broken.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let message =
                format!("the optimiser `{}` failed after {} simulations: {why}", self.method, report.evaluations.len());
            let help = format!("what was simulated is in {}; mend it and go on with search --resume", folder.name());
            return Err(Failure::Plain { exit: Exit::Incomplete, message, help });
        }
        let baseline = self.baseline(&report, &objective, &settings)?;
        crate::explore::resume::clear(folder)?;
        let findings = findings::save(&objective, &report, folder)?;
        let importance = importance(&varied.space, &report, settings.seed);
        let facts = Facts {
            objective: &objective,
            report: &report,
            findings: &findings,
            baseline: baseline.as_ref(),
            importance: importance.as_deref(),
            budget,
            batch: settings.batch,
            used: (clock.seconds(), ThisSystem.cpu_s().map(|cpu_s| cpu_s - cpu_before_s)),
            run: project::relative(folder.path()),
        };
        conclude(&facts, folder, screen)
    }

    /// When and how the search ends and tells accidents apart.
    pub fn how_to(&self, seed: Seed, simulations: u64, objectives: usize) -> Settings {
        let goal = match (self.stop_on_first, self.different) {
            (true, _) => Goal::First,
            (false, Some(wanted)) => Goal::Different(wanted as usize),
            // To the end of the budget, and away from what is known.
            (false, None) => Goal::Different(usize::MAX),
        };
        Settings {
            batch: self.batch.map_or(BATCH_USUAL, |batch| batch as usize),
            goal,
            by: By::Signature,
            apart: APART,
            probes: if self.corners { Probes::Corners } else { Probes::Off },
            front_every: if objectives > 1 { simulations.div_ceil(FRONT_DIRECTIONS).max(1) } else { 0 },
            ..Settings::first(seed, simulations)
        }
    }

    /// Random points with the same budget: as many simulations, or as much simulated time where an instance costs more
    /// than one.
    fn baseline(
        &self,
        report: &Report,
        objective: &ScenarioObjective<'_>,
        settings: &Settings,
    ) -> Result<Option<Baseline>, Failure> {
        let is_whole = matches!(report.ended, Ended::Found | Ended::Simulations | Ended::SimulatedSeconds);
        if self.no_baseline || !is_whole {
            return Ok(None);
        }
        if objective.scorer == Scorer::Run {
            let (baseline, _) = Baseline::run(&objective.varied.space, objective, settings).map_err(refused)?;
            return Ok(Some(baseline));
        }
        let ScenarioObjective { loaded, drive, measures, seed, .. } = *objective;
        let varied = match Varied::of(loaded, drive, Scorer::Run) {
            Ok(varied) => varied,
            Err(_) => return Ok(None),
        };
        let runs = ScenarioObjective::new(loaded, drive, &varied, measures, (Scorer::Run, seed));
        let settings = Settings {
            simulations: u64::MAX,
            simulated_seconds: report.simulated_seconds().max(1.0),
            ..settings.clone()
        };
        let (baseline, _) = Baseline::run(&varied.space, &runs, &settings).map_err(refused)?;
        Ok(Some(baseline))
    }
}

/// What was typed for a search.
fn typed(reference: &str) -> Result<(RunFolder, Box<Search>, RunInfo), Failure> {
    let folder = reference.parse::<RunReference>()?.resolve(Path::new(RUNS))?.run;
    let info = folder.read_run()?;
    let no_search = || {
        let message = format!("the run `{}` is no search and cannot be resumed by `search`", folder.name());
        Failure::input(message, "name one with --resume=FOLDER")
    };
    let then = Cli::try_parse_from(&info.command).map_err(|_| no_search())?;
    let Verb::Search(verb) = then.verb else { return Err(no_search()) };
    if verb.bench.is_some() {
        let message = format!("the run `{}` is that of a benchmark, which is not resumed", folder.name());
        return Err(Failure::input(message, "run the benchmark again: the same seed gives the same result"));
    }
    Ok((folder, verb, info))
}

fn refused(error: SearchError) -> Failure {
    Failure::input(error.to_string(), "")
}

fn conclude(facts: &Facts<'_>, folder: &RunFolder, screen: &Screen) -> Result<Exit, Failure> {
    let machine = facts.to_json();
    let table = store::csv(&facts.report.evaluations, facts.objective.varied, facts.objective.measures.len());
    folder.publish("evaluations.csv", table.as_bytes())?;
    folder.publish_json("result.json", &machine)?;
    let phase = match facts.report.ended {
        Ended::Interrupted => Phase::Interrupted,
        Ended::Found | Ended::Simulations | Ended::SimulatedSeconds => Phase::Done,
        _ => Phase::Failed,
    };
    let status = Status {
        phase,
        findings: facts.findings.len() as u64,
        segments: facts.report.evaluations.len() as u64,
        wall_s: facts.used.0,
        message: facts.conclusion().word().to_owned(),
        ..Status::begin()
    };
    folder.write_status(&status)?;
    report::write(folder)?;
    if facts.exit() == Exit::BadInput && screen.format == Format::Human {
        let help = format!("all simulations before it are in {}", facts.run);
        print_err(&Failure::input(facts.stop(), help).render(screen.err));
    }
    screen.result(|paint| human::text(facts, paint), &machine);
    Ok(facts.exit())
}
