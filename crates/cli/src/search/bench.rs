//! Published benchmarks: one input, or the published protocol with our table beside the published ones.

use anabranch_explore::with_threads;
use anabranch_kernel::{Fault, Seed};
use anabranch_problems::{CROSSWALK_LIMITS, CROSSWALK_STEPS, Crosswalk, Plant, Problem, parse_rows};
use anabranch_search::{
    Method, Objective, Origin, Outcome, Probes, Question, Repeats, Settings, Shape, SignalRange, Space,
};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::junction;
use super::scorer::Scorer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::numbers::short;
use crate::screen::{Global, Screen, Talk, print_err};
use crate::verbs::search::{How, Search, how, is_file};

/// Simulations of the published protocol.
const SIMULATIONS: u64 = 300;
/// Seeds of the published protocol.
const REPEATS: u64 = 50;
/// Habits of methods were chosen with seeds below 1000; tables use others.
const SEED_FIRST: u64 = 1000;
/// What the adaptive stress testing benchmark is called.
const CROSSWALK: &str = "crosswalk";

/// What was published about a row: who, successes of 50 and mean simulations of the successes.
type Published = (&'static str, u64, f64);

/// ARCH-COMP 2020, instance 2, 50 repeats of at most 300 simulations, and for `at-speed120` the HSCC 2019 comparison.
const TABLE: &[(&str, &[Published])] = &[
    ("cc1", &[("zlscheck 2020", 50, 8.82)]),
    ("cc2", &[("zlscheck 2020", 50, 4.70)]),
    ("cc3", &[("zlscheck 2020", 50, 23.4)]),
    ("cc4", &[("zlscheck 2020", 32, 124.6)]),
    ("cc5", &[("zlscheck 2020", 50, 2.02)]),
    ("at1", &[("zlscheck 2020", 50, 2.26)]),
    ("at2", &[("zlscheck 2020", 50, 9.22)]),
    ("at51", &[("zlscheck 2020", 50, 8.72)]),
    ("at52", &[("zlscheck 2020", 50, 35.1)]),
    ("at53", &[("zlscheck 2020", 50, 22.7)]),
    ("at54", &[("zlscheck 2020", 47, 56.3)]),
    ("at6a", &[("zlscheck 2020", 50, 42.9)]),
    ("at6b", &[("zlscheck 2020", 8, 129.5)]),
    ("at6c", &[("zlscheck 2020", 3, 261.7)]),
    ("at-speed120", &[("FalStar 2019", 50, 8.54), ("Breach 2019", 50, 39.7), ("uniform random 2019", 43, 107.8)]),
];
/// Rows of the first table; the last one is from another paper.
const ARCH_ROWS: usize = 14;

/// A benchmark that can be searched.
struct Bench {
    name: String,
    what: What,
}

enum What {
    Problem(Box<Problem>),
    Crosswalk(Box<Crosswalk>),
}

impl Bench {
    fn named(name: &str) -> Result<Self, Failure> {
        let what = if name == CROSSWALK {
            What::Crosswalk(Box::new(Crosswalk::starting_at(-4.0)))
        } else {
            let known =
                || format!("benchmarks are arch and every requirement of it, {CROSSWALK}, and {}", junction::NAME);
            What::Problem(Box::new(
                Problem::named(name).map_err(|error| Failure::input(format!("--bench: {error}"), known()))?,
            ))
        };
        Ok(Self { name: name.to_owned(), what })
    }

    fn space(&self) -> Result<Space, Failure> {
        let signal = |name: &str, unit: &str, (lo, hi): (f64, f64), points: usize, horizon_seconds: f64| SignalRange {
            name: name.into(),
            unit: unit.into(),
            lo,
            hi,
            points,
            shape: Shape::Constant,
            horizon_seconds,
        };
        let signals: Vec<SignalRange> = match &self.what {
            What::Problem(problem) => {
                let [throttle, brake] = problem.plant.ranges();
                let unit = if problem.plant == Plant::ChasingCars { "" } else { "%" };
                let (pieces, horizon_s) = (problem.pieces, problem.horizon_s);
                vec![
                    signal("throttle", unit, throttle, pieces, horizon_s),
                    signal("brake", unit, brake, pieces, horizon_s),
                ]
            }
            What::Crosswalk(_) => {
                let names = ["ax", "ay", "noise-x", "noise-y", "noise-vx", "noise-vy"];
                let range = |(name, limit): (&&str, &f64)| signal(name, "", (-limit, *limit), CROSSWALK_STEPS, 5.0);
                names.iter().zip(&CROSSWALK_LIMITS).map(range).collect()
            }
        };
        let space = signals.into_iter().try_fold(Space::default(), Space::with_signal);
        space.map_err(|error| Failure::input(error.to_string(), ""))
    }

    /// Robustness of an input given as rows of a time and values.
    fn robustness(&self, text: &str) -> Result<f64, Failure> {
        let wrong = |error: anabranch_problems::ProblemError| Failure::input(format!("--input: {error}"), "");
        match &self.what {
            What::Problem(problem) => problem.robustness_of_text(text).map_err(wrong),
            What::Crosswalk(crosswalk) => {
                let ranges = CROSSWALK_LIMITS.map(|limit| (-limit, limit));
                let rows = parse_rows(text, &ranges).map_err(wrong)?;
                let at = |step: usize| rows.iter().rev().find(|row| row.from_s <= 0.1 * step as f64 + 1e-9);
                let input: Vec<f64> =
                    (0..CROSSWALK_STEPS).filter_map(at).flat_map(|row| row.values.iter().copied()).collect();
                Ok(crosswalk.evaluate(&input))
            }
        }
    }
}

impl Objective for Bench {
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault> {
        // Values come signal by signal; inputs go piece by piece.
        let turned = |signals: usize| -> Vec<f64> {
            let pieces = question.values.len() / signals;
            (0..pieces).flat_map(|piece| (0..signals).map(move |s| question.values[s * pieces + piece])).collect()
        };
        Ok(match &self.what {
            What::Problem(problem) => Outcome::of(problem.evaluate(&turned(2)), problem.needed_s()),
            What::Crosswalk(crosswalk) => Outcome::of(crosswalk.evaluate(&turned(CROSSWALK_LIMITS.len())), 5.0),
        })
    }
}

/// Does what `--bench` asks for.
///
/// # Errors
/// When there is no such benchmark, row or input.
pub fn run(verb: &Search, name: &str, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
    // Papers write AT1 and CC4.
    let name = name.to_lowercase();
    let name = name.as_str();
    let has_own = !verb.objective.is_empty() || !verb.vary.is_empty() || verb.error_points.is_some();
    if has_own || !verb.sets.is_empty() || verb.driver.is_some() {
        let message = "--bench: not with --objective, --vary, --error-points, --set or --driver";
        return Err(Failure::input(message, "a benchmark is what was published; leave them out"));
    }
    let How { method, scorer } = how(&verb.method)?;
    if scorer != Scorer::Run || is_file(&verb.method) {
        return Err(Failure::input(format!("--bench: not with --method {}", verb.method), "use a built-in optimiser"));
    }
    if name == junction::NAME && verb.row.is_empty() {
        return junction::run(verb, method, global, screen);
    }
    without_effect(verb, name)?;
    if let Some(text) = &verb.input {
        if name == "arch" {
            let help = "name one of its requirements, as in --bench at1";
            return Err(Failure::input("--input: `arch` is a whole table", help));
        }
        // Rows may stand on lines of their own.
        let rows: Vec<&str> = text.lines().map(|line| line.trim().trim_end_matches(';')).collect();
        let rows = rows.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
        let robustness = Bench::named(name)?.robustness(&rows)?;
        let machine = json!({
            "schema": "anabranch.bench/1", "bench": name, "input": text, "robustness": robustness,
            "violated": robustness < 0.0,
        });
        let human = |_: &crate::screen::Paint| format!("{name}: robustness {robustness}\n");
        screen.result(human, &machine);
        // A number was asked for and given; that it is negative is no finding about the user's software.
        return Ok(Exit::Done);
    }
    let names: Vec<String> = match name {
        "arch" => {
            let all = TABLE[..ARCH_ROWS].iter().map(|(row, _)| (*row).to_owned());
            all.filter(|row| verb.row.is_empty() || verb.row.contains(row)).collect()
        }
        one => vec![one.to_owned()],
    };
    for row in &verb.row {
        if !names.contains(row) {
            return Err(Failure::input(format!("--row: `{name}` has no row `{row}`"), ""));
        }
    }
    let protocol = Protocol {
        method,
        repeats: verb.repeats.unwrap_or(REPEATS),
        simulations: verb.budget.unwrap_or(SIMULATIONS),
        seed: global.seed.unwrap_or(SEED_FIRST),
        has_baseline: !verb.no_baseline,
    };
    let mut rows = Vec::new();
    for name in &names {
        if screen.talk == Talk::Verbose {
            print_err(&format!("{name} ..\n"));
        }
        let bench = Bench::named(name)?;
        rows.push(with_threads(global.threads(), || protocol.row(&bench))??);
    }
    let machine = protocol.to_json(name, &rows);
    screen.result(|_| protocol.human(&rows), &machine);
    Ok(Exit::Done)
}

/// Refuses what the published protocol leaves no room for.
fn without_effect(verb: &Search, name: &str) -> Result<(), Failure> {
    let told = |flags: &[(bool, &str)], help: &str| match flags.iter().find(|(is_given, _)| *is_given) {
        Some((_, flag)) => Err(Failure::input(format!("{flag} has no effect on --bench {name}"), help)),
        None => Ok(()),
    };
    if verb.input.is_some() {
        let flags = [
            (verb.repeats.is_some(), "--repeats"),
            (verb.budget.is_some(), "--budget"),
            (!verb.row.is_empty(), "--row"),
        ];
        told(&flags, "--input runs once; leave one of the two out")?;
    }
    let flags = [
        (verb.corners, "--corners"),
        (verb.batch.is_some(), "--batch"),
        (verb.stop_on_first, "--stop-on-first"),
        (verb.different.is_some(), "--different"),
        (verb.name.is_some(), "--name"),
    ];
    told(&flags, "the protocol is what was published; leave it out")
}

/// The same for every row: only the seed varies.
struct Protocol {
    method: Method,
    repeats: u64,
    simulations: u64,
    seed: u64,
    has_baseline: bool,
}

/// What became of a row.
struct Row {
    name: String,
    ours: Repeats,
    random: Option<Repeats>,
    /// Simulations to the first violation among the corners of the space, if there is one.
    corners: Option<u64>,
}

impl Protocol {
    fn row(&self, bench: &Bench) -> Result<Row, Failure> {
        let space = bench.space()?;
        let ours = self.repeat(bench, &space, self.method)?;
        let random = if self.has_baseline { Some(self.repeat(bench, &space, Method::Random)?) } else { None };
        let settings = Settings { probes: Probes::Corners, ..Settings::first(Seed(self.seed), self.simulations) };
        let report = self.search(bench, &space, Method::Random, settings)?;
        let is_probe = |n: &u64| report.evaluations.get(*n as usize - 1).is_some_and(|e| e.origin == Origin::Probe);
        let corners = report.simulations_to_first().filter(is_probe);
        Ok(Row { name: bench.name.clone(), ours, random, corners })
    }

    fn search(
        &self,
        bench: &Bench,
        space: &Space,
        method: Method,
        settings: Settings,
    ) -> Result<anabranch_search::Report, Failure> {
        let wrong = |error: String| Failure::input(error, "");
        let layout = space.layout().map_err(|error| wrong(error.to_string()))?;
        let optimiser =
            method.build(&layout, settings.seed, settings.simulations).map_err(|error| wrong(error.to_string()))?;
        let search = anabranch_search::Search::new(space, bench, optimiser, settings);
        Ok(search.map_err(|error| wrong(error.to_string()))?.run_unsaved())
    }

    fn repeat(&self, bench: &Bench, space: &Space, method: Method) -> Result<Repeats, Failure> {
        let one = |n: u64| {
            let settings = Settings::first(Seed(self.seed + n), self.simulations);
            self.search(bench, space, method, settings).map(|report| report.simulations_to_first())
        };
        let to_first: Result<Vec<Option<u64>>, Failure> = (0..self.repeats).into_par_iter().map(one).collect();
        Ok(Repeats { to_first: to_first? })
    }

    fn human(&self, rows: &[Row]) -> String {
        let Self { repeats, simulations, .. } = self;
        let mut out = format!(
            "{}, {repeats} seeds, at most {simulations} simulations each; corners off, and apart in the last column\n\
             row           ours       mean  median   random       mean   published of 50              corner\n",
            self.method.name()
        );
        let (mut not_fewer, mut not_slower) = (0, 0);
        for row in rows {
            let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
            let random = row.random.as_ref();
            let (judged, fewer, slower) = self.judged(row);
            not_fewer += u32::from(!fewer);
            not_slower += u32::from(!slower);
            out += &format!(
                "{:<12} {:>3}/{repeats:<3} {:>9} {:>7}  {:<7} {:>9}   {judged:<30} {}\n",
                row.name,
                row.ours.successes(),
                number(row.ours.mean_simulations()),
                number(row.ours.median_simulations()),
                random.map_or_else(|| "–".to_owned(), |random| format!("{:>3}/{repeats}", random.successes())),
                number(random.and_then(Repeats::mean_simulations)),
                row.corners.map_or_else(|| "–".to_owned(), |n| n.to_string()),
            );
        }
        let count = rows.len();
        out += &format!("successes not fewer on {not_fewer} of {count} rows, mean not larger on {not_slower}\n");
        out
    }

    /// The published figures of a row with what ours are against the first of them.
    fn judged(&self, row: &Row) -> (String, bool, bool) {
        let published = TABLE.iter().find(|(name, _)| *name == row.name).map_or(&[][..], |(_, all)| all);
        let Some((_, successes, mean)) = published.first() else { return ("nothing".to_owned(), false, false) };
        let ours = row.ours.successes() as f64 * 50.0 / self.repeats as f64;
        let fewer = ours + 1.0 < *successes as f64;
        let slower = row.ours.mean_simulations().is_none_or(|ours| ours > *mean);
        let all = published.iter().map(|(who, n, mean)| format!("{n}, {} ({who})", short(*mean, 2)));
        let mut text = all.collect::<Vec<_>>().join("; ");
        text += if fewer { " FEWER" } else { "" };
        text += if slower { " SLOWER" } else { "" };
        (text, fewer, slower)
    }

    fn to_json(&self, bench: &str, rows: &[Row]) -> Value {
        let one = |row: &Row| {
            let repeats = |repeats: &Repeats| {
                json!({
                    "successes": repeats.successes(),
                    "mean_simulations": repeats.mean_simulations(),
                    "median_simulations": repeats.median_simulations(),
                    "to_first": repeats.to_first,
                })
            };
            let published = TABLE.iter().find(|(name, _)| *name == row.name).map_or(&[][..], |(_, all)| all);
            let published: Vec<Value> = published
                .iter()
                .map(|(who, successes, mean)| json!({ "who": who, "successes": successes, "mean_simulations": mean }))
                .collect();
            let (_, fewer, slower) = self.judged(row);
            json!({
                "row": row.name,
                "ours": repeats(&row.ours),
                "random": row.random.as_ref().map(repeats),
                "published": published,
                "fewer_successes": fewer,
                "larger_mean": slower,
                "corner_simulations": row.corners,
            })
        };
        json!({
            "schema": "anabranch.bench/1",
            "bench": bench,
            "method": self.method.name(),
            "repeats": self.repeats,
            "simulations": self.simulations,
            "seed": self.seed,
            "rows": rows.iter().map(one).collect::<Vec<_>>(),
        })
    }
}
