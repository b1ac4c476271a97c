//! The accident at the T-junction: searched, explained and drawn, or the published protocol with many seeds.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anabranch_explore::with_threads;
use anabranch_kernel::{DigestWriter, Fault, Seed};
use anabranch_problems::{Instance, JUNCTION_AXES, JUNCTION_RANGES, Junction};
use anabranch_record::{Phase, RunFolder, RunInfo, Status};
use anabranch_search::{
    Baseline, Contest, Dimension, Edge, Ended, Evaluation, Method, Objective, Outcome, Progress, Question, Repeats,
    Report, SearchError, Settings, Space, importance,
};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::junction_accident::{self, Found};
use super::junction_told::{self, Told};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::project::{self, RUNS};
use crate::report;
use crate::screen::{Global, Paint, Screen};
use crate::usage::WallClock;
use crate::verbs::replay::Replay;
use crate::verbs::search::Search;

/// What the benchmark is called.
pub const NAME: &str = "t-junction";
/// Simulations of the published search: an accident was found in fewer than a hundred.
const SIMULATIONS: u64 = 100;
/// Habits of methods were chosen with seeds below 5000; the protocol uses others.
const SEED_FIRST: u64 = 9000;

/// How dangerous an instance is.
pub(super) struct Danger;

impl Objective for Danger {
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault> {
        let junction = Junction::from_numbers(question.values)
            .ok_or_else(|| Fault::Contract("the junction takes one number for each of its axes".into()))?;
        let outcome = junction.run_all();
        let danger_m = outcome.danger_m();
        // Cars that just touch have met: that is a violation, whatever rounding says.
        let value = if outcome.triage.is_some() { danger_m.min(-f64::MIN_POSITIVE) } else { danger_m };
        Ok(Outcome { signature: outcome.signature(), ..Outcome::of(value, outcome.time_s) })
    }
}

/// Ends when somebody asks. A search of the junction takes moments, so there is nothing to resume.
struct Asked(&'static AtomicBool);

impl Edge for Asked {
    fn batch_done(&mut self, _new: &[Evaluation], _progress: &Progress) -> Result<(), String> {
        Ok(())
    }
    fn wants_progress(&mut self) -> bool {
        false
    }
    fn goes_on(&mut self) -> bool {
        !self.0.load(Ordering::SeqCst)
    }
}

/// Does what `--bench t-junction` asks for.
///
/// # Errors
/// When the input is wrong or the run cannot be saved.
pub fn run(verb: &Search, method: Method, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
    if let Some(text) = &verb.input {
        return evaluate(text, screen);
    }
    let space = space()?;
    let simulations = verb.budget.unwrap_or(SIMULATIONS);
    let work = || match verb.repeats {
        Some(repeats) => {
            let settings = Settings::first(Seed(global.seed.unwrap_or(SEED_FIRST)), simulations);
            protocol(&space, method, (&settings, repeats), screen)
        }
        None => {
            let settings = verb.how_to(Seed(global.seed.unwrap_or(0)), simulations, 1);
            search(verb, &space, (method, &settings), screen)
        }
    };
    with_threads(global.threads(), work)?
}

fn space() -> Result<Space, Failure> {
    let axes = JUNCTION_AXES.iter().zip(JUNCTION_RANGES);
    let dimensions = axes.map(|((name, unit), (lo, hi))| Dimension::real(name, unit, lo, hi)).collect();
    Space::new(dimensions).map_err(|error| Failure::input(error.to_string(), ""))
}

fn refused(error: SearchError) -> Failure {
    Failure::input(error.to_string(), "")
}

fn search_one(space: &Space, method: Method, settings: Settings, edge: &mut dyn Edge) -> Result<Report, Failure> {
    let layout = space.layout().map_err(|error| Failure::input(error.to_string(), ""))?;
    let optimiser = method
        .build(&layout, settings.seed, settings.simulations)
        .map_err(|error| Failure::input(error.to_string(), ""))?;
    Ok(anabranch_search::Search::new(space, &Danger, optimiser, settings).map_err(refused)?.run(edge))
}

/// Searches once, saves every different accident with its pictures, and tells.
fn search(
    verb: &Search,
    space: &Space,
    (method, settings): (Method, &Settings),
    screen: &Screen,
) -> Result<Exit, Failure> {
    let clock = WallClock::start();
    let folder = RunFolder::create_now(Path::new(RUNS), verb.name.as_deref().unwrap_or(NAME))?;
    let mut identity = DigestWriter::new();
    identity.bytes(NAME.as_bytes());
    let mut info = RunInfo::new(NAME, identity.finish(), settings.seed.0, std::env::args());
    info.limits.insert("simulations".to_owned(), json!(settings.simulations));
    folder.write_run(&info)?;
    let report = search_one(space, method, settings.clone(), &mut Asked(interrupt::listen()?))?;
    let is_whole = matches!(report.ended, Ended::Found | Ended::Simulations);
    let baseline = if verb.no_baseline || !is_whole {
        None
    } else {
        Some(Baseline::run(space, &Danger, settings).map_err(refused)?.0)
    };
    let accidents: Vec<Found> = junction_accident::save(space, &report, &folder)?;
    let told = Told {
        space,
        report: &report,
        accidents: &accidents,
        baseline: baseline.as_ref(),
        importance: importance(space, &report, settings.seed),
        settings,
        wall_s: clock.seconds(),
        run: project::relative(folder.path()),
    };
    let machine = told.to_json();
    folder.publish("evaluations.csv", junction_told::csv(&report, space).as_bytes())?;
    folder.publish_json("result.json", &machine)?;
    let status = Status {
        phase: if is_whole { Phase::Done } else { Phase::Interrupted },
        findings: accidents.len() as u64,
        segments: report.evaluations.len() as u64,
        wall_s: told.wall_s,
        message: told.conclusion().word().to_owned(),
        ..Status::begin()
    };
    folder.write_status(&status)?;
    report::write(&folder)?;
    folder.make_last()?;
    screen.result(|paint| told.human(paint), &machine);
    Ok(told.exit())
}

/// The published protocol: many seeds, each to its first accident; the method, another one, and chance.
fn protocol(
    space: &Space,
    method: Method,
    (settings, repeats): (&Settings, u64),
    screen: &Screen,
) -> Result<Exit, Failure> {
    let asked = interrupt::listen()?;
    let all = |method: Method| -> Result<(Method, Repeats), Failure> {
        let one = |n: u64| {
            let settings = Settings { seed: Seed(settings.seed.0 + n), ..settings.clone() };
            let report = search_one(space, method, settings, &mut Asked(asked))?;
            match (&report.ended, report.troubles().next()) {
                (Ended::Interrupted, _) => {
                    let message = format!("interrupted: not all of {repeats} seeds were searched");
                    Err(Failure::Plain { exit: Exit::Interrupted, message, help: String::new() })
                }
                (_, Some(trouble)) => Err(Failure::input(trouble.describe(space), "")),
                _ => Ok(report.simulations_to_first()),
            }
        };
        Ok((method, Repeats { to_first: (0..repeats).into_par_iter().map(one).collect::<Result<_, _>>()? }))
    };
    // Beside the method stands the other one that is known to work, and chance.
    let other = if method == Method::Annealing { Method::Auto } else { Method::Annealing };
    let rows = [method, other, Method::Random].into_iter().map(all).collect::<Result<Vec<_>, _>>()?;
    let random = rows[2].1.successes();
    let contest = Contest { repeats, ours: rows[0].1.successes(), baseline: random };
    let row = |(method, one): &(Method, Repeats)| -> Value {
        json!({
            "method": method.name(),
            "successes": one.successes(),
            "mean_simulations": one.mean_simulations(),
            "median_simulations": one.median_simulations(),
            "to_first": one.to_first,
        })
    };
    let machine = json!({
        "schema": "anabranch.contest/1",
        "scenario": NAME,
        "method": method.name(),
        "repeats": repeats,
        "simulations": settings.simulations,
        "batch": settings.batch,
        "seed": settings.seed.0,
        "ours": row(&rows[0]),
        "beside": row(&rows[1]),
        "random": row(&rows[2]),
        "statement": contest.statement(),
        "chance_alone": contest.chance_alone(),
    });
    let human = |paint: &Paint| {
        let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"));
        let (first, last) = (settings.seed.0, settings.seed.0 + repeats - 1);
        let mut out = format!(
            "{}: first accident within {} simulations, seeds {first} to {last}\n",
            paint.bold(NAME),
            settings.simulations
        );
        for (method, one) in &rows {
            let (mean, median) = (number(one.mean_simulations()), number(one.median_simulations()));
            let (name, successes) = (method.name(), one.successes());
            out += &format!("  {name:<17}{successes} of {repeats} seeds, mean {mean}, median {median} simulations\n");
        }
        out + &format!("  {}: {}\n", method.name(), contest.statement())
    };
    screen.result(human, &machine);
    let found: u64 = rows.iter().map(|(_, one)| one.successes()).sum();
    Ok(if found > 0 { Exit::Findings } else { Exit::Done })
}

/// Evaluates one instance.
fn evaluate(text: &str, screen: &Screen) -> Result<Exit, Failure> {
    let numbers = parse(text)?;
    let found = junction_accident::of(&numbers)?;
    screen.result(
        |paint| junction_told::one(&found, paint),
        &json!({
            "schema": "anabranch.bench/1",
            "bench": NAME,
            "input": junction_accident::input(&numbers),
            "robustness": found.outcome.danger_m(),
            "violated": found.outcome.triage.is_some(),
            "result": found.to_json(),
        }),
    );
    // An answer was asked for and given, as for every benchmark.
    Ok(Exit::Done)
}

/// Runs an accident of the junction again, from what was kept of it; nothing if the reference means something else.
///
/// # Errors
/// When it cannot be read, or is asked for what a benchmark does not have.
pub fn replay(verb: &Replay, screen: &Screen) -> Result<Option<Exit>, Failure> {
    let Some(path) = project::instance_path(&verb.reference) else { return Ok(None) };
    for (is_given, flag) in [
        (verb.keep, "--keep"),
        (verb.driver.is_some(), "--driver"),
        (verb.debug, "--debug"),
        (!verb.sets.is_empty(), "--set"),
        (verb.trace.is_some(), "--trace"),
    ] {
        if is_given {
            let message =
                format!("{flag}: `{}` is an accident of the benchmark {NAME}, not of a scenario", verb.reference);
            return Err(Failure::input(
                message,
                format!("change its numbers: anabranch search --bench {NAME} --input …"),
            ));
        }
    }
    let text = std::fs::read_to_string(&path).map_err(|error| Failure::file("read", &path, &error))?;
    let kept: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::input(format!("`{}` is damaged: {error}", path.display()), "search again"))?;
    let numbers = parse(kept["input"].as_str().unwrap_or_default())?;
    let found = junction_accident::of(&numbers)?;
    let again = verb.twice.then(|| junction_accident::of(&numbers)).transpose()?;
    let is_same = found.text() == text && again.is_none_or(|again| again.text() == text);
    let machine = json!({
        "schema": "anabranch.replay/1",
        "bench": NAME,
        "finding": project::relative(&path),
        "input": junction_accident::input(&numbers),
        "violated": found.outcome.triage.is_some(),
        "same_as_found": is_same,
        "result": found.to_json(),
    });
    let human = |paint: &Paint| {
        let word = if is_same { paint.green("the same as found") } else { paint.red("not the same as found") };
        junction_told::one(&found, paint) + &format!("  {word}\n")
    };
    screen.result(human, &machine);
    let exits = [
        if is_same { Exit::Done } else { Exit::NotReproducible },
        if found.outcome.triage.is_some() { Exit::Findings } else { Exit::Done },
    ];
    Ok(Some(Exit::of(&exits)))
}

/// An instance from as many numbers as there are axes, or from `name=number`, where what is not named is that of a bright noon.
fn parse(text: &str) -> Result<[f64; JUNCTION_AXES.len()], Failure> {
    let names: Vec<&str> = JUNCTION_AXES.iter().map(|(name, _)| *name).collect();
    let help = format!("give {} numbers, or some by name: {}", names.len(), names.join(", "));
    let wrong = |what: String| Failure::input(format!("--input: {what}"), help.clone());
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|w| !w.is_empty()).collect();
    let is_named = words.iter().any(|word| word.contains('='));
    if !is_named && words.len() != names.len() {
        return Err(wrong(format!("{} numbers, but an instance has {}", words.len(), names.len())));
    }
    let mut numbers = Instance::default().numbers();
    let mut seen = [false; JUNCTION_AXES.len()];
    for (place, word) in words.into_iter().enumerate() {
        let (axis, value) = match word.split_once('=') {
            Some((name, value)) => {
                let axis = names.iter().position(|known| *known == name);
                (axis.ok_or_else(|| wrong(format!("an instance has no `{name}`")))?, value)
            }
            None if is_named => return Err(wrong(format!("`{word}` has no name, others have"))),
            None => (place, word),
        };
        let name = names[axis];
        let number: f64 = value.parse().map_err(|_| wrong(format!("{name}: `{value}` is no number")))?;
        let (lo, hi) = JUNCTION_RANGES[axis];
        if !(lo..=hi).contains(&number) {
            return Err(wrong(format!("{name}: {value} is not between {lo} and {hi}")));
        }
        if std::mem::replace(&mut seen[axis], true) {
            return Err(wrong(format!("`{name}` is given twice")));
        }
        numbers[axis] = number;
    }
    Ok(numbers)
}
